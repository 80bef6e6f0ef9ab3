"""Units in jacobian, hessian, taylor and check: pint has the dimensions, differences of its
quantities the numbers.
"""

import json
import math
from fractions import Fraction

import pytest

from autodiff_cli.capabilities.check.check import check
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.capabilities.graph.graph import picture
from autodiff_cli.capabilities.trace.trace import trace
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.arithmetic import Arithmetic
from autodiff_cli.questions.quantities import quantity_value
from running import autodiff

PROGRAMS = [
    ("F*L**3/(48*E*I)", {"F": "1.5 kN", "L": "2 m", "E": "210 GPa", "I": "171 cm^4"}, "mm"),
    (
        "n*R*T/V",
        {"n": "2 mol", "R": "8.31446261815324 J/(mol K)", "T": "293 K", "V": "50 L"},
        "bar",
    ),
    ("m*v**2/2 + m*g*h", {"m": "1.2 lb", "v": "60 mi/h", "g": "9.81 m/s^2", "h": "12 ft"}, "cal"),
    ("U**2/R*t", {"U": "230 V", "R": "53 ohm", "t": "2 h"}, "kWh"),
    ("r**3*k", {"r": "2 inch", "k": "3"}, "L"),
]
IDS = [text for text, _, _ in PROGRAMS]


def _registry():
    return pytest.importorskip("pint").UnitRegistry()


def _pint_derivative(registry, text, at, names):
    """The mixed derivative of pint's value by these names, in base units, by central
    differences.
    """
    quantities = {name: registry.Quantity(value) for name, value in at.items()}

    def value(point):
        return eval(text, {"__builtins__": {}}, point)  # noqa: S307

    def by(names, point):
        if not names:
            return value(point)
        first, *others = names
        step = 1e-3 * quantities[first]
        up, down = ({**point, first: point[first] + sign * step} for sign in (1, -1))
        return (by(others, up) - by(others, down)) / (2 * step)

    return by(names, quantities).to_base_units()


def _ours(at):
    return {name: value.replace("ohm", "Ω").replace("inch", "in") for name, value in at.items()}


def _agrees(registry, x, unit, theirs, tolerance=1e-5, size=0.0):
    """Whether a number in a unit is pint's quantity, in value and dimension; `size` is that of what
    cancels in it.
    """
    assert unit.to_si(x) == pytest.approx(theirs.magnitude, rel=tolerance, abs=1e-8 * size)
    base = {"kg": "kg", "m": "m", "s": "s", "A": "A", "K": "K", "mol": "mol", "cd": "cd"}
    own = registry.Quantity(1)
    for symbol, power in zip(base, unit.dimension, strict=True):
        own *= registry.Quantity(1, symbol) ** float(power)
    assert own.dimensionality == theirs.dimensionality


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_second_derivatives_are_those_of_pint(text, at, unit):
    registry = _registry()
    answer = hessian(text, _ours(at), units=unit)
    assert str(answer.units["value"]) == unit
    names = [*answer.gradient]
    for k, one in enumerate(names):
        _agrees(
            registry,
            answer.gradient[one],
            answer.units["gradient"][one],
            _pint_derivative(registry, text, at, [one]),
        )
        for j, other in enumerate(names):
            theirs = _pint_derivative(registry, text, at, [one, other])
            entry, of_entry = answer.hessian[k][j], answer.units["hessian"][k][j]
            size = _pint_derivative(registry, text, at, [])
            for name in (one, other):
                size /= registry.Quantity(at[name]).to_base_units()
            _agrees(registry, entry, of_entry, theirs, size=abs(size.to_base_units().magnitude))
            assert answer.units["hessian"][j][k] == of_entry


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_a_jacobian_is_two_gradients(text, at, unit):
    names = list(at)
    program = f"{text}, ({text})**2"
    answer = jacobian(program, _ours(at), units=[unit])
    one = gradient(text, _ours(at), units=unit)
    two = gradient(f"({text})**2", _ours(at))
    assert (answer.values[0], answer.jacobian[0]) == (
        pytest.approx(one.value, rel=1e-15),
        pytest.approx([one.gradient[n] for n in names], rel=1e-15),
    )
    assert [str(u) for u in answer.units["jacobian"][0]] == [
        str(one.units["gradient"][n]) for n in names
    ]
    assert str(answer.units["values"][1]) == str(two.units["value"])
    assert answer.jacobian[1] == pytest.approx([two.gradient[n] for n in names], rel=1e-14)


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_taylor_coefficients_are_those_of_pint(text, at, unit):
    registry = _registry()
    for name in at:
        answer = taylor(text, _ours(at), wrt=[name], order=2, units=unit)
        for k, (x, of) in enumerate(
            zip(answer.coefficients, answer.units["coefficients"], strict=True)
        ):
            theirs = _pint_derivative(registry, text, at, [name] * k) / math.factorial(k)
            _agrees(registry, x, of, theirs.to_base_units(), 2e-5) if x else None


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_a_polynomial_with_units_is_a_program(text, at, unit):
    """Its value and slope at the point, and a step beside it, are those of the function."""
    at = _ours(at)
    name = next(iter(at))
    answer = taylor(text, at, wrt=[name], order=3, units=unit)
    here = {name: at[name]}
    one, own = (
        gradient(text, at, wrt=[name], units=unit),
        gradient(answer.polynomial, here, units=unit),
    )
    assert own.value == pytest.approx(one.value, rel=1e-12)
    assert own.gradient[name] == pytest.approx(one.gradient[name], rel=1e-12)
    number, _, rest = at[name].partition(" ")
    beside = f"{float(number) * 1.001!r} {rest}"
    assert gradient(answer.polynomial, {name: beside}, units=unit).value == pytest.approx(
        gradient(text, {**at, name: beside}, units=unit).value, rel=1e-9
    )


