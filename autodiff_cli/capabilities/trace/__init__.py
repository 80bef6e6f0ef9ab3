"""Backpropagation, step by step."""
