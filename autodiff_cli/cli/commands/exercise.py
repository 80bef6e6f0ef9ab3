"""`autodiff exercise`: problems to solve, their solutions, and whether an answer is right."""

import sys

from ...exercises.exercise import Marked
from ...exercises.marking import asked
from ...views.characters import terminal_of
from ...views.exercise import ExerciseView
from ...views.formats import Asked, writer
from .. import options
from ..runner import Inputs

WRONG = 1
"""The exit code where all is done and the answer is no."""


def run(
    *,
    level: int | None = None,
    count: int | None = None,
    seed: int | None = None,
    solutions: bool = False,
    check: int | None = None,
    answer: str | None = None,
    answers: options.Answers,
    document: bool = False,
) -> int:
    """Set exercises in derivatives, and check answers; return the exit code."""
    inputs = Inputs.of(options.Program(""), answers, document)
    shown = ExerciseView(unicode=inputs.output is not None or terminal_of(sys.stdout).unicode)
    chosen = inputs.chosen(shown.formats)
    sheet = asked(level, count=count, seed=seed, solutions=solutions, check=check, answer=answer)
    file = inputs.out()
    entries = [sheet] if isinstance(sheet, Marked) or chosen not in ("jsonl", "csv", "tsv") else sheet.exercises
    out = writer(chosen, file.stream, shown, many=len(entries) > 1, document=document)
    for entry in entries:
        out.answer(Asked(None), entry)
    out.close()
    return file.finish(WRONG if isinstance(sheet, Marked) and not sheet.right else 0)
