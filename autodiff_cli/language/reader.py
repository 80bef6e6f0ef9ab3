"""The reader: text to postfix code, by a short loop over the tables that Lark computed from the grammar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from ..errors import Span
from ..table.operators import ADD, AND, DIV, MUL, NEG, NOT, OR, POW, SUB
from ..table.primitive import PRIMITIVES, Primitive
from ..table.primitives import ABS, SQRT
from . import code as kinds
from .checks import check_commas, check_parameters, check_statements
from .code import BINARY, CALL, CHOICE, COMPARE, GROUP, LOGIC, UNARY, Item, Statement, operands
from .tables import ACTION, GOTO, ORIGINS, RULES, TERMINALS
from .tokens import (
    AFTER_NUMBER,
    CLOSE,
    COEFFICIENT,
    NAME,
    NEWLINE,
    NUMBER,
    OPEN,
    SKIPPED,
    SUPERSCRIPT,
    TOKENS,
    is_coefficient,
    pieces,
)

_WIDTH = len(TERMINALS)
_PASS, _BINARY, _GROUP, _PREFIX, _SUFFIX, _FIRST, _STATEMENT, _OTHER = range(8)
"""What a rule does: nothing, or which of its parts its item takes."""


class Stuck(Exception):
    """No rule of the grammar goes on from here; `refusals` makes an `ExpressionError` of it."""

    def __init__(self, at: int, states: list[int], values: list[Any]) -> None:
        super().__init__(at)
        self.at = at
        self.states = states
        self.values = values
        """What was understood before, as in `read`."""


def read(text: str) -> list[Statement]:
    """The statements of a program; raises `Stuck` where the grammar does not go on, `ExpressionError` for all else.

    Linear in the text, without recursion. On the stack an operand is where it begins, and a sign `~` where it stands;
    an operand's code is in the row of items.
    """
    action_of, rules, resting, settled, tokens = ACTION, _RULES, _resting, _settled, TOKENS
    binary, group, prefix, suffix, first, statement = _BINARY, _GROUP, _PREFIX, _SUFFIX, _FIRST, _STATEMENT
    two, one, grouped, skipped, may_multiply = BINARY, UNARY, GROUP, SKIPPED, AFTER_NUMBER
    depth = state = end = waiting = 0
    states = [0, 0]
    values: list[Any] = []
    code: list[Item] = []
    add_item = code.append
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
                values.pop()
                values.pop()
                add_item((two, (values[-1], end), make))
                states.pop()
                states.pop()
            elif how == group:
                values.pop()
                values.pop()
                values[-1] = start = ~values[-1]
                add_item((grouped, (start, end)))
                states.pop()
                states.pop()
            elif how == prefix:
                values.pop()
                values[-1] = start = ~values[-1]
                add_item((one, (start, end), make))
                states.pop()
            elif how == suffix:
                values.pop()
                add_item((two, (values[-1], end), make))
                states.pop()
            elif how == first:
                values[-1] = [values[-1]]
            elif how == statement:
                values[-size:] = (_listed_statement(values[-size:], end, code),)
                code = []
                add_item = code.append
                if size > 1:
                    del states[1 - size :]
            elif how:
                values[-size:] = (make(values[-size:], end, code, text),)
                if origin == 0:
                    return values[0]  # type: ignore[no-any-return]
                if size > 1:
                    del states[1 - size :]
            states[-1] = state = resting[origin + states[-2] + kind]
        if action == 0:
            raise Stuck(stop - length, states, values)
        end = stop
        if leaf:
            start = stop - length
            values.append(start)
            add_item((leaf, (start, stop), value))
            waiting = (state + kind) * _WIDTH
            continue
        states.append(action)
        state = action
        if value is None:
            values.append(length - stop - 1)
            if kind == OPEN:
                depth += 1
                if states[-2] in _AFTER_NAME:
                    # The name is that of a function, and no operand.
                    values[-2] = code.pop()
            elif kind == CLOSE:
                depth -= 1
        elif kind == SUPERSCRIPT:
            values.append(stop - length)
            _add_superscript(value, stop - length, stop, code)
        else:
            values.append(value)
    raise AssertionError("the end of the text ends the loop")


def _add_superscript(digits: str, start: int, end: int, code: list[Item]) -> None:
    if digits[0] not in "+-":
        code.append((kinds.NUMBER, (start, end), digits))
        return
    code.append((kinds.NUMBER, (start + 1, end), digits[1:]))
    code.append((UNARY, (start, end), NEG if digits[0] == "-" else None))


def _listed_statement(values: list[Any], end: int, code: list[Item]) -> list[Statement]:
    listed: list[Statement] = values[0] if len(values) > 1 else []
    last = values[-1]
    listed.append(last if type(last) is Statement else Statement("expression", last, end, (code,)))
    return listed


def _listed(values: list[Any], end: int, code: list[Item], text: str) -> list[Any]:
    """The operands in a row, without the commas between them."""
    items = values[0] if type(values[0]) is list else [values[0]]
    items.append(values[-1])
    return items


def _chained(values: list[Any], end: int, code: list[Item], text: str) -> list[Any]:
    """The first operand where it begins, and each further one: its comparison, where it begins and where it ends."""
    first, sign, start = values
    items = first if type(first) is list else [first]
    items.append((sign, start, end))
    return items


def _separated(values: list[Any], end: int, code: list[Item], text: str) -> None:
    """Nothing: what stands between statements."""


def _choice(values: list[Any], end: int, code: list[Item], text: str) -> int:
    start: int = values[0]
    code.append((CHOICE, (start, end)))
    return start


def _logic(primitive: Primitive, count: int) -> Callable[[list[Any], int, list[Item], str], int]:
    def make(values: list[Any], end: int, code: list[Item], text: str) -> int:
        start: int = values[0] if count > 1 else ~values[0]
        code.append((LOGIC, (start, end), primitive, count))
        return start

    return make


def _absolute(values: list[Any], end: int, code: list[Item], text: str) -> int:
    start: int = ~values[0]
    code.append((UNARY, (start, end), ABS))
    return start


def _compare(values: list[Any], end: int, code: list[Item], text: str) -> int:
    (first, *rest) = values[0]
    spans = []
    left = first
    for _, start, stop in rest:
        spans.append((left, stop))
        left = start
    code.append((COMPARE, (first, end), tuple([sign for sign, _, _ in rest]), tuple(spans)))
    return first  # type: ignore[no-any-return]


def _call(values: list[Any], end: int, code: list[Item], text: str) -> int:
    _, place, name = values[0]
    arguments = values[2] if len(values) == 4 else ()
    if len(arguments) > 1:
        check_commas(arguments, text, outputs=False)
    code.append((CALL, (place[0], end), name, place, len(arguments)))
    return place[0]  # type: ignore[no-any-return]


def _bind(values: list[Any], end: int, code: list[Item], text: str) -> Statement:
    _, place, name = code[0]
    del code[0]
    return Statement("bind", values[0], end, (code,), name, Span(*place))


def _augment(values: list[Any], end: int, code: list[Item], text: str) -> Statement:
    _, place, name = code[0]
    code.append((BINARY, (values[0], end), PRIMITIVES[values[1]]))
    return Statement("augment", values[0], end, (code,), name, Span(*place))


def _define(values: list[Any], end: int, code: list[Item], text: str) -> Statement:
    head, last = operands(code, len(code), 2)
    _, span, name, place, count = code[head]
    parameters = [code[at] for at in operands(code, head, count)]
    check_parameters(name, Span(*span), parameters)
    return Statement("define", values[0], end, (code[head + 1 : last + 1],), name, Span(*place), tuple(parameters))


def _outputs(values: list[Any], end: int, code: list[Item], text: str) -> Statement:
    starts: list[int] = values[0]
    check_commas(starts, text, outputs=True)
    ends = [at + 1 for at in operands(code, len(code), len(starts))]
    codes = tuple([code[a:b] for a, b in zip([0, *ends], ends, strict=False)])
    return Statement("outputs", starts[0], end, codes)


def _program(values: list[Any], end: int, code: list[Item], text: str) -> list[Statement]:
    (statements,) = (value for value in values if value)
    check_statements(statements)
    return statements  # type: ignore[no-any-return]


_SHAPES = {(3, "02"): _BINARY, (2, "1"): _PREFIX, (2, "01"): _SUFFIX}
_OPERATIONS: dict[str, Primitive | None] = {
    "add": ADD, "sub": SUB, "mul": MUL, "div": DIV, "pow": POW, "neg": NEG, "pos": None, "sqrt": SQRT,
}  # fmt: skip
_MAKERS: dict[str, Callable[[list[Any], int, list[Item], str], Any]] = {
    "if": _choice,
    "or": _logic(OR, 2),
    "and": _logic(AND, 2),
    "not": _logic(NOT, 1),
    "abs": _absolute,
    "compare": _compare,
    "call": _call,
    "bind": _bind,
    "augment": _augment,
    "define": _define,
    "outputs": _outputs,
    "program": _program,
}


def _rule(origin: int, size: int, kind: str, parts: str) -> tuple[int, int, int, Any]:
    """How to apply a rule: what it does, the key of what it makes, its length, and its primitive or maker."""
    how = _OTHER
    make: Any = _MAKERS.get(kind)
    if kind in ("", "number", "name"):
        how = _PASS
    elif kind in _OPERATIONS:
        how, make = _SHAPES[size, parts], _OPERATIONS[kind]
    elif kind == "group":
        how = _GROUP
    elif ORIGINS[origin] == "_statements":
        how = _STATEMENT
    elif ORIGINS[origin] == "_separators":
        make = _separated
    elif ORIGINS[origin] == "_chain":
        make = _chained
    elif kind == "list":
        how, make = (_FIRST, None) if size == 1 else (_OTHER, _listed)
    return how, origin * len(ACTION), size, make


_RULES = tuple(_rule(*rule) for rule in reversed(RULES))
"""By action, which is negative: -1 is the first rule."""


def _rest(origin: int, under: int, kind: int) -> int:
    """The state after a rule and all those that then do nothing."""
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
    """The state after a name or a number and the rules that then do nothing, by state, terminal and next terminal."""

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
_AFTER_NAME = frozenset(ACTION[state + NAME] for state in range(0, len(ACTION), _WIDTH) if ACTION[state + NAME] > 0)
"""The states in which a name has been read that may yet be that of a function."""
