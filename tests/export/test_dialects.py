"""Exported SQL, run by the databases that are here: it agrees with `grad`, and no row without an
answer is a number.

DuckDB and SQLite come with the test requirements, and so does chDB, which is ClickHouse in this
process. PostgreSQL is the system's (Debian: `apt-get install postgresql`; the test starts a server
of its own), Spark needs PySpark and Java (`pip install pyspark`; it is run in ANSI mode). What is
written for each is read by sqlglot's parsers too.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

import autodiff_cli
from autodiff_cli import ExpressionError, gradient, jacobian, parse
from autodiff_cli.capabilities.export.export import export
from autodiff_cli.capabilities.export.targets import DIALECTS
from autodiff_cli.compiled.target import language
from autodiff_cli.engine.table.primitive import FUNCTIONS
from autodiff_cli.questions.problem import as_number
from databases import DATABASES, answers, literal
from places import TESTS
from running import autodiff
from samples import OF_FEW_TARGETS, samples_of

HARD = (
    0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 0.25, 1.5, -2.5, 5e-324, -5e-324, 1e-310, 1e-300,
    -1e-300, 1e-160, 1e-20, -1e-20, 1e-8, -1e-8, 0.999999999, -0.999999999, 1.000001, math.pi, 20.0,
    -20.0, 40.0, 350.0, 709.0, -709.0, 710.0, 745.0, -746.0, 1000.0, -1000.0, 1e9, -1e10, 1e15,
    1e155, -1e155, 1e200, -1e200, 1e300, 1e307,
)  # fmt: skip
"""Points at which something happens to some function: ends of domains, poles, overflow, underflow,
cancellation.
"""

NO_NUMBERS = (None, math.nan, math.inf, -math.inf)

BUILT_UP = (
    "d1 = (log(S/K) + (r + v**2/2)*T)/(v*sqrt(T)); d2 = d1 - v*sqrt(T); N(x) = (1 + erf(x/sqrt(2)))/2; "
    "S*N(d1) - K*exp(-r*T)*N(d2)",
    "log(x) if x > 0 else x**2", "sqrt(x) + (1/y if y != 0 else 0)", "max(x, y)*min(x, 2)", "x**y", "x**-2.5", "x**3/y",
    "exp(-1/x**2)", "tanh(x*x)", "x*y", "x/y", "x + y", "x - y", "0*log(x)", "1 if x > 0 or 1/x < -5 else y", "3",
    "x if x > 0 and log(x) < 1 else 0", "clamp(x, y, 1)", "elu(x, log(y))", "hypot(x, y, 1)", "floor(x)*y", "x**x",
    "round(x*2)/2", "1/(1 + exp(-x))", "exp(exp(x))", "coth(x) + expm1(x)", "y if x > 0 else 1/(2-2)", "2*x/3 - y/0.5",
)  # fmt: skip


def told() -> Iterator[tuple[str, list[dict[str, float]]]]:
    """Programs, with points of their own; some more than once."""
    for text in BUILT_UP:
        yield text, []
    for primitive in dict.fromkeys(FUNCTIONS.values()):
        fixed = set(primitive.constant_params)
        samples = [dict(zip("xyzw", sample, strict=False)) for sample in samples_of(primitive)]
        if primitive.name in ("where", *OF_FEW_TARGETS) or fixed:
            continue
        count = 2 if primitive.variadic else len(primitive.params)
        yield (
            f"{primitive.name}({', '.join('xyzw'[:count])})",
            [s for s in samples if len(s) == count],
        )
    yield "polygamma(2, x)", []
    for name in ("checked", "verdicts", "corpus"):
        for line in (TESTS / "corpora" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "program" in row or "expr" in row:
                points = row.get("points") or [row.get("point") or row.get("start") or {}]
                numbers = [
                    {name: as_number(x, name) for name, x in point.items()} for point in points
                ]
                yield row.get("program") or row["expr"], numbers


def programs() -> dict[str, list[dict[str, float]]]:
    """Programs, with points of their own."""
    found: dict[str, list[dict[str, float]]] = {}
    for text, points in told():
        found.setdefault(text, []).extend(points)
    return found


Case = tuple[str, list[tuple[float | None, ...]], list[list[float] | str]]


@cache
def cases() -> list[Case]:
    """Each program with points, and at each what `grad` answers, or the kind of its error."""
    rng, found = random.Random(11), []
    for text, own in programs().items():
        names = list(parse(text).variables)
        drawn: list[tuple[float | None, ...]] = [
            *[tuple(point[name] for name in names) for point in own if set(point) >= set(names)],
            *([(x,) for x in HARD] if len(names) == 1 else []),
            *[tuple(rng.choice(HARD) for _ in names) for _ in range(30 if len(names) > 1 else 0)],
            *[tuple(rng.uniform(0.1, 3) for _ in names) for _ in range(10)],
        ]
        numbers = list(dict.fromkeys(drawn))
        count = len(names)
        broken = [
            tuple(rng.choice(NO_NUMBERS) if k == j else 1.0 for k in range(count))
            for j in range(count)
        ]
        wants = [reference(text, names, point) for point in numbers]
        found.append((text, [*numbers, *broken], [*wants, *["point"] * count]))
    return found


@cache
def program(text: str) -> Any:
    return parse(text)


def reference(text: str, names: list[str], point: tuple[Any, ...]) -> list[float] | str:
    try:
        # as `gradient` does, which looks for the hint of an error too: that takes most of the time
        answer = program(text).gradient(**dict(zip(names, point, strict=True)))
    except ExpressionError as error:
        return error.kind
    return [answer.value, *answer.gradient.values()]


def verdict(want: list[float] | str, row: tuple[Any, ...]) -> str:
    """How a row of a database stands to what `grad` says."""
    *numbers, error = row
    if isinstance(want, str):
        empty = isinstance(error, str) and not any(x is not None for x in numbers)
        return "no answer" if empty else "a bad row as a number"
    if error is not None:
        return "refused"
    return "right" if are_near(numbers, want) else "off"


def are_near(numbers: Sequence[float], want: Sequence[float]) -> bool:
    # Subnormal numbers have fewer digits.
    return all(
        abs(a - b) <= max(4 * math.ulp(b), 2.3e-308 * 2**-20)
        for a, b in zip(numbers, want, strict=True)
    )


def lost_digits(
    text: str, names: Sequence[str], point: tuple[Any, ...], want: Sequence[float]
) -> bool:
    """Whether `grad` itself is off here by 30 digits at these doubles: code may order its products
    otherwise.
    """
    exactly = {name: str(Decimal(x)) for name, x in zip(names, point, strict=True)}
    answer = gradient(text, exactly, precision=30)
    return not are_near(want, [float(x.text) for x in (answer.value, *answer.gradient.values())])


MAX_OFF = {"clickhouse": 0.001, "spark": 0.001}
"""The share of answers that may be further than 4 ulp from `grad`, by default 0.0005: sums that
cancel tell last digits apart, and some databases have functions of their own, not those of the C
library.
"""


OSBORNE = "(1.366 - "
TOO_LONG = {"postgres": (OSBORNE,), "spark": (OSBORNE, "beta(")}
"""Programs that a database cannot take: a table of PostgreSQL has at most 1,664 columns, Java's
stack is finite.
"""


@pytest.mark.parametrize("database", DATABASES)
def test_answers_are_those_of_grad(database: str) -> None:
    _, _, there = DATABASES[database]
    if not there:
        pytest.skip(f"{language(database)['database']} is not installed")
    counts: Counter[str] = Counter()
    reasons: Counter[tuple[str, bool]] = Counter()
    bad = []
    for text, points, wants in cases():
        if text.startswith(TOO_LONG.get(database, ())):
            continue
        exported = export(text, "sql", dialect=database)
        for point, want, row in zip(
            points, wants, answers(database, exported, points), strict=True
        ):
            how = verdict(want, row)
            if isinstance(want, str) and isinstance(row[-1], str):
                reasons[want, row[-1].startswith("domain: ")] += 1
            if (
                how == "off"
                and isinstance(want, list)
                and lost_digits(text, list(parse(text).variables), point, want)
            ):
                how = "lost digits"
            if how not in ("right", "no answer", "lost digits"):
                bad.append(f"{how}: {text} at {point}: {row}, {want}")
            counts[how] += 1
    assert not counts["a bad row as a number"], "\n".join(
        each for each in bad if each.startswith("a bad row")
    )
    # Where a number is too large and another one is outside a domain, either may be said.
    assert reasons["domain", True] > 600 and reasons["domain", True] > 9 * reasons["domain", False]
    assert (
        reasons["derivative", False] > 40
        and not reasons["derivative", True]
        and not reasons["point", True]
    )
    answered = counts["right"] + counts["off"] + counts["refused"]
    assert counts["off"] + counts["refused"] <= MAX_OFF.get(database, 0.0005) * answered, "\n".join(
        bad
    )
    assert counts["lost digits"] <= 0.002 * answered
    assert answered > 10_000 and counts["no answer"] > 2500


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.skipif(not find_spec("sqlglot"), reason="sqlglot is not installed")
def test_each_dialect_is_what_its_parser_reads(dialect: str) -> None:
    import sqlglot

    for k, text in enumerate(programs()):
        if k % 7 == 0:
            source = export(text, "sql", dialect=dialect).source
            (read,) = sqlglot.parse(source, read=dialect, error_level=sqlglot.ErrorLevel.RAISE)
            assert read is not None and read.find(sqlglot.exp.Command) is None


def test_what_is_written_for_each_dialect() -> None:
    sources = {
        dialect: export("x*log(y) + tanh(x)/y**2.5", "sql", dialect=dialect).source
        for dialect in DIALECTS
    }
    written = {
        dialect: re.sub(r"'domain[^']*'", "''", source) for dialect, source in sources.items()
    }
    materialized = {dialect for dialect, source in written.items() if " AS MATERIALIZED" in source}
    assert materialized == {"sqlite"}
    assert "OFFSET 0" in written["postgres"]
    assert "tanh(" not in written["clickhouse"].partition("\nWITH")[2]
    assert "NULLIF(" in written["spark"]
    for source in written.values():
        assert source.count(" AS error") == 1


def test_a_dialect_is_one_of_sql() -> None:
    with pytest.raises(ExpressionError, match="`dialect` cannot be `oracle`") as caught:
        autodiff_cli.export("x", "sql", dialect="oracle")
    assert caught.value.hint and "postgres" in caught.value.hint
    with pytest.raises(ExpressionError, match="`c` has no dialects"):
        export("x", "c", dialect="duckdb")


def test_the_test_sees_a_bad_row_a_wrong_number_and_a_refusal() -> None:
    assert verdict("domain", (0.0, None, None)) == "a bad row as a number"
    assert verdict("domain", (0.0, None, "no answer")) == "a bad row as a number"
    assert verdict("domain", (None, None, "no answer")) == "no answer"
    assert verdict([1.0, 2.0], (1.0, 2.002, None)) == "off"
    assert verdict([1.0, 2.0], (None, None, "no answer")) == "refused"
    assert verdict([1.0, 2.0], (1.0, 2.0 + 4 * 2**-51, None)) == "right"


def test_a_text_that_is_no_number_is_no_number() -> None:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE points (x)")
    connection.executemany("INSERT INTO points VALUES (?)", [("abc",), (4,), (b"1",), (2.0,)])
    found = connection.execute(export("1/x", "sql", dialect="sqlite").source).fetchall()
    none = (None, None, None, "column x: no finite number")
    assert found == [none, (4.0, 0.25, -0.0625, None), none, (2.0, 0.5, -0.25, None)]


def test_a_row_says_which_operation_is_outside_its_domain() -> None:
    power = (
        "domain: `**` is undefined in `x**y`; its domain: x > 0, or x = 0 with y >= 0, or x < 0"
        " with a whole y"
    )
    told = {
        "sqrt(x) + log(y - 1)": {
            (-1.0, 2.0): "domain: `sqrt` is undefined in `sqrt(x)`; its domain: argument >= 0",
            (1.0, 1.0): "domain: `log` is undefined in `log(y - 1)`; its domain: argument > 0",
            (0.0, 2.0): "derivative: infinite or not defined here, or too large",
            (None, 1.0): "column x: no finite number",
        },
        # The derivative of the power takes the logarithm that the other branch takes.
        "log(x) if x > 0 else x**y": {(-1.0, 2.5): power, (0.0, -1.0): power},
        "x if x > 0 else 1/y + exp(x*x)": {(-1.0, 0.0): "domain: division by zero in `1/y`"},
        "gamma(x)*y": {
            (
                -1.0,
                0.0,
            ): (
                "domain: `gamma` is undefined in `gamma(x)`; its domain: argument is not 0, -1,"
                " -2, ..."
            )
        },
        "exp(x*x)*y": {(100.0, 1.0): "no value: not defined here, or a number is too large"},
        "clamp(1, x, y)": {
            (2.0, 1.0): "domain: `clamp` is undefined in `clamp(1, x, y)`; its domain: lo <= hi"
        },
    }
    for text, rows in told.items():
        found = answers("sqlite", export(text, "sql", dialect="sqlite"), [*rows])
        assert [row[-1] for row in found] == [*rows.values()], text


def test_several_outputs_have_the_columns_of_the_rows_of_jacobian() -> None:
    import sqlite3

    point = {"r": 2.0, "t": 0.5}
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE points (r, t)")
    connection.execute("INSERT INTO points VALUES (2.0, 0.5), (0.0, 0.5)")
    found = connection.execute(export("r*cos(t), sin(t)/r", "sql", dialect="sqlite").source)
    assert [column[0] for column in found.description] == [
        "r", "t", "value1", "value2", "d1_r", "d1_t", "d2_r", "d2_t", "error",
    ]  # fmt: skip
    want = jacobian("r*cos(t), sin(t)/r", point)
    good, bad = found.fetchall()
    assert want.jacobian is not None and good[-1] is None
    assert good[2:-1] == pytest.approx(
        (*want.values, *want.jacobian[0], *want.jacobian[1]), rel=1e-15
    )
    assert bad == (0.0, 0.5, *[None] * 6, "domain: division by zero in `sin(t)/r`")
    with pytest.raises(ExpressionError, match="2 outputs"):
        export("r*cos(t), sin(t)/r", "c")


@pytest.mark.skipif(not find_spec("duckdb"), reason="DuckDB is not installed")
def test_the_finer_powers_of_spark_are_right_to_the_last_digit() -> None:
    """What is written for Spark, whose `exp` and `pow` are coarse, run by DuckDB with functions
    that are coarser still.

    Java's powers of 2 are exact, and so is its `expm1` to the last digit.
    """
    import duckdb
    import mpmath

    database = duckdb.connect()

    def coarse(x: float, y: float) -> float:
        return math.pow(x, y) * (1 if x == 2 else 1 + 2.0**-49)

    database.create_function("spark_pow", coarse, ["DOUBLE", "DOUBLE"], "DOUBLE")
    database.create_function("spark_expm1", math.expm1, ["DOUBLE"], "DOUBLE")
    draw = random.Random(3)
    exponents = [
        -744.0,
        -708.4,
        -20.5,
        -1e-9,
        0.0,
        1e-300,
        0.3,
        709.7,
        *[draw.uniform(-708, 709) for _ in range(300)],
    ]
    bases = [-3.7, -1.0, 0.1, 1.5, 9.99, *[draw.uniform(-30, 30) for _ in range(100)]]
    with mpmath.workdps(40):
        checked = 0
        for text, points, function in [
            ("exp(x)", exponents, mpmath.exp),
            *[(f"x**{n}", bases, lambda x, n=n: x**n) for n in range(3, 9)],
        ]:
            program = export(text, "sql", dialect="spark", wrt=[]).source
            program = re.sub(r"\b(pow|expm1)\(", r"spark_\1(", program)
            assert not re.search(r"\bexp\(", re.sub(r"--.*|'[^']*'", "", program))
            database.execute("CREATE OR REPLACE TABLE points (x DOUBLE)")
            database.executemany("INSERT INTO points VALUES (?)", [[x] for x in points])
            for x, value, error in database.execute(program).fetchall():
                want = function(mpmath.mpf(x))
                off = abs(mpmath.mpf(value) - want) / math.ulp(float(want))
                assert error is None and off <= 1, (text, x, value, float(off))
                checked += 1
    assert checked == len(exponents) + 6 * len(bases)


# ---- conditions on the rows ----------------------------------------------------------------------------------------
FILTERED: tuple[tuple[float | None, ...], ...] = (
    (1.0, 2.0, 1.0), (2.0, -1.0, 1.0), (3.0, 0.0, None), (4.0, 0.1, 5.0), (5.0, 0.0, 2.0),
    (6.0, None, 2.0), (7.0, -3.0, -2.0), (8.0, 1e300, 1e10),
)  # fmt: skip
CONDITIONS = (
    "x > 0", "x > 0 and 1/x > 2", "1/x > 2 and x > 0", "1/(1/x) > -1", "not (x > 0) or log(x) < 0",
    "y == 1", "x*y > 1", "x > 0 or y > 0 and x*y < 0", "sqrt(y) > 1", "0 < x < 1",
    "not (1/x > 2 or y > 1)", "exp(x) != y and id > 1",
)  # fmt: skip


@cache
def left(condition: str) -> list[tuple[float, bool]]:
    """The rows that `--where` leaves of a file, and whether they have an answer."""
    cells = ["" if x is None else repr(x) for row in FILTERED for x in row]
    lines = ["id,x,y", *[",".join(cells[k : k + 3]) for k in range(0, len(cells), 3)]]
    options = ("--points", "-", "--keep", "id", "--wide", "--format", "csv", "--on-error", "skip")
    shown = autodiff(
        "grad", "x/2", "--where", condition, *options, stdin="\n".join(lines) + "\n"
    ).out
    return [(float(row["id"]), not row["error"]) for row in csv.DictReader(io.StringIO(shown))]


@pytest.mark.parametrize("database", [name for name, (_, _, there) in DATABASES.items() if there])
def test_a_condition_leaves_the_rows_that_it_leaves_of_a_file(database: str) -> None:
    open_, kind, _ = DATABASES[database]
    if database == "spark":
        pytest.skip("views of Spark are made in another way")
    rows = ", ".join([f"({', '.join([literal(x, kind) for x in row])})" for row in FILTERED])
    engine = " ENGINE = Memory" if database == "clickhouse" else ""
    names = ", ".join([f"{name} {kind}" for name in ("id", "x", "y")])
    made = [
        "DROP TABLE IF EXISTS filtered",
        f"CREATE TABLE filtered ({names}){engine}",
        f"INSERT INTO filtered VALUES {rows}",
    ]
    for condition in CONDITIONS:
        exported = export(
            "x/2", "sql", dialect=database, table="filtered", keep=["id"], where=condition
        )
        found = open_()([*made, exported.source])
        assert sorted((row[0], row[-1] is None) for row in found) == left(condition), condition


def test_a_condition_that_sql_cannot_have_is_refused() -> None:
    for condition, message in (
        ("x", "a condition is needed"),
        ("1 > 0", "names no column"),
        ("x > 0) else 1 if (y > 0", "in `--where`"),
    ):
        with pytest.raises(ExpressionError, match=message):
            export("x", "sql", where=condition)
