"""The grammar file: it has no hidden conflict, and the saved tables are its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from typing import NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lark import Lark

from autodiff_cli.diagnostics.context import Kind
from autodiff_cli.language import generate, tables, tokens
from strategies import texts


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
def test_it_is_lalr_1_without_a_conflict_and_no_two_terminals_overlap(lexer: str) -> None:
    Lark(generate.grammar_text(), parser="lalr", lexer=lexer, strict=True)


def test_a_conflict_would_be_found() -> None:
    ambiguous = generate.grammar_text().replace("?signed: coefficient\n", "?signed: coefficient\n | signed signed\n")
    with pytest.raises(Exception, match="conflict"):
        Lark(ambiguous, parser="lalr", strict=True)


def test_the_saved_tables_are_those_of_the_grammar() -> None:
    saved = generate.TABLES.read_text(encoding="utf-8")
    assert saved == generate.tables_text(), "run `python -m autodiff_cli.language.generate`"


def test_the_tables_are_the_same_in_every_process() -> None:
    program = "from autodiff_cli.language.generate import tables_text; print(hash(tables_text()), end='')"
    program = program.replace("hash(tables_text())", "__import__('zlib').crc32(tables_text().encode())")
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_every_terminal_has_a_name_of_its_own() -> None:
    assert not [name for name in tables.TERMINALS if name.startswith("__")]
    assert {name.strip("$") for name in tables.TERMINALS[1:]} - set(tables.IGNORED) <= set(Kind.__members__)


def test_no_rule_is_listed_for_a_shape_that_nothing_makes() -> None:
    assert len(set(Kind)) == len(Kind.__members__)


def test_valid_text_is_parsed_without_lark() -> None:
    program = (
        "import sys; from autodiff_cli.diagnostics.parsing import parse; parse('3x² − 4x + sin(y)');"
        "print(*(m for m in ('lark', 'unicodedata', 'autodiff_cli.diagnostics.diagnosis') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@given(st.text(st.characters(max_codepoint=127)) | st.text("0123456789.eE_x+-*/^()|<>=!,; \t\r\n#ab"))
@settings(max_examples=500, deadline=None)
def test_the_quicker_patterns_for_plain_text_cut_it_in_the_same_places(text: str) -> None:
    for full, plain in ((tables.PAIR, tables.ASCII_PAIR), (tables.TOKEN, tables.ASCII_TOKEN)):
        ways = [
            [(found.lastindex, found.span(), *found.groups()) for found in re.finditer(pattern, text)]
            for pattern in (full, plain)
        ]
        assert ways[0] == ways[1]


def cut_by_the_pattern(text: str) -> list[tuple[str, str]]:
    return [(operand, "^" if sign == "**" else sign) for operand, sign in tokens._cut(tokens._readable(text))]


PIECES = [*"xe12._ ()+-*/^,=<>!|;#\t\r\né²√−", "**", "1e", "e-", "or ", "\x00", "\x01", "\x02", "2x"]


@given(texts() | st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@settings(max_examples=500, deadline=None)
@example("x*=2")
@example("12e-3")
@example("x*1.e+2")
@example("1_0E-3*x")
@example("x2e-3")
@example("x***y **= 2")
@example("f(x)=2x if(x)or(y)else-1\x02")
def test_what_is_cut_into_pieces_that_are_looked_up_is_cut_as_the_pattern_does(text: str) -> None:
    assert [(a, "^" if b == "**" else b) for a, b in tokens.pairs(text)] == cut_by_the_pattern(text)


@pytest.mark.parametrize("text", ["2*x**2 - 4*(x + 1)/y", "n = x*w + b; tanh(2n)", "x² if x > 0 else -x"])
def test_pieces_are_looked_up(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tokens.pairs(text)

    def not_asked(text: str) -> NoReturn:
        raise AssertionError(text)

    monkeypatch.setattr(tokens, "_cut", not_asked)
    assert [*tokens.pairs(text)] == [*expected]


def test_the_memory_for_pieces_is_bounded() -> None:
    for k in range(2 * tokens.REMEMBERED):
        tokens.pairs(f"x{k}*(y{k} + 2x{k})")
        tokens.pairs("x" * k + "+1")
    for known in (tokens._PIECES.single, tokens._PIECES):
        assert len(known) <= tokens.REMEMBERED
        assert max(map(len, known)) <= tokens._LONGEST


def is_name(text: str) -> bool:
    """What the language page says a name is, in other words than the program's."""

    def letter(c: str) -> bool:
        raised = unicodedata.decomposition(c).startswith("<super>")
        return c == "_" or (unicodedata.category(c) in ("Lu", "Ll", "Lt", "Lo") and not raised)

    def goes_on(c: str) -> bool:
        lowered = unicodedata.category(c) in ("Lm", "No") and unicodedata.decomposition(c).startswith("<sub>")
        return letter(c) or unicodedata.category(c) in ("Mn", "Mc", "Me", "Nd") or lowered

    hidden = re.search("[\ufe00-\ufe0f\u180b-\u180f\U000e0100-\U000e01ef]", text)
    return bool(text) and letter(text[0]) and all(map(goes_on, text)) and not hidden


def test_every_character_is_part_of_a_name_or_not_as_the_language_page_says() -> None:
    wrong = []
    # What lies between is not assigned, or surrogates and private use.
    for code in (*range(0xD800), *range(0xF900, 0x32000), *range(0xE0000, 0xE0200)):
        character = chr(code)
        for text in (character, "x" + character):
            match = tokens.read_token(text)
            name = match.lastindex == tokens.NAME and match.end() == len(text) and tokens.stranger(text) is None
            if name != is_name(text):
                wrong.append(text)
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("x", None),
        ("λ₁", None),
        ("x̄", None),
        ("_a9", None),
        ("xᵀ", 1),
        ("ab½", 2),
        ("٣", 0),
        ("x٣", None),
        ("xᵢ", None),
    ],
)
def test_where_a_name_stops_being_one(name: str, at: int | None) -> None:
    assert tokens.stranger(name) == at


@pytest.mark.parametrize(
    ("new", "known", "text"),
    [
        (tokens.new_number, tokens.NUMBERS, lambda k: f"0.{k:05}"),
        (tokens.new_sign, tokens.SIGNS, lambda k: str(k).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))),
    ],
)
def test_the_memory_for_tokens_is_bounded(
    new: Callable[[str], object], known: dict[str, object], text: Callable[[int], str]
) -> None:
    most = 0
    for k in range(3 * tokens.REMEMBERED):
        new(text(k))
        most = max(most, len(known))
    assert tokens.REMEMBERED // 2 < most <= tokens.REMEMBERED
    before = dict(known)
    new(text(10**100))
    assert known == before
    assert tokens.SIGNS[""] == tokens.DIRECTLY
