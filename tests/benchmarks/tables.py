"""Value and all partial derivatives at millions of rows: beside compiled exports, and from file to
file beside engines.

Computing alone is measured on columns that stay in the processor's cache, from Parquet to Parquet
as a process of its own, start and compilation included. All is CPU time, of all threads; the ways
take turns, and results are compared.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BLACK_SCHOLES = """d1 = (log(S/K) + (r + v**2/2)*T)/(v*sqrt(T)); \
d2 = d1 - v*sqrt(T); N(x) = {}; S*N(d1) - K*exp(-r*T)*N(d2)"""
FORMULAS: dict[str, tuple[str, dict[str, tuple[float, float]]]] = {
    "Black–Scholes": (
        BLACK_SCHOLES.format("(1 + erf(x/sqrt(2)))/2"),
        {"S": (50, 150), "K": (50, 150), "r": (0.01, 0.05), "v": (0.1, 0.5), "T": (0.1, 2)},
    ),
    "polynomial": ("3*x**5 - 2*x**4 + x**3*y - 7*x**2 + 4*x*y**2 - y", {"x": (-2, 2), "y": (-2, 2)}),
    "neuron": (
        "tanh(w1*x1 + w2*x2 + b)", {"w1": (-2, 2), "x1": (-2, 2), "w2": (-2, 2), "x2": (-2, 2), "b": (-1, 1)},
    ),
    "haversine": (
        "a = sin((p2 - p1)/2)**2 + cos(p1)*cos(p2)*sin((l2 - l1)/2)**2; 2*6371*asin(sqrt(a))",
        {"p1": (-1, 0), "p2": (0.1, 1), "l1": (-3, 0), "l2": (0.1, 3)},
    ),
}  # fmt: skip
IN_FILES = FORMULAS | {
    # Polars has no error function: a logistic curve stands for the normal distribution, in all ways
    # alike
    "Black–Scholes": (
        BLACK_SCHOLES.format("(1 + tanh(0.7988*x + 0.03528*x**3))/2"), FORMULAS["Black–Scholes"][1],
    ),
}  # fmt: skip
IN_CACHE = 1 << 16

Way = Callable[[Sequence[Any]], Sequence[Any]]


def _order(text: str) -> list[str]:
    """The variables, as the program has them."""
    from autodiff_cli.questions.problem import parse

    return list(parse(text).variables)


def _source(text: str, names: Sequence[str], to: str) -> str:
    from autodiff_cli.capabilities.export.export import export

    return export(text, to, wrt=names).source


# ---- computing alone ----------------------------------------------------------------------------------------------
def _kernel(text: str, names: Sequence[str], backend: str) -> Way:
    import numpy as np

    from autodiff_cli.compiled import kernels
    from autodiff_cli.compiled.evaluator import gradient_recorder
    from autodiff_cli.questions.problem import parse

    program = parse(text)
    made = kernels.kernel(gradient_recorder(program, names), len(names), frozenset(), backend)
    assert made.backend == backend and made.compute is not None
    results, flags = np.empty((1 + len(names), IN_CACHE)), np.empty(IN_CACHE, bool)

    def run(columns: Sequence[Any]) -> Sequence[Any]:
        made.compute(columns, results, flags)  # type: ignore[misc]
        assert not flags.any()
        return list(results)

    return run


def _scalar(text: str, names: Sequence[str]) -> Way:
    """LLVM without the vector functions of the C library."""
    from autodiff_cli.compiled import kernels

    before, has = kernels._symbols, kernels._symbols()
    kernels._symbols = lambda: lambda name: not name.startswith("_ZGV") and has(name)  # type: ignore[assignment]
    try:
        return _kernel(text, names, "llvm")
    finally:
        kernels._symbols = before


def _exported(text: str, names: Sequence[str], to: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(_source(text, names, to), space)
    return space["f"]  # type: ignore[no-any-return]


def _numpy(text: str, names: Sequence[str]) -> Way:
    function = _exported(text, names, "numpy")
    order = _order(text)

    def run(columns: Sequence[Any]) -> Sequence[Any]:
        given = dict(zip(names, columns, strict=True))
        value, partials = function(*[given[name] for name in order])
        return [value, *partials]

    return run


def _numba(text: str, names: Sequence[str]) -> Way:
    import numba
    import numpy as np

    source = _source(text, names, "python")
    order = _order(text)
    space: dict[str, Any] = {}
    exec(source, space)
    for name, each in list(space.items()):
        if callable(each) and name.startswith("ad_"):
            space[name] = numba.njit(each)
    space["f"] = numba.njit(space["f"])
    listed = ", ".join(f"c[{k}][i]" for k in range(len(order)))
    exec(
        f"def loop(c, out):\n    for i in range(c.shape[1]):\n        v, p = f({listed})\n       "
        " out[0, i] = v\n"
        + "".join(f"        out[{k + 1}, i] = p[{k}]\n" for k in range(len(names))),
        space,
    )
    loop = numba.njit(space["loop"])
    out = np.empty((1 + len(names), IN_CACHE))
    held: list[Any] = []

    def run(columns: Sequence[Any]) -> Sequence[Any]:
        if not held:
            given = dict(zip(names, columns, strict=True))
            held.append(np.array([given[name] for name in order]))
        loop(held[0], out)
        return list(out)

    return run


def _jax(text: str, names: Sequence[str]) -> Way:
    import jax

    jax.config.update("jax_enable_x64", True)
    function = jax.jit(_exported(text, names, "jax"))
    order = _order(text)

    def run(columns: Sequence[Any]) -> Sequence[Any]:
        given = dict(zip(names, columns, strict=True))
        value, partials = jax.block_until_ready(function(*[given[name] for name in order]))
        return [value, *partials]

    return run


WAYS: dict[str, Callable[[str, Sequence[str]], Way]] = {
    "LLVM": lambda text, names: _kernel(text, names, "llvm"),
    "LLVM, scalar functions": _scalar,
    "NumPy in blocks": lambda text, names: _kernel(text, names, "numpy"),
    "exported NumPy": _numpy,
    **({"exported Python, numba": _numba} if find_spec("numba") else {}),
    **({"exported JAX, compiled": _jax} if find_spec("jax") else {}),
}


def computing(rows: int, rounds: int, *, small: bool = False) -> list[dict[str, object]]:
    """One row a way: million rows a CPU-second of each formula, their geometric mean, and how much
    ours is of that.

    `small` leaves out what takes long to compile.
    """
    import numpy as np

    ways = {
        way: make for way, make in WAYS.items() if not small or ", " not in way or "LLVM" in way
    }

    rng = np.random.default_rng(1)
    times = max(1, rows // IN_CACHE)
    found: dict[str, list[float]] = {way: [] for way in ways}
    for text, ranges in FORMULAS.values():
        names = list(ranges)
        columns = [rng.uniform(low, high, IN_CACHE) for low, high in ranges.values()]
        order = _order(text)
        given = [columns[names.index(name)] for name in order]
        ready = {way: make(text, order) for way, make in ways.items()}
        answers = {way: [np.asarray(each) for each in run(given)] for way, run in ready.items()}
        for answer in answers.values():
            for mine, theirs in zip(answers["LLVM"], answer, strict=True):
                np.testing.assert_allclose(
                    mine, np.broadcast_to(theirs, mine.shape), rtol=1e-9, atol=1e-9
                )
        taken: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, run in ready.items():
                begin = time.process_time()
                for _ in range(times):
                    run(given)
                taken[way].append((time.process_time() - begin) / times / IN_CACHE)
        for way, each in taken.items():
            found[way].append(1e-6 / max(statistics.median(each), 1e-12))
    return _shown(found, "million rows a CPU-second", larger=True)


def _shown(
    found: dict[str, list[float]],
    unit: str,
    *,
    larger: bool,
    names: Sequence[str] = tuple(FORMULAS),
) -> list[dict[str, object]]:
    means = {way: math.exp(statistics.fmean(map(math.log, each))) for way, each in found.items()}
    ours = next(iter(means.values()))
    return [
        {
            unit: way,
            **{name: round(x, 2) for name, x in zip(names, found[way], strict=True)},
            "mean": round(mean, 2),
            "ours is": round(ours / mean if larger else mean / ours, 2),
        }
        for way, mean in means.items()
    ]


# ---- from file to file --------------------------------------------------------------------------------------------
BATCH = 1 << 17


def _by_autodiff(text: str, names: Sequence[str], given: str, out: str) -> None:
    from autodiff_cli.__main__ import main

    sys.argv[1:] = ["grad", text, "--points", given, "--output", out, "--wide"]
    assert main() == 0


def _row_by_row(text: str, names: Sequence[str], given: str, out: str) -> None:
    from autodiff_cli.__main__ import main

    sys.argv[1:] = [
        "grad",
        text,
        "--points",
        given,
        "--output",
        out,
        "--wide",
        "--backend",
        "python",
    ]
    assert main() == 0


def _by_numpy(source: str, names: Sequence[str], given: str, out: str) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    space: dict[str, Any] = {}
    exec(source, space)
    titles = ["value", *[f"d_{name}" for name in names]]
    writer: Any = None
    text = given.endswith(".csv")
    file = (
        csv.open_csv(given)
        if text
        else parquet.ParquetFile(given).iter_batches(BATCH, columns=list(names))
    )
    for batch in file:
        value, partials = space["f"](*[batch.column(name).to_numpy() for name in names])
        table = pa.table(dict(zip(titles, (value, *partials), strict=True)))
        if writer is None and text:
            writer = csv.CSVWriter(out, table.schema)
        elif writer is None:
            writer = parquet.ParquetWriter(
                out, table.schema, compression="lz4", use_dictionary=False
            )
        writer.write_table(table)
    writer.close()


def _by_duckdb(source: str, names: Sequence[str], given: str, out: str) -> None:
    import duckdb

    query = (
        "\n".join(line for line in source.splitlines() if not line.startswith("--"))
        .strip()
        .rstrip(";")
    )
    connection = duckdb.connect()
    text = given.endswith(".csv")
    connection.execute(
        f"create view points as select * from read_{'csv' if text else 'parquet'}('{given}')"
    )
    connection.execute(
        f"copy ({query}) to '{out}' (format {'csv' if text else 'parquet, compression lz4'})"
    )


def _by_polars(source: str, names: Sequence[str], given: str, out: str) -> None:
    import polars as pl

    class Expressions:
        """What exported Python calls, on expressions."""

        def __getattr__(self, name: str) -> Any:
            own = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)
            return lambda x: getattr(x, own)()

    space: dict[str, Any] = {"math": Expressions()}
    exec(source.replace("import math\n", ""), space)
    value, partials = space["f"](*[pl.col(name) for name in names])
    titles = ["value", *[f"d_{name}" for name in names]]
    asked = [x.alias(title) for title, x in zip(titles, (value, *partials), strict=True)]
    if given.endswith(".csv"):
        pl.scan_csv(given).select(asked).sink_csv(out)
    else:
        pl.scan_parquet(given).select(asked).sink_parquet(out, compression="lz4")


ENGINES: dict[str, tuple[str, Callable[[str, Sequence[str], str, str], None]]] = {
    "autodiff": ("", _by_autodiff),
    "exported NumPy": ("numpy", _by_numpy),
    **({"DuckDB, exported SQL": ("sql", _by_duckdb)} if find_spec("duckdb") else {}),
    **({"Polars, expressions": ("python", _by_polars)} if find_spec("polars") else {}),
}
"""What each is given, and how it runs: the formula, or what was exported from it beforehand."""

ROW_BY_ROW = "autodiff, row by row"
"""Of csv only, and of so much less of it that it ends."""

LESS = 20


def _made(path: Path, ranges: dict[str, tuple[float, float]], rows: int) -> None:
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(1)
    writer: Any = None
    for start in range(0, rows, 1_000_000):
        count = min(1_000_000, rows - start)
        table = pa.table(
            {name: rng.uniform(low, high, count) for name, (low, high) in ranges.items()}
        )
        if writer is None and path.suffix == ".csv":
            writer = csv.CSVWriter(path, table.schema)
        elif writer is None:
            writer = parquet.ParquetWriter(
                path, table.schema, compression="lz4", use_dictionary=False
            )
        writer.write_table(table)
    writer.close()


def _child(args: Sequence[str], compiled: Path) -> tuple[float, float]:
    """CPU-seconds of a process of this module, and the most memory that it says it had, in MB.

    Modules are `compiled` once into a folder, as those of an installed program are.
    """
    reading, writing = os.pipe()
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    pid = os.posix_spawn(
        sys.executable, [sys.executable, __file__, *args], environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_CLOSE, reading)],
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as told:
        most = told.read()
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{args} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, int(most) / 1024


def _most_memory() -> int:
    """The most memory that this process had since it began to run, in kB; 0 where the system does
    not say.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def files(
    rows: int, rounds: int, names: Sequence[str] = tuple(IN_FILES), *, kind: str = "parquet"
) -> list[dict[str, object]]:  # fmt: skip
    """One row a way: CPU-seconds from file to file of a kind, and the most memory of all
    formulas.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    def read(path: Path) -> pa.Table:
        return csv.read_csv(path) if kind == "csv" else parquet.read_table(path)

    engines = ENGINES | ({ROW_BY_ROW: ("", _row_by_row)} if kind == "csv" else {})
    ways = list(engines)
    found: dict[str, list[float]] = {way: [] for way in ways}
    memory = dict.fromkeys(ways, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            text, ranges = IN_FILES[name]
            order = _order(text)
            programs = {
                way: _source(text, order, to) if to else text for way, (to, _) in engines.items()
            }
            given, fewer, out = (Path(folder, f"{each}.{kind}") for each in ("in", "fewer", "out"))
            _made(given, ranges, rows)
            _made(fewer, ranges, rows // LESS)
            taken: dict[str, list[float]] = {way: [] for way in ways}
            sums: dict[str, Any] = {}
            for turn in range(rounds + 1):
                for way in ways:
                    less = way == ROW_BY_ROW
                    out.unlink(missing_ok=True)
                    seconds, most = _child(
                        [
                            way,
                            programs[way],
                            ",".join(order),
                            str(fewer if less else given),
                            str(out),
                        ],
                        Path(folder, "compiled"),
                    )
                    # the first turn compiles modules
                    taken[way] += [seconds * (LESS if less else 1)] * bool(turn)
                    memory[way] = max(memory[way], most)
                    if way not in sums and not less:
                        table = read(out)
                        named = ["value", *[f"d_{each}" for each in ranges]]
                        sums[way] = [np.sum(table.column(each).to_numpy()) for each in named]
            for each in sums.values():
                np.testing.assert_allclose(each, sums["autodiff"], rtol=1e-6, atol=1e-3)
            for way, each in taken.items():
                found[way].append(statistics.median(each))
    shown = _shown(found, f"CPU-seconds from {kind} to {kind}", larger=False, names=names)
    return [{**row, "MB": round(memory[way])} for row, way in zip(shown, ways, strict=True)]


if __name__ == "__main__":
    _, asked_way, asked_program, asked_names, asked_given, asked_out = sys.argv
    run = _row_by_row if asked_way == ROW_BY_ROW else ENGINES[asked_way][1]
    run(asked_program, asked_names.split(","), asked_given, asked_out)
    print(_most_memory())
