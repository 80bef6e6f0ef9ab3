"""What cannot be read: the rows of `corpora/refusals.txt`, and that every spelling that is offered
can be read itself.

A row is a text (with `⏎` for a new line), carets under it (`‸` between two characters), further
carets with what they say, the message, and the hint after `>`. Lines that begin with `@` hold the
spellings to what is meant: the values of names, and after the colon what each of the spellings has
to be worth there, separated by semicolons; `-` where it is not compared. Adding a row is adding its
first line (and these) and then

    python tests/diagnostics/test_refusals.py          rewrites the rows to what the program says: read the difference
"""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.errors import EXIT_CODES, ExpressionError, Span
from autodiff_cli.language.diagnostics import diagnosis
from autodiff_cli.language.diagnostics.context import shape
from autodiff_cli.language.diagnostics.diagnosis import MISTAKES, recognise
from autodiff_cli.language.diagnostics.suggestions import is_program
from autodiff_cli.language.parser import statements_of
from autodiff_cli.language.reader import ParseFailure
from autodiff_cli.questions.problem import evaluate_constant, parse
from places import TESTS
from strategies import texts

FILE = TESTS / "corpora" / "refusals.txt"


def refused(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        read(text)
    return caught.value


def read(text: str) -> None:
    """Read a text as the program does."""
    parse(text)


def drawn(span: Span) -> str:
    return " " * span.start + ("^" * (span.end - span.start) or "‸")


def row(text: str) -> str:
    """The row of a text, as the program has it."""
    error = refused(text.replace("⏎", "\n"))
    assert error.span is not None
    kind = "" if error.kind == "syntax" else f" [{error.kind}]"
    also = [f"{drawn(span)} {words}" for span, words in error.diagnostic.also]
    return "\n".join([text, drawn(error.span), *also, str(error) + kind, f"> {error.hint}"]) + "\n"


def rows() -> list[str]:
    """The rows, comments left out."""
    found = FILE.read_text(encoding="utf-8").split("\n\n")
    return [re.sub(r"^[%@] .*\n?", "", block, flags=re.M).rstrip("\n") + "\n" for block in found]


def meanings() -> list[tuple[str, str]]:
    """The texts that have lines of values, with each of these."""
    found = []
    for block in FILE.read_text(encoding="utf-8").split("\n\n"):
        text = re.sub(r"^% .*\n", "", block, flags=re.M).split("\n")[0]
        found += [(text, line[2:]) for line in block.split("\n") if line.startswith("@ ")]
    return found


@pytest.mark.parametrize(("text", "line"), meanings())
def test_the_spellings_have_the_values_that_are_meant(text: str, line: str) -> None:
    point, _, values = line.rpartition(":")
    given = dict(pair.split("=") for pair in point.split())
    offers = spellings(refused(text.replace("⏎", "\n")))
    expected = [value.strip() for value in values.split(";")]
    assert len(offers) == len(expected)
    for spelling, value in zip(offers, expected, strict=True):
        if value != "-":
            assert gradient(spelling, given).value == pytest.approx(
                evaluate_constant(value), rel=1e-12
            ), spelling


@pytest.mark.parametrize(
    "expected", [pytest.param(text, id=text.split("\n")[0]) for text in rows()]
)
def test_rows(expected: str) -> None:
    assert row(expected.split("\n", maxsplit=1)[0]) == expected


@pytest.mark.parametrize("text", ["", " ", "\n", ";", "# nothing", "\n;\r\n# nothing\n;"])
def test_an_empty_program(text: str) -> None:
    error = refused(text)
    assert str(error) == "there is no expression"
    assert error.hint == "write a formula, for example `x**2 + 3*x`"


@pytest.mark.parametrize(
    ("text", "at", "message", "hint"),
    [
        ("a\u200bb", (1, 2), "there is an invisible character here, U+200B", "leave it out: `ab`"),
        ("\ufeffx", (0, 1), "there is an invisible character here, U+FEFF", "leave it out: `x`"),
        (
            "x\ufe0f + 1",
            (1, 2),
            "there is an invisible character here, U+FE0F",
            "leave it out: `x + 1`",
        ),
        ("x\x00", (1, 2), "there is a control character here, U+0000", "leave it out: `x`"),
        ("a\x1bb", (1, 2), "there is a control character here, U+001B", "leave it out"),
        ("\ud800", (0, 1), "`U+D800` is not a sign of the language", "leave it out"),
        ("2\u2009x", (0, 3), "there is no operator between `2` and `x`", "write `2*x` or `2x`"),
    ],
)
def test_characters_that_nobody_sees(
    text: str, at: tuple[int, int], message: str, hint: str
) -> None:
    error = refused(text)
    assert (error.span, str(error), error.hint) == (Span(*at), message, hint)


def spellings(error: ExpressionError) -> list[str]:
    return re.findall(r"`([^`]*)`", error.hint or "")


def check(text: str) -> None:
    """Hold the outcome for any text to what is promised of it."""
    try:
        read(text)
    except ExpressionError as error:
        assert error.kind in EXIT_CODES
        assert error.hint
        assert "\n" not in str(error)
        assert not re.search(r"[A-Z_]{3}", re.sub(r"`[^`]*`|U\+[0-9A-F]+", "", str(error))), (
            "a terminal's name"
        )
        assert error.span is not None
        for span, _ in ((error.span, ""), *error.diagnostic.also):
            assert 0 <= span.start <= span.end <= len(text)
        if error.kind in ("arity", "type") or "autodiff functions" in str(error.hint):
            return  # a signature, or a form with gaps in it
        for spelling in spellings(error):
            assert (error.kind == "name" and "…" in spelling) or stands(spelling, text), (
                f"{text!r}: {error.hint}"
            )


def stands(spelling: str, text: str) -> bool:
    """Whether a spelling has a meaning, by itself or after one of the beginnings of the text."""
    ends = [0, *(found.end() for found in re.finditer(r"[;\n]", text))]
    return any(is_program(text[:end] + spelling + after) for end in ends for after in ("", "; 0"))


@given(texts())
@settings(max_examples=800, deadline=None)
def test_any_text_is_read_or_refused_with_a_place_and_spellings_that_can_be_read(text: str) -> None:
    check(text)


PIECES = sorted(
    {piece for block in rows() for piece in re.findall(r"\\?\w+|\S|\s", block.split("\n")[0])}
)


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@settings(max_examples=800, deadline=None)
def test_so_is_any_text_of_the_pieces_of_the_rows(text: str) -> None:
    check(text)


def test_every_text_of_the_rows_keeps_the_promises_when_it_is_cut_off_or_repeated() -> None:
    for text in (block.split("\n")[0].replace("⏎", "\n") for block in rows()):
        for at in range(len(text)):
            check(text[:at])
            check(text[at:])
        check(text + text)
        check(f"({text}")
        check(f"y = {text}; y")


def test_the_examples_of_every_row_can_be_read() -> None:
    for mistake in MISTAKES:
        assert all(is_program(example) for example in mistake.example), mistake
        assert "{}" in mistake.hint or not (mistake.write or mistake.example), mistake
        assert "{}" not in mistake.hint or mistake.example or mistake.hint.endswith(": {}"), mistake
        assert (
            "{}" not in mistake.hint
            or "write {}" in mistake.hint
            or ": {}" in mistake.hint
            or not mistake.write
        )
        for spelling in re.findall(r"`([^`{}]*)`", mistake.hint):
            statements_of(spelling)  # raises for what is no program


def test_the_fields_of_every_row_are_known_ones() -> None:
    for mistake in MISTAKES:
        assert not re.match(r"\w+:", mistake.message), mistake


def test_every_row_is_needed() -> None:
    """Each row is the first to apply for one of the texts; a row that never is would be a dead
    one.
    """
    texts = [block.split("\n")[0].replace("⏎", "\n") for block in rows()]
    texts += ["", "x\u200b", "x\u2062y", "x\x00", "😀", "1/" + "-" * 30 + "2x"]
    used = set()
    for text in texts:
        try:
            statements_of(text)
        except ParseFailure as stuck:
            used.add(recognise(diagnosis.Fragments(text, stuck))[0])
        except ExpressionError:
            pass  # what the grammar does not say has no row
    assert [mistake for mistake in MISTAKES if mistake not in used] == []


def test_the_pieces_that_messages_and_spellings_name_are_there_and_no_others() -> None:
    named = {"opening", "statement"}
    for mistake in MISTAKES:
        for template in (mistake.message, *mistake.write):
            named |= {name for _, name, _, _ in Formatter().parse(template) if name}
        for template in (mistake.same, *mistake.write):
            named |= {name for _, name, _, _ in Formatter().parse(template) if name}
        named |= {mistake.needs, mistake.there}
        named |= {name for place in (mistake.caret, *mistake.place) for name in place.split("..")}
        assert set(mistake.certain.split()) <= diagnosis.CONDITIONS.keys(), mistake
    known = {*diagnosis.RANGES, *diagnosis.TEXTS}
    assert named - {"sign", "repaired", ""} <= known
    # What is not named in a mistake is what others are made of.
    source = Path(diagnosis.__file__).read_text(encoding="utf-8")
    assert {name for name in known - named if f'f["{name}"]' not in source} == set()


def test_what_was_typed_is_shortened_where_it_is_long() -> None:
    name = "x" * 1000
    error = refused(f"1/2{name}")
    assert len(str(error)) < 120
    assert error.hint == "write it as in `a/(2*x)` or `(a/2)*x`"


def test_a_number_with_many_groups_is_refused_in_time() -> None:
    for text in (
        f"sin({','.join(['100'] * 20_000)})",
        f"f(x) = x; f({','.join(['100'] * 20_000)})",
    ):
        assert refused(text).hint == "leave the commas out"


def test_arguments_are_what_they_seem_where_their_number_is_right() -> None:
    for text, value in (
        ("hypot(300,400)", 500),
        ("max(1,500)", 500),
        ("sum(1,500,2,500)", 1003),
        ("mean(1.500,5)", 3.25),
    ):
        assert gradient(text).value == value


def test_functions_that_the_program_defines_are_functions_in_messages_too() -> None:
    assert refused("g(x) = x; g^2(x)").hint == "write `g(x)**2`"
    assert refused("g = 1; g^2(x)").hint == "write `g^(2*(x))` or `g^2*(x)`"


def test_shapes_are_read_as_the_rows_mean_them() -> None:
    before, after = shape("NAME SIGN* ! (NUMBER|OPEN)")
    assert before.search("tfpm")
    assert not before.search("nt")
    assert after.match("1o")
    assert not after.match("n")


def main() -> None:
    """Write what the program says."""
    blocks = []
    for block in FILE.read_text(encoding="utf-8").split("\n\n"):
        comments = re.findall(r"^% .*\n", block, flags=re.M)
        values = re.findall(r"^@ .*$", block, flags=re.M)
        lines = [line for line in block.split("\n") if line and not line.startswith("% ")]
        blocks.append("".join(comments) + row(lines[0]) + "".join(f"{line}\n" for line in values))
    FILE.write_text("\n".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
