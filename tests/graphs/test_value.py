"""Value: micrograd's contract, the tutorials' numbers, and what it refuses."""

from __future__ import annotations

import copy
import gc
import itertools
import math
import operator as op
import pickle
import re
import sys
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_cli
from autodiff_cli import ExpressionError, Value, exp, log, parse, sqrt, tanh
from autodiff_cli.engine.graphs import library
from autodiff_cli.engine.graphs.value import apply, in_order
from autodiff_cli.engine.table.primitive import BY_SYMBOL, COMPOSED, FUNCTIONS
from autodiff_cli.language.printer import expression_text
from counting import lines


def test_the_loss_of_the_tutorials() -> None:
    w1, w2 = Value(2.0, label="w1"), Value(3.0, label="w2")
    loss = ((w1 - 1) ** 2 + (w2 - 5) ** 2) * 0.5
    loss.backward()
    assert (loss.data, w1.grad, w2.grad) == (2.5, 1.0, -2.0)
    assert repr(loss) == "Value(data=2.5, grad=1.0)"


def test_the_tanh_neuron() -> None:
    x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
    w1, w2 = Value(-3.0, label="w1"), Value(1.0, label="w2")
    b = Value(6.8813735870195432, label="b")
    n = x1 * w1 + x2 * w2 + b
    o = n.tanh()
    o.label = "o"
    o.backward()
    assert o.data == pytest.approx(0.7071067811865476, rel=1e-15)
    gradients = [v.grad for v in (x1, w1, x2, w2, b)]
    assert gradients == pytest.approx([-1.5, 1.0, 0.5, 0.0, 0.5], rel=1e-12, abs=1e-12)


def test_the_neuron_with_tanh_spelled_out() -> None:
    x1, w1, b = Value(2.0), Value(-3.0), Value(6.8813735870195432)
    e = (2 * (x1 * w1 + b)).exp()
    o = (e - 1) / (e + 1)
    o.backward()
    assert [x1.grad, w1.grad, b.grad] == pytest.approx([-1.5, 1.0, 0.5], rel=1e-12)


def test_gradients_accumulate_where_a_value_is_used_twice() -> None:
    a, b = Value(3.0), Value(4.0)
    d, e = a - b, a + b
    f = d + e
    f.backward()
    assert (a.grad, b.grad) == (2.0, 0.0)
    x = Value(3.0)
    y = x * x
    assert y._prev == (x, x)
    assert y.children == (x, x)
    y.backward()
    assert x.grad == 6.0


def test_micrograd_readme() -> None:
    a, b = Value(-4.0), Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    assert f"{g.data:.4f} {a.grad:.4f} {b.grad:.4f}" == "24.7041 138.8338 645.5773"


def test_leaves_accumulate_until_they_are_reset_and_nothing_compounds() -> None:
    x, unused = Value(3.0), Value(1.0)
    square = x * x
    loss, other = square * 2, 5 * x
    loss.backward()
    loss.backward()
    # micrograd adds to `square.grad` as well, and so comes to 36
    assert (x.grad, square.grad, loss.grad) == (24.0, 2.0, 1.0)
    other.backward()
    assert (x.grad, square.grad, unused.grad) == (29.0, 2.0, 0.0)
    other.zero_grad()
    assert (x.grad, other.grad, square.grad) == (0.0, 0.0, 2.0)
    other.backward()
    x.grad = 0.0
    loss.backward()
    assert x.grad == 12.0


def test_the_gradients_of_a_sum_over_samples_add_up_as_in_pytorch() -> None:
    w = Value(1.0)
    for x in (1.0, 2.0, 3.0):
        ((w * x) ** 2).backward()
    assert w.grad == 28.0


def test_a_backward_without_a_derivative_adds_nothing() -> None:
    x = Value(0.0, label="x")
    (3 * x).backward()
    with pytest.raises(ExpressionError, match="derivative is infinite"):
        (x + sqrt(x)).backward()
    assert x.grad == 3.0


