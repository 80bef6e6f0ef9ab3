"""An exported program: its source as it is, on a stream or in a file, or as a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from ..questions.export import Exported
from .characters import look, visible
from .formats import Asked, View, Writer


def _record(answer: Exported) -> dict[str, object]:
    return {
        "target": answer.target,
        "name": answer.name,
        "variables": answer.variables,
        "wrt": list(answer.wanted),
        "source": answer.source,
    }


view: View[Exported] = View(_record)


class Sources(Writer[Exported]):
    """Writes the source: to the stream, or to whatever `put` does with the bytes."""

    def __init__(self, out: TextIO, put: Callable[[bytes], None] | None) -> None:
        super().__init__(out, view, many=False)
        self.put = put

    def answer(self, asked: Asked, answer: Exported) -> None:
        if self.put is not None:
            self.put(answer.source.encode())
            return
        encoding = look(self.out).encoding
        self.out.write("".join(f"{visible(line, encoding)}\n" for line in answer.source.split("\n")[:-1]))
