"""Programs in the units of their values: what goes through many points computes with numbers as they are typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..errors import usage_error
from ..language.builder import Program
from ..quantities.unit import Unit, coherent, quantity_name
from ..run.flat_graph import Row
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
    whole, leaves = program.whole, {i: name for name, i in program.leaves.items()}
    places: list[Any] = []
    rows: list[Row] = []
    constants: dict[int, tuple[float, str | None]] = {}

    def node(place: Any) -> int:
        places.append(place)
        return len(places) - 1

    def row(primitive: Any, k: int, *parents: int) -> int:
        pair = (parents[0], None) if len(parents) == 1 else parents if len(parents) == 2 else (parents, None)
        rows.append((primitive, k, *pair))
        return k

    def with_number(primitive: Any, k: int, number: float, place: Any) -> int:
        constant = node(place)
        constants[constant] = number, None
        return row(primitive, node(place), k, constant)

    def times(k: int, scale: Fraction, pi: Any, place: Any) -> int:
        if pi:
            k = with_number(MUL, k, math.pi ** float(pi), place)
        if scale.numerator != 1:
            k = with_number(MUL, k, float(scale.numerator), place)
        return k if scale.denominator == 1 else with_number(DIV, k, float(scale.denominator), place)

    moved: list[int] = []
    own: dict[str, int] = {}
    signed = set()
    for i, (primitive, parents) in enumerate(zip(whole.primitives, whole.parents, strict=True)):
        place = whole.places[i]
        k = node(place)
        if i in whole.constants:
            constants[k] = whole.constants[i]
        elif parents:
            row(primitive, k, *[moved[parent] for parent in parents])
        if i in whole.signed:
            signed.add(k)
        if i in leaves:
            own[leaves[i]] = k
            unit = variables.get(leaves[i], Unit())
            to = computed(unit)
            k = times(k, unit.scale / to.scale, unit.pi - to.pi, place)
            zero = (unit.zero - to.zero) / to.scale
            k = with_number(ADD, k, float(zero), place) if zero else k
        moved.append(k)
    roots = []
    for root, unit in zip(program.roots, outputs, strict=True):
        k, place, of = moved[root], whole.places[root], computed(unit)
        zero = (unit.zero - of.zero) / of.scale
        k = with_number(SUB, k, float(zero), place) if zero else k
        roots.append(times(k, of.scale / unit.scale, of.pi - unit.pi, place))
    graph = whole.changed(rows=rows, places=places, constants=constants, signed=signed)
    graph.roots, graph.names = tuple(roots), ({moved[i]: label for i, label in whole.names[0].items()}, own)
    bound = [(name, place, moved[i]) for name, place, i in program.bound]
    return Program(program.text, graph, program.parameters, program.constants, bound)


def ranges_in(ranges: Mapping[str, Range], units: Mapping[str, Unit], what: str = "a bound of it") -> dict[str, Range]:
    """Return ranges in the units of their variables. Raises a usage error where they have others."""

    def end(name: str, x: float | None) -> float | None:
        if x is None:
            return None
        unit = units.get(name, Unit())
        own = x.unit if isinstance(x, Quantity) else Unit()
        if own.dimension != unit.dimension and (isinstance(x, Quantity) or x or unit.zero):
            mine, theirs = quantity_name(unit.dimension), quantity_name(own.dimension)
            raise usage_error(f"`{name}` is {mine}, and {what} is {theirs}", f"write `{float(x):g} {unit}`".rstrip())
        return x.number if isinstance(x, Quantity) and own == unit else unit.value_from_si(float(x))

    return {name: Range(end(name, low), end(name, high)) for name, (low, high) in ranges.items()}
