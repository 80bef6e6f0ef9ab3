"""Plots: curves and surfaces on a terminal, and as SVG, PNG or PDF."""
