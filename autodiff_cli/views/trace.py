"""The view of a Trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from ..derivatives.graph import MANY_ALIKE
from ..derivatives.trace import AdjointStep, TangentStep, Trace, TraceRow
from ..language.printer import expression_text
from .document import NO_VARIABLES, Block, Line, Pieces, Table, circumstances, partials_table, sentence, stated
from .numerals import format_number, literal, unit_of, unit_text, word
from .schema import View, declared
from .tex import in_numbers, page

if TYPE_CHECKING:
    from ..derivatives.page import Node

STEPS = 60
"""The default number of lines of a trace in a table."""

BLANK = "______"
"""The placeholder for a number to be filled in."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTER = re.compile(r"[^\W\d](_?[\d₀-₉]+)?")
"""A name of one letter, an index after it at most."""

Item = TypeVar("Item")


class Names:
    """How nodes are called: `v₁`, `x̄`, or in ASCII `v1`, `adj(x)`. `letter` is that of numbered nodes."""

    def __init__(self, letter: str, unicode: bool, digits: int | None, blanks: bool = False) -> None:
        self.letter, self.unicode, self.digits, self.blanks = letter, unicode, digits, blanks
        self.times = " · " if unicode else " * "
        self._numbered = re.compile(rf"\b{letter}(\d+)\b")

    def name(self, row: TraceRow | Node) -> str:
        if row.numbered and self.unicode:
            return self.letter + row.name[len(self.letter) :].translate(_SUBSCRIPTS)
        return row.name

    def text(self, text: str) -> str:
        """A formula or sentence, the names in it written alike."""
        if not self.unicode:
            return text
        return self._numbered.sub(lambda match: self.letter + match[1].translate(_SUBSCRIPTS), text)

    def adjoint(self, row: TraceRow | Node) -> str:
        """The node's name with a bar, over all of a long name."""
        stem, mark, again = row.name.partition("[")
        if row.numbered or _LETTER.fullmatch(stem) or not self.unicode:
            return self._accented(row, "\u0304", "adj")
        return "".join(char + "\u0305" for char in stem) + mark + again

    def tangent(self, row: TraceRow | Node) -> str:
        return self._accented(row, "\u0307", "dot")

    def _accented(self, row: TraceRow | Node, accent: str, word: str) -> str:
        name = self.name(row)
        return name[0] + accent + name[1:] if self.unicode else f"{word}({name})"

    def derivative(self, row: TraceRow | Node, by: TraceRow | Node) -> str:
        if self.unicode:
            return f"∂{self.name(row)}/∂{self.name(by)}"
        return f"d({row.name})/d({by.name})"

    def number(self, x: float | bool | None) -> str:
        """Return a number with the digits of the view, or a blank."""
        return BLANK if self.blanks else self.numeral(x)

    def numeral(self, x: float | bool | None) -> str:
        """A number that is there from the start."""
        return format_number(x, self.digits)

    def in_formula(self, x: float | bool | None) -> str:
        """A number as a formula has it: `1.5[kN]` with a unit; or a blank."""
        return BLANK if self.blanks else literal(x, self.digits)


