"""Implicit differentiation: the derivatives of what equations determine, as formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from ..algebra.almost_everywhere import generic
from ..algebra.simplify import simplify
from ..algebra.symbolic_derivative import derivatives
from ..algebra.walk import substituted
from ..errors import Diagnostic, ExpressionError, counted, quoted, usage_error
from ..formulas.derivation import PUT_IN, SIMPLIFY, Derivation, Step, check_length, derivation, pending_name
from ..formulas.diff import MOST_ORDERS, Derivative, Diff
from ..graphs.value import Value, node, variable
from ..graphs.value_and_gradient import evaluate_in
from ..inputs.arithmetic import DOUBLE, Arithmetic, Shown, Values
from ..inputs.measured_points import with_units
from ..inputs.problem import Point, Problem, check_values, may_have_units, numbers_or_quantities, wanted_variables
from ..language.printer import expression_text
from ..numbers.base import NumberType
from ..numbers.floats import REAL
from ..table.operators import ADD, DIV, MUL, NE, NEG, SUB
from .equations import Equations, read_with_unknowns
from .formula_solutions import ZERO, conditions_of, simplest
from .residuals import TOUCHED, rounding_errors

if TYPE_CHECKING:
    from ..inputs.equation_units import EquationUnits
    from ..inputs.quantities import Units

MOST_EQUATIONS = 4
"""The solution of more linear equations is too long to be a formula."""

BOTH_SIDES, COLLECT, SOLVE = "both sides", "collect", "solve"
"""The steps after both sides are differentiated."""


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
    """Return the derivatives of the `unknowns` of equations by their other variables, or by `wrt`, as formulas.

    F(u(p), p) = 0 gives F_u·u_p = -F_p; higher orders differentiate u_p once more, by the chain rule. A `point` adds
    values, with units where it has some; `units` are those of the unknowns. Raises `ExpressionError`.

    >>> [(d.of, d.by, d.formula) for d in implicit_diff("x**2 + y**2 = 25", unknowns=["y"]).derivatives]
    [('y', ('x',), '-x/y')]
    """
    typed = with_units(point)
    numbers = numbers_or_quantities(typed)
    equations = read_with_unknowns(text, [*typed], unknowns)
    program, names = equations.program, list(equations.program.variables)
    outputs = program.outputs
    _check(equations, unknowns, order, steps)
    here = any(name in numbers for name in names)
    warnings = check_values(program, numbers) if here else []
    wanted = names if wrt is None else wanted_variables(program, numbers, wrt)
    wanted = [name for name in wanted if name not in unknowns]
    leaves = {name: program.variables.get(name) or variable(name) for name in (*unknowns, *wanted)}
    work = _Implicit(outputs, [leaves[name] for name in unknowns], [leaves[name] for name in wanted])
    formulas = work.derivatives(order)
    decided, condition = conditions_of([node(NE, (work.determinant, ZERO))])
    if not decided:
        message = f"the {'equations do' if len(unknowns) > 1 else 'equation does'} not determine {quoted(unknowns)}"
        raise ExpressionError("domain", message, None, "look for other unknowns: `--for`")
    measured: EquationUnits | None = None
    tree: Units | None = None
    if here and may_have_units(text, numbers, units):
        from ..inputs.equation_units import EquationUnits  # only units need it
        from ..inputs.quantities import has_units

        if units or has_units(program, numbers):
            measured = EquationUnits(program, numbers, unknowns, {}, units)
    if measured is not None:
        tree = measured.tree(values=[measured.higher([wanted[j] for j in by], k) for k, by in formulas])
        warnings += measured.warnings
    values: list[Shown | None] = [None] * len(formulas)
    shown_point: dict[str, Shown] = {}
    if here:
        at = {name: typed[name] for name in names}

        def task(m: NumberType, numbers: Values) -> dict[str, object]:
            return {"values": evaluate_in(m, list(formulas.values()), numbers).values, "point": numbers}

        try:
            answer = arithmetic.run(at, task, tree)
        except ExpressionError as error:
            message = f"the derivative has no value here: {error}"
            raise ExpressionError("derivative", message, None, error.hint) from None
        values, shown_point = answer["values"], answer["point"]
        warnings += _off_curve(equations, typed, numbers, unknowns, measured)
    listed: list[Derivative] = []
    for (unknown, by), formula in formulas.items():
        short = generic(formula)
        where = [condition, *(expression_text(c) for c in (short.conditions if short else ()))]
        listed.append(
            Derivative(
                tuple(wanted[k] for k in by),
                expression_text(formula),
                values[len(listed)],
                expression_text(short.formula) if short else None,
                " and ".join(filter(None, where)) or None,
                unknowns[unknown],
            )
        )
    return Diff(
        text,
        arithmetic,
        order,
        language,
        [],
        listed,
        ", ".join(derivative.formula for derivative in listed),
        shown_point,
        tuple(warnings),
        program.constants,
        tuple(_derivations(equations, work, wanted, formulas, order)) if steps else (),
        (),
        list(equations.texts),
        units=tree,
    )


def _check(equations: Equations, unknowns: Sequence[str], order: int, steps: bool) -> None:
    """Raise `ExpressionError` for equations that are not as many as the unknowns, or that are too many."""
    program, count = equations.program, len(equations.program.roots)
    for name in unknowns:
        if name not in program.variables:
            raise usage_error(
                f"`{name}` is not a variable of these equations", f"they have {quoted(program.variables)}"
            )
    if len(unknowns) != count:
        message = f"there {'is' if count == 1 else 'are'} {counted(count, 'equation')} for {quoted(unknowns)}"
        raise usage_error(message, "name as many unknowns as there are equations: `--for x,y`")
    if count > MOST_EQUATIONS:
        message = f"the formulas of {count} unknowns are too long; {MOST_EQUATIONS} is the most"
        raise ExpressionError("limit", message, None, "`solve` finds the derivatives at a point")
    if not 1 <= order <= MOST_ORDERS:
        raise ExpressionError("limit", f"the order {order:,} is not one from 1 to {MOST_ORDERS}")
    if steps and count > 1:
        raise usage_error("`--steps` shows the work of one equation", "leave `--steps` out")


Key = tuple[int, tuple[int, ...]]
"""The place of an unknown, and those of the variables that it is differentiated by, in ascending order."""


class _Implicit:
    """The derivatives of the unknowns of equations, order by order."""

    def __init__(self, outputs: Sequence[Value], unknowns: Sequence[Value], by: Sequence[Value]) -> None:
        self.unknowns, self.by = unknowns, by
        n = len(unknowns)
        rows = [[*derivatives(output, [*unknowns, *by], 1).values()] for output in outputs]
        self.matrix = [row[:n] for row in rows]
        self.right = [[simplest(node(NEG, (x,))) for x in row[n:]] for row in rows]
        self.determinant = simplest(_determinant(self.matrix))
        self.first = {(i, j): self._solved(i, j) for i in range(n) for j in range(len(by))}

    def _solved(self, i: int, j: int) -> Value:
        """The derivative of an unknown by a variable, by Cramer's rule."""
        replaced = [
            [row[j] if k == i else x for k, x in enumerate(line)]
            for line, row in zip(self.matrix, self.right, strict=True)
        ]
        return simplest(node(DIV, (_determinant(replaced), self.determinant)))

    def total(self, formula: Value, j: int, slopes: Sequence[Value]) -> Value:
        """The derivative of a formula along a variable, where the unknowns have these derivatives by it."""
        *partials, total = derivatives(formula, [*self.unknowns, self.by[j]], 1).values()
        for partial, slope in zip(partials, slopes, strict=True):
            total = node(ADD, (total, node(MUL, (partial, slope))))
        return simplify((total,))[0]

    def derivatives(self, order: int) -> dict[Key, Value]:
        """The derivatives of an order."""
        count = len(self.by)
        result: dict[Key, Value] = {(i, (j,)): formula for (i, j), formula in self.first.items()}
        for k in range(2, order + 1):
            result = {
                (i, multi): simplest(
                    self.total(
                        result[i, multi[:-1]], multi[-1], [self.first[u, multi[-1]] for u in range(len(self.unknowns))]
                    )
                )
                for i in range(len(self.unknowns))
                for multi in combinations_with_replacement(range(count), k)
            }
        return result


