"""The view of a Propagation."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar

from ...questions.measured_value import estimate, plus_minus, rounded
from ...show.document import (
    Block,
    Paragraph,
    Table,
    input_lines,
    matrix_table,
    numbers_table,
    text_line,
    value_line,
)
from ...show.numerals import attach_units, format_number, percent, unit_of, word
from ...show.outward import outward
from ...show.schema import PICTURES, OutputRow, PicturedView, Values
from .propagate import Propagation, Result
from .worst_case import WorstCase

# What the comparison with the draws shows: JCGM 101, 8.1.3.
VALIDATION_TEXTS = {
    True: "the first order is valid here",
    False: "the first order is not valid here, use the draws",
    None: "there are too few draws to decide",
}


def _finite(x: float) -> float | None:
    return None if math.isinf(x) else x


class PropagationView(PicturedView[Propagation], of=Propagation):
    """How results with their uncertainties are shown."""

    computed: ClassVar[Values] = {
        "results.dof": lambda result: _finite(result.dof),
        "inputs.dof": lambda entry: _finite(entry.distribution.dof),
        "outputs": lambda answer: [result.output for result in answer.results],
        "seed": lambda answer: answer.seed if answer.samples else None,
    }
    latex_writer, figure = "propagate.propagate_latex.budget_tables", "plot.figure.budget_picture"

    extra_formats: ClassVar[tuple[str, ...]] = (*PICTURES, "html")
    sort: bool = False

    def draw(self, answer: Propagation, format: str) -> bytes:
        if format != "html":
            return super().draw(answer, format)
        from .propagate_page import budget_page  # few answers are pages

        return budget_page(
            answer, self.document(self.select_with_units(answer)), self.title
        ).encode()

    def select(self, answer: Propagation) -> Propagation:
        if not self.sort:
            return answer
        results = []
        for result in answer.results:
            ranked = sorted(result.budget.items(), key=lambda item: -item[1].contribution)
            results.append(result._replace(budget=dict(ranked)))
        return answer._replace(results=results)

    def rows(self, answer: Propagation) -> Iterator[OutputRow]:
        for result in answer.results:
            for name, share in result.budget.items():
                entry = answer.inputs[name]
                row = {"output": result.output, "quantity": name, **share._asdict()}
                row |= {"estimate": entry.estimate, "uncertainty": entry.uncertainty}
                yield row | {
                    "distribution": entry.distribution.family,
                    "dof": _finite(entry.distribution.dof),
                }
            row = {
                "output": result.output,
                "estimate": result.value,
                "uncertainty": result.uncertainty,
            }
            expanded = attach_units(result.expanded, unit_of(result.uncertainty))
            yield row | {"dof": _finite(result.dof), "k": result.k, "expanded": expanded}

    def cells(self, answer: Propagation) -> Iterator[dict[str, Any]]:
        cells: dict[str, Any] = {}
        for result in answer.results:
            value, before = (
                (result.output, f"{result.output}_") if len(answer.results) > 1 else ("value", "")
            )
            numbers = {value: result.value, f"{before}uncertainty": result.uncertainty}
            numbers[f"{before}expanded"] = result.expanded
            unit = unit_of(result.value)
            cells |= attach_units(numbers, dict.fromkeys(numbers, unit)) | {
                f"{before}result": result.written
            }
        yield cells

    def one_line(self, answer: Propagation) -> str:
        texts = []
        for result in answer.results:
            numbers = (result.value, result.uncertainty, result.expanded)
            value, u, expanded = map(word, attach_units(numbers, [unit_of(result.value)] * 3))
            text = f"{value} u={u} U={expanded} k={word(result.k)}"
            if result.profile is not None:
                low, high = (
                    word(math.copysign(math.inf, sign) if x is None else x)
                    for x, sign in zip(result.profile, (-1, 1), strict=True)
                )
                text += f" profile={low}..{high}"
            if result.drawn is not None:
                ends = attach_units(result.drawn.shortest, [unit_of(result.value)] * 2)
                text += " draws={}..{}".format(*map(word, ends))
            if (case := result.worst_case) is not None:
                text += f" low={word(case.low)} high={word(case.high)}"
                if case.proven_low is not None:
                    text += f" proven={word(case.proven_low)}..{word(case.proven_high)}"
            texts.append(text)
        return "; ".join(texts)

    def document(self, answer: Propagation) -> Iterator[Block]:
        several = len(answer.results) > 1
        for k, result in enumerate(answer.results):
            if k:
                yield Paragraph((("", ""),))
            name = result.output if several or "output" not in result.output else "result"
            unit = _unit(result)
            yield value_line(name, _written(result, unit))
            interval = plus_minus(float(result.value), float(result.expanded), result.k, unit)
            yield Paragraph(
                (*value_line(name, interval).pieces, (f", for {percent(result.level)}", "faint"))
            )
            if result.profile is not None:
                yield text_line(f"{name} {self._profile_in_words(result)}")
            if not several:
                yield from input_lines(answer.constants, answer.point, answer.inputs, self.digits)
            yield _budget(answer, result, self.digits)
            yield from (text_line(text) for text in self._below_budget(answer, result))
        if several:
            yield from input_lines(answer.constants, answer.point, answer.inputs, self.digits)
        if answer.correlation:
            rows = [row.values() for row in answer.correlation.values()]
            yield matrix_table("correlation", list(answer.inputs), rows)
        if several:
            outputs = [result.output for result in answer.results]
            head = "covariance of the outputs"
            if answer.units is not None:
                head += f" ({', '.join(_unit(result).strip() or '1' for result in answer.results)})"
            yield matrix_table(head, outputs, answer.covariance, self.digits)
            yield matrix_table("correlation of the outputs", outputs, answer.output_correlation)
        if answer.interrupted:
            yield Paragraph((("interrupted: these are the draws that were made", "heading"),))

    def _profile_in_words(self, result: Result) -> str:
        assert result.profile is not None
        low, high = result.profile
        ends = (
            f"from {'-∞' if low is None else self.number(low)} to"
            f" {'∞' if high is None else self.number(high)}"
        )
        return f"{ends}{_unit(result)}, for {percent(result.level)}, by the profile of the fit"

    def _below_budget(self, answer: Propagation, result: Result) -> Iterator[str]:
        number, unit, level = self.number, _unit(result), percent(result.level)
        dof = (
            ""
            if math.isinf(result.dof)
            else f", with {number(result.dof)} effective degrees of freedom"
        )
        yield f"combined standard uncertainty {number(float(result.uncertainty))}{unit}{dof}"
        yield (
            f"expanded uncertainty {number(result.expanded)}{unit} = {result.k:.4g}·u, for {level}"
        )
        second = result.second_order
        if second is not None:
            higher = (
                "no number" if second.uncertainty is None else number(second.uncertainty) + unit
            )
            moved = (
                f"; the mean moves by {format_number(second.shift, 2)}{unit}"
                if second.shift
                else ""
            )
            # the warning says the rest
            verdict = "" if second.matters else ": linear enough"
            yield f"with second-order terms u is {higher}{moved}{verdict}"
        case = result.worst_case
        if case is not None:
            sizes = [number(float(x)) + unit for x in (case.above, case.below)]
            sizes = sizes[:1] if sizes[0] == sizes[1] else sizes
            signed = f"±{sizes[0]}" if len(sizes) == 1 else f"+{sizes[0]} −{sizes[1]}"
            ends = f"from {number(float(case.low))} to {number(float(case.high))}{unit}"
            yield f"worst case to first order, the sum of |sensitivity|·limit: {signed}, {ends}"
            yield _proven_in_words(case, self.digits, unit)
        drawn, validation = result.drawn, result.validation
        if drawn is not None and validation is not None:
            moments = (
                f"mean {number(drawn.mean)}{unit}, standard deviation"
                f" {number(drawn.deviation)}{unit}"
            )
            yield f"{answer.samples:,} draws (seed {answer.seed}): {moments}"
            low, high = map(number, drawn.shortest)
            yield f"shortest interval of {level} of them: from {low} to {high}{unit}"
            low, high, tolerance = (
                f"{x:.2g}{unit}" for x in (validation.low, validation.high, validation.tolerance)
            )
            yield (
                f"its ends are {low} and {high} from those of the first order, and the tolerance is"
                f" {tolerance}: {VALIDATION_TEXTS[validation.valid]}"
            )
            if validation.valid is None:
                yield (
                    f"(the ends scatter by {drawn.scatter:.2g}{unit} from one such series of draws"
                    " to the next)"
                )


def _proven_in_words(case: WorstCase, digits: int | None, unit: str) -> str:
    if case.proven_low is None or case.proven_high is None:
        return "no range is proven for all values within the limits"
    low, high = (
        outward(float(x), digits, up=up)
        for x, up in ((case.proven_low, False), (case.proven_high, True))
    )
    return f"all values within the limits: from {low} to {high}{unit}, proven"


def _written(result: Result, unit: str) -> str:
    """Return a result with its standard uncertainty, and without the power of ten that it may
    have.
    """
    written = result.written + unit
    value, u = float(result.value), float(result.uncertainty)
    of = rounded(value, u, filled=True)
    return (
        f"{written} = {plus_minus(value, u, unit=unit)}"
        if "e" in result.written and of and not of.power
        else written
    )


def _unit(result: Result) -> str:
    return f" {unit_of(result.value) or ''}".rstrip()


def _budget(answer: Propagation, result: Result, digits: int | None) -> Table:
    with_dof = any(not math.isinf(quantity.distribution.dof) for quantity in answer.inputs.values())
    rows: list[tuple[float | str, ...]] = []
    for name, share in result.budget.items():
        entry = answer.inputs[name]
        dof = "∞" if math.isinf(entry.distribution.dof) else entry.distribution.dof
        numbers = (entry.estimate, entry.uncertainty)
        texts = zip(estimate(*numbers), map(unit_of, numbers), strict=True)
        value, u = (f"{text} {unit or ''}".rstrip() for text, unit in texts)
        slope, contribution = (
            format_number(x, digits) for x in (share.sensitivity, share.contribution)
        )
        percentage = "–" if share.share is None else f"{100 * share.share + 0.0:.1f} %"
        row = (name, value, u, entry.distribution.family, *(dof,) * with_dof)
        rows.append((*row, slope, contribution, percentage))
    heads = (
        "quantity",
        "estimate",
        "u",
        "distribution",
        *("dof",) * with_dof,
        "sensitivity",
        "contribution",
        "share",
    )
    return numbers_table(
        heads, rows, digits, right={*range(1, len(heads))} - {heads.index("distribution")}
    )
