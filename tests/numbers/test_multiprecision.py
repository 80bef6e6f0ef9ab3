"""The multiprecision number type: every function against the references, its edges, and whole
programs on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

from autodiff_cli import gradient
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.engine.numbers.multiprecision import Multiprecision
from autodiff_cli.engine.numbers.running_digits import Remembering, RunningDigits
from autodiff_cli.engine.run.evaluation import Evaluation
from autodiff_cli.engine.table.primitive import PRIMITIVES, Primitive
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import parse
from counting import counted_calls
from reference import beside_reference
from samples import samples_of

LIMIT = 300_000
"""Calls that are enough for anything that is to come back at once."""

NUMERIC = [
    p for p in PRIMITIVES.values() if p.params and not p.gives_condition and p.name != "where"
]
FIFTY = Multiprecision(50)


def shared(x: Any) -> Any:
    """A number of another context as one of mpmath's shared context."""
    return mp.make_mpf(x._mpf_) if hasattr(x, "_mpf_") else mpf(x)


def digits_lost(primitive: Primitive, inputs: Sequence[float]) -> list[float]:
    """How many of the 50 digits of value and partials are wrong."""
    lost = []
    with mp.workdps(80):
        for got, want in beside_reference(FIFTY, primitive, inputs):
            error = abs(shared(got) - want) / abs(want) if want else abs(shared(got))
            lost.append(float(50 + mp.log10(error)) if error else 0.0)
    return lost


@pytest.mark.parametrize("primitive", NUMERIC, ids=lambda p: p.name)
def test_value_and_partials_to_fifty_digits(primitive: Primitive) -> None:
    for inputs in samples_of(primitive):
        for lost in digits_lost(primitive, inputs):
            assert lost <= 2, (primitive, inputs, lost)


def swept(text: str, digits: int = 50, decimals: bool = True, **point: str) -> Evaluation:
    """A program on multiprecision numbers."""
    program = parse(text, point)
    m = Multiprecision(digits, decimals=decimals)
    return value_and_gradient(
        m, program.outputs[0], {name: m.literal(x) for name, x in point.items()}, list(point)
    )


@pytest.mark.parametrize("order", [2, 3, 199, 200, 201])
@pytest.mark.parametrize("x", ["-1e-60", "-0.3", "-0.75", "-3.5", "-2.0009765625", "-1.9990234375"])
def test_polygamma_is_right_between_its_poles_and_beside_them(order: int, x: str) -> None:
    got = swept(f"polygamma({order}, x)", x=x).value
    with mp.workdps(800):  # of 200 digits, mpmath loses 185 half way between poles
        want = mp.psi(order, mpf(x))
        assert abs(shared(got) - want) < mpf("1e-46") * abs(want)


ERRORS = [
    ("exp(exp(exp(x)))", "10", "overflow"),
    ("9**9**9**x", "9", "overflow"),
    ("gamma(x)", "1e5", "overflow"),
    ("x**x**x**x", "30", "overflow"),
    ("x*x*x*x", "1e10000", "overflow"),
    ("log(x)", "-1", "domain"),
    ("log(x)", "0", "domain"),
    ("sqrt(x)", "-1", "domain"),
    ("sqrt(x)", "0", "derivative"),
    ("x**0.5", "-2", "domain"),
    ("0**x", "-2", "domain"),
    ("1/x", "0", "domain"),
    ("acos(x)", "2", "domain"),
    ("acosh(x)", "0.5", "domain"),
    ("atanh(x)", "1", "domain"),
    ("log_b = log(2, x); log_b", "-2", "domain"),
    ("log(2, x)", "1", "domain"),
    ("gamma(x)", "-3", "domain"),
    ("lgamma(x)", "0", "domain"),
    ("digamma(-exp(exp(x)))", "10", "domain"),
    ("polygamma(2, x)", "-1", "domain"),
    ("beta(x, 2)", "0", "domain"),
    ("erfinv(x)", "1", "domain"),
    ("erfinv(x)", "1.5", "domain"),
    ("logit(x)", "1.5", "domain"),
    ("clamp(x, 3, 2)", "1", "domain"),
    ("csc(x)", "0", "domain"),
]


@pytest.mark.parametrize(("text", "x", "kind"), ERRORS)
def test_errors_are_those_of_floats_and_come_back_at_once(text: str, x: str, kind: str) -> None:
    with counted_calls(LIMIT), pytest.raises(ExpressionError) as caught:
        swept(text, x=x)
    assert caught.value.kind == kind, caught.value
    assert caught.value.span is not None
    assert "mpf" not in str(caught.value)
    assert len(str(caught.value)) < 200


