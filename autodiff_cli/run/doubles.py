"""The run in doubles for many formulas or points: values and adjoints on flat lists, without activity or places.

A formula is a row of steps `(operation, place, a, b)`: the place of the result among the numbers, and the places of the
inputs. Whatever is out of the ordinary (an error, an infinite number, a kink, operands that are equal where they are
compared) raises here or gives None, and the sweeps are asked instead, which know what to say. Where there is an answer
it is that of the sweeps to the last bit: the same functions and rules, in the same order. What is written out here are
sums, products and whole powers, of rows whose rules say no more (`forms`); all else asks its row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import pow as power
from typing import Any

from ..numbers.floats import REAL
from ..table import operators as table
from ..table import primitives as primitives
from ..table.operators import POW
from ..table.primitive import FUNCTIONS, Primitive
from . import forms
from .sweep import forward
from .tape import Tape, in_order

ADD, SUB, MUL, DIV, NEG, RAISE, WHOLE, CALL, GENERAL, TAKE = range(10)
"""Operations. RAISE is a power with a constant exponent, WHOLE one whose exponent is a whole number from 1 on; CALL is
a smooth function of one input, `b` its value and its rule; GENERAL any other, `a` all its inputs, `b` its primitive;
TAKE the value of `a` as long as a condition is what it was: `b` is the condition's place and its truth."""

Step = tuple[int, int, Any, Any]
Smooth = tuple[Callable[[float], float], Callable[..., float]]

MOST_PLANS = 8
"""How many ways through a program with branches are remembered."""

CALLABLE: dict[str, Primitive] = {
    name: primitive
    for name, primitive in FUNCTIONS.items()
    if primitive.demand is None and not primitive.constant_params
}
"""The functions that a step may apply, by their names in the language."""

_smooth: dict[Primitive, Smooth | None] = {}
_OPERATIONS = {forms.SUM: ADD, forms.DIFFERENCE: SUB, forms.PRODUCT: MUL, forms.NEGATION: NEG}
_ARITHMETIC = {table.DIV: DIV, **{p: _OPERATIONS[form] for p, form in forms.FORMS.items() if form in _OPERATIONS}}
_writes_powers = forms.FORMS.get(POW) == forms.POWER
_by_base = POW.partials[0]
_by_numerator, _by_denominator = table.DIV.partials


def is_whole(exponent: float) -> bool:
    """Whether a power with this constant exponent is a WHOLE one."""
    return _writes_powers and 1.0 <= exponent < 1e15 and exponent == int(exponent)


def smooth(primitive: Primitive) -> Smooth | None:
    """What a CALL of the primitive needs; None where it takes a GENERAL step."""
    try:
        return _smooth[primitive]
    except KeyError:
        rule = primitive.partials[0] if len(primitive.partials) == 1 else None
        found = None if rule is None or primitive.may_kink or primitive.variadic else (_function(primitive), rule)
        return _smooth.setdefault(primitive, found)


def _function(primitive: Primitive) -> Callable[..., float]:
    function: Callable[..., float] = getattr(REAL, primitive.name)
    return function


def general(primitive: Primitive, inputs: Sequence[float]) -> float:
    """The value of a GENERAL step; raises ArithmeticError for a number of inputs that the primitive does not take."""
    if not primitive.variadic and len(inputs) != len(primitive.params):
        raise ArithmeticError
    return _function(primitive)(*inputs)


def evaluate(steps: Sequence[Step], data: list[Any]) -> bool:
    """Fill in the results of the steps; False where a branch is taken that is not theirs.

    Raises ValueError or ArithmeticError where one has no value, or is compared with its equal.
    """
    for op, place, a, b in steps:
        if op == MUL:
            data[place] = data[a] * data[b]
        elif op == ADD:
            data[place] = data[a] + data[b]
        elif op == CALL:
            data[place] = b[0](data[a])
        elif op == SUB:
            data[place] = data[a] - data[b]
        elif op == DIV:
            data[place] = data[a] / data[b]
        elif op == WHOLE:
            data[place] = power(data[a], data[b])
        elif op == NEG:
            data[place] = -data[a]
        elif op == RAISE:
            data[place] = REAL.pow(data[a], data[b])
        elif op == TAKE:
            condition, truth = b
            if data[condition] is not truth:
                return False
            data[place] = data[a]
        else:
            inputs = [data[p] for p in a]
            if b.gives_condition and len(inputs) == 2 and inputs[0] == inputs[1]:
                raise ArithmeticError
            data[place] = general(b, inputs)
    return True


