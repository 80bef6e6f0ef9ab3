"""Straight from the text of an ordinary formula to its numbers, in one pass: the short way that streams take.

Ordinary is: one expression in plain ASCII of names, numbers, `+ - * / ** ^`, parentheses and calls. The pass is an
operator-precedence parser, its levels those of the printer. Of any other text it says nothing, right or wrong; what it
does read is what the grammar's own tables make of it, to which tests hold it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..numbers.floats import REAL
from ..run import doubles
from ..run.doubles import ADD, CALL, CALLABLE, DIV, GENERAL, MUL, NEG, RAISE, SUB, WHOLE, Step, is_whole, smooth
from ..table.operators import POW
from .builder import CONSTANTS
from .printer import POWER, PRODUCT, SIGN, SUM

LONGEST = 10_000
"""Characters of the longest text that is tried: the pass holds all of its pieces at once."""

_cut: Callable[[str], list[tuple[str, str]]] = re.compile(
    r"[ \t]*([A-Za-z_][A-Za-z_0-9]*|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)?[ \t]*(\*\*|[\s\S]|\Z)"
).findall
"""The text as pairs: a name or a number, which may be missing, and the sign after it, empty at the end."""

_coefficient = re.compile(
    r"(?<![A-Za-z_0-9.])(?!0[xXbBoO])([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?![eE][-+]?[0-9])(?=[A-Za-z(])"
)
_may_have_coefficients = re.compile("[0-9.][A-Za-z(]").search
_TIMES = "@"
"""Written into the text behind a coefficient: no sign of the language."""

_NUMERIC = frozenset("0123456789.")
_GROUPED = re.compile("[0-9],[0-9]")
"""What may be one number with a comma in it, as in `1,000`."""

# Signs as numbers that also say how tightly they bind: eight times the level, and the operation.
_PUSHED = {
    "+": 8 * SUM + ADD, "-": 8 * SUM + SUB, "*": 8 * PRODUCT + MUL, "/": 8 * PRODUCT + DIV,
    "**": 8 * POWER + RAISE, "^": 8 * POWER + RAISE, _TIMES: 8 * SIGN + MUL,
}  # fmt: skip
_MINUS = 8 * SIGN + NEG
_BINDING = {"+": 8 * SUM, "-": 8 * SUM, "*": 8 * PRODUCT, "/": 8 * PRODUCT, "**": 8 * POWER + 8, "^": 8 * POWER + 8}
_BINDING |= {_TIMES: 8 * POWER + 8, ")": 0, ",": 0, "": 0}
"""What has been read binds at least this tightly where it is applied before the sign goes on."""

_WITHOUT_COEFFICIENT = frozenset((_PUSHED["/"], _PUSHED["**"]))
"""`1/2x` and `2^2x` can be read in two ways."""

_BOTTOM, _OPEN, _COMMA, _FIRST_CALL = -1, -2, -3, -4
_CALLED = list(CALLABLE.values())
_CALLS = {name: _FIRST_CALL - number for number, name in enumerate(CALLABLE)}
"""A parenthesis that begins a call, by the function's name; all the negative ones stand for what is still open."""


class Straight(NamedTuple):
    """A formula as numbers: the steps that compute it, and what the places that no step fills stand for."""

    steps: list[Step]
    data: list[float]
    output: int
    variables: dict[str, int]
    """The places of the variables, in order of first appearance."""
    constants: dict[str, float]

    def at(self, point: Mapping[str, float]) -> Straight:
        """The same formula at another point, which gives values to the same names.

        Raises KeyError, ValueError or ArithmeticError where it has no value.
        """
        data = self.data.copy()
        for name, place in self.variables.items():
            data[place] = float(point[name])
        doubles.evaluate(self.steps, data)
        return Straight(self.steps, data, self.output, self.variables, self.constants)


def walk(text: str, point: Mapping[str, float]) -> Straight | None:
    """The numbers of a formula at a point; None for a text that is not ordinary, or has a name without a value.

    May also raise KeyError, ValueError or ArithmeticError then, and where there is no value.
    """
    if len(text) > LONGEST or not text.isascii() or _TIMES in text:
        return None
    if _may_have_coefficients(text):
        text = _coefficient.sub(r"\1" + _TIMES, text)
    data: list[float] = []
    steps: list[Step] = []
    values: list[int] = []
    pending = [_BOTTOM]
    places: dict[str, int] = {}
    variables: dict[str, int] = {}
    constants: dict[str, float] = {}
    fixed: set[int] = set()
    closed = False
    count = 0
    binding_of, pushed, raised = _BINDING, _PUSHED, REAL.pow
    for operand, sign in _cut(text):
        if operand:
            if closed:
                return None
            place = places.get(operand)
            if place is None:
                if operand in point:
                    variables[operand] = count
                    data.append(float(point[operand]))
                elif operand[0] in _NUMERIC:
                    fixed.add(count)
                    data.append(float(operand))
                elif sign == "(":
                    pending.append(_CALLS[operand])
                    continue
                else:
                    fixed.add(count)
                    data.append(CONSTANTS[operand])
                    constants[operand] = data[count]
                place = places[operand] = count
                count += 1
            values.append(place)
        elif not closed:
            if sign == "(":
                pending.append(_OPEN)
            elif sign == "-":
                pending.append(_MINUS)
            elif sign != "+":
                return None
            continue
        binding = binding_of[sign]
        while pending[-1] >= binding:
            op = pending.pop() & 7
            b = values.pop()
            if op == NEG:
                values.append(count)
                data.append(-data[b])
                if b in fixed:
                    fixed.add(count)
                steps.append((NEG, count, b, b))
                count += 1
                continue
            a = values[-1]
            if op == MUL:
                data.append(data[a] * data[b])
            elif op == ADD:
                data.append(data[a] + data[b])
            elif op == SUB:
                data.append(data[a] - data[b])
            elif op == DIV:
                data.append(data[a] / data[b])
            else:
                data.append(raised(data[a], data[b]))
                if b not in fixed:
                    steps.append((GENERAL, count, (a, b), POW))
                    values[-1] = count
                    count += 1
                    continue
                if is_whole(data[b]):
                    op = WHOLE
            steps.append((op, count, a, b))
            values[-1] = count
            count += 1
        if binding:
            if sign == _TIMES:
                before = len(pending) - 1
                while pending[before] == _MINUS:
                    before -= 1
                if pending[before] in _WITHOUT_COEFFICIENT:
                    return None
            pending.append(pushed[sign])
            closed = False
        elif sign == ")":
            opened = pending.pop()
            arguments = 1
            while opened == _COMMA:
                opened = pending.pop()
                arguments += 1
            if opened <= _FIRST_CALL:
                primitive = _CALLED[_FIRST_CALL - opened]
                found = smooth(primitive) if arguments == 1 else None
                if found is not None:
                    a = values[-1]
                    data.append(found[0](data[a]))
                    steps.append((CALL, count, a, found))
                else:
                    inputs = tuple(values[-arguments:])
                    del values[1 - arguments or len(values) :]
                    data.append(doubles.general(primitive, [data[p] for p in inputs]))
                    steps.append((GENERAL, count, inputs, primitive))
                values[-1] = count
                count += 1
            elif opened != _OPEN or arguments > 1:
                return None
            closed = True
        elif sign == ",":
            pending.append(_COMMA)
            closed = False
        else:
            break
    if pending != [_BOTTOM] or ("," in text and _GROUPED.search(text)):
        return None
    return Straight(steps, data, values[0], variables, constants)
