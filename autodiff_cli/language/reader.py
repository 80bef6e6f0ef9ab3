"""The reader: text to operations, in one pass over Lark's tables of the grammar.

It reports them to a builder, which makes the graph, or to a recorder, which makes the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.table.operators import ADD, AND, DIV, MUL, NEG, NOT, OR, POW, SUB, WHERE
from ..engine.table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from ..engine.table.primitives import ABS, SQRT
from ..errors import ExpressionError, Span
from . import tokens
from .builder import ARRAY, INDEX, MATMUL, RANGE, Builder, NeedsTree, Piece
from .tables import ACTION, GOTO, ORIGINS, OTHER_GOTO, RULES, TERMINALS, WORDS
from .tokens import NAME, Complete, Head, Statement, meaning_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from ..engine.run.flat_graph import Graph
    from .tree_recorder import TreeRecorder

    Receiver: TypeAlias = Builder | TreeRecorder

# Actions at a sign: keep it (the last one is `[` after a name), or first apply the rule that ends
# before it, or in it (the three from `_GROUP` on); see `State`.
_NUMERIC = frozenset("0123456789.")
_INDICES = frozenset("ijkmn")
_WIDTH = len(TERMINALS)
_SHIFT, _BINARY, _PREFIX = range(3)
_AFTER_NAME, _NEXT, _HEAD, _BODY, _ENTRY, _AGAIN, _STUCK = range(3, 10)
_OTHER, _STATEMENT, _PROGRAM = range(10, 13)
_GROUP, _CALL, _CLOSING = range(13, 16)
# The actions that apply a rule of their own.
_BY_RULE = (_OTHER, _CLOSING)
# The actions at a sign that makes the name before it no variable.
_CALLED = (_AFTER_NAME, _HEAD)
# The actions at a sign where something may be wrong.
_CHECKED = (_HEAD, _ENTRY, _STUCK)
# The actions after which names may mean something else.
_SCOPES = (_NEXT, _BODY)
# In place of a terminal: the text was split anew, and the pair is to be read again.
_SPLIT_AGAIN = -1

# Functions that Mathematica calls in brackets, which are no lists, `Power[x, 2]`, besides those of
# the language.
_BRACKET_CALLS = frozenset((
    "AiryAi", "AiryBi", "Binomial", "ChebyshevT", "ChebyshevU", "CosIntegral", "DiracDelta",
    "Divide", "EllipticE", "EllipticK", "ExpIntegralE", "ExpIntegralEi", "Factorial",
    "HeavisideTheta", "HermiteH", "Integrate", "LaguerreL", "LegendreP", "Limit", "LogIntegral",
    "Mod", "Piecewise", "Plus", "PolyLog", "Power", "SinIntegral", "Subtract", "Surd", "Times",
    "UnitStep",
))  # fmt: skip

# a suspended construct: its first state, its first pair, and its nodes so far
Frame = tuple["State", int, Any]


class ParseFailure(Exception):
    """A syntax error; `diagnostics` turns it into an `ExpressionError`."""

    text: str | None = None
    """The text that was read, if it is a piece of the program, behind blanks for what stands before
    it.
    """

    def __init__(self, statements: Sequence[Statement], at: int | None = None) -> None:
        super().__init__()
        self.statements = statements
        self.at = at


# Each sign takes one look into the tables, and one for each rule that ends before it.
def read(builder: Receiver) -> None:
    """Report all statements of its text to a builder. Raises `ParseFailure`, or as the builder."""
    operands, signs = builder.span.split()
    nodes, names, conditions, functions = builder.scope()
    rows, places = nodes.rows, nodes.places
    stack: list[Frame] = []
    context, first, top = _START
    state = context
    for i in count():
        while operand := operands[i]:
            kind = NAME
            if operand in names:
                top = names[operand]
            elif operand[0] in _NUMERIC:
                kind, top = _number(builder, nodes, operand, first, i)
            elif operand not in functions or signs[i] != "(":
                kind = _name_kind(builder.span, operand)
                if kind == NAME and state[kind][signs[i]][0] not in _CALLED:
                    top = builder.name(operand, (first, i))
            if kind != _SPLIT_AGAIN:
                state = state[kind]
                break
        while True:
            how, target, make = state[signs[i]]
            if how == _SHIFT:
                stack.append((context, first, top))
                context = state = target
                first, top = i + 1, None
                break
            if how <= _PREFIX:
                context, before, left = stack.pop()
                left, right = (left, top) if how == _BINARY else (top, None)
                if conditions:
                    _check_numbers(builder, conditions, (left, right), (before, first), i)
                top = len(places)
                rows.append((make, top, left, right))
                first = before
                places.append((first, i))
            elif how == _GROUP:
                context, first, _ = stack.pop()
            elif how == _CALL:
                context, before, _ = frame = stack.pop()
                called = operands[first - 1]
                is_plain = type(top) is int and not (conditions or operands[i + 1])
                if is_plain and called in functions and signs[i + 1] != "=":
                    argument, top = top, len(places)
                    rows.append((functions[called], top, argument, None))
                    places.append((before, i + 1))
                else:
                    top = _closed_call(builder, frame, first, top, i)
                first = before
            elif how in _BY_RULE:
                top, frames = _applied(builder, stack, make, (first, top, i))
                if frames:
                    context, first, _ = frames[0]
            elif how == _STATEMENT:
                top = builder.finish_statement(top, (first, i))
                if make:
                    context, first, _ = stack.pop()
            elif how == _PROGRAM:
                tokens.check_statements(builder.statements, builder.span)
                return
            elif how == _AGAIN:
                first = i + 1
                break
            else:
                stack.append((context, first, None if how in _CALLED else top))
                first, top = i + 1, None
                if how in _CHECKED:
                    target, first = _opened(builder, how, target, i, state)
                if how in _SCOPES:
                    nodes, names, conditions, functions = builder.scope()
                    rows, places = nodes.rows, nodes.places
                context = state = target
                if first >= 0:
                    break
                continue  # the sign is read in the new state
            state = context[target]
            if how > _PROGRAM:
                break


def _number(
    builder: Receiver, nodes: Graph | TreeRecorder, operand: str, first: int, i: int
) -> tuple[int, int | None]:
    """Return the terminal of a number and its node: `_SPLIT_AGAIN` or `UNREADABLE`, and None,
    where it is none.
    """
    is_short = not operand[tokens.MAX_CACHED :]
    number = tokens.cached_number(operand) if is_short else tokens.finite_number(operand)
    if number is None or "_" in operand:
        spans = builder.span
        if spans.split_exactly():
            return _SPLIT_AGAIN, None
        before = spans.signs[i - 1] if i else ""
        number = _uncommon_number(builder, operand, number, (first, i), before)
        if number is None:
            return tokens.UNREADABLE, None
    node = len(nodes.places)
    nodes.constants[node] = number
    nodes.places.append((first, i))
    return tokens.NUMBER, node


def _uncommon_number(
    builder: Receiver,
    operand: str,
    number: tuple[float, str] | None,
    pair: tuple[int, int],
    before: str,
) -> tuple[float, str] | None:
    """Return a `number` with grouped digits, or one with a unit, or too large; None if it is none.

    Raises `ParseFailure` behind a `^` where its end may be an index: `x^2_1` may be `x_1^2`;
    `x^1_000` has thousands.
    """
    first, *groups = operand.split("_")
    are_thousands = len(first) <= 3 and all(len(group) == 3 for group in groups)
    if groups and before == "^" and not are_thousands:
        raise ParseFailure(outline(builder), builder.span.start(pair[1]))
    return builder.unusual_number(operand, pair) if number is None else number


def _name_kind(spans: tokens.Spans, name: str) -> int:
    """Return the terminal of a name, or `_SPLIT_AGAIN` where it may be more than one."""
    if name.isidentifier() and name.isascii() and name not in WORDS:
        return NAME
    if spans.split_exactly():
        return _SPLIT_AGAIN
    return NAME if tokens.bad_position(name) is None else tokens.UNREADABLE


def _opened(builder: Receiver, how: int, target: Any, i: int, state: State) -> tuple[Any, int]:
    """Check what begins at a sign; return the state there and the pair, or sign, that it begins
    with.

    Raises `ParseFailure`, and `NeedsTree` where a function is defined.
    """
    spans = builder.span
    if how == _HEAD:
        if not builder.records and "=" in spans.text and _is_head(spans.signs, i):
            raise NeedsTree
    elif how == _ENTRY:
        if _is_call(spans.operands[i], spans.operands[i + 1], builder.valued):
            raise ParseFailure(outline(builder), spans.start(~i))
    elif how == _STUCK:
        target = _coefficient(state)
        # adjacent items need no position
        at = (
            (spans.plain or "", spans.start(i))
            if spans.signs[i]
            else (spans.operands[i] + spans.operands[i + 1], 0)
        )
        if target is None or tokens.read_token(*at).lastindex != tokens.COEFFICIENT:
            raise ParseFailure(outline(builder))
        if spans.signs[i]:
            return target, ~i  # a factor that begins with the sign itself, as in `2√x`
    return target, i + 1


def _check_numbers(
    builder: Receiver,
    conditions: Any,
    operands: tuple[int, int | None],
    firsts: tuple[int, int],
    last: int,
) -> None:
    """Check that no operand of an operator is a condition: two that begin at these pairs, or the
    second alone, where the operator is a prefix.
    """
    left, right = operands
    if left not in conditions and right not in conditions:
        return
    pieces = ((firsts[0], _last(firsts[1])), (firsts[1], last))
    if right is None:
        builder.check_types((), (left,), pieces[1:])
    else:
        builder.check_types((), (left, right), pieces)


def outline(builder: Receiver) -> list[Statement]:
    """Return the statements that were read and their places in the text."""
    return [Statement(kind, *builder.span(place)[:2]) for kind, place in builder.statements]


def _is_call(name: str, index: str, valued: Collection[str]) -> bool:
    is_index = index[:1] in _NUMERIC or index in _INDICES
    if name.lower() in FUNCTIONS:
        is_call = not (name.islower() and is_index)
    else:
        is_call = name in _BRACKET_CALLS and not is_index
    return (
        is_call and name not in valued and not any(other.startswith(f"{name}[") for other in valued)
    )


def _is_head(signs: Sequence[str], opening: int) -> bool:
    """Return whether an equals sign follows the closing parenthesis."""
    depth = 0
    for i in range(opening, len(signs) - 1):
        depth += (signs[i] == "(") - (signs[i] == ")")
        if depth == 0:
            return signs[i + 1] == "="
    return False


def _last(first: int) -> int:
    return first - 1 if first >= 0 else ~first


# ---- actions of rules
class Parts(NamedTuple):
    """The parts of a rule: the frames that its signs suspended, and the rest."""

    builder: Receiver
    operands: Sequence[str]
    signs: Sequence[str]
    frames: Sequence[Frame]
    first: int  # the pair that begins the part after the last sign
    top: Any
    last: int  # the pair with the sign after the rule's parts, or with the last part

    @property
    def place(self) -> Piece:
        return (self.frames[0][1] if self.frames else self.first), self.last

    @property
    def inner(self) -> Piece:
        return self.first, self.last

    @property
    def name(self) -> tuple[str, Piece]:
        before = _last(self.first)
        return self.operands[before], (self.frames[-1][1], before)

    def row(self) -> list[tuple[int, Piece, str]]:
        """Return the operands, their places, and the sign before each but the first."""
        row: list[tuple[int, Piece, str]] = []
        sign = ""
        firsts = [*[frame[1] for frame in self.frames[1:]], self.first]
        for (_, first, operand), following in zip(self.frames, firsts, strict=True):
            before = _last(following)
            if type(operand) is list:
                row = operand  # the first there is: long lists are not copied
            elif operand is not None:
                row.append((operand, (first, before), sign))
            sign = self.signs[before]
        if type(self.top) is list:
            return row + self.top if row else self.top
        if self.top is not None:
            row.append((self.top, self.inner, sign))
        return row


Make = Callable[[Parts], Any]


def _operation(primitive: Primitive, *order: int, closed: int = 0) -> Make:

    def make(parts: Parts) -> int:
        operands, pieces, _ = zip(*parts.row(), strict=True)
        if order:
            operands, pieces = (tuple([row[k] for k in order]) for row in (operands, pieces))
        first, last = parts.place
        return parts.builder.operation(primitive, operands, (first, last + closed), pieces)

    return make


def _compare(parts: Parts) -> int:
    operands, pieces, signs = zip(*parts.top, strict=True)
    return parts.builder.comparison(operands, pieces, [meaning_of(sign) for sign in signs[1:]])


def _applied(
    builder: Receiver, stack: list[Frame], make: tuple[Make, int], last: tuple[int, Any, int]
) -> tuple[Any, list[Frame]]:
    """Return what a rule makes of the frames that end the stack, which it takes from there, and of
    the last part: its first pair, what was read, its last pair; and the frames.
    """
    rule, size = make
    frames: list[Frame] = []
    if size:
        frames = stack[-size:]
        del stack[-size:]
    spans = builder.span
    return rule(Parts(builder, spans.operands, spans.signs, frames, *last)), frames


def _closed_call(builder: Receiver, frame: Frame, first: int, top: Any, i: int) -> int | Head:
    """Return the node of a call that the parenthesis behind a pair closes, or the head of a
    definition; `top` is its last argument. What has one argument and no other meaning, `read`
    makes itself.
    """
    spans = builder.span
    if spans.operands[i + 1]:
        spans.split_exactly()
    return _call(Parts(builder, spans.operands, spans.signs, (frame,), first, top, i))


def _call(parts: Parts) -> int | Head:
    builder = parts.builder
    name, at = parts.name
    row = parts.row()
    operands, pieces = tuple([operand for operand, _, _ in row]), [piece for _, piece, _ in row]
    if len(row) > 1:
        _check_commas(parts, pieces, "arguments")
    end = parts.last + 1
    if parts.signs[end] == "=" and parts.frames[0][0].number in _BEGINNINGS:
        names = [parts.operands[first] if first == last else "" for first, last in pieces]
        spans = [builder.span(piece) for piece in pieces]
        parameters = [
            ("" if name[:1] in _NUMERIC else name, span)
            for name, span in zip(names, spans, strict=True)
        ]
        return Head(name, builder.span(at), builder.span.end(end), tuple(parameters))
    return builder.call(name, at, operands, (at[0], end), pieces)


def _check_commas(parts: Parts, pieces: Sequence[Piece], where: str) -> None:
    span, texts = parts.builder.span, parts.operands
    if any(texts[last][-1:].isdigit() and texts[last + 1][:1].isdigit() for _, last in pieces[:-1]):
        tokens.check_commas(
            [span.start(first) for first, _ in pieces], parts.builder.span.text, where
        )


def _bind(parts: Parts) -> Complete:
    builder, (name, at) = parts.builder, parts.name
    place = at[0], parts.last
    if parts.signs[at[1]] == "=":
        builder.bind(name, at, parts.top)
        return "bind", place
    builder.augment(name, at, PRIMITIVES[meaning_of(parts.signs[at[1]])], parts.top, parts.inner)
    return "augment", place


def _define(parts: Parts) -> Complete:
    head: Head = parts.frames[0][2]
    name = head.name
    if not head.parameters:
        hint, span = f"write `{name} = 1` or `{name}(x) = x`", Span(head.span.start, head.end)
        raise ExpressionError("syntax", f"the function `{name}` has no parameter", span, hint)
    for parameter, span in head.parameters:
        if not parameter:
            hint = f"write it as in `{name}(x) = x**2`"
            raise ExpressionError("syntax", "a parameter of a function is a plain name", span, hint)
    parts.builder.define(head, parts.top, parts.inner)
    return "define", parts.place


def _outputs(parts: Parts) -> Complete:
    operands, pieces, _ = zip(*parts.top, strict=True)
    _check_commas(parts, pieces, "outputs")
    parts.builder.output(operands, pieces)
    return "outputs", parts.inner


def _superscript(parts: Parts) -> int:
    """Return the node of a base with a superscript, the sign of a pair."""
    builder, sign = parts.builder, parts.last
    first, base, exponent = parts.first, parts.top, _exponent(builder, parts.signs[sign], sign)
    return builder.operation(
        POW, (base, exponent), (first, sign + 1), ((first, sign), (~sign, sign + 1))
    )


def _exponent(builder: Receiver, superscript: str, sign: int) -> int:
    digits, place = meaning_of(superscript), (~sign, sign + 1)
    if digits[0] not in "+-":
        return builder.constant(float(digits), digits, place)
    start, end, _ = builder.span(place)
    behind = Span(start + 1, end)
    number = builder.constant(float(digits[1:]), digits[1:], behind)
    return (
        number
        if digits[0] == "+"
        else builder.operation(NEG, (number,), Span(start, end), (behind,))
    )


_OPERATIONS = {p.name: (_BINARY, p) for p in (ADD, SUB, MUL, DIV, POW)}
_OPERATIONS |= {p.name: (_PREFIX, p) for p in (NEG, SQRT)}
_IN_PARENTHESES = {"group": _GROUP, "call": _CALL}
_MAKERS: dict[str, Make] = {
    "pos": lambda parts: parts.builder.plus(parts.top, parts.place, parts.inner),
    "if": _operation(WHERE, 1, 0, 2),
    "or": _operation(OR),
    "and": _operation(AND),
    "not": _operation(NOT),
    "abs": _operation(ABS, closed=1),
    "compare": _compare,
    "array": _operation(ARRAY, closed=1),
    "index": _operation(INDEX, closed=1),
    "range": _operation(RANGE),
    "matmul": _operation(MATMUL),
    "bind": _bind,
    "augment": _bind,
    "define": _define,
    "outputs": _outputs,
    "list": Parts.row,
    "pow": _superscript,
}

# ---- queries of the tables
# The states at the beginning of a statement.
_BEGINNINGS = frozenset(
    state
    for state in range(0, len(ACTION), _WIDTH)
    if (named := ACTION[state + NAME]) > 0 and ACTION[named + tokens.EQUALS] > 0
)


def take(states: list[int], kind: int) -> int:
    """Shift a terminal (> 0), reduce by a rule before it (< 0), or do nothing."""
    action = ACTION[states[-1] + kind]
    if action > 0:
        states.append(action)
    elif action < 0:
        reduce_by(states, action)
    return action


def reduce_by(states: list[int], action: int) -> None:
    """Apply a rule, given as an action of the tables."""
    origin, length = RULES[-1 - action][:2]
    del states[len(states) - length :]
    states.append(_after(states[-1], _ORIGIN + origin))


def only_rule(state: int) -> int:
    """Return the only rule of a state, as an action; 0 if it depends on the sign."""
    rules = {action for action in ACTION[state : state + _WIDTH] if action}
    return min(rules) if len(rules) == 1 and min(rules) < 0 else 0


class State(dict[Any, Any]):
    """The part read since the last kept sign, and where one gets from it, computed from the tables
    on first use.

    Keys are the texts of signs (the action; the next state, or the origin of the result; the rule
    or primitive), and terminals and origins (the state after them).
    """

    __slots__ = ("below", "number", "possible", "read")

    def __init__(self, number: int, read: int = -1, below: State | None = None) -> None:
        super().__init__()
        self.number = number  # if nothing was read since the sign: its number in the tables
        self.read = read  # the terminal that was read, or `_ORIGIN` plus the origin of a construct
        self.below = below
        self.possible = below is None or (below.below is None and _after(below.number, read) > 0)

    def __missing__(self, key: Any) -> Any:
        """Return where a sign, a terminal or an origin leads, and remember it."""
        if type(key) is not str:
            self[key] = following = State(self.number, key, self)
            return following
        action = self.action(tokens.sign_kind(key))
        if len(self) < _MOST_SIGNS:
            self[key] = action
        return action

    def after(self, kind: int) -> list[int]:
        """Return the states of the tables from the last sign to the next terminal."""
        states = [self.number]
        if self.below is not None:
            states.append(_after(self.number, self.read))
            while (action := ACTION[states[-1] + kind]) < 0:
                origin, length, result, _ = RULES[-1 - action]
                if (
                    length > 1
                    or result not in ("", "number", "name", "list")
                    or ORIGINS[origin] == "_statements"
                ):
                    break
                take(states, kind)
        return states

    def action(self, kind: int) -> tuple[int, Any, Any]:
        """Return the action at a sign of this kind."""
        if not self.possible:
            return _STUCK, None, None
        states = self.after(kind)
        action = ACTION[states[-1] + kind]
        if action == 0:
            return _STUCK, None, None
        closes = action > 0 and only_rule(action)
        if action > 0 and not closes:
            return self.kept(TERMINALS[kind]), _state(action), None
        origin, length, name, signs = RULES[-1 - (closes or action)]
        if ORIGINS[origin] == "_separators":
            return (
                (_NEXT, _state(_after(states[-1], _ORIGIN + origin)), None)
                if length == 1
                else (_AGAIN, None, None)
            )
        if name in _OPERATIONS and not closes:
            how, primitive = _OPERATIONS[name]
            return how, _ORIGIN + origin, primitive
        if name in _IN_PARENTHESES:
            return _IN_PARENTHESES[name], _ORIGIN + origin, None
        if name == "program":
            return _PROGRAM, None, None
        if ORIGINS[origin] == "_statements":
            return _STATEMENT, _ORIGIN + origin, signs
        return (
            _CLOSING if closes else _OTHER,
            _ORIGIN + origin,
            (_MAKERS[name], signs - bool(closes)),
        )

    def kept(self, sign: str) -> int:
        """Return how a sign is kept: one after a name gives it a meaning."""
        if self.read == NAME and sign == "OPEN":
            return _HEAD if self.number in _BEGINNINGS else _AFTER_NAME
        if self.read == NAME and sign in ("EQUALS", "AUGMENT"):
            return _AFTER_NAME
        if self.read == NAME and sign == "LEFT":
            return _ENTRY
        return _BODY if sign == "EQUALS" else _SHIFT


def _coefficient(state: State) -> State | None:
    number = (
        ACTION[state.number + tokens.COEFFICIENT]
        if state.possible and state.read == tokens.NUMBER
        else 0
    )
    return _state(number) if number > 0 else None


_ORIGIN = _WIDTH
_MOST_SIGNS = 128  # limit of remembered moves per state: there are endless superscripts


@cache
def _state(number: int) -> State:
    return State(number)


def _after(number: int, read: int) -> int:
    """Return the table's state after a terminal, <= 0 if none, or after an origin that the state
    has.
    """
    origin = read - _ORIGIN
    return ACTION[number + read] if origin < 0 else OTHER_GOTO.get(number + origin, GOTO[origin])


# What is suspended where a text begins: nothing is read.
_START: Frame = (_state(0), 0, None)
