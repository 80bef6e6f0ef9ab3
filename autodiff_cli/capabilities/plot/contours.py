"""A function of two variables on a grid, and the path of a run over it."""

from __future__ import annotations

import csv
import math
from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ...api.api_answers import Drawing
from ...compiled.evaluator import Evaluator
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers.budget import BudgetExceeded, Defined
from ...engine.numbers.floats import REAL
from ...errors import Diagnostic, ExpressionError, usage_error
from ...language.builder import Program
from ...questions.decoding import read_text
from ...questions.figures import unsigned
from ...questions.parse_point import Range, read_json
from ...questions.problem import parse
from ...questions.rounding import Points, rounding_warnings, rounding_warnings_over, spread_over
from .sampling import Path

if TYPE_CHECKING:
    from ...questions.quantities import Units
    from .measurements import Measurements

GRID_STEPS = 120
# Steps of a drawing for each grid step.
REFINEMENT = 4
# Crossings of contours with grid lines that the grid resolves.
MAX_CROSSINGS = 12_000


class Surface(Drawing, shows=("text", "variables")):
    """A function of two variables over a rectangle, for contours."""

    declaration = """
    variables: the variables that it is drawn over
    range: the range of each
    point: the point; null without one
    value: the value at the point
    gradient: the partial derivatives at the point
    held from=fixed: the variables that are held fixed, by name
    x: the grid of the first variable
    y: the grid of the second variable
    heights: the values over the grid, a row for each `y`
    levels: the levels of the contours
    path: with `--path`: its points
    data optional: with `--data`: its rows as they are drawn: `across`, `up`, `x`, `y`, and the \
    uncertainties `dx`, `dy`
    units
    warnings
    """

    text: str
    variables: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    heights: tuple[tuple[float | None, ...], ...]
    """A row for each `y`; None if undefined."""
    levels: tuple[float, ...]
    fixed: dict[str, float]
    point: tuple[float, float] | None
    value: float | None
    gradient: tuple[float, float] | None
    """At the point, if given."""
    path: tuple[tuple[float, float], ...]
    warnings: tuple[Diagnostic, ...]
    data: Measurements | None = None
    units: Units | None = None


def fixed_values(
    program: Program, values: Mapping[str, float], names: Collection[str]
) -> dict[str, float]:
    """Return the values of the variables of a program that it is not drawn over."""
    return {name: x for name, x in values.items() if name not in names and name in program.leaves}


def surface_of(
    program: Program,
    names: Sequence[str],
    values: Mapping[str, float],
    ranges: Mapping[str, Range],
    path: Path,
    pointed: bool,
    warnings: Sequence[Diagnostic],
) -> Surface:
    """Return the surface over two variables of a program."""
    variables = first, second = names[0], names[1]
    evaluator = Evaluator(program, variables)
    here = [values[name] for name in evaluator.variables]
    i, j = evaluator.variables.index(first), evaluator.variables.index(second)
    value = gradient = point = None
    if pointed:
        swept = value_and_gradient(REAL, program.graph, values, names)
        warnings = [
            *warnings,
            *swept.warnings,
            *rounding_warnings(program.graph, values, values, names),
        ]
        value, (dx, dy) = evaluator(here)
        value, gradient = unsigned(value), (unsigned(dx), unsigned(dy))
        point = values[first], values[second]
    steps = tuple([(of_row(row, first), of_row(row, second)) for row in path])
    marks = [*steps, *([point] if point else [])]
    xs, ys = (
        _grid(ranges.get(name) or span_of([mark[k] for mark in marks]))
        for k, name in enumerate(names)
    )

    def height(x: float, y: float) -> float | None:
        here[i], here[j] = x, y
        with Defined():
            return unsigned(evaluator.value(here))
        return None

    rows = tuple([tuple([height(x, y) for x in xs]) for y in ys])
    heights = sorted(z for row in rows for z in row if z is not None)
    if not heights:
        raise ExpressionError(
            "domain", "the program has no value anywhere in these ranges", hint="give other ranges"
        )
    fixed = fixed_values(program, values, names)
    warnings = [
        *warnings,
        *_lost_digits(program, variables, values, [(x, y) for y in ys for x in xs]),
    ]
    levels, is_all = _levels_to_follow(rows, heights)
    if not is_all:
        message = (
            "the surface bends or breaks more often in these ranges than contours could follow"
        )
        warnings = [*warnings, Diagnostic("limit", message, None, "give smaller ones: `--range`")]
    parts = program.text, variables, xs, ys, rows, levels, fixed, point, value, gradient
    return Surface(*parts, steps, tuple(warnings))


def _grid(ends: Sequence[float | None]) -> tuple[float, ...]:
    """Return the numbers of a side of the grid."""
    low, high = ends
    assert low is not None and high is not None
    return tuple([low + (high - low) * step / GRID_STEPS for step in range(GRID_STEPS + 1)])


def _levels_to_follow(
    rows: Sequence[Sequence[float | None]], heights: Sequence[float]
) -> tuple[tuple[float, ...], bool]:
    """Return the heights of contours that are not too long to be followed, and whether these are
    all.
    """
    wanted = levels = _levels(heights)
    while levels and _crossings(rows, levels) > MAX_CROSSINGS:
        levels = levels[1::2]
    return levels, levels == wanted


def _lost_digits(
    program: Program,
    names: tuple[str, str],
    values: Mapping[str, float],
    places: Sequence[tuple[float, float]],
) -> list[Diagnostic]:
    """Return a warning of digits that rounding loses on a surface."""
    checked = [places[k] for k in spread_over(len(places))]
    first, second = names

    def place(k: int) -> str:
        x, y = checked[k]
        return f"{first} = {x:.6g}, {second} = {y:.6g}"

    points = Points(
        [{**values, first: x, second: y} for x, y in checked], place, "points of the surface"
    )
    return rounding_warnings_over(program.graph, points, ())


