"""`autodiff exercise`: problems, solutions, and the marking of answers."""

from ...exercises.exercise import Marked
from ...exercises.marking import sheet_or_mark
from ...views.exercise import ExerciseView
from ..runner import Command, write_entries
from . import EXIT_NO


def run(call: Command) -> int:
    """Set exercises in derivatives, and check answers."""
    shown = ExerciseView(unicode=call.unicode)
    chosen = call.choose_format(shown.formats)
    sheet = sheet_or_mark(**call.arguments(sheet_or_mark))
    entries = [sheet] if isinstance(sheet, Marked) or chosen not in ("jsonl", "csv", "tsv") else sheet.exercises
    code = EXIT_NO if isinstance(sheet, Marked) and not sheet.right else 0
    return write_entries(call, shown, entries, code, chosen)
