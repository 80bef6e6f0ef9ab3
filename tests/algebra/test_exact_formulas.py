"""Derivatives as formulas are exact: what `diff` prints, read again and evaluated in 50 digits, is
the derivative.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from mpmath import isfinite, mp, mpc, mpf

from autodiff_cli import ExpressionError, parse
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.engine.algebra import canonical
from autodiff_cli.engine.algebra.canonical import decimal_quotient, number_text
from autodiff_cli.engine.graphs.value_and_gradient import value_in
from autodiff_cli.engine.numbers.multiprecision import Multiprecision

SEED = 20
FORMULAS = 200
POINTS = ({"x": "0.7", "y": "1.3"}, {"x": "-0.6", "y": "0.4"}, {"x": "2.3", "y": "-1.1"})
NUMBERS = tuple(Multiprecision(digits, decimals=True) for digits in (50, 100))

Tree = tuple[Any, ...]
"""A formula: an operation and its operands; a name or a literal as it is typed."""

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": mp.sin,
    "exp": mp.exp,
    "log": mp.log,
    "sqrt": mp.sqrt,
    "tanh": mp.tanh,
    "atan": mp.atan,
    "erf": mp.erf,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "cbrt": lambda x: mp.sign(x) * abs(x) ** (mpf(1) / 3),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "abs": abs,
}


class Edge(Exception):
    """The formula has no value here, or it is near a kink, or a number is so large that digits are
    lost.
    """


def literal(rng: random.Random) -> str:
    return rng.choice(
        [
            str(rng.randint(1, 9)),
            f"{rng.randint(1, 99) / 10}",
            f"{rng.random() * 10:.{rng.randint(2, 6)}f}",
            f"{rng.randint(1, 9)}.{rng.randint(1, 9)}e{rng.choice((-7, -3, 2, 5))}",
            f"{rng.randint(1, 3)}.{rng.randrange(10**19)}",
        ]
    )


def tree(rng: random.Random, depth: int) -> Tree:
    if depth == 0 or rng.random() < 0.1:
        return (rng.choice(["x", "x", "x", "y", "y", "pi", "e", literal(rng), literal(rng)]),)
    kind = rng.random()
    if kind < 0.5:
        return (rng.choice("+-*/"), tree(rng, depth - 1), tree(rng, depth - 1))
    if kind < 0.6:
        return ("**", tree(rng, depth - 1), tree(rng, depth - 1))
    if kind < 0.75:
        return (
            "**",
            tree(rng, depth - 1),
            (rng.choice(["2", "3", "0.5", "0.7", "2.25", "0.1", "e", "pi"]),),
        )
    if kind < 0.8:
        return ("hypot", tree(rng, depth - 1), tree(rng, depth - 1))
    return (rng.choice([*FUNCTIONS]), tree(rng, depth - 1))


def text_of(t: Tree) -> str:
    name, *operands = t
    if len(operands) == 2 and name != "hypot":
        return f"({text_of(operands[0])} {name} {text_of(operands[1])})"
    return f"{name}({', '.join(map(text_of, operands))})" if operands else str(name)


def value(t: Tree, x: Any, y: Any) -> Any:
    """The value of a formula by mpmath alone. Raises `Edge`."""
    name, *operands = t
    if not operands:
        return {"x": x, "y": y, "pi": +mp.pi, "e": +mp.e}.get(name) or mpf(name)
    a, *rest = [value(operand, x, y) for operand in operands]
    b = rest[0] if rest else mpf(0)
    if (
        (name == "/" and abs(b) < 1e-9)
        or (name == "**" and ((a <= 0 and b != int(b)) or abs(a) < 1e-9 or abs(b) > 30))
        or (name in ("log", "log2", "sqrt") and a < 1e-9)
        or (name in ("abs", "cbrt", "hypot") and abs(a) < 1e-9)
    ):
        raise Edge
    if name in FUNCTIONS:
        out = FUNCTIONS[name](a)
    else:
        out = {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "/": lambda: a / b,
            "**": lambda: a**b,
            "hypot": lambda: mp.sqrt(a * a + b * b),
        }[name]()
    if isinstance(out, mpc) or not isfinite(out) or abs(out) > 1e12:
        raise Edge
    return out


def derivative(t: Tree, by: tuple[str, ...], point: dict[str, str]) -> Any:
    """A difference quotient with so many digits that a hundred of it are right. Raises `Edge`."""
    with mp.workdps(260):
        h = mpf(10) ** -60
        steps = [(h if name == "x" else mpf(0), h if name == "y" else mpf(0)) for name in by]
        x, y = mpf(point["x"]), mpf(point["y"])
        total = mpf(0)
        for signs in ((1,), (-1,)) if len(by) == 1 else ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            dx = sum((sign * step[0] for sign, step in zip(signs, steps, strict=True)), mpf(0))
            dy = sum((sign * step[1] for sign, step in zip(signs, steps, strict=True)), mpf(0))
            total += mp.fprod(signs) * value(t, x + dx, y + dy)
        return total / (2 * h) ** len(by)


def off(
    formula: str, t: Tree, by: tuple[str, ...], point: dict[str, str], m: Multiprecision
) -> Any:
    """The relative error of a printed derivative. Raises `Edge`."""
    exact = derivative(t, by, point)
    (output,) = parse(formula).outputs
    found = value_in(m, output, {name: m.literal(text) for name, text in point.items()})
    assert found is not None, (text_of(t), formula, point)
    with mp.workdps(m.digits + 10):
        error = abs(mpf(found) - exact)
        return error / abs(exact) if abs(exact) > mpf(10) ** -30 else error


def test_what_is_printed_is_the_derivative_to_forty_digits() -> None:
    rng = random.Random(SEED)
    held = {1: 0, 2: 0}
    cancelled = 0
    for _ in range(FORMULAS):
        t = tree(rng, rng.choice((2, 3)))
        text = text_of(t)
        for order in (1, 2):
            try:
                derivatives = diff(text, order=order).derivatives
            except ExpressionError as error:
                assert error.diagnostic.message == "division by zero", text
                continue
            for each in derivatives:
                for point in POINTS:
                    try:
                        error = off(each.formula, t, each.by, point, NUMBERS[0])
                    except Edge:
                        continue
                    # digits that cancel come back with more digits; wrong ones do not
                    if error > 1e-40:
                        cancelled += 1
                        error = off(each.formula, t, each.by, point, NUMBERS[1]) / mpf("1e-50")
                    assert error <= 1e-40, (text, each.by, each.formula, point)
                    held[order] += 1
    assert held[1] > 340 and held[2] > 450 and cancelled < 10, (held, cancelled)


def test_a_rounded_constant_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above is tested: with literals as doubles it fails."""
    monkeypatch.setattr(canonical, "number_text", lambda x: repr(float(x)))
    with pytest.raises(AssertionError):
        test_what_is_printed_is_the_derivative_to_forty_digits()


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("0.123456789012345678901*x**2", "0.246913578024691357802*x"),
        ("9007199254740993*x", "9007199254740993"),
        ("x**0.7", "0.7/x**0.3"),
        ("0.1*x/3", "1/30"),
        ("x/1.7677669529663688", "1/1.7677669529663688"),
        ("a = 0.1; a*a*x", "0.01"),
        ("x*8**(1/3)*1**0.3", "2"),
        ("x*sqrt(2)*exp(3)", "sqrt(2)*exp(3)"),
        ("1e305*x**2", "2*1e305*x"),
        ("1e-400*x**2", "2*1e-400*x"),
        (f"0.{'1' * 5000}*x", f"0.{'1' * 5000}"),
        ("(1.234567*x)**20", "24.69134*(1.234567*x)**19"),
    ],
)
def test_constants_are_what_was_typed(text: str, formula: str) -> None:
    assert [each.formula for each in diff(text).derivatives] == [formula]


def test_numbers_are_written_in_few_digits() -> None:
    rng = random.Random(SEED)
    for _ in range(2000):
        a, b = Fraction(Decimal(literal(rng))), Fraction(Decimal(literal(rng)))
        if number_text(a / b) is not None:
            continue
        parts = decimal_quotient(a / b)
        texts = [number_text(part) for part in parts]
        assert parts[0] / parts[1] == a / b and all(texts)
        typed = len(str(number_text(a))) + len(str(number_text(b)))
        assert len("".join(map(str, texts))) <= max(typed, 12) + 4, (a, b, texts)


def test_a_number_that_is_too_long_to_count_with_changes_nothing_else() -> None:
    """A rule that is given up half way leaves what it has looked at as it was."""
    t: Tree = ("hypot", ("-", ("x",), ("y",)), ("**", ("1.8503620031823312487",), ("3",)))
    (second,) = diff(text_of(t), order=2, wrt=["x"]).derivatives
    assert off(second.formula, t, ("x", "x"), POINTS[0], NUMBERS[0]) <= 1e-40