def test_a_leaf_without_influence_keeps_its_gradient() -> None:
    x, y = Value(2.0), Value(5.0)
    (x * y).backward()
    autodiff_cli.where(x.data > 0, x, y).backward()
    assert (x.grad, y.grad) == (6.0, 2.0)
    fixed = Value(2.0)
    fixed.active = False
    (fixed * y).backward()
    assert (fixed.grad, y.grad) == (None, 4.0)


def test_a_leaf_is_its_own_result() -> None:
    x = Value(2.0)
    x.backward()
    x.backward()
    assert x.grad == 2.0


def test_operators_take_numbers_on_either_side() -> None:
    x = Value(4.0)
    results = [1 + x, x + 1, 1 - x, x - 1, 2 * x, x * 2, 2 / x, x / 2, 2**x, x**2, -x, +x, abs(-x)]
    assert [r.data for r in results] == [5, 5, -3, 3, 8, 8, 0.5, 2, 16, 16, -4, 4, 4]
    assert sum([x, x]).data == 8.0  # type: ignore[union-attr]


def test_identity_and_order() -> None:
    a, b = Value(1.0), Value(1.0)
    assert a != b
    assert len({a, b}) == 2
    assert a <= b
    assert not a < b
    assert a < 2
    assert a >= 1


def test_operators_give_what_the_table_gives() -> None:
    numbers = [0.0, -0.0, 1.0, -2.5, 3, 1e-320, -1e200, 1.7e308]
    told = 0
    for a, b in itertools.product(numbers, repeat=2):
        for symbol, operate in [("+", op.add), ("-", op.sub), ("*", op.mul), ("/", op.truediv)]:
            expected = _outcome(
                lambda a=a, b=b, symbol=symbol: apply(BY_SYMBOL[symbol], Value(a), Value(b))
            )  # type: ignore[misc]
            for left, right in ((Value(a), Value(b)), (Value(a), b), (a, Value(b))):
                assert _outcome(lambda x=left, y=right, operate=operate: operate(x, y)) == expected  # type: ignore[misc]
            told += "ExpressionError" in expected
    assert told > 20


def _outcome(action: Callable[[], Value]) -> str:
    try:
        made = action()
    except ExpressionError as error:
        return repr(error)
    return repr((made, made._op, [(each.data, each._op) for each in made._prev]))


def test_a_plain_number_is_a_constant() -> None:
    x = Value(3.0)
    made = 2 * x
    made.backward()
    number = made.children[0]
    assert (number.data, number.active, number.label, number.source) == (2.0, False, "", None)
    assert math.isnan(number.grad)  # not computed; code that draws formats it as it does others
    assert lines(lambda: x + 1.5) < 2 * lines(lambda: x + Value(1.5))


def test_a_node_is_one_object_to_the_collector() -> None:
    x, count = Value(1.5, label="x"), 500

    def listed(make: Callable[[], Value]) -> int:
        before = len(gc.get_objects())
        made = [make() for _ in range(count)]
        return len(gc.get_objects()) - before if len(made) == count else 0

    for make, nodes in (
        (lambda: x * x, 1),
        (x.tanh, 1),
        (lambda: Value(2.0), 1),
        (lambda: 1 - x, 2),
    ):
        gc.collect()
        gc.disable()
        try:
            assert nodes * count <= listed(make) < nodes * count + 50
        finally:
            gc.enable()


def test_what_is_said_of_a_node_can_be_changed() -> None:
    a, b = Value(2.0), Value(3.0)
    a.active = False
    made = a * b
    made.label = "made"
    made.backward()
    assert (a.grad, b.grad, a.label, b.active, made.label, made.span) == (
        None,
        2.0,
        "",
        True,
        "made",
        None,
    )
    made._prev = [a]
    assert made.children == (a,)
    made._prev = ()
    assert (made.children, made._op, made.label) == ((), "", "made")
    made.backward()
    # it is a leaf now, with the gradient that it had
    assert (made.grad, b.grad) == (2.0, 2.0)


def test_a_variable_that_is_not_active_is_no_number() -> None:
    x, c = Value(2.0, label="x"), Value(0.0, label="c")
    c.active = False
    made = x * c + 1
    made.active = False
    made.backward()
    assert (expression_text(made), x.grad, c.grad, c.active, made.active) == (
        "x*c + 1",
        0.0,
        None,
        False,
        False,
    )
    number = Value(2.0) * 3
    number.children[1].active = True
    assert number.children[1].active
    copied = copy.deepcopy(made)
    assert (copied.active, copied.children[0].children[1].active) == (False, False)


