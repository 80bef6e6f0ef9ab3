"""Text to parse tree: a short loop over the tables that Lark computed from the grammar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from ..errors import Span
from .checks import check_commas, check_head, check_statements
from .tables import ACTION, GOTO, RULES, TERMINALS
from .tokens import (
    AFTER_NUMBER,
    CLOSE,
    COEFFICIENT,
    NEWLINE,
    NUMBER,
    OPEN,
    SKIPPED,
    SUPERSCRIPT,
    TOKENS,
    is_coefficient,
    pieces,
)
from .tree import Node

_WIDTH = len(TERMINALS)
_PASS, _BINARY, _PREFIX, _ENCLOSED, _FIRST, _OTHER = range(6)
"""How a rule makes its node: not at all, or of which of its parts."""


class Stuck(Exception):
    """No rule of the grammar goes on from here; caught in this package, where it becomes an `ExpressionError`."""

    def __init__(self, at: int, states: list[int], values: list[Any]) -> None:
        super().__init__(at)
        self.at = at
        self.states = states
        self.values = values


def parse_program(text: str) -> Node:
    """The program's tree (kind `program`); raises `ExpressionError`. Linear in the text, without recursion."""
    try:
        return read_program(text)
    except Stuck as stuck:
        from .refusals import refusal  # only an error needs it

        error = refusal(text, stuck)
    raise error


def read_program(text: str) -> Node:
    """The program's tree; raises `Stuck` where the grammar does not go on, `ExpressionError` for all else."""
    action_of, rules, resting, settled, tokens = ACTION, _RULES, _resting, _settled, TOKENS
    binary, prefix, enclosed, first, skipped, may_multiply = _BINARY, _PREFIX, _ENCLOSED, _FIRST, SKIPPED, AFTER_NUMBER
    depth = state = end = waiting = 0
    states = [0, 0]
    values: list[Any] = []
    cut = pieces(text)
    for piece, stop in zip(cut, accumulate(map(len, cut)), strict=True):
        kind, length, leaf, value = tokens[piece]
        if kind == NUMBER:
            if may_multiply[text[stop : stop + 1]] and is_coefficient(text, stop - length):
                kind = COEFFICIENT
        elif kind in skipped or (kind == NEWLINE and depth):
            continue
        if waiting:
            state = settled[waiting + kind]
            states.append(state)
            waiting = 0
        while (action := action_of[state + kind]) < 0:
            how, origin, size, make = rules[action]
            if how == binary:
                right = values.pop()
                values.pop()
                left = values[-1]
                values[-1] = Node(make, left.start, end, (left, right))
                states.pop()
                states.pop()
            elif how == enclosed:
                values.pop()
                inner = values.pop()
                values[-1] = Node(make, values[-1], end, (inner,))
                states.pop()
                states.pop()
            elif how == prefix:
                inner = values.pop()
                values[-1] = Node(make, values[-1], end, (inner,))
                states.pop()
            elif how == first:
                values[-1] = [values[-1]]
            elif how:
                values[-size:] = (make(values[-size:], end, text),)
                if origin == 0:
                    return values[0]  # type: ignore[no-any-return]
                if size > 1:
                    del states[1 - size :]
            states[-1] = state = resting[origin + states[-2] + kind]
        if action == 0:
            raise Stuck(stop - length, states, values)
        end = stop
        if leaf is not None:
            values.append(Node(leaf, stop - length, stop, (), value))
            waiting = (state + kind) * _WIDTH
            continue
        states.append(action)
        state = action
        if value is None:
            values.append(stop - length)
            if kind == OPEN:
                depth += 1
            elif kind == CLOSE:
                depth -= 1
        elif kind == SUPERSCRIPT:
            values.append(_superscript(value, stop - length, stop))
        else:
            values.append(value)
    raise AssertionError("the end of the text ends the loop")


def _superscript(digits: str, start: int, end: int) -> Node:
    if digits[0] not in "+-":
        return Node("number", start, end, (), digits)
    return Node("neg" if digits[0] == "-" else "pos", start, end, (Node("number", start + 1, end, (), digits[1:]),))


def _start(value: Any) -> int:
    return value if type(value) is int else value.start


def _plain(kind: str) -> Callable[[list[Any], int, str], Node]:
    def make(values: list[Any], end: int, text: str) -> Node:
        return Node(kind, _start(values[0]), end, tuple(value for value in values if type(value) is Node))

    return make


