"""Equations as a program whose outputs are the residuals, left side less right side.

`a = b; c = d` is parsed as `(a) - (b) , (c) - (d)`.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..errors import ExpressionError, Span
from ..inputs.problem import parse
from ..language.builder import ON_LISTS, Program
from ..language.tokens import (
    AUGMENT,
    CLOSE,
    COMMA,
    COMPARISON,
    EQUALS,
    KIND,
    NAME,
    OPEN,
    Token,
    check_commas,
    split_statements,
)
from ..table.primitive import FUNCTIONS

_OPENS, _CLOSES = frozenset((OPEN, KIND["LEFT"])), frozenset((CLOSE, KIND["RIGHT"]))
_LOGIC = frozenset(KIND[name] for name in ("IF", "ELSE", "AND", "OR", "NOT"))


class Equations(NamedTuple):
    """A program with one output per equation, 0 at a solution, and their texts."""

    program: Program
    texts: list[str]


class _EquationTokens(NamedTuple):
    tokens: list[Token]
    sign: int | None
    outputs: int

    @property
    def span(self) -> Span:
        return Span(self.tokens[0][1], self.tokens[-1][2])


def read_equations(text: str, named: Collection[str], *, units: bool = False) -> Equations:
    """Return the equations of a text; an expression without `=` equals 0.

    `y = …` is an equation if `y` is `named` or already bound; else it binds `y`.

    >>> answer = read_equations("r = sqrt(x**2 + y**2); r = 5; x = y", ["x", "y", "r"])
    >>> answer.texts
    ['r = sqrt(x**2 + y**2)', 'r = 5', 'x = y']
    """
    statements = [_state(text, tokens) for tokens in split_statements(text)]
    known_names = set(named)
    bound: set[str] = set()
    defined: set[str] = set()
    equations: list[_EquationTokens] = []
    for statement in statements:
        kind, name = _kind(text, statement, known_names, bound, defined)
        # used names can no longer be bound
        if kind != "define":
            known_names |= {text[start:end] for token, start, end in statement.tokens if token == NAME} - {name}
        if kind == "equation":
            if statement.sign is not None and statement.outputs > 1:
                commas = [end for _, start, end in statement.tokens if text[start:end] == ","]
                check_commas([statement.tokens[0][1], *commas], text, "outputs")
                message = "an equation compares two expressions, and this one has commas"
                raise ExpressionError("syntax", message, statement.span, "write two equations: `a = b; c = d`")
            equations.append(statement)
            continue
        (defined if kind == "define" else bound).add(name)
        if equations:
            hint = f"move it before the equations; as an equation `{name}` needs a value, or `--for {name}`"
            raise ExpressionError("syntax", f"`{name}` is bound here, after an equation", statement.span, hint)
    if not equations:
        program = parse(text, named, units=units)
        for last, start, root in program.bindings_at()[-1:]:
            if root == program.roots[0] and statements[-1].sign is not None:
                message = f"`{last} = …` is an equation only if `{last}` has a value or is an unknown"
                hint = f"give it a value: `--at {last}=…`; or leave `{last} =` out, to find where the rest is 0"
                raise ExpressionError("missing_value", message, Span(start, start + len(last)), hint)
        return Equations(program, [_text_at(text, output.span) for output in program.outputs])
    outputs, origin = _as_outputs(text, equations)
    try:
        program = parse(outputs, named, units=units)
    except ExpressionError as error:
        _check_sides(text, equations, named, units)
        if error.span is not None and error.text is None:
            error.diagnostic = error.diagnostic._replace(span=_back(error.span, origin), also=())
        raise
    graph = program.all_nodes
    graph.places[:] = [span and _back(span, origin) for span in map(graph.span_of, graph.places)]
    return Equations(program.with_outputs(program.roots, text), _texts(text, program, equations))


def read_with_unknowns(
    text: str, named: Sequence[str], unknowns: Sequence[str] | None, *, units: bool = False
) -> Equations:
    """Return a text's equations, with `y = …` as one if the unknowns are named."""
    try:
        return read_equations(text, [*named, *(unknowns or ())], units=units)
    except ExpressionError as error:
        if error.span is None or not unknowns:
            raise
        others = [name for name in unknowns if name != text[error.span.start : error.span.end]]
        if error.kind == "type" and len(others) < len(unknowns):
            # an unknown list, whose length follows from others
            return read_with_unknowns(text, named, others)
        if error.kind != "missing_value":
            raise
        return read_equations(text, [*named, *unknowns, text[error.span.start : error.span.end]], units=units)


def variables_of(text: str | None, named: Collection[str] = ()) -> Sequence[str]:
    """Return the variables of a program or of equations; empty for other texts."""
    for read in (parse, lambda text, named: read_equations(text, named).program):
        with suppress(ExpressionError):
            return list(read(text or "", named).variables)
    return ()


