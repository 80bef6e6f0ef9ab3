"""Programs in the units of their values: what goes through many points computes with numbers as they are typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..errors import usage_error
from ..language.builder import Program
from ..quantities.unit import NUMBER, Unit, coherent, quantity_name
from ..run.flat_graph import Graph, Row
from ..table.operators import ADD, DIV, MUL, SUB
from .bounds import Range
from .problem import Quantity


def in_own_units(
    program: Program,
    variables: Mapping[str, Unit],
    outputs: Sequence[Unit],
    computed: Callable[[Unit], Unit] = lambda unit: coherent(unit.dimension),
) -> Program:
    """Return the program of numbers in these units of its variables, whose outputs are numbers in units too.

    It computes in the unit that `computed` gives for each: in that of the SI, where its own numbers may have units.

    >>> from ..quantities.unit import parse_unit
    >>> from .problem import parse
    >>> from ..graphs.value_and_gradient import evaluate_in
    >>> from ..numbers.floats import REAL
    >>> own = in_own_units(parse("F*x"), {"F": parse_unit("kN"), "x": parse_unit("mm")}, [parse_unit("J")])
    >>> evaluate_in(REAL, own.graph, {"F": 3.0, "x": 5.0}).values
    [15.0]
    """
    graph = _Scaled(program.whole, computed)
    leaves = {i: name for name, i in program.leaves.items()}
    moved: list[int] = []
    own: dict[str, int] = {}
    for i, (primitive, parents) in enumerate(zip(program.whole.primitives, program.whole.parents, strict=True)):
        place = program.whole.places[i]
        k = graph.node(place)
        if i in program.whole.constants:
            graph.constants[k] = program.whole.constants[i]
        elif parents:
            graph.row(primitive, k, *[moved[parent] for parent in parents])
        if i in program.whole.signed:
            graph.signed.add(k)
        if i in leaves:
            own[leaves[i]] = k
            k = graph.to_computed(k, variables.get(leaves[i], Unit()), place)
        moved.append(k)
    roots = [
        graph.from_computed(moved[root], unit, program.whole.places[root])
        for root, unit in zip(program.roots, outputs, strict=True)
    ]
    labels = {moved[i]: label for i, label in program.whole.names[0].items()}
    bound = [(name, place, moved[i]) for name, place, i in program.bound]
    whole = graph.whole()
    whole.roots, whole.names = tuple(roots), (labels, own)
    return Program(program.text, whole, program.parameters, program.constants, bound)


class _Scaled:
    """A graph that is written again, with conversions of numbers between units in it."""

    def __init__(self, whole: Graph, computed: Callable[[Unit], Unit]) -> None:
        self._from, self._computed = whole, computed
        self.places: list[Any] = []
        self.rows: list[Row] = []
        self.constants: dict[int, tuple[float, str | None]] = {}
        self.signed: set[int] = set()

    def node(self, place: Any) -> int:
        self.places.append(place)
        return len(self.places) - 1

    def row(self, primitive: Any, k: int, *parents: int) -> None:
        pair = (parents[0], None) if len(parents) == 1 else parents if len(parents) == 2 else (parents, None)
        self.rows.append((primitive, k, *pair))

    def _with(self, primitive: Any, k: int, number: float, place: Any) -> int:
        constant = self.node(place)
        self.constants[constant] = number, None
        result = self.node(place)
        self.row(primitive, result, k, constant)
        return result

    def _times(self, k: int, scale: Fraction, pi: Any, place: Any) -> int:
        if pi:
            k = self._with(MUL, k, math.pi ** float(pi), place)
        if scale.numerator != 1:
            k = self._with(MUL, k, float(scale.numerator), place)
        return k if scale.denominator == 1 else self._with(DIV, k, float(scale.denominator), place)

    def to_computed(self, k: int, unit: Unit, place: Any) -> int:
        """Return a node in a unit in the one to compute in."""
        to = self._computed(unit)
        k = self._times(k, unit.scale / to.scale, unit.pi - to.pi, place)
        zero = (unit.zero - to.zero) / to.scale
        return self._with(ADD, k, float(zero), place) if zero else k

    def from_computed(self, k: int, unit: Unit, place: Any) -> int:
        """Return a node in the unit to compute in in another one."""
        of = self._computed(unit)
        zero = (unit.zero - of.zero) / of.scale
        k = self._with(SUB, k, float(zero), place) if zero else k
        return self._times(k, of.scale / unit.scale, of.pi - unit.pi, place)

    def whole(self) -> Graph:
        return self._from.changed(rows=self.rows, places=self.places, constants=self.constants, signed=self.signed)


def number_in(name: str, x: float, unit: Unit, what: str = "a value of it") -> float:
    """Return the number of a value in a variable's unit. Raises a usage error for another dimension."""
    own = x.unit if isinstance(x, Quantity) else Unit()
    if own.dimension != unit.dimension and (isinstance(x, Quantity) or x or unit.zero):
        theirs = "a number" if own.dimension == NUMBER else quantity_name(own.dimension)
        mine = "a number" if unit.dimension == NUMBER else quantity_name(unit.dimension)
        raise usage_error(f"`{name}` is {mine}, and {what} is {theirs}", f"write `{float(x):g} {unit}`".rstrip())
    return x.number if isinstance(x, Quantity) and own == unit else unit.value_from_si(float(x))


def ranges_in(ranges: Mapping[str, Range], units: Mapping[str, Unit], what: str = "a bound of it") -> dict[str, Range]:
    """Ranges in the units of their variables. Raises a usage error where they have others."""

    def end(name: str, x: float | None) -> float | None:
        return None if x is None else number_in(name, x, units.get(name, Unit()), what)

    return {name: Range(end(name, low), end(name, high)) for name, (low, high) in ranges.items()}
