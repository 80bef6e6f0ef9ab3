"""Limits of formulas, from both sides or one, at points and at infinity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...api.api_answers import Answer
from ...engine.algebra.almost_everywhere import conjunction
from ...engine.algebra.asymptotic_series import (
    AsymptoticSeries,
    Multiseries,
    NoAsymptotics,
    NotReal,
    TooFewTerms,
)
from ...engine.algebra.exact_constants import ExactConstant, ExactConstants, UndecidedSign
from ...engine.algebra.identities import without_idle_angles
from ...engine.algebra.simplify import simplify
from ...engine.graphs.value import Source, Value, node
from ...engine.graphs.value_and_gradient import evaluate_in, value_in
from ...engine.numbers.base import UNDECIDED, Refusal
from ...engine.table.operators import GT, NEG
from ...errors import Diagnostic, ExpressionError, quote, usage_error
from ...language.builder import Program
from ...language.printer import expression_text
from ...questions.approach import Approach, as_approach
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown
from ...questions.problem import (
    Names,
    Point,
    check_bare_functions,
    check_products,
    check_values,
    evaluate_constant,
    have_units,
    parse,
    unused_name,
)
from ...record import Record

if TYPE_CHECKING:
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import ProgramUnits, Units

# Terms of the series, more where they cancel.
SIZES = (4, 8, 14, 22)
SIDE_NAMES = {1: "right", -1: "left"}


class OneSided(Record):
    """The limit from one side."""

    side: str
    """`right` for falling, `left` for rising values of the variable."""
    kind: str
    """`finite`, `infinite`, `oscillates`, or `undefined` where the formula has no value arbitrarily
    near.
    """
    formula: str | None
    """The limit as a formula: `1/2`, `pi/4`, `inf`, `-inf`; None if there is none."""
    value: Shown | None
    """The number; None if it is infinite, or depends on variables without a value."""


class Limit(Answer, shows=("kind", "formula", "limit")):
    """The limit of a program where a variable approaches a place."""

    declaration = """
    csv line id variable side kind formula value[] error
    plain limit
    variable: the variable that approaches a place
    approaches: the place: `0`, `0+`, `pi/2`, `inf`
    kind: `finite`, `infinite`, `none`, or `undefined` where the formula has no value near
    formula: the limit as a formula, `inf` and `-inf` too; null if there is none
    limit figures: the limit as a number; null if there is none, or it is infinite, \
    or depends on variables without a value
    point
    sides: the limits from one side or both
      side: `left` or `right`
      kind: `finite`, `infinite`, `oscillates`, or `undefined` where the formula has no value \
      arbitrarily near
      formula: that limit as a formula; null if there is none
      value figures: that limit as a number
    condition nonempty: what holds for variables without a value: `a != 0`; else null
    units
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    variable: str
    approaches: str
    """The place: `0`, `0+`, `pi/2`, `inf`."""
    kind: str
    """`finite`, `infinite`, `none`, or `undefined`."""
    formula: str | None
    limit: Shown | None
    sides: list[OneSided]
    condition: str | None
    """What was supposed of variables without a value: `a != 0`."""
    point: dict[str, Shown]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a limit, finite or infinite."""
        return self.kind in ("finite", "infinite")


class SideLimit(NamedTuple):
    """The limit from one side, exactly: its kind, its value if finite, and its sign if infinite."""

    kind: str
    value: ExactConstant | None = None
    sign: int = 0


def limit(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    assume: str | Sequence[str] | None = None,
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Limit:
    """Return the limit of a program where one variable approaches a place: `0`, `0+`, `0-`, `inf`,
    `-inf`.

    Other variables may have values, or conditions in `assume`. Raises `ExpressionError` where the
    limit is not known.
    """
    typed = dict(point or {})
    places = {name: as_approach(name, value) for name, value in typed.items()}
    program = parse(text, [*typed], units=True)
    check_bare_functions(program, typed)
    if len(program.roots) > 1:
        message = f"this program has {len(program.roots)} outputs, and a limit is taken of one"
        raise ExpressionError(
            "type", message, program.all_nodes.span(program.roots[1]), "ask for each of them"
        )
    warnings = [unused_name(program, name) for name in places if name not in program.leaves]
    name = _variable(program, places, wrt)
    check_products(program, typed, (name,), may_lack=True)
    held = {
        other: place for other, place in places.items() if other != name and other in program.leaves
    }
    for other, place in held.items():
        if place.side:
            message = f"`{other}` and `{name}` both approach a place"
            message += ", and a limit is taken in one variable"
            raise usage_error(message, f"give `{other}` a number, or choose with `--wrt {name}`")
    place = places[name]
    facts = _facts(assume, program)
    measured = _measured(program, name, {name: place, **held}, units, system)
    warnings += [] if measured is None else measured.warnings
    one_sided = math.isinf(place) or place.side
    wanted = (place.side or 1,) if one_sided else (-1, 1)
    constants = ExactConstants(facts)
    found = {side: _one_sided(program, name, place, side, held, constants) for side in wanted}
    if measured is not None:
        found = {side: _in_unit(one, measured.outputs[0]) for side, one in found.items()}
    kind, chosen = _together([*found.values()])
    if not constants.confirmed:
        message = "the cancellation of terms is confirmed with 150 digits, but not proven"
        warnings.append(
            Diagnostic("limit", message, None, "give the numbers in a form that simplifies")
        )
    sides = [_shown(SIDE_NAMES[side], one) for side, one in found.items()]
    if kind != "none" and any(side.kind == "undefined" for side in sides) and chosen is not None:
        missing = next(side.side for side in sides if side.kind == "undefined")
        message = (
            f"the formula has no value {SIDE_WORDS[missing]}: the limit is that of the other side"
        )
        warnings.append(Diagnostic("limit", message, None, None))
    formula = None if chosen is None else _formula(chosen)
    tree = None if measured is None else _units_of(measured, held, len(sides))
    numbers = _numbers(arithmetic, held, [chosen, *found.values()], tree)
    of_sides = zip(sides, numbers["limits"][1:], strict=True)
    listed = [side._replace(value=value) for side, value in of_sides]
    return Limit(
        text,
        arithmetic,
        name,
        _typed(place) + {1: "+", -1: "-", 0: ""}[0 if math.isinf(place) else place.side],
        kind,
        formula,
        numbers["limits"][0],
        listed,
        _condition(constants.conditions),
        numbers["point"],
        program.constants,
        tuple(warnings),
        tree,
    )


def _typed(place: Approach) -> str:
    """Return a place as it is typed, with its unit."""
    return f"{place.number:.15g} {place.unit}" if hasattr(place, "unit") else place.source


def _measured(
    program: Program, name: str, places: Mapping[str, Approach], asked: Names, system: bool
) -> ProgramUnits | None:
    """Return the units of the limit; None without units. Raises `ExpressionError` where they do not
    agree.
    """
    if not (asked or have_units(program.text, places)):
        return None
    from ...engine.quantities.unit import Unit, si_unit  # only units need it
    from ...questions.quantities import ProgramUnits, needed_dimension, unit_value

    check_values(program, places)
    values: dict[str, Any] = {
        each: unit_value(getattr(x, "unit", Unit()), x) for each, x in places.items()
    }
    for each in values.keys() - {name}:
        values[each].number = getattr(places[each], "number", float(places[each]))
    place = places[name]
    if not hasattr(place, "unit") and (math.isinf(place) or not place):  # both have every dimension
        others = {each: x.unit for each, x in values.items() if each != name}
        needed = needed_dimension(program, name, others)
        values[name] = unit_value(Unit() if needed is None else si_unit(needed))
    return ProgramUnits(program, values, asked, system=system)


def _units_of(measured: ProgramUnits, held: Mapping[str, Approach], sides: int) -> Units:
    tree = measured.tree(limit=measured.outputs[0], sides=[{"value": measured.outputs[0]}] * sides)
    tree["point"] = {name: measured.point[name] for name in held}
    return tree


def _in_unit(side: SideLimit, unit: Unit) -> SideLimit:
    """Return a limit in the unit of the answer."""
    value = side.value
    if value is None:
        return side
    if unit.zero:
        value = value - unit.zero
    return side._replace(
        value=value / unit.scale / value.m.pi ** int(unit.pi) if unit.pi else value / unit.scale
    )


SIDE_WORDS = {"right": "above that place", "left": "below that place"}


def _variable(program: Program, places: Mapping[str, Approach], wrt: Sequence[str] | None) -> str:
    if wrt is not None and len(wrt) != 1:
        raise usage_error("a limit is taken in one variable", "write `--wrt x`")
    example = next(iter(program.variables), "x")
    candidates = list(
        wrt or [name for name, place in places.items() if place.side and name in program.leaves]
    )
    candidates = candidates or [name for name in places if name in program.leaves] or [*places][:1]
    if not candidates:
        raise usage_error(
            "a limit needs a place", f"write `--at {example}=0`, `{example}=0+` or `{example}=inf`"
        )
    if len(candidates) > 1:
        message = f"{quote(candidates)} have places, and a limit is taken in one variable"
        raise usage_error(
            message, f"choose it with `--wrt {candidates[0]}`; the others are held fixed"
        )
    (name,) = candidates
    if name not in places:
        raise usage_error(
            f"`{name}` has no place to approach", f"write `--at {name}=0`, or `{name}=inf`"
        )
    return name


def _facts(assume: str | Sequence[str] | None, program: Program) -> list[Value]:
    if not assume:
        return []
    from ..formulas.diff import assumptions

    return [one.condition for one in assumptions(assume, program)]


class LimitUnknown(Exception):
    """The series do not decide; the text says why."""


def _one_sided(
    program: Program,
    name: str,
    place: Approach,
    side: int,
    held: Mapping[str, Approach],
    constants: ExactConstants,
) -> SideLimit:
    others = {
        other: _parameter(constants, program, other, held)
        for other in program.variables
        if other != name
    }
    try:
        try:
            return side_limit(program.graph, name, place, side, others, constants)
        except LimitUnknown:
            (simple,) = without_idle_angles(program.outputs)
            if simple is program.outputs[0]:
                raise
            return side_limit(simple, name, place, side, others, constants)
    except UndecidedSign as unknown:
        raise _sign_error(unknown.value) from None
    except LimitUnknown as unknown:
        hint = "`autodiff plot` shows the formula near it; numbers near it prove no limit"
        message = f"the limit at `{name}` = {place.source} is not known: {unknown}"
        raise ExpressionError("domain", message, None, hint) from None


def side_limit(
    source: Source,
    name: str,
    place: Approach,
    side: int,
    others: Mapping[str, ExactConstant],
    constants: ExactConstants,
) -> SideLimit:
    """Return the limit from one side. Raises `LimitUnknown` and `UndecidedSign`."""
    reason = "the terms of its series cancel"
    for size in SIZES:
        m = AsymptoticSeries(constants, size)
        try:
            far = m.t if side < 0 else -m.t
            at = far if math.isinf(place) else m.number(_constant(constants, place)) + side / m.t
            values = {other: m.number(x) for other, x in others.items()} | {name: at}
            return _limit_of(m, m.number(evaluate_in(m, source, values).value))
        except TooFewTerms:
            reason = (
                "a part of it oscillates, and its bounds do not decide"
                if m.is_irregular
                else reason
            )
            continue
        except NoAsymptotics:
            reason = "a function of it has no series there"
            break
        except NotReal:
            return SideLimit("undefined")
        except (Refusal, ZeroDivisionError, ExpressionError) as error:
            if isinstance(error, ExpressionError) and error.kind not in (
                "domain",
                "overflow",
                UNDECIDED,
            ):
                raise
            reason = str(error) or "a divisor is 0 there"
            break
    raise LimitUnknown(reason)


def _parameter(
    constants: ExactConstants, program: Program, name: str, held: Mapping[str, Approach]
) -> ExactConstant:
    if name in held:
        return _constant(constants, held[name])
    return constants.parameter(program.variables[name])


def _constant(constants: ExactConstants, place: Approach) -> ExactConstant:
    evaluate_constant(place.source)  # raises what is wrong with it
    return constants.number(evaluate_in(constants, parse(place.source).graph, {}).value)


def _limit_of(m: AsymptoticSeries, series: Multiseries) -> SideLimit:
    if m.oscillates(series):
        return SideLimit("oscillates")
    if series.wave is not None and m.compare(series.wave.monomial, {}) >= 0:
        # the leading term outweighs the wave, so it grows
        return SideLimit("infinite", None, m.base.sign(series.terms[0].coefficient))
    sign = m.limit_sign(series)
    if sign:
        return SideLimit("infinite", None, sign)
    series = m.still(series)
    if series.end is not None and m.compare(series.end, {}) >= 0:
        raise TooFewTerms
    return SideLimit("finite", series.constant)


def _together(sides: Sequence[SideLimit]) -> tuple[str, SideLimit | None]:
    """Return the kind of the limit, and the side that gives it."""
    known = [side for side in sides if side.kind != "undefined"]
    if not known:
        return "undefined", None
    first, *others = known
    if first.kind == "oscillates" or any(not _same(first, other) for other in others):
        return "none", None
    return first.kind, first


def _same(one: SideLimit, other: SideLimit) -> bool:
    if one.value is None or other.value is None:
        return one.kind == other.kind and one.sign == other.sign
    constants, difference = one.value.m, one.value - other.value
    if constants.is_zero(one.value + other.value):  # half of it is simpler
        difference = one.value
    if constants.is_zero(difference):
        return True
    constants.require_nonzero(difference)
    return False


def _formula(side: SideLimit) -> str | None:
    if side.value is not None:
        return expression_text(side.value.m.simplest(side.value))
    return {1: "inf", -1: "-inf", 0: None}[side.sign]


def _shown(name: str, side: SideLimit) -> OneSided:
    return OneSided(name, side.kind, _formula(side), None)


def _numbers(
    arithmetic: Arithmetic,
    held: Mapping[str, Approach],
    sides: Sequence[SideLimit | None],
    units: Units | None,
) -> dict[str, Any]:
    """Return the numbers of limits without variables, and the values that are held fixed, in their
    units.
    """
    nodes = [
        (
            side.value.node
            if side is not None and side.value is not None and side.value.digits is not None
            else None
        )
        for side in sides
    ]
    of_point = None if units is None else type(units)(point=units["point"])
    if of_point is not None and units is not None:
        of_point.typed = units.typed
    numbers = arithmetic.run(
        {name: place.source for name, place in held.items()},
        lambda m, values: {
            "limits": [None if node is None else value_in(m, node, {}) for node in nodes],
            "point": values,
        },
        of_point,
    )
    # a finite limit may be too large for a double: then there is its formula
    numbers["limits"] = [
        None if type(x) is float and math.isinf(x) else x for x in numbers["limits"]
    ]
    return numbers


def _sign_error(value: Value) -> ExpressionError:
    formula = expression_text(_without_minus(value))
    hint = f"write `--assume '{formula} > 0'`, or give the variables values in `--at`"
    return ExpressionError("domain", f"the limit depends on the sign of `{formula}`", None, hint)


def _without_minus(value: Value) -> Value:
    """Return a formula or its negative, whichever is written without a minus sign."""
    (opposite,) = simplify((node(NEG, (value,)),))
    return min(
        value,
        opposite,
        key=lambda one: (expression_text(one).startswith("-"), len(expression_text(one))),
    )


def _condition(conditions: Sequence[Value]) -> str | None:
    """Return all conditions as one; a number above 0 is not 0."""
    listed: dict[str, Value] = {}
    positive = {expression_text(one._prev[0]) for one in conditions if one.primitive is GT}
    for condition in conditions:
        value, zero = condition._prev
        if condition.primitive is not GT:
            value = _without_minus(value)
            if expression_text(value) in positive:
                continue
        listed.setdefault(expression_text(one := node(condition.primitive, (value, zero))), one)
    return expression_text(conjunction([*listed.values()])) if listed else None
