"""The view of a Trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from ...engine.graphs.value import node, variable
from ...language.printer import expression_text
from ...show.document import (
    NO_VARIABLES,
    Block,
    Paragraph,
    Pieces,
    Table,
    input_lines,
    partials_table,
    sentence,
    value_line,
)
from ...show.numerals import format_number, literal, unit_of, unit_text, word
from ...show.schema import Values, View
from ..graph.graph import MANY_ALIKE
from .trace import AdjointStep, TangentStep, Term, Trace, TraceRow
from .trace_latex import in_numbers, page

if TYPE_CHECKING:
    from ..page.page import Node

# The default number of lines of a trace in a table.
DEFAULT_LINES = 60
# How many inputs of an operation a table shows: their names fill two lines of a terminal.
MAX_INPUTS_SHOWN = 24
# The placeholder for a number to be filled in.
BLANK = "______"
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTER = re.compile(r"[^\W\d](_?[\d₀-₉]+)?")


class Notation:
    """How steps are written: `x̄ += v̄₁ · ∂v₁/∂x`, or in ASCII `adj(x) += adj(v1) * d(v1)/d(x)`."""

    def __init__(
        self, letter: str, unicode: bool, digits: int | None, blanks: bool = False
    ) -> None:
        self.letter, self.unicode, self.digits, self.blanks = letter, unicode, digits, blanks
        self.times = " · " if unicode else " * "
        self._numbered = re.compile(rf"\b{letter}(\d+)\b")

    def name(self, row: TraceRow | Node) -> str:
        """Return the node's name."""
        return row.name.translate(_SUBSCRIPTS) if row.numbered and self.unicode else row.name

    def text(self, text: str) -> str:
        """Return a text in this notation."""
        if not self.unicode:
            return text
        return self._numbered.sub(lambda match: self.letter + match[1].translate(_SUBSCRIPTS), text)

    def adjoint(self, row: TraceRow | Node) -> str:
        """Return the node's name with a bar, over all of a long name."""
        stem, mark, again = row.name.partition("[")
        if row.numbered or _LETTER.fullmatch(stem) or not self.unicode:
            return self._accent(row, "\u0304", "adj")
        return "".join(char + "\u0305" for char in stem) + mark + again

    def _tangent(self, row: TraceRow) -> str:
        return self._accent(row, "\u0307", "dot")

    def _accent(self, row: TraceRow | Node, accent: str, word: str) -> str:
        name = self.name(row)
        return name[0] + accent + name[1:] if self.unicode else f"{word}({name})"

    def number(self, x: float | bool | None) -> str:
        """Return a number, or a blank."""
        return BLANK if self.blanks else format_number(x, self.digits)

    def _in_formula(self, x: float | bool | None) -> str:
        return BLANK if self.blanks else literal(x, self.digits)

    def _factor(self, text: str) -> str:
        depth, outside = 0, ""
        for char in text:
            depth -= char == ")"
            outside += char if not depth else ""
            depth += char == "("
        loose = text.startswith("-") or re.search(r" [-+<>=!]|\b(if|and|or|not)\b", outside)
        return f"({text})" if loose else text

    def _pull(self, pull: AdjointStep) -> str:
        source, target = pull.source, pull.target
        sign = "+=" if pull.accumulates else "="
        local = f"d({source.name})/d({target.name})"
        if self.unicode:
            local = f"∂{self.name(source)}/∂{self.name(target)}"
        return f"{self.adjoint(target)} {sign} {self.adjoint(source)}{self.times}{local}"

    def _local(self, term: Term) -> str:
        return self._factor(self.text(term.formula) or self._in_formula(term.partial))

    def seeds(self, trace: Trace) -> list[tuple[str, str]]:
        """Return what the sweep starts from."""
        if trace.mode == "reverse":
            return [
                (
                    self.adjoint(
                        trace.adjoint_steps[0].source if trace.adjoint_steps else trace.rows[-1]
                    ),
                    "1",
                )
            ]
        variables = [row for row in trace.rows if row.kind == "variable"]
        tangents = [
            format_number(trace.direction.get(row.symbol, 0.0), self.digits) for row in variables
        ]
        return [*zip(map(self._tangent, variables), tangents, strict=True)]

    def primal_cells(self, row: TraceRow) -> Pieces:
        """Return a row of the primal trace: `v₂`, `x · y`, in numbers, its value."""
        numbers, value = "", format_number(row.value, self.digits)
        if row.formula:
            numbers = (
                BLANK if self.blanks else expression_text(in_numbers(row.graph, self._in_formula))
            )
            value = self.number(row.value)
        return (
            (self.name(row), "name"),
            (self.text(row.formula), "code"),
            (numbers, "code"),
            (value, "number"),
        )

    def adjoint_cells(self, pull: AdjointStep) -> Pieces:
        """Return a row of the adjoint trace."""
        local = self.text(pull.formula)
        if local in (format_number(pull.partial, self.digits), ""):
            local = self.number(pull.partial)
        upstream, partial = (
            self._factor(self._in_formula(x)) for x in (pull.upstream, pull.partial)
        )
        before = "" if pull.before is None else f"{self._in_formula(pull.before)} + "
        numbers = BLANK if self.blanks else f"{before}{upstream}{self.times}{partial}"
        step, total = self._pull(pull), self.number(pull.total)
        return (step, "code"), (local, "code"), (numbers, "number"), (total, "number")

    def tangent_cells(self, push: TangentStep) -> Pieces:
        """Return a row of the tangent trace: `v̇₂ = y · ẋ`, in numbers, its value."""
        terms, factors = [], []
        for term in push.terms:
            dot, tangent = self._tangent(term.source), self._factor(self._in_formula(term.tangent))
            one, partial = term.formula == "1", self._factor(self._in_formula(term.partial))
            terms.append(dot if one else f"{self._local(term)}{self.times}{dot}")
            factors.append(tangent if one else f"{partial}{self.times}{tangent}")
        step = f"{self._tangent(push.target)} = {' + '.join(terms) or '0'}"
        numbers = BLANK if self.blanks else " + ".join(factors) or "0"
        return (step, "code"), (numbers, "number"), (self.number(push.tangent), "number")

    def worked_solution(self, trace: Trace) -> Iterator[str]:
        """Yield the lines of a solution."""
        yield from map(_on_a_line, map(self.primal_cells, trace.rows))
        if trace.gradient or trace.mode == "forward":
            yield from map(" = ".join, self.seeds(trace))
        for pull in trace.adjoint_steps:
            numbers = (
                f"{self._factor(self._in_formula(pull.upstream))}{self.times}{self._local(pull)} = "
            )
            total = (
                f", {self.adjoint(pull.target)} is {self.number(pull.total)}"
                if pull.accumulates
                else ""
            )
            yield (
                f"{self._pull(pull)} ="
                f" {'' if self.blanks else numbers}{self.number(pull.product)}{total}"
            )
        yield from map(_on_a_line, map(self.tangent_cells, trace.tangent_steps))
        if trace.gradient:
            partials = {
                name: BLANK if self.blanks else word(x) for name, x in trace.gradient.items()
            }
            yield " ".join(["gradient:", *(f"{name}={x}" for name, x in partials.items())])
        if trace.mode == "forward":
            yield f"derivative: {BLANK if self.blanks else word(trace.tangent)}"
        for note in () if self.blanks else trace.notes:
            yield f"{note.kind}: {self.text(note.message)}"


