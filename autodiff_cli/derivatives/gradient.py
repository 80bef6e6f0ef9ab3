"""The gradient of a program at a point, in any arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ..errors import Diagnostic, ExpressionError, usage_error
from ..graphs.value import Value, grads, values_of
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown, Values, kink_warnings
from ..inputs.figures import unsigned
from ..inputs.measured_points import program_units, with_units
from ..inputs.problem import (
    Point,
    check_single,
    check_values,
    numbers_or_quantities,
    pose,
    read_program,
    wanted_variables,
)
from ..language.builder import Program
from ..numbers.base import NumberType
from ..numbers.floats import REAL
from ..record import Record
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph

if TYPE_CHECKING:
    from ..batched.data_loss import LossSpec, LossSummary
    from ..inputs.quantities import ProgramUnits, Units
    from ..quantities.unit import Unit

Number = TypeVar("Number", bound=Shown)
"""Doubles, or what another arithmetic shows."""


class Intermediate(Record, Generic[Number]):
    """A name that the program bound: its line (from 1), its value and its derivative, None where not needed."""

    name: str
    line: int
    value: Number | bool | None
    grad: Number | None


class Graphed:
    """A graph with its values and derivatives, and as Values where these are asked for."""

    def __init__(self, graph: Graph, slopes: Sequence[float | None]) -> None:
        self.graph = graph
        self.slopes = slopes
        self.units: Sequence[Unit] | None = None
        """The unit of each node, where they have units; values and derivatives are in the SI all the same."""

    @cached_property
    def _values(self) -> list[Value]:
        values = values_of(self.graph)
        for value, grad in zip(values, self.slopes, strict=True):
            value.grad = grad
        return values

    @property
    def output(self) -> Value:
        """The output as a Value, always the same one."""
        return self._values[self.graph.roots[0]]

    @property
    def units_of_values(self) -> dict[int, Unit] | None:
        """The units of the Values, by their `id`; None where they have none."""
        return None if self.units is None else dict(zip(map(id, self._values), self.units, strict=True))


class Gradient(Record, Generic[Number]):
    """The value and the gradient of a program at a point."""

    text: str
    arithmetic: Arithmetic
    value: Number
    gradient: dict[str, Number]
    """The partial derivative by each wanted variable, in order of first appearance."""
    point: dict[str, Number]
    """The value of every variable, in the same order; also of a wanted name that the program does not use."""
    constants: dict[str, float]
    """The named constants that took part, so that a forgotten variable `e` is seen."""
    warnings: tuple[Diagnostic, ...] = ()
    intermediates: tuple[Intermediate[Number], ...] = ()
    graphed: Graphed | None = None
    """The graph with the numbers of every node; None in other arithmetics than doubles."""
    over: LossSummary | None = None
    """The rows of data that it is the sum or mean over, if it is."""
    elasticities: dict[str, Number | None] | None = None
    """By each wanted variable x·f′/f, where that was asked for; None for what is none, as where the value is 0."""
    units: Units | None = None
    """The units of its numbers, under the names of their fields; None where they have none."""

    @property
    def output(self) -> Value | None:
        """The root of the graph, each node with its `data` and `grad`; None in other arithmetics than doubles."""
        return None if self.graphed is None else self.graphed.output


@overload
def gradient(text: str, point: Point | None = None, *, wrt: Sequence[str] | str | None = None) -> Gradient[float]: ...


@overload
def gradient(
    text: str, point: Point | None = None, *, wrt: Sequence[str] | str | None = None, arithmetic: Arithmetic,
    relative: bool = False, over: LossSpec | None = None, units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Gradient[Any]: ...  # fmt: skip


def gradient(
    text: str, point: Point | None = None, *, wrt: Sequence[str] | str | None = None, arithmetic: Arithmetic = DOUBLE,
    relative: bool = False, over: LossSpec | None = None, units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Gradient[Any]:  # fmt: skip
    """The value of the program `text` at `point`, and its partial derivatives with respect to `wrt`.

    `point` gives each variable a number, or a constant expression as text, perhaps with a unit: `"2 mm"`. Then the
    numbers of the answer have units too, its value the unit `units` if that is given; with `system` the units are
    products of those of the point. `wrt` names variables, as a list
    or as `"x,y"`. Without it the gradient is taken in all variables (for a program that ends in a definition: in that
    function's parameters). Derivatives with respect to angles are per radian. Another `arithmetic` than doubles reads
    literals and the point as decimals. With `relative` also the elasticities; `over` data the program is one row's
    term, in doubles.

    Raises `ExpressionError`: `syntax`, `name`, `arity`, `type` for the text, `point`, `missing_value`, `usage` for the
    point and `wrt`, `domain`, `derivative`, `overflow`, `limit` for the mathematics; `domain` also where a function
    leaves the rational numbers, or no digit can be proven.

    >>> result = gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3})
    >>> result.value, result.gradient
    (2.5, {'w1': 1.0, 'w2': -2.0})
    >>> answer = gradient("x**2/3", {"x": "0.1"}, arithmetic=Arithmetic("exact"))
    >>> answer.value.text, answer.gradient["x"].text
    ('1/300', '1/15')
    """
    if not isinstance(text, str):
        raise TypeError(f"a program is text, not {text!r}")
    point = with_units(point)
    if over is not None:
        return _reduced(text, point, wrt, over, arithmetic, relative, units)
    if arithmetic.name != "double":
        return _in(arithmetic, text, point, wrt, relative, units, system)
    values = numbers_or_quantities(point)
    program, _, notes = read_program(text, values, wrt, units=True)
    found_units = program_units(program, values, units, system=system)
    try:
        answer = gradient_of(program, values, wrt)
    except ExpressionError as error:
        if error.kind == "domain" and len(program.roots) == 1 and len(program.leaves) == 1 and found_units is None:
            from .holes import limit_hint  # only an error needs it

            error.diagnostic = error.diagnostic._replace(hint=limit_hint(program, point or {}) or error.hint)
        raise
    if notes or program.text != text:
        answer = answer._replace(text=text, warnings=(*answer.warnings, *notes))
    answer = with_elasticities(answer) if relative else answer
    return answer if found_units is None else _measured(answer, program, found_units)


def plain_gradient(text: str, point: Point | None = None, *, wrt: Sequence[str] | str | None = None) -> Gradient[float]:
    """The gradient in doubles, for who shows no units. Raises a usage error where there are some."""
    answer = gradient(text, point, wrt=wrt)
    if answer.units is not None:
        raise usage_error("values with units are not taken here", "`autodiff grad` and `autodiff propagate` take them")
    return answer


def _measured(answer: Gradient[float], program: Program, units: ProgramUnits) -> Gradient[float]:
    """The answer in its units instead of the SI's."""
    from ..inputs.quantities import in_units

    nodes = [program.place(i) for _, _, i in program.bound]
    if answer.graphed is not None:
        answer.graphed.units = [units.node(i) for i in range(len(units.dimensions))]
    tree = units.of_gradient(answer.gradient, nodes)
    bound = [{"value": binding.value, "grad": binding.grad} for binding in answer.intermediates]
    shown = in_units(REAL, {"value": answer.value, "gradient": answer.gradient, "intermediates": bound}, tree)
    return answer._replace(
        value=shown["value"],
        gradient=shown["gradient"],
        point={name: units.number_of(name, x) for name, x in answer.point.items()},
        warnings=(*answer.warnings, *units.warnings),
        intermediates=tuple(
            [binding._replace(**x) for binding, x in zip(answer.intermediates, shown["intermediates"], strict=True)]
        ),
        units=tree,
    )


