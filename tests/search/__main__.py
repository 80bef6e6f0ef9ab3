"""The command line of the search."""

from __future__ import annotations

import argparse
import sys
from itertools import count
from pathlib import Path
from random import Random
from time import perf_counter

from .kinds import KINDS
from .report import Report

PROGRESS = 60.0
"""Seconds between two lines of progress."""


def main() -> int:
    """Search, print the report, and return 1 if there are faults."""
    kinds = "\n".join(
        f"  {name}: {(kind.__doc__ or '').splitlines()[0]}" for name, kind in KINDS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m tests.search",
        description=f"{__doc__}\n\nkinds:\n{kinds}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--kind", choices=KINDS, default="digits", help="what is searched (default: digits)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="the same seed draws the same (default: 1)"
    )
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first formula, to ask one again"
    )
    parser.add_argument("--count", type=int, help="how many formulas, if that comes first")
    parser.add_argument(
        "--report", type=Path, help="a file that gets each finding as a line of JSON"
    )
    options = parser.parse_args()
    report = Report(options.kind, options.seed, options.report)
    ends, told = report.started + 60 * options.minutes, report.started
    for number in (
        count(options.first)
        if options.count is None
        else range(options.first, options.first + options.count)
    ):
        now = perf_counter()
        if now > ends:
            break
        if now - told > PROGRESS:
            told = now
            print(
                f"{report.counts['points']:,} points, {len(report.faults):,} faults",
                file=sys.stderr,
                flush=True,
            )
        report.formula = number
        KINDS[options.kind](Random(f"{options.kind}/{options.seed}/{number}"), report)
    print("\n".join(report.lines()))
    return int(bool(report.faults))


if __name__ == "__main__":
    sys.exit(main())
