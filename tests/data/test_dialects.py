"""Tests of how text of data is recognised: tables in every dialect read back the same numbers, in
both readers.
"""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autodiff_cli.data import readers
from autodiff_cli.data.readers import TextReader, reader
from autodiff_cli.data.sources import sources
from autodiff_cli.data.text_dialects import UNFORCED, ForcedDialect
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.optional_units import heading, is_unit, names_in_headings
from running import autodiff

NAMES = ("t", "U", "I_0")


def read(
    path: Path | str, forced: ForcedDialect = UNFORCED
) -> tuple[TextReader, dict[str, list[float | None]]]:
    """The reader, and the columns, which both readers have to read alike."""
    (source,) = sources([str(path)], forced)
    with reader(source) as file:
        assert isinstance(file, TextReader)
        names = list(file.names)
        one_by_one: dict[str, list[float | None]] = {name: [] for name in names}
        for row in file.rows():
            for name in names:
                cell = file.numbers_in(row, [name])[0].get(name)
                one_by_one[name].append(None if cell is None else float(cell))
    with reader(source) as file:
        file.select(names, ())
        batches = [chunk.batch for chunk in file.chunks()]
    by_columns = {
        name: [cell for batch in batches for cell in batch.column(name).to_pylist()]
        for name in names
    }
    assert by_columns == one_by_one
    assert isinstance(file, TextReader)
    return file, one_by_one


def written(x: float, decimal: str, thousands: str) -> str:
    """A number as a program of some country writes it."""
    if thousands and abs(x) < 1e15:
        text = f"{x:,.3f}".replace(",", "\0").replace(".", decimal).replace("\0", thousands)
    else:
        text = repr(x).replace(".", decimal)
    return text


STYLES = [(".", ""), (",", ""), (".", "'"), (",", "."), (".", ","), (",", " ")]
DIALECTS = [
    (separator, decimal, thousands)
    for separator, (decimal, thousands) in product([",", ";", "\t", "|", "  "], STYLES)
    if separator not in (decimal, thousands) and not (separator == "  " and thousands == " ")
]

numbers = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 3))


@settings(
    max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
@given(data=st.data())
def test_tables_in_every_dialect_read_back(
    dialect: tuple[str, str, str], data: Any, tmp_path: Path
) -> None:
    separator, decimal, thousands = dialect
    rows = data.draw(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6))
    # what shows the style: a fraction that is not of three digits, and a number of two groups
    rows = [(0.25, 1234567.25, 1.5), *rows]
    header = data.draw(st.sampled_from(["names", "comment", "units", "headings"]))
    names = {"headings": ["Zeit t [s]", "U (V)", "I_0"]}.get(header, [*NAMES])
    if separator == "  " and header == "headings":
        names[0] = "t [s]"
    lines = [separator.join(names)]
    if header == "comment":
        lines[0] = "# " + lines[0]
    if header == "units":
        lines.append(separator.join(["s", "V", "mA"]))
    lines += data.draw(st.sampled_from([[], ["# a note"], ["", "% 5 more"], ["// x"]]))
    for row in rows:
        cells = [written(x, decimal, thousands) for x in row]
        lines.append(separator.join(f'"{cell}"' if separator in cell else cell for cell in cells))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le"]))
    path = tmp_path / "lab.dat"
    path.write_bytes(end.join([*lines, ""]).encode(encoding))
    file, columns = read(path)
    assert list(columns) == names
    expected = [[round(x, 3) for x in column] for column in zip(*rows, strict=True)]
    assert [columns[name] for name in names] == expected
    if header == "units":
        assert dict(file.units) == {"t": "s", "U": "V", "I_0": "mA"}
    if separator != "  " and not thousands and header == "names" and encoding == "utf-8":
        frame = pd.read_csv(io.StringIO("\n".join(line for line in lines if line[:1] not in ("#", "%", "/"))),
                            sep=separator, decimal=decimal)  # fmt: skip
        assert np.allclose(frame.to_numpy(float), np.array(rows), rtol=1e-15, atol=0)


