"""Work: the budget of an answer, in steps, not time, to be reproducible: one for each line and each
call.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import count

from ...errors import AutodiffError, Diagnosed, ExpressionError

# Default budget of an answer, in steps of about a microsecond.
STEPS = 1_000_000

# Further steps for each character of the program.
STEPS_A_CHARACTER = 1_000

# Costs in steps, measured in microseconds; number types know their own.
# A sweep, for each node:
FORWARD, BACKWARD = 1, 2
SECOND_ORDER_NODE = 2.0  # also for each variable, with dual numbers
BRANCH, BRANCH_NODE = 100, 20  # a smooth branch, and its nodes
REFERENCE_NODE = 20  # in many digits
CALLED_NODE = 10  # expanded from a function call
CANONICAL_NODE, TERM, GUARD = 45, 25, 4  # simplification: node, term, condition
DERIVED_NODE, RECORDED_STEP = 20, 15  # differentiated formulas
WRITTEN_STEP = 18  # of code: recorded, checked, ordered and written
# An evaluation of a compiled program, or of many rows:
SWEEP, COMPILED_CALL = 15, 1
COMPILED_NODE = {"": 0.1, "gamma": 10.0}  # by family of functions; else 1
# of a product of many, with its derivatives: partial products in 30 digits, both ways
PRODUCT_FACTOR = 2.5
BLOCK, ROWS_IN_TURN = 50, 10
DRAWN_INPUT, DRAWN_OUTPUT, DRAWN_NODE = 0.08, 0.14, 0.005  # at each of many random points
FOLLOWED_DRAW = 500  # of an implicit model, where Newton's method does not reach its solution
SAMPLE, DRAWN_POINT = 1, 25  # of a curve
SECOND_DERIVATIVE = 12  # in evaluations of value and gradient
READ_NUMBER, ROW_GRADIENT, ROW_HESSIAN = 40, 40, 150  # of data, as decimals
EXACT_ROW = 300  # in sums over rows that stay exact fractions
FITTED_ROW, FITTED_PAIR = 1, 0.002  # a row, and each pair of its parameters
FITTED_CALL = 100  # of all rows, from another start
# An iteration of a search, without its evaluations:
ITERATION = 20
MINIMIZER_ITERATION, MINIMIZER_VARIABLE = 100, 1
DESCENT_COORDINATE = 3


class BudgetExceeded(Diagnosed):
    """An error of the kind `limit`: the budget is exhausted. Handlers of missing values do not
    catch it.
    """

    node: int | None = None
    position = None

    @property
    def message(self) -> str:
        return self.diagnostic.message

    def as_error(self) -> ExpressionError:
        """Return it as the error for the user."""
        error = ExpressionError(*self.diagnostic)
        error.text, error.read = self.text, self.read
        return error

    def at_node(self, node: int) -> BudgetExceeded:
        """Return this error, attributed to a node."""
        self.node = node
        return self


@contextmanager
def limit_errors() -> Iterator[None]:
    """Turn `BudgetExceeded` into an `ExpressionError` of the kind `limit`."""
    try:
        yield
    except BudgetExceeded as exceeded:
        raise exceeded.as_error() from None


class Defined(suppress):
    """Suppresses given errors and this package's, but not an exhausted budget."""

    def __init__(self, *errors: type[Exception]) -> None:
        super().__init__(AutodiffError, *errors)


class Work:
    """The budget of an answer: `most` steps at first, `left` now."""

    __slots__ = ("_less", "left", "most", "times")

    def __init__(self, times: float = 1) -> None:
        self.times = times
        self.reset(0)

    def reset(self, length: float, less: str = "ask for less") -> None:
        """Reset the allowance for a program of `length` characters, with a hint."""
        self._less = less
        self.most = self.left = self.times * (STEPS + STEPS_A_CHARACTER * length)

    def charge(self, steps: float) -> None:
        """Subtract steps from the allowance. Raises `BudgetExceeded`."""
        if steps > self.left:
            raise self.exhausted_error(self.most - self.left + steps)
        self.left -= steps

    def exhausted_error(self, needed: float, *, exactly: bool = False) -> BudgetExceeded:
        """Return the error for a computation that needs at least `needed` steps."""
        times = math.ceil(self.times * needed / self.most)
        return BudgetExceeded(
            "limit",
            f"this takes more than the {self.most:,.0f} steps of work that it may take",
            hint=(
                f"{self._less}, or allow more: `--work"
                f" {times if exactly else max(times, 10 * int(self.times))}`"
            ),
        )


_UNBOUNDED = Work(math.inf)
_in_force: ContextVar[Work | None] = ContextVar("work", default=None)


def current_budget() -> Work:
    """Return the current budget; an unlimited one if none is set."""
    return _in_force.get() or _UNBOUNDED


# Objects allocated between two rows before a collection, more than a stream caches.
MAX_GARBAGE_OBJECTS = 200_000

# The number of young collections for each full collection.
YOUNG_COLLECTIONS = 15

_collections = count(1)


def gc_collect() -> None:
    """Collect garbage between rows or answers, if there may be much."""
    if gc.get_count()[0] > MAX_GARBAGE_OBJECTS and not gc.isenabled():
        gc.collect(0 if next(_collections) % (YOUNG_COLLECTIONS + 1) else 2)


def charge(steps: float) -> None:
    """Subtract steps from the current allowance. Raises `BudgetExceeded`."""
    (_in_force.get() or _UNBOUNDED).charge(steps)


@contextmanager
def use_budget(times: int = 1, *, length: int = 0, anew: bool = True) -> Iterator[Work]:
    """Use `times` the usual allowance for this length; unless `anew`, the current one."""
    if not anew and (work := _in_force.get()) is not None:
        yield work
        return
    work = Work(times)
    work.reset(length)
    token = _in_force.set(work)
    try:
        yield work
    except BudgetExceeded as exceeded:
        raise exceeded.as_error() from None
    finally:
        _in_force.reset(token)


@contextmanager
def use_share(share: float) -> Iterator[None]:
    """Use at most a share of what is left of the allowance, for work that may be left out. Raises
    `BudgetExceeded`.
    """
    work = Work() if (current := _in_force.get()) is None else current
    held = work.left * (1 - share)
    work.left -= held
    token = _in_force.set(work)
    try:
        yield
    finally:
        work.left += held
        _in_force.reset(token)
