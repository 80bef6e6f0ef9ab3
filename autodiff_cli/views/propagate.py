"""A Propagation in every form: the budget as a table, as rows, as a record, on one line, and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..uncertainty.measured_value import estimate
from ..uncertainty.propagate import Propagation, Result
from .characters import Theme, on_one_line, shortened
from .document import Block, Line, Table, circumstances, matrix_table, numbers_table, sentence, stated
from .numerals import format_number, repr_number
from .plots import PICTURES
from .schema import POINT, REMARKS, Field, OutputRow, View

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

    fields = (
        Field(
            "results",
            "the outputs, each with its uncertainty",
            fields=(
                Field("output", "the output"),
                Field("value", "its value"),
                Field("uncertainty", "its combined standard uncertainty"),
                Field("dof", "the effective degrees of freedom; null where infinite", lambda x: _finite(x.dof)),
                Field("k", "the coverage factor"),
                Field("level", "the coverage probability"),
                Field("expanded", "the expanded uncertainty"),
                Field("written", "the value with its standard uncertainty, as it is written"),
                Field("interval", "the value with its expanded uncertainty, as it is written"),
                Field(
                    "budget",
                    "the uncertainty budget, by input",
                    fields=(
                        Field("sensitivity", "the partial derivative by the input"),
                        Field("contribution", "the standard uncertainty that comes from the input"),
                        Field("share", "how much of the variance that is, from 0 to 1"),
                    ),
                ),
                Field(
                    "second_order",
                    "the second-order terms; null at a kink",
                    fields=(
                        Field("uncertainty", "the standard uncertainty with them"),
                        Field("shift", "by how much they move the mean"),
                        Field("matters", "whether they change the result as it is written"),
                    ),
                ),
                Field(
                    "draws",
                    "with `--samples`: the Monte Carlo draws",
                    lambda result: result.drawn,
                    fields=(
                        Field("mean", "their mean"),
                        Field("deviation", "their standard deviation"),
                        Field("shortest", "the shortest coverage interval"),
                        Field("symmetric", "the probabilistically symmetric coverage interval"),
                        Field("outside", "how many had no value"),
                        Field("scatter", "the standard deviation of the ends of the shortest interval"),
                        Field("edges", "the edges of a histogram"),
                        Field("counts", "its counts"),
                    ),
                ),
                Field(
                    "validation",
                    "with `--samples`: the first order compared with the draws",
                    fields=(
                        Field("tolerance", "half a unit of the second digit of the standard uncertainty"),
                        Field("low", "how far the lower ends of the intervals are apart"),
                        Field("high", "how far the upper ends are apart"),
                        Field("valid", "whether both are within the tolerance; null with too few draws"),
                    ),
                ),
            ),
        ),
        Field(
            "inputs",
            "the inputs, by name",
            fields=(
                Field("estimate", "the estimate"),
                Field("uncertainty", "its standard uncertainty"),
                Field("distribution", "the family of its distribution", lambda x: x.distribution.family),
                Field("parameters", "the parameters of the distribution", lambda x: x.distribution.parameters),
                Field("dof", "its degrees of freedom; null where infinite", lambda x: _finite(x.distribution.dof)),
                Field("readings", "how many readings it is the mean of", lambda x: x.readings or None),
            ),
        ),
        Field("correlation", "the correlations of the inputs, by two names"),
        Field("outputs", "the outputs", lambda answer: [result.output for result in answer.results]),
        Field("covariance", "the covariance matrix of the outputs"),
        Field("output_correlation", "their correlation matrix"),
        Field("samples", "how many draws; null without any", lambda answer: answer.samples or None),
        Field("seed", "the seed of the draws", lambda answer: answer.seed if answer.samples else None),
        POINT,
        *REMARKS,
    )
    csv_columns = (
        "line",
        "id",
        "output",
        "quantity",
        "estimate",
        "uncertainty",
        "distribution",
        "dof",
        "sensitivity",
        "contribution",
        "share",
        "k",
        "expanded",
        "error",
    )
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

    def rows(self, answer: Propagation) -> Iterator[OutputRow]:
        for result in self.select(answer).results:
            for name, share in result.budget.items():
                entry = answer.inputs[name]
                yield {
                    "output": result.output,
                    "quantity": name,
                    "estimate": entry.estimate,
                    "uncertainty": entry.uncertainty,
                    "distribution": entry.distribution.family,
                    "dof": _finite(entry.distribution.dof),
                    **share._asdict(),
                }
            yield {
                "output": result.output,
                "estimate": result.value,
                "uncertainty": result.uncertainty,
                "dof": _finite(result.dof),
                "k": result.k,
                "expanded": result.expanded,
            }

    def one_line(self, answer: Propagation) -> str:
        return "; ".join(
            f"{repr_number(each.value)} u={repr_number(each.uncertainty)} "
            f"U={repr_number(each.expanded)} k={repr_number(each.k)}"
            for each in answer.results
        )

    def document(self, answer: Propagation) -> Iterator[Block]:
        answer = self.select(answer)
        several = len(answer.results) > 1
        for k, result in enumerate(answer.results):
            if k:
                yield Line((("", ""),))
            name = result.output if several or "output" not in result.output else "result"
            yield stated(name, result.written)
            yield Line((*stated(name, result.interval).pieces, (f", for {_percent(result.level)}", "faint")))
            if not several:
                yield from circumstances(answer.constants, answer.point, answer.inputs, self.digits)
            yield _budget(answer, result, self.digits)
            yield from _below_budget(answer, result, self.digits)
        if several:
            yield from circumstances(answer.constants, answer.point, answer.inputs, self.digits)
        if answer.correlation:
            yield matrix_table(
                "correlation", list(answer.inputs), [row.values() for row in answer.correlation.values()]
            )
        if several:
            outputs = [result.output for result in answer.results]
            yield matrix_table("covariance of the outputs", outputs, answer.covariance, self.digits)
            yield matrix_table("correlation of the outputs", outputs, answer.output_correlation)
        if answer.interrupted:
            yield Line((("interrupted: these are the draws that were made", "heading"),))

    def draw(self, answer: Propagation, format: str) -> bytes:
        from .plots.uncertainty_budget import budget_figure

        return budget_figure(answer, format, shortened(on_one_line(answer.text)), self.theme)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share + 0.0:.4g} %"


def _budget(answer: Propagation, result: Result, digits: int | None) -> Table:
    """Return the table of the inputs; with a column of degrees of freedom only where some are known."""
    with_dof = any(not math.isinf(each.distribution.dof) for each in answer.inputs.values())
    rows: list[tuple[float | str, ...]] = []
    for name, share in result.budget.items():
        entry = answer.inputs[name]
        dof = "∞" if math.isinf(entry.distribution.dof) else entry.distribution.dof
        row = (name, *estimate(entry.estimate, entry.uncertainty), entry.distribution.family, *(dof,) * with_dof)
        percentage = "–" if share.share is None else f"{100 * share.share + 0.0:.1f} %"
        rows.append((*row, share.sensitivity, share.contribution, percentage))
    heads = ("quantity", "estimate", "u", "distribution", *("dof",) * with_dof, "sensitivity", "contribution", "share")
    return numbers_table(heads, rows, digits, right={*range(1, len(heads))} - {heads.index("distribution")})


def _below_budget(answer: Propagation, result: Result, digits: int | None) -> Iterator[Block]:
    """Yield the lines about a result below its budget."""
    dof = ""
    if not math.isinf(result.dof):
        dof = f", with {format_number(result.dof, digits)} effective degrees of freedom"
    u = format_number(result.uncertainty, digits)
    yield Line(sentence(f"combined standard uncertainty {u}{dof}"))
    expanded = format_number(result.expanded, digits)
    yield Line(sentence(f"expanded uncertainty {expanded} = {result.k:.4g}·u, for {_percent(result.level)}"))
    second = result.second_order
    if second is not None:
        higher = "no number" if second.uncertainty is None else format_number(second.uncertainty, digits)
        moved = f"; the mean moves by {format_number(second.shift, 2)}" if second.shift else ""
        verdict = "this matters" if second.matters else "linear enough"
        yield Line(sentence(f"with second-order terms u is {higher}{moved}: {verdict}"))
    drawn, validation = result.drawn, result.validation
    if drawn is not None and validation is not None:
        moments = (
            f"mean {format_number(drawn.mean, digits)}, standard deviation {format_number(drawn.deviation, digits)}"
        )
        yield Line(sentence(f"{answer.samples:,} draws (seed {answer.seed}): {moments}"))
        low, high = (format_number(x, digits) for x in drawn.shortest)
        yield Line(sentence(f"shortest interval of {_percent(result.level)} of them: from {low} to {high}"))
        yield Line(
            sentence(
                f"its ends are {validation.low:.2g} and {validation.high:.2g} from those of the first order, and the "
                f"tolerance is {validation.tolerance:.2g}: {JUDGED[validation.valid]}"
            )
        )
        if validation.valid is None:
            yield Line(sentence(f"(the ends scatter by {drawn.scatter:.2g} from one such series of draws to the next)"))
