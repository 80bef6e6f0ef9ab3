"""Covariance matrices with names: csv, tables as R and pandas print them, JSON of lmfit and
pandas.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from ...engine.numerics.linear_algebra import eigenvalues
from ...errors import ExpressionError, limit_error, point_error, quote
from ...questions.optional_units import heading
from ...questions.parse_point import is_name, read_json

MAX_NAMES = 300
# digits from which on a program has rounded a number, and no person has typed it
PRINTED_DIGITS = 6
ASYMMETRY = 1e-6  # in standard uncertainties: that of R's printed digits
ROUNDED_EIGENVALUE = 1e-9  # how far below 0 doubles may put an eigenvalue of the correlations
FORMATS = (
    "it is read from csv with names in the first line, a table as R or pandas print it, or JSON of"
    " lmfit or pandas"
)
LMFIT_FIELDS = 9  # of a parameter in its JSON, at least
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MISSING = ("na", "nan", "inf", "-inf")

# The name of a row, or "", and its numbers.
Row = tuple[str, list[str]]


class CovarianceMatrix(NamedTuple):
    """A covariance matrix of named quantities, with their values if the file has them."""

    names: list[str]
    entries: list[list[float]]
    rounding: list[list[float]]  # of the entries, by the digits they are written with
    values: Mapping[str, float] = {}
    units: Mapping[str, str] = {}

    @property
    def uncertainties(self) -> dict[str, float]:
        return {name: math.sqrt(self.entries[k][k]) for k, name in enumerate(self.names)}

    def renamed(self, names: Mapping[str, str]) -> CovarianceMatrix:
        """Return the matrix with names of variables for those of its columns, as `b0` for
        `(Intercept)`.
        """
        for name, column in names.items():
            if column not in self.names:
                raise point_error(
                    f"the covariance has no column `{column}`",
                    f"its columns are {quote(self.names)}",
                )
            if name in self.names and name not in names.values():
                raise point_error(
                    f"the covariance has a column `{name}` besides `{column}`",
                    "choose another name",
                )
        own = {column: name for name, column in names.items()}
        return self._replace(
            names=[own.get(name, name) for name in self.names],
            values={own.get(name, name): x for name, x in self.values.items()},
            units={own.get(name, name): unit for name, unit in self.units.items()},
        )

    def correlation(self) -> dict[tuple[str, str], float]:
        """Return the correlations of pairs, those of a positive semidefinite matrix."""
        return {pair: r for pair, r in self._pairs(_shrunk(self)).items() if r}

    def rounding_of_correlation(self) -> dict[tuple[str, str], float]:
        """Return by how much the digits leave variances and correlations open, in standard
        uncertainties.
        """
        return self._pairs(_scaled(self.rounding, self.entries), diagonal=True)

    def _pairs(
        self, matrix: Sequence[Sequence[float]], *, diagonal: bool = False
    ) -> dict[tuple[str, str], float]:
        n = len(self.names)
        return {
            (self.names[i], self.names[j]): matrix[i][j]
            for i in range(n)
            for j in range(i + (not diagonal), n)
        }


def read_covariance(text: str) -> CovarianceMatrix:
    """Return the matrix in the text of a file. Raises `ExpressionError`."""
    if text.lstrip()[:1] in ("{", "["):
        return covariance_of_object(read_json(text)[0])
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    separator = next((mark for mark in ";,\t" if lines and mark in lines[0]), None)
    columns, rows = _blocks([_cells(line, separator) for line in lines])
    return _checked(columns, rows, printed=separator is None)


def covariance_of_object(value: object) -> CovarianceMatrix:
    """Return the matrix in JSON, a data frame, a mapping of mappings or lmfit's result. Raises
    `ExpressionError`.
    """
    if not isinstance(value, Mapping):
        value = _mapping_of(value)
    for read in (_of_lmfit, _of_parameters, _of_split, _of_rows):
        matrix = read(value)
        if matrix is not None:
            return matrix
    raise _not_a_matrix("this JSON is no covariance matrix with names")


def _not_a_matrix(message: str) -> ExpressionError:
    return point_error(message, FORMATS)


def _mapping_of(value: Any) -> Mapping[str, Any]:
    if hasattr(value, "index") and hasattr(value, "columns") and hasattr(value, "values"):
        numbers = [[*row] for row in value.values.tolist()]
        return {"index": [*value.index], "columns": [*value.columns], "data": numbers}
    if hasattr(value, "covar") and hasattr(value, "var_names"):
        if value.covar is None:
            raise point_error(
                "this fit of lmfit has no covariance: its errors were not estimated", "fit it again"
            )
        estimates = {name: float(value.params[name]) for name in value.var_names}
        return {
            "names": [*value.var_names],
            "covariance": value.covar.tolist(),
            "values": estimates,
        }
    raise _not_a_matrix(f"a covariance is a matrix with names, not {type(value).__name__}")


def _of_lmfit(record: Mapping[str, Any]) -> CovarianceMatrix | None:
    if "covar" not in record or "var_names" not in record:
        return None
    covar, names = _plain(record["covar"]), _plain(record["var_names"])
    if covar is None:
        message = "this fit of lmfit has no covariance: its errors were not estimated"
        raise point_error(message, "fit it with a method that has one, `leastsq`")
    values = record.get("best_values", {})
    return _of_lists(names, names, covar, values if isinstance(values, Mapping) else {})


def _of_parameters(record: Mapping[str, Any]) -> CovarianceMatrix | None:
    """Return the matrix of the standard errors and correlations in lmfit's JSON of parameters."""
    listed = record.get("params")
    if not isinstance(listed, list) or not all(
        isinstance(one, list) and len(one) >= LMFIT_FIELDS for one in listed
    ):
        return None
    # the name, the value, whether it varies, its expression, bounds and step, then standard error
    # and correlations
    varied = [(one[0], one[1], one[7], one[8] or {}) for one in listed if one[2]]
    if not varied or any(not isinstance(error, float | int) for *_, error, _ in varied):
        message = "these parameters of lmfit have no covariance: their errors were not estimated"
        raise point_error(message, "fit with a method that has one, `leastsq`")
    names = [name for name, *_ in varied]
    data = [
        [
            error * other * (1.0 if name == column else correlations.get(column, 0.0))
            for column, _, other, _ in varied
        ]
        for name, _, error, correlations in varied
    ]
    return _of_lists(names, names, data, {name: value for name, value, *_ in varied})


