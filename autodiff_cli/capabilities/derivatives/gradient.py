"""The gradient of a program at a point, in any arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...api.api_answers import Answer, as_numbers
from ...engine.graphs.value import Value, values_of
from ...engine.numbers.base import NumberType
from ...engine.numbers.floats import REAL
from ...engine.run.doubles import Doubles
from ...engine.run.evaluation import Evaluation, with_fallback
from ...engine.run.flat_graph import Graph
from ...errors import Diagnostic, ExpressionError, usage_error
from ...language.builder import Program
from ...questions.arithmetic import (
    DOUBLE,
    WITH_MORE_DIGITS,
    Arithmetic,
    Shown,
    Values,
    kink_warnings,
)
from ...questions.figures import unsigned
from ...questions.optional_units import pose_with_units, with_units
from ...questions.problem import Point, Problem, check_single, have_units, parse, problem_of
from ...questions.rounding import rounding_warnings
from ...record import Record

if TYPE_CHECKING:
    from ...compiled.data_loss import DataLoss, LossSpec, LossSummary
    from ...questions.quantities import Units

# The most programs that are remembered, for further points.
MAX_PROGRAMS = 1024
# The most programs kept at their first use; after these, only repeated ones are.
#
# Most programs of a long stream never repeat, and memory that is reused at once is faster.
MAX_FIRST_USE_PROGRAMS = 128

# The maximal size of the kept programs: characters of text plus graph nodes.
MAX_KEPT_SIZE = 250_000
# The most hashes of programs that came once.
MAX_SEEN_HASHES = 16_384

# Doubles, or what another arithmetic shows.
Number = TypeVar("Number", bound=Shown)


class Intermediate(Record, Generic[Number]):
    """A bound name: its line (from 1), value and derivative, None where not needed."""

    name: str
    line: int
    value: Number | bool | None
    grad: Number | None


class Gradient(Answer, Generic[Number], shows=("value", "gradient")):
    """Value and gradient of a program at a point."""

    declaration = """
    csv line id variable at[] partial[] value[] elasticity error
    plain value gradient
    value
    gradient
    point
    elasticities figures choice=relative column=elasticity wide=elasticity_: with `--relative`: \
    the elasticities, by name; null where there are none
    units
    constants
    data
    warnings
    intermediates choice: with `--all`: the names that the program binds, in its order
      name: the name
      line: the line that binds it, from 1
      value figures: its value; null where it is not needed
      grad figures: the derivative of the program by it
    """

    text: str
    arithmetic: Arithmetic
    value: Number
    gradient: dict[str, Number]
    point: dict[str, Number]
    """The value of every variable, and of wanted names that are not used."""
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...] = ()
    intermediates: tuple[Intermediate[Number], ...] = ()
    graph: Graph | None = None
    over: LossSummary | None = None
    elasticities: dict[str, Number | None] | None = None
    """The elasticities x·f′/f by the wanted variables, if requested; None if undefined."""
    units: Units | None = None

    @cached_property
    def output(self) -> Value | None:
        """Return the graph's root, with `data` and `grad` at each node; None except in doubles."""
        return None if self.graph is None else values_of(self.graph)[self.graph.roots[0]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers([*self.gradient.values()], dtype)


def gradient(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | str | None = None,
    arithmetic: Arithmetic = DOUBLE,
    relative: bool = False,
    over: LossSpec | None = None,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Gradient[Any]:
    """Return the value of the program `text` at `point` and its gradient by `wrt`.

    `point` gives each variable a number, or a constant expression as text, perhaps with a unit: `"2
    mm"`. Then the numbers of the answer have units too, its value in `units` if given; with
    `system` the units are products of those of the point. `wrt` names variables, as a list or as
    `"x,y"`; by default all, or the parameters of a definition at the end. Derivatives by angles are
    per radian, or per unit of the angle. An `arithmetic` other than doubles reads literals and the
    point as decimals. `relative` adds elasticities. With data `over`, the program is the term of
    one row, in doubles.

    Raises `ExpressionError`: `syntax`, `name`, `arity`, `type` for the text, `point`,
    `missing_value`, `usage` for the point and `wrt`, `domain`, `derivative`, `overflow`, `limit`
    for the mathematics.

    >>> gradient("x**2/3", {"x": "0.1"}, arithmetic=Arithmetic("exact")).gradient["x"].text
    '1/15'
    """
    if not isinstance(text, str):
        raise TypeError(f"a program is text, not {text!r}")
    if over is not None:
        from ...compiled.data_loss import in_doubles, pose_over  # only data need it

        in_doubles(arithmetic)
        return _over_data(
            text, *pose_over(text, with_units(point), wrt, over, 1, units=units), relative
        )
    posed = pose_with_units(text, point, wrt, units, system=system)
    answer = _answer_or_hint(text, posed, arithmetic, relative, hint=True)
    if arithmetic == DOUBLE:
        lost = rounding_warnings(posed.program.graph, posed.values, posed.point, posed.wanted)
        answer = answer._replace(warnings=(*answer.warnings, *lost)) if lost else answer
    return answer


def _answer_or_hint(
    text: str,
    posed: Problem,
    arithmetic: Arithmetic = DOUBLE,
    relative: bool = False,
    hint: bool = False,
) -> Gradient[Any]:
    try:
        return _answer(text, posed, arithmetic, relative, hint=hint)
    except ExpressionError as error:
        plain = posed.units is None and arithmetic == DOUBLE
        is_answered = WITH_MORE_DIGITS in (error.hint or "")
        if error.kind == "domain" and len(posed.program.leaves) == 1 and plain and not is_answered:
            from .taylor import limit_hint  # only an error needs it

            limit = limit_hint(posed.program, posed.point) or error.hint
            error.diagnostic = error.diagnostic._replace(hint=limit)
        raise


def gradient_of(
    program: Program, values: Mapping[str, float], wrt: Sequence[str] | str | None = None
) -> Gradient[float]:
    """Return the gradient in doubles of a parsed program."""
    check_single(program)
    return _answer(program.text, problem_of(program, values, values, wrt))


def plain_gradient(
    text: str, point: Point | None = None, *, wrt: Sequence[str] | str | None = None
) -> Gradient[float]:
    """Return the gradient in doubles; raise a usage error for values with units."""
    answer = gradient(text, point, wrt=wrt)
    if answer.units is not None:
        raise usage_error(
            "values with units are not taken here",
            "`autodiff grad` and `autodiff propagate` take them",
        )
    return answer


def _answer(
    text: str,
    posed: Problem,
    arithmetic: Arithmetic = DOUBLE,
    relative: bool = False,
    *,
    hint: bool = False,
) -> Gradient[Any]:
    program, units = posed.program, posed.units
    bound = [program.place(i) for _, _, i in program.bound]
    tree = None if units is None else units.of_gradient(posed.wanted, bound)
    by = {name: program.places.get(name) for name in posed.wanted}
    warnings: list[Diagnostic] = []
    shown: Graph | None = None

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        nonlocal shown
        if m is REAL:
            # messages show doubles as they were typed
            graph = program.graph.with_leaves(
                {i: posed.values[name] for name, i in program.places.items()}
            )
        else:
            from ...engine.graphs.value_and_gradient import at_point

            graph = at_point(m, program.graph, values)
        at = Evaluation(m, graph, by).differentiate()
        grads, evaluated = at.grads(), {*at.order} if bound else {*()}
        if at.kinks:
            at = _beside_guards(m, program.graph, at, values, by, grads)
        warnings[:] = kink_warnings(arithmetic, at.kinks.values())
        if m is REAL:
            graph.grads, shown = grads, graph
            if units is not None:
                graph.unit, graph.adjoint_unit = units.node, units.adjoint
        gradient = {name: unsigned(slope) for name, slope in at.gradient.items()}
        value = float(at.value) + 0.0 if m is REAL else at.value
        return {
            "value": value,
            "gradient": gradient,
            "point": values,
            "intermediates": [
                {
                    "value": unsigned(graph.data[i]) if i in evaluated else None,
                    "grad": grads[i] if i in evaluated else None,
                }
                for i in bound
            ]
            if bound
            else [],
            "elasticities": {
                name: _elasticity(values[name], gradient[name], value) for name in gradient
            }
            if relative
            else {},
        }

    # doubles are shown as they are
    plain = arithmetic == DOUBLE and units is None
    try:
        numbers = (
            work(REAL, posed.values) if plain else arithmetic.run(posed.point, work, tree, hint)
        )
    except ExpressionError:
        if not plain or not hint:
            raise
        numbers = arithmetic.run(posed.point, work, None, hint)
    found = numbers["intermediates"]
    numbers["intermediates"] = _intermediates(program, found) if found else ()
    numbers["elasticities"] = numbers["elasticities"] if relative else None
    constants, heard = program.constants, (*posed.warnings, *warnings)
    return Gradient(
        text, arithmetic, **numbers, constants=constants, warnings=heard, graph=shown, units=tree
    )


def _intermediates(
    program: Program, numbers: Sequence[dict[str, Any]]
) -> tuple[Intermediate[Any], ...]:
    """Return the numbers of assignments with their names and lines."""
    ends = [i for i, char in enumerate(program.text) if char == "\n"]
    return tuple(
        [
            Intermediate(name, bisect_left(ends, start) + 1, **number)
            for (name, start, _), number in zip(program.bindings_at(), numbers, strict=True)
        ]
    )


def _beside_guards(
    m: NumberType,
    graph: Graph,
    at: Evaluation,
    values: Values,
    by: Mapping[str, int | None],
    grads: list[Any],
) -> Evaluation:
    """Return the sweep of the function around a guard, with its derivatives in `grads`; `at` if
    there is none.
    """
    from ...engine.algebra.guards_at_point import around_guards, with_reason  # only kinks need it

    beside = around_guards(graph, at, 1, at.kinks.values())
    if beside is None:
        return at
    at.kinks = with_reason(at.kinks, beside.reason)
    if beside.program is None:
        return at
    from ...engine.graphs.value_and_gradient import value_and_gradient

    around = value_and_gradient(m, beside.program, values, by)
    around.kinks = with_reason(around.kinks, beside.reason)
    for name, i in by.items():
        if i is not None:
            grads[i] = around.gradient[name]
    return around


def _over_data(text: str, posed: Problem, function: DataLoss, relative: bool) -> Gradient[float]:
    value, partials = function([posed.values[name] for name in function.variables])
    summary, kinks = function.summary, function.kinks(posed.values, posed.wanted)
    gradient = dict(zip(posed.wanted, partials, strict=True))
    warnings = (*posed.warnings, *kinks)
    answer = Gradient(
        text, DOUBLE, value, gradient, posed.values, posed.program.constants, warnings, over=summary
    )
    measured = posed.units
    if relative:
        # elasticities need absolute temperatures
        units_of_point = measured.point if measured else {}
        zeros = {name: float(unit.zero / unit.scale) for name, unit in units_of_point.items()}
        absolute = {name: x + zeros.get(name, 0.0) for name, x in posed.values.items()}
        answer = answer._replace(
            elasticities=with_elasticities(answer._replace(point=absolute)).elasticities
        )
    if measured is None:
        return answer
    tree = measured.of_gradient(posed.wanted)
    gradient = {
        name: x * measured.factor_of(tree["gradient"][name], [name])
        for name, x in answer.gradient.items()
    }
    return answer._replace(gradient=gradient, units=tree)


def with_elasticities(answer: Gradient[float]) -> Gradient[float]:
    """Return an answer in doubles with its elasticities."""
    partials = answer.gradient.items()
    elasticities = {name: _elasticity(answer.point[name], d, answer.value) for name, d in partials}
    return answer._replace(elasticities=elasticities)


def _elasticity(x: Any, slope: Any, value: Any) -> Any:
    if value == 0:
        return None
    product = x * slope
    if not isinstance(value, float):
        return product / value
    # quotients, where the product would overflow or lose digits
    e = product / value if 1e-290 < abs(product) < math.inf else slope / value * x
    return e + 0.0 if math.isfinite(e) else None


# ---- streams of programs
class PreparedProgram:
    """A program with one output, prepared for gradients in doubles at any point."""

    __slots__ = ("_by_all", "_doubles", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        check_single(program)
        self._doubles = Doubles(program.graph)
        self._by_all = program.parameters == tuple(program.leaves)

    def binds(self, names: Collection[str]) -> bool:
        """Return whether the program binds some of these names."""
        return any(name in names for name, _, _ in self.program.bound)

    def has_variables(self, names: Iterable[str]) -> bool:
        """Return whether the program has variables, among them these."""
        leaves = self.program.leaves
        return bool(leaves) and all(name in leaves for name in names)

    def numbers(
        self, point: Mapping[str, float], wrt: Sequence[str] | None
    ) -> Gradient[float] | None:
        """Return the gradient without graph; None, or raise an error of `evaluation.LEFT`, if that
        needs it.
        """
        program = self.program
        leaves, places = program.leaves, program.places
        if program.bound and self.binds(point):
            return None
        wanted: Collection[str]
        names: Collection[str]
        wanted = names = leaves
        if wrt is not None or not self._by_all:
            names = dict.fromkeys((*leaves, *program.parameters))
            asked = {*(program.parameters if wrt is None else wrt)}
            wanted = [
                name for name in dict.fromkeys((*program.parameters, *leaves)) if name in asked
            ]
            if not asked.issubset(names):
                return None
        try:
            at = {name: float(point[name]) for name in names}
        except KeyError:
            return None
        answer = self._doubles.gradient(places, at, differentiate=bool(wanted))
        if answer is None:
            return None
        values, adjoints = answer
        # `+ 0.0` turns -0.0 into 0.0
        return Gradient(
            program.text,
            DOUBLE,
            values[program.graph.roots[0]] + 0.0,
            {name: adjoints[places[name]] + 0.0 if name in places else 0.0 for name in wanted},
            at,
            program.constants,
        )

    def graph(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        """Return the gradient, with the graph."""
        return gradient_of(self.program, point, wrt)


class Programs:
    """The programs of a stream or data file; recent ones are remembered.

    Answers are those of `gradient`, but digits are not checked, nor limits and more digits looked
    for where there is no answer; unless `complete`, without graph, intermediates and warnings about
    unused names.
    """

    def __init__(
        self,
        arithmetic: Arithmetic = DOUBLE,
        *,
        complete: bool = True,
        remembered: int = MAX_PROGRAMS,
        relative: bool = False,
        units: Sequence[str] | str | None = None,
        system: bool = False,
    ) -> None:
        self._arithmetic, self._complete = arithmetic, complete
        self._remembered, self._relative = remembered, relative
        self._units, self._system = units, system
        self._programs: dict[tuple[str, ...], PreparedProgram] = {}
        self._size = 0
        # Hashes of programs that came once and were not kept.
        self._seen_once: set[int] = set()

    def gradient(
        self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None = None
    ) -> Gradient[Any]:
        """Return the `gradient` at a point of finite numbers, its digits unchecked; raises as it
        does.
        """
        if self._arithmetic != DOUBLE or self._units is not None or have_units(text, point):
            posed = pose_with_units(text, point, wrt, self._units, system=self._system)
            return _answer_or_hint(text, posed, self._arithmetic, self._relative)
        # what a program means depends on the names that have a value
        key = (text, *point)
        prepared = self._programs.get(key)
        if prepared is None:
            prepared = PreparedProgram(parse(text, point))
            self._remember(key, prepared)
        program = prepared.program
        if program.bound and (not prepared.has_variables(wrt or ()) or prepared.binds(point)):
            # a name that is bound to a number may be a variable
            answer = _answer_or_hint(text, pose_with_units(text, point, wrt))
        elif self._complete:
            answer = gradient_of(program, point, wrt)
        else:
            answer = with_fallback(prepared.numbers, prepared.graph, point, wrt)
        return with_elasticities(answer) if self._relative else answer

    def _remember(self, key: tuple[str, ...], prepared: PreparedProgram) -> None:
        if len(self._programs) >= MAX_FIRST_USE_PROGRAMS:
            met = hash(key)
            if met not in self._seen_once:
                if len(self._seen_once) >= MAX_SEEN_HASHES:
                    self._seen_once.clear()
                self._seen_once.add(met)
                return
        size = len(prepared.program.text) + len(prepared.program.graph.places)
        self._size += size
        if len(self._programs) >= self._remembered or self._size > MAX_KEPT_SIZE:
            self._programs.clear()
            self._size = size
        self._programs[key] = prepared
