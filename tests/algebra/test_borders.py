"""Where the pieces of a formula meet: are its derivatives those of the function? Answers are
derived by hand.
"""

import pytest

from autodiff_cli.capabilities.export.export import export
from autodiff_cli.capabilities.formulas.diff import diff

SMOOTH = [
    "where(x < 0, x**2, 0)",
    "where(x == 0, 1, sin(x)/x)",
    "abs(x)**3",
    "x*abs(x)",
    "sign(x)*x**2",
    "heaviside(x)*x**2",
    "softsign(x)",
    "elu(x)",
    "where(x > 0, exp(-1/x), 0)",
    "where(x < pi, sin(x), pi - x)",  # the slope of sin at pi is -1
    "where(x < y, x**2, 2*x*y - y**2)",  # a parabola and its tangent
    "where(0 < x < 1, x**2*(1 - x)**2, 0)",
    "abs(exp(x))",
    "where(x > 1, abs(x), x)",  # never 0 above 1
    "sqrt(x - 1) + abs(x)",
    "atan2(y, x**2 + 1)",  # away from the cut
    "min(x, 0) + max(x, 0)",  # x, and both ties have a half
    "norm([x, y])**2",  # x**2 + y**2
    "hypot(x - 1, y, z)**4",
    "exp(-hypot(x, y)**2)",
    "abs(x*y - 1 + exp(x))**2",  # at a border that is solved for no variable
]
"""Formulas that hold everywhere."""
KINKS = [
    ("where(x < 0, x**2, x)", {"x = 0": "none"}),
    ("abs(2*x - 3)", {"x = 1.5": "none"}),
    ("relu(w*x + b)", {"w*x + b = 0": "none"}),
    ("max(x, 1 - x)", {"x = 0.5": "none"}),
    ("clamp(x, 0, 1)", {"x = 0": "none", "x = 1": "none"}),
    ("sign(x)", {"x = 0": "none"}),
    ("floor(x)", {"x is a whole number": "none"}),
    ("round(2*x)", {"2*x is half-way between whole numbers": "none"}),
    ("atan2(y, x)", {"y = 0 and x <= 0": "none"}),
    ("elu(x, 2)", {"x = 0": "none"}),
    ("where(x < pi, sin(x), x - pi)", {"x = pi": "none"}),
    ("where(x <= 0, 0, sqrt(x))", {"x = 0": "none"}),  # infinite above
    ("y*abs(x - 1)", {"x = 1": "none in general"}),  # but for y = 0
    ("relu(x)*relu(y)", {"x = 0": "none in general", "y = 0": "none in general"}),
    ("sign(x)**2", {"x = 0": "none"}),  # 1 on both sides, 0 at 0
    ("relu(x) - relu(-x)", {"x = 0": "other"}),  # x, of which the formula has 0
    # sin(pi*n) is 0 for whole numbers, of which the comparison knows nothing:
    # (floor(x)*sin(pi*x)**2)' is 0 there
    ("floor(x)*sin(pi*x)**2", {"x is a whole number": "undecided"}),
    ("relu(sin(x))", {"sin(x) = 0": "undecided"}),
    ("hypot(x, y)", {"hypot(x, y) = 0": "undecided"}),
    ("x*hypot(x, y)", {"hypot(x, y) = 0": "undecided"}),
    ("hypot(x, y)**2/x", {"hypot(x, y) = 0": "undecided"}),
    ("abs(x*y - 1 + exp(x))", {"x*y + exp(x) - 1 = 0": "undecided"}),
]


def places(text: str, **options: object) -> dict[str, str]:
    return {place.where: place.derivative for place in diff(text, **options).conventions}  # type: ignore[arg-type]


@pytest.mark.parametrize("text", SMOOTH)
def test_nothing_is_said_where_the_pieces_join_smoothly(text: str) -> None:
    assert places(text) == {}
    assert not [warning for warning in diff(text).warnings if warning.kind == "note"]


@pytest.mark.parametrize(("text", "expected"), KINKS)
def test_the_places_of_a_convention_are_named(text: str, expected: dict[str, str]) -> None:
    assert places(text) == expected
    (note,) = [warning for warning in diff(text).warnings if warning.kind == "note"]
    assert all(where.partition(" is ")[0] in note.message for where in expected)


def test_variables_of_differentiation_assumptions_and_orders_decide_which_places_count() -> None:
    assert places("where(y < 0, x, 2*x)", wrt=["x"]) == {}
    assert places("abs(x)", assume="x > 0") == {}
    assert places("round(x)*x", assume="x integer") == {}
    assert places("abs(x)**3", order=2) == {}
    assert places("abs(x)**3", order=3) == {"x = 0": "none"}
    assert places("where(x < 0, x**2, 0)", order=2) == {"x = 0": "none"}
    assert places("hypot(x, y)**4", order=2) == {}
    # the formula of order 2 is 0 all around the kink
    kink = {"x*(y + exp(y)) + sin(y) = 0": "undecided"}
    assert places("abs(x*(y + exp(y)) + sin(y))", order=2, wrt=["x"]) == kink


@pytest.mark.parametrize(
    ("target", "mark"),
    [("python", "# "), ("c", " * "), ("sql", "-- "), ("latex", "% "), ("spreadsheet", ",")],
)
def test_exported_code_says_it_in_a_comment(target: str, mark: str) -> None:
    kink = export("where(x < 0, x**2, x)", target).source
    assert f"\n{mark}Note: no derivative where `x = 0` (`<`)" in kink
    assert "Note" not in export("where(x < 0, x**2, 0)", target).source


def test_many_kinks_are_not_dropped_in_silence() -> None:
    text = " + ".join(f"abs(x - {k})" for k in range(20))
    (note,) = [warning for warning in diff(text).warnings if warning.kind == "note"]
    assert "and 8 more places" in note.message
    assert "there are more kinks, which were not looked at" in note.message
    large = " + ".join(f"tanh(x**{k % 7 + 2})" for k in range(200)) + " + abs(x)"
    assert places(large) == {"x = 0": "undecided"}
