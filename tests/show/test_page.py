"""The page: what it says is what `trace` and `grad` say, step by step, in a real browser; and it is
safe and usable.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import ExpressionError, gradient
from autodiff_cli.capabilities.graph.graph import Folding, picture
from autodiff_cli.capabilities.optimize.descend import descend
from autodiff_cli.capabilities.page.page import MAX_NODES, Page, page
from autodiff_cli.capabilities.page.page_view import PAGE_DIGITS, document
from autodiff_cli.capabilities.trace.trace import trace
from autodiff_cli.capabilities.trace.trace_view import Notation
from autodiff_cli.engine.quantities.unit import parse_unit
from autodiff_cli.show.document import quantity_text
from browser import MISSING, Tab, browser

NEURON = "tanh(w*x + b)"
POINT = {"w": 1.0, "x": 2.0, "b": -1.0}
OFF = {"x": -3.0, "w1": 2.0, "y": 1.2, "w2": 0.5}
BOWL = "((w1-1)**2 + (w2-5)**2)*0.5"

Point = dict[str, float]
Open = Callable[..., Tab]


# ---- the file -----------------------------------------------------------------------------------------------------
class Parts(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.content: dict[str, str] = {}
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("id") or tag

    def handle_data(self, data: str) -> None:
        self.content[self.inside] = self.content.get(self.inside, "") + data


def test_the_file_needs_nothing_else_and_allows_nothing_else() -> None:
    text = document(page(NEURON, POINT))
    parts = Parts(text)
    assert not [
        attributes for _, attributes in parts.tags if {"src", "href", "style"} & attributes.keys()
    ]
    assert not [key for _, attributes in parts.tags for key in attributes if key.startswith("on")]
    (policy,) = [
        a["content"] for tag, a in parts.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy and policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        (content,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


HOSTILE = "</script><script>alert(1)</script>"


def test_what_a_program_says_stays_text() -> None:
    text = document(page(f"# {HOSTILE} <!-- \"'><img src=x onerror=alert(1)>\nx**2", {"x": 1}))
    assert HOSTILE not in text and "<img" not in text
    told = json.loads(Parts(text).content["data"])
    assert told["point"] == {"x": 1}


def test_short_derivations_are_on_the_page_and_long_ones_are_not() -> None:
    made = page("x**2*exp(-x/2) + y**2", {"x": 1, "y": 2})
    assert [each.by for each in made.derivations] == [("x",), ("y",)]
    text = document(made)
    section = text[text.index('<details id="derivation">') : text.index("</details>")]
    assert section.count("<tbody>") == 2
    assert section.count("<tr") == 2 + sum(len(each.steps) for each in made.derivations)
    assert "<td>chain, exp</td><td>d/dx(exp(−x/2))</td><td>exp(−x/2)·d/dx(−x/2)</td>" in section
    assert "<td>x² &lt; 1" not in text and "x² if x &lt; 1" in document(
        page("x**2 if x < 1 else x", {"x": 0})
    )
    for long in ("tanh(" * 40 + "x" + ")" * 40, "*".join(f"sin(x*{k})" for k in range(1, 30))):
        assert (
            "derivation"
            not in document(page(long, {"x": 1})).partition("</style>")[2].partition("<script")[0]
        )
    assert page("x*y", {"x": 1, "y": 2}, wrt=["y"]).derivations[0].by == ("y",)


def test_what_cannot_be() -> None:
    with pytest.raises(ExpressionError, match="`log` is undefined at -1"):
        page("log(x)", {"x": -1})
    with pytest.raises(ExpressionError, match="has no value"):
        page("x*y", {"x": 1})
    with pytest.raises(ExpressionError, match="outputs"):
        page("x, y", {"x": 1, "y": 2})
    with pytest.raises(ExpressionError, match="JavaScript has no function"):
        page("polygamma(9, x)", {"x": 1})
    with pytest.raises(ExpressionError, match="nodes") as caught:
        page("a = x\n" + "a = sin(a)\n" * MAX_NODES + "a", {"x": 1})
    assert caught.value.kind == "limit"


# ---- in the browser -----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if MISSING:
        pytest.skip(MISSING)
    with browser() as made:
        yield made


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the page about a program; at the end no page may have complained, or asked for
    anything.
    """
    tabs: list[Tab] = []

    def open_page(
        text: str,
        point: Mapping[str, float | str],
        width: int = 1280,
        units: str | None = None,
        **choices: Any,
    ) -> Tab:
        file = tmp_path / f"{len(tabs)}.html"
        file.write_text(document(page(text, point, units=units)), encoding="utf-8")
        tab = Tab(chromium.new_page(viewport={"width": width, "height": 800}, **choices))
        tabs.append(tab)
        tab.goto(file.as_uri())
        return tab

    yield open_page
    for tab in tabs:
        tab.close()
        assert tab.said == []


CASES: tuple[tuple[str, tuple[Point, ...]], ...] = (
    (NEURON, (POINT, {"w": -3.0, "x": 0.5, "b": 0.25})),
    ("s = x*w1 + y*w2\nrelu(s)*s + max(x, y)", (OFF, {**OFF, "x": 3.0})),
    (
        "log(x)*y if x > 0 and not y == 3 else max(x, y, 3)**2",
        ({"x": 2.0, "y": 1.0}, {"x": -2.0, "y": 1.0}, {"x": 2.0, "y": 3.0}),
    ),
    ("x*x*x - x/y + abs(x - y)**1.5 + x**y", ({"x": 2.0, "y": 1.0}, {"x": 0.5, "y": -2.0})),
    ("sigmoid(x)*gelu(y) + logsumexp(x, y, z) + hypot(x, y)", ({"x": 1.0, "y": 2.0, "z": 0.5},)),
    ("clamp(x, 0, 1)*y + min(x, y) + erf(x) + lgamma(y)", ({"x": 2.0, "y": 1.5}, {"x": 0.5, "y": 1.5})),
    ("mean(x, y)*softplus(x) + 2**x + pi*x", ({"x": 0.2, "y": 1.5},)),
    ("where(x > 1 or x < -1, 2, 3)*x + 0*x", ({"x": 2.0}, {"x": 0.5}, {"x": -3.0})),
    ("a = x*2\na = a + x\nsqrt(max(0, a))", ({"x": 1.0}, {"x": -1.0})),
    ("x", ({"x": 2.0},)),
    ("3", ({},)),
)  # fmt: skip

STEPS = """steps.map(({kind, node, pull}) =>
    [kind, nodes[node].name, pull ? pull.partial : null, pull ? pull.total : run.data[node]])"""


