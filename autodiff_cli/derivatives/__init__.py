"""Gradients, Jacobians, Hessians, Taylor series, traces and graphs of a program at a point."""
