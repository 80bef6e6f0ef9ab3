"""How many digits of a value and its derivatives are right, and where the others were lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from ..engine.graphs.value import Value, values_of
from ..engine.graphs.value_and_gradient import value_and_gradient
from ..engine.numbers import budget
from ..engine.numbers.base import NO_RESULT, UNDECIDED, Number, NumberType, Refusal, digits_text
from ..engine.numbers.floats import REAL
from ..engine.numbers.running_error import RUNNING, Bounded
from ..engine.run.evaluation import Evaluation
from ..engine.run.flat_graph import Graph, in_order
from ..engine.run.sweep import Breakpoint, NodeError, forward, tangents
from ..engine.table.operators import ADD, CONSTANT, SUB
from ..engine.table.primitives import EXP, LOG, SQRT
from ..errors import Diagnostic, ExpressionError, plural, quote
from ..language.printer import expression_text
from ..record import Record
from .arithmetic import number_as_typed
from .problem import Point

REFERENCE_DIGITS = 50  # of the reference at first
REFERENCE_STEP = "1e-50"  # of differences of the reference, relative
REFERENCE_NOISE = "1e-95"  # their rounding error, times the point, relative to the value
MAX_DIGITS = 3200
AGREE_WITHIN = 1e-25  # relative difference of two precisions that agree
DEFAULT_REQUIRED_DIGITS = 6  # correct digits by default
SMALLEST_NORMAL, SMALLEST = 2.0**-1022, 2.0**-1074
MAX_DOUBLE_DIGITS = 16  # the most digits of a double
FULL_DIGITS = 15  # of numbers that are rounded as doubles are, to 53 bits
# of an error that is left without underflow, where rounding is not its cause
UNDERFLOW_SHARE = 1e-3
ROUNDING_STEPS = 8  # units of the last place, times √n for n terms
ZERO_DIGITS = 800  # digits with which a result of 0 is believed
MAX_DIFFERENCE_EVALUATIONS = 60  # evaluations for differences, about
ZERO_SUM_TOLERANCE = 1e-40  # a sum that is 0, relative to its terms
MIN_REPORTED_LOSS = 3  # digits lost, out of 16
MAX_COMPARISON_EFFORT = 30_000  # variables times nodes compared with differences

EXTRAPOLATION_ROWS = 12  # step sizes of an extrapolation, each half of the previous one
FIRST_STEPS = (0.1, 1e-3)  # relative to the point, and absolute
NEAR_STEPS = (1e-6, 1e-9, 1e-12)  # beside a pole or another sudden change
ROUGH = 1e-3  # relative error of an estimate for which nearer steps are tried

ZERO = "0 to within rounding"
RESCALE = "rescale the variables, so that no number on the way is so small"


class Difference(NamedTuple):
    """A slope with an estimated error; None if one side has no values."""

    slope: float | None = None
    error: float | None = None


class Comparison(NamedTuple):
    """How a partial derivative compares with differences of values."""

    slope: Difference = Difference()
    remark: str = ""
    agrees: bool = True
    exists: bool = True  # the derivative, as far as is known


class CheckedNumber(Record):
    """A value or partial derivative in doubles, and its accuracy."""

    name: str
    computed: float
    exact: str
    digits: int | None
    kept: int | None
    difference: float | None
    difference_error: float | None
    condition: float | None
    agrees: bool
    remark: str


def without_value(error: ExpressionError) -> Diagnostic:
    """Return the warning that there is no reference, with its reason."""
    hint = "the double-precision result is an artefact of rounding"
    return Diagnostic(
        "lost_digits", f"computed without rounding, this has no value: {error}", error.span, hint
    )


UNSETTLED = Diagnostic(
    "lost_digits",
    "rounding may have lost digits here, and the correct ones could not be determined within the"
    " limit on computation",
    None,
    "rewrite the formula",
)


def lost_digits(
    graph: Graph,
    values: Mapping[str, float],
    point: Point,
    wanted: Sequence[str],
    required: int,
    noise: Mapping[str, float] = MappingProxyType({}),
    *,
    proven: bool = True,
) -> list[Diagnostic]:
    """Return warnings about value and gradient in doubles where they have fewer than the `required`
    digits.

    Errors up to the `noise`, by variable and "" for the value, are none, but for a 0 by underflow.
    The reference is that of `check`, at the doubles `values` or at the `point` as typed, whichever
    is nearer; at a kink it has the derivatives of the same convention, and a kink that doubles miss
    is named. What stays undecided is said. Unless it is `proven` that there are bounds, and on
    which side of each kink and jump the point is, more digits have to prove it. Raises
    `ExpressionError` and `BudgetExceeded`.
    """
    from ..engine.numbers.multiprecision import Multiprecision

    doubles = value_and_gradient(REAL, graph, values, wanted)
    digits = (
        REFERENCE_DIGITS if proven else digits_of_proof(partial(with_kinks, graph, values, wanted))
    )
    if digits is None:
        return [UNSETTLED]
    try:
        references = references_of(graph, values, wanted, digits)
    except ExpressionError as error:
        return [without_value(error)]
    with suppress(ExpressionError):
        m = Multiprecision(references.precision, decimals=True)
        typed = {name: number_as_typed(m, name, x) for name, x in point.items()}
        references.written.append(value_and_gradient(m, graph, typed, wanted))
    written = [at.kinks for at in references.written]
    hidden = hidden_kinks(doubles.kinks, references.exact.kinks, written)
    conventional = _names_below(doubles, *hidden)
    numbers = [name for name in ("", *wanted) if name not in conventional]
    judged = _judged_numbers(doubles, references, numbers, required, noise)
    as_written = [name for name, number in judged.items() if number.is_right_as_written]
    for swept in _as_written(graph, values, point, wanted) if as_written else ():
        errors = _error_bounds(graph, values, wanted)
        for name in _right_numbers(swept, doubles, as_written, errors, required, proven=proven):
            judged.pop(name, None)
    warnings = _loss_warnings(doubles, references.exact, judged)
    return [*hidden_kink_warnings(doubles, hidden), *warnings]


def _names_below(at: Evaluation, *nodes: int) -> list[str]:
    """Return the wanted variables that some of the nodes depend on."""
    below = {*in_order(at.graph.parents, nodes)}
    return [name for name, leaf in at.wanted.items() if leaf in below]


class _Judged(NamedTuple):
    """What is to be said of a number: its correct digits, None where it is a rounding error of 0,
    or not settled.
    """

    digits: int | None
    is_settled: bool = True
    is_right_as_written: bool = False
    """Whether one evaluation of the program in decimals agrees with it."""


def _judged_numbers(
    doubles: Evaluation,
    references: _References,
    names: Sequence[str],
    required: int,
    noise: Mapping[str, float],
) -> dict[str, _Judged]:
    """Return the numbers that are wrong or not settled."""
    found = {}
    underflowed = _underflows(doubles, references.exact)
    for name in names:
        number, allowed = known_number(doubles, references, name), noise.get(name, 0.0)
        if allowed == math.inf:
            continue
        if underflowed and not number.computed:
            allowed = 0.0
        of_digits = verdict(number, required)
        if number.unsettled_digits:
            found[name] = _Judged(None, is_settled=False)
        elif abs(number.computed - number.exact) > allowed and (
            of_digits.remark == ZERO or not of_digits.agrees
        ):
            # a tiny one is 0, but for the digits of this reference
            nonzero = [
                x if abs(x) > AGREE_WITHIN * abs(number.exact) else 0 * x for x in number.written
            ]
            is_right = any(correct_digits(number.computed, x) >= required for x in nonzero)
            found[name] = _Judged(
                None if of_digits.remark == ZERO else of_digits.kept, is_right_as_written=is_right
            )
    return found


def _loss_warnings(
    doubles: Evaluation, exact: Evaluation, judged: Mapping[str, _Judged]
) -> list[Diagnostic]:
    settled = {name: number.digits for name, number in judged.items() if number.is_settled}
    lost = [(name, digits) for name, digits in settled.items() if digits is not None]
    zeros = [name for name, digits in settled.items() if digits is None]
    warnings = losses(doubles, exact, lost) if lost else []
    if zeros:
        warnings.append(zero_warning(_numbers_of(zeros), len(zeros)))
    return [*warnings, UNSETTLED] if len(settled) < len(judged) else warnings


def hidden_kinks(
    met: Collection[int],
    exact: Mapping[int, Breakpoint],
    written: Sequence[Collection[int]],
) -> dict[int, Breakpoint]:
    """Return the `exact` kinks that are not among those `met` in doubles.

    A program that has none as it is written in decimals has none.
    """
    return {
        i: kink
        for i, kink in exact.items()
        if i not in met and all(i in kinks for kinks in written)
    }


def hidden_kink_warnings(at: Evaluation, hidden: Mapping[int, Breakpoint]) -> list[Diagnostic]:
    """Return the warnings about kinks by node, which name the derivatives that depend on them."""
    return [
        hidden_kink_warning(kink, _numbers_of(_names_below(at, i))) for i, kink in hidden.items()
    ]


def hidden_kink_warning(kink: Breakpoint, subject: str) -> Diagnostic:
    """Return the warning that derivatives may not exist, since rounding hides a kink or jump."""
    warning = kink.warning()
    message = f"{subject} may not exist: computed without rounding, {warning.message}"
    return Diagnostic("lost_digits", message, warning.span, "move the point to one side")


def underflows(
    graph: Graph, values: Mapping[str, float], wanted: Sequence[str]
) -> dict[str, Number]:
    """Return the derivatives that are wrong in doubles, and right in as many digits with larger
    exponents.

    They are those at exactly the doubles `values`. Raises `ExpressionError` and `BudgetExceeded`.
    """
    from ..engine.numbers.multiprecision import Multiprecision

    doubles = value_and_gradient(REAL, graph, values, wanted)
    if not _may_underflow(doubles):
        return {}
    references = references_of(graph, values, wanted)
    m = Multiprecision(FULL_DIGITS)
    unlimited = value_and_gradient(
        m, graph, {name: m.number(x) for name, x in values.items()}, wanted
    )
    found = {}
    for name, exact in references.exact.gradient.items():
        wrong = abs(exact - doubles.gradient[name])
        is_lost = wrong > abs(exact) * 10.0**-DEFAULT_REQUIRED_DIGITS
        if (
            name in references.settled
            and is_lost
            and abs(exact - unlimited.gradient[name]) < UNDERFLOW_SHARE * wrong
        ):
            found[name] = exact
    return found


def _may_underflow(doubles: Evaluation) -> bool:
    """Return whether a value or an adjoint on the way is too small for all digits of a double,
    perhaps 0.
    """
    numbers = [x for x in (*doubles.graph.data, *doubles.adjoints) if isinstance(x, float)]
    return any(abs(x) < SMALLEST_NORMAL for x in numbers)


def _right_numbers(
    swept: Swept,
    doubles: Evaluation,
    names: Sequence[str],
    errors: Mapping[str, float],
    required: int,
    *,
    proven: bool,
) -> Sequence[str]:
    """Return which numbers have the `required` digits as a program is written in decimals, as more
    digits confirm.
    """
    from ..engine.numbers.multiprecision import Multiprecision

    wanted = [name for name in names if name]
    with suppress(ExpressionError, budget.BudgetExceeded):
        digits = (
            REFERENCE_DIGITS
            if proven
            else digits_of_proof(lambda m: _with_kinks(swept(m)), decimals=True)
        )
        if digits is None:
            return ()
        found = _until_they_agree(
            lambda d: swept(Multiprecision(d, decimals=True)), wanted, errors, digits
        )

        def is_right(name: str) -> bool:
            computed, coarse, finer = (
                at.gradient[name] if name else at.value
                for at in (doubles, found.coarse, found.finer)
            )
            exact = (
                0 * finer
                if has_vanished(coarse, finer, errors.get(name, 0.0), 2 * found.digits)
                else finer
            )
            return correct_digits(computed + 0.0, exact) >= required

        return [name for name in names if name in found.settled and is_right(name)]
    return ()


def zero_warning(subject: str, numbers: int) -> Diagnostic:
    """Return the warning that so many numbers are 0, and what is shown of them is their rounding
    error.
    """
    message = f"{subject} {'is' if numbers == 1 else 'are'} 0: what is shown is a rounding error"
    return Diagnostic(
        "lost_digits", message, None, "rewrite the formula so that it cancels exactly"
    )


class _References(NamedTuple):
    exact: Evaluation  # at exactly the doubles of the computation
    # with decimal literals, at decimals and doubles; empty without a value
    written: list[Evaluation]
    precision: int
    settled: frozenset[str]  # the variables, and "" for the value, that more digits do not change
    underflowed: bool


# Evaluates a program and its derivatives at a point in a number type.
Swept = Callable[[NumberType], Evaluation]


def _as_written(
    graph: Graph, values: Mapping[str, float], point: Point, wanted: Sequence[str]
) -> Sequence[Swept]:
    """Return the evaluations with decimal literals: at the point as typed, and at its doubles."""

    def typed(m: NumberType) -> Evaluation:
        numbers = {name: number_as_typed(m, name, x) for name, x in point.items()}
        return value_and_gradient(m, graph, numbers, wanted)

    def at_doubles(m: NumberType) -> Evaluation:
        return value_and_gradient(
            m, graph, {name: m.number(x) for name, x in values.items()}, wanted
        )

    return typed, at_doubles


def _numbers(at: Evaluation) -> Mapping[str, Number]:
    """Return the gradient, and the value as ""."""
    return {"": at.value, **at.gradient}


class Computed(NamedTuple):
    """Numbers by name, and the kinks that their derivatives meet, as far as these are known."""

    numbers: Mapping[str, Number]
    kinks: Mapping[int, Breakpoint] = MappingProxyType({})


def _with_kinks(at: Evaluation) -> Computed:
    return Computed(_numbers(at), at.kinks)


def with_kinks(
    graph: Graph, values: Mapping[str, float], wanted: Sequence[str], m: NumberType
) -> Computed:
    """Return value and gradient at exactly these doubles in a number type, with the kinks there."""
    return _with_kinks(
        value_and_gradient(m, graph, {name: m.number(x) for name, x in values.items()}, wanted)
    )


def digits_of_proof(
    compute: Callable[[NumberType], Computed], *, decimals: bool = False
) -> int | None:
    """Return how many digits leave these numbers right by bounds on their errors; None if none do.

    A whole number or a branch is the same in ever more digits, as long as these leave out what
    decides it: that two evaluations agree is no proof where doubles have no bound, or do not decide
    on which side of a kink or jump a point is. `RunningDigits` decides that, and knows what is
    rational as a fraction.
    """
    from ..engine.numbers.multiprecision import Multiprecision
    from ..engine.numbers.running_digits import RunningDigits

    digits = REFERENCE_DIGITS
    while digits <= MAX_DIGITS:
        try:
            proven = compute(RunningDigits(digits, decimals=decimals))
            plain = compute(Multiprecision(digits, decimals=decimals))
        except budget.BudgetExceeded:
            return None
        except (Refusal, ExpressionError) as error:
            if error.kind != UNDECIDED:
                return digits  # it has no value, which the reference says
        else:
            same_kinks = proven.kinks.keys() == plain.kinks.keys()
            if same_kinks and all(
                _is_proven(plain.numbers[name], x) for name, x in proven.numbers.items()
            ):
                return digits
        digits *= 2
    return None


def _is_proven(plain: Number, proven: Number) -> bool:
    """Return whether a number of so many digits is right to `AGREE_WITHIN`, or to what doubles are,
    by a bound.
    """
    log_error = getattr(proven, "log_error", -math.inf)
    if log_error == math.inf:
        return False  # there is no bound
    context = getattr(plain, "context", None)
    if context is None:
        return bool(proven == plain)  # a constant
    allowed = max(abs(plain) * AGREE_WITHIN, context.mpf(SMALLEST) * AGREE_WITHIN)
    bound = context.ldexp(1, math.ceil(log_error)) if log_error > -math.inf else 0
    return bool(max(bound, abs(getattr(proven, "x", proven) - plain)) <= allowed)


class _Agreement(NamedTuple):
    """Evaluations in `digits` and in twice as many, and the numbers that agree: variables, and ""
    for the value.
    """

    coarse: Evaluation
    finer: Evaluation
    settled: frozenset[str]
    digits: int


def _until_they_agree(
    swept: Callable[[int], Evaluation],
    wanted: Sequence[str],
    errors: Mapping[str, float],
    digits: int,
) -> _Agreement:
    """Return evaluations in ever more digits, from so many on, once they agree."""
    every = 1 + len({*wanted})
    coarse, finer = swept(digits), swept(2 * digits)
    enough = 2 * digits >= ZERO_DIGITS
    settled = _settled(coarse, finer, wanted, digits, errors, shrunk=enough, believed=enough)
    while len(settled) < every and 2 * digits < MAX_DIGITS:
        try:
            coarse, finer = finer, swept(4 * digits)
        except budget.BudgetExceeded:
            # out of budget: accept what has not changed so far, or has shrunk, but no zero that may
            # be an underflow
            settled = _settled(coarse, finer, wanted, digits, errors, shrunk=True)
            break
        digits *= 2
        enough = 2 * digits >= ZERO_DIGITS
        settled = _settled(coarse, finer, wanted, digits, errors, shrunk=enough, believed=enough)
    return _Agreement(coarse, finer, settled, digits)


def references_of(
    graph: Graph, values: Mapping[str, float], wanted: Sequence[str], digits: int = REFERENCE_DIGITS
) -> _References:
    """Return the values of a program in ever more digits, from so many on, until they agree."""
    from ..engine.numbers.multiprecision import Multiprecision

    def swept(digits: int) -> Evaluation:
        m = Multiprecision(digits)
        return value_and_gradient(
            m, graph, {name: m.number(x) for name, x in values.items()}, wanted
        )

    errors = _error_bounds(graph, values, wanted)
    coarse, finer, settled, digits = _until_they_agree(swept, wanted, errors, digits)
    # what shrinks with more digits is 0, and its digits are rounding
    for name, slope in finer.gradient.items():
        if name in settled and has_vanished(
            coarse.gradient[name], slope, errors.get(name, 0.0), 2 * digits
        ):
            finer.gradient[name] = 0 * slope
    if "" in settled and has_vanished(coarse.value, finer.value, errors.get("", 0.0), 2 * digits):
        finer.value = 0 * finer.value
    decimals = Multiprecision(2 * digits, decimals=True)
    written: list[Evaluation] = []
    with suppress(ExpressionError):
        for point in (
            {name: decimals.literal(repr(x)) for name, x in values.items()},
            {name: decimals.number(x) for name, x in values.items()},
        ):
            written.append(value_and_gradient(decimals, graph, point, wanted))
    precision = digits if len(settled) == 1 + len({*wanted}) else 2 * digits
    return _References(finer, written, precision, settled, finer.m.underflowed)


def _error_bounds(
    graph: Graph, values: Mapping[str, float], wanted: Sequence[str]
) -> dict[str, float]:
    """Return bounds on the rounding errors of the gradient in doubles, and of the value as ""; none
    without a bound.
    """
    try:
        at = value_and_gradient(
            RUNNING, graph, {name: Bounded(x) for name, x in values.items()}, wanted
        )
    except (ExpressionError, *NO_RESULT):
        return {}
    return {name: getattr(x, "error", 0.0) for name, x in _numbers(at).items()}


def is_beyond_rounding(x: Number, error: float, digits: int, least: float = 0.0) -> bool:
    """Return whether so many digits leave a number right to `AGREE_WITHIN` that doubles leave
    within `error`.

    A number below the `least` has to be right relative to that.
    """
    if not math.isfinite(error):
        return True  # there is no bound
    context = x.context
    left = context.mpf(error) * context.mpf(10) ** (MAX_DOUBLE_DIGITS - digits)
    return bool(left <= AGREE_WITHIN * max(abs(x), context.mpf(least)))


def has_vanished(coarse: Number, finer: Number, error: float, digits: int) -> bool:
    """Return whether a number is 0: it shrinks with more digits, and is their rounding error where
    that is bounded.
    """
    if not coarse or abs(finer) > AGREE_WITHIN * abs(coarse):
        return False
    return not (finer and math.isfinite(error) and is_beyond_rounding(finer, error, digits))


def _settled(
    coarse: Evaluation,
    finer: Evaluation,
    wanted: Sequence[str],
    digits: int,
    errors: Mapping[str, float],
    *,
    shrunk: bool = False,
    believed: bool = False,
) -> frozenset[str]:
    """Return the numbers that twice the `digits` have not changed.

    Those that they have `shrunk` too, and zeros in both if these are `believed`.
    """
    settled = set()
    for name in ("", *wanted):
        a, b = (at.gradient[name] if name else at.value for at in (coarse, finer))
        error = errors.get(name, 0.0)
        if shrunk and has_vanished(a, b, error, 2 * digits):
            settled.add(name)
        elif abs(a - b) > AGREE_WITHIN * abs(b):
            continue
        elif (
            is_beyond_rounding(b, error, digits, SMALLEST)
            if b
            else believed or _structural(finer, name)
        ):
            settled.add(name)
    if shrunk or not finer.value:
        return frozenset(settled)
    noise = max(
        abs(d * x) for d, x in zip(finer.adjoints, finer.graph.data, strict=True) if d is not None
    )
    is_clear = noise <= abs(finer.value) * finer.value.context.mpf(10) ** (digits - 25)
    return frozenset(settled if is_clear else ())


def _structural(swept: Evaluation, name: str) -> bool:
    if name:
        leaf = swept.wanted[name]
        return leaf is None or swept.adjoints[leaf] is None
    data, parents, primitives = swept.graph.data, swept.graph.parents, swept.graph.primitives
    if all(not data[i] for i in swept.order if swept.adjoints[i] is not None):
        return True
    exact = [not ps for ps in parents]
    for i in swept.order:
        # A correctly rounded function of exact inputs is 0 only if it truly is.
        if parents[i] and not data[i]:
            cut = primitives[i].product and any(exact[p] and not data[p] for p in parents[i])
            exact[i] = cut or all(exact[p] for p in parents[i])
    return exact[-1]


def correct_digits(computed: float, exact: Number) -> int:
    """Return a lower bound on the correct significant digits of a double."""
    wrong = relative_error(computed, exact)
    return (
        max(0, min(MAX_DOUBLE_DIGITS, math.floor(-math.log10(2 * wrong))))
        if wrong
        else MAX_DOUBLE_DIGITS
    )


class KnownNumber(NamedTuple):
    """A double, and what is known of it without its rounding."""

    computed: float
    exact: Number
    written: Sequence[Number]
    """The number with decimal literals, at decimals and doubles; empty without a value."""
    unsettled_digits: int = 0
    """The digits with which `exact` has not settled, 0 if it has."""
    rounding: float = 0.0
    """The largest rounding error of a 0."""
    may_underflow: bool = False
    """Whether 0 may stand for a number that is too small for more digits too."""

    @property
    def has_underflowed(self) -> bool:
        """Return whether the number is too small for a double, and its rounding error as small as
        an underflow.
        """
        is_small = abs(self.exact) < SMALLEST_NORMAL and bool(self.exact or self.may_underflow)
        return is_small and bool(abs(self.exact - self.computed) <= 2 * SMALLEST)

    def digits_as_written(self, kept: int) -> int:
        """Return the correct digits at the decimals as well, where `kept` are those at the
        doubles.
        """
        if not self.written or self.written[0] == self.computed:
            return kept if self.written else 0
        return min([kept, *(correct_digits(self.computed, x) for x in self.written)])


class DigitsVerdict(NamedTuple):
    """The correct digits of a double, those that its computation kept, and whether they are
    enough.
    """

    agrees: bool
    kept: int
    digits: int
    remark: str


def verdict(number: KnownNumber, required: int) -> DigitsVerdict:
    """Return whether a double has the `required` digits, with a remark where something is to be
    said of them.
    """
    kept = correct_digits(number.computed, number.exact)
    digits, unsettled = number.digits_as_written(kept), number.unsettled_digits
    if number.has_underflowed:
        agrees, remark = True, "underflow: too small for a double"
        digits = min(digits, kept if number.exact else 0)
    elif kept >= required:
        agrees, remark = True, _remark_on_decimals(number, kept - digits)
    else:
        agrees = not (number.exact or unsettled) and abs(number.computed) <= number.rounding
        remark = ZERO if agrees else "digits lost"
    if unsettled:
        agrees, remark = False, f"undecided with {unsettled} digits"
    return DigitsVerdict(agrees, kept, digits, remark)


def _remark_on_decimals(number: KnownNumber, lost: int) -> str:
    if not number.written:
        return "as written, in decimals, it has no value"
    return f"{lost} digits lost to the rounding of the inputs" if lost >= 2 else ""


def judged(
    name: str, number: KnownNumber, required: int, comparison: Comparison, condition: Number | None
) -> CheckedNumber:
    """Return a checked number: its correct digits, and how it compares with differences."""
    of_digits = verdict(number, required)
    remark, slope = of_digits.remark, comparison.slope
    if not remark or (slope.slope is not None and not (remark == ZERO and comparison.agrees)):
        remark = comparison.remark or remark
    ratio = None if condition is None else abs(float(condition))
    return CheckedNumber(
        name=name,
        computed=number.computed,
        exact=reference_text(number.exact),
        digits=of_digits.digits if comparison.exists else None,
        kept=of_digits.kept if comparison.exists else None,
        difference=slope.slope,
        difference_error=slope.error,
        condition=ratio if ratio is None or math.isfinite(ratio) else None,
        agrees=of_digits.agrees and comparison.agrees,
        remark=remark,
    )


def known_number(doubles: Evaluation, references: _References, name: str) -> KnownNumber:
    """Return what is known of the value, as "", or of a partial derivative by name."""
    computed, exact, *written = [
        swept.gradient[name] if name else swept.value
        for swept in (doubles, references.exact, *references.written)
    ]
    computed = computed + 0.0 if name else computed
    rounding = _rounding_of_zero(doubles, name) if computed and not exact else 0.0
    unsettled = 0 if name in references.settled else references.precision
    return KnownNumber(computed, exact, written, unsettled, rounding, references.underflowed)


def _rounding_of_zero(doubles: Evaluation, name: str) -> float:
    """Return the largest rounding error of a value or derivative that is 0, by the terms that it is
    a sum of.
    """
    leaf = doubles.wanted[name] if name else None
    flows = doubles.graph.data
    if leaf is not None:
        active = doubles.activity([leaf])
        flows = doubles.sweep(tangents, doubles.order, active, {leaf: 1.0}, doubles.graph.roots)
    terms = [
        abs(a * x)
        for a, x in zip(doubles.adjoints, flows, strict=True)
        if a is not None and x is not None
    ]
    return ROUNDING_STEPS * math.sqrt(len(terms)) * 2.0**-52 * max(terms, default=0.0)


def checked_number(
    doubles: Evaluation, references: _References, name: str, required: int, with_differences: bool
) -> CheckedNumber:
    """Return what is known of the digits of the value, or of a partial derivative by name."""
    number, reference = known_number(doubles, references, name), references.exact
    leaf, condition = doubles.wanted[name] if name else None, None
    if name and reference.value:
        condition = 0 if leaf is None else number.exact * doubles.graph.data[leaf] / reference.value
    comparison = Comparison(exists=not (name and reference.kinks))
    if leaf is not None and with_differences:
        comparison = _compare(doubles, references, name, leaf)
    elif leaf is not None:
        comparison = comparison._replace(remark="no differences: too many variables")
    return judged(name, number, required, comparison, condition)


def _compare(doubles: Evaluation, references: _References, name: str, leaf: int) -> Comparison:
    from ..engine.numbers.multiprecision import Multiprecision

    bounded = evaluator(doubles.graph, RUNNING, leaf)

    def noise(x: float) -> float:
        error = getattr(bounded(x), "error", 0.0)
        return error if math.isfinite(error) else 0.0

    slope = ridders(evaluator(doubles.graph, REAL, leaf), doubles.graph.data[leaf], noise)
    m, exact = Multiprecision(references.precision + 2 * REFERENCE_DIGITS), references.exact
    graph = exact.graph
    data = [x if graph.parents[i] else m.number(x) for i, x in enumerate(graph.data)]
    x, partial, here = data[leaf], m.number(exact.gradient[name]), data[-1]
    value = evaluator(graph.with_data(data), m, leaf)
    step = (abs(x) or m.number(1)) * m.literal(REFERENCE_STEP)
    around = sides(value, x, step)
    if around is None:
        return Comparison(slope, "one-sided: the function ends here")
    left, right = around.left, around.right
    middle = (left + right) / 2
    near = (abs(partial) + abs(left) + abs(right)) * 1e-12
    # the rounding error of a difference, divided by the step
    near += abs(here) * m.literal(REFERENCE_NOISE) / (abs(x) or 1)
    consistent = abs(middle - partial) <= near and abs(left - right) <= near
    if consistent or (around.vanishes and not partial):
        return Comparison(slope)
    if not around.digits_agree:
        before = value(x - step)
        for other in (
            (value(x + step), here)
            if any(kink.primitive.jumps for kink in exact.kinks.values())
            else ()
        ):
            if abs(other - before) > 1e-9 * (abs(before) + abs(other)):
                return Comparison(
                    slope, f"a jump: from {short_text(before)} to {short_text(other)}", exists=False
                )
        known = next((kink.sides for kink in doubles.kinks.values() if kink.sides), "")
        return Comparison(
            slope, known or "differences do not converge here", exists=not exact.kinks
        )
    # A curved piece has another slope a step away.
    if min(left, right) - near <= partial <= max(left, right) + near and abs(left - right) > near:
        return Comparison(
            slope,
            f"a kink: slope {short_text(left)} on the left, {short_text(right)} on the right",
            exists=False,
        )
    remark = f"wrong: differences in {m.digits} digits give {short_text(middle)}"
    return Comparison(slope, remark, agrees=False, exists=not exact.kinks)


def short_text(x: Number) -> str:
    """Return a number in six digits."""
    return digits_text(x, 6) if x else "0"


def reference_text(x: Number) -> str:
    """Return a reference in 25 digits."""
    return digits_text(x, 25, strip_zeros=False, min_fixed=-5, max_fixed=20) if x else "0"


def evaluator(graph: Graph, m: NumberType, leaf: int) -> Callable[[Any], Any]:
    """Return the value of the graph as a function of that at `leaf`; None if undefined."""
    leaves = [x if not graph.parents[i] else None for i, x in enumerate(graph.data)]

    def value(x: Number) -> Number | None:
        if isinstance(x, float) and not math.isfinite(x):
            return None
        data = list(leaves)
        data[leaf] = x
        try:
            forward(graph.with_data(data), m, graph.roots[:1])
        except NodeError:
            return None
        return data[graph.roots[0]]

    return value


def ridders(
    value: Callable[[float], float | None],
    x: float,
    noise: Callable[[float], float] = lambda _: 0.0,
) -> Difference:
    """Return the slope at `x` by Ridders' method: extrapolated central differences.

    `noise` is the rounding error of a value. Source: C. J. F. Ridders, Advances in Engineering
    Software 4 (1982) 75-76.
    """
    best, error, nearest, count = 0.0, math.inf, math.inf, 0
    for start, enough in (
        *((start, 1e-9) for start in FIRST_STEPS),
        *((start, ROUGH) for start in NEAR_STEPS),
    ):
        for scale in dict.fromkeys((abs(x) or 1.0, 1.0)):
            if count > 1 and error < enough * abs(best):
                return Difference(best, error)
            shrunk = (start * scale / 16**k for k in range(10))
            step = next(
                (h for h in shrunk if value(x + h) is not None and value(x - h) is not None), None
            )
            if step is None:
                continue
            slope, own_error = _ridders(value, x, step, max(noise(x - step), noise(x + step)))
            if own_error == math.inf:
                continue
            count += 1
            # of two contradictory estimates the nearer one holds
            contradicts = abs(slope - best) > 3 * (own_error + error)
            if step < nearest if contradicts else own_error < error:
                best, error, nearest = slope, own_error, step
    return Difference(best, error) if count else Difference()


def _ridders(
    value: Callable[[float], float | None], x: float, step: float, noise: float
) -> tuple[float, float]:
    best, best_error = 0.0, math.inf
    previous: list[float] = []
    for _ in range(EXTRAPOLATION_ROWS):
        up, down = value(x + step), value(x - step)
        if up is None or down is None or x + step == x - step:
            break
        row = [(up - down) / ((x + step) - (x - step))]
        if not math.isfinite(row[0]):
            break
        rounding = (2.0**-52 * max(abs(up), abs(down)) + noise) / step
        for k, before in enumerate(previous):
            factor = 4.0 ** (k + 1)
            row.append((factor * row[k] - before) / (factor - 1))
            error = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - before)) + rounding
            if error < best_error:
                best, best_error = row[k + 1], error
        if len(row) > 4 and abs(row[-1] - previous[-1]) >= 2 * best_error:
            break
        previous = row
        step /= 2
    return best, best_error


class Sides(NamedTuple):
    """Slopes from the left and the right of a point, by very fine differences."""

    left: Number
    right: Number
    digits_agree: bool  # a finer step gives the same digits
    vanishes: bool  # the slopes shrink with the step, so that they are 0


def sides(value: Callable[[Number], Number | None], x: Number, step: Number) -> Sides | None:
    """Return the slopes on both sides of `x`; None if one side has no value.

    The step should be about a third of the digits: then a smooth function's slopes differ by as
    little as that.
    """
    estimates = []
    for h in (step, step / 16):
        up, here, down = value(x + h), value(x), value(x - h)
        if up is None or here is None or down is None:
            return None
        estimates.append(((here - down) / h, (up - here) / h))
    (wide_left, wide_right), (left, right) = estimates
    digits_agree = (
        abs(wide_left - left) <= abs(left) * 1e-12 and abs(wide_right - right) <= abs(right) * 1e-12
    )
    vanishes = 8 * abs(left) <= abs(wide_left) and 8 * abs(right) <= abs(wide_right)
    return Sides(left, right, digits_agree, vanishes)


# The most characters of a part of a formula in a warning.
MAX_NAMED_PART = 40


def losses(
    doubles: Evaluation, swept: Evaluation, digits: Sequence[tuple[str, int]]
) -> list[Diagnostic]:
    """Return warnings about lost digits."""
    for i in doubles.order:
        exact = swept.graph.data[i]
        is_condition = doubles.graph.primitives[i].gives_condition
        if is_condition and exact is not None and exact != doubles.graph.data[i]:
            message = (
                "rounding decides this comparison: in exact arithmetic its result is the opposite"
            )
            hint = "leave a margin around the edge"
            return [Diagnostic("lost_digits", message, doubles.graph.span(i), hint)]
    wrong = [
        relative_error(x, y) for x, y in zip(doubles.graph.data, swept.graph.data, strict=True)
    ]
    lost = [(name, left) for name, left in digits if left <= 16 - MIN_REPORTED_LOSS]
    values = values_of(doubles.graph) if lost else []

    # the same for every derivative: a search over all nodes for each of many variables would be
    # quadratic
    @cache
    def of_value(any_way: bool) -> tuple[int | None, float]:
        return _most_amplifying(_value_growth(doubles, swept, wrong, any_way))

    @cache
    def of_adjoint() -> tuple[int | None, str, str]:
        node, factor = _most_amplifying(_adjoint_growth(doubles, swept, wrong))
        found = node is not None and factor >= 10.0
        return (
            node,
            *(
                _loss_of_adjoint(doubles, swept, values, node)
                if found and node is not None
                else ("", "")
            ),
        )

    numbers: dict[tuple[int | None, str, str, int], list[str]] = {}
    for name, left in lost:
        node, factor = of_value(bool(name))
        if factor < 10.0 ** (MIN_REPORTED_LOSS - 1) and not name:
            # the digits may be lost in constants, which have no adjoints
            node, factor = of_value(True)
        why, hint = "", "rewrite the formula so that rounding matters less"
        if factor < 10.0 ** (MIN_REPORTED_LOSS - 1) and name:
            node, why, of_node = of_adjoint()
            hint = of_node or hint
        elif node is not None:
            why, hint = _loss_of_value(doubles, swept, values[node], node)
            were_lost = min(16, round(16 + math.log10(max(wrong[node], 1e-16))))
            why = f"{were_lost} were lost here, where {why}"
        if why or left < DEFAULT_REQUIRED_DIGITS:
            numbers.setdefault((node if why else None, why, hint, left), []).append(name)
    diagnostics = []
    for (node, why, hint, left), names in numbers.items():
        message = _digits_left(names, left) + (why and f": {why}")
        diagnostics.append(
            Diagnostic("lost_digits", message, None if node is None else values[node].span, hint)
        )
    return diagnostics


def _loss_of_adjoint(
    doubles: Evaluation, swept: Evaluation, values: Sequence[Value], node: int
) -> tuple[str, str]:
    """Return why the adjoint of a node has lost digits, and a hint."""
    text = values[node].label
    if not text:
        text = expression_text(values[node])
        text = text if len(text) <= MAX_NAMED_PART else text[: MAX_NAMED_PART - 1] + "…"
    if _is_too_small(doubles.adjoints[node], swept.adjoints[node]):
        return f"the adjoint of `{text}` is too small for a double", RESCALE
    uses = [i for i in doubles.order if node in doubles.graph.parents[i]]
    if len(uses) == 1:
        why = (
            f"the derivative of `{values[uses[0]].primitive.written}` magnifies the rounding of"
            f" `{text}`"
        )
        return why, "rewrite it so that the rounding of its input matters less"
    return (
        f"the contributions to the adjoint of `{text}` cancel",
        "write the formula so that its parts do not cancel",
    )


def _loss_of_value(
    doubles: Evaluation, swept: Evaluation, value: Value, node: int
) -> tuple[str, str]:
    """Return why a node has lost digits, and a hint."""
    inputs, primitive = doubles.graph.inputs(node), value.primitive
    if _is_too_small(doubles.graph.data[node], swept.graph.data[node]):
        return f"`{primitive.written}` is too small for a double", RESCALE
    if primitive in (ADD, SUB):
        return "nearly equal numbers cancel", _hint(value)
    if len(inputs) == 1 and not primitive.gives_condition:
        return (
            f"`{primitive.written}` at {inputs[0]:.6g} magnifies the rounding of its argument",
            _hint(value),
        )
    return f"`{primitive.written}` magnifies the rounding of its inputs", _hint(value)


def _digits_left(names: Sequence[str], left: int) -> str:
    return f"{_numbers_of(names)} {having_digits(len(names), left)}"


def _numbers_of(names: Sequence[str]) -> str:
    variables = [name for name in names if name]
    derivatives = (
        f"the {'derivative' if len(variables) == 1 else 'derivatives'} by {quote(variables)}"
    )
    return " and ".join(["the value"] * ("" in names) + [derivatives] * bool(variables))


def having_digits(numbers: int, left: int) -> str:
    """Return what so many numbers have if rounding leaves them so many digits, at least: `has no
    reliable digit`.
    """
    count = f"at least {plural(left, 'correct digit')}" if left else "no reliable digit"
    return f"{'has' if numbers == 1 else 'have'} {count}"


def _is_too_small(computed: Number, exact: Number) -> bool:
    return bool(exact != computed and abs(exact) < SMALLEST_NORMAL)


def _underflows(doubles: Evaluation, swept: Evaluation) -> bool:
    """Return whether a value or an adjoint on the way is too small for a double, and not 0."""
    pairs = [*zip(doubles.graph.data, swept.graph.data, strict=True)]
    pairs += zip(doubles.adjoints, swept.adjoints, strict=True)
    numbers = [
        (x, y) for x, y in pairs if x is not None and y is not None and not isinstance(x, bool)
    ]
    return any(y != 0 and _is_too_small(x, y) for x, y in numbers)


def relative_error(computed: object, exact: Number) -> float:
    """Return the relative error of a double; 0 for conditions and unevaluated nodes."""
    if computed is None or exact is None or isinstance(computed, bool) or isinstance(exact, bool):
        return 0.0
    error = abs(exact - computed)
    if not error:
        return 0.0
    return min(1.0, float(error / abs(exact))) if exact else 1.0


def _most_amplifying(growth: Iterable[tuple[int, float]]) -> tuple[int | None, float]:
    node, factor = None, 0.0
    for i, grown in growth:
        if grown > factor * 1.5:
            node, factor = i, grown
    return node, factor


def _value_growth(
    doubles: Evaluation, swept: Evaluation, wrong: Sequence[float], any_way: bool
) -> Iterator[tuple[int, float]]:
    total = abs(doubles.value - swept.value)
    for i in doubles.order:
        parents = doubles.graph.parents[i]
        adjoint = swept.adjoints[i]
        if not parents or not wrong[i]:
            continue
        error = swept.graph.data[i] - doubles.graph.data[i]
        if any_way or (adjoint is not None and 20 * abs(adjoint * error) >= total):
            yield i, wrong[i] / max(2.0**-53, *(wrong[p] for p in parents))


def _adjoint_growth(
    doubles: Evaluation, swept: Evaluation, wrong: Sequence[float]
) -> Iterator[tuple[int, float]]:
    consumers: dict[int, list[int]] = {}
    for i in doubles.order:
        for p in doubles.graph.parents[i]:
            consumers.setdefault(p, []).append(i)
    for i in doubles.order:
        adjoint, exact = doubles.adjoints[i], swept.adjoints[i]
        if adjoint is None or exact is None:
            continue
        uses = consumers.get(i, [])
        before = [relative_error(doubles.adjoints[c], swept.adjoints[c]) for c in uses]
        before += [wrong[p] for c in uses for p in (c, *doubles.graph.parents[c])]
        yield i, relative_error(adjoint, exact) / max([2.0**-53, *before])


def _hint(node: Value) -> str:
    primitive, operands = node.primitive, node._prev

    def kinds(of: Value) -> list[object]:
        return [1 if x.primitive is CONSTANT and x.data == 1 else x.primitive for x in of._prev]

    if primitive is LOG and operands[0].primitive is ADD:
        terms = kinds(operands[0])
        if 1 in terms:
            return "write `softplus(…)`" if EXP in terms else "write `log1p(…)`"
        if terms == [EXP, EXP]:
            return "write `logsumexp(…)`"
    if primitive is SUB:
        first, second = kinds(node)
        if (first, second) == (EXP, 1):
            return "write `expm1(…)`"
        if first == 1 and operands[1].primitive.complement:
            return f"write {operands[1].primitive.complement}"
        if SQRT in (first, second):
            return "multiply out by the sum: `sqrt(a) - b` is `(a - b**2)/(sqrt(a) + b)`"
    if primitive in (ADD, SUB):
        return "rewrite it so that nearly equal numbers are not subtracted"
    return "rewrite it so that the rounding of its input matters less"
