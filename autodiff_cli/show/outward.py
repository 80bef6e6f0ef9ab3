"""Ends of proven ranges as text, rounded so that the ranges do not shrink."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from .numerals import DEFAULT_DIGITS, Decimals, format_number, unit_of

UNBOUNDED = "–"
# More than twice those of any double.
MAX_EXACT_DIGITS = 40


def outward(x: float | None, digits: int | None, *, up: bool) -> str:
    """Return an end of a range as text, rounded so that the range does not shrink.

    >>> outward(0.36591269, 4, up=False), outward(0.36591269, 4, up=True), outward(2.0, None, up=True)
    ('0.3659', '0.366', '2')
    """
    if x is None:
        return UNBOUNDED
    how, exact = ROUND_CEILING if up else ROUND_FLOOR, _decimal(x, up)
    if isinstance(digits, Decimals):
        rounded = exact.quantize(
            Decimal(1).scaleb(-int(digits)), rounding=how, context=Context(prec=400)
        )
    else:
        rounded = Context(prec=digits or DEFAULT_DIGITS, rounding=how).plus(exact)
    text = format_number(float(rounded), digits)
    unit = unit_of(x)
    return text if unit is None else f"{text} {unit}".rstrip()


def _decimal(x: float, up: bool) -> Decimal:
    """Return a number as a decimal: itself if it is known exactly, or one a little further
    outside.
    """
    exact = getattr(x, "exact", None)
    if exact is None:
        return Decimal(float(x))
    context = Context(prec=MAX_EXACT_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