def _determinant(rows: Sequence[Sequence[Value]]) -> Value:
    """The determinant, expanded along the first row."""
    if len(rows) == 1:
        return rows[0][0]
    total: Value = ZERO
    for k, x in enumerate(rows[0]):
        term = node(MUL, (x, _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])))
        total = node(SUB if k % 2 else ADD, (total, term))
    return total


def _off_curve(
    equations: Equations,
    typed: Mapping[str, float | str],
    numbers: Mapping[str, float],
    unknowns: Sequence[str],
    units: EquationUnits | None,
) -> Iterator[Diagnostic]:
    """Warn of a point at which the equations do not hold."""
    program = equations.program
    values = {name: float(numbers[name]) for name in program.variables}
    problem = Problem(program, dict(typed), values, [], [], list(values), units=units)
    sides = evaluate_in(REAL, program.outputs, values).values
    offs = zip(equations.texts, sides, rounding_errors(problem, values), strict=True)
    for k, (text, off, error) in enumerate(offs):
        if abs(off) > TOUCHED * error:
            left = problem.text_of_side(float(off), k=k)
            yield Diagnostic(
                "off",
                f"the point is not on `{text}`: left side less right side is {left} there",
                None,
                f"`solve` finds {quoted(unknowns)}; the values here are those of the curve through the point",
            )


