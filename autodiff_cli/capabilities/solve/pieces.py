"""The smooth pieces of an equation in one unknown, and the intervals on which it holds.

On a piece, every operation stays on one side of its breakpoints, so the equation is one smooth
formula there. If that is identically 0, the equation holds from one end of the piece to the other.
The ends are zeros of guards, the numbers whose signs the operations depend on: so they are as exact
as the guards, and a decimal is what it is written as.
"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

from ...engine.algebra.almost_everywhere import fixes_integers
from ...engine.algebra.rational_functions import coefficients, fraction_of, vanishes
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic import UNEVALUATED
from ...engine.algebra.symbolic_derivative import derivatives
from ...engine.algebra.walk import has_variables
from ...engine.graphs.value import Value, constant, node, variable
from ...engine.graphs.value_and_gradient import evaluate_in, value_in
from ...engine.numbers.budget import Defined
from ...engine.numbers.exact import EXACT
from ...engine.numbers.floats import REAL
from ...engine.numbers.multiprecision import Multiprecision
from ...engine.numerics.linear_algebra import Singular
from ...engine.numerics.newton import bisect, refine
from ...engine.numerics.polynomials import RealRoot, real_roots
from ...engine.run.evaluation import Evaluation
from ...engine.table.operators import ADD, CONSTANT, DIV, POW, SUB, VARIABLE, WHERE
from ...engine.table.primitive import OPERATIONS, PRIMITIVES, Primitive
from ...engine.table.primitives import QUOTIENTS, SUM

# Digits of the evaluations whose differences show what is rounding: it shrinks with them, and
# values do not.
DIGITS = 60, 120, 180
# Digits by which a rounding error shrinks, at least, from one of these to the next.
SHRINKS_BY = 30
# Digits to which two numbers at the end of a piece agree if they are equal there.
SNAP = 40
# The size below which differences are compared with it.
SMALLEST = 1e-10
# The most pieces that are looked at from one solution on.
MAX_PIECES = 60
# The most ends of pieces that a search looks at, of some 2 ms each.
MAX_BREAKPOINTS = 400
# How far beyond the end of a piece, as a share of its size, the next piece is looked at.
STEP_BEYOND = Fraction(1, 2**36)
# Where in a piece a formula is evaluated that cannot be shown to be 0: at any three numbers.
TRIED_SHARES = Fraction(3, 8), Fraction(5, 7), Fraction(17, 19)
# The size of numbers at which it is evaluated if the piece has such: at far ones `tanh(x) - 1`
# rounds to 0.
MAX_TRIED = 10.0
# How far, as a share of its size, Newton's method may move an end that was found in doubles.
MAX_MOVED = 2.0**-40
# The greatest denominator of a root that is tried as a fraction.
MAX_DENOMINATOR = 10**6


class End(NamedTuple):
    """An end of an interval of solutions."""

    x: float
    """The nearest double; infinite without an end."""
    place: Fraction
    """The end, to 180 digits if it is not rational."""
    equation: Value | None = None
    """A function of which the end is a simple zero; None for a bound."""
    included: bool = False
    """Whether the equation holds there."""


class SolutionInterval(NamedTuple):
    """An interval of solutions."""

    low: End
    high: End
    proven: bool
    """Whether the equation holds everywhere in it, by its form; else where it was tried."""

    def contains(self, x: float) -> bool:
        """Return whether a number is in the interval."""
        above = self.low.x < x or (self.low.included and x == self.low.x)
        return above and (x < self.high.x or (self.high.included and x == self.high.x))

    def a_place(self) -> float:
        """Return a number of the interval: an end, a whole number, or one in the middle."""
        for end in (self.low, self.high):
            if end.included and Fraction(end.x) == end.place:
                return end.x
        if self.contains(0.0):
            return 0.0
        low, high = self.low.x, self.high.x
        if math.isinf(low) or math.isinf(high):
            near = math.floor(low) + 1.0 if math.isinf(high) else math.ceil(high) - 1.0
            return (
                near
                if self.contains(near)
                else low + abs(low)
                if math.isinf(high)
                else high - abs(high)
            )
        middle = low / 2 + high / 2
        rounded = (round(middle * 2.0**bits) / 2.0**bits + 0.0 for bits in range(-4, 53))
        return next(filter(self.contains, rounded), middle)


class _SmoothPiece(NamedTuple):
    formula: Value
    """The equation on the piece, without choices."""
    guards: list[Value]
    """Functions of the unknown whose signs do not change on it."""


class _AtBreakpoint(Exception):
    """A number is at a breakpoint, not inside of a piece."""


class _Snapped(Multiprecision):
    """Numbers that are equal where they agree to `SNAP` digits, as at the end of a piece."""

    def __init__(self, digits: int) -> None:
        super().__init__(digits, decimals=True)
        self.small = self.context.mpf(10) ** -SNAP
        self.__dict__[SUM.name] = lambda *xs: reduce(self.add, xs)
        for name, primitive in PRIMITIVES.items():
            if primitive.jumps and len(primitive.params) == 1:
                self.__dict__[name] = self._to_breakpoint(primitive, getattr(self, name))

    def _guarded(
        self, name: str, function: Callable[..., Any], *, accurate: bool = False
    ) -> Callable[..., Any]:
        """Return a function whose inputs are at the ends of its domain if they are nearly."""
        inner = super()._guarded(name, function, accurate=accurate)
        ends = [
            (bound.position, bound.end)
            for bound in OPERATIONS[name].bounds.bounds
            if bound.end is not None
        ]
        _, divisor = QUOTIENTS.get(name, ("", ""))

        def snapped(*inputs: Any) -> Any:
            numbers = [self.context.mpf(x) for x in inputs]
            for position, end in ends:
                if self.eq(numbers[position], end):
                    numbers[position] = self.context.mpf(end)
            if divisor and self.eq(getattr(self.context, divisor)(numbers[0]), 0):
                raise ZeroDivisionError("infinite")
            return inner(*numbers)

        return snapped

    def _to_breakpoint(
        self, primitive: Primitive, function: Callable[[Any], Any]
    ) -> Callable[[Any], Any]:
        """Return a function that jumps, at its breakpoint where its input is nearly one: a half, or
        0.
        """
        halves = 2 if fixes_integers(primitive) else 0

        def snapped(x: Any) -> Any:
            end = self.context.nint(halves * x) / 2
            return function(end if self.eq(x, end) else x)

        return snapped

    def eq(self, x: Any, y: Any) -> bool:
        return bool(abs(x - y) <= self.small * max(abs(x), abs(y), SMALLEST))

    def add(self, x: Any, y: Any) -> Any:
        return self.sub(x, -y)

    def sub(self, x: Any, y: Any) -> Any:
        return self.context.zero if self.eq(x, y) else x - y

    def ne(self, x: Any, y: Any) -> bool:
        return not self.eq(x, y)

    def lt(self, x: Any, y: Any) -> bool:
        return bool(x < y) and not self.eq(x, y)

    def gt(self, x: Any, y: Any) -> bool:
        return bool(x > y) and not self.eq(x, y)

    def le(self, x: Any, y: Any) -> bool:
        return bool(x < y) or self.eq(x, y)

    def ge(self, x: Any, y: Any) -> bool:
        return bool(x > y) or self.eq(x, y)

    def div(self, x: Any, y: Any) -> Any:
        if self.eq(y, 0):
            raise ZeroDivisionError("infinite")
        return super().div(x, y)


def as_literal(x: Fraction) -> Value:
    """Return a fraction as a graph of whole numbers."""
    above, below = (
        constant(float(x.numerator), str(x.numerator)),
        constant(float(x.denominator), str(x.denominator)),
    )
    return above if x.denominator == 1 else node(DIV, (above, below))


class Pieces:
    """The pieces of an equation `output = 0` in the unknown `name`, with the other variables
    fixed.
    """

    def __init__(
        self,
        output: Value,
        name: str,
        parameters: Callable[[Any], Mapping[str, Any]],
        written: Callable[[str], Value],
        xs: Sequence[float],
    ) -> None:
        self.output, self.name, self.leaf = output, name, variable(name)
        self.parameters, self.written = parameters, written
        """The other variables' values in a number type, and as they were written."""
        # Numbers, ascending, between which the ends of pieces are searched that are no roots of
        # polynomials.
        self.xs = xs
        self._snapped, self._digits = (
            [*map(_Snapped, DIGITS)],
            Multiprecision(DIGITS[-1], decimals=True),
        )
        # The ends of pieces on which the equation does not hold everywhere.
        self._elsewhere: list[tuple[float, float]] = []
        self._breakpoints_left = MAX_BREAKPOINTS
        # The ranges whose breakpoints were asked for and not looked at.
        self.unseen: list[tuple[float, float]] = []

    def around(self, x: float, low: float, high: float) -> list[SolutionInterval]:
        """Return the intervals of solutions on both sides of a number, between bounds."""
        intervals: list[SolutionInterval] = []
        for side in (-1, 1):
            if not any(
                i.contains(x) or i.contains(math.nextafter(x, side * math.inf)) for i in intervals
            ):
                beside = Fraction(x) + side * self._step(Fraction(x))
                if low <= beside <= high:
                    intervals += self._from(beside, low, high)
        if not intervals and low <= x <= high:
            intervals = self._from(Fraction(x), low, high)
        return joined(intervals)

    @staticmethod
    def _step(x: Fraction) -> Fraction:
        return STEP_BEYOND * max(abs(x), Fraction(1, 1000))

    def _from(self, x: Fraction, low: float, high: float) -> list[SolutionInterval]:
        """Return the intervals from the piece of a number on, in both directions."""
        first = self._interval(x, low, high)
        if first is None:
            return []
        intervals = [first]
        for side, bound in ((0, low), (1, high)):
            interval: SolutionInterval | None = first
            for count in range(MAX_PIECES):
                if interval is None:
                    break
                if count == MAX_PIECES - 1:
                    intervals.append(interval._replace(proven=False))  # it may go on
                end = (interval.low, interval.high)[side]
                if math.isinf(end.x) or end.x == bound or not end.included:
                    break
                beyond = end.place + (1 if side else -1) * self._step(end.place)
                interval = self._interval(beyond, low, high) if low <= beyond <= high else None
                intervals += [interval] if interval else []
        return intervals

    def breakpoints(self, low: float, high: float) -> Iterator[End]:
        """Yield the ends of the pieces between two numbers in order, and keep the range that is not
        looked at.
        """
        x = Fraction(low) + self._step(Fraction(low))
        while self._breakpoints_left:
            self._breakpoints_left -= 1
            with Defined(ArithmeticError, ValueError, _AtBreakpoint):
                (_, end), _ = self._ends(self._piece_at(x), x, low, high)
                if end.equation is None:
                    return
                yield end
                x = end.place + self._step(end.place)
                continue
            following = bisect_right(self.xs, float(x))
            if following == len(self.xs) or self.xs[following] >= high:
                return
            x = Fraction(self.xs[following])
        if x < high:
            self.unseen.append((float(x), high))

    def breakpoint_near(self, x: float) -> End | None:
        """Return the end of a piece that a number is nearly at, if any."""
        place = Fraction(x)
        for side in (-1, 1):
            with Defined(ArithmeticError, ValueError, _AtBreakpoint):
                beside = place + side * self._step(place)
                for end in self._ends(self._piece_at(beside), beside, -math.inf, math.inf)[0]:
                    if end.equation is not None and abs(end.place - place) <= self._step(place):
                        return end
        return None

    def jumps_beside(self, end: End) -> int:
        """Return on how many sides of an end, where the equation holds, it tends to another value
        than 0.
        """
        jumps = 0
        for side in (-1, 1):
            with Defined(ArithmeticError, ValueError, _AtBreakpoint):
                piece = self._piece_at(end.place + side * self._step(end.place))
                jumps += not _is_zero(
                    self._snapped, piece.formula, lambda m: {self.name: _number(m, end.place)}
                )
        return jumps

    def _interval(self, x: Fraction, low: float, high: float) -> SolutionInterval | None:
        with Defined(ArithmeticError, ValueError, _AtBreakpoint):
            if any(first < x < last for first, last in self._elsewhere):
                return None
            piece = self._piece_at(x)
            proven = vanishes(piece.formula)
            ends, exactly = self._ends(piece, x, low, high)
            if not proven and not self._holds_where_tried(piece.formula, ends):
                self._elsewhere.append((ends[0].x, ends[1].x))
                return None
            first, last = map(self._with_value, ends)
            return SolutionInterval(first, last, proven and exactly)
        return None

    # ---- a piece
    def _evaluate(self, x: Fraction) -> tuple[Any, Evaluation]:
        for m in (EXACT, self._digits):
            with Defined(ArithmeticError, ValueError):
                return m, evaluate_in(
                    m, (self.output,), {**self.parameters(m), self.name: _number(m, x)}
                )
        raise _AtBreakpoint  # no value

    def _piece_at(self, x: Fraction) -> _SmoothPiece:
        m, at = self._evaluate(x)
        graph, data = at.graph, at.graph.data
        guards: list[Value] = []
        nodes: dict[int, Value] = {}

        def value(u: Value) -> Any:
            number = None
            with Defined(ArithmeticError, ValueError):
                number = value_in(m, u, {self.name: _number(m, x)})
            return (
                value_in(self._digits, u, {self.name: _number(self._digits, x)})
                if number is None
                else number
            )

        def side(u: Any) -> int:
            number = value(u) if isinstance(u, Value) else u
            if isinstance(u, Value) and has_variables(u):
                guards.append(u)
            if number == 0:
                raise _AtBreakpoint
            return 1 if number > 0 else -1

        sides = _GuardSigns(side, guards)
        for i in at.order:
            primitive, parents = graph.primitives[i], graph.parents[i]
            if primitive.takes_conditions and primitive is not WHERE:
                continue
            if not parents:
                nodes[i] = self._leaf(graph, i, data[i])
            elif primitive is WHERE:
                nodes[i] = nodes[parents[1 if data[parents[0]] else 2]]
            elif primitive.gives_condition:
                _guard_comparison(primitive, [nodes[p] for p in parents], sides)
            else:
                inputs = [nodes[p] for p in parents]
                guards += _domain_guards(primitive, inputs, [data[p] for p in parents])
                nodes[i] = _branch(primitive, inputs, data[i], sides)
        return _SmoothPiece(nodes[graph.roots[0]], guards)

    def _leaf(self, graph: Any, i: int, number: Any) -> Value:
        if graph.labels.get(i) == self.name:
            return self.leaf
        if isinstance(number, Fraction):
            return as_literal(number)
        text = graph.constants[i][1] if graph.primitives[i] is CONSTANT else None
        with Defined(ArithmeticError, ValueError):
            return as_literal(
                EXACT.literal(text) if text else Fraction(self.parameters(EXACT)[graph.labels[i]])
            )
        return (
            self.written(graph.labels[i])
            if graph.primitives[i] is VARIABLE
            else constant(float(number), text)
        )

    # ---- its ends
    def _ends(
        self, piece: _SmoothPiece, x: Fraction, low: float, high: float
    ) -> tuple[tuple[End, End], bool]:
        """Return the zeros of guards next to a number, or the bounds, and whether no other can be
        nearer.
        """
        below, above, exactly = _bound(low), _bound(high), True
        for guard in dict.fromkeys(piece.guards):
            roots = self._roots_of(guard)
            if roots is None:
                exactly = False
                slope = derivatives(guard, [self.leaf], 1)[(0,)]
                # a guard that only touches 0 has a slope that changes its sign there
                roots = [
                    root for function in (guard, slope) for root in self._searched(function, x)
                ]
            for root in roots:
                if root.place < x and root.x > below.x:
                    below = root
                if root.place > x and root.x < above.x:
                    above = root
        return (below, above), exactly

    def _roots_of(self, guard: Value) -> list[End] | None:
        """Return all zeros of a guard if it is a rational function, or linear; None if it is
        another.
        """
        numerator, _ = fraction_of(guard)
        for m in (EXACT, self._digits):
            polynomial = self._coefficients(numerator, m)
            if polynomial is None:
                continue
            if m is EXACT:
                return (
                    [self._root_of(root, guard) for root in real_roots(polynomial)]
                    if any(polynomial)
                    else []
                )
            if len(polynomial) == 2 and polynomial[1]:
                return [_end(-polynomial[0] / polynomial[1], guard)]
        return None

    def _coefficients(self, numerator: Value, m: Any) -> list[Any] | None:
        with Defined(ArithmeticError, ValueError):
            return coefficients(
                numerator,
                self.leaf,
                lambda part: m.number(_known(value_in(m, part, {}))),
                lambda primitive, a, b: getattr(m, primitive.name)(a, b),
            )
        return None

    def _root_of(self, root: RealRoot, guard: Value) -> End:
        """Return a root of a polynomial, as a fraction or in many digits."""
        factor, x = root.factor, root.x
        guesses = [Fraction(x), Fraction(repr(x)), Fraction(x).limit_denominator(MAX_DENOMINATOR)]
        if len(factor) == 2:
            guesses = [Fraction(-factor[0], factor[1])]
        for guess in guesses:
            if sum(c * guess**k for k, c in enumerate(factor)) == 0 and float(guess) == x:
                return End(x, guess, node(SUB, (self.leaf, as_literal(guess))))

        def system(at: list[Any]) -> tuple[list[Any], list[list[Any]]]:
            value = sum(c * at[0] ** k for k, c in enumerate(factor))
            return [value], [[sum(k * c * at[0] ** (k - 1) for k, c in enumerate(factor) if k)]]

        return _end(refine(self._digits, system, [x])[0], guard)

    def _searched(self, guard: Value, x: Fraction) -> Iterator[End]:
        """Yield the zeros of a guard that its signs at `xs` show, the nearest on each side."""
        place = float(x)
        above, below = bisect_right(self.xs, place), bisect_left(self.xs, place)
        for numbers in (self.xs[above:], self.xs[:below][::-1]):
            signs = ((y, self._sign(guard, y)) for y in (place, *numbers))
            # in doubles, a guard that touches 0 is 0 around that number
            for (a, sign), (b, other) in pairwise(pair for pair in signs if pair[1] != 0):
                if sign != other:
                    end = self._change(guard, a, b, sign)
                    yield from [] if end is None else [end]
                    break

    def _sign(self, guard: Value, x: float) -> int | None:
        with Defined(ArithmeticError, ValueError):
            number = _known(value_in(REAL, guard, {self.name: x}))
            return int(number > 0) - int(number < 0)
        return None

    def _change(self, guard: Value, inside: float, outside: float, sign: int | None) -> End | None:
        """Return where a guard changes its sign, in many digits; None at a pole, the zero of
        another guard.
        """
        inside, outside = bisect(lambda x: self._sign(guard, x) == sign, inside, outside)
        m = self._digits

        def system(at: list[Any]) -> tuple[list[Any], list[list[Any]]]:
            swept = evaluate_in(m, (guard,), {self.name: at[0]}, [self.name])
            return list(swept.values), swept.jacobian()[0]

        with Defined(ArithmeticError, ValueError, Singular):
            end = _end(refine(m, system, [outside])[0], guard)
            near = MAX_MOVED * max(
                abs(inside), abs(outside), abs(outside - inside), sys.float_info.min
            )
            if abs(end.x - outside) <= near:
                return end if abs(end.x) > near else End(0.0, Fraction(0), self.leaf)
        return None if self._is_pole(guard, inside) else End(outside, Fraction(outside), guard)

    def _is_pole(self, guard: Value, x: float) -> bool:
        """Return whether a guard grows towards a number."""
        sizes = []
        with Defined(ArithmeticError, ValueError):
            for y in (x, x + 1e-6 * (abs(x) or 1.0), x - 1e-6 * (abs(x) or 1.0)):
                sizes.append(abs(_known(value_in(REAL, guard, {self.name: y}))))
        return bool(sizes) and sizes[0] >= max(sizes)

    def _with_value(self, end: End) -> End:
        """Return the end with whether the equation holds there."""
        return end if math.isinf(end.x) else end._replace(included=self.holds_at(end.place))

    def holds_at(self, x: Fraction) -> bool:
        """Return whether the equation holds at a number, where numbers that are nearly equal are
        equal.
        """
        return _is_zero(
            self._snapped, self.output, lambda m: {**self.parameters(m), self.name: _number(m, x)}
        )

    def _holds_where_tried(self, formula: Value, ends: tuple[End, End]) -> bool:
        low, high = (end.x for end in ends)
        first, last = max(low, -MAX_TRIED), min(high, MAX_TRIED)
        if first >= last:  # far from 0
            first, last = max(low, 2 * min(high, 0.0)), min(high, 2 * max(low, 0.0))
        places = [
            Fraction(first) + share * (Fraction(last) - Fraction(first)) for share in TRIED_SHARES
        ]
        types = [Multiprecision(digits, decimals=True) for digits in DIGITS]

        def at(x: Fraction) -> Callable[[Any], dict[str, Any]]:
            return lambda m: {self.name: _number(m, x)}

        return all(_is_zero(types, formula, at(x)) for x in places)


