"""Plots: curves and surfaces on a terminal, and as SVG, PNG or PDF."""

PICTURES = ("svg", "png", "pdf")
"""The formats that plots are drawn in."""