def _state(text: str, tokens: list[Token]) -> _EquationTokens:
    depth = commas = 0
    signs: list[int] = []
    doubled: list[int] = []
    for place, (kind, start, end) in enumerate(tokens):
        depth += (kind in _OPENS) - (kind in _CLOSES)
        if depth == 0:
            commas += kind == COMMA
            if kind == EQUALS:
                signs.append(place)
            elif kind == COMPARISON and text[start:end] == "==":
                doubled.append(place)
    if not signs and not any(kind in _LOGIC for kind, _, _ in tokens):
        # programmers may write equations so
        signs = doubled
    if len(signs) > 1:
        hint = "write two equations: `a = b; b = c`"
        if commas and COMMA in [kind for kind, _, _ in tokens[signs[0] : signs[1]]]:
            hint = "separate equations by semicolons: `x + y = 3; x - y = 1`"
        second = Span(*tokens[signs[1]][1:])
        raise ExpressionError("syntax", "this equation has two signs of equality", second, hint)
    return _EquationTokens(tokens, signs[0] if signs else None, commas + 1)


def _kind(
    text: str, statement: _EquationTokens, known_names: set[str], bound: set[str], defined: set[str]
) -> tuple[str, str]:
    tokens, place, _ = statement
    kinds = [kind for kind, _, _ in tokens]
    name = text[tokens[0][1] : tokens[0][2]]
    if AUGMENT in kinds[:2]:
        return "bind", name
    if place is None or kinds[place] != EQUALS or kinds[0] != NAME:
        return "equation", name
    if place == 1:
        used = name in [text[start:end] for kind, start, end in tokens[2:] if kind == NAME]
        # `x = cos(x)` cannot bind what it uses, and a bound name is in an equation
        return ("equation" if name in known_names or name in bound or used else "bind"), name
    inner = kinds[2 : place - 1]
    head = kinds[1] == OPEN and kinds[place - 1] == CLOSE and all(kind in (NAME, COMMA) for kind in inner)
    taken = (FUNCTIONS, ON_LISTS, defined, known_names, bound)
    is_new = not any(name in names for names in taken)
    return ("define" if head and is_new else "equation"), name


def _as_outputs(text: str, equations: Sequence[_EquationTokens]) -> tuple[str, list[int]]:
    first = equations[0].span.start
    characters, origin = list(text[:first]), list(range(first))

    def insert(piece: str, place: int) -> None:
        characters.extend(piece)
        origin.extend([place] * len(piece))

    for k, (tokens, sign, _) in enumerate(equations):
        last = tokens[0][1]
        insert(" , " if k else "", last)
        insert("" if sign is None else "(", last)
        # a right side of 0 is not subtracted
        zero = sign is not None and [text[start:end] for _, start, end in tokens[sign + 1 :]] == ["0"]
        # without comments and newlines between the tokens
        for place, (_, start, end) in enumerate(tokens[:-2] if zero else tokens):
            insert(" " if start > last else "", last)
            if place == sign:
                insert(") - (", start)
            else:
                characters.extend(text[start:end])
                origin.extend(range(start, end))
            last = end
        insert("" if sign is None else ")", tokens[-1][2] - 1)
    return "".join(characters), [*origin, len(text)]


def _back(span: Span, origin: Sequence[int]) -> Span:
    last = len(origin) - 1
    start = origin[min(span.start, last)]
    end = max(start, origin[min(span.end, last) - 1] + 1 if span.end else start)
    return Span(start, end, None if span.via is None else _back(span.via, origin))


def _check_sides(text: str, equations: Sequence[_EquationTokens], named: Collection[str], units: bool) -> None:
    first = equations[0].span.start
    for tokens, sign, _ in equations:
        if sign is None:
            continue
        for side, word in ((tokens[:sign], "left"), (tokens[sign + 1 :], "right")):
            if not side:
                hint = "write an expression on both sides, `x**2 = 2`, on one line or in parentheses"
                message = f"the {word} side of this equation is missing"
                raise ExpressionError("syntax", message, Span(*tokens[sign][1:]), hint)
            start, end = side[0][1], side[-1][2]
            parse(text[:first] + " " * (start - first) + text[start:end], named, units=units)


def _texts(text: str, program: Program, equations: Sequence[_EquationTokens]) -> list[str]:
    spans = [program.all_nodes.span(root) for root in program.roots]
    starts = [statement.span.start for statement in equations]
    of = [max(0, bisect(starts, span.start) - 1) if span is not None else 0 for span in spans]
    texts = []
    for place, (k, span) in enumerate(zip(of, spans, strict=True)):
        count = of.count(k)
        is_listed = equations[k].sign is None and equations[k].outputs == count
        written = _text_at(text, span if is_listed else equations[k].span)
        texts.append(written if is_listed or count == 1 else f"({written})[{place - of.index(k) + 1}]")
    return texts


def _text_at(text: str, span: Span | None) -> str:
    return " ".join(text[span.start : span.end].split()) if span is not None and span.via is None else "the formula"
