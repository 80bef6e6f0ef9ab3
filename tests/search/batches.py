"""A kind of search: whether rows of data get the numbers and the words of single points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import autodiff_cli
from autodiff_cli.capabilities.derivatives.gradient import gradient_of
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.base import NO_RESULT
from autodiff_cli.engine.numbers.running_error import RUNNING, Bounded
from autodiff_cli.engine.run.flat_graph import Graph
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.builder import Program
from autodiff_cli.questions.problem import parse

from . import balls, formulas
from .digits import WRONG, computed_gradient, relative_error
from .report import Report

ROWS = 200
"""Rows of each formula."""
CLOSE = 1e-12
"""Numbers of a row and of its point that are as near as this need no reference."""


def rows(rng: Random, report: Report) -> None:
    """Values, gradients and errors of rows, by each backend, beside those of the points alone."""
    tree = formulas.formula(rng)
    text, names = formulas.text_of(tree), sorted(formulas.names_in(tree))
    points = [formulas.point(rng, names) for _ in range(ROWS)]
    report.count("formulas")
    program, single = parse(text), _singly(text, points)
    columns = {name: [float(point[name]) for point in points] for name in names}
    for backend in ("numpy", "llvm"):
        try:
            answers = autodiff_cli.rows(text, backend=backend)(columns)
        except ExpressionError as error:
            report.sample(f"{backend}: {error}", {"text": text})
            continue
        heads = ["value", *[f"d_{name}" for name in names]]
        for k, (point, alone) in enumerate(zip(points, single, strict=True)):
            report.count("points")
            row = [answers[head][k] for head in heads]
            found = {"text": text, "at": point, "backend": backend, "row": row}
            said = answers["error"][k]
            if said is not None or isinstance(alone, str):
                if said == alone:
                    continue
                if any(
                    (beside is None) == (said is None) for beside in _errors_beside(program, point)
                ):
                    report.count(
                        "rows with another error than alone, where the last digit of a variable"
                        " makes one"
                    )
                else:
                    report.fault("another error", {**found, "error": said, "alone": alone})
            elif _are_close(row, alone) or not _is_worse(tree, point, row, alone):
                continue
            elif _are_within_rounding(program.graph, point, row, alone):
                report.count("rows that are wrong, and right alone, within a bound on rounding")
            else:
                report.fault("another number", {**found, "alone": alone})


def _singly(text: str, points: Sequence[Mapping[str, str]]) -> list[list[float] | str]:
    """Return the numbers of each point, or its error as rows write it."""
    compute, found = computed_gradient(text), list[list[float] | str]()
    for point in points:
        try:
            found.append(
                [*compute(",".join(f"{name}={float(value)!r}" for name, value in point.items()))]
            )
        except ExpressionError as error:
            found.append(f"{error.kind}: {error}")
    return found


def _errors_beside(program: Program, point: Mapping[str, str]) -> Iterator[str | None]:
    """Yield the error, or None, where a variable has its last digit changed."""
    at = {name: float(value) for name, value in point.items()}
    for name, value in at.items():
        for towards in (-math.inf, math.inf):
            try:
                gradient_of(program, {**at, name: math.nextafter(value, towards)})
            except ExpressionError as error:
                yield str(error)
            else:
                yield None


def _are_close(row: Sequence[Any], alone: Sequence[float]) -> bool:
    return all(
        x is not None and math.isclose(x, y, rel_tol=CLOSE) for x, y in zip(row, alone, strict=True)
    )


def _is_worse(
    tree: formulas.Tree, point: Mapping[str, str], row: Sequence[Any], alone: Sequence[float]
) -> bool:
    """Return whether a number of a row is wrong that is right at its point alone."""
    try:
        found = balls.reference(tree, point)
    except (balls.Undefined, balls.Kink, balls.Undecided):
        return False
    for k, exact in enumerate(found.numbers):
        right = None if k in found.zeros else exact
        if relative_error(alone[k], right) <= WRONG and (
            row[k] is None or relative_error(row[k], right) > WRONG
        ):
            return True
    return False


def _are_within_rounding(
    graph: Graph, point: Mapping[str, str], row: Sequence[Any], alone: Sequence[float]
) -> bool:
    """Return whether the last digits of the functions on the way may make the difference."""
    at = {name: Bounded(float(value)) for name, value in point.items()}
    try:
        found = value_and_gradient(RUNNING, graph, at, sorted(at))
    except (ExpressionError, *NO_RESULT):
        return True
    bounds = [found.value, *[found.gradient[name] for name in sorted(at)]]
    errors = [getattr(x, "error", 0.0) for x in bounds]
    return all(
        x is not None and abs(x - y) <= 2 * error
        for x, y, error in zip(row, alone, errors, strict=True)
    )