FAR = [
    ("exp(-exp(x))", "20", "0.0", "0.0"),
    ("erfc(exp(x))", "50", "0.0", "0.0"),
    ("sech(exp(x))", "20", "0.0", "0.0"),
    ("tanh(exp(x))", "20", "1.0", "0.0"),
    ("sigmoid(-exp(x))", "20", "0.0", "0.0"),
    ("softplus(exp(x))", "2", "7.389673887", "7.384492638"),
    ("beta(exp(x), exp(exp(x)))", "10", "0.0", "0.0"),
    ("beta(x, x)", "1e300", "0.0", "0.0"),
    ("lgamma(exp(exp(x)))", "10", "2.067643293e+9570", "4.5544942e+9574"),
    ("sin(exp(exp(x)))", "10", "0.9972789632", "-1.524340201e+9569"),
    ("gamma(x)", "-100000.5", "0.0", "0.0"),
    ("sinc(x)", "1e-20000", "1.0", "-3.289868134e-20000"),
    ("logsumexp(x, -x, 1)", "1e6", "1000000.0", "1.0"),
    ("hypot(x, 3)", "1e-10000", "3.0", "3.333333333e-10001"),
]


@pytest.mark.parametrize(("text", "x", "value", "slope"), FAR)
def test_far_beyond_doubles(text: str, x: str, value: str, slope: str) -> None:
    with counted_calls(LIMIT):
        result = swept(text, x=x)
    assert [mp.nstr(shared(n), 10) for n in (result.value, result.gradient["x"])] == [value, slope]


def test_literals_and_points_as_decimals_or_as_doubles() -> None:
    assert mp.nstr(shared(swept("0.1*x", x="0.1").value), 25) == "0.01"
    assert (
        mp.nstr(shared(swept("0.1*x", x="0.1", decimals=False).value), 25)
        == "0.01000000000000000111022302"
    )
    assert mp.nstr(shared(swept("sin(pi) + x", x="0").value), 5) == "-1.0107e-51"
    assert (
        mp.nstr(shared(swept("sin(pi) + x", x="0", decimals=False).value), 17)
        == "1.2246467991473532e-16"
    )
    assert mp.nstr(shared(swept("1_000*x + 1e-3", x="2").value), 40) == "2000.001"


def test_branches_kinks_and_variables_that_do_not_matter() -> None:
    result = swept("log(x) if x > 0 else -x*y", x="-2", y="3")
    assert (result.value, result.gradient) == (6, {"x": -3, "y": 2})
    output = parse("log(x) if x > 0 else -x*y").outputs[0]
    value_and_gradient(Multiprecision(50), output, {"x": mpf(-2), "y": mpf(3)}, ["x"])
    assert [n.data for n in in_order((output,)) if n._prev] == [None] * 5, (
        "the graph itself is not evaluated"
    )
    result = swept("abs(x) + relu(x) + max(x, 0)", x="0")
    assert len(result.kinks) == 3
    assert result.gradient["x"] == 0.5
    assert swept("x", x="3", unused="4").gradient["unused"] == 0


@pytest.mark.parametrize("digits", [20, 120, 400])
def test_any_number_of_digits(digits: int) -> None:
    result = swept("sqrt(x)*exp(1) + gamma(1/3) + tanh(x)", digits, x="2")
    with mp.workdps(digits + 20):
        true = mp.sqrt(2) * mp.e + mp.gamma(mpf(1) / 3) + mp.tanh(2)
        assert abs(shared(result.value) / true - 1) < mpf(10) ** (2 - digits)


def test_a_context_of_its_own() -> None:
    before = mp.prec
    first, second = Multiprecision(30), Multiprecision(300)
    assert first.context.dps == 30
    assert mp.nstr(shared(first.pi), 30) != mp.nstr(shared(second.pi), 300)
    assert mp.prec == before
    with pytest.raises(AttributeError):
        _ = first.no_such_function


