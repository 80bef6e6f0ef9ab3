"""Runs the benchmarks and prints them as tables, then as one line of JSON.

python tests/benchmarks/run.py [--small] [--only NAME]

The names are startup, peers, rows, computing, files, texts, engine, training, growth, stream,
evaluations, formulas, lengths, descent, fits and losses.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import descent
import engine
import evaluations
import fits
import formulas
import growth
import lengths
import losses
import peers
import startup
import tables

import rows

CHAINS = [10**3, 10**4, 10**5, 10**6]
SMALL = {shape: [100] for shape in growth.SHAPES}
FULL = {
    "sum": [10**2, 10**3, 10**4, 10**5, 10**6],
    "product": [10**2, 10**3, 10**4, 10**5],
    "parentheses": [10**2, 10**3, 10**4, 10**5],
    "negations": [10**2, 10**3, 10**4, 10**5],
    "bindings": [10**2, 10**3, 10**4, 10**5],
    "powers": [10**2, 10**3, 10**4, 10**5],
}


def table(rows: list[dict[str, object]]) -> str:
    """Rows of the same keys as aligned columns under their names."""
    cells = [
        list(rows[0]),
        *(
            [f"{value:,}" if not isinstance(value, str) else value for value in row.values()]
            for row in rows
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def main() -> None:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=(
            "Time and memory of everything that is meant to be fast, beside other programs that are"
            " installed."
        )
    )
    parser.add_argument(
        "--small", action="store_true", help="a few seconds, to see that the benchmarks still run"
    )
    parser.add_argument("--only", metavar="NAME", help="one of them")
    options = parser.parse_args()
    benchmarks: dict[str, Callable[[], list[dict[str, object]]]] = {
        "startup": lambda: startup.measure(rounds=2 if options.small else 21),
        "peers": lambda: (
            peers.measure(20, 1, 0.05, quick=True) if options.small else peers.measure(2000, 7)
        ),
        "rows": lambda: rows.measure(50, 1) if options.small else rows.measure(4000, 5),
        "computing": lambda: (
            tables.computing(2**17, 1, small=True) if options.small else tables.computing(10**7, 5)
        ),
        "files": lambda: (
            tables.files(10**4, 1, ["polynomial"]) if options.small else tables.files(10**7, 3)
        ),
        "texts": lambda: tables.files(
            *((10**4, 1, ["polynomial"]) if options.small else (10**6, 3)), kind="csv"
        ),
        "engine": lambda: (
            engine.measure(1000, [10**3], 1) if options.small else engine.measure(10**5, CHAINS, 5)
        ),
        "training": lambda: (
            engine.measure_training(1, 1, engine.FEW)
            if options.small
            else engine.measure_training(5, 5)
        ),
        "growth": lambda: growth.measure(SMALL if options.small else FULL),
        "stream": lambda: growth.stream([100, 1000] if options.small else [10**3, 10**4, 10**5]),
        "evaluations": lambda: evaluations.measure(rounds=1 if options.small else 7),
        "formulas": lambda: formulas.measure([10, 40] if options.small else [10, 100, 1000, 4000]),
        "lengths": lambda: lengths.measure(5 if options.small else 300),
        "descent": lambda: descent.measure(
            100 if options.small else 4000, rounds=1 if options.small else 5
        ),
        "fits": lambda: fits.measure(small=options.small),
        "losses": lambda: (
            losses.measure(500, 3, 1) if options.small else losses.measure(10_000, 100, 5)
        ),
    }
    if options.only not in {None, *benchmarks}:
        parser.error(f"there is no {options.only}; there are {', '.join(benchmarks)}")
    results: dict[str, list[dict[str, object]]] = {}
    for name, measure in benchmarks.items():
        if options.only in {None, name}:
            results[name] = measure()
            print(table(results[name]), end="\n\n", flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