def test_names_in_a_comment_say_how_many_columns_there_are(tmp_path: Path) -> None:
    """Blanks between thousands make five columns of these rows, and tabs three."""
    rows = "0,250\t1 234 567,250\t1,500\n0,000\t0,000\t1 000 000,000\n"
    path = tmp_path / "lab.dat"
    path.write_text(f"# t\tU\tI_0\n{rows}", encoding="utf-8")
    _, columns = read(path)
    assert columns == {"t": [0.25, 0.0], "U": [1234567.25, 0.0], "I_0": [1.5, 1e6]}
    path.write_text(f"# three columns\n{rows}", encoding="utf-8")
    with pytest.raises(ExpressionError, match="between tab"):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x\ty\n1,234\t2\n",
            "two ways: `1,234` is 1.234 (`--decimal comma`) or 1234 (`--decimal point`)",
        ),
        ("x;y\n12,345;2\n7,891;3\n", "two ways: `12,345` is 12.345"),
        (
            "x y\n1.5 2\n1,5 2\n",
            "it is not written with a decimal point, as the file begins: `1,5`",
        ),
        (
            "x;y\n1,5;2\n1.5;2\n",
            "it is not written with a decimal comma, as the file begins: `1.5`",
        ),
        (
            "x;y\n1,25;2\n1.234,5;1\n1.2345;3\n",
            "not written with a decimal comma, as the file begins: `1.2345`",
        ),
        ("x|y\n3.984|543,109\n", "two ways: `543,109` is 543.109 (`--decimal comma`) or 543109"),
    ],
)
def test_cells_that_could_be_two_numbers_are_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "lab.txt"
    path.write_text(text, encoding="utf-8")
    for more in ([], ["--wide", "--backend", "numpy"]):
        result = autodiff("grad", "x*y", "--points", str(path), *more)
        assert result.code == 2 and message in result.out


def test_what_stands_for_no_value_is_no_unit(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text("x\nN/A\n3\n", encoding="utf-8")
    result = autodiff("grad", "2*x", "--points", str(path), "--wide")
    assert (
        result.out
        == "value,d_x,error\n,,line 2: point: column `x`: `N/A` is a missing value\n6.0,2.0,\n"
    )


@pytest.mark.parametrize(
    ("text", "message", "option"),
    [
        ("1,2\n3,4\n", "has two columns, or one number with a decimal comma", "--separator"),
        ("1 234\t5 678\n2 345\t6 789\n", "its columns may be between tab", "--separator"),
        ("name,x,y\n#1,2,3\nfoo,1,2\n", "line 2 is a row, or a comment", "--comment"),
        ("A,656.8,1.5\nB,486.1,2\n", "line 1 is the header, or the first reading", "--header none"),
        (
            "t,450,500\n0,1,2\n1,2,3\n",
            "line 1 is the header, or the first reading",
            "--header first",
        ),
        ("a\nRun 1\nTime,Potential\nx,y\n0,1\n1,2\n", "the table begins in line 4", "--skip 3"),
        ("x y\n1 2 3\n4 5 6\n", "the table begins in line 2", "--skip 1"),
        ("x,x\n1,2\n", "the data has two columns `x`", "--skip 1 --header none"),
    ],
)
def test_files_that_could_be_two_tables_are_refused(
    text: str, message: str, option: str, tmp_path: Path
) -> None:
    path = tmp_path / "lab.txt"
    path.write_text(text, encoding="utf-8")
    result = autodiff("grad", "x*y", "--points", str(path))
    assert result.code == 2 and not result.out
    assert message in result.err and option in result.err


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("Title\nx;y\n1;2\n3;4\n", "separator ;, line 1 left out"),
        ("Title;\nx;y\n1;2\n3;4\n", "separator ;, line 1 left out"),
        ("cooling, 3 May\nx,y\n1,2\n3,4\n", "line 1 left out"),
        # as oscilloscopes write them: settings, then samples
        ("Model,MSO58\nLabel,\nRecord Length,9\n,\nx,y\n1,2\n3,4\n", "lines 1 to 4 left out"),
        ("Model,MSO58\nLength,9\n\nx,y\n1.0,2\n3,4\n", "lines 1 to 3 left out"),
        ("Record Length,1000\nx,y\n1,2\n3,4\n", "line 1 left out"),
        ("[Header]\nTITLE,a\n[Data]\nx,y\n1,2\n3,4\n", "lines 1 to 3 left out"),
        (
            "Length;9\nDate;1.2.2024\nx;y\ns;V\n1,0;2\n3,0;4\n",
            "separator ;, decimal comma, lines 1 to 2 left out, units in line 4",
        ),
    ],
)
def test_a_title_or_settings_above_a_table_are_left_out(
    text: str, summary: str, tmp_path: Path
) -> None:
    path = tmp_path / "lab.txt"
    path.write_text(text, encoding="utf-8")
    file, columns = read(path)
    assert columns == {"x": [1.0, 3.0], "y": [2.0, 4.0]}
    assert ", ".join(file.summary) == summary


