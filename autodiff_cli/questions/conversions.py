"""Conversions of units that a formula makes although the units make them: of an angle in degrees,
`theta*pi/180`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..engine.quantities.unit import NUMBER, Unit, parse_unit, split_literal
from ..engine.run.flat_graph import Graph
from ..engine.table.operators import ADD, DIV, MUL, NEG, POW, SUB
from ..errors import Diagnostic
from ..language.builder import Program

# The relative difference up to which a factor of a formula is that of a unit: 0.01745, 57.3.
NEAR_FACTOR = 1e-3

# What factors of a conversion may be of that to radians: `theta/360` counts turns.
_OF_ANGLES = (1.0, 2.0, 0.5, 1 / math.pi, 0.5 / math.pi, 2 / math.pi)

# The units to which formulas convert others of their dimensions, besides those of the SI.
_USUAL = tuple(map(parse_unit, ("min", "h", "d", "1/min", "1/h", "km/h")))

# The name of what `rad` gives: an angle in radians.
_RADIANS = "rad(…)"

# The name of what is neither a number nor a product of variables.
_OTHER = ""


class _ScaledPowers(NamedTuple):
    """A number times powers of variables, and of literals with units."""

    factor: float
    powers: Mapping[str, int] = {}

    def times(self, other: _ScaledPowers, power: int = 1) -> _ScaledPowers:
        """Return the product with another term, or the quotient by it."""
        powers = dict(self.powers)
        for name, n in other.powers.items():
            powers[name] = powers.get(name, 0) + n * power
        if power < 0 and not other.factor:
            return _ScaledPowers(1.0, {_OTHER: 1})
        return _ScaledPowers(self.factor * other.factor**power, powers)


def converted_twice(
    program: Program, units: Mapping[str, Unit], answers: Mapping[int, Unit]
) -> Diagnostic | None:
    """Return a warning of a formula that converts a unit which is converted already, else None.

    `units` are those of its variables, and `answers` those of outputs that are wanted in a unit, by
    index. Factors that are powers of ten are not looked for: they are coefficients as often.
    """
    literals = {
        source: split_literal(source)[1]
        for _, source in program.graph.constants.values()
        if source and "[" in source
    }
    every = {**units, **literals}
    if not any(_factors(unit) for unit in (*every.values(), *answers.values())):
        return None
    return _FactorsOfUnits(program.graph, every).found(answers)


def radians_twice(program: Program) -> list[Diagnostic]:
    """Return a warning of an angle that is converted to radians twice, `rad(60)*pi/180`, as the
    informal `60°*pi/180` is; else none.
    """
    text = program.text
    if "rad(" not in text or not ("180" in text or "0.017" in text or text.count("rad(") > 1):
        return []
    search = _FactorsOfUnits(program.graph, {_RADIANS: parse_unit("deg")})
    return search.warnings[-1:]


@lru_cache(64)
def _factors(unit: Unit) -> tuple[float, ...]:
    """Return the factors by which a formula would convert a number in this unit."""
    own = unit.to_si(1.0)
    if unit.pi:
        return tuple(own * times for times in _OF_ANGLES)
    others = [usual.to_si(1.0) for usual in _USUAL if usual.dimension == unit.dimension]
    factors = [own / other for other in (1.0, *others) if other]
    if _is_per_time(unit):  # 2*pi*n/60 of n in 1/min
        factors.append(own * math.tau)
    return tuple(x for x in factors if x and not _is_power_of_ten(x))


def _is_power_of_ten(x: float) -> bool:
    return math.isclose(math.log10(abs(x)) % 1, 0, abs_tol=1e-9)


def _is_per_time(unit: Unit) -> bool:
    return unit.dimension == _USUAL[3].dimension and unit.scale != 1


def _is_conversion(factor: float, unit: Unit) -> bool:
    return any(math.isclose(abs(factor), x, rel_tol=NEAR_FACTOR) for x in _factors(unit))


def _is_angle(unit: Unit | None) -> bool:
    return unit is not None and unit.dimension == NUMBER and unit.pi != 0


def _is_degrees(term: _ScaledPowers) -> bool:
    """Return whether it is a number that is no angle in radians: 90 or 180."""
    return not term.powers and abs(term.factor) > math.tau and term.factor.is_integer()


class _FactorsOfUnits:
    """A search of a graph for factors of units; each node is a term of its inputs."""

    def __init__(self, graph: Graph, units: Mapping[str, Unit]) -> None:
        self.graph, self.units = graph, units
        self.warnings: list[Diagnostic] = []
        rules: dict[str, Callable[[list[_ScaledPowers]], _ScaledPowers]] = {
            ADD.name: self._sum,
            SUB.name: self._sum,
            MUL.name: lambda terms: terms[0].times(terms[1]),
            DIV.name: lambda terms: terms[0].times(terms[1], -1),
            NEG.name: lambda terms: _ScaledPowers(-1.0).times(terms[0]),
            POW.name: _power,
            "rad": self._in_radians,
            "deg": lambda terms: _ScaledPowers(180 / math.pi).times(terms[0]),
        }
        self.terms: list[_ScaledPowers] = []
        names = {i: name for name, i in graph.names[1].items()}
        for i, primitive in enumerate(graph.primitives):
            inputs = [self.terms[k] for k in graph.parents[i]]
            if not inputs:
                self.terms.append(self._leaf(i, names))
                continue
            rule = rules.get(primitive.name)
            self.terms.append(rule(inputs) if rule else _ScaledPowers(1.0, {_OTHER: 1}))
            self._look_at(i, inputs)

    def found(self, answers: Mapping[int, Unit]) -> Diagnostic | None:
        """Return the warning of the largest part of the formula that converts, else None."""
        for k, unit in answers.items():
            for i in self._terms_of(self.graph.roots[k]):
                term = self.terms[i]
                if term.powers and term.factor and _is_conversion(1 / term.factor, unit):
                    self._warn_of_factor(i, "the answer", unit, term.factor)
                if _is_angle(unit) and self.graph.primitives[i] in (ADD, SUB):
                    inputs = [self.terms[each] for each in self.graph.parents[i]]
                    self._warn_of_numbers(i, "the answer", unit, inputs)
        return self.warnings[-1] if self.warnings else None

    def _terms_of(self, root: int) -> Iterable[int]:
        """Yield the nodes of a sum, each once: itself, and its terms."""
        waiting, seen = [root], {root}
        while waiting:
            i = waiting.pop()
            yield i
            if self.graph.primitives[i] in (ADD, SUB):
                new = set(self.graph.parents[i]) - seen
                seen |= new
                waiting += sorted(new)

    def _leaf(self, i: int, names: Mapping[int, str]) -> _ScaledPowers:
        if i not in self.graph.constants:
            return _ScaledPowers(1.0, {names.get(i, _OTHER): 1})
        number, source = self.graph.constants[i]
        return (
            _ScaledPowers(1.0, {source: 1})
            if source and "[" in source
            else _ScaledPowers(float(number))
        )

    def _units_in(self, term: _ScaledPowers) -> Iterable[tuple[str, int, Unit]]:
        """Return what has a unit in a term, and its power, 1 or -1."""
        return [
            (name, n, self.units[name])
            for name, n in term.powers.items()
            if name in self.units and abs(n) == 1
        ]

    def _sum(self, terms: list[_ScaledPowers]) -> _ScaledPowers:
        """Return that of the terms of a sum which a factor may convert."""
        return max(terms, key=lambda term: (bool(self._units_in(term)), bool(term.powers)))

    def _in_radians(self, terms: list[_ScaledPowers]) -> _ScaledPowers:
        """Return an angle in radians: what has no unit may be converted once."""
        if _RADIANS in self.units and _RADIANS not in terms[0].powers:
            return _ScaledPowers(1.0, {_RADIANS: 1})
        return _ScaledPowers(math.pi / 180).times(terms[0])

    def _look_at(self, i: int, inputs: list[_ScaledPowers]) -> None:
        if self.graph.primitives[i] in (ADD, SUB):
            for term in inputs:
                for name, n, unit in self._units_in(term):
                    if _is_angle(unit) and n == 1 and len(term.powers) == 1:
                        self._warn_of_numbers(i, f"`{name}`", unit, inputs)
            return
        term = self.terms[i]
        for name, n, unit in self._units_in(term) if term.factor else ():
            if name == _RADIANS:
                if n == 1 and math.isclose(term.factor, math.pi / 180, rel_tol=NEAR_FACTOR):
                    self._warn_of_radians(i)
            elif _is_conversion(term.factor**n, unit):
                self._warn_of_factor(i, f"`{name}`", unit, term.factor**n)

    def _warn_of_factor(self, i: int, whose: str, unit: Unit, factor: float) -> None:
        message = (
            f"{whose} is a quantity, in {unit}, and the formula has the factor {abs(factor):.6g},"
            f" which converts a number in {unit}: units need none"
        )
        hint = "leave the factor out; or the unit (`--in none` leaves out those in headings)"
        self.warnings.append(Diagnostic("unit", message, self.graph.span(i), hint))

    def _warn_of_radians(self, i: int) -> None:
        message = "an angle is converted to radians twice: `rad(…)`, or `°`, has done so"
        hint = "leave out one of both: `cos(rad(60))` is 1/2"
        self.warnings.append(Diagnostic("unit", message, self.graph.span(i), hint))

    def _warn_of_numbers(self, i: int, whose: str, unit: Unit, inputs: list[_ScaledPowers]) -> None:
        for number in filter(_is_degrees, inputs):
            size = f"{abs(number.factor):g}"
            message = f"{whose} is in {unit}, and the number {size} beside it in radians"
            hint = f"write `{size}[deg]` for degrees"
            self.warnings.append(Diagnostic("unit", message, self.graph.span(i), hint))


def _power(terms: list[_ScaledPowers]) -> _ScaledPowers:
    """Return a power of numbers, as `10**-3`; other powers are no terms."""
    base, exponent = terms
    if base.powers or exponent.powers or base.factor <= 0:
        return _ScaledPowers(1.0, {_OTHER: 1})
    try:
        return _ScaledPowers(base.factor**exponent.factor)
    except OverflowError:
        return _ScaledPowers(1.0, {_OTHER: 1})
