"""Antiderivatives by SymPy, each checked by differentiating it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import Any, NamedTuple

from ...engine.algebra.almost_everywhere import order_under
from ...engine.algebra.canonical import exact_value
from ...engine.algebra.identities import is_zero
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.algebra.walk import has_variables, rebuild, rewrite
from ...engine.graphs.value import Value, constant, graph_of, in_order, node, variable
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import Defined
from ...engine.numbers.floats import REAL
from ...engine.numbers.running_digits import RunningDigits
from ...engine.table.operators import CONSTANT, DIV, GT, SUB, VARIABLE
from ...engine.table.primitives import ABS, LOG
from ...errors import ExpressionError, usage_error
from ...extras import install_hint
from ...language.printer import expression_text
from ...questions.problem import parse
from .continuous import Condition, follows
from .ends import hold
from .integrals_in_pieces import is_equal_in_pieces, join_pieces

# How long SymPy may take: it answers most integrals of textbooks within 5 seconds, and some never.
SECONDS = 20
# How long it may take for a definite integral, whose digits may be known without it.
DEFINITE_SECONDS = 4
# How many times as long the process is waited for: a busy machine gives it less than its processor
# time.
WAIT = 6
# SymPy's algorithms, and its rules by hand.
WAYS = 2
# Characters of the longest antiderivative that is read: nobody reads longer ones.
MAX_LENGTH = 4000
# Points at which a derivative is compared with its integrand; at many one of them has no value.
POINTS = 60
# So many points have to agree.
LEAST_POINTS = 6
DIGITS = 50
# The largest relative difference of two equal numbers of 50 digits, of which cancellation takes
# some.
AGREEMENT = 1e-25


class Antiderivative(NamedTuple):
    """A checked antiderivative."""

    formula: Value
    proven: bool
    """Whether its derivative is the integrand by the rules of algebra, not only at points."""
    points: int
    """At how many points they were compared with 50 digits, if not proven."""


class NoAntiderivative(Exception):
    """None was found; the text says why."""


def antiderivative(
    integrand: Value, name: str, facts: Sequence[Value] = (), seconds: int = SECONDS
) -> Antiderivative:
    """Return an antiderivative by a variable, checked. Raises `NoAntiderivative`, and a usage error
    without SymPy.
    """
    found: Antiderivative | None = None
    reason = NoAntiderivative("")
    try:
        found = _in_one_piece(integrand, name, facts, seconds)
    except NoAntiderivative as none:
        reason = none
    if found is None or not found.proven:
        joined = _by_pieces(integrand, name, facts, seconds)
        found = joined if joined is not None and (found is None or joined.proven) else found
    if found is None:
        raise reason
    return found


def _by_pieces(
    integrand: Value, name: str, facts: Sequence[Value], seconds: int
) -> Antiderivative | None:
    """Return an antiderivative that is joined of those of pieces, or None."""

    def find(piece: Value) -> Value | None:
        try:
            return _in_one_piece(piece, name, facts, seconds).formula
        except NoAntiderivative:
            return None

    joined = join_pieces(integrand, name, find)
    return None if joined is None else check_antiderivative(joined, integrand, name)


def _in_one_piece(
    integrand: Value, name: str, facts: Sequence[Value], seconds: int
) -> Antiderivative:
    names = [leaf.label for leaf in in_order((integrand,)) if leaf.primitive is VARIABLE]
    best: Antiderivative | None = None
    reason = "the derivative of what SymPy gives is not the integrand"
    for way in range(WAYS):
        reply = ask(integrand, name, facts, seconds, way)
        text = reply.get("formula")
        if text is None:
            if way == 0:
                raise NoAntiderivative(reply["none"])
            break
        if len(text) > MAX_LENGTH:
            reason = "what SymPy gives is too long to be read"
            continue
        try:
            written = parse(text, [*names, name]).outputs[0]
        except ExpressionError:
            reason = "it is not in the language"
            continue
        found = best_of(written, integrand, name)
        if found is not None and (best is None or found.proven > best.proven):
            best = found
        if best is not None:
            break
    if best is None:
        raise NoAntiderivative(reason)
    return best


def if_known(integrand: Value, name: str) -> Antiderivative | None:
    """Return an antiderivative for a definite integral, whose digits are known without one; None
    without SymPy too.
    """
    if not is_available():
        return None
    with Defined(ExpressionError):
        try:
            return antiderivative(integrand, name, (), DEFINITE_SECONDS)
        except NoAntiderivative:
            pass
    return None


class ParametricAntiderivatives:
    """Antiderivatives for all values of parameters, each looked for once, and checked at each
    value.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Value | None] = {}

    def at(
        self, output: Value, name: str, held: Mapping[str, Value], integrand: Value
    ) -> Antiderivative | None:
        """Return the antiderivative of `integrand`, which is `output` with constants for
        parameters; or None.
        """
        key = (expression_text(output), name)
        if key not in self._found:
            self._found[key] = self._general(output, name, held)
        general = self._found[key]
        if general is None:
            return None
        with Defined(ExpressionError, *NO_RESULT):
            (formula,) = simplify((hold(general, held),))
            checked = check_antiderivative(formula, integrand, name)
            if checked is not None:
                return checked
        return if_known(integrand, name)  # as of x^n where n is -1

    def _general(self, output: Value, name: str, held: Mapping[str, Value]) -> Value | None:
        leaves = [
            leaf
            for leaf in in_order((output,))
            if leaf.primitive is VARIABLE and leaf.label in held
        ]
        positive = [
            leaf
            for leaf in leaves
            if (number := value_in(REAL, held[leaf.label], {})) and number > 0
        ]
        facts = [node(GT, (leaf, constant(0.0, "0"))) for leaf in positive]
        if not is_available():
            return None
        with Defined(ExpressionError):
            try:
                return antiderivative(output, name, facts, DEFINITE_SECONDS).formula
            except NoAntiderivative:
                pass
        return None


