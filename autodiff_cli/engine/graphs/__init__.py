"""Graphs of programs: values and derivatives in any number type."""
