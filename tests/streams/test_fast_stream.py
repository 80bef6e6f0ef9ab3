"""Tests that what a stream answers without a graph is what `gradient` answers, to the last bit, and
that it is done.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import random
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autodiff_cli.capabilities.derivatives import gradient as programs
from autodiff_cli.capabilities.derivatives.gradient import Gradient, Programs, gradient
from autodiff_cli.capabilities.derivatives.gradient_view import GradientView
from autodiff_cli.cli.runner import answer_requests
from autodiff_cli.engine.graphs.value import in_order
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.builder import Program
from autodiff_cli.language.printer import expression_text
from autodiff_cli.questions import decoding
from autodiff_cli.questions import parse_point as point
from autodiff_cli.show import formats
from autodiff_cli.streams import requests
from autodiff_cli.streams.requests import Defaults, lines, stream
from counting import calls
from counting import lines as lines_run
from running import autodiff
from strategies import graphs, texts

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, 1e300, -1e200, 5e-324, 3.0, 710.0]),
    st.floats(-4, 4),
)
SIGNS = [
    "+",
    "-",
    "*",
    "/",
    "**",
    "^",
    "(",
    ")",
    ",",
    " ",
    "sin(",
    "max(",
    "log(",
    "abs(",
    "f(",
    "e",
    "pi",
    "=",
]
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


def said(answer: Gradient[Any], unsaid: Collection[str] = ("unused",)) -> str:
    """What an answer says, to the last bit, but for warnings of a kind: a stream does not say that
    names are unused.
    """
    warnings = [warning for warning in answer.warnings if warning.kind not in unsaid]
    return repr(
        [answer.text, answer.value, answer.gradient, answer.point, answer.constants, warnings]
    )


def held(line: str, defaults: Defaults, programs: Programs | None = None) -> bool:
    """Whether a line is answered without a graph; either way it has to be what `gradient` answers,
    twice.
    """
    programs = programs or Programs(complete=False)
    (request,) = list(stream(io.BytesIO(line.encode(errors="surrogatepass")), defaults)) or [None]
    if request is None or request.error is not None:
        return False
    asked = (request.text, request.point)
    try:
        expected = gradient(*asked, wrt=request.wrt)
    except ExpressionError as error:
        for _ in range(2):
            with pytest.raises(ExpressionError) as found:
                programs.gradient(*asked, request.wrt)
            expected_error = error.diagnostic
            if (expected_error.hint or "").startswith(("the limit there is", "with more digits, ")):
                # what a limit or many digits cost is for one answer, not for each of a stream
                expected_error = expected_error._replace(hint=found.value.hint)
            assert found.value.diagnostic == expected_error
        return False
    answers = [programs.gradient(*asked, request.wrt) for _ in range(2)]
    # and it does not check digits
    assert [said(answer) for answer in answers] == [said(expected, ("unused", "lost_digits"))] * 2
    assert answers[0].output is not None or not answers[0].warnings
    return answers[0].output is None


def point_text(point: Mapping[str, float]) -> str:
    return ",".join(f"{name}={value!r}" for name, value in point.items())


@given(
    graphs(),
    st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=2, max_size=2),
    st.booleans(),
)
def test_random_formulas_at_two_points(root: object, values: list[list[float]], some: bool) -> None:
    text = expression_text(root)  # type: ignore[arg-type]
    names = ["x", "y", "w_1", "theta", "λ", "x₂"]
    defaults = Defaults({}, ("y",) if some else None)
    programs = Programs(complete=False)
    for numbers in values:
        held(f"{text}\t{point_text(dict(zip(names, numbers, strict=True)))}", defaults, programs)


@given(
    st.one_of(
        texts(),
        st.lists(st.sampled_from([*SIGNS, *WORDS, "x", "+", "(", ")"]), max_size=12).map("".join),
    ),
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
        ("((x))", "x=2"), ("a = x*y; b = a + 1; a += b; a*z", "x=2,y=3,z=1"), ("x² + 2√y·|x|", "x=2,y=3"),
        ("log(x) if x > 0 and not y > 4 else x**2*y", "x=2,y=3"), ("log(x) if x > 0 else x*y", "x=-2,y=3"),
        ("f(t, s) = t*s + a; f(x, f(y, 2)) + a", "x=2,y=3,a=1"), ("f(x, y) = y*x**2 + a", "x=2,y=3,a=1"),
        ("1 if 0 < x <= 3 or y != 3 else x", "x=2,y=1"), ("a = log(y); x + 1", "x=2,y=-1"),
        ("1.5e3*x/ 2.", "x=2"), ("log(1.2 + (x)**2)", "x=2,unused=3"),
    ],
)  # fmt: skip
def test_ordinary_formulas_are_taken(text: str, point: str) -> None:
    assert held(f"{text}\t{point}", Defaults({}, None))


@pytest.mark.parametrize(
    "line",
    ["abs(x)\tx=0", "1/x\tx=0", "x**2\tx=1e200", "sqrt(x)**2\tx=0", "a = x; a\tx=1,a=2", "x if x > 1 else 1\tx=1",
     "x\ty=1", "log(x)\tx=-1", "2 x\tx=1", "1/2x\tx=1", "2^-2x\tx=1", "0x1\tx1=1", "3e2x\tx=1",
     "x y\tx=1,y=1", "x(2)\tx=1", "max(x,x)\tx=1", "x\tx=1,x=2", "x\tx=1 y=2",
     "log(x) if x > 2 and y == 3 else x\tx=3,y=3", "1,000*x\tx=1", "1e400 - x\tx=1", "1/(x*1e308)\tx=1e10"],
)  # fmt: skip
def test_what_is_out_of_the_ordinary_is_not(line: str) -> None:
    assert not held(line, Defaults({}, None))


def formula(rng: random.Random, size: int) -> str:
    """A formula as people stream them."""
    if size <= 0:
        return rng.choice(["x", "y", "z", f"{rng.uniform(0, 3):.2f}"])
    left = rng.randint(0, size - 1)
    a, b = formula(rng, left), formula(rng, size - 1 - left)
    kinds = [
        f"({a} + {b})",
        f"({a} - {b})",
        f"{a}*{b}",
        f"({a})/(1.5 + ({b})**2)",
        f"tanh({a})",
        f"exp(-({a})**2)",
    ]
    return rng.choice(kinds)


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "tsv", "plain"])
def test_a_stream_is_answered_without_a_graph(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    texts = [formula(rng, rng.randint(1, 9)) for _ in range(200)]
    texts += ["a = x*y; a + z", "2x² + y", "a = x*y; a + z", "2x² + y"]
    data = "".join(f"{text}\tx=0.5,y={k}.25\n" for k, text in enumerate(texts * 2))
    asked = ("grad", "-", "--format", format, "--at", "z=-0.75")
    graphs: list[str] = []
    ordinary = programs.gradient_of

    def counted(program: Program, *rest: Any) -> Gradient[float]:
        graphs.append(program.text)
        return ordinary(program, *rest)

    monkeypatch.setattr(programs, "gradient_of", counted)
    short = autodiff(*asked, stdin=data)
    assert graphs == []
    monkeypatch.setattr(programs.PreparedProgram, "numbers", lambda *asked: None)
    long = autodiff(*asked, stdin=data)
    assert len(graphs) == len(texts) * 2
    assert short == long
    assert short.code == 0


@pytest.mark.parametrize("format", ["jsonl", "json"])
@pytest.mark.parametrize("more", [(), ("--sort",), ("--relative",), ("--all",)])
def test_records_are_filled_into_templates_as_they_are_encoded(
    format: str, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        "x*y\tx=2,y=0.1",
        "x*y\tx=-0.5,y=1e300",
        "y/x\tx=3,y=5e-324",
        "pi*e*x\tx=7,y=1",
        "2\t",
        "x λ\tx=1",
    ]
    lines += [
        "sqrt(x)\tx=-1",
        "abs(x)\tx=0",
        "x + y\x7f\tx=1,y=2",
        "λ*x\tλ=1,x=2",
        "x²\tx=3",
        'x*"y"\tx=1,y=2',
    ]
    lines += [
        '{"id": "a\\u202e%s", "expr": "x*y", "at": {"x": 2, "y": 3}, "wrt": ["y"]}',
        "a = x%2; a*x\tx=3",
    ]
    data = "\n".join([*lines * 4, ""])
    asked = ("grad", "-", "--format", format, *more)
    texts: list[str] = []
    ordinary = formats.JsonLines._fill

    def noted(self: formats.JsonLines[Any], asked: formats.Subject, answer: Any) -> str | None:
        text = ordinary(self, asked, answer)
        texts.extend([text] if text else [])
        return text

    monkeypatch.setattr(formats.JsonLines, "_fill", noted)
    filled = autodiff(*asked, stdin=data)
    assert len(texts) >= (20 if more in ((), ("--sort",)) else 0)
    monkeypatch.setattr(formats.JsonLines, "_fill", lambda self, asked, answer: None)
    assert autodiff(*asked, stdin=data) == filled


def test_templates_of_records_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MAX_TEMPLATES", 10)
    writer = formats.JsonLines("jsonl", io.StringIO(), GradientView(), True)
    for k in range(100):
        names = [f"x{i}" for i in range(k + 1)]
        answer = gradient("+".join(names), dict.fromkeys(names, 1.0))
        for other in (answer, answer._replace(gradient={name + "_": 1.0 for name in names})):
            text = writer._fill(formats.Subject(other.text), other)
            assert json.loads(text or "")["gradient"] == other.gradient
            assert len(writer._templates) <= 10


def answered(format: str, count: int, *, again: bool = False) -> Callable[[], object]:
    """What answers so many formulas at a point in a format, by formulas alone where people are
    shown the answers.

    If `again`, they have been read before.
    """
    rng = random.Random(1)
    asked = "".join(
        f"{formula(rng, rng.randint(5, 20))}\tx=0.5,y=1.25,z=-0.75\n" for _ in range(count)
    )

    remembered = Programs(complete=False)

    def run() -> None:
        known = remembered if again else Programs(complete=False)
        made = formats.writer(format, io.StringIO(), GradientView(tree=False), True)
        answer_requests(
            stream(io.BytesIO(asked.encode()), Defaults({}, None)),
            lambda request: known.gradient(request.text, request.point, request.wrt), made, False,
        )  # fmt: skip

    run()  # the first time some of it is found out that is looked up from then on
    return run


def test_a_formula_of_a_stream_takes_few_calls() -> None:
    assert calls(answered("jsonl", 40)) < 40 * 260


# Rich takes longer for a table
@pytest.mark.parametrize("format", ["json", "csv", "tsv", "plain", "markdown"])
def test_no_format_takes_much_more_than_records(format: str) -> None:
    assert lines_run(answered(format, 20)) < 1.15 * lines_run(answered("jsonl", 20))
    assert lines_run(answered(format, 20, again=True)) < 20 * 560


def test_request_records_take_no_graph_either() -> None:
    asked = {"id": ["ü", 1], "expr": "x**2/y", "at": {"x": 3, "y": "pi/4"}, "wrt": ["x"]}
    assert held(json.dumps(asked, ensure_ascii=False), Defaults({}, None))


def test_a_formula_that_comes_again_means_what_its_point_says() -> None:
    lines = [
        "e*x\tx=2",
        "e*x\tx=3",
        "e*x\tx=3,e=2",
        "e*x\tx=1",
        "sin(x)\tx=1",
        "sin(x)\tx=1,sin=1",
        "sin(x)\ty=1",
    ]
    together = Programs(complete=False)
    assert [held(line, Defaults({}, None), together) for line in lines] == [True] * 5 + [False] * 2


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_KEPT_SIZE", 1000)
    for text in ("x + {}", "a = x; a + {}"):
        known = Programs(complete=False, remembered=10)
        for k in range(100):
            assert known.gradient(text.format(k), {"x": 1.0}).value == k + 1
            assert 1 <= len(known._programs) <= 10
        known.gradient("x" + " + x" * 2000, {"x": 1.0})
        known.gradient(text.format(0), {"x": 1.0})
        assert len(known._programs) == 1


def test_programs_are_kept_when_they_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    ordinary = programs.parse
    monkeypatch.setattr(
        programs, "parse", lambda text, point: texts.append(text) or ordinary(text, point)
    )
    monkeypatch.setattr(programs, "MAX_SEEN_HASHES", 100)
    known = Programs(complete=False)
    few = [f"x*{k}" for k in range(programs.MAX_FIRST_USE_PROGRAMS)]
    many = [f"{k}*x" for k in range(500)]
    for text in [*few, *many, *few, many[-1], many[-1], many[-1], many[0]]:
        assert known.gradient(text, {"x": 1.0}).value == float(text.strip("x*"))
        assert len(known._seen_once) <= 100
    # the first ones were kept at once, the last one when it came again, and that the others came is
    # forgotten by now
    assert texts == [*few, *many, many[-1], many[0]]
    assert len(known._programs) == programs.MAX_FIRST_USE_PROGRAMS + 1


def test_what_is_whole_has_everything() -> None:
    known = Programs()
    for x in (2.0, 3.0):
        answer = known.gradient("a = x*x; a + 1", {"x": x, "y": 1.0})
        assert answer.output is not None and answer.output.data == x * x + 1
        assert [(each.value, each.grad) for each in answer.intermediates] == [(x * x, 1.0)]
        assert [warning.kind for warning in answer.warnings] == ["unused"]


def test_an_answer_stays_what_it_was_when_the_next_one_is_there() -> None:
    known = Programs()
    first = known.gradient("a = x*x; a + x", {"x": 3.0})
    second = known.gradient("a = x*x; a + x", {"x": 5.0})
    assert first.output is not None and second.output is not None
    assert [(n.data, n.grad) for n in in_order((first.output,))] == [
        (3.0, 7.0),
        (9.0, 1.0),
        (12.0, 1.0),
    ]
    assert [(n.data, n.grad) for n in in_order((second.output,))] == [
        (5.0, 11.0),
        (25.0, 1.0),
        (30.0, 1.0),
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from(["x", "y", "if", "λ", " x", "e"]), NUMBERS.map(repr)), max_size=4
    )
)
@example([("x", "1e999")])
@example([("x", "nan")])
@example([("x", "1_0")])
def test_points(pairs: list[tuple[str, str]]) -> None:
    text = ",".join(f"{name}={number}" for name, number in pairs)
    outcomes: list[str] = []
    for plain in (point._plain_point, lambda text: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(point, "_plain_point", plain)
            try:
                outcomes.append(
                    repr([(name, x, x.source) for name, x in point.parse_point(text).items()])
                )
            except ExpressionError as error:
                outcomes.append(repr(error.diagnostic))
    assert outcomes[0] == outcomes[1]


def test_plain_points_are_read_at_once() -> None:
    assert point._plain_point("x=1,y_2=-2.5e3,λ=.5") == {"x": 1.0, "y_2": -2500.0, "λ": 0.5}


@given(
    st.lists(st.sampled_from([b"x", b"\n", b"\r\n", b"y" * 18]), max_size=12).map(b"".join),
    st.integers(1, 9),
)
def test_lines_are_cut_wherever_a_reading_ends(data: bytes, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "READ_BYTES", chunk)
        patch.setattr(decoding, "MAX_BYTES", 16)
        waits: list[int] = []
        found = list(lines(io.BytesIO(data), lambda: waits.append(1)))
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert found == [None if len(line) > 16 else line for line in expected]
    assert len(waits) == -(-len(data) // chunk) + 1


@pytest.mark.parametrize(
    "text",
    [
        "1/2x",
        "foo(x)",
        "x(y)",
        "x; 2",
        "sqrt(x)*y",
        "log(x)",
        "1e308*y*9",
        "x < y",
        "f(x) = g(x); f(1)",
        "x",
    ],
)
def test_a_line_leaves_nothing_to_the_collector(text: str) -> None:
    programs = Programs(complete=False)
    left = []
    gc.freeze()  # what the tests before this one have left is looked at by none of the collections
    try:
        for _ in range(3):
            gc.collect()
            gc.disable()
            with contextlib.suppress(ExpressionError):
                programs.gradient(text, {"x": 0.0, "y": 3.0})
            gc.enable()
            left.append(gc.collect())
    finally:
        gc.enable()
        gc.unfreeze()
    # The first time imports something, perhaps.
    assert left[1:] == [0, 0]