def best_of(written: Value, integrand: Value, name: str) -> Antiderivative | None:
    """Return a formula, or it with log|u|, if it is an antiderivative: rather a proven one; else
    None.
    """
    best: Antiderivative | None = None
    own = {
        expression_text(value._prev[0])
        for value in in_order((integrand,))
        if value.primitive is LOG
    }
    for formula in dict.fromkeys((_both_sides(written), _both_sides(written, own), written)):
        (shortest,) = simplify((formula,))
        checked = check_antiderivative(shortest, integrand, name)
        if checked is not None and (best is None or checked.proven > best.proven):
            best = checked
    return best


def is_available() -> bool:
    """Return whether SymPy is installed."""
    return find_spec("sympy") is not None


def ask(
    integrand: Value, name: str, facts: Sequence[Value], seconds: int, way: int | str
) -> dict[str, Any]:
    """Return what SymPy replies, in a process of its own."""
    place = find_spec("sympy")
    if place is None or place.origin is None:
        hint = (
            f"{install_hint('integrals')}; a definite integral needs none: `--between {name}=0:1`"
        )
        raise usage_error("antiderivatives need SymPy, which is not installed", hint)
    folder = os.path.dirname(os.path.dirname(place.origin))
    here = os.path.dirname(os.path.abspath(__file__))
    own = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    question = json.dumps({
        "rows": _rows(integrand), "variable": name, "seconds": seconds, "way": way,
        "positive": _positive(integrand, facts),
    })  # fmt: skip
    script = os.path.join(here, "sympy_process.py")
    try:
        ran = subprocess.run(
            [sys.executable, "-I", script, folder, own],
            check=False,
            input=question,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=WAIT * seconds,
        )
        reply: dict[str, Any] = json.loads(ran.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {"none": f"SymPy finds none within {seconds} seconds"}
    return reply


def _positive(integrand: Value, facts: Sequence[Value]) -> list[str]:
    """Return the variables that are positive under assumptions."""
    leaves = (
        [leaf for leaf in in_order((integrand,)) if leaf.primitive is VARIABLE] if facts else []
    )
    return [leaf.label for leaf in leaves if order_under(leaf, facts) == ">"]


def _rows(integrand: Value) -> list[list[Any]]:
    """Return the operations in a row: each with its name and the places of its inputs."""
    graph = graph_of(integrand)
    rows: list[list[Any]] = []
    for i, primitive in enumerate(graph.primitives):
        if primitive is VARIABLE:
            rows.append(["variable", graph.labels[i]])
        elif primitive is CONSTANT:
            number, text = graph.constants[i]
            if text in ("pi", "π", "e"):
                rows.append(["constant", "e" if text == "e" else "pi"])
            else:
                rows.append(["number", str(Fraction(number if text is None else text))])
        else:
            rows.append([primitive.name, *graph.parents[i]])
    return rows


def _both_sides(formula: Value, kept: Collection[str] = ()) -> Value:
    """Return the formula with log|u| for log(u): the derivative is the same, and it holds on both
    sides of a pole.

    Logarithms of the `kept` arguments, those of the integrand, stay.
    """

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if (
            value.primitive is LOG
            and inputs[0].primitive is not ABS
            and _may_be_negative(inputs[0])
        ):
            if expression_text(inputs[0]) in kept:
                return rebuild(value, inputs)
            return node(LOG, (node(ABS, inputs),))
        return rebuild(value, inputs)

    return rewrite((formula,), rule)[0]


def _may_be_negative(value: Value) -> bool:
    return has_variables(value) and not follows(Condition(value, ">="), ())


# ---- checking
def check_antiderivative(formula: Value, integrand: Value, name: str) -> Antiderivative | None:
    """Return the antiderivative if its derivative is the integrand; else None."""
    slope = None
    with Defined(ExpressionError):
        slope = slope_of(formula, name)
    if slope is None:
        return None
    points = _agreements(formula, slope, integrand)
    if not points:
        return None
    if is_zero(node(SUB, (slope, integrand))) or is_equal_in_pieces(slope, integrand, name):
        return Antiderivative(formula, True, 0)
    return None if points < LEAST_POINTS else Antiderivative(formula, False, points)


def slope_of(formula: Value, name: str) -> Value:
    """Return the derivative of a formula by a variable. Raises `ExpressionError`."""
    leaves = [
        leaf for leaf in in_order((formula,)) if leaf.primitive is VARIABLE and leaf.label == name
    ]
    (slope,) = derivatives(formula, [leaves[0] if leaves else variable(name)], 1).values()
    return slope


def ratio_of(one: Value, other: Value) -> Fraction | None:
    """Return the quotient of two formulas if it is constant."""
    return exact_value(simplify((node(DIV, (one, other)),))[0])


def _agreements(formula: Value, slope: Value, integrand: Value) -> int:
    """Return at how many rational points the last two agree in enclosures of 50 digits; 0 if they
    differ at one.

    Only points count where the formula, whose slope it is, has a value: 1/(x - 2) has some where
    log(x - 2) has none.
    """
    m = RunningDigits(DIGITS)
    chosen = random.Random(1)  # the same answer every time
    names = sorted(
        {leaf.label for leaf in in_order((formula, slope, integrand)) if leaf.primitive is VARIABLE}
    )
    agreed = 0
    for k in range(POINTS):
        at = {name: m.fraction(_point(chosen, k)) for name in names}
        pair = _pair(m, (slope, integrand), at)
        if pair is None:
            continue
        one, other = pair
        size = max(1.0, abs(float(one)), abs(float(other)))
        if abs(float(one - other)) > AGREEMENT * size:
            return 0
        with Defined(ExpressionError, *NO_RESULT):
            agreed += value_in(m, formula, at) is not None
    return agreed


def _point(chosen: random.Random, k: int) -> Fraction:
    """Return a number: near 0 first, where most functions have values, and on both sides."""
    scale = (1000, 4000, 20_000)[k % 3]
    return Fraction(chosen.randint(-scale, scale), 1001)


def _pair(
    m: RunningDigits, formulas: Sequence[Value], at: dict[str, Any]
) -> tuple[Any, Any] | None:
    with Defined(ExpressionError, *NO_RESULT):
        one, other = (value_in(m, formula, at) for formula in formulas)
        if (
            one is not None
            and other is not None
            and min(one.correct_digits(40), other.correct_digits(40)) >= 1
        ):
            return one, other
    return None
