"""What every method with a choice of arithmetic begins with, and the warnings that it ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import Diagnostic, ExpressionError
from ..graph.value import Value, kink_warning
from ..language.builder import Program
from ..numbers.base import Number
from .arithmetic import Arithmetic
from .gradient import as_number, parse, place, wanted_variables

Point = Mapping[str, float | str]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program and its point, checked against each other."""

    program: Program
    point: dict[str, float | str]
    """The values of the program's variables, as they were given; of other wanted names too."""
    wanted: list[str]
    warnings: list[Diagnostic]


def prepare(text: str, point: Point | None, wrt: Sequence[str] | None) -> Prepared:
    """The program of a text, ready to be differentiated at a point. Raises `ExpressionError`."""
    given = dict(point or {})
    numbers = {name: as_number(value, name) for name, value in given.items()}
    program = parse(text, numbers)
    warnings = place(program, numbers)
    wanted = wanted_variables(program, numbers, wrt)
    names = [*program.variables, *(name for name in wanted if name not in program.variables)]
    return Prepared(program, {name: given[name] for name in names}, wanted, warnings)


def kink_warnings(arithmetic: Arithmetic, kinks: Iterable[tuple[Value, list[Number]]]) -> list[Diagnostic]:
    """A warning for each kink. Raises `ExpressionError` where digits are to be proven: there are none."""
    found = [kink_warning(node, inputs) for node, inputs in kinks]
    if found and arithmetic.name == "certified":
        first = found[0]
        raise ExpressionError(
            "derivative", f"{first.message}, so no digit of one can be proven", first.span,
            "move the point, or leave `--certified` out for the conventional derivative",
        )  # fmt: skip
    return found
