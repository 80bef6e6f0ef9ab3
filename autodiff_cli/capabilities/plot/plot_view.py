"""The views of a Curve and of a Surface."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, ClassVar

from ...errors import ExpressionError, plural, usage_error
from ...questions.problem import parse
from ...show.characters import MAX_FORMULA_CHARACTERS, on_one_line, shorten_end
from ...show.document import Block, Paragraph, held_fixed, quantity_text
from ...show.formats import format_of
from ...show.mathematics import program_in_mathematics
from ...show.numerals import DEFAULT_DIGITS, Decimals, format_number, level_digits
from ...show.schema import OutputRow, PicturedView, PlotPage, Values, read_declaration
from .contours import Surface
from .frame import axis_name, axis_of, drawings, frames, plot_unit
from .implicit import ImplicitPlot
from .plot import Curve

# How many gaps and breaks are listed.
MAX_LISTED = 5
BY_CONVENTION = ", by convention: there is a kink"
# The lines of several functions on a terminal.
LOOKS = ("solid", "dotted", "sparsely dotted")
# The units of a function and of its derivatives.
ORDERS = ("value", "derivative", "second")
Plot = Curve | Surface | ImplicitPlot


def drawn_as(name: str | None, path: str | None) -> str:
    """Return the format by its name or that of a file; see `format_of`."""
    chosen = format_of(name, path, PlotView().formats, "table" if path is None else "")
    if not chosen:
        raise usage_error(
            f"the name `{path}` does not show in which format to draw",
            "end it in `.svg`, `.png` or `.pdf`, or say `--format svg`",
        )
    return chosen


def names_of(plot: Plot) -> tuple[str, ...]:
    """Return the names of what is drawn."""
    if isinstance(plot, Surface):
        return "f", "f′"
    if isinstance(plot, ImplicitPlot):
        return tuple([_equation(plot, curve.equation) for curve in plot.curves])
    if plot.outputs:
        numbered = enumerate(_outputs(plot))
        return tuple([axis_name(plot, name, "outputs", k, "value") for k, name in numbered])
    formula = _derivative(plot)
    function, slope, second = _plain_names(plot)
    slope += f" = {formula}" if formula else ""
    return tuple(map(partial(axis_name, plot), (function, slope, second), ORDERS))


def _plain_names(curve: Curve) -> list[str]:
    return [f"{curve.name}{mark}({curve.variable})" for mark in ("", "′", "″")]


def _equation(plot: Curve | ImplicitPlot, equation: str) -> str:
    """Return an equation as people write it; as typed where that cannot be."""
    sides = [*equation.split("="), "0"][:2]
    written = [_mathematics(plot, side) for side in sides]
    return equation if equation.count("=") > 1 or not all(written) else " = ".join(written)


def _mathematics(plot: Plot, text: str) -> str:
    names = {plot.variable, *plot.known_names} if isinstance(plot, Curve) else {*plot.variables}
    try:
        return program_in_mathematics(parse(text, {*names, *plot.fixed}, units=True))
    except ExpressionError:
        return ""


def _derivative(curve: Curve) -> str:
    return curve.formula and (_mathematics(curve, curve.formula) or curve.formula)


def _outputs(curve: Curve) -> list[str]:
    return [_mathematics(curve, output.name) or output.name for output in curve.outputs]


def title_of(plot: Plot) -> str:
    """Return the function on one line."""
    typed = on_one_line(plot.text)
    if isinstance(plot, ImplicitPlot):
        return shorten_end("; ".join(names_of(plot)))
    if isinstance(plot, Curve) and plot.unknown:
        return f"{plot.unknown}({plot.variable}): {shorten_end(_equations(plot, typed))}"
    if isinstance(plot, Curve) and plot.outputs:
        return shorten_end(", ".join(_outputs(plot)))
    text = _mathematics(plot, plot.text)
    if not text or len(text) > max(MAX_FORMULA_CHARACTERS, len(typed)):
        text = typed
    if isinstance(plot, Curve):
        return f"{plot.name}({plot.variable}) = {shorten_end(text)}"
    return axis_name(plot, f"f({', '.join(plot.variables)}) = {shorten_end(text)}", "value")


def _equations(curve: Curve, typed: str) -> str:
    shown = [_equation(curve, equation) for equation in curve.equations]
    # an equation of many signs is shown as typed, and with it all
    return (
        typed if any(equation.count("=") > 1 for equation in curve.equations) else "; ".join(shown)
    )


def is_kinked(plot: Plot) -> bool:
    """Return whether the point is a kink."""
    return any(warning.kind == "kink" for warning in plot.warnings)


def _gaps_in_words(curve: Curve, across: Callable[[float], str]) -> Iterator[str]:
    """Yield where the functions of a drawing have no value, or break."""
    x = curve.variable
    undefined = "undefined or not positive" if "y" in curve.log else "undefined"
    undefined = "no solution found" if curve.unknown else undefined
    functions = [output.function for output in curve.outputs] or [curve.function]
    for name, function in zip(_outputs(curve) or [""], functions, strict=True):
        if function.stretches and function.gaps:
            gaps = [f"from {across(a)} to {across(b)}" for a, b in function.gaps]
            yield f"{name and f'{name} is '}{undefined} for {x} {_list(gaps)}"
        if function.breaks:
            yield f"{name} breaks at {x} = {_list([*map(across, function.breaks)])}".lstrip()


def words(plot: Plot, digits: int | None = None) -> Iterator[str]:
    """Yield the sentences that describe a drawing."""
    if isinstance(plot, Surface):
        yield from _surface_words(plot, digits)
        return
    if isinstance(plot, ImplicitPlot):
        yield from _implicit_words(plot, digits)
        return
    curve, f, x = plot, plot.name, plot.variable

    def across(number: float) -> str:
        return quantity_text(number, plot_unit(curve, "range", x), digits)

    def up(number: float, *keys: str | int) -> str:
        return quantity_text(number, plot_unit(curve, *keys), digits)

    formula = _derivative(curve)
    if formula:
        yield f"{f}′({x}) = {formula}"
    yield from _rows_in_words(curve)
    if (tangent := curve.tangent) is not None:
        slope = up(tangent.slope, "derivative")
        yield (
            f"{f}({across(tangent.at)}) = {up(tangent.value, 'value')}, {f}′({across(tangent.at)})"
            f" = {slope}"
        )
        yield approximation(curve, digits)
    for k, (name, output) in enumerate(zip(_outputs(curve), curve.outputs, strict=True)):
        if output.value is not None and curve.at is not None:
            yield f"{name} = {up(output.value, 'outputs', k, 'value')} at {x} = {across(curve.at)}"
        elif not output.function.stretches:
            yield f"{name} is undefined here"
    if curve.path:
        end, height = curve.path[-1]
        yield (
            f"path of {len(curve.path):,} points, ending at {x} = {across(end)} with"
            f" {up(height, 'value')}"
        )
    yield from _gaps_in_words(curve, across)
    if curve.kinks and not curve.outputs:
        yield f"no derivative at {x} = {_list([*map(across, curve.kinks)])}"


def approximation(curve: Curve, digits: int | None) -> str:
    """Return the sentence on the linear approximation."""
    assert curve.tangent is not None
    x, convention = curve.variable, BY_CONVENTION if is_kinked(curve) else ""
    at = quantity_text(curve.tangent.at, plot_unit(curve, "range", x), digits)
    return f"near {x} = {at}: L({x}) = {linear_text(curve, digits)}{convention}"


def linear_text(curve: Curve, digits: int | None = None) -> str:
    """Return the linear approximation: f(a) + f′(a)(x − a)."""
    assert curve.tangent is not None
    x, at, slope = curve.variable, curve.tangent.at, curve.tangent.slope
    shown = quantity_text(abs(at), plot_unit(curve, "range", x), digits)
    inner = x if at == 0 else f"({x} {'−' if at > 0 else '+'} {shown})"
    value = quantity_text(curve.tangent.value, plot_unit(curve, "value"), digits)
    if slope == 0:
        return value
    sign = "−" if slope < 0 else "+"
    size = quantity_text(abs(slope), plot_unit(curve, "derivative"), digits)
    # a coefficient stands directly before a name or parenthesis, if that can be read
    dot = "·" if (at == 0 and "e" in size) or not size[-1].isdigit() else ""
    product = inner if size == "1" else f"{size}{dot}{inner}"
    if curve.tangent.value == 0:
        return (product.strip("()") if size == "1" else product) if slope > 0 else f"−{product}"
    return f"{value} {sign} {product}"


def _rows_in_words(plot: Curve | Surface) -> Iterator[str]:
    data = plot.data
    if data is None:
        return
    left, right = (plot.low, plot.high) if isinstance(plot, Curve) else (plot.x[0], plot.x[-1])
    low, high = (-math.inf, math.inf) if isinstance(plot, Curve) else (plot.y[0], plot.y[-1])
    outside = sum(
        not (left <= x <= right and low <= y <= high) for x, y in zip(data.x, data.y, strict=True)
    )
    rest = (
        f", of which {outside:,} {'are' if outside > 1 else 'is'} outside of the range"
        if outside
        else ""
    )
    yield f"{plural(len(data.x), 'row')} of data, `{data.up}` over `{data.across}`{rest}"


def _implicit_words(plot: ImplicitPlot, digits: int | None) -> Iterator[str]:
    for curve, name in zip(plot.curves, names_of(plot), strict=True):
        closed = sum(branch[0] == branch[-1] for branch in curve.branches)
        counts = (closed, "closed"), (len(curve.branches) - closed, "open")
        parts = [
            f"{count} {kind} {'branch' if count == 1 else 'branches'}"
            for count, kind in counts
            if count
        ]
        yield f"{name}: {' and '.join(parts) or 'no branch'} in this range"
    if plot.tangent is not None:
        units = [plot_unit(plot, "range", name) for name in plot.variables]
        x, y = (
            quantity_text(a, unit, digits)
            for a, unit in zip(plot.tangent.point, units, strict=True)
        )
        first, second = plot.variables
        a, b = plot.tangent.normal
        slope = format_number(-a / b, digits or DEFAULT_DIGITS) if b else ""
        tangent = f"d{second}/d{first} = {slope}" if b else "the tangent is vertical"
        yield f"at {first} = {x}, {second} = {y}: {tangent}"


def _surface_words(surface: Surface, digits: int | None) -> Iterator[str]:
    yield from _rows_in_words(surface)
    of_value = plot_unit(surface, "value")

    def together(numbers: Iterable[float], key: str) -> str:
        units = [plot_unit(surface, key, name) for name in surface.variables]
        return ", ".join(
            [quantity_text(x, unit, digits) for x, unit in zip(numbers, units, strict=True)]
        )

    if surface.point is not None and surface.gradient is not None:
        gradient, convention = (
            together(surface.gradient, "gradient"),
            BY_CONVENTION if is_kinked(surface) else "",
        )
        value = quantity_text(surface.value, of_value, digits)
        yield f"f({together(surface.point, 'range')}) = {value}, gradient ({gradient}){convention}"
    if surface.path:
        yield (
            f"path of {len(surface.path):,} points, ending at"
            f" ({together(surface.path[-1], 'range')})"
        )
    if any(None in row for row in surface.heights):
        yield "undefined on a part of the rectangle"
    if surface.levels:
        if not isinstance(digits, Decimals):
            digits = level_digits(surface.levels, digits or DEFAULT_DIGITS)
        first, last = [quantity_text(surface.levels[k], of_value, digits) for k in (0, -1)]
        yield f"contours from {first} to {last}"


def _list(items: list[str]) -> str:
    more = len(items) - MAX_LISTED
    return ", ".join(items[:MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")


# The keys of a plot over two variables.
SURFACE = read_declaration(
    Surface,
    {
        "range": lambda surface: {
            name: [line[0], line[-1]]
            for name, line in zip(surface.variables, (surface.x, surface.y), strict=True)
        },
        "point": lambda surface: (
            surface.point and dict(zip(surface.variables, surface.point, strict=True))
        ),
        "gradient": lambda surface: (
            surface.gradient and dict(zip(surface.variables, surface.gradient, strict=True))
        ),
        "data": lambda surface: surface.data and surface.data._asdict(),
    },
).fields


# The keys of a plot of equations.
IMPLICIT = read_declaration(
    ImplicitPlot,
    {
        "range": lambda plot: dict(zip(plot.variables, ([*plot.x], [*plot.y]), strict=True)),
        "tangent": lambda plot: plot.tangent and plot.tangent._asdict(),
    },
).fields


class PlotView(PicturedView[Plot], of=Curve):
    """How a plot is shown."""

    computed: ClassVar[Values] = {
        "variables": lambda curve: [curve.variable],
        "range": lambda curve: {curve.variable: [curve.low, curve.high]},
        "point": lambda curve: curve.tangent and {curve.variable: curve.tangent.at},
        "value": lambda curve: curve.tangent and curve.tangent.value,
        "gradient": lambda curve: curve.tangent and {curve.variable: curve.tangent.slope},
        "linear": lambda curve: curve.tangent and linear_text(curve),
        "data": lambda curve: curve.data and curve.data._asdict(),
    }
    remembers_units = False
    other_records = (
        ("over two variables", Surface, SURFACE),
        ("of equations in two variables", ImplicitPlot, IMPLICIT),
    )
    apart: bool = False
    """Whether each of several functions has a picture of its own."""

    def rows(self, plot: Plot) -> Iterator[OutputRow]:
        texts = {} if plot.units is None else plot.units.texts()
        units = _units_of_columns(plot, texts)
        if isinstance(plot, Surface):
            yield from ({**row, **units} for row in _surface_rows(plot))
            return
        if isinstance(plot, ImplicitPlot):
            yield from ({**row, **units} for row in _rows_of_curves(plot))
            return
        for k, output in enumerate(plot.outputs):
            own = {**units, "value_unit": texts["outputs"][k]["value"]} if texts else {}
            for x, value in chain(*output.function.stretches):
                yield {"output": output.name, "x": x, "value": value, **own}
        slopes, bends = dict(chain(*plot.derivative.stretches)), dict(chain(*plot.second.stretches))
        for x, value in () if plot.outputs else chain(*plot.function.stretches):
            yield {
                "x": x,
                "value": value,
                "derivative": slopes.get(x),
                "second": bends.get(x),
                **units,
            }

    def one_line(self, plot: Plot) -> str:
        return "; ".join(words(plot)) or title_of(plot)

    def document(self, plot: Plot) -> Iterator[Block]:
        from ...show.picture_look import is_in_characters, read_characters

        yield Paragraph(((self.title or title_of(plot), "heading"),))
        # an answer of Python may have the size of a picture
        size = read_characters(self.size) if is_in_characters(self.size) else None
        yield from drawings(plot, names_of(plot), size, self.apart)
        yield from held_fixed(self._fixed(plot))
        if self.legend != "none":
            yield Paragraph(((legend(plot, self.apart), "faint"),))
        for line in words(plot, self.digits):
            yield Paragraph(((line, ""),))

    def picture(self, plot: Plot) -> PlotPage:
        from .figure import draw_contours, draw_curve

        caption = "; ".join(f"{name} = {x}" for name, x in self._fixed(plot).items())
        kinked = is_kinked(plot)
        if isinstance(plot, ImplicitPlot):
            from .figure import draw_implicit

            return PlotPage(
                partial(draw_implicit, plot=plot, names=names_of(plot)), title_of(plot), caption
            )
        if isinstance(plot, Surface):
            draw = partial(draw_contours, surface=plot, kinked=kinked)
            return PlotPage(draw, title_of(plot), caption, plot.levels)
        if plot.tangent is not None:
            caption = approximation(plot, self.digits) + (f"   ({caption})" if caption else "")
        draw = partial(
            draw_curve, curve=plot, names=names_of(plot), kinked=kinked, apart=self.apart
        )
        return PlotPage(draw, title_of(plot), caption)

    def _fixed(self, plot: Plot) -> dict[str, str]:
        units = {} if plot.units is None else plot.units["point"]
        return {
            name: quantity_text(x, units.get(name), self.digits) for name, x in plot.fixed.items()
        }


def _surface_rows(plot: Surface) -> Iterator[OutputRow]:
    for y, heights in zip(plot.y, plot.heights, strict=True):
        yield from ({"x": x, "y": y, "value": z} for x, z in zip(plot.x, heights, strict=True))


def _rows_of_curves(plot: ImplicitPlot) -> Iterator[OutputRow]:
    for curve in plot.curves:
        yield from ({"output": curve.equation, "x": x, "y": y} for x, y in chain(*curve.branches))


def _logarithmic_axes(plot: Curve) -> str:
    """Return which axes are logarithmic, for the end of a legend; nothing if none is."""
    logs = " and ".join(plot.variable if axis == "x" else "the function" for axis in plot.log)
    axes = "axes" if len(plot.log) > 1 else "axis"
    return f"; logarithmic {axes} of {logs}" if logs else ""


def _units_of_columns(plot: Plot, texts: Mapping[str, Any]) -> dict[str, str]:
    """Return the units of the rows of a drawing, by column."""
    sides = [*texts.get("range", {}).values()]
    units = {f"{axis}_unit": text for axis, text in zip("xy", sides, strict=False)}
    for key in ORDERS:
        if key in texts and (key == "value" or getattr(plot, key).stretches):
            units[f"{key}_unit"] = texts[key]
    return units


def _looks(plot: Curve | ImplicitPlot) -> list[str]:
    """Return how each of several lines looks on a terminal."""
    return [f"{name} {LOOKS[k % len(LOOKS)]}" for k, name in enumerate(names_of(plot))]


def _looks_of_curves(plot: ImplicitPlot) -> list[str]:
    looks = _looks(plot)
    looks += ["blocks where it is not decided"] * any(curve.undecided for curve in plot.curves)
    looks += ["tangent sparsely dotted, the point as a block"] * (plot.tangent is not None)
    return looks


def _looks_of_surface(plot: Surface) -> list[str]:
    looks = ["contours"]
    looks += ["the path, its end as a block"] if plot.path else []
    looks += ["the data as blocks"] if plot.data else []
    looks += ["the point with its gradient as an arrow"] if plot.point else []
    return looks


def legend(plot: Plot, apart: bool = False) -> str:
    """Return the legend of a drawing on a terminal, perhaps of functions that stand apart."""
    if not isinstance(plot, Curve):
        across, up = (axis_of(plot, name) for name in plot.variables)
        parts = (
            _looks_of_curves(plot) if isinstance(plot, ImplicitPlot) else _looks_of_surface(plot)
        )
        return f"across {across}, up {up}: {', '.join(parts)}"
    end = _logarithmic_axes(plot)
    if plot.outputs and apart:
        return f"across {axis_of(plot, plot.variable)}, a picture for each function{end}"
    end += "" if plot.units is None else f"; across {axis_of(plot, plot.variable)}"
    if plot.outputs:
        return ", ".join([*_looks(plot), *["the data as blocks"] * (plot.data is not None)]) + end
    function, derivative, second = map(partial(axis_name, plot), _plain_names(plot), ORDERS)
    parts = [f"{function} solid"]
    parts += [f"{derivative} dotted"] if plot.derivative.stretches else []
    parts += [f"{second} sparsely dotted"] if plot.second.stretches else []
    parts[-1] += " below" if frames(plot)[1] is not None else ""
    parts += ["tangent sparsely dotted, the point as a block"] if plot.tangent else []
    parts += ["the path with its end as a block"] if plot.path else []
    parts += ["the data as blocks"] if plot.data else []
    return ", ".join(parts) + end
