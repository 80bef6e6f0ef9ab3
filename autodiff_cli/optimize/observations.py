"""The data of a fit: which columns are what, how certain they are, and a program at all of their rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..batched.evaluator import Evaluator, gradient_recorder
from ..errors import ExpressionError, point_error
from ..inputs.bounds import Range
from ..inputs.parse_point import split
from ..language.builder import Program
from ..language.tokens import has_unit_literals

Spread = str | float
"""A standard uncertainty of a quantity: a number, the name of a column, or as `2%` a share of its values."""

Sigma = float | str | Mapping[str, Spread]
"""Uncertainties as they are typed: that of the response, or several by name."""


def percentage(spread: Spread | None) -> float | None:
    """Return the number of a share in percent; None for another uncertainty."""
    text = spread.strip().removesuffix("%") if isinstance(spread, str) and spread.strip().endswith("%") else ""
    try:
        return float(text)
    except ValueError:
        return None


def parse_sigma(sigma: Sigma | None, response: str) -> dict[str, Spread]:
    """Return standard uncertainties by name from what `--sigma` or `sigma=` holds: `0.1`, `2%`, `s`, `y=s,x=0.1`.

    Raises `ExpressionError` (`point`) for what is none.
    """
    if sigma is None or isinstance(sigma, Mapping):
        return dict(sigma or {})
    if not isinstance(sigma, str):
        return {response: sigma}
    spreads: dict[str, Spread] = {}
    for part in split(sigma) if "=" in sigma else [f"={sigma}"]:
        name, equals, spread = (piece.strip() for piece in part.rpartition("="))
        if not equals or not spread or (name in spreads):
            what = f"`{part.strip()}` gives no uncertainty" if part.strip() else "an uncertainty is missing at a comma"
            message = f"`{name}` is given twice" if name in spreads else what
            raise point_error(message, 'write `--sigma 0.1`, `--sigma 2%`, `--sigma s`, or `--sigma "y=s,x=0.1"`')
        try:
            spreads[name or response] = float(spread)
        except ValueError:
            spreads[name or response] = spread
    return spreads


class FitFormula(NamedTuple):
    """A formula with what it explains."""

    program: Program
    response: str
    """The column that it explains, or the formula of columns, as it is written."""
    transform: Program | None
    """The formula of columns that it explains; None where it explains a column."""

    @property
    def measured(self) -> list[str]:
        """The columns that are explained."""
        return [self.response] if self.transform is None else [*self.transform.variables]

    @property
    def has_unit_literals(self) -> bool:
        """Whether it has numbers with units."""
        return has_unit_literals(self.program.text) or (
            self.transform is not None and has_unit_literals(self.transform.text)
        )

    @property
    def of_sigma(self) -> str:
        """The name of an uncertainty without one: the only column that was measured."""
        return self.measured[0] if len(self.measured) == 1 else self.response


class FitInputs(NamedTuple):
    """The numbers that a fit starts from."""

    columns: Mapping[str, Sequence[float]]
    point: dict[str, float | str]
    fixed: dict[str, float | str]
    bounds: dict[str, Range]
    sigma: Sigma | None
    predict: Mapping[str, Sequence[float]]


class Observations(NamedTuple):
    """The data of a fit: which columns are what, and how rows are weighted."""

    columns: Mapping[str, Sequence[float]]
    response: str
    predictors: list[str]
    sigma: Mapping[str, Spread]
    """The standard uncertainties of response, predictors or columns in `transform`."""
    weights: str | None
    """A column that is proportional to the inverse of the square of the response's uncertainty."""
    transform: Program | None
    """The formula of the response by columns, as `log(U)`; None for a column."""

    @property
    def has_sigma(self) -> bool:
        """Whether the uncertainty of the response is given."""
        return any(name not in self.predictors for name in self.sigma)

    def uncertainty(self, name: str) -> Any:
        """Return the standard uncertainty of a column in each row, or 0."""
        import numpy as np

        spread = self.sigma.get(name, 0.0)
        share = percentage(spread) if spread not in self.columns else None
        if share is not None:
            numbers = share / 100 * np.abs(np.array(self.columns[name], dtype=float))
        else:
            numbers = np.array(self.columns[spread] if isinstance(spread, str) else [spread], dtype=float)
        if name in self.sigma:
            where = f"column `{spread}`" if isinstance(spread, str) and share is None else "`--sigma`"
            _check_positive(numbers, where, "uncertainty", or_zero=name != self.response)
        return np.broadcast_to(numbers, len(self.columns[name]))

    def root_weights(self) -> Any:
        """Return the root of the weight of each row. Raises `ExpressionError`."""
        import numpy as np

        rows = len(self.columns[self.response])
        if self.response in self.sigma:
            return 1 / self.uncertainty(self.response)
        if self.has_sigma and self.transform is not None:
            # the uncertainty of a formula of columns follows from its exact derivatives
            names = [name for name in self.transform.variables if name in self.sigma]
            _, slopes, _ = ProgramOverRows(self.transform, names)(self.columns, rows)
            spreads = [slope * self.uncertainty(name) for name, slope in zip(names, slopes, strict=True)]
            spread = np.sqrt(np.sum(np.square(spreads), axis=0))
            _check_positive(spread, f"`{self.response}`", "uncertainty")
            return 1 / spread
        if self.weights is None:
            return np.ones(rows)
        numbers = np.array(self.columns[self.weights], dtype=float)
        _check_positive(numbers, f"column `{self.weights}`", "weight", or_zero=True)
        if not np.any(numbers):
            raise point_error(f"all weights in column `{self.weights}` are 0", "a row with weight 0 is left out")
        return np.sqrt(numbers)


def _check_positive(numbers: Any, where: str, what: str, *, or_zero: bool = False) -> None:
    for row, number in enumerate(numbers.tolist()):
        if not (number > 0 or (or_zero and number == 0)):
            place = f" in row {row + 1}" if len(numbers) > 1 else ""
            hint = f"{'an' if what[0] == 'u' else 'a'} {what} is {'0 or above' if or_zero else 'above 0'}"
            raise point_error(f"{where} has the {what} {number:g}{place}", hint)


class ProgramOverRows:
    """A program with its derivatives by some of its variables at all rows of columns."""

    def __init__(self, program: Program, wrt: Sequence[str], constant: Collection[str] = ()) -> None:
        from ..batched.kernels import kernel

        self.names, self.count = list(program.variables), 1 + len(wrt)
        fixed = frozenset(k for k, name in enumerate(self.names) if name in constant)
        self._kernel = kernel(gradient_recorder(program, list(wrt)), len(self.names), fixed, None)
        self._evaluator = Evaluator(program, list(wrt))

    def __call__(self, inputs: Mapping[str, Any], rows: int) -> tuple[Any, Any, dict[int, ExpressionError]]:
        """Return values, derivatives (a row each), and the errors of rows without."""
        import numpy

        from ..batched.kernels import evaluate

        columns = [
            x if isinstance(x, float | numpy.ndarray) else numpy.array(x, dtype=float)
            for x in (inputs[name] for name in self.names)
        ]

        def plain(at: Mapping[str, float]) -> Sequence[float]:
            value, slopes = self._evaluator([at[name] for name in self.names])
            return [value, *slopes]

        block = evaluate(self._kernel, self.names, columns, rows, self.count, plain, lambda row, name: None)
        return block.results[0], block.results[1:], block.errors