def _is_zero(
    types: Sequence[Multiprecision],
    formula: Value,
    values: Callable[[Multiprecision], Mapping[str, Any]],
) -> bool:
    """Return whether a formula is 0: whether its value is, or shrinks with the digits."""
    numbers = []
    for m in types:
        with Defined(ArithmeticError, ValueError):
            numbers.append(abs(m.number(_known(value_in(m, formula, values(m))))))
        if m.underflowed:
            return False
    if len(numbers) < len(types):
        return False
    return all(many * 10**SHRINKS_BY <= few for few, many in pairwise(numbers) if few) and (
        numbers[0] > 0 or numbers[1] > 0 or numbers[2] == 0
    )


class _GuardSigns:
    """The sides of breakpoints, by the signs of guards."""

    def __init__(self, side: Callable[[Any], int], guards: list[Value]) -> None:
        self._side, self._guards = side, guards
        # The operation whose side is asked for.
        self.primitive = VARIABLE
        # Whether the pieces of the operation have one value where they meet.
        self.meet = False

    def __call__(self, u: Any) -> int:
        try:
            return self._side(u)
        except _AtBreakpoint:
            if self.meet and isinstance(u, Value) and vanishes(u):
                return 1  # on this piece it is 0 everywhere, so both sides are the same
            raise

    def is_nonzero(self, u: Any) -> bool:
        return self._side(u) != 0

    def length(self, xs: Sequence[Value]) -> Value:
        squares = [node(POW, (x, constant(2.0, "2"))) for x in xs]
        total = squares[0]
        for square in squares[1:]:
            total = node(ADD, (total, square))
        self._guards.append(total)
        return node(self.primitive, tuple(xs))


