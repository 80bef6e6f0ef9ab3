"""Gradients, Jacobians, Hessians, Taylor series, traces and graphs at a point."""
