"""Taylor polynomials in one variable, also through removable singularities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...api.api_answers import Answer, as_numbers
from ...engine.algebra.guards_at_point import smooth_around
from ...engine.algebra.walk import rebuild, rewrite
from ...engine.graphs.higher_order import taylor_in
from ...engine.graphs.laurent import Laurent, NoSeries, laurent_in
from ...engine.graphs.value import Source, Value, graph_of, node
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.base import NO_RESULT, UNDECIDED, Number, NumberType, Refusal, undecided
from ...engine.numbers.budget import BudgetExceeded, Defined
from ...engine.numbers.floats import REAL
from ...engine.numbers.running_error import RUNNING, UNIT_ROUNDOFF, Bounded
from ...engine.run.flat_graph import Graph
from ...engine.run.sweep import show
from ...engine.table.operators import CONSTANT, POW
from ...engine.table.primitives import EXP
from ...errors import (
    Diagnostic,
    ExpressionError,
    NotSmooth,
    limit_error,
    quote,
    usage_error,
)
from ...language.builder import Program
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown, Values
from ...questions.figures import Figure
from ...questions.optional_units import pose_with_units
from ...questions.problem import Point, check_products, have_units, parse
from ...questions.rounding import branches_are_decided, lost_number_warnings

if TYPE_CHECKING:
    from ...engine.numbers.running_digits import RunningDigits
    from ...engine.quantities.unit import Unit
    from ...questions.quantities import Units

MAX_DIGITS = 300_000
# Precisions at which a number is compared with 0; the last one decides.
ZERO_TEST_DIGITS = (60, 150)
# Precisions at which coefficients below their error bounds are computed; those of 0 at the last one
# are 0.
NOISE_DIGITS = (*ZERO_TEST_DIGITS, 800)
# The largest relative error bound of a coefficient that is kept in doubles.
NOISE = 1e-10
# The correct digits of a coefficient that more digits do not change as a double.
DIGITS_OF_DOUBLE = 16
# The smallest double: a coefficient that is proven to be as small is 0 as far as doubles go.
ROUNDS_TO_ZERO = 2.0**-1074


class Taylor(Answer, shows=("polynomial",)):
    """A Taylor polynomial: its coefficients and its formula."""

    declaration = """
    csv line id variable order coefficient[] error
    plain coefficients
    variable: the variable that it is in
    order: its order
    polynomial: the polynomial as a formula
    coefficients figures column=coefficient wide=c: its coefficients, by order: the derivative of \
    order k divided by k!
    point
    units
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    variable: str
    order: int
    coefficients: list[Shown]
    """By order: the k-th derivative at the point, divided by k!."""
    point: dict[str, Shown]
    polynomial: str
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers(self.coefficients, dtype)


def taylor(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    order: int = 8,
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
    system: bool = False,
) -> Taylor:
    """Return the Taylor polynomial of a program at `point` in `wrt`, of order 0 to 200.

    `wrt` is optional if there is one variable. Without a point that is at 0, which a note says.
    Raises `ExpressionError` as `gradient` does.
    """
    if wrt is not None and len(wrt) != 1:
        raise usage_error("a Taylor series is taken in one variable", "write `--wrt x`")
    at, notes = (point, []) if point else _origin(text, wrt)
    posed = pose_with_units(text, at, wrt, units, system=system)
    graph, measured = posed.program.graph, posed.units
    wanted = posed.wanted if wrt is not None else posed.used_variables
    if len(wanted) != 1:
        message = (
            "a Taylor series is taken in one variable, and this program has"
            f" {len(wanted) or 'none'}"
        )
        named = quote(wanted, "")
        hint = (
            f"choose one of {named}: `--wrt {wanted[0]}`"
            if named
            else "write a program with a variable"
        )
        raise usage_error(message, hint)
    _check_order(order, arithmetic)
    name = wanted[0]
    tree: Units | None = None
    if measured is not None:
        slopes = [measured.derivative([name] * k) for k in range(1, order + 1)]
        tree = measured.tree(coefficients=[measured.outputs[0], *slopes])
    remarks: list[Diagnostic] = []

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        def expand(source: Source) -> list[Number]:
            return taylor_in(m, source, values, name, order)

        result, is_right = (
            _without_noise(graph, values, posed.point, name, order) if m is REAL else (None, True)
        )
        try:
            coefficients = result or expand(graph)
            remarks[:] = [] if is_right else _lost_digits(graph, values, posed.point, name, order)
        except ExpressionError as error:
            if error.kind not in ("domain", "derivative"):
                raise
            through = series_through(m, graph, values, posed.point, name, order)
            if through is not None:
                coefficients, remarks[:] = through
            elif isinstance(error, NotSmooth) and not error.is_decided:
                coefficients = smooth_around(expand, m, graph, values, (name,), order)
            else:
                raise
        return {"coefficients": coefficients, "point": values}

    try:
        numbers = arithmetic.run(posed.point, work, tree, hint=True)
    except ExpressionError as error:
        if notes:
            hint = f"no place was given, so it is {name} = 0: `--at {name}=…` chooses another"
            error.diagnostic = error.diagnostic._replace(hint=hint)
        raise
    numbers["polynomial"] = polynomial(
        name, numbers["coefficients"], numbers["point"][name], units=tree
    )
    constants, heard = posed.program.constants, (*posed.warnings, *remarks, *notes)
    return Taylor(
        text, arithmetic, name, order, **numbers, constants=constants, warnings=heard, units=tree
    )