def test_a_series_around_a_temperature():
    answer = taylor("k*T**2", {"k": "2 W/K^2", "T": "20 °C"}, wrt=["T"], order=2)
    assert answer.polynomial.startswith("171873.84") and answer.polynomial.endswith(
        "*(T - 293.15[K])**2"
    )
    assert answer.point["T"] == 20.0
    assert gradient(answer.polynomial, {"T": "25 °C"}).value == pytest.approx(
        2 * 298.15**2, rel=1e-14
    )


@pytest.mark.parametrize("name", ["exact", "precision"])
def test_other_arithmetics_are_exact(name):
    arithmetic = Arithmetic(name, 30)
    answer = hessian("m*v**2/2", {"m": "3 lb", "v": "7 ft/s"}, units="J", arithmetic=arithmetic)
    pound, foot = Fraction("0.45359237"), Fraction("0.3048")
    exact = {(0, 1): 7 * foot, (1, 1): 3 * pound}
    for (k, j), x in exact.items():
        unit = answer.units["hessian"][k][j]
        assert answer.hessian[k][j].nearest == pytest.approx(float(x / unit.scale), rel=1e-15)
    if name == "exact":
        assert Fraction(answer.value.text) == 3 * 49 * foot**2 * pound / 2
    one = taylor(
        "m*v**2/2",
        {"m": "3 lb", "v": "7 ft/s"},
        wrt=["v"],
        order=2,
        units="J",
        arithmetic=arithmetic,
    )
    assert one.coefficients[2].nearest == pytest.approx(
        float(3 * pound / 2 / one.units["coefficients"][2].scale), rel=1e-15
    )


def test_the_verdict_is_that_without_units():
    """Sylvester's law: a minimum is one in all units. Eigenvalues need entries of one dimension."""
    answer = hessian("(x - 1[m])**2 + (y - 2[mm])**2", {"x": "1 m", "y": "2 mm"})
    assert (answer.verdict, answer.eigenvalues) == ("minimum", [2.0, 2.0])
    assert {str(unit) or "1" for unit in answer.units["eigenvalues"]} == {"1"}
    mixed = hessian("(x/1[m] - 1)**2 + (t/1[s])**2", {"x": "1 m", "t": "0 s"})
    assert (mixed.verdict, mixed.eigenvalues, mixed.flat) == ("minimum", None, ())
    millimetres = hessian(
        "a*x**2 + a*y**2", {"x": "3 mm", "y": "1 mm", "a": "2 N/m"}, wrt=["x", "y"]
    )
    assert [
        u.to_si(x)
        for x, u in zip(millimetres.eigenvalues, millimetres.units["eigenvalues"], strict=True)
    ] == (pytest.approx([4.0, 4.0]))


def test_a_direction_has_units():
    at = {"r": "2 mm", "t": "30 °"}
    plain = jacobian("r*cos(t), r*sin(t)", at)
    one = jacobian("r*cos(t), r*sin(t)", at, direction={"r": 1, "t": 2})
    assert one.product == pytest.approx([row[0] + 2 * row[1] for row in plain.jacobian], rel=1e-14)
    assert [*map(str, one.units["product"])] == ["mm", "mm"]
    speed = jacobian("r*cos(t), r*sin(t)", at, direction={"r": "1 m/min", "t": "2 °/s"})
    expected = [(1000 / 60 * row[0] + 2 * row[1]) for row in plain.jacobian]
    assert speed.product == pytest.approx(expected, rel=1e-14)
    assert [*map(str, speed.units["product"])] == ["mm/s", "mm/s"]
    with pytest.raises(ExpressionError, match="not per the same unit"):
        jacobian("r*cos(t), r*sin(t)", at, direction={"r": "1 m/s", "t": 2})


