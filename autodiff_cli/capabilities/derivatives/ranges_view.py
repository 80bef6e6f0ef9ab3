"""The view of proven ranges over a box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ...language.typesetting import name_latex, text_latex
from ...show.document import Block, Paragraph, Pieces, Table, input_lines, text_line
from ...show.numerals import (
    attach_units,
    format_number,
    repr_number,
)
from ...show.outward import outward
from ...show.schema import Values, View
from ...show.tex import unit_latex
from ...show.tex_tables import number, paragraphs, table
from .ranges import (
    MONOTONICITY,
    PLACES,
    BoxPlace,
    ExactEnd,
    GradientRanges,
    NumberRange,
)

MAX_LISTED_PLACES = 6


class GradientRangesView(View[GradientRanges], of=GradientRanges):
    """How ranges are shown: lower ends are rounded down, upper ends up."""

    row_key = ("variable", "ranges")
    computed: ClassVar[Values] = {
        "box": lambda answer: {name: [*ends] for name, ends in answer.box.items()},
        "places.box": lambda place: {name: [*ends] for name, ends in place.box.items()},
    }

    def attach_units(self, answer: GradientRanges, units: Mapping[str, Any]) -> GradientRanges:
        pairs = zip(answer.ranges, units["ranges"], strict=True)
        ranges = [_with_exact_ends(attach_units(one, unit), one) for one, unit in pairs]
        box = {
            name: tuple(attach_units([*ends], units["box"][name]))
            for name, ends in answer.box.items()
        }
        point = attach_units(answer.point, units["point"])
        return answer._replace(ranges=tuple(ranges), box=box, point=point)

    def document(self, answer: GradientRanges) -> Iterator[Block]:
        for name, ends in answer.box.items():
            yield Paragraph(
                (
                    ("over ", "faint"),
                    *_between(name, *(format_number(x, self.digits) for x in ends)),
                )
            )
        yield from input_lines(answer.constants, answer.point, (), self.digits)
        partly = any(not one.everywhere for one in answer.ranges)
        heads = ("", "from", "to", *(("proven",) * partly), "along the variable")
        yield Table(
            heads, [self._row(one, answer, partly) for one in answer.ranges], frozenset((1, 2))
        )
        for place in answer.places[:MAX_LISTED_PLACES]:
            yield text_line(self.place_text(place), "faint")
        if len(answer.places) > MAX_LISTED_PLACES:
            more = len(answer.places) - MAX_LISTED_PLACES
            yield text_line(f"… and {more:,} more places; `--json` gives all", "faint")

    def _row(self, one: NumberRange, answer: GradientRanges, partly: bool) -> tuple[Pieces, ...]:
        cells: list[Pieces] = [((one.name, "name") if one.name else ("value", "heading"),)]
        cells += [
            ((outward(x, self.digits, up=up), "number"),)
            for x, up in ((one.low, False), (one.high, True))
        ]
        cells += [((_extent(one), ""),)] if partly else []
        return (*cells, ((_verdict(one) if one.name in answer.box else "", ""),))

    def place_text(self, place: BoxPlace) -> str:
        """Return where something is not proven, in words."""
        ranges = []
        for name, (low, high) in place.box.items():
            ends = outward(low, self.digits, up=False), outward(high, self.digits, up=True)
            ranges.append(
                f"{ends[0]} ≤ {name} ≤ {ends[1]}"
                if self.unicode
                else f"{ends[0]} <= {name} <= {ends[1]}"
            )
        return f"at {', '.join(ranges)}: `{place.part}` {PLACES[place.kind]}"

    def one_line(self, answer: GradientRanges) -> str:
        return " ".join(
            f"{one.name or 'value'}={repr_number(one.low) or '-'}:{repr_number(one.high) or '-'}"
            + ("" if one.everywhere else " (not everywhere)")
            for one in answer.ranges
        )

    def latex_document(self, answer: GradientRanges) -> str:
        rows = []
        for one in answer.ranges:
            head = rf"$\partial/\partial {name_latex(one.name)}$" if one.name else "value"
            cells = (
                _latex_end(one.low, self.digits, up=False),
                _latex_end(one.high, self.digits, up=True),
            )
            rows.append(
                (head, *cells, _extent(one), _verdict(one) if one.name in answer.box else "")
            )
        sides = [
            f"${name_latex(name)}$ from {number(low)} to {number(high)}"
            for name, (low, high) in answer.box.items()
        ]
        places = [text_latex(self.place_text(place)) for place in answer.places]
        text = "; ".join(["Over " + ", ".join(sides), *places]) + "."
        return paragraphs(table(("", "from", "to", "proven", "along the variable"), rows), text)


def _with_exact_ends(measured: NumberRange, plain: NumberRange) -> NumberRange:
    for end, of in ((measured.low, plain.low), (measured.high, plain.high)):
        if isinstance(of, ExactEnd):
            vars(end)["exact"] = of.exact
    return measured


def _latex_end(x: float | None, digits: int | None, *, up: bool) -> str:
    return (
        "--" if x is None else number(outward(x, digits, up=up).partition(" ")[0]) + unit_latex(x)
    )


def _between(name: str, low: str, high: str) -> tuple[tuple[str, Any], ...]:
    return (name, "name"), (" from ", "faint"), (low, "number"), (" to ", "faint"), (high, "number")


def _extent(one: NumberRange) -> str:
    return "everywhere" if one.everywhere else "outside of the places below"


def _verdict(one: NumberRange) -> str:
    return MONOTONICITY[one.monotonicity] if one.monotonicity else "not proven"
