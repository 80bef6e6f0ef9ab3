"""The reference of the language's functions, read off the table of primitives."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from ..errors import ExpressionError
from ..language.printer import expression_text
from ..table.operators import WHERE
from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from ..values.simplify import simplify
from ..values.symbolic import SYMBOLIC
from ..values.value import Value, node, variable


@dataclass(frozen=True, slots=True)
class FunctionEntry:
    """What there is to say about one function of the language."""

    name: str
    aliases: tuple[str, ...]
    signature: str
    doc: str
    domain: str
    """Where it is defined; empty for everywhere."""
    derivatives: dict[str, str]
    """The partial derivative by each parameter, as a formula of the language."""
    kink: str | None
    """What is taken for the derivative at a kink; None where it has none."""
    group: str
    source: str
    """Where the derivative is published; empty for what follows at once."""


class Functions(tuple[FunctionEntry, ...]):
    """Several functions."""


def functions() -> Functions:
    """Every function of the language, in the order of the table."""
    return Functions(describe(primitive) for primitive in dict.fromkeys(FUNCTIONS.values()))


def function(name: str) -> FunctionEntry:
    """The function of that name or alias. Raises `ExpressionError` (`name`) with the nearest names."""
    if name not in FUNCTIONS:
        near = difflib.get_close_matches(name.lower(), list(FUNCTIONS), 3)
        hint = f"did you mean {' or '.join(f'`{x}`' for x in near)}?" if near else "`autodiff functions` lists them all"
        raise ExpressionError("name", f"there is no function `{name}`", None, hint)
    return describe(FUNCTIONS[name])


def describe(primitive: Primitive) -> FunctionEntry:
    """The entry of one primitive, together with that of its form with a further argument."""
    longer = PRIMITIVES.get(primitive.with_two)
    longer_call = f"{primitive.name}({', '.join(longer.params)})" if longer else ""
    return FunctionEntry(
        primitive.name,
        primitive.aliases,
        primitive.signature,
        primitive.doc,
        "; ".join(filter(None, [primitive.domain, f"with a base: {longer.domain}" if longer else ""])),
        derivatives(primitive)
        | ({f"{name} of {longer_call}": formula for name, formula in derivatives(longer).items()} if longer else {}),
        primitive.convention or None,
        primitive.group,
        primitive.source,
    )


def derivatives(primitive: Primitive) -> dict[str, str]:
    """The partial derivatives as formulas: each rule applied to variables instead of numbers, and simplified."""
    names = primitive.params
    if primitive.variadic:
        stem = names[0].strip("*").removesuffix("s")
        names = (f"{stem}1", f"{stem}2")
    formulas = primitive.smooth
    if not formulas:
        inputs = tuple(variable(name) for name in names)
        partials = primitive.slopes(SYMBOLIC, inputs, node(primitive, inputs))
        formulas = tuple(_formula(partial) for partial in partials if partial is not None)
    if primitive.variadic:
        return {f"{names[0]} of ({', '.join(names)})": formulas[0]}
    wanted = [name for name, rule in zip(names, primitive.partials, strict=True) if rule]
    return dict(zip(wanted, formulas, strict=True))


def _formula(partial: Any) -> str:
    if not isinstance(partial, Value):
        return f"{partial:g}"
    (simple,) = simplify((partial,))
    if simple.primitive is WHERE:
        condition, then, otherwise = map(expression_text, simple._prev)
        return f"{then} if {condition} else {otherwise}"
    return expression_text(simple)