@pytest.mark.parametrize(
    ("text", "names", "summary"),
    [
        ("x,y\n1,2\n", ["x", "y"], ""),
        ("x\ty\n1\t2\n", ["x", "y"], ""),
        ("t (s),U (V)\n1,2\n", ["t (s)", "U (V)"], ""),
        ("x;y\n1;2\n", ["x", "y"], "separator ;"),
        ("sep=;\nx;y\n1;2\n", ["x", "y"], "separator ;"),
        ("1.5 2\n2 3\n", ["c1", "c2"], "separator blanks, no header (columns c1, c2)"),
        ("2.5\n3.5\n", ["c1"], "no header (column c1)"),
        (
            "# t U\n# s V\n1 2\n\n\n3 4\n", ["t", "U"],
            "separator blanks, the header in line 1, a comment, units in line 2, 2 blocks",
        ),
        ("  t [s]   U [V]\n  1.0   2.0\n", ["t [s]", "U [V]"], "separator blanks, units in the header"),
        ("x,y\nV,A\n1,2\n", ["x", "y"], "units in line 2"),
        ("x,y\nfoo,baz\n1,2\n", ["x", "y"], ""),
        ("x;y;;\n1;2;;\n", ["x", "y", "c3", "c4"], "separator ;"),
        ("2024-01-02;1,5\n2024-01-03;2,5\n", ["c1", "c2"], "separator ;, decimal comma, no header (columns c1, c2)"),
        ('note;x\n"a;b";1,5\n', ["note", "x"], "separator ;, decimal comma"),
        ("x,y\n1,2\n# 3,4\n", ["x", "y"], "1 comment line"),
        ("x;y\n#N/A;1\n2;1\n", ["x", "y"], "separator ;"),
    ],
)  # fmt: skip
def test_what_was_recognised_is_said(
    text: str, names: list[str], summary: str, tmp_path: Path
) -> None:
    path = tmp_path / "lab.csv"
    path.write_text(text, encoding="utf-8")
    file, _ = read(path)
    assert list(file.names) == names
    assert ", ".join(file.summary) == summary


def test_latin_1_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_bytes("Länge l [µm];T [°C]\n1,5;20\n".encode("cp1252"))
    file, columns = read(path)
    assert file.summary[0] == "encoding Latin-1"
    assert columns == {"Länge l [µm]": [1.5], "T [°C]": [20.0]}
    result = autodiff("grad", "l*T", "--points", str(path), "--format", "csv")
    assert "`l` is the column `Länge l [µm]`, `T` is the column `T [°C]`" in result.err


def test_options_say_what_the_file_does_not(tmp_path: Path) -> None:
    path = tmp_path / "lab.txt"
    path.write_bytes("Kopf\nx:y\n1,234:5\nREM 2,5:1\n".encode("utf-16-be"))
    forced = ForcedDialect(separator=":", decimal=",", skip=1, encoding="utf-16-be", comment="REM")
    assert read(path, forced)[1] == {"x": [1.234], "y": [5.0]}
    path.write_text("x\ty\n1,234\t5\n", encoding="utf-8")
    assert read(path, ForcedDialect(decimal="."))[1] == {"x": [1234.0], "y": [5.0]}


