"""A function of the language in LaTeX."""

from __future__ import annotations

from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic import by_definition
from ...engine.table.primitive import DEFINITIONS, FUNCTIONS, PRIMITIVES
from ...language.typesetting import Typesetting, equations, names_in
from .functions import FunctionEntry, rule


def of_function(entry: FunctionEntry) -> str:
    """Return the definition of a function, and its derivatives."""
    primitive = FUNCTIONS[entry.name]
    sides = []
    for function in filter(None, (primitive, PRIMITIVES.get(primitive.longer))):
        call, slopes = rule(function)
        typeset = Typesetting(names_in((call,)))
        left = typeset.factor(call)
        if not function.latex and function.name in DEFINITIONS:
            (definition,) = simplify((by_definition(call, always=True),))
            sides.append((left, typeset.expression(definition)))
        d = r"\partial " if len(call._prev) > 1 else "d"
        sides += [
            (rf"\frac{{{d.strip()}}}{{{d}{typeset.name(name)}}} {left}", typeset.expression(slope))
            for name, slope in slopes.items()
        ]
    return equations(sides)