def _plain(value: Any) -> Any:
    """Return the lists in lmfit's encoding of arrays and lists."""
    if not isinstance(value, Mapping) or "value" not in value:
        return value
    inner, shape = value["value"], value.get("__shape__")
    if isinstance(shape, list) and len(shape) == 2 and isinstance(inner, list) and shape[1]:
        return [inner[k : k + shape[1]] for k in range(0, len(inner), shape[1])]
    return inner


def _of_split(record: Mapping[str, Any]) -> CovarianceMatrix | None:
    data = record.get("covariance", record.get("data"))
    columns = record.get("names", record.get("columns"))
    if not isinstance(data, list) or not isinstance(columns, list):
        return None
    return _of_lists(record.get("index", columns), columns, data, record.get("values", {}))


def _of_lists(index: Any, columns: Any, data: Any, values: Mapping[str, Any]) -> CovarianceMatrix:
    are_lists = isinstance(index, list) and isinstance(columns, list) and isinstance(data, list)
    if not are_lists or not all(isinstance(row, list) for row in data) or len(data) != len(index):
        raise _not_a_matrix("the covariance in this JSON has not a row for each name")
    rows = [(str(name), [_text(x) for x in row]) for name, row in zip(index, data, strict=True)]
    return _checked([*map(str, columns)], rows, values)


def _of_rows(record: Mapping[str, Any]) -> CovarianceMatrix | None:
    rows = {str(name): row for name, row in record.items()}
    if not rows or not all(isinstance(row, Mapping) for row in rows.values()):
        return None
    columns = [*map(str, next(iter(rows.values())))]
    if any([*map(str, row)] != columns and {*map(str, row)} != {*columns} for row in rows.values()):
        raise _not_a_matrix("the rows of this JSON do not have the same names")
    ordered = [
        (name, [_text(dict(row)[column]) for column in columns]) for name, row in rows.items()
    ]
    return _checked(columns, ordered)


