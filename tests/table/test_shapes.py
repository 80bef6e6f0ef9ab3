"""Shapes of measured curves: what a call stands for, against mpmath; and that their names stay free
for variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest

from autodiff_cli import ExpressionError, Value, gradient
from autodiff_cli.engine.graphs import library
from autodiff_cli.engine.table.primitive import COMPOSED, FUNCTIONS
from running import autodiff
from samples import SAMPLES


def faddeeva(x: Any, y: Any, sigma: Any) -> Any:
    """w(z) = exp(-z²)·erfc(-iz) at z = (x + iy)/(σ√2)."""
    z = mpmath.mpc(x, y) / (sigma * mpmath.sqrt(2))
    return mpmath.exp(-z * z) * mpmath.erfc(mpmath.mpc(z.imag, -z.real))


SHAPES: dict[str, Callable[..., Any]] = {
    "gaussian": lambda x, A, mu, sigma: A * mpmath.exp(-((x - mu) ** 2) / (2 * sigma**2)),
    "lorentzian": lambda x, A, x0, gamma: A * gamma**2 / (gamma**2 + (x - x0) ** 2),
    "logistic": lambda x, L, k, x0: L / (1 + mpmath.exp(-k * (x - x0))),
    "hill": lambda x, Vmax, K, n: Vmax * x**n / (K**n + x**n),
    "voigt": lambda x, A, mu, sigma, gamma: (
        A * faddeeva(x - mu, gamma, sigma).real / faddeeva(0, gamma, sigma).real
    ),
    "michaelis_menten": lambda x, Vmax, Km: Vmax * x / (Km + x),
}


def test_all_shapes_have_a_reference_and_none_is_an_operation() -> None:
    assert set(COMPOSED) == set(SHAPES) and not set(COMPOSED) & set(FUNCTIONS)


@pytest.mark.parametrize("name", SHAPES)
def test_the_value_and_all_derivatives_are_those_of_the_formula(name: str) -> None:
    row = COMPOSED[name]
    call = f"{name}({', '.join(row.params)})"
    for inputs in SAMPLES[name]:
        assert isinstance(inputs, tuple)
        answer = gradient(call, dict(zip(row.params, inputs, strict=True)))
        with mpmath.workdps(60):
            exact = [mpmath.mpf(x) for x in inputs]
            value = SHAPES[name](*exact)
            orders = [tuple(int(j == k) for j in range(len(inputs))) for k in range(len(inputs))]
            slopes = [
                mpmath.diff(SHAPES[name], tuple(exact), order, h=mpmath.mpf(10) ** -20)
                for order in orders
            ]
        assert answer.value == pytest.approx(float(value), rel=1e-12)
        assert [*answer.gradient.values()] == pytest.approx(
            [float(x) for x in slopes], rel=1e-12, abs=1e-300
        )


def test_a_peak_has_its_height_as_amplitude_and_half_of_it_at_its_half_width() -> None:
    assert gradient("gaussian(mu, 3, mu, s)", {"mu": 7.0, "s": 2.0}).value == 3
    assert gradient("gaussian(7 + s*sqrt(2*log(2)), 3, 7, s)", {"s": 2.0}).value == pytest.approx(
        1.5, rel=1e-15
    )
    assert gradient("lorentzian(7 + g, 3, 7, g)", {"g": 2.0}).value == 1.5
    assert gradient(
        "voigt(mu, 3, mu, s, g)", {"mu": 7.0, "s": 2.0, "g": 0.5}
    ).value == pytest.approx(3, rel=1e-15)


def test_a_voigt_profile_is_a_gaussian_at_one_end_and_nearly_a_lorentzian_at_the_other() -> None:
    point = {"x": 2.0, "mu": 1.25, "s": 0.75}
    for options in ({}, {"precision": 30}):
        folded = gradient("voigt(x, 3, mu, s, 0)", point, **options)
        plain = gradient("gaussian(x, 3, mu, s)", point, **options)
        for name in point:
            assert float(folded.gradient[name]) == pytest.approx(
                float(plain.gradient[name]), rel=1e-14
            )
    narrow = gradient("voigt(x, 3, 1, 1e-6, g) - lorentzian(x, 3, 1, g)", {"x": 1.5, "g": 0.25})
    assert abs(narrow.value) < 1e-10
    with pytest.raises(ExpressionError, match="undefined at"):
        gradient("voigt(x, 3, mu, s, -0.5)", point)


def test_a_name_without_parentheses_is_a_variable_and_a_definition_wins() -> None:
    assert gradient("hill*3 + logistic", {"hill": 2.0, "logistic": 1.0}).gradient == {
        "hill": 3.0,
        "logistic": 1.0,
    }
    assert gradient("gaussian(x) = x**2; gaussian(y)", {"y": 3.0}).gradient == {"y": 6.0}
    assert gradient("hill = 3*x; hill**2", {"x": 1.0}).value == 9
    with pytest.raises(ExpressionError, match="`hill` has a value here, so it cannot be called"):
        gradient("hill*hill(x, 1, 2, 3)", {"x": 1.0, "hill": 2.0})


def test_the_place_has_the_unit_of_the_argument() -> None:
    result = autodiff(
        "grad",
        "gaussian(x, A, mu, sigma)",
        "--at",
        "x=10 mm, A=3 V, mu=0.9 cm, sigma=2 mm",
        "--format",
        "plain",
    )
    assert result.out.startswith("2.647")
    result = autodiff(
        "grad", "gaussian(x, A, mu, sigma)", "--at", "x=10 mm, A=3 V, mu=9 s, sigma=2 mm"
    )
    assert (result.code, result.out) == (4, "")
    assert "cannot subtract a time (s) from a length (m)" in result.err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ((), "2.5"),
        (("--exact",), "5/2"),
        (("--precision", "40"), "2.5"),
        (("--certified",), "2.5000000000000000"),
    ],
)
def test_all_number_types_have_them(option: tuple[str, ...], value: str) -> None:
    result = autodiff(
        "grad", "lorentzian(x, A, 1, 2)", "--at", "x=3,A=5", "--format", "plain", *option
    )
    assert result.out.split()[0] == value


def test_values_in_python_have_them() -> None:
    x = Value(2.0)
    y = library.gaussian(x, 3, mu=1, sigma=2)
    y.backward()
    assert y.data == pytest.approx(2.647490707753, rel=1e-12)
    assert x.grad == pytest.approx(-0.25 * y.data, rel=1e-15)
    assert library.michaelis_menten(1.0, 3.0, 2.0) == 1.0
    with pytest.raises(TypeError, match="call it as gaussian"):
        library.gaussian(1.0, 2.0)


def test_a_list_of_peaks_is_added_up() -> None:
    point = {"A[1]": 1.0, "A[2]": 2.0}
    answer = gradient("sum(gaussian(2, A[i], i, 1), i, 1, 2)", point)
    assert answer.gradient["A[1]"] == pytest.approx(0.6065306597126334, rel=1e-14)
    assert answer.gradient["A[2]"] == 1
