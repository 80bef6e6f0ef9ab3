"""Tests that the shortcut of a stream writes, byte for byte, what the ordinary way writes, or leaves the line to it."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autodiff_cli.language.printer import expression_text
from autodiff_cli.questions.gradient import gradient
from autodiff_cli.questions.point import parse_point
from autodiff_cli.questions.straight import Formulas, plain_point
from autodiff_cli.streams import requests
from autodiff_cli.streams.answers import _answer_request
from autodiff_cli.streams.requests import Defaults, lines, stream
from autodiff_cli.streams.shortcut import Shortcut
from autodiff_cli.views.formats import JsonLines
from autodiff_cli.views.gradient import view
from running import autodiff
from strategies import graphs, texts

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, 1e300, -1e200, 5e-324, 3.0, 710.0]),
    st.floats(-4, 4),
)
SIGNS = ["+", "-", "*", "/", "**", "^", "(", ")", ",", " ", "sin(", "max(", "log(", "abs(", "f(", "e", "pi", "="]
WORDS = [
    "x",
    "y",
    "sin",
    "2",
    "0.5",
    ".5",
    "1.",
    "1e3",
    "1_0",
    "1,000",
    "2x",
    "2(",
    "0x",
    "if",
    "not",
    "0",
    "-1",
    "#",
    ";",
    "|",
]


def plain(line: str, defaults: Defaults) -> str:
    """The record that the ordinary way writes."""
    out = io.StringIO()
    writer = JsonLines(out, view(), True)
    for request in stream(io.BytesIO(line.encode(errors="surrogatepass")), defaults):
        assert not isinstance(request, str)
        _answer_request(request, lambda each: gradient(each.text, each.point, wrt=each.wrt), writer, False)
    return out.getvalue()


def held(line: str, defaults: Defaults, shortcut: Shortcut | None = None) -> bool:
    """Whether the shortcut takes the line; if so it has to write what the ordinary way writes."""
    record = (shortcut or Shortcut(defaults)).line(line, 1)
    if record is not None:
        assert record == plain(line, defaults)
    return record is not None


def point_text(point: Mapping[str, float]) -> str:
    return ",".join(f"{name}={value!r}" for name, value in point.items())


@given(graphs(), st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=2, max_size=2), st.booleans())
def test_random_formulas_at_two_points(root: object, values: list[list[float]], some: bool) -> None:
    text = expression_text(root)  # type: ignore[arg-type]
    names = ["x", "y", "w_1", "theta", "λ", "x₂"]
    defaults = Defaults({}, ("y",) if some else None)
    shortcut = Shortcut(defaults)
    for numbers in values:
        held(f"{text}\t{point_text(dict(zip(names, numbers, strict=True)))}", defaults, shortcut)


@given(
    st.one_of(texts(), st.lists(st.sampled_from([*SIGNS, *WORDS, "x", "+", "(", ")"]), max_size=12).map("".join)),
    NUMBERS,
    st.sampled_from(["x=1,y=2", "x=1,y=2,e=3", "x=1,y=2,sin=3,f=4", "x=1", "y=0.5"]),
)
@example("max(1,200)", 0.0, "x=1")
@example("x,y", 0.0, "x=1,y=2")
@example("x (y)", 0.0, "x=1,y=2")
@example("--x**-2*-y/-3", 0.0, "x=2,y=2")
@example("2**3**2/x/y-1-2", 0.0, "x=2,y=2")
@example("1/-2x", 0.0, "x=2")
@example("-2x**2y*3(x)", 0.0, "x=2,y=2")
@example("2@x", 0.0, "x=2")
@example("e*x**e", 0.0, "x=2,y=2,e=1")
def test_any_text(text: str, number: float, point: str) -> None:
    line = text.replace("\n", " ").replace("\t", " ") + "\t" + point
    held(line, Defaults({"z": number}, None))


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("x**2*y", "x=3,y=2"), ("sin(x)*exp(-y)+sqrt(x)", "x=3,y=2"), ("x**y", "x=3,y=2"), ("x**-2", "x=-3"),
        ("hypot(x, y) + max(x, y, 1) + atan2(y, x)", "x=3,y=2"), ("abs(x) + relu(y)", "x=-3,y=2"), ("e**x*pi", "x=2"),
        ("x^2^-1", "x=4"), ("-x^2", "x=4"), ("x**0", "x=0"), ("0*x", "x=2"), ("x - x", "x=2"), ("3", "x=2"),
        ("+x", "x=2"), ("3x**2 - 4x + 2(x+1)/x - 2e + 1.5sin(2x)*.5log2(x)", "x=2"),
        ("((x))", "x=2"), ("1.5e3*x/ 2.", "x=2"), ("log(1.2 + (x)**2)", "x=2,unused=3"),
    ],
)  # fmt: skip
def test_ordinary_formulas_are_taken(text: str, point: str) -> None:
    assert held(f"{text}\t{point}", Defaults({}, None))


@pytest.mark.parametrize(
    "line",
    ["abs(x)\tx=0", "1/x\tx=0", "x**2\tx=1e200", "sqrt(x)**2\tx=0", "x if x > 0 else 1\tx=1", "a = x; a\tx=1",
     "x\ty=1", "log(x)\tx=-1", "2 x\tx=1", "1/2x\tx=1", "2^-2x\tx=1", "0x1\tx1=1", "3e2x\tx=1",
     "x y\tx=1,y=1", "x(2)\tx=1", "max(x,x)\tx=1", "x\tx=1,x=2", "x\tx=1 y=2",
     "1,000*x\tx=1", "1e400 - x\tx=1", "1/(x*1e308)\tx=1e10"],
)  # fmt: skip
def test_what_is_out_of_the_ordinary_is_not(line: str) -> None:
    assert not held(line, Defaults({}, None))


def formula(rng: random.Random, size: int) -> str:
    """A formula as people stream them."""
    if size <= 0:
        return rng.choice(["x", "y", "z", f"{rng.uniform(0, 3):.2f}"])
    left = rng.randint(0, size - 1)
    a, b = formula(rng, left), formula(rng, size - 1 - left)
    kinds = [f"({a} + {b})", f"({a} - {b})", f"{a}*{b}", f"({a})/(1.5 + ({b})**2)", f"tanh({a})", f"exp(-({a})**2)"]
    return rng.choice(kinds)


def test_a_stream_is_answered_by_the_shortcut_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    programs = [formula(rng, rng.randint(1, 9)) for _ in range(200)]
    data = "".join(f"{text}\tx=0.5,y={k}.25\n" for k, text in enumerate(programs * 2))
    default = ("--at", "z=-0.75")
    long = autodiff("grad", "-", "--format", "jsonl", *default, stdin=data, encoding="ascii")
    monkeypatch.setattr("autodiff_cli.commands.grad.gradient", None)
    short = autodiff("grad", "-", "--format", "jsonl", *default, stdin=data)
    assert short.code == long.code == 0
    assert short.out == long.out


def test_request_records_take_it_too() -> None:
    asked = {"id": ["ü", 1], "expr": "x**2/y", "at": {"x": 3, "y": "pi/4"}, "wrt": ["x"]}
    line = json.dumps(asked, ensure_ascii=False)
    defaults = Defaults({}, None)
    (found,) = stream(io.BytesIO(line.encode()), defaults, Shortcut(defaults))
    assert found == plain(line, defaults)


def test_a_formula_that_comes_again_means_what_its_point_says() -> None:
    formulas = Formulas()
    for point in ({"x": 2.0}, {"x": 3.0}, {"x": 3.0, "e": 2.0}, {"x": 1.0}):
        found = formulas.gradient("e*x", point)
        expected = gradient("e*x", point)
        assert found is not None
        assert (found.value, found.gradient, found.constants) == (expected.value, expected.gradient, expected.constants)
    assert formulas.gradient("sin(x)", {"x": 1.0}) is not None
    assert formulas.gradient("sin(x)", {"x": 1.0, "sin": 1.0}) is None
    assert formulas.gradient("sin(x)", {"y": 1.0}) is None


def test_what_is_remembered_is_bounded() -> None:
    formulas = Formulas(remembered=10)
    for k in range(100):
        assert formulas.gradient(f"x + {k}", {"x": 1.0}) is not None
        assert len(formulas._known) <= 10


@given(st.lists(st.tuples(st.sampled_from(["x", "y", "if", "λ", " x", "e"]), NUMBERS.map(repr)), max_size=4))
@example([("x", "1e999")])
@example([("x", "nan")])
@example([("x", "1_0")])
def test_points(pairs: list[tuple[str, str]]) -> None:
    text = ",".join(f"{name}={number}" for name, number in pairs)
    found = plain_point(text)
    assert found is None or found == parse_point(text)


@given(st.lists(st.sampled_from([b"x", b"\n", b"\r\n", b"y" * 18]), max_size=12).map(b"".join), st.integers(1, 9))
def test_lines_are_cut_wherever_a_reading_ends(data: bytes, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "CHUNK", chunk)
        patch.setattr(requests, "LINE_LIMIT", 16)
        waits: list[int] = []
        found = list(lines(io.BytesIO(data), lambda: waits.append(1)))
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert found == [None if len(line) > 16 else line for line in expected]
    assert len(waits) == -(-len(data) // chunk) + 1
