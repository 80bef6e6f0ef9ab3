"""Formulas as people write them, `3x² − 4x + 5`; the parser reads them too."""

import re
from collections.abc import Collection, Sequence

from ..engine.algebra.symbolic import by_definition
from ..engine.graphs.value import Value, in_order
from ..engine.table.operators import NEG, VARIABLE
from ..engine.table.primitive import ATOM, CHOICE, POWER, PRODUCT, SIGN
from ..engine.table.primitives import by_name
from ..language.builder import Program
from ..language.printer import INFIX, PREFIX, Item, as_call, assemble, number_text

# The most nodes of a written formula; shared ones count at each use.
MAX_WRITTEN_NODES = 120
_BETWEEN = by_name({"le": " ≤ ", "ge": " ≥ ", "ne": " ≠ ", "sub": " − ", "mul": "·", "pow": "^"})
_NAMES = by_name({"log": "ln"})
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_COEFFICIENT = re.compile(r"[1-9]\d*(\.\d+)?|0?\.\d+")
_PARTED = re.compile(r"[eE_]\d|_|d/")


def mathematics(root: Value, named: Collection[Value] = ()) -> str:
    """Return the formula, `named` nodes by their labels; empty if too long."""
    sizes: dict[Value, int] = {}
    for node in in_order((root,)):
        sizes[node] = 1 + sum(1 if operand in named else sizes[operand] for operand in node._prev)

    def parts(value: Value) -> tuple[int, list[Item]]:
        return (
            (ATOM, [value.label])
            if value in named and value is not root
            else _parts(by_definition(value))
        )

    return assemble(root, parts) if sizes[root] <= MAX_WRITTEN_NODES else ""


def program_in_mathematics(program: Program) -> str:
    """Return a program on one line; empty if too long."""
    bound = {value: name for name, value in program.bindings}
    named = {value for value in bound if value._prev}
    (output,) = program.outputs
    written = [
        f"{name} = {mathematics(value, named)}"
        for value, name in bound.items()
        if value is not output
    ]
    written.append(mathematics(output, named))
    is_complete = all(written) and not any(part.endswith(" = ") for part in written)
    return "; ".join(written) if is_complete else ""


def _without_sign(name: str, operands: Sequence[Value]) -> tuple[int, list[Item]] | None:
    """Return a product or power that is written without a sign, as `2x` and `x²`; None if it is
    not.
    """
    if name == "mul" and (coefficient := _coefficient(operands[0])) and _may_follow(operands[1]):
        return PRODUCT, [coefficient, (operands[1], POWER)]
    if name == "pow" and (power := _constant(operands[1])).lstrip("-").isdigit():
        return POWER, [(operands[0], ATOM), power.translate(_SUPERSCRIPTS)]
    return None


def _parts(value: Value) -> tuple[int, list[Item]]:
    operands, name = value._prev, value.primitive.name
    if not operands:
        text = _leaf(value)
        return SIGN if text.startswith("−") else ATOM, [text]
    by_hand = _without_sign(name, operands)
    if by_hand is not None:
        return by_hand
    if name in INFIX:
        between, level, left, right = INFIX[name]
        return level, [(operands[0], left), _BETWEEN.get(name, between), (operands[1], right)]
    if name in PREFIX:
        prefix, level, inner = PREFIX[name]
        return level, [prefix.replace("-", "−"), (operands[0], inner)]
    if name == "where":
        condition, then, otherwise = operands
        return CHOICE, [
            (then, CHOICE + 1),
            " if ",
            (condition, CHOICE + 1),
            " else ",
            (otherwise, CHOICE),
        ]
    if name == "sqrt":
        # a root is no base: `√x²` has two readings
        return POWER, ["√(", (operands[0], CHOICE), ")"] if operands[0]._prev else [
            "√",
            (operands[0], ATOM),
        ]
    if name == "abs" and not any(
        operand.primitive is value.primitive for operand in in_order(operands)
    ):
        return ATOM, ["|", (operands[0], CHOICE), "|"]
    return as_call(_NAMES.get(name) or value.primitive.spelling or name, operands)


def _leaf(value: Value) -> str:
    if value.primitive is VARIABLE:
        return value.label
    text = value.source or number_text(value.data)
    return "π" if text == "pi" else text.replace("-", "−", 1) if text.startswith("-") else text


def _constant(value: Value) -> str:
    if value.primitive is NEG:
        text = _constant(value._prev[0])
        return text and f"-{text}"
    return (
        ""
        if value._prev or value.primitive is VARIABLE
        else value.source or number_text(value.data)
    )


def _coefficient(value: Value) -> str:
    text = _constant(value)
    size = text.lstrip("-")
    return text.replace("-", "−") if _COEFFICIENT.fullmatch(size) and size != "1" else ""


def _may_follow(value: Value) -> bool:
    value = by_definition(value)
    while value.primitive.name == "pow":
        value = by_definition(value._prev[0])
    level, parts = _parts(value)
    first = parts[0] if level > SIGN else "("
    return (
        isinstance(first, str)
        and (first[0].isalpha() or first[0] in "(√")
        and not _PARTED.match(first)
    )
