"""What a search has found: counts, and findings with all that is needed to ask again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

KEPT = 5
"""Findings of a sort that are kept, if it is not a fault."""


class Report:
    """Counts by what they count, and findings, which go to a file as they come."""

    def __init__(self, kind: str, seed: int, file: Path | None = None) -> None:
        self.kind = kind
        self.seed = seed
        self.formula = 0
        self.counts: Counter[str] = Counter()
        self.faults: list[dict[str, Any]] = []
        self.started = perf_counter()
        self._samples: Counter[str] = Counter()
        self._file = file

    def count(self, what: str, times: int = 1) -> None:
        """Count something."""
        self.counts[what] += times

    def fault(self, sort: str, found: Mapping[str, Any]) -> None:
        """Keep a fault of the program."""
        self.count(f"FAULT: {sort}")
        record = self._record(sort, found)
        self.faults.append(record)
        self._write(record)

    def sample(self, sort: str, found: Mapping[str, Any]) -> None:
        """Count something that may be right, and keep the first ones of its sort."""
        template = re.sub(r"-?\d[\d.,]*(?:e[+-]?\d+)?", "#", re.sub(r"`[^`]*`", "`…`", sort))
        self.count(template)
        self._samples[template] += 1
        if self._samples[template] <= KEPT:
            self._write(self._record(template, found))

    def _record(self, sort: str, found: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "sort": sort,
            "kind": self.kind,
            "seed": self.seed,
            "formula": self.formula,
            **found,
        }

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record, ensure_ascii=False) + "\n")

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        seconds = perf_counter() - self.started
        points = self.counts["points"]
        rate = points / max(seconds, 1e-9)
        yield f"kind {self.kind}, seed {self.seed}: {seconds:,.0f} s, {rate:,.0f} points a second"
        for what, times in sorted(self.counts.items()):
            yield f"{times:>12,}  {what}"
        for fault in self.faults:
            yield json.dumps(fault, ensure_ascii=False)
