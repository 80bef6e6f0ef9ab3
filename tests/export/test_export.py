"""Exported programs, run by each target's own runtime: they agree with `grad`, whatever their names
are.
"""

from __future__ import annotations

import io
import json
import math
import random
import re
import shutil
import subprocess
import tokenize
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_cli
from autodiff_cli import ExpressionError, Value, diff, gradient, parse
from autodiff_cli.capabilities.export.export import Exported
from autodiff_cli.capabilities.export.export import export as sql_of
from autodiff_cli.capabilities.export.targets import DIALECTS, TARGETS, target
from autodiff_cli.compiled.target import reserved_words
from autodiff_cli.engine.graphs.value_and_gradient import value_and_gradient
from autodiff_cli.engine.numbers.running_error import RUNNING, Bounded
from autodiff_cli.engine.table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from autodiff_cli.questions.problem import as_number
from counting import compared, compares
from exported import FLAGS, RUNNERS, Runner, at_points, compiled, export, python
from places import TESTS
from samples import OF_FEW_TARGETS, samples_of
from strategies import graphs, program_text

PUBLIC = [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in ("where", *OF_FEW_TARGETS)]
SPECIAL = (
    "erf",
    "gamma",
    "beta",
    "logit",
    "gelu",
    "digamma",
    "polygamma",
    "norm",
    "lambert",
    "zeta",
)
LOOSE = {"jax": {"gelu": 8.0, "normcdf": 8.0, "lgamma": 4.0, "trigamma": 2.0, "polygamma": 80.0}}
"""How many times 16 ulp a library is itself off, at worst, at these sample points."""

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")


def sampled(primitive: Primitive) -> list[tuple[str, dict[str, float]]]:
    """A program for each sample point of the table, of the form with more arguments too."""
    found = []
    longer = PRIMITIVES.get(primitive.longer)
    for row in filter(None, (primitive, longer)):
        fixed = {k for k, p in enumerate(row.params) if p in row.constant_params}
        for sample in samples_of(row):
            names = ["x", "y", "z", "w"][: len(sample)]
            args = [
                str(int(v)) if k in fixed else n
                for k, (n, v) in enumerate(zip(names, sample, strict=True))
            ]
            point = {
                n: v for k, (n, v) in enumerate(zip(names, sample, strict=True)) if k not in fixed
            }
            found.append((f"{primitive.name}({', '.join(args)})", point))
    return found


def assert_agrees(
    got: tuple[float, list[float]], text: str, point: dict[str, float], ulps: float
) -> None:
    want = gradient(text, point)
    for a, b in zip([got[0], *got[1]], [want.value, *want.gradient.values()], strict=True):
        assert abs(a - b) <= max(ulps * 2**-52 * abs(b), 2.3e-308 * 2**-20), (
            text,
            point,
            got,
            want,
        )


@pytest.mark.parametrize("to", [*TARGETS, *[f"sql:{dialect}" for dialect in DIALECTS]])
def test_every_function_has_a_formula_in_every_target_but_for_high_orders(to: str) -> None:
    for primitive in PUBLIC:
        text, _ = sampled(primitive)[0]
        assert export(text, to).source
    if to not in ("latex", "jax"):
        with pytest.raises(
            ExpressionError, match=r"has no function `polygamma\(7, …\)`, which `polygamma`"
        ) as caught:
            export("2*polygamma(7, x)", to)
        assert caught.value.kind == "usage"
        assert caught.value.span is not None


