"""Plots: curves and surfaces on a terminal, and as SVG or PNG."""

PICTURES = ("svg", "png", "pdf")
"""The formats that plots are drawn in."""
