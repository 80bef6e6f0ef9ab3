"""Presentation MathML from the LaTeX of `typesetting`, with invisible operators for speech. Nothing
recurses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from .typesetting import APPLIED, LETTERS

TIMES, APPLY = "<mo>&#x2062;</mo>", "<mo>&#x2061;</mo>"  # invisible operators
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
MINUS, SIGN_OF_MINUS = "<mo>−</mo>", '<mo form="prefix">−</mo>'
THIN = '<mspace width="0.167em"/>'
RIGHT, LEFT = (f'<mtd style="text-align: {side}">' for side in ("right", "left"))
# Kinds of items: a number, name or fraction; a function's name; a group.
OPERAND, FUNCTION, GROUP, SIGN, SPACE = range(5)

SIGNS = {
    "-": "−", r"\cdot": "⋅", r"\times": "×", r"\le": "≤", r"\ge": "≥", r"\ne": "≠",
    r"\partial": "∂", r"\lfloor": "⌊", r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉",
}  # fmt: skip
SPACES = {r"\,": "0.167em", r"\quad": "1em"}
NAMES = {
    r"\ldots": "…",
    r"\infty": "∞",
    **{rf"\{name}": letter for letter, name in LETTERS.items()},
}
# Commands with element and argument count; scripts count the item before.
ARGUMENTS = {r"\frac": ("mfrac", 2), r"\sqrt": ("msqrt", 1), "^": ("msup", 2), "_": ("msub", 2)}

# What stands over the argument of a command.
ACCENTS = {r"\bar": "¯", r"\overline": "¯", r"\dot": "˙"}

_TOKEN = re.compile(
    r"\\(?:text|mathit|mathrm|operatorname)\{(?:[^{}\\]|\\.|\{[^{}]*\})*\}|\\(?:begin|end)\{[a-z*]+\}|\\[A-Za-z]+|\\."
    r"|\d+(?:\.\d+)?|\S",
    re.DOTALL,
)
_WORD = re.compile(r"\\(text|mathit|mathrm|operatorname)\{(.*)\}", re.DOTALL)


class Item(NamedTuple):
    """An element, with properties that its neighbours need."""

    kind: int
    xml: str
    parts: tuple[str, ...] = ()
    applied: bool = False


class _OpenGroup:
    def __init__(self, end: str, before: str = "") -> None:
        self.end, self.before = end, before
        self.items: list[Item] = []
        # Commands that await arguments: element, count, arguments so far.
        self.waiting: list[tuple[str, int, list[Item]]] = []
        self.cells: list[list[list[Item]]] = [[]]


def mathml(latex: str, *, tall: bool = False) -> str:
    """Return a formula in LaTeX, as `typesetting` writes it, as a `math` element; `tall` ones have
    large fractions.

    >>> mathml("2x")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mn>2</mn><mo>&#x2062;</mo><mi>x</mi></math>'
    """
    xml = _row(_items(latex))
    return _math_element(f'<mstyle displaystyle="true">{xml}</mstyle>' if tall else xml, "inline")


def mathml_equations(sides: Sequence[tuple[str, str]]) -> str:
    """Return equations below each other, from LaTeX sides, as `math`."""
    rows = [
        # a left side is a name or a fraction without products
        f"<mtr>{RIGHT}{_row(_items(left)).replace(TIMES, '')}</mtd><mtd><mo>=</mo></mtd>"
        f"{LEFT}{_row(_items(right))}</mtd></mtr>"
        for left, right in sides
    ]
    table = '\n<mtable displaystyle="true">\n{}\n</mtable>\n'
    return _math_element(table.format("\n".join(rows)), "block")


def _math_element(xml: str, display: str) -> str:
    return f'<math xmlns="{NAMESPACE}" display="{display}">{xml}</math>'


def _items(latex: str) -> list[Item]:
    tokens = iter(_TOKEN.findall(latex))
    frames = [_OpenGroup("")]
    for token in tokens:
        here = frames[-1]
        if token == here.end:
            frames.pop()
            _add(frames[-1], _close(here, next(tokens) if token == r"\right" else token))
        elif token == "{":
            frames.append(_OpenGroup("}"))
        elif token == "(":
            frames.append(_OpenGroup(")", before=token))
        elif token == r"\left":
            frames.append(_OpenGroup(r"\right", before=next(tokens)))
        elif token.startswith(r"\begin"):
            frames.append(_OpenGroup(token.replace("begin", "end")))
        elif token in ("&", r"\\"):
            here.cells[-1].append(here.items)
            here.cells += [[]] * (token != "&")
            here.items = []
        elif token == "[" and here.waiting[-1:] == [("msqrt", 1, [])]:
            here.waiting[-1] = ("mroot", 2, [Item(OPERAND, f"<mn>{next(tokens)}</mn>")])
            next(tokens)
        elif token in ACCENTS:
            here.waiting.append((f"mover{ACCENTS[token]}", 1, []))
        elif token in ARGUMENTS:
            element, count = ARGUMENTS[token]
            here.waiting.append((element, count, [here.items.pop()] if token in "^_" else []))
        else:
            _add(here, _leaf(token))
    return frames[0].items


def _add(frame: _OpenGroup, item: Item) -> None:
    while frame.waiting:
        element, count, arguments = frame.waiting[-1]
        arguments.append(item)
        if len(arguments) < count:
            return
        frame.waiting.pop()
        first, parts = arguments[0], tuple([argument.xml for argument in arguments])
        if element.startswith("mover"):
            over = element.removeprefix("mover")
            item = Item(OPERAND, f"<mover>{parts[0]}<mo>{over}</mo></mover>")
            continue
        xml = f"<{element}>{''.join(parts[::-1] if element == 'mroot' else parts)}</{element}>"
        if element not in ("msup", "msub"):
            item = Item(OPERAND, xml)
        elif element == "msup" and first.parts:
            item = Item(
                first.kind,
                f"<msubsup>{''.join(first.parts)}{parts[1]}</msubsup>",
                (),
                first.applied,
            )
        else:
            item = Item(first.kind, xml, parts if element == "msub" else (), first.applied)
    frame.items.append(item)


def _close(frame: _OpenGroup, end: str) -> Item:
    if frame.end.startswith(r"\end"):
        lines = [*frame.cells[:-1], [*frame.cells[-1], frame.items]]
        cells = ["".join(f"{LEFT}{_row(cell)}</mtd>" for cell in line) for line in lines]
        table = "".join(f"<mtr>{line}</mtr>" for line in cells)
        before, after = ("[", "<mo>]</mo>") if "bmatrix" in end else ("{", "")
        return Item(OPERAND, f"<mrow><mo>{before}</mo><mtable>{table}</mtable>{after}</mrow>")
    if frame.end == "}":
        row = _row(frame.items)
        return frame.items[0] if len(frame.items) == 1 else Item(OPERAND, f"<mrow>{row}</mrow>")
    # a parenthesis without `\\left` has its own size
    plain = ' stretchy="false"' if end == ")" and frame.end == ")" else ""
    before, after = (f"<mo{plain}>{SIGNS.get(sign, sign)}</mo>" for sign in (frame.before, end))
    kind = GROUP if end == ")" else OPERAND
    inside = _row(frame.items)
    inside = inside.replace(MINUS, SIGN_OF_MINUS, 1) if inside.startswith(MINUS) else inside
    return Item(kind, f"<mrow>{before}{inside}{after}</mrow>")


def _row(items: Sequence[Item]) -> str:
    # spaces between factors are ignored
    solid = [(k, item) for k, item in enumerate(items) if item.kind != SPACE]
    between = {}
    for (_, left), (k, right) in pairwise(solid):
        if right.kind != SIGN and left.kind != SIGN:
            applies = left.kind == FUNCTION or (left.applied and right.kind == GROUP)
            between[k] = APPLY if applies else TIMES + THIN * (right.kind == FUNCTION)
    # a minus behind a relation is a sign
    signs = {
        k for (_, left), (k, right) in pairwise(solid) if left.kind == SIGN and right.xml == MINUS
    }
    written = [SIGN_OF_MINUS if k in signs else item.xml for k, item in enumerate(items)]
    return "".join([between.get(k, "") + xml for k, xml in enumerate(written)])


def _leaf(token: str) -> Item:
    word = _WORD.fullmatch(token)
    if word:
        text = escape(re.sub(r"\\(.)", r"\1", word[2]))
        if word[1] == "text":
            return Item(SIGN, f"<mtext>{text.replace(' ', '&#xA0;')}</mtext>")
        normal = ' mathvariant="normal"' if len(text) == 1 and word[1] != "mathit" else ""
        kind = FUNCTION if word[1] == "operatorname" else OPERAND
        return Item(kind, f"<mi{normal}>{text}</mi>", applied=rf"\{word[1]}" in APPLIED)
    if token in SPACES:
        return Item(SPACE, f'<mspace width="{SPACES[token]}"/>')
    if token[0].isdigit():
        return Item(OPERAND, f"<mn>{token}</mn>")
    if token in NAMES:
        return Item(OPERAND, f"<mi>{NAMES[token]}</mi>", applied=token in APPLIED)
    if token in SIGNS:
        return Item(SIGN, f"<mo>{SIGNS[token]}</mo>")
    if token.startswith("\\") and token[1:].isalpha():
        return Item(FUNCTION, f"<mi>{token[1:]}</mi>")
    if token.isalpha():
        return Item(OPERAND, f"<mi>{token}</mi>")
    return Item(SIGN, f"<mo>{escape(token.removeprefix(chr(92)))}</mo>")
