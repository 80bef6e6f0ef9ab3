"""The grammar file: it has no hidden conflict, and the saved tables are its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata

import pytest
from lark import Lark

from autodiff_cli.language import generate, tables, tokens
from autodiff_cli.language.diagnostics.context import Kind


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
def test_it_is_lalr_1_without_a_conflict_and_no_two_terminals_overlap(lexer: str) -> None:
    Lark(generate.grammar_text(), parser="lalr", lexer=lexer, strict=True)


def test_a_conflict_would_be_found() -> None:
    ambiguous = generate.grammar_text().replace(
        "?signed: coefficient\n", "?signed: coefficient\n | signed signed\n"
    )
    with pytest.raises(Exception, match="conflict"):
        Lark(ambiguous, parser="lalr", strict=True)


def test_the_saved_tables_are_those_of_the_grammar() -> None:
    saved = generate.TABLES.read_text(encoding="utf-8")
    assert saved == generate.tables_text(), "run `python -m autodiff_cli.language.generate`"


def test_the_tables_are_the_same_in_every_process() -> None:
    program = (
        "from autodiff_cli.language.generate import tables_text; print(hash(tables_text()), end='')"
    )
    program = program.replace(
        "hash(tables_text())", "__import__('zlib').crc32(tables_text().encode())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_every_terminal_has_a_name_of_its_own() -> None:
    assert not [name for name in tables.TERMINALS if name.startswith("__")]
    assert {name.strip("$") for name in tables.TERMINALS[1:]} - set(tables.IGNORED) <= set(
        Kind.__members__
    )


def test_no_rule_is_listed_for_a_shape_that_nothing_makes() -> None:
    assert len(set(Kind)) == len(Kind.__members__)


def test_valid_text_is_parsed_without_lark() -> None:
    program = (
        "import sys; from autodiff_cli.questions.problem import parse; parse('3x² − 4x +"
        " sin(y)');print(*({'lark', 'unicodedata', 'autodiff_cli.language.diagnostics.diagnosis'} &"
        " {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def is_name(text: str) -> bool:
    """What the language page says a name is, in other words than the program's."""

    def letter(c: str) -> bool:
        raised = unicodedata.decomposition(c).startswith("<super>")
        return c == "_" or (unicodedata.category(c) in ("Lu", "Ll", "Lt", "Lo") and not raised)

    def goes_on(c: str) -> bool:
        lowered = unicodedata.category(c) in ("Lm", "No") and unicodedata.decomposition(
            c
        ).startswith("<sub>")
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
            name = (
                match.lastindex == tokens.NAME
                and match.end() == len(text)
                and tokens.bad_position(text) is None
            )
            if not name == tokens.is_name(text) == is_name(text):
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
    assert tokens.bad_position(name) == at