def _on_a_line(cells: Pieces) -> str:
    return " = ".join(dict.fromkeys(text for text, _ in cells if text))


class TraceView(View[Trace], of=Trace):
    """How a trace is shown."""

    computed: ClassVar[Values] = {
        "primal.start": lambda row: row.span and row.span.start,
        "primal.end": lambda row: row.span and row.span.end,
        "adjoint": lambda answer: answer.adjoint_steps if answer.mode == "reverse" else None,
        "direction": lambda answer: answer.direction if answer.mode == "forward" else None,
        "tangent": lambda answer: answer.tangent_steps if answer.mode == "forward" else None,
    }

    unicode: bool = True
    steps: int = DEFAULT_LINES
    folded: bool = True
    """Whether tables fold long runs of rows at one place of the text."""
    blanks: bool = False

    def record(self, answer: Trace) -> dict[str, object]:
        record = super().record(answer)
        if unit_of(answer.value) is not None:
            before = {key: record[key] for key in ("value", "gradient", "point")}
            record = {**before, "units": _units(record), **record}
        return _blank(record) if self.blanks else record

    def one_line(self, answer: Trace) -> str:
        notation = Notation(answer.letter, self.unicode, self.digits, self.blanks)
        return "\n".join(notation.worked_solution(answer))

    def document(self, answer: Trace) -> Iterator[Block]:
        notation = Notation(answer.letter, self.unicode, self.digits, self.blanks)
        yield value_line("value", notation.number(answer.value))
        yield from input_lines(answer.constants, {}, (), self.digits)
        heads: tuple[str, ...] = ("forward primal trace", "operation", "in numbers", "value")
        rows = [_inputs_folded(row) for row in answer.rows] if self.folded else answer.rows
        yield from self._table("operations", heads, rows, notation.primal_cells)
        if answer.mode == "reverse":
            heads = ("reverse adjoint trace", "local derivative", "in numbers", "adjoint")
            seeds = notation.seeds(answer) if answer.adjoint_steps else []
            yield from self._table(
                "steps", heads, answer.adjoint_steps, notation.adjoint_cells, seeds
            )
            if answer.gradient:
                gradient = dict.fromkeys(answer.gradient, BLANK) if self.blanks else answer.gradient
                yield partials_table(answer.point, gradient, self.digits, shaped=not self.blanks)
            else:
                yield NO_VARIABLES
        else:
            heads = ("forward tangent trace", "in numbers", "tangent")
            seeds = notation.seeds(answer)
            yield from self._table(
                "steps", heads, answer.tangent_steps, notation.tangent_cells, seeds
            )
            speeds = {name: format_number(x, self.digits) for name, x in answer.direction.items()}
            direction = ", ".join(f"{name} = {x}" for name, x in speeds.items())
            along: Pieces = (
                ("derivative along (", "heading"),
                (direction, "name"),
                (") = ", "heading"),
            )
            yield Paragraph((*along, (notation.number(answer.tangent), "number")))
        notes = () if self.blanks else answer.notes
        for note in notes[: self.steps]:
            yield Paragraph(((f"{note.kind}: ", "faint"), *sentence(notation.text(note.message))))
        yield from _left_out("notes", len(notes), notes[: self.steps])

    def _table(
        self,
        what: str,
        heads: tuple[str, ...],
        items: Sequence[Any],
        cells: Callable[[Any], Pieces],
        seeds: Iterable[tuple[str, str]] = (),
    ) -> Iterator[Block]:
        shown = [*_runs_folded(items)] if self.folded else [*items]
        if len(shown) > self.steps:
            last = self.steps // 3
            shown = [*shown[: self.steps - last], None, *shown[len(shown) - last :]]
        last_column, blank = len(heads) - 1, (("", ""),)
        rows = [
            ((f"{left} = {x}", "code"), *blank * (last_column - 1), (x, "number"))
            for left, x in seeds
        ]
        rows += [
            (("...", "faint"),) * len(heads) if item is None else cells(item) for item in shown
        ]
        yield Table(
            heads, [tuple((cell,) for cell in row) for row in rows], frozenset((last_column,))
        )
        yield from _left_out(what, len(items), shown)

    def latex_document(self, answer: Trace) -> str:
        return page(answer, self.digits, self.blanks)


