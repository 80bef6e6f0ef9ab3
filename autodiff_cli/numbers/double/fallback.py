"""The slow, sure way of doubles, where fast formulas cancel or are not worth their lines: multiprecision numbers."""

from __future__ import annotations


def by_multiprecision(name: str, *inputs: float) -> float:
    """The function of that name, computed with many digits and rounded to a double; it raises as any of them does."""
    from ..multiprecision import nearest_double  # on demand: mpmath takes longer to load than an answer

    return nearest_double(name, *inputs)