# ---- steps --------------------------------------------------------------------------------------------------------
def _derivations(
    equations: Equations, work: _Implicit, wanted: Sequence[str], formulas: Mapping[Key, Value], order: int
) -> Iterator[Derivation]:
    """The work for each variable: both sides differentiated, collected, solved; then again for each further order."""
    (output,), (unknown,) = equations.program.outputs, work.unknowns
    left, right = _sides(output, equations.texts[0])
    check_length(output)
    for j, name in enumerate(wanted):
        leaf, slope = work.by[j], variable(pending_name(unknown, wanted[j]))
        pending = {slope.label: unknown}
        steps: list[Step] = []
        both = []
        for side in (left, right):
            formula = work.total(side, j, [slope])
            both.append(formula)
            steps += derivation(side, leaf, (name,), formula, follows=(unknown,)).steps
        collected = node(MUL, (work.matrix[0][0], slope))
        first = work.first[0, j]
        steps += [
            Step(BOTH_SIDES, "", both[0], both[1], "", 0, pending),
            Step(COLLECT, "", collected, work.right[0][j], "", 0, pending),
            Step(SOLVE, "", slope, first, conditions_of([node(NE, (work.determinant, ZERO))])[1] or "", 0, pending),
        ]
        yield Derivation((name,), output, tuple(steps), first)
        formula = first
        for k in range(2, order + 1):
            open_total = work.total(formula, j, [slope])
            again = [*derivation(formula, leaf, (name,) * k, open_total, follows=(unknown,)).steps]
            inserted = substituted(open_total, {slope: first}.get)
            following = formulas.get((0, (j,) * k)) if k == order else simplest(work.total(formula, j, [first]))
            assert following is not None
            again.append(Step(PUT_IN, "", open_total, inserted, "", 0, pending))
            if expression_text(inserted) != expression_text(following):
                again.append(Step(SIMPLIFY, "", inserted, following, "", 0, pending))
            yield Derivation((name,) * k, formula, tuple(again), following)
            formula = following


def _sides(output: Value, text: str) -> tuple[Value, Value]:
    """The sides of an equation whose difference is the output."""
    _, sign, right = text.replace("==", "=").partition("=")
    if output.primitive is SUB and sign and right.strip() != "0":
        first, second = output._prev
        return first, second
    return output, ZERO
