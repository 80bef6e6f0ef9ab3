"""Tangents and normals of curves."""
