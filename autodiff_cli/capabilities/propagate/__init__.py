"""Measured values and the propagation of their uncertainty."""
