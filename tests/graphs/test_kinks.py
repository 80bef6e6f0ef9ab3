"""Kinks and jumps: what is true there is answered, what is a convention is warned of, and the rest
is refused.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

import kinked
from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.check.check import check
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.capabilities.trace.trace import trace
from autodiff_cli.engine.algebra.symbolic import SYMBOLIC
from autodiff_cli.engine.graphs.value import Value, variable
from autodiff_cli.engine.numbers.budget import use_budget
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.run.smooth_branches import SmoothBranch
from autodiff_cli.engine.table.primitive import PRIMITIVES, Primitive
from autodiff_cli.questions.arithmetic import Arithmetic
from samples import samples_of

CERTIFIED = Arithmetic("certified")
EYE = [[1.0, 0.0], [0.0, 1.0]]


def at_origin(text: str) -> dict[str, float]:
    return {name: 0.0 for name in ("x", "y") if re.search(rf"\b{name}\b", text)}


# ---- second order -------------------------------------------------------------------------------------------------
SMOOTH: list[tuple[str, float]] = [
    ("abs(x)**2", 2),
    ("max(x, -x)**2", 2),
    ("relu(x)**2 + relu(-x)**2", 2),
    ("cos(abs(x))", -1),
    ("cosh(abs(x))", 1),
    ("x**4*sign(x)", 0),
    ("abs(x**2)", 2),
    ("(x if x > 0 else -x)**2", 2),
    ("elu(x, 2)*elu(-x, 2)", -4),
    ("leaky_relu(x, 1) + x**2", 2),
    ("exp(-1/x**2) if x != 0 else 0", 0),
    ("0*abs(x) + x**2", 2),
    ("max(x**2, abs(x) - 5)", 2),
    ("hypot(x, y)**2", 2),
    ("hypot(x, y)*hypot(2*x, 2*y)", 4),
    ("exp(-hypot(x, y)**2)", -2),
    ("log(1 + hypot(x, y)**2)", 2),
    ("sqrt(1 + hypot(x, y)**2)", 1),
    ("sinc(hypot(x, y))", -(math.pi**2) / 3),
    ("abs(hypot(x, y))**2", 2),
    ("max(x, y)**2 + min(x, y)**2", 2),
    ("max(x**2 + y**2, 0)", 2),
    ("abs(x + y)**2/2 - cos(abs(x - y))", 2),
]


@pytest.mark.parametrize(("text", "curvature"), SMOOTH)
def test_where_the_composition_is_smooth_the_hessian_is_that_of_the_function(
    text: str, curvature: float
) -> None:
    point = at_origin(text)
    matrix = [row[: len(point)] for row in EYE[: len(point)]]
    for arithmetic in (Arithmetic(), Arithmetic("precision", 30)):
        found = hessian(text, point, arithmetic=arithmetic)
        for row, wanted in zip(found.hessian, matrix, strict=True):
            assert [float(x) for x in row] == pytest.approx(
                [curvature * x for x in wanted], rel=1e-14
            ), text
        assert all(float(slope) == 0 or "leaky" in text for slope in found.gradient.values())
        assert not found.warnings


@pytest.mark.parametrize(
    "text", ["abs(x)**2", "relu(x)**2 + relu(-x)**2", "cos(abs(x))", "hypot(x, y)**2"]
)
def test_equal_pieces_are_proven_to_be_equal(text: str) -> None:
    pytest.importorskip("flint")
    assert float(hessian(text, at_origin(text), arithmetic=CERTIFIED).hessian[0][0]) == {
        "cos(abs(x))": -1
    }.get(text, 2)


ROUGH = [
    ("relu(x)**2", "relu(x)", "the second derivative by `x` is 2 on one side and 0 on the other"),
    (
        "softsign(x)",
        "softsign(x)",
        "the second derivative by `x` is -2 on one side and 2 on the other",
    ),
    ("elu(x)", "elu(x)", "the second derivative by `x` is 0 on one side and 1 on the other"),
    ("x*abs(x)", "abs(x)", "the second derivative by `x` is 2 on one side and -2 on the other"),
    (
        "x**2*heaviside(x)",
        "heaviside(x)",
        "`heaviside` jumps at 0: the second derivative by `x` is 2",
    ),
    ("sign(x)**2", "sign(x)", "the value jumps between 0 and 1 here"),
    ("floor(x) + x**2", "floor(x)", "the value jumps"),
    ("abs(x)", "abs(x)", "the derivative by `x` is 1 on one side and -1 on the other"),
    (
        "x*2 if x > 0 else x",
        "x > 0",
        "`>` compares equal numbers, 0, here: the derivative by `x` is 2",
    ),
    ("1 if sign(x) > 0.5 else 2", "sign(x)", "the value jumps between 2 and 1 here"),
    ("hypot(x, y)", "hypot(x, y)", "`hypot` has a kink at (0, 0)"),
    ("hypot(x, y)*hypot(2*x, y)", "hypot(2*x, y)", "`hypot` has a kink"),
    ("hypot(x, y)**3/hypot(x, y)", "hypot(x, y)**3/hypot(x, y)", "division by zero"),
    ("max(x, y, 0)**2", "max(x, y, 0)", "the second derivative by `x` is 2"),
    ("abs(x*y)", "abs(x*y)", "the second derivative by `x` and `y` is 1"),
    ("(x if ceil(x)*y != ceil(x) else x*2)", "ceil(x)", "`"),
    # The three surfaces have the same slope, and bend away from each other between the sides.
    ("abs(x + y**2) + abs(x - y**2) - 2*abs(x)", "abs(x)", "`abs` has a kink at 0"),
]


@pytest.mark.parametrize(("text", "under", "words"), ROUGH)
def test_where_it_is_not_the_hessian_is_refused_with_the_place(
    text: str, under: str, words: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        hessian(text, at_origin(text))
    error = caught.value
    assert error.kind in ("derivative", "domain")
    assert words in str(error)
    assert error.span is not None and error.hint
    assert text[error.span.start : error.span.end] in (
        under,
        text,
        "abs(x - y**2)",
        "abs(x + y**2)",
        "ceil(x)*y != ceil(x)",
    )


@pytest.mark.parametrize("text", [text for text, *_ in ROUGH])
def test_nothing_is_proven_where_there_is_nothing(text: str) -> None:
    pytest.importorskip("flint")
    with pytest.raises(ExpressionError):
        hessian(text, at_origin(text), arithmetic=CERTIFIED)


def test_a_smooth_point_beside_a_kink_is_none() -> None:
    assert hessian("relu(x)**2", {"x": 1e-300}).hessian == [[2.0]]
    assert hessian("softsign(x)", {"x": 1.0}).hessian == [[-0.25]]


def test_pieces_are_bounded() -> None:
    names = [f"x{k}" for k in range(40)]
    text = " + ".join(f"abs({name})**2" for name in names)
    with pytest.raises(ExpressionError) as caught:
        hessian(text, dict.fromkeys(names, 0.0))
    assert caught.value.kind == "limit"


def test_sides_that_agree_to_all_orders_asked_for_are_one_piece() -> None:
    """Each of the twelve kinks lies in what is flat there: 2**12 pieces would be more than may be
    looked at.
    """
    text = "f(x)=abs(x)*x; g(x)=f(f(f(f(x)))); g(g(x-y))**2 + g(x+y)**2"
    with use_budget(length=len(text)) as work:
        assert hessian(text, {"x": 0.0, "y": 0.0}).hessian == [[0, 0], [0, 0]]
    assert work.most - work.left < 100_000
    # what jumps has two sides however flat it is
    with pytest.raises(ExpressionError):
        hessian("sign(x**9*abs(x))", {"x": 0.0})


@pytest.mark.parametrize(("text", "curvature"), SMOOTH)
def test_the_values_of_formulas_are_those_of_the_hessian(text: str, curvature: float) -> None:
    values = [each.value for each in diff(text, at_origin(text), order=2).derivatives]
    assert values == pytest.approx([curvature] if len(values) == 1 else [curvature, 0, curvature])


def test_formulas_above_the_first_order_name_their_kinks() -> None:
    for text, kinks in (
        ("x*abs(x)", 1),
        ("abs(x)**2", 0),
        ("cos(abs(x))*(x**2 + y**2)**2", 0),
        ("softsign(x)", 1),
    ):
        assert [w.kind for w in diff(text, order=2).warnings] == ["note"] * kinks, text
    assert not diff("x*abs(x)").warnings
    assert diff("cos(abs(x))", {"x": 0}, order=4).derivatives[0].value == 1
    with pytest.raises(ExpressionError):
        diff("abs(x)*y**2*abs(y)", {"x": 0, "y": 0}, order=3)


# ---- power series -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("cos(abs(x))", [1, 0, -1 / 2, 0, 1 / 24]),
        ("abs(x)**2 + x", [0, 1, 1, 0, 0]),
        ("hypot(x, 0)**2", [0, 0, 1, 0, 0]),
        ("max(x, -x)**4", [0, 0, 0, 0, 1]),
        ("abs(x**3)*x**3 + abs(x**2)", [0, 0, 1, 0, 0]),
        ("sqrt(max(0, x - 1)) + x", [0, 1, 0, 0, 0]),
    ],
)
def test_series_of_even_functions_of_kinks(text: str, coefficients: Sequence[float]) -> None:
    assert taylor(text, {"x": 0}, order=4).coefficients == pytest.approx(coefficients)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("hypot(x, 0)", 1),
        ("softsign(x)", 2),
        ("elu(x)", 2),
        ("x**2*abs(x)", 3),
        ("abs(x)**5", 5),
        ("floor(x)", 0),
    ],
)
def test_series_that_differ_are_refused_from_the_order_at_which_they_do(
    text: str, order: int
) -> None:
    with pytest.raises(ExpressionError) as caught:
        taylor(text, {"x": 0}, order=max(order, 1))
    assert (f"the coefficient of order {order} is" if order else "the value jumps") in str(
        caught.value
    )
    if order > 1:
        assert len(taylor(text, {"x": 0}, order=order - 1).coefficients) == order


@pytest.mark.parametrize("text", ["gelu(x)", "erfinv(x)", "x**7", "x + x**3"])
def test_tiny_arguments_overflow_nothing(text: str) -> None:
    near, middle = taylor(text, {"x": 1e-300}, order=12), taylor(text, {"x": 0}, order=12)
    assert near.coefficients == pytest.approx(middle.coefficients, rel=1e-14, abs=1e-290)


# ---- first order --------------------------------------------------------------------------------------------------
AGREEING: list[tuple[str, dict[str, float]]] = [
    ("relu(x) - relu(-x)", {"x": 1}),
    ("relu(x)**2 + 3*relu(x) - 3*relu(-x)", {"x": 3}),
    ("max(x, y) + min(x, y)", {"x": 1, "y": 1}),
    ("exp(max(x, y))*exp(min(x, y))", {"x": 1, "y": 1}),
    ("sin(x if x >= 0 else relu(x) - relu(-x))", {"x": 1}),
    ("x if x != 0 else 0", {"x": 1}),
    ("x**2 + y if x == y else sin(y)", {"x": 0, "y": 1}),
    ("abs(x)*heaviside(x) - relu(x) + 2*y", {"x": 0, "y": 2}),
    ("hypot(x, y)**2 + 5*x", {"x": 5, "y": 0}),
    ("leaky_relu(x) - leaky_relu(-x)", {"x": 1.01}),
    ("clamp(x, 0, 1) + clamp(x, -1, 0) + clamp(y, -1, 0) + relu(y)", {"x": 1, "y": 1}),
    ("abs(x + y) - 2*relu(-x - y)", {"x": 1, "y": 1}),
    ("max(x, x, y) - relu(y - x)", {"x": 1, "y": 0}),
    ("relu(abs(x)) - relu(2*x)", {"x": -1}),
    ("hypot(3, 4*round(sign(x)))*x", {"x": 5}),
    ("(x if x > 0 else -x)*sign(x)", {"x": 1}),
    ("sin(x)*(1 if x > 0 else -1)**2", {"x": 1}),
    ("x*abs(x) + relu(x) - relu(-x)", {"x": 1}),
]


@pytest.mark.parametrize(("text", "partials"), AGREEING)
def test_where_all_sides_agree_every_question_gives_the_derivative(
    text: str, partials: dict[str, float]
) -> None:
    point = dict.fromkeys(partials, 0.0)
    found = gradient(text, point)
    assert found.gradient == partials and not found.warnings
    matrix = jacobian(text, point)
    assert matrix.jacobian == [list(partials.values())] and not matrix.warnings
    for name, partial in partials.items():
        along = jacobian(text, point, direction={name: 2.0})
        assert along.product == [2 * partial] and not along.warnings
        line = gradient(text, point, wrt=[name])
        assert line.gradient == {name: partial} and not line.warnings
        assert taylor(text, point, wrt=[name], order=1).coefficients[1] == partial
        flow = trace(text, point, mode="forward", direction={name: 1.0})
        assert flow.tangent == partial and not flow.warnings
    told = trace(text, point)
    assert told.gradient == partials and not told.warnings
    checked = check(text, point)
    assert checked.gradient == partials and not checked.warnings
    assert all(quantity.digits == 16 for quantity in checked.quantities)
    for arithmetic in (Arithmetic("precision", 30), Arithmetic("exact")):
        if arithmetic.name == "precision" or not re.search("sin|exp|hypot|0.01|leaky", text):
            answer = gradient(text, point, arithmetic=arithmetic)
            assert {
                name: float(x) for name, x in answer.gradient.items()
            } == partials and not answer.warnings


@pytest.mark.parametrize(("text", "partials"), AGREEING)
def test_adjoints_where_sides_agree_are_those_of_one_side(
    text: str, partials: dict[str, float]
) -> None:
    """What a node receives is what its consumers pass on, so that the steps of a trace can be added
    up.
    """
    told = trace(text, dict.fromkeys(partials, 0.0))
    received = {told.rows[-1]: 1.0}
    for pull in told.adjoint_steps:
        assert (
            pull.product == pull.upstream * pull.partial and pull.upstream == received[pull.source]
        )
        received[pull.target] = received.get(pull.target, 0.0) + pull.product
    for row in told.rows:
        if row.symbol in partials:
            assert received.get(row, 0.0) == pytest.approx(partials[row.symbol], rel=1e-14)


def test_agreeing_sides_are_proven() -> None:
    pytest.importorskip("flint")
    for text, partials in AGREEING:
        answer = gradient(text, dict.fromkeys(partials, "0"), arithmetic=CERTIFIED)
        assert {name: float(x) for name, x in answer.gradient.items()} == partials, text


def test_values_go_the_same_way() -> None:
    x = Value(0.0)
    y = x.relu() - (-x).relu()
    y.backward()
    assert (x.grad, y.grad) == (1.0, 1.0)


def test_each_row_of_a_jacobian_goes_its_own_way() -> None:
    found = jacobian("relu(x) - relu(-x), abs(x), 2*relu(x) - 2*relu(-x)", {"x": 0})
    assert found.jacobian == [[1.0], [0.0], [2.0]]
    assert [w.message for w in found.warnings] == ["`abs` has no derivative at 0"]
    along = jacobian(
        "relu(x) - relu(-x), abs(x), 2*relu(x) - 2*relu(-x)", {"x": 0}, direction={"x": 1.0}
    )
    assert along.product == [1.0, 0.0, 2.0] and len(along.warnings) == 1


def test_an_ordinary_program_asks_for_no_pieces_and_a_kink_for_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: Counter[str] = Counter()
    evaluate = SmoothBranch.evaluate

    def counted(self: SmoothBranch, roots: Sequence[int]) -> None:
        counts[type(self.smooth).__name__] += 1
        evaluate(self, roots)

    monkeypatch.setattr(SmoothBranch, "evaluate", counted)
    gradient("relu(x) + abs(x)*max(x, y)", {"x": 1, "y": 3})
    gradient("x*abs(x)", {"x": 0})
    assert not counts
    names = [f"x{k}" for k in range(30)]
    gradient(" + ".join(f"abs({name})" for name in names), dict.fromkeys(names, 0.0))
    assert counts == {"TaylorSeries": 4}, "two of them with bounds on the rounding errors"
    smooth = " + ".join(f"relu({name}) - relu(-{name})" for name in names)
    assert len(gradient(smooth, dict.fromkeys(names, 0.0)).warnings) == 60
    assert counts["SecondOrder"] <= 4


# ---- jumps --------------------------------------------------------------------------------------------------------
JUMPS = [
    ("x*heaviside(x)", 0.0, "heaviside(x)"),
    ("x*sign(x)", 0.0, "sign(x)"),
    ("x*floor(x)", 0.0, "floor(x)"),
    ("sign(x)**2", 0.0, "sign(x)"),
    ("(x-2)*(1 if x>2 else 3)", 2.0, "x>2"),
    ("1 if sign(x) > 0.5 else 2", 0.0, "sign(x)"),
    ("1 if (1 if x>0 else 0) > 0.5 else 2", 0.0, "x>0"),
    ("relu(sign(x) - 0.5)*x", 0.0, "sign(x)"),
    ("min(sign(x) + 1.5, 1)*x", 0.0, "sign(x)"),
    ("(ceil(x) if x > 0 else 0)**2", 0.0, "x > 0"),
    ("x*atan2(x, -1)", 0.0, "atan2(x, -1)"),
]


@pytest.mark.parametrize(("text", "x", "under"), JUMPS)
def test_a_jump_is_met_by_an_adjoint_of_zero_too(text: str, x: float, under: str) -> None:
    for warnings in (
        gradient(text, {"x": x}).warnings,
        check(text, {"x": x}).warnings,
        jacobian(text, {"x": x}).warnings,
        jacobian(text, {"x": x}, direction={"x": 1.0}).warnings,
    ):
        places = [w.span for w in warnings if w.kind == "kink"]
        assert under in [text[span.start : span.end] for span in places if span], (text, warnings)


@pytest.mark.parametrize(("text", "x", "under"), JUMPS)
def test_a_jump_is_never_proven(text: str, x: float, under: str) -> None:
    pytest.importorskip("flint")
    with pytest.raises(ExpressionError) as caught:
        gradient(text, {"x": str(x)}, arithmetic=Arithmetic("certified"))
    assert caught.value.kind == "derivative"


@pytest.mark.parametrize(
    "text",
    [
        "x*abs(x)",
        "x*(x if x > 0 else -x)",
        "1 if (x if x > 0 else -x) < 5 else 2",
        "0*sign(x) + x",
        "x*relu(x)",
    ],
)
def test_a_continuous_kink_times_zero_is_none(text: str) -> None:
    assert not gradient(text, {"x": 0.0}).warnings


def test_check_claims_no_digits_where_there_is_no_derivative() -> None:
    for text, digits in (
        ("abs(x)", None),
        ("floor(x)", None),
        ("sign(x)**2", None),
        ("x*abs(x)", 16),
    ):
        told = check(text, {"x": 0.0})
        assert told.agrees and told.quantities[1].digits == digits, text
    assert check("(x-2)*(1 if x>2 else 3)", {"x": 2.0}).quantities[1].digits is None


# ---- what does not move -------------------------------------------------------------------------------------------
LOSERS = [
    ("sqrt(max(0, x))", -1.0), ("sqrt(relu(x))", -1.0), ("acos(clamp(x, -1, 1))", 3.0),
    ("sqrt(floor(x))", 0.5),
    ("log(1 + 1/heaviside(x))/sqrt(relu(-x)) if x < 0 else sqrt(max(0, -x, -1))", 2.0),
    ("abs(max(0, x))", -1.0), ("sqrt(0*x)", 3.0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "x"), LOSERS)
def test_what_lies_behind_a_losing_side_is_asked_for_no_derivative(text: str, x: float) -> None:
    answer = gradient(text, {"x": x})
    assert answer.gradient == {"x": 0.0} and not answer.warnings
    assert hessian(text, {"x": x}).hessian == [[0.0]]
    assert taylor(text, {"x": x}, order=3).coefficients[1:] == [0.0, 0.0, 0.0]
    assert jacobian(text, {"x": x}, direction={"x": 1.0}).product == [0.0]


def test_a_dead_neuron_still_shows_its_gradient() -> None:
    w, x = Value(3.0), Value(-2.0)
    dead = x.relu()
    (dead * w).backward()
    assert (dead.grad, x.grad, w.grad) == (3.0, 0.0, 0.0)


# ---- the table ----------------------------------------------------------------------------------------------------
class Beside:
    """A side on which nothing is tied: the sign of what is there."""

    def __call__(self, u: Value) -> int:
        assert u.data != 0
        return 1 if u.data > 0 else -1

    def apart(self, u: Value) -> bool:
        return bool(u.data != 0)

    def length(self, xs: Sequence[Value]) -> Any:
        raise AssertionError("no vector vanishes here")


NEAR = [
    p
    for p in PRIMITIVES.values()
    if p.active_branch and samples_of(p) and p.name not in ("atan2", "hypot")
]


@pytest.mark.parametrize("primitive", NEAR, ids=lambda p: p.name)
def test_pieces_are_the_function_beside_the_knot(primitive: Primitive) -> None:
    assert primitive.active_branch is not None
    for sample in samples_of(primitive):
        out = getattr(REAL, primitive.name)(*sample)
        inputs = []
        for x in sample:
            leaf = variable("x")
            leaf.data = x
            inputs.append(leaf)
        piece = primitive.active_branch(SYMBOLIC, Beside(), *inputs, out=out)
        number = piece.data if isinstance(piece, Value) else piece
        assert number == pytest.approx(out, rel=1e-14), (primitive, sample)


def test_what_has_a_kink_has_pieces_and_what_has_pieces_says_where() -> None:
    for primitive in PRIMITIVES.values():
        assert bool(primitive.active_branch) == bool(primitive.breakpoint), primitive
        assert not primitive.kink or primitive.breakpoint, primitive
        assert not primitive.jumps or primitive.kink, primitive


# ---- random programs ----------------------------------------------------------------------------------------------
def test_random_programs_at_kinks_against_one_sided_limits() -> None:
    pytest.importorskip("flint")
    found = kinked.cases(120, 11)
    wrong = [
        (case.text, case.point, case.answers) for case in found if "WRONG" in str(case.answers)
    ]
    assert not wrong, wrong[0]
    for question in found[0].answers:
        kinds = Counter(case.answers[question].split()[0] for case in found)
        assert kinds["right"] > 30, (question, kinds)
        assert kinds["refused"] + kinds["warned"] > 30, (question, kinds)
    for question in ("hessian", "taylor"):
        smooth = sum(case.answers[question] == "right" for case in found)
        needless = sum(case.answers[question] == "refused needlessly" for case in found)
        assert needless < smooth / 5, (question, needless, smooth)


def test_the_random_test_notices_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = REAL.cos
    monkeypatch.setitem(REAL.__dict__, "cos", lambda x: exact(x) * 1.001)
    assert any("WRONG" in str(case.answers) for case in kinked.cases(40, 12))
