"""Gradients of a stream of programs; repeated ones are not parsed again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..inputs.arithmetic import DOUBLE, Arithmetic
from ..inputs.problem import check_single, have_units, parse
from ..language.builder import Program
from ..run.doubles import Doubles
from ..run.evaluation import with_fallback
from .gradient import Gradient, gradient, gradient_of, with_elasticities

MAX_PROGRAMS = 1024
"""The most programs that are remembered, for further points."""
AT_ONCE = 128
"""So many programs are kept at their first use, then only repeated ones.

Most programs of a long stream never repeat, and memory that is reused at once is faster.
"""

MAX_KEPT = 250_000
"""The maximal size of the kept programs: characters of text plus graph nodes."""
MAX_MET = 16_384
"""The most hashes of programs that came once."""


class PreparedProgram:
    """A program with one output, prepared for gradients in doubles at any point."""

    __slots__ = ("_doubles", "program")

    def __init__(self, program: Program) -> None:
        self.program = program
        check_single(program)
        self._doubles = Doubles(program.graph)

    def binds(self, names: Collection[str]) -> bool:
        """Return whether the program binds some of these names."""
        return any(name in names for name, _, _ in self.program.bound)

    def numbers(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float] | None:
        """Return the gradient without graph; None, or raise `doubles.LEFT`, if that needs it."""
        program = self.program
        leaves, places = program.leaves, program.places
        if program.bound and self.binds(point):
            return None
        wanted: Collection[str] = leaves
        if wrt is not None or len(program.parameters) < len(leaves):
            asked = {*(program.parameters if wrt is None else wrt)}
            if not leaves.keys() >= asked:
                return None
            wanted = [name for name in leaves if name in asked]
        answer = self._doubles.gradient(places, point)
        if answer is None:
            return None
        values, adjoints = answer
        # `+ 0.0` turns -0.0 into 0.0
        return Gradient(
            program.text,
            DOUBLE,
            values[program.graph.roots[0]] + 0.0,
            {name: adjoints[places[name]] + 0.0 if name in places else 0.0 for name in wanted},
            {name: float(point[name]) for name in leaves},
            program.constants,
        )

    def graph(self, point: Mapping[str, float], wrt: Sequence[str] | None) -> Gradient[float]:
        """Return the gradient, with the graph."""
        return gradient_of(self.program, point, wrt)


class Programs:
    """The programs of a stream or data file; recent ones are remembered.

    Answers are those of `gradient`; unless `whole`, without graph, intermediates and warnings about unused names.
    """

    def __init__(
        self, arithmetic: Arithmetic = DOUBLE, *, whole: bool = True, remembered: int = MAX_PROGRAMS,
        relative: bool = False, units: Sequence[str] | str | None = None, system: bool = False,
    ) -> None:  # fmt: skip
        self._arithmetic, self._whole, self._remembered, self._relative = arithmetic, whole, remembered, relative
        self._units, self._system = units, system
        self._known: dict[tuple[str, ...], PreparedProgram] = {}
        self._size = 0
        self._met: set[int] = set()
        """Hashes of programs that came once and were not kept."""

    def gradient(self, text: str, point: Mapping[str, float], wrt: Sequence[str] | None = None) -> Gradient[Any]:
        """Return the `gradient` at a point of finite numbers; raises as it does."""
        if self._arithmetic != DOUBLE or self._units is not None or have_units(text, point):
            return gradient(
                text, point, wrt=wrt, arithmetic=self._arithmetic, relative=self._relative, units=self._units,
                system=self._system,
            )  # fmt: skip
        # what a program means depends on the names that have a value
        key = (text, *point)
        prepared = self._known.get(key)
        if prepared is None:
            prepared = PreparedProgram(parse(text, point))
            self._remember(key, prepared)
        program = prepared.program
        if program.bound and not (program.leaves and wrt is None and not prepared.binds(point)):
            # a name that is bound to a number may be a variable
            answer = gradient(text, point, wrt=wrt)
        elif self._whole:
            answer = gradient_of(program, point, wrt)
        else:
            answer = with_fallback(prepared.numbers, prepared.graph, point, wrt)
        return with_elasticities(answer) if self._relative else answer

    def _remember(self, key: tuple[str, ...], prepared: PreparedProgram) -> None:
        if len(self._known) >= AT_ONCE:
            met = hash(key)
            if met not in self._met:
                if len(self._met) >= MAX_MET:
                    self._met.clear()
                self._met.add(met)
                return
        size = len(prepared.program.text) + len(prepared.program.graph.places)
        self._size += size
        if len(self._known) >= self._remembered or self._size > MAX_KEPT:
            self._known.clear()
            self._size = size
        self._known[key] = prepared