def _text(x: Any) -> str:
    if isinstance(x, bool) or not isinstance(x, int | float | str):
        raise point_error(
            f"the covariance has the entry {json.dumps(x, default=str)[:40]}",
            "its entries are numbers",
        )
    source = getattr(x, "source", None)
    return source if isinstance(source, str) and source else str(x)


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is not None:
        return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=separator))]
    try:
        return shlex.split(line) if '"' in line else line.split()
    except ValueError:
        return line.split()


def _as_number(cell: str) -> str:
    # a semicolon separates columns where the comma is the decimal mark
    return cell.replace(",", ".") if re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", cell) else cell


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(_as_number(cell)) is not None or cell.casefold() in _MISSING


def _blocks(lines: Sequence[list[str]]) -> tuple[list[str], list[Row]]:
    """Return the columns and the rows of a table, whose columns may be in blocks, one below the
    other.
    """
    columns: list[str] = []
    rows: dict[str, list[str]] = {}
    unnamed: list[list[str]] = []
    header: list[str] = []
    has_corner = False  # the first cell of the header may stand above the names of the rows
    for line in lines:
        cells = line[:-1] if line[-1:] == ["\\"] else line
        if not any(map(_is_number, cells)):
            header, has_corner = cells, True
            columns += cells
            continue
        if not header:
            raise _not_a_matrix("the covariance has no names: its first line has numbers")
        if all(map(_is_number, cells)) and len(cells) == len(header):
            unnamed.append(cells)
            continue
        name, *numbers = cells
        if has_corner and len(numbers) == len(header) - 1:
            columns.pop(len(columns) - len(header))
            header = header[1:]
        has_corner = False
        if len(numbers) != len(header):
            message = (
                f"the row `{name}` of the covariance has {len(numbers)} numbers below {len(header)}"
                " names"
            )
            raise _not_a_matrix(message)
        rows.setdefault(name, []).extend(numbers)
    if not rows and not unnamed:
        raise _not_a_matrix("the covariance has no rows of numbers")
    if unnamed and rows:
        raise _not_a_matrix("some rows of the covariance have a name and some have none")
    return columns, [*rows.items()] if rows else [*zip(columns, unnamed, strict=False)]


def _checked(
    columns: Sequence[str],
    rows: Sequence[Row],
    values: Mapping[str, Any] | None = None,
    *,
    printed: bool = False,
) -> CovarianceMatrix:
    """Return the matrix of rows and columns, whose names may be in different orders. Raises
    `ExpressionError`.
    """
    names, units = _names(columns)
    of_rows, _ = _names([name for name, _ in rows])
    if len(names) > MAX_NAMES:
        raise limit_error(
            f"a covariance of {len(names)} quantities is too large", f"give up to {MAX_NAMES}"
        )
    if {*names} != {*of_rows} or any(len(numbers) != len(names) for _, numbers in rows):
        message = (
            f"the covariance is not square: its columns are {quote(names)}, and its rows"
            f" {quote(of_rows)}"
        )
        raise _not_a_matrix(message)
    texts = {
        name: dict(zip(names, numbers, strict=True))
        for name, (_, numbers) in zip(of_rows, rows, strict=True)
    }
    square = [[texts[a][b] for b in names] for a in names]
    # pandas prints six decimals, of which few may be digits
    is_rounded = any(
        _digits(text, decimals=printed) >= PRINTED_DIGITS for row in square for text in row
    )
    rounding = [[_last_place(text) / 2 if is_rounded else 0.0 for text in row] for row in square]
    entries = [[_entry(a, b, texts[a][b]) for b in names] for a in names]
    known = {} if values is None else values
    numbers = {
        name: float(known[name]) for name in names if isinstance(known.get(name), int | float)
    }
    matrix = CovarianceMatrix(names, entries, rounding, numbers, units)
    _check_variances(matrix)
    _check_symmetry(matrix)
    _shrunk(matrix)
    return matrix