@pytest.mark.parametrize("runtime", RUNNERS)
def test_every_function_at_its_sample_points(runtime: str) -> None:
    to, run = RUNNERS[runtime]
    exported = cache(export)  # a program has many points
    for primitive in PUBLIC:
        special = any(name in primitive.name for name in SPECIAL)
        if to.startswith("sql"):
            # A database takes longer to read a statement than to answer all points.
            points: dict[str, list[dict[str, float]]] = {}
            for text, point in sampled(primitive):
                points.setdefault(text, []).append(point)
            for text, some in points.items():
                rows = at_points(
                    runtime, export(text, to), [list(point.values()) for point in some]
                )
                for point, (value, *partials) in zip(
                    some, cast(list[list[float]], rows), strict=True
                ):
                    assert_agrees((value, partials), text, point, 16.0 if special else 4.0)
            continue
        for text, point in sampled(primitive):
            if runtime == "jax" and max(map(abs, point.values())) in (740.0, 1e160, 1e300):
                continue  # it takes subnormal numbers for 0, and 1/x² too early
            loose = LOOSE.get(to, {}).get(primitive.name, 1.0)
            got = run(exported(text, to), list(point.values()))
            assert_agrees(got, text, point, loose * (16.0 if special else 4.0))


@pytest.mark.skipif("jax" not in RUNNERS, reason="there is no JAX")
def test_jax_has_no_wrong_polygamma_far_below_zero() -> None:
    run = RUNNERS["jax"][1]
    assert_agrees(run(export("trigamma(x)", "jax"), [-256.3]), "trigamma(x)", {"x": -256.3}, 64.0)
    assert_agrees(
        run(export("polygamma(2, x)", "jax"), [-256.3]), "polygamma(2, x)", {"x": -256.3}, 64.0
    )
    assert_agrees(run(export("polygamma(7, x)", "jax"), [2.5]), "polygamma(7, x)", {"x": 2.5}, 64.0)
    assert math.isnan(run(export("polygamma(7, x)", "jax"), [-256.3])[0])


@needs_gcc
def test_every_function_at_its_sample_points_in_c(tmp_path: Path) -> None:
    programs: list[Exported] = []
    asked: list[tuple[str, dict[str, float], float]] = []
    for primitive in PUBLIC:
        special = any(name in primitive.name for name in SPECIAL)
        asked += [(text, point, 16.0 if special else 4.0) for text, point in sampled(primitive)]
    for k, text in enumerate(dict.fromkeys(text for text, _, _ in asked)):
        programs.append(export(text, "c", name=f"f_{k}"))
    runs = dict(
        zip(
            [p.text for p in programs],
            zip(programs, compiled(programs, tmp_path), strict=True),
            strict=True,
        )
    )
    for text, point, ulps in asked:
        program, run = runs[text]
        assert_agrees(run(program, list(point.values())), text, point, ulps)


@pytest.mark.skipif("node" not in RUNNERS, reason="there is no Node")
def test_javascript_on_the_formulas_of_the_corpora() -> None:
    """As near to `grad` as 4 ulp in every operation allow; nearly all numbers are as near as 4 ulp
    of themselves.
    """
    compared_numbers = near = refused = 0
    for line in (TESTS / "corpora" / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        formula = json.loads(line)
        program = export(formula["expr"], "javascript")
        points = [
            {name: as_number(x, name) for name, x in point.items()} for point in formula["points"]
        ]
        points = [{name: point[name] for name in program.variables} for point in points]
        answers = at_points("node", program, [list(point.values()) for point in points])
        for point, answer in zip(points, answers, strict=True):
            try:
                want = gradient(formula["expr"], point)
            except ExpressionError:
                refused += 1
                assert not all(map(math.isfinite, answer)), (formula["expr"], point)
                continue
            numbers = [want.value, *[want.gradient[name] for name in program.wanted]]
            errors: list[float] = []
            for k, (a, b) in enumerate(zip(answer, numbers, strict=True)):
                compared_numbers += 1
                if abs(a - b) <= 4 * math.ulp(b):
                    near += 1
                    continue
                errors = errors or roundings(formula["expr"], point, program.wanted)
                assert abs(a - b) <= 2 * errors[k], (formula["expr"], point, a, b)
    assert compared_numbers > 1900 and refused > 5 and near > 0.99 * compared_numbers


def roundings(text: str, point: dict[str, float], wanted: Sequence[str]) -> list[float]:
    """How far value and partials may be off where every operation is off by 4 ulp, to first
    order.
    """
    given = {name: Bounded(x) for name, x in point.items()}
    swept = value_and_gradient(RUNNING, parse(text).outputs[0], given, wanted)
    return [
        RUNNING.number(x).error for x in (swept.value, *(swept.gradient[name] for name in wanted))
    ]


POINTS = st.lists(
    st.sampled_from([0.75, -1.5, 2.25, 0.3, 1.0, 0.0, -0.5, 3.0]), min_size=6, max_size=6
)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-10, abs_tol=1e-12)


