"""Tests of data files: every row has the answer that its point has alone, and what is no row is
said to be none.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_cli.capabilities.derivatives.gradient import Gradient, Programs, gradient
from autodiff_cli.compiled import columns_io
from autodiff_cli.data import text_dialects
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.printer import expression_text
from autodiff_cli.questions import decoding
from autodiff_cli.show.characters import is_shown
from autodiff_cli.streams import requests
from counting import compared, compares
from running import autodiff
from strategies import graphs

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e200, 710.0]), st.floats(-4, 4)
)
NAMES = ("x", "y", "w_1", "λ", "x₂", "theta")

PROGRAMS = (
    "x**2*y", "2x² + 3y", "a = x*y; a*a + a", "f(t) = t**2 + y; f(x) + f(2x)", "f(x, y) = x*y",
    "g(y, x) = y/x", "x + λ", "x if x > y else y", "abs(x) + max(x, y)", "log(x)", "x**y",
    "e*x + pi", "0*sqrt(x)", "polygamma(1, x)", "-x^-2", "leaky_relu(x) + log(y, 2)", "3",
    "a = x; y", "x**(1/3)", "hypot(x, y)*min(x, x)", "x - y - x/y/x",
)  # fmt: skip


def outcome(answer: Gradient[Any]) -> str:
    """What a gradient says, to the last bit, but for digits that rounding loses: rows are not
    checked for these.
    """
    names = ("value", "gradient", "point", "constants", "intermediates")
    warnings = [warning for warning in answer.warnings if warning.kind != "lost_digits"]
    return repr([*[getattr(answer, name) for name in names], warnings])


def check(text: str, rows: list[dict[str, float]]) -> None:
    """Every row has to have what `gradient` has to say of it, with a graph and without."""
    whole, quick = Programs(), Programs(complete=False)
    for row in rows * 2:
        try:
            expected = gradient(text, row)
        except ExpressionError as error:
            for programs in (whole, quick):
                with pytest.raises(ExpressionError) as found:
                    programs.gradient(text, row)
                expected_error = error.diagnostic
                if (expected_error.hint or "").startswith(
                    ("the limit there is", "with more digits")
                ):
                    # what a limit, or more digits, cost is for one answer, not for each of many
                    expected_error = expected_error._replace(hint=found.value.hint)
                assert found.value.diagnostic == expected_error
            continue
        compared()
        assert outcome(whole.gradient(text, row)) == outcome(expected)
        answer = quick.gradient(text, row)
        if answer.output is None:
            warnings = tuple(warning for warning in expected.warnings if warning.kind != "unused")
            expected = expected._replace(intermediates=(), warnings=warnings)
        assert outcome(answer) == outcome(expected)


@compares(80)
@settings(max_examples=60, deadline=None)
@given(graphs(), st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=2, max_size=3))
def test_random_formulas(root: object, rows: list[list[float]]) -> None:
    check(expression_text(root), [dict(zip(NAMES, row, strict=True)) for row in rows])  # type: ignore[arg-type]


@pytest.mark.parametrize("text", PROGRAMS)
@settings(max_examples=20)
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=3))
def test_programs(text: str, rows: list[tuple[float, float, float]]) -> None:
    check(text, [dict(zip(("x", "y", "λ"), row, strict=True)) for row in rows])


@pytest.mark.parametrize("text", ["x**2*y", "a = x*y; a*a + a", "2x² + 3y"])
def test_these_take_the_quick_way(text: str) -> None:
    programs = Programs(complete=False)
    programs.gradient(text, {"x": 0.0, "y": 0.0})
    assert programs.gradient(text, {"x": 1.5, "y": -2.0}).output is None


@pytest.mark.parametrize("text", ["x**2*y", "2x² + 3y", "abs(x) + y"])
def test_rows_are_answered_as_lines_of_a_stream_are(text: str, tmp_path: Path) -> None:
    values = [(0.0, 1.0), (1.5, -2.0), (-1e-300, 1e10), (1e200, 1e200)]
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in values), encoding="ascii")
    rows = autodiff("grad", text, "--points", str(path))
    lines = autodiff(
        "grad", "-", stdin="#\n" + "".join(f"{text}\tx={x!r},y={y!r}\n" for x, y in values)
    )
    assert rows.out == lines.out
    assert rows.code == lines.code


def test_a_quoted_cell_may_hold_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(b'\xef\xbb\xbf"note",x\r\n"a, ""b""\nc",1\r\n\r\nd,2\r\n"open,3\r\n')
    found = [
        json.loads(line)
        for line in autodiff("grad", "x", "--points", str(path), "--keep", "note").out.splitlines()
    ]
    assert [(row["line"], row["keep"]["note"], row.get("value")) for row in found] == [
        (2, 'a, "b"\nc', 1.0), (5, "d", 2.0), (6, None, None),
    ]  # fmt: skip


def test_columns_that_are_carried_along_are_columns_of_their_own() -> None:
    data = "x,note,value\n1,a,7\n"
    for format, separator in (("csv", ","), ("tsv", "\t")):
        kept = autodiff(
            "grad", "x", "--points", "-", "--keep", "note", "--format", format, stdin=data
        )
        assert [line.split(separator)[-2:] for line in kept.out.splitlines()] == [
            ["error", "note"],
            ["", "a"],
        ]
        clash = autodiff(
            "grad", "x", "--points", "-", "--keep", "value", "--format", format, stdin=data
        )
        assert clash.code == 2
        assert "column `value` in the answers already" in clash.err
    apart = autodiff("grad", "x", "--points", "-", "--keep", "value", stdin=data)
    assert json.loads(apart.out)["keep"] == {"value": "7"}


@contextmanager
def piped(data: bytes) -> Iterator[str]:
    """The name of a pipe that holds some bytes and no more, as a shell's `<(command)` is one."""
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    try:
        yield f"/dev/fd/{out}"
    finally:
        os.close(out)