def _guard_comparison(primitive: Primitive, inputs: Sequence[Value], sides: _GuardSigns) -> None:
    difference, sides.meet = node(SUB, tuple(inputs)), False
    try:
        sides(difference)
    except _AtBreakpoint:
        if not vanishes(difference):
            raise


def _branch(primitive: Primitive, inputs: Sequence[Value], out: Any, sides: _GuardSigns) -> Value:
    """Return an operation on the side of its breakpoints that the point is on."""
    if primitive.active_branch is None:
        return node(primitive, tuple(inputs))
    sides.primitive, sides.meet = primitive, not primitive.jumps
    if primitive.jumps:
        inputs = simplify(inputs)
    if not any(map(has_variables, inputs)):
        exactly = primitive.jumps or isinstance(out, Fraction)
        return _constant(out) if exactly else node(primitive, tuple(inputs))
    m = UNEVALUATED
    if not fixes_integers(primitive):
        branch = primitive.active_branch(m, sides, *inputs, out=_constant(out))
        return branch if isinstance(branch, Value) else constant(float(branch), str(branch))
    for step in (-1, 1):  # the steps beside it end where it begins and ends
        primitive.active_branch(m, sides, *inputs, out=_constant(out + step))
    primitive.active_branch(m, sides, *inputs, out=_constant(out))
    return _constant(out)


