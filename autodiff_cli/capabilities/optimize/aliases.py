"""Periods that rows are too far apart to tell from longer ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .least_squares import Model

MOST_PLACES = 500  # of a predictor
PATH_SAMPLES = 8  # points between two places, at which turns of a curve are seen
ROUNDED_CHANGE = 1e-9  # of a curve, relative


def is_aliased(model: Model, values: Any) -> bool:
    """Return whether a curve turns at least as often as there are places of its predictor."""
    if len(model.rows.columns) != 1 or model.rows.count < len(
        model.data.columns[model.data.response]
    ):
        return False
    ((name, column),) = model.rows.columns.items()
    places = np.unique(column[model.rows.weights > 0])
    if not 2 < len(places) <= MOST_PLACES:
        return False
    shares = np.random.default_rng(1).random((PATH_SAMPLES, len(places) - 1))
    between = np.sort(np.append(places, places[:-1] + shares * np.diff(places)))
    changes = np.diff(model.at_rows({name: between})(values).fitted)
    changes = changes[np.abs(changes) > ROUNDED_CHANGE * np.max(np.abs(changes), initial=0.0)]
    return bool(np.count_nonzero(changes[1:] * changes[:-1] < 0) >= len(places))
