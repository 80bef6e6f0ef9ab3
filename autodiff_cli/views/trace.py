"""A Trace in every form: as a record, as a worked solution line by line, and as tables for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..derivatives.graph import MANY_ALIKE
from ..derivatives.trace import AdjointStep, TangentStep, Trace, TraceRow
from ..language.printer import expression_text
from .characters import Style
from .document import (
    NO_VARIABLES,
    Block,
    Line,
    Table,
    circumstances,
    measured,
    partials_table,
    sentence,
    stated,
)
from .schema import View, declared, unit_text, words
from .tex import in_numbers, literal, page, unit_of

if TYPE_CHECKING:
    from ..quantities.unit import Unit

STEPS = 60
"""As many lines of a trace a table shows, unless asked for others."""

BLANK = "______"
"""The placeholder for a number to be filled in."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LETTER = re.compile(r"[^\W\d](_?[\d₀-₉]+)?")
"""A name of one letter, an index after it at most."""

Item = TypeVar("Item")


class Named(Protocol):
    """Nodes with a name, of the program or given here."""

    @property
    def name(self) -> str: ...
    @property
    def numbered(self) -> bool: ...


class Names:
    """How nodes are called: `v₁`, `x̄`, or in ASCII `v1`, `adj(x)`. `letter` is that of numbered nodes."""

    def __init__(self, letter: str, unicode: bool, digits: int | None, blanks: bool = False) -> None:
        self.letter, self.unicode, self.digits, self.blanks = letter, unicode, digits, blanks
        self.times = " · " if unicode else " * "
        self._numbered = re.compile(rf"\b{letter}(\d+)\b")

    def name(self, row: Named) -> str:
        """Return the name of the node."""
        if row.numbered and self.unicode:
            return self.letter + row.name[len(self.letter) :].translate(_SUBSCRIPTS)
        return row.name

    def text(self, text: str) -> str:
        """A formula or sentence, the names in it written alike."""
        if not self.unicode:
            return text
        return self._numbered.sub(lambda match: self.letter + match[1].translate(_SUBSCRIPTS), text)

    def adjoint(self, row: Named) -> str:
        """The node's name with a bar, over all of a long name."""
        stem, mark, again = row.name.partition("[")
        if row.numbered or _LETTER.fullmatch(stem) or not self.unicode:
            return self._accented(row, "\u0304", "adj")
        return "".join(char + "\u0305" for char in stem) + mark + again

    def tangent(self, row: Named) -> str:
        """The node's name with a dot."""
        return self._accented(row, "\u0307", "dot")

    def _accented(self, row: Named, accent: str, word: str) -> str:
        name = self.name(row)
        return name[0] + accent + name[1:] if self.unicode else f"{word}({name})"

    def derivative(self, row: Named, by: Named) -> str:
        """∂ of one node by another."""
        if self.unicode:
            return f"∂{self.name(row)}/∂{self.name(by)}"
        return f"d({row.name})/d({by.name})"

    def number(self, x: float | bool | None) -> str:
        """A number to so many digits, or a blank."""
        return BLANK if self.blanks else self.numeral(x)

    def numeral(self, x: float | bool | None) -> str:
        """A number that is there from the start."""
        return measured(x, unit_of(x), self.digits)

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
        """A local derivative as a formula, or as a number where there is no formula short enough."""
        return self.text(text) or self.in_formula(number)

    def push(self, push: TangentStep) -> tuple[str, str]:
        """`v̇₂ = y · ẋ + x · ẏ`, and the same in numbers."""
        terms, numbers = [], []
        for term in push.terms:
            dot = self.tangent(self.trace.rows[term.source])
            one = term.formula == "1"
            terms.append(dot if one else f"{self.factor(self.formula(term.formula, term.partial))}{self.times}{dot}")
            partial, tangent = (self.factor(self.in_formula(x)) for x in (term.partial, term.tangent))
            numbers.append(tangent if one else f"{partial}{self.times}{tangent}")
        left = self.tangent(self.trace.rows[push.target])
        return f"{left} = {' + '.join(terms) or '0'}", BLANK if self.blanks else " + ".join(numbers) or "0"


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
    """Return the function `value` of traces in a mode, which has None for other traces."""
    return lambda answer: value(answer) if answer.mode == mode else None


def _primal_values(answer: Trace, k: int, row: TraceRow) -> tuple[object, ...]:
    formula = row.formula if row.graph._prev else None
    adjoint = answer.adjoints[k] if answer.adjoints else None
    return row.name, row.kind, row.symbol or None, formula, row.inputs, row.value, adjoint, *(row.span or (None, None))


def _pull_values(answer: Trace) -> list[tuple[object, ...]]:
    rows = answer.rows
    return [
        (
            rows[pull.source].name,
            rows[pull.target].name,
            pull.formula or None,
            pull.partial,
            pull.upstream,
            pull.product,
            pull.accumulates,
            pull.total,
        )
        for pull in answer.pulls
    ]


