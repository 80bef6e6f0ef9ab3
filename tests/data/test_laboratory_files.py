"""Tests of tables as instruments and laboratories write them: what is header, units and
readings.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autodiff_cli.data import readers, sources
from running import autodiff

FILES = {
    "a pure number in the row of units": (
        "t,x,n\ns,m,1\n1,2,1\n2,4.1,1\n3,6.2,1\n",
        "x = a*t + b",
        2.1,
    ),
    "a time scale in the row of units": ("x,t,p\n1,UTC,m\n35,1,3\n35.4,2,4\n", "x = a", 35.2),
    "a scale of CF": ("n,x\nm,1e-3\n1,2\n2,3\n3,4\n", "x = a", 3.0),
    "units of CF": ("v\tT\tn\nm s-1\tdegree_C\t1\n1\t20\t2\n2\t30\t4\n", "n = a", 3.0),
    "a word among readings": ("x,t,p\n1,overflow,3\n35,1,3\n35.4,2,4\n", "x = a", 71.4 / 3),
    "a title above a commented header": (
        "# cooling, 3 May\n# t  T\n1 2\n2 4.1\n3 6.2\n",
        "T = a*t + b",
        2.1,
    ),
    "units in a second comment": ("# t T\n# s K\n1 2\n2 4.1\n3 6.2\n", "T = a*t + b", 2.1),
    "a comma more in each row": ("t,x\n1,2,\n2,4.1,\n3,6.2,\n", "x = a*t + b", 2.1),
    "a semicolon more in each row": ("t;x\ns;m\n1;2,0;\n2;4,1;\n3;6,2;\n", "x = a*t + b", 2.1),
    "a tab at the end of each line": ("t\tx\t\n1\t2\t\n2\t4.1\t\n3\t6.2\t\n", "x = a*t + b", 2.1),
    "a tab more in each row": ("t\tx\ty\n1\t2\t2\t\n2\t\t4.1\t\n3\t1\t6.2\t\n", "y = a*t + b", 2.1),
    "an empty cell between tabs": ("t\tx\ty\n1\t2\t2\n2\t\t4.1\n3\t1\t6.2\n", "y = a*t + b", 2.1),
}


def fitted(folder: Path, text: str, formula: str) -> float:
    (folder / "data.txt").write_text(text)
    answer = autodiff("fit", formula, "--data", str(folder / "data.txt"), "--in", "none", "--json")
    return float(json.loads(answer.out)["parameters"]["a"])


@pytest.mark.parametrize(("text", "formula", "right"), FILES.values(), ids=FILES)
def test_readings_are_told_from_header_and_units(
    tmp_path: Path, text: str, formula: str, right: float
) -> None:
    assert fitted(tmp_path, text, formula) == pytest.approx(right, rel=1e-9)


@pytest.mark.parametrize("cell", ["e", "12/05", "05/12", "-e"])
def test_a_code_or_a_day_is_no_number(tmp_path: Path, cell: str) -> None:
    (tmp_path / "data.csv").write_text(f"t,x\n1,2\n2,{cell}\n3,6.2\n")
    answer = autodiff("fit", "x = a*t + b", "--data", str(tmp_path / "data.csv"))
    assert answer.code == 2
    assert f"`({cell})`" in answer.err


INSTRUMENTS = {
    # a column of a file, its first and last number, and what is said
    "Rigol DS1000Z": ("X,CH1,Start,Increment,\nSequence,Volt,-3.0e-05,1.0e-07,\n0,-4.0e-02,\n1,-3.0e-02,\n2,1e-2,\n",
                      "c2", (-0.04, 0.01), "lines 1 to 2 left out"),
    "Rigol DS1000E": ("X,CH1,\nSecond,Volt,\n-3.0e-05,-4.0e-02,\n-2.0e-5,-3.0e-02,\n", "CH1", (-0.04, -0.03), "units"),
    "Tektronix MSO": ("Model,MSO58\nWaveform Type,ANALOG\nHorizontal Units,s\nSample Interval,1e-09\n\nTIME,CH1\n"
                      "-1e-09,1.5\n0,2\n1e-9,2.5\n", "CH1", (1.5, 2.5), "lines 1 to 5 left out"),
    "LabVIEW": ("LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\nDecimal_Separator\t,\nX_Columns\tNo\n"
                "Time\t17:18:18,938945\n***End_of_Header***\t\n\t\nChannels\t2\nSamples\t3\t3\nX0\t0,0E+0\t0,0E+0\n"
                "***End_of_Header***\nX_Value\tUntitled\tUntitled 1\tComment\n\t0,25\t0,055544\n\t0,5\t0,0543\n"
                "\t0,75\t0,0552\n", "Untitled", (0.25, 0.75), "decimal comma, lines 1 to 12 left out"),
    "EC-Lab": ("EC-Lab ASCII FILE\r\nNb header lines : 9\r\n\r\nCyclic Voltammetry\r\n\r\nRun on channel : 1\r\n"
               "Ei (V)              0.000\r\nvs.                 Eoc\r\nmode\ttime/s\tEwe/V\t<I>/mA\t\r\n"
               "2\t4.0E+000\t5.0E-001\t1.0E-002\r\n2\t5.0E+000\t6.0E-001\t2.0E-002\r\n",
               "<I>/mA", (0.01, 0.02), "lines 1 to 8 left out, units in the header"),
    "Keysight": ("x-axis,1,2\nsecond,Volt,Volt\n-5e-05,0.01,0.02\n-4e-5,0.02,0.04\n", "1", (0.01, 0.02), "units in"),
    "Campbell": ('"TOA5","CR1000","CR1000","1","CR1000.Std.21","CPU:p.CR1","1","T"\n"TIMESTAMP","RECORD","T","RH"\n'
                 '"TS","RN","Deg C","%"\n"","","Avg","Smp"\n"2010-01-01 00:00:00",0,12.3,45\n'
                 '"2010-01-01 00:10:00",1,12.7,46\n',
                 "T", (12.3, 12.7), "line 1 left out, units in line 3, line 4 left out"),
    "Quantum Design": ("[Header]\nTITLE,M\n[Data]\nComment,Time (sec),Temperature (K)\n,1.0,300.0\n,2.0,299.0\n",
                       "Temperature (K)", (300.0, 299.0), "lines 1 to 3 left out"),
    "Zwick": ("Datum;3.5.2024\n\nDehnung;Kraft\n%;N\n0,5;1,5\n1,0;2,5\n", "Kraft", (1.5, 2.5), "units in line 4"),
    "Origin": ("Time\tU\ns\tV\n\tChannel 1\n0\t1\n1\t2\n", "U", (1.0, 2.0), "units in line 2, line 3 left out"),
    "CHI": ("Oct. 4, 2010   12:00:00\nCyclic Voltammetry\n\nInit E (V) = 0\n\nPotential/V, Current/A\n\n0.000, 1.2e-6\n"
            "0.001, 1.3e-6\n", "Current/A", (1.2e-6, 1.3e-6), "lines 1 to 5 left out"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "column", "right", "said"), INSTRUMENTS.values(), ids=INSTRUMENTS)
def test_tables_of_instruments_begin_where_they_do(
    tmp_path: Path, text: str, column: str, right: tuple[float, float], said: str
) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(text.encode())
    for more in ([], ["--backend", "numpy"]):
        answer = autodiff(
            "grad",
            "2*y",
            "--points",
            str(path),
            "--columns",
            f"y={column}",
            "--wide",
            "--in",
            "none",
            *more,
        )
        rows = answer.out.splitlines()
        assert answer.code == 0 and said in answer.err
        assert (float(rows[1].split(",")[0]), float(rows[-1].split(",")[0])) == (
            2 * right[0],
            2 * right[1],
        )


UNCERTAIN = {
    # the first readings stand beside the settings
    "Tektronix TDS": ("Record Length,2.5e+03,Points,-0.005,0.04,\nTrigger,Auto,,-0.004,0.05,\n,,,-0.003,0.06,\n"
                      ",,,-0.002,0.07,\n", ["--header", "none"], "c5", [0.04, 0.05, 0.06, 0.07]),
    "Vernier": ("Vernier Format 2\nRun 1\nTime\tPotential\nt\tV\ns\tV\n0\t1.2\n1\t2.2\n",
                ["--skip", "3"], "V", [1.2, 2.2]),
    "R": ('"x" "y"\n"1" 0.5 2\n"2" 1.5 3\n', ["--skip", "1"], "c3", [2.0, 3.0]),
    "a corner": ("\t450\t500\nA1\t1\t2\nA2\t3\t4\n", ["--header", "first"], "500", [2.0, 4.0]),
    "lines of a spectrum": ("A,656.8,1.5\nB,486.1,2.5\n", ["--header", "none"], "c2", [656.8, 486.1]),
    "wavelengths": ("t,450,500\n0,1,2\n1,3,4\n", ["--header", "first"], "500", [2.0, 4.0]),
    "Cary": ("a,,b,,\nWavelength (nm),Abs,Wavelength (nm),Abs,\n800.0,0.01,800.0,0.02,\n799,0.03,799,0.04,\n",
             ["--skip", "2", "--header", "none"], "c4", [0.02, 0.04]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "option", "column", "right"), UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_is_uncertain_is_refused_with_the_option_that_reads_it(
    tmp_path: Path, text: str, option: list[str], column: str, right: list[float]
) -> None:
    path = tmp_path / "data.txt"
    path.write_text(text)
    asked = [
        "grad",
        "2*y",
        "--points",
        str(path),
        "--columns",
        f"y={column}",
        "--wide",
        "--in",
        "none",
    ]
    refused = autodiff(*asked)
    assert refused.code == 2 and not refused.out and " ".join(option) in refused.err
    answer = autodiff(*asked, *option)
    assert [float(row.split(",")[0]) for row in answer.out.splitlines()[1:]] == [
        2 * x for x in right
    ]


@pytest.mark.parametrize("backend", [[], ["--backend", "numpy"]])
@pytest.mark.parametrize("name", ["data.csv", "data.jsonl", "data.parquet"])
def test_marks_of_missing_values(tmp_path: Path, name: str, backend: list[str]) -> None:
    path = tmp_path / name
    numbers = [1.0, -999.0, 9.9e37, 4.0]
    if name.endswith("csv"):
        path.write_text("x\n1\n-999.00\n9.9E+37\n4\n")
    elif name.endswith("jsonl"):
        path.write_text("".join(f'{{"x": {x}}}\n' for x in numbers))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        parquet.write_table(pa.table({"x": numbers}), path)
    answer = autodiff(
        "grad", "x**2", "--points", str(path), "--missing", "-999, 9.9E+37", "--wide", *backend
    )
    rows = answer.out.splitlines()
    assert answer.code == 2 and rows[1].startswith("1.0,2.0,") and rows[4].startswith("16.0,8.0,")
    assert "is a missing value" in rows[2] and "is a missing value" in rows[3]
    marks = ["--missing", "-999", "--missing", "9.9E+37"]
    fit = autodiff("fit", "x = a", "--data", str(path), *marks, "--on-error", "skip", "--json")
    assert json.loads(fit.out)["parameters"]["a"] == 2.5
    assert json.loads(fit.out)["rows"] == 2


ROWS_OF_UNITS = {
    # a header, the row below it, the first reading, and the units of its columns
    "t,x|UTC,m|1.5,2": {"t": "UTC", "x": "m"},
    "t,x|UTC,1|1.5,2": {"t": "UTC", "x": "1"},
    "t,x,n|UTC,m,1|2020-01-01T00:00:00Z,2,3": {"t": "UTC", "x": "m", "n": "1"},
    "t,U|hh:mm:ss,V|10:00:00,1.5": {"t": "hh:mm:ss", "U": "V"},
    "t,U|YYYY-MM-DD,V|2020-01-01,1.5": {"t": "YYYY-MM-DD", "U": "V"},
    "s,v|1e-3,m s-1|1,2": {"s": "1", "v": "m s^-1"},
    "lat,lon,T|degrees_north,degrees_east,degree_C|1,2,3": {"lat": "°", "lon": "°", "T": "°C"},
    "r,n|%,-|1,2": {"r": "%", "n": "-"},
    "n,U|n/a,V|1,2": {"U": "V"},
    "n,U|nan,V|1,2": {"U": "V"},
    "n,t|counts,s|1,2": {"n": "counts", "t": "s"},
    "S,z|PSU,m|1,2": {"S": "PSU", "z": "m"},
    "a,U|foo,V|1,2": {"a": "foo", "U": "V"},
    "T,h|°C,%rF|1,2": {"T": "°C", "h": "%rF"},
    "h,U|% RH,V|1,2": {"h": "% RH", "U": "V"},
    "t,F|(sec),(N)|1,2": {"t": "s", "F": "N"},
    "t,F|(s),(foo)|1,2": {"t": "s", "F": "foo"},
    "t,T|# s,K|1,2": {"t": "s", "T": "K"},
    "X,CH1,Start|Sequence,Volt,-6e-4|0,1.2,": {"X": "Sequence", "CH1": "V"},
    "no,day,x|5s,20d,14n|1,2020-01-01,3": {},
    "\tPt\tVf\tOver|\t#\tV vs. Ref.\tbits|\t0\t0.5\t...........": {
        "Pt": "#",
        "Vf": "V",
        "Over": "bits",
    },
    "#YY  MM WDIR VIS|#yr  mo degT nmi|2020 01 120  MM": {
        "YY": "yr",
        "MM": "mo",
        "WDIR": "°",
        "VIS": "nmi",
    },
}


def read(path: Path) -> tuple[dict[str, str], list[list[object]]]:
    (source,) = sources.sources([str(path)])
    with readers.reader(source) as file:
        return dict(file.units), [[*cells.values()] for _, cells, _ in file.rows()]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(("lines", "units"), ROWS_OF_UNITS.items(), ids=ROWS_OF_UNITS)
def test_a_row_of_units_is_no_reading(
    tmp_path: Path, lines: str, units: dict[str, str], separator: str
) -> None:
    own = lines if "\t" in lines or "  " in lines else lines.replace(",", separator)
    header, below, first = own.split("|")
    (tmp_path / "data.txt").write_text("\n".join([header, below, first, first, ""]))
    found, rows = read(tmp_path / "data.txt")
    assert found == units
    assert len(rows) == 2


READINGS = [
    "a,b,c|1,overflow,3", "a,b|1,1", "a,b|1e-3,1", "a,b|foo,overflow", "a,b|-,-",
    "day,rain|2020-01-01,T", "Station,Seattle|Time,V",
]  # fmt: skip


@pytest.mark.parametrize("lines", READINGS)
def test_a_reading_is_no_row_of_units(tmp_path: Path, lines: str) -> None:
    count = lines.partition("|")[0].count(",")
    (tmp_path / "data.txt").write_text(
        "\n".join([*lines.split("|"), "1" + ",2" * count, "3" + ",4" * count, ""])
    )
    units, rows = read(tmp_path / "data.txt")
    assert not units and len(rows) == 3


def test_an_unknown_unit_is_a_label_beside_known_ones(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("t,x\nfoo,mm\n1,2\n2,4\n3,6\n")
    answer = autodiff("grad", "x**2*t", "--points", str(tmp_path / "data.csv"), "--wide")
    assert answer.out.splitlines()[:2] == ["value [mm²],d_x [mm],d_t [mm²],error", "4.0,4.0,4.0,"]
    assert "`foo` in the heading of `t` is taken as a label" in answer.err
