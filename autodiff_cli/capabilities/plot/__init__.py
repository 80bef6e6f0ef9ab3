"""Samples of curves and contours for plots."""
