"""Hypothesis strategies: random graphs over the whole table, their programs, texts of the
language's characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from autodiff_cli.engine.graphs.value import Value, constant, graph_of, in_order, node, variable
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.run.evaluation import Evaluation
from autodiff_cli.engine.table.operators import VARIABLE
from autodiff_cli.engine.table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from autodiff_cli.language.printer import expression_text
from samples import OF_FEW_TARGETS, WITH_ORDERS

NAMES = ("x", "y", "w_1", "λ", "x₂", "theta")
OPERATORS = [PRIMITIVES[name] for name in ("add", "sub", "mul", "div", "pow", "neg")]
COMPARISONS = [PRIMITIVES[name] for name in ("lt", "le", "gt", "ge", "eq", "ne")]
LEFT_OUT = ("pow", "where", *WITH_ORDERS, *OF_FEW_TARGETS)
PUBLIC = [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in LEFT_OUT]

LITERALS = ("0", "1", "2", "3", "0.5", "1e-3", "2.75", ".25", "10")


def leaves() -> st.SearchStrategy[Value]:
    """Variables and literals; two leaves of one name become one in `share_leaves`."""
    return st.one_of(
        st.sampled_from(NAMES).map(variable),
        st.sampled_from(LITERALS).map(lambda text: constant(float(text), text)),
    )


def _applied(primitive: Primitive, children: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    if primitive.variadic:
        return st.lists(children, min_size=1, max_size=3).map(lambda xs: node(primitive, tuple(xs)))
    return st.tuples(*[children] * len(primitive.params)).map(lambda xs: node(primitive, xs))


def conditions(numbers: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    """Comparisons of numbers, joined by `and`, `or`, `not`."""
    compared = st.sampled_from(COMPARISONS).flatmap(lambda p: _applied(p, numbers))
    return st.recursive(
        compared,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda ab: node(PRIMITIVES["and_"], ab)),
            st.tuples(inner, inner).map(lambda ab: node(PRIMITIVES["or_"], ab)),
            inner.map(lambda a: node(PRIMITIVES["not_"], (a,))),
        ),
        max_leaves=3,
    )


def share_leaves(root: Value) -> Value:
    """The same graph with one leaf a name."""
    known: dict[str, Value] = {}
    copies: dict[Value, Value] = {}
    for value in in_order((root,)):
        if not value._prev:
            copies[value] = known.setdefault(value.label, value) if value.label else value
        else:
            # A literal is a node of its own wherever it is written.
            parents = [constant(p.data, p.source) if p.source else copies[p] for p in value._prev]
            copies[value] = node(value.primitive, tuple(parents))
    return copies[root]


def graphs(
    functions: list[Primitive] | None = None, max_leaves: int = 12, choices: bool = True
) -> st.SearchStrategy[Value]:
    """Unevaluated graphs over the operators and the given functions (all by default), conditionals
    included.
    """
    table = [*OPERATORS * 2, *(PUBLIC if functions is None else functions)]

    def extend(children: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
        applied = st.sampled_from(table).flatmap(lambda p: _applied(p, children))
        if not choices:
            return applied
        chosen = st.tuples(conditions(children), children, children).map(
            lambda cab: node(PRIMITIVES["where"], cab)
        )
        shared = st.tuples(st.sampled_from(OPERATORS[:4]), children).map(
            lambda pc: node(pc[0], (pc[1], pc[1]))
        )
        return st.one_of(applied, applied, applied, chosen, shared)

    return st.recursive(leaves(), extend, max_leaves=max_leaves).map(share_leaves)


def texts() -> st.SearchStrategy[str]:
    """Any text, with a bias to characters that mean something to the language."""
    meaningful = st.text(
        alphabet="xyef12.0 \n\t;()|,+-−*/^=<>!≤√²³⁻₁π·×#'\"&%[]{}\\_aifelsandort", max_size=40
    )
    pieces = st.lists(
        st.sampled_from(
            ["x", "sin", "(", ")", "2", "1e3", "**", "^", "=",
             "+=", ";", "\n", ",", " if ", " else ", "<", "|", "√", "²",
             "f(x)", "not ", "and ", "1,000", "½", "0x1", "x'", "!", "\u00a0", "\r\n", "\x00", "\ufeff", "é", "あ"]
        ),
        max_size=14,
    ).map("".join)  # fmt: skip
    return st.one_of(meaningful, pieces, st.text(max_size=20))


def evaluate(roots: Sequence[Value]) -> None:
    """Fill in `data` of the nodes that the roots need at the values of the leaves."""
    graph = graph_of(roots)
    Evaluation(REAL, graph)
    for n, data in zip(graph.places, graph.data, strict=True):
        n.data = data


def program_text(outputs: Sequence[Value]) -> str:
    """A program that builds the same graph: nodes that are shared or have a label are bound to
    names, a line each.
    """
    place = in_order(outputs)
    uses: dict[Value, int] = dict.fromkeys(outputs, 1)
    for value in place:
        for child in value._prev:
            uses[child] = uses.get(child, 0) + 1
    taken = {v.label for v in place if v.primitive is VARIABLE} | set(FUNCTIONS) | {"e", "pi", "π"}
    taken |= {v.label for v in place}
    named_before: set[str] = set()
    shown: dict[Value, Value] = {}
    lines: list[str] = []
    counter = 0
    for value in place:
        shown[value] = (
            node(value.primitive, tuple(shown[p] for p in value._prev)) if value._prev else value
        )
        if not value._prev or (uses[value] == 1 and not value.label):
            continue
        name = value.label
        if not name or name in named_before or name in FUNCTIONS:
            counter += 1
            while f"t{counter}" in taken:
                counter += 1
            name = f"t{counter}"
        named_before.add(name)
        lines.append(f"{name} = {expression_text(shown[value])}")
        shown[value] = variable(name)
    listed = ", ".join(expression_text(shown[value]) for value in outputs)
    if not lines or lines[-1].split(" = ", 1)[0] != listed:
        lines.append(listed)
    return "\n".join(lines)


def same_shape(a: Value, b: Value, same_leaf: Callable[[Value, Value], bool]) -> bool:
    """Whether two graphs are the same: operations, order of inputs, sharing, leaves."""
    left, right = list(in_order((a,))), list(in_order((b,)))
    if len(left) != len(right):
        return False
    match = dict(zip(left, right, strict=True))
    return all(
        x.primitive is y.primitive
        and tuple(match[p] for p in x._prev) == y._prev
        and (bool(x._prev) or same_leaf(x, y))
        for x, y in match.items()
    )
