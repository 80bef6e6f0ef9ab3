"""The roots of an equation that is one of polynomials: all of them, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..algebra.rational_functions import cleared, coefficients
from ..graphs.value import Value
from ..graphs.value_and_gradient import value_in
from ..inputs.arithmetic import Arithmetic
from ..inputs.problem import Problem
from ..numbers.budget import Defined
from ..numbers.exact import EXACT
from ..numerics.polynomials import RealRoot, real_roots
from ..table.operators import ADD, MUL, SUB
from ..table.primitive import Primitive


class ExactRoots(NamedTuple):
    """All real roots of an equation, in order."""

    roots: list[RealRoot]
    degree: int
    """The degree of the polynomial that is 0 there."""
    divided: bool
    """Whether the equation divides by the unknown."""

    @property
    def kind(self) -> str:
        """What the equation is, in words."""
        if not self.degree:
            cleared = " once it is multiplied out" if self.divided else ""
            return f"an equation without the unknown{cleared}, which does not hold"
        return f"a polynomial of degree {self.degree}" + ("" if self.roots else " without a real root")


def exact_roots(problem: Problem) -> ExactRoots | None:
    """Return all real roots of one equation; None where it is none of polynomials with rational coefficients.

    Divisors are multiplied out, and none of the roots is one of theirs. An equation that holds everywhere has none.
    """
    (output,), (name,) = problem.program.outputs, problem.unknowns
    leaf = problem.program.variables[name]
    exact = Arithmetic("exact")
    with Defined(ArithmeticError, ValueError):
        used = (other for other in problem.program.variables if other != name)
        values = {other: exact._value(EXACT, other, problem.point[other]) for other in used}
        above, divisors = cleared(output)
        sides = [_coefficients(side, leaf, values) for side in (above, *divisors)]
        if any(sides[0]):
            roots = real_roots(sides[0], sides[1:])
            degree, *others = (max((k for k, c in enumerate(side) if c), default=0) for side in sides)
            return ExactRoots(roots, degree, any(others))
    return None


def _coefficients(graph: Value, leaf: Value, values: Mapping[str, Fraction]) -> Sequence[Fraction]:
    """The coefficients of a polynomial. Raises `ValueError` where it is none."""

    def fixed(part: Value) -> Fraction:
        number = value_in(EXACT, part, values)
        if number is None:
            raise ValueError("a coefficient is no rational number")
        return Fraction(number)

    def operation(primitive: Primitive, a: Fraction, b: Fraction) -> Fraction:
        return a + b if primitive is ADD else a - b if primitive is SUB else a * b if primitive is MUL else a / b

    result = coefficients(graph, leaf, fixed, operation)
    if result is None:
        raise ValueError("this is no polynomial")
    return result
