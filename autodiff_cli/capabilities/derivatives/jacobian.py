"""The Jacobian of a program with any number of outputs, jvp and vjp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Answer, as_numbers
from ...engine.algebra.guards_at_point import around_guards, with_reason
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import Number, NumberType
from ...engine.run.evaluation import Evaluation, Kinks
from ...errors import Diagnostic, ExpressionError, limit_error, plural, quote, usage_error
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown, Values, kink_warnings
from ...questions.optional_units import pose_with_units
from ...questions.problem import (
    Point,
    Problem,
    Quantity,
    number_or_quantity,
    output_names,
    parse,
    unit_error,
)
from ...questions.rounding import lost_derivative_warnings, rounding_warnings

if TYPE_CHECKING:
    from ...questions.quantities import ProgramUnits, Units

MAX_ENTRIES = 1_000_000
# Characters of a program that is offered with commas.
MAX_OFFERED_CHARACTERS = 80


class Jacobian(Answer, shows=("outputs", "values", "jacobian", "product", "gradient")):
    """The outputs of a program at a point, and their derivatives."""

    declaration = """
    csv line id output variable partial[] value[] error
    outputs: what the outputs are called
    variables: the variables
    values figures column=value: the values of the outputs
    jacobian figures optional: the partial derivatives, a row for each output
    direction figures optional: with `--direction`: the direction, by name
    product figures optional: with `--direction`: the derivative of each output along it
    adjoint figures optional: with `--adjoint`: the weight of each output
    gradient figures optional: with `--adjoint`: the gradient of the weighted sum, by name
    point
    units
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    outputs: list[str]
    variables: list[str]
    values: list[Shown]
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    jacobian: list[list[Shown]] | None = None
    """A row per output, a column per variable; None if only a product was requested."""
    direction: dict[str, Shown] | None = None
    product: list[Shown] | None = None
    adjoint: list[Shown] | None = None
    gradient: dict[str, Shown] | None = None
    """The gradient of the outputs' sum weighted with the adjoint."""
    units: Units | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        product = [*(self.gradient or {}).values()] if self.product is None else self.product
        return as_numbers(product if self.jacobian is None else self.jacobian, dtype)