class Notation(Names):
    """How the steps of a trace are written: `x̄ += v̄₁ · ∂v₁/∂x`, or in ASCII `adj(x) += adj(v1) * d(v1)/d(x)`."""

    def __init__(self, trace: Trace, unicode: bool, digits: int | None, blanks: bool = False) -> None:
        super().__init__(trace.letter, unicode, digits, blanks)
        self.trace = trace

    def factor(self, text: str) -> str:
        """The text, in parentheses where a product would take it apart."""
        loose = text.startswith("-") or re.search(r" [-+<>=!]|\b(if|and|or|not)\b", _outside_parentheses(text))
        return f"({text})" if loose else text

    def numbers(self, row: TraceRow) -> str:
        """The node's operation on the values of its inputs, empty where there is none."""
        if not row.graph._prev:
            return ""
        return BLANK if self.blanks else expression_text(in_numbers(row.graph, self.in_formula))

    def value(self, row: TraceRow) -> str:
        """The node's value, which is given where it is computed from nothing."""
        return self.number(row.value) if row.graph._prev else self.numeral(row.value)

    def pull(self, pull: AdjointStep) -> str:
        """`x̄ += v̄₁ · ∂v₁/∂x`."""
        source, target = self.trace.rows[pull.source], self.trace.rows[pull.target]
        sign = "+=" if pull.accumulates else "="
        return f"{self.adjoint(target)} {sign} {self.adjoint(source)}{self.times}{self.derivative(source, target)}"

    def formula(self, text: str, number: float) -> str:
        """A local derivative as a formula, or else as a number."""
        return self.text(text) or self.in_formula(number)

    def push(self, push: TangentStep) -> tuple[str, str]:
        """`v̇₂ = y · ẋ + x · ẏ`, and its value in numbers."""
        terms, numbers = [], []
        for term in push.terms:
            dot = self.tangent(self.trace.rows[term.source])
            one = term.formula == "1"
            terms.append(dot if one else f"{self.factor(self.formula(term.formula, term.partial))}{self.times}{dot}")
            partial, tangent = (self.factor(self.in_formula(x)) for x in (term.partial, term.tangent))
            numbers.append(tangent if one else f"{partial}{self.times}{tangent}")
        left = self.tangent(self.trace.rows[push.target])
        return f"{left} = {' + '.join(terms) or '0'}", BLANK if self.blanks else " + ".join(numbers) or "0"

    def seeds(self) -> list[tuple[str, str]]:
        """The adjoint of the output, or the tangents of the variables."""
        trace = self.trace
        if trace.mode == "reverse":
            return [(self.adjoint(trace.rows[trace.pulls[0].source if trace.pulls else -1]), "1")]
        variables = [row for row in trace.rows if row.kind == "variable"]
        return [(self.tangent(row), self.numeral(trace.direction.get(row.symbol, 0.0))) for row in variables]

    def primal_cells(self, row: TraceRow) -> Pieces:
        """The row of a node in the table of the primal trace."""
        formula = self.text(row.formula) if row.graph._prev else ""
        return (self.name(row), "name"), (formula, "code"), (self.numbers(row), "code"), (self.value(row), "number")

    def adjoint_cells(self, pull: AdjointStep) -> Pieces:
        """The row of a step in the table of the adjoint trace."""
        local = self.text(pull.formula)
        if local in (self.numeral(pull.partial), ""):
            local = self.number(pull.partial)
        upstream, factor = self.in_formula(pull.upstream), self.in_formula(pull.partial)
        numbers = f"{self.factor(upstream)}{self.times}{self.factor(factor)}"
        if self.blanks:
            numbers = BLANK
        elif pull.before is not None:
            numbers = f"{self.in_formula(pull.before)} + {numbers}"
        return (self.pull(pull), "code"), (local, "code"), (numbers, "number"), (self.number(pull.total), "number")

    def tangent_cells(self, push: TangentStep) -> Pieces:
        """The row of a step in the table of the tangent trace."""
        step, numbers = self.push(push)
        return (step, "code"), (numbers, "number"), (self.number(push.tangent), "number")


def _outside_parentheses(text: str) -> str:
    depth = 0
    kept = []
    for char in text:
        depth -= char == ")"
        if not depth:
            kept.append(char)
        depth += char == "("
    return "".join(kept)


# ---- records ------------------------------------------------------------------------------------------------------
def _in_mode(mode: str, value: Callable[[Trace], object]) -> Callable[[Trace], object]:
    return lambda answer: value(answer) if answer.mode == mode else None


def _primal_values(answer: Trace, k: int, row: TraceRow) -> tuple[object, ...]:
    formula = row.formula if row.graph._prev else None
    adjoint = answer.adjoints[k] if answer.adjoints else None
    return row.name, row.kind, row.symbol or None, formula, row.inputs, row.value, adjoint, *(row.span or (None, None))


def _pull_values(answer: Trace, pull: AdjointStep) -> tuple[object, ...]:
    ends = answer.rows[pull.source].name, answer.rows[pull.target].name
    return *ends, pull.formula or None, pull.partial, pull.upstream, pull.product, pull.accumulates, pull.total


