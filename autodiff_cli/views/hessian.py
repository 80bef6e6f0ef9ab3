"""A Hessian in every form: value, gradient, matrix and eigenvalues."""

from __future__ import annotations

from collections.abc import Iterator

from ..derivatives.hessian import Hessian
from .document import (
    NO_VARIABLES,
    Block,
    Line,
    Table,
    circumstances,
    loss_summary_lines,
    matrix_table,
    partials_table,
    stated,
)
from .formats import OutputRow, View, remarks
from .numerals import format_number, number_fields, repr_number

COLUMNS = ("line", "id", "quantity", "row", "column", "number", "error")
WIDEST = 12
"""A larger matrix is listed entry by entry."""
SHOWN = 3
"""How many directions are named in which the second derivative is 0."""

MEANING = {
    "minimum": "a local minimum: the gradient is 0 and all eigenvalues are positive",
    "maximum": "a local maximum: the gradient is 0 and all eigenvalues are negative",
    "saddle": "a saddle point: the gradient is 0 and the eigenvalues have both signs",
    "flat": "undecided: the gradient is 0, and so is an eigenvalue, within rounding",
    "not stationary": "not a stationary point: the gradient is not 0",
}
CURVATURE = {"convex": "; the function is convex there", "concave": "; the function is concave there"}


def view(*, digits: int | None = None) -> View[Hessian]:
    """How a Hessian is shown; `digits` is for people only."""

    def document(answer: Hessian) -> Iterator[Block]:
        yield stated("value", answer.value, digits)
        yield from loss_summary_lines(answer.over)
        yield from circumstances(answer.constants, answer.point, answer.gradient, digits)
        names = list(answer.gradient)
        if not names:
            yield NO_VARIABLES
            return
        yield partials_table(answer.point, answer.gradient, digits)
        if len(names) <= WIDEST:
            yield matrix_table("Hessian", names, answer.hessian, digits)
        else:
            yield Table(
                ("row", "column", "second derivative"),
                [
                    (((names[i], "name"),), ((names[j], "name"),), ((format_number(x, digits), "number"),))
                    for i, entries in enumerate(answer.hessian)
                    for j, x in enumerate(entries[: i + 1])
                    if float(x)
                ],
                frozenset((2,)),
            )  # fmt: skip
        if answer.eigenvalues is not None:
            listed = ", ".join(format_number(x, digits) for x in answer.eigenvalues)
            yield stated("eigenvalues", listed)
            told = MEANING[answer.verdict]
            if answer.verdict == "not stationary":
                told += CURVATURE.get(answer.curvature, "")
            elif answer.verdict == "flat" and answer.flat:
                told += f", along {' and '.join(answer.flat[:SHOWN])}{', …' if len(answer.flat) > SHOWN else ''}"
            yield Line(((told, ""),))

    def page(answer: Hessian) -> str:
        from .tex import second_derivatives

        return second_derivatives(answer, digits)

    return View(_record, _rows, _brief, document, COLUMNS, latex_formula=page, prefers_table=True, latex_document=page)


def _record(answer: Hessian) -> dict[str, object]:
    numbers = {
        "value": answer.value,
        "gradient": answer.gradient,
        "hessian": answer.hessian,
        "point": answer.point,
    }
    return {
        **number_fields(answer.arithmetic.name, numbers),
        **({} if answer.over is None else {"data": answer.over._asdict()}),
        "variables": list(answer.gradient),
        "eigenvalues": answer.eigenvalues,
        "verdict": answer.verdict,
        "curvature": answer.curvature,
        **remarks(answer),
    }


def _rows(answer: Hessian) -> Iterator[OutputRow]:
    names = list(answer.gradient)
    yield {"quantity": "value", "number": repr_number(answer.value)}
    for name, partial in answer.gradient.items():
        yield {"quantity": "gradient", "row": name, "number": repr_number(partial)}
    for name, entries in zip(names, answer.hessian, strict=True):
        for other, entry in zip(names, entries, strict=True):
            yield {"quantity": "hessian", "row": name, "column": other, "number": repr_number(entry)}
    for x in answer.eigenvalues or ():
        yield {"quantity": "eigenvalue", "number": repr_number(x)}


def _brief(answer: Hessian) -> str:
    names = list(answer.gradient)
    parts = [
        repr_number(answer.value),
        *(f"{name}={repr_number(partial)}" for name, partial in answer.gradient.items()),
    ]
    parts += [
        f"{names[i]},{names[j]}={repr_number(x)}"
        for i, entries in enumerate(answer.hessian)
        for j, x in enumerate(entries[: i + 1])
    ]
    return " ".join(parts)
