"""Equations rearranged: each formula solves its equation, and none is missing, by mpmath with its
own functions.
"""

from __future__ import annotations

import itertools
import operator
import random
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import mpmath
import pytest

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.capabilities.solve.solve import Solved, solve
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.engine.table.primitive import FUNCTIONS
from counting import compared, compares

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne
}  # fmt: skip
CONTEXT = mpmath.mp.clone()
CONTEXT.dps = 60
mpf = CONTEXT.mpf


def real(function: Any) -> Any:
    def checked(*inputs: Any) -> Any:
        out = function(*inputs)
        if isinstance(out, CONTEXT.mpc) or not CONTEXT.isfinite(out):
            raise ValueError("no real value")
        return out

    return checked


NATIVE = "exp log sqrt sinh cosh tanh asinh acosh atanh asin acos atan sin cos tan erf erfinv"
OWN: dict[str, Any] = {name: real(getattr(CONTEXT, name)) for name in NATIVE.split()} | {
    "abs": lambda x: abs(real(lambda y: y)(x)),
    "sign": lambda x: mpf((x > 0) - (x < 0)),
    "cbrt": lambda x: CONTEXT.sign(x) * CONTEXT.root(abs(x), 3),
    "log10": real(lambda x: CONTEXT.log(x) / CONTEXT.log(10)),
    "log2": real(lambda x: CONTEXT.log(x) / CONTEXT.log(2)),
    "exp2": lambda x: mpf(2) ** x,
    "expm1": lambda x: CONTEXT.exp(x) - 1,
    "log1p": real(lambda x: CONTEXT.log(1 + x)),
    "sigmoid": lambda x: 1 / (1 + CONTEXT.exp(-x)),
    "logit": real(lambda x: CONTEXT.log(x / (1 - x))),
    "softplus": lambda x: CONTEXT.log(1 + CONTEXT.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "normcdf": lambda x: CONTEXT.erfc(-x / CONTEXT.sqrt(2)) / 2,
    "norminv": lambda p: CONTEXT.sqrt(2) * OWN["erfinv"](2 * p - 1),
    "lambertw": real(CONTEXT.lambertw),
    **{name: real(getattr(CONTEXT, name)) for name in ("sec", "csc", "cot")},
    "deg": lambda x: x * 180 / CONTEXT.pi,
    "rad": lambda x: x * CONTEXT.pi / 180,
    "pi": +CONTEXT.pi,
    "mpf": mpf,
}


def evaluated(text: str, at: dict[str, Any]) -> Any:
    """Return the value of a formula by mpmath; ValueError without a real one."""
    text = re.sub(r"(?<![\w.])(\d+\.?\d*)(?![\w.])", r"mpf('\1')", text)
    return real(lambda: eval(text, OWN, at))()  # noqa: S307  # a formula of this test


def holds(comparison: str, at: dict[str, Any]) -> bool:
    """Return whether a comparison of two formulas holds."""
    left, relation, right = re.split(r" (<=|>=|==|!=|<|>) ", comparison)
    return bool(RELATIONS[relation](evaluated(left, at), evaluated(right, at)))


def formulas_of(answer: Solved) -> list[tuple[str, str | None]]:
    return [(each.formula, each.condition) for each in answer.formulas]


@pytest.mark.parametrize(
    ("text", "unknown", "formulas"),
    [
        ("y = A*exp(-E/(R*T))", "T", [("-E/(R*log(y/A))", "y/A > 0 and R != 0 and y/A != 1 and E != 0")]),
        ("R = S*exp(B*(1/T - 1/Q))", "B", [("T*Q*log(R/S)/(Q - T)", "R/S > 0 and Q - T != 0 and T != 0 and Q != 0")]),
        ("y = 1/(1 + exp(-k*(t - t0)))", "t", [("t0 - log((1 - y)/y)/k", "(1 - y)/y > 0 and k != 0")]),
        ("y = a*b**x", "x", [("log(y/a)/log(b)", "y/a > 0 and b > 0 and b != 1")]),
        ("y = abs(x - a)", "x", [("a - y", "y >= 0"), ("a + y", "y >= 0")]),
        ("y = atan(x/L)", "x", [("L*tan(y)", "-pi/2 < y and y < pi/2 and L != 0")]),
        ("log(x)**2 = a", "x", [("exp(-sqrt(a))", "a >= 0"), ("exp(sqrt(a))", "a >= 0")]),
        ("x = a**2*sqrt(x)", "x", [("0", None), ("a**4", None)]),
        ("a*x**3 = 1", "x", [("cbrt(1/a)", "a != 0")]),
        ("x**5 = a", "x", [("sign(a)*abs(a)**0.2", None)]),
        ("y = log(x, b)", "x", [("b**y", "b > 0 and b != 1")]),
    ],
)  # fmt: skip
def test_formulas_are_rearranged(
    text: str, unknown: str, formulas: list[tuple[str, str | None]]
) -> None:
    assert formulas_of(solve(text, unknowns=[unknown])) == formulas


@pytest.mark.parametrize(
    "text", ["sin(x) + x = a", "a*exp(x) = x", "x**5 + x = a", "log(x) + x = a", "x**x = a"]
)
def test_what_cannot_be_rearranged_needs_values(text: str) -> None:
    with pytest.raises(ExpressionError, match="`a` has no value"):
        solve(text, unknowns=["x"])


@pytest.mark.parametrize(
    ("text", "message", "condition"),
    [
        ("x/x = d", "none, but where d == 1", "d == 1"),
        ("(2*x - 2)/(x - 1) = d", "none, but where d == 2", "d == 2"),
        ("x - x = d", "none, but where d == 0", "d == 0"),
        ("a*x = a", "solved", "a == 0"),
        ("a*x = b", "solved", None),
        ("x/x = d**2 + 2", "none: there is no real solution", None),
    ],
)
def test_an_equation_that_holds_for_all_values_of_the_unknown(
    text: str, message: str, condition: str | None
) -> None:
    answer = solve(text, unknowns=["x"])
    said = [warning.message for warning in answer.warnings if warning.kind == "flat"]
    if "d**2" in text:
        assert answer.message.startswith("none")
        return
    assert answer.message == message
    assert [condition in each for each in said] == ([True] if condition else [])


def test_only_positive_solutions_of_a_symbolic_power_are_said_to_be() -> None:
    answer = solve("y = a*x**n", unknowns=["x"])
    assert formulas_of(answer) == [("(y/a)**(1/n)", "y/a > 0 and n != 0")]
    (warning,) = answer.warnings
    assert "only solutions with `x > 0` are given" in warning.message


def test_the_inner_product_is_no_definition() -> None:
    assert [
        s.values["x"] for s in solve("v = [x, 2]; dot(v, v) = 5", unknowns=["x"]).solutions
    ] == [-1.0, 1.0]


def test_a_propagated_solution_is_said_to_be_one_of_several() -> None:
    def warnings(text: str, point: dict[str, str]) -> list[str]:
        answer = propagate(text, point, unknowns=["x"])
        return [warning.message for warning in answer.warnings if warning.kind == "branch"]

    (message,) = warnings("x**2 = a", {"a": "2±0.1"})
    assert "other solutions, such as x = -1.41421: the one at x = 1.41421 is taken" in message
    assert len(warnings("exp(x) = 3*a*x", {"a": "1±0.01"})) == 1
    assert warnings("x**2 = a", {"a": "2±0.1", "x": "-1"}) == []
    assert warnings("x**3 = a", {"a": "2±0.1"}) == []


INVERTIBLE = sorted(
    {
        row.name
        for row in FUNCTIONS.values()
        if row.preimages or (row.inverse and len(row.params) == 1)
    }
)


def test_preimages_are_all_inputs_with_an_output() -> None:
    """f(x) = y has x among its formulas, and all formulas are solutions."""
    assert {*INVERTIBLE} >= {
        "exp",
        "log",
        "sqrt",
        "abs",
        "cosh",
        "asin",
        "atan",
        "erf",
        "softsign",
        "cbrt",
    }
    for name in INVERTIBLE:
        answer = solve(f"{name}(x) = y", unknowns=["x"])
        for k in range(-40, 41):
            with_x = {"x": mpf(k) / 9 + mpf(1) / 100}
            try:
                y = OWN[name](with_x["x"])
            except ValueError:
                continue
            found = solutions_at(answer, {"y": y})
            assert any(
                abs(each - with_x["x"]) < mpf(10) ** -20 * (1 + abs(each)) for each in found
            ), (name, k)
            for each in found:
                assert abs(OWN[name](each) - y) < mpf(10) ** -40 * (1 + abs(y))


def solutions_at(answer: Solved, at: dict[str, Any]) -> list[Any]:
    """Return the values of the formulas whose conditions hold at a point, with whole numbers from
    -3 to 3.
    """
    found = []
    for each in answer.formulas:
        for numbers in itertools.product(range(-3, 4), repeat=len(each.whole)):
            there = {**at, **dict(zip(each.whole, map(mpf, numbers), strict=True))}
            conditions = (each.condition or "0 == 0").split(" and ")
            with suppress(ValueError, ZeroDivisionError, ArithmeticError):
                if all(holds(part, there) for part in conditions):
                    found.append(evaluated(each.formula, there))
    return found


# Those that have a value once, or a few times: of others, whole numbers may be large.
UNREPEATED = [name for name in INVERTIBLE if not FUNCTIONS[name].periodic]


def random_chain(rng: random.Random) -> str:
    text = "x"
    for _ in range(rng.randint(1, 4)):
        a, b = rng.choice("abc"), rng.choice("abc")
        power = rng.choice(("2", "3", "4", "5", "(-1)", "(-2)", "1.5", "(1/3)", "(-0.5)"))
        forms = (
            f"({a}*{text} + {b})",
            f"({a}/({text}))",
            f"({a} - {text})",
            f"({text})**{power}",
            f"3**({text})",
        )
        text = rng.choice((*forms, *[f"{rng.choice(UNREPEATED)}({text})" for _ in range(3)]))
    return text


SUBSTITUTED = (
    "exp(2*x) - a*exp(x)", "exp(x) + a*exp(-x)", "a*exp(3*x) + exp(1.5*x)", "x - a*sqrt(x)",
    "x**1.5 + a*x**0.75", "exp(x/2)/(exp(x) + a)", "a*x**(1/3) + x**(2/3)",
    "log(x)**2 - a*log(x) + b", "a*x**4 + b*x**2", "cosh(x)**2 - a*cosh(x)",
)  # fmt: skip


@compares(150)
def test_random_equations_have_their_formulas_and_no_others() -> None:
    rng = random.Random(46)
    for trial in range(90):
        left = rng.choice(SUBSTITUTED) if trial % 5 == 0 else random_chain(rng)
        try:
            with use_budget():
                answer = solve(f"{left} = y", unknowns=["x"])
        except ExpressionError as error:
            assert trial % 5 and error.kind == "missing_value", left
            continue
        for _ in range(4):
            at = {name: mpf(rng.choice([k for k in range(-300, 300) if k])) / 100 for name in "abc"}
            x = mpf(rng.randint(-400, 400)) / 100
            try:
                y = evaluated(left, {**at, "x": x})
            except (ValueError, ZeroDivisionError, ArithmeticError, TypeError):
                continue
            # beside an end of the values, many inputs round to one
            if abs(y) > 1e8 or any(abs(abs(y) - end) < 1e-8 for end in (0, 1, CONTEXT.pi / 2)):
                continue
            found = solutions_at(answer, {**at, "y": y})
            for each in found:
                assert abs(evaluated(left, {**at, "x": each}) - y) < 1e-15, (
                    left,
                    at,
                    answer.formulas,
                )
            if any(is_saturated(left, at, x, change) for change in (mpf("1e-20"), -mpf("1e-20"))):
                continue
            assert any(abs(each - x) < 1e-12 * (1 + abs(x)) for each in found), (
                left,
                x,
                at,
                answer.formulas,
            )
            compared()


def is_saturated(left: str, at: dict[str, Any], x: Any, change: Any) -> bool:
    """Return whether a value hardly depends on the unknown, so that rounding hides it."""
    try:
        moved = evaluated(left, {**at, "x": x * (1 + change)}) - evaluated(left, {**at, "x": x})
    except (ValueError, ZeroDivisionError, ArithmeticError, TypeError):
        return True
    return bool(abs(moved) < mpf("1e-40"))


def test_a_case_whose_conditions_contradict_each_other_is_no_solution() -> None:
    # where y is 0 the quadratic is linear, and a divisor is 0: a Lorentzian curve is 0 nowhere
    answer = solve("y = A/(1 + ((x - c)/g)**2)", unknowns=["x"])
    root, condition = "sqrt(y*g**2*(A - y))", "y != 0 and y*g**2*(A - y) >= 0 and g != 0 and A != 0"
    assert formulas_of(answer) == [(f"c - {root}/y", condition), (f"c + {root}/y", condition)]
