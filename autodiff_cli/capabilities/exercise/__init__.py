"""Exercises in differentiation, and the marking of answers."""