def test_many_rows_follow_the_first_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "BLOCK_BYTES", 50_000)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30_000)).round(6)
    rows = [f'{a};{b};"a;b"'.replace(".", ",") for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    rows[20_000:20_000] = ["# a note in the middle"]
    path = tmp_path / "lab.csv"
    path.write_text("\n".join(["# head", "x;y;note", *rows]) + "\n", encoding="utf-8")
    file, columns = read(path, UNFORCED._replace())
    assert columns["x"] == x.tolist() and columns["y"] == y.tolist()
    assert "comment lines" in file.summary
    rows[25_000] = "1.5;2;x"
    path.write_text("\n".join(["# head", "x;y;note", *rows]) + "\n", encoding="utf-8")
    result = autodiff(
        "grad", "x*y", "--points", str(path), "--wide", "--output", str(tmp_path / "out.csv")
    )
    assert result.code == 2
    assert (
        "line 25003: point: column `x`: it is not written with a decimal comma, as the file begins:"
        " `1.5`" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    )


def test_a_sheet_that_is_shown_is_read_and_hidden_rows_are_counted(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.title = "old"
    book.active.append(["x"])
    book.active.sheet_state = "hidden"
    book.create_chartsheet("chart", 0)
    shown = book.create_sheet("shown")
    for row in (["x", "y"], [1, 2], [2, 99], [3, 6], [None, None]):
        shown.append(row)
    shown.row_dimensions[3].hidden = True
    shown.row_dimensions[5].hidden = True  # without a value
    book.active = 2
    path = tmp_path / "hidden.xlsx"
    book.save(path)
    file, columns = read(path)
    assert columns["y"] == [2.0, 99.0, 6.0]
    assert file.summary == ("sheet shown of 3", "also 1 hidden row")
    result = autodiff("grad", "x", "--points", f"{path}#none")
    assert result.code == 5 and "its sheets are `chart`, `old`, `shown`" in result.err


def test_sheets_are_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Messung"
    for row in [
        ["t (s)", "U", "note"],
        ["s", "V", None],
        [0.5, 1234.0625, "# a"],
        [],
        [1.5, None, "b;c"],
        [2, "1e3", None],
    ]:
        sheet.append(row)
    book.create_sheet("zwei").append(["x"])
    book["zwei"].append([7])
    path = tmp_path / "lab.xlsx"
    book.save(path)
    file, columns = read(path)
    assert (columns["t (s)"], columns["U"]) == ([0.5, 1.5, 2.0], [1234.0625, None, 1000.0])
    assert dict(file.units) == {"t (s)": "s", "U": "V"}
    assert file.summary == ("sheet Messung of 2", "units in line 2")
    result = autodiff("grad", "x**2", "--points", f"{path}#zwei", "--format", "csv")
    assert result.code == 0 and "49" in result.out
    result = autodiff("grad", "x**2", "--points", f"{path}#drei")
    assert result.code == 5 and "its sheets are `Messung`, `zwei`" in result.err
    result = autodiff("grad", "t*U", "--points", str(path), "--format", "jsonl")
    assert "column `U`: it is empty" in result.out and '"line": 5' in result.out


@pytest.mark.parametrize(
    "text",
    [
        "x,y\nm,V\n1,2\n", "name,x,y\nfoo,1,2\nbar,2,3\n", "x,y\nNA,NA\n1,2\n3,4\n", "x,y\nbad,bad\n1,2\n3,4\n",
        "x (m),y (V)\n1,2\n3,4\n", "a,b\nx,y\nz,w\n",
    ],
)  # fmt: skip
def test_tables_that_begin_in_their_first_line_are_no_settings(text: str, tmp_path: Path) -> None:
    (tmp_path / "lab.csv").write_text(text)
    columns = read(tmp_path / "lab.csv")[1]
    assert len(next(iter(columns.values()))) == text.count("\n") - 1 - ("m,V" in text)


def test_settings_above_samples_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "scope.csv"
    path.write_text("Model,MSO58\nRecord Length,3\n,\nTIME,CH1\n0,1.5\n1e-9,1.75\n2e-9,2.0\n")
    assert read(path, ForcedDialect(skip=3))[1] == {
        "TIME": [0.0, 1e-9, 2e-9],
        "CH1": [1.5, 1.75, 2.0],
    }


def test_headings_name_what_they_can() -> None:
    assert heading("Spannung U [V]") == (("U",), "V")
    assert heading("T / K") == (("T",), "K")
    assert heading("a/b") == (("a",), "b")  # barn
    assert heading("x/y") == ((), None)
    assert heading("U in mV") == (("U",), "mV")
    assert heading("g (m/s²)") == (("g",), "m/s²")
    assert heading("f(outer)") == (("f",), None)
    assert is_unit("°C") and is_unit("[%]") and not is_unit("foo") and not is_unit("12")
    assert dict(names_in_headings(["U (V)", "U [mV]", "Fehler I", "t"])) == {"I": "Fehler I"}


def test_a_name_of_two_headings_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text("U (V),U [mV],t\n1,2,3\n", encoding="utf-8")
    result = autodiff("grad", "U*t", "--points", str(path))
    assert (
        result.code == 2
        and "`U` has no value" in result.err
        and '--columns "U=U (V)"' in result.err
    )
    result = autodiff(
        "grad", "U*t", "--points", str(path), "--columns", "U=U [mV]", "--format", "csv"
    )
    assert result.code == 0 and "6" in result.out


def test_rows_that_are_left_out_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "lab.csv"
    path.write_text("x;y\n0;1,0\n1;\n2;3,5\nNA;4\n3;4,5\n", encoding="utf-8")
    data = ["--data", str(path)]
    refused = autodiff("fit", "y = a + b*x", *data)
    assert (
        refused.code == 2 and "line 3: column" in refused.err and "--on-error skip" in refused.err
    )
    kept = autodiff("fit", "y = a + b*x", *data, "--on-error", "skip", "--json")
    assert (
        kept.code == 0
        and "5 rows, and 2 of them are left out:" in kept.err
        and '"rows": 3' in kept.out
    )
    mean = autodiff("propagate", "x*y", *data, "--on-error", "skip", "--json")
    assert mean.code == 0 and "5 rows, and 2 of them are left out:" in mean.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n1;5,3\n", "`1;5` has a `;` in it, and columns are separated by `,` here"),
        ("x,y\n1,2\n12:30,3\n", "it is a time, not a number: `12:30`"),
        ("x,y\n1,2\n(5.2),3\n", "accounts write `-5.2` as `(5.2)`"),
        ("x,y\n1,2\n#DIV/0!,3\n", "`#DIV/0!` is a missing value"),
        ("x,y\n1,2\n0x1F,3\n", "numbers are decimal here, and `0x1F` is not"),
        (
            "x;y\n1,5;2\n1.5;2\n",
            "it is not written with a decimal comma, as the file begins: `1.5`",
        ),
        (
            "x;y\n1.5;2\n1,5;2\n",
            "it is not written with a decimal point, as the file begins: `1,5`",
        ),
    ],
)
@pytest.mark.parametrize("rows", [0, 30_000])
def test_cells_that_are_not_as_the_file_begins_are_errors_of_their_rows(
    tmp_path: Path, text: str, message: str, rows: int
):
    head, first, other, _ = text.split("\n")
    path = tmp_path / "late.csv"
    path.write_text("\n".join([head, *[first] * (rows + 1), other, ""]))
    result = autodiff("grad", "x*y", "--points", str(path), "--wide")
    head, *answers = result.out.splitlines()
    assert len(answers) == rows + 2 and result.code == 2
    assert all(line.endswith(",") for line in answers[:-1])
    assert f"line {rows + 3}: point: column `x`: " in answers[-1] and message in answers[-1]


