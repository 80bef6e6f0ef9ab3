"""The reader: text to a tape, in one pass over the tables that Lark computed from the grammar."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

from ..errors import Span
from ..table.operators import ADD, AND, CONSTANT, DIV, MUL, NEG, NOT, OR, POW, SUB, WHERE
from ..table.primitive import PRIMITIVES, Primitive
from ..table.primitives import ABS, SQRT
from .builder import MAX_NODES, Builder, Program, piecewise
from .checks import check_commas, check_head, check_statements
from .statements import Head, Statement
from .tables import ACTION, GOTO, ORIGINS, RULES, TERMINALS
from .tokens import (
    AFTER_NUMBER,
    AUGMENT,
    CLOSE,
    COEFFICIENT,
    EQUALS,
    NAME,
    NUMBER,
    OPEN,
    SIGN,
    SUPERSCRIPT,
    TOKENS,
    is_coefficient,
    new_token,
    pieces,
    read_token,
    within,
    without_skipped,
)

_WIDTH = len(TERMINALS)
_PASS, _BINARY, _SUFFIX, _PREFIX, _OTHER = range(5)
"""What a rule does: nothing, or of which of its parts it makes a node."""

_AFTER_NO_OPERAND = frozenset((OPEN, EQUALS, AUGMENT))
"""What makes a name before it that of a function, or one that is bound."""


class Stuck(Exception):
    """No rule of the grammar goes on from here; `refusals` makes an `ExpressionError` of it."""

    def __init__(self, at: int, states: list[int], starts: list[Any]) -> None:
        super().__init__(at)
        self.at = at
        self.states = states
        self.starts = starts
        """What was understood before, as in `read`."""


def parse(text: str, given: Collection[str] = (), most: int = MAX_NODES) -> Program:
    """The program of a text.

    `given` are the names that the point gives values to: they win over constants; calls expand to at most so many
    nodes. Raises `Stuck` where the grammar does not go on, `ExpressionError` for all else.
    """
    return read(text, Builder(text, given, most)).program()


def read(text: str, builder: Builder) -> Builder:
    """The builder, after it has been told all statements of a text. Raises as `parse` does, but for what is wrong with
    names, types and numbers of arguments, which the builder keeps to itself.

    Linear in the text, without recursion. An operand is in two rows: its node, and where its text begins. A sign is in
    the second only, as `~` where it stands; so are the name before a parenthesis or an equals sign, as name and place,
    and what a rule has put together, as a list.
    """
    action_of, rules, closed, resting, tokens = ACTION, _RULES, _CLOSED, _resting, TOKENS
    binary, prefix, suffix, sign, closing, number, word = _BINARY, _PREFIX, _SUFFIX, SIGN, CLOSE, NUMBER, NAME
    may_multiply, constant, infinity = AFTER_NUMBER, CONSTANT, math.inf
    nodes, known, conditions, functions = builder.nodes, builder.known, builder.conditions, builder.functions
    primitives, parents, places, constants = nodes.columns
    state = start = stop = waiting = 0
    name: str | None = None
    states = [0, 0]
    starts: list[Any] = []
    operands: list[int] = []
    for piece in pieces(without_skipped(text)):
        end = stop
        stop += len(piece)
        try:
            kind, length, sort, value = tokens[piece]
        except KeyError:
            kind, length, sort, value = new_token(piece)
        if sort == number:
            if may_multiply[text[stop : stop + 1]] and is_coefficient(text, stop - length):
                kind = COEFFICIENT
            if value[0] == infinity:
                builder.refuse_number(stop - length, stop)
        if waiting:
            key = waiting + state + kind
            try:
                state = resting[key]
            except KeyError:
                state = _rest_at(key)
            states.append(state)
            waiting = 0
            if name is not None:
                if kind in _AFTER_NO_OPERAND:
                    starts[-1] = (name, (start, end))
                else:
                    operands.append(known[name] if name in known else builder.name(name, (start, end)))
                name = None
        while (action := action_of[state + kind]) < 0:
            how, origin, size, make = rules[action]
            if how == binary:
                right = operands.pop()
                left = operands[-1]
                later = starts.pop()
                before = ~starts.pop()
                operands[-1] = len(primitives)
                if conditions and (left in conditions or right in conditions):
                    builder.check_types((), (left, right), ((starts[-1], before), (later, end)))
                primitives.append(make)
                parents.append((left, right))
                places.append((starts[-1], end))
                states.pop()
                states.pop()
            elif how == suffix:
                right = operands.pop()
                left = operands[-1]
                later = starts.pop()
                operands[-1] = len(primitives)
                if conditions and (left in conditions or right in conditions):
                    builder.check_types((), (left, right), ((starts[-1], later), (later, end)))
                primitives.append(make)
                parents.append((left, right))
                places.append((starts[-1], end))
                states.pop()
            elif how == prefix:
                later = starts.pop()
                starts[-1] = ~starts[-1]
                inner = operands[-1]
                operands[-1] = len(primitives)
                if conditions and inner in conditions:
                    builder.check_types((), (inner,), ((later, end),))
                primitives.append(make)
                parents.append((inner,))
                places.append((starts[-1], end))
                states.pop()
            elif how:
                starts[-size:] = (make(starts[-size:], operands, end, builder),)
                if origin == 0:
                    return builder
                if size > 1:
                    del states[1 - size :]
                if builder.nodes is not nodes or builder.functions is not functions:
                    nodes, known, conditions, functions = builder.scope()
                    primitives, parents, places, constants = nodes.columns
            key = origin + states[-2] + kind
            try:
                states[-1] = state = resting[key]
            except KeyError:
                states[-1] = state = _rest_at(key)
        if action == 0:
            raise Stuck(stop - length, states, starts)
        if sort == sign:
            starts.append(length - stop - 1)
            states.append(action)
            state = action
        elif sort == closing:
            # What ends in this sign needs no look at the next one.
            waiting, size, make = closed[action]
            if make is None:
                starts.pop()
                starts[-1] = ~starts[-1]
                states.pop()
                states.pop()
            elif (
                size == 4  # a call with arguments
                and starts[-3][0] in functions
                and _is_one(starts[-1])
                and not conditions
                and states[-4] not in _BEGINNINGS
            ):
                # A function of one argument that cannot be anything else: what `builder.call` would do.
                del starts[-2:]
                called, (start, _) = starts[-1]
                starts[-1] = start
                inner = operands[-1]
                operands[-1] = len(primitives)
                primitives.append(functions[called])
                parents.append((inner,))
                places.append((start, stop))
                del states[-3:]
            else:
                builder.ahead = read_token(text, stop).lastindex or 0 if states[-size] in _BEGINNINGS else 0
                starts.append(length - stop - 1)
                starts[-size:] = (make(starts[-size:], operands, stop, builder),)
                del states[1 - size :]
            state = states[-1]
        elif sort == word:
            start = stop - length
            starts.append(start)
            name = value
            waiting = _WORD
        elif sort == number:
            start = stop - length
            starts.append(start)
            waiting = _NUMBER if kind == number else _COEFFICIENT
            operands.append(len(primitives))
            constants[len(primitives)] = value
            primitives.append(constant)
            parents.append(())
            places.append((start, stop))
        else:
            states.append(action)
            state = action
            if kind == SUPERSCRIPT:
                starts.append(stop - length)
                operands.append(builder.superscript(value, stop - length, stop))
            elif value is not None:
                starts.append((value, stop - length))
            else:
                starts.append(length - stop - 1)
                if kind == EQUALS and type(starts[-2]) is Head:
                    builder.begin_body()
                    nodes, known, conditions, functions = builder.scope()
                    primitives, parents, places, constants = nodes.columns
    raise AssertionError("the end of the text ends the loop")


# ---- what a rule makes of its parts: each is given the parts' places in the text, and all operands so far ----------
Make = Callable[[list[Any], list[int], int, Builder], Any]


def _plus(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int:
    start: int = ~parts[0]
    operands[-1] = builder.plus(operands[-1], (start, end), (parts[1], end))
    return start


def _absolute(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int:
    start: int = ~parts[0]
    operands[-1] = builder.operation(ABS, (operands[-1],), (start, end), ((parts[1], ~parts[2]),))
    return start


def _not(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int:
    start: int = ~parts[0]
    operands[-1] = builder.operation(NOT, (operands[-1],), (start, end), ((parts[1], end),))
    return start


def _logic(primitive: Primitive) -> Make:
    def make(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int:
        start, sign, later = parts
        right = operands.pop()
        operands[-1] = builder.operation(primitive, (operands[-1], right), (start, end), ((start, ~sign), (later, end)))
        return start  # type: ignore[no-any-return]

    return make


def _choice(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int:
    start, then, condition, otherwise, other = parts
    first = len(operands) - 3
    a, c, b = operands[first:]
    spans = ((condition, ~otherwise), (start, ~then), (other, end))
    operands[first:] = (builder.operation(WHERE, (c, a, b), (start, end), spans),)
    return start  # type: ignore[no-any-return]


def _chained(parts: list[Any], operands: list[int], end: int, builder: Builder) -> list[Any]:
    """The first operand where it begins, and each further one: its comparison, where it begins and where it ends."""
    first, (sign, at), start = parts
    chain = first if type(first) is list else [first]
    chain.append((sign, at, start, end))
    return chain


def _compare(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int:
    start, *rest = parts[0]
    first = len(operands) - len(rest) - 1
    operands[first:] = (builder.comparison(operands[first:], start, rest),)
    return start  # type: ignore[no-any-return]


def _listed(parts: list[Any], operands: list[int], end: int, builder: Builder) -> list[int]:
    """Operands where they begin, with the commas between them."""
    first, comma, start = parts
    row = first if type(first) is list else [first]
    row += (~comma, start)
    return row


def _call(parts: list[Any], operands: list[int], end: int, builder: Builder) -> int | Head:
    name, place = parts[0]
    row: list[int] = [] if len(parts) < 4 else parts[2] if type(parts[2]) is list else [parts[2]]
    first = len(operands) - (len(row) + 1) // 2
    if len(row) > 1:
        check_commas(row[::2], builder.text, outputs=False)
    arguments = tuple(operands[first:])
    if builder.ahead == EQUALS:
        del operands[first:]
        return Head(name, Span(*place), end, _parameters(builder.text, row, end))
    operands[first:] = (builder.call(name, place, arguments, (place[0], end), row),)
    return place[0]  # type: ignore[no-any-return]


def _is_one(place: Any) -> bool:
    """Whether it is the place of one argument, and no list."""
    return type(place) is int


def _parameters(text: str, row: list[int], close: int) -> tuple[tuple[str, Span], ...]:
    """What stands between the commas in the head of a definition."""
    found = []
    for start, stop in piecewise(row, close - 1):
        tokens = within(text, start, stop)
        end = tokens[-1][2]
        is_name = len(tokens) == 1 and tokens[0][0] == NAME
        found.append((text[start:end] if is_name else "", Span(start, end)))
    return tuple(found)


def _bind(parts: list[Any], operands: list[int], end: int, builder: Builder) -> Statement:
    name, place = parts[0]
    builder.bind(name, Span(*place), operands.pop())
    return Statement("bind", place[0], end)


def _augment(parts: list[Any], operands: list[int], end: int, builder: Builder) -> Statement:
    (name, place), (kind, _), start = parts
    builder.augment(name, Span(*place), PRIMITIVES[kind], operands.pop(), (start, end))
    return Statement("augment", place[0], end)


def _define(parts: list[Any], operands: list[int], end: int, builder: Builder) -> Statement:
    head: Head = parts[0]
    check_head(head)
    builder.define(head, operands.pop(), (parts[2], end))
    return Statement("define", head.span.start, end)


def _outputs(parts: list[Any], operands: list[int], end: int, builder: Builder) -> Statement:
    row: list[int] = parts[0]
    check_commas(row[::2], builder.text, outputs=True)
    builder.output(tuple(operands), piecewise(row, end))
    operands.clear()
    return Statement("outputs", row[0], end)


def _statements(parts: list[Any], operands: list[int], end: int, builder: Builder) -> list[Statement]:
    listed: list[Statement] = parts[0] if len(parts) > 1 else builder.statements
    last = parts[-1]
    if type(last) is not Statement:
        builder.output((operands.pop(),), ((last, end),))
        last = Statement("expression", last, end)
    builder.finish_statement(last)
    return listed


def _separators(parts: list[Any], operands: list[int], end: int, builder: Builder) -> None:
    """Nothing."""


def _program(parts: list[Any], operands: list[int], end: int, builder: Builder) -> Builder:
    check_statements(builder.statements)
    return builder


_SHAPES = {(3, "02"): _BINARY, (2, "1"): _PREFIX, (2, "01"): _SUFFIX}
_OPERATIONS = {p.name: p for p in (ADD, SUB, MUL, DIV, POW, NEG, SQRT)}
_MAKERS: dict[str, Make] = {
    "pos": _plus,
    "if": _choice,
    "or": _logic(OR),
    "and": _logic(AND),
    "not": _not,
    "abs": _absolute,
    "compare": _compare,
    "call": _call,
    "bind": _bind,
    "augment": _augment,
    "define": _define,
    "outputs": _outputs,
    "program": _program,
    "_statements": _statements,
    "_separators": _separators,
    "_chain": _chained,
}


def _rule(origin: int, size: int, kind: str, parts: str) -> tuple[int, int, int, Any]:
    """How to apply a rule: what it does, the key of what it makes, its length, and its primitive or maker."""
    how, make = _OTHER, _MAKERS.get(ORIGINS[origin] if kind == "list" else kind)
    if kind in ("", "number", "name"):
        how = _PASS
    elif kind in _OPERATIONS:
        return _SHAPES[size, parts], origin * len(ACTION), size, _OPERATIONS[kind]
    elif kind == "list" and make is None:
        how, make = (_PASS, None) if size == 1 else (_OTHER, _listed)
    return how, origin * len(ACTION), size, make


_RULES = tuple(_rule(*rule) for rule in reversed(RULES))
"""By action, which is negative: -1 is the first rule."""


def _rest(origin: int, under: int, kind: int) -> int:
    """The state after a rule, or a token that is an operand, and all the rules that then do nothing."""
    while True:
        state = GOTO[origin][under // _WIDTH] if origin < len(GOTO) else ACTION[under + origin - len(GOTO)]
        action = ACTION[state + kind]
        if action >= 0 or _RULES[action][0] != _PASS:
            return state
        origin = RULES[-1 - action][0]


def _rest_at(key: int) -> int:
    """That state, by the sum of the origin, the state below and the next terminal, each in steps of its own."""
    origin, place = divmod(key, len(ACTION))
    kind = place % _WIDTH
    state = _resting[key] = _rest(origin, place - kind, kind)
    return state


_resting: dict[int, int] = {}
"""What that has found so far."""

_WORD, _NUMBER, _COEFFICIENT = [(len(GOTO) + kind) * len(ACTION) for kind in (NAME, NUMBER, COEFFICIENT)]
"""Operands that are tokens, as origins."""

_CLOSED = {
    state: _RULES[min(ACTION[state : state + _WIDTH])][1:]
    for state in {ACTION[row + CLOSE] for row in range(0, len(ACTION), _WIDTH)}
    if state > 0
}
"""Of the states after a closing parenthesis, the one rule that then applies: what it makes, its length, its maker."""

_BEGINNINGS = frozenset(
    state
    for state in range(0, len(ACTION), _WIDTH)
    if ACTION[state + NAME] > 0 and ACTION[ACTION[state + NAME] + EQUALS] > 0
)
"""The states in which a statement begins."""
