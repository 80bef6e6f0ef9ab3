"""The dialects of SQL: what each database calls things, and what it does where there is no number; a row a dialect.

PostgreSQL ends a query at any operation that is undefined, too large or too small, Spark at a
division by 0. What may do so gets NULL for an operand outside its domain, or another way of writing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..numbers.recorder import Step
from ..table.names import by_name, native

Template = str | Callable[["Dialect", Sequence[Step], Sequence[float]], str]
"""How an operation is written, `{0}` and `{1}` for its inputs; perhaps by what these are, and how large at most."""

MAX_DOUBLE = sys.float_info.max
QUOTIENT = MAX_DOUBLE * (1 - 2**-51)
"""A number whose quotient by x, times x, does not overflow, however both are rounded."""
MIN_DOUBLE = 5e-324

EXPONENTS = -745.13, 709.782712893
"""Between these a power of e is neither 0 nor too large, although the exponent is rounded."""


@dataclass(frozen=True)
class Dialect:
    """How a database spells what the exported statement needs."""

    title: str
    functions: Mapping[str, str]
    """The operations that it has, with all their digits, by what it calls them. The others are composed."""
    double: str = "DOUBLE"
    literal: str = "{}e0"
    """A number that is not written with an exponent. Without one it may be a decimal number, of few digits."""
    exponential: str = "{}"
    """A number that is."""
    cast: str = "CAST({0} AS DOUBLE)"
    """A column as a number of the type; NULL where it can be."""
    opening: str = "AS ("
    """The beginning of a table expression, which is computed once, and streamed if the dialect can express that."""
    fence: str = ""
    settings: str = ""
    guarded: frozenset[str] = frozenset()
    """The operations that end the query outside their domains."""
    coarse: frozenset[str] = frozenset()
    """The operations whose last digit is wrong as often as once in ten times."""
    templates: Mapping[str, Template] = field(default_factory=dict)
    """The operations that are written neither with an operator nor as a call."""

    def number(self, value: float) -> str:
        """Return a literal."""
        text = repr(value)
        return (self.exponential if "e" in text else self.literal).format(text)


COMMON = native("sqrt exp asin acos atan atan2 sin cos tan sinh cosh tanh floor ceil abs") | by_name({"log": "ln"})
"""Definitions that all dialects share."""
AREAS = native("asinh acosh atanh")
UNDEFINED = frozenset(native("sqrt log asin acos acosh atanh"))


def _without(functions: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: theirs for name, theirs in functions.items() if name not in names}


def _constant(args: Sequence[Step]) -> tuple[int, float] | None:
    return next(((k, float(a)) for k, a in enumerate(args) if a.name == "number"), None)


def _quotient(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
    return "({0}/{1})" if args[1].name == "number" and args[1].data else f"({{0}}/NULLIF({{1}}, {dialect.number(0.0)}))"


# ---- arithmetic that ends the query where a result is too large, or where it is 0 because it is too small -----------
def _checked_sum(sign: str) -> Template:

    def template(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
        plain = f"{{0}} {sign} {{1}}"
        if (args[0] is args[1] and sign == "-") or min(sizes) < MAX_DOUBLE * 2**-55:
            return f"({plain})"
        other = "<>" if sign == "+" else "="
        zero = dialect.number(0.0)
        enough = f"abs({{0}}) <= {dialect.number(MAX_DOUBLE)} - abs({{1}})"
        return f"CASE WHEN {enough} OR ({{0}} > {zero}) {other} ({{1}} > {zero}) THEN {plain} END"

    return template


def _checked_product(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
    number, constant = dialect.number, _constant(args)
    if args[0] is args[1]:
        return _power_between(dialect, 2.0, "{0}*{0}")
    if constant:
        k, c = constant[0], abs(constant[1])
        if c in (0, 1):
            return "({0}*{1})"
        if c > 1:
            return f"CASE WHEN abs({{{1 - k}}}) <= {number(QUOTIENT / c)} THEN {{0}}*{{1}} END"
        zero = f"{number(0.0)}*{{{1 - k}}}"
        return f"CASE WHEN abs({{{1 - k}}}) >= {number(MIN_DOUBLE / c)} THEN {{0}}*{{1}} ELSE {zero} END"
    zero, one = number(0.0), number(1.0)
    return (
        f"CASE WHEN abs({{1}}) > {one} THEN CASE WHEN abs({{0}}) <= {number(QUOTIENT)}/abs({{1}}) THEN {{0}}*{{1}} END "
        f"WHEN abs({{0}}) >= {number(MIN_DOUBLE)}/NULLIF(abs({{1}}), {zero}) THEN {{0}}*{{1}} "
        f"ELSE {zero}*{{0}}*{{1}} END"
    )


def _checked_quotient(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
    number = dialect.number
    zero, one = number(0.0), number(1.0)
    if args[1].name == "number" and args[1].data:
        c = abs(float(args[1]))
        if c < 1:
            return f"CASE WHEN abs({{0}}) <= {number(QUOTIENT * c)} THEN {{0}}/{{1}} END"
        return f"CASE WHEN abs({{0}}) >= {number(MIN_DOUBLE * c)} THEN {{0}}/{{1}} ELSE {zero}*{{0}} END"
    return (
        f"CASE WHEN abs({{1}}) < {one} THEN "
        f"CASE WHEN abs({{0}}) <= {number(QUOTIENT)}*abs({{1}}) THEN {{0}}/NULLIF({{1}}, {zero}) END "
        f"WHEN abs({{0}}) >= {number(MIN_DOUBLE)}*abs({{1}}) THEN {{0}}/{{1}} ELSE {zero}*{{0}}*{{1}} END"
    )


def _checked_exp(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
    low, high = map(dialect.number, EXPONENTS)
    return f"CASE WHEN {{0}} < {low} THEN {dialect.number(0.0)} WHEN {{0}} <= {high} THEN exp({{0}}) END"


def _up_to(function: str, highest: float) -> Template:
    return lambda dialect, args, sizes: f"{function}(CASE WHEN abs({{0}}) <= {dialect.number(highest)} THEN {{0}} END)"


def _power_between(dialect: Dialect, y: float, power: str) -> str:
    # with room for the rounding of these ends, which the power multiplies
    ends = math.log(MAX_DOUBLE) - 1e-9, math.log(MIN_DOUBLE) + 1e-9
    high, low = [max(MIN_DOUBLE, math.exp(min(end / y, math.log(MAX_DOUBLE) - 1e-9))) for end in ends]
    number, size = dialect.number, "abs({0})" if y == int(y) else "{0}"
    if y > 0:
        small = f"CASE WHEN {size} >= {number(low)} THEN {power} ELSE {number(0.0)} END"
        inside = f"CASE WHEN {size} <= {number(high)} THEN {small} END"
        return inside if size != "{0}" else f"CASE WHEN {{0}} >= {number(0.0)} THEN {inside} END"
    large = f"CASE WHEN {size} <= {number(low)} THEN {power} ELSE {number(0.0)} END"
    return f"CASE WHEN {size} >= {number(high)} THEN {large} END"


def _checked_power(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
    number, y = dialect.number, args[1]
    if y.name == "number" and 1e-3 < abs(y.data) < 1e3:
        return _power_between(dialect, y.data, "power({0}, {1})")
    zero, one, low, high = map(number, (0.0, 1.0, *EXPONENTS))
    exponent = "{1}*ln(abs({0}))"
    return (
        f"CASE WHEN {{0}} = {zero} THEN CASE WHEN {{1}} > {zero} THEN {zero} WHEN {{1}} = {zero} THEN {one} END "
        f"WHEN {{0}} > {zero} OR {{1}} = floor({{1}}) THEN CASE WHEN abs({{1}}) < {number(1e-290)} THEN {one} "
        f"WHEN abs({{1}}) < {number(1e290)} THEN CASE WHEN {exponent} < {low} THEN {zero} "
        f"WHEN {exponent} <= {high} THEN power({{0}}, {{1}}) END "
        f"WHEN abs({{0}}) = {one} THEN {one} WHEN (abs({{0}}) < {one}) = ({{1}} > {zero}) THEN {zero} END END"
    )


def _power_of_any_size(dialect: Dialect, args: Sequence[Step], sizes: Sequence[float]) -> str:
    return "" if args[1].name == "number" and abs(args[1].data) < 1e3 else _checked_power(dialect, args, sizes)


DIALECTS: dict[str, Dialect] = {
    # Its optimizer computes a column once by itself; to keep the tables takes more than twice the time.
    "duckdb": Dialect(
        "DuckDB", COMMON | AREAS, cast="TRY_CAST({0} AS DOUBLE)", opening="AS NOT MATERIALIZED (", guarded=UNDEFINED,
    ),
    # Text would be read as 0. What has no value is NULL by itself.
    "sqlite": Dialect(
        "SQLite", COMMON | AREAS, double="REAL",
        cast="CASE WHEN typeof({0}) IN ('real', 'integer') THEN CAST({0} AS REAL) END", opening="AS MATERIALIZED (",
    ),
    # `OFFSET 0` keeps it from writing the expression of a column wherever the column is used.
    "postgres": Dialect(
        "PostgreSQL", COMMON | AREAS, double="double precision",
        literal="{}::float8", exponential="{}::float8", cast="CAST({0} AS double precision)", fence=" OFFSET 0",
        guarded=UNDEFINED,
        templates=by_name({
            "add": _checked_sum("+"), "sub": _checked_sum("-"), "mul": _checked_product, "div": _checked_quotient,
            "exp": _checked_exp, "pow": _checked_power,
            "sinh": _up_to("sinh", 710.4758), "cosh": _up_to("cosh", 710.4758),
        }),
    ),
    # Its `floor` gives an integer of 64 bits, its `asinh` and `acosh` lose digits, `exp` and `pow` often the last one.
    "spark": Dialect(
        "Spark", _without(COMMON, "floor", "ceil") | native("cbrt expm1 log1p hypot"),
        cast="TRY_CAST({0} AS DOUBLE)", coarse=frozenset(native("exp pow")),
        templates=by_name({
            "div": _quotient,
            "floor": "CASE WHEN abs({0}) < 4503599627370496e0 THEN CAST(floor({0}) AS DOUBLE) ELSE {0} END",
            "ceil": "CASE WHEN abs({0}) < 4503599627370496e0 THEN CAST(ceil({0}) AS DOUBLE) ELSE {0} END",
        }),
    ),
    # Its `tanh` is wrong by 1e-8 near 0, `asin`, `acos` and the gamma functions in their last digits, `pow` gives any
    # number where the exponent is far too large (6e307 for 1e15**5e14). To compute a branch only where it is needed
    # takes it 30 times as long for a formula with choices within choices.
    "clickhouse": Dialect(
        "ClickHouse", _without(COMMON, "tanh", "asin", "acos") | AREAS | native("cbrt log1p erf erfc hypot"),
        double="Nullable(Float64)", cast="CAST({0} AS Nullable(Float64))",
        settings="\nSETTINGS short_circuit_function_evaluation = 'disable'",
        templates=by_name({"pow": _power_of_any_size}),
    ),
}  # fmt: skip
"""The dialects by the values of `--dialect`."""
