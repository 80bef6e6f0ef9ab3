"""Samples of curves and contours to be plotted."""
