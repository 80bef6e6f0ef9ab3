"""The options, each declared here once: a command's function lists those that it takes as the types of its parameters.

Options that neighbouring commands share stand together in a group, a tuple that is one parameter. A command that takes
such a group otherwise annotates it: `Annotated[Answers, formats(…), Without.of("--digits")]` has another `--format` in
the place of the group's, and no `--digits`. The declarations are plain data. `arguments` reads a command line by them,
and `cli` makes Typer's help and completion of them, so a call that needs neither does not load Typer, which would take
longer than everything else together.
"""

from collections.abc import Iterable
from typing import Annotated, NamedTuple

from ..views.characters import THEMES
from ..views.formats import COLUMNAR, USUAL
from ..views.numerals import rounding


class Option(NamedTuple):
    """An option: its type says whether it takes a value, and which; a range holds for whole numbers."""

    name: str
    help: str
    metavar: str = ""
    range: tuple[int, int] | None = None
    choices: tuple[str, ...] = ()
    main: bool = False
    """Whether it is one of the dozen of a command that its help explains first."""
    required: bool = False
    needs: tuple[str, ...] = ()
    """Options one of which has to be there too, whatever its value or with this one: `--data`, `--method adam`.

    Those that a command lacks do not count.
    """
    conflicts: tuple[str, ...] = ()
    """Options, written in the same way, that cannot be there too; it is enough that one of two says so."""
    yields_to: tuple[str, ...] = ()
    """Options that it leaves the choice to where it is a default in the environment, and may stand beside if typed."""
    allowed_in_env: bool = True
    """Whether it may be a default in the environment; none is that repeats, or that names a file."""
    reads_stdin: bool = False
    """Whether `-` as its value is standard input, which only one option can read."""
    value_syntax: str | None = None
    """Where its value consists of names: what follows a name in it."""
    value_names: str = "variables"
    """Which names those are: `VARIABLES`, `COLUMNS`, or `RENAMED`."""
    python_type: str | None = ""
    """The type of the keyword argument of the Python functions; "" as the value's here, None where they have none."""
    data_role: str | None = None
    """What the columns of the data are that its value names: `VARIABLES` or `DATA`; None where it names no data."""