@pytest.mark.parametrize(
    ("text", "points"), CASES, ids=lambda case: case if isinstance(case, str) else ""
)
def test_the_steps_are_those_of_the_trace_wherever_the_sliders_are(
    opened: Open, text: str, points: tuple[Point, ...]
) -> None:
    tab = opened(text, points[0])
    for point in points:
        for name, x in point.items():
            tab.evaluate("([name, x]) => set(name, x)", [name, x])
        found = trace(text, point)
        want: list[tuple[str, str, float | None, float]] = []
        names = {row.name: row for row in found.rows}
        want += [("forward", row.name, None, float(row.value)) for row in found.rows]
        if found.gradient and (found.adjoint_steps or text == "x"):
            want.append(
                (
                    "seed",
                    (found.adjoint_steps[0].source if found.adjoint_steps else found.rows[0]).name,
                    None,
                    found.value,
                )
            )
        want += [("pull", p.target.name, p.partial, p.total) for p in found.adjoint_steps]
        got = tab.evaluate(STEPS)
        # What has no name of the program's is numbered over all branches, here; in a trace over
        # those that are taken.
        named = [row.name for row in found.rows if not row.numbered]
        for a, b in zip(got, want, strict=True):
            assert a[0] == b[0]
            assert a[1] == b[1] or names[b[1]].numbered
            assert (a[2] is None) == (b[2] is None)
            assert a[2] is None or a[2] == pytest.approx(b[2], rel=1e-13, abs=1e-300)
            assert float(a[3]) == pytest.approx(b[3], rel=1e-13, abs=1e-300)
        assert set(named) <= {a[1] for a in got}
        want_gradient = gradient(text, point).gradient
        got_gradient = tab.evaluate(
            "Object.fromEntries(page.wanted.map(n => [n, run.adjoints[page.variables[n]] ?? 0]))"
        )
        assert got_gradient == pytest.approx(want_gradient, rel=1e-13, abs=1e-300)


def test_every_step_by_button_and_by_key(opened: Open) -> None:
    tab = opened(NEURON, POINT)
    assert tab.inner_text("#count") == "1 of 12"
    assert "?" in tab.text_content("#graph svg")
    seen = [tab.inner_text("#words")]
    for _ in range(11):
        tab.click("#next")
        seen.append(tab.inner_text("#words"))
        assert tab.locator("#trace tr.now").count() == 1
    assert len(set(seen)) == 12
    assert seen[3] == "v₁ = w*x = 1*2 = 2."
    assert seen[6].startswith("Backward now")
    assert seen[10] == "w̄ = v̄₁ · ∂v₁/∂w, and ∂v₁/∂w is x = 2: 0.41997 · 2 = 0.83995."
    assert "?" not in tab.text_content("#graph svg")
    for key, count in (
        ("Home", "1"),
        ("ArrowRight", "2"),
        ("ArrowRight", "3"),
        ("ArrowLeft", "2"),
        ("End", "12"),
    ):
        tab.keyboard.press(key)
        assert tab.inner_text("#count") == f"{count} of 12"
    tab.locator("#trace tbody tr").nth(4).click()
    assert tab.inner_text("#count") == "5 of 12"
    tab.locator("#step").fill("8")
    assert tab.inner_text("#count") == "9 of 12"


def test_it_plays_by_itself_and_stops(opened: Open) -> None:
    tab = opened("x**2", {"x": 3.0})
    tab.clock.install()
    tab.click("#play")
    tab.clock.run_for(20_000)
    assert tab.inner_text("#count") == "4 of 4"
    assert tab.get_attribute("#play", "aria-pressed") == "false"


def test_adjoints_accumulate_in_sight(opened: Open) -> None:
    tab = opened("x*x + x", {"x": 3.0})
    tab.keyboard.press("End")
    assert "x has 3 users" in tab.inner_text("#words")
    assert "4 + 1 · 3 = 7" in tab.inner_text("#words")
    assert tab.locator("#graph text.partial").count() == 4


def test_sliders_and_fields_change_every_number(opened: Open) -> None:
    tab = opened(NEURON, POINT)
    tab.keyboard.press("End")
    field = f"#field-{tab.evaluate('page.variables.x')}"
    tab.fill(field, "0.5")
    tab.press(field, "Enter")
    want = gradient(NEURON, {**POINT, "x": 0.5})
    assert f"value = {want.value:.5g}" in tab.inner_text("#answer")
    for name, partial in want.gradient.items():
        assert f"∂/∂{name} = {partial:.5g}" in tab.inner_text("#answer")
    assert f"{want.value:.5g}" in tab.text_content("#graph svg")
    slider = field.replace("field", "slider")
    tab.locator(slider).fill("3")
    assert tab.input_value(field) == "3"
    assert f"value = {gradient(NEURON, {**POINT, 'x': 3.0}).value:.5g}" in tab.inner_text("#answer")
    tab.fill(field, "abc")
    tab.press(field, "Enter")
    assert tab.get_attribute(field, "aria-invalid") == "true"


@pytest.mark.parametrize("width", [1280, 390])
def test_fields_show_their_numbers_whole(opened: Open, width: int) -> None:
    tab = opened(NEURON, {**POINT, "w": -1.2345678901234567e-300}, width=width)
    field = f"#field-{tab.evaluate('page.variables.x')}"
    tab.fill(field, "-1.23456789123e-7")
    tab.fill("#rate", "-1.23456789123e-7")
    cut = (
        "fields => fields.filter((f) => f.type === 'text' && f.scrollWidth > f.clientWidth).map((f)"
        " => f.value)"
    )
    assert tab.eval_on_selector_all("input", cut) == []
    tab.press(field, "Enter")
    assert tab.input_value(field) == "-1.23456789123e-7"
    assert tab.eval_on_selector_all("input", cut) == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


TROUBLE = (
    ("log(x)*y", {"x": 2.0, "y": 1.0}, {"x": -1.0, "y": 1.0}),
    ("y/x", {"x": 2.0, "y": 1.0}, {"x": 0.0, "y": 1.0}),
    ("sqrt(x)*y", {"x": 2.0, "y": 1.0}, {"x": 0.0, "y": 1.0}),
    ("asin(x)", {"x": 0.5}, {"x": 2.0}),
    ("clamp(x, y, 1)", {"x": 0.5, "y": 0.0}, {"x": 0.5, "y": 2.0}),
    ("x*1e300", {"x": 0.5}, {"x": 1e10}),
    ("exp(x)", {"x": 0.5}, {"x": 1000.0}),
    ("gamma(x)", {"x": 0.5}, {"x": -1.0}),
)


@pytest.mark.parametrize(
    ("text", "start", "there"), TROUBLE, ids=lambda case: case if isinstance(case, str) else ""
)
def test_where_there_is_no_answer_it_says_so_in_the_same_words(
    opened: Open, text: str, start: Point, there: Point
) -> None:
    with pytest.raises(ExpressionError) as caught:
        gradient(text, there)
    tab = opened(text, start)
    for name, x in there.items():
        tab.evaluate("([name, x]) => set(name, x)", [name, x])
    assert tab.inner_text("#trouble") == caught.value.diagnostic.message
    assert tab.locator("#graph .bad").count() == 1
    assert tab.inner_text("#answer") == ""
    assert tab.is_disabled("#next")
    for name, x in start.items():
        tab.evaluate("([name, x]) => set(name, x)", [name, x])
    assert tab.is_hidden("#trouble") and tab.locator("#graph .bad").count() == 0
    assert "value = " in tab.inner_text("#answer")


def test_descent_takes_the_steps_of_descend(opened: Open) -> None:
    start = {"w1": -2.0, "w2": 3.0}
    tab = opened(BOWL, start)
    tab.fill("#rate", "0.1")
    tab.click("#down")
    assert tab.inner_text("#descended") == f"after 1 steps: value = {6.5 * 0.81:.5g}"
    for _ in range(2):
        tab.click("#down10")
    want = {"w1": 1 - 3 * 0.9**21, "w2": 5 - 2 * 0.9**21}
    assert tab.evaluate("point") == pytest.approx(want, rel=1e-12)
    assert tab.locator("#loss .curve").count() == 1
    assert tab.locator("#plot .level").count() >= 8 and tab.locator("#plot .path").count() == 1
    tab.click("#reset")
    assert tab.evaluate("point") == start
    assert tab.is_hidden("#loss")


