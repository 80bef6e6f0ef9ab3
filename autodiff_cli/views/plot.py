"""A Curve or a Surface in every form: drawn in several formats, described in words, as rows and as a record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..curves.contours import Surface
from ..curves.plot import Curve
from ..errors import ExpressionError, counted, usage_error
from ..inputs.problem import parse
from .characters import FORMULA, Theme, on_one_line, shortened
from .document import Block, Line, held_fixed, measured
from .formats import format_of
from .mathematics import program_in_mathematics
from .numerals import heading, unit_text
from .plots import PICTURES
from .plots.frame import axis_of, frames
from .schema import OutputRow, View, declared, record_of, with_lists

if TYPE_CHECKING:
    from ..quantities.unit import Unit

MOST_LISTED = 5
"""How many gaps and breaks are listed."""

BY_CONVENTION = ", by convention: there is a kink"

Plot = Curve | Surface


def drawn_as(name: str | None, path: str | None) -> str:
    """The format that is named, or that the name of a file says; see `format_of`.

    Raises a usage error where the name of a file says none.
    """
    chosen = format_of(name, path, PlotView().formats, "table" if path is None else "")
    if not chosen:
        raise usage_error(
            f"the name `{path}` does not say in which format to draw",
            "end it in `.svg`, `.png` or `.pdf`, or say `--format svg`",
        )
    return chosen


def names_of(plot: Plot) -> tuple[str, ...]:
    """Return the names of the function and its derivatives, or of several functions."""
    if isinstance(plot, Surface):
        return "f", "f′"
    if plot.outputs:
        units = plot.units["outputs"] if plot.units else [{}] * len(plot.outputs)
        named = zip(plot.outputs, units, strict=True)
        return tuple(
            heading(_mathematics(plot, output.name) or output.name, unit_text(unit.get("value")))
            for output, unit in named
        )
    formula = _derivative(plot)
    name = plot.unknown or "f"
    slope = f"{name}′({plot.variable})" + (f" = {formula}" if formula else "")
    names = f"{name}({plot.variable})", slope, f"{name}″({plot.variable})"
    return tuple(with_unit(plot, *both) for both in zip(names, ("value", "derivative", "second"), strict=True))


def with_unit(plot: Plot, name: str, key: str) -> str:
    """A name with the unit of numbers of the plot, as an axis has it."""
    return name if plot.units is None else heading(name, unit_text(plot.units[key]))


def _mathematics(plot: Plot, text: str) -> str:
    known_names = {plot.variable, *plot.known} if isinstance(plot, Curve) else {*plot.variables}
    try:
        return program_in_mathematics(parse(text, {*known_names, *plot.fixed}, units=True))
    except ExpressionError:
        return ""


def _derivative(curve: Curve) -> str:
    return curve.formula and (_mathematics(curve, curve.formula) or curve.formula)


def title_of(plot: Plot) -> str:
    """The function with its program, on one line, as mathematics writes it; as typed where that is much shorter."""
    typed = on_one_line(plot.text)
    if isinstance(plot, Curve) and plot.unknown:
        return f"{plot.unknown}({plot.variable}): {shortened(_equations(plot, typed))}"
    if isinstance(plot, Curve) and plot.outputs:
        return shortened(", ".join(_mathematics(plot, output.name) or output.name for output in plot.outputs))
    text = _mathematics(plot, plot.text)
    if not text or len(text) > max(FORMULA, len(typed)):
        text = typed
    if isinstance(plot, Curve):
        return f"f({plot.variable}) = {shortened(text)}"
    return with_unit(plot, f"f({', '.join(plot.variables)}) = {shortened(text)}", "value")


def _equations(curve: Curve, typed: str) -> str:
    shown = []
    for equation in curve.equations:
        sides = [*equation.split("="), "0"][:2]
        written = [_mathematics(curve, side) for side in sides]
        if equation.count("=") > 1 or not all(written):
            return typed
        shown.append(" = ".join(written))
    return "; ".join(shown)


def is_kinked(plot: Plot) -> bool:
    """Return whether the point is a kink, so that the tangent there is by convention."""
    return any(warning.kind == "kink" for warning in plot.warnings)


def words(plot: Plot, digits: int | None = None) -> Iterator[str]:
    """Yield the sentences that describe a drawing."""
    return _curve_words(plot, digits) if isinstance(plot, Curve) else _surface_words(plot, digits)


def _curve_words(curve: Curve, digits: int | None) -> Iterator[str]:
    x, f, unit = curve.variable, curve.unknown or "f", _range_unit(curve, curve.variable)

    def places(numbers: Iterable[float]) -> str:
        return _listed([measured(number, unit, digits) for number in numbers])

    formula = _derivative(curve)
    if formula:
        yield f"{f}′({x}) = {formula}"
    yield from _rows_in_words(curve)
    if curve.tangent is not None:
        at, value, slope = (measured(number, unit, digits) for number, unit in _three(curve))
        yield f"{f}({at}) = {value}, {f}′({at}) = {slope}"
        yield approximation(curve, digits)
    names = [_mathematics(curve, output.name) or output.name for output in curve.outputs]
    for k, (name, output) in enumerate(zip(names, curve.outputs, strict=True)):
        if output.value is not None:
            value = measured(output.value, curve.units["outputs"][k]["value"] if curve.units else None, digits)
            yield f"{name} = {value} at {x} = {measured(curve.at, unit, digits)}"
        elif not output.function.stretches:
            yield f"{name} is undefined here"
    if curve.path:
        end, height = curve.path[-1]
        at_end = measured(height, curve.units["value"] if curve.units else None, digits)
        yield f"path of {len(curve.path):,} points, ending at {x} = {measured(end, unit, digits)} with {at_end}"
    undefined = "undefined or not positive" if "y" in curve.log else "undefined"
    functions = [
        (f"{name} is ", f"{name} ", output.function) for name, output in zip(names, curve.outputs, strict=True)
    ]
    for is_, breaks, function in functions or [("", "", curve.function)]:
        if function.stretches and function.gaps:
            gaps = [f"from {measured(a, unit, digits)} to {measured(b, unit, digits)}" for a, b in function.gaps]
            yield f"{is_}{undefined} for {x} {_listed(gaps)}"
        if function.breaks:
            yield f"{breaks}breaks at {x} = {places(function.breaks)}"
    if curve.kinks and not curve.outputs:
        yield f"no derivative at {x} = {places(curve.kinks)}"


def _range_unit(plot: Plot, name: str) -> Unit | None:
    return plot.units["range"][name] if plot.units else None


def _three(curve: Curve) -> tuple[tuple[float, Unit | None], ...]:
    assert curve.tangent is not None
    units = [curve.units[key] for key in ("value", "derivative")] if curve.units else [None, None]
    numbers = curve.tangent.at, curve.tangent.value, curve.tangent.slope
    return tuple(zip(numbers, [_range_unit(curve, curve.variable), *units], strict=True))


def approximation(curve: Curve, digits: int | None) -> str:
    """The sentence with the linear approximation at the point."""
    (at, unit), *_ = _three(curve)
    x, convention = curve.variable, BY_CONVENTION if is_kinked(curve) else ""
    return f"near {x} = {measured(at, unit, digits)}: L({x}) = {linear(curve, digits)}{convention}"


def linear(curve: Curve, digits: int | None = None) -> str:
    """The linear approximation at the point, as a formula: f(a) + f′(a)(x − a)."""
    (at, of_at), (value, of_value), (slope, of_slope) = _three(curve)
    x = curve.variable
    shown = measured(abs(at), of_at, digits)
    inner = x if at == 0 else f"({x} {'−' if at > 0 else '+'} {shown})"
    sign = "−" if slope < 0 else "+"
    size = measured(abs(slope), of_slope, digits)
    # a coefficient stands directly before a name or a parenthesis, except where digits and `e` would run together
    dot = "·" if (at == 0 and "e" in size) or not size[-1].isdigit() else ""
    product = inner if size == "1" and at == 0 else f"{size}{dot}{inner}"
    return f"{measured(value, of_value, digits)} {sign} {product}"


def _rows_in_words(plot: Plot) -> Iterator[str]:
    data = plot.data
    if data is None:
        return
    left, right = (plot.low, plot.high) if isinstance(plot, Curve) else (plot.x[0], plot.x[-1])
    low, high = (-math.inf, math.inf) if isinstance(plot, Curve) else (plot.y[0], plot.y[-1])
    outside = sum(not (left <= x <= right and low <= y <= high) for x, y in zip(data.x, data.y, strict=True))
    rest = f", of which {outside:,} {'are' if outside > 1 else 'is'} outside of the range" if outside else ""
    yield f"{counted(len(data.x), 'row')} of data, `{data.up}` over `{data.across}`{rest}"


def _surface_words(surface: Surface, digits: int | None) -> Iterator[str]:
    yield from _rows_in_words(surface)
    units = surface.units
    across = [_range_unit(surface, name) for name in surface.variables]
    of_value = units["value"] if units else None

    def together(numbers: Iterable[float], units: Iterable[Unit | None]) -> str:
        return ", ".join(measured(x, unit, digits) for x, unit in zip(numbers, units, strict=True))

    if surface.point is not None and surface.gradient is not None:
        gradient = together(surface.gradient, units["gradient"].values() if units else (None, None))
        convention = BY_CONVENTION if is_kinked(surface) else ""
        value = measured(surface.value, of_value, digits)
        yield f"f({together(surface.point, across)}) = {value}, gradient ({gradient}){convention}"
    if surface.path:
        yield f"path of {len(surface.path):,} points, ending at ({together(surface.path[-1], across)})"
    if any(z is None for row in surface.heights for z in row):
        yield "undefined on a part of the rectangle"
    if surface.levels:
        first, last = (measured(surface.levels[k], of_value, digits) for k in (0, -1))
        yield f"contours from {first} to {last}"


def _listed(items: list[str]) -> str:
    more = len(items) - MOST_LISTED
    return ", ".join(items[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _rows_drawn(plot: Plot) -> dict[str, object] | None:
    return None if plot.data is None else plot.data._asdict()


CURVE, COLUMNS, _, MEASURED = declared(
    "plot",
    {
        "variables": lambda curve: [curve.variable],
        "range": lambda curve: {curve.variable: [curve.low, curve.high]},
        "point": lambda curve: curve.tangent and {curve.variable: curve.tangent.at},
        "value": lambda curve: curve.tangent and curve.tangent.value,
        "gradient": lambda curve: curve.tangent and {curve.variable: curve.tangent.slope},
        "linear": lambda curve: curve.tangent and linear(curve),
        "data": _rows_drawn,
    },
)
"""The keys of a plot over one variable."""

SURFACE = declared(
    "contours",
    {
        "range": lambda surface: {
            name: [line[0], line[-1]] for name, line in zip(surface.variables, (surface.x, surface.y), strict=True)
        },
        "point": lambda surface: _by_variable(surface, surface.point),
        "gradient": lambda surface: _by_variable(surface, surface.gradient),
        "data": _rows_drawn,
    },
).fields
"""The keys of a plot over two variables."""


def _by_variable(surface: Surface, numbers: Sequence[float] | None) -> dict[str, float] | None:
    return None if numbers is None else dict(zip(surface.variables, numbers, strict=True))


class PlotView(View[Plot]):
    """How a plot is shown."""

    fields = CURVE
    other_records = (("over two variables", SURFACE),)
    csv_columns, unit_columns = COLUMNS, MEASURED
    extra_formats = PICTURES

    theme: Theme = "auto"

    def measured(self, plot: Plot) -> Plot:
        return plot

    def record(self, plot: Plot) -> dict[str, object]:
        return with_lists(record_of(CURVE if isinstance(plot, Curve) else SURFACE, plot))

    def rows(self, plot: Plot) -> Iterator[OutputRow]:
        texts = {} if plot.units is None else plot.units.texts()
        sides = [*texts.get("range", {}).values()]
        units = {f"{axis}_unit": text for axis, text in zip("xy", sides, strict=False)}
        drawn = {"value": True}
        if isinstance(plot, Curve):
            drawn |= {"derivative": bool(plot.derivative.stretches), "second": bool(plot.second.stretches)}
        units |= {f"{key}_unit": texts[key] for key, is_there in drawn.items() if is_there and key in texts}
        if isinstance(plot, Surface):
            for y, row in zip(plot.y, plot.heights, strict=True):
                yield from ({"x": x, "y": y, "value": z, **units} for x, z in zip(plot.x, row, strict=True))
            return
        for k, output in enumerate(plot.outputs):
            own = {**units, "value_unit": texts["outputs"][k]["value"]} if texts else {}
            for stretch in output.function.stretches:
                yield from ({"output": output.name, "x": x, "value": value, **own} for x, value in stretch)
        if plot.outputs:
            return
        slopes = {x: slope for stretch in plot.derivative.stretches for x, slope in stretch}
        bends = {x: bend for stretch in plot.second.stretches for x, bend in stretch}
        for stretch in plot.function.stretches:
            for x, value in stretch:
                yield {"x": x, "value": value, "derivative": slopes.get(x), "second": bends.get(x), **units}

    def one_line(self, plot: Plot) -> str:
        return "; ".join(words(plot)) or title_of(plot)

    def document(self, plot: Plot) -> Iterator[Block]:
        from .plots.braille import drawings

        yield Line(((title_of(plot), "heading"),))
        yield from drawings(plot, names_of(plot))
        yield from held_fixed(self._fixed(plot))
        yield Line(((legend(plot), "faint"),))
        for line in words(plot, self.digits):
            yield Line(((line, ""),))

    def draw(self, plot: Plot, format: str) -> bytes:
        from .plots.figure import figure

        caption = "; ".join(f"{name} = {x}" for name, x in self._fixed(plot).items())
        if isinstance(plot, Curve) and plot.tangent is not None:
            caption = approximation(plot, self.digits) + (f"   ({caption})" if caption else "")
        return figure(plot, format, names_of(plot), title_of(plot), caption, is_kinked(plot), self.theme)

    def _fixed(self, plot: Plot) -> dict[str, str]:
        units = plot.units["point"] if plot.units else {}
        return {name: measured(x, units.get(name), self.digits) for name, x in plot.fixed.items()}


def legend(plot: Plot) -> str:
    """Return the legend of a drawing on a terminal."""
    if isinstance(plot, Surface):
        parts = ["contours"]
        parts += ["the path, its end as a block"] if plot.path else []
        parts += ["the data as blocks"] if plot.data else []
        parts += ["the point with its gradient as an arrow"] if plot.point else []
        across, up = (axis_of(plot, name) for name in plot.variables)
        return f"across {across}, up {up}: {', '.join(parts)}"
    logs = " and ".join(plot.variable if axis == "x" else "the function" for axis in plot.log)
    end = f"; axes in decimal logarithms of {logs}" if logs else ""
    end += "" if plot.units is None else f"; across {axis_of(plot, plot.variable)}"
    if plot.outputs:
        looks = ("solid", "dotted", "sparsely dotted")
        named = [f"{name} {looks[k % len(looks)]}" for k, name in enumerate(names_of(plot))]
        return ", ".join([*named, *["the data as blocks"] * (plot.data is not None)]) + end
    name = plot.unknown or "f"
    function, derivative, second = (
        with_unit(plot, f"{name}{mark}({plot.variable})", key)
        for mark, key in (("", "value"), ("′", "derivative"), ("″", "second"))
    )
    parts = [f"{function} solid"]
    parts += [f"{derivative} dotted"] if plot.derivative.stretches else []
    parts += [f"{second} sparsely dotted"] if plot.second.stretches else []
    parts[-1] += " below" if frames(plot)[1] is not None else ""
    parts += ["tangent sparsely dotted, the point as a block"] if plot.tangent else []
    parts += ["the path with its end as a block"] if plot.path else []
    parts += ["the data as blocks"] if plot.data else []
    return ", ".join(parts) + end
