"""Numerical methods that several subjects share."""