def _push_values(answer: Trace, push: TangentStep) -> tuple[object, ...]:
    rows = answer.rows
    terms = [(rows[term.source].name, term.formula or None, term.partial, term.tangent) for term in push.terms]
    return rows[push.target].name, terms, push.tangent


class TraceView(View[Trace]):
    """How a trace is shown."""

    fields = declared(
        "trace",
        {
            "primal": lambda answer: [_primal_values(answer, k, row) for k, row in enumerate(answer.rows)],
            "adjoint": _in_mode("reverse", lambda answer: [_pull_values(answer, pull) for pull in answer.pulls]),
            "direction": _in_mode("forward", lambda answer: answer.direction),
            "derivative": _in_mode("forward", lambda answer: answer.tangent),
            "tangent": _in_mode("forward", lambda answer: [_push_values(answer, push) for push in answer.pushes]),
        },
    ).fields

    unicode: bool = True
    """Whether the output may have characters outside ASCII."""
    steps: int = STEPS
    """How many rows tables have."""
    folded: bool = True
    """Whether tables fold long runs of rows at one place of the text."""
    blanks: bool = False
    """Whether numbers are left out, to be filled in."""

    def record(self, answer: Trace) -> dict[str, object]:
        record = super().record(answer)
        if answer.has_units:
            units = {key: tree for key, x in record.items() if (tree := _units(x))}
            before = {key: record.pop(key) for key in ("value", "gradient", "point")}
            record = {**before, "units": units, **record}
        return _blank(record) if self.blanks else record

    def one_line(self, answer: Trace) -> str:
        return "\n".join(worked_solution(answer, self._notation(answer)))

    def document(self, answer: Trace) -> Iterator[Block]:
        notation = self._notation(answer)
        yield stated("value", notation.number(answer.value))
        yield from circumstances(answer.constants, {}, (), self.digits)
        heads: tuple[str, ...] = ("forward primal trace", "operation", "in numbers", "value")
        yield from self._table(answer, "operations", heads, answer.rows, notation.primal_cells)
        if answer.mode == "reverse":
            heads = ("reverse adjoint trace", "local derivative", "in numbers", "adjoint")
            seeds = notation.seeds() if answer.pulls else []
            yield from self._table(answer, "steps", heads, answer.pulls, notation.adjoint_cells, seeds)
            if answer.gradient:
                table = partials_table(answer.point, answer.gradient, self.digits, shaped=not self.blanks)
                yield (table._replace(rows=[(*row[:-1], BLANK) for row in table.rows]) if self.blanks else table)
            else:
                yield NO_VARIABLES
        else:
            heads = ("forward tangent trace", "in numbers", "tangent")
            yield from self._table(answer, "steps", heads, answer.pushes, notation.tangent_cells, notation.seeds())
            direction = ", ".join(f"{name} = {notation.numeral(x)}" for name, x in answer.direction.items())
            along: Pieces = (("derivative along (", "heading"), (direction, "name"), (") = ", "heading"))
            yield Line((*along, (notation.number(answer.tangent), "number")))
        notes = () if self.blanks else answer.notes
        for note in notes[: self.steps]:
            yield Line(((f"{note.kind}: ", "faint"), *sentence(notation.text(note.message))))
        yield from _left_out("notes", len(notes), notes[: self.steps])

    def _table(
        self,
        answer: Trace,
        what: str,
        heads: tuple[str, ...],
        items: Sequence[Item],
        cells: Callable[[Item], Pieces],
        seeds: Iterable[tuple[str, str]] = (),
    ) -> Iterator[Block]:
        shown = [*_ends([*_runs_folded(answer, items)] if self.folded else items, self.steps)]
        dots: Pieces = (("...", "faint"),)
        blank: Pieces = (("", ""),)
        rows = [
            ((f"{name} = {number}", "code"), *blank * (len(heads) - 2), (number, "number")) for name, number in seeds
        ]
        rows += [dots * len(heads) if item is None else cells(item) for item in shown]
        yield Table(heads, [tuple((cell,) for cell in row) for row in rows], frozenset((len(heads) - 1,)))
        yield from _left_out(what, len(items), shown)

    def latex_document(self, answer: Trace) -> str:
        return page(answer, self.digits, self.blanks)

    def _notation(self, answer: Trace) -> Notation:
        return Notation(answer, self.unicode, self.digits, self.blanks)


