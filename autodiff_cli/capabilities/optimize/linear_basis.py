"""Parameters that doubles do not tell apart, in many digits: independent combinations, linear fits
in their terms.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...compiled.kernels import Block
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers.budget import ROW_GRADIENT, charge, use_share
from ...engine.numerics.linear_algebra import Matrix
from ...errors import Diagnosed, ExpressionError
from ...questions.arithmetic import Arithmetic
from .least_squares import (
    NULL_SINGULAR_VALUE,
    ROUNDED_OFF,
    SQUARES,
    TERM_ROUNDING,
    Loss,
    Model,
    rounding_errors,
)
from .normal_equations import NormalEquations

DIGITS = 300
DEPENDENT = 1e-200  # squared distance of a column from the others, relative
ROUNDED_TO_0 = 1e-100  # share of a parameter that is rounding in so many digits
SHORT_DECIMALS = 15  # digits of a number that was not rounded to a double
MAX_CHANGE = 0.1  # of a squared distance, by the last digits of the data
MAX_CONDITION = 1e6  # of a linear fit in doubles to few rows
FEW_ROWS = 1000  # rows
BUDGET_SHARE = 0.5  # of the work; the rest is for the answer in doubles
SHARE = 200  # rows that may suffice to tell parameters apart


class _KeptSlopes(NormalEquations):
    """Normal equations that keep the value and the derivatives of each row."""

    def __init__(self, m: Any, *arguments: Any) -> None:
        super().__init__(m, *arguments)
        self.kept: dict[int, tuple[Any, list[Any]]] = {}

    def _value_and_slopes(self, row: int, inputs: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        self.kept[row] = super()._value_and_slopes(row, inputs)
        return self.kept[row]


class _LastDigits(NormalEquations):
    """Normal equations whose data differ at random by the rounding of doubles."""

    def __init__(self, m: Any, *arguments: Any) -> None:
        super().__init__(m, *arguments)
        self.draw = random.Random(1)

    def _number(self, name: str, value: float | str) -> Any:
        x = super()._number(name, value)
        return (
            x * (1 + self.draw.choice((-1, 1)) * self.m.number(2.0**-53))
            if _is_rounded(value)
            else x
        )


def _is_rounded(value: Any) -> bool:
    text = getattr(value, "source", None)
    digits = (
        "".join(filter(str.isdigit, text.casefold().partition("e")[0])).strip("0") if text else ""
    )
    return (len(digits) > SHORT_DECIMALS or not text) and not float(value).is_integer()


class LinearBasis:
    """Independent combinations of the parameters of a model at a point, by Gram and Schmidt in many
    digits.

    A combination of the derivatives is 0 where its length is, or where the last digits of the data
    decide it.
    """

    equations_of: type[NormalEquations] = NormalEquations

    def __init__(
        self, model: Model, values: Sequence[float], rows: Sequence[int] | None = None
    ) -> None:
        from ...engine.numbers.multiprecision import Multiprecision

        self.m, problem, data = Multiprecision(DIGITS, decimals=True), model.problem, model.data
        held = {
            name: Arithmetic("precision")._value(self.m, name, problem.point[name])
            for name in model.parameters.held
        }
        rows = model.rows.weights.nonzero()[0].tolist() if rows is None else rows
        self.equations = self.equations_of(self.m, problem, data, rows, held)
        self.names, start = model.parameters.free, [self.m.number(x) for x in values]
        _, self.left, gram = self.equations.sums(start)
        self.columns: Matrix = []  # each of length 1 in the derivatives of the rows, or 0
        self.null: list[dict[str, float]] = []
        self.squares = [gram[k][k] for k in range(len(start))]
        self.sizes = np.array([_double(self.m.sqrt(square)) for square in self.squares])
        self.null_columns: Matrix = []
        beside: Matrix = []
        other = gram
        if any(map(_is_rounded, chain(*[data.columns[name] for name in data.predictors]))):
            other = _LastDigits(self.m, problem, data, rows, held).sums(start)[2]
        for k in range(len(start)):
            column, square = self._orthogonal(k, gram, self.columns)
            near, near_square = self._orthogonal(k, other, beside)
            if square > 0 and near_square > 0 and abs(near_square / square - 1) < MAX_CHANGE:
                self.columns.append([x / self.m.sqrt(square) for x in column])
                beside.append([x / self.m.sqrt(near_square) for x in near])
                continue
            self.null_columns += [column] if self.sizes[k] else []
            self.null.append(self._direction(column))
            self.columns.append([self.m.number(0)] * len(start))
            beside.append(self.columns[-1])

    def _direction(self, column: Sequence[Any]) -> dict[str, float]:
        """Return the parameters that have a part in a direction, with their parts."""
        parts = np.array([_double(x) for x in column])
        shares = np.abs(parts) * (self.sizes + (self.sizes == 0))
        pairs = zip(
            self.names, parts.tolist(), (shares > 1e-6 * np.max(shares)).tolist(), strict=True
        )
        return {name: x for name, x, is_part in pairs if is_part}

    def _orthogonal(self, k: int, gram: Matrix, columns: Matrix) -> tuple[list[Any], Any]:
        column = [self.m.number(i == k) for i in range(len(gram))]
        for other in columns:
            share = _product(other, gram[k])
            column = [x - share * y for x, y in zip(column, other, strict=True)]
        square, size = _product(column, [_product(row, column) for row in gram]), gram[k][k]
        is_null = square <= DEPENDENT * size or not _double(self.m.sqrt(size))
        return column, self.m.number(0) if is_null else square


class ManyDigits(LinearBasis):
    """A linear model over rows in terms of θ, where its derivatives are orthonormal: b = T·θ in
    many digits.
    """

    equations_of = _KeptSlopes
    equations: _KeptSlopes

    def __init__(self, model: Model, start: Any) -> None:
        super().__init__(model, [0.0] * len(model.parameters.free))
        self.data = model.rows.columns
        theta = [-_product(column, self.left) for column in self.columns]
        self.matrix = [*map(list, zip(*self.columns, strict=True))]
        self.values = self._without_roundings(
            self._nearest([_product(row, theta) for row in self.matrix], start.tolist())
        )
        self.theta = _doubles(theta)
        lengths = [self.m.sqrt(_product(row, row)) for row in self.matrix]
        pairs = zip(self.matrix, lengths, strict=True)
        units = np.array([_doubles(x / (length or 1) for x in row) for row, length in pairs])
        self.lengths = _doubles(x or 1 for x in lengths)
        self.correlation = units @ units.T
        self._in_doubles = model._over_rows if model.is_determined(start) else None
        self._held, self._transposed = (
            model.parameters.held,
            np.array([*map(_doubles, self.columns)]),
        )
        columns = {name: model.data.columns[name] for name in self.data}
        self._of_data = self._block(columns, model.rows.count, self.equations.kept)
        self.equations.kept.clear()

    def _without_roundings(self, values: list[Any]) -> list[Any]:
        """Return numbers with 0 in place of those that are 0 but for rounding."""
        shares = np.abs(self.sizes * _doubles(values))
        is_rounding = ((shares <= ROUNDED_TO_0 * np.max(shares)) & (self.sizes > 0)).tolist()
        return [
            self.m.number(0) if is_0 else x for x, is_0 in zip(values, is_rounding, strict=True)
        ]

    def _nearest(self, values: list[Any], start: Sequence[float]) -> list[Any]:
        # along null directions values are as near to the start as they can be
        directions: Matrix = []
        for column in self.null_columns:
            direction = column
            for other in directions:
                share = self._scaled_product(other, column)
                direction = [x - share * y for x, y in zip(direction, other, strict=True)]
            length = self.m.sqrt(self._scaled_product(direction, direction))
            directions.append([x / length for x in direction])
        for direction in directions:
            share = self._scaled_product(
                direction, [x - y for x, y in zip(values, start, strict=True)]
            )
            values = [x - share * y for x, y in zip(values, direction, strict=True)]
        starts = zip(values, start, self.sizes.tolist(), strict=True)
        return [x if size else self.m.number(begin) for x, begin, size in starts]

    def _scaled_product(self, a: Sequence[Any], b: Sequence[Any]) -> Any:
        return _product(a, [x * square for x, square in zip(b, self.squares, strict=True)])

    def __call__(self, inputs: Mapping[str, Any], rows: int) -> Block:
        """Return the values, then the derivatives by θ, at rows of predictors and at θ."""
        columns = {name: inputs[name] for name in self.data}
        if all(columns[name] is column for name, column in self.data.items()):
            block = self._of_data
        elif rows > FEW_ROWS and self._in_doubles is not None:
            block = self._block_in_doubles(self._in_doubles, columns, rows)
        else:
            block = self._block(columns, rows, {})
        fitted, *slopes = block.results
        change = np.array([inputs[name] for name in self.names]) - self.theta
        return block._replace(results=np.array([fitted + change @ np.array(slopes), *slopes]))

    def parameters(self, theta: Any, loss: Loss) -> list[float]:
        """Return the parameters at θ as doubles; of a sum of squares those where it is least,
        without rounding.
        """
        if loss == SQUARES:
            return [_double(x) for x in self.values]
        change = [self.m.number(x) for x in (theta - self.theta).tolist()]
        return [
            _double(x + _product(row, change))
            for x, row in zip(self.values, self.matrix, strict=True)
        ]

    def _in_many_digits(self, point: Mapping[str, float]) -> tuple[Any, list[Any]]:
        equations = self.equations
        inputs = {**equations.held, **dict.fromkeys(self.names, self.m.number(0))}
        inputs |= {name: equations._number(name, x) for name, x in point.items()}
        swept = value_and_gradient(self.m, equations.output, inputs, self.names)
        return swept.value, [*swept.gradient.values()]

    def _block(
        self,
        columns: Mapping[str, Sequence[float]],
        rows: int,
        kept: Mapping[int, tuple[Any, list[Any]]],
    ) -> Block:
        charge(ROW_GRADIENT * rows)
        results = np.full((1 + len(self.names), rows), np.nan)
        errors: dict[int, ExpressionError] = {}
        for k in range(rows):
            try:
                point = {name: column[k] for name, column in columns.items()}
                value, slopes = kept[k] if k in kept else self._in_many_digits(point)
            except ExpressionError as error:
                errors[k] = error
                continue
            results[0, k] = _double(value + _product(slopes, self.values))
            results[1:, k] = [_double(_product(slopes, column)) for column in self.columns]
        return Block(results, [], errors)

    def _block_in_doubles(self, over_rows: Any, columns: Mapping[str, Any], rows: int) -> Block:
        values = dict(zip(self.names, map(_double, self.values), strict=True))
        block: Block = over_rows({**self._held, **values, **columns}, rows)
        fitted, *slopes = block.results
        return block._replace(results=np.array([fitted, *(self._transposed @ np.array(slopes))]))


def _product(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True) if x), 0 * a[0])


def _doubles(xs: Iterable[Any]) -> Any:
    return np.array([_double(x) for x in xs])


def _double(x: Any) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def in_many_digits(model: Model, start: Any) -> Model:
    """Return a linear model in terms of θ, in many digits, if doubles do not determine it; others
    as they are.

    Nor do doubles determine the errors of a few rows that the formula meets up to rounding.
    """
    is_linear = len(model.parameters.linear) == len(model.parameters.free)
    probe = model.copy(stop=lambda: False)
    if (
        not is_linear
        or any(name in model.data.sigma for name in model.data.predictors)
        or probe(start).errors
    ):
        return model
    model._last, model.evaluations = probe._last, probe.evaluations
    most, are_few = 1 / NULL_SINGULAR_VALUE, model.rows.count <= FEW_ROWS
    if probe.condition(start) < (MAX_CONDITION if are_few else most):
        if not are_few:
            return model
        # once more, against the rounding errors of the first solve
        solution = probe.fit_linear(probe.fit_linear(start))
        rounding = max(rounding_errors(probe, solution) ** 2, ROUNDED_OFF**2 * probe(start).cost)
        if probe(solution).cost > rounding:
            return model
    elif not are_few and has_null_directions(probe, start, 1):
        return model
    try:
        with use_share(BUDGET_SHARE):
            many = ManyDigits(probe, start)
    except Diagnosed:
        return model  # in doubles, which say what they do not determine
    return model.copy(basis=many, _over_rows=many)


def has_null_directions(model: Model, values: Any, count: int) -> bool:
    """Return whether so many combinations of the parameters change no row, in many digits; False if
    unknown.

    A share of the rows shows the directions, as more rows may tell more parameters apart, never
    fewer. All rows decide: in doubles if none changes by more than rounding errors, else in many
    digits.
    """
    used: list[int] = model.rows.weights.nonzero()[0].tolist()
    share = used[:: 1 + len(used) // SHARE]
    start, rows = np.asarray(values).tolist(), model(values).jacobian
    try:
        with use_share(BUDGET_SHARE):
            basis = LinearBasis(model, start, share)
            if len(basis.null) < count:
                return False
            directions = np.array([[_double(x) for x in column] for column in basis.null_columns])
            is_complete = len(share) == len(used)
            if not is_complete and len(directions) == len(basis.null):
                changes, terms = np.abs(rows @ directions.T), np.abs(rows) @ np.abs(directions.T)
                is_complete = bool(np.all(changes <= TERM_ROUNDING * terms))
            if not is_complete:
                basis = LinearBasis(model, start)
    except Diagnosed:
        return False
    return len(basis.null) >= count