def test_a_descent_that_diverges_says_so_and_stays_in_the_frame(opened: Open) -> None:
    tab = opened(BOWL, {"w1": -2.0, "w2": 3.0})
    tab.fill("#rate", "2.5")
    tab.click("#down10")
    assert tab.inner_text("#descended").startswith(
        "diverged after 10 steps: the value has grown from 6.5 to 2"
    )
    assert (
        tab.evaluate("document.querySelector('#plot .path').parentNode.getAttribute('clip-path')")
        == "url(#framed)"
    )
    tab.click("#reset")
    tab.fill("#rate", "nothing")
    tab.click("#down")
    assert "not a number" in tab.inner_text("#descended")
    assert tab.evaluate("point") == {"w1": -2.0, "w2": 3.0}


def test_fields_take_fractions_and_say_what_they_cannot_read(opened: Open) -> None:
    tab = opened(NEURON, POINT, width=390)
    x, w = (tab.evaluate(f"page.variables.{name}") for name in ("x", "w"))
    for text, value in (("1/3", 1 / 3), ("−2,5", -2.5), ("1e-3", 1e-3)):
        tab.fill(f"#field-{x}", text)
        tab.press(f"#field-{x}", "Enter")
        assert tab.evaluate("point.x") == pytest.approx(value, rel=1e-15)
    for text in ("abc", "1/", "1/2/3", "1/0", ""):
        tab.fill(f"#field-{x}", text)
        tab.press(f"#field-{x}", "Enter")
        assert tab.inner_text(f"#gradient-{x}") == "not a number: write 0.5, 1/3 or 1e-3", text
    tab.fill(f"#field-{w}", "2")
    tab.press(f"#field-{w}", "Enter")
    assert "not a number" in tab.inner_text(f"#gradient-{x}")
    assert tab.evaluate("point.x") == 1e-3


TERMS = "x1*w1 + x2*w2 + x3*w3 + x4*w4 + x5*w5"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_a_graph_fits_the_page_or_it_is_said_that_it_scrolls(opened: Open, width: int) -> None:
    fits = (
        "document.querySelector('#graph').scrollWidth <="
        " document.querySelector('#graph').clientWidth"
    )
    for text, point in (
        (NEURON, POINT),
        (BOWL, {"w1": 2.0, "w2": 3.0}),
        (TWO_INPUTS, dict.fromkeys(TWO_NAMES, 0.5)),
    ):
        tab = opened(text, point, width=width)
        assert tab.evaluate(fits) and tab.is_hidden("#scrolls")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width == 390:
        many = opened(TERMS, {f"{name}{k}": 0.5 for name in "xw" for k in range(1, 6)}, width=390)
        assert not many.evaluate(fits) and "scroll it sideways" in many.inner_text("#scrolls")


TWO_NAMES = ("x1", "x2", "w1", "w2", "b")
TWO_INPUTS = "x1w1 = x1*w1; x2w2 = x2*w2; n = x1w1 + x2w2 + b; o = tanh(n)"


def test_on_a_telephone_the_graph_runs_downwards_and_its_numbers_stand_free(opened: Open) -> None:
    tab = opened(
        TWO_INPUTS,
        {"x1": 2.0, "x2": 0.0, "w1": -3.0, "w2": 1.0, "b": 6.8813735870195432},
        width=390,
    )
    tab.keyboard.press("End")
    assert tab.locator("#graph svg:not([hidden])").count() == 1
    assert tab.evaluate(MEETING) == []
    places = """Array.from(drawing.groups, (group) => group.getBoundingClientRect())
      .map(({ top, bottom, left, right }) => ({ top, bottom, left, right }))"""
    boxes = tab.evaluate(places)
    for k, node in enumerate(tab.evaluate("nodes.map(({ inputs }) => inputs)")):
        assert all(boxes[p]["bottom"] < boxes[k]["top"] for p in node)
    assert tab.evaluate(
        "Math.min(...Array.from(drawing.svg.querySelectorAll('text'), (t) =>"
        " t.getBoundingClientRect().height)) > 8"
    )
    # turned sideways, the same step is shown by the wide drawing
    tab.click("#back")
    count = tab.inner_text("#count")
    tab.set_viewport_size({"width": 844, "height": 390})
    # the browser tells the page of it a little later
    tab.wait_for_selector("#graph svg:not([hidden]):not(.narrow)")
    assert tab.inner_text("#count") == count
    assert tab.locator("#graph svg:not([hidden]):not(.narrow)").count() == 1
    assert tab.text_content("#graph svg:not([hidden])").count("grad") == tab.evaluate(
        "$('graph').querySelector('.narrow').textContent"
    ).count("grad")


@pytest.mark.parametrize("width", [390, 768, 1000, 1280])
def test_sliders_keep_their_width(opened: Open, width: int) -> None:
    tab = opened(
        "temperature_of_the_bath*w - w**2",
        {"temperature_of_the_bath": -1.23456789e-5, "w": 2.0},
        width=width,
    )
    sliders = tab.eval_on_selector_all(
        "#inputs input[type=range]", "all => all.map((e) => e.getBoundingClientRect().width)"
    )
    assert len(sliders) == 2 and min(sliders) >= 120
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cut = (
        "all => all.filter((e) => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right"
        " > innerWidth).length"
    )
    assert tab.eval_on_selector_all("#inputs *", cut) == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_a_name_of_several_letters_has_one_bar(opened: Open, width: int) -> None:
    tab = opened("alpha*w + sin(alpha)", {"alpha": 1.0, "w": 2.0}, width=width)
    tab.keyboard.press("End")
    text = "".join(f"{letter}\u0305" for letter in "alpha")
    (shown,) = set(tab.locator("#trace .barred").all_text_contents())
    tab.evaluate("go(steps.findIndex(({ pull, node }) => pull && nodes[node].label === 'alpha'))")
    assert shown == text and tab.locator("#words .barred").first.text_content() == text
    look = """each => [getComputedStyle(each).textDecorationLine, each.getBoundingClientRect().width,
      ...Array.from(each.querySelectorAll('i'), (mark) => mark.getBoundingClientRect().width)]"""
    line, wide, *marks = tab.eval_on_selector("#words .barred", look)
    assert line == "overline" and len(marks) == 5 and not any(marks)
    assert wide == pytest.approx(
        5 * tab.eval_on_selector("#words", "e => parseFloat(getComputedStyle(e).fontSize)") * 0.6,
        rel=0.1,
    )
    # a single letter keeps its own
    assert "w\u0304" in tab.inner_text("#trace") and "w\u0305" not in tab.text_content("body")


