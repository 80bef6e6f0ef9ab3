"""Roots of equations and systems, and the derivatives of implicit functions."""