def test_numbers_of_fortran(tmp_path: Path):
    (tmp_path / "run.dat").write_text("  T         E\n 0.100D+01 -2.5D-03\n 2.D0  .5d+1\n")
    _, columns = read(tmp_path / "run.dat")
    assert columns == {"T": [1.0, 2.0], "E": [-2.5e-3, 5.0]}


@pytest.mark.parametrize("row", ["[mm];[kN]", "(mm);(kN)", "mm;kN"])
def test_a_row_of_units_may_have_brackets(tmp_path: Path, row: str):
    (tmp_path / "u.csv").write_text(f"x;y\n{row}\n1,5;2\n")
    result = autodiff("grad", "x*y", "--points", str(tmp_path / "u.csv"), "--wide")
    assert result.out.splitlines()[0] == "value [mm·kN],d_x [kN],d_y [mm],error"


def test_a_name_that_no_column_has_is_answered_with_those_that_there_are(tmp_path: Path):
    (tmp_path / "c.csv").write_text("1.5,2.25\n2.5,3.25\n")
    result = autodiff("grad", "x*y", "--points", str(tmp_path / "c.csv"))
    assert "its columns are `c1`, `c2`: `--columns x=c1`" in result.err


def test_lines_may_end_in_carriage_returns(tmp_path: Path):
    rows = 30_000  # more than the first block
    (tmp_path / "mac.csv").write_bytes(b"x;y\r" + b"1,5;2,5\r" * rows + b"3;4")
    _, columns = read(tmp_path / "mac.csv")
    assert columns == {"x": [1.5] * rows + [3.0], "y": [2.5] * rows + [4.0]}
    (tmp_path / "wide.csv").write_bytes("x;y\r1,5;2,5\r".encode("utf-16"))
    file, columns = read(tmp_path / "wide.csv")
    assert (
        columns == {"x": [1.5], "y": [2.5]} and "lines that end in carriage returns" in file.summary
    )
    (tmp_path / "bad.csv").write_bytes(b"x,y\r1,2\r3,a\r")
    result = autodiff("grad", "x*y", "--points", str(tmp_path / "bad.csv"), "--wide")
    assert result.code == 2 and "line 3: point: column `y`" in result.out


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u202f"])
@pytest.mark.parametrize("separator", ["\t", ";", "|", "  "])
def test_a_blank_that_breaks_no_line_stands_between_thousands(
    tmp_path: Path, blank: str, separator: str
) -> None:
    numbers = {"t": [1.0, 2.0, 3.0], "U": [1299.99, 12400.5, 3600.0]}
    cells = [("1", f"1{blank}299,99"), ("2", f"12{blank}400,50"), ("3", f"3{blank}600")]
    path = tmp_path / "thin.txt"
    path.write_text(
        "\n".join(separator.join(row) for row in [("t", "U"), *cells]) + "\n", encoding="utf-8"
    )
    assert read(path)[1] == numbers