FREE = """() => {
  const [left, right, top, bottom] = FRAME;
  const texts = Array.from(document.querySelectorAll('#plot text'), (text) => {
    const { x, y, width, height } = text.getBBox();
    return text.hasAttribute('transform') ? [0, 20, 0, 300] : [x, x + width, y, y + height];
  });
  const meet = (a, b) => a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];
  const drawn = "#plot .curve, #plot .slope, #plot .tangent, #plot .level, #plot .path";
  const lines = Array.from(document.querySelectorAll(drawn)).filter((line) => !line.closest("[clip-path]"));
  const within = ({ x, y, width, height }) =>
    x > left - 1 && x + width < right + 1 && y > top - 1 && y + height < bottom + 1;
  const loose = lines.map((line) => line.getBBox()).filter((box) => (box.width || box.height) && !within(box));
  return [texts.length, texts.filter((text) => meet(text, [left, right, top, bottom])).length,
    texts.filter((a, k) => texts.some((b, j) => j < k && meet(a, b))).length, loose.length,
    texts.filter(([a, b, c, d]) => a < 0 || b > 420 || c < 0 || d > 306).length];
}"""


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("exp(-alpha/2)*sin(3*alpha) + 2", {"alpha": 1.0}),
        ("1/x + x", {"x": 2.0}),
        ("x**3*1e-7", {"x": 1234.5}),
        ("1e6 + sin(x)", {"x": 1.0}),
        ("x*y", {"x": 1e5, "y": -1.2345678e-4}),
        (BOWL, {"w1": 2.0, "w2": 3.0}),
        ("m*v**2/2", {"m": "2 kg", "v": "3 km/h"}),
    ],
)
def test_ticks_and_legend_stand_clear_of_the_curves(
    opened: Open, text: str, point: Point, width: int
) -> None:
    tab = opened(text, point, width=width)
    count, inside, meeting, loose, beyond = tab.evaluate(FREE)
    assert (inside, meeting, loose, beyond) == (0, 0, 0, 0)
    assert count >= 8


def test_ticks_are_round_numbers_at_their_places(opened: Open) -> None:
    tab = opened("x**2", {"x": 3.0})
    for low, high in ((0, 1), (-3, 9), (0.013, 0.0131), (-1e-9, 2e-9), (5, 5000), (1e12, 1.5e12)):
        ticks = tab.evaluate("([a, b]) => ticks(a, b, 5)", [low, high])
        assert 2 <= len(ticks) <= 8 and low <= ticks[0] and ticks[-1] <= high
        steps = {f"{b - a:.4e}" for a, b in pairwise(ticks)}
        assert len(steps) == 1 and float(steps.pop().split("e")[0]) in (1, 2, 5)
    assert tab.evaluate("ticks(1, 1, 5)") == []
    below = "all => all.map((text) => [text.textContent, text.getAttribute('x')])"
    marks = tab.eval_on_selector_all("#plot text[text-anchor=middle]", below)
    a, b = tab.evaluate("span('x')")
    left, right = tab.evaluate("FRAME.slice(0, 2)")
    for number, x in marks[:-1]:
        assert float(x) == pytest.approx(
            left + (float(number) - a) / (b - a) * (right - left), abs=0.06
        )


def test_the_plot_of_one_variable_follows(opened: Open) -> None:
    tab = opened("1/x + x", {"x": 2.0})
    assert tab.locator("#plot .curve").count() == tab.locator("#plot .tangent").count() == 1
    before = tab.get_attribute("#plot .here", "cx")
    tab.evaluate("set('x', 3)")
    assert tab.get_attribute("#plot .here", "cx") != before
    # the pole is a gap, no line from bottom to top
    assert tab.get_attribute("#plot .curve", "d").count("M") == 2


def test_a_quiz_is_checked_hinted_and_scored(opened: Open) -> None:
    tab = opened(NEURON, POINT)
    tab.click("#quiz")
    assert tab.inner_text("#asked") == "v₁ = w*x ="
    assert "0.76" not in tab.text_content("#graph svg") and "0.76" not in tab.inner_text("#trace")
    assert all(
        tab.is_hidden(place) for place in ("#answer", "#inputs output >> nth=0", "#derivation")
    )
    assert "0.76" not in tab.inner_text("body")

    def answer(text: str) -> str:
        tab.fill("#guess", text)
        tab.press("#guess", "Enter")
        return str(tab.inner_text("#words"))

    assert answer("2") == "Right: 2."
    assert answer("1,0") == "Right: 1."
    assert answer("abc").startswith("That is not a number")
    assert answer("0.5") == "Not quite. tanh(1)"
    assert tab.inner_text("#score") == "2 of 3 right"
    assert answer("0.7616") == "Right: 0.76159."
    assert tab.inner_text("#score") == "2 of 3 right, 1 mended"
    assert tab.inner_text("#asked") == "v̄₂ = v̄₃ · ∂v₃/∂v₂: v̄₂ is now"
    assert "sech(v₂)**2 = 0.41997" in answer("1")
    tab.click("#reveal")
    assert tab.inner_text("#words") == "It is 0.41997."
    for text in ("0.41997", "0.41997", "0.83995", "0.41997"):
        assert answer(text).startswith("Right")
    assert tab.inner_text("#asked") == "Done."
    assert tab.inner_text("#score") == "6 of 8 right, 1 mended"
    tab.click("#quiz")
    assert tab.is_hidden("#question")
    assert tab.inner_text("#count") == "1 of 12"


