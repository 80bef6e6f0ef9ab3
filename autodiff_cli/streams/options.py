"""The options, each declared here once: a command's function lists those that it takes as the types of its parameters.

Options that neighbouring commands share stand together in a group, a tuple that is one parameter. The declarations are
plain data. `arguments` reads a command line by them, and `cli` makes Typer's help and completion of them, so a call
that needs neither does not load Typer, which would take longer than everything else together.
"""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from ..views.formats import FORMATS


class Option(NamedTuple):
    """An option: its type says whether it takes a value, and which; a range holds for whole numbers."""

    name: str
    help: str
    metavar: str = ""
    range: tuple[int, int] | None = None
    choices: tuple[str, ...] = ()


class Argument(NamedTuple):
    """An argument that is no option."""

    metavar: str
    help: str


DEBUG = Option("--debug", "Show the traceback of an internal error.")
"""Every command has it, as the last one; no command sees it."""


def formats(names: Iterable[str], otherwise: str = "table by default, jsonl for a stream") -> Option:
    """The option that chooses among formats; `otherwise` says which it is without it."""
    return Option("--format", f"{', '.join(names)}; {otherwise}.", "NAME", choices=tuple(names))


Expr = Annotated[
    str | None,
    Argument("[EXPR]", "The formula or program; `-`, or none, reads programs from standard input, one a line."),
]
OneExpr = Annotated[
    str | None, Argument("[EXPR]", "The formula or program; one program in a file is read by `--file`.")
]
At = Annotated[
    list[str] | None, Option("--at", "Values of the variables: `x=-2,y=pi/4`, or `@point.json`. Repeats.", "POINT")
]
Wrt = Annotated[list[str] | None, Option("--wrt", "Differentiate only by these variables: `x,y`. Repeats.", "NAMES")]
File = Annotated[
    str | None, Option("--file", "Read one program, over many lines, from a file (`-`: standard input).", "PATH")
]
Format = Annotated[str | None, formats(FORMATS)]
Json = Annotated[bool, Option("--json", "The short form of `--format json`.")]
Digits = Annotated[
    int | None,
    Option(
        "--digits", "Significant digits for people, 6 by default; machine formats always give all.", "N", range=(1, 17)
    ),
]
Depth = Annotated[
    int | None, Option("--depth", "How many levels of the tree to draw; by default, what fits.", "N", range=(0, 1000))
]
Decimals = Annotated[
    int | None, Option("--decimals", "Digits after the point for people, instead of `--digits`.", "N", range=(0, 17))
]
SavePoint = Annotated[
    str | None, Option("--save-point", "Write the best point to a JSON file that `--at @PATH` reads back.", "PATH")
]
Binary = Annotated[bool, Option("--binary", "Draw `a + b + c` as it is computed: two at a time.")]
NoTree = Annotated[bool, Option("--no-tree", "Leave out the tree.")]
NoTable = Annotated[bool, Option("--no-table", "Leave out the table.")]
Output = Annotated[str | None, Option("--output", "Write to a file (`-`: standard output).", "PATH")]
Force = Annotated[bool, Option("--force", "Write over a file that is there.")]
Exact = Annotated[bool, Option("--exact", "Compute in exact fractions; literals and points are read as decimals.")]
Precision = Annotated[
    int | None,
    Option("--precision", "Compute with so many digits; literals are read as decimals.", "N", range=(1, 10_000)),
]
Certified = Annotated[
    bool,
    Option(
        "--certified", "Show proven digits only: 17, or as many as `--precision` says. Needs the extra `certified`."
    ),
]
Work = Annotated[
    int | None,
    Option(
        "--work", "Allow `--precision` and `--certified` N times the usual work.", "N",
        range=(1, 1000),
    ),
]  # fmt: skip
PointsFile = Annotated[
    str | None,
    Option(
        "--points",
        "One answer a row of a data file (csv, tsv or jsonl; `-`: standard input), its header names.",
        "PATH",
    ),
]
Keep = Annotated[
    list[str] | None, Option("--keep", "Carry these columns of the data along into the answers. Repeats.", "NAMES")
]
OnError = Annotated[
    str | None,
    Option(
        "--on-error",
        "A bad row of the data: skip (go on, the default), or fail (stop).",
        "WHAT",
        choices=("skip", "fail"),
    ),
]
Spreadsheet = Annotated[
    bool,
    Option("--spreadsheet", "In csv and tsv, an apostrophe before ids and kept cells that would be formulas there."),
]


class Program(NamedTuple):
    """Which program, where, and by which variables it is differentiated."""

    expr: Expr = None
    at: At = None
    wrt: Wrt = None


class Answers(NamedTuple):
    """Where else the program comes from, and how its answer is shown."""

    file: File = None
    format: Format = None
    json: Json = False
    digits: Digits = None


class Numbers(NamedTuple):
    """In which arithmetic; the arguments of `questions.arithmetic.chosen`."""

    exact: Exact = False
    precision: Precision = None
    certified: Certified = False
    work: Work = None


class Rows(NamedTuple):
    """The rows of a data file as points."""

    points: PointsFile = None
    keep: Keep = None
    on_error: OnError = None
    spreadsheet: Spreadsheet = False
