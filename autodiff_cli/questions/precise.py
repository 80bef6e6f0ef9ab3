"""The gradient in another arithmetic than doubles: exact, with many digits, or with proven ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Diagnostic
from ..graph.sweep_in import sweep_in
from ..numbers.base import NumberType
from .arithmetic import Arithmetic, Shown, Values
from .gradient import single_output
from .prepared import Point, kink_warnings, prepare


@dataclass(frozen=True, slots=True)
class PreciseIntermediate:
    """A name that the program bound: its line (from 1), its value and its derivative, None where not needed."""

    name: str
    line: int
    value: Shown | bool | None
    grad: Shown | None


@dataclass(frozen=True, slots=True)
class PreciseGradient:
    """The value and the gradient of a program at a point, as figures."""

    text: str
    arithmetic: Arithmetic
    value: Shown
    gradient: dict[str, Shown]
    point: dict[str, Shown]
    constants: dict[str, float]
    """The named constants that took part; they are used to all digits."""
    warnings: tuple[Diagnostic, ...]
    intermediates: tuple[PreciseIntermediate, ...]


def precise_gradient(
    text: str, point: Point | None, arithmetic: Arithmetic, *, wrt: Sequence[str] | None = None
) -> PreciseGradient:
    """What `gradient` finds, in an arithmetic of choice; literals and the point are read as decimals.

    Raises `ExpressionError` as `gradient` does; `domain` also where a function leaves the rational numbers, or no
    digit can be proven.

    >>> from autodiff_cli.questions.arithmetic import Arithmetic
    >>> answer = precise_gradient("x**2/3", {"x": "0.1"}, Arithmetic("exact"))
    >>> answer.value.text, answer.gradient["x"].text
    ('1/300', '1/15')
    """
    ready = prepare(text, point, wrt)
    program = ready.program
    output = single_output(program)
    bound = [b.value for b in program.bindings]
    warnings: list[Diagnostic] = []

    def work(m: NumberType, values: Values) -> dict[str, Any]:
        swept = sweep_in(m, output, values, ready.wanted)
        kinks = [(swept.nodes[i], [swept.tape.data[p] for p in swept.tape.parents[i]]) for i in swept.kinks]
        warnings[:] = kink_warnings(arithmetic, kinks)
        place = {n: i for i, n in enumerate(swept.nodes)} if bound else {}
        evaluated = set(swept.order) if bound else set()
        at = [place[n] if n in place and place[n] in evaluated else None for n in bound]
        return {
            "value": swept.value,
            "gradient": swept.gradient,
            "point": values,
            "bound": [None if i is None else swept.tape.data[i] for i in at],
            "grads": [None if i is None else _grad(m, swept.adjoints[i], swept.active[i]) for i in at],
        }

    found = arithmetic.run(ready.point, work)
    lines = [k for k, character in enumerate(text) if character == "\n"]
    return PreciseGradient(
        text, arithmetic, found["value"], found["gradient"], found["point"], program.constants,
        (*ready.warnings, *warnings),
        tuple(
            PreciseIntermediate(b.name, bisect_right(lines, b.start) + 1, value, grad)
            for b, value, grad in zip(program.bindings, found["bound"], found["grads"], strict=True)
        ),
    )  # fmt: skip


def _grad(m: NumberType, adjoint: Any, active: bool) -> Any:
    return (m.number(0) if active else None) if adjoint is None else adjoint