def test_everything_is_reached_by_keyboard_alone(opened: Open) -> None:
    tab = opened(NEURON, POINT)
    reached = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        reached.add(
            tab.evaluate(
                "document.activeElement.id || document.activeElement.getAttribute('aria-label')"
            )
        )
    assert {
        "theme",
        "first",
        "back",
        "play",
        "next",
        "last",
        "step",
        "quiz",
        "rate",
        "down",
        "down10",
        "reset",
    } <= reached
    assert {
        f"{kind}-{k}"
        for kind in ("slider", "field")
        for k in page(NEURON, POINT).variables.values()
    } <= reached
    tab.focus("#quiz")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "guess"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_meets_the_guidelines_for_accessibility(opened: Open, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = opened(BOWL, {"w1": -2.0, "w2": 3.0}, width, color_scheme=scheme)
    tab.click("#down10")
    tab.click("#derivation summary")
    assert tab.locator("#derivation table").count() == 2
    found = axe.Axe().run(tab.page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    # only the graph, the trace and the plot scroll, within themselves
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_theme_is_changed_by_hand(opened: Open) -> None:
    tab = opened(NEURON, POINT, color_scheme="light")
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = tab.evaluate(paper)
    tab.click("#theme")
    assert tab.evaluate(paper) != light
    tab.click("#theme")
    assert tab.evaluate(paper) == light


def test_it_is_printed_in_the_colours_of_paper(opened: Open) -> None:
    tab = opened(NEURON, POINT, color_scheme="dark")
    ink = (
        "['h1', '#graph text', 'td'].map((each) =>"
        " getComputedStyle(document.querySelector(each)).color)"
    )
    seen = []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme, media="print")
        seen.append(tab.evaluate(ink))
    tab.evaluate("document.documentElement.dataset.theme = 'dark'")
    seen.append(tab.evaluate(ink))
    assert seen[0] == seen[1] == seen[2]
    tab.emulate_media(media="screen")
    assert tab.evaluate(ink) != seen[0]


def test_hostile_names_are_inert(opened: Open) -> None:
    text = (
        f"# {HOSTILE}\nconstructor = x*__proto__\ntoString = constructor + innerHTML\ntoString**2"
    )
    tab = opened(text, {"x": 2.0, "__proto__": 3.0, "innerHTML": 1.0})
    tab.keyboard.press("End")
    assert "value = 49" in tab.inner_text("#answer")
    assert "∂/∂__proto__ = 28" in tab.inner_text("#answer")
    assert HOSTILE in tab.inner_text("h1")


def test_a_graph_of_three_hundred_nodes(opened: Open) -> None:
    text = "a = x\n" + "a = tanh(a + y*x)\n" * 100 + "a"
    tab = opened(text, {"x": 0.5, "y": 0.3})
    assert tab.evaluate("nodes.length") > 300
    tab.keyboard.press("End")
    tab.evaluate("set('x', 0.25)")
    want = gradient(text, {"x": 0.25, "y": 0.3})
    assert tab.evaluate("run.adjoints[page.variables.x]") == pytest.approx(
        want.gradient["x"], rel=1e-11
    )


def chain(layers: int) -> str:
    """A program of three nodes a layer, whose variables all layers share."""
    return "a = x\n" + "a = tanh(a + y*x)\n" * layers + "a"


TOUCHED = """() => {
    const watcher = new MutationObserver(() => {});
    watcher.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    return Array.from({length: 24}, (_, k) => {
        go(Math.floor((k / 24) * (steps.length - 2)));
        watcher.takeRecords();
        go(now + 1);
        return watcher.takeRecords().length;
    });
}"""


def test_a_step_touches_only_what_it_changes_however_large_the_graph(opened: Open) -> None:
    most = []
    for layers in (4, 99):
        touched = opened(chain(layers), {"x": 0.5, "y": 0.3}).evaluate(TOUCHED)
        assert min(touched) > 5
        most.append(max(touched))
    assert most[1] <= most[0] <= 30


def test_while_only_the_point_moves_its_plot_is_not_drawn_anew(opened: Open) -> None:
    for text, point, drawn in (
        (BOWL, {"w1": -2.0, "w2": 3.0}, ".level"),
        ("x**2", {"x": 1.0}, ".curve"),
    ):
        tab = opened(text, point)
        name = next(iter(point))
        tab.evaluate(f"drawn = document.querySelector('#plot {drawn}')")
        before = tab.get_attribute("#plot .here", "cx")
        tab.evaluate("name => set(name, 0.5)", name)
        assert tab.get_attribute("#plot .here", "cx") != before
        assert tab.evaluate("drawn.isConnected")
        # beyond its frame, there is another to be drawn
        tab.evaluate("name => set(name, 50)", name)
        assert not tab.evaluate("drawn.isConnected")


MEETING = """() => {
    const boxes = Array.from(document.querySelectorAll("#graph [data-node] rect"));
    const numbers = Array.from(document.querySelectorAll("#graph text.partial"));
    const [all, places] = [[...boxes, ...numbers], [...boxes, ...numbers].map((each) => each.getBBox())];
    return numbers.flatMap((number, k) => places.slice(0, boxes.length + k).flatMap((b, j) => {
        const a = places[boxes.length + k];
        const aside = a.x + a.width < b.x || b.x + b.width < a.x;
        const apart = aside || a.y + a.height < b.y + 1 || b.y + b.height < a.y + 1;
        return apart ? [] : [[number.textContent, all[j].textContent || all[j].parentNode.textContent]];
    }));
}"""


@pytest.mark.parametrize(
    ("text", "point"),
    [
        (
            "tanh(w1*x1 + w2*x2 + b)",
            {"w1": -3.0, "x1": 2.1234567, "w2": 1.0, "x2": -1.234567e-5, "b": 6.88},
        ),
        (BOWL, {"w1": -2.123456, "w2": 3.123456}),
        ("logsumexp(a, b, c, d, e, f)*a", dict.fromkeys("abcdef", 0.1)),
        (chain(16), {"x": 0.5, "y": 0.3}),
    ],
)
def test_the_picture_fits_its_frame_and_its_numbers_stand_free(
    opened: Open, text: str, point: Point
) -> None:
    tab = opened(text, point)
    tab.keyboard.press("End")
    assert tab.locator("#graph text.partial").count() >= 5
    assert tab.evaluate(MEETING) == []
    assert tab.evaluate("$('graph').scrollWidth <= $('graph').clientWidth")


def test_on_paper_all_steps_are_done_and_a_wide_graph_fits(opened: Open) -> None:
    tab = opened(NEURON, POINT)
    tab.keyboard.press("ArrowRight")
    look = (
        "['#graph', '#trace tbody', '#count'].map((each) =>"
        " document.querySelector(each).textContent)"
    )
    graph, trace, count = tab.evaluate(look)
    assert "?" in graph and count.startswith("2 of")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed_graph, printed_trace, _ = tab.evaluate(look)
    assert "?" not in printed_graph and len(printed_trace) > len(trace)
    assert tab.evaluate("document.querySelectorAll('.now, .flow, .waits').length") == 0
    assert tab.evaluate("document.querySelector('#derivation')?.open ?? true")
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(look) == [graph, trace, count]
    # the sheet of a quiz has no answers
    tab.click("#quiz")
    sheet = tab.evaluate(look)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(look) == sheet and "?" in sheet[0]


def test_a_wide_graph_fits_the_paper(opened: Open) -> None:
    tab = opened(
        "; ".join(f"v{k} = tanh({'x' if k == 1 else f'v{k - 1}'} + {k})" for k in range(1, 12)),
        {"x": 0.1},
    )
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 700, "height": 900})
    wide = "document.querySelector('#graph svg').getBoundingClientRect().width"
    natural = "document.querySelector('#graph svg').viewBox.baseVal.width"
    assert tab.evaluate(wide) <= 700
    assert tab.evaluate("document.body.classList.contains('sideways')") == (
        tab.evaluate(natural) > 1100
    )


# ---- lists --------------------------------------------------------------------------------------------------------
SUM = "tanh(sum(w[i]*x[i], i, 1, 10)/4 + b)"
LISTED = {
    f"{name}[{k}]": sign * 0.1 * k for name, sign in (("w", 1), ("x", -1)) for k in range(1, 11)
} | {"b": 0.5}
LAYERS = "h = tanh(W @ x + b)\ndot(h, v) + sin(x[1])"
NET = (
    {f"W[{i},{k}]": 0.1 * i - 0.03 * k for i in range(1, 13) for k in range(1, 11)}
    | {f"x[{k}]": 0.1 * k for k in range(1, 11)}
    | {f"{name}[{k}]": 0.1 * k - 0.5 for name in "bv" for k in range(1, 13)}
)


def test_what_lists_were_unrolled_to_is_folded() -> None:
    picture, folds = page(SUM, LISTED).folded[0].picture, page(SUM, LISTED).folded[0].folds
    words = ["w[1] … w[10]", "x[1] … x[10]", "sum of 10 terms"]
    assert [fold.words for fold in folds if fold.words] == words and len(folds) == 8
    assert [(node.label, node.operation) for node in picture.nodes][-1] == ("", "tanh")
    net = page(LAYERS, NET)
    words = [fold.words for fold in net.folded[0].folds if fold.words]
    assert words == [
        "W[1,1] … W[12,10]", "x[2] … x[10]", "b[1] … b[12]", "v[1] … v[12]",
        "12 × sum of 10 terms", "12 × +", "12 × tanh", "sum of 12 terms",
    ]  # fmt: skip
    # terms that are written one by one stand at places of their own
    assert (
        page(" + ".join(f"x{k}**2" for k in range(12)), {f"x{k}": 1.0 for k in range(12)}).folded
        == ()
    )
    assert page("sum(w**2)", {f"w[{k}]": 1.0 for k in range(1, 9)}).folded == ()