def _origin(text: str, wrt: Sequence[str] | None) -> tuple[dict[str, float], list[Diagnostic]]:
    """Return the place 0 of a lone variable, and a note; nothing for a program with several or
    none.
    """
    program = parse(text, units=True)
    check_products(program, wrt or (), wrt, by_option=True)
    variables = [*program.variables]
    if len(variables) != 1 or have_units(text, {}):
        return {}, []
    (name,) = variables
    note = Diagnostic(
        "note", f"expanded at {name} = 0; `--at {name}=…` chooses another place", None, None
    )
    return {name: 0.0}, [note]


def _check_order(order: int, arithmetic: Arithmetic) -> None:
    if arithmetic.name in ("precision", "certified") and order * arithmetic.digits > MAX_DIGITS:
        message = f"order {order} with {arithmetic.digits:,} digits would take too long"
        raise limit_error(message, f"order times digits may be up to {MAX_DIGITS:,}")


def _lost_digits(
    graph: Graph, values: Values, point: Point, name: str, order: int
) -> list[Diagnostic]:
    """Return warnings about coefficients in doubles that have lost their digits."""

    def coefficients(m: NumberType, at: Mapping[str, Number]) -> dict[str, Number]:
        return {coefficient_name(k): x for k, x in enumerate(taylor_in(m, graph, at, name, order))}

    return lost_number_warnings(graph, values, point, coefficients, "taylor")


def coefficient_name(order: int) -> str:
    """Return what messages call a coefficient."""
    return f"the coefficient of order {order}"


def _without_noise(
    graph: Graph, values: Values, point: Mapping[str, float | str], name: str, order: int
) -> tuple[list[Number] | None, bool]:
    """Return the coefficients, inexact ones from many digits, and whether those digits leave all of
    them right.

    There are none without error bounds. A typed point may be off by its rounding, `pi/2` too; one
    given as a double is exact.
    """
    bounded, doubles = {}, {}
    for key, x in values.items():
        if isinstance(point[key], str) or getattr(point[key], "source", None) is not None:
            bounded[key] = Bounded(x, UNIT_ROUNDOFF * abs(x))
        else:
            bounded[key], doubles[key] = Bounded(x, 0.0), x
    try:
        bounds = [RUNNING.number(x) for x in taylor_in(RUNNING, graph, bounded, name, order)]
    except (ExpressionError, *NO_RESULT):
        return None, False
    coefficients = [c.x for c in bounds]
    noisy = [k for k, c in enumerate(bounds) if abs(c.x) * NOISE < c.error]
    last: Sequence[Number] = ()
    for digits in NOISE_DIGITS:
        sharp: Sequence[Number] = ()
        if noisy:
            with Defined(ExpressionError, BudgetExceeded, *NO_RESULT):
                m, at = _in_digits(digits, point)
                at |= {key: m.number(x) for key, x in doubles.items()}
                sharp = taylor_in(m, graph, at, name, order)
        if noisy and not sharp and digits == NOISE_DIGITS[0]:
            return (
                None,
                False,
                # `tan(x)` at `pi/2` has no value; that its bound is as large as the number makes it
                # no 0
            )
        if not sharp:
            break
        unsure = []
        for k in noisy:
            left = sharp[k].correct_digits(DIGITS_OF_DOUBLE)
            if left and math.isfinite(x := float(sharp[k])):
                coefficients[k] = (
                    x if abs(x - coefficients[k]) > NOISE * abs(x) else coefficients[k]
                )
            elif sharp[k].abs_upper() >= bounds[k].error:
                return None, False  # at a pole more digits give no smaller bound
            elif abs(coefficients[k]) <= bounds[k].error < math.inf:
                coefficients[k] = 0.0
            if left < DIGITS_OF_DOUBLE:
                unsure.append(k)
        # what is 0 so far may be a number that is smaller than these digits
        noisy = unsure
        last = sharp
    is_right = all(last and last[k].abs_upper() <= ROUNDS_TO_ZERO for k in noisy)
    return coefficients, is_right and branches_are_decided(graph, values)


