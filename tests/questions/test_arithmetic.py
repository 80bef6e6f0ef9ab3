"""Other arithmetics: fractions, many digits, proven digits; where doubles fail, and what is
refused.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from typing import Any

import pytest
from mpmath import mp

import autodiff_cli
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.engine.table.primitive import PRIMITIVES, Primitive
from autodiff_cli.questions.arithmetic import Arithmetic
from counting import calls, counted_calls
from reference import REFERENCE, REFERENCE_PARTIALS
from running import autodiff
from samples import samples_of

LIMIT = 300_000
"""Calls that are enough for anything that is to come back at once."""

NUMERIC = [
    p for p in PRIMITIVES.values() if p.params and not p.gives_condition and p.name != "where"
]
EXACT, FIFTY, CERTIFIED = Arithmetic("exact"), Arithmetic("precision", 50), Arithmetic("certified")


def digits(text: str, point: dict[str, Any], arithmetic: Arithmetic) -> tuple[str, ...]:
    found = gradient(text, point, arithmetic=arithmetic)
    return (found.value.text, *(x.text for x in found.gradient.values()))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "x", "value", "slope"),
    [
        ("log(1+exp(x))", "800", "800.00000000000000", "1.0000000000000000"),
        ("sqrt(x**2+1)-x", "1e8", "4.9999999999999999e-9", "-4.9999999999999996e-17"),
        ("1/(1+exp(-x))", "-800", "3.6678745841776872e-348", "3.6678745841776872e-348"),
        ("(exp(-x**2)**1.5)**0.5", "40", "7.0246018881771326e-522", "-4.2147611329062795e-520"),
        ("x/10", "0.1", "0.010000000000000000", "0.10000000000000000"),
        ("x", "3", "3.0000000000000000", "1.0000000000000000"),
    ],
)
def test_proven_digits_where_doubles_fail(text: str, x: str, value: str, slope: str) -> None:
    pytest.importorskip("flint")
    assert digits(text, {"x": x}, CERTIFIED) == (value, slope)
    many = gradient(text, {"x": x}, arithmetic=Arithmetic("certified", 60))
    with mp.workdps(80):
        assert (
            abs(mp.mpf(many.value.text) - mp.mpf(value)) <= abs(mp.mpf(value)) * mp.mpf(10) ** -16
        )  # type: ignore[union-attr]


@pytest.mark.parametrize("primitive", NUMERIC, ids=lambda p: p.name)
def test_balls_hold_the_true_values(primitive: Primitive) -> None:
    flint = pytest.importorskip("flint")
    from agreement import graph_of
    from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
    from autodiff_cli.engine.numbers.ball import Ball, Balls

    m = Balls(300)

    def holds(ball: Ball, wanted: Any) -> bool:
        with mp.workdps(60):
            sign, mantissa, exponent, _ = mp.mpf(wanted)._mpf_
            number = flint.arb((-1) ** sign * int(mantissa)) * flint.arb(2) ** flint.arb(exponent)
        error = abs(ball.a - number)
        return bool(error <= abs(number) * flint.arb("1e-45") + flint.arb("1e-60"))

    for inputs in [
        s for s in samples_of(primitive) if all(x == 0 or 1e-5 < abs(x) < 1e4 for x in s)
    ]:
        graph, point, free = graph_of(primitive, inputs)
        found = value_and_gradient(
            m, graph, {name: m.number(x) for name, x in point.items()}, list(point)
        )
        assert holds(m.number(found.value), REFERENCE[primitive.name](*inputs)), (primitive, inputs)
        partials = REFERENCE_PARTIALS[primitive.name]
        wanted = (
            partials[0](*inputs) if primitive.variadic else [partials[k](*inputs) for k in free]
        )  # type: ignore[misc]
        for k, name in enumerate(point):
            assert holds(m.number(found.gradient[name]), wanted[k]), (primitive, inputs, name)


@pytest.mark.parametrize(
    ("text", "x", "kind", "words"),
    [
        ("abs(x)", "0", "derivative", "no derivative at 0, so no digit of one can be proven"),
        (
            "x if x > 0 else 2*x",
            "0",
            "derivative",
            "1.00000 on the right, so no digit of a derivative can be proven",
        ),
        ("abs(sin(x))", "pi", "domain", "cannot determine"),
        ("sqrt(x)", "0", "derivative", "infinite"),
        ("log(sin(x))", "pi", "domain", "cannot determine"),
        ("floor(exp(log(2)*x))", "1", "domain", "whole number"),
        ("1/x", "0", "domain", "division by zero"),
        ("exp(exp(exp(x)))", "10", "overflow", "too large"),
    ],
)
def test_why_nothing_can_be_proven(text: str, x: str, kind: str, words: str) -> None:
    pytest.importorskip("flint")
    with counted_calls(LIMIT), pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": x}, arithmetic=CERTIFIED)
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["sin(x)", "sin(x) + sin(2*x)", "2*sin(x) + sin(3*x)"])
def test_a_value_that_cannot_be_told_from_zero_is_within_so_much_of_it(text: str) -> None:
    pytest.importorskip("flint")
    found = gradient(text, {"x": "pi"}, arithmetic=CERTIFIED)
    assert (found.value.text, found.value.nearest) == ("0", 0.0)
    assert 0 < mp.mpf(found.value.within) < mp.mpf("1e-2000")
    assert abs(float(found.gradient["x"])) > 0.9 and not found.gradient["x"].within


@pytest.mark.parametrize("far", ["1e2", "1e3"])
def test_two_roundings_that_agree_by_accident_are_no_digits(far: str) -> None:
    text = f"logaddexp(x-{far}, 1/x) + 3 - logaddexp(x-{far}, 1/x)"
    found = gradient(text, {"x": 2}, arithmetic=Arithmetic("precision", 30))
    assert (found.value.text, found.gradient["x"].text) == ("3", "0")  # type: ignore[union-attr]
    with mp.workdps(20):
        assert 0 < mp.mpf(found.gradient["x"].within) < mp.mpf("1e-2000")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("(logaddexp(x-1e3, 1/x) + 3 - logaddexp(x-1e3, 1/x) - 3)*1e300", "1"),
        ("(1 + exp(-x) - 1)*1e300*1e300", "3000"),
        ("(tanh(x) - 1)*10**1000", "1e3"),
        ("(sqrt(x**2 + 1) - x)*1e300*1e200", "1e300"),
        ("(sin(x)**2 + cos(x)**2 - 1)*10**1500", "0.3"),
        ("(x + 1e-700 - x)*10**700", "0.1"),
        ("sin(pi*10**500*x)*1e200", "1"),
        ("exp(x*1e-600) - 1", "1"),
        ("(erf(x) - 1)*1e180*1e180", "40"),
        ("floor((1 + x*1e-900)*7 - 7)", "1"),
    ],
)
def test_what_is_left_of_cancellation_and_multiplied_up_has_proven_digits_only(
    text: str, x: str
) -> None:
    pytest.importorskip("flint")
    for asked in (3, 30):
        found = gradient(text, {"x": x}, arithmetic=Arithmetic("precision", asked))
        proven = gradient(text, {"x": x}, arithmetic=Arithmetic("certified", 50))
        for figure, true in zip(
            (found.value, found.gradient["x"]), (proven.value, proven.gradient["x"]), strict=True
        ):
            with mp.workdps(60):
                room = mp.mpf(figure.within or 0) + mp.mpf(true.within or 0)  # type: ignore[union-attr]
                error = abs(mp.mpf(figure.text) - mp.mpf(true.text))  # type: ignore[union-attr]
                assert error <= room + abs(mp.mpf(true.text)) * mp.mpf(10) ** (1 - asked), (
                    figure,
                    true,
                )  # type: ignore[union-attr]


def test_small_results_are_right_to_all_their_digits() -> None:
    found = gradient("tanh(x) - 1 + 1e-900", {"x": 1000}, arithmetic=Arithmetic("precision", 30))
    with mp.workdps(1000):
        assert found.value.text == mp.nstr(mp.tanh(1000) - 1 + mp.mpf("1e-900"), 30)  # type: ignore[union-attr]


def test_without_its_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "flint", None)
    monkeypatch.delitem(sys.modules, "autodiff_cli.engine.numbers.ball", raising=False)
    found = autodiff("grad", "x**2", "--at", "x=1", "--certified")
    assert found.code == 2
    assert "pip install '.[certified]'" in found.err


def test_exact_fractions() -> None:
    assert digits("x**3/7 + 0.1", {"x": "1/3"}, EXACT) == ("199/1890", "1/21")
    assert digits("sqrt(x)", {"x": "4/9"}, EXACT) == ("2/3", "3/4")
    assert digits("max(x, y)*hypot(3*x, 4*x)", {"x": "1", "y": "1/2"}, EXACT) == ("5", "10", "0")
    assert digits("0.1 + 0.2 - x", {"x": "0.3"}, EXACT)[0] == "0"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exp(x)", "`exp(2)`"),
        ("sqrt(x)", "`sqrt(2)`"),
        ("pi*x", "`pi`"),
        ("x**0.5", "`(2)**(1/2)`"),
        ("x**x", "`log(2)`"),
        ("sin(x) + 1", "`sin(2)`"),
    ],
)
def test_exact_refuses_what_leaves_the_rationals(text: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": "2"}, arithmetic=EXACT)
    assert words in str(caught.value)
    assert caught.value.span is not None
    assert "--precision" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text", ["x**100000", "t = x" + "; t *= t" * 40 + "; t", "1e999999*x", "(x**9999)**9999"]
)
def test_exact_numbers_are_bounded(text: str) -> None:
    with counted_calls(LIMIT), pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": "3/2"}, arithmetic=EXACT)
    assert caught.value.kind == "overflow"


def test_fifty_digits() -> None:
    (value, slope) = digits("exp(x)/3", {"x": "0.1"}, FIFTY)
    with mp.workdps(60):
        assert abs(mp.mpf(value) - mp.exp(mp.mpf("0.1")) / 3) < mp.mpf(10) ** -50
    assert value == slope


@pytest.mark.parametrize(
    "options", [["--precision", "1000000000"], ["--precision", "0"], ["--precision", "x"]]
)
def test_a_precision_without_reason_is_refused(options: Sequence[str]) -> None:
    found = autodiff("grad", "x", "--at", "x=1", *options)
    assert found.code == 2
    assert "from 1 to 10000" in found.err


def test_ten_thousand_digits_come_at_once() -> None:
    with counted_calls(LIMIT):
        assert (
            len(digits("exp(x)*sin(x)", {"x": "0.1"}, Arithmetic("precision", 10_000))[0]) > 9_990
        )


def test_every_command_takes_them() -> None:
    assert hessian("x**3", {"x": "1/3"}, arithmetic=EXACT).hessian[0][0].text == "2"  # type: ignore[union-attr]
    assert jacobian("x/3, x**2", {"x": "0.1"}, arithmetic=EXACT).jacobian[1][0].text == "1/5"  # type: ignore[union-attr,index]
    assert (
        taylor("1/(1-x)", {"x": "0"}, order=3, arithmetic=EXACT).polynomial == "1 + x + x**2 + x**3"
    )
    found = autodiff("diff", "x**2/3", "--at", "x=0.1", "--exact", "--format", "csv")
    assert found.out.splitlines()[1].endswith(",1/15,,,")


@pytest.mark.parametrize("text", ["digamma(x)", "lgamma(x)", "gamma(x)", "beta(x, 2)"])
def test_what_would_take_minutes_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": "2.5"}, arithmetic=Arithmetic("precision", 3_000))
    assert caught.value.kind == "limit"
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("text", "point", "kind"),
    [
        ("x**(1/3)", {"x": "-8"}, "domain"),
        ("tan(1/3/0.66)*(x**(1/3))**0", {"x": "-75.36"}, "domain"),
        ("x**(sin(1)/sin(1)/3)", {"x": "-8"}, "domain"),
        ("a**2*cbrt(y - y)", {"a": "2", "y": "0.3"}, "derivative"),
        ("x**(exp(log(3))/9)", {"x": "-8"}, "domain"),
        ("x**2 if sin(x)**2 + cos(x)**2 <= 1 else x", {"x": "0.3"}, "domain"),
        ("(sin(x)**2 + cos(x)**2 - 1)*sqrt(x - x)", {"x": "0.3"}, "domain"),
    ],
)
def test_what_cannot_be_told_is_an_error_in_its_place(
    text: str, point: dict[str, str], kind: str
) -> None:
    pytest.importorskip("flint")
    with pytest.raises(ExpressionError) as caught:
        gradient(text, point, arithmetic=CERTIFIED)
    assert caught.value.kind == kind
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("text", "point", "gradient"),
    [
        ("max(x, y)", {"x": "0.1", "y": "0.2"}, ["0", "1.0000000000000000"]),
        ("min(x, y/3, sin(x))", {"x": "0.1", "y": "0.2"}, ["0", "0.33333333333333333"]),
        ("clamp(x, -1, 500)", {"x": "0.38"}, ["1.0000000000000000"]),
        ("clamp(sin(x), x, 0.5)", {"x": "0.38"}, ["1.0000000000000000"]),
        ("x/x", {"x": "0.3"}, ["0"]),
        ("sin(x)/sin(x)", {"x": "0.3"}, ["0"]),
        ("(x + pi)/(x + pi) + x - x", {"x": "0.3"}, ["0"]),
        ("digamma(x) + 1 - digamma(x)", {"x": "0.3"}, ["0"]),
        ("0.1 + 0.2 - 0.3 + exp(x)*(1/3 + 2/3 - 1)", {"x": "1"}, ["0"]),
        ("relu(x*y - y*x + 2)*x", {"x": "0.3", "y": "0.7"}, ["2.0000000000000000", "0"]),
    ],
)
def test_what_is_known_exactly_is_proven(
    text: str, point: dict[str, str], gradient: list[str]
) -> None:
    pytest.importorskip("flint")
    assert list(digits(text, point, CERTIFIED)[1:]) == gradient


NEAR_ZERO = "9.094947017729282379150390625e-13"
"""2**-40"""
BETA_POINTS = ("-1.5 0.5", "-2.5 0.5", "-0.5 0.5", "1e40 0.5", "2 3", "-3.25 1.5", "0.5 -3.5")
NEAR_POLES = (
    f"18.5 {NEAR_ZERO}",
    f"{NEAR_ZERO} {NEAR_ZERO}",
    "-3.0000000000009094947017729282379150390625 1",
)


@pytest.mark.parametrize("point", [*BETA_POINTS, *NEAR_POLES])
def test_beta_is_the_same_in_every_arithmetic(point: str) -> None:
    given = dict(zip("ab", point.split(), strict=True))
    with mp.workdps(160):
        a, b = (mp.mpf(x) for x in point.split())

        def slope(*orders: int) -> Any:
            return mp.diff(
                lambda s, t: mp.gamma(s) * mp.gamma(t) * mp.rgamma(s + t),
                (a, b),
                orders,
                h=mp.mpf("1e-30"),
            )

        value = mp.gamma(a) * mp.gamma(b) * mp.rgamma(a + b)
        wanted = [value, slope(1, 0), slope(0, 1), slope(2, 0), slope(1, 1), slope(0, 2)]
    arithmetics = [Arithmetic(), Arithmetic("precision", 20)]
    arithmetics += [CERTIFIED] if importlib.util.find_spec("flint") else []
    for arithmetic in arithmetics:
        found = hessian("beta(a, b)", given, arithmetic=arithmetic)
        numbers = [
            found.value,
            *found.gradient.values(),
            found.hessian[0][0],
            found.hessian[0][1],
            found.hessian[1][1],
        ]
        expansion = taylor(
            "beta(a, b)", given, wrt=["a"], order=2, arithmetic=arithmetic
        ).coefficients
        numbers += [expansion[1], float(expansion[2]) * 2]
        for number, want in zip(numbers, [*wanted, wanted[1], wanted[3]], strict=True):
            # A difference of as many digits as 1e40 has takes some of these, in the differences
            # too.
            assert abs(float(number) - want) <= abs(want) * 1e-12, (arithmetic.name, point)


def test_a_zero_has_no_sign() -> None:
    found = autodiff("grad", "0*x", "--at", "x=-2", "--format", "plain")
    assert found.out == "0.0 x=0.0\n"
    assert (
        autodiff("grad", "atan2(0*-1, x)", "--at", "x=-2", "--format", "plain").out
        == "3.141592653589793 x=0.0\n"
    )
    in_stream = autodiff(
        "grad", "--at", "x=-2", "--format", "csv", stdin="0*x\natan2(0*-1, x)\n"
    ).out
    assert "-0.0" not in in_stream
    assert "-3.14" not in in_stream


@pytest.mark.parametrize(
    ("text", "near", "proven"),
    [
        ("y + sin(2x) - 2sin(x)*cos(x)", "x", {"y": "1.0000000000000000"}),
        ("y*(cosh(2x) - 2sinh(x)**2)", "x", {"y": "1.0000000000000000"}),
        ("y + exp(x) - sinh(x) - cosh(x)", "x", {"y": "1.0000000000000000"}),
    ],
)
def test_a_derivative_that_cancels_is_given_as_near_0(
    text: str, near: str, proven: dict[str, str]
) -> None:
    pytest.importorskip("flint")
    found = gradient(text, {"x": "0.3", "y": "2"}, arithmetic=CERTIFIED)
    bound = found.gradient[near]
    assert (bound.text, bound.nearest) == ("0", 0.0)  # type: ignore[union-attr]
    with mp.workdps(20):
        assert mp.mpf(bound.within) < mp.mpf("1e-2000")  # type: ignore[union-attr]
    assert {name: found.gradient[name].text for name in proven} == proven  # type: ignore[union-attr]
    record = json.loads(autodiff("grad", text, "--at", "x=0.3,y=2", "--certified", "--json").out)
    assert record["gradient"][near] == 0.0
    assert record["within"] == {
        "gradient": {name: bound.within if name == near else None for name in record["gradient"]}
    }  # type: ignore[union-attr]
    assert (
        f"within {bound.within} of 0"
        in autodiff("grad", text, "--at", "x=0.3,y=2", "--certified").out
    )  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "x", "value"),
    [
        ("sin(x)", "3.141592653589793", mp.sin),
        ("tan(x)", "3.141592653589793238462643", mp.tan),
        ("logit(x)", "0.50000000000000000000000000001", lambda x: mp.log(x / (1 - x))),
        ("sqrt(x**2 + 1) - x", "1e30", lambda x: 1 / (mp.sqrt(x**2 + 1) + x)),
        ("(x + 1e-400) - x", "0.1", lambda x: mp.mpf("1e-400")),
        ("exp(x) - 1 - x - x**2/2", "1e-30", lambda x: mp.exp(x) - 1 - x - x**2 / 2),
        ("lgamma(x)", "2.00000000000000000000000000001", mp.loggamma),
        ("sin(exp(x))", "100", lambda x: mp.sin(mp.exp(x))),
    ],
)
@pytest.mark.parametrize("asked", [5, 50, 120])
def test_only_digits_that_are_right_are_printed(text: str, x: str, value: Any, asked: int) -> None:
    found = gradient(text, {"x": x}, arithmetic=Arithmetic("precision", asked)).value
    with mp.workdps(1000):
        want = value(mp.mpf(x))
        assert abs(mp.mpf(found.text) - want) <= abs(want) * mp.mpf(10) ** (1 - asked), found.text  # type: ignore[union-attr]


def test_what_shrinks_with_every_digit_is_near_0() -> None:
    found = gradient("sin(pi*x)", {"x": "1"}, arithmetic=FIFTY)
    assert (found.value.text, found.value.nearest) == ("0", 0.0)  # type: ignore[union-attr]
    with mp.workdps(20):
        assert mp.mpf(found.value.within) < mp.mpf("1e-600")  # type: ignore[union-attr]
    with pytest.raises(ExpressionError) as caught:
        gradient("sin(exp(exp(x)))", {"x": "10.5"}, arithmetic=FIFTY)
    assert caught.value.kind == "limit"


def test_what_is_known_to_be_too_much_is_refused_before_it_is_done() -> None:
    with counted_calls(20_000), pytest.raises(ExpressionError) as caught:
        gradient("gamma(x)", {"x": "0.3"}, arithmetic=Arithmetic("precision", 1_000))
    assert caught.value.kind == "limit"
    assert "1,000,000 steps" in str(caught.value)
    assert "--work" in (caught.value.hint or "")
    ordinary = autodiff("grad", "erfinv(x)", "--at", "x=0.3", "--precision", "4000")
    allowed = autodiff(
        "grad",
        "erfinv(x)",
        "--at",
        "x=0.3",
        "--precision",
        "4000",
        "--work",
        "50",
        "--format",
        "plain",
    )
    assert (ordinary.code, allowed.code) == (4, 0)


@pytest.mark.parametrize("arithmetic", [FIFTY, CERTIFIED], ids=lambda a: a.name)
def test_long_programs_may_take_longer(arithmetic: Arithmetic) -> None:
    if arithmetic is CERTIFIED:
        pytest.importorskip("flint")
    text = " + ".join(f"sin({k}*x)" for k in range(8_000))
    chosen = {"certified": True} if arithmetic is CERTIFIED else {"precision": arithmetic.digits}
    found = autodiff_cli.gradient(text, {"x": "0.3"}, **chosen)
    with mp.workdps(30):
        want = mp.fsum(mp.sin(k * mp.mpf("0.3")) for k in range(8_000))
        assert abs(mp.mpf(found.value.text) - want) < 1e-14  # type: ignore[union-attr]


def test_products_of_many_atoms_stay_short() -> None:
    pytest.importorskip("flint")

    def work_of(count: int) -> int:
        text = "*".join(f"sin({k}.5*x)" for k in range(1, count))
        return calls(lambda: gradient(text, {"x": "0.3"}, arithmetic=CERTIFIED))

    assert work_of(800) < 5 * work_of(200)


@pytest.mark.parametrize(
    "arithmetic", [Arithmetic(), Arithmetic("exact"), Arithmetic("precision", 30)]
)
def test_several_outputs_are_reported_before_missing_values(arithmetic: Arithmetic) -> None:
    with pytest.raises(ExpressionError, match="has 2 outputs"):
        gradient("x*y, x + y", arithmetic=arithmetic)
