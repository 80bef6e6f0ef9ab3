"""Derivatives as formulas in every form."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from ...errors import Diagnostic
from ...language.printer import expression_text
from ...questions.problem import parse
from ...show.document import (
    NO_VARIABLES,
    Block,
    Paragraph,
    Pieces,
    Table,
    formula_line,
    input_lines,
    numbers_table,
    value_line,
)
from ...show.mathematics import mathematics
from ...show.numerals import attach_units
from ...show.schema import OutputRow, Values, View, read_declaration, record_of
from .derivation import Derivation, RuleStep, as_written, derivative_name, latex, operator
from .diff import LANGUAGES, Derivative, Diff
from .guards import ConventionalPlace

read_declaration(ConventionalPlace)
# The keys of a derivative, and of the steps that lead to it.
DERIVATIVE, DERIVATION = read_declaration(Derivative).fields, read_declaration(Derivation).fields
_WORDS = ("unless ", "away ", "where ")


def written_steps(
    derivation: Derivation, unicode: bool
) -> Iterator[tuple[RuleStep, str, str, str]]:
    """Yield each step: its rule, part and result."""
    by = operator(derivation.by[-1])
    for step in derivation.steps:
        graphs = [as_written(graph, step.pending, by) for graph in (step.part, step.result)]
        formulas = [mathematics(graph) if unicode else "" for graph in graphs]
        part, result = (
            text or expression_text(graph) for text, graph in zip(formulas, graphs, strict=True)
        )
        yield step, step.title if unicode else step.name, part, result


def _as_steps_are(formula: str, valued: Collection[str]) -> str:
    """Return a result in the notation of the steps above it: both can be read back."""
    (output,) = parse(formula, valued, units=True).outputs
    return mathematics(output) or formula


def step_cells(derivation: Derivation, unicode: bool) -> Iterator[tuple[Pieces, Pieces, Pieces]]:
    """Yield the row of each step in a table."""
    for step, rule, part, result in written_steps(derivation, unicode):
        condition: Pieces = ((f", {_holds(step)}", "faint"),) if step.condition else ()
        name: Pieces = ((rule, "name" if step.is_rule else "faint"),)
        yield name, ((part, "code"),), ((result, "code"), *condition)


def _holds(step: RuleStep) -> str:
    return step.condition if step.condition.startswith(_WORDS) else f"where {step.condition}"


def derivation_blocks(derivations: Sequence[Derivation], unicode: bool = True) -> Iterator[Block]:
    """Yield each derivation under its derivative, the steps in a table."""
    for derivation in derivations:
        if len(derivations) > 1:
            yield Paragraph(((derivative_name(derivation.by), "heading"),))
        yield Table(("rule", "part", "result"), [*step_cells(derivation, unicode)])


def derivation_record(derivation: Derivation) -> dict[str, object]:
    """Return a derivation as a record."""
    written = written_steps(derivation, False)
    steps = [step._replace(part=part, result=result) for step, _, part, result in written]
    texts = {name: expression_text(getattr(derivation, name)) for name in ("function", "formula")}
    return record_of(DERIVATION, derivation._replace(steps=steps, **texts))


class DiffView(View[Diff], of=Diff):
    """The view of derivatives as formulas, with steps if requested."""

    computed: ClassVar[Values] = {
        "derivatives": lambda answer: [
            record_of(DERIVATIVE, each, answer.arithmetic.name if answer.point else "double")
            for each in answer.derivatives
        ],
        "steps": lambda answer: [*map(derivation_record, answer.derivations)] or None,
    }
    endings = tuple(
        ending for name, endings in LANGUAGES.items() for ending in endings if name != "latex"
    )

    unicode: bool = True
    steps: bool = False
    unknowns: bool = False
    formula: tuple[str, str] | None = None
    """What a session calls the formula, and the formula."""

    @property
    def columns(self) -> tuple[str, ...]:
        if self.unknowns:
            return (
                "line",
                "id",
                "of",
                "by",
                "rule",
                "part",
                "derivative",
                "condition",
                "value",
                "error",
            )
        with_steps = (
            "line",
            "id",
            "by",
            "rule",
            "part",
            "derivative",
            "condition",
            "value",
            "error",
            "short",
        )
        return with_steps if self.steps else self.csv_columns

    def attach_units(self, answer: Diff, units: Mapping[str, Any]) -> Diff:
        values = [{"value": unit} for unit in units["values"]]
        return attach_units(answer, {**units, "derivatives": values})  # type: ignore[no-any-return]

    def document(self, answer: Diff) -> Iterator[Block]:
        if self.formula:
            yield value_line(*self.formula)
        if answer.language != "text":
            for text in answer.program.split("\n"):
                yield Paragraph(((text, "code"),), source=True)
        else:
            yield from input_lines(answer.constants, {}, (), self.digits)
            yield from derivation_blocks(answer.derivations, self.unicode)
            for name, formula in answer.shared:
                yield value_line(name, formula + ";", style="name")
            for one in answer.derivatives:
                formula = (
                    _as_steps_are(one.shown, answer.point)
                    if answer.derivations and self.unicode
                    else one.shown
                )
                yield formula_line(derivative_name(one.by, one.of), formula, one.condition)
        if not answer.derivatives:
            yield NO_VARIABLES
        if answer.point and answer.derivatives:
            if answer.language != "text":
                yield from input_lines({}, answer.point, (), self.digits)
            place = ", ".join(f"{name} = {self.number(x)}" for name, x in answer.point.items())
            rows = [(derivative_name(row.by, row.of), row.value) for row in answer.derivatives]
            right = answer.arithmetic.name == "double"
            yield numbers_table(("derivative", f"value at {place}"), rows, self.digits, right=right)

    def rows(self, answer: Diff) -> Iterator[OutputRow]:
        for derivation in answer.derivations:
            for step, rule, part, result in written_steps(derivation, False):
                result_row = {"derivative": result, "condition": step.condition}
                yield {"by": derivation.by, "rule": rule, "part": part, **result_row}
        for name, formula in answer.shared:
            yield {"by": name, "derivative": formula}
        for one in answer.derivatives:
            row = {
                "of": one.of or None,
                "by": one.by,
                "derivative": one.formula,
                "value": one.value,
            }
            yield {**row, "short": one.short, "condition": one.condition}

    def cells(self, answer: Diff) -> Iterator[dict[str, Any]]:
        names = [(*([row.of] if row.of else []), *row.by) for row in answer.derivatives]
        yield {
            f"d_{'_'.join(name)}": row.value
            for name, row in zip(names, answer.derivatives, strict=True)
        }

    def one_line(self, answer: Diff) -> str:
        lines = []
        for derivation in answer.derivations if answer.language == "text" else ():
            for step, rule, part, result in written_steps(derivation, self.unicode):
                lines.append(
                    f"{part} = {result}   ({f'{rule}; {_holds(step)}' if step.condition else rule})"
                )
        return "\n".join([*lines, answer.program])

    def latex_document(self, answer: Diff) -> str:
        from .diff_latex import derivatives

        return latex(answer.derivations) or derivatives(answer, self.digits)

    def latex_formula(self, answer: Diff) -> str | None:
        return self.latex_document(answer) if answer.language in ("text", "latex") else None


class Listing(NamedTuple):
    """A list in a session and its derivatives, as texts by name."""

    texts: dict[str, str]
    warnings: tuple[Diagnostic, ...] = ()


class ListView(View[Listing]):
    """How a list is shown with its derivatives."""

    unnamed: str | None = None
    """The name that is not shown."""

    def document(self, answer: Listing) -> Iterator[Block]:
        for name, text in answer.texts.items():
            yield value_line(name, text) if name != self.unnamed else Paragraph(((text, "number"),))
