"""Formulas for derivatives of implicit functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from ...engine.algebra.almost_everywhere import generic_form
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in
from ...engine.numbers.base import Number, NumberType
from ...engine.numbers.floats import REAL
from ...engine.table.operators import ADD, DIV, MUL, NE, NEG, SUB
from ...errors import Diagnostic, ExpressionError, limit_error, plural, quote, usage_error
from ...language.builder import Program
from ...language.printer import expression_text
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown, Values
from ...questions.equations import Equations, read_with_unknowns
from ...questions.optional_units import program_units, with_units
from ...questions.problem import (
    Point,
    Problem,
    check_products,
    check_values,
    numbers_or_quantities,
    wanted_variables,
)
from ...questions.rounding import lost_number_warnings
from ..formulas.derivation import (
    SIMPLIFY,
    SUBSTITUTE,
    Derivation,
    RuleStep,
    check_length,
    derivation,
    pending_name,
)
from ..formulas.diff import Derivative, DerivativeValues, Diff, check_has_values, no_values
from .conditions import ZERO, conditions_of, simplest
from .residuals import ZERO_ROUNDINGS, Search

if TYPE_CHECKING:
    from ...questions.quantities import Units

MAX_EQUATIONS = 4

# Steps after both sides are differentiated.
BOTH_SIDES, COLLECT, SOLVE = "both sides", "collect", "solve"


def implicit_diff(
    text: str,
    point: Point | None = None,
    *,
    unknowns: Sequence[str],
    wrt: Sequence[str] | None = None,
    order: int = 1,
    steps: bool = False,
    language: str = "text",
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
) -> Diff:
    """Return formulas for the derivatives of the `unknowns`, or those by `wrt`.

    F_u·u_p = -F_p; higher orders differentiate u_p by the chain rule.

    >>> [(d.of, d.by, d.formula) for d in implicit_diff("x**2 + y**2 = 25", unknowns=["y"]).derivatives]
    [('y', ('x',), '-x/y')]
    """
    typed = with_units(point)
    numbers = numbers_or_quantities(typed)
    equations = read_with_unknowns(text, [*typed], unknowns)
    program, names = equations.program, list(equations.program.variables)
    asked = {*unknowns, *(wrt or ())}
    check_products(program, {*typed, *asked}, asked)
    _check_unknowns(program, unknowns)
    if steps and len(unknowns) > 1:
        raise usage_error("`--steps` shows the work of one equation", "leave `--steps` out")
    here = any(name in numbers for name in names)
    check_has_values(units, here)
    warnings = check_values(program, numbers) if here else []
    wanted = names if wrt is None else wanted_variables(program, numbers, wrt, unknowns)
    wanted = [name for name in wanted if name not in unknowns]
    work = _cramers_rule(program, unknowns, wanted)
    formulas = work.derivatives(order)
    condition = _condition_to_determine(unknowns, work)
    found = no_values(len(formulas))
    if here:
        measured = program_units(program, numbers, units, unknowns=unknowns)
        at = {name: float(numbers[name]) for name in names}
        problem = Problem(program, dict(typed), at, wanted, [], names, units=measured)
        found = _values(problem, equations.texts, formulas, unknowns, arithmetic)
    listed = [
        _derivative(unknowns[unknown], tuple(wanted[k] for k in by), formula, value, condition)
        for ((unknown, by), formula), value in zip(formulas.items(), found.values, strict=True)
    ]
    return Diff(
        text,
        arithmetic,
        order,
        language,
        [],
        listed,
        ", ".join(derivative.formula for derivative in listed),
        found.point,
        (*warnings, *found.warnings),
        program.constants,
        tuple(_derivations(equations, work, wanted, formulas, order)) if steps else (),
        equations=list(equations.texts),
        units=found.units,
    )


def _cramers_rule(program: Program, unknowns: Sequence[str], wanted: Sequence[str]) -> _CramersRule:
    leaves = {name: program.variables.get(name) or variable(name) for name in (*unknowns, *wanted)}
    return _CramersRule(
        program.outputs, [leaves[name] for name in unknowns], [leaves[name] for name in wanted]
    )


def _condition_to_determine(unknowns: Sequence[str], work: _CramersRule) -> str | None:
    """Return the condition on which equations determine the unknowns. Raises `ExpressionError` if
    they never do.
    """
    decided, condition = conditions_of([node(NE, (work.determinant, ZERO))])
    if not decided:
        message = (
            f"the {'equations do' if len(unknowns) > 1 else 'equation does'} not determine"
            f" {quote(unknowns)}"
        )
        raise ExpressionError("domain", message, None, "choose other unknowns: `--for`")
    return condition


def _check_unknowns(program: Program, unknowns: Sequence[str]) -> None:
    count = len(program.roots)
    for name in unknowns:
        if name not in program.variables:
            message = f"`{name}` is not a variable of these equations"
            raise usage_error(message, f"they have {quote(program.variables)}")
    if len(unknowns) != count:
        message = (
            f"there {'is' if count == 1 else 'are'} {plural(count, 'equation')} for"
            f" {quote(unknowns)}"
        )
        raise usage_error(message, "name as many unknowns as there are equations: `--for x,y`")
    if count > MAX_EQUATIONS:
        message = f"the formulas of {count} unknowns are too long; {MAX_EQUATIONS} is the most"
        raise limit_error(message, "`solve` finds the derivatives at a point")


def _values(
    problem: Problem,
    texts: Sequence[str],
    formulas: Mapping[Key, Value],
    unknowns: Sequence[str],
    arithmetic: Arithmetic,
) -> DerivativeValues:
    """Return the values at the point, with warnings if it does not meet the equations."""
    tree: Units | None = None
    wanted, measured, warnings = problem.wanted, problem.units, list[Diagnostic]()
    if measured is not None:
        tree = measured.tree(
            values=[measured.derivative([wanted[j] for j in by], k) for k, by in formulas]
        )
        warnings += measured.warnings

    def task(m: NumberType, numbers: Values) -> dict[str, object]:
        return {"values": evaluate_in(m, list(formulas.values()), numbers).values, "point": numbers}

    try:
        answer = arithmetic.run({name: problem.point[name] for name in problem.values}, task, tree)
    except ExpressionError as error:
        message = f"the derivative has no value here: {error}"
        raise ExpressionError("derivative", message, None, error.hint) from None
    sides = evaluate_in(REAL, problem.program.outputs, problem.values).values
    hint = (
        f"compute {quote(unknowns)} with `solve`; the values here are those of the curve through"
        " the point"
    )
    roundings = Search(problem).rounding_errors([*problem.values.values()])
    for k, (off, rounding) in enumerate(zip(sides, roundings, strict=True)):
        if abs(off) > ZERO_ROUNDINGS * rounding:
            left = problem.residual_text(float(off), k=k)
            message = f"the point is not on `{texts[k]}`: left side less right side is {left} there"
            warnings.append(Diagnostic("off", message, None, hint))
    if arithmetic == DOUBLE:
        named = [
            f"the derivative of `{unknowns[k]}` by {quote([wanted[j] for j in by])}"
            for k, by in formulas
        ]
        warnings += _lost_digits(problem, named, list(formulas.values()))
    return DerivativeValues(answer["values"], answer["point"], tree, warnings)


def _derivative(
    of: str, by: tuple[str, ...], formula: Value, value: Shown | None, condition: str | None
) -> Derivative:
    """Return a derivative with its short form, which holds where the equations determine the
    unknowns.
    """
    shorter = generic_form(formula)
    where = [condition, *(expression_text(c) for c in (shorter.conditions if shorter else ()))]
    short = expression_text(shorter.formula) if shorter else None
    return Derivative(
        by, expression_text(formula), value, short, " and ".join(filter(None, where)) or None, of
    )


# The index of an unknown, and the ascending indices of the variables.
Key = tuple[int, tuple[int, ...]]


def _lost_digits(
    problem: Problem, names: Sequence[str], formulas: Sequence[Value]
) -> list[Diagnostic]:
    def compute(m: NumberType, at: Mapping[str, Number]) -> dict[str, Number]:
        return dict(zip(names, evaluate_in(m, formulas, at).values, strict=True))

    return lost_number_warnings(
        problem.program.graph, problem.values, problem.point, compute, "diff"
    )


class _CramersRule:
    def __init__(
        self, outputs: Sequence[Value], unknowns: Sequence[Value], by: Sequence[Value]
    ) -> None:
        self.unknowns, self.by = unknowns, by
        n = len(unknowns)
        rows = [[*derivatives(output, [*unknowns, *by], 1).values()] for output in outputs]
        self.matrix = [row[:n] for row in rows]
        self.right = [[simplest(node(NEG, (x,))) for x in row[n:]] for row in rows]
        self.determinant = simplest(_determinant(self.matrix))
        self.first: dict[tuple[int, int], Value] = {}
        for i in range(n):
            for j in range(len(by)):
                # by Cramer's rule
                sides = zip(self.matrix, self.right, strict=True)
                above = _determinant([[*line[:i], row[j], *line[i + 1 :]] for line, row in sides])
                self.first[i, j] = simplest(node(DIV, (above, self.determinant)))

    def total(self, formula: Value, j: int, slopes: Sequence[Value]) -> Value:
        *partials, total = derivatives(formula, [*self.unknowns, self.by[j]], 1).values()
        for partial, slope in zip(partials, slopes, strict=True):
            total = node(ADD, (total, node(MUL, (partial, slope))))
        return simplify((total,))[0]

    def derivatives(self, order: int) -> dict[Key, Value]:
        result: dict[Key, Value] = {(i, (j,)): formula for (i, j), formula in self.first.items()}
        n = len(self.unknowns)
        for k in range(2, order + 1):
            below, result = result, {}
            for i in range(n):
                for multi in combinations_with_replacement(range(len(self.by)), k):
                    *before, last = multi
                    slopes = [self.first[u, last] for u in range(n)]
                    result[i, multi] = simplest(self.total(below[i, tuple(before)], last, slopes))
        return result


def _determinant(rows: Sequence[Sequence[Value]]) -> Value:
    if len(rows) == 1:
        return rows[0][0]
    total: Value = ZERO
    for k, x in enumerate(rows[0]):
        term = node(MUL, (x, _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])))
        total = node(SUB if k % 2 else ADD, (total, term))
    return total


def _derivations(
    equations: Equations,
    work: _CramersRule,
    wanted: Sequence[str],
    formulas: Mapping[Key, Value],
    order: int,
) -> Iterator[Derivation]:
    (output,), (unknown,) = equations.program.outputs, work.unknowns
    _, sign, text = equations.texts[0].replace("==", "=").partition("=")
    # the sides whose difference the output is
    is_difference = output.primitive is SUB and sign and text.strip() != "0"
    sides = output._prev if is_difference else (output, ZERO)
    check_length(output)
    for j, name in enumerate(wanted):
        leaf, slope = work.by[j], variable(pending_name(unknown, name))
        pending = {slope.label: unknown}
        both = [work.total(side, j, [slope]) for side in sides]
        steps: list[RuleStep] = []
        for side, formula in zip(sides, both, strict=True):
            steps += derivation(side, leaf, (name,), formula, follows=(unknown,)).steps
        collected = node(MUL, (work.matrix[0][0], slope))
        first = work.first[0, j]
        steps += [
            RuleStep(BOTH_SIDES, "", both[0], both[1], "", 0, pending),
            RuleStep(COLLECT, "", collected, work.right[0][j], "", 0, pending),
            RuleStep(
                SOLVE,
                "",
                slope,
                first,
                conditions_of([node(NE, (work.determinant, ZERO))])[1] or "",
                0,
                pending,
            ),
        ]
        yield Derivation((name,), output, tuple(steps), first)
        formula = first
        for k in range(2, order + 1):
            open_total = work.total(formula, j, [slope])
            again = [*derivation(formula, leaf, (name,) * k, open_total, follows=(unknown,)).steps]
            inserted = substitute(open_total, {slope: first}.get)
            following = (
                formulas[0, (j,) * k] if k == order else simplest(work.total(formula, j, [first]))
            )
            again.append(RuleStep(SUBSTITUTE, "", open_total, inserted, "", 0, pending))
            if expression_text(inserted) != expression_text(following):
                again.append(RuleStep(SIMPLIFY, "", inserted, following, "", 0, pending))
            yield Derivation((name,) * k, formula, tuple(again), following)
            formula = following
