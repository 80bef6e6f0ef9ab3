"""Integrals: antiderivatives that are checked, and definite integrals with proven digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graphs.value import Value
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.floats import REAL
from ...errors import ExpressionError, quote, require, usage_error
from ...language.builder import Program
from ...questions.problem import Point, parse, single_output, unused_name, written_number
from .antiderivatives import Antiderivative, NoAntiderivative, antiderivative
from .ends import hold, names_in, read_ends
from .integrate import Integral, with_antiderivative

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
) -> Integral:
    """Return the antiderivative of a program in one variable, or its integral between two `ends`.

    `wrt` are parameters to differentiate a definite integral by. Raises `ExpressionError` where it is not known.
    """
    typed = {name: _source(name, value) for name, value in dict(point or {}).items()}
    program = parse(text, [*typed])
    output = single_output(program)
    name, places = read_ends(program, typed, ends, variable)
    if name in typed:
        raise usage_error(f"`{name}` has a value, and is the variable of the integral", "leave one of them out")
    used = {*program.leaves, *(each for end in places or () for each in end.names())}
    warnings = [unused_name(program, each) for each in typed if each not in used]
    held = {each: parse(source).outputs[0] for each, source in typed.items() if each in used}
    integrand = hold(output, held)
    about = Integral(
        text=text, variable=name, kind="antiderivative", antiderivative=None, checked=None, domain=None, between=None,
        formula=None, value=None, digits=None, derivatives=None, message="", constants=program.constants,
        point={each: _number(value) for each, value in held.items()}, warnings=tuple(warnings),
    )  # fmt: skip
    facts = _facts(assume, program)
    if places is None:
        if wrt:
            raise usage_error("`--wrt` differentiates a definite integral", f"write `--between {name}=0:1`")
        return _indefinite(about, integrand, name, facts)
    require("flint", "certified", "definite integrals need python-flint, which is not installed")
    from .definite import definite
    from .parameters import with_derivatives

    low, high = (end.fixed(held) for end in places)
    missing = [each for each in dict.fromkeys([*names_in(integrand), *low.names(), *high.names()]) if each != name]
    if missing:
        message = f"{quote(missing)} {'has' if len(missing) == 1 else 'have'} no value"
        raise ExpressionError("missing_value", message, None, f"give the point: `--at {missing[0]}=…`")
    digits = precision or DEFAULT_DIGITS
    answer = definite(about, integrand, name, (low, high), digits)
    return with_derivatives(answer, output, held, places, wrt, digits) if wrt and answer.converges else answer


def _source(name: str, value: Any) -> str:
    """Return the text of a value of a point. Raises `ExpressionError` for one with a unit."""
    if hasattr(value, "unit"):
        hint = f"give it without a unit, in those of the SI: `{name}={float(value):.15g}`"
        raise usage_error(f"`{name}` has a unit, and integrals are taken of plain numbers", hint)
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