def test_descent_by_hand() -> None:
    w = Value(2.0)
    for _ in range(3):
        loss = (w - 5) ** 2
        w.zero_grad()
        loss.backward()
        w.data += -0.25 * w.grad
    assert w.data == 4.625


def test_operations_by_symbol_as_micrograd_makes_them() -> None:
    a, b = Value(2.0), Value(3.0)
    made = Value(6.0, (a, b), "*")
    made.backward()
    assert (a.grad, b.grad, made._op, a._op) == (3.0, 2.0, "*", "")
    own = Value(1.0, (a,), "spam")
    assert (own._op, own._prev) == ("spam", (a,))
    with pytest.raises(ExpressionError, match="`spam` has no rule"):
        own.backward()
    with pytest.raises(ValueError, match="no operation '\\*' has 0 inputs"):
        Value(1.0, (), "*")


def test_a_value_has_no_other_attributes() -> None:
    x = Value(1.0)
    with pytest.raises(TypeError, match="a function without arguments, not 3"):
        x._backward = 3  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        x.colour = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_only_finite_numbers(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Value(bad)
    with pytest.raises(ValueError, match="compute with"):
        Value(1.0) + bad


@pytest.mark.parametrize("bad", ["2", None, Value(1.0)])
def test_only_numbers(bad: object) -> None:
    with pytest.raises(TypeError, match="needs a number"):
        Value(bad)


def test_errors_name_the_operation() -> None:
    with pytest.raises(ExpressionError, match="`log` is undefined at -1") as caught:
        log(Value(-1.0))
    assert caught.value.kind == "domain"
    with pytest.raises(ExpressionError, match="division by zero"):
        Value(1.0) / 0
    with pytest.raises(ExpressionError, match="too large") as caught:
        exp(Value(1000.0))
    assert caught.value.kind == "overflow"
    root = sqrt(Value(0.0, label="x"))
    with pytest.raises(ExpressionError, match=r"derivative is infinite there \(here x = 0\)"):
        root.backward()


def test_functions_take_values_and_numbers() -> None:
    assert tanh(0.5) == math.tanh(0.5)
    assert isinstance(tanh(Value(0.5)), Value)
    assert autodiff_cli.leaky_relu(-2.0) == -0.02
    assert autodiff_cli.leaky_relu(-2.0, slope=0.5) == -1.0
    assert autodiff_cli.log(8.0, 2) == 3.0
    assert autodiff_cli.swish is not None
    for call in (autodiff_cli.max, autodiff_cli.logsumexp, lambda: autodiff_cli.max(x=1.0)):
        with pytest.raises(TypeError, match="call it as"):
            call()
    with pytest.raises(TypeError, match=r"call it as sin\(x\)"):
        autodiff_cli.sin(1.0, 2.0)
    with pytest.raises(AttributeError):
        autodiff_cli.no_such_function  # noqa: B018


@pytest.mark.parametrize("function", [math.sin, math.exp, math.sqrt, math.floor, float])
def test_a_function_of_python_does_not_drop_the_derivative(
    function: Callable[[Any], object],
) -> None:
    with pytest.raises(
        TypeError, match=r"`autodiff_cli\.sin\(x\)` for `math\.sin\(x\)`, or `\.data`"
    ):
        function(Value(1.0))


def test_a_value_is_formatted_and_rounded_as_its_number() -> None:
    x = Value(2.71828)
    assert (f"{x:.2f}", format(x), f"{x:>8.1e}") == ("2.72", repr(x), " 2.7e+00")
    assert (round(x), round(x, 2), type(round(x))) == (3, 2.72, int)


def test_threads_may_share_values() -> None:
    leaves = [Value(float(k), label=f"x{k}") for k in range(1, 9)]
    shared = sum((leaf * leaf for leaf in leaves), Value(0.0))
    wrong: list[object] = []

    def work(k: int) -> None:
        try:
            for _ in range(200):
                own = [leaf * float(k) for leaf in leaves]
                output = sum(own, shared) * 2.0
                output.backward()
                expected = [1.0, *[2.0] * len(own)]
                if [output.grad, *[each.grad for each in own]] != expected:
                    wrong.append(own)
        except Exception as error:
            wrong.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []
    assert shared.grad == 2.0
    totals = [sum(200 * (2.0 * k + 4.0 * leaf.data) for k in range(8)) for leaf in leaves]
    assert [leaf.grad for leaf in leaves] == totals


def test_what_a_sweep_marks_is_never_seen() -> None:
    seen: list[object] = []

    class Watched(Value):
        __slots__ = ()

        @property  # type: ignore[override]
        def grad(self) -> Any:
            return Value.__dict__["grad"].__get__(self)

        @grad.setter
        def grad(self, grad: Any) -> None:
            if getattr(self, "_first", None) is None:  # a leaf
                seen.append(grad)
            Value.__dict__["grad"].__set__(self, grad)

    x = Watched(2.0)
    (x * x + x).backward()
    with pytest.raises(ExpressionError):
        (x - x).sqrt().backward()
    assert seen == [0.0, 5.0]


@pytest.mark.parametrize("length", [10**3, 10**5])
def test_long_chains_do_not_recurse(length: int) -> None:
    x = Value(1.0)
    y = x
    for _ in range(length):
        y = y * 1.0
    y.backward()
    assert x.grad == 1.0
    del y


def test_the_types_of_the_functions_list_what_there_is() -> None:
    stub = Path(library.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    typed = dict(re.findall(r"^(\w+): (\w+)$", stub, re.MULTILINE))
    functions = FUNCTIONS | COMPOSED
    assert list(typed) == list(functions)
    for name, primitive in functions.items():
        unary = len(primitive.params) == 1 and not primitive.variadic and not primitive.longer
        assert typed[name] == ("Choice" if name == "where" else "Unary" if unary else "Several")


def test_texts_in_other_types_are_not_numbers() -> None:
    np = pytest.importorskip("numpy")
    for text in (
        array("b", b"12"),
        bytearray(b"3"),
        memoryview(b"3"),
        np.str_("3"),
        np.bytes_(b"3"),
    ):
        with pytest.raises(TypeError, match="a Value needs a number, not"):
            Value(text)


@pytest.mark.parametrize("bad", [[1.0], {}, "a", None, object(), 1j, (2.0,), ExpressionError])
def test_what_is_no_number_is_refused_at_once(bad: object) -> None:
    v = Value(2.0)
    for attempt in (
        lambda: Value(bad),
        lambda: v * bad,
        lambda: bad * v,
        lambda: v - bad,
        lambda: exp(bad),
    ):  # type: ignore[operator]
        with pytest.raises(TypeError, match=r"a Value needs a number, not|cannot compute with"):
            attempt()
    for inputs in ("a", 3, [2.0]):
        with pytest.raises(TypeError, match="the inputs of an operation are Values"):
            Value(2.0, inputs)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not finite"):
        Value(10**400)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64, np.uint8, np.array])
