"""How accurate a gradient is, and where digits were lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...api.api_answers import Answer
from ...engine.algebra.guards_at_point import gradient_around, settle_guards
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers import budget
from ...engine.numbers.base import Number
from ...engine.numbers.floats import REAL
from ...errors import Diagnostic, ExpressionError
from ...questions.digits import (
    AGREE_WITHIN,
    DEFAULT_REQUIRED_DIGITS,
    MAX_COMPARISON_EFFORT,
    MAX_DIFFERENCE_EVALUATIONS,
    REFERENCE_DIGITS,
    ROUNDING_STEPS,
    ZERO_SUM_TOLERANCE,
    CheckedNumber,
    Comparison,
    KnownNumber,
    checked_number,
    judged,
    losses,
    reference_text,
    references_of,
    ridders,
    short_text,
    without_value,
)
from ...questions.optional_units import pose_with_units, with_units
from ...questions.problem import Point, Problem
from ...questions.rounding import proven_digits

if TYPE_CHECKING:
    from ...compiled.data_loss import DataLoss, LossSpec, LossSummary
    from ...questions.quantities import ProgramUnits, Units


# The share of the work that is left for comparisons with differences, which take about 60
# evaluations a variable.
COMPARISON_SHARE = 0.5


class Check(Answer, shows=("agrees", "value", "gradient")):
    """A check of a program's value and gradient at a point."""

    declaration = """
    csv line id variable at[] computed[] exact digits kept difference condition agrees error
    value
    gradient
    point
    units
    constants
    warnings
    agrees: whether value and all partial derivatives agree
    data
    precision: the digits of the reference
    required: how many digits the computation has to keep
    checked from=quantities: the value, then each partial derivative
      variable column from=name nonempty: the variable; null for the value
      computed column: the number in doubles
      exact column: the reference, to 25 digits
      digits column: how many digits at least are right, of the formula in decimals
      kept column: how many digits at least the computation has kept
      difference column: the slope by finite differences
      difference_error: the error that these estimate for themselves
      condition column: how much a relative change of the variable is magnified
      agrees column: whether it agrees
      remark nonempty: why it was not compared, or what is wrong
    """

    text: str
    value: float
    gradient: dict[str, float]
    point: dict[str, float]
    constants: dict[str, float]
    precision: int
    required: int
    quantities: tuple[CheckedNumber, ...]
    warnings: tuple[Diagnostic, ...]
    over: LossSummary | None = None
    units: Units | None = None

    @property
    def agrees(self) -> bool:
        return bool(self.quantities) and all(number.agrees for number in self.quantities)


