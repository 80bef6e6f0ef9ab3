"""The Python function of `fit`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...api.api_answers import Plotted, as_numbers
from ...api.calls import function_of
from ...errors import usage_error
from ...questions.parse_point import is_name
from ..derivatives.program import Program
from . import fit as _fit
from .observations import read_formula


class Fit(Plotted, _fit.Fit, shows=("point", "message")):
    """The parameters of a formula from data, by least squares. Needs the extra `optimize`, a
    picture `plot`.

    `data` are columns by name, or a file that has them; `at` has starts, which parameters need in
    which the formula is not linear.

    >>> answer = fit("y = a + b*x", data={"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]})
    >>> round(answer.parameters["b"].estimate, 6), round(answer.parameters["b"].error, 6)
    (2.02, 0.042426)
    >>> answer.predict(x=[4, 5]).round(6).tolist()
    [9.05, 11.07]
    """

    @property
    def covariance(self) -> list[list[float]] | None:
        """The covariance matrix of the estimates, in the order of `correlation`; None without
        standard errors.
        """
        errors = [self.parameters[name].error for name in self.correlation]
        if None in errors:
            return None
        numbers = [float(error) for error in errors if error is not None]
        rows = [
            [self.correlation[one][other] for other in self.correlation] for one in self.correlation
        ]
        return [
            [r * e * s for r, s in zip(row, numbers, strict=True)]
            for row, e in zip(rows, numbers, strict=True)
        ]

    def predict(self, points: Mapping[str, Any] = MappingProxyType({}), /, **columns: Any) -> Any:
        """Return what the fitted formula predicts, its left side, at values of the predictors:
        numbers, lists, arrays.

        With bands that is `predict` of `fit`. Raises TypeError for a predictor that has no value.
        """
        if self.units is not None:
            hint = "`fit(…, predict=…)` predicts with units"
            raise usage_error("the fit has units, and `predict` takes numbers without", hint)
        given = {**points, **columns}
        response = self.response if is_name(self.response) else None
        program = Program(read_formula(self.text, [*self.columns], [], response).program)
        known = {
            name: self.point[name]
            for name in program.parameters
            if name in self.point and name not in given
        }
        return program(**known, **given)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers([each.estimate for each in self.parameters.values()], dtype)


fit = function_of(Fit, "fit", "data", "at")
