"""Every entry of the table of primitives, held to independent 50-digit references."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from mpmath import mp, mpf

from autodiff_cli.engine.algebra.symbolic import is_spelled
from autodiff_cli.engine.numbers.base import ACCURATE, DEFINITIONS
from autodiff_cli.engine.numbers.double.formulas import FORMULAS
from autodiff_cli.engine.numbers.floats import FUNCTIONS as OF_DOUBLES
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.primitive import FUNCTIONS, OPERATIONS, PRIMITIVES, Primitive
from reference import beside_reference
from samples import samples_of

NUMERIC = [
    p for p in PRIMITIVES.values() if p.params and not p.gives_condition and p.name != "where"
]
SPECIAL = (
    "erf",
    "gamma",
    "beta",
    "logit",
    "gelu",
    "digamma",
    "polygamma",
    "norm",
    "lambert",
    "zeta",
    "bessel",
    "faddeeva",
    "fresnel",
    "sine_quotient",
)
ULP = mpf(2) ** -52


def errors_in_ulp(primitive: Primitive, inputs: Sequence[float]) -> list[float]:
    """How far value and partials are from the reference, in units of 2**-52 of it."""
    return [_distance(got, want) for got, want in beside_reference(REAL, primitive, inputs)]


def _distance(got: float, want: mpf) -> float:
    with mp.workdps(60):
        difference = abs(mpf(got) - want)
        if difference <= 2 * mpf(2) ** -1074:
            return 0.0
        return float(difference / abs(want) / ULP) if want else float("inf")


def allowed(primitive: Primitive) -> int:
    return 16 if any(name in primitive.name for name in SPECIAL) else 4


@pytest.mark.parametrize("primitive", NUMERIC, ids=lambda p: p.name)
def test_value_and_partials_against_fifty_digits(primitive: Primitive) -> None:
    assert samples_of(primitive)
    for inputs in samples_of(primitive):
        for error in errors_in_ulp(primitive, inputs):
            assert error <= allowed(primitive), (primitive, inputs, error)


@pytest.mark.parametrize("primitive", NUMERIC, ids=lambda p: p.name)
def test_a_rule_that_is_off_by_a_thousandth_fails(primitive: Primitive) -> None:
    """The test above is tested: each rule in turn is made slightly wrong."""
    for position, rule in enumerate(primitive.partials):
        if rule is None:
            continue

        def wrong(m, *args, rule=rule):  # type: ignore[no-untyped-def]
            partial = rule(m, *args)
            if isinstance(partial, list):
                return [None if p is None else p * 1.001 + 1e-9 for p in partial]
            return 1e-9 if partial is None else partial * 1.001 + 1e-9

        partials = tuple(wrong if k == position else r for k, r in enumerate(primitive.partials))
        broken = primitive._replace(partials=partials)
        errors = [
            error for inputs in samples_of(primitive) for error in errors_in_ulp(broken, inputs)
        ]
        assert max(errors) > allowed(primitive)


@pytest.mark.parametrize(
    "primitive", [p for p in NUMERIC if p.name in DEFINITIONS], ids=lambda p: p.name
)
def test_definitions_agree_with_the_float_functions(primitive: Primitive) -> None:
    definition = DEFINITIONS[primitive.name]
    near = [s for s in samples_of(primitive) if all(1e-3 < abs(x) < 20 for x in s)]
    assert near
    for inputs in near:
        assert definition(REAL, *inputs) == pytest.approx(
            getattr(REAL, primitive.name)(*inputs), rel=1e-6
        ), inputs


def test_the_table_is_complete() -> None:
    for primitive in PRIMITIVES.values():
        if not primitive.params:
            continue
        assert primitive.variadic or len(primitive.partials) == len(primitive.params), primitive
        assert bool(primitive.kink) == bool(primitive.convention), primitive
        assert hasattr(REAL, primitive.name), primitive
        if primitive.group:
            assert primitive.doc, primitive
        else:
            assert primitive.symbol != primitive.name or primitive.gives_condition or primitive.name in (
                "neg", *DEFINITIONS), primitive  # fmt: skip


NOT_OF_NUMBERS = {"where", "item"}
"""Operations that choose among numbers, and have no function on doubles: a choice is the same for
every number type.
"""


def test_doubles_have_a_function_for_every_row_and_no_other() -> None:
    said = set(OF_DOUBLES) | set(FORMULAS) | set(ACCURATE) | set(DEFINITIONS)
    assert {name for name, row in OPERATIONS.items() if row.params} - said == NOT_OF_NUMBERS
    assert set(OF_DOUBLES) <= set(OPERATIONS)


FOR_SPEED = {"sigmoid", "sech_square", "sinc", "logsumexp"}
"""What a sweep takes all the time, or with more than two arguments otherwise."""


@pytest.mark.parametrize("name", sorted((set(OF_DOUBLES) & set(ACCURATE)) - FOR_SPEED))
def test_doubles_have_no_function_of_their_own_where_the_accurate_form_gives_the_same(
    name: str,
) -> None:
    rng = random.Random(name)
    count = len(OPERATIONS[name].params) + OPERATIONS[name].variadic

    def found(function: Callable[..., Any], inputs: list[float]) -> str:
        try:
            return repr(function(*inputs))
        except (ValueError, ArithmeticError, TypeError) as error:
            return type(error).__name__

    for _ in range(3000):
        inputs = [
            rng.choice([rng.uniform(-3, 3), rng.gauss(0, 1) * 10.0 ** rng.randint(-320, 307)])
            for _ in range(count)
        ]
        if found(OF_DOUBLES[name], inputs) != found(lambda *xs: ACCURATE[name](REAL, *xs), inputs):
            return
    raise AssertionError(f"the accurate form of {name} serves")


LISTED = """
exp exp2 expm1 log ln log2 log10 log1p sqrt cbrt pow abs sign floor ceil round min max clamp hypot
sin cos tan sec csc cot asin acos atan atan2 asec acsc acot sinh cosh tanh sech csch coth asinh acosh atanh asech acsch
acoth arcsin arccos arctan sinc deg rad where
relu leaky_relu elu gelu silu swish sigmoid softplus softsign tanh logsumexp logaddexp logit heaviside
erf erfc erfinv erfcx erfi normpdf normcdf norminv lambertw
Si sinint Ci cosint Ei expi li logint fresnels fresnelc
gammainc gammaincc gammainc_derivative betainc betainc_derivative zeta zeta_derivative faddeeva_re faddeeva_im
besselj bessely besseli besselk
gamma lgamma digamma trigamma polygamma beta sum mean prod min max hypot logsumexp
"""


def test_every_function_of_the_language_is_there() -> None:
    assert set(LISTED.split()) <= set(FUNCTIONS)
    assert all(is_spelled(p) for p in FUNCTIONS.values())


def test_the_periodic_functions_are_those_of_one_number_that_are_the_same_after_two_pi() -> None:
    places = (0.3, 1.1, 2.7, 4.4)
    for primitive in FUNCTIONS.values():
        if (
            primitive.params != ("x",)
            or primitive.group in ("", "Learning")
            or primitive.values == "[0, 1]"
        ):
            continue
        function = getattr(REAL, primitive.name)
        try:
            same = [
                abs(function(x + 2 * math.pi) - function(x)) < 1e-9 * (1 + abs(function(x)))
                for x in places
            ]
        except (ValueError, ArithmeticError):
            same = [False]
        assert all(same) == primitive.periodic or len({function(x) for x in places}) == 1, (
            primitive.name
        )
