"""A function of one variable with its derivative, its tangent and its gaps: all that a plot of it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..errors import Diagnostic, ExpressionError
from ..language.builder import Program
from ..language.printer import expression_text
from ..values.formulas import derivatives
from ..values.value import differentiate
from .bounds import Range
from .digits import unsigned
from .evaluator import Evaluator, compile_gradient
from .problem import as_number, parse, place
from .sampling import Samples, sample, split
from .surface import Surface, surface_of

SHORT = 60
"""Characters of a program, and of its derivative, that are written beside the curves."""


class Tangent(NamedTuple):
    """The tangent line at a point: the linear approximation there."""

    at: float
    value: float
    slope: float

    def __call__(self, x: float) -> float:
        """The height of the tangent at `x`."""
        return self.value + self.slope * (x - self.at)


class Curve(NamedTuple):
    """A function of one variable over a range, ready to be drawn."""

    text: str
    variable: str
    low: float
    high: float
    fixed: dict[str, float]
    """The values of the other variables."""
    function: Samples
    derivative: Samples
    formula: str
    """The derivative as a formula; empty where that would be too long to read."""
    tangent: Tangent | None
    """At the point, where one was given."""
    warnings: tuple[Diagnostic, ...]

    @property
    def kinks(self) -> list[float]:
        """Where the function has a value and no derivative."""
        return [x for x in self.derivative.breaks if x not in self.function.breaks]


def plot(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    ranges: Mapping[str, Range] | None = None,
    path: Sequence[Mapping[str, float]] = (),
) -> Curve | Surface:
    """What a plot of the program `text` shows: over one variable a `Curve`, over two a `Surface`.

    `ranges` says from where to where, and thereby of which variables; `wrt` says of which without a range. The others
    are held at `point`. `path` is drawn over a surface. Raises `ExpressionError` as `gradient` does at the point.
    """
    ranges = dict(ranges or {})
    values = {name: as_number(value, name) for name, value in (point or {}).items()}
    program = parse(text, values)
    names = _across(program, list(ranges), wrt, path)
    for name in names:
        if name in ranges:
            _check(name, ranges[name])
    wide = all(name in ranges for name in names) or bool(path)
    pointed = all(name in values for name in names)
    known = dict(values)
    if wide and not pointed:
        # the range alone says enough; the middle only stands in, so that the rest of the point is looked at
        known |= dict.fromkeys(names, 0.0)
    try:
        warnings = place(program, known)
    except ExpressionError as error:
        if error.kind == "missing_value" and len(names) == 1 and not pointed:
            told = error.diagnostic
            hint = f"{told.hint}; or only a range: `--range {names[0]}=-2:4`"
            raise ExpressionError(told.kind, told.message, told.span, hint) from None
        raise
    if len(names) == 2:
        return surface_of(program, names, known, ranges, path, pointed, warnings)
    return _curve(program, names[0], known, ranges.get(names[0]), pointed, warnings)


def _across(
    program: Program, ranged: Sequence[str], wrt: Sequence[str] | None, path: Sequence[Mapping[str, float]]
) -> list[str]:
    """The one or two variables to draw over, that of the horizontal axis first. Raises a usage error."""
    listed = ", ".join(f"`{name}`" for name in program.variables)
    for name in (*ranged, *(wrt or ())):
        if name not in program.variables:
            raise ExpressionError(
                "usage", f"`{name}` is not a variable of this program", hint=f"its variables: {listed or 'none'}"
            )
    chosen = list(dict.fromkeys(wrt or ranged or sorted(program.parameters)))
    if not wrt and len(chosen) == 1 and path and len(program.parameters) == 2:
        chosen = sorted(program.parameters)
    if wrt and any(name not in wrt for name in ranged):
        raise ExpressionError("usage", "`--range` and `--wrt` name different variables", hint="`--range` is enough")
    if not chosen:
        raise ExpressionError("usage", "the program has no variable to draw it over", hint="write one with a variable")
    if len(chosen) > 2:
        raise ExpressionError(
            "usage", f"a plot is over one variable or two, and this program has {len(chosen)}",
            hint=f"say over which: `--wrt {','.join(chosen[:2])}`; the others keep the values of `--at`",
        )  # fmt: skip
    if path and len(chosen) != 2:
        raise ExpressionError("usage", "a path is drawn over two variables", hint="leave out `--path`")
    return chosen


def _check(name: str, ends: Range) -> None:
    low, high = ends
    if low is None or high is None:
        raise ExpressionError("usage", f"the range of `{name}` needs both ends", hint=f"write `--range {name}=-2:4`")
    if not low < high:
        raise ExpressionError("usage", f"the range of `{name}` is empty", hint=f"write `--range {name}=-2:4`")
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        raise ExpressionError("usage", f"the range of `{name}` is too narrow to draw", hint="give a wider one")
    if high - low > 1e300:
        raise ExpressionError("usage", f"the range of `{name}` is too wide to draw", hint="give a narrower one")


def around(x: float) -> tuple[float, float]:
    """The range that is shown around a point unless another is asked for: 0 is in it."""
    half = max(2.0, 2 * abs(x)) if abs(x) < 1 else 2 * abs(x)
    return x - half, x + half


def _curve(
    program: Program,
    name: str,
    values: Mapping[str, float],
    ends: Range | None,
    pointed: bool,
    warnings: list[Diagnostic],
) -> Curve:
    evaluator = compile_gradient(program, (name,))
    position = evaluator.variables.index(name)
    point = [values[each] for each in evaluator.variables]
    tangent = None
    if pointed:
        for each, leaf in program.variables.items():
            leaf.active = each == name
        warnings = warnings + differentiate(evaluator.output)
        slope = program.variables[name].grad or 0.0 if name in program.variables else 0.0
        tangent = Tangent(values[name], unsigned(evaluator.output.data), unsigned(slope))
    low, high = ends or around(values[name])
    _check(name, Range(low, high))
    assert low is not None and high is not None
    heights, slopes = functions(evaluator, position, point)
    also = [values[name]] if pointed else []
    function = sample(heights, low, high, also)
    if not function.stretches:
        raise ExpressionError(
            "domain", f"the program has no value anywhere from {name} = {low:g} to {high:g}",
            hint="give another `--range`",
        )  # fmt: skip
    derivative = sample(slopes, low, high, also)
    pieces = split(derivative.stretches, function.breaks)
    derivative = derivative._replace(stretches=pieces)
    if function.coarse or derivative.coarse:
        message = f"the curve bends or breaks more often from {name} = {low:g} to {high:g} than could be followed"
        hint = f"show less of it: `--range {name}={low / 10:g}:{high / 10:g}`; or allow more work: `--work 10`"
        warnings = [*warnings, Diagnostic("limit", message, None, hint)]
    fixed = {each: x for each, x in values.items() if each != name and each in program.variables}
    formula = _formula(program, name)
    return Curve(program.text, name, low, high, fixed, function, derivative, formula, tangent, tuple(warnings))


def _formula(program: Program, name: str) -> str:
    """The derivative as a formula, where it is short."""
    if len(program.text) > SHORT or any(each in program.text for each in "=\n"):
        # with bindings and conditions the formula would show what the text does not
        return ""
    try:
        found = derivatives(program.outputs[0], [program.variables[name]], 1)
    except ExpressionError:
        return ""
    text = expression_text(next(iter(found.values())))
    return text if len(text) <= SHORT else ""


def functions(
    evaluator: Evaluator, position: int, point: Sequence[float]
) -> tuple[Callable[[float], float | None], Callable[[float], float | None]]:
    """The value and the derivative as functions of one variable; None where they are undefined."""
    place = list(point)

    def value(x: float) -> float | None:
        place[position] = x
        try:
            return unsigned(evaluator.value(place))
        except ExpressionError as error:
            if error.kind == "limit":
                raise
            return None

    def slope(x: float) -> float | None:
        place[position] = x
        try:
            return unsigned(evaluator(place)[1][0])
        except ExpressionError as error:
            if error.kind == "limit":
                raise
            return None

    return value, slope
