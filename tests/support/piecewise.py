"""Piecewise linear functions in exact fractions: a reference for equations that hold on intervals.

A function between two bounds is a list of breakpoints, its value at each, and a line between two.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple

Line = tuple[Fraction, Fraction]
"""Slope and value at 0."""
LOW, HIGH = Fraction(-5), Fraction(5)


class Piecewise(NamedTuple):
    text: str
    breaks: list[Fraction]
    values: list[Fraction]
    lines: list[Line]

    def at(self, x: Fraction) -> Fraction:
        if x in self.breaks:
            return self.values[self.breaks.index(x)]
        k = next(k for k, (a, b) in enumerate(pairwise(self.breaks)) if a < x < b)
        return self.lines[k][0] * x + self.lines[k][1]

    def with_breaks(self, more: Sequence[Fraction]) -> Piecewise:
        breaks = sorted({*self.breaks, *(x for x in more if LOW < x < HIGH)})
        lines = [
            next(
                line
                for line, (a, b) in zip(self.lines, pairwise(self.breaks), strict=True)
                if a <= low and high <= b
            )
            for low, high in pairwise(breaks)
        ]
        return Piecewise(self.text, breaks, [self.at(x) for x in breaks], lines)

    def levels(self, wanted: Callable[[Fraction, Fraction], Sequence[Fraction]]) -> list[Fraction]:
        """Return where lines reach the wanted values between their smallest and largest."""
        found = []
        for (slope, start), (a, b) in zip(self.lines, pairwise(self.breaks), strict=True):
            if slope:
                low, high = sorted((slope * a + start, slope * b + start))
                found += [(y - start) / slope for y in wanted(low, high)]
        return found

    def mapped(
        self,
        text: str,
        value: Callable[[Fraction], Fraction],
        line: Callable[[Line, Fraction], Line],
    ) -> Piecewise:
        lines = [
            line(each, (a + b) / 2)
            for each, (a, b) in zip(self.lines, pairwise(self.breaks), strict=True)
        ]
        return Piecewise(text, self.breaks, [value(y) for y in self.values], lines)


def combined(
    text: str, f: Piecewise, g: Piecewise, value: Callable[[Fraction, Fraction], Fraction],
    line: Callable[[Line, Line, Fraction], Line], *, crossings: bool = False,
) -> Piecewise:  # fmt: skip
    f, g = f.with_breaks(g.breaks), g.with_breaks(f.breaks)
    if crossings:
        more = [
            (d - b) / (a - c) for (a, b), (c, d) in zip(f.lines, g.lines, strict=True) if a != c
        ]  # fmt: skip
        f, g = f.with_breaks(more), g.with_breaks(more)
    middles = [(a + b) / 2 for a, b in pairwise(f.breaks)]
    lines = [line(p, q, x) for p, q, x in zip(f.lines, g.lines, middles, strict=True)]
    return Piecewise(
        text, f.breaks, [value(a, b) for a, b in zip(f.values, g.values, strict=True)], lines
    )


def value_of(line: Line, x: Fraction) -> Fraction:
    return line[0] * x + line[1]


def added(f: Piecewise, g: Piecewise, sign: int = 1) -> Piecewise:
    text = f"({f.text} {'+' if sign > 0 else '-'} {g.text})"
    return combined(
        text, f, g, lambda a, b: a + sign * b, lambda p, q,
        x: (p[0] + sign * q[0], p[1] + sign * q[1])
    )  # fmt: skip


def extreme(f: Piecewise, g: Piecewise, name: str) -> Piecewise:
    pick = max if name == "max" else min
    return combined(
        f"{name}({f.text}, {g.text})", f, g, pick, lambda p, q,
        x: p if pick(value_of(p, x), value_of(q, x)) == value_of(p, x) else q, crossings=True,
    )  # fmt: skip


def chosen(c: Piecewise, f: Piecewise, g: Piecewise, relation: str) -> Piecewise:
    """Return `where(c <relation> 0, f, g)`."""
    c = c.with_breaks(c.levels(lambda low, high: [Fraction(0)] if low <= 0 <= high else []))
    breaks = [*c.breaks, *f.breaks, *g.breaks]
    c, f, g = (each.with_breaks(breaks) for each in (c, f, g))
    holds = {
        "<": lambda y: y < 0,
        "<=": lambda y: y <= 0,
        ">": lambda y: y > 0,
        ">=": lambda y: y >= 0,
    }[relation]
    middles = [(a + b) / 2 for a, b in pairwise(c.breaks)]
    lines = [
        p if holds(value_of(line, x)) else q
        for line, p, q, x in zip(c.lines, f.lines, g.lines, middles, strict=True)
    ]
    values = [a if holds(y) else b for y, a, b in zip(c.values, f.values, g.values, strict=True)]
    return Piecewise(f"where({c.text} {relation} 0, {f.text}, {g.text})", c.breaks, values, lines)


def one_of(name: str, f: Piecewise) -> Piecewise:
    def zero(low: Fraction, high: Fraction) -> list[Fraction]:
        return [Fraction(0)] if low <= 0 <= high else []

    def whole(low: Fraction, high: Fraction) -> list[Fraction]:
        return [Fraction(k) for k in range(ceil(low), floor(high) + 1)]

    f = f.with_breaks(f.levels(whole if name in ("floor", "ceil") else zero))
    text, nothing = f"{name}({f.text})", Fraction(0)
    if name == "abs":
        return f.mapped(text, abs, lambda p, x: p if value_of(p, x) >= 0 else (-p[0], -p[1]))
    if name == "relu":
        return f.mapped(
            text,
            lambda y: max(y, nothing),
            lambda p, x: p if value_of(p, x) > 0 else (nothing, nothing),
        )
    step = {"floor": floor, "ceil": ceil, "sign": lambda y: (y > 0) - (y < 0)}[name]
    return f.mapped(
        text, lambda y: Fraction(step(y)), lambda p, x: (nothing, Fraction(step(value_of(p, x))))
    )


def line_of(rng: random.Random) -> Piecewise:
    slope = Fraction(rng.choice((1, 1, 1, -1, 2, -2, 0)))
    start = Fraction(rng.randint(-40, 40), rng.choice((10, 10, 4, 20)))
    text = f"({float(slope):g}*x + {float(start):g})" if slope else f"({float(start):g})"
    return Piecewise(
        text, [LOW, HIGH], [slope * LOW + start, slope * HIGH + start], [(slope, start)]
    )


def random_function(rng: random.Random, depth: int) -> Piecewise:
    if depth == 0:
        return line_of(rng)
    kind = rng.choice(("sum", "sum", "difference", "one", "one", "one", "extreme", "where"))
    f = random_function(rng, depth - 1)
    if kind == "one":
        return one_of(rng.choice(("abs", "abs", "relu", "floor", "ceil", "sign")), f)
    g = random_function(rng, depth - rng.choice((1, 2)) if depth > 1 else 0)
    if kind == "extreme":
        return extreme(f, g, rng.choice(("min", "max")))
    if kind == "where":
        return chosen(line_of(rng), f, g, rng.choice(("<", "<=", ">", ">=")))
    return added(f, g, 1 if kind == "sum" else -1)


Range = tuple[Fraction, bool, Fraction, bool]
"""The ends of an interval, and whether each is in it."""


def solutions(f: Piecewise) -> tuple[list[Range], list[Fraction]]:
    """Return the intervals, and the other numbers, where a function is 0 between the bounds."""
    intervals: list[Range] = []
    singles: list[Fraction] = []
    for k, ((slope, start), (a, b)) in enumerate(zip(f.lines, pairwise(f.breaks), strict=True)):
        closed, ends = f.values[k] == 0, f.values[k + 1] == 0
        if slope == start == 0:
            if intervals and intervals[-1][2] == a and closed:
                intervals[-1] = (*intervals[-1][:2], b, ends)
            else:
                intervals.append((a, closed, b, ends))
        elif slope and a < -start / slope < b:
            singles.append(-start / slope)
    covered = [x for a, closed, b, ends in intervals for x in (a,) * closed + (b,) * ends]
    inside = [x for x in f.breaks if any(a < x < b for a, _, b, _ in intervals)]
    singles += [
        x
        for x, y in zip(f.breaks, f.values, strict=True)
        if y == 0 and x not in covered and x not in inside
    ]
    return intervals, sorted(singles)
