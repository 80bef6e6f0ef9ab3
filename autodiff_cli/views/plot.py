"""A Curve or a Surface in every form: drawn in several formats, described in words, as rows and as a record."""

from __future__ import annotations

from collections.abc import Iterator

from ..curves.contours import Surface
from ..curves.plot import Curve, Output
from ..curves.sampling import Samples
from ..errors import ExpressionError
from ..inputs.problem import parse
from .characters import TITLE, Theme, on_one_line, shortened
from .document import Block, Line, held_fixed
from .formats import OutputRow, View, format_of
from .mathematics import program_in_mathematics
from .numerals import format_number, repr_number
from .plots import pictures
from .plots.frame import frames
from .schema import diagnostic_record

COLUMNS = ("line", "id", "x", "y", "value", "derivative", "second", "output", "error")


TOLD = 5
"""How many gaps and breaks are listed."""

BY_CONVENTION = ", by convention: there is a kink"

Plot = Curve | Surface


def drawn_as(name: str | None, path: str | None) -> str:
    """The format that is named, or that the name of a file says; see `format_of`.

    Raises a usage error where the name of a file says none.
    """
    chosen = format_of(name, path, view().formats, "table" if path is None else "")
    if not chosen:
        raise ExpressionError(
            "usage", f"the name `{path}` does not say in which format to draw",
            hint="end it in `.svg`, `.png` or `.pdf`, or say `--format svg`",
        )  # fmt: skip
    return chosen


def names_of(plot: Plot) -> tuple[str, ...]:
    """What the function and its derivatives are called, or several functions."""
    if isinstance(plot, Surface):
        return "f", "f′"
    if plot.outputs:
        return tuple(_output(plot, each.name) for each in plot.outputs)
    formula = _derivative(plot)
    name = plot.unknown or "f"
    slope = f"{name}′({plot.variable})" + (f" = {formula}" if formula else "")
    return f"{name}({plot.variable})", slope, f"{name}″({plot.variable})"


def _output(curve: Curve, name: str) -> str:
    """One of several functions as mathematics writes it."""
    try:
        return program_in_mathematics(parse(name, {curve.variable, *curve.fixed})) or name
    except ExpressionError:
        return name


def _derivative(curve: Curve) -> str:
    """The derivative as mathematics writes it; empty where it is not short."""
    given = {curve.variable, *curve.fixed}
    return program_in_mathematics(parse(curve.formula, given)) or curve.formula if curve.formula else ""


def title_of(plot: Plot) -> str:
    """The function with its program, on one line, as mathematics writes it; as typed where that is much shorter."""
    names = (plot.variable,) if isinstance(plot, Curve) else plot.variables
    typed = on_one_line(plot.text)
    if isinstance(plot, Curve) and plot.unknown:
        return f"{plot.unknown}({plot.variable}): {shortened(_equations(plot, typed))}"
    if isinstance(plot, Curve) and plot.outputs:
        return shortened(", ".join(names_of(plot)))
    text = program_in_mathematics(parse(plot.text, {*names, *plot.fixed}))
    if not text or len(text) > max(TITLE, len(typed)):
        text = typed
    return f"f({', '.join(names)}) = {shortened(text)}"


def _equations(curve: Curve, typed: str) -> str:
    """The equations of a curve, both sides as mathematics writes them; as typed where they are more than that."""
    shown = []
    for equation in curve.equations:
        sides = [*equation.split("="), "0"][:2]
        written = ["" if "=" in side else program_in_mathematics(parse(side, curve.known)) for side in sides]
        if equation.count("=") > 1 or not all(written):
            return typed
        shown.append(" = ".join(written))
    return "; ".join(shown)


def is_kinked(plot: Plot) -> bool:
    """Whether there is no derivative at the point, so that what is shown there is by convention."""
    return any(warning.kind == "kink" for warning in plot.warnings)


def words(plot: Plot, digits: int | None = None) -> list[str]:
    """What the drawing shows, in words."""
    return _curve_words(plot, digits) if isinstance(plot, Curve) else _surface_words(plot, digits)


