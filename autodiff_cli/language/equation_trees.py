"""Statements with two sides, `a = b`, and their trees: in equations, in the formula of a fit, in
constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..engine.table.operators import SUB
from ..errors import ExpressionError, Offer, Span
from .parser import syntax_tree
from .reader import ParseFailure
from .tokens import (
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
from .tree import SyntaxNode, program_of, shifted

_OPENS, _CLOSES = frozenset((OPEN, KIND["LEFT"])), frozenset((CLOSE, KIND["RIGHT"]))
_LOGIC = frozenset(KIND[name] for name in ("IF", "ELSE", "AND", "OR", "NOT"))


class TwoSided(NamedTuple):
    """A statement: its tokens, which of them is its sign of equality, and how many expressions
    commas part.
    """

    tokens: list[Token]
    sign: int | None
    outputs: int
    comparisons: Sequence[int] = ()
    """Which of its tokens compare the sides of an inequality, as in `x**2 > 4`."""

    @property
    def span(self) -> Span:
        """Its place in the text."""
        return Span(self.tokens[0][1], self.tokens[-1][2])

    @property
    def sides(self) -> list[Span | None]:
        """The places of its sides, None for one that is missing; of the whole without a sign."""
        if self.sign is None:
            return [self.span]
        parts = self.tokens[: self.sign], self.tokens[self.sign + 1 :]
        return [Span(part[0][1], part[-1][2]) if part else None for part in parts]

    def names(self, text: str) -> list[str]:
        """Return the names in it."""
        return [text[start:end] for kind, start, end in self.tokens if kind == NAME]


def split_equations(text: str) -> list[TwoSided]:
    """Return the statements of a text, with `==` as a sign of equality where there is no other.

    Raises `ExpressionError` for two signs in one statement.
    """
    statements: list[TwoSided] = []
    for tokens in split_statements(text):
        is_first = all(one.sign == 1 and one.tokens[0][0] == NAME for one in statements)
        statements.append(_two_sided(text, tokens, is_first))
    return statements


def _two_sided(text: str, tokens: list[Token], is_first: bool) -> TwoSided:
    depth = commas = 0
    signs: list[int] = []
    compared: list[int] = []
    for place, (kind, _, _) in enumerate(tokens):
        depth += (kind in _OPENS) - (kind in _CLOSES)
        if depth == 0:
            commas += kind == COMMA
            if kind == EQUALS:
                signs.append(place)
            elif kind == COMPARISON:
                compared.append(place)
    if signs or any(kind in _LOGIC for kind, _, _ in tokens):
        compared = []  # a condition may choose a number
    # programmers may write equations so
    signs = signs or [
        place for place in compared if text[tokens[place][1] : tokens[place][2]] == "=="
    ]
    if len(signs) > 1:
        raise _several_signs(text, tokens, signs, is_first, commas > 0)
    return (
        TwoSided(tokens, signs[0], commas + 1)
        if signs
        else TwoSided(tokens, None, commas + 1, compared)
    )


def _several_signs(
    text: str, tokens: list[Token], signs: Sequence[int], is_first: bool, has_commas: bool
) -> ExpressionError:
    """Return the error of a statement with several signs of equality, and offer what it means if
    that is certain.
    """
    second = Span(*tokens[signs[1]][1:])
    offer: Offer | None = None
    if has_commas and COMMA in [kind for kind, _, _ in tokens[signs[0] : signs[1]]]:
        hint = "separate equations by semicolons: `x + y = 3; x - y = 1`"
        offer = _by_semicolons(text, tokens)
    else:
        from .equation_chains import in_pairs, meant_by  # few texts need units here

        meant = None if has_commas else meant_by(text, tokens, is_first=is_first)
        pairs = in_pairs(text, tokens)
        hint = f"write `{meant}`"
        if meant is None:
            hint = (
                f"if all sides are equal, write `{pairs}`; if these are steps of a calculation,"
                " write one equation"
            )
        offer = Offer(tokens[0][1], tokens[-1][2], meant or pairs, certain=meant is not None)
    offers = () if offer is None else (offer,)
    words = "two signs" if len(signs) == 2 else f"{len(signs)} signs"
    return ExpressionError(
        "syntax", f"this equation has {words} of equality", second, hint, offers=offers
    )


def _by_semicolons(text: str, tokens: Sequence[Token]) -> Offer | None:
    """Return equations between commas as statements; None if some part between commas is no
    equation.
    """
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token[0] in _OPENS) - (token[0] in _CLOSES)
        if token[0] == COMMA and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    if not all([kind for kind, _, _ in part].count(EQUALS) == 1 for part in parts):
        return None
    start, end = tokens[0][1], tokens[-1][2]
    return Offer(start, end, "; ".join(text[part[0][1] : part[-1][2]] for part in parts))


def check_sides(text: str, statement: TwoSided) -> None:
    """Raise an error if an equation has commas, or lacks a side."""
    if statement.sign is None:
        return
    if statement.outputs > 1:
        commas = [end for _, start, end in statement.tokens if text[start:end] == ","]
        check_commas([statement.tokens[0][1], *commas], text, "outputs")
        message = "an equation compares two expressions, and this one has commas"
        raise ExpressionError(
            "syntax", message, statement.span, "write two equations: `a = b; c = d`"
        )
    for side, word in zip(statement.sides, ("left", "right"), strict=True):
        if side is None:
            hint = "write an expression on both sides, `x**2 = 2`, on one line or in parentheses"
            place = Span(*statement.tokens[statement.sign][1:])
            raise ExpressionError(
                "syntax", f"the {word} side of this equation is missing", place, hint
            )


def residuals_tree(text: str, equations: Sequence[TwoSided]) -> SyntaxNode:
    """Return the tree of a program that ends in equations, which are left: its outputs are their
    residuals.

    A residual is the left side less the right one; an expression without `=` is its own, and so is
    a left side beside a right one of 0. Raises `ParseFailure`, and `ExpressionError` for other
    errors of syntax.
    """
    first = equations[0].span.start
    before = syntax_tree(text[:first]).parts if split_statements(text[:first]) else ()
    residuals = [part for equation in equations for part in _residuals(text, equation)]
    return program_of(
        [*before, SyntaxNode("outputs", program_of(residuals).span, tuple(residuals))]
    )


def _residuals(text: str, equation: TwoSided) -> Sequence[SyntaxNode]:
    check_sides(text, equation)
    sides = [
        part for side in equation.sides if side is not None for part in expressions(text, side)
    ]
    if equation.sign is None:
        return sides
    left, right = sides
    if right.kind == "number" and right.text(text) == "0":
        return [left]
    return [SyntaxNode("operation", equation.span, (left, right), SUB)]


def expressions(text: str, side: Span) -> Sequence[SyntaxNode]:
    """Return the trees of the expressions in a piece of a text. Raises as `residuals_tree`."""
    try:
        (statement,) = syntax_tree(text[side.start : side.end]).parts
    except ParseFailure:
        alone = " " * side.start + text[side.start : side.end]
        try:
            syntax_tree(alone)
        except ParseFailure as stuck:
            stuck.text = alone
            raise
        raise
    parts = statement.parts if statement.kind == "outputs" else (statement,)
    return [shifted(part, side.start) for part in parts]


class ModelEquation(NamedTuple):
    """The last statement of a program, `LEFT = RIGHT`."""

    left: str
    program: str
    """The program with a blank left side, so that places stay valid."""
    called: str | None
    """The function that the left side is the head of, as in `f(x) = x**2`; None for another left
    side.
    """


def last_equation(text: str) -> ModelEquation | None:
    """Return the last statement of a program if it has two sides, else None."""
    tokens = (split_statements(text) or [[]])[-1]
    sign = next((k for k, token in enumerate(tokens) if token[0] == EQUALS), None)
    if sign is None:
        return None
    begin, (_, start, end), left = tokens[0][1], tokens[sign], tokens[:sign]
    called = text[begin : left[0][2]] if len(left) > 3 and is_head(left) else None
    return ModelEquation(
        text[begin:start].strip(), text[:begin] + " " * (end - begin) + text[end:], called
    )


def is_head(tokens: Sequence[Token]) -> bool:
    """Return whether tokens are a name with names in parentheses, the head of a definition."""
    kinds = [kind for kind, _, _ in tokens]
    return (
        kinds[:2] == [NAME, OPEN]
        and kinds[-1] == CLOSE
        and all(kind in (NAME, COMMA) for kind in kinds[2:-1])
    )


class Relation(NamedTuple):
    """A chain of comparisons: its sides, and the meanings of the signs between them."""

    sides: Sequence[SyntaxNode]
    signs: Sequence[str]

    def pairs(self, text: str) -> Iterator[tuple[SyntaxNode, str, str]]:
        """Yield for each sign what is not negative (or is 0) where it holds, the meaning of the
        sign, and the text.
        """
        for left, sign, right in zip(self.sides, self.signs, self.sides[1:], strict=False):
            larger, smaller = (right, left) if sign == "<=" else (left, right)
            difference = SyntaxNode(
                "operation", Span(left.span.start, right.span.end), (larger, smaller), SUB
            )
            written = text[left.span.end : right.span.start].strip()
            yield difference, sign, f"{left.text(text)} {written} {right.text(text)}"


def relations(text: str) -> Iterator[tuple[str, Relation]]:
    """Yield the statements of a text, each with its sides; `=` is one of the signs. Raises as
    `residuals_tree`.
    """
    for tokens in split_statements(text):
        sides: list[SyntaxNode] = []
        signs: list[str] = []
        for segment in _between_equals(tokens):
            signs += ["="] if sides else []
            whole = expressions(text, segment)
            chain = whole[0] if len(whole) == 1 and whole[0].kind == "comparison" else None
            sides += whole if chain is None else chain.parts
            signs += [] if chain is None else chain.value
        yield text[tokens[0][1] : tokens[-1][2]], Relation(sides, signs)


def _between_equals(tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield the places between the signs `=` outside of parentheses; an empty one where nothing
    stands.
    """
    depth, begin, last = 0, None, tokens[0][1]
    for kind, start, end in tokens:
        depth += (kind in _OPENS) - (kind in _CLOSES)
        if depth == 0 and kind == EQUALS:
            yield Span(last if begin is None else begin, last)
            begin = None
        elif begin is None:
            begin = start
        last = end
    yield Span(last if begin is None else begin, last)