@pytest.mark.parametrize(("text", "point"), [(SUM, LISTED), (LAYERS, NET)], ids=("sum", "net"))
def test_a_folded_graph_has_every_node_and_every_line_once(text: str, point: Point) -> None:
    made = page(text, point)
    closed = [k for k, fold in enumerate(made.folded[0].folds) if fold.words]
    assert [folding.opened for folding in made.folded] == [None, *closed]
    for folding in made.folded:
        each_once(made, folding)
    # in each picture the nodes of one more box are seen, each in a box of its own
    for folding in made.folded[1:]:
        members = made.folded[0].folds[folding.opened or 0].members
        words = {
            k: fold.words for fold in folding.folds for k in fold.members if len(fold.members) == 1
        }
        assert [words.get(k) for k in members] == [""] * len(members)
        assert len(folding.folds) == len(made.folded[0].folds) - 1 + len(members)


def each_once(made: Page, folding: Folding) -> None:
    """Check that every node and every line between boxes is in a folded picture, and once."""
    picture, folds = folding.picture, folding.folds
    box = {k: place for place, fold in enumerate(folds) for k in fold.members}
    assert sorted(box) == [*range(len(made.nodes))]
    assert sum(len(fold.members) for fold in folds) == len(made.nodes)
    lines = {
        (box[p], box[k])
        for k, node in enumerate(made.nodes)
        for p in node.inputs
        if box[p] != box[k]
    }
    assert {(p, k) for k, fold in enumerate(folds) for p in fold.inputs} == lines
    assert all(p < k for p, k in lines)
    assert [tuple(edge.node for edge in node.inputs) for node in picture.nodes] == [
        fold.inputs for fold in folds
    ]
    assert box[made.output] == picture.outputs[0]


def seen_in(tab: Tab) -> str:
    """The text of the graph that is seen."""
    text: str = tab.text_content("#graph svg:not([hidden])")
    return text


def test_a_folded_graph_is_stepped_through_and_opened(opened: Open) -> None:
    tab = opened(SUM, LISTED)
    assert tab.locator("#graph svg:not([hidden]) [data-node]").count() == 8
    assert tab.get_attribute("#fold", "aria-pressed") == "true"
    tab.keyboard.press("End")
    want = gradient(SUM, LISTED)
    assert (
        "sum of 10 terms" in seen_in(tab) and "all 10" in seen_in(tab) and "?" not in seen_in(tab)
    )
    assert f"{want.value:.5g}" in seen_in(tab) and f"{want.gradient['b']:.5g}" in seen_in(tab)
    numbers = [f"{want.gradient[f'w[{k}]']:.5g}" for k in (1, 2)]
    assert f"∂/∂w = [{numbers[0]}, {numbers[1]}, … 10 numbers]" in tab.inner_text("#answer")
    for _ in range(3):
        tab.click("#back")
    assert "9 of 10" in seen_in(tab)
    group = tab.locator("#graph svg:not([hidden]) .folded")
    assert [each.get_attribute("aria-label") for each in group.all()] == [
        "Open: w[1] … w[10]", "Open: x[1] … x[10]", "Open: sum of 10 terms",
    ]  # fmt: skip
    boxes = tab.locator("#graph svg:not([hidden]) [data-node]")
    # the sum alone is opened: itself and ten products
    group.last.click()
    assert boxes.count() == 8 - 1 + 11
    assert [each.get_attribute("aria-label") for each in group.all()] == [
        "Open: w[1] … w[10]",
        "Open: x[1] … x[10]",
    ]
    assert tab.get_attribute("#fold", "aria-pressed") == "false"
    tab.keyboard.press("End")
    assert "?" not in seen_in(tab) and "all 10" in seen_in(tab)
    # then the list, and the sum is closed again
    group.first.focus()
    tab.keyboard.press("Enter")
    assert boxes.count() == 8 - 1 + 10
    assert f"{want.gradient['w[10]']:.5g}" in seen_in(tab) and "sum of 10 terms" in seen_in(tab)
    tab.click("#fold")
    assert boxes.count() == 8 and "all 10" in seen_in(tab)
    tab.click("#fold")
    assert boxes.count() == len(page(SUM, LISTED).nodes) and "all 10" not in seen_in(tab)


def test_a_line_into_a_box_has_no_derivative_of_a_node_within_it(opened: Open) -> None:
    # by each term the product has another derivative than that of the sum within it
    tab = opened(
        "prod(x[i] + y, i, 1, 10)", {f"x[{k}]": 0.1 * k for k in range(1, 11)} | {"y": 2.0}
    )
    tab.keyboard.press("End")
    tab.locator("#graph svg:not([hidden]) [aria-label='Open: x[1] … x[10]']").click()
    assert tab.locator("#graph svg:not([hidden]) [data-node]").count() == 12
    assert tab.locator("#graph svg:not([hidden]) text.partial").count() == 0
    tab.click("#fold")
    tab.locator("#graph svg:not([hidden]) .folded").last.click()
    values = [2 + 0.1 * k for k in range(1, 11)]
    seen = {
        text[1:]
        for text in tab.locator("#graph svg:not([hidden]) text.partial").all_text_contents()
    }
    assert {f"{math.prod(values) / x:.5g}" for x in values} <= seen


def test_rows_of_a_list_are_folded_where_no_step_is_in_them(opened: Open) -> None:
    tab = opened(SUM, LISTED)
    rows = tab.locator("#trace tbody tr:visible")
    total = tab.evaluate("steps.length")
    before = rows.count()
    assert before < total
    dots = tab.locator("#trace tbody tr:visible", has_text="more rows")
    assert dots.first.inner_text().strip() == "… 7 more rows"
    hidden = sum(int(text.split()[1]) - 1 for text in dots.all_inner_texts())
    assert before + hidden == total
    dots.first.click()
    assert rows.count() == before + 6
    assert tab.locator("#trace tr.now td").first.inner_text() == "w[3]"
    tab.click("#fold")
    assert rows.count() == total


def test_the_quiz_asks_for_every_number_of_a_folded_graph(opened: Open) -> None:
    text, point = "sum(w**2)", {f"w[{k}]": 0.5 * k for k in range(1, 10)}
    tab = opened(text, point)
    tab.click("#quiz")
    answer = gradient(text, point)
    assert f"{answer.value:.5g}" not in seen_in(tab)
    for asked in range(1, 40):
        tab.fill("#guess", str(tab.evaluate("answerOf(steps[now])")))
        tab.keyboard.press("Enter")
        assert tab.inner_text("#score") == f"{asked} of {asked} right"
        if tab.inner_text("#asked") == "Done.":
            break
    assert asked == 10 + 18


# ---- units --------------------------------------------------------------------------------------------------------
BEAM = "F*L**3/(48*E*I)"
BEAM_AT = {"F": "1.5 kN", "L": "2 m", "E": "210 GPa", "I": "171 cm^4"}
KINETIC = "m*v**2/2 + 5[kJ]*k"
BRANCHES = "a = 3[mm]*x; b = max(a, y**2)\nb*x/y if x > 5[cm] else -2[cm^2] + a"
KINETIC_AT = {"m": "2 kg", "v": "3 m/s", "k": "2"}

MEASURED: tuple[tuple[str, dict[str, str], dict[str, str], str | None], ...] = (
    (BEAM, BEAM_AT, {"F": "800 kN", "L": "1/3 m", "I": "5 cm^4"}, "mm"),
    (KINETIC, KINETIC_AT, {"m": "0.25 kg", "k": "-1e3"}, None),
    ("sin(a)*T*2 - 300[K]", {"a": "45°", "T": "20 °C"}, {"a": "-120°", "T": "451.25 °C"}, None),
    ("k*T/3", {"T": "68 °F", "k": "3.14159"}, {"T": "-40 °F"}, "°C"),
    (BRANCHES, {"x": "2 inch", "y": "1 cm"}, {"x": "1 inch"}, None),
    ("log(p/101.325[kPa])*h0", {"p": "2.3 bar", "h0": "8.4 km"}, {"p": "0.4 bar"}, None),
    ("dot(F, x)", {"F[1]": "2 N", "F[2]": "3 kN", "x[1]": "4 mm", "x[2]": "1 m"}, {"F[2]": "-1 kN"}, None),
)  # fmt: skip