def gradient_of(
    program: Program, values: Mapping[str, float], wrt: Sequence[str] | str | None = None
) -> Gradient[float]:
    """The gradient of a program that is parsed."""
    check_single(program)
    warnings = check_values(program, values)
    wanted = wanted_variables(program, values, wrt)
    places = program.places
    by = {name: i for name, i in places.items() if name in wanted}
    graph = program.graph.with_leaves({i: values[name] for name, i in places.items()})
    at = Evaluation(REAL, graph, by)
    adjoints, kinks, _ = at.reverse({graph.roots[0]: 1.0})
    slopes = list(grads(adjoints, at.active))
    bound = [program.place(i) for _, _, i in program.bound]
    return Gradient(
        program.text,
        DOUBLE,
        # A zero has no sign.
        float(at.values[0]) + 0.0,
        {name: slopes[by[name]] or 0.0 if name in by else 0.0 for name in wanted},
        {name: values[name] for name in program.leaves}
        | {name: values[name] for name in wanted if name not in program.leaves},
        program.constants,
        (*warnings, *at.warnings(kinks)),
        _intermediates(program, [(None, None) if i is None else (unsigned(graph.data[i]), slopes[i]) for i in bound]),
        Graphed(graph, slopes),
    )


def _reduced(
    text: str, point: Point | None, wrt: Sequence[str] | str | None, over: LossSpec, arithmetic: Arithmetic,
    relative: bool, units: Sequence[str] | str | None = None,
) -> Gradient[float]:  # fmt: skip
    """The same of a formula's sum or mean over rows of data."""
    from ..batched.data_loss import in_doubles, pose_over  # only data need it

    in_doubles(arithmetic)
    posed, function = pose_over(text, point, wrt, over, 1, units=units)
    value, partials = function([posed.values[name] for name in function.variables])
    summary, kinks = function.summary, function.kinks(posed.values, posed.wanted)
    answer = Gradient(
        text, DOUBLE, value, dict(zip(posed.wanted, partials, strict=True)), posed.values, posed.program.constants,
        (*posed.warnings, *kinks), over=summary,
    )  # fmt: skip
    if relative:
        # shares are of temperatures from absolute zero
        points = {} if function.units is None else function.units.point
        zeros = {name: float(unit.zero / unit.scale) for name, unit in points.items()}
        absolute = {name: x + zeros.get(name, 0.0) for name, x in posed.values.items()}
        shares = with_elasticities(answer._replace(point=absolute)).elasticities
        answer = answer._replace(elasticities=shares)
    if function.units is None:
        return answer
    tree = function.units.of_gradient(posed.wanted)
    factors = {name: function.units.factor_of(unit, [name]) for name, unit in tree["gradient"].items()}
    return answer._replace(gradient={name: x * factors[name] for name, x in answer.gradient.items()}, units=tree)


