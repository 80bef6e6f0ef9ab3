"""An exported program: its source as it is, or as a record."""

from __future__ import annotations

from collections.abc import Iterator

from ..questions.export import Exported
from .document import Block, Line
from .formats import View


def _record(answer: Exported) -> dict[str, object]:
    return {
        "target": answer.target,
        "name": answer.name,
        "variables": answer.variables,
        "wrt": list(answer.wanted),
        "source": answer.source,
    }


def _document(answer: Exported) -> Iterator[Block]:
    for line in answer.source.splitlines():
        yield Line(((line, ""),), source=True)


def view() -> View[Exported]:
    """How an exported program is shown."""
    return View(_record, document=_document)