IN_UNITS = """steps.map((step) => {
    const {kind, node, pull} = step;
    const [x, unit] = pull ? [pull.total, ofAdjoint(node)] : [run.data[node], ofNode(node)];
    const partial = pull ? [fromSI(pull.partial, ofPartial(pull.source, pull.position)),
        ofPartial(pull.source, pull.position).text] : null;
    return [kind, partial, kind === "seed" ? 1 : fromSI(x, unit), kind === "seed" ? "" : unit.text];
})"""


def type_in(tab: Tab, name: str, text: str) -> None:
    field = f"#field-{tab.evaluate('name => page.variables[name]', name)}"
    tab.fill(field, text)
    tab.press(field, "Enter")


def symbol(number: Any) -> str:
    """The unit of a number of a trace; empty for none."""
    return str(number.unit) if hasattr(number, "unit") else ""


@pytest.mark.parametrize(
    ("text", "start", "typed", "unit"), MEASURED, ids=[text for text, *_ in MEASURED]
)
def test_numbers_in_units_are_those_of_the_trace_of_the_graph_and_of_grad(
    opened: Open, text: str, start: dict[str, str], typed: dict[str, str], unit: str | None
) -> None:
    tab = opened(text, start, units=unit)
    for at in (start, {**start, **typed}):
        for name, x in at.items():
            own = (
                str(parse_unit(start[name].lstrip("-0123456789./e ")))
                if start[name][-1].isalpha()
                else ""
            )
            number = re.match(r"[-\d./e]+", x)
            assert number is not None
            type_in(tab, name, f"{number[0]} {own}" if name in typed else number[0])
        point = {name: x.replace("1/3 m", f"{1 / 3!r} m") for name, x in at.items()}
        found = trace(text, point, units=unit)
        want: list[Any] = [
            ["forward", None, float(row.value), symbol(row.value)] for row in found.rows
        ]
        want.append(["seed", None, 1.0, ""])
        for pull in found.adjoint_steps:
            want.append(
                ["pull", [pull.partial, symbol(pull.partial)], pull.total, symbol(pull.total)]
            )
        got = tab.evaluate(IN_UNITS)
        assert [(row[0], row[1] and row[1][1], row[3]) for row in got] == [
            (row[0], row[1] and row[1][1], row[3]) for row in want
        ]
        for a, b in zip(got, want, strict=True):
            assert float(a[2]) == pytest.approx(b[2], rel=1e-12, abs=1e-300)
            assert a[1] is None or a[1][0] == pytest.approx(b[1][0], rel=1e-12, abs=1e-300)
        # what is read on the page
        tab.focus("#next")
        tab.keyboard.press("End")
        answer = gradient(text, point, in_=unit)
        assert answer.units is not None
        header = tab.inner_text("#answer").replace("\n", " ")
        assert (
            f"value = {quantity_text(answer.value, answer.units['value'], PAGE_DIGITS)}" in header
        )
        for name, partial in answer.gradient.items():
            shown = quantity_text(partial, answer.units["gradient"][name], PAGE_DIGITS)
            assert f"∂/∂{name} = {shown}" in header
            assert (
                tab.inner_text(f"#gradient-{tab.evaluate('n => page.variables[n]', name)}")
                .split("=")[1]
                .strip()
                == shown
            )
        rows = tab.evaluate(
            "Array.from($('trace').tBodies[0].rows, (row) => Array.from(row.cells, (cell) =>"
            " cell.textContent))"
        )
        notation = Notation(found.letter, True, PAGE_DIGITS)
        for row, told in zip(found.rows, rows, strict=False):
            if row.kind != "condition":
                assert told[3] == notation.number(row.value)
            if not any(each.numbered for each in found.rows) or (
                row.kind == "operation" and "where" not in row.formula
            ):
                assert told[2] == notation.primal_cells(row)[2][0]
        for pull, told in zip(found.adjoint_steps, rows[len(found.rows) + 1 :], strict=True):
            assert told[1].split(" = ")[-1] == notation.number(pull.partial)
            assert told[3] == notation.number(pull.total)
        drawn = picture(text, point, units=unit)
        boxes = tab.evaluate(
            "drawing.cells.map(({data, grad}) => [data?.textContent ?? null, grad?.textContent ??"
            " null])"
        )
        for node, (data, grad) in zip(drawn.nodes, boxes, strict=True):
            if isinstance(node.data, float) and data is not None:
                assert data == quantity_text(node.data, node.unit, PAGE_DIGITS)
            if node.grad is not None and grad is not None:
                assert grad == quantity_text(node.grad, node.grad_unit, PAGE_DIGITS)


def test_fields_show_their_units_and_refuse_others(opened: Open) -> None:
    tab = opened("L**2*k + T*1[m^2/K]", {"L": "3 mm", "k": "2", "T": "20 °C"}, width=390)
    places = {name: tab.evaluate("name => page.variables[name]", name) for name in "LkT"}
    labels = {name: tab.inner_text(f"label[for=field-{k}]") for name, k in places.items()}
    assert labels == {"L": "L\xa0[mm]", "k": "k", "T": "T\xa0[°C]"}
    assert {name: tab.input_value(f"#field-{k}") for name, k in places.items()} == {
        "L": "3",
        "k": "2",
        "T": "20",
    }
    message = "not a number in mm: write 0.5, 1/3 or 1e-3"
    for text in ("2 m", "2 km", "mm", "abc mm", "2 mm mm", "1 s"):
        type_in(tab, "L", text)
        assert tab.inner_text(f"#gradient-{places['L']}") == message, text
        assert tab.evaluate("point.L") == 3
        assert tab.get_attribute(f"#field-{places['L']}", "aria-invalid") == "true"
    for text in ("2 mm", "2mm", " 2 ", "4/2 mm"):
        type_in(tab, "L", "7")
        type_in(tab, "L", text)
        assert tab.evaluate("point.L") == 2, text
        assert tab.evaluate("run.data[page.variables.L]") == 0.002
    type_in(tab, "k", "2 mm")
    assert tab.inner_text(f"#gradient-{places['k']}") == message.replace(" in mm", "")
    type_in(tab, "T", "-300 °C")
    assert tab.inner_text(f"#gradient-{places['T']}") == "below absolute zero"
    type_in(tab, "T", "-273.15")
    assert tab.evaluate("run.data[page.variables.T]") == 0
    # a slider begins at absolute zero at least, and is in the unit of its field
    assert [float(tab.get_attribute(f"#slider-{places['L']}", end)) for end in ("min", "max")] == [
        -3,
        9,
    ]
    cold = opened("T*k", {"T": "-200 °C", "k": "2"})
    assert float(
        cold.get_attribute(f"#slider-{cold.evaluate('page.variables.T')}", "min")
    ) == pytest.approx(-273.15)


