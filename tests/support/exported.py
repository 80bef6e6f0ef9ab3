"""Runs exported programs: each target's own runtime, as far as it is installed."""

from __future__ import annotations

import atexit
import ctypes
import json
import math
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import databases
from autodiff_cli.capabilities.export import export as export_module
from autodiff_cli.capabilities.export.export import Exported
from autodiff_cli.capabilities.export.export import export as plainly
from autodiff_cli.capabilities.formulas.guards import KinkNotes, program_kinks
from autodiff_cli.questions.problem import Program

Answer = tuple[float, list[float]]
Runner = Callable[[Exported, Sequence[float]], Answer]


@lru_cache(4)  # a program has many points, one after the other
def _loaded(source: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(source, "<exported>", "exec"), space)
    return space


def _module(exported: Exported) -> dict[str, Any]:
    return _loaded(exported.source)


def python(exported: Exported, point: Sequence[float]) -> Answer:
    value, partials = _module(exported)[exported.name](*point)
    return value, list(partials)


def numpy(exported: Exported, point: Sequence[float]) -> Answer:
    """Over an array of three equal points."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, partials = _module(exported)[exported.name](*[np.array([x, x, x]) for x in point])
    assert not point or all(np.shape(p) == (3,) for p in (value, *partials)), exported.source
    return float(np.ravel(value)[-1]), [float(np.ravel(p)[-1]) for p in partials]


def torch(exported: Exported, point: Sequence[float]) -> Answer:
    import torch as library

    value, partials = _module(exported)[exported.name](
        *[library.tensor([x, x], dtype=library.float64) for x in point]
    )
    first, *others = [
        x.ravel()[0] if isinstance(x, library.Tensor) else x for x in (value, *partials)
    ]
    return float(first), [float(x) for x in others]


def jax(exported: Exported, point: Sequence[float]) -> Answer:
    import jax as library

    library.config.update("jax_enable_x64", True)
    value, partials = _module(exported)[exported.name](*point)
    return float(value), [float(p) for p in partials]


def database(exported: Exported, point: Sequence[float]) -> Answer:
    assert exported.dialect is not None
    (value, *partials), *_ = databases.answers(exported.dialect, exported, [point])
    return _number(value), [_number(x) for x in partials[:-1]]


def _number(cell: float | None) -> float:
    return math.nan if cell is None else cell


NODE = """
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const [source, name, points] = JSON.parse(line);
  const run = new Function(`"use strict"; ${source}; return ${name};`)();
  const answers = points.map((point) => run(...point.map(Number)));
  console.log(JSON.stringify(answers.map(([value, partials]) => [value, ...partials].map(String))));
});
"""
"""A loop of Node: a program and points in, the answers out; numbers as text, for JSON has no
infinity.
"""


@cache
def _node() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        ["node", "-e", NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ended() -> None:
        process.communicate()

    atexit.register(ended)
    return process


def _in_node(exported: Exported, points: Sequence[Sequence[float]]) -> list[list[float]]:
    process = _node()
    assert process.stdin is not None and process.stdout is not None
    asked = [[repr(x) for x in point] for point in points]
    process.stdin.write(json.dumps([exported.source, exported.name, asked]) + "\n")
    process.stdin.flush()
    return [[float(x) for x in answer] for answer in json.loads(process.stdout.readline())]


def javascript(exported: Exported, point: Sequence[float]) -> Answer:
    [[value, *partials]] = _in_node(exported, [point])
    return value, partials


OCTAVE = """
sigterm_dumps_octave_core(false);
sighup_dumps_octave_core(false);
while ! isempty(line = input("", "s"))
  parts = strsplit(line, "\\t");
  addpath(parts{1});
  clear(parts{2});
  for k = 3:numel(parts)
    point = num2cell(sscanf(parts{k}, "%f")');
    try
      [value, gradient] = feval(parts{2}, point{:});
      printf("%.17g ", [value, gradient]);
    catch
      printf("NaN ");
    end
    printf("\\t");
  end
  printf("\\n");
  fflush(stdout);
  rmpath(parts{1});
end
"""
R = """
input <- file("stdin", "r")
while (length(line <- readLines(input, 1))) {
  parts <- strsplit(line, "\\t")[[1]]
  space <- new.env()
  source(file.path(parts[1], paste0(parts[2], ".m")), local = space)
  for (text in parts[-(1:2)]) {
    point <- if (text == "-") list() else as.list(scan(text = text, quiet = TRUE))
    answer <- tryCatch(suppressWarnings(do.call(space[[parts[2]]], point)), error = function(e) list(value = NaN))
    cat(sprintf("%.17g ", unlist(answer)), "\\t", sep = "")
  }
  cat("\\n")
  flush(stdout())
}
"""
"""Loops of Octave and R: a folder, the name of a function in a file there, and points in, the
answers out; a point of no numbers is a dash.
"""


@cache
def _interpreter(name: str) -> subprocess.Popen[str]:
    command = (
        ["octave", "--no-gui", "-q", "--norc", "--eval", OCTAVE]
        if name == "octave"
        else ["Rscript", "-e", R]
    )
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    atexit.register(process.communicate)
    return process


def interpreted(
    name: str, exported: Exported, points: Sequence[Sequence[float]]
) -> list[list[float]]:
    """The answers of Octave or R; not a number where there was an error."""
    process = _interpreter(name)
    assert process.stdin is not None and process.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{exported.name}.m").write_text(exported.source, encoding="utf-8")
        asked = [" ".join(map(repr, point)) or "-" for point in points]
        process.stdin.write("\t".join([folder, exported.name, *asked]) + "\n")
        process.stdin.flush()
        answers = process.stdout.readline().split("\t")[: len(points)]
    count = 1 + len(exported.wanted)
    rows = [[float(x) for x in answer.split()] for answer in answers]
    assert len(rows) == len(points), (answers, exported.source)
    return [row if len(row) == count else [math.nan] * count for row in rows]


def octave(exported: Exported, point: Sequence[float]) -> Answer:
    ((value, *partials),) = interpreted("octave", exported, [point])
    return value, partials


def in_r(exported: Exported, point: Sequence[float]) -> Answer:
    ((value, *partials),) = interpreted("Rscript", exported, [point])
    return value, partials


FLAGS = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1")


def compiled(
    programs: Sequence[Exported], folder: Path, flags: Sequence[str] = FLAGS
) -> list[Runner]:
    """The C functions, all in one library; without a warning."""
    files = []
    for k, exported in enumerate(programs):
        files.append(folder / f"{k}.c")
        files[-1].write_text(exported.source, encoding="utf-8")
    library = folder / "all.so"
    done = subprocess.run(
        ["gcc", *flags, "-shared", "-fPIC", "-o", str(library), *map(str, files), "-lm"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    loaded = ctypes.CDLL(str(library))

    def runner(exported: Exported) -> Runner:
        function = getattr(loaded, exported.name)
        function.restype = ctypes.c_double

        def run(exported: Exported, point: Sequence[float]) -> Answer:
            gradient = (ctypes.c_double * max(1, len(exported.wanted)))()
            value = function(*map(ctypes.c_double, point), gradient)
            return value, list(gradient)[: len(exported.wanted)]

        return run

    return [runner(exported) for exported in programs]


def _rows(columns: Sequence[Any], count: int) -> list[list[float]]:
    """The results at each point, from an array of each result; a constant may be a number."""
    import numpy as np

    arrays = [np.broadcast_to(np.asarray(column, dtype=float), (count,)) for column in columns]
    return [[float(array[k]) for array in arrays] for k in range(count)]


def at_points(
    runtime: str, exported: Exported, points: Sequence[Sequence[float]]
) -> list[list[float] | None]:
    """Value and partials at each point, None where plain Python raises an error; others take all
    points at once.
    """
    to, _ = RUNNERS[runtime]
    if to == "python":
        function = _module(exported)[exported.name]
        found: list[list[float] | None] = []
        for point in points:
            try:
                value, partials = function(*point)
                found.append([value, *partials])
            except (ValueError, ArithmeticError):
                found.append(None)
        return found
    if to == "javascript":
        return [*_in_node(exported, points)]
    if to in ("matlab", "r"):
        return [*interpreted(runtime, exported, points)]
    if to.startswith("sql"):
        return [
            [_number(x) for x in row[:-1]] for row in databases.answers(runtime, exported, points)
        ]
    import numpy as np

    columns: list[Any] = [np.array(column) for column in zip(*points, strict=True)]
    if to == "torch":
        import torch as library

        library.set_num_threads(1)
        columns = [library.tensor(column) for column in columns]
    if to == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, partials = _module(exported)[exported.name](*columns)
    return [*_rows((value, *partials), len(points))]


def export(text: str, to: str, **options: Any) -> Exported:
    """The program in a language; in a dialect of SQL that is `sql:sqlite`.

    Where its derivative is conventional, which its comments say, depends on the text alone and
    takes half of the time: it is found once for all languages.
    """
    language, _, dialect = to.partition(":")

    def kinks(program: Program, names: Sequence[str]) -> KinkNotes:
        key = text, tuple(names), repr(options)
        if key not in _KINKS:
            _KINKS[key] = program_kinks(program, names)
        return _KINKS[key]

    with patch.object(export_module, "program_kinks", kinks):
        return plainly(text, language, dialect=dialect or None, **options)


_KINKS: dict[tuple[str, tuple[str, ...], str], KinkNotes] = {}


RUNNERS: dict[str, tuple[str, Runner]] = {
    name: (to, runner)
    for name, to, runner in (
        ("python", "python", python),
        ("node", "javascript", javascript),
        ("numpy", "numpy", numpy),
        ("torch", "torch", torch),
        ("jax", "jax", jax),
        ("octave", "matlab", octave),
        ("Rscript", "r", in_r),
        *[(name, f"sql:{name}", database) for name in ("sqlite", "duckdb")],
    )
    if name in ("python", "sqlite")
    or (shutil.which(name) if name in ("node", "octave", "Rscript") else find_spec(name))
}
"""By the name of the runtime: the target, and what runs it."""

__all__ = ["FLAGS", "RUNNERS", "at_points", "compiled", "export"]