@pytest.mark.parametrize("inputs", [(0.3, 0.4), (-0.3, -0.4), (-7.7, -7.7)])
def test_beta_is_counted_for_the_three_gammas_it_is(inputs: tuple[float, float]) -> None:
    m = Multiprecision(20)

    def steps(name: str, *given: float) -> float:
        with use_budget() as work:
            getattr(m, name)(*given)
            return work.most - work.left

    steps("gamma", 0.3), steps("beta", *inputs)  # what is found once
    gamma, beta = steps("lgamma", 0.3), steps("beta", *inputs)
    assert 1.8 * gamma < beta < 3.5 * gamma


@pytest.mark.parametrize(
    ("name", "x"), [("sin", 0), ("log", 1), ("erf", 0), ("lgamma", 1), ("sin", 1), ("erf", 2)]
)
def test_a_value_that_is_kept_costs_as_much_as_one_that_is_not(name: str, x: int) -> None:
    def charged(m: Multiprecision) -> float:
        with use_budget() as work:
            getattr(m, name)(m.number(x))
            return work.most - work.left

    kept, plain = Remembering(50), Multiprecision(50)
    costs = [charged(kept), charged(kept), charged(plain), charged(plain)]
    assert costs[0] <= costs[2] * 1.01 and costs[2] > 0, "the first time: nothing is computed twice"
    is_zero = not getattr(plain, name)(plain.number(x))
    assert costs[1] == (costs[3] if is_zero else 0), (
        "the second time: a 0 may be an underflow, and is computed again"
    )


def test_fractions_stay_exact_up_to_a_thousand_bits() -> None:
    m = RunningDigits(30)
    third, ratio = m.fraction(Fraction(1, 3)), Fraction(1, 3)
    product = third
    for _ in range(299):
        product, ratio = product * third, ratio / 3
    # 476 bits, of which 30 digits would be 100
    assert product.ratio == ratio
    assert product - m.fraction(ratio) == 0
    longer = product * product * product
    assert longer.ratio is None


# at 1 the recurrence loses some exp(2*sqrt(2*n)): 30 digits of the 600th derivative
@pytest.mark.parametrize("x", ["1e-300", "1e-30", "0.01", "0.3", "0.999999", "1.5"])
@pytest.mark.parametrize("order", [1, 2, 3, 10, 41, 600])
def test_derivatives_of_erfcx_are_right_at_small_numbers(order: int, x: str) -> None:
    m = Multiprecision(50)
    with m.context.workdps(50):
        found = m.erfcx_derivative(order, m.context.mpf(x))
    with mp.workdps(600):
        # DLMF 7.18.10 with 7.18.4; at 0 the confluent function is sqrt(pi)/gamma(n/2 + 1)
        at_zero = mp.factorial(order) / mp.gamma(mpf(order) / 2 + 1)
        if mpf(x) < 1e-9:
            wanted, allowed = at_zero, 100 * mpf(x)
        else:
            value = mp.hyperu(mpf(order + 1) / 2, mpf(1) / 2, mpf(x) ** 2)
            wanted, allowed = mp.factorial(order) * value / mp.sqrt(mp.pi), mpf(0)
        error = abs((-1) ** order * mpf(found) / wanted - 1)
        assert error < mpf(10) ** -48 + allowed


# the sum of a divergent series in huge integers took minutes, without a call
@pytest.mark.timeout(60)
def test_a_program_whose_digits_cancel_to_nothing_inside_erfcx_ends() -> None:
    answer = gradient("erfcx(atan2(tan(1) - ((tan(1) + 1e16) - 1e16), x))", {"x": 5.93e-05})
    (warning,) = answer.warnings
    assert "the value and the derivative by `x` have no reliable digit" in warning.message


@pytest.mark.parametrize(
    ("name", "x"),
    [
        # far out Fresnel integrals go by the error function, Ei and Si by series of their own
        *[(name, x) for name in ("fresnels", "fresnelc") for x in ("3.9", "-20.5", "1e5", "1e20")],
        *[("Si", "1e20"), ("Ci", "1e20"), ("Ei", "-60000"), ("li", "1e300"), ("erfi", "200")],
        # beside their zeros all digits are there
        *[
            ("Ei", "0.37250741078136663"),
            ("li", "1.4513692348833811"),
            ("Ci", "0.6165054856207162"),
        ],
    ],
)
def test_integrals_of_elementary_functions_far_out_and_beside_zeros(name: str, x: str) -> None:
    number = FIFTY.number(mpf(x))
    got = shared(getattr(FIFTY, name)(number))
    with mp.workdps(150):
        right = getattr(mp, name.lower())(shared(number))
        assert abs(got - right) <= mpf(10) ** -49 * abs(right)