def test_an_adjoint_adds_up_one_dimension():
    at = {"r": "2 mm", "t": "30 °"}
    plain = jacobian("r*cos(t), r*sin(t)", at)
    one = jacobian("r*cos(t), r*sin(t)", at, adjoint=[1, 2])
    assert one.gradient["t"] == pytest.approx(
        plain.jacobian[0][1] + 2 * plain.jacobian[1][1], rel=1e-14
    )
    assert str(one.units["gradient"]["t"]) == "mm/°"
    with pytest.raises(ExpressionError, match=r"is a length \(m\), and `r\*t/r` is a number"):
        jacobian("r*cos(t), r*t/r", at, adjoint=[1, 2])


def test_a_check_is_in_its_units():
    plain = check("m*v**2/2", {"m": 1.3607771100000001, "v": 2.1336})
    answer = check("m*v**2/2", {"m": "3 lb", "v": "7 ft/s"}, units="ft lbf")
    factor = float(Fraction("0.3048") * Fraction("4.4482216152605"))
    assert answer.agrees and answer.value == pytest.approx(plain.value / factor, rel=1e-14)
    for number, unit in zip(answer.quantities, answer.units["checked"], strict=True):
        assert float(number.exact) == pytest.approx(number.computed, rel=1e-15)
        if number.name:
            assert number.difference == pytest.approx(number.computed, rel=1e-9)
            assert unit["computed"].to_si(number.computed) == pytest.approx(
                plain.gradient[number.name], rel=1e-14
            )
    assert [number.digits for number in answer.quantities] == pytest.approx(
        [number.digits for number in plain.quantities], abs=1
    )


@pytest.mark.parametrize("command", ["jacobian", "hessian", "taylor", "check"])
def test_dimensions_are_refused_at_their_place(command):
    result = autodiff(command, "m*v + v", "--at", "m=2 kg, v=3 m/s", "--wrt", "v", "--json")
    error = json.loads(result.out)["error"]
    assert result.code == 4 and error["kind"] == "dimension"
    assert "(N·s)" in error["message"] or "kg·m/s" in error["message"]
    assert "m/s" in error["message"] and (error["start"], error["end"]) == (0, 7)


@pytest.mark.parametrize("command", ["jacobian", "hessian", "taylor", "check"])
def test_units_that_are_asked_for_fit(command):
    result = autodiff(command, "m*v**2", "--at", "m=2 kg, v=3 m/s", "--wrt", "v", "--in", "mm")
    assert result.code == 2 and "an energy (J)" in result.err and "a length (m)" in result.err


@pytest.mark.parametrize("command", ["jacobian", "hessian", "taylor", "check", "grad"])
def test_constants_are_taken(command):
    result = autodiff(
        command,
        "h*c/lam",
        "--at",
        "lam=532 nm",
        "--constants",
        "h,c",
        "--wrt",
        "lam",
        "--in",
        "eV",
        "--json",
    )
    record = json.loads(result.out)
    units = record["units"]
    value = record.get("value") or (record.get("values") or record.get("coefficients"))[0]
    assert value == pytest.approx(6.62607015e-34 * 299792458 / 532e-9 / 1.602176634e-19, rel=1e-14)
    assert "eV" in (units.get("value"), *units.get("values", ()), *units.get("coefficients", ()))


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_derivatives_as_formulas_have_the_values_and_units_of_a_hessian(text, at, unit):
    names = list(at)
    first, second = (diff(text, _ours(at), wrt=names, order=k, units=unit) for k in (1, 2))
    answer = hessian(text, _ours(at), wrt=names, units=unit)
    assert [one.value for one in first.derivatives] == pytest.approx(
        [answer.gradient[n] for n in names], rel=1e-13
    )
    assert first.units["values"] == [answer.units["gradient"][n] for n in names]
    for one, of in zip(second.derivatives, second.units["values"], strict=True):
        k, j = (names.index(name) for name in one.by)
        assert one.value == pytest.approx(answer.hessian[k][j], rel=1e-12, abs=1e-300)
        assert of == answer.units["hessian"][k][j]


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_a_graph_has_the_units_of_the_tree(text, at, unit):
    """Each local derivative times the output's by its node adds up to that by the input, as
    quantities.
    """
    answer = picture(text, _ours(at), units=unit)
    one = gradient(text, _ours(at), units=unit)
    assert answer.gradient == one.gradient and answer.units["gradient"] == one.units["gradient"]
    arrived = [0.0] * len(answer.nodes)
    for node in answer.nodes:
        if node.grad is None:
            continue
        for edge in node.inputs:
            if edge.partial is not None:
                arrived[edge.node] += node.grad_unit.to_si(node.grad) * edge.unit.to_si(
                    edge.partial
                )
                operand = answer.nodes[edge.node]
                assert (edge.unit * operand.unit.difference).dimension == node.unit.dimension
    for k, node in enumerate(answer.nodes):
        if k not in answer.outputs and node.grad is not None and arrived[k]:
            assert arrived[k] == pytest.approx(node.grad_unit.to_si(node.grad), rel=1e-12)
    (output,) = answer.outputs
    assert (answer.nodes[output].data, str(answer.nodes[output].unit)) == (
        pytest.approx(one.value, rel=1e-15),
        unit,
    )


