"""Limits of formulas."""
