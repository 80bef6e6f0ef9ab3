"""Runs the benchmarks and prints them as tables, then as one line of JSON.

python tests/benchmarks/run.py [--small] [--only startup|growth|stream]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import growth
import startup

SMALL = {shape: [100, 1000] for shape in growth.SHAPES}
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
        *([f"{value:,}" if not isinstance(value, str) else value for value in row.values()] for row in rows),
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
    parser = argparse.ArgumentParser(description="Start-up time, and time and memory over growing formulas.")
    parser.add_argument("--small", action="store_true", help="a few seconds, to see that the benchmarks still run")
    parser.add_argument("--only", choices=["startup", "growth", "stream"], help="one of the three")
    options = parser.parse_args()
    benchmarks: dict[str, Callable[[], list[dict[str, object]]]] = {
        "startup": lambda: startup.measure(rounds=2 if options.small else 21),
        "growth": lambda: growth.measure(SMALL if options.small else FULL),
        "stream": lambda: growth.stream([100, 1000] if options.small else [10**3, 10**4, 10**5]),
    }
    results: dict[str, list[dict[str, object]]] = {}
    for name, measure in benchmarks.items():
        if options.only in {None, name}:
            results[name] = measure()
            print(table(results[name]), end="\n\n", flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