def _curve_words(curve: Curve, digits: int | None) -> list[str]:
    x = curve.variable
    formula = _derivative(curve)
    f = curve.unknown or "f"
    found = [f"{f}′({x}) = {formula}"] if formula else []
    if curve.tangent is not None:
        at, value, slope = (format_number(number, digits) for number in _three(curve))
        found.append(f"{f}({at}) = {value}, {f}′({at}) = {slope}")
        found.append(f"near {x} = {at}: L({x}) = {linear(curve, digits)}{BY_CONVENTION if is_kinked(curve) else ''}")
    for name, each in zip(names_of(curve), curve.outputs, strict=False):
        if each.value is not None:
            found.append(f"{name} = {format_number(each.value, digits)} at {x} = {format_number(curve.at, digits)}")
        elif not each.function.stretches:
            found.append(f"{name} is undefined here")
    if curve.path:
        end, height = (format_number(number, digits) for number in curve.path[-1])
        found.append(f"path of {len(curve.path):,} points, ending at {x} = {end} with {height}")

    def ends(function: Samples, undefined: str, breaks: str) -> None:
        if function.stretches and function.gaps:
            gaps = [f"from {format_number(a, digits)} to {format_number(b, digits)}" for a, b in function.gaps]
            found.append(f"{undefined} for {x} {_listed(gaps)}")
        if function.breaks:
            found.append(f"{breaks} at {x} = {_listed([format_number(b, digits) for b in function.breaks])}")

    for name, each in zip(names_of(curve), curve.outputs, strict=False):
        ends(each.function, f"{name} is undefined", f"{name} breaks")
    if curve.outputs:
        return found
    ends(curve.function, "undefined", "breaks")
    if curve.kinks:
        found.append(f"no derivative at {x} = {_listed([format_number(b, digits) for b in curve.kinks])}")
    return found


def _three(curve: Curve) -> tuple[float, float, float]:
    assert curve.tangent is not None
    return curve.tangent.at, curve.tangent.value, curve.tangent.slope


def linear(curve: Curve, digits: int | None = None) -> str:
    """The linear approximation at the point, as a formula: f(a) + f′(a)(x − a)."""
    at, value, slope = _three(curve)
    x = curve.variable
    shown = format_number(abs(at), digits)
    inner = x if at == 0 else f"({x} {'−' if at > 0 else '+'} {shown})"
    sign = "−" if slope < 0 else "+"
    size = format_number(abs(slope), digits)
    # a coefficient stands directly before a name or a parenthesis, except where digits and `e` would run together
    dot = "·" if at == 0 and "e" in size else ""
    product = inner if size == "1" and at == 0 else f"{size}{dot}{inner}"
    return f"{format_number(value, digits)} {sign} {product}"


def _surface_words(surface: Surface, digits: int | None) -> list[str]:
    found = []
    if surface.point is not None and surface.gradient is not None:
        at = ", ".join(format_number(x, digits) for x in surface.point)
        gradient = ", ".join(format_number(x, digits) for x in surface.gradient)
        convention = BY_CONVENTION if is_kinked(surface) else ""
        found.append(f"f({at}) = {format_number(surface.value, digits)}, gradient ({gradient}){convention}")
    if surface.path:
        end = ", ".join(format_number(x, digits) for x in surface.path[-1])
        found.append(f"path of {len(surface.path):,} points, ending at ({end})")
    if any(z is None for row in surface.heights for z in row):
        found.append("undefined on a part of the rectangle")
    if surface.levels:
        found.append(
            f"contours from {format_number(surface.levels[0], digits)} to {format_number(surface.levels[-1], digits)}"
        )
    return found


def _listed(items: list[str]) -> str:
    more = len(items) - TOLD
    return ", ".join(items[:TOLD]) + (f" and {more:,} more" if more > 0 else "")


