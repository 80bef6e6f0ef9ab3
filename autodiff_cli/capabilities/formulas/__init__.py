"""Derivatives as formulas, their derivation step by step, and exported code."""
