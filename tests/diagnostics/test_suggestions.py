"""Names that are made of others, and functions of other languages: what is offered for them, and
what is not.
"""

from __future__ import annotations

import random
import re

import pytest

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.diagnostics.leniency import only_offer
from autodiff_cli.language.diagnostics.suggestions import MAX_SPLITS, own_name
from autodiff_cli.questions.problem import evaluate_constant


def offered(text: str, point: str) -> list[str]:
    """The whole texts that the refusal of one offers."""
    given = {name: 1.0 + k / 8 for k, name in enumerate(point.split())}
    with pytest.raises(ExpressionError) as caught:
        gradient(text, given)
    return [offer.within(text) for offer in caught.value.offers]


@pytest.mark.parametrize(
    ("text", "point", "expected"),
    [
        ("xy", "x y", ["x*y"]),
        ("lnx", "x", ["ln(x)"]),
        ("2πr", "r", ["2π*r"]),
        ("nRT", "n R T", ["n*R*T"]),
        ("1 + sinx", "x", ["1 + sin(x)"]),
        ("xsinx", "x", ["x*sin(x)"]),
        ("lnsinx", "x", ["ln(sin(x))"]),
        ("sinxcosy", "x y", ["sin(x)*cos(y)"]),
        ("v₀t", "v₀ t", ["v₀*t"]),
        ("Aexp(-t)", "A t", ["A*exp(-t)"]),
        ("Asin(ωt)", "A ω t", ["A*sin(ωt)"]),
        ("C₀e^(-k)", "C₀ k", ["C₀*e^(-k)"]),
        ("2PI*r", "r", ["2pi*r"]),
        ("1.5D3*x", "x", ["1.5e3*x"]),
        # What may be meant in more than one way.
        ("1/xy", "x y", ["1/(x*y)", "1/x*y"]),
        ("z^xy", "x y z", ["z^(x*y)", "z^x*y"]),
        ("√xy", "x y", ["√(x*y)", "√x*y"]),
        ("sinxy", "x y", ["sin(x*y)", "sin(x)*y"]),
        ("sin2x", "x", ["sin(2*x)", "sin(x)**2"]),
        ("abc", "a b c ab", ["a*b*c", "ab*c"]),
        # What is no product of what is known.
        ("xz", "x y", []),
        ("x1", "x", []),
        ("Re", "R", []),
        ("spin", "s n", []),
    ],
)
def test_names_are_taken_apart_into_known_ones(text: str, point: str, expected: list[str]) -> None:
    assert sorted(offered(text, point)) == sorted(expected)


def test_the_hint_spells_what_is_offered_and_how_to_give_a_value() -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient("2πr", {"r": 1.0})
    assert caught.value.hint == "write `π*r`, or give the point: `--at πr=…`"


def test_the_powers_and_divisors_of_functions_that_are_glued_are_no_sure_reading() -> None:
    for text in ("sinx^2", "sinx/2", "lnx*y", "sinx²"):
        with pytest.raises(ExpressionError) as caught:
            gradient(text, {"x": 1.0, "y": 2.0})
        assert not any(offer.certain for offer in caught.value.offers), text


def test_the_letters_of_a_word_are_no_sure_product() -> None:
    for text in ("ymax", "mass", "xx", "rate", "cost"):
        with pytest.raises(ExpressionError) as caught:
            gradient(text, dict.fromkeys("yxmascortei", 1.5))
        assert caught.value.offers
        assert only_offer(caught.value.offers) is None, text


def test_what_is_taken_apart_is_what_was_put_together() -> None:
    random_numbers = random.Random(11)
    tried = 0
    for _ in range(400):
        names = random_numbers.sample(["a", "b", "x", "y", "v0", "w_1", "λ", "R", "T"], 4)
        chosen = [random_numbers.choice(names) for _ in range(random_numbers.randint(2, 4))]
        text = "".join(chosen)
        if text in names or not any(name != chosen[0] for name in chosen):
            continue
        given = {name: 1.0 + k / 8 for k, name in enumerate(names)}
        with pytest.raises(ExpressionError) as caught:
            gradient(text, given)
        value = gradient("*".join(chosen), given).value
        assert any(
            gradient(o.within(text), given).value == pytest.approx(value)
            for o in caught.value.offers
        ), text
        tried += 1
    assert tried > 300


def test_a_long_name_of_many_divisions_is_looked_at_in_bounded_work() -> None:
    given = {"a" * k: 1.0 for k in range(1, 20)}
    with pytest.raises(ExpressionError) as caught:
        gradient("a" * 39 + "b", given)
    assert caught.value.offers == ()
    with pytest.raises(ExpressionError) as caught:
        gradient("a" * 40, given)
    assert 2 <= len(caught.value.offers) <= MAX_SPLITS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tg(x)", "tan(0.5)"), ("ctg(x)", "cot(0.5)"), ("sen(x)", "sin(0.5)"), ("arctg(x)", "atan(0.5)"),
        ("arcsen(x)", "asin(0.5)"), ("SIN(x)", "sin(0.5)"), ("Exp(x)", "exp(0.5)"), ("DSQRT(x)", "sqrt(0.5)"),
        ("sgn(x)", "1"), ("cosd(x)", "cos(rad(0.5))"), ("factorial(x)", "gamma(1.5)"), ("mod(x, 2)", "0.5"),
        ("POWER(x, 2)", "0.25"), ("LOG(x, 2)", "-1"), ("log₂(x)", "-1"), ("AVERAGE(x, 1)", "0.75"),
    ],
)  # fmt: skip
def test_functions_of_other_languages(text: str, value: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": 0.5})
    (offer,) = caught.value.offers
    assert gradient(offer.within(text), {"x": 0.5}).value == pytest.approx(
        evaluate_constant(value), rel=1e-12
    )
    assert re.search(r"`[^`]*`", caught.value.hint or "")


def test_a_name_that_has_a_value_is_no_function_of_another_language() -> None:
    assert own_name("tg", ()) == "tan"
    with pytest.raises(KeyError):
        own_name("tg", {"tg": 1.0})
    with pytest.raises(KeyError):
        own_name("ch", ())
