"""The gradients of many programs, one after the other: a program that comes again is not read again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..inputs.arithmetic import DOUBLE, Arithmetic
from ..inputs.problem import check_single, parse
from ..language.builder import Program
from ..run.backends import with_fallback
from ..run.doubles import Doubles
from .gradient import Gradient, gradient, gradient_of, with_elasticities

REMEMBERED = 1024
"""How many programs are kept, in case they come again with another point."""

MOST_KEPT = 250_000
"""How large they may be together, in characters of text and nodes of graphs."""


class PreparedProgram:
    """A program with one output, ready for its gradients at any points in doubles. Its graph is made where needed."""

    __slots__ = (
        "_bound",
        "_constants",
        "_doubles",
        "_given",
        "_leaves",
        "_places",
        "_program",
        "_root",
        "size",
        "text",
    )

    def __init__(self, program: Program, given: Collection[str] = (), *, keep: bool = False) -> None:
        """To `keep` the program spares reading it again, with the names `given`, where a graph is wanted anyway."""
        check_single(program)
        self.text = program.text
        self.size = len(self.text) + len(program.rows.places)
        self._given = tuple(given)
        self._root = program.roots[0]
        self._doubles = Doubles(program.rows, self._root, is_plain=program.is_plain)
        self._leaves = program.leaves
        self._places = program.leaves
        if len(program.parameters) < len(program.leaves):
            self._places = {name: i for name, i in program.leaves.items() if name in program.parameters}
        self._constants = program.constants
        self._bound = frozenset([name for name, _, _ in program.bound]) if program.bound else None
        self._program: Program | None = program if keep else None

    def numbers(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float] | None:
        """The gradient there, without the graph; None, or `backends.LEFT` is raised, where it takes that."""
        leaves = self._leaves
        if self._bound and not self._bound.isdisjoint(point):
            return None
        places = self._places
        if wrt is not None:
            if not leaves.keys() >= set(wrt):
                return None
            places = {name: i for name, i in leaves.items() if name in wrt}
        found = self._doubles.gradient(leaves, point)
        if found is None:
            return None
        values, adjoints = found
        # `+ 0.0` turns the -0.0 of a product into a plain zero.
        return Gradient(
            self.text,
            DOUBLE,
            values[self._root] + 0.0,
            {name: adjoints[i] + 0.0 for name, i in places.items()},
            {name: values[i] for name, i in leaves.items()},
            self._constants,
        )

    def graph(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        """The gradient there."""
        if self._program is None:
            self._program = parse(self.text, self._given)
        # nodes of its own, which no later answer changes
        return gradient_of(self._program.copy(), point, wrt)


class Programs:
    """The programs of a stream or of a data file, each at its points; the last ones are remembered.

    Answers are those of `gradient` in this arithmetic; unless they have to be `whole`, without the graph, the
    intermediates and warnings about names that are not used. With `relative` they have the elasticities.
    """

    def __init__(
        self, arithmetic: Arithmetic = DOUBLE, *, whole: bool = True, remembered: int = REMEMBERED,
        relative: bool = False,
    ) -> None:  # fmt: skip
        self._arithmetic, self._whole, self._remembered, self._relative = arithmetic, whole, remembered, relative
        self._known: dict[tuple[str, ...], PreparedProgram] = {}
        self._size = 0

    def gradient(self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None = None) -> Gradient[Any]:
        """What `gradient` gives for a point of finite numbers.

        Raises `ExpressionError` as `gradient` does.
        """
        if self._arithmetic != DOUBLE:
            return gradient(text, point, wrt=wrt, arithmetic=self._arithmetic, relative=self._relative)
        found = self._in_doubles(text, point, wrt)
        return with_elasticities(found) if self._relative else found

    def _in_doubles(self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        # what a program means depends on the names that have a value
        key = (text, *point)
        known = self._known.get(key)
        if known is None:
            known = PreparedProgram(parse(text, point), point, keep=self._whole)
            self._remember(key, known)
        if self._whole:
            return known.graph(point, wrt)
        return with_fallback(known.numbers, known.graph, point, wrt)

    def _remember(self, key: tuple[str, ...], known: PreparedProgram) -> None:
        self._size += known.size
        if len(self._known) >= self._remembered or self._size > MOST_KEPT:
            self._known.clear()
            self._size = known.size
        self._known[key] = known