def is_same(got: tuple[float, list[float]], want: tuple[float, list[float]]) -> bool:
    return all(map(close, [got[0], *got[1]], [want[0], *want[1]]))


def answered(
    graph: Value, numbers: Sequence[float]
) -> tuple[str, list[float], tuple[float, list[float]]] | None:
    """A random program with a point where it has a gradient, and that gradient."""
    text = program_text((graph,))
    names = list(parse(text).variables)
    try:
        found = gradient(text, dict(zip(names, numbers, strict=False)))
    except ExpressionError:
        return None
    return text, list(numbers[: len(names)]), (found.value, list(found.gradient.values()))


@compares(20)
@given(graphs(max_leaves=8), POINTS)
@settings(max_examples=40, deadline=None)
def test_random_programs(graph: Value, numbers: list[float]) -> None:
    asked = answered(graph, numbers)
    if asked is None:
        return
    text, point, want = asked
    for to, run in RUNNERS.values():
        try:
            exported = export(text, to)
        except ExpressionError:
            continue
        assert is_same(run(exported, point), want), exported.source
        compared()


@needs_gcc
@compares(20)
@given(st.lists(st.tuples(graphs(max_leaves=8), POINTS), min_size=40, max_size=40))
@settings(max_examples=1, deadline=None)
def test_random_programs_in_c(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[Value, list[float]]]
) -> None:
    programs, asked = [], []
    for graph, numbers in cases:
        found = answered(graph, numbers)
        if found is None:
            continue
        try:
            programs.append(export(found[0], "c", name=f"f_{len(programs)}"))
        except ExpressionError:
            continue
        asked.append(found)
    for program, run, (_, point, want) in zip(
        programs, compiled(programs, tmp_path_factory.mktemp("c")), asked, strict=True
    ):
        assert is_same(run(program, point), want), program.source
        compared()


def with_c(text: str, folder: Path) -> list[tuple[str, Runner]]:
    """The targets with what runs their code, C among them where it can be compiled."""
    runners = list(RUNNERS.values())
    if shutil.which("gcc"):
        (in_c,) = compiled([export(text, "c")], folder)
        runners.append(("c", in_c))
    return runners


CHOICES = (
    ("log(x) if x > 0 else x**2", (-2.0, 3.0, 0.0)),
    ("t = sqrt(x); (t if x > 1 else 2) + (t*t if x >= 0 else -x)", (-1.0, 0.5, 4.0)),
    ("where(x > 0 and log(x) < 1 or x < -5, 1/x, x)", (-6.0, -1.0, 0.0, 2.0, 9.0)),
    ("sqrt(relu(x - 1))", (3.0,)),
    ("x if not x == 2 else 7", (1.0, 2.0)),
    ("".join(f"{k}*x if x < {k} else " for k in range(40)) + "sqrt(x)", (0.5, 20.5, 100.0)),
    # a condition that is known outside of the branch in which it is asked about again
    (
        (
            "where(x*x < 1, sin(x), where(sin(x) > 0 or sin(x) > 0 and x > 1, where(sin(x) > 0,"
            " sin(x), exp(x)), cos(x)))"
        ),
        (-1.5, 0.5, 2.0),
    ),
)