def check(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    required: int = DEFAULT_REQUIRED_DIGITS,
    over: LossSpec | None = None,
    watch: Callable[[int], None] | None = None,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Check:
    """Return value and gradient of a program, with lower bounds on their correct digits.

    The reference is the program in 50 digits or more, at exactly the doubles of the computation;
    its partials are compared with differences of its values. Raises `ExpressionError` like
    `gradient`. `watch` receives the number of rows of data added up, in 50 digits and again in 100.

    >>> check("sqrt(x**2 + 1) - x", {"x": 1e8}).quantities[0].digits
    0
    """
    if over is None:
        problem = pose_with_units(text, point, wrt, units, system=system)
        answer = _check_program(problem, required)
    else:
        from ...compiled.data_loss import pose_over

        passes, point = 1 + MAX_DIFFERENCE_EVALUATIONS, with_units(point)
        problem, function = pose_over(
            text, point, wrt, over, passes, only_variables=True, units=units
        )
        answer = _check_loss(problem, function, required, watch)._replace(text=text)
    return (
        answer
        if problem.units is None
        else _in_units(answer, problem.units, of_numbers=over is not None)
    )


def _in_units(answer: Check, units: ProgramUnits, *, of_numbers: bool) -> Check:
    from ...engine.numbers.multiprecision import Multiprecision
    from ...engine.quantities.presentation import present, present_difference, present_number
    from ...engine.quantities.unit import si_unit

    tree = units.of_gradient(answer.gradient)
    m = Multiprecision(REFERENCE_DIGITS)
    shown = {"": tree["value"], **tree["gradient"]}
    factors = {
        name: unit / units.quotient([name] if name else []) if of_numbers else unit
        for name, unit in shown.items()
    }

    def converted(number: CheckedNumber) -> CheckedNumber:
        unit, own, remark = factors[number.name], shown[number.name], number.remark
        if own.atoms and re.search(r"\d", remark.partition(":")[2]):
            remark += (
                f" (in {units.quotient([number.name]) if of_numbers else si_unit(own.dimension)})"
            )
        differences = number.difference, number.difference_error
        slope, error = (None if x is None else present_difference(x, unit) for x in differences)
        return number._replace(
            computed=present(number.computed, unit),
            exact=reference_text(present_number(m, m.literal(number.exact), unit)),
            difference=slope,
            difference_error=error,
            remark=remark,
        )

    of_numbers_checked = [
        dict.fromkeys(("computed", "exact", "difference"), unit) for unit in shown.values()
    ]
    return answer._replace(
        value=present(answer.value, factors[""]),
        gradient={
            name: present_difference(x, factors[name]) for name, x in answer.gradient.items()
        },
        point={name: units.number_of(name, x) for name, x in answer.point.items()},
        quantities=tuple(map(converted, answer.quantities)),
        units=type(tree)({**tree, "checked": of_numbers_checked[: len(answer.quantities)]}),
    )


def _check_program(problem: Problem, required: int) -> Check:
    graph, values, wanted = problem.program.graph, problem.values, problem.wanted
    try:
        doubles = gradient_around(REAL, graph, values, wanted)
    except ExpressionError as error:
        diagnostic = error.diagnostic
        try:
            exact = references_of(graph, values, ()).exact.value
        except ExpressionError:
            raise error from None
        message = (
            f"{diagnostic.message}; in {REFERENCE_DIGITS} digits the program has the value"
            f" {short_text(exact)}"
        )
        raise ExpressionError(
            diagnostic.kind, message, diagnostic.span, diagnostic.hint, diagnostic.also
        ) from None
    partials = [doubles.gradient[name] for name in wanted]
    answer = _answer(problem, doubles.value, partials, required, doubles.warnings)
    try:
        digits = proven_digits(graph, values, wanted)
        references = references_of(graph, values, wanted, digits or REFERENCE_DIGITS)
        if digits is None:
            references = references._replace(settled=frozenset())
        for swept in (references.exact, *references.written):
            settle_guards(graph, swept)
    except ExpressionError as error:
        return answer._replace(warnings=(*answer.warnings, without_value(error)))
    compared = wanted[: max(1, MAX_COMPARISON_EFFORT // max(1, len(doubles.graph.data)))]
    numbers: list[CheckedNumber] = []
    # of many variables the work allows to compare some: the digits of all are known without
    with suppress(budget.BudgetExceeded), budget.use_share(COMPARISON_SHARE):
        numbers.extend(
            checked_number(doubles, references, name, required, True) for name in ("", *compared)
        )
    rest = wanted[max(0, len(numbers) - 1) :]
    numbers += [checked_number(doubles, references, name, required, False) for name in rest]
    kept = [(n.name, n.kept) for n in numbers if n.kept is not None and (n.kept or not n.agrees)]
    warnings = (*answer.warnings, *losses(doubles, references.exact, kept))
    return answer._replace(
        precision=references.precision, quantities=tuple(numbers), warnings=warnings
    )


def _answer(
    problem: Problem,
    value: float,
    partials: Sequence[float],
    required: int,
    warnings: Iterable[Diagnostic],
) -> Check:
    return Check(
        text=problem.program.text,
        value=value + 0.0,
        gradient={
            name: partial + 0.0 for name, partial in zip(problem.wanted, partials, strict=True)
        },
        point={**problem.values},
        constants=problem.program.constants,
        precision=REFERENCE_DIGITS,
        required=required,
        quantities=(),
        warnings=(*problem.warnings, *warnings),
    )


def _check_loss(
    problem: Problem, function: DataLoss, required: int, watch: Callable[[int], None] | None
) -> Check:
    from ...engine.numbers.multiprecision import Multiprecision

    wanted, graph = problem.wanted, function.evaluator.graph
    here = [problem.values[name] for name in function.variables]

    def sums(digits: int) -> tuple[list[Number], list[Number]]:
        m = Multiprecision(digits)
        totals, sizes = ([m.number(0) for _ in range(1 + len(wanted))] for _ in range(2))
        for row in range(function.data.rows):
            budget.charge(budget.REFERENCE_NODE * len(graph.places))
            if watch is not None:
                watch(row)
            at = zip(function.names, map(m.number, function.point_at(row, here)), strict=True)
            try:
                swept = value_and_gradient(m, graph, dict(at), wanted)
            except ExpressionError as error:
                function.leave_out(row, error)
                continue
            for k, part in enumerate((swept.value, *[swept.gradient[name] for name in wanted])):
                totals[k], sizes[k] = totals[k] + part, sizes[k] + abs(part)
        return totals, sizes

    def compare(name: str, exact: Number) -> Comparison:
        place = function.variables.index(name)

        def along(x: float) -> float | None:
            with budget.Defined():
                return function.value([*here[:place], x, *here[place + 1 :]])
            return None

        slope = ridders(along, here[place], lambda _: noise)
        near = abs(exact) * 1e-6 + 2 * (slope.error or 0.0)
        if slope.slope is None or kinks or abs(slope.slope - exact) <= near:
            return Comparison(slope, exists=not kinks)
        return Comparison(slope, f"wrong: differences give {slope.slope:.6g}", agrees=False)

    value, partials = function(here)
    summary, kinks = function.summary, function.kinks(problem.values, wanted)
    coarse, _ = sums(REFERENCE_DIGITS)
    totals, sizes = sums(2 * REFERENCE_DIGITS)
    share = summary.rows if function.over.how == "mean" else 1
    roundings = [ROUNDING_STEPS * 2.0**-52 * float(size) / share for size in sizes]
    noise = abs(value - float(totals[0] / share)) + roundings[0]
    numbers = []
    for k, (name, computed) in enumerate(zip(("", *wanted), (value, *partials), strict=True)):
        # a sum that cancels below this precision is rounding error
        exact = (
            totals[k] / share if abs(totals[k]) > sizes[k] * ZERO_SUM_TOLERANCE else 0 * totals[k]
        )
        sure = abs(coarse[k] - totals[k]) <= AGREE_WITHIN * abs(totals[k]) or not exact
        unsure = 0 if sure else 2 * REFERENCE_DIGITS
        condition = totals[k] * problem.values[name] / totals[0] if name and totals[0] else None
        comparison = Comparison()
        if name and k <= MAX_COMPARISON_EFFORT // max(1, summary.rows):
            comparison = compare(name, exact)
        elif name:
            comparison = Comparison(remark="no differences: too many rows")
        numbers.append(
            judged(
                name,
                KnownNumber(computed, exact, [exact], unsure, roundings[k]),
                required,
                comparison,
                condition,
            )
        )
    answer = _answer(problem, value, partials, required, kinks)
    return answer._replace(precision=2 * REFERENCE_DIGITS, quantities=tuple(numbers), over=summary)
