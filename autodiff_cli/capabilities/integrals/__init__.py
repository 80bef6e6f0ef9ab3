"""Integrals, and tangents."""
