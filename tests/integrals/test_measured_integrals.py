"""Integrals with units, sweeps and rows, and their derivatives at infinite ends, held against
mpmath.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from mpmath import mp

from autodiff_cli import ExpressionError, integrate
from autodiff_cli.capabilities.integrals import antiderivatives
from running import autodiff

MEASURED = [
    # formula, ends, point, what else is asked, the value in its unit, the unit, derivatives in
    # theirs with their units
    ("F0*exp(-t/tau)", "t=0:2 s", "F0=3 N,tau=1 s", {"wrt": "F0,tau"}, 3 * (1 - math.exp(-2)), "N·s",
     {"F0": (1 - math.exp(-2), "s"), "tau": (3 * (1 - 3 * math.exp(-2)), "N")}),
    ("F0*exp(-t/tau)", "t=0:2000 ms", "F0=3 kN,tau=1 s", {"in_": "N*s"}, 3000 * (1 - math.exp(-2)), "N·s", {}),
    ("F0*exp(-t/tau)", "t=0:inf", "F0=3 N,tau=200 ms", {"wrt": "tau"}, 600, "N·ms", {"tau": (3, "N")}),
    ("F*x", "x=0:L", "F=2 N/m,L=30 mm", {"in_": "mJ", "wrt": "L"}, 0.9, "mJ", {"L": (0.06, "mJ/mm")}),
    ("p0*(V0/V)", "V=1 l:2 l", "p0=100 kPa,V0=1 l", {"in_": "J"}, 100 * math.log(2), "J", {}),
    ("c*T", "T=20 °C:80 °C", "c=2 J/K", {}, 353.15**2 - 293.15**2, "J·K", {}),
    ("sin(x)", "x=0:90°", "", {}, 1, "1", {}),
    ("m*x", "x=0:1", "m=2 kg", {}, 1, "kg", {}),
    ("2[mm]*x", "x=0:3 m", "", {"in_": "m^3"}, 0.009, "m³", {}),
    ("v", "t=5 min:0", "v=36 km/h", {"in_": "km"}, -3, "km", {}),
]  # fmt: skip
WRONG_UNITS = [
    ("exp(-t/tau)", "t=0:2", "tau=1 s", "is a time (s) in the formula", "`--between t=0:2 s`"),
    ("exp(-t/tau)", "t=1:2 s", "tau=1 s", "from a number to a time", "`--between t=1 s:2 s`"),
    ("exp(-t)", "t=0:2 s", "", "is a number in the formula", "`--between t=0:1`"),
    ("c*T", "T=0:80 °C", "c=2 J/K", "one end of `T` has the unit °C", "give both the unit"),
    ("m*x^2", None, "m=2 kg", "does not determine the unit of `x`", "leave the values out"),
]
SLOPES: list[tuple[str, str, dict[str, float], str, Callable[..., Any]]] = [
    # formula, ends, point, parameter, the integral as mpmath has it
    ("exp(-a*x)", "x=0:inf", {"a": 2.0}, "a", lambda a: 1 / a),
    ("exp(-a*x^2)", "x=-inf:inf", {"a": 2.0}, "a", lambda a: mp.sqrt(mp.pi / a)),
    ("1/(x^2 + a^2)", "x=0:inf", {"a": 2.0}, "a", lambda a: mp.pi / (2 * a)),
    ("exp(-a*x)*cos(3*x)", "x=0:inf", {"a": 1.0}, "a", lambda a: a / (a**2 + 9)),
    ("x^n*exp(-x)", "x=0:inf", {"n": 2.0}, "n", lambda n: mp.gamma(n + 1)),
    ("1/x^2", "x=b:inf", {"b": 2.0}, "b", lambda b: 1 / b),
    ("exp(-a*x)", "x=a:inf", {"a": 0.5}, "a", lambda a: mp.exp(-(a**2)) / a),
]


@pytest.mark.parametrize(("text", "ends", "point", "more", "value", "unit", "slopes"), MEASURED)
def test_integrals_with_units(
    text: str,
    ends: str,
    point: str,
    more: dict[str, str],
    value: float,
    unit: str,
    slopes: dict[str, Any],
) -> None:
    answer = integrate(text, point or None, between=ends, **more)
    assert answer.value == pytest.approx(value, rel=1e-14)
    assert float(answer.digits) == pytest.approx(value, rel=1e-14)
    texts = answer.units.texts()
    assert texts["value"] == unit
    found = {
        name: (x, texts["derivatives"][name]) for name, x in (answer.derivatives or {}).items()
    }
    assert found == {name: (pytest.approx(x, rel=1e-14), of) for name, (x, of) in slopes.items()}


@pytest.mark.parametrize(("text", "ends", "point", "message", "hint"), WRONG_UNITS)
def test_ends_of_other_dimensions_are_refused(
    text: str, ends: str | None, point: str, message: str, hint: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        integrate(text, point or None, between=ends)
    hint = hint.replace("`--between ", '`between="').replace("s`", 's"`').replace("1`", '1"`')
    assert message in str(caught.value) and hint in (caught.value.hint or "")


@pytest.mark.parametrize(("text", "ends", "point", "by", "closed"), SLOPES)
def test_derivatives_at_infinite_ends(
    text: str, ends: str, point: dict[str, float], by: str, closed: Callable[..., Any]
) -> None:
    answer = integrate(text, point, between=ends, wrt=by)
    with mp.workdps(40):
        right = mp.diff(closed, mp.mpf(point[by]))
    is_proven = "derivatives, proven digits" in answer.message
    assert is_proven or "a difference quotient agrees to 5 digits" in answer.message
    assert float(answer.derivatives[by]) == pytest.approx(
        float(right), rel=1e-15 if is_proven else 1e-9
    )


def test_a_derivative_that_may_not_go_under_the_integral_sign() -> None:
    # the integral is a, and that of its derivative 0
    with pytest.raises(ExpressionError, match=r"is not known here|steps of work"):
        integrate("a^3/x^2*exp(-a^2/x) if x > 0 else 0", {"a": 0.0}, between="x=0:1", wrt="a")


def test_rows_look_for_an_antiderivative_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = antiderivatives.ask

    def counted(*arguments: Any) -> Any:
        asked.append("once")
        return ask(*arguments)

    monkeypatch.setattr(antiderivatives, "ask", counted)
    result = autodiff(
        "integrate",
        "a*x^2*exp(-x)",
        "--between",
        "x=0:b",
        "--at",
        "a=1:3:1,b={1,2}",
        "--format",
        "csv",
    )
    rows = [line.split(",") for line in result.out.splitlines()[1:]]
    assert len(rows) == 6
    for a, b, value, _ in rows:
        right = float(a) * (2 - math.exp(-float(b)) * (float(b) ** 2 + 2 * float(b) + 2))
        assert float(value) == pytest.approx(right, rel=1e-14)
    assert len(asked) == 1


def test_rows_with_units(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a [mm],k\n1,2\n2,3\n3,-1\n")
    result = autodiff("integrate", "a*x^k", "--between", "x=0:1", "--points", str(path))
    first, second, third = map(json.loads, result.out.splitlines())
    assert (first["formula"], first["units"]["value"]) == ("1/3", "mm")
    assert (second["formula"], second["units"]["value"]) == ("0.5", "mm")
    assert third["kind"] == "divergent" and result.code == 1