def _listed(values: list[Any], end: int, text: str) -> list[Any]:
    items = values[0] if type(values[0]) is list else [values[0]]
    items.extend(value for value in values[1:] if type(value) is not int and type(value) is not list)
    return items


def _if(values: list[Any], end: int, text: str) -> Node:
    then, _, condition, _, otherwise = values
    return Node("if", then.start, end, (condition, then, otherwise))


def _compare(values: list[Any], end: int, text: str) -> Node:
    (chain,) = values
    return Node("compare", chain[0].start, end, tuple(chain[::2]), tuple(chain[1::2]))


def _named(kind: str, name: Node, end: int, children: tuple[Node, ...]) -> Node:
    node = Node(kind, name.start, end, children, name.value)
    node.name_span = Span(name.start, name.end)
    return node


def _call(values: list[Any], end: int, text: str) -> Node:
    arguments = tuple(values[2]) if len(values) == 4 else ()
    if len(arguments) > 1:
        check_commas(arguments, text, outputs=False)
    return _named("call", values[0], end, arguments)


def _bind(values: list[Any], end: int, text: str) -> Node:
    name, _, value = values
    return _named("bind", name, end, (value,))


def _augment(values: list[Any], end: int, text: str) -> Node:
    name, kind, value = values
    return _named("augment", name, end, (Node(kind, name.start, end, (name, value)),))


def _define(values: list[Any], end: int, text: str) -> Node:
    call, _, body = values
    check_head(call, text)
    node = Node("define", call.start, end, (*call.children, body), call.value)
    node.name_span = call.name_span
    return node


def _outputs(values: list[Any], end: int, text: str) -> Node:
    check_commas(values[0], text, outputs=True)
    return Node("outputs", values[0][0].start, end, tuple(values[0]))


def _program(values: list[Any], end: int, text: str) -> Node:
    (statements,) = (value for value in values if type(value) is list and value and type(value[0]) is Node)
    check_statements(statements, text)
    return Node("program", statements[0].start, statements[-1].end, tuple(statements))


_MAKERS: dict[str, Callable[[list[Any], int, str], Any]] = {
    "list": _listed,
    "if": _if,
    "compare": _compare,
    "call": _call,
    "bind": _bind,
    "augment": _augment,
    "define": _define,
    "outputs": _outputs,
    "program": _program,
}


def _rule(origin: int, size: int, kind: str, parts: str) -> tuple[int, int, int, Any]:
    """How to apply a rule: how its node is made, the key of what it makes, its length, and the node's kind or maker."""
    how = _SHAPES.get((size, parts), _OTHER)
    if kind in ("", "number", "name"):
        how = _PASS
    elif kind == "list" and size == 1:
        how = _FIRST
    elif kind in _MAKERS:
        how = _OTHER
    return how, origin * len(ACTION), size, _MAKERS.get(kind) or _plain(kind) if how == _OTHER else kind


_SHAPES = {(3, "02"): _BINARY, (2, "1"): _PREFIX, (3, "1"): _ENCLOSED}
_RULES = tuple(_rule(*rule) for rule in reversed(RULES))
"""By action, which is negative: -1 is the first rule."""


def _rest(origin: int, under: int, kind: int) -> int:
    """The state after a rule and all those that then make no node."""
    while True:
        state = GOTO[origin][under // _WIDTH]
        action = ACTION[state + kind]
        if action >= 0 or _RULES[action][0] != _PASS:
            return state
        origin = RULES[-1 - action][0]


class _Resting(dict[int, int]):
    """That state, by the sum of what the rule made, the state below and the next terminal, each in steps of its own."""

    def __missing__(self, key: int) -> int:
        origin, place = divmod(key, len(ACTION))
        kind = place % _WIDTH
        self[key] = _rest(origin, place - kind, kind)
        return self[key]


class _Settled(dict[int, int]):
    """The state after a name or a number and the rules that then make no node, by state, terminal and next terminal."""

    def __missing__(self, key: int) -> int:
        place, kind = divmod(key, _WIDTH)
        state = ACTION[place]
        action = ACTION[state + kind]
        if action < 0 and _RULES[action][0] == _PASS:
            state = _rest(RULES[-1 - action][0], place - place % _WIDTH, kind)
        self[key] = state
        return state


_resting = _Resting()
_settled = _Settled()