def with_elasticities(answer: Gradient[float]) -> Gradient[float]:
    """The same answer in doubles with its elasticities.

    >>> with_elasticities(gradient("x**2/y", {"x": 3, "y": 2})).elasticities
    {'x': 2.0, 'y': -1.0}
    """
    return answer._replace(
        elasticities={name: _elasticity(answer.point[name], d, answer.value) for name, d in answer.gradient.items()}
    )


def _elasticity(x: float, slope: float, value: float) -> float | None:
    """x·f′/f. None where f is 0, or the quotient is no double."""
    if value == 0:
        return None
    # a product that is too large, or too small to keep its digits, is one of quotients
    product = x * slope
    e = product / value if 1e-290 < abs(product) < math.inf else slope / value * x
    return e + 0.0 if math.isfinite(e) else None


def _in(
    arithmetic: Arithmetic, text: str, point: Point | None, wrt: Sequence[str] | str | None, relative: bool,
    asked: Sequence[str] | str | None = None, system: bool = False,
) -> Gradient[Any]:  # fmt: skip
    """The same in another arithmetic than doubles."""
    from ..graphs.value_and_gradient import value_and_gradient

    posed = pose(text, point, wrt, quantities=True)
    program = posed.program
    check_single(program)
    units = program_units(program, posed.values, asked, system=system)
    bound = [program.place(i) for _, _, i in program.bound]
    tree = None if units is None else units.of_gradient(posed.wanted, bound)
    warnings: list[Diagnostic] = []

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        swept = value_and_gradient(m, program.graph, values, posed.wanted)
        warnings[:] = kink_warnings(arithmetic, swept.met)
        evaluated = set(swept.order) if bound else set()
        at = [i if i in evaluated else None for i in bound]
        elasticities: dict[str, Any] = {}
        if relative:
            nothing = swept.value == 0
            for name, slope in swept.gradient.items():
                elasticities[name] = None if nothing else values[name] * slope / swept.value
        return {
            "elasticities": elasticities,
            "value": swept.value,
            "gradient": swept.gradient,
            "point": values,
            "bound": [None if i is None else swept.graph.data[i] for i in at],
            "grads": [None if i is None else _grad(m, swept.adjoints[i], swept.at.active[i]) for i in at],
        }

    of_bound = [] if tree is None else tree.get("intermediates", [])
    nodes = {"bound": [x["value"] for x in of_bound], "grads": [x["grad"] for x in of_bound]}
    numbers = arithmetic.run(posed.point, work, tree and type(tree)(tree | nodes))
    return Gradient(
        text, arithmetic, numbers["value"], numbers["gradient"], numbers["point"], program.constants,
        (*posed.warnings, *warnings, *(units.warnings if units is not None else ())),
        _intermediates(program, list(zip(numbers["bound"], numbers["grads"], strict=True))),
        elasticities=numbers["elasticities"] if relative else None,
        units=tree,
    )  # fmt: skip


def _grad(m: NumberType, adjoint: Any, active: bool) -> Any:
    return (m.number(0) if active else None) if adjoint is None else adjoint


def _intermediates(program: Program, numbers: Sequence[tuple[Any, Any]]) -> tuple[Intermediate[Any], ...]:
    """The names that a program bound, with their values and derivatives."""
    ends = [k for k, character in enumerate(program.text) if character == "\n"]
    return tuple(
        Intermediate(name, bisect_right(ends, start) + 1, value, grad)
        for (name, start, _), (value, grad) in zip(program.bindings_at(), numbers, strict=True)
    )
