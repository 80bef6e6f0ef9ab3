"""A function of the language in LaTeX."""

from __future__ import annotations

from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic import UNEVALUATED, by_definition
from ...engine.graphs.value import Value
from ...engine.table.primitive import DEFINITIONS, PRIMITIVES, Primitive
from ...language.typesetting import Typesetting, equations, names_in
from .functions import LISTED, UNROLLED, FunctionEntry, rule


def of_function(entry: FunctionEntry) -> str:
    """Return the definition of a function, and its derivatives."""
    primitive = LISTED[entry.name]
    if entry.name in UNROLLED:
        return f"% {entry.signature}: {entry.doc}; it is written out as operations on the entries"
    sides = []
    for function in filter(None, (primitive, PRIMITIVES.get(primitive.longer))):
        call, slopes = rule(function)
        typeset = Typesetting(names_in((call,)))
        left = typeset.factor(call)
        written = _definition(function, call)
        if written is not None:
            sides.append((left, typeset.expression(written)))
        d = r"\partial " if len(call._prev) > 1 else "d"
        sides += [
            (rf"\frac{{{d.strip()}}}{{{d}{typeset.name(name)}}} {left}", typeset.expression(slope))
            for name, slope in slopes.items()
        ]
    return equations(sides)


def _definition(function: Primitive, call: Value) -> Value | None:
    if function.composition is not None:
        written: Value = function.composition(UNEVALUATED, *call._prev)
        return simplify((written,))[0]
    if function.latex or function.name not in DEFINITIONS:
        return None
    return simplify((by_definition(call, always=True),))[0]