def _in_digits(digits: int, point: Point) -> tuple[RunningDigits, Values]:
    from ...engine.numbers.running_digits import RunningDigits

    m, arithmetic = RunningDigits(digits), Arithmetic("precision", digits)
    return m, {name: arithmetic._value(m, name, x) for name, x in point.items()}


def shortest_text(x: Shown) -> str:
    """Return the shortest literal that reads back as the number, or all digits."""
    if isinstance(x, Figure):
        text = x.text.replace("e+", "e")
        # zeros that count proven digits say nothing in a formula
        return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return str(int(x)) if x == int(x) and abs(x) < 1e16 else repr(x).replace("e+", "e")


def polynomial(
    name: str,
    coefficients: list[Shown],
    center: Shown,
    written: Callable[[Shown], str] = shortest_text,
    units: Mapping[str, Any] | None = None,
) -> str:
    """Return the polynomial in powers of variable less center, without zero terms.

    With units its numbers have them: `2[m] + 3[m/s]*(t - 1[s])`.
    """

    def number(x: Shown, unit: Unit | None) -> str:
        if unit is None or not unit.atoms:
            return written(x)
        if unit.zero:
            # formulas have no scales with a zero of their own
            kelvins = (
                Fraction(x.text if isinstance(x, Figure) else repr(x)) * unit.scale + unit.zero
            )
            x, unit = (
                Figure(str(kelvins), None) if isinstance(x, Figure) else float(kelvins),
                unit.difference,
            )
        return f"{text}*1[{unit}]" if "/" in (text := written(x)) else f"{text}[{unit}]"

    at: Unit | None = units["point"][name] if units else None
    of: Sequence[Unit | None] = units["coefficients"] if units else [None] * len(coefficients)
    base = name
    if float(center) or (at is not None and at.zero):
        far = number(center, at).removeprefix("-")
        far = f"({far})" if "/" in far.partition("[")[0] else far
        sign = "+" if float(center) < 0 else "-"
        base = f"({name} {sign} {far})"
    out = ""
    for k, (coefficient, unit) in enumerate(zip(coefficients, of, strict=True)):
        is_zero = coefficient.text == "0" if isinstance(coefficient, Figure) else coefficient == 0
        if is_zero and not (unit is not None and unit.zero):
            continue
        text = number(coefficient, unit)
        negative, size = text.startswith("-"), text.removeprefix("-")
        power = base if k == 1 else f"{base}**{k}"
        term = size if k == 0 else power if size == "1" else f"{size}*{power}"
        out += (" - " if negative else " + ") + term if out else ("-" if negative else "") + term
    return out or "0"


# ---- fractions
# The largest denominator of a coefficient that is shown as a fraction, as in LaTeX.
MAX_DENOMINATOR = 10**7


def with_fractions(answer: Taylor) -> Taylor:
    """Return the answer with fractions in place of those coefficients in doubles that are exactly
    so, as 1/6 is.
    """
    if answer.arithmetic != DOUBLE or answer.units is not None:
        return answer
    from ...engine.numbers.exact import EXACT

    coefficients: list[Any] = []
    with Defined(ExpressionError, BudgetExceeded, *NO_RESULT):
        (output,) = parse(answer.text, answer.point).outputs
        values = {name: EXACT.number(Fraction(float(x))) for name, x in answer.point.items()}
        graph, point = (
            graph_of((_with_exp(output),)),
            {name: float(x) for name, x in answer.point.items()},
        )
        try:
            coefficients = taylor_in(EXACT, graph, values, answer.variable, answer.order)
        except ExpressionError:
            through = series_through(EXACT, graph, values, point, answer.variable, answer.order)
            coefficients = through[0] if through else []
    shown = [
        _fraction(x, exact)
        for x, exact in zip(answer.coefficients, coefficients, strict=bool(coefficients))
    ]
    return answer._replace(coefficients=shown) if shown else answer


