"""Solutions of an equation as formulas: by inverse functions, substitution, and linear and
quadratic equations.

An unknown that stands in one function only, `A*exp(-E/(R*T)) = y`, is found from the outside in:
the equation is one in the function's value, `w = y/A`, and the function has that value where its
input is one of its preimages. So is an unknown that a substitution brings there: `exp(2*x) -
3*exp(x) + 2` is quadratic in `exp(x)`. A periodic function has its value also whole periods away:
formulas then have a variable that stands for every whole number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import gcd, lcm

from ...engine.algebra.canonical import exact_value
from ...engine.algebra.identities import COSINE
from ...engine.algebra.rational_functions import as_integer, fraction_of, polynomial_in
from ...engine.algebra.symbolic import UNEVALUATED
from ...engine.algebra.walk import facts_of, flat_inputs, substitute
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.numerics.polynomials import primitive, real_roots
from ...engine.table.operators import ADD, AND, DIV, EQ, GE, GT, MUL, NE, NEG, POW, SUB, VARIABLE
from ...engine.table.primitive import PRIMITIVES, Primitive
from ...engine.table.primitives import EXP, LOG, PROD, SQRT, SUM
from ...language.printer import expression_text
from ...questions.problem import parse
from .circle import angles
from .conditions import ONE, ZERO, number_of, simplest

TWO, FOUR = constant(2.0, "2"), constant(4.0, "4")
ARITHMETIC = (ADD, SUB, MUL, DIV, NEG, SUM, PROD)
# Functions inside each other around an unknown.
MAX_DEPTH = 30
# The greatest exponent after a substitution.
MAX_SUBSTITUTED_DEGREE = 24

# What the name of a variable begins with that stands for every whole number; no variable of a
# program does.
WHOLE_NUMBER = "whole number "

# A formula, and the comparisons under which it is a solution.
Solved = tuple[Value, list[Value]]


def solve_formally(equation: Value, leaf: Value, depth: int = 0) -> list[Solved] | None:
    """Return all solutions of `equation = 0` as formulas; None if they are not found."""
    if depth > MAX_DEPTH:
        return None
    numerator, divisors = fraction_of(equation)
    parts = _coefficients(numerator, leaf)
    if parts is None:
        factors = [] if divisors else _factors_everywhere(numerator)
        if factors:
            return _of_any(factors, leaf, depth)
        return _by_substitution(equation, leaf, depth)
    roots = _roots(parts)
    if roots is None:
        return None
    return [(root, [*conditions, *_allowed(divisors, leaf, root)]) for root, conditions in roots]


def _factors_everywhere(numerator: Value) -> list[Value]:
    """Return the factors of a product if all have a value everywhere; empty otherwise."""
    factors = list(flat_inputs(numerator, (MUL,)))
    is_total = all(_is_total(v) for v in in_order((numerator,)) if v._prev)
    return factors if len(factors) > 1 and is_total else []


def _is_total(value: Value) -> bool:
    """Return whether an operation has a value for all inputs."""
    if value.primitive is POW:
        return (as_integer(value._prev[1]) or 0) > 0
    return value.primitive.total


def _of_any(factors: Sequence[Value], leaf: Value, depth: int) -> list[Solved] | None:
    """Return where one of several factors is 0."""
    found = [
        solve_formally(factor, leaf, depth + 1) for factor in factors if leaf in in_order((factor,))
    ]
    solutions = [each for each in found if each is not None]
    return [one for each in solutions for one in each] if len(solutions) == len(found) else None


def _coefficients(numerator: Value, leaf: Value) -> list[Value] | None:
    coefficients = polynomial_in(numerator, leaf)
    if coefficients is None:
        return None
    parts = [simplest(part) for part in coefficients]
    while parts and number_of(parts[-1]) == 0:
        parts.pop()
    return parts


def _allowed(divisors: Sequence[Value], leaf: Value, root: Value) -> list[Value]:
    """Return the conditions under which no divisor is 0 at a root."""
    at_root = (simplest(substitute(divisor, {leaf: root}.get)) for divisor in divisors)
    return [node(NE, (fraction_of(divisor)[0], ZERO)) for divisor in at_root]


# ---- polynomials
def _roots(parts: Sequence[Value]) -> list[Solved] | None:
    degree = len(parts) - 1
    if degree < 1:
        return []
    if number_of(parts[0]) == 0:
        others = _roots(parts[1:])
        return None if others is None else [(ZERO, []), *others]
    if degree <= 2:
        return list(_of_low_degree(parts))
    rational, rest = _without_rational_roots(parts)
    if rational:
        others = _roots(rest)
        return None if others is None else [*((_fraction(root), []) for root in rational), *others]
    # a polynomial in a power of the unknown
    step = gcd(*(k for k, part in enumerate(parts) if number_of(part) != 0))
    if step < 2 or degree // step > 2:
        return None
    solutions: list[Solved] = []
    for power, conditions in _of_low_degree(parts[::step]):
        solutions += [(root, [*conditions, *more]) for root, more in _roots_of_power(power, step)]
    return solutions


def _without_rational_roots(parts: Sequence[Value]) -> tuple[list[Fraction], list[Value]]:
    """Return the rational roots of a polynomial with rational coefficients, and the coefficients of
    what is left without them.
    """
    numbers = [exact_value(part) for part in parts]
    left = [number for number in numbers if number is not None]
    if len(left) < len(numbers):
        return [], list(parts)
    rational: list[Fraction] = []
    # a divisor of a rational root divides the first coefficient of integers
    largest = abs(primitive(left)[-1])
    for root in real_roots(left):
        near = Fraction(root.x).limit_denominator(largest)
        quotient, rest = _divided(left, near)
        if not rest:
            rational.append(near)
        while not rest:
            left = quotient
            quotient, rest = _divided(left, near)
    return rational, [_fraction(number) for number in left]


def _divided(coefficients: Sequence[Fraction], root: Fraction) -> tuple[list[Fraction], Fraction]:
    """Return the quotient of a polynomial by `x - root`, and the rest (Horner's scheme)."""
    *quotient, rest = accumulate(reversed(coefficients), lambda above, c: above * root + c)
    return quotient[::-1], rest


def _of_low_degree(parts: Sequence[Value]) -> Iterator[Solved]:
    c, b, *square = parts
    only = simplest(node(NEG, (node(DIV, (c, b)),))), [node(NE, (b, ZERO))]
    if not square:
        yield only
        return
    (a,) = square
    if number_of(b) == 0:
        inner = simplest(node(NEG, (node(DIV, (c, a)),)))
        root = simplest(node(SQRT, (inner,)))
        roots = [simplest(node(NEG, (root,))), root]
    else:
        half = simplest(node(DIV, (b, TWO)))
        unhalved = len(expression_text(half)) > len(expression_text(b))
        product = node(MUL, (a, c))
        halved = node(SUB, (node(MUL, (half, half)), product))
        inner = simplest(
            node(SUB, (node(MUL, (b, b)), node(MUL, (FOUR, product)))) if unhalved else halved
        )
        root, middle = node(SQRT, (inner,)), node(NEG, (b if unhalved else half,))
        below = node(MUL, (TWO, a)) if unhalved else a
        roots = [simplest(node(DIV, (node(sign, (middle, root)), below))) for sign in (SUB, ADD)]
    for root in roots[: 1 if number_of(inner) == 0 else 2]:
        yield root, [node(NE, (a, ZERO)), node(GE, (inner, ZERO))]
    if number_of(a) is None and number_of(b) != 0:
        yield only[0], [node(EQ, (a, ZERO)), *only[1]]


def _roots_of_power(value: Value, n: int) -> list[Solved]:
    """Return the real solutions of `x**n = value` for a whole n above 1."""
    if n == 2:
        root = node(SQRT, (value,))
    elif n == 3:
        root = node(PRIMITIVES["cbrt"], (value,))
    else:
        size = node(PRIMITIVES["abs"], (value,)) if n % 2 else value
        root = node(POW, (size, node(DIV, (ONE, _whole(n)))))
    if n % 2 == 0:
        return [(simplest(each), [node(GE, (value, ZERO))]) for each in (node(NEG, (root,)), root)]
    signed = root if n == 3 else node(MUL, (node(PRIMITIVES["sign"], (value,)), root))
    return [(simplest(signed), [])]


# ---- substitution
def _by_substitution(equation: Value, leaf: Value, depth: int) -> list[Solved] | None:
    """Solve an equation in which the unknown is in one function only."""
    equation, roots = _without_roots(equation, leaf)
    if roots is not None:
        return _by_root_of_unknown(equation, leaf, roots, depth)
    equation = _with_one_exponential(equation, leaf)
    kernels = _kernels(equation, leaf)
    if len({expression_text(kernel) for kernel in kernels}) != 1:
        return _by_angle(equation, leaf, kernels, depth)
    kernel, w = kernels[0], variable("")
    inside = substitute(equation, dict.fromkeys(kernels, w).get)
    if leaf in in_order((inside,)):
        return None
    values = solve_formally(inside, w, depth + 1)
    if values is None:
        return None
    solutions: list[Solved] = []
    for value, conditions in values:
        inputs = _inputs_with_value(kernel, leaf, value, depth)
        if inputs is None:
            return None
        for inner, wanted, more in inputs:
            found = _where_equal(inner, wanted, leaf, depth)
            if found is None:
                return None
            solutions += [(root, [*conditions, *more, *rest]) for root, rest in found]
    return solutions


def _by_angle(
    equation: Value, leaf: Value, kernels: Sequence[Value], depth: int
) -> list[Solved] | None:
    """Solve an equation of numbers in functions of one angle: `sin(2*x) = cos(x)`."""
    found = angles(equation, kernels, partial(solve_formally, depth=depth + 1))
    if found is None:
        return None
    angle, values = found
    turns = _periods(PRIMITIVES[COSINE], depth)
    solutions: list[Solved] = []
    for value in values:
        of_value = _where_equal(angle, simplest(node(ADD, (value, turns))), leaf, depth)
        if of_value is None:
            return None
        solutions += of_value
    return solutions


def _where_equal(inner: Value, wanted: Value, leaf: Value, depth: int) -> list[Solved] | None:
    """Solve `inner = wanted`, where `wanted` has a value on the conditions that are known of it."""
    if number_of(wanted) is not None:
        return solve_formally(node(SUB, (inner, wanted)), leaf, depth + 1)
    name = variable("")
    found = solve_formally(node(SUB, (inner, name)), leaf, depth + 1)
    if found is None:
        return None
    put_in = {name: wanted}.get
    return [
        (
            simplest(substitute(root, put_in)),
            [substitute(condition, put_in) for condition in conditions],
        )
        for root, conditions in found
    ]


def _kernels(equation: Value, leaf: Value) -> list[Value]:
    """Return the outermost functions of the unknown."""
    varies = facts_of((equation,), lambda v, inputs: v is leaf or any(inputs))
    kernels: dict[Value, None] = {}
    waiting = [equation]
    while waiting:
        value = waiting.pop()
        is_power = value.primitive is POW and as_integer(value._prev[1]) is not None
        if not varies[value] or value is leaf:
            continue
        if value.primitive in ARITHMETIC or is_power:
            waiting += value._prev
        else:
            kernels[value] = None
    return list(kernels)


def _inputs_with_value(
    kernel: Value, leaf: Value, value: Value, depth: int
) -> list[tuple[Value, Value, list[Value]]] | None:  # fmt: skip
    """Return an input of a function, what it is where the function has a value, and on which
    conditions.
    """
    primitive, inputs = kernel.primitive, kernel._prev
    varying = [x for x in inputs if leaf in in_order((x,))]
    if len(varying) != 1:
        return None
    (inner,) = varying
    if primitive is POW:
        return _inputs_of_power(kernel, inner, value)
    if primitive.name == "log_base" and inner is inputs[0]:
        return [
            (
                inner,
                node(POW, (inputs[1], value)),
                [node(GT, (inputs[1], ZERO)), node(NE, (inputs[1], ONE))],
            )
        ]
    conditions = _comparisons(primitive.attained, value)
    periods = _periods(primitive, depth)
    return [
        (inner, simplest(node(ADD, (function(value), periods))), conditions)
        for function in preimages(primitive)
    ] or None


def _periods(primitive: Primitive, depth: int) -> Value:
    """Return any number of whole periods of a function; 0 of one that has none."""
    if not primitive.periodic:
        return ZERO
    period = UNEVALUATED.pi if primitive.half_periodic else node(MUL, (TWO, UNEVALUATED.pi))
    return node(MUL, (period, variable(f"{WHOLE_NUMBER}{depth}")))


def preimages(primitive: Primitive) -> list[Callable[[Value], Value]]:
    """Return the functions that together give all inputs of an operation with one output."""
    if primitive.inverse and len(primitive.params) == 1 and not primitive.takes_conditions:
        inverse = PRIMITIVES[primitive.inverse]
        return [lambda value: node(inverse, (value,))]
    return [lambda value, f=function: f(UNEVALUATED, value) for function in primitive.preimages]  # type: ignore[misc]


def _comparisons(attained: str, value: Value) -> list[Value]:
    if not attained:
        return []
    (choice,) = parse(f"where({attained}, 1, 0)").outputs
    places = {v: value for v in in_order((choice,)) if v.primitive is VARIABLE}
    return [substitute(part, places.get) for part in flat_inputs(choice._prev[0], (AND,))]


def _inputs_of_power(
    power: Value, inner: Value, value: Value
) -> list[tuple[Value, Value, list[Value]]]:
    base, exponent = power._prev
    if inner is exponent:
        logarithm = simplest(node(DIV, (node(LOG, (value,)), node(LOG, (base,)))))
        return [
            (
                inner,
                logarithm,
                [node(GT, (value, ZERO)), node(GT, (base, ZERO)), node(NE, (base, ONE))],
            )
        ]
    number = number_of(exponent)
    root = simplest(node(POW, (value, node(DIV, (ONE, exponent)))))
    if number is None:  # a negative base has few powers: only the solutions above 0 are given
        return [
            (
                inner,
                root,
                [node(GT, (value, ZERO)), node(NE, (exponent, ZERO)), node(GT, (inner, ZERO))],
            )
        ]
    return [(inner, root, [node(GE if number > 0 else GT, (value, ZERO))])]


def _without_roots(equation: Value, leaf: Value) -> tuple[Value, int | None]:
    """Return an equation with `leaf**n` for `leaf` if it has fractional powers of it, and n; else
    None.
    """
    exponents: dict[Value, Fraction] = {}
    for value in in_order((equation,)):
        if value.primitive is SQRT and value._prev[0] is leaf:
            exponents[value] = Fraction(1, 2)
        elif value.primitive is POW and value._prev[0] is leaf:
            number = number_of(value._prev[1])
            if number is not None and number.denominator > 1:
                exponents[value] = number
    others = substitute(equation, dict.fromkeys(exponents, ONE).get)
    n = lcm(*(e.denominator for e in exponents.values()))
    highest = n * max([Fraction(1), *map(abs, exponents.values())])
    if (
        n == 1
        or highest > MAX_SUBSTITUTED_DEGREE
        or (len(exponents) == 1 and leaf not in in_order((others,)))
    ):
        return equation, None
    places = {value: node(POW, (leaf, _whole(int(e * n)))) for value, e in exponents.items()}
    places[leaf] = node(POW, (leaf, _whole(n)))
    return substitute(equation, places.get), n


def _by_root_of_unknown(equation: Value, leaf: Value, n: int, depth: int) -> list[Solved] | None:
    """Solve an equation in the n-th root of the unknown, which is not below 0."""
    found = solve_formally(equation, leaf, depth + 1)
    if found is None:
        return None
    return [
        (simplest(node(POW, (root, _whole(n)))), [*conditions, node(GE, (root, ZERO))])
        for root, conditions in found
    ]


def _with_one_exponential(equation: Value, leaf: Value) -> Value:
    """Return an equation whose exponentials are powers of one, if their exponents are multiples of
    one.
    """
    exponentials = [v for v in _kernels(equation, leaf) if v.primitive is EXP]
    if len(exponentials) < 2:
        return equation
    first = exponentials[0]._prev[0]
    ratios = [number_of(simplest(node(DIV, (v._prev[0], first)))) for v in exponentials]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(ratios):
        return equation
    unit = Fraction(
        gcd(*(ratio.numerator for ratio in known)), lcm(*(ratio.denominator for ratio in known))
    )
    if max(abs(ratio / unit) for ratio in known) > MAX_SUBSTITUTED_DEGREE:
        return equation
    one = node(EXP, (simplest(node(MUL, (_fraction(unit), first))),))
    places = {
        v: node(POW, (one, _whole(int(r / unit)))) for v, r in zip(exponentials, known, strict=True)
    }
    return substitute(equation, places.get)


def _fraction(x: Fraction) -> Value:
    return (
        _whole(x.numerator)
        if x.denominator == 1
        else node(DIV, (_whole(x.numerator), _whole(x.denominator)))
    )


def _whole(n: int) -> Value:
    return constant(float(n), str(n))
