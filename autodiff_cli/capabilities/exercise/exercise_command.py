"""How `exercise` runs."""

from __future__ import annotations

from ...cli.commands import EXIT_NO
from ...cli.runner import Command, write_entries
from .exercise import Marked


def run(call: Command) -> int:
    """Set exercises in derivatives, and check answers."""
    chosen = call.choose_format()
    sheet = call.question(**call.arguments(call.question))
    if isinstance(sheet, Marked):
        return write_entries(call, [sheet], chosen, 0 if sheet.right else EXIT_NO)
    is_split = chosen in ("jsonl", "csv", "tsv")
    return write_entries(call, sheet.exercises if is_split else [sheet], chosen)
