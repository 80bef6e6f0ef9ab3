"""The kinds of search, by name: each draws one formula, file or command line and adds what it finds
to a report.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from . import batches, digits, hostile_lines, integrals
from .report import Report

KINDS: dict[str, Callable[[Random, Report], None]] = {
    "digits": digits.digits,
    "second": digits.second,
    "rows": batches.rows,
    "integrals": integrals.integrals,
    "hostile": hostile_lines.hostile,
}
