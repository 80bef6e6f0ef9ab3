"""The forgiving reading: it takes what a refusal offers where one thing only can be meant, and
nothing else.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.errors import EXIT_CODES, ExpressionError, Offer, Span
from autodiff_cli.language.diagnostics import diagnosis
from autodiff_cli.language.diagnostics.leniency import (
    MAX_CORRECTIONS,
    MAX_LENGTH,
    AsRead,
    only_offer,
    read_leniently,
)
from autodiff_cli.questions.parse_point import parse_point
from autodiff_cli.questions.problem import parse
from counting import compared, compares
from places import TESTS
from sloppy import POINT, sloppy
from strategies import texts

NUMBERS = {name: 0.7 + 0.13 * k for k, name in enumerate([*"xyabckntrwRTVPzm", "gamma", "alpha"])}


def blocks() -> list[tuple[str, list[str]]]:
    """The texts of the table of refusals, each with its lines of values."""
    found = []
    for block in (TESTS / "corpora" / "refusals.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.split("\n") if not line.startswith("% ")]
        found.append(
            (lines[0].replace("⏎", "\n"), [line[2:] for line in lines if line.startswith("@ ")])
        )
    return found


def value(text: str, point: dict[str, float]) -> tuple[str, object]:
    """What a text is worth, or what kind of error it is."""
    try:
        found = gradient(text, point)
    except ExpressionError as error:
        return error.kind, None
    return "value", (found.value, found.gradient)


def read(text: str, point: dict[str, float]) -> str:
    """A text as it is read. Raises `ExpressionError`."""
    _, reading = read_leniently(text, lambda each: gradient(each, point))
    return text if reading is None else reading.text


def test_every_refusal_with_one_certain_offer_answers_with_its_value_and_every_one_with_two_is_refused() -> (
    None
):
    met: Counter[str] = Counter()
    for text, lines in blocks():
        points = [
            dict(pair.split("=") for pair in line.rpartition(":")[0].split()) for line in lines
        ]
        for point in [{name: float(x) for name, x in each.items()} for each in points] or [{}]:
            with pytest.raises(ExpressionError) as caught:
                gradient(text, point)
            if EXIT_CODES[caught.value.kind] != 3:
                met["a value is missing"] += 1
                continue
            offer = only_offer(caught.value.offers)
            if offer is None:
                refused = value_of_lenient(text, point)
                assert refused == caught.value.kind, text
                met["several"] += len(caught.value.offers) > 1
                continue
            offered = offer.within(text)
            try:
                meant = read(offered, point)
            except ExpressionError as error:
                # The offer is the first of several mistakes, or its value is missing.
                assert value_of_lenient(text, point) == error.kind, text
                met["goes on"] += 1
                continue
            assert value(read(text, point), point) == value(meant, point), text
            met["one"] += 1
            if lines and lines[0].rpartition(":")[2].strip() != "-" and len(lines) == 1:
                met["with a value that is known"] += 1
    assert met["one"] > 90, met
    assert met["several"] > 60, met
    assert met["with a value that is known"] > 60, met


def value_of_lenient(text: str, point: dict[str, float]) -> str:
    try:
        read_leniently(text, lambda each: gradient(each, point))
    except ExpressionError as error:
        return error.kind
    return "value"


def test_hints_are_printed_from_the_offers() -> None:
    counted = 0
    for text, _ in blocks():
        try:
            parse(text)
        except ExpressionError as error:
            for spelling in (each for offer in error.offers for each in offer.shown):
                assert f"`{spelling}`" in (error.hint or ""), text
                counted += 1
            for offer in error.offers:
                assert 0 <= offer.start <= offer.end <= len(text)
    assert counted > 250


@compares(20)
@given(texts())
@settings(max_examples=400, deadline=None)
def test_nothing_that_is_read_strictly_is_read_otherwise(text: str) -> None:
    asked: list[str] = []

    def ask(each: str) -> object:
        asked.append(each)
        return parse(each)

    try:
        parse(text)
    except ExpressionError:
        return
    compared()
    _, reading = read_leniently(text, ask)
    assert (asked, reading) == ([text], None)


def typed() -> list[dict[str, str]]:
    """Formulas from books, in the notation of each: as they are typed, and what is meant by
    them.
    """
    lines = (TESTS / "corpora" / "typed.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("case", typed(), ids=lambda case: case["text"])
def test_formulas_from_books_mean_what_their_writers_mean_or_are_refused(
    case: dict[str, str],
) -> None:
    point = parse_point(case["at"])
    if case["means"] is None:
        with pytest.raises(ExpressionError):
            read(case["text"], point)
        return
    found = gradient(read(case["text"], point), point)
    assert found.value == pytest.approx(gradient(case["means"], point).value, rel=1e-12)


def test_most_formulas_from_books_are_read() -> None:
    cases = typed()
    strict = sum(value(case["text"], parse_point(case["at"]))[0] == "value" for case in cases)
    assert len(cases) >= 60
    assert sum(case["means"] is not None for case in cases) >= 50
    assert strict < 10


def test_what_is_written_by_hand_is_read_as_it_is_meant_or_refused() -> None:
    rng = random.Random(4)
    met: Counter[str] = Counter()
    for _ in range(1800):
        text, meant = sloppy(rng)
        if len(text) > 60 or value(meant, POINT)[0] != "value":
            continue
        try:
            answer, reading = read_leniently(text, lambda each: gradient(each, POINT))
        except ExpressionError:
            met["refused"] += 1
            continue
        if reading is not None:
            assert answer.value == pytest.approx(
                gradient(meant, POINT).value, rel=1e-9, abs=1e-9
            ), (text, reading)
            met["read"] += 1
    assert met["read"] > 150, met
    assert met["refused"] > 300, met


def mistyped(rng: random.Random, of: list[str], pieces: list[str]) -> str:
    """One of the texts with a few pieces left out, put in or replaced."""
    text = rng.choice(of)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        start = rng.randrange(len(text) + 1)
        stop = min(len(text), start + rng.choice((0, 1, 1, 2, 4)))
        text = (
            text[:start]
            + rng.choice((*("",) * 4, " ", rng.choice(pieces), rng.choice(pieces)))
            + text[stop:]
        )
    return text


def test_mistyped_lines_end_in_an_answer_that_reads_back_or_in_an_error_with_a_place() -> None:
    rng = random.Random(9)
    of = [text for text, _ in blocks()] + [case["text"] for case in typed()]
    pieces = sorted({piece for text in of for piece in re.findall(r"\\?\w+|\S|\s", text)})
    met: Counter[str] = Counter()
    for _ in range(1500):
        text = mistyped(rng, of, pieces)
        try:
            answer, reading = read_leniently(text, lambda each: gradient(each, NUMBERS))
        except ExpressionError as error:
            met["refused"] += 1
            assert error.hint
            if error.span is not None and error.text is None:
                assert 0 <= error.span.start <= error.span.end <= len(text), text
            continue
        if reading is None:
            met["strict"] += 1
            continue
        met["read"] += 1
        again = gradient(reading.text, NUMBERS)
        assert (again.value, again.gradient) == (answer.value, answer.gradient), (
            text,
            reading.text,
        )
        assert len(reading.places) == len(reading.text)
    assert met["read"] > 80, met
    assert met["refused"] > 500, met


def counting(found: list[str]) -> Callable[[str], object]:
    def ask(text: str) -> object:
        found.append(text)
        return parse(text)

    return ask


def test_the_work_is_bounded() -> None:
    asked: list[str] = []
    read_leniently(" + ".join(["2 w"] * (MAX_CORRECTIONS - 1)), counting(asked))
    assert len(asked) == MAX_CORRECTIONS
    asked.clear()
    with pytest.raises(ExpressionError):
        read_leniently(" + ".join(["2 w"] * (2 * MAX_CORRECTIONS)), counting(asked))
    assert len(asked) == MAX_CORRECTIONS + 1
    asked.clear()
    with pytest.raises(ExpressionError):
        read_leniently("2 w" + " " * MAX_LENGTH, counting(asked))
    assert len(asked) == 1


@pytest.mark.parametrize(
    "piece",
    [
        "\\frac{",
        "\\sqrt",
        "\\sin",
        "\\sin^",
        "\\frac1",
        "\\pi(",
        "\\left(",
        "[",
        "½",
        "sin ",
        "(2 x",
        "∛",
        "x ",
        "x!",
        "a/b c ",
    ],
)
def test_what_is_nested_deeply_is_read_or_refused(piece: str) -> None:
    for text in (piece * (1900 // len(piece)), piece * 300 + "x"):
        try:
            read_leniently(text, parse)
        except ExpressionError as error:
            assert error.hint


def test_characters_are_followed_through_a_long_text() -> None:
    typed_text = "[x] + " * 300 + "2"
    reading = AsRead(typed_text, typed_text, tuple(range(len(typed_text))))
    read_text = typed_text.replace("[", "(").replace("]", ")")
    reading = reading.apply_offer(Offer(0, len(typed_text), read_text))
    assert reading.places == tuple(-1 if c in "[]" else k for k, c in enumerate(typed_text))


@pytest.mark.parametrize(
    ("text", "at", "read_as"),
    [
        ("1 + ln y", (4, 8), "1 + ln(y)"),
        ("½ + log(-2 x)", (4, 13), "(1/2) + log(-2*x)"),
        ("2 x + lnlnx", (6, 11), "2*x + ln(ln(x))"),
        ("√(2 y - x) + sin x", (0, 10), "√(2*y - x) + sin(x)"),
    ],
)
def test_an_error_in_what_was_read_points_into_what_was_typed(
    text: str, at: tuple[int, int], read_as: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        read(text, {"x": 0.5, "y": -3.0})
    assert (caught.value.span, caught.value.read, caught.value.text) == (Span(*at), read_as, None)


def test_an_error_at_what_was_not_typed_shows_the_text_as_read() -> None:
    reading = AsRead("ab", "ab", (0, 1)).apply_offer(Offer(1, 2, "xyz"))
    error = reading.relocate_error(ExpressionError("domain", "no", Span(2, 3)))
    assert (error.text, error.span) == ("axyz", Span(2, 3))
    moved = reading.relocate_error(
        ExpressionError("domain", "no", Span(0, 3), also=((Span(2, 3), "not typed"),))
    )
    assert (moved.text, moved.span, moved.diagnostic.also) == (None, Span(0, 1), ())


def test_a_refusal_stands_as_it_is_where_nothing_is_certain() -> None:
    for text in (
        "1/2x",
        "sin x y",
        "x 2",
        "f(x)",
        "2*(x + 1",
        "1,5",
        "a.b",
        "x½",
        "k[A]",
        "e^k t",
        "\\sin x^2",
    ):
        with pytest.raises(ExpressionError) as strict:
            parse(text)
        with pytest.raises(ExpressionError) as lenient:
            read_leniently(text, parse)
        assert lenient.value.diagnostic == strict.value.diagnostic, text


DOUBTED = {
    "no_power_of_a_function": "f⁻¹(x)",
    "never": "2 3",
    "argument_ends": "sin |x|²",
    "operand_ends": "x mod y z",
    "no_joined_names": "xy!",
    "builtin_function": "g(x) = x; g^2(x)",
    "no_joined_words": "a\u200bb",
    "wholly_quoted": 'x" + 1',
    "no_operand_before_fraction": "y + x⅓ + 1",
    "single_letters": "\\frac{mv^2}{2}",
    "no_divisor_or_power": "1/x∛y",
    "no_operand_after": "x % ∛y",
    "single_dash": "x–-y",
    "no_dollar_within": "12$5",
    "no_words_after": "x // comment",
    "no_words_beside": "hello world",
    "no_number_after": "2 3xᵀ",
    "no_index": "k{x + 1}",
    "known_module_names": "np.x + 1",
    "one_place_to_close": "2*(x + 1",
    "in_condition": "y + (x = 3)",
    "no_spreadsheet_power": "=-x^2",
    "no_letter_after_degree": "20°x",
    "no_pair": "x*(1,5)",
    "few_bars": "|x|y|x|",
    "inverse_of_angle": "ln^-1(x)",
    "no_grouped_divisor": "√1,000 x",
}
"""For each doubt a text that it alone keeps from being read."""


def test_each_doubt_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert DOUBTED.keys() == diagnosis.CONDITIONS.keys()
    point = {"x": 2.0, "y": 3.0}

    def ask(text: str) -> object:
        return parse(text, point if text.startswith("xy") else ())

    for name, text in DOUBTED.items():
        with pytest.raises(ExpressionError) as caught:
            read_leniently(text, ask)
        with monkeypatch.context() as patch:
            patch.setitem(diagnosis.CONDITIONS, name, lambda fragments, stop: True)  # type: ignore[misc]
            try:
                read_leniently(text, ask)
            except ExpressionError as error:
                assert error.diagnostic != caught.value.diagnostic, (name, text)


@pytest.mark.parametrize("text", ["If{x + 1}", "np.not(x)"])
def test_only_functions_stand_before_brackets_and_after_modules(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_leniently(text, parse)
    assert [offer.certain for offer in caught.value.offers] == [False]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        # an index after an exponent
        ("x^2_i", "x_i**2"), ("a^3_{12}", "a_12**3"), ("x^{2}_{1}", "x_1**2"), ("σ²_x", "σ_x²"), ("x²₁", "x₁²"),
        (r"\sigma^2_x + 1", "sigma_x**2 + 1"), (r"\sin(x^2_1)", "sin(x_1**2)"), (r"T_\text{max}^2", "T_max**2"),
        # names with an index side by side
        ("x_{1}x_{2}", "x_1*x_2"), ("2a_{n}b", "2*a_n*b"),
        # letters that are factors, as they stand in their own argument, and definitions
        (r"\phi(1-\phi)", "phi*(1 - phi)"), (r"\lambda(x+y)", "lambda*(x + y)"), (r"\pi(r)^2", "pi*(r)**2"),
        (r"\phi(x) = x^2 + \frac{x}{2}", "x**2 + x/2"), (r"\sigma(x) = \frac{1}{1+e^{-x}}", "1/(1 + exp(-x))"),
        (r"\exp[-x]", "exp(-x)"), ("x²(y+1)", "x**2*(y + 1)"), (r"x^{2}(y+1)\sin y", "x**2*(y + 1)*sin(y)"),
        (r"x\zeta(s+2)", "x*zeta(s + 2)"),
    ],
)  # fmt: skip
def test_papers_write_it_so(typed: str, meant: str) -> None:
    point = {name: 0.7 + 0.11 * k for k, name in enumerate(parse(meant).variables)}
    answer, reading = read_leniently(typed, lambda each: gradient(each, point))
    assert reading is not None
    assert answer.value == pytest.approx(gradient(meant, point).value, rel=1e-14), reading.text


@pytest.mark.parametrize(
    "typed",
    [
        r"\zeta^2(x)", r"\phi(x)", r"\Phi(d+1)", r"\phi^2(x)", r"\phi_1(x)",
        r"\theta(x-a)", r"\delta(x)", r"\eta(s)", r"\xi(s)", r"\chi(n)", r"\alpha(t)", r"\omega(t)", r"\mu(n)",
        r"\tau(n)", r"\Gamma x", r"\Gamma(s,x)", r"\gamma(s,x)", r"\beta(x)",
        "ζ(2)", "Γ x", "Γ(x)", "gamma x", "phi(x)", "J_0(x)", "x^2_1",
        r"\lambda(n)", "φ(x)", r"\deg x", r"\mathrm{d}x",
        "e^2_1", "10^3_0", "(x+y)^2_1", "f²(x)", "f⁻¹(x)", "f^(-1)(x)", "f^{-1}(x)", "f^{(2)}(x)", r"f^{2}(t) + \sin x",
    ],
)  # fmt: skip
def test_a_known_function_that_the_language_lacks_is_no_product(typed: str) -> None:
    point = dict.fromkeys(("x", "s", "d", "a", "n", "t"), 0.7)
    with pytest.raises(ExpressionError) as caught:
        read_leniently(typed, lambda each: gradient(each, point))
    # as a product it would lack the value of the letter
    assert "no value" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "point", "product"),
    [
        ("gamma x", {"gamma": 2, "x": 3}, 6), ("zeta x", {"zeta": 2, "x": 3}, 6), ("Γ x", {"Γ": 2, "x": 3}, 6),
        (r"\phi(x)", {"phi": 2, "x": 3}, 6), (r"\Gamma x", {"Gamma": 2, "x": 3}, 6),
        (r"\alpha(t)", {"alpha": 2, "t": 3}, 6),
        ("f²(x)", {"f": 2, "x": 3}, 12), ("x²(3)", {"x": 2}, 12), ("gamma = 2; gamma x", {"x": 3}, 6),
        ("Power[1]*2", {"Power[1]": 3}, 6), ("Power = [1, 2, 3]; Power[1] + x", {"x": 3}, 4),
    ],
)  # fmt: skip
def test_a_name_with_a_value_is_no_function(
    typed: str, point: dict[str, float], product: float
) -> None:
    found, _ = read_leniently(typed, lambda each: gradient(each, point))
    assert found.value == product
