"""The range of a program and of its derivatives over a box, proven by interval arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Answer
from ...engine.numbers.base import UNDECIDED
from ...engine.numerics.box_ranges import BoxRanges, ProvenRange, UnprovenPlace, range_numbers
from ...errors import Diagnostic, ExpressionError, point_error, require
from ...questions.arithmetic import number_as_typed
from ...questions.boxes import check_ends, check_variables
from ...questions.optional_units import pose_with_units, with_units
from ...questions.parse_point import Range
from ...questions.problem import Point, Problem
from ...record import Record

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import Units

# What may be the matter at a place, by its kind.
PLACES = {
    "kink": "may have a kink; the derivatives are those of all sides",
    "slope": "may have a kink, a jump or an infinite derivative: no derivative is bounded there",
    "value": "may be undefined, without bound, or jump: nothing is proven there",
}
# What is proven of a variable, in words.
MONOTONICITY = {
    "increasing": "increasing: proven",
    "decreasing": "decreasing: proven",
    "nondecreasing": "never decreasing: proven",
    "nonincreasing": "never increasing: proven",
    "constant": "constant: proven",
    "neither": "rises and falls: proven",
}


class ExactEnd(float):
    """An end of a range as the next double outside, and exactly."""

    exact: Fraction

    def __new__(cls, near: float, exact: Fraction) -> ExactEnd:
        end = super().__new__(cls, near)
        end.exact = exact
        return end


class NumberRange(Record):
    """What contains the value over the box, or the derivative by a variable."""

    name: str
    """The variable; empty for the value."""
    low: float | None
    high: float | None
    everywhere: bool
    """Whether it holds all over the box, and not only outside of the places."""
    overestimation: float | None
    monotonicity: str | None = None


class BoxPlace(Record):
    """Where something is not proven."""

    box: dict[str, tuple[float, float]]
    kind: str
    part: str
    """The part of the program that it is about."""


class GradientRanges(Answer, shows=("box", "ranges")):
    """Proven ranges of a program and its partial derivatives over a box: `gradient(…, over=…,
    certified=True)`.
    """

    declaration = """
    csv line id variable low[] high[] everywhere monotonicity error
    box: the ends of each variable of the box, by name
    point
    ranges: the value, then each partial derivative
      variable column from=name nonempty: the variable; null for the value
      low column: no smaller number is reached; null where there is no bound
      high column: no larger number is reached; null where there is no bound
      everywhere column: whether that holds all over the box, not only outside of `places`
      overestimation: the share of its width by which the range may be too wide; null where it is \
      not everywhere
      monotonicity column: what is proven of the program along the variable: `increasing`, \
      `decreasing`, \
      `nondecreasing`, `nonincreasing`, `constant` or `neither`; null where nothing is
    places: where something is not proven, or a kink may be
      box: the ends of each variable
      kind: `kink`; `slope`: no derivative is bounded; `value`: nothing is
      part: the part of the program that it is about
    complete: whether the parts of the box are as narrow as they are worth; otherwise more work \
    gives narrower ranges
    units
    constants
    warnings
    """

    text: str
    box: dict[str, tuple[float, float]]
    point: dict[str, float]
    ranges: tuple[NumberRange, ...]
    places: tuple[BoxPlace, ...]
    complete: bool
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...] = ()
    units: Units | None = None


def gradient_ranges(
    text: str,
    point: Point | None,
    *,
    box: Mapping[str, Range],
    wrt: Sequence[str] | str | None = None,
    units: Sequence[str] | str | None = None,
) -> GradientRanges:
    """Return ranges that are proven to contain the program `text` and its derivatives over a `box`
    of variables.

    The other variables have their values at `point`. Raises `ExpressionError` as `gradient` does;
    `usage` for an open or empty side of the box, and for a name that the program does not use.

    >>> answer = gradient_ranges("x**2", {}, box={"x": Range(1, 2)})
    >>> [(each.name, round(each.low, 6), round(each.high, 6), each.monotonicity) for each in answer.ranges]
    [('', 1.0, 4.0, None), ('x', 2.0, 4.0, 'increasing')]
    """
    require("flint", "certified", "`--over` needs python-flint, which is not installed", "")
    problem = _problem(text, point, box, wrt, units)
    m = range_numbers()
    sides = {
        name: (number_as_typed(m, name, low), number_as_typed(m, name, high))
        for name, (low, high) in _ends(box)
    }
    fixed = {
        name: number_as_typed(m, name, x) for name, x in problem.point.items() if name not in box
    }
    wanted = [*box] if wrt is None else problem.wanted
    found = BoxRanges(
        m,
        problem.program.graph,
        sides,
        fixed,
        [*box, *(name for name in wanted if name not in box)],
    )
    _check_value(found)
    return _answer(problem, box, wanted, found)


def _ends(box: Mapping[str, Range]) -> list[tuple[str, tuple[Any, Any]]]:
    return [(name, (ends.low, ends.high)) for name, ends in box.items()]


def _problem(
    text: str,
    point: Point | None,
    box: Mapping[str, Range],
    wrt: Sequence[str] | str | None,
    units: Any,
) -> Problem:
    typed = with_units(point)
    for name, (low, high) in box.items():
        _check_dimension(name, low, high)
    check_ends(box, typed)
    problem = pose_with_units(
        text, {**typed, **{name: low for name, (low, _) in _ends(box)}}, wrt, units
    )
    check_variables(box, problem.program.leaves)
    return problem


def _check_dimension(name: str, low: Any, high: Any) -> None:
    units: list[Unit | None] = [getattr(x, "unit", None) for x in (low, high) if x is not None]
    dimensions = {None if unit is None else unit.dimension for unit in units}
    if len(dimensions) > 1:
        raise point_error(
            f"the ends of `{name}` are in units of two quantities",
            "write both in one unit: `x=1[m]:2[m]`",
        )


def _check_value(found: BoxRanges) -> None:
    """Raise the error of a program that has no value anywhere in the box, as far as is known."""
    parts = [part for _, part in found.parts]
    if any(part.value is not None for part in parts):
        return
    fault = next((part.fault for part in parts if part.fault is not None), None)
    if fault is not None and fault.kind != UNDECIDED:
        found.evaluate_middle()  # its error has a number
        raise fault
    message = "no part of the box has a bound of the value"
    span = None if fault is None else fault.span
    raise ExpressionError(
        "domain", message, span, "take a smaller box, or allow more work: `--work 10`"
    )


def _answer(
    problem: Problem, box: Mapping[str, Range], wanted: Sequence[str], found: BoxRanges
) -> GradientRanges:
    names = ["", *found.wrt]
    by_name = dict(zip(names, found.ranges(), strict=True))
    measured = problem.units
    tree = None if measured is None else measured.of_gradient(wanted)
    units = {
        name: None if tree is None else tree["gradient"][name] if name else tree["value"]
        for name in ["", *wanted]
    }
    ranges = tuple(_number_range(found, name, by_name[name], units[name]) for name in units)
    ends = {name: (_shown(low), _shown(high)) for name, (low, high) in _ends(box)}
    point = {name: x for name, x in problem.values.items() if name not in box}
    if measured is not None:
        point = {name: measured.number_of(name, x) for name, x in point.items()}
    places = tuple(_place(problem, found, place) for place in found.places())
    warnings = list(problem.warnings)
    if not found.complete:
        hint = "allow more: `--work 10`, or take a smaller box"
        warnings.append(
            Diagnostic(
                "note", "the work ended before the ranges were as narrow as they can be", None, hint
            )
        )
    answer = GradientRanges(
        text=problem.program.text,
        box=ends,
        point=point,
        ranges=ranges,
        places=places,
        complete=found.complete,
        constants=problem.program.constants,
        warnings=tuple(warnings),
    )
    if measured is None or tree is None:
        return answer
    of_point = tree["point"]
    own = {
        "ranges": [{"low": unit, "high": unit} for unit in units.values()],
        "box": {name: [of_point[name]] * 2 for name in box},
        "point": {name: of_point[name] for name in point},
    }
    return answer._replace(units=type(tree)(own))


def _shown(end: Any) -> float:
    return float(getattr(end, "number", end))


def _number_range(
    found: BoxRanges, name: str, proven: ProvenRange, unit: Unit | None
) -> NumberRange:
    low, high = proven.low, proven.high
    if unit is not None:
        from ...engine.quantities.presentation import present_number

        low, high = (present_number(found.m, x, unit) for x in (low, high))
    monotonicity = _monotonicity(found, name, proven) if name in found.names else None
    return NumberRange(
        name=name,
        low=_below(low),
        high=_above(high),
        everywhere=proven.everywhere,
        overestimation=proven.overestimation,
        monotonicity=monotonicity,
    )


def _monotonicity(found: BoxRanges, name: str, slope: ProvenRange) -> str | None:
    """Return what the slopes prove of the program along a variable of the box."""
    if len(found.signs[found.wrt.index(name)]) > 1:
        return "neither"
    if not slope.everywhere:
        return None
    low, high = slope.low.a, slope.high.a
    if low > 0 or high < 0:
        return "increasing" if low > 0 else "decreasing"
    if low >= 0:
        return "constant" if high <= 0 else "nondecreasing"
    return "nonincreasing" if high <= 0 else None


def _below(x: Any) -> float | None:
    """Return the largest double that is surely not above a number, with its exact value if known;
    None without one.
    """
    low = x.a.lower()
    near = float(low)
    return _with_exact(near if low >= near else math.nextafter(near, -math.inf), x)


def _above(x: Any) -> float | None:
    high = x.a.upper()
    near = float(high)
    return _with_exact(near if high <= near else math.nextafter(near, math.inf), x)


def _with_exact(near: float, x: Any) -> float | None:
    if not math.isfinite(near):
        return None
    from ...engine.numbers.ball import rational_of

    exact = rational_of(x)
    return near + 0.0 if exact is None else ExactEnd(near + 0.0, exact)


def _place(problem: Problem, found: BoxRanges, place: UnprovenPlace) -> BoxPlace:
    from ...engine.numbers.ball import Ball

    span = None if place.fault is None else place.fault.span
    part = problem.program.text if span is None else problem.program.text[span.start : span.end]
    ends = {name: Ball(a) for name, a in zip(found.names, place.box, strict=True)}
    box = {
        name: (_presented(problem, name, _below(a)), _presented(problem, name, _above(a)))
        for name, a in ends.items()
    }
    return BoxPlace(box=box, kind=place.kind, part=" ".join(part.split()))


def _presented(problem: Problem, name: str, x: float | None) -> float:
    assert x is not None  # a box has finite ends
    return x if problem.units is None else float(problem.units.number_of(name, x))