@pytest.mark.posix
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=("text", "gzip"))
@pytest.mark.parametrize(
    "options", [(), ("--wide",), ("--wide", "--backend", "numpy")], ids=" ".join
)
def test_a_pipe_has_a_name_and_is_read_once(
    options: tuple[str, ...], pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:  # fmt: skip
    text = b"x,y\n1,2\n3,4\n"
    (tmp_path / "file.csv").write_bytes(text)
    asked = ("grad", "x*y", *options, "--format", "csv", "--points")
    expected = autodiff(*asked, str(tmp_path / "file.csv"))
    assert expected.code == 0
    with piped(pack(text)) as one:
        assert autodiff(*asked, one).out == expected.out
    with piped(pack(text)) as one, piped(pack(text)) as other:
        both = autodiff(*asked, one, "--points", other)
        assert both.code == 0
        assert len(both.out.splitlines()) == 2 * len(expected.out.splitlines()) - 1
    with piped(pack(text)) as one:
        twice = autodiff(*asked, one, "--points", one)
        assert (twice.code, twice.err.splitlines()[0]) == (2, f"error: `{one}` can be read once")


@pytest.mark.posix
@pytest.mark.parametrize("command", ["check", "descend"])
def test_data_may_come_through_a_pipe(command: str, tmp_path: Path) -> None:
    text = b"x,y\n1,2\n3,4\n"
    (tmp_path / "file.csv").write_bytes(text)
    asked = (
        command,
        "(y - a*x)**2",
        "--at",
        "a=1",
        "--reduce",
        "mean",
        "--format",
        "jsonl",
        "--data",
    )
    with piped(text) as one:
        found = autodiff(*asked, one)
    assert (found.code, found.out) == (0, autodiff(*asked, str(tmp_path / "file.csv")).out)


@pytest.mark.parametrize(
    "options", [(), ("--wide",), ("--wide", "--backend", "numpy")], ids=" ".join
)
@pytest.mark.parametrize("format", ["csv", "tsv", "markdown", "table", "json", "jsonl"])
def test_no_heading_and_no_cell_controls_a_terminal(format: str, options: tuple[str, ...]) -> None:
    turned = "a\x9b31m; \u202eb\u2066c\x7f\u200f"
    data = f'x,"{turned}"\n1,"{turned}\x1b[31m\x85"\n'
    keep = ("--keep-all",) if options else ("--keep", turned)
    found = autodiff(
        "grad", "x**2", "--points", "-", *options, *keep, "--format", format, stdin=data
    )
    assert found.code == 0, found.err
    assert [
        char for char in found.out if char != "\n" and not is_shown(char) and char != "\t"
    ] == []
    escape = {"json": "\\u009b", "jsonl": "\\u009b", "markdown": "\\\\x9b"}.get(format, "\\x9b")
    assert found.out.count(escape) == 2


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("backend", ["python", "numpy"])
def test_a_heading_is_quoted_where_it_has_to_be(backend: str, format: str, separator: str) -> None:
    names = ["a,b", "c\td", 'e"f']
    into = io.StringIO()
    csv.writer(into, quoting=csv.QUOTE_NONNUMERIC).writerows([["x", *names], [1, *names]])
    asked = (
        "grad",
        "x",
        "--points",
        "-",
        "--input-format",
        "csv",
        "--wide",
        "--keep-all",
        "--backend",
        backend,
    )
    rows = list(
        csv.reader(
            io.StringIO(autodiff(*asked, "--format", format, stdin=into.getvalue()).out),
            delimiter=separator,
        )
    )
    assert [row[4:] for row in rows] == [names, names]


def test_two_sources_of_a_program_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("x**2")
    asked = ["grad", "--file", str(tmp_path / "program"), "--points", "-"]
    assert json.loads(autodiff(*asked, stdin="x\n3\n").out)["value"] == 9.0
    both = autodiff(*asked, "x**3", stdin="x\n3\n")
    assert both.code == 2
    assert "`--file` and `EXPR` exclude each other" in both.err
    twice = autodiff("grad", "--file", "-", "--points", "-", stdin="x\n3\n")
    assert twice.code == 2
    assert "both read standard input" in twice.err


def test_a_column_may_be_called_like_a_constant() -> None:
    (row,) = [
        json.loads(line)
        for line in autodiff("grad", "e*x", "--points", "-", stdin="e,x\n2,3\n").out.splitlines()
    ]
    assert (row["value"], row["constants"]) == (6.0, {})


def test_bytes_that_are_no_text_spoil_one_row_of_objects() -> None:
    result = autodiff("grad", "x", "--points", "-", stdin=b'{"x": 1}\n{"x": "\xff"}\n\n{"x": 3}\n')
    found = [json.loads(line) for line in result.out.splitlines()]
    assert [(row["line"], row.get("value")) for row in found] == [(1, 1.0), (2, None), (4, 3.0)]
    assert found[1]["error"]["message"] == "byte 0xff is not UTF-8 text"


def test_bytes_that_are_no_text_spoil_one_row() -> None:
    result = autodiff("grad", "x", "--points", "-", stdin=b"x\n1\n\xff\n3\n")
    found = [json.loads(line) for line in result.out.splitlines()]
    assert [row.get("value") for row in found] == [1.0, None, 3.0]
    assert result.code == 3


def test_lists_of_numbers_in_rows_of_objects_are_lists() -> None:
    rows = '{"W":[[1,2],[3,4]],"x":[1,2.5],"tag":["a"]}\n{"W":[[1,2],[3,5]],"x":[1,2],"tag":[]}\n{"x":[1,2]}\n'
    wide = autodiff(
        "grad", "sum(W @ x)", "--points", "-", "--wrt", "x", "--wide", "--keep", "tag", stdin=rows
    )
    head, *answers = csv.reader(io.StringIO(wide.out))
    assert head == ["value", "d_x[1]", "d_x[2]", "error", "tag"]
    assert answers[0] == ["19.0", "4.0", "6.0", "", '["a"]'] and answers[1] == [
        "18.0",
        "4.0",
        "7.0",
        "",
        "[]",
    ]
    assert "`W[1,1]`: it is empty" in answers[2][3]
    point = json.loads(
        autodiff("grad", "sum(W @ x)", "--points", "-", stdin=rows).out.split("\n")[0]
    )["point"]
    assert point == {"W": [[1, 2], [3, 4]], "x": [1, 2.5]}


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    peaks = []
    for count in (200, 4000):
        path.write_text("x,y\n" + "".join(f"{k},1.5\n" for k in range(count)), encoding="ascii")
        tracemalloc.start()
        assert (
            autodiff(
                "grad", "x*y", "--points", str(path), "--format", "plain", "--on-error", "fail"
            ).code
            == 0
        )
        peaks.append(
            tracemalloc.get_traced_memory()[1]
            - sum(len(f"{k * 1.5} x=1.5 y={float(k)}\n") for k in range(count))
        )
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 300_000


@pytest.mark.parametrize(
    "header",
    [b"x,y\xff", b"x\0,y", b"x,y," + b"z" * 100, b'x,y,"a\nb\xff"'],
    ids=["UTF-8", "NUL", "limit", "quoted"],
)
@pytest.mark.parametrize("before", [b"", b"\n \n"])
def test_a_header_that_cannot_be_read_is_an_error(
    header: bytes, before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "MAX_BYTES", 50)
    found = autodiff("grad", "x*y", "--points", "-", stdin=before + header + b"\n1,2\nx,y\n3,4\n")
    assert found.code == 2
    assert "in the header: " in found.err and found.out == ""


def test_a_line_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Zeros:
        """As `/dev/zero` is read."""

        left = 10

        def read1(self, size: int = -1) -> bytes:
            self.left -= 1
            assert self.left >= 0, "no more is read than says that the line is too long"
            return bytes(20)

    monkeypatch.setattr(decoding, "MAX_BYTES", 100)
    texts = text_dialects.Texts(cast(BinaryIO, Zeros()), "zero", None)
    with pytest.raises(ExpressionError, match="in the header: the line is longer than 100 bytes"):
        text_dialects.table(texts, "zero")


@pytest.mark.parametrize("end", [b"", b"\n", b"\n9\n"])
def test_of_a_line_that_is_too_long_there_is_one_error(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "MAX_BYTES", 3)
    monkeypatch.setattr(requests, "READ_BYTES", 2)
    found = list(requests.lines(io.BytesIO(b"1\n1234567890123" + end)))
    assert found == [b"1", None, *([b"9"] if b"9" in end else [])]


def test_a_quoted_cell_that_is_no_text_spoils_its_row() -> None:
    found = autodiff("grad", "x", "--points", "-", stdin=b'x,note\n1,"a\nb\xff"\n2,c\n')
    first, second = map(json.loads, found.out.splitlines())
    assert first["error"]["message"] == "byte 0xff is not UTF-8 text"
    assert second["value"] == 2.0


def test_a_name_given_twice_is_looked_for_once() -> None:
    class Name(str):
        comparisons = 0

        def strip(self, chars: str | None = None, /) -> Name:
            return self

        def __eq__(self, other: object) -> bool:
            Name.comparisons += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    names = [Name(f"c{k}") for k in range(2000)]
    columns_io.unique(names)
    assert Name.comparisons < 4000
    with pytest.raises(ExpressionError, match="two columns `c7`"):
        columns_io.unique([*names, Name("c7")])


def test_a_cell_may_be_long() -> None:
    found = autodiff(
        "grad", "x", "--points", "-", "--keep", "note", stdin=f'note,x\n"{"a" * 200_000}",2\n'
    )
    assert json.loads(found.out)["keep"]["note"] == "a" * 200_000


def test_an_open_quote_spoils_the_row_where_it_began() -> None:
    data = 'note,x\na,1\n5" pipe,2\n"b,3\nc,4\n"d, ""e""",5\n'
    found = [
        json.loads(row)
        for row in autodiff(
            "grad", "x", "--points", "-", "--keep", "note", stdin=data
        ).out.splitlines()
    ]
    assert [(row["line"], row.get("value")) for row in found[:2]] == [(2, 1.0), (3, 2.0)]
    # the quote of line 4 ends at that of line 6, where more follows: one row, and not the right
    # number of cells
    assert [row["line"] for row in found[2:]] == [4]
    data = 'note,x\na,1\n"b,3\nc,4\nd,5\n'
    found = [
        json.loads(row)
        for row in autodiff("grad", "x", "--points", "-", stdin=data).out.splitlines()
    ]
    assert [(row["line"], row.get("value")) for row in found] == [
        (2, 1.0),
        (3, None),
        (4, 4.0),
        (5, 5.0),
    ]
    assert (
        found[1]["error"]["message"]
        == "column `note`: the quote that opens the cell is never closed"
    )


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_kept_cells_come_back_as_they_were(format: str, separator: str, tmp_path: Path) -> None:
    cells = ["two\nlines", "a\ttab", 'a "quote"', "a, comma", "=cmd()", "-1", "é", ""]
    (tmp_path / "in.csv").write_text(
        "note,x\n" + "".join('"' + cell.replace('"', '""') + '",1\n' for cell in cells),
        encoding="utf-8",
    )
    asked = [
        "grad",
        "x",
        "--points",
        str(tmp_path / "in.csv"),
        "--keep",
        "note",
        "--format",
        format,
    ]
    for more, kept in (([], cells), (["--spreadsheet"], [*cells[:4], "'=cmd()", *cells[5:]])):
        written = autodiff(*asked, *more).out
        rows = list(csv.reader(io.StringIO(written, newline=""), delimiter=separator))
        assert [row[rows[0].index("note")] for row in rows[1:]] == kept


KINDS = {
    "png": (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    "carriage returns": (b"x,y\r1,2\r3,4\n", "text with lines that end in a carriage return alone"),
    "array": (b'[{"x": 1},\n {"x": 2}]\n', "one array of JSON"),
    "array over lines": (b'[\n{"x": 1}\n]\n', "one array of JSON"),
    "zip": (b"PK\x03\x04abc\n", "a zip archive, as spreadsheets are"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["data.csv", "data.json", "data"])
def test_a_file_of_another_kind_is_said_to_be_one(kind: str, name: str, tmp_path: Path) -> None:
    content, told = KINDS[kind]
    (tmp_path / name).write_bytes(content)
    for found in (
        autodiff("grad", "x", "--points", str(tmp_path / name)),
        autodiff("grad", "x", "--points", "-", stdin=content),
    ):
        assert (found.code, found.out) == (2, "")
        assert f"seems to be {told}" in found.err


def test_apostrophes_are_for_cells() -> None:
    found = autodiff("grad", "x", "--points", "-", "--spreadsheet", stdin="x\n1\n")
    assert found.code == 2
    assert "`--spreadsheet` needs `--format csv` or `--format tsv`" in found.err
