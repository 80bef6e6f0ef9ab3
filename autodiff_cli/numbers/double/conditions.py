"""Comparisons of floats, and the logic of conditions."""

from __future__ import annotations


def lt(x: float, y: float) -> bool:
    """Whether x < y."""
    return x < y


def le(x: float, y: float) -> bool:
    """Whether x <= y."""
    return x <= y


def gt(x: float, y: float) -> bool:
    """Whether x > y."""
    return x > y


def ge(x: float, y: float) -> bool:
    """Whether x >= y."""
    return x >= y


def eq(x: float, y: float) -> bool:
    """Whether x and y are equal."""
    return x == y


def ne(x: float, y: float) -> bool:
    """Whether x and y differ."""
    return x != y


def and_(p: bool, q: bool) -> bool:
    """Whether both conditions hold."""
    return p and q


def or_(p: bool, q: bool) -> bool:
    """Whether at least one condition holds."""
    return p or q


def not_(p: bool) -> bool:
    """Whether the condition does not hold."""
    return not p
