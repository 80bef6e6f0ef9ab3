"""A Check in every form: as a record, as rows, on one line, and as a table for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..accuracy.check import FULL, Check, CheckedNumber
from .document import Block, Line, Pieces, Table, circumstances, loss_summary_lines, sentence
from .formats import OutputRow, View, remarks
from .numerals import format_number, repr_number

COLUMNS = (
    "line", "id", "variable", "at", "computed", "exact", "digits", "kept", "difference", "condition", "agrees", "error",
)  # fmt: skip

SHOWN = 20
"""Digits of the reference that a table shows."""


def view(*, digits: int | None = None) -> View[Check]:
    """How a check is shown; `digits` is for the conditions and differences in tables."""

    def document(answer: Check) -> Iterator[Block]:
        verdict: Pieces = ((f"agreement: {'yes' if answer.agrees else 'no'}", "heading"),)
        if not answer.quantities:
            yield Line((*verdict, (" (computed without rounding, this has no value)", "faint")))
            return
        kept = [each.kept for each in answer.quantities if not each.remark.startswith("underflow")]
        least = min((digits for digits in kept if digits is not None), default=FULL)
        told = f" (the computation kept {least} digits or more; {answer.required} are asked for)"
        yield Line((*verdict, (told, "faint")))
        yield from loss_summary_lines(answer.over)
        yield from circumstances(answer.constants, {}, (), digits)
        yield Table(
            (
                "",
                "computed",
                f"in {answer.precision} digits",
                "correct, at least",
                "differences",
                "condition",
                "agrees",
            ),
            [_row(each, digits) for each in answer.quantities],
            frozenset((3,)),
        )
        lost = [warning for warning in answer.warnings if warning.kind == "lost_digits" and warning.span]
        for warning in lost:
            assert warning.span
            piece = " ".join(answer.text[warning.span.start : warning.span.end].split())
            yield Line(
                (("digits lost: ", "heading"), (piece, "code"), ("  ", ""), *sentence(warning.hint or "", "faint"))
            )

    return View(_record, _rows, _brief, document, COLUMNS)


def _name(each: CheckedNumber) -> Pieces:
    return ((each.name, "name"),) if each.name else (("value", "heading"),)


def _row(each: CheckedNumber, digits: int | None) -> tuple[Pieces, ...]:
    difference = ""
    if each.difference is not None:
        difference = format_number(each.difference, digits)
        if each.difference_error is not None:
            difference += f" (error {format_number(each.difference_error, 1)})"
    condition = "" if each.condition is None else format_number(each.condition, 2)
    verdict = "yes" if each.agrees else "no"
    return (
        _name(each),
        ((repr_number(each.computed), "number"),),
        ((_shortened(each.exact), "number"),),
        (("–" if each.digits is None else str(each.digits), "number"),),
        ((difference, "number"),),
        ((condition, "number"),),
        ((f"{verdict}, {each.remark}" if each.remark else verdict, ""),),
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


def _record(answer: Check) -> dict[str, object]:
    return {
        "value": answer.value,
        "gradient": answer.gradient,
        "point": answer.point,
        **remarks(answer),
        "agrees": answer.agrees,
        **({} if answer.over is None else {"data": answer.over._asdict()}),
        "precision": answer.precision,
        "required": answer.required,
        "checked": [
            {
                "variable": each.name or None,
                "computed": each.computed,
                "exact": each.exact,
                "digits": each.digits,
                "kept": each.kept,
                "difference": each.difference,
                "difference_error": each.difference_error,
                "condition": each.condition,
                "agrees": each.agrees,
                "remark": each.remark or None,
            }
            for each in answer.quantities
        ],
    }


def _rows(answer: Check) -> Iterator[OutputRow]:
    for each in answer.quantities:
        yield {
            "variable": each.name,
            "at": repr_number(answer.point[each.name]) if each.name else "",
            "computed": repr_number(each.computed),
            "exact": each.exact,
            "digits": "" if each.digits is None else str(each.digits),
            "kept": "" if each.kept is None else str(each.kept),
            "difference": repr_number(each.difference),
            "condition": repr_number(each.condition),
            "agrees": "true" if each.agrees else "false",
        }
    if not answer.quantities:
        yield {"computed": repr_number(answer.value), "agrees": "false"}


def _brief(answer: Check) -> str:
    parts = [f"{each.name or 'value'}={'–' if each.digits is None else each.digits}" for each in answer.quantities]
    return " ".join(["yes" if answer.agrees else "no", *parts])
