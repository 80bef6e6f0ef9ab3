"""Patterns of exercises, read from `patterns.toml`: what is drawn, and the problem that comes of it."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

LEVELS = {
    1: "slopes of a function of one variable",
    2: "product, quotient and chain rule",
    3: "several variables",
    4: "graphs with shared nodes, and neurons",
    5: "kinks, steps of descent, second derivatives",
}
"""The title of each level."""

_DRAWN = re.compile(r"([\w ]+?) (=|:=|<-) (.*)")
_WHOLE = re.compile(r"(-?\d+)\.\.(-?\d+)(?: ! (-?\d+))?")


class Draft(NamedTuple):
    """A problem before it is solved."""

    kind: str
    """`derivative`, `slope`, `tangent`, `flat`, `gradient`, `direction`, `step`, `second` or `kink`: what is asked."""
    program: str
    wrt: tuple[str, ...] = ("x",)
    """By which variables."""
    point: Mapping[str, Fraction] = MappingProxyType({})
    more: Mapping[str, Fraction] = MappingProxyType({})
    """The direction, or the rate of a step."""
    words: str = ""
    """The task, where it is about something: with `{f}` for the program and `{at}` for the point."""


class Draw:
    """Draws that are the same for a seed on every machine: of the generator only `random()` promises that."""

    def __init__(self, seed: int, level: int) -> None:
        self._random = random.Random(seed * 1000 + level)

    def choice(self, choices: Sequence[T]) -> T:
        """One of these."""
        return choices[int(self._random.random() * len(choices))]

    def whole(self, low: int, high: int, without: int | None = None) -> int:
        """A whole number between these, and not that one."""
        return self.choice([k for k in range(low, high + 1) if k != without])

    def order(self, count: int) -> list[int]:
        """The numbers from 0 in some order."""
        left = list(range(count))
        return [left.pop(int(self._random.random() * len(left))) for _ in range(count)]

    def text(self, choices: str, drawn: Mapping[str, str]) -> str:
        """A whole number of a range, or one of some texts or macros."""
        if bounds := _WHOLE.fullmatch(choices.format_map(drawn)):
            low, high, without = bounds.groups()
            return str(self.whole(int(low), int(high), None if without is None else int(without)))
        options = choices.split(" | ")
        chosen = self.choice(options) if len(options) > 1 else choices
        if chosen == "@polynomial_in_two":
            return self.polynomial_in_two()
        if chosen.startswith("@"):
            macro = contents()["macros"][chosen[1:]]
            return written(macro["text"], self.all(macro["draw"]))
        return written(chosen, drawn)

    def all(self, draws: Sequence[str]) -> dict[str, str]:
        """The values that are drawn, computed and written, by name."""
        drawn: dict[str, str] = {}
        for row in draws:
            match = _DRAWN.fullmatch(row)
            assert match, row
            names, sign, rest = match.groups()
            if sign == "<-":
                drawn[names] = _computed(rest.format_map(drawn))
            elif sign == ":=":
                drawn[names] = written(rest, drawn)
            else:
                text = self.text(rest, drawn)
                drawn |= zip(names.split(), text.split(), strict=True) if " " in names else {names: text}
        return drawn

    def polynomial_in_two(self) -> str:
        """Return a polynomial of two or three terms in x and y."""
        terms = ["x**2*y", "x*y**2", "x*y", "x**2", "y**2", "x", "y", "x**3", "y**3"]
        chosen = [terms[k] for k in sorted(self.order(len(terms))[: self.whole(2, 3)])]
        text = summed([f"{self.whole(-4, 5, 0)} {term}" for term in chosen])
        return text if "x" in text and "y" in text else f"{text} + x*y"

    def draft(self, pattern: Mapping[str, Any]) -> Draft:
        """A problem of a pattern."""
        drawn = self.all(pattern["draw"])
        program = written(pattern["program"], drawn)
        wrt = tuple(pattern.get("wrt", "x").format_map(drawn).split(", "))
        point, more = (_numbers(pattern.get(name, "").format_map(drawn)) for name in ("point", "more"))
        if "each" in pattern:
            from ..inputs.problem import parse

            wrt = tuple(sorted(parse(program).variables))
            point = {name: Fraction(self.text(pattern["each"], {})) for name in wrt}
        return Draft(pattern["kind"], program, wrt, point, more, pattern.get("words", ""))


def written(template: str, drawn: Mapping[str, str]) -> str:
    """A text with what was drawn in its places, and its sums written out."""
    text = re.sub(r"\[(.*?)\]", lambda match: summed(match[1].split(", ")), template.format_map(drawn))
    return re.sub("⟨(.*?)⟩", lambda match: f"({match[1]})" if " " in match[1] else match[1], text)


def summed(terms: Sequence[str]) -> str:
    """A sum of multiples, `3 x**2`, as one writes it: `3*x**2 - x + 5`; those of 0 are left out."""
    text = ""
    for row in terms:
        factor, _, term = row.partition(" ")
        size = factor.removeprefix("-")
        if size == "0":
            continue
        term = re.sub(r"\*\*1\b", "", term)
        body = size if not term else term if size == "1" else f"{size}*{term}"
        negative = factor.startswith("-")
        text += f" {'-' if negative else '+'} {body}" if text else f"{'-' if negative else ''}{body}"
    return text or "0"


def _computed(text: str) -> str:
    from ..graphs.value_and_gradient import value_in
    from ..inputs.problem import parse
    from ..numbers.exact import EXACT

    return str(value_in(EXACT, parse(text).outputs[0], {}))


def _numbers(text: str) -> dict[str, Fraction]:
    pairs = [pair.split("=") for pair in text.split(", ") if pair]
    return {name: Fraction(number) for name, number in pairs}


@cache
def contents() -> dict[str, Any]:
    """The file of patterns: macros, and the patterns of each level."""
    import tomllib

    return tomllib.loads((Path(__file__).parent / "patterns.toml").read_text("utf-8"))


def patterns(level: int) -> list[dict[str, Any]]:
    """The patterns of a level."""
    entries: list[dict[str, Any]] = contents()["levels"][str(level)]
    return entries