@pytest.mark.parametrize(("text", "numbers"), CHOICES)
def test_choices_stay_choices(text: str, numbers: tuple[float, ...], tmp_path: Path) -> None:
    for to, run in with_c(text, tmp_path):
        exported = export(text, to)
        for x in numbers:
            want = gradient(text, {"x": x})
            got = run(exported, [x])
            assert is_same(got, (want.value, list(want.gradient.values()))), (
                exported.source,
                x,
                got,
            )
    assert "CASE WHEN" in export(text, "sql").source
    assert "np.where(" in export(text, "numpy").source


def _choices(depth: int, rng: random.Random) -> str:
    """Choices in each other, by conditions that come again and are neither plain nor alone."""

    def condition(depth: int) -> str:
        if not depth or rng.random() < 0.4:
            return rng.choice(("x + y > 1", "y > 0", "x*y < 1", "sin(x) > 0"))
        return f"({condition(depth - 1)} {rng.choice(('and', 'or'))} {condition(depth - 1)})"

    if not depth or rng.random() < 0.2:
        return rng.choice(("exp(x)", "sin(y)", "exp(x)*y", "log(2 + y)"))
    return f"where({condition(2)}, {_choices(depth - 1, rng)}, {_choices(depth - 1, rng)})"


def test_choices_in_each_other() -> None:
    rng = random.Random(5)
    points = [(y, x) for y in (-1.5, 0.4, 1.7) for x in (-1.5, 0.4, 1.7)]
    tried = 0
    for _ in range(120):
        text = f"y*x + {_choices(3, rng)}"
        exported = export(text, "python")
        for y, x in points:
            want = gradient(text, {"y": y, "x": x})
            got = python(exported, [y, x])
            assert is_same(got, (want.value, [*want.gradient.values()])), (exported.source, y, x)
            tried += exported.source.count("if ") > 5
    assert tried > 400


@pytest.mark.skipif(not find_spec("torch"), reason="PyTorch is not installed")
def test_a_branch_not_taken_does_not_spoil_what_pytorch_differentiates() -> None:
    import torch

    space: dict[str, object] = {}
    exec(export("log(x)*sqrt(x) if x > 0 else x**2", "torch").source, space)
    x = torch.tensor([-2.0, 3.0], dtype=torch.float64, requires_grad=True)
    value, (partial,) = space["f"](x)  # type: ignore[operator]
    (again,) = torch.autograd.grad(value.sum(), x)
    assert torch.allclose(again, partial)


HOSTILE = (
    "lambda*class + λ*select + x₂**2 + math + jnp*np + torch",
    "exp(exp1) + double*int + Double + gradient + f",
    "t1 = t2*v1; t3 = t1 + ad_x + T1*y0; t3*t1 + v2",
    "# */ ; system(\"x\") /* \\\n__import__ + exec*eval + print # \"\"\" \\ ??/\n",
    "# a -- b ' \" ; drop table points\n'".replace("'", "") + "end + case*from + group",
    "# é あ '\"{}\nabs1 + None1*True1 + def",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_comments(text: str, tmp_path: Path) -> None:
    names = list(parse(text).variables)
    point = [0.5 + k / 8 for k in range(len(names))]
    want = gradient(text, dict(zip(names, point, strict=True)))
    for to, run in with_c(text, tmp_path):
        exported = export(text, to)
        assert is_same(run(exported, point), (want.value, list(want.gradient.values()))), (
            exported.source
        )
        assert len(set(exported.variables.values())) == len(names)
        for old, new in exported.variables.items():
            assert new.isascii()
            assert old == new or f"`{new}` is the variable `{old}`" in exported.source


@pytest.mark.parametrize(
    "text", ["# coding=utf-7 +AAo-print(1)\nx**2", "x**2 # vim: set fileencoding=utf-7:"]
)
def test_no_comment_of_the_program_is_an_encoding_of_python(text: str) -> None:
    sources = [export(text, to).source for to in ("python", "numpy", "jax", "torch")]
    for source in [*sources, diff(text, to="python").program]:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode()).readline)
        assert encoding == "utf-8", source