def _units(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: tree for key, x in value.items() if (tree := _units(x))} or None
    if isinstance(value, list):
        trees = [_units(x) for x in value]
        return trees if any(trees) else None
    return unit_text(unit_of(value))


def worked_solution(answer: Trace, notation: Notation) -> Iterator[str]:
    """The trace as lines of a solution worked by hand."""
    for row in answer.rows:
        value = notation.value(row)
        formula = notation.text(row.formula) if row.graph._prev else value
        yield " = ".join(dict.fromkeys((notation.name(row), formula, notation.numbers(row) or value, value)))
    if answer.mode == "reverse":
        if answer.gradient:
            yield from map(" = ".join, notation.seeds())
        for pull in answer.pulls:
            formula = notation.factor(notation.formula(pull.formula, pull.partial))
            upstream = f"{notation.factor(notation.in_formula(pull.upstream))}{notation.times}{formula} = "
            line = f"{notation.pull(pull)} = {'' if notation.blanks else upstream}{notation.number(pull.product)}"
            if pull.accumulates:
                line += f", {notation.adjoint(answer.rows[pull.target])} is {notation.number(pull.total)}"
            yield line
        if answer.gradient:
            partials = {name: BLANK if notation.blanks else word(x) for name, x in answer.gradient.items()}
            yield "gradient: " + " ".join(f"{name}={partial}" for name, partial in partials.items())
    else:
        yield from map(" = ".join, notation.seeds())
        for push in answer.pushes:
            yield " = ".join(dict.fromkeys((*notation.push(push), notation.number(push.tangent))))
        yield f"derivative: {BLANK if notation.blanks else word(answer.tangent)}"
    for note in () if notation.blanks else answer.notes:
        yield f"{note.kind}: {notation.text(note.message)}"


def _runs_folded(answer: Trace, items: Sequence[Any]) -> Iterator[Any]:
    def place(item: Any) -> tuple[object, str]:
        row = item if isinstance(item, TraceRow) else None
        row = row or answer.rows[item.source if isinstance(item, AdjointStep) else item.target]
        return row.span, row.graph._op

    for (span, _), run in groupby(items, place):
        alike = [*run]
        yield from [*alike[:2], None, alike[-1]] if span is not None and len(alike) > MANY_ALIKE else alike


def _ends(items: Sequence[Item], steps: int) -> Iterator[Item | None]:
    if len(items) <= steps:
        yield from items
        return
    last = steps // 3
    yield from items[: steps - last]
    yield None
    yield from items[len(items) - last :]


def _left_out(what: str, count: int, shown: Sequence[object]) -> Iterator[Line]:
    left = count - sum(item is not None for item in shown)
    if left:
        message = f"{left:,} of {count:,} {what} left out; `--lines N` shows N, `--format json` all"
        yield Line(((message, "faint"),))


def _blank(record: dict[str, Any]) -> dict[str, object]:

    def left_out(row: dict[str, Any]) -> dict[str, Any]:
        formula = row.get("formula")
        numeral = {"formula": None} if isinstance(formula, str) and not re.search(r"[^\W\d]", formula) else {}
        blank = {name: None for name in ("partial", "upstream", "product", "adjoint", "tangent") if name in row}
        terms = {"terms": [left_out(term) for term in row["terms"]]} if "terms" in row else {}
        return row | blank | numeral | terms

    blank = record | {"blanks": True, "value": None, "notes": [], "warnings": []}
    blank["primal"] = [
        row | ({} if row["formula"] is None else {"value": None}) | {"adjoint": None} for row in record["primal"]
    ]
    blank["gradient"] = dict.fromkeys(record["gradient"])
    blank |= {key: [left_out(row) for row in record[key]] for key in ("adjoint", "tangent") if key in record}
    return blank | ({"derivative": None} if "derivative" in record else {})
