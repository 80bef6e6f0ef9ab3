"""A Propagation in every form: the budget as a table, as rows, as a record, on one line, and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..uncertainty.measured_value import estimate
from ..uncertainty.propagate import Propagation, Result
from .characters import Theme, on_one_line, shortened
from .document import Block, Line, Table, circumstances, matrix_table, named_row, sentence
from .formats import OutputRow, View, remarks
from .numerals import format_number, repr_number
from .plots import pictures

COLUMNS = (
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
JUDGED = {
    True: "the first order is valid here",
    False: "the first order is not valid here, use the draws",
    None: "these are too few draws to tell",
}
"""What holding the first-order result against the draws has come to: JCGM 101, 8.1.3."""


def view(*, digits: int | None = None, sort: bool = False, theme: Theme = "auto") -> View[Propagation]:
    """How a result with its uncertainty is shown; `digits` is for people only, `sort` puts the largest share first."""

    def ordered(result: Result) -> list[str]:
        names = list(result.budget)
        return sorted(names, key=lambda name: -result.budget[name].contribution) if sort else names

    def record(answer: Propagation) -> dict[str, object]:
        return {
            "results": [_result_record(result, ordered(result)) for result in answer.results],
            "inputs": {
                name: {
                    "estimate": each.estimate,
                    "uncertainty": each.uncertainty,
                    "distribution": each.distribution.family,
                    "parameters": list(each.distribution.parameters),
                    "dof": _finite(each.distribution.dof),
                    "readings": each.readings or None,
                }
                for name, each in answer.inputs.items()
            },
            "correlation": answer.correlation,
            "outputs": [result.output for result in answer.results],
            "covariance": answer.covariance,
            "output_correlation": answer.output_correlation,
            "samples": answer.samples or None,
            "seed": answer.seed if answer.samples else None,
            "point": answer.point,
            **remarks(answer),
        }

    def rows(answer: Propagation) -> Iterator[OutputRow]:
        for result in answer.results:
            for name in ordered(result):
                share, given = result.budget[name], answer.inputs[name]
                yield {
                    "output": result.output,
                    "quantity": name,
                    "estimate": repr_number(given.estimate),
                    "uncertainty": repr_number(given.uncertainty),
                    "distribution": given.distribution.family,
                    "dof": repr_number(_finite(given.distribution.dof)),
                    "sensitivity": repr_number(share.sensitivity),
                    "contribution": repr_number(share.contribution),
                    "share": repr_number(share.share),
                }
            yield {
                "output": result.output,
                "estimate": repr_number(result.value),
                "uncertainty": repr_number(result.uncertainty),
                "dof": repr_number(_finite(result.dof)),
                "k": repr_number(result.k),
                "expanded": repr_number(result.expanded),
            }

    def brief(answer: Propagation) -> str:
        return "; ".join(
            f"{repr_number(each.value)} u={repr_number(each.uncertainty)} "
            f"U={repr_number(each.expanded)} k={repr_number(each.k)}"
            for each in answer.results
        )

    def document(answer: Propagation) -> Iterator[Block]:
        several = len(answer.results) > 1
        for k, result in enumerate(answer.results):
            if k:
                yield Line((("", ""),))
            name = result.output if several or "output" not in result.output else "result"
            yield Line(((name, "heading"), (" = ", "faint"), (result.written, "number")))
            yield Line(((name, "heading"), (" = ", "faint"), (result.interval, "number"), (_covered(result), "faint")))
            if not several:
                yield from circumstances(answer.constants, answer.point, answer.inputs, digits)
            yield _budget(answer, result, ordered(result), digits)
            yield from _told(answer, result, digits)
        if several:
            yield from circumstances(answer.constants, answer.point, answer.inputs, digits)
        if answer.correlation:
            yield matrix_table(
                "correlation", list(answer.inputs), [row.values() for row in answer.correlation.values()]
            )
        if several:
            outputs = [result.output for result in answer.results]
            yield matrix_table("covariance of the outputs", outputs, answer.covariance, digits)
            yield matrix_table("correlation of the outputs", outputs, answer.output_correlation)
        if answer.interrupted:
            yield Line((("interrupted: these are the draws that were made", "heading"),))

    def picture(answer: Propagation, format: str) -> bytes:
        from .plots.uncertainty_budget import budget_figure

        return budget_figure(answer, format, shortened(on_one_line(answer.text)), theme)

    return View(record, rows, brief, document, COLUMNS, pictures(picture))


def _finite(x: float) -> float | None:
    return None if math.isinf(x) else x


def _result_record(result: Result, names: Sequence[str]) -> dict[str, object]:
    second, drawn, validation = result.second_order, result.drawn, result.validation
    return {
        "output": result.output,
        "value": result.value,
        "uncertainty": result.uncertainty,
        "dof": _finite(result.dof),
        "k": result.k,
        "level": result.level,
        "expanded": result.expanded,
        "written": result.written,
        "interval": result.interval,
        "budget": {name: result.budget[name]._asdict() for name in names},
        "second_order": None if second is None else second._asdict(),
        "draws": None
        if drawn is None
        else {name: list(found) if isinstance(found, tuple) else found for name, found in drawn._asdict().items()},
        "validation": None if validation is None else validation._asdict(),
    }


def _covered(result: Result) -> str:
    """For which level, in words."""
    return f", for {_percent(result.level)}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share + 0.0:.4g} %"


def _budget(answer: Propagation, result: Result, names: Sequence[str], digits: int | None) -> Table:
    """The table of the inputs; a column of degrees of freedom only where some are known."""
    with_dof = any(not math.isinf(each.distribution.dof) for each in answer.inputs.values())
    heads = ["quantity", "estimate", "u", "distribution", "dof", "sensitivity", "contribution", "share"]
    rows = []
    for name in names:
        given, share = answer.inputs[name], result.budget[name]
        dof = "∞" if math.isinf(given.distribution.dof) else format_number(given.distribution.dof, digits)
        shown = [
            *estimate(given.estimate, given.uncertainty),
            given.distribution.family,
            dof,
            format_number(share.sensitivity, digits),
            format_number(share.contribution, digits),
            "–" if share.share is None else f"{100 * share.share + 0.0:.1f} %",
        ]
        rows.append(named_row((name, "name"), *(shown if with_dof else [*shown[:3], *shown[4:]])))
    if not with_dof:
        heads.remove("dof")
    right = frozenset(range(1, len(heads))) - {heads.index("distribution")}
    return Table(tuple(heads), rows, right)


def _told(answer: Propagation, result: Result, digits: int | None) -> Iterator[Block]:
    """What there is to say of a result below its budget."""
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