@pytest.mark.parametrize(
    ("text", "at", "unit", "rate", "rates"),
    [
        ("(L - 3[m])**2", {"L": "50 cm"}, "m²", 1e-3, "in cm²/m²"),
        ("(L - 3[m])**2", {"L": "50 cm"}, None, 1e-3, ""),
        ("T**2/1[K]", {"T": "50 °F"}, None, 1e-3, "in °F²/K"),
        (
            "(a*x - b)**2",
            {"a": "2 mm/s", "x": "3 h", "b": "20 m"},
            "cm^2",
            1e-9,
            "in mm²/(s²·cm²) for a, h²/cm² for x, m²/cm² for b",
        ),
        (
            "dot(F, x)**2",
            {"F[1]": "2 N", "F[2]": "3 N", "x[1]": "4 mm", "x[2]": "1 m"},
            "J^2",
            1e-3,
            "in N²/J² for F, mm²/J² for x[1], m²/J² for x[2]",
        ),
    ],
)  # fmt: skip
def test_descent_in_units_takes_the_steps_of_descend(
    opened: Open, text: str, at: dict[str, str], unit: str | None, rate: float, rates: str
) -> None:
    tab = opened(text, at, units=unit)
    assert tab.inner_text("#of-rate") == rates
    tab.fill("#rate", str(rate))
    tab.click("#down10")
    steps = [*descend(text, at, rate=rate, steps=10, units=unit)]
    last = steps[-1]
    assert tab.evaluate("point") == pytest.approx(last.point, rel=1e-11)
    assert tab.evaluate("path.map(({value}) => value)") == pytest.approx(
        [step.value for step in steps], rel=1e-11
    )
    shown = f"after 10 steps: value = {quantity_text(last.value, last.units['value'], PAGE_DIGITS)}"
    assert tab.inner_text("#descended") == shown
    tab.click("#reset")
    assert [str(x) for x in tab.evaluate("Object.values(point)")] == [
        text.split()[0] for text in at.values()
    ]


def test_a_quiz_in_units(opened: Open) -> None:
    tab = opened("E = m*v**2/2", {"m": "2 kg", "v": "3 km/h"})
    tab.click("#quiz")

    def answer(text: str) -> str:
        tab.fill("#guess", text)
        tab.press("#guess", "Enter")
        return str(tab.inner_text("#words"))

    assert (tab.inner_text("#asked"), tab.inner_text("#unit")) == ("v₁ = v**2 =", "m²/s²")
    assert answer("9 m").startswith("That is not a number. 3[km/h]**2")
    assert answer("9") == "Not quite. 3[km/h]**2"
    assert answer("0.69444 m²/s²") == "Right: 0.69444 m²/s²."
    assert tab.inner_text("#unit") == "J"
    assert answer("18").startswith("Not quite")
    tab.click("#reveal")
    assert tab.inner_text("#words") == "It is 1.3889 J."


def test_a_guess_in_units_is_as_close_as_its_size(opened: Open) -> None:
    def answer(tab: Tab, text: str) -> str:
        tab.fill("#guess", text)
        tab.press("#guess", "Enter")
        return str(tab.inner_text("#words")).split(".")[0].split(":")[0]

    tab = opened("q*U", {"q": "1.602e-19 C", "U": "2 V"})
    tab.click("#quiz")
    assert [answer(tab, text) for text in ("0", "3.3e-19", "3.2e-19")] == [
        "Not quite",
        "Not quite",
        "Right",
    ]
    # what is 0 but for rounding
    half = opened("sin(a)", {"a": "180 °"})
    half.click("#quiz")
    assert [answer(half, text) for text in ("0.01", "0")] == ["Not quite", "Right"]


def test_the_plot_in_units_has_them_on_its_axes(opened: Open) -> None:
    tab = opened("m*v**2/2", {"m": "2 kg", "v": "3 km/h"})
    texts = tab.locator("#plot text").all_text_contents()
    assert [text for text in texts if "[" in text] == ["m [kg]", "v [km/h]", "contours [J]"]
    one = opened("g*t**2/2*1[m/s^2]", {"g": "9.81", "t": "2 min"})
    one.evaluate("page.wanted = ['t'], plot()")
    texts = one.locator("#plot text").all_text_contents()
    assert [text for text in texts if text[0].isalpha()] == [
        "t [min]",
        "f [m]",
        "derivative [m/min]",
        "tangent",
    ]
    # the tangent touches: its slope is that of the numbers
    slope = "slopeOf('t')"
    assert one.evaluate(slope) == pytest.approx(9.81 * 120 * 60, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "at", "unit"), [(BEAM, BEAM_AT, "mm"), (KINETIC, KINETIC_AT, None)]
)
def test_a_picture_has_room_for_units(
    opened: Open, text: str, at: dict[str, str], unit: str | None
) -> None:
    tab = opened(text, at, units=unit)
    tab.keyboard.press("End")
    assert tab.evaluate(MEETING) == []
    assert tab.evaluate("$('graph').scrollWidth <= $('graph').clientWidth")
    # no text is pressed together by more than a fifth
    pressed = """Array.from(document.querySelectorAll('#graph text'), (text) =>
        [text.textContent, text.textLength.baseVal.value / (7.8 * text.textContent.length)])"""
    assert [text for text, share in tab.evaluate(pressed) if share < 0.7] == []
    # no number of the trace is cut
    assert tab.evaluate("$('trace').scrollWidth <= $('trace').parentNode.clientWidth")
    cut = (
        "Array.from(document.querySelectorAll('#trace td')).filter((td) => td.scrollWidth >"
        " td.clientWidth).length"
    )
    assert tab.evaluate(cut) == 0


def test_no_value_is_torn_on_a_phone(opened: Open) -> None:
    tab = opened(BEAM, BEAM_AT, 390, units="mm")
    tab.keyboard.press("End")
    words = tab.locator("#trace td:last-child span")
    assert words.count() > 20
    assert {word.evaluate("word => word.getClientRects().length") for word in words.all()} == {1}
    cut = (
        "Array.from(document.querySelectorAll('#trace td:last-child')).filter((td) =>"
        " td.scrollWidth > td.clientWidth)"
    )
    assert tab.evaluate(f"{cut}.map((td) => td.textContent)") == []


def test_the_variables_keep_their_places_in_a_quiz(opened: Open) -> None:
    tab = opened("m*v", {"m": "2 kg", "v": "3 m/s"})
    left = (
        "Array.from(document.querySelectorAll('#inputs label'), (label) =>"
        " label.getBoundingClientRect().left)"
    )
    before = tab.evaluate(left)
    tab.click("#quiz")
    assert tab.evaluate(left) == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_with_units_is_accessible(opened: Open, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = opened(BEAM, BEAM_AT, width, units="mm", color_scheme=scheme)
    tab.click("#down10")
    found = axe.Axe().run(tab.page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_without_units_has_none() -> None:
    record = json.loads(Parts(document(page(NEURON, POINT))).content["data"])
    assert not {"units", "scales"} & record.keys()
    measured_record = json.loads(
        Parts(document(page("x*y", {"x": "2 mm", "y": "45°"}))).content["data"]
    )
    assert measured_record["units"]["point"] == {"x": "mm", "y": "°"}
    assert measured_record["scales"]["mm"] == {"numerator": 1, "shift": 0.0, "denominator": 1000}


def test_dimensions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ExpressionError, match="cannot add a mass"):
        page("m + v", {"m": "2 kg", "v": "3 m/s"})
    with pytest.raises(ExpressionError, match="--in"):
        page("m*v", {"m": "2 kg", "v": "3 m/s"}, units="J")
