"""SQL as a target: one SELECT over a table of points, in the dialect of a database."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..graphs.adjoint import Branch, column_names
from ..graphs.schedule import schedule
from ..language.printer import assembled
from ..numbers.recorder import CONDITIONS, Step, is_number
from ..run.sweep import domain_description
from ..table.names import by_name
from ..table.primitive import ATOM, CHOICE, COMPARISON, OPERATIONS, SUM, Primitive
from .dialects import MAX_DOUBLE, Dialect
from .target import OPERATORS, Target, Written, comment_lines, filled, needs, reserved_words

LISTED = 40
"""Columns that a layer hands on by name."""

NO_VALUE = "no value: not defined here, or a number is too large"
NO_DERIVATIVE = "derivative: infinite or not defined here, or too large"
"""The error of a row that has no answer although its inputs are numbers inside the domains."""

OUTSIDE = {">": "le", ">=": "lt", "<": "ge", "<=": "gt", "!=": "eq"}
"""The comparisons that a number outside a bound satisfies."""

QUOTED = 40
"""Characters of the program that a row quotes."""

SIZES: dict[str, Callable[..., float]] = by_name({
    "add": lambda x, y: x + y, "sub": lambda x, y: x + y, "mul": lambda x, y: x * y if x and y else 0.0,
    "neg": lambda x: x, "abs": lambda x: x,
})  # fmt: skip
"""How large a result can be, by how large the inputs can be."""

QUOTE = "'"
_COMMENT = re.compile(r"#[^\n\r\x85\u2028\u2029]*")
"""A comment in a program; nothing else has a `#`."""
_RESULT = re.compile(r"value\d*|d\d*_.*", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"\{(\d)\}")

LOGIC = by_name({
    "eq": ("{0} = {1}", COMPARISON, SUM, SUM), "ne": ("{0} <> {1}", COMPARISON, SUM, SUM),
    "or_": ("{0} OR {1}", *OPERATORS["or_"][1:]), "and_": ("{0} AND {1}", *OPERATORS["and_"][1:]),
    "not_": ("NOT {0}", *OPERATORS["not_"][1:]),
    "where": ("CASE WHEN {0} THEN {1} ELSE {2} END", ATOM, CHOICE, CHOICE, CHOICE),
})  # fmt: skip


class Sql(Target):
    """SQL: each layer of steps is a table expression over the one before."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__("sql")
        self.heading_lines = (f"Written by autodiff for {dialect.title}, from this program:",)
        self.dialect = dialect
        self.coarse = dialect.coarse
        self.sizes: dict[Step, float] = {}
        """Numbers that steps are never larger than."""
        self.forms = {**{name: name for name in dialect.templates}, **dialect.functions, **OPERATORS, **LOGIC}

    def _number(self, value: float | bool) -> str:
        if isinstance(value, bool):
            return "(1 = 1)" if value else "(1 = 0)"
        return f"CAST(NULL AS {self.dialect.double})" if value != value else self.dialect.number(value)

    def usable(self, name: str) -> bool:
        return super().usable(name) and name.lower() not in reserved_words("sql") and not _RESULT.fullmatch(name)

    def same(self, name: str) -> str:
        # Columns have no upper and lower case.
        return name.lower()

    def template(self, step: Step) -> str:
        """How the dialect writes an operation, with `{0}` for its first input; empty where that is the usual way."""
        name, args = step.name, step.args
        if name == "pow" and is_number(args[1], 2):
            name, args = "mul", (args[0], args[0])
        template = self.dialect.templates.get(name, "")
        if name in self.dialect.guarded:
            bounds = [(bound.relation, self._number(float(bound.end or 0))) for bound in OPERATIONS[name].bounds.bounds]
            inside = " AND ".join([f"{{0}} {relation} {end}" for relation, end in bounds])
            return f"{self.dialect.functions[name]}(CASE WHEN {inside} THEN {{0}} END)"
        sizes = [self.sizes.get(a, math.inf) for a in args]
        text = template if isinstance(template, str) else template(self.dialect, args, sizes)
        return text.replace("{1}", "{0}") if name != step.name else text

    def reads(self, step: Step) -> Iterable[Step]:
        text = self.template(step) if step.args else ""
        if text:
            return [step.args[int(place)] for place in _PLACE.findall(text)]
        return step.args[:1] * 2 if step.name == "pow" and is_number(step.args[1], 2) else step.args

    def operation(self, step: Step) -> Written:
        text = self.template(step) if step.args else ""
        if text:
            return ATOM, filled(text, step.args)
        level, parts = super().operation(step)
        if step.name in CONDITIONS:
            return ATOM, ["(", *parts, ")"]
        return level, parts

    def _renamed(self) -> list[str]:
        return [
            f"`points` is a table with the columns {', '.join(self.variables.values()) or '(none are needed)'}.",
            *super()._renamed(),
            "Where a row has no answer, the numbers are NULL and `error` says so; elsewhere `error` is NULL.",
        ]

    def _column(self, step: Step) -> str:
        text = self.text(step)
        return text[1:-1] if step.name in CONDITIONS and step.name != "not_" else text

    def lines(self) -> list[str]:
        unit, columns = self.unit, list(self.variables.values())
        for step in unit.recording.recorder.steps:
            self.sizes[step] = self.size(step)
        results = (*unit.recording.values, *unit.recording.partials)
        layers = [{name: self.input(name) for name in columns}] if columns else []
        for rows in self.layers(results):
            layers.append({name: self._column(step) + self._note(step) for step, name in rows})
        layers.append({"ad_ok": self.answered(columns, results)})
        by = [self.variables.get(name) or f"unused{k}" for k, name in enumerate(unit.wanted)]
        names = zip(results, column_names(len(unit.recording.values), by), strict=True)
        shown = [*columns, *[f"CASE WHEN ad_ok THEN {self._result(step)} END AS {name}" for step, name in names]]
        shown.append(self._error(columns))
        last = ["SELECT " + ", ".join(shown), f"FROM ad_s{len(layers)}{self.dialect.settings};"]
        return [*self.heading(), *self.tables(layers, shown), *last]

    def size(self, step: Step) -> float:
        """A number that the size of a step never exceeds; that of its inputs is known."""
        if step.name == "number":
            return abs(float(step.data))
        if step.name == "where":
            return max(self.sizes[a] for a in step.args[1:])
        if step.name == "sub" and step.args[0] is step.args[1]:
            return 0.0
        sizes = [self.sizes[a] for a in step.args]
        if step.name in SIZES:
            return SIZES[step.name](*sizes)
        values = re.fullmatch(r"[\[(](-?[\d.]+), (-?[\d.]+)[\])]", OPERATIONS[step.name].values) if step.args else None
        return max(abs(float(values[1])), abs(float(values[2]))) if values else math.inf

    def input(self, name: str) -> str:
        """A column of the points as a finite number; NULL where it is none."""
        column = self.dialect.cast.format(f"points.{name}")
        return f"CASE WHEN abs({column}) <= {self._number(MAX_DOUBLE)} THEN {column} END"

    def answered(self, columns: list[str], results: tuple[Step, ...]) -> str:
        """The condition that all columns are numbers, and all results are finite."""
        conditions = [f"{name} IS NOT NULL" for name in columns]
        for step in dict.fromkeys(results):
            if step.name != "number":
                conditions.append(f"abs({self._result(step)}) <= {self._number(MAX_DOUBLE)}")
            elif step.data != step.data:
                conditions.append(self._number(False))
        return " AND ".join(conditions) or self._number(True)

    def _error(self, columns: list[str]) -> str:
        reasons = [(f"{name} IS NULL", f"column {name}: no finite number") for name in columns]
        reasons += self.outside()
        reasons.append((self.answered([], self.unit.recording.values), NO_DERIVATIVE))
        cases = [f"WHEN {condition} THEN '{text.replace(QUOTE, 2 * QUOTE)}'" for condition, text in reasons]
        return f"CASE WHEN ad_ok THEN NULL {' '.join(cases)} ELSE '{NO_VALUE}' END AS error"

    def outside(self) -> Iterator[tuple[str, str]]:
        """For each operation of the program: the condition that its inputs are outside its domain, and what to say."""
        conditions: dict[str, str] = {}
        # Its derivatives may need an operation elsewhere, too.
        unit = self.unit
        of_values = replace(unit.recording, partials=(), adjoints=(), watched=(), edges=())
        needed = needs(schedule(of_values))
        graph, place = unit.recording.graph, unit.recording.place
        for i, step in sorted(place.items(), key=lambda item: item[1].index):
            primitive, span = graph.primitives[i], graph.span(i)
            inputs = [place.get(p) for p in graph.parents[i]]
            if primitive.total or not inputs or step not in needed or None in inputs:
                continue
            bad = self.outside_of(primitive, [a for a in inputs if a is not None])
            if bad is None:
                continue
            condition = assembled(bad, self.parts)
            taken = [self.taken(branch) for branch in needed[step]]
            if all(taken):
                condition += f" AND ({' OR '.join(taken)})" if len(taken) > 1 else f" AND {taken[0]}"
            text = unit.text[span.start : span.end] if span else primitive.written
            # a comment may have quotation marks and backslashes, which databases read in different ways
            text = " ".join(" ".join(comment_lines(_COMMENT.sub("", text))).split())
            text = text if len(text) <= QUOTED else f"{text[: QUOTED - 3]}..."
            if primitive.name == "div":
                reason = f"domain: division by zero in `{text}`"
            else:
                reason = f"domain: `{primitive.written}` is undefined in `{text}`; its domain: "
                reason += domain_description(primitive, len(inputs)).replace("…", "...")
            conditions.setdefault(condition, reason)
        return iter(conditions.items())

    def taken(self, branch: Branch) -> str:
        """The condition that a branch is taken; empty for the whole program."""
        return " AND ".join([f"({self.condition(condition)})" for condition in branch.line()])

    def outside_of(self, primitive: Primitive, inputs: list[Step]) -> Step | None:
        """The condition that inputs are outside the domain of an operation; None where the table cannot tell."""
        m = inputs[0].m
        bounds, whole, ordered = primitive.bounds
        conditions = [m.step("gt", inputs[i], inputs[k]) for i, k in ordered] if whole else []
        if primitive.name == "pow":
            x, y = inputs
            below, broken = m.step("lt", y, 0.0), m.step("ne", m.step("floor", y), y)
            for part, when in ((m.step("lt", x, 0.0), broken), (m.step("eq", x, 0.0), below)):
                if when.name != "number" or when.data:
                    conditions.append(m.step("and_", when, part))
        elif whole:
            for position, relation, end in bounds:
                a = inputs[position]
                if end is not None:
                    conditions.append(m.step(OUTSIDE[relation], a, float(end)))
                else:
                    conditions.append(m.step("and_", m.step("le", a, 0.0), m.step("eq", m.step("floor", a), a)))
        outside = None
        for condition in conditions:
            outside = condition if outside is None else m.step("or_", outside, condition)
        return None if outside is None or outside.name == "number" else outside

    def layers(self, results: tuple[Step, ...]) -> Iterator[list[tuple[Step, str]]]:
        """The steps that get a column, with its name: each in a layer above what it is computed from.

        The names of a layer are known to `names` once the next one is asked for.
        """
        plan = self.plan(self.unit.recording)
        hidden = self._inlined(plan, results, self.unit.labels)
        layers: list[list[tuple[Step, str]]] = []
        height: dict[Step, int] = {}
        count = 0
        for step in sorted([task.step for task in plan.tasks], key=lambda step: step.index):
            height[step] = max([height.get(a, 0) for a in step.args], default=0)
            if step not in hidden:
                count += 1
                height[step] += 1
                layers += [[] for _ in range(height[step] - len(layers))]
                layers[height[step] - 1].append((step, f"ad_{self.stem}{count}"))
        for rows in layers:
            yield rows
            self.names.update(rows)

    def tables(self, layers: list[dict[str, str]], shown: list[str]) -> Iterator[str]:
        """The table expressions, a layer each; a column is there as long as something needs it."""
        last = {name: len(layers) for text in shown for name in _WORD.findall(text)}
        for k in range(len(layers) - 1, -1, -1):
            for text in layers[k].values():
                for name in _WORD.findall(text):
                    last.setdefault(name, k)
        source, there = "points", list[str]()
        for k, layer in enumerate(layers):
            needed = [name for name in there if last.get(name, -1) > k]
            # The text stays in proportion to the program: many columns are handed on together.
            few = len(needed) <= max(LISTED, len(there) // 2)
            there, carried = (needed, needed) if few or not k else (there, ["*"])
            yield f"{'' if k else 'WITH '}ad_s{k + 1} {self.dialect.opening}"
            yield "    SELECT " + ", ".join([*carried, *[f"{text} AS {name}" for name, text in layer.items()]])
            yield f"    FROM {source}{self.dialect.fence}"
            yield ")" if k == len(layers) - 1 else "),"
            source, there = f"ad_s{k + 1}", [*there, *layer]

    def _note(self, step: Step) -> str:
        label = self.unit.labels.get(step)
        return f" /* {label} */" if label and label.isascii() else ""
