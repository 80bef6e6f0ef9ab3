"""The functions of lists alone, as operations on their entries: products, determinants, inverses,
shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..engine.table.operators import DIV, MUL, NEG, SUB
from ..engine.table.primitive import PRIMITIVES, Primitive

# The largest matrix that is inverted: unrolled, one of order 5 has 25 determinants of order 4, and
# loses more digits than an elimination, which would have to choose its pivots by the numbers.
MAX_ORDER = 4

Node = int
# Adds an operation on nodes.
Make = Callable[[Primitive, Sequence[Node]], Node]


class Array(NamedTuple):
    """A list of nodes, or of rows of nodes: its shape, and entries by rows."""

    shape: tuple[int, ...]
    entries: tuple[Node, ...]

    def rows(self) -> list[tuple[Node, ...]]:
        """Return the rows of a matrix."""
        return [
            self.entries[k : k + self.shape[1]] for k in range(0, len(self.entries), self.shape[1])
        ]


class WrongShape(Exception):
    """A list does not have the shape that a function needs: its position among the arguments, and
    what is needed.
    """

    def __init__(self, k: int, needed: str) -> None:
        super().__init__()
        self.k = k
        self.needed = needed


def total(terms: Sequence[Node], make: Make) -> Node:
    """Return the sum of nodes."""
    return make(PRIMITIVES["sum"], terms) if len(terms) > 1 else terms[0]


def products(left: Sequence[Node], right: Sequence[Node], make: Make) -> Node:
    """Return the sum of the products of two lists of one length."""
    return total([make(MUL, pair) for pair in zip(left, right, strict=True)], make)


def _dot(a: Array, b: Array, make: Make) -> Node:
    if a.shape != b.shape:
        raise WrongShape(1, "`dot` takes two lists of the same shape")
    return products(a.entries, b.entries, make)


def _norm(a: Array, make: Make) -> Node:
    return make(PRIMITIVES["hypot"], a.entries)


def _outer(a: Array, b: Array, make: Make) -> Array:
    for k, one in enumerate((a, b)):
        _require(len(one.shape) == 1, k, "`outer` takes two lists of numbers")
    entries = [make(MUL, (x, y)) for x in a.entries for y in b.entries]
    return Array((*a.shape, *b.shape), tuple(entries))


def _softmax(a: Array, make: Make) -> Array:
    """Return the exponentials as shares of their sum.

    That is exp(-logsumexp(a - x)) for an entry x: of differences of entries, which neither overflow
    nor lose digits, as x - logsumexp(a) would.
    """
    shares = []
    for x in a.entries:
        whole = make(PRIMITIVES["logsumexp"], [make(SUB, (other, x)) for other in a.entries])
        shares.append(make(PRIMITIVES["exp"], (make(NEG, (whole,)),)))
    return Array(a.shape, tuple(shares))


def _transpose(a: Array, make: Make) -> Array:
    _require(len(a.shape) == 2, 0, "`transpose` takes a list of rows: `[[1, 2], [3, 4]]`")
    height, width = a.shape
    return Array(
        (width, height), tuple([x for column in zip(*a.rows(), strict=True) for x in column])
    )


def _trace(a: Array, make: Make) -> Node:
    _require(_is_square(a), 0, "`trace` takes a square list of rows: `[[1, 2], [3, 4]]`")
    return total([row[k] for k, row in enumerate(a.rows())], make)


def _det(a: Array, make: Make) -> Node:
    _require_small("det", a)
    return _determinant(a.rows(), make)


def _inv(a: Array, make: Make) -> Array:
    _require_small("inv", a)
    rows = a.rows()
    determinant = _determinant(rows, make)
    n = len(rows)
    entries = [
        make(DIV, (_cofactor(rows, k, i, make), determinant)) for i in range(n) for k in range(n)
    ]
    return Array(a.shape, tuple(entries))


def _solve(a: Array, b: Array, make: Make) -> Array:
    _require_small("solve", a)
    _require(b.shape == a.shape[:1], 1, "in `solve(A, b)`, b is as long as a column of A")
    rows = a.rows()
    determinant = _determinant(rows, make)
    n = len(rows)
    adjugate = [[_cofactor(rows, k, i, make) for k in range(n)] for i in range(n)]
    return Array(
        b.shape,
        tuple([make(DIV, (products(row, b.entries, make), determinant)) for row in adjugate]),
    )


def _determinant(rows: Sequence[Sequence[Node]], make: Make) -> Node:
    """Return the determinant, expanded by the first row (Laplace)."""
    if len(rows) == 1:
        return rows[0][0]
    if len(rows) == 2:
        (a, b), (c, d) = rows
        return make(SUB, (make(MUL, (a, d)), make(MUL, (b, c))))
    terms = [make(MUL, (x, _cofactor(rows, 0, k, make))) for k, x in enumerate(rows[0])]
    return total(terms, make)


def _cofactor(rows: Sequence[Sequence[Node]], i: int, k: int, make: Make) -> Node:
    """Return the determinant without row i and column k, with the sign of that place."""
    rest = [
        [x for place, x in enumerate(row) if place != k]
        for place, row in enumerate(rows)
        if place != i
    ]
    minor = _determinant(rest, make)
    return make(NEG, (minor,)) if (i + k) % 2 else minor


def _is_square(a: Array) -> bool:
    return len(a.shape) == 2 and a.shape[0] == a.shape[1]


def _require(holds: bool, k: int, needed: str) -> None:
    if not holds:
        raise WrongShape(k, needed)


def _require_small(name: str, a: Array) -> None:
    _require(_is_square(a), 0, f"`{name}` takes a square list of rows: `[[1, 2], [3, 4]]`")
    most = f"{MAX_ORDER} by {MAX_ORDER}"
    needed = (
        f"`{name}` is written out as operations, up to {most}; solve larger systems as equations"
    )
    _require(a.shape[0] <= MAX_ORDER, 0, needed)
    _require(
        a.shape[0] > 1, 0, f"`{name}` takes at least two rows; one number is its own determinant"
    )


GROUP = "Lists and matrices"
_ORDERS = f"a square, 2 by 2 to {MAX_ORDER} by {MAX_ORDER}"


Unrolled = Callable[..., Node | Array]


def _row(function: Unrolled, params: str, doc: str, domain: str) -> tuple[Primitive, Unrolled]:
    name = function.__name__.removeprefix("_")
    return Primitive(name, tuple(params.split()), doc=doc, domain=domain, group=GROUP), function


# By name, the row of the reference, and what a call returns.
FUNCTIONS_OF_LISTS: dict[str, tuple[Primitive, Unrolled]] = {
    primitive.name: (primitive, function)
    for primitive, function in (
        _row(_dot, "a b", "sum of the products of two lists", "two lists of one shape"),
        _row(_norm, "a", "length of a list: the root of the sum of its squares", "a list"),
        _row(_outer, "a b", "the products of all pairs, as rows", "two lists of numbers"),
        _row(_softmax, "a", "exponentials as shares of their sum", "a list"),
        _row(_transpose, "A", "the columns as rows", "a list of rows"),
        _row(_trace, "A", "sum of the diagonal", "a square"),
        _row(_det, "A", "determinant", _ORDERS),
        _row(_inv, "A", "inverse matrix", f"{_ORDERS}, with det(A) != 0"),
        _row(
            _solve,
            "A b",
            "the list x with A @ x = b",
            f"{_ORDERS}, with det(A) != 0, and a list as long",
        ),
    )
}

# The function that takes a function.
REPEATED = Primitive(
    "iterate",
    ("f", "x0", "n"),
    doc="f of x0, f of that, and so on, n times",
    domain="f a function, n a whole number",
    group=GROUP,
)