def _push_values(answer: Trace) -> list[tuple[object, ...]]:
    rows = answer.rows
    return [
        (
            rows[push.target].name,
            [(rows[term.source].name, term.formula or None, term.partial, term.tangent) for term in push.terms],
            push.tangent,
        )
        for push in answer.pushes
    ]


class TraceView(View[Trace]):
    """How a trace is shown."""

    fields = declared(
        "trace",
        {
            "primal": lambda answer: [_primal_values(answer, k, row) for k, row in enumerate(answer.rows)],
            "adjoint": _in_mode("reverse", _pull_values),
            "direction": _in_mode("forward", lambda answer: answer.direction),
            "derivative": _in_mode("forward", lambda answer: answer.tangent),
            "tangent": _in_mode("forward", _push_values),
        },
    ).fields

    unicode: bool = True
    """Whether letters beyond ASCII are shown."""
    steps: int = STEPS
    """How many rows tables have."""
    folded: bool = True
    """Whether tables leave out rows of long runs at one place of the text, which lists are unrolled to."""
    blanks: bool = False
    """Whether the numbers that are to be found are left out, and what is said of them."""

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
        yield _primal(answer, notation, rows := self._cut(answer, answer.rows))
        yield from _left_out("operations", len(answer.rows), rows)
        if answer.mode == "reverse":
            yield _reverse(answer, notation, pulls := self._cut(answer, answer.pulls))
            yield from _left_out("steps", len(answer.pulls), pulls)
            if answer.gradient:
                units = _gradient_units(answer) if answer.has_units else None
                table = partials_table(answer.point, answer.gradient, self.digits, units=units, shaped=not self.blanks)
                yield (table._replace(rows=[(*row[:-1], BLANK) for row in table.rows]) if self.blanks else table)
            else:
                yield NO_VARIABLES
        else:
            yield _tangent(answer, notation, pushes := self._cut(answer, answer.pushes))
            yield from _left_out("steps", len(answer.pushes), pushes)
            direction = ", ".join(f"{name} = {notation.numeral(x)}" for name, x in answer.direction.items())
            yield Line(
                (
                    ("derivative along (", "heading"),
                    (direction, "name"),
                    (") = ", "heading"),
                    (notation.number(answer.tangent), "number"),
                )
            )
        for note in () if self.blanks else answer.notes[: self.steps]:
            yield Line(((f"{note.kind}: ", "faint"), *sentence(notation.text(note.message))))
        if not self.blanks:
            yield from _left_out("notes", len(answer.notes), answer.notes[: self.steps])

    def _cut(self, answer: Trace, items: Sequence[Item]) -> Sequence[Item | None]:
        """The items that a table has, and None where others are left out."""
        items = [*_runs_folded(answer, items)] if self.folded else items
        return [*_ends(items, self.steps)]

    def latex_document(self, answer: Trace) -> str:
        return page(answer, self.digits, self.blanks)

    def _notation(self, answer: Trace) -> Notation:
        return Notation(answer, self.unicode, self.digits, self.blanks)


def _units(value: Any) -> Any:
    """Return the units of the numbers in a record, in its shape; None where there is none."""
    if isinstance(value, dict):
        return {key: tree for key, x in value.items() if (tree := _units(x))} or None
    if isinstance(value, list):
        trees = [_units(x) for x in value]
        return trees if any(trees) else None
    return unit_text(unit_of(value))


def _gradient_units(answer: Trace) -> dict[str, dict[str, Unit]]:
    return {key: {n: x.unit for n, x in getattr(answer, key).items()} for key in ("point", "gradient")}


def worked_solution(answer: Trace, notation: Notation) -> Iterator[str]:
    """The trace as lines of a solution worked by hand."""
    for row in answer.rows:
        value = notation.value(row)
        formula = notation.text(row.formula) if row.graph._prev else value
        yield " = ".join(dict.fromkeys((notation.name(row), formula, notation.numbers(row) or value, value)))
    if answer.mode == "reverse":
        if answer.gradient:
            output = answer.rows[answer.pulls[0].source] if answer.pulls else answer.rows[-1]
            yield f"{notation.adjoint(output)} = 1"
        for pull in answer.pulls:
            formula = notation.factor(notation.formula(pull.formula, pull.partial))
            line = f"{notation.pull(pull)} = "
            if not notation.blanks:
                line += f"{notation.factor(notation.in_formula(pull.upstream))}{notation.times}{formula} = "
            line += notation.number(pull.product)
            if pull.accumulates:
                line += f", {notation.adjoint(answer.rows[pull.target])} is {notation.number(pull.total)}"
            yield line
        if answer.gradient:
            lines_of = {
                name: BLANK if notation.blanks else next(words(partial, unit_of(partial)))
                for name, partial in answer.gradient.items()
            }
            yield "gradient: " + " ".join(f"{name}={partial}" for name, partial in lines_of.items())
    else:
        for row in answer.rows:
            if row.kind == "variable":
                yield f"{notation.tangent(row)} = {notation.numeral(answer.direction.get(row.symbol, 0.0))}"
        for push in answer.pushes:
            step, numbers = notation.push(push)
            yield " = ".join(dict.fromkeys((step, numbers, notation.number(push.tangent))))
        yield f"derivative: {BLANK if notation.blanks else next(words(answer.tangent, unit_of(answer.tangent)))}"
    for note in () if notation.blanks else answer.notes:
        yield f"{note.kind}: {notation.text(note.message)}"


