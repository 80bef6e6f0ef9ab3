"""Equations as a program whose outputs are the residuals, left side less right side."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..engine.table.primitive import COMPOSED, FUNCTIONS
from ..errors import ExpressionError, Span, closest
from ..language.builder import UNROLLED, Program
from ..language.equation_trees import TwoSided, is_head, residuals_tree, split_equations
from ..language.tokens import AUGMENT, EQUALS, NAME
from .problem import build, parse


class Equations(NamedTuple):
    """A program with one output per equation, 0 at a solution, and their texts."""

    program: Program
    texts: list[str]


def read_equations(text: str, named: Collection[str], *, units: bool = False) -> Equations:
    """Return the equations of a text; an expression without `=` equals 0.

    `y = …` is an equation if `y` is `named` or already bound; else it binds `y`.

    >>> answer = read_equations("r = sqrt(x**2 + y**2); r = 5; x = y", ["x", "y", "r"])
    >>> answer.texts
    ['r = sqrt(x**2 + y**2)', 'r = 5', 'x = y']
    """
    statements = split_equations(text)
    known_names = set(named)
    bound: set[str] = set()
    defined: set[str] = set()
    equations: list[TwoSided] = []
    for statement in statements:
        kind, name = _kind(text, statement, known_names, bound, defined)
        # used names can no longer be bound
        if kind != "define":
            known_names |= {*statement.names(text)} - ({name} if kind == "bind" else set())
        if kind == "equation":
            _check_is_no_inequality(text, statement)
            equations.append(statement)
            continue
        (defined if kind == "define" else bound).add(name)
        if equations:
            hint = (
                f"move it before the equations; as an equation `{name}` needs a value, or `--for"
                f" {name}`"
            )
            raise ExpressionError(
                "syntax", f"`{name}` is bound here, after an equation", statement.span, hint
            )
    if not equations:
        return _without_equations(text, named, statements, units)
    program = build(lambda: residuals_tree(text, equations), text, named, units=units)
    return Equations(program, _texts(text, program, equations))


def _without_equations(
    text: str, named: Collection[str], statements: Sequence[TwoSided], units: bool
) -> Equations:
    """Return a program whose output is 0 at a solution; what is bound or defined last is no
    equation by mistake.
    """
    program = parse(text, named, units=units)
    last = statements[-1]
    for name, start, root in program.bindings_at()[-1:]:
        if root == program.roots[0] and last.sign is not None:
            message = f"`{name} = …` is an equation only if `{name}` has a value or is an unknown"
            hint = (
                f"give it a value: `--at {name}=…`; or leave `{name} =` out, to find where the rest"
                " is 0"
            )
            raise ExpressionError("missing_value", message, Span(start, start + len(name)), hint)
    if last.sign is not None and is_head(last.tokens[: last.sign]) and not program.places:
        name, span = text[last.tokens[0][1] : last.tokens[0][2]], Span(*last.tokens[0][1:])
        near = closest(name, [*FUNCTIONS, *COMPOSED])
        hint = f"did you mean `{near}`?" if near else "an equation has other names on its left side"
        message = f"this defines a function `{name}` that depends on nothing, and is no equation"
        raise ExpressionError("name", message, span, hint)
    return Equations(program, [_text_at(text, output.span) for output in program.outputs])


def _check_is_no_inequality(text: str, statement: TwoSided) -> None:
    """Raise an error for a statement whose sides are compared, `x**2 > 4`."""
    if not statement.comparisons:
        return
    place, *more = statement.comparisons
    _, start, end = statement.tokens[place]
    equation = (
        f"{text[statement.span.start : start].strip()} = {text[end : statement.span.end].strip()}"
    )
    hint = (
        "an equation for each sign has its ends"
        if more
        else f"its ends are among the solutions of `{equation}`"
    )
    raise ExpressionError(
        "type", "this is an inequality, and equations are solved here", Span(start, end), hint
    )


def read_with_unknowns(
    text: str, named: Collection[str], unknowns: Sequence[str] | None, *, units: bool = False
) -> Equations:
    """Return a text's equations, with `y = …` as one if the unknowns are named.

    The values of `named` names, if it has them, say whether units are used.
    """
    values = named if isinstance(named, Mapping) else dict.fromkeys(named)
    try:
        return read_equations(text, {**dict.fromkeys(unknowns or ()), **values}, units=units)
    except ExpressionError as error:
        if error.span is None or not unknowns:
            raise
        others = [name for name in unknowns if name != text[error.span.start : error.span.end]]
        if error.kind == "type" and len(others) < len(unknowns):
            # an unknown list, whose length follows from others
            return read_with_unknowns(text, named, others)
        if error.kind != "missing_value":
            raise
        also = dict.fromkeys([*unknowns, text[error.span.start : error.span.end]])
        return read_equations(text, {**also, **values}, units=units)


def _kind(
    text: str, statement: TwoSided, known_names: set[str], bound: set[str], defined: set[str]
) -> tuple[str, str]:
    tokens, place = statement.tokens, statement.sign
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
    taken = (FUNCTIONS, COMPOSED, UNROLLED, defined, known_names, bound)
    is_new = not any(name in names for names in taken)
    return ("define" if is_new and is_head(tokens[:place]) else "equation"), name


def _texts(text: str, program: Program, equations: Sequence[TwoSided]) -> list[str]:
    spans = [program.all_nodes.span(root) for root in program.roots]
    starts = [statement.span.start for statement in equations]
    of = [max(0, bisect(starts, span.start) - 1) if span is not None else 0 for span in spans]
    texts = []
    for place, (k, span) in enumerate(zip(of, spans, strict=True)):
        count = of.count(k)
        is_listed = equations[k].sign is None and equations[k].outputs == count
        written = _text_at(text, span if is_listed else equations[k].span)
        texts.append(
            written if is_listed or count == 1 else f"({written})[{place - of.index(k) + 1}]"
        )
    return texts


def _text_at(text: str, span: Span | None) -> str:
    return (
        " ".join(text[span.start : span.end].split())
        if span is not None and span.via is None
        else "the formula"
    )