class Without(NamedTuple):
    """Options that a command leaves out of a group."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, *names: str) -> "Without":
        """Without the options of these names."""
        return cls(names)


class Argument(NamedTuple):
    """An argument that is no option."""

    metavar: str
    help: str


VARIABLES, COLUMNS, RENAMED, DATA = "variables", "columns", "variables with their columns", "data"
"""What the value of an option names. Data of a formula are no variables of it."""


DEBUG = Option("--debug", "Show the traceback of an internal error.", python_type=None)
"""Every command has it, as the last one; no command sees it."""

WORK = Option("--work", "Raise the limit on computation N-fold.", "N", range=(1, 1_000_000))
"""Every command that answers programs has it; no command sees it."""


def formats(names: Iterable[str], otherwise: str = "table by default, jsonl for a stream") -> Option:
    """The option that chooses among formats; `otherwise` says which it is without it."""
    return Option(
        "--format",
        f"{', '.join(names)}; {otherwise}.",
        "NAME",
        choices=tuple(names),
        yields_to=("--json", "--output"),
        python_type=None,
        main=True,
    )


Expr = Annotated[
    str | None,
    Argument(
        "[EXPR]",
        "The formula or program. Without it, or with `-`, programs are read from standard input, one per line.",
    ),
]
ONE = Argument("[EXPR]", "The formula or program. `--file` reads it from a file.")
"""The program of a command that takes no stream."""

At = Annotated[
    list[str] | None,
    Option(
        "--at",
        "Values of the variables: `x=-2,y=pi/4`, or `@point.json`. Repeats.",
        "POINT",
        value_syntax="=",
        python_type="At",
        main=True,
    ),
]
Wrt = Annotated[
    list[str] | None,
    Option(
        "--wrt",
        "Differentiate only by these variables: `x,y`. Repeats.",
        "NAMES",
        value_syntax="",
        python_type="Names",
        main=True,
    ),
]
Lenient = Annotated[
    bool,
    Option("--lenient", "Accept informal notation where it is unambiguous: `2 x`, `ln x`, LaTeX."),
]
File = Annotated[
    str | None,
    Option(
        "--file", "Read one program, on one or more lines, from a file (`-`: standard input).", "PATH", reads_stdin=True
    ),
]
Format = Annotated[str | None, formats(USUAL)]
WithRows = formats(
    (*USUAL, "latex", *COLUMNAR), "table by default, jsonl for a stream; parquet and arrow for rows of data"
)
"""The formats of commands that answer rows of data."""
Json = Annotated[
    bool, Option("--json", "The short form of `--format json`.", yields_to=("--format", "--output"), python_type=None)
]
Digits = Annotated[
    int | None,
    Option(
        "--digits",
        "Significant digits shown in tables, 6 by default; machine formats always give all digits.",
        "N",
        range=(1, 17),
        conflicts=("--decimals",),
        main=True,
    ),
]
Depth = Annotated[
    int | None,
    Option("--depth", "The number of levels of the tree to draw. Default: as many as fit.", "N", range=(0, 1000)),
]
Decimals = Annotated[
    int | None,
    Option(
        "--decimals",
        "Digits shown after the decimal point, instead of `--digits`.",
        "N",
        range=(0, 17),
    ),
]
Direction = Annotated[
    list[str] | None,
    Option(
        "--direction",
        "Differentiate along this direction: `x=1,y=0.5`; components left out are 0. Repeats.",
        "VECTOR",
        value_syntax="=",
        needs=("--mode forward",),
        python_type="At",
        main=True,
    ),
]
Bounds = Annotated[
    list[str] | None,
    Option(
        "--bounds",
        "Keep the variables within these bounds: `x=0:1,y=:2`. Repeats.",
        "RANGES",
        value_syntax="=",
        python_type="Ranges",
        main=True,
    ),
]
SavePoint = Annotated[
    str | None,
    Option("--save-point", "Write the best point to a JSON file that `--at @PATH` reads back.", "PATH"),
]
Document = Annotated[
    bool,
    Option(
        "--document",
        "With LaTeX or TikZ: write a complete document that compiles.",
        allowed_in_env=False,
        python_type=None,
    ),
]
Binary = Annotated[bool, Option("--binary", "Draw `a + b + c` as two additions, as it is computed.")]
SavePath = Annotated[
    str | None,
    Option("--save-path", "Write the visited points to a jsonl file, which `plot --path` reads.", "PATH"),
]
Level = Annotated[
    float | None,
    Option("--level", "The confidence level of intervals and expanded uncertainties, 0.95 by default.", "P"),
]
Unknowns = Annotated[
    list[str] | None,
    Option(
        "--for",
        "The unknowns: `x,y`. Default: the variables without a value. A value in `--at` is then a starting value.",
        "NAMES",
        value_syntax="",
        python_type="Names",
        main=True,
    ),
]
Between = Annotated[
    list[str] | None,
    Option(
        "--between",
        "Search for the unknowns in these ranges: `0:1`, or `x=0:1,y=0:2`. Repeats.",
        "RANGES",
        value_syntax="=",
        python_type="Ranges | tuple[float, float]",
        main=True,
    ),
]
Sort = Annotated[bool, Option("--sort", "List the largest first.")]
NoTree = Annotated[bool, Option("--no-tree", "Do not show the tree.")]
NoTable = Annotated[bool, Option("--no-table", "Do not show the table.")]
Output = Annotated[
    str | None,
    Option(
        "--output", "Write to a file, in the format that its name ends in (`-`: standard output).", "PATH", main=True
    ),
]
Theme = Annotated[
    str | None,
    Option(
        "--theme", f"{', '.join(THEMES)}: the colours of pictures; auto follows the reader's.", "NAME", choices=THEMES
    ),
]
Force = Annotated[bool, Option("--force", "Overwrite an existing file.", allowed_in_env=False, python_type=None)]
Exact = Annotated[
    bool,
    Option(
        "--exact",
        "Compute in exact fractions; numbers in formulas and points are read as exact decimals.",
        conflicts=("--precision", "--certified"),
        main=True,
    ),
]
Precision = Annotated[
    int | None,
    Option(
        "--precision",
        "Compute with N significant digits; numbers in formulas are read as exact decimals.",
        "N",
        range=(1, 10_000),
        main=True,
    ),
]
Certified = Annotated[
    bool,
    Option(
        "--certified",
        "Show only digits that are proven: 17, or as many as `--precision` asks for. Needs the extra `certified`.",
        main=True,
    ),
]
PointsFile = Annotated[
    list[str] | None,
    Option(
        "--points",
        "Answer each row of data: csv, tsv, jsonl, Parquet or Arrow; a file, pattern, folder, `s3://…`, `-`. Repeats.",
        "PATH",
        data_role=VARIABLES,
        conflicts=("--data",),
        reads_stdin=True,
        main=True,
    ),
]
ROWS = ("--points", "--data")
InputFormat = Annotated[
    str | None,
    Option(
        "--input-format",
        "The format of the data, where neither file name nor content shows it.",
        "NAME",
        choices=("csv", "tsv", "jsonl", *COLUMNAR),
        needs=ROWS,
        python_type=None,
    ),
]
Columns = Annotated[
    list[str] | None,
    Option(
        "--columns",
        "Read variables from columns of other names: `x=temp,y=pressure`. Repeats.",
        "NAMES",
        value_syntax="=",
        value_names=RENAMED,
        needs=ROWS,
    ),
]
Keep = Annotated[
    list[str] | None,
    Option(
        "--keep",
        "Copy these columns of the data to the answers. Repeats.",
        "NAMES",
        value_syntax="",
        value_names=COLUMNS,
        needs=("--points",),
        conflicts=("--keep-all",),
    ),
]
KeepAll = Annotated[bool, Option("--keep-all", "Copy all columns of the data to the answers.", needs=("--points",))]
Wide = Annotated[
    bool,
    Option("--wide", "Write one line per row: value, derivatives, error, and the copied columns.", needs=("--points",)),
]
Backend = Annotated[
    str | None,
    Option(
        "--backend",
        "Compute rows with llvm, numpy, or python (row by row). Default: the fastest there is.",
        "NAME",
        choices=("llvm", "numpy", "python"),
        needs=ROWS,
        python_type=None,
    ),
]
Engine = Annotated[
    str | None,
    Option(
        "--engine",
        "Split the rows among Dask's workers, which write files into the folder `--output DIR/`: dask.",
        "NAME",
        choices=("dask",),
        needs=("--points",),
    ),
]
Scheduler = Annotated[
    str | None,
    Option(
        "--scheduler",
        "The address of the cluster's scheduler: `tcp://host:8786`. Default: processes on this machine.",
        "URL",
        needs=("--engine",),
        conflicts=("--workers",),
    ),
]
Workers = Annotated[
    int | None,
    Option(
        "--workers",
        "The number of worker processes on this machine. Default: one per core.",
        "N",
        range=(1, 1000),
        needs=("--engine",),
    ),
]
OnError = Annotated[
    str | None,
    Option(
        "--on-error",
        "On a bad line of a stream or row of data: skip (continue) or fail (stop; the default with `--data`).",
        "WHAT",
        choices=("skip", "fail"),
    ),
]
Spreadsheet = Annotated[
    bool,
    Option(
        "--spreadsheet",
        "In csv and tsv, put an apostrophe before ids and copied cells that a spreadsheet would read as formulas.",
        needs=("--points",),
    ),
]


REDUCTIONS = ("sum", "mean")
DataFiles = Annotated[
    list[str] | None,
    Option(
        "--data",
        "Evaluate the formula on every row of this data (as for `--points`), with the columns as values. Repeats.",
        "PATH",
        data_role=DATA,
        python_type="Table",
        needs=("--reduce",),
        reads_stdin=True,
        main=True,
    ),
]
Reduce = Annotated[
    str | None,
    Option(
        "--reduce",
        "Add up (`sum`) or average (`mean`) the values of all rows of `--data`.",
        "HOW",
        choices=REDUCTIONS,
        needs=("--data",),
        main=True,
    ),
]


class Program(NamedTuple):
    """Which program, where, by which variables it is differentiated, and how strictly it is read."""

    expr: Expr = None
    at: At = None
    wrt: Wrt = None
    lenient: Lenient = False


class Answers(NamedTuple):
    """Where else the program comes from, how its answer is shown, and where it goes."""

    file: File = None
    format: Format = None
    json: Json = False
    output: Output = None
    force: Force = False
    digits: Digits = None
    decimals: Decimals = None
    on_error: OnError = None

    @property
    def shown(self) -> int | None:
        """How many digits people are shown, as views take it. Raises a usage error where two options say it."""
        return rounding(self.digits, self.decimals)


class Saves(NamedTuple):
    """What a run or a search writes beside its answer."""

    save_point: SavePoint = None
    save_path: SavePath = None


class Numbers(NamedTuple):
    """In which arithmetic; the arguments of `questions.arithmetic.chosen`."""

    exact: Exact = False
    precision: Precision = None
    certified: Certified = False


class Rows(NamedTuple):
    """The rows of a data file as points."""

    points: PointsFile = None
    input_format: InputFormat = None
    columns: Columns = None
    keep: Keep = None
    keep_all: KeepAll = False
    wide: Wide = False
    backend: Backend = None
    spreadsheet: Spreadsheet = False
    engine: Engine = None
    scheduler: Scheduler = None
    workers: Workers = None


class Loss(NamedTuple):
    """The rows of data that a formula is reduced over to one number."""

    data: DataFiles = None
    reduce: Reduce = None
    input_format: InputFormat = None
    columns: Columns = None
    backend: Backend = None


SHARED = Without.of("--input-format", "--columns", "--backend")
"""What a command lacks of `Loss` that has it by `Rows`."""

TITLES: dict[type, str] = {
    Answers: "Programs and answers",
    Saves: "Files beside the answer",
    Numbers: "Numbers",
    Rows: "Data files",
    Loss: "Losses over data",
}
"""Under which titles help has groups; all other options stand under `Options`."""
