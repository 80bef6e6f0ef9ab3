"""All real roots of polynomials, against those that they were made of and against SymPy."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import comb

import pytest

from autodiff_cli.capabilities.solve.solve import solve
from autodiff_cli.engine.algebra.rational_functions import coefficients
from autodiff_cli.engine.numerics.polynomials import real_roots
from autodiff_cli.engine.table.primitive import Primitive
from autodiff_cli.questions.parse_point import Range
from autodiff_cli.questions.problem import parse


def expanded(roots: list[Fraction], extra: list[list[int]] | None = None) -> list[Fraction]:
    """The coefficients of the polynomial with these roots, times other factors."""
    result = [Fraction(1)]
    for factor in [*([-root, 1] for root in roots), *(extra or [])]:
        result = [
            sum(
                (factor[j] * result[k - j] for j in range(len(factor)) if 0 <= k - j < len(result)),
                Fraction(0),
            )
            for k in range(len(result) + len(factor) - 1)
        ]
    return result


@pytest.mark.parametrize("seed", range(40))
def test_roots_that_a_polynomial_was_made_of(seed: int) -> None:
    rng = random.Random(seed)
    roots = [
        Fraction(rng.randint(-20, 20), rng.choice([1, 1, 2, 3, 7, 1000]))
        for _ in range(rng.randint(0, 8))
    ]
    roots += rng.choices(roots, k=2) if roots else []
    complex_pairs = [[rng.randint(1, 9), 0, 1] for _ in range(rng.randint(0, 2))]
    answer = real_roots(expanded(roots, complex_pairs))
    assert [(root.x, root.multiplicity) for root in answer] == [
        (float(x), k) for x, k in sorted(Counter(roots).items())
    ]
    for root, x in zip(answer, sorted(set(roots)), strict=True):
        assert root.exact == (Fraction(float(x)) == x)


@pytest.mark.parametrize("seed", range(30))
def test_random_polynomials_have_the_roots_that_sympy_isolates(seed: int) -> None:
    sympy = pytest.importorskip("sympy")
    rng = random.Random(seed)
    coefficients = [rng.randint(-30, 30) for _ in range(rng.randint(2, 16))] + [
        rng.choice([1, -3, 7])
    ]
    reference = sympy.Poly(coefficients[::-1], sympy.Symbol("x")).real_roots(multiple=False)
    wanted = [(float(root.evalf(40)), k) for root, k in reference]
    assert [
        (root.x, root.multiplicity) for root in real_roots([Fraction(c) for c in coefficients])
    ] == sorted(wanted)


def test_hard_polynomials() -> None:
    wilkinson = expanded([Fraction(k) for k in range(1, 21)])
    assert [root.x for root in real_roots(wilkinson)] == [float(k) for k in range(1, 21)]
    twentieth_power = [Fraction(comb(20, k) * (-1) ** k) for k in range(21)]
    assert [(root.x, root.multiplicity) for root in real_roots(twentieth_power)] == [(1.0, 20)]
    tiny = Fraction(1, 10**9)
    close = real_roots(expanded([Fraction(1), 1 + tiny, 1 + 2 * tiny]))
    assert [root.x for root in close] == [1.0, float(1 + tiny), float(1 + 2 * tiny)]
    scales = [Fraction(10) ** k for k in (-200, -3, 0, 150)]
    assert [root.x for root in real_roots(expanded(scales))] == [float(x) for x in scales]
    # an exact root of which the double is the neighbour
    assert not real_roots([Fraction(-1, 3), Fraction(1)])[0].exact


def test_roots_of_divisors_are_excepted() -> None:
    assert [
        root.x
        for root in real_roots(
            [Fraction(-1), Fraction(0), Fraction(1)], [[Fraction(-1), Fraction(1)]]
        )
    ] == [-1.0]
    assert [s.values["x"] for s in solve("(x**2 - 1)**2/(x - 1) = 0").solutions] == [-1.0]
    assert solve("1/(1/x) = 0").reason == "none"
    assert solve("1/x").reason == "none"


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("x^2 - 5x + 6 = 0", [2.0, 3.0]),
        ("(x - 1)**2*(x + 3) = 0", [-3.0, 1.0]),
        ("x**2 - 0.2*x + 0.01 = 0", [0.1]),
        ("1/x + 1/(x + 1) = 2", [-(0.5**0.5), 0.5**0.5]),
        ("x**-2 = 4", [-0.5, 0.5]),
        ("sum(x, 2*x, -6) = 0", [2.0]),
        ("exp(0)*x = 7", [7.0]),
    ],
)
def test_solve_knows_all_roots_of_polynomials(text: str, roots: list[float]) -> None:
    answer = solve(text)
    assert [s.values["x"] for s in answer.solutions] == roots
    assert answer.complete and "and no other" in answer.message


def test_solve_says_what_no_polynomial_has() -> None:
    assert (solve("x**2 + 1").reason, solve("x**2 + 1").complete) == ("none", True)
    between = solve("x**3 - x", between=Range(0.5, 2), every=True)
    assert [s.values["x"] for s in between.solutions] == [1.0] and between.complete
    # pi is no rational number: only the rearranged equation shows that there are no others
    assert solve("x**2 = pi").complete and solve("x**2 + x**3 = pi").complete is None
    double = solve("x**2 - 2*x + 1").solutions
    assert [(s.values["x"], s.multiplicity, s.errors["x"]) for s in double] == [(1.0, 2, 0.0)]


def test_a_function_that_oscillates_is_not_looked_at_too_coarsely() -> None:
    answer = solve("tan(x) = x")
    wanted = [-7.725251836937707, -4.493409457909064, 0.0, 4.493409457909064, 7.725251836937707]
    assert [s.values["x"] for s in answer.solutions] == pytest.approx(wanted, abs=1e-14)
    assert answer.complete is None and "-10 ≤ x ≤ 10" in answer.message
    far = solve("log(x) = 7").solutions
    assert [s.values["x"] for s in far] == pytest.approx([1096.6331584284585])
    many = solve("sin(1/x)")
    assert len(many.solutions) == 12 and "12 nearest of" in many.message


@pytest.mark.parametrize(
    ("text", "low", "high", "count", "complete"),
    [
        ("tan(x) = x", -10, 10, 5, True),
        ("sin(x)/x", -7, 7, 4, True),
        ("(x**2 - 1)/(x - 1)*exp(x)", -7, 7, 1, True),
        ("x**3*exp(x)", -7, 7, 1, True),
        ("1/tan(x) = x", 0.1, 7, 3, True),
        ("1/x + 1/x", -1, 2, 0, True),
        # the root of the numerator beside the pole is no number of few digits
        ("tan(x)*cos(x)", 1, 2, 0, False),
        ("1 - cos(x)", -1, 7, 1, False),
    ],
)
def test_poles_and_multiple_roots_of_certified_searches(
    text: str, low: float, high: float, count: int, complete: bool
) -> None:
    pytest.importorskip("flint")
    from autodiff_cli.questions.arithmetic import Arithmetic

    answer = solve(text, between=Range(low, high), every=True, arithmetic=Arithmetic("certified"))
    assert (len(answer.solutions), answer.complete) == (count, complete)


def test_a_polynomial_of_too_high_a_degree_is_given_up_before_it_is_multiplied_out() -> None:
    def number_of_operations(text: str) -> int:
        program, done = parse(text), []

        def operation(primitive: Primitive, a: int, b: int) -> int:
            done.append(primitive)
            return a * b if primitive.name == "mul" else a + b

        coefficients(program.outputs[0], program.variables["x"], lambda part: 1, operation)
        return len(done)

    assert number_of_operations("prod(x**17, i, 1, 1000) - x") == 0
    assert number_of_operations("prod(x**2, i, 1, 3) - x") > 0
