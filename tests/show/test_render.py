"""Carets and trees: that a caret's columns are those of its piece, and that a tree of any size is
drawn.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli.capabilities.graph.graph import gather, to_picture
from autodiff_cli.capabilities.graph.graph_view import MAX_FOLDED_TERMS, MAX_LINES, outline
from autodiff_cli.engine.graphs.value import Value
from autodiff_cli.errors import Diagnostic, Span
from autodiff_cli.show.characters import STYLES, Terminal, escaped, width_of
from autodiff_cli.show.document import (
    Outline,
    OutlineRow,
    Paragraph,
    ProgramHeading,
    Table,
    TextDrawing,
)
from autodiff_cli.show.error import draw
from autodiff_cli.show.rendering import Html, Markdown, ScreenText

CHARACTERS = st.sampled_from("ab+(λ変数　e\u0301\t\x1b\u200b\u202e🙂")
TEXTS = st.text(CHARACTERS, max_size=300).map(lambda text: "x" + text)


@given(TEXTS, st.data(), st.sampled_from([None, 40, 80]), st.sampled_from(["utf-8", "ascii"]))
def test_the_caret_stands_under_its_piece(
    text: str, data: st.DataObject, width: int | None, encoding: str
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    look = Terminal(width=width, encoding=encoding, unicode=encoding == "utf-8")
    _, line, carets = draw(Diagnostic("syntax", "wrong", Span(start, end)), text, look).splitlines()
    first = carets.index("^")
    assert set(carets[first:]) == {"^"}
    assert width_of(line) <= max(width or 120, 22) + 12
    # the text to the left of the caret ends where the piece begins, or the character that a
    # combining mark sits on
    while start and width_of(escaped(text[start], encoding)) == 0:
        start -= 1
    shown = "".join("    " if char == "\t" else escaped(char, encoding) for char in text[:start])
    left = _until(line[2:], first - 2)
    assert shown.endswith(left.removeprefix("…").removeprefix("...")) or not left.strip()


def _until(line: str, columns: int) -> str:
    """The characters of a line that take so many columns."""
    taken = ""
    for char in line:
        if width_of(taken + char) > columns:
            break
        taken += char
    return taken


def test_empty_places_and_ends_of_text() -> None:
    for text, span in [("x+", Span(2, 2)), ("x+\n", Span(3, 3)), ("a\n\nb", Span(2, 2))]:
        assert draw(Diagnostic("syntax", "wrong", span), text, Terminal()).rstrip().endswith("^")


def test_second_carets_and_calls() -> None:
    text = "f(u) = log(u); (1 + f(x)"
    told = Diagnostic(
        "domain", "no", Span(7, 13, Span(20, 24)), "do this", ((Span(15, 16), "opened here"),)
    )
    assert draw(told, text, Terminal(), where="line 3: ").splitlines() == [
        "line 3: error: no",
        "  f(u) = log(u); (1 + f(x)",
        "         ^^^^^^",
        "                 ^ opened here",
        "                      ^^^^ in this call",
        "  hint: do this",
    ]


def test_lines_have_numbers_where_there_are_several() -> None:
    text = "a = 1\nb = (a\n  + 変数)\nb"
    assert draw(Diagnostic("name", "no", Span(17, 19)), text, Terminal()).splitlines() == [
        "error: no",
        " 3 │   + 変数)",
        "   │     ^^^^",
    ]


def drawn(output: Value, depth: int | None = None, binary: bool = True) -> list[str]:
    return [
        *ScreenText(Terminal()).outline(
            outline(to_picture([output]).graph, depth=depth, binary=binary)
        )
    ]


def test_a_graph_deeper_than_any_recursion_is_drawn() -> None:
    x = Value(1.0, label="x")
    total = x
    for _ in range(20_000):
        total = total + x
    total.backward()
    rows = drawn(total)
    assert len(rows) <= MAX_LINES + 2
    assert "not drawn" in rows[-1] and "of 20,001 nodes" in rows[-1]
    assert len(drawn(total, depth=200)) > 400


def test_a_wide_graph_is_cut() -> None:
    leaves = [Value(float(k), label=f"x{k}") for k in range(500)]
    total = leaves[0]
    layer = leaves
    while len(layer) > 1:
        layer = [layer[k] + layer[k + 1] for k in range(0, len(layer) - 1, 2)] + layer[
            len(layer) & ~1 :
        ]
    total = layer[0]
    total.backward()
    rows = drawn(total)
    assert len(rows) <= MAX_LINES + 2
    left = int(rows[-1].split()[1].replace(",", ""))
    assert left == 999 - sum(1 for row in rows[1:-1] if "see" not in row)


def test_a_shared_node_is_expanded_where_there_is_room() -> None:
    x = Value(2.0, label="x")
    square = x * x
    total = (square + 1) * square
    total.backward()
    rows = drawn(total, depth=1)
    assert sum("#" in row for row in rows) == 0
    rows = drawn(total, depth=2)
    assert any(row.lstrip("│├└─ ").startswith("x") for row in rows)


def test_a_chain_of_one_operation_is_one_node_with_its_terms() -> None:
    a, b, c = (Value(float(k), label=name) for k, name in enumerate("abc", 2))
    total = a * b * c + (a + b * b) + a
    total.backward()
    assert drawn(total, binary=False) == [
        "node                           data   grad",
        "+                                37      1",
        "├─ *                             24      1",
        "│  ├─ a                           2     14",
        "│  ├─ b                           3     14",
        "│  └─ c                           4      6",
        "├─ a  (2 times)  (see above)",
        "└─ *                              9      1",
        "   ├─ b  (see above)",
        "   └─ b  (see above)",
    ]
    shared = a + b
    for kept in ((shared + c) * shared, (a - b) + c, a - (b - c), (Value(1.0) + a) - (b * c)):
        assert drawn(kept, binary=False) == drawn(kept), "used twice, or another operation"
    named = a + b
    named.label = "named"
    assert len(drawn(named + c, binary=False)) == 6
    assert [len(node.inputs) for node in to_picture([total]).nodes if node.operation] == [2] * 6
    assert [len(node.inputs) for node in gather(to_picture([total])).nodes if node.operation] == [
        3,
        2,
        4,
    ]
    wide = Value(1.0)
    for _ in range(20_000):
        wide = wide + Value(2.0)
    assert len(drawn(wide, binary=False)) == MAX_FOLDED_TERMS + 4, (
        "besides terms: head, sum, how many more, note"
    )


EVERY_BLOCK = (
    Paragraph((("<b>&", "name"), (" = ", "faint"), ('"1"', "number"))),
    Table(("a<b", "n"), [((("x|y", "code"),), (("2", "number"),))], frozenset((1,))),
    Outline(("node",), [OutlineRow((), (("*<", "operator"),))], "cut & left"),
    ProgramHeading(3, "x<y\nz&1"),
    TextDrawing("a & b", lambda look: "<~>"),
)


def test_html_is_well_formed_and_says_what_plain_text_says() -> None:
    made = Html(Terminal()).render(EVERY_BLOCK)
    root = ElementTree.fromstring(made)
    said = re.sub(r"\W", "", "".join(root.itertext()))
    told = re.sub(r"\W", "", ScreenText(Terminal()).render(EVERY_BLOCK))
    assert said == told
    assert not re.search(r"src=|href=|url\(|<script|<link", made), "nothing is loaded"


def test_every_style_has_the_same_colour_in_a_table_and_outside() -> None:
    for style in STYLES:
        look = Terminal(is_terminal=True, color=True, width=80)
        line = ScreenText(look).render([Paragraph((("x", style),))])
        assert line.rstrip("\n") in ScreenText(look).render([Table(("h",), [((("x", style),),)])])


def test_a_document_is_the_same_on_a_terminal_without_colour_as_in_a_pipe() -> None:
    assert ScreenText(Terminal(is_terminal=True, width=80)).render(EVERY_BLOCK) == ScreenText(
        Terminal()
    ).render(EVERY_BLOCK)


def test_no_text_is_markup_in_markdown() -> None:
    text = r"a\b *c* _d_ $f$ ~~g~~ <h> [i](j) &lt; R&D"
    shown = r"a\\b \*c\* \_d\_ \$f\$ \~\~g\~\~ \<h> \[i\](j) \&lt; R&D"
    table = Table((text,), [(((text, ""),),)])
    assert (
        Markdown(Terminal()).render([Paragraph(((text, ""),)), table])
        == f"{shown}\n\n| {shown} |\n|---|\n| {shown} |\n"
    )
