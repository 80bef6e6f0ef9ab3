"""Screens of every command with few and many variables: no numeral, no name and no heading is
broken at any width.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from autodiff_cli import show as views
from autodiff_cli.capabilities.check.check import check
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.capabilities.exercise.exercise import make_sheet
from autodiff_cli.capabilities.export.export import export
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.capabilities.formulas.functions import functions
from autodiff_cli.capabilities.formulas.units import units
from autodiff_cli.capabilities.graph.graph import picture
from autodiff_cli.capabilities.integrals.integral import integrate
from autodiff_cli.capabilities.limit.limit import limit
from autodiff_cli.capabilities.optimize.descend import descend
from autodiff_cli.capabilities.optimize.fit import fit
from autodiff_cli.capabilities.optimize.minimize import minimize
from autodiff_cli.capabilities.plot.plot import plot
from autodiff_cli.capabilities.propagate.propagate import propagate
from autodiff_cli.capabilities.solve.solve import solve
from autodiff_cli.capabilities.tangent.tangent import tangent
from autodiff_cli.capabilities.trace.trace import trace
from autodiff_cli.cli.declarations import QUESTIONS
from autodiff_cli.errors import Diagnostic, Span
from autodiff_cli.questions.arithmetic import arithmetic_of
from autodiff_cli.show.characters import Terminal, width_of
from autodiff_cli.show.document import Block, Paragraph, Pieces, Table, TextDrawing
from autodiff_cli.show.error import draw
from autodiff_cli.show.rendering import ScreenText
from running import autodiff

COUNTS = (1, 8, 40)
WIDTHS = (40, 60, 80, 100, 120)
NAMES = [f"weight{k}" for k in range(1, 41)]

Answers = Callable[[str, dict[str, float]], Iterable[Any]]

ANSWERS: dict[str, Answers] = {
    "grad": lambda text, at: (
        gradient(text, at),
        gradient(text, at, arithmetic=arithmetic_of(False, 30, False)),
        gradient(text, at, arithmetic=arithmetic_of(False, None, True)),
    ),
    "trace": lambda text, at: (
        trace(text, at),
        trace(text, at, mode="forward", direction=dict.fromkeys(at, 1.0)),
    ),
    "graph": lambda text, at: (picture(text, at),),
    "check": lambda text, at: (check(text, at),),
    "descend": lambda text, at: (descend(text, at, steps=4),),
    "minimize": lambda text, at: (minimize(text, at, steps=3),),
    "maximize": lambda text, at: (minimize(f"-({text})", at, steps=3, maximize=True),),
    "plot": lambda text, at: [plot(text, at, wrt=[*at][:k]) for k in (1, 2) if k <= len(at)],
    "diff": lambda text, at: (
        diff(text, at),
        diff(text),
        diff(text.partition(" + ")[0], steps=True),
    ),
    "hessian": lambda text, at: (hessian(text, at),),
    "jacobian": lambda text, at: (jacobian(f"{text}, {text}, exp({next(iter(at))})", at),),
    "taylor": lambda text, at: (taylor(text, at, wrt=[next(iter(at))], order=8),),
    "limit": lambda text, at: (
        limit(f"(1 - cos(x))*{next(iter(at))}/x^2", {"x": "0"}),
        limit("abs(x)/x", {"x": "0"}),
    ),
    "tangent": lambda text, at: (
        tangent(text, at, wrt=[next(iter(at))]),
        tangent("sqrt(x)", {"x": "0"}),
    ),
    "integrate": lambda text, at: (
        integrate(text, at, variable=f"{next(iter(at))}_", ends=["0:1"], wrt=[*at][:2]),
        integrate("1/x", ends=["-1:1"]),
    ),
    "propagate": lambda text, at: (
        propagate(text, {name: f"{x:.3f}±0.0125" for name, x in at.items()}, samples=1000),
    ),
    "solve": lambda text, at: (
        solve(f"u**3 + u = {text}", at, unknowns=["u"]),
        solve(system(at), at, unknowns=[*at]),
    ),
    "fit": lambda text, at: (fit(line(at), data(at)),),
    "export": lambda text, at: (export(text, "python"),),
    "exercise": lambda text, at: [
        make_sheet(level, count=len(at), solutions=len(at) < 9) for level in range(1, 6)
    ],
    "functions": lambda text, at: (functions(),),
    "units": lambda text, at: (units(), units("h")),
}


def program(count: int) -> tuple[str, dict[str, float]]:
    """A program of so many variables, and a point at which its numbers have many digits."""
    names = NAMES[:count]
    text = " + ".join(f"({name} - {k}.25)**2*exp({name}/3)" for k, name in enumerate(names))
    return text, {name: 0.123456 + k / 7 for k, name in enumerate(names)}


def line(at: dict[str, float]) -> str:
    """A model with as many parameters as there are variables."""
    return "y = " + " + ".join(f"{name}*x{k}" for k, name in enumerate(at))


def data(at: dict[str, float]) -> dict[str, list[float]]:
    """Columns for it."""
    rows = range(2 * len(at) + 2)
    columns = {
        f"x{k}": [((3 * row + 1) * (k + 2) % 17) / 7 for row in rows] for k in range(len(at))
    }
    return columns | {"y": [1 + (row * 5 % 11) / 3 for row in rows]}


def system(at: dict[str, float]) -> str:
    """As many equations as there are variables."""
    return "; ".join(f"{name}**2 + {name} = {k}.25" for k, name in enumerate(at, 1))


def broken(blocks: Sequence[Block], width: int, medium: type[ScreenText] = ScreenText) -> list[str]:
    """What a screen of this width breaks of a document, beside what it would be on an endless
    one.
    """
    # what draws itself is measured, not read
    drawn = [block for block in blocks if isinstance(block, TextDrawing)]
    told = [block for block in blocks if not isinstance(block, TextDrawing)]
    text = medium(Terminal(is_terminal=True, width=width)).render(told)
    # columns that are told elsewhere too may be left out, as a whole
    left = [as_left(each, width) if isinstance(each, Table) else each for each in told]
    endless = ScreenText(Terminal(is_terminal=True)).render(left)
    found = list(fragments(text, endless))
    found += [
        f"too wide: {line}"
        for line in text.splitlines()
        if width_of(line) > width and not in_one_word(line)
    ]
    for block in drawn:
        lines = medium(Terminal(is_terminal=True, width=width)).render([block]).splitlines()
        found += [f"too wide: {line}" for line in lines if width_of(line.rstrip()) > width]
    sources = {
        "".join(text for text, _ in block.pieces)
        for block in told
        if isinstance(block, Paragraph) and block.source
    }
    return [each for each in found if each.removeprefix("too wide: ") not in sources]


def as_left(table: Table, width: int) -> Table:
    """The table, without the columns that a screen may leave out if this one does so as a whole."""
    shown = ScreenText(Terminal(is_terminal=True, width=width)).render([table])
    kept = [k for k, head in enumerate(table.heads) if k not in table.spare or head in shown]
    return table._replace(
        heads=tuple(table.heads[k] for k in kept),
        rows=[tuple(row[k] for k in kept) for row in table.rows],
    )


def fragments(text: str, endless: str) -> Iterator[str]:
    """The words and numerals that are not those of the same document on an endless screen, and
    those missing.
    """
    seen, whole = (
        Counter(re.findall(r"[-+]?[\w.]+(?:(?<=\de)[-+]\d+)?", each)) for each in (text, endless)
    )
    # the lines of a narrow tree have no headings, and their numbers a word before them; labels of
    # rows are repeated
    words = {"data", "grad", "node"}
    yield from (f"a fragment: {word}" for word in seen if word not in whole and word not in words)
    yield from (
        f"missing: {word}" for word in whole if seen[word] < whole[word] and word not in words
    )


def in_one_word(line: str) -> bool:
    """Whether a line holds but one word: there is nowhere else to break it."""
    return len(re.sub(r"[^\w.]", " ", line).split()) == 1


# a page is for a browser
@pytest.mark.parametrize("command", [command for command in QUESTIONS if command != "page"])
def test_nothing_is_broken(command: str) -> None:
    tried = 0
    for count in COUNTS:
        for answer in ANSWERS[command](*program(count)):
            view = views.view_of(answer)
            blocks = [*view.document(view.select_with_units(answer))]
            for width in WIDTHS:
                assert not broken(blocks, width), f"{count} variables, {width} columns"
                tried += 1
    assert tried >= len(COUNTS) * len(WIDTHS)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_errors_and_hints_are_broken_between_words(width: int) -> None:
    words = "so many words that no line holds them all, and `a piece of code` and `--at x=1`, " * 3
    told = Diagnostic("syntax", words, Span(0, 1), words)
    for level in ("error", "warning"):
        lines = draw(told, "x", Terminal(is_terminal=True, width=width), level=level).splitlines()
        assert max(map(width_of, lines)) <= width
        assert len(lines) > 6
        assert " ".join(" ".join(lines).split()).count(words.strip()) == 2
        assert sum("`a piece of code`" in line for line in lines) == 6, "code is not broken"


@pytest.mark.parametrize(
    "args",
    [
        ("{}",), ("grad", "x", "{}"), ("grad", "x", "--{}"), ("grad", "x", "--format", "{}"), ("grad", "{}"),
        ("grad", "x", "--at", "{}"), ("grad", "x", "--at", "x={}"), ("grad", "x", "--at", "@{}"), ("help", "{}"),
        ("plot", "x", "--range", "{}"), ("plot", "x", "--output", "{}"), ("export", "x", "--to", "{}"),
    ],
)  # fmt: skip
def test_what_was_typed_is_not_echoed_whole_where_it_is_long(args: tuple[str, ...]) -> None:
    told = autodiff(*(part.format("q" * 100_000) for part in args)).err
    assert told.startswith("error: ") and len(told) < 1_000
    assert "q…q" in told


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_a_program_is_not_repeated_whole_where_it_is_long(format: str) -> None:
    text = "+".join(["long_name"] * 50_000)
    shown = autodiff(
        "grad", "--at", "long_name=1", "--format", format, "--no-tree", stdin=f"{text}\n{text} y\n"
    ).out
    assert len(shown) < 10_000
    assert shown.count("long_name+long") > 100 and "error" in shown
    record = autodiff("grad", "--at", "long_name=1", stdin=f"{text}\n").out
    assert f'"expr": "{text}"' in record, "a record is read by programs"


class Folded(ScreenText):
    """A layout that squeezes columns and breaks what is in them wherever they end."""

    def table(self, table: Table) -> Iterable[str]:
        share = (self.terminal.width or 80) // len(table.heads) - 1
        rows = [
            table.heads,
            *(["".join(text for text, _ in cell) for cell in row] for row in table.rows),
        ]
        for row in rows:
            for k in range(0, max(map(len, row)), share):
                yield " ".join(cell[k : k + share].ljust(share) for cell in row)


class Cut(ScreenText):
    """A layout that leaves out what is beyond the screen's edge."""

    def table(self, table: Table) -> Iterable[str]:
        return [line[: self.terminal.width] for line in ScreenText(Terminal()).table(table)]


class Endless(ScreenText):
    """A layout that does not ask how wide the screen is."""

    def lines(self, pieces: Pieces, width: int | None) -> list[str]:
        return [self.line(pieces)]


@pytest.mark.parametrize(
    ("command", "medium", "told"),
    [
        ("descend", Folded, "a fragment: "),
        ("jacobian", Folded, "a fragment: "),
        ("hessian", Cut, "missing: "),
        ("hessian", Endless, "too wide: "),
    ],
)
def test_a_broken_layout_is_noticed(command: str, medium: type[ScreenText], told: str) -> None:
    (answer,) = ANSWERS[command](*program(8))
    view = views.view_of(answer)
    found = broken([*view.document(view.select_with_units(answer))], 60, medium)
    assert [each for each in found if each.startswith(told)]


def test_a_heading_that_is_broken_is_noticed() -> None:
    table = Table(("variable", "differences"), [((("x", "name"),), (("1", "number"),))])
    assert not broken([table], 40)
    assert broken([table], 16, Folded)
    assert not broken([table], 16)
