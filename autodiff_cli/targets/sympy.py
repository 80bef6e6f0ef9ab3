"""SymPy's text: a formula as `sympy.sympify` reads it back, a function that SymPy lacks by its definition."""

from __future__ import annotations

import re

from ..algebra.symbolic import by_definition
from ..graphs.value import Value
from ..language.printer import Item, assembled, number_text
from ..table.binding import ATOM, CHOICE, POWER, PRODUCT, SIGN, SUM
from ..table.names import by_name
from ..table.operators import VARIABLE
from .target import OPERATORS, Form, call, filled, named

_PLAIN = re.compile(r"(?![CEINOQS])[A-Za-z]\d*", re.ASCII)
"""Names that mean nothing else to SymPy."""

CONSTANTS = {"pi": "pi", "π": "pi", "e": "E"}

FORMS: dict[str, Form] = {
    **OPERATORS,
    **named(
        "exp log sqrt sin cos tan sec csc cot asin acos atan atan2 asec acsc sinh cosh tanh sech csch coth asinh acosh "
        "atanh asech acsch acoth sign floor erf erfc erfinv gamma digamma trigamma polygamma beta Heaviside=heaviside "
        "Abs=abs ceiling=ceil Min=min Max=max log=log_base Eq=eq Ne=ne And=and_ Or=or_ Not=not_"
    ),
    **by_name(
        {
            "where": "Piecewise(({1}, {0}), ({2}, True))",
            "exp2": ("2**{0}", POWER, SIGN),
            "log2": "log({0}, 2)",
            "log10": "log({0}, 10)",
            "acot": ("atan(1/{0})", ATOM, POWER),
            "cbrt": ("sign({0})*Abs({0})**(1/3)", PRODUCT, CHOICE),
            "lgamma": "log(Abs(gamma({0})))",
            "sinc": ("sinc(pi*{0})", ATOM, SIGN),
            # half to even, which SymPy's own `round` of a symbol is not
            "round": ("floor({0} + 1/2) - Piecewise((1, Eq(Mod({0}, 2), 1/2)), (0, True))", SUM, SUM),
            "relu": "Max(0, {0})",
        }
    ),
}
"""How SymPy writes operations."""


def sympy_text(root: Value) -> str:
    """A formula as text that `sympy.sympify` reads as the same function of real variables.

    >>> from autodiff_cli.inputs.problem import parse
    >>> sympy_text(parse("where(x > 0, log2(x), beta)").outputs[0])
    "Piecewise((log(x, 2), x > 0), (Symbol('beta'), True))"
    """
    return assembled(root, _parts)


def _parts(value: Value) -> tuple[int, list[Item]]:
    """How a node binds, and what it is written from."""
    while value._prev and value.primitive.name not in FORMS:
        value = by_definition(value, always=True)
    inputs = value._prev
    if not inputs:
        text = _symbol(value.label) if value.primitive is VARIABLE else ""
        text = text or CONSTANTS.get(value.source or "") or number_text(value.data)
        return SIGN if text.startswith("-") else ATOM, [text]
    form = FORMS[value.primitive.name]
    if isinstance(form, tuple):
        return form[1], filled(form[0], inputs, form[2:])
    assert isinstance(form, str)
    return (ATOM, filled(form, inputs)) if "{" in form else call(form, inputs)


def _symbol(name: str) -> str:
    """A name by itself where SymPy takes it for a symbol, else as one that is made."""
    return name if _PLAIN.fullmatch(name) else f"Symbol({name!r})"
