"""The gradients of many programs, one after the other: a program that comes again is not read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..language.builder import Program
from ..language.straight import Straight, walk
from ..run.doubles import Doubles, adjoints
from ..run.sweep import Fault
from .arithmetic import DOUBLE, Arithmetic
from .gradient import Gradient, gradient, gradient_of, with_elasticities
from .problem import check_single, parse

REMEMBERED = 1024
"""How many programs are kept, in case they come again with another point."""

MOST_KEPT = 250_000
"""How large they may be together, in characters of text and nodes of graphs."""


class _Walked:
    """An ordinary formula, taken apart at its first point."""

    def __init__(self, text: str, lists: Straight) -> None:
        self.text = text
        self.lists = lists
        self._used = False

    def numbers(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float] | None:
        """The gradient there; None where that takes the graph.

        Raises KeyError, ValueError or ArithmeticError where it takes the graph as well.
        """
        lists = self.lists.at(point) if self._used else self.lists
        self._used = True
        if lists is None or (wrt is not None and not lists.variables.keys() >= set(wrt)):
            return None
        _, data, output, variables, constants = lists
        adjoint = adjoints(lists.steps, data, output)
        if adjoint is None:
            return None
        # `+ 0.0` turns the -0.0 of a product into a plain zero.
        return Gradient(
            self.text,
            DOUBLE,
            data[output] + 0.0,
            {name: adjoint[place] + 0.0 for name, place in variables.items() if wrt is None or name in wrt},
            {name: data[place] for name, place in variables.items()},
            constants,
        )


class _Read:
    """A program that has been read, and its run in doubles."""

    def __init__(self, program: Program) -> None:
        check_single(program)
        self.program = program
        self.doubles = Doubles(program.tape, program.roots[0], is_plain=program.is_plain)
        self._bound = frozenset([name for name, _, _ in program.bound])

    def numbers(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float] | None:
        """The gradient there, without the graph; None where it takes that.

        Raises KeyError, ValueError, ArithmeticError or Fault where it takes that as well.
        """
        program = self.program
        leaves = program.leaves
        if self._bound and not self._bound.isdisjoint(point):
            return None
        names = program.parameters if wrt is None else wrt
        if names is not program.parameters and not leaves.keys() >= set(names):
            return None
        found = self.doubles.gradient(leaves, point)
        if found is None:
            return None
        value, adjoints = found
        # `+ 0.0` turns the -0.0 of a product into a plain zero.
        return Gradient(
            program.text,
            DOUBLE,
            value + 0.0,
            {name: adjoints[i] + 0.0 for name, i in leaves.items() if name in names},
            {name: point[name] for name in leaves},
            program.constants,
        )

    def graph(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        """The gradient there."""
        for node in self.program.values:
            if node._prev:
                node.data = node.grad = None
        return gradient_of(self.program, point, wrt)


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
        self._known: dict[tuple[str, ...], _Walked | _Read] = {}
        self._size = 0

    def gradient(self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None = None) -> Gradient[Any]:
        """What `gradient` gives for a point of finite numbers. A graph in it is that of the next answer too.

        Raises `ExpressionError` as `gradient` does.
        """
        if self._arithmetic is not DOUBLE:
            return gradient(text, point, wrt=wrt, arithmetic=self._arithmetic, relative=self._relative)
        found = self._in_doubles(text, point, wrt)
        return with_elasticities(found) if self._relative else found

    def _in_doubles(self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        # what a program means depends on the names that have a value
        key = (text, *point)
        known = self._known.get(key)
        if known is None and not self._whole:
            known = self._walked(key, point)
        if known is None:
            known = self._read(key, point)
        if not self._whole:
            try:
                found = known.numbers(point, wrt)
            except (KeyError, ValueError, ArithmeticError, Fault):
                found = None
            if found is not None:
                return found
        if not isinstance(known, _Read):
            known = self._read(key, point)
        return known.graph(point, wrt)

    def _walked(self, key: tuple[str, ...], point: Mapping[str, float]) -> _Walked | None:
        """An ordinary formula, taken apart; None for any other program."""
        try:
            lists = walk(key[0], point)
        except (KeyError, ValueError, ArithmeticError):
            return None
        if lists is None:
            return None
        walked = _Walked(key[0], lists)
        self._remember(key, walked, len(key[0]))
        return walked

    def _read(self, key: tuple[str, ...], point: Mapping[str, float]) -> _Read:
        """The program, read for good. Raises `ExpressionError`."""
        read = _Read(parse(key[0], point))
        self._remember(key, read, len(key[0]) + len(read.program.tape.primitives))
        return read

    def _remember(self, key: tuple[str, ...], known: _Walked | _Read, size: int) -> None:
        self._size += size
        if len(self._known) >= self._remembered or self._size > MOST_KEPT:
            self._known.clear()
            self._size = size
        self._known[key] = known
