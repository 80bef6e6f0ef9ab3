"""The rows of a fit in its record, and the fit that is made of them again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.quantities.unit import Unit, parse_unit
from ...errors import ExpressionError, point_error
from ...language.builder import Program
from ...language.equation_trees import last_equation
from ...questions.problem import Problem
from ...questions.quantities import in_own_units
from ...record import Record
from .observations import Observations, read_formula

if TYPE_CHECKING:
    from .inference import Inference
    from .least_squares import Model
    from .likelihood import CountDistribution

# Rows, up to which a record has them: they are most of its length.
MAX_KEPT_ROWS = 10_000
# The relative difference of two sums of squares that are the same, up to the digits of a record.
SAME_SUM = 1e-6


class KeptRows(Record):
    """What a fit was made of, as numbers in the units of its answer."""

    formula: str
    columns: dict[str, list[float]]
    weights: list[float] | None
    errors: dict[str, list[float]]
    trials: list[float] | None
    bounds: dict[str, list[float | None]]


def kept_rows(
    text: str, model: Model, trials: list[float] | None, *, counts: bool
) -> KeptRows | None:
    """Return what a model is fitted to; None if there are too many rows. Weights of `counts` follow
    from the curve.
    """
    if model.rows.count > MAX_KEPT_ROWS:
        return None
    import numpy as np

    columns = {name: list(map(float, model.data.columns[name])) for name in model.data.names_used}
    weights = (model.rows.weights**2).tolist()
    bounds = {
        name: [float(end) if math.isfinite(end) else None for end in ends]
        for name, ends in model.problem.bounds.items()
    }
    return KeptRows(
        formula=text,
        columns=columns,
        weights=None if counts or np.all(model.rows.weights == 1) else weights,
        errors={name: np.asarray(x, dtype=float).tolist() for name, x in model.rows.errors.items()},
        trials=trials,
        bounds=bounds,
    )


def refitted(record: Mapping[str, Any], level: float) -> tuple[Inference, CountDistribution | None]:
    """Return the inference of a fit whose record has its rows. Raises `ExpressionError` if they are
    not its own.
    """
    from .inference import Inference
    from .least_squares import polished

    try:
        model, start = _model_of(record)
        family = _family_of(record)
        total = float(record["rss"])
        if family is None:
            found = 2 * model(start).cost
            end = polished(model, start, str(record["method"]))
            inference = Inference(model, end, level, scaled=False)
        else:
            from .likelihood import deviance_at, scored, weighted_at

            found = deviance_at(model, family, start)
            end = scored(model, family, start)
            inference = Inference(weighted_at(model, family, end.values), end, level, scaled=False)
    except (ExpressionError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise _foreign_rows() from None
    # at the estimates, not only at their minimum: another formula may have it too, at other
    # estimates
    if (
        not all(math.isclose(x, total, rel_tol=SAME_SUM) for x in (found, 2 * end.cost))
        or not inference.errors
    ):
        raise _foreign_rows()
    return inference, family


def _foreign_rows() -> ExpressionError:
    message = (
        "the rows in the record of the fit are not those that it was fitted to: they give another"
        " sum of squares"
    )
    return point_error(message, "write the record anew: `autodiff fit … --output fit.json`")


def _family_of(record: Mapping[str, Any]) -> CountDistribution | None:
    """Return the distribution of counts that a fit was made for."""
    if record["loss"] == "linear":
        return None
    import numpy as np

    from .likelihood import CountDistribution

    trials = record["refit"]["trials"]
    return CountDistribution(
        record["loss"], None if record["loss"] == "poisson" else np.array(trials, dtype=float)
    )


def _model_of(record: Mapping[str, Any]) -> tuple[Model, Any]:
    """Return the model of a fit, and the values of its free parameters."""
    import numpy as np

    from .least_squares import FitRows, Model

    kept, response = record["refit"], record["response"]
    columns = {name: [float(x) for x in column] for name, column in kept["columns"].items()}
    values = {name: float(x) for name, x in record["parameters"].items()}
    program = _program_of(record, list(columns), list(values))
    free = [name for name in values if record["held"].get(name) != "fixed"]
    bounds = {
        name: (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        for name, (low, high) in kept["bounds"].items()
    }
    problem = Problem(program, {}, values, [], [], free, bounds)
    predictors = [name for name in program.leaves if name in columns]
    sigma = {response: 1.0} if record["absolute_sigma"] else {}
    model = Model(problem, Observations(columns, response, predictors, sigma, None, None))
    # a negative weight is no number, and gives another sum of squares
    with np.errstate(invalid="ignore"):
        weights = (
            np.ones(model.rows.count)
            if kept["weights"] is None
            else np.sqrt(np.array(kept["weights"], float))
        )
    model.rows = FitRows(model.rows.columns, model.rows.response, weights, {})
    if kept["errors"]:
        model = model.with_errors(
            {name: np.array(x, dtype=float) for name, x in kept["errors"].items()}
        )
    return model, np.array([values[name] for name in free])


def _program_of(
    record: Mapping[str, Any], columns: Sequence[str], parameters: Sequence[str]
) -> Program:
    """Return the program of a fit, for numbers in the units of its answer."""
    text, response = record["refit"]["formula"], record["response"]
    last = last_equation(text)
    # a name that the formula does not give its value was chosen by `--response`, or is a share of
    # successes
    is_written = last is not None and " ".join(last.left.split()) == response
    program = read_formula(text, columns, parameters, None if is_written else response).program
    units = record.get("units")
    if units is None:
        return program
    texts = {**units["parameters"], **units["data"]}
    variables = {
        name: Unit() if texts.get(name) is None else parse_unit(texts[name])
        for name in program.leaves
    }
    return in_own_units(program, variables, [parse_unit(units["data"][response])])
