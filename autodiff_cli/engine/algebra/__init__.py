"""Symbolic algebra on graphs: canonical forms, rewriting, ranges, derivatives."""
