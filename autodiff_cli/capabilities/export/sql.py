"""SQL as a target: one SELECT over a table of points, in a database's dialect.

PostgreSQL ends a query at any operation that is undefined, too large or too small, Spark at a
division by 0.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...compiled.lowering import Lowering, showing_faults
from ...compiled.target import SourceUnit, Target, comment_lines, needs, reserved_words
from ...engine.graphs.adjoint import Branch, column_names, record_gradient, schedule
from ...engine.numbers.double.formulas import Lacking
from ...engine.numbers.recorder import CONDITIONS, Step, is_number
from ...engine.run.sweep import domain_description
from ...engine.table.primitive import ATOM, OPERATIONS, Primitive
from ...engine.table.primitives import by_name
from ...errors import ExpressionError, Span, usage_error
from ...language.builder import Program
from ...language.parser import syntax_tree
from ...language.printer import Written, assemble, fill_in
from ...questions.problem import explained, parse

# Returns how an operation is written, `{0}` for its first input, by its inputs.
Template = Callable[["Sql", Sequence[Step]], str]

MAX_DOUBLE = sys.float_info.max
# A number whose quotient by x, times x, does not overflow, however both are rounded.
QUOTIENT = MAX_DOUBLE * (1 - 2**-51)
MIN_DOUBLE = 5e-324

# Exponents between which exp is neither 0 nor too large, rounding included.
EXPONENTS = -745.13, 709.782712893


def _constant(args: Sequence[Step]) -> tuple[int, float] | None:
    return next(((k, float(a)) for k, a in enumerate(args) if a.name == "number"), None)


def _quotient(sql: Sql, args: Sequence[Step]) -> str:
    return (
        "({0}/{1})"
        if args[1].name == "number" and args[1].data
        else f"({{0}}/NULLIF({{1}}, {sql._number(0.0)}))"
    )


# ---- arithmetic that ends the query where a result overflows, or underflows to 0
def _check_sum(sign: str) -> Template:

    def template(sql: Sql, args: Sequence[Step]) -> str:
        plain = f"{{0}} {sign} {{1}}"
        constant = _constant(args)
        zeros = [a for a in args if a.name == "sub" and a.args[0] is a.args[1]]
        same = args[0] is args[1] and sign == "-"
        if same or zeros or (constant and abs(constant[1]) < MAX_DOUBLE * 2**-55):
            return f"({plain})"
        other = "<>" if sign == "+" else "="
        zero = sql._number(0.0)
        enough = f"abs({{0}}) <= {sql._number(MAX_DOUBLE)} - abs({{1}})"
        return f"CASE WHEN {enough} OR ({{0}} > {zero}) {other} ({{1}} > {zero}) THEN {plain} END"

    return template


def _check_product(sql: Sql, args: Sequence[Step]) -> str:
    number, constant = sql._number, _constant(args)
    if args[0] is args[1]:
        return _power_between(sql, 2.0, "{0}*{0}")
    if constant:
        k, c = constant[0], abs(constant[1])
        if c in (0, 1):
            return "({0}*{1})"
        if c > 1:
            return f"CASE WHEN abs({{{1 - k}}}) <= {number(QUOTIENT / c)} THEN {{0}}*{{1}} END"
        zero = f"{number(0.0)}*{{{1 - k}}}"
        return (
            f"CASE WHEN abs({{{1 - k}}}) >= {number(MIN_DOUBLE / c)} THEN {{0}}*{{1}} ELSE"
            f" {zero} END"
        )
    zero, one = number(0.0), number(1.0)
    return (
        f"CASE WHEN abs({{1}}) > {one} THEN CASE WHEN abs({{0}}) <= {number(QUOTIENT)}/abs({{1}})"
        f" THEN {{0}}*{{1}} END WHEN abs({{0}}) >= {number(MIN_DOUBLE)}/NULLIF(abs({{1}}), {zero})"
        f" THEN {{0}}*{{1}} ELSE {zero}*{{0}}*{{1}} END"
    )


def _check_quotient(sql: Sql, args: Sequence[Step]) -> str:
    number = sql._number
    zero, one = number(0.0), number(1.0)
    if args[1].name == "number" and args[1].data:
        c = abs(float(args[1]))
        if c < 1:
            return f"CASE WHEN abs({{0}}) <= {number(QUOTIENT * c)} THEN {{0}}/{{1}} END"
        return (
            f"CASE WHEN abs({{0}}) >= {number(MIN_DOUBLE * c)} THEN {{0}}/{{1}} ELSE"
            f" {zero}*{{0}} END"
        )
    return (
        f"CASE WHEN abs({{1}}) < {one} THEN CASE WHEN abs({{0}}) <= {number(QUOTIENT)}*abs({{1}})"
        f" THEN {{0}}/NULLIF({{1}}, {zero}) END WHEN abs({{0}}) >= {number(MIN_DOUBLE)}*abs({{1}})"
        f" THEN {{0}}/{{1}} ELSE {zero}*{{0}}*{{1}} END"
    )


def _check_exp(sql: Sql, args: Sequence[Step]) -> str:
    low, high = map(sql._number, EXPONENTS)
    return (
        f"CASE WHEN {{0}} < {low} THEN {sql._number(0.0)} WHEN {{0}} <= {high} THEN exp({{0}}) END"
    )


def _up_to(function: str, highest: float) -> Template:
    return lambda sql, args: (
        f"{function}(CASE WHEN abs({{0}}) <= {sql._number(highest)} THEN {{0}} END)"
    )


def _power_between(sql: Sql, y: float, power: str) -> str:
    # with room for the rounding of these ends, which the power multiplies
    ends = math.log(MAX_DOUBLE) - 1e-9, math.log(MIN_DOUBLE) + 1e-9
    high, low = [
        max(MIN_DOUBLE, math.exp(min(end / y, math.log(MAX_DOUBLE) - 1e-9))) for end in ends
    ]
    number, size = sql._number, "abs({0})" if y == int(y) else "{0}"
    if y > 0:
        small = f"CASE WHEN {size} >= {number(low)} THEN {power} ELSE {number(0.0)} END"
        inside = f"CASE WHEN {size} <= {number(high)} THEN {small} END"
        return inside if size != "{0}" else f"CASE WHEN {{0}} >= {number(0.0)} THEN {inside} END"
    large = f"CASE WHEN {size} <= {number(low)} THEN {power} ELSE {number(0.0)} END"
    return f"CASE WHEN {size} >= {number(high)} THEN {large} END"


def _check_power(sql: Sql, args: Sequence[Step]) -> str:
    number, y = sql._number, args[1]
    if y.name == "number" and 1e-3 < abs(y.data) < 1e3:
        return _power_between(sql, y.data, "power({0}, {1})")
    zero, one, low, high = map(number, (0.0, 1.0, *EXPONENTS))
    exponent = "{1}*ln(abs({0}))"
    return (
        f"CASE WHEN {{0}} = {zero} THEN CASE WHEN {{1}} > {zero} THEN {zero} WHEN {{1}} = {zero}"
        f" THEN {one} END WHEN {{0}} > {zero} OR {{1}} = floor({{1}}) THEN CASE WHEN abs({{1}}) <"
        f" {number(1e-290)} THEN {one} WHEN abs({{1}}) < {number(1e290)} THEN CASE WHEN {exponent}"
        f" < {low} THEN {zero} WHEN {exponent} <= {high} THEN power({{0}}, {{1}}) END WHEN"
        f" abs({{0}}) = {one} THEN {one} WHEN (abs({{0}}) < {one}) = ({{1}} > {zero}) THEN {zero}"
        " END END"
    )


def _power_of_any_size(sql: Sql, args: Sequence[Step]) -> str:
    return "" if args[1].name == "number" and abs(args[1].data) < 1e3 else _check_power(sql, args)


# The operations that a dialect writes by what their inputs are.
TEMPLATES: dict[str, dict[str, Template]] = {
    "postgres": by_name({
        "add": _check_sum("+"), "sub": _check_sum("-"), "mul": _check_product, "div": _check_quotient,
        "exp": _check_exp, "pow": _check_power,
        "sinh": _up_to("sinh", 710.4758), "cosh": _up_to("cosh", 710.4758),
    }),
    "spark": by_name({"div": _quotient}),
    "clickhouse": by_name({"pow": _power_of_any_size}),
}  # fmt: skip

# Columns that a layer hands on by name.
MAX_LISTED = 40

NO_VALUE = "no value: not defined here, or a number is too large"
# The error of a row without an answer whose inputs are inside the domains.
NO_DERIVATIVE = "derivative: infinite or not defined here, or too large"

# Conditions of conditions, of which the second only counts where the first does not decide, as in
# the program.
CONNECTIVES = by_name({
    "and_": "CASE WHEN {0} THEN {1} WHEN NOT {0} THEN {0} END",
    "or_": "CASE WHEN NOT {0} THEN {1} WHEN {0} THEN {0} END",
    "not_": "NOT {0}",
})  # fmt: skip

# The column that says whether the condition on a row holds, and the error where it has no value.
FILTER, NO_CONDITION = "ad_where", "point: the condition on the rows has no value"

# The comparisons that a number outside a bound satisfies.
OUTSIDE = {">": "le", ">=": "lt", "<": "ge", "<=": "gt", "!=": "eq"}

# Characters of the program that a row quotes.
MAX_QUOTED = 40

QUOTE = "'"
# A comment in a program; nothing else has a `#`.
_COMMENT = re.compile(r"#[^\n\r\x85\u2028\u2029]*")
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"\{(\d)\}")


class Sql(Target):
    """SQL: each layer of steps is a table expression over the one before."""

    database: str
    double: str
    literal: str
    exponential: str
    cast: str
    opening: str
    fence: str
    settings: str
    guarded: str

    def __init__(self, dialect: str) -> None:
        super().__init__(dialect)
        self.heading_lines = (f"Written by autodiff for {self.database}, from this program:",)
        self.reserved = reserved_words("sql")
        self.templates = TEMPLATES.get(dialect, {})
        self.table, self.kept = "points", list[str]()
        # The condition on the rows, whose only value it is.
        self.row_filter: SourceUnit | None = None
        # The columns of the condition's further variables.
        self.others: dict[str, str] = {}

    def spell_names(self, names: Sequence[str]) -> dict[str, str]:
        # those of the condition have names that differ from these
        of_condition = () if self.row_filter is None else self.row_filter.variables
        spelled = super().spell_names([*dict.fromkeys((*names, *of_condition))])
        self.others = {name: spelled[name] for name in of_condition if name not in names}
        return {name: spelled[name] for name in names}

    def read_from(
        self, table: str | None, kept: Sequence[str], condition: str | None = None
    ) -> None:
        """Read the points from a table of another name, and return columns of theirs as well.

        Only rows are read for which a `condition` on columns holds or has no value. Raises
        `ExpressionError`.
        """
        if condition is not None:
            self.row_filter = self._condition_unit(condition)
        for name in table.split(".") if table else ():
            if name != "points" and not self.can_name_column(name):
                raise usage_error(
                    f"`{name}` cannot be the name of a table in SQL",
                    "give a plain name: `--table results`",
                )
        for name in kept:
            if not self.can_name_column(name):
                raise usage_error(
                    f"`{name}` cannot be the name of a column in SQL",
                    "give plain names: `--keep id,run`",
                )
        self.table, self.kept = table or "points", [*dict.fromkeys(kept)]

    def _condition_unit(self, text: str) -> SourceUnit:
        program = parse_condition(text)
        recorder = Lowering(self.forms, self.functions, self.coarse)
        try:
            recording = record_gradient(
                program.graph, program.leaf_places(None), [], recorder, scaled=True
            )
        except Lacking as lacking:
            raise usage_error(
                f"{self.database} has no function `{lacking}`", "write `--where` without it"
            ) from None
        return SourceUnit(text, "f", tuple(program.variables), (), recording, {}, (), ())

    def can_name_column(self, name: str) -> bool:
        """Return whether a name needs no quotation marks in SQL."""
        return name.isascii() and self.can_name_variable(name)

    def _number(self, value: float | bool) -> str:
        if isinstance(value, bool):
            return "(1 = 1)" if value else "(1 = 0)"
        text = repr(value)
        literal = self.exponential if "e" in text else self.literal
        return literal.format(text) if value == value else f"CAST(NULL AS {self.double})"

    def fold_name(self, name: str) -> str:
        # Columns have no upper and lower case.
        return name.lower()

    def template(self, step: Step) -> str:
        """Return the dialect's template, `{0}` for the first input; empty for the usual way."""
        name, args = step.name, step.args
        if name == "pow" and is_number(args[1], 2):
            name, args = "mul", (args[0], args[0])
        if name in self.guarded.split():
            limits = OPERATIONS[name].bounds.bounds
            bounds = [(bound.relation, self._number(float(bound.end or 0))) for bound in limits]
            inside = " AND ".join([f"{{0}} {relation} {end}" for relation, end in bounds])
            return f"{self.forms[name]}(CASE WHEN {inside} THEN {{0}} END)"
        if name not in self.templates:
            return ""
        text = self.templates[name](self, args)
        return text.replace("{1}", "{0}") if name != step.name else text

    def step_inputs(self, step: Step) -> Iterable[Step]:
        text = self.template(step) if step.args else ""
        if text:
            return [step.args[int(place)] for place in _PLACE.findall(text)]
        return (
            step.args[:1] * 2
            if step.name == "pow" and is_number(step.args[1], 2)
            else super().step_inputs(step)
        )

    def operation(self, step: Step) -> Written:
        text = self.template(step) if step.args else ""
        if text:
            return ATOM, fill_in(text, step.args)
        level, parts = super().operation(step)
        if step.name in CONDITIONS:
            return ATOM, ["(", *parts, ")"]
        return level, parts

    def _rename(self) -> list[str]:
        needed = dict.fromkeys((*self.kept, *self.variables.values(), *self.others.values()))
        return [
            (
                f"`{self.table}` is a table with the columns"
                f" {', '.join(needed) or '(none are needed)'}."
            ),
            *super()._rename(),
            *self._filter_notes(),
            (
                "Where a row has no answer, the numbers are NULL and `error` says so; elsewhere"
                " `error` is NULL."
            ),
        ]

    def _filter_notes(self) -> Iterator[str]:
        if self.row_filter is not None:
            yield (
                "Rows are left out unless"
                f" {' '.join(' '.join(self._comment(self.row_filter.text)).split())}."
            )

    def _column(self, step: Step) -> str:
        text = self.text(step)
        return text[1:-1] if step.name in CONDITIONS and step.name != "not_" else text

    def lines(self) -> list[str]:
        unit, columns = self.unit, list(self.variables.values())
        results = unit.recording.results
        kept = [
            name for name in self.kept if self.fold_name(name) not in map(self.fold_name, columns)
        ]
        others = list(self.others.values())
        first = {name: f"points.{name}" for name in kept} | {
            name: self.input(name) for name in (*columns, *others)
        }
        layers = [first] if first else []
        layers += self._condition_layers()
        for rows in self.layers(results):
            layers.append({name: self._column(step) + self._note(step) for step, name in rows})
        decided = [] if self.row_filter is None else [FILTER]
        layers.append({"ad_ok": self.all_finite([*columns, *others, *decided], results)})
        by = [self.variables.get(name) or f"unused{k}" for k, name in enumerate(unit.wanted)]
        names = [*zip(results, column_names(len(unit.recording.values), by), strict=True)]
        outputs = {self.fold_name(name) for _, name in names} | {"error"}
        if twice := [name for name in kept if self.fold_name(name) in outputs]:
            message = f"`{twice[0]}` is a result of the statement, and a column to keep"
            raise usage_error(message, "rename the column in a view, and keep that")
        shown = [
            *kept,
            *columns,
            *[f"CASE WHEN ad_ok THEN {self._result(step)} END AS {name}" for step, name in names],
        ]
        shown.append(self._error([*columns, *others]))
        where = f" WHERE {FILTER} IS NULL OR {FILTER}" if decided else ""
        last = ["SELECT " + ", ".join(shown), f"FROM ad_s{len(layers)}{where}{self.settings};"]
        shown += [where]
        return [*self.heading(), *self.tables(layers, shown), *last]

    def _condition_layers(self) -> Iterator[dict[str, str]]:
        """Yield the layers of columns that end in whether the condition on a row holds; NULL where
        it has no value.
        """
        if self.row_filter is None:
            return
        (chosen,) = self.row_filter.recording.values
        holds, m = chosen.args[0], chosen.m  # what is chosen between is 1 and 0
        connected = [holds]
        for step in connected:
            connected += [a for a in step.args if a.name in CONDITIONS and a not in connected]
        compared = [step for step in connected if not any(a.name in CONDITIONS for a in step.args)]
        operands = [*dict.fromkeys(a for step in compared for a in step.args)]
        # a number that is missing on the way to one that is compared is missing in it
        shown = showing_faults(
            self.row_filter.recording._replace(values=operands), self.is_silent, {}, self.limits
        )
        of_operand = dict(zip(operands, shown.values, strict=True))
        spelled = self.variables | self.others
        columns = [spelled[name] for name in self.row_filter.variables]
        own, stem = self.unit, self.stem
        self.unit, self.stem = self.row_filter._replace(recording=shown), "w"
        self.name_inputs(shown, columns)
        for rows in self.layers(tuple(shown.values)):
            yield {name: self._column(step) for step, name in rows}
        self.unit, self.stem = own, stem
        named: dict[Step, str] = {}
        for step in sorted(connected, key=lambda step: step.index):
            name = f"ad_c{len(named) + 1}"
            if step in compared:
                numbers = [of_operand[a] for a in step.args]
                finite = self.all_finite([], numbers)
                text = f"CASE WHEN {finite} THEN {self.text(m.step(step.name, *numbers))} END"
            else:
                text = CONNECTIVES[step.name].format(*[named[a] for a in step.args])
            yield {name: text}
            named[step] = name
        known = " AND ".join([f"{name} IS NOT NULL" for name in columns])
        yield {FILTER: f"CASE WHEN {known} THEN {named[holds]} END"}

    def input(self, name: str) -> str:
        """Return a column of the points as a finite number, else NULL."""
        column = self.cast.format(f"points.{name}")
        return f"CASE WHEN abs({column}) <= {self._number(MAX_DOUBLE)} THEN {column} END"

    def all_finite(self, columns: list[str], results: Sequence[Step]) -> str:
        """Return the condition that all columns and results are finite."""
        conditions = [f"{name} IS NOT NULL" for name in columns]
        for step in dict.fromkeys(results):
            if step.name != "number":
                conditions.append(f"abs({self._result(step)}) <= {self._number(MAX_DOUBLE)}")
            elif step.data != step.data:
                conditions.append(self._number(False))
        return " AND ".join(conditions) or self._number(True)

    def _error(self, columns: list[str]) -> str:
        reasons = [(f"{name} IS NULL", f"column {name}: no finite number") for name in columns]
        reasons += [] if self.row_filter is None else [(f"{FILTER} IS NULL", NO_CONDITION)]
        reasons += self.domain_violations()
        reasons.append((self.all_finite([], self.unit.recording.values), NO_DERIVATIVE))
        cases = [
            f"WHEN {condition} THEN '{text.replace(QUOTE, 2 * QUOTE)}'"
            for condition, text in reasons
        ]
        return f"CASE WHEN ad_ok THEN NULL {' '.join(cases)} ELSE '{NO_VALUE}' END AS error"

    def domain_violations(self) -> Iterator[tuple[str, str]]:
        """Yield the conditions that inputs of operations are outside domains, with messages."""
        conditions: dict[str, str] = {}
        # Its derivatives may need an operation elsewhere, too.
        unit = self.unit
        needed = needs(schedule(unit.recording._replace(partials=[])))
        graph, place = unit.recording.graph, unit.recording.place
        for i, step in sorted(place.items(), key=lambda item: item[1].index):
            primitive, span = graph.primitives[i], graph.span(i)
            inputs = [place.get(p) for p in graph.parents[i]]
            if primitive.total or not inputs or step not in needed or None in inputs:
                continue
            bad = self.outside_of(primitive, [a for a in inputs if a is not None])
            if bad is None:
                continue
            condition = assemble(bad, self.parts)
            taken = [self.branch_condition(branch) for branch in needed[step]]
            if all(taken):
                condition += (
                    f" AND ({' OR '.join(taken)})" if len(taken) > 1 else f" AND {taken[0]}"
                )
            text = unit.text[span.start : span.end] if span else primitive.written
            conditions.setdefault(condition, _undefined(primitive, len(inputs), text))
        return iter(conditions.items())

    def branch_condition(self, branch: Branch) -> str:
        """Return the condition that a branch is taken; empty for the whole program."""
        return " AND ".join([f"({self.condition(condition)})" for condition in branch.enclosing()])

    def outside_of(self, primitive: Primitive, inputs: list[Step]) -> Step | None:
        """Return the condition that inputs are outside a domain; None if the table cannot tell."""
        m = inputs[0].m
        bounds, complete, ordered = primitive.bounds
        conditions = [m.step("gt", inputs[i], inputs[k]) for i, k in ordered] if complete else []
        if primitive.name == "pow":
            x, y = inputs
            below, broken = m.step("lt", y, 0.0), m.step("ne", m.step("floor", y), y)
            for part, when in ((m.step("lt", x, 0.0), broken), (m.step("eq", x, 0.0), below)):
                if when.name != "number" or when.data:
                    conditions.append(m.step("and_", when, part))
        elif complete:
            for position, relation, end in bounds:
                a = inputs[position]
                if end is not None:
                    conditions.append(m.step(OUTSIDE[relation], a, float(end)))
                else:
                    conditions.append(
                        m.step("and_", m.step("le", a, 0.0), m.step("eq", m.step("floor", a), a))
                    )
        outside = None
        for condition in conditions:
            outside = condition if outside is None else m.step("or_", outside, condition)
        return None if outside is None or outside.name == "number" else outside

    def layers(self, results: tuple[Step, ...]) -> Iterator[list[tuple[Step, str]]]:
        """Yield the steps that get columns, with names, in layers above their inputs."""
        plan = self.plan(self.unit.recording)
        hidden = self._inline(plan, results, self.unit.labels)
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
        """Yield a table expression for each layer; columns are passed on while needed."""
        last = {name: len(layers) for text in shown for name in _WORD.findall(text)}
        for k in range(len(layers) - 1, -1, -1):
            for text in layers[k].values():
                for name in _WORD.findall(text):
                    last.setdefault(name, k)
        source, there = (
            self.table if self.table == "points" else f"{self.table} AS points",
            list[str](),
        )
        for k, layer in enumerate(layers):
            needed = [name for name in there if last.get(name, -1) > k]
            # The text stays proportional to the program: many columns are passed on together.
            few = len(needed) <= max(MAX_LISTED, len(there) // 2)
            there, carried = (needed, needed) if few or not k else (there, ["*"])
            yield f"{'' if k else 'WITH '}ad_s{k + 1} {self.opening}"
            yield "    SELECT " + ", ".join(
                [*carried, *[f"{text} AS {name}" for name, text in layer.items()]]
            )
            yield f"    FROM {source}{self.fence}"
            yield ")" if k == len(layers) - 1 else "),"
            source, there = f"ad_s{k + 1}", [*there, *layer]

    def _note(self, step: Step) -> str:
        label = self.unit.labels.get(step)
        return f" /* {label} */" if label and label.isascii() else ""


def _undefined(primitive: Primitive, count: int, text: str) -> str:
    """Return the message of an operation outside its domain, written as `text`."""
    # databases differ on quotation marks and backslashes in comments
    text = " ".join(" ".join(comment_lines(_COMMENT.sub("", text))).split())
    text = text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 3]}..."
    if primitive.name == "div":
        return f"domain: division by zero in `{text}`"
    domain = domain_description(primitive, count).replace("…", "...")
    return f"domain: `{primitive.written}` is undefined in `{text}`; its domain: {domain}"


# What makes a program of a condition.
BEFORE, AFTER = "1 if (", ") else 0"


def parse_condition(text: str) -> Program:
    """Return the program that is 1 where a condition on columns holds. Raises `ExpressionError`."""
    before = 0
    try:
        # a whole of its own: `x > 0) else 1 if (y > 0` is none
        explained(text, lambda: syntax_tree(text))
        before = len(BEFORE)
        program = parse(f"{BEFORE}{text}{AFTER}")
    except ExpressionError as error:
        span = error.span
        if span is not None:
            begin, end = (min(max(k - before, 0), len(text)) for k in (span.start, span.end))
            span = Span(begin, end)
        about = ExpressionError(error.kind, f"in `--where`: {error}", span, error.hint)
        about.text = text
        raise about from None
    if not program.variables:
        raise usage_error(
            f"`--where {text}` names no column", "write a condition on columns: `x > 0`"
        )
    return program
