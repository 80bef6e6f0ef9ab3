"""Numbers as people read them, and as machines read them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..inputs.figures import Figure

DIGITS = 6
"""Significant digits shown to people unless they ask for others."""

_USUAL = f".{DIGITS}g"


class Decimals(int):
    """A number of digits after the point, in the place of one of significant digits."""


def rounding(digits: int | None, decimals: int | None) -> int | None:
    """How far people are shown numbers, by the options that say it, of which one is there at most."""
    return digits if decimals is None else Decimals(decimals)


def format_number(value: float | bool | Figure | None, digits: int | None = None) -> str:
    """The number to so many significant digits, or `Decimals`; a figure with all it has; a dash where there is none."""
    if digits is None and type(value) is float:
        return value.__format__(_USUAL) if value else "0"
    if not isinstance(value, float):
        if value is None:
            return "–"
        if isinstance(value, Figure):
            return _stated(value)
        if isinstance(value, bool):
            return "true" if value else "false"
    if isinstance(digits, Decimals):
        text = f"{value:.{digits:d}f}"
        return text.removeprefix("-") if float(text) == 0 else text
    return format(value, f".{digits}g" if digits else _USUAL) if value else "0"


def repr_number(value: float | bool | Figure | None) -> str:
    """The shortest text that reads back as the same number; empty where there is none."""
    if type(value) is float:
        return repr(value)
    if value is None:
        return ""
    if isinstance(value, Figure):
        return _stated(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _stated(figure: Figure) -> str:
    """All digits of a figure; in words, where none of them is known."""
    return f"within {figure.within} of 0" if figure.within else figure.text


def doubles(value: Any) -> Any:
    """Return numbers in lists and dictionaries as records have them: doubles, null beyond their range."""
    return _mapped(value, lambda figure: figure.nearest)


def _mapped(value: Any, of_figure: Callable[[Figure], object], of_other: Callable[[Any], object] = lambda x: x) -> Any:
    """Return lists and dictionaries with `of_figure` of each figure in them, and `of_other` of all else."""
    if isinstance(value, Figure):
        return of_figure(value)
    if isinstance(value, dict):
        return {key: _mapped(item, of_figure, of_other) for key, item in value.items()}
    return [_mapped(x, of_figure, of_other) for x in value] if isinstance(value, (list, tuple)) else of_other(value)


def _any(value: Any) -> bool:
    if isinstance(value, (dict, list)):
        return any(map(_any, value.values() if isinstance(value, dict) else value))
    return value is not None


def figure_texts(arithmetic: str, fields: dict[str, Any]) -> dict[str, object]:
    """Return the arithmetic of a record's figures, all their digits, and how near to 0 those are of unknown digits."""
    record: dict[str, object] = {"arithmetic": arithmetic, "digits": _mapped(fields, lambda figure: figure.text)}
    within = _mapped(fields, lambda figure: figure.within or None, lambda x: None)
    near = {key: value for key, value in within.items() if _any(value)}
    return record | {"within": near} if near else record