# ---- tables -------------------------------------------------------------------------------------------------------
def _table(
    heads: tuple[str, ...],
    items: Sequence[Item | None],
    cells: Callable[[Item], Iterable[tuple[str, Style]]],
    first: Iterable[Iterable[tuple[str, Style]]] = (),
) -> Table:
    """A table of steps, a row each after some rows of another kind, and dots for what is left out."""
    dots: tuple[tuple[str, Style], ...] = (("...", "faint"),) * len(heads)
    rows = [*first, *(dots if item is None else cells(item) for item in items)]
    return Table(heads, [tuple((cell,) for cell in row) for row in rows], frozenset((len(heads) - 1,)))


def _primal(answer: Trace, notation: Notation, rows: Sequence[TraceRow | None]) -> Table:
    def cells(row: TraceRow) -> Iterator[tuple[str, Style]]:
        yield notation.name(row), "name"
        yield notation.text(row.formula) if row.graph._prev else "", "code"
        yield notation.numbers(row), "code"
        yield notation.value(row), "number"

    return _table(("forward primal trace", "operation", "in numbers", "value"), rows, cells)


def _reverse(answer: Trace, notation: Notation, pulls: Sequence[AdjointStep | None]) -> Table:
    def cells(pull: AdjointStep) -> Iterator[tuple[str, Style]]:
        formula, partial = notation.text(pull.formula), notation.number(pull.partial)
        yield notation.pull(pull), "code"
        yield (partial if formula in (notation.numeral(pull.partial), "") else formula), "code"
        if notation.blanks:
            yield from ((BLANK, "number"), (BLANK, "number"))
            return
        upstream, factor = notation.in_formula(pull.upstream), notation.in_formula(pull.partial)
        product = f"{notation.factor(upstream)}{notation.times}{notation.factor(factor)}"
        yield product if pull.before is None else f"{notation.in_formula(pull.before)} + {product}", "number"
        yield notation.number(pull.total), "number"

    heads = ("reverse adjoint trace", "local derivative", "in numbers", "adjoint")
    seed: list[tuple[tuple[str, Style], ...]] = []
    if answer.pulls:
        source = notation.adjoint(answer.rows[answer.pulls[0].source])
        seed.append(((f"{source} = 1", "code"), ("", ""), ("", ""), ("1", "number")))
    return _table(heads, pulls, cells, seed)


def _tangent(answer: Trace, notation: Notation, pushes: Sequence[TangentStep | None]) -> Table:
    def cells(push: TangentStep) -> Iterator[tuple[str, Style]]:
        step, numbers = notation.push(push)
        yield step, "code"
        yield numbers, "number"
        yield notation.number(push.tangent), "number"

    seeds: list[tuple[tuple[str, Style], ...]] = []
    for row in answer.rows:
        if row.kind == "variable":
            speed = notation.numeral(answer.direction.get(row.symbol, 0.0))
            seeds.append(((f"{notation.tangent(row)} = {speed}", "code"), ("", ""), (speed, "number")))
    return _table(("forward tangent trace", "in numbers", "tangent"), pushes, cells, seeds)


def _runs_folded(answer: Trace, items: Sequence[Any]) -> Iterator[Any]:
    """The items; of a long run at one place of the text the first two and the last, and None between them."""

    def place(item: Any) -> tuple[object, str]:
        if isinstance(item, TraceRow):
            return item.span, item.graph._op
        row = answer.rows[item.source if isinstance(item, AdjointStep) else item.target]
        return row.span, row.graph._op

    for (span, _), run in groupby(items, place):
        alike = [*run]
        yield from [*alike[:2], None, alike[-1]] if span is not None and len(alike) > MANY_ALIKE else alike


def _ends(items: Sequence[Item], steps: int) -> Iterator[Item | None]:
    """The items; of too many, the first and the last, and None between them."""
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
    """The record without the numbers that are to be found."""
    steps = {"partial": None, "upstream": None, "product": None, "adjoint": None, "tangent": None}

    def left_out(row: dict[str, Any]) -> dict[str, Any]:
        formula = row.get("formula")
        numeral = {"formula": None} if isinstance(formula, str) and not re.search(r"[^\W\d]", formula) else {}
        return row | {name: None for name in steps if name in row} | numeral

    blank = record | {"blanks": True, "value": None, "notes": [], "warnings": []}
    blank["primal"] = [
        row | ({} if row["formula"] is None else {"value": None}) | {"adjoint": None} for row in record["primal"]
    ]
    blank["gradient"] = dict.fromkeys(record["gradient"])
    if "adjoint" in record:
        blank["adjoint"] = [left_out(row) for row in record["adjoint"]]
    else:
        blank["derivative"] = None
        blank["tangent"] = [
            left_out(row) | {"terms": [left_out(term) for term in row["terms"]]} for row in record["tangent"]
        ]
    return blank
