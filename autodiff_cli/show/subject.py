"""The program that an answer or an error is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..language.diagnostics.leniency import AsRead


class Subject(NamedTuple):
    """The program that an answer or error is about; no text if none."""

    text: str | None
    line: int = 1
    id: object = None
    kept: Mapping[str, object] | None = None
    reading: AsRead | None = None
    values: tuple[str, ...] = ()
    """Values of its point that were read otherwise than typed: `x = 1/2`."""
    point: Mapping[str, float] | None = None
    """The point of a sweep, which an error repeats too."""

    @property
    def readings(self) -> list[str]:
        return [
            *([self.reading.note_text] if self.reading and self.reading.note_text else []),
            *self.values,
        ]

    @property
    def program_read(self) -> str | None:
        """Return the program as read, which spans point into."""
        return self.text if self.reading is None else self.reading.text

    def fields(self) -> dict[str, object]:
        """Return the first fields of a record."""
        fields: dict[str, object] = {"id": self.id, "line": self.line, "expr": self.text}
        if (self.reading is not None or self.values) and (readings := self.readings):
            fields["note"] = f"read as: {'; '.join(readings)}"
        return fields if self.kept is None else {**fields, "keep": self.kept}
