"""Gradient descent, minimisation and least squares."""