def _constant(x: Any) -> Value:
    if isinstance(x, Fraction):
        return as_literal(x)
    return constant(float(x), str(int(x)) if x == int(x) else None)


def _domain_guards(
    primitive: Primitive, inputs: Sequence[Value], data: Sequence[Any]
) -> Iterator[Value]:
    """Yield the functions that are 0 where the domain of an operation ends."""
    if primitive.name in QUOTIENTS:
        yield node(PRIMITIVES[QUOTIENTS[primitive.name][1]], tuple(inputs))
        return
    if primitive is POW:
        exponent = data[1]
        if has_variables(inputs[1]) or exponent != int(exponent) or exponent < 0:
            yield inputs[0]
        return
    bounds = primitive.bounds
    ends = [
        (bound.position, end)
        for bound in bounds.bounds
        for end in _numbers(bound.end, data[bound.position])
    ]
    if not bounds.complete and len(inputs) == 1:
        ends += [(0, int(end)) for end in re.findall(r"-?\d+", primitive.domain)]
    for position, end in ends:
        if has_variables(inputs[position]):
            yield (
                node(SUB, (inputs[position], as_literal(Fraction(end))))
                if end
                else inputs[position]
            )
    for below, above in bounds.ordered:
        yield node(SUB, (inputs[above], inputs[below]))