def _fraction(x: Shown, exact: Any) -> Shown:
    fraction = Fraction(exact)
    is_short = 1 < fraction.denominator <= MAX_DENOMINATOR and math.isclose(
        fraction, float(x), rel_tol=NOISE
    )
    return Figure(str(fraction), None) if is_short else x


def _with_exp(output: Value) -> Value:
    """Return a formula with powers of the constant e as values of exp, which fractions have."""

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        if value.primitive is POW and inputs[0].primitive is CONSTANT and inputs[0].source == "e":
            return node(EXP, inputs[1:])
        return rebuild(value, inputs)

    return rewrite((output,), rule)[0]


# ---- removable singularities
class _Decisions:
    """Whether numbers are 0, by bounds on their errors."""

    def __init__(self) -> None:
        self.taken: list[bool] = []
        self.confirmed = True

    def __call__(self, x: Number) -> bool:
        zero = True
        try:
            zero = bool(x == 0)
        except Refusal:
            self.confirmed = False
        self.taken.append(zero)
        return zero


def decided_series(output: Source, point: Point, by: str, order: int) -> tuple[Laurent, _Decisions]:
    """Return the series in many digits, its zeros decided. Raises `NoSeries`."""
    before: list[bool] = []
    for digits in ZERO_TEST_DIGITS:
        m, values = _in_digits(digits, point)
        decisions = _Decisions()
        series = laurent_in(m, output, values, by, order, decisions)
        series.c = [m.number(0) if decisions(x) else x for x in series.c]
        if decisions.confirmed or decisions.taken == before:
            return series, decisions
        before = decisions.taken
    raise NoSeries


def series_through(
    m: NumberType, output: Source, values: Values, point: Point, by: str, order: int
) -> tuple[list[Number], list[Diagnostic]] | None:
    """Return the coefficients through a removable singularity, guarded or not, and a note; or None.

    Raises `NotSmooth` if the program has a value there that is not the limit.
    """
    try:
        series, decisions = decided_series(output, point, by, order)
        if series.start < 0:
            return None
        if m is not REAL:
            replayed: Iterator[bool] = iter(decisions.taken)
            is_zero = (
                (lambda x: bool(x == 0))
                if m.name in ("exact", "certified")
                else lambda _: next(replayed)
            )
            series = laurent_in(m, output, values, by, order, is_zero)
    except (NoSeries, BudgetExceeded, *NO_RESULT, ExpressionError) as error:
        if m is not REAL and getattr(error, "kind", "") == UNDECIDED:
            # with more digits there may be a limit
            raise undecided(
                "cannot determine whether the formula has a limit at this point"
            ) from None
        return None
    zero = m.number(0)
    coefficients = [zero + (float(x) if m is REAL else x) for x in map(series.at, range(order + 1))]
    if m is REAL and not all(map(math.isfinite, coefficients)):
        message = "a coefficient of the series through this point is too large for double precision"
        raise ExpressionError("overflow", message, hint="use `--precision`")
    remarks = []
    value = value_in(m, output, values)
    if value is None:
        remarks.append(
            "the formula has no value at this point, but a limit: the series is that of its"
            " continuous extension"
        )
    elif not m.same(value, coefficients[0]):
        message = (
            f"the value jumps here: it is {show(value)} at the point, and its limit is"
            f" {show(coefficients[0])}"
        )
        raise NotSmooth("derivative", message, None, "move the point to one side")
    if not decisions.confirmed:
        remarks.append(
            f"the cancellation of terms is confirmed with {ZERO_TEST_DIGITS[-1]} digits, but not"
            " proven"
        )
    return coefficients, (
        [Diagnostic("removable", "; ".join(remarks), None, None)] if remarks else []
    )


def limit_hint(program: Program, point: Point) -> str | None:
    """Return a hint with the limit at a point without value; None if unknown, or if more digits
    have a value there.
    """
    by, *others = program.variables or ("",)
    if others or not by:
        return None
    with Defined(BudgetExceeded, *NO_RESULT, NoSeries):
        # an underflow is no hole
        m, values = _in_digits(ZERO_TEST_DIGITS[-1], point)
        if value_in(m, program.graph, values) is not None:
            return None
        series, _ = decided_series(program.graph, {by: point[by]}, by, 1)
        if series.start < 0:
            return None
        value, slope = (float(series.at(k)) for k in range(2))
        if math.isfinite(value) and math.isfinite(slope):
            limits = f"the limit there is {value:.12g}, and that of the derivative {slope:.12g}"
            return f"{limits}: `limit` gives it, and `taylor` expands the continuous extension"
    return None
