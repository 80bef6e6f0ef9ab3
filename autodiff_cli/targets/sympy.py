"""Formulas as SymPy's text; a function that SymPy lacks by its definition."""

from __future__ import annotations

import re

from ..algebra.symbolic import by_definition
from ..graphs.value import Value
from ..language.printer import Written, assemble, number_text, spell
from ..table.operators import VARIABLE
from ..table.primitive import ATOM, SIGN
from .target import language

_PLAIN = re.compile(r"(?![CEINOQS])[A-Za-z]\d*", re.ASCII)
"""Names that mean nothing else to SymPy."""

CONSTANTS = {"pi": "pi", "π": "pi", "e": "E"}

FORMS = language("sympy")["forms"]
"""How SymPy writes operations."""


def sympy_text(root: Value) -> str:
    """Return text that `sympy.sympify` reads as the same function of real variables.

    >>> from autodiff_cli.inputs.problem import parse
    >>> sympy_text(parse("where(x > 0, log2(x), beta)").outputs[0])
    "Piecewise((log(x, 2), x > 0), (Symbol('beta'), True))"
    """
    return assemble(root, _parts)


def _parts(value: Value) -> Written:
    while value._prev and value.primitive.name not in FORMS:
        value = by_definition(value, always=True)
    inputs = value._prev
    if not inputs:
        text = _symbol(value.label) if value.primitive is VARIABLE else ""
        text = text or CONSTANTS.get(value.source or "") or number_text(value.data)
        return SIGN if text.startswith("-") else ATOM, [text]
    return spell(FORMS[value.primitive.name], inputs)


def _symbol(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"Symbol({name!r})"