def jacobian(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    direction: Mapping[str, float | str] | None = None,
    adjoint: Mapping[str, float | str] | Sequence[float | str] | None = None,
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Jacobian:
    """Return the outputs of a program at `point` and their partial derivatives by `wrt`.

    With a `direction` (0 for missing variables) or an `adjoint` (by the outputs' names, or in their
    order) only the product with it, in one sweep without the matrix. `units` are those of the
    outputs; with `system` the others are products of the inputs' units. Raises `ExpressionError` as
    `gradient` does.
    """
    posed = _pose(text, point, wrt, units, system)
    names, called, measured = posed.wanted, output_names(posed.program), posed.units
    along, weights = seeds(posed, direction, adjoint)
    in_full = along is None and weights is None
    tree = None
    if measured is not None:
        tree, along = _units(measured, called, names, along, weights)
    for name, value in (along or {}).items() if measured is None else ():
        if type(value) is Quantity:
            raise unit_error(name, value)
    if in_full and len(names) * len(called) > MAX_ENTRIES:
        message = f"a Jacobian of {len(called):,} rows and {len(names):,} columns is too large"
        product = "ask for a product with it: `--direction`, `--adjoint`"
        raise limit_error(message, f"{product}, or for some variables: `--wrt x,y`")
    warnings: list[Diagnostic] = []
    inputs: dict[str, float | str] = {f"point {name}": value for name, value in posed.point.items()}
    inputs |= {f"direction {name}": value for name, value in (along or {}).items()}
    inputs |= {f"adjoint {k}": value for k, value in enumerate(weights or ())}

    def work(m: NumberType, numbers: Values) -> dict[str, Any]:
        parts: dict[str, Values] = {"point": {}, "direction": {}, "adjoint": {}}
        for key, number in numbers.items():
            part, _, name = key.partition(" ")
            parts[part][name] = number
        at = evaluate_in(m, posed.program.graph, parts["point"], names)
        result, kinks = differentiate(at, parts)
        beside = around_guards(posed.program.graph, at, 1, kinks.values()) if kinks else None
        if beside is not None:
            if beside.program is not None:
                result, kinks = differentiate(
                    evaluate_in(m, beside.program, parts["point"], names), parts
                )
            kinks = with_reason(kinks, beside.reason)
        warnings[:] = kink_warnings(arithmetic, kinks.values())
        return result

    def differentiate(at: Evaluation, parts: Mapping[str, Values]) -> tuple[dict[str, Any], Kinks]:
        result: dict[str, Any] = {"point": parts["point"], "values": at.values}
        kinks: Kinks = {}
        if in_full:
            result["jacobian"], kinks = at.jacobian()
        if along is not None:
            result["direction"] = parts["direction"]
            result["product"], kinks = at.jvp(parts["direction"])
        if weights is not None:
            seeds = list(parts["adjoint"].values())
            result["adjoint"] = seeds
            result["gradient"], kinks = at.vjp(seeds)
        return result, kinks

    numbers = arithmetic.run(inputs, work, tree, hint=True)
    if arithmetic == DOUBLE:
        if in_full:
            graph = posed.program.graph
            warnings += rounding_warnings(graph, posed.values, posed.point, names, "jacobian")
        else:
            warnings += _lost_digits_of_products(posed, called, along, weights)
    constants, heard = posed.program.constants, (*posed.warnings, *warnings)
    return Jacobian(
        text, arithmetic, called, names, **numbers, constants=constants, warnings=heard, units=tree
    )


def _lost_digits_of_products(
    posed: Problem,
    outputs: Sequence[str],
    along: Mapping[str, float | str] | None,
    weights: Sequence[float | str] | None,
) -> list[Diagnostic]:
    values = [f"the value of `{name}`" for name in outputs]
    products = [f"the product for `{name}`" for name in outputs] if along is not None else []
    gradient = [f"the gradient by `{name}`" for name in posed.wanted] if weights is not None else []

    def compute(m: NumberType, point: Mapping[str, Number]) -> tuple[dict[str, Number], Kinks]:
        at = evaluate_in(m, posed.program.graph, point, posed.wanted)
        numbers = dict(zip(values, at.values, strict=True))
        kinks: Kinks = {}
        if along is not None:
            slopes, kinks = at.jvp(
                {name: m.number(number_or_quantity(x, name)) for name, x in along.items()}
            )
            numbers |= dict(zip(products, slopes, strict=True))
        if weights is not None:
            adjoints, met = at.vjp([m.number(number_or_quantity(x, "adjoint")) for x in weights])
            numbers |= {
                called: adjoints[name] for called, name in zip(gradient, posed.wanted, strict=True)
            }
            kinks = {**kinks, **met}
        return numbers, kinks

    graph, derivatives = posed.program.graph, [*products, *gradient]
    return lost_derivative_warnings(
        graph,
        posed.values,
        posed.point,
        compute,
        "jacobian",
        derivatives=derivatives,
        varied=posed.wanted,
    )


def _units(
    units: ProgramUnits,
    outputs: Sequence[str],
    names: Sequence[str],
    along: dict[str, float | str] | None,
    weights: Sequence[float | str] | None,
) -> tuple[Units, dict[str, float | str] | None]:
    from ...engine.quantities.unit import quantity_name, ratio
    from ...questions.quantities import direction_in_units

    if along is None and weights is None:
        return units.of_jacobian(names), None
    tree: dict[str, Any] = {"values": units.outputs}
    if along is not None:
        along, tree["direction"], rate = direction_in_units(units, along)
        tree["product"] = [
            ratio(unit, rate) if rate.atoms else unit.difference for unit in units.outputs
        ]
    if weights is not None:
        for name, unit in zip(outputs, units.outputs, strict=True):
            if unit.dimension != (first := units.outputs[0].dimension):
                message = (
                    f"`{outputs[0]}` is {quantity_name(first)}, and `{name}` is"
                    f" {quantity_name(unit.dimension)}"
                )
                hint = "`--adjoint` adds them up: divide each by a unit, as `y/1[m]`"
                raise ExpressionError("dimension", message, None, hint)
        tree["gradient"] = units.gradient(names)
    return units.tree(**tree), along


def _pose(
    text: str,
    point: Point | None,
    wrt: Sequence[str] | None,
    units: Sequence[str] | str | None,
    system: bool,
) -> Problem:
    try:
        return pose_with_units(text, point, wrt, units, single=False, system=system)
    except ExpressionError as error:
        listed = _with_commas(text, error, point or {})
        if listed:
            hint = f"several outputs are listed with commas: `{listed}`"
            error.diagnostic = error.diagnostic._replace(hint=hint, offers=())
        raise


def _with_commas(text: str, error: ExpressionError, point: Point) -> str:
    if len(text) > MAX_OFFERED_CHARACTERS:
        return ""
    for _ in range(text.count(";") + text.count("\n")):
        if error.kind != "syntax" or error.span is None:
            return ""
        before, after = text[: error.span.end], text[error.span.end :].lstrip()
        text = f"{before}, {after.removeprefix(';').lstrip()}"
        try:
            return text if len(parse(text, point, units=True).outputs) > 1 else ""
        except ExpressionError as refusal:
            error = refusal
    return ""


def seeds(
    posed: Problem,
    direction: Mapping[str, float | str] | None,
    adjoint: Mapping[str, float | str] | Sequence[float | str] | None,
) -> tuple[dict[str, float | str] | None, list[float | str] | None]:
    """Return the seeds of the variables and of the outputs. Raises a usage error for unknown
    names.
    """
    names, outputs = posed.wanted, output_names(posed.program)
    for name in [name for name in direction or () if name not in names]:
        raise usage_error(
            f"`{name}` of the direction is not among the variables to differentiate by",
            f"the variables: {quote(names)}",
        )
    along = None if direction is None else {name: direction.get(name, 0.0) for name in names}
    if adjoint is None:
        return along, None
    if not isinstance(adjoint, Mapping):
        if len(adjoint) != len(outputs):
            counts = plural(len(adjoint), "number"), plural(len(outputs), "output")
            message = "the adjoint has {}, and the program {}".format(*counts)
            raise usage_error(message, "give one for each output, in their order")
        return along, list(adjoint)
    for name in [name for name in adjoint if name not in outputs]:
        raise usage_error(
            f"`{name}` of the adjoint is not an output", f"the outputs: {quote(outputs)}"
        )
    return along, [adjoint.get(name, 0.0) for name in outputs]
