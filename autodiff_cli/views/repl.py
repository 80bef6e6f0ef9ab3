"""The views of a session's answers, each under its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..derivatives.gradient import Gradient
from ..errors import Diagnostic
from ..formulas.diff import Diff
from .diff import DiffView
from .document import NO_VARIABLES, Block, value_line
from .gradient import GradientView
from .schema import View


class Listing(NamedTuple):
    """A list and its derivatives, as texts by name."""

    texts: dict[str, str]
    warnings: tuple[Diagnostic, ...] = ()


class ListView(View[Listing]):
    """How a list is shown with its derivatives."""

    def document(self, answer: Listing) -> Iterator[Block]:
        for name, text in answer.texts.items():
            yield value_line(name, text)


class ValueView(GradientView):
    """How a value is shown with its gradient."""

    name: str = "value"

    def document(self, answer: Gradient[Any]) -> Iterator[Block]:
        blocks = super().document(answer)
        next(blocks)
        yield value_line(self.name, answer.value, self.digits)
        yield from (block for block in blocks if block is not NO_VARIABLES)


class FormulaView(DiffView):
    """How a formula is shown with its derivatives."""

    name: str = ""
    formula: str = ""

    def document(self, answer: Diff) -> Iterator[Block]:
        if self.name and self.formula:
            yield value_line(self.name, self.formula)
        yield from super().document(answer)
