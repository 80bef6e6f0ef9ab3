"""The gradients of many programs, one after the other: a program that comes again is not read again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..graph.value import Value, in_order
from ..language.builder import Program
from ..language.straight import Straight, flattened, walk
from ..run.lists import adjoints
from .arithmetic import DOUBLE, Arithmetic
from .gradient import Gradient, gradient, gradient_of
from .problem import parse, single_output

REMEMBERED = 1024
"""How many programs are kept, in case they come again with another point."""

MOST_KEPT = 250_000
"""How large they may be together, in characters of text and nodes of graphs."""


class _Graph:
    """A program as a graph, and as flat lists from the second time on."""

    def __init__(self, program: Program) -> None:
        single_output(program)
        self.program = program
        self.nodes: Sequence[Value] = list(in_order(program.outputs))
        self._lists: Straight | None = None
        self._flattened = False

    def lists(self) -> Straight | None:
        """The lists, None where the program is not ordinary enough for them."""
        if not self._flattened:
            self._lists, self._flattened = flattened(self.program), True
        return self._lists

    def gradient(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        """The gradient there."""
        for node in self.nodes:
            if node._prev:
                node.data = node.grad = None
        return gradient_of(self.program, point, wrt)


class Programs:
    """The programs of a stream or of a data file, each at its points; the last ones are remembered.

    Answers are those of `gradient` in this arithmetic; unless they have to be `whole`, without the graph, the
    intermediates and warnings about names that are not used.
    """

    def __init__(self, arithmetic: Arithmetic = DOUBLE, *, whole: bool = True, remembered: int = REMEMBERED) -> None:
        self._arithmetic, self._whole, self._remembered = arithmetic, whole, remembered
        self._known: dict[tuple[str, ...], Straight | _Graph] = {}
        self._size = 0

    def gradient(self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None = None) -> Gradient[Any]:
        """What `gradient` gives for a point of finite numbers. A graph in it is that of the next answer too.

        Raises `ExpressionError` as `gradient` does.
        """
        if self._arithmetic is not DOUBLE:
            return gradient(text, point, wrt=wrt, arithmetic=self._arithmetic)
        # what a program means depends on the names that have a value
        key = (text, *point)
        known = self._known.get(key)
        if not self._whole:
            try:
                found = self._on_lists(key, known, point, wrt)
            except (KeyError, ValueError, ArithmeticError):
                found = None
            if found is not None:
                return found
        if not isinstance(known, _Graph):
            known = _Graph(parse(text, point))
            self._remember(key, known, len(text) + len(known.nodes))
        return known.gradient(point, wrt)

    def _on_lists(
        self,
        key: tuple[str, ...],
        known: Straight | _Graph | None,
        point: Mapping[str, float],
        wrt: Sequence[str] | None,
    ) -> Gradient[float] | None:
        """The gradient by flat lists; None where that takes the graph. Raises what arithmetic raises then as well."""
        lists: Straight | None
        if isinstance(known, _Graph):
            lists = known.lists()
            lists = lists and lists.at(point)
            wrt = known.program.parameters if wrt is None else wrt
        elif known is not None:
            lists = known.at(point)
        else:
            lists = walk(key[0], point)
            if lists is not None:
                self._remember(key, lists, len(key[0]))
        return None if lists is None else _swept(key[0], lists, wrt)

    def _remember(self, key: tuple[str, ...], known: Straight | _Graph, size: int) -> None:
        self._size += size
        if len(self._known) >= self._remembered or self._size > MOST_KEPT:
            self._known.clear()
            self._size = size
        self._known[key] = known


def _swept(text: str, lists: Straight, wrt: Collection[str] | None) -> Gradient[float] | None:
    """The gradient at the point where the lists are; None where that takes the graph.

    Raises ValueError or ArithmeticError where it takes the graph as well.
    """
    steps, data, output, variables, constants = lists
    adjoint = adjoints(steps, data, output)
    if adjoint is None or (wrt is not None and not variables.keys() >= set(wrt)):
        return None
    # `+ 0.0` turns the -0.0 of a product into a plain zero.
    return Gradient(
        text,
        DOUBLE,
        data[output] + 0.0,
        {name: adjoint[place] + 0.0 for name, place in variables.items() if wrt is None or name in wrt},
        {name: data[place] for name, place in variables.items()},
        constants,
    )
