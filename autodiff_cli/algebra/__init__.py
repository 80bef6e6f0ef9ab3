"""Symbolic algebra on graphs: canonical forms, rewriting, ranges, symbolic derivatives."""
