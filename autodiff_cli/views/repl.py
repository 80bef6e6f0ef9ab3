"""The answers of a session: a value with its gradient, and a formula with its derivatives, each under its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..derivatives.gradient import Gradient
from ..formulas.diff import Diff
from .diff import DiffView
from .document import NO_VARIABLES, Block, stated
from .gradient import GradientView


class ValueView(GradientView):
    """How a value is shown with its gradient."""

    name: str = "value"
    """What the value is called."""

    def document(self, answer: Gradient[Any]) -> Iterator[Block]:
        blocks = super().document(answer)
        next(blocks)
        yield stated(self.name, answer.value, self.digits, unit=answer.units["value"] if answer.units else None)
        yield from (block for block in blocks if block is not NO_VARIABLES)


class FormulaView(DiffView):
    """How a formula without numbers is shown with its derivatives; without its name, or the formula, only these."""

    name: str = ""
    formula: str = ""

    def document(self, answer: Diff) -> Iterator[Block]:
        if self.name and self.formula:
            yield stated(self.name, self.formula)
        yield from super().document(answer)
