"""Parts of answers in LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from ..language.typesetting import (
    equations,
    equations_of,
    matrix,
    number_latex,
    typesetting,
)
from ..questions.figures import Figure, Shown
from ..questions.problem import parse
from .numerals import format_number, unit_of, without_unit

# The maximal number of values in parentheses after the function.
MAX_ARGUMENTS = 4
# About how many characters of a sum fit on a line.
SUM_LINE_CHARACTERS = 85
MAX_FRACTION_SIZE = 10**9
# How close a double is to a fraction.
FRACTION_TOLERANCE = 1e-15


def unit_latex(x: object) -> str:
    """Return the unit of a measured number, behind a thin space."""
    unit = unit_of(x)
    return rf"\,{unit.latex}" if unit is not None and unit.atoms else ""


def measured_latex(x: Shown | bool | None, digits: int | None) -> str:
    """Return a number with its unit, if any."""
    return number_latex(format_number(without_unit(x), digits)) + unit_latex(x)


def over_lines(total: str) -> str:
    """Return a sum broken into lines."""
    lines, depth, begin, last = list[str](), 0, 0, 0
    for match in re.finditer(r"\\[{}]|[{}()]| (?=[+-] )|$", total):
        text, place = match[0], match.start()
        depth += (text in ("{", "(")) - (text in ("}", ")"))
        if depth or text not in (" ", ""):
            continue
        visible = re.sub(r"\\[a-zA-Z]+|[{}^\\,]", "", total[begin:place])
        if last > begin and len(visible) > SUM_LINE_CHARACTERS:
            lines.append(total[begin:last])
            begin = last
        last = place
    return " \\\\\n&\\quad {}".join([*lines, total[begin:]])


def recognise_number(x: Shown) -> str:
    """Return the fraction or multiple of π that a double is near, if any."""
    if isinstance(x, Figure) or not math.isfinite(x) or not x:
        return ""
    fraction = Fraction(x).limit_denominator(10**7)
    above, below = abs(fraction.numerator), fraction.denominator
    short = len(repr(abs(x)).strip("0.").replace(".", "")) <= 8 and below & (below - 1)
    if below > 1 and not short and _near(fraction, x) and above * below <= MAX_FRACTION_SIZE:
        return str(fraction)
    times = Fraction(x / math.pi).limit_denominator(12)
    if not times or abs(times.numerator) > 12 or not _near(times, x / math.pi):
        return ""
    factor = {1: "", -1: "-"}.get(times.numerator, f"{times.numerator}*")
    return f"{factor}pi" if times.denominator == 1 else f"{factor}pi/{times.denominator}"


def coordinate(x: Shown, digits: int | None) -> str:
    """Return a coordinate as LaTeX with its unit."""
    fraction = recognise_number(x)
    if "pi" in fraction:
        return fraction.replace("pi", r"\pi").replace("*", "") + unit_latex(x)
    return measured_latex(x, digits)


def _near(fraction: Fraction, x: float) -> bool:
    return abs(float(fraction) - x) <= FRACTION_TOLERANCE * abs(x)


class FunctionAtPoint:
    """A function at a point: `f(x, y) = …`, and then `f(1, 2)`."""

    def __init__(
        self, text: str, point: Mapping[str, Shown], digits: int | None, by: str | None = None
    ) -> None:
        program = parse(text, {*point, *([by] if by else [])}, units=True)
        self.digits = digits
        self.typeset = typesetting(program, point)
        self.name = self.typeset.name
        self.sides: list[tuple[str, ...]] = [*equations_of(program, self.typeset)]
        self.several = len(program.variables) > 1
        values = {name: coordinate(x, digits) for name, x in point.items()}
        if len(values) > MAX_ARGUMENTS:
            self.sides += [(self.name(name), value) for name, value in values.items()]
            values = {}
        self.head = self.typeset.head(program.variables, values)
        self.arguments = self.head.removeprefix(self.typeset.function)

    def number(self, x: Shown) -> str:
        """Return a number with its unit."""
        return measured_latex(x, self.digits)

    def matrix(self, rows: Iterable[Iterable[Shown]]) -> str:
        """Return a matrix of numbers."""
        return matrix([[self.number(x) for x in row] for row in rows])

    def column(self, numbers: Iterable[Shown]) -> str:
        """Return a column of numbers."""
        return self.matrix([[x] for x in numbers])

    def equations(self, sides: Iterable[tuple[str, ...]]) -> str:
        """Return the equations at the point."""
        return equations([*self.sides, *sides])