def test_no_comment_of_the_program_ends_the_comment_that_it_is_shown_in() -> None:
    text = "1/(x # \\'; drop table points; */ /*/ **/ ???/ </script> <!-- <SCRIPT>\v\n+ 1)"
    inside = export(text, "c").source.partition("/*")[2].partition("*/\n#include")[0]
    assert not re.search(r"/\*|\*/|\?\?|\\", inside), inside
    assert not re.search(r"<[/!s]", export(text, "javascript").source, re.IGNORECASE)
    for dialect in DIALECTS:
        code = [
            line
            for line in export(text, f"sql:{dialect}").source.splitlines()
            if not line.startswith("--")
        ]
        assert "drop" not in "".join(code) and "\\" not in "".join(code), dialect


@needs_gcc
@pytest.mark.parametrize("standard", ["c99", "gnu99", "gnu17", "gnu2x"])
def test_no_name_is_a_macro_of_c(standard: str) -> None:
    done = subprocess.run(
        ["gcc", f"-std={standard}", "-D_GNU_SOURCE", "-E", "-dM", "-"],
        input="#include <math.h>\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    macros = {line.split()[1].partition("(")[0] for line in done.stdout.splitlines()}
    assert {"INFINITY", "M_PI", "NAN"} < macros
    writer = target("c")
    assert writer is not None
    assert [name for name in macros if writer.can_name_variable(name)] == []


@needs_gcc
def test_variables_of_c_with_names_that_mean_something(tmp_path: Path) -> None:
    text = (
        "INFINITY*NAN + M_PI*linux - unix*isnan + errno*asm + class*nullptr + exp(printf)*y1*small"
        " + OVERFLOW + E*I"
    )
    program = export(text, "c")
    point = [0.5 + k / 8 for k in range(len(program.variables))]
    want = gradient(text, dict(zip(program.variables, point, strict=True)))
    for standard in ("c99", "gnu17", "gnu2x"):
        (tmp_path / standard).mkdir()
        (run,) = compiled([program], tmp_path / standard, (f"-std={standard}", *FLAGS[1:]))
        assert is_same(run(program, point), (want.value, list(want.gradient.values()))), (
            program.source
        )
    assert {"y1", "E", "I", "printf"} < set(program.variables.values())


LIBRARY = (
    "printf malloc exit read write strlen sin sinf cosl tgamma lgammaf index time qsort"
    " pthread_create stdin main"
)


def test_a_function_has_no_name_of_the_library() -> None:
    for name in LIBRARY.split():
        with pytest.raises(ExpressionError, match="cannot be the name of a function in `c`"):
            export("x", "c", name=name)
    for to, name in (
        ("python", "print"),
        ("python", "lambda"),
        ("numpy", "np"),
        ("jax", "jnp"),
        ("torch", "torch"),
    ):
        with pytest.raises(ExpressionError, match="cannot be the name"):
            export("x", to, name=name)
    for to in ("python", "numpy", "jax", "torch", "sql", "latex"):
        assert export("x", to, name="printf").source
    assert export("x*area", "c", name="area").source


@pytest.mark.parametrize("runtime", [name for name in ("sqlite", "duckdb") if name in RUNNERS])
def test_columns_with_names_that_mean_something(runtime: str) -> None:
    words = set(reserved_words("sql"))
    if find_spec("duckdb"):
        import duckdb

        rows = duckdb.execute("select keyword_name from duckdb_keywords()").fetchall()
        words |= {row[0] for row in rows if row[0] not in ("if", "else", "and", "or", "not")}
    names = sorted(words - {"if", "else", "and", "or", "not"})
    text = " + ".join(f"{k + 1}*{name}" for k, name in enumerate(names))
    program = export(text, "sql", wrt=names[:2])
    got = RUNNERS[runtime][1](program, [0.5] * len(names))
    assert is_same(got, (sum(0.5 * (k + 1) for k in range(len(names))), [1.0, 2.0]))


def test_what_is_asked_for() -> None:
    assert export("x*y", "python", name="area", wrt=["y"]).source.endswith("    return t1, (x,)\n")
    for name in ("class", "λ", "1x", "print", "ad_x", ""):
        with pytest.raises(ExpressionError) as caught:
            export("x", "python", name=name)
        assert caught.value.kind == "usage"
    with pytest.raises(ExpressionError, match="`to` cannot be `fortran`"):
        autodiff_cli.export("x", "fortran")
    with pytest.raises(ExpressionError):
        export("x, y", "python")
    for to in TARGETS:
        assert export("3", to).source
        assert export("x", to, wrt=["y", "x"] if to == "z" else ["x"]).source
    for runtime in RUNNERS:
        to, run = RUNNERS[runtime]
        assert run(export("2**3", to), []) == (8.0, [])


def test_large_programs(tmp_path: Path) -> None:
    text = "a = x\n" + "a = sin(a) + x*y\n" * 1000 + "a"
    for to in TARGETS:
        if to != "latex":
            assert len(export(text, to).source) < 2_000_000
    got = RUNNERS["python"][1](export(text, "python"), [0.5, 0.25])
    assert_agrees(got, text, {"x": 0.5, "y": 0.25}, 64.0)


@pytest.mark.parametrize("to", ["c", "javascript", "jax", "torch"])
def test_code_is_the_same_every_time(to: str) -> None:
    assert len({export("gamma(x)", to).source for _ in range(12)}) == 1


@pytest.mark.parametrize(
    ("text", "derivative"),
    [
        ("x/exp(x)", lambda x: (1 - x) * math.exp(-x)),
        ("log(1/exp(x))", lambda x: -1.0),
        ("1/cosh(x)", lambda x: -2 * math.exp(-x)),
        ("(2/(3 + exp(x)))**2*exp(x)", lambda x: -4 * math.exp(-x)),
        ("exp(x)**-1", lambda x: -math.exp(-x)),
    ],
)
def test_code_does_not_underflow_where_the_derivative_does_not(
    text: str, derivative: Callable[[float], float]
) -> None:
    program = export(text, "python")
    for x in (300.0, 340.0, 352.0) if "**2" in text else (300.0, 400.0, 650.0):
        _, (slope,) = python(program, [x])
        assert slope == pytest.approx(derivative(x), rel=1e-12)


def test_sql_keeps_columns_of_the_users_table() -> None:
    import sqlite3

    code = sql_of(
        "a*exp(-k*t)", "sql", dialect="sqlite", table="results", keep=["id", "run", "a"]
    ).source
    database = sqlite3.connect(":memory:")
    database.execute("create table results (id, run, a, k, t, other)")
    rows = [(7, "r", 2.0, 0.5, 3.0, 1), (8, "s", None, 1.0, 1.0, 2)]
    database.executemany("insert into results values (?, ?, ?, ?, ?, ?)", rows)
    answers = database.execute(code)
    names = [column[0] for column in answers.description]
    first, second = [dict(zip(names, row, strict=True)) for row in answers]
    assert names[:3] == ["id", "run", "a"] and "other" not in names
    assert (first["id"], first["run"]) == (7, "r") and first["value"] == pytest.approx(
        2 * math.exp(-1.5)
    )
    assert (
        first["d_k"] == pytest.approx(-6 * math.exp(-1.5)) and second["id"] == 8 and second["error"]
    )


@pytest.mark.parametrize(
    "more", [{"table": "x;drop"}, {"table": "a.b c"}, {"keep": ["d_a"]}, {"keep": ["my col"]}]
)
def test_names_that_sql_cannot_have_are_refused(more: dict[str, object]) -> None:
    with pytest.raises(ExpressionError):
        sql_of("a*x", "sql", **more)  # type: ignore[arg-type]
