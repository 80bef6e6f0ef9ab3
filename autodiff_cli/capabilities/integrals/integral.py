"""Integrals: antiderivatives that are checked, and definite integrals with proven digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...engine.graphs.value import Value, graph_of, in_order
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.floats import REAL
from ...engine.table.operators import VARIABLE
from ...errors import ExpressionError, quote, require, usage_error
from ...language.builder import Program
from ...questions.optional_units import with_units
from ...questions.problem import (
    Point,
    Problem,
    check_bare_functions,
    check_products,
    have_units,
    numbers_or_quantities,
    parse,
    single_output,
    unused_name,
    written_number,
)
from .antiderivatives import (
    Antiderivative,
    NoAntiderivative,
    ParametricAntiderivatives,
    antiderivative,
    if_known,
)
from .ends import IntegralEnd, hold, names_in, read_ends
from .integrate import Integral, with_antiderivative

if TYPE_CHECKING:
    from .integral_units import MeasuredIntegral

DEFAULT_DIGITS = 17


def integrate(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    ends: Sequence[str] | None = None,
    variable: str | None = None,
    assume: str | Sequence[str] | None = None,
    precision: int | None = None,
    units: Sequence[str] | str | None = None,
    system: bool = False,
    steps: bool = False,
    known: ParametricAntiderivatives | None = None,
) -> Integral:
    """Return the antiderivative of a program in one variable, or its integral between two `ends`.

    `wrt` are parameters to differentiate a definite integral by. `known` are antiderivatives for
    all values of the parameters, where the integral is asked at many. Raises `ExpressionError`
    where it is not known.
    """
    values = with_units(point)
    typed = {name: _source(name, value) for name, value in values.items()}
    program = parse(text, [*typed], units=True)
    output = single_output(program)
    name, places = read_ends(program, typed, ends, variable, wrt)
    check_bare_functions(program, {*typed, name})
    check_products(program, {*typed, name}, (name,), may_lack=True)
    if name in typed:
        raise usage_error(
            f"`{name}` has a value, and is the variable of the integral", "leave one of them out"
        )
    used = {*program.leaves, *(each for end in places or () for each in end.names())}
    warnings = [unused_name(program, each) for each in typed if each not in used]
    held = {each: parse(source).outputs[0] for each, source in typed.items() if each in used}
    numbers = {each: _number(value) for each, value in held.items()}
    _check_values(names_in(output), places, name, held)
    quantities = numbers_or_quantities(
        {each: value for each, value in values.items() if each in used}
    )
    measured = _measured(program, quantities, name, places, units, system)
    if measured is not None:
        output, numbers = measured.integrand(output), measured.numbers_of(numbers)
        places = places and (measured.end(places[0]), measured.end(places[1]))
        warnings += measured.units.warnings
    integrand = hold(output, held)
    about = Integral(
        text=text, variable=name, kind="antiderivative", antiderivative=None, checked=None,
        domain=None, between=None, formula=None, value=None, digits=None, derivatives=None,
        message="", constants=program.constants, point=numbers, warnings=tuple(warnings),
        units=None if measured is None else measured.tree(places is not None, wrt or ()),
    )  # fmt: skip
    if places is None:
        if wrt:
            raise usage_error(
                "`--wrt` differentiates a definite integral", f"write `--between {name}=0:1`"
            )
        find_it = _by_steps if steps else _indefinite
        return find_it(about, integrand, name, _facts(assume, program))
    require("flint", "certified", "definite integrals need python-flint, which is not installed")
    from .definite import definite

    low, high = (end.fixed(held) for end in places)
    digits = precision or DEFAULT_DIGITS
    find = partial(if_known, name=name) if known is None else partial(known.at, output, name, held)
    answer = definite(about, integrand, name, (low, high), digits, find)
    if steps:
        worked = _by_steps(about, integrand, name, ())
        shared = ("steps", "antiderivative", "checked", "domain")
        answer = answer._replace(**{key: getattr(worked, key) for key in shared})
    if not wrt or not answer.converges:
        return answer
    from .parameters import Parametric, with_derivatives

    factors: dict[str, Value] = {}
    if measured is not None:
        factors = {by: measured.factor_of(by) for by in wrt if by in held}
    return with_derivatives(answer, Parametric(name, output, held, places, digits, factors), wrt)


def posed_integral(
    text: str,
    point: Mapping[str, float],
    ends: Sequence[str] | None,
    variable: str | None,
    wrt: Sequence[str] | None,
) -> Problem:
    """Return an integral as a problem in its parameters, those of its ends among them; it is not
    computed.
    """
    program = parse(text, [*point], units=True)
    output = single_output(program)
    name, places = read_ends(program, dict.fromkeys(point, ""), ends, variable)
    _check_values(names_in(output), places, name, point)
    formulas = [output, *[end.formula for end in places or () if end.formula is not None]]
    leaves = {
        leaf.label: leaf
        for leaf in in_order(formulas)
        if leaf.primitive is VARIABLE and leaf.label != name
    }
    graph = graph_of(leaves.values())
    graph.names = graph.names[0], {each: graph.roots[k] for k, each in enumerate(leaves)}
    of_parameters = Program(text, graph, tuple(leaves), program.constants, [])
    warnings = [unused_name(of_parameters, each) for each in point if each not in leaves]
    return Problem(of_parameters, {}, {}, list(wrt or ()), warnings)


def _measured(
    program: Program,
    values: Mapping[str, float],
    name: str,
    places: tuple[IntegralEnd, IntegralEnd] | None,
    asked: Sequence[str] | str | None,
    system: bool,
) -> MeasuredIntegral | None:
    """Return the units of the integral; None without units."""
    ends = [end for end in places or () if end.is_measured]
    if not (asked or ends or have_units(program.text, values)):
        return None
    from .integral_units import measured_integral  # only units need it

    return measured_integral(program, values, name, places, asked, system=system)


def _check_values(
    inside: Sequence[str],
    places: tuple[IntegralEnd, IntegralEnd] | None,
    name: str,
    held: Mapping[str, object],
) -> None:
    """Raise `ExpressionError` for names of a definite integral without values, or of the ends."""
    ends = [each for end in places or () for each in end.names()]
    needed = (
        [] if places is None else [each for each in dict.fromkeys([*inside, *ends]) if each != name]
    )
    missing = [each for each in needed if each not in held]
    if missing:
        message = f"{quote(missing)} {'has' if len(missing) == 1 else 'have'} no value"
        raise ExpressionError(
            "missing_value", message, None, f"give the point: `--at {missing[0]}=…`"
        )


def _source(name: str, value: Any) -> str:
    """Return the exact text of a value of a point, in the unit of the SI."""
    return value if isinstance(value, str) else written_number(name, value).source


def _number(value: Value) -> float:
    return float(evaluate_in(REAL, value, {}).value)


def _indefinite(about: Integral, integrand: Value, name: str, facts: Sequence[Value]) -> Integral:
    try:
        found = antiderivative(integrand, name, facts)
    except NoAntiderivative as none:
        hint = f"a definite integral needs none: `--between {name}=0:1`"
        raise ExpressionError("domain", f"no antiderivative is known: {none}", None, hint) from None
    return with_antiderivative(about, found)._replace(message=_message(found, name))


def _by_steps(about: Integral, integrand: Value, name: str, facts: Sequence[Value]) -> Integral:
    """Return an antiderivative with the rules that lead to it. Raises `ExpressionError` where there
    are none.
    """
    from .integral_steps import NoSteps, integration_steps

    try:
        found, steps = integration_steps(integrand, name, facts)
    except NoSteps as none:
        message = f"no steps are known: {none}"
        raise ExpressionError("domain", message, None, "leave `--steps` out") from None
    return with_antiderivative(about, found)._replace(message=_message(found, name), steps=steps)


def _message(found: Antiderivative, name: str) -> str:
    if found.proven:
        return f"proven: its derivative by `{name}` is the formula, wherever both have values"
    return (
        f"not proven: its derivative by `{name}` is the formula at all of {found.points} points, "
        "compared with 50 digits"
    )


def _facts(assume: str | Sequence[str] | None, program: Program) -> list[Value]:
    if not assume:
        return []
    from ..formulas.diff import assumptions

    return [one.condition for one in assumptions(assume, program)]
