"""A Propagation in every form: the budget as a table, as rows, as a record, on one line, and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..uncertainty.measured_value import estimate, in_unit
from ..uncertainty.propagate import Propagation, Result
from .characters import Theme, on_one_line, shortened
from .document import Block, Line, Table, circumstances, matrix_table, measured, numbers_table, sentence, stated
from .numerals import format_number, repr_number
from .plots import PICTURES
from .schema import OutputRow, View, declared, heading

if TYPE_CHECKING:
    from ..quantities.unit import Unit

JUDGED = {
    True: "the first order is valid here",
    False: "the first order is not valid here, use the draws",
    None: "these are too few draws to tell",
}
"""Return the result of the comparison with the draws: JCGM 101, 8.1.3."""


def _finite(x: float) -> float | None:
    return None if math.isinf(x) else x


class PropagationView(View[Propagation]):
    """How results with their uncertainties are shown."""

    fields, csv_columns, _ = declared(
        "propagate",
        {
            "results.dof": lambda result: _finite(result.dof),
            "inputs.dof": lambda entry: _finite(entry.distribution.dof),
            "outputs": lambda answer: [result.output for result in answer.results],
            "seed": lambda answer: answer.seed if answer.samples else None,
        },
    )
    latex_packages = ("booktabs", "siunitx")
    extra_formats = PICTURES

    sort: bool = False
    """Whether the input with the largest share is the first."""
    theme: Theme = "auto"

    def select(self, answer: Propagation) -> Propagation:
        if not self.sort:
            return answer
        results = [
            result._replace(budget=dict(sorted(result.budget.items(), key=lambda item: -item[1].contribution)))
            for result in answer.results
        ]
        return answer._replace(results=results)

    def unit_columns(self, units: Mapping[str, Any]) -> frozenset[str]:
        return frozenset(("estimate", "uncertainty", "sensitivity", "contribution", "expanded"))

    def rows(self, answer: Propagation) -> Iterator[OutputRow]:
        texts = None if answer.units is None else answer.units.texts()
        for k, result in enumerate(self.select(answer).results):
            of_result = {} if texts is None else texts["results"][k]
            for name, share in result.budget.items():
                entry = answer.inputs[name]
                measured_by = {} if texts is None else {**texts["inputs"][name], **of_result["budget"][name]}
                yield {
                    **{f"{column}_unit": unit for column, unit in measured_by.items()},
                    "output": result.output,
                    "quantity": name,
                    "estimate": entry.estimate,
                    "uncertainty": entry.uncertainty,
                    "distribution": entry.distribution.family,
                    "dof": _finite(entry.distribution.dof),
                    **share._asdict(),
                }
            spread = of_result.get("uncertainty")
            units = {"estimate": of_result.get("value"), "uncertainty": spread, "expanded": spread}
            yield {
                **{f"{column}_unit": unit for column, unit in units.items() if unit is not None},
                "output": result.output,
                "estimate": result.value,
                "uncertainty": result.uncertainty,
                "dof": _finite(result.dof),
                "k": result.k,
                "expanded": result.expanded,
            }

    def cells(self, answer: Propagation) -> Iterator[dict[str, Any]]:
        several = len(answer.results) > 1
        cells: dict[str, Any] = {}
        for k, result in enumerate(answer.results):
            value, before = (result.output, f"{result.output}_") if several else ("value", "")
            numbers = {
                value: result.value,
                f"{before}uncertainty": result.uncertainty,
                f"{before}expanded": result.expanded,
            }
            cells |= {heading(name, _unit(answer, k).strip()): x for name, x in numbers.items()}
            cells |= {f"{before}result": result.written}
        yield cells

    def one_line(self, answer: Propagation) -> str:
        texts = []
        for k, result in enumerate(answer.results):
            unit = f"[{name}]" if (name := _unit(answer, k).strip()) else ""
            value, u, expanded = (
                f"{repr_number(x)}{unit}" for x in (result.value, result.uncertainty, result.expanded)
            )
            texts.append(f"{value} u={u} U={expanded} k={repr_number(result.k)}")
        return "; ".join(texts)

    def latex_document(self, answer: Propagation) -> str:
        from .tex_tables import budget_tables

        return budget_tables(self.select(answer), self.digits)

    def document(self, answer: Propagation) -> Iterator[Block]:
        answer = self.select(answer)
        several = len(answer.results) > 1
        for k, result in enumerate(answer.results):
            if k:
                yield Line((("", ""),))
            name = result.output if several or "output" not in result.output else "result"
            unit = _unit(answer, k)
            yield stated(name, result.written + unit)
            interval = in_unit(result.interval, unit)
            yield Line((*stated(name, interval).pieces, (f", for {_percent(result.level)}", "faint")))
            if not several:
                yield from circumstances(answer.constants, answer.point, answer.inputs, self.digits, _at(answer))
            yield _budget(answer, k, self.digits)
            yield from _below_budget(answer, result, self.digits, unit)
        if several:
            yield from circumstances(answer.constants, answer.point, answer.inputs, self.digits, _at(answer))
        if answer.correlation:
            yield matrix_table(
                "correlation", list(answer.inputs), [row.values() for row in answer.correlation.values()]
            )
        if several:
            outputs = [result.output for result in answer.results]
            head = "covariance of the outputs"
            if answer.units is not None:
                head += f" ({', '.join(str(units['value']) or '1' for units in answer.units['results'])})"
            yield matrix_table(head, outputs, answer.covariance, self.digits)
            yield matrix_table("correlation of the outputs", outputs, answer.output_correlation)
        if answer.interrupted:
            yield Line((("interrupted: these are the draws that were made", "heading"),))

    def draw(self, answer: Propagation, format: str) -> bytes:
        from .plots.answer_figures import budget_figure

        return budget_figure(answer, format, shortened(on_one_line(answer.text)), self.theme)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share + 0.0:.4g} %"


def _unit(answer: Propagation, k: int) -> str:
    """The unit of an output, with a blank before it; empty where it has none."""
    unit = "" if answer.units is None else str(answer.units["results"][k]["value"])
    return f" {unit}" if unit else ""


def _at(answer: Propagation) -> Mapping[str, Unit] | None:
    """The units of the point."""
    return None if answer.units is None else answer.units["point"]


def _budget(answer: Propagation, k: int, digits: int | None) -> Table:
    """Return the table of the inputs; with a column of degrees of freedom only where some are known."""
    result, units = answer.results[k], answer.units
    with_dof = any(not math.isinf(quantity.distribution.dof) for quantity in answer.inputs.values())
    rows: list[tuple[float | str, ...]] = []
    for name, share in result.budget.items():
        entry = answer.inputs[name]
        dof = "∞" if math.isinf(entry.distribution.dof) else entry.distribution.dof
        value, u = estimate(entry.estimate, entry.uncertainty)
        slope: float | str = share.sensitivity
        contribution: float | str = share.contribution
        if units is not None:
            of_input, of_share = units["inputs"][name], units["results"][k]["budget"][name]
            value, u = f"{value} {of_input['estimate']}".rstrip(), f"{u} {of_input['uncertainty']}".rstrip()
            slope = measured(share.sensitivity, of_share["sensitivity"], digits)
            contribution = measured(share.contribution, of_share["contribution"], digits)
        row = (name, value, u, entry.distribution.family, *(dof,) * with_dof)
        percentage = "–" if share.share is None else f"{100 * share.share + 0.0:.1f} %"
        rows.append((*row, slope, contribution, percentage))
    heads = ("quantity", "estimate", "u", "distribution", *("dof",) * with_dof, "sensitivity", "contribution", "share")
    return numbers_table(heads, rows, digits, right={*range(1, len(heads))} - {heads.index("distribution")})


def _below_budget(answer: Propagation, result: Result, digits: int | None, unit: str) -> Iterator[Block]:
    """Yield the lines about a result below its budget."""
    dof = ""
    if not math.isinf(result.dof):
        dof = f", with {format_number(result.dof, digits)} effective degrees of freedom"
    u = format_number(result.uncertainty, digits)
    yield Line(sentence(f"combined standard uncertainty {u}{unit}{dof}"))
    expanded = format_number(result.expanded, digits)
    yield Line(sentence(f"expanded uncertainty {expanded}{unit} = {result.k:.4g}·u, for {_percent(result.level)}"))
    second = result.second_order
    if second is not None:
        higher = "no number" if second.uncertainty is None else format_number(second.uncertainty, digits) + unit
        moved = f"; the mean moves by {format_number(second.shift, 2)}{unit}" if second.shift else ""
        verdict = "this matters" if second.matters else "linear enough"
        yield Line(sentence(f"with second-order terms u is {higher}{moved}: {verdict}"))
    drawn, validation = result.drawn, result.validation
    if drawn is not None and validation is not None:
        moments = (
            f"mean {format_number(drawn.mean, digits)}{unit}, "
            f"standard deviation {format_number(drawn.deviation, digits)}{unit}"
        )
        yield Line(sentence(f"{answer.samples:,} draws (seed {answer.seed}): {moments}"))
        low, high = (format_number(x, digits) for x in drawn.shortest)
        yield Line(sentence(f"shortest interval of {_percent(result.level)} of them: from {low} to {high}{unit}"))
        low, high, tolerance = (f"{x:.2g}{unit}" for x in (validation.low, validation.high, validation.tolerance))
        yield Line(
            sentence(
                f"its ends are {low} and {high} from those of the first order, and the tolerance is {tolerance}: "
                f"{JUDGED[validation.valid]}"
            )
        )
        if validation.valid is None:
            scatter = f"{drawn.scatter:.2g}{unit}"
            yield Line(sentence(f"(the ends scatter by {scatter} from one such series of draws to the next)"))
