"""Formulas for solutions, with their conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...engine.algebra.rational_functions import fraction_of, polynomial_in, vanishes
from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, in_order, node, variable
from ...engine.table.operators import DIV, EQ, NEG, VARIABLE
from ...language.printer import expression_text
from ...record import Record
from .conditions import ZERO, conditions_of, number_of, simplest
from .rearranging import WHOLE_NUMBER, solve_formally

# How whole numbers are called in formulas.
WHOLE_NAMES = ("n", "k", "m", "l", "j", "p", "q")


class FormulaSolution(Record):
    """A solution of an equation in its other variables."""

    unknown: str
    formula: str
    condition: str | None
    """Where it is a solution; None for everywhere."""
    whole: Sequence[str] = ()
    """The names that stand for every whole number."""


class FormulaSolutions(Record):
    """All solutions of an equation in its other variables."""

    solutions: list[FormulaSolution]
    identity: str | None
    """Where the equation holds for all values of the unknown for which it has a value; None for
    nowhere, or rarely.
    """
    restriction: str | None
    """What holds for these solutions, while there may be others where it does not: `x > 0`."""


def formula_solutions(
    output: Value, leaf: Value, values: Mapping[str, Value]
) -> FormulaSolutions | None:
    """Return formulas for the solutions of `output = 0`; None if they are not found.

    `values` replace variables. Zeros of divisors are no solutions.
    """
    equation = substitute(output, lambda v: None if v._prev else values.get(v.label))
    found = solve_formally(equation, leaf)
    if found is None:
        return None
    taken = _names(equation)
    solutions: dict[tuple[str, str | None], Sequence[str]] = {}
    restrictions: dict[str, None] = {}
    for solution, conditions in (_with_names(*each, taken) for each in found):
        own = [condition for condition in conditions if leaf in in_order((condition,))]
        restrictions |= dict.fromkeys(map(expression_text, own))
        possible, condition = conditions_of(
            [condition for condition in conditions if condition not in own]
        )
        if possible:
            whole = [name for name in _names(solution) if name not in taken]
            solutions[expression_text(solution), condition] = whole
    listed = [
        FormulaSolution(unknown=leaf.label, formula=text, condition=where, whole=whole)
        for (text, where), whole in solutions.items()
    ]
    return FormulaSolutions(
        solutions=listed,
        identity=_identity(equation, leaf, bool(listed)),
        restriction=" and ".join(restrictions) or None,
    )


def _names(formula: Value) -> list[str]:
    return [v.label for v in in_order((formula,)) if v.primitive is VARIABLE]


def real_solutions(equation: Value, leaf: Value) -> list[tuple[Value, str | None]] | None:
    """Return the solutions of an equation of numbers, and the conditions that are not decided; None
    if they are not found.
    """
    found = solve_formally(equation, leaf)
    # what holds everywhere has no list of solutions either
    if found is None or (not found and vanishes(equation)):
        return None
    named = (_with_names(*each, {leaf.label}) for each in found)
    decided = [(solution, conditions_of(conditions)) for solution, conditions in named]
    return [(solution, condition) for solution, (possible, condition) in decided if possible]


def _with_names(
    solution: Value, conditions: Sequence[Value], taken: Collection[str]
) -> tuple[Value, list[Value]]:
    """Return a formula and its conditions with names for whole numbers that are not `taken`."""
    free = (variable(name) for name in WHOLE_NAMES if name not in taken)
    leaves = [v for v in in_order((solution, *conditions)) if v.primitive is VARIABLE]
    whole = [v for v in leaves if v.label.startswith(WHOLE_NUMBER)]
    names = dict(zip(whole, free, strict=False))
    return (
        substitute(solution, names.get),
        [substitute(condition, names.get) for condition in conditions],
    )


def _identity(equation: Value, leaf: Value, has_solutions: bool) -> str | None:
    """Return the condition under which all coefficients are 0; beside solutions, only if it is a
    single one.
    """
    parts = polynomial_in(fraction_of(equation)[0], leaf)
    coefficients = [part for part in map(simplest, parts or ()) if number_of(part) != 0]
    if not coefficients or any(number_of(part) is not None for part in coefficients):
        return None
    first, *others = coefficients
    different = [part for part in others if number_of(simplest(node(DIV, (part, first)))) is None]
    if has_solutions and different:
        return None
    return " and ".join(dict.fromkeys(map(_where_zero, (first, *different))))


def _where_zero(part: Value) -> str:
    """Return where a coefficient is 0: `d == 1` for `1 - d`."""
    names = [v for v in in_order((part,)) if v.primitive is VARIABLE]
    linear = polynomial_in(part, names[0]) if len(names) == 1 else None
    if linear is not None and len(linear) == 2:
        number = simplest(node(DIV, (linear[0], linear[1])))
        if number_of(number) is not None:
            return expression_text(node(EQ, (names[0], simplest(node(NEG, (number,))))))
    return expression_text(node(EQ, (part, ZERO)))