def test_scalars_of_numpy_are_numbers(kind: Callable[[int], Any]) -> None:
    two, x = kind(2), Value(3.0)
    found = [
        two + x,
        x + two,
        two - x,
        x - two,
        two * x,
        x * two,
        two / x,
        x / two,
        two**x,
        x**two,
        Value(two),
    ]
    assert all(type(each) is Value and type(each.data) is float for each in found)
    assert [each.data for each in found] == [5, 5, -1, 1, 6, 6, 2 / 3, 1.5, 8, 9, 2]
    assert all(type(child.data) is float for each in found for child in each.children)
    assert bool(two < x) and bool(x > two) and not bool(x <= two)
    assert exp(two * 0) == 1.0
    found[4].backward()
    assert x.grad == 2.0


def test_arrays_of_numpy() -> None:
    x = Value(3.0)
    with pytest.raises(
        TypeError, match=r"an array of shape \(2,\): go through its elements, .*to='numpy'"
    ):
        exp(np.array([1.0, 2.0]))
    numbers = np.array([1.0, 2.0])
    pairs = [
        (x + numbers, 3 + numbers),
        (x - numbers, 3 - numbers),
        (x * numbers, 3 * numbers),
        (x / numbers, 3 / numbers),
    ]
    pairs += [(x**numbers, 3.0**numbers), (numbers**x, numbers**3), (numbers - x, numbers - 3)]
    for found, expected in pairs:
        assert [entry.data for entry in found] == expected.tolist()
    assert (x > numbers * 1.5).tolist() == [True, False] and (numbers * 1.5 < x).tolist() == [
        True,
        False,
    ]
    with pytest.raises(TypeError, match=r"not an array of shape \(2,\)"):
        Value(np.array([1.0, 2.0]))  # type: ignore[arg-type]
    weights = np.array([Value(1.0), Value(2.0)])
    total = (weights * x + 1).sum()
    total.backward()
    assert [w.grad for w in weights] == [3.0, 3.0] and x.grad == 3.0


