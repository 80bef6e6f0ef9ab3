"""The view of digits over a box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...language.typesetting import name_latex, text_latex
from ...show.document import Block, Paragraph, Pieces, Table, input_lines
from ...show.numerals import format_number, repr_number
from ...show.schema import OutputRow, Values, View
from ...show.tex_tables import latex_of, number, paragraphs, table
from .digits_over_box import DigitsInPart, DigitsOverBox


class DigitsOverBoxView(View[DigitsOverBox], of=DigitsOverBox):
    """How digits over a box are shown."""

    computed: ClassVar[Values] = {
        "box": lambda answer: {name: [*ends] for name, ends in answer.box.items()},
        "parts.box": lambda part: {name: [*ends] for name, ends in part.box.items()},
    }

    def document(self, answer: DigitsOverBox) -> Iterator[Block]:
        yield Paragraph(((_verdict(answer), "heading"),))
        yield from input_lines(answer.constants, answer.point, (), self.digits)
        heads = (*answer.box, "proven, at least", "at a point", "digits there", "most are lost in")
        names = len(answer.box)
        yield Table(
            heads, [self._row(part) for part in answer.parts], frozenset((names, names + 2))
        )

    def _row(self, part: DigitsInPart) -> tuple[Pieces, ...]:
        sides: list[Pieces] = [
            ((f"{self.number(a)} to {self.number(b)}", "number"),) for a, b in part.box.values()
        ]
        point = ", ".join(
            f"{name} = {format_number(x, self.digits)}" for name, x in part.sample.items()
        )
        return (
            *sides,
            ((str(part.digits), "number"),),
            ((point, "number"),),
            (("–" if part.sample_digits is None else str(part.sample_digits), "number"),),
            ((part.operation, "code"),),
        )

    def rows(self, answer: DigitsOverBox) -> Iterator[OutputRow]:
        for k, part in enumerate(answer.parts, start=1):
            for name, (low, high) in part.box.items():
                row: dict[str, Any] = {"part": k, "variable": name, "low": low, "high": high}
                yield {
                    **row,
                    "digits": part.digits,
                    "sample_digits": part.sample_digits,
                    "operation": part.operation,
                }

    def one_line(self, answer: DigitsOverBox) -> str:
        parts = []
        for part in answer.parts:
            sides = [
                f"{name}={repr_number(low)}:{repr_number(high)}"
                for name, (low, high) in part.box.items()
            ]
            parts.append(f"{','.join(sides)} {part.digits}")
        return " ".join(["yes" if answer.agrees else "no", *parts])

    def latex_document(self, answer: DigitsOverBox) -> str:
        heads = (
            *(f"${name_latex(name)}$" for name in answer.box),
            "proven, at least",
            "digits at a point",
            "lost in",
        )
        rows = []
        for part in answer.parts:
            sides = [f"{number(low)} to {number(high)}" for low, high in part.box.values()]
            digits = "--" if part.sample_digits is None else str(part.sample_digits)
            rows.append(
                (
                    *sides,
                    str(part.digits),
                    digits,
                    latex_of(part.operation) if part.operation else "",
                )
            )
        return paragraphs(table(heads, rows), text_latex(_verdict(answer)) + ".")


def _verdict(answer: DigitsOverBox) -> str:
    if answer.agrees:
        return (
            f"proven: {min(part.digits for part in answer.parts)} digits of the value or more, all"
            " over the box"
        )
    if answer.lost:
        return f"digits are lost: some points of the box have fewer than {answer.required}"
    return f"not proven: {answer.required} digits of the value all over the box"
