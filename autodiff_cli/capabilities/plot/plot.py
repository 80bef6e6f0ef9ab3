"""A function of one variable with everything in its plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...api.api_answers import Drawing
from ...compiled.evaluator import Evaluator
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.graphs.higher_order import hessian_in
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers import budget
from ...engine.numbers.base import Number, NumberType
from ...engine.numbers.floats import REAL
from ...engine.numerics.krawczyk import enclosure
from ...errors import Diagnostic, ExpressionError, limit_error, quote, usage_error
from ...language.builder import Program
from ...language.equation_trees import last_equation
from ...language.printer import expression_text
from ...questions.equations import read_equations
from ...questions.figures import unsigned
from ...questions.optional_units import left_out, program_units, with_units
from ...questions.parse_point import Range
from ...questions.problem import (
    Quantity,
    check_bare_functions,
    check_products,
    check_values,
    have_units,
    numbers_or_quantities,
    output_names,
    parse,
    parse_program,
)
from ...questions.rounding import (
    Points,
    lost_numbers_over,
    rounding_warnings,
    rounding_warnings_over,
    spread_over,
)
from ...record import Record
from .contours import Surface, fixed_values, of_row, span_of, surface_of
from .implicit import ImplicitPlot, implicit_equations, implicit_plot, two_variables
from .sampling import TINY, Function, Hull, Path, Samples, diverges, sample, split

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit
    from ...questions.column_uncertainties import Sigma
    from ...questions.quantities import ProgramUnits, Units
    from ..propagate.measurement_model import Implicit, SolutionBranch
    from .measurements import Measurements

_raised = partial(pow, 10.0)
Ranges: TypeAlias = Mapping[str, Range]
NO_SAMPLES = Samples((), (), (), 0.0, 0.0)
# Characters of formulas beside the curves.
MAX_FORMULA_LENGTH = 60
# The number of colours.
MAX_FUNCTIONS = 6
# The highest derivative in a plot.
MAX_ORDER = 2
DEFAULT_RANGE = Range(-5.0, 5.0)


class PlottedOutput(Record):
    """One of several functions in a plot."""

    name: str
    function: Samples
    value: float | None
    """At the point, if given."""


class Tangent(Record):
    """The tangent line at a point."""

    at: float
    value: float
    slope: float

    def __call__(self, x: float) -> float:
        return self.value + self.slope * (x - self.at)


class Curve(Drawing, shows=("text", "variable", "low", "high")):
    """A function of one variable over a range, to be drawn."""

    declaration = """
    csv line id x[] y[] value[] derivative[] second[] output error
    variables: the variables that it is drawn over
    range: the range of each
    vertical optional: with a range of the heights: its two ends
    point: the point; null without one
    value: the value at the point
    gradient: the partial derivatives at the point
    formula nonempty: the derivative as a formula; null where it is long
    linear: the linear approximation at the point
    log optional nonempty: with `--log`: the logarithmic axes
    held from=fixed: the variables that are held fixed, by name
    gaps from=function.gaps: the intervals in which the function is undefined
    breaks from=function.breaks: where it is discontinuous
    function from=function.stretches: the function: lists of points, one for each stretch without \
    a gap
    derivative from=derivative.stretches: the derivative: lists of points, one for each stretch \
    without a gap
    second optional from=second.stretches nonempty: with `--order 2`: lists of points, one for \
    each \
    stretch without a gap
    path optional nonempty: with `--path`: its points
    data optional: with `--data`: its rows as they are drawn: `across`, `up`, `x`, `y`, and the \
    uncertainties `dx`, `dy`
    outputs optional nonempty: several functions
      name: the function
      value: its value at the point
      gaps from=function.gaps: the intervals in which it is undefined
      breaks from=function.breaks: where it is discontinuous
      function from=function.stretches: lists of points, one for each stretch without a gap
    units
    warnings
    """

    text: str
    variable: str
    low: float
    high: float
    fixed: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    function: Samples = NO_SAMPLES
    derivative: Samples = NO_SAMPLES
    second: Samples = NO_SAMPLES
    formula: str = ""
    """The derivative as a formula; empty if long."""
    tangent: Tangent | None = None
    name: str = "f"
    """What the function is called: as the program names its output, or the unknown of equations."""
    vertical: tuple[float, float] | None = None
    """The heights to show, if chosen."""
    unknown: str = ""
    """The name of the function if equations define it."""
    equations: tuple[str, ...] = ()
    known_names: frozenset[str] = frozenset()
    path: tuple[tuple[float, float], ...] = ()
    outputs: tuple[PlottedOutput, ...] = ()
    at: float | None = None
    """The point of several outputs, if given."""
    log: str = ""
    """The logarithmic axes: `x`, `y` or `xy`."""
    samples: int | None = None
    """The number of equidistant points; None for adaptive sampling."""
    data: Measurements | None = None
    units: Units | None = None

    def in_logs(self) -> Curve:
        """Return the curve in decimal logarithms on its logarithmic axes."""
        across, up = (math.log10 if axis in self.log else float for axis in "xy")
        data = self.data
        if data is not None:
            rows = [
                (across(x), up(y))
                for x, y in zip(data.x, data.y, strict=True)
                if not (("x" in self.log and x <= 0) or ("y" in self.log and y <= 0))
            ]
            data = data._replace(
                x=tuple([x for x, _ in rows]), y=tuple([y for _, y in rows]), dx=(), dy=()
            )
        return self._replace(
            log="",
            low=across(self.low),
            high=across(self.high),
            vertical=self.vertical and (up(self.vertical[0]), up(self.vertical[1])),
            function=_map(self.function, across, up),
            outputs=tuple(
                [
                    output._replace(function=_map(output.function, across, up))
                    for output in self.outputs
                ]
            ),
            data=data,
        )

    @property
    def kinks(self) -> list[float]:
        tiny = TINY * (self.high - self.low)
        broken = {math.floor(x / tiny) + near for x in self.function.breaks for near in (-1, 0, 1)}
        return [x for x in self.derivative.breaks if math.floor(x / tiny) not in broken]


def plot(
    text: str,
    point: Mapping[str, float | str] | None = None,
    *,
    wrt: Sequence[str] | None = None,
    ranges: Ranges | None = None,
    path: Path = (),
    unknowns: Sequence[str] | None = None,
    between: Mapping[str, Range] | Range | None = None,
    order: int | None = None,
    log: str | None = None,
    samples: int | None = None,
    data: Mapping[str, Sequence[float]] | None = None,
    response: str | None = None,
    sigma: Sigma | None = None,
    units: Sequence[str] | str | None = None,
) -> Curve | Surface | ImplicitPlot:
    """Return a `Curve` over one variable of the program `text`, a `Surface` over two, or the curves
    of equations.

    The variables are those of `ranges` and `wrt`; others have values in `point`.
    With `unknowns`, or bounds `between`, the first unknown of equations is drawn.
    """
    ranges = dict(ranges or {})
    if left_out(units):
        data, units = None if data is None else dict(data), None
    equations = unknowns is not None or between is not None
    typed = with_units(point)
    values = numbers_or_quantities(typed)
    bounds: Mapping[str, Range] = _bounds_of(between, order) if equations else {}
    options = _PlotOptions(path, order, log or "", samples)
    if not equations and data is None and implicit_equations(text):
        return _implicit(text, values, wrt, ranges, options, units)
    ranges, vertical = _without_vertical(text, ranges, {*values, *(wrt or ())}, unknowns, bounds)
    options = options._replace(vertical=vertical)
    rows: Measurements | None = None
    if data is not None:
        from .measurements import columns_drawn, rows_drawn

        in_units = units is not None or have_units(text, values, {**bounds, **ranges})
        drawn_by = wrt or [*ranges], response, sigma, unknowns, between
        over, columns = columns_drawn(text, [*data], [*typed], *drawn_by)
        rows, around_rows = rows_drawn(data, over, columns[:2], sigma, path, in_units)
        ranges = around_rows | ranges
    if equations:
        drawn: Curve | Surface = _branch(
            text, typed, wrt, ranges, unknowns, between, units, vertical
        )
    else:
        drawn = _formulas(text, values, wrt, ranges, options, units)
    return drawn if rows is None else _with_rows(drawn, rows, getattr(data, "units", {}))


def _bounds_of(
    between: Mapping[str, Range] | Range | None, order: int | None
) -> Mapping[str, Range]:
    """Return the bounds of unknowns by name, which is empty for the only one. Raises a usage error
    for an `order`.
    """
    if order not in (None, 1):
        raise usage_error(
            "the solution of equations is drawn with its first derivative", "leave `--order` out"
        )
    return {"": between} if isinstance(between, Range) else between or {}


def _with_rows(
    drawn: Curve | Surface, rows: Measurements, units: Mapping[str, str]
) -> Curve | Surface:
    """Return a drawing with rows of data, in the units of its axes."""
    if drawn.units is None:
        return drawn._replace(data=rows)
    from .measurements import in_axis_units

    axes = [drawn.units["range"].get(name, drawn.units["value"]) for name in (rows.across, rows.up)]
    return drawn._replace(data=in_axis_units(rows, units, axes))


def _without_vertical(
    text: str,
    ranges: dict[str, Range],
    known_names: Collection[str],
    unknowns: Sequence[str] | None,
    bounds: Ranges,
) -> tuple[dict[str, Range], Range | None]:
    """Return the ranges of variables, and that of the heights: of an unknown or output by its name,
    else of `y`.
    """
    of_heights = {*(unknowns or ()), *bounds} & {*ranges}
    if not of_heights and len(ranges) < 3:
        last = last_equation(text)
        of_output = () if last is None else (last.called or last.left,)
        # `y` is a variable where the program has one
        named = [
            name for name in (*of_output, "y", "f") if name in ranges and name not in known_names
        ][:1]
        others = [*known_names, *(name for name in ranges if name not in named)]
        of_heights = {name for name in named if name not in _leaves(text, others)}
    name = next(iter(of_heights), "")
    return {other: ends for other, ends in ranges.items() if other != name}, ranges.get(name)


def _leaves(text: str, known_names: Sequence[str]) -> Collection[str]:
    try:
        return parse(text, known_names, units=True).leaves
    except ExpressionError:
        # explained where the program is read for its plot
        return ()


def _implicit(
    text: str,
    values: dict[str, float],
    wrt: Sequence[str] | None,
    ranges: dict[str, Range],
    options: _PlotOptions,
    units: Sequence[str] | str | None,
) -> ImplicitPlot:
    for option in ("order", "log", "samples", "path"):
        if getattr(options, option) not in (None, "", ()):
            message = f"`--{option}` is for functions, and this is the curve of an equation"
            raise usage_error(
                message, "name the unknown for a function of the other variable: `--for y`"
            )
    program, texts = read_equations(text, [*values, *ranges, *(wrt or ())], units=True)
    names = two_variables(program, [*(wrt or ranges)], values)
    of_ranges = {
        name: next((x for x in ends if type(x) is Quantity), 0.0) for name, ends in ranges.items()
    }
    measured = program_units(program, {**dict.fromkeys(names, 0.0), **of_ranges, **values}, units)
    pointed = all(name in values for name in names)
    if measured is not None:
        program, values, ranges = _in_own_units(measured, program, values, ranges)
    for name, ends in ranges.items():
        _check(name, ends)
    drawn = implicit_plot(program, texts, names, values, ranges, pointed)
    if measured is None:
        return drawn
    used = measured.tree(range={name: measured.point[name] for name in names})
    return drawn._replace(units=used, warnings=(*drawn.warnings, *measured.warnings))


class _PlotOptions(NamedTuple):
    """What is drawn beside a function, and how."""

    path: Path
    order: int | None
    log: str
    samples: int | None
    vertical: Range | None = None
    """The range of the heights, if chosen."""

    def order_drawn(self, functions: int) -> int:
        """Return up to which order derivatives are drawn: by default the first, of one function on
        plain axes.
        """
        if self.log or functions > 1:
            return 0
        return 1 if self.order is None else self.order

    def check(self, names: Sequence[str], functions: int, ranges: Ranges) -> None:
        """Raise a usage error for options that do not go with so many variables and functions."""
        if functions > 1 and self.order:
            message = f"derivatives are drawn of one function, and this program has {functions}"
            raise usage_error(message, "leave `--order` out, or draw one of them")
        if functions > 1 and self.path:
            raise usage_error("a path is drawn over one function", "leave `--path` out")
        for option in ("order", "log", "samples") if len(names) == 2 else ():
            if getattr(self, option) not in (None, ""):
                hint = f"say over which: `--wrt {names[0]}`"
                raise usage_error(f"`--{option}` is for functions of one variable", hint)
        if self.log:
            self._check_logarithmic(names[0], ranges)
        elif self.vertical is not None:
            _check("y", self.vertical)

    def _check_logarithmic(self, name: str, ranges: Ranges) -> None:
        """Raise a usage error for what cannot be drawn on logarithmic axes."""
        if self.order:
            raise usage_error(
                "on logarithmic axes only the function is drawn", "leave `--order` out"
            )
        if self.vertical is not None:
            bottom, _ = _check("y", self.vertical)
            if "y" in self.log and bottom <= 0:
                raise usage_error(
                    "a logarithmic axis needs positive heights",
                    "write `--range y=0.01:100`, for example",
                )
        low = ranges[name].low if name in ranges else None
        if "x" in self.log and (low is None or low <= 0):
            message = f"a logarithmic axis needs a range of positive {name}"
            raise usage_error(message, f"write `--range {name}=0.01:100`, for example")


def _ends_with_units(ranges: Ranges) -> dict[str, float]:
    """Return an end of each range, whose unit the axis has; 0 without one."""
    return {
        name: next((x for x in ends if type(x) is Quantity), 0.0) for name, ends in ranges.items()
    }


def _note_on_default_range(names: Sequence[str]) -> Diagnostic:
    example = ",".join(f"{name}=-2:4" for name in names)
    message = (
        f"drawn from {DEFAULT_RANGE.low:g} to {DEFAULT_RANGE.high:g}: no point and no range is"
        " given"
    )
    return Diagnostic("note", message, None, f"choose another range: `--range {example}`")


def _formulas(
    text: str,
    values: dict[str, float],
    wrt: Sequence[str] | None,
    ranges: Ranges,
    options: _PlotOptions,
    units: Sequence[str] | str | None,
) -> Curve | Surface:
    named = [*ranges, *(wrt or ())]
    typed, _, notes = parse_program(text, values, named, units=True)
    check_bare_functions(typed, {*values, *named}, by_option=True)
    check_products(typed, {*values, *named}, named or None, by_option=True)
    names, path = _names_drawn(typed, wrt, ranges, options.path), options.path
    program, point = typed, {**dict.fromkeys(names, 0.0), **_ends_with_units(ranges), **values}
    measured = program_units(typed, point, units)
    if measured is not None:
        if options.vertical is not None:
            options = options._replace(vertical=_heights_in(measured.outputs[0], options.vertical))
        program, values, ranges = _in_own_units(measured, typed, values, ranges)
        notes = [*notes, *measured.warnings]
    for name in names:
        if name in ranges:
            _check(name, ranges[name])
    if not ranges and not path and values.keys().isdisjoint(names):
        # by default around 0
        ranges = dict.fromkeys(names, DEFAULT_RANGE)
        notes = [*notes, _note_on_default_range(names)]
    # with ranges the values are placeholders, for checks of the rest
    wide = path or ranges.keys() >= {*names}
    assumed = {**dict.fromkeys(names if wide else (), 0.0), **values}
    warnings = check_values(program, assumed) + notes
    options.check(names, len(program.roots), ranges)
    pointed = not options.log and values.keys() >= {*names}
    if len(names) == 2:
        drawn: Curve | Surface = surface_of(
            program, names, assumed, ranges, path, pointed, warnings
        )
    else:
        order = options.order_drawn(len(program.roots))
        drawn = _curve(
            program, names[0], assumed, ranges.get(names[0]), pointed, warnings, order, options
        )
        if order:
            drawn = drawn._replace(formula=_short_derivative(typed, names[0]))
    return drawn._replace(units=_units_of(measured, names))


def _names_drawn(
    program: Program, wrt: Sequence[str] | None, ranges: Ranges, path: Path
) -> list[str]:
    """Return the one or two variables that a plot is over."""
    for name in (*ranges, *(wrt or ())):
        if name not in program.leaves:
            raise usage_error(
                f"`{name}` is not a variable of this program",
                f"its variables: {quote(program.leaves)}",
            )
    parameters = sorted(program.leaves.keys() & {*program.parameters})
    names = list(dict.fromkeys(wrt or ranges or parameters))
    if not wrt and len(names) == 1 and path and len(parameters) == 2:
        names = parameters
    if wrt and any(name not in wrt for name in ranges):
        raise usage_error("`--range` and `--wrt` name different variables", "`--range` is enough")
    if not names:
        raise usage_error(
            "the program has no variable to draw it over", "write one with a variable"
        )
    if len(names) > 2:
        raise usage_error(
            f"a plot is over one variable or two, and this program has {len(names)}",
            f"say over which: `--wrt {','.join(names[:2])}`; the others keep the values of `--at`",
        )
    return names


def _short_derivative(program: Program, name: str) -> str:
    """Return the derivative as a formula; empty if it is long."""
    # with bindings and conditions the formula would be unlike the text
    if len(program.text) <= MAX_FORMULA_LENGTH and not {*"=\n"} & {*program.text}:
        with suppress(ExpressionError):
            (formula,) = derivatives(program.outputs[0], [program.variables[name]], 1).values()
            written = expression_text(formula)
            return written if len(written) <= MAX_FORMULA_LENGTH else ""
    return ""


def _in_own_units(
    measured: ProgramUnits, program: Program, values: Mapping[str, float], ranges: Ranges
) -> tuple[Program, dict[str, float], dict[str, Range]]:
    from ...questions.quantities import ranges_in

    numbers = {name: measured.number_of(name, x) for name, x in values.items()}
    return (
        measured.in_own_units(program),
        numbers,
        ranges_in(ranges, measured.point, "an end of its range"),
    )


def _heights_in(unit: Unit, ends: Range) -> Range:
    from ...questions.quantities import ranges_in

    # a number without a unit is one of the axis
    plain = [type(x) is not Quantity for x in ends]
    return (
        ends
        if all(plain)
        else ranges_in({"the function": ends}, {"the function": unit}, "an end of its range")[
            "the function"
        ]
    )


def _units_of(measured: ProgramUnits | None, names: Sequence[str]) -> Units | None:
    if measured is None:
        return None
    first = measured.outputs[0]
    across = {name: measured.point[name].degree for name in names}
    units = measured.tree(
        value=first, gradient={name: first.degree / unit for name, unit in across.items()}
    )
    unit = across[names[0]]
    units["derivative"], units["second"] = first.degree / unit, first.degree / unit**2
    units["range"] = {name: measured.point[name] for name in names}
    units["outputs"] = [{"value": unit} for unit in measured.outputs]
    return units


def _check(name: str, ends: Sequence[float | None]) -> tuple[float, float]:
    low, high = ends
    if low is None or high is None:
        raise usage_error(f"the range of `{name}` needs both ends", f"write `--range {name}=-2:4`")
    if not low < high:
        raise usage_error(f"the range of `{name}` is empty", f"write `--range {name}=-2:4`")
    if not 1e-9 * max(abs(low), abs(high)) < high - low <= 1e300:
        size = "wide" if high - low > 1e300 else "narrow"
        raise usage_error(f"the range of `{name}` is too {size} to draw", "give another one")
    return low, high


def range_around(x: float) -> tuple[float, float]:
    """Return the default range around a point, which contains 0."""
    half = max(2.0, 2 * abs(x)) if abs(x) < 1 else 2 * abs(x)
    return x - half, x + half


def _curve(
    program: Program,
    name: str,
    values: Mapping[str, float],
    ends: Range | None,
    pointed: bool,
    warnings: list[Diagnostic],
    order: int,
    options: _PlotOptions,
) -> Curve:
    outputs, at, path = program.roots, values[name], options.path
    if len(outputs) > MAX_FUNCTIONS:
        message = f"{len(outputs)} functions are too many for one plot"
        raise limit_error(message, f"draw {MAX_FUNCTIONS} at most")
    tangent = None
    if pointed and len(outputs) == 1:
        swept = value_and_gradient(REAL, program.graph, values, (name,))
        warnings = [
            *warnings,
            *swept.warnings,
            *rounding_warnings(program.graph, values, values, (name,)),
        ]
        tangent = Tangent(at, unsigned(swept.value), unsigned(swept.gradient[name]))
    marks = [of_row(row, name) for row in path]
    low, high = _check(
        name, ends or (span_of([*marks, *([at] if pointed else [])]) if path else range_around(at))
    )
    fixed = fixed_values(program, values, (name,))
    _check_path(path, name, fixed)
    curve = Curve(
        program.text,
        name,
        low,
        high,
        fixed,
        tuple(warnings),
        log=options.log,
        samples=options.samples,
    )
    vertical = options.vertical and _check("y", options.vertical)
    curve = curve._replace(tangent=tangent, name=_name_of(program, name), vertical=vertical)
    also = [at] if pointed else []
    if len(outputs) == 1:
        function, *_ = orders = functions(Evaluator(program, (name,)), name, values)
        curve = curve._replace(path=_heights_along(function, marks))
        hulls = [enclosure(program.outputs[0], name, values, k) for k in (0, 1)]
        sampled = _out_of_sight(_sample(curve, orders[: order + 1], also, hulls))
        shown = [name] if order else []
        return sampled._replace(
            warnings=(*sampled.warnings, *_lost_digits(sampled, program, values, shown))
        )
    return _with_outputs(curve._replace(at=at if pointed else None), program, values, also)


def _heights_along(
    function: Callable[[float], float | None], marks: Iterable[float]
) -> tuple[tuple[float, float], ...]:
    """Return the points of a path where the function has a value."""
    return tuple([(x, y) for x in marks if (y := function(x)) is not None])


def _check_path(path: Path, name: str, fixed: Mapping[str, float]) -> None:
    """Raise a usage error for a path that changes another variable than the one that it is drawn
    over.
    """
    for row in path:
        other = next((key for key, x in fixed.items() if row.get(key, x) != x), None)
        if other is not None:
            raise usage_error(
                f"the path also changes `{other}`, which is held at {fixed[other]:g} here",
                f"draw it over both: `--wrt {name},{other}`",
            )


def _with_outputs(
    curve: Curve, program: Program, values: Mapping[str, float], also: Sequence[float]
) -> Curve:
    """Return a curve with each of several outputs sampled."""
    results: list[PlottedOutput] = []
    name = curve.variable
    for title, root in zip(output_names(program), program.roots, strict=True):
        part = program.with_outputs((root,), program.text)
        function, *_ = functions(Evaluator(part, (name,)), name, values)
        samples = _on_axes(function, curve, also, enclosure(part.outputs[0], name, values))
        results.append(
            PlottedOutput(title, samples, None if curve.at is None else function(curve.at))
        )
    curve = curve._replace(function=results[0].function, outputs=tuple(results))
    for result, root in zip(results, program.roots, strict=True):
        part = program.with_outputs((root,), program.text)
        lost = _lost_digits(curve._replace(function=result.function), part, values, ())
        curve = curve._replace(warnings=(*curve.warnings, *lost))
    return _out_of_sight(_checked(curve, [result.function for result in results]))


def _out_of_sight(curve: Curve) -> Curve:
    """Add a note for each function that the chosen heights show nothing of."""
    if curve.vertical is None:
        return curve
    low, high = curve.vertical
    functions = [(output.name, output.function) for output in curve.outputs] or [
        (curve.name, curve.function)
    ]
    notes = [
        Diagnostic(
            "note",
            f"`{name}` has no value from {low:g} to {high:g} here",
            None,
            "give other heights: `--range`",
        )
        for name, function in functions
        if function.stretches
        and not any(low <= y <= high for stretch in function.stretches for _, y in stretch)
    ]
    return curve._replace(warnings=(*curve.warnings, *notes))


def _name_of(program: Program, variable: str) -> str:
    """Return what a function is called: as its output is bound, else f, or y over a variable f."""
    bound = {root: name for name, _, root in program.bound}
    return bound.get(program.roots[0]) or ("y" if variable == "f" else "f")


def _lost_digits(
    curve: Curve, program: Program, values: Mapping[str, float], wanted: Sequence[str]
) -> list[Diagnostic]:
    """Return a warning of digits that rounding loses along a curve, unless one of its point is
    given.
    """
    if any(warning.kind == "lost_digits" for warning in curve.warnings):
        return []
    drawn = [x for stretch in curve.function.stretches for x, _ in stretch]
    xs = [drawn[k] for k in spread_over(len(drawn))]
    name = curve.variable
    points = Points(
        [{**values, name: x} for x in xs], lambda k: f"{name} = {xs[k]:.6g}", "points of the curve"
    )
    found = rounding_warnings_over(program.graph, points, wanted, relative="y" in curve.log)
    if found or curve.second is None or not curve.second.stretches:
        return found

    def second(m: NumberType, at: Mapping[str, Number]) -> dict[str, Number]:
        return {"the second derivative": hessian_in(m, program.graph, at, [name]).hessian[0][0]}

    return lost_numbers_over(program.graph, points, second, "hessian")


def _on_axes(
    function: Function,
    curve: Curve,
    also: Sequence[float],
    hull: Hull | None = None,
    hidden: Sequence[float] = (),
) -> Samples:
    low, high, log, count = curve.low, curve.high, curve.log, curve.samples
    vertical = None if hidden else curve.vertical
    if not log:
        return sample(function, (low, high), also, count, hull, hidden, vertical)
    across, up = (math.log10 if axis in log else float for axis in "xy")

    def drawn(u: float) -> float | None:
        y = function(_raised(u) if "x" in log else u)
        return None if y is None or ("y" in log and y <= 0) else up(y)

    def drawn_hull(a: float, b: float) -> tuple[float, float] | None:
        bounds = hull and (hull(_raised(a), _raised(b)) if "x" in log else hull(a, b))
        return (
            None
            if not bounds or ("y" in log and bounds[0] <= 0)
            else (up(bounds[0]), up(bounds[1]))
        )

    ends = across(low), across(high)
    heights = vertical and (up(vertical[0]), up(vertical[1]))
    samples = sample(
        drawn, ends, [across(x) for x in also], count, hull and drawn_hull, (), heights
    )
    return _map(samples, _raised if "x" in log else float, _raised if "y" in log else float)


def _map(
    samples: Samples, across: Callable[[float], float], up: Callable[[float], float]
) -> Samples:
    return samples._replace(
        stretches=tuple(
            [tuple([(across(x), up(y)) for x, y in stretch]) for stretch in samples.stretches]
        ),
        gaps=tuple([(across(a), across(b)) for a, b in samples.gaps]),
        breaks=tuple(map(across, samples.breaks)),
        low=up(samples.low) if samples.stretches else 0.0,
        high=up(samples.high) if samples.stretches else 0.0,
    )


def _sample(
    curve: Curve,
    orders: Sequence[Function],
    also: Sequence[float],
    hulls: Sequence[Hull | None] = (),
) -> Curve:
    sampled: list[Samples] = []
    for function, hull in zip_longest(orders, hulls[: len(orders)]):
        samples = _on_axes(function, curve, also, hull, sampled[0].hidden if sampled else ())
        if sampled:
            samples = samples._replace(stretches=split(samples.stretches, sampled[-1].breaks))
        elif not samples.stretches:
            break
        sampled.append(samples)
    value, derivative, second = (*sampled, NO_SAMPLES, NO_SAMPLES, NO_SAMPLES)[: MAX_ORDER + 1]
    curve = curve._replace(function=value, derivative=derivative, second=second)
    # at a slow pole only the derivative is seen to break
    if poles := [x for x in curve.kinks if diverges(orders[0], x, curve.high - curve.low)]:
        value = value._replace(
            stretches=split(value.stretches, poles), breaks=tuple(sorted((*value.breaks, *poles)))
        )
    return _checked(curve._replace(function=value), [value, derivative])


def _checked(curve: Curve, samples: Sequence[Samples]) -> Curve:
    name, low, high = curve.variable, curve.low, curve.high
    if not any(function.stretches for function in samples):
        message = f"the program has no value anywhere from {name} = {low:g} to {high:g}"
        raise ExpressionError("domain", message, hint="give another `--range`")
    if not any(function.coarse for function in samples):
        return curve
    message = (
        f"the curve bends or breaks more often from {name} = {low:g} to {high:g} than could be"
        " followed"
    )
    middle, half = (low + high) / 2, (high - low) / 20
    hint = (
        f"show less of it: `--range {name}={middle - half:g}:{middle + half:g}`; or allow more"
        " work: `--work 10`"
    )
    return curve._replace(warnings=(*curve.warnings, Diagnostic("limit", message, None, hint)))


def _middles(
    ranges: Ranges, numbered: Mapping[str, Range], point: Collection[str]
) -> dict[str, float | str]:
    """Return the middles of ranges that the point is not in, where a search starts, in the unit of
    an end.
    """
    middles: dict[str, float | str] = {}
    for name, ends in ranges.items():
        if name in point:
            continue
        middles[name] = middle = sum(numbered[name].ends) / 2
        if unit := next(filter(None, (getattr(end, "unit", None) for end in ends)), None):
            from ...engine.quantities.presentation import present
            from ...questions.quantities import unit_value

            middles[name] = unit_value(unit, present(middle, unit))
    return middles


def _variable_of_solution(free: Sequence[str], chosen: Sequence[str]) -> str:
    """Return the variable that a solution is drawn over. Raises a usage error unless it is one."""
    for name in chosen:
        if name not in free:
            raise usage_error(
                f"`{name}` is not a variable of the solution", f"its variables: {quote(free)}"
            )
    chosen = chosen or free
    if len(chosen) != 1:
        hint = "write one with another variable; the range of a formula is `--range x=-2:4`"
        hint = f"say over which: `--wrt {free[0]}`" if free else hint
        raise usage_error(
            f"the solution of equations is drawn over one variable, and there are {len(chosen)}",
            hint,
        )
    return chosen[0]


def _branch(
    text: str,
    point: dict[str, float | str],
    wrt: Sequence[str] | None,
    ranges: Ranges,
    unknowns: Sequence[str] | None,
    between: Mapping[str, Range] | Range | None,
    units: Sequence[str] | str | None,
    vertical: Range | None,
) -> Curve:
    pointed = all(name in point for name in ranges)
    numbered = {name: Range(*map(float, _check(name, ends))) for name, ends in ranges.items()}
    point = {**point, **_middles(ranges, numbered, point)}
    from ..propagate.measurement_model import Implicit, SolutionBranch
    from ..solve.solve import posed_equations

    posed = posed_equations(text, point, unknowns, between, None, units)
    measured = posed.units
    if measured is None:
        ranges = numbered
    else:
        program, numbers, ranges = _in_own_units(measured, posed.program, posed.values, ranges)
        posed = posed._replace(
            program=program,
            point={name: numbers[name] for name in posed.point},
            values=numbers,
            bounds={name: measured.ends(name, ends) for name, ends in posed.bounds.items()},
            units=None,
        )
    model = Implicit(posed)
    name = _variable_of_solution(list(model.point), list(dict.fromkeys([*ranges, *(wrt or ())])))
    values, rows, warnings = model.first_order([name])
    at = model.values[name]
    low, high = ranges.get(name) or range_around(at)
    assert low is not None and high is not None
    branch = SolutionBranch(model, name)

    def height(x: float) -> float | None:
        solution = branch(x)
        return None if solution is None else unsigned(solution[model.outputs[0]])

    fixed = {key: x for key, x in model.values.items() if key not in (name, *model.outputs)}
    tangent = Tangent(at, values[0], rows[0][0]) if pointed else None
    notes = (*model.warnings, *warnings)
    curve = Curve(
        text, name, low, high, fixed, notes, tangent=tangent, units=_units_of(measured, [name])
    )
    if vertical is not None:
        vertical = vertical if measured is None else _heights_in(measured.outputs[0], vertical)
        curve = curve._replace(vertical=_check(model.outputs[0], vertical))
    curve = curve._replace(
        name=model.outputs[0],
        unknown=model.outputs[0],
        equations=tuple(posed.texts),
        known_names=frozenset(model.values),
    )
    sampled = _sample(curve, (height, branch.slope), [at])
    lost = _lost_digits_of_branch(sampled, model, branch)
    return _out_of_sight(sampled._replace(warnings=(*sampled.warnings, *lost)))


def _lost_digits_of_branch(
    curve: Curve, model: Implicit, branch: SolutionBranch
) -> list[Diagnostic]:
    """Return a warning of digits that rounding loses along a solution of equations."""
    from ..solve.residuals import derivative_phrase, numbers_at_solution

    name, unknown = curve.variable, curve.unknown
    drawn = [x for stretch in curve.function.stretches for x, _ in stretch]
    found = [branch(drawn[k]) for k in spread_over(len(drawn))]
    values = [
        *([model.values] if curve.tangent else []),
        *(point for point in found if point is not None),
    ]
    numbers = numbers_at_solution(model.program.outputs, model.outputs, [name])
    shown = f"`{unknown}`", derivative_phrase(unknown, name)

    def compute(m: NumberType, at: Mapping[str, Number]) -> dict[str, Number]:
        computed = numbers(m, at)
        return {each: computed[each] for each in shown}

    points = Points(values, lambda k: f"{name} = {values[k][name]:.6g}", "points of the curve")
    return lost_numbers_over(model.program.graph, points, compute, "solve")


def functions(
    evaluator: Evaluator, name: str, values: Mapping[str, float]
) -> tuple[Function, Function, Function]:
    """Return the value and two derivatives as functions of one variable."""
    place = [values[variable] for variable in evaluator.variables]
    position = evaluator.variables.index(name)

    def second(at: Sequence[float]) -> float:
        budget.charge(budget.SECOND_DERIVATIVE * evaluator.steps)
        point = {**values, name: at[position]}
        return float(hessian_in(REAL, evaluator.graph, point, [name]).hessian[0][0])

    def function(compute: Callable[[Sequence[float]], float]) -> Function:
        def height(x: float) -> float | None:
            place[position] = x
            with budget.Defined():
                return unsigned(compute(place))
            return None

        return height

    return function(evaluator.value), function(lambda at: evaluator(at)[1][0]), function(second)
