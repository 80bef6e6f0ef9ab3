"""The view of a Check."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...questions.digits import MAX_DOUBLE_DIGITS, CheckedNumber
from ...show.document import Block, Paragraph, Pieces, Table, input_lines, quantity_text, sentence
from ...show.numerals import attach_units, format_number, repr_number, unit_of
from ...show.schema import OutputRow, View
from .check import Check

# Digits of the reference that a table shows.
MAX_SHOWN_DIGITS = 20


class CheckView(View[Check], of=Check):
    """How a check is shown; `digits` are those of differences."""

    latex_writer = "check.check_latex.check_table"
    row_key = ("variable", "checked")

    def attach_units(self, answer: Check, units: Mapping[str, Any]) -> Check:
        quantities = [
            number._replace(computed=attach_units(number.computed, unit["computed"]))
            for number, unit in zip(answer.quantities, units["checked"], strict=True)
        ]
        return super().attach_units(answer, units)._replace(quantities=quantities)

    def cells(self, answer: Check) -> Iterator[dict[str, Any]]:
        digits = min(
            (number.digits for number in answer.quantities if number.digits is not None),
            default=None,
        )
        kept = min(
            (number.kept for number in answer.quantities if number.kept is not None), default=None
        )
        (cells,) = super().cells(answer)
        yield {**cells, "digits": digits, "kept": kept, "agrees": answer.agrees}

    def document(self, answer: Check) -> Iterator[Block]:
        verdict: Pieces = ((f"agreement: {'yes' if answer.agrees else 'no'}", "heading"),)
        if not answer.quantities:
            yield Paragraph(
                (*verdict, (" (computed without rounding, this has no value)", "faint"))
            )
            return
        kept = [
            number.kept for number in answer.quantities if not number.remark.startswith("underflow")
        ]
        least = min((digits for digits in kept if digits is not None), default=MAX_DOUBLE_DIGITS)
        explanation = (
            f" (the computation kept {least} digits or more; {answer.required} are asked for)"
        )
        yield Paragraph((*verdict, (explanation, "faint")))
        yield from input_lines(answer.constants, {}, (), self.digits, answer.over)
        reference = f"in {answer.precision} digits"
        heads = (
            "",
            "computed",
            reference,
            "correct, at least",
            "differences",
            "condition",
            "agrees",
        )
        yield Table(
            heads, [_row(number, self.digits) for number in answer.quantities], frozenset((3,))
        )
        for warning in answer.warnings:
            if warning.kind == "lost_digits" and warning.span:
                piece = " ".join(answer.text[warning.span.start : warning.span.end].split())
                lost: Pieces = (("digits lost: ", "heading"), (piece, "code"), ("  ", ""))
                yield Paragraph((*lost, *sentence(warning.hint or "", "faint")))

    def rows(self, answer: Check) -> Iterator[OutputRow]:
        yield from (
            super().rows(answer)
            if answer.quantities
            else ({"computed": answer.value, "agrees": False},)
        )

    def one_line(self, answer: Check) -> str:
        parts = [
            f"{number.name or 'value'}={'–' if number.digits is None else number.digits}"
            for number in answer.quantities
        ]
        return " ".join(["yes" if answer.agrees else "no", *parts])


def _row(number: CheckedNumber, digits: int | None) -> tuple[Pieces, ...]:
    unit = unit_of(number.computed)
    difference = (
        quantity_text(number.difference, unit, digits) if number.difference is not None else ""
    )
    if number.difference_error is not None and difference:
        difference += f" (error {format_number(number.difference_error, 1)})"
    verdict = "yes" if number.agrees else "no"
    return (
        ((number.name, "name") if number.name else ("value", "heading"),),
        ((f"{repr_number(number.computed)} {unit or ''}".rstrip(), "number"),),
        ((f"{_shorten(number.exact)} {unit or ''}".rstrip(), "number"),),
        (("–" if number.digits is None else str(number.digits), "number"),),
        ((difference, "number"),),
        (("" if number.condition is None else format_number(number.condition, 2), "number"),),
        ((f"{verdict}, {number.remark}" if number.remark else verdict, ""),),
    )


def _shorten(text: str) -> str:
    mantissa, mark, exponent = text.partition("e")
    if "." not in mantissa:
        return text
    kept = mantissa[: MAX_SHOWN_DIGITS + 2]
    kept = f"{kept}..." if mantissa[len(kept) :].strip("0") else kept.rstrip("0").rstrip(".")
    return f"{kept}{mark}{exponent}"