def _crossings(rows: Sequence[Sequence[float | None]], levels: Sequence[float]) -> int:
    """Return how often contours cross the lines of a grid."""
    between = [[None if z is None else bisect(levels, z) for z in row] for row in rows]
    return sum(
        abs(a - b)
        for lines in (between, zip(*between, strict=True))
        for line in lines
        for a, b in pairwise(line)
        if a is not None and b is not None
    )


class Heights(NamedTuple):
    """Heights over a rectangle as NumPy arrays."""

    x: Any
    y: Any
    z: Any
    """A row for each `y`; NaN if undefined."""


def refine_surface(surface: Surface) -> Heights:
    """Return heights on a finer grid, unless they are too uneven."""
    import numpy

    from ...compiled.kernels import ProgramOverRows

    sides = numpy.array(surface.x), numpy.array(surface.y)
    heights = numpy.array(surface.heights, dtype=float)  # None becomes NaN
    coarse = Heights(*sides, heights)
    x, y = (numpy.linspace(side[0], side[-1], REFINEMENT * (len(side) - 1) + 1) for side in sides)
    program = parse(surface.text, {*surface.variables, *surface.fixed}, units=True)
    if surface.units is not None:
        from ...questions.quantities import in_own_units

        program = in_own_units(program, surface.units["point"], [surface.units["value"]])
    # amid undefined places errors would take long
    defined = ~numpy.isnan(heights)
    cells = defined[:-1, :-1] | defined[:-1, 1:] | defined[1:, :-1] | defined[1:, 1:]
    cells = cells.repeat(REFINEMENT, axis=0).repeat(REFINEMENT, axis=1)
    wanted = numpy.pad(cells, (0, 1), mode="edge")
    rows, columns = numpy.nonzero(wanted)
    inputs = {surface.variables[0]: x[columns], surface.variables[1]: y[rows], **surface.fixed}
    try:
        block = ProgramOverRows(program, (), surface.fixed, "numpy")(inputs, len(rows))
    except (ExpressionError, BudgetExceeded):
        return coarse
    z = numpy.full(wanted.shape, math.nan)
    z[wanted] = block.results[0]
    between = numpy.searchsorted(surface.levels, z)
    crossings = sum(int(numpy.abs(numpy.diff(between, axis=axis)).sum()) for axis in (0, 1))
    return Heights(x, y, z) if crossings <= REFINEMENT * MAX_CROSSINGS else coarse


def span_of(marks: Sequence[float]) -> tuple[float, float]:
    """Return the range to show around some places."""
    low, high = min(marks), max(marks)
    if not max(high - low, -low, high) <= 1e299:
        raise usage_error("the points lie too far out to draw", "give the ranges: `--range`")
    middle = (low + high) / 2
    half = 0.75 * (high - low) if high > low else max(2.0, 1.5 * abs(middle))
    return middle - half, middle + half


def of_row(row: Mapping[str, float], name: str) -> float:
    """Return the value of a name at a point of a path."""
    if name not in row:
        raise usage_error(f"the path has no `{name}`", "give the path of a run of the same program")
    return row[name]


def _levels(heights: Sequence[float]) -> tuple[float, ...]:
    low, high = heights[0], heights[-1]
    if not high > low:
        return ()
    share = (heights[len(heights) // 2] - low) / (high - low)
    if 0.15 < share < 0.85:
        step = (high - low) / 12
        unit = 10.0 ** math.floor(math.log10(step))
        step = unit * next(nice for nice in (1, 2, 2.5, 5, 10) if nice * unit >= step * 0.8)
        first = math.ceil(low / step)
        # as decimals: 0.6, not 3*0.2
        return tuple(float(f"{k * step:.15g}") for k in range(first, math.floor(high / step) + 1))
    ranks = [heights[round((len(heights) - 1) * k / 13)] for k in range(1, 13)]
    ranks.insert(0, low + (ranks[0] - low) / 5)
    digits = 2 + max(0, math.ceil(math.log10(max(abs(low), abs(high)) / (high - low))))
    rounded = sorted({float(f"{z:.{digits}g}") for z in ranks})
    return tuple(z for z in rounded if low < z < high)


def read_path(source: str, file: BinaryIO | None = None) -> list[dict[str, float]]:
    """Return the points in a jsonl, json or csv file of a run."""
    text, fault = read_text(source, file)
    if fault is not None:
        raise ExpressionError("io", f"`{source}` cannot be read: {fault}", hint=fault.hint)
    points: list[dict[str, float]] = []
    try:
        if (start := text.lstrip()[:1]) in ("{", "["):
            lines = [line for line in text.splitlines() if line.strip()]
            records = read_json(text)[0] if start == "[" else [read_json(line)[0] for line in lines]
            points = [{name: float(x) for name, x in record["point"].items()} for record in records]
        else:
            by_step: dict[str, dict[str, float]] = {}
            separator = max(",;\t", key=text.partition("\n")[0].count)
            for row in csv.DictReader(text.splitlines(), delimiter=separator):
                by_step.setdefault(row["step"], {})[row["variable"]] = float(row["at"])
            points = list(by_step.values())
    except (ExpressionError, KeyError, TypeError, ValueError, AttributeError, csv.Error):
        pass
    if not points:
        raise usage_error(
            f"`{source}` does not hold the path of a run",
            "write one with `autodiff descend … --format jsonl`, or `autodiff minimize …"
            " --save-path`",
        )
    return points