@pytest.mark.parametrize(("text", "at", "unit"), PROGRAMS, ids=IDS)
def test_each_step_of_a_trace_is_a_product_of_quantities(text, at, unit):
    answer = trace(text, _ours(at), units=unit)
    one = gradient(text, _ours(at), units=unit)
    assert answer.gradient == pytest.approx(one.gradient, rel=1e-14)
    assert {name: x.unit for name, x in answer.gradient.items()} == one.units["gradient"]
    assert answer.point == pytest.approx(one.point, rel=1e-15)
    for pull in answer.adjoint_steps:
        product = pull.upstream.unit * pull.partial.unit
        assert product.dimension == pull.product.unit.dimension == pull.total.unit.dimension
        si = pull.upstream.unit.to_si(pull.upstream) * pull.partial.unit.to_si(pull.partial)
        assert si == pytest.approx(pull.product.unit.to_si(pull.product), rel=1e-14)
    assert answer.adjoint_steps, "there were steps"


def test_a_tangent_trace_has_a_speed():
    answer = trace(
        "r*cos(t)",
        {"r": "2 m", "t": "30 °"},
        mode="forward",
        direction={"r": "1 m/min", "t": "2 °/s"},
    )
    expected = math.cos(math.pi / 6) / 60 - 2 * math.sin(math.pi / 6) * math.radians(2)
    assert (answer.tangent, str(answer.tangent.unit)) == (pytest.approx(expected, rel=1e-14), "m/s")
    with pytest.raises(ExpressionError, match="has a unit"):
        trace(
            "x*y", {"x": 2, "y": 3}, mode="forward", direction={"x": quantity_value("x", "1 m/s")}
        )


def test_the_records_of_a_trace_and_a_graph_have_units():
    record = json.loads(autodiff("trace", "F*L", "--at", "F=1.5 kN, L=2 m", "--json").out)
    assert record["units"]["gradient"] == {"F": "J/kN", "L": "J/m"} and record["gradient"] == {
        "F": 2000.0,
        "L": 1500.0,
    }
    assert [row["value"] for row in record["units"]["primal"]] == ["kN", "m", "J"]
    drawn = json.loads(
        autodiff("graph", "F*L", "--at", "F=1.5 kN, L=2 m", "--in", "kJ", "--json").out
    )
    assert (
        drawn["units"]["nodes"][2] == {"data": "kJ", "grad": "1"}
        and drawn["nodes"][2]["data"] == 3.0
    )
    assert (
        "data 1.5 kN" in autodiff("graph", "F*L", "--at", "F=1.5 kN, L=2 m", "--format", "dot").out
    )
    assert "1.5 kN" in autodiff("graph", "F*L", "--at", "F=1.5 kN, L=2 m", "--format", "svg").out


def test_a_point_of_a_trace_is_as_it_was_typed():
    answer = trace("T*k", {"T": "20.1 °C", "k": "0.1 mm"})
    assert {name: (float(x), str(x.unit)) for name, x in answer.point.items()} == {
        "T": (20.1, "°C"),
        "k": (0.1, "mm"),
    }


def test_a_message_says_a_value_in_its_unit():
    with pytest.raises(ExpressionError, match=r"here x = -2 mm, y = 1 m\)"):
        gradient("sqrt(x/y)", {"x": "-2 mm", "y": "1 m"})