def view(*, digits: int | None = None, theme: Theme = "auto") -> View[Plot]:
    """How a plot is shown: to so many digits, and drawn in the colours of a theme."""

    def record(plot: Plot) -> dict[str, object]:
        common: dict[str, object] = {"warnings": [diagnostic_record(warning) for warning in plot.warnings]}
        if isinstance(plot, Surface):
            return {
                "variables": list(plot.variables),
                "range": {plot.variables[0]: [plot.x[0], plot.x[-1]], plot.variables[1]: [plot.y[0], plot.y[-1]]},
                "point": None if plot.point is None else dict(zip(plot.variables, plot.point, strict=True)),
                "value": plot.value,
                "gradient": None if plot.gradient is None else dict(zip(plot.variables, plot.gradient, strict=True)),
                "held": plot.fixed, "x": plot.x, "y": plot.y, "heights": plot.heights, "levels": plot.levels,
                "path": plot.path, **common,
            }  # fmt: skip
        tangent = plot.tangent
        return {
            "variables": [plot.variable],
            "range": {plot.variable: [plot.low, plot.high]},
            "point": None if tangent is None else {plot.variable: tangent.at},
            "value": None if tangent is None else tangent.value,
            "gradient": None if tangent is None else {plot.variable: tangent.slope},
            "formula": plot.formula or None,
            "linear": None if tangent is None else linear(plot),
            "held": plot.fixed, "gaps": plot.function.gaps, "breaks": plot.function.breaks,
            "function": plot.function.stretches, "derivative": plot.derivative.stretches,
            **({"second": plot.second.stretches} if plot.second.stretches else {}),
            **({"path": plot.path} if plot.path else {}),
            **({"outputs": list(map(_output_record, plot.outputs))} if plot.outputs else {}), **common,
        }  # fmt: skip

    def rows(plot: Plot) -> Iterator[OutputRow]:
        if isinstance(plot, Surface):
            for y, row in zip(plot.y, plot.heights, strict=True):
                for x, z in zip(plot.x, row, strict=True):
                    yield {"x": repr_number(x), "y": repr_number(y), "value": repr_number(z)}
            return
        for each in plot.outputs:
            for stretch in each.function.stretches:
                for x, value in stretch:
                    yield {"output": each.name, "x": repr_number(x), "value": repr_number(value)}
        if plot.outputs:
            return
        slopes = {x: slope for stretch in plot.derivative.stretches for x, slope in stretch}
        bends = {x: bend for stretch in plot.second.stretches for x, bend in stretch}
        for stretch in plot.function.stretches:
            for x, value in stretch:
                yield {
                    "x": repr_number(x),
                    "value": repr_number(value),
                    "derivative": repr_number(slopes.get(x)),
                    "second": repr_number(bends.get(x)),
                }

    def document(plot: Plot) -> Iterator[Block]:
        from .plots.braille import drawings

        yield Line(((title_of(plot), "heading"),))
        yield from drawings(plot, names_of(plot))
        yield from held_fixed({name: format_number(x, digits) for name, x in plot.fixed.items()})
        yield Line(((legend(plot), "faint"),))
        for line in words(plot, digits):
            yield Line(((line, ""),))

    def picture(plot: Plot, format: str) -> bytes:
        from .plots.figure import figure

        caption = "; ".join(f"{name} = {format_number(x, digits)}" for name, x in plot.fixed.items())
        if isinstance(plot, Curve) and plot.tangent is not None:
            x, at = plot.variable, format_number(plot.tangent.at, digits)
            near = f"near {x} = {at}: L({x}) = {linear(plot, digits)}{BY_CONVENTION if is_kinked(plot) else ''}"
            caption = near + (f"   ({caption})" if caption else "")
        return figure(plot, format, names_of(plot), title_of(plot), caption, is_kinked(plot), theme)

    def brief(plot: Plot) -> str:
        return "; ".join(words(plot)) or title_of(plot)

    return View(record, rows, brief, document, COLUMNS, pictures(picture))


def _output_record(output: Output) -> dict[str, object]:
    return {
        "name": output.name, "value": output.value, "gaps": output.function.gaps, "breaks": output.function.breaks,
        "function": output.function.stretches,
    }  # fmt: skip


def legend(plot: Plot) -> str:
    """What the lines of a drawing on a terminal are."""
    if isinstance(plot, Surface):
        parts = ["contours"]
        parts += ["the path, its end as a block"] if plot.path else []
        parts += ["the point with its gradient as an arrow"] if plot.point else []
        return f"across {plot.variables[0]}, up {plot.variables[1]}: {', '.join(parts)}"
    if plot.outputs:
        looks = ("solid", "dotted", "sparsely dotted")
        return ", ".join(f"{name} {looks[k % len(looks)]}" for k, name in enumerate(names_of(plot)))
    name = plot.unknown or "f"
    function, derivative = f"{name}({plot.variable})", f"{name}′({plot.variable})"
    apart = " below" if frames(plot)[1] is not None else ""
    tangent = ", tangent sparsely dotted, the point as a block" if plot.tangent else ""
    path = ", the path with its end as a block" if plot.path else ""
    slopes = f", {derivative} dotted" if plot.derivative.stretches else ""
    slopes += f", {name}″({plot.variable}) sparsely dotted" if plot.second.stretches else ""
    return f"{function} solid{slopes}{apart}{tangent}{path}"