def adjoints(steps: Sequence[Step], data: list[Any], output: int) -> list[float] | None:
    """The adjoints of all numbers, up to the sign of a zero; None where the sweeps have to be asked.

    Raises ValueError or ArithmeticError where they have to be asked as well.
    """
    result = [0.0] * len(data)
    result[output] = 1.0
    for op, place, a, b in reversed(steps):
        adjoint = result[place]
        if op == MUL:
            result[a] += adjoint * data[b]
            result[b] += adjoint * data[a]
        elif op == ADD:
            result[a] += adjoint
            result[b] += adjoint
        elif op == CALL:
            result[a] += adjoint * b[1](REAL, data[a], data[place])
        elif op == SUB:
            result[a] += adjoint
            result[b] -= adjoint
        elif op == DIV:
            x, y, out = data[a], data[b], data[place]
            result[a] += adjoint * _by_numerator(REAL, x, y, out)  # type: ignore[misc]
            result[b] += adjoint * _by_denominator(REAL, x, y, out)  # type: ignore[misc]
        elif op == WHOLE:
            y = data[b]
            result[a] += adjoint * (y * power(data[a], y - 1.0))
        elif op == NEG:
            result[a] -= adjoint
        elif op == RAISE:
            result[a] += adjoint * _by_base(REAL, data[a], data[b], data[place])  # type: ignore[misc]
        elif op == TAKE:
            result[a] += adjoint
        elif not b.gives_condition and not _pass_on(b, a, adjoint, data, data[place], result):
            return None
    # Infinities and nan show in the sum, which is then not equal to itself less itself.
    total = sum(data) + sum(result)
    return result if total - total == 0.0 else None


def _pass_on(
    primitive: Primitive, places: Sequence[int], adjoint: float, data: list[Any], out: float, result: list[float]
) -> bool:
    """Add what a GENERAL step gives to its inputs; False where the sweeps, sparing the inactive ones, may differ."""
    inputs = [data[p] for p in places]
    if (primitive.kink and primitive.kink(*inputs)) or (primitive is POW and inputs[0] <= 0):
        return False
    if primitive.variadic and len(set(places)) < len(places):
        return False
    for p, partial in zip(places, primitive.slopes(REAL, inputs, out), strict=True):
        if partial is not None:
            result[p] += adjoint * partial
    return True


class Doubles:
    """A tape with one output, ready to be differentiated at any number of points."""

    def __init__(self, tape: Tape, root: int, *, is_plain: bool) -> None:
        """Without any branch, if it `is_plain`, all of the tape is evaluated in its order."""
        self.tape = tape
        self.root = root
        self._data = [0.0 if x is None else x for x in tape.data]
        branches = not is_plain and any(primitive.demand for primitive in tape.primitives)
        order = range(len(tape.primitives)) if is_plain else in_order(tape.parents, (root,))
        self._plans: list[list[Step]] = [] if branches else [self._plan(order, ())]

    def gradient(self, leaves: Mapping[str, int], point: Mapping[str, float]) -> tuple[float, list[float]] | None:
        """The value and the adjoints of all nodes, up to the sign of a zero; None where the sweeps have to be asked.

        `leaves` are the places of the variables by name. Raises KeyError, ValueError, ArithmeticError or `Fault` where
        the sweeps have to be asked as well.
        """
        data = self._data.copy()
        for name, i in leaves.items():
            data[i] = point[name]
        for steps in self._plans:
            if evaluate(steps, data):
                break
        else:
            steps = self._new_plan({i: point[name] for name, i in leaves.items()})
            if not evaluate(steps, data):
                return None
        found = adjoints(steps, data, self.root)
        return None if found is None else (data[self.root], found)

    def _new_plan(self, values: Mapping[int, float]) -> list[Step]:
        """The way through the program at a point. Raises `Fault`."""
        tape = Tape(self.tape.primitives, self.tape.parents, self.tape.data.copy())
        for i, x in values.items():
            tape.data[i] = x
        steps = self._plan(forward(tape, REAL, (self.root,)), tape.data)
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans.insert(0, steps)
        return steps

    def _plan(self, order: Sequence[int], data: Sequence[Any]) -> list[Step]:
        """The steps of an order of evaluation; `data` are the values at which branches are taken."""
        rows, parents, constants = self.tape.primitives, self.tape.parents, self.tape.constants
        steps: list[Step] = []
        for i in order:
            inputs = parents[i]
            if not inputs:
                continue
            primitive = rows[i]
            if primitive in _ARITHMETIC:
                steps.append((_ARITHMETIC[primitive], i, inputs[0], inputs[-1]))
            elif primitive is POW and inputs[1] in constants:
                whole = is_whole(constants[inputs[1]][0])
                steps.append((WHOLE if whole else RAISE, i, inputs[0], inputs[1]))
            elif primitive is POW and rows[inputs[1]] is table.NEG and parents[inputs[1]][0] in constants:
                steps.append((RAISE, i, inputs[0], inputs[1]))
            elif primitive.demand:
                truth = data[inputs[0]]
                wanted = primitive.demand(truth, *[None] * (len(inputs) - 1))
                steps.append((TAKE, i, inputs[wanted[-1]] if wanted else inputs[0], (inputs[0], truth)))
            else:
                found = smooth(primitive)
                steps.append((GENERAL, i, inputs, primitive) if found is None else (CALL, i, inputs[0], found))
        return steps