def _units(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: tree for key, x in value.items() if (tree := _units(x))}
    if isinstance(value, list):
        trees = [_units(x) or None for x in value]
        return trees if any(trees) else None
    return unit_text(unit_of(value))


def _inputs_folded(row: TraceRow) -> TraceRow:
    """Return a row that shows the first and the last of many inputs: `sum(v1, v2, …, v10000)`."""
    inputs = row.graph._prev
    if len(inputs) <= MAX_INPUTS_SHOWN:
        return row
    graph = node(row.graph.primitive, (*inputs[:2], variable("…"), inputs[-1]))
    return row._replace(graph=graph, formula=expression_text(graph))


def _runs_folded(items: Sequence[Any]) -> Iterator[Any]:
    def place(item: Any) -> tuple[object, str]:
        if not isinstance(item, TraceRow):
            item = item.source if isinstance(item, AdjointStep) else item.target
        return item.span, item.graph._op

    for (span, _), run in groupby(items, place):
        alike = [*run]
        yield from (
            [*alike[:2], None, alike[-1]] if span is not None and len(alike) > MANY_ALIKE else alike
        )


def _left_out(what: str, count: int, shown: Sequence[object]) -> Iterator[Paragraph]:
    left = count - sum(item is not None for item in shown)
    if left:
        message = f"{left:,} of {count:,} {what} left out; `--lines N` shows N, `--format json` all"
        yield Paragraph(((message, "faint"),))


def _blank(record: dict[str, Any]) -> dict[str, object]:
    def left_out(row: dict[str, Any]) -> dict[str, Any]:
        hidden = row.keys() & {"partial", "upstream", "product", "adjoint", "tangent"}
        if not re.search(r"[^\W\d]", row.get("formula") or "x"):
            hidden.add("formula")
        terms = {"terms": [left_out(term) for term in row["terms"]]} if "terms" in row else {}
        return row | dict.fromkeys(hidden) | terms

    blank = record | {"blanks": True, "value": None, "notes": [], "warnings": []}
    primal = [
        (row, {"adjoint"} if row["formula"] is None else {"adjoint", "value"})
        for row in record["primal"]
    ]
    blank["primal"] = [row | dict.fromkeys(hidden) for row, hidden in primal]
    blank["gradient"] = dict.fromkeys(record["gradient"])
    blank |= {
        key: [left_out(row) for row in record[key]]
        for key in record.keys() & {"adjoint", "tangent"}
    }
    return blank | dict.fromkeys(record.keys() & {"derivative"})
