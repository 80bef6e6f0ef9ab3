"""SQL as a target: one SELECT over a table of points, which runs in DuckDB and in SQLite."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..language.printer import ATOM, CHOICE, COMPARISON, PRODUCT, SUM, Item, assembled
from ..numbers.recorder import CONDITIONS, Step, always_defined
from ..table.names import by_name, native
from .python import named
from .target import Target, Unit, Written, call, comment_lines, words

LISTED = 40
"""Columns that a layer hands on by name."""

_WORD = re.compile(r"\w+")

KEYWORDS = words(
    "abort action add after all alter always analyse analyze and anti any array as asc asof asymmetric at attach "
    "authorization autoincrement before begin between binary both by cascade case cast check collate collation column "
    "commit concurrently conflict constraint create cross current current_date current_time current_timestamp "
    "database default deferrable deferred delete desc describe detach distinct do drop each else end escape except "
    "exclude exclusive exists explain fail false fetch filter first following for foreign freeze from full generated "
    "glob grant group groups having if ignore ilike immediate in index indexed initially inner insert instead "
    "intersect into is isnull join key lambda last lateral leading left like limit localtime localtimestamp match "
    "materialized natural no not nothing notnull null nulls of offset oid on only or order others outer over overlaps "
    "partition pivot pivot_longer pivot_wider placing plan points positional pragma preceding primary qualify query "
    "raise range recursive references regexp reindex release rename replace restrict returning right rollback row "
    "rowid rows savepoint select semi set show similar some summarize symmetric table tablesample temp temporary then "
    "ties to trailing transaction trigger true unbounded union unique unpack unpivot update user using vacuum value "
    "values variadic verbose view virtual when where window with without _rowid_"
)  # fmt: skip


class Sql(Target):
    """SQL: each layer of steps is a table expression over the one before."""

    name = "sql"
    title = "SQL"
    functions = False
    branches = False
    infix = Target.infix | by_name(
        {
            "eq": (" = ", COMPARISON, SUM, SUM),
            "ne": (" <> ", COMPARISON, SUM, SUM),
            "or_": (" OR ", *Target.infix["or_"][1:]),
            "and_": (" AND ", *Target.infix["and_"][1:]),
        }
    )
    prefix = Target.prefix | by_name({"not_": ("NOT ", *Target.prefix["not_"][1:])})
    reserved = KEYWORDS

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "",
            native("sqrt exp asin acos atan atan2 asinh acosh atanh sin cos tan sinh cosh tanh floor ceil abs")
            | by_name({"log": "ln"}),
        ) | by_name({"where": self.choice, "pow": self.power})

    def number(self, value: float | bool) -> str:
        if isinstance(value, bool):
            return "(1 = 1)" if value else "(1 = 0)"
        if value != value:
            return "CAST(NULL AS DOUBLE)"
        text = repr(value)
        # Without an exponent it would be a decimal number, of few digits, in DuckDB.
        return text if "e" in text else f"{text}e0"

    def usable(self, name: str) -> bool:
        return super().usable(name) and name.lower() not in self.reserved and not name.lower().startswith("d_")

    def same(self, name: str) -> str:
        # Columns have no upper and lower case.
        return name.lower()

    def choice(self, args: tuple[Step, ...]) -> Written:
        """`CASE WHEN c THEN x ELSE y END`."""
        condition, x, y = args
        return ATOM, ["CASE WHEN ", (condition, CHOICE), " THEN ", (x, CHOICE), " ELSE ", (y, CHOICE), " END"]

    def power(self, args: tuple[Step, ...]) -> Written:
        """`pow(x, y)`, a square as a product."""
        x, y = args
        if y.name == "number" and y.data == 2:
            return PRODUCT, [(x, ATOM), "*", (x, ATOM)]
        return call("pow", x, y)

    def operation(self, step: Step) -> Written:
        level, parts = super().operation(step)
        if step.name in CONDITIONS:
            return ATOM, ["(", *parts, ")"]
        return level, parts

    def column(self, step: Step) -> str:
        """The expression of a step: nothing where no branch needs it."""
        text = self.text(step)
        if step.name in CONDITIONS and step.name != "not_":
            text = text[1:-1]
        guard = self.guard(step) if self.may_fail(step) else []
        if not guard:
            return text
        # Some databases stop at a logarithm of a negative number, even at one that nobody asks for.
        needed = "".join(item if isinstance(item, str) else assembled(item[0], self.parts, item[1]) for item in guard)
        return f"CASE WHEN {needed} THEN {text} END"

    def may_fail(self, step: Step) -> bool:
        """Whether what is written for a step is undefined for some numbers; CASE leaves its other branch alone."""
        inside = step.args[:1] if step.name == "where" else step.args
        return not (step.name == "where" or always_defined(step.name, step.args)) or any(
            a.args and a not in self.names and self.may_fail(a) for a in inside
        )

    def guard(self, step: Step) -> list[Item]:
        """The condition under which a step is needed; nothing if it always is."""
        parts: list[Item] = []
        for branch in self.guards.get(step, ()):
            line = branch.line()
            if not line:
                return []
            parts += [" OR "] if parts else []
            for k, part in enumerate(line):
                assert part.condition is not None
                parts += [" AND "] if k else []
                parts += [] if part.holds else ["NOT "]
                parts.append((part.condition, ATOM))
        return parts

    def module(self, unit: Unit) -> str:
        """The statement."""
        columns = self.spelled(unit.variables)
        lines = [
            "-- Written by autodiff from this program:",
            *[f"--     {x}".rstrip() for x in comment_lines(unit.text)],
        ]
        lines.append(f"-- `points` is a table with the columns {', '.join(columns.values()) or '(none are needed)'}.")
        lines += [
            f"-- `{new}` is the variable `{' '.join(comment_lines(old))}`."
            for old, new in columns.items()
            if old != new
        ]
        for step in unit.recording.recorder.steps:
            if step.name == "input":
                self.names[step] = list(columns.values())[step.data]
        results = (*unit.recording.values, *unit.recording.partials)
        layers = [
            {name: self.column(step) + self.note(unit, step) for step, name in rows}
            for rows in self.layers(unit, results)
        ]
        shown = [*columns.values(), f"{assembled(results[0], self.parts)} AS value"]
        shown += [
            f"{assembled(step, self.parts)} AS d_{columns.get(name) or f'unused{k}'}"
            for k, (name, step) in enumerate(zip(unit.wanted, results[1:], strict=True))
        ]
        lines += self.tables(list(columns.values()), layers, shown)
        source = f"ad_s{len(layers)}" if layers else "points"
        return "\n".join([*lines, "SELECT " + ", ".join(shown), f"FROM {source}"]) + ";\n"

    def layers(self, unit: Unit, results: tuple[Step, ...]) -> Iterator[list[tuple[Step, str]]]:
        """The steps that get a column, with its name: each in a layer above what it is computed from.

        The names of a layer are known to `names` once the next one is asked for.
        """
        plan = self.plan(unit.recording)
        hidden = self.inlined(plan, results, unit.labels)
        hidden -= {condition for step in self.guards for condition in self.conditions_of(step)}
        found: list[list[tuple[Step, str]]] = []
        height: dict[Step, int] = {}
        count = 0
        for step in [task.step for task in plan.tasks]:
            height[step] = max([height.get(a, 0) for a in (*step.args, *self.conditions_of(step))], default=0)
            if step not in hidden:
                count += 1
                height[step] += 1
                found += [[] for _ in range(height[step] - len(found))]
                found[height[step] - 1].append((step, f"ad_{self.stem}{count}"))
        for rows in found:
            yield rows
            self.names.update(rows)

    def tables(self, columns: list[str], layers: list[dict[str, str]], shown: list[str]) -> Iterator[str]:
        """The table expressions, a layer each; a column is there as long as something needs it."""
        last = {name: len(layers) for text in shown for name in _WORD.findall(text)}
        for k in range(len(layers) - 1, -1, -1):
            for text in layers[k].values():
                for name in _WORD.findall(text):
                    last.setdefault(name, k)
        source, there = "points", columns
        for k, layer in enumerate(layers):
            needed = [name for name in there if last.get(name, -1) > k]
            # The text stays in proportion to the program: many columns are handed on together.
            there, carried = (needed, needed) if len(needed) <= LISTED else (there, ["*"])
            yield f"{'' if k else 'WITH '}ad_s{k + 1} AS MATERIALIZED ("
            yield "    SELECT " + ", ".join([*carried, *[f"{text} AS {name}" for name, text in layer.items()]])
            yield f"    FROM {source}"
            yield ")" if k == len(layers) - 1 else "),"
            source, there = f"ad_s{k + 1}", [*there, *layer]

    def note(self, unit: Unit, step: Step) -> str:
        """The program's own name for a step, as a comment."""
        label = unit.labels.get(step)
        return f" /* {label} */" if label and label.isascii() else ""