def _copied(values: list[Value]) -> list[list[Value]]:
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    packed = [pickle.loads(pickle.dumps(values, protocol)) for protocol in protocols]  # noqa: S301
    # the module's own pickler in Python asks for the parts in another order than the one in C
    return [*packed, pickle.loads(pickle._dumps(values)), copy.deepcopy(values)]  # type: ignore[attr-defined] # noqa: S301


def test_copies_are_graphs_of_their_own_with_the_same_shape() -> None:
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    product = a * b
    total = (product + a).tanh() * product
    total.backward()
    for order in ([a, product, total], [total, a, product], [product, total, a]):
        made = _copied(order)
        assert len(made) == pickle.HIGHEST_PROTOCOL + 3
        for found in made:
            named = dict(zip(map(id, order), found, strict=True))
            a2, product2, total2 = (named[id(each)] for each in (a, product, total))
            assert (repr(total2), a2.label, a2.grad, total2.primitive) == (
                repr(total),
                "a",
                a.grad,
                total.primitive,
            )
            assert a2 is not a and total2.children[1] is product2 and product2.children[0] is a2
            a2.data = 5.0
            (a2 * 2 + total2).backward()
            assert a2.grad != a.grad == order[order.index(a)].grad
    assert copy.copy(total).children == total.children
    program = parse("k*x**2")
    for made in (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):  # noqa: S301
        for value in in_order(program.outputs):
            found = made(value)
            for name in ("primitive", "label", "span", "source", "active", "data", "grad"):
                assert getattr(found, name) == getattr(value, name)


def test_large_graphs_are_copied() -> None:
    x = Value(1.0, label="x")
    y = x
    for _ in range(100_000):
        y = y + x
    y.backward()
    for x2, y2 in (pickle.loads(pickle.dumps((x, y))), copy.deepcopy((x, y))):  # noqa: S301
        assert (x2.grad, y2.data) == (100_001.0, 100_001.0)
        y2.backward()
        assert x2.grad == 200_002.0 and x2 is not x


@pytest.mark.parametrize("order", [1, -1])
def test_pickling_all_nodes_of_a_chain_takes_time_in_proportion(order: int) -> None:
    def pickled(length: int) -> int:
        made = [Value(1.0)]
        for _ in range(length):
            made.append(made[-1] * 0.5 + made[0])
        return lines(lambda: pickle.dumps(made[::order]))

    assert pickled(1600) < 2.5 * pickled(800)


@pytest.mark.parametrize(("x", "y"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_an_order_is_that_of_the_data(x: float, y: float) -> None:
    a = Value(x)
    for b in (Value(y), y):
        assert (a < b, a <= b, a > b, a >= b) == (x < y, x <= y, x > y, x >= y)


def test_a_graph_in_another_order_keeps_the_units_of_its_nodes() -> None:
    graph = autodiff_cli.gradient("x*y/z", "x=2 m,y=3 s,z=4 kg").graph
    order = [i for i, parents in enumerate(graph.parents) if not parents][::-1]
    order += [i for i, parents in enumerate(graph.parents) if parents]
    turned, place = graph.subgraph(order, graph.roots)
    assert order != sorted(order)
    assert len({str(graph.unit(i)) for i in order}) == 5
    assert [str(turned.unit(place[i])) for i in order] == [str(graph.unit(i)) for i in order]