def _names(headings: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    names: list[str] = []
    units: dict[str, str] = {}
    for text in headings:
        of_heading, unit = heading(text)
        # `(Intercept)` is no heading with a unit
        name = of_heading[0] if of_heading and text and not text.startswith("(") else text
        if name in names:
            raise point_error(
                f"the covariance has the name `{name}` twice",
                "give each quantity one row and column",
            )
        names.append(name)
        units |= {name: unit} if unit is not None and is_name(name) else {}
    return names, units


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(_as_number(text))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _digits(text: str, *, decimals: bool) -> int:
    number = _decimal(text)
    if number is None:
        return 0
    after_point = len(text.partition(".")[2]) if decimals else 0
    return max(len(number.as_tuple().digits), after_point)


def _last_place(text: str) -> float:
    number = _decimal(text)
    if number is None:
        return 0.0
    exponent = number.as_tuple().exponent
    return max(10.0 ** max(-320, int(exponent)), math.ulp(float(number))) if number else 0.0


def _entry(a: str, b: str, text: str) -> float:
    number = _decimal(text)
    if number is None or not math.isfinite(float(number)):
        what = f"the variance of `{a}`" if a == b else f"the covariance of `{a}` and `{b}`"
        hint = (
            "a parameter that its fit did not determine has none: leave it out of the model, and"
            " fit again"
        )
        raise point_error(f"{what} is {text or 'missing'}", hint)
    return float(number)


def _check_variances(matrix: CovarianceMatrix) -> None:
    for k, name in enumerate(matrix.names):
        if matrix.entries[k][k] < 0:
            message = f"the variance of `{name}` is {matrix.entries[k][k]:g}, which is below 0"
            raise point_error(
                message,
                "is this a covariance matrix? Its diagonal has the squares of uncertainties",
            )


def _check_symmetry(matrix: CovarianceMatrix) -> None:
    sizes = matrix.uncertainties
    for i, a in enumerate(matrix.names):
        for j, b in enumerate(matrix.names[:i]):
            one, other = matrix.entries[i][j], matrix.entries[j][i]
            slack = ASYMMETRY * sizes[a] * sizes[b] + matrix.rounding[i][j] + matrix.rounding[j][i]
            if abs(one - other) > slack:
                message = (
                    f"the covariance of `{a}` and `{b}` is {one:g} in one place and {other:g} in"
                    " the other"
                )
                raise point_error(message, "a covariance matrix is symmetric")


def _scaled(
    matrix: Sequence[Sequence[float]], entries: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Return a matrix in units of the standard uncertainties; 0 for those without one."""
    sizes = [math.sqrt(max(0.0, row[k])) for k, row in enumerate(entries)]
    return [
        [x / a / b if a and b else 0.0 for x, b in zip(row, sizes, strict=True)]
        for row, a in zip(matrix, sizes, strict=True)
    ]


def _shrunk(matrix: CovarianceMatrix) -> list[list[float]]:
    """Return the correlations, made smaller where rounding has made them impossible. Raises
    `ExpressionError`.
    """
    n = len(matrix.names)
    means = [
        [(matrix.entries[i][j] + matrix.entries[j][i]) / 2 for j in range(n)] for i in range(n)
    ]
    for i, a in enumerate(matrix.names):
        for j, b in enumerate(matrix.names):
            if means[i][j] and not (means[i][i] and means[j][j]):
                message = f"`{a}` and `{b}` have a covariance, and one of them has the variance 0"
                raise point_error(message, "this is no covariance matrix")
    correlations = _scaled(means, means)
    for k in range(n):
        correlations[k][k] = 1.0
    slack = (
        max((sum(row) for row in _scaled(matrix.rounding, means)), default=0.0)
        + ROUNDED_EIGENVALUE * n
    )
    least = eigenvalues(correlations)[0]
    if least < -slack:
        message = f"this is no covariance matrix: its correlations have the eigenvalue {least:.2g}"
        raise point_error(
            message, "one that is computed is positive semidefinite; check the signs and the digits"
        )
    share = 1 + 2 * min(0.0, least)
    return [
        [max(-1.0, min(1.0, x * (share if i != j else 1.0))) for j, x in enumerate(row)]
        for i, row in enumerate(correlations)
    ]