def _numbers(end: int | None, x: Any) -> Sequence[int]:
    if end is not None:
        return (end,)
    return [k for k in (int(x) - 1, int(x), int(x) + 1) if k <= 0]  # poles at 0, -1, -2, …


def _number(m: Any, x: Fraction) -> Any:
    return m.number(x) if m is EXACT else m.number(x.numerator) / m.number(x.denominator)


def _known(number: Any) -> Any:
    if number is None:
        raise ValueError("no value")
    return number


def _bound(x: float) -> End:
    return End(x, Fraction(repr(x)) if math.isfinite(x) else Fraction(0))


def _end(x: Any, guard: Value) -> End:
    """Return the end of an interval at a number of many digits."""
    sign, mantissa, exponent, _ = x._mpf_
    return End(float(x), (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent, guard)


def joined(intervals: Sequence[SolutionInterval]) -> list[SolutionInterval]:
    """Return intervals in order; those that meet at a solution become one."""
    result: list[SolutionInterval] = []
    for interval in sorted(
        intervals, key=lambda interval: (interval.low.x, not interval.low.included)
    ):
        last = result[-1] if result else None
        meets = last is not None and (
            interval.low.x < last.high.x
            or (interval.low.x == last.high.x and (interval.low.included or last.high.included))
        )
        if last is not None and meets:
            high = max((last.high, interval.high), key=lambda end: (end.x, end.included))
            result[-1] = SolutionInterval(last.low, high, last.proven and interval.proven)
        else:
            result.append(interval)
    return result
