"""A Check in every form: as a record, as rows, on one line, and as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

from ..accuracy.check import FULL, Check, CheckedNumber
from .document import Block, Line, Pieces, Table, circumstances, loss_summary_lines, measured, sentence
from .numerals import format_number, repr_number
from .schema import OutputRow, View, declared, heading, unit_text

if TYPE_CHECKING:
    from ..quantities.unit import Unit

SHOWN = 20
"""Digits of the reference that a table shows."""


class CheckView(View[Check]):
    """How a check is shown; `digits` is that of conditions and differences in tables."""

    fields, csv_columns, _ = declared("check")
    latex_writer = "tex_tables.check_table"
    latex_packages = ("booktabs", "siunitx")
    row_key = ("variable", "checked")

    def cells(self, answer: Check) -> Iterator[dict[str, Any]]:
        units: Mapping[str, Any] = answer.units or {}
        by = units.get("gradient", {})
        slopes = {heading(f"d_{name}", unit_text(by.get(name))): x for name, x in answer.gradient.items()}
        digits = min((number.digits for number in answer.quantities if number.digits is not None), default=None)
        kept = min((number.kept for number in answer.quantities if number.kept is not None), default=None)
        value = heading("value", unit_text(units.get("value")))
        yield {value: answer.value, **slopes, "digits": digits, "kept": kept, "agrees": answer.agrees}

    def document(self, answer: Check) -> Iterator[Block]:
        verdict: Pieces = ((f"agreement: {'yes' if answer.agrees else 'no'}", "heading"),)
        if not answer.quantities:
            yield Line((*verdict, (" (computed without rounding, this has no value)", "faint")))
            return
        kept = [number.kept for number in answer.quantities if not number.remark.startswith("underflow")]
        least = min((digits for digits in kept if digits is not None), default=FULL)
        explanation = f" (the computation kept {least} digits or more; {answer.required} are asked for)"
        yield Line((*verdict, (explanation, "faint")))
        yield from loss_summary_lines(answer.over)
        yield from circumstances(answer.constants, {}, (), self.digits)
        reference = f"in {answer.precision} digits"
        yield Table(
            ("", "computed", reference, "correct, at least", "differences", "condition", "agrees"),
            [
                _row(number, self.digits, unit["computed"] if unit else None)
                for number, unit in zip_longest(answer.quantities, _by_number(answer))
            ],
            frozenset((3,)),
        )
        lost = [warning for warning in answer.warnings if warning.kind == "lost_digits" and warning.span]
        for warning in lost:
            assert warning.span
            piece = " ".join(answer.text[warning.span.start : warning.span.end].split())
            yield Line(
                (("digits lost: ", "heading"), (piece, "code"), ("  ", ""), *sentence(warning.hint or "", "faint"))
            )

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("at", "computed"))

    def rows(self, answer: Check) -> Iterator[OutputRow]:
        if not answer.quantities:
            yield {"computed": answer.value, "agrees": False}
        for row, unit in zip_longest(super().rows(answer) if answer.quantities else (), _by_number(answer)):
            yield row if unit is None else {**row, "computed_unit": unit_text(unit["computed"])}

    def one_line(self, answer: Check) -> str:
        parts = [
            f"{number.name or 'value'}={'–' if number.digits is None else number.digits}"
            for number in answer.quantities
        ]
        return " ".join(["yes" if answer.agrees else "no", *parts])


def _by_number(answer: Check) -> Sequence[Mapping[str, Unit]]:
    """Return the units of the numbers under check; none where they have none."""
    return [] if answer.units is None else cast(list[Any], answer.units["checked"])


def _name(number: CheckedNumber) -> Pieces:
    return ((number.name, "name"),) if number.name else (("value", "heading"),)


def _row(number: CheckedNumber, digits: int | None, unit: Unit | None = None) -> tuple[Pieces, ...]:
    difference = ""
    if number.difference is not None:
        difference = measured(number.difference, unit, digits)
        if number.difference_error is not None:
            difference += f" (error {format_number(number.difference_error, 1)})"
    behind = "" if unit is None else str(unit)
    condition = "" if number.condition is None else format_number(number.condition, 2)
    verdict = "yes" if number.agrees else "no"
    return (
        _name(number),
        ((f"{repr_number(number.computed)} {behind}".rstrip(), "number"),),
        ((f"{_shortened(number.exact)} {behind}".rstrip(), "number"),),
        (("–" if number.digits is None else str(number.digits), "number"),),
        ((difference, "number"),),
        ((condition, "number"),),
        ((f"{verdict}, {number.remark}" if number.remark else verdict, ""),),
    )


def _shortened(text: str) -> str:
    """A number of 25 digits, to as many as a table has room for: cut, and marked as cut."""
    mantissa, mark, exponent = text.partition("e")
    if "." not in mantissa:
        return text
    kept = mantissa[: SHOWN + 2]
    if not mantissa[len(kept) :].strip("0"):
        kept = kept.rstrip("0").rstrip(".")
    else:
        kept += "..."
    return f"{kept}{mark}{exponent}"
