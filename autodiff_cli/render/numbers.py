"""Numbers as people read them, and as machines read them back."""

from __future__ import annotations

DIGITS = 6
"""Significant digits shown to people unless they ask for others."""


def readable(value: float | bool | None, digits: int | None = None) -> str:
    """The number to so many significant digits; a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.{digits or DIGITS}g}" if value else "0"


def exact(value: float | bool | None) -> str:
    """The shortest text that reads back as the same number; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
