"""Random formulas as trees, with the text that they are written as; of points, random ones of any
size.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

Tree = tuple[Any, ...]
"""A kind of node and its parts: `("name", "x")`, `("literal", "0.1")`, `("+", …, …)`, `("sin", …)`,
`("index", …)`.
"""

LITERALS = (
    "0.1", "0.3", "0.5", "1", "1", "2", "2", "3", "4", "7", "10", "0.01", "1.5", "2.75", "1e-3",
    "1e-9", "1e5", "1e8", "1e16", "100", "pi", "0.999", "12345.678",
)  # fmt: skip
_ONE = """
exp exp2 expm1 log log2 log10 log1p sqrt cbrt abs sign floor ceil round sin cos tan sec csc cot asin acos atan asec acsc
acot sinc deg rad sinh cosh tanh sech csch coth asinh acosh atanh asech acsch acoth relu leaky_relu elu gelu silu
sigmoid softplus softsign logit heaviside erf erfc erfinv erfcx erfi normpdf normcdf norminv lambertw gamma lgamma
digamma trigamma Si Ci Ei li fresnels fresnelc
"""
_COMMON = (
    "exp log sqrt sin cos tan atan tanh log1p expm1 gamma lgamma erf sinh cosh sigmoid softplus"
)
ONE, COMMON = _ONE.split(), _COMMON.split()
"""The functions of one argument, and those that are drawn more often."""
TWO = ("log", "pow", "atan2", "beta", "logaddexp")
ANY = ("sum", "mean", "prod", "min", "max", "hypot", "logsumexp")
SHAPE_PARAMETERS = ("0.5", "1", "2.5", "10", "1e-3", "100")
EXPONENTS = ("2", "2", "3", "4", "0.5", "1.5", "7", "10", "0.1")

A, B, K = ("name", "A"), ("name", "B"), ("name", "k")


def _number(text: str) -> Tree:
    return ("literal", text)


def _square(a: Tree) -> Tree:
    return ("**", a, _number("2"))


CANCELLING: tuple[Tree, ...] = (
    ("/", ("-", _number("1"), ("cos", A)), _square(A)),
    ("/", ("-", A, ("sin", A)), ("**", A, _number("3"))),
    ("/", ("-", ("exp", A), _number("1")), A),
    ("log", ("+", _number("1"), ("exp", A))),
    ("log", ("/", _number("1"), ("exp", A))),
    ("-", ("sqrt", ("+", _square(A), _number("1"))), A),
    ("-", ("sqrt", ("+", A, _number("1"))), ("sqrt", A)),
    ("-", ("+", A, _number("1e16")), _number("1e16")),
    ("-", ("+", A, B), A),
    ("-", ("*", A, ("/", _number("1"), A)), _number("1")),
    ("+", _square(("sin", A)), _square(("cos", A))),
    ("-", _square(("cosh", A)), _square(("sinh", A))),
    ("-", ("tan", A), ("/", ("sin", A), ("cos", A))),
    ("/", ("-", _square(A), _square(B)), ("-", A, B)),
    ("-", ("log", ("+", A, _number("1"))), ("log", A)),
    ("/", ("log", ("+", _number("1"), A)), A),
    ("log", ("exp", A)),
    ("exp", ("neg", _square(A))),
    ("/", A, ("exp", A)),
    ("/", A, ("sqrt", ("+", _square(A), _square(B)))),
    ("sqrt", ("-", _square(("+", A, B)), _square(("-", A, B)))),
    ("/", ("gamma", ("+", A, _number("1"))), ("gamma", A)),
    ("-", ("lgamma", ("+", A, _number("1"))), ("lgamma", A)),
    ("-", ("digamma", ("+", A, _number("1"))), ("digamma", A)),
    ("-", _number("1"), ("tanh", A)),
    ("-", _number("1"), ("erf", A)),
    ("-", ("atan", ("+", A, _number("1"))), ("atan", A)),
    ("tan", ("gamma", A)),
    ("sin", ("*", A, _number("1e8"))),
    ("cos", ("exp", A)),
    ("**", ("+", _number("1"), ("/", B, A)), A),
    ("/", ("-", ("**", A, B), _number("1")), B),
    ("-", ("-", ("+", ("*", _number("0.1"), A), ("*", _number("0.2"), A)), ("*", _number("0.3"), A)), _number("1e-9")),
    ("where", "<", A, _number("1"), ("-", ("exp", A), _number("1")), ("log", A)),
    ("index", "sum", ("/", ("-", _number("1"), ("cos", ("*", A, K))), _square(K)), "k", 1, 8),
    ("index", "sum", ("/", ("**", ("neg", A), K), ("gamma", ("+", K, _number("1")))), "k", 1, 9),
    ("index", "prod", ("-", A, K), "k", 1, 6),
)  # fmt: skip
"""Shapes in A and B whose rounding errors grow, underflow or cancel."""


def _absorbed(a: Tree) -> Tree:
    """Return a tree that is another one, but for what 1e16 absorbs of it in doubles."""
    return ("-", ("+", a, _number("1e16")), _number("1e16"))


EDGES: tuple[Tree, ...] = (
    ("atan2", ("-", A, _absorbed(A)), B),
    ("atan2", ("-", A, B), ("neg", ("abs", A))),
    ("abs", ("-", A, ("+", A, B))),
    ("abs", ("-", _absorbed(A), B)),
    ("relu", ("-", ("+", A, B), A)),
    ("relu", ("-", A, _number("1"))),
    ("max", A, ("*", B, ("/", A, B))),
    ("min", A, B, _absorbed(A)),
    ("max", ("sin", A), ("cos", A)),
    ("floor", ("*", A, _number("100"))),
    ("round", _absorbed(A)),
    ("sign", ("-", A, _absorbed(A))),
    ("hypot", ("-", A, _absorbed(A)), ("-", B, _absorbed(B))),
    ("where", "<", A, ("+", A, B), ("+", A, B), ("*", A, B)),
    ("where", "<", _absorbed(A), A, ("*", A, A), ("sin", A)),
    ("where", "<", ("*", A, B), ("*", B, A), A, B),
    ("clamp", ("*", A, _number("0.1")), _number("0.1"), _number("1")),
    ("leaky_relu", ("-", _square(("sqrt", A)), A)),
    ("pow", ("-", _number("1"), ("tanh", A)), ("abs", B)),
    ("sinc", ("+", A, B)),
)
"""Shapes in A and B at or beside kinks, jumps and cuts, and rules that choose by a number that may
be 0 by rounding.
"""
SHAPES = CANCELLING + EDGES


def _filled(tree: Tree, a: Tree, b: Tree) -> Tree:
    """Return a shape with these trees for A and B."""
    if tree is A:
        return a
    if tree is B:
        return b
    return tuple(_filled(part, a, b) if isinstance(part, tuple) else part for part in tree)


def tree_of(rng: Random, names: Sequence[str], depth: int) -> Tree:
    """Return a random tree in these names."""
    if depth <= 0:
        return ("name", rng.choice(names)) if rng.random() < 0.75 else _number(rng.choice(LITERALS))

    def inner() -> Tree:
        return tree_of(rng, names, rng.randint(0, depth - 1))

    kind = rng.random()
    if kind < 0.30:
        return (rng.choice("++--**//"), inner(), inner())
    if kind < 0.50:
        return _filled(rng.choice(SHAPES), inner(), inner())
    if kind < 0.58:
        exponent = _number(rng.choice(EXPONENTS))
        return ("**", inner(), ("neg", exponent) if rng.random() < 0.3 else exponent)
    if kind < 0.60:
        return ("**", inner(), inner())
    if kind < 0.62:
        return ("neg", inner())
    if kind < 0.75:
        return (rng.choice(COMMON), inner())
    if kind < 0.90:
        return (rng.choice(ONE), inner())
    return _of_several(rng, names, depth)


def _of_several(rng: Random, names: Sequence[str], depth: int) -> Tree:
    def inner(further: Sequence[str] = ()) -> Tree:
        return tree_of(rng, [*names, *further], rng.randint(0, depth - 1))

    kind = rng.choice(
        (
            "two",
            "two",
            "any",
            "any",
            "clamp",
            "polygamma",
            "gammainc",
            "where",
            "where",
            "index",
            "let",
            "let",
        )
    )
    if kind == "two":
        return (rng.choice(TWO), inner(), inner())
    if kind == "any":
        return (rng.choice(ANY), *[inner() for _ in range(rng.randint(2, 3))])
    if kind == "clamp":
        return ("clamp", inner(), _number("0.1"), _number(rng.choice(("1", "100", "1e5"))))
    if kind == "polygamma":
        return ("polygamma", _number(rng.choice("0123")), inner())
    if kind == "gammainc":
        return (
            rng.choice(("gammainc", "gammaincc")),
            _number(rng.choice(SHAPE_PARAMETERS)),
            inner(),
        )
    if kind == "where":
        return ("where", rng.choice("<>"), inner(), inner(), inner(), inner())
    if kind == "index" and "k" not in names:
        body, last = inner("k"), rng.randint(2, 10)
        if "k" not in names_in(body):
            body = (rng.choice("*/"), body, K)  # without its index it is a sum of four numbers
        return ("index", rng.choice(("sum", "sum", "prod")), body, "k", 1, last)
    return _shared(inner(), inner("A"))


def _shared(bound: Tree, body: Tree) -> Tree:
    """Return a body in which A is a tree that it has several times."""
    return _filled_names(body, bound)


def _filled_names(tree: Tree, bound: Tree) -> Tree:
    if tree == A:
        return bound
    return tuple(_filled_names(part, bound) if isinstance(part, tuple) else part for part in tree)


def names_in(tree: Tree) -> set[str]:
    """Return the names of a tree, without those of an index."""
    if tree[0] == "name":
        return {tree[1]}
    found = {name for part in tree if isinstance(part, tuple) for name in names_in(part)}
    return found - {tree[3]} if tree[0] == "index" else found


def size_of(tree: Tree) -> int:
    """Return the number of nodes, the terms of a sum over an index counted each."""
    inside = sum(size_of(part) for part in tree if isinstance(part, tuple))
    return 1 + inside * (tree[5] if tree[0] == "index" else 1)


def text_of(tree: Tree) -> str:
    """Return a tree as the language writes it."""
    kind, *parts = tree
    if kind in ("name", "literal"):
        return str(parts[0])
    if kind == "where":
        relation, left, right, yes, no = parts
        return f"where({text_of(left)} {relation} {text_of(right)}, {text_of(yes)}, {text_of(no)})"
    if kind == "index":
        of, body, name, first, last = parts
        return f"{of}({text_of(body)}, {name}, {first}, {last})"
    texts = [text_of(part) for part in parts]
    if kind == "neg":
        return f"(-{texts[0]})"
    if kind == "**":
        return f"({texts[0]})**({texts[1]})"
    if kind in "+-*/":
        return f"({texts[0]} {kind} {texts[1]})"
    return f"{kind}({', '.join(texts)})"


def formula(rng: Random, depth: int = 4) -> Tree:
    """Return a random formula of one or two variables, and at most 60 nodes."""
    names = ["x", "y"][: rng.choice((1, 2, 2))]
    while True:
        tree = tree_of(rng, names, rng.randint(1, depth))
        if names_in(tree) and size_of(tree) <= 60:
            return tree


# ---- points
SPECIAL = (
    "0",
    "1",
    "-1",
    "0.5",
    "2",
    "3",
    "1e-8",
    "1e8",
    "3.141592653589793",
    "49",
    "100",
    "0.1",
    "-2",
    "10",
    "1e16",
)


def number(rng: Random) -> str:
    """Return a number: mostly between 1e-8 and 1e8, one in twelve of any size, some special."""
    kind = rng.random()
    if kind < 0.08:
        return rng.choice(SPECIAL)
    span = 300.0 if kind < 0.16 else 8.0 if kind < 0.6 else 2.5
    digits = rng.choice((1, 2, 2, 3, 3, 4, 6, 9, 16))
    size = 10.0 ** rng.uniform(-span, span)
    return f"{'-' if rng.random() < 0.25 else ''}{size:.{digits}g}"


def point(rng: Random, names: Sequence[str]) -> dict[str, str]:
    """Return a random point."""
    return {name: number(rng) for name in names}
