"""`autodiff exercise`: problems to solve, their solutions, and whether an answer is right."""

import sys
from typing import Annotated

from ...exercises.exercise import COUNT, MOST, SEED, Marked
from ...exercises.marking import asked
from ...exercises.patterns import LEVELS
from ...views.characters import terminal_of
from ...views.exercise import ExerciseView
from ...views.formats import Asked, writer
from .. import options
from ..runner import Inputs

EXAMPLES = (
    "autodiff exercise --level 2 --count 3 --seed 7",
    'autodiff exercise --level 2 --seed 7 --check 6 --answer "2x*exp(-x/2) - x²*exp(-x/2)/2"',
    "autodiff exercise --level 4 --count 5 --solutions --output key.html",
)

NO = "no: the answer is wrong"
"""When the exit code is 1."""

WRONG = 1
"""The exit code where all is done and the answer is no."""

ABOUT = "; ".join(f"{level} {title}" for level, title in LEVELS.items())

ANSWERS = (
    options.Without.of("--file", "--on-error", "--decimals", "--digits"),
    options.formats(ExerciseView().formats, "by default table"),
)

Level = Annotated[
    int | None,
    options.Option(
        "--level", f"The level of difficulty, 1 by default: {ABOUT}.", "N", range=(1, max(LEVELS)), main=True
    ),
]
Count = Annotated[
    int | None,
    options.Option("--count", f"The number of exercises, {COUNT} by default.", "N", range=(1, MOST), main=True),
]
Seed = Annotated[
    int | None,
    options.Option(
        "--seed",
        f"The seed of the sheet, {SEED} by default: the same seed gives the same exercises.",
        "N",
        range=(0, 2**31),
        main=True,
    ),
]
Solutions = Annotated[bool, options.Option("--solutions", "Also print the answers, worked step by step.", main=True)]
Check = Annotated[
    int | None,
    options.Option(
        "--check",
        "Check `--answer` against exercise N of the sheet.",
        "N",
        range=(1, MOST),
        needs=("--answer",),
        conflicts=("--solutions", "--count"),
        main=True,
    ),
]
Answer = Annotated[
    str | None,
    options.Option(
        "--answer",
        "The answer: a formula, a number, or `x=3,y=1/2`.",
        "ANSWER",
        allowed_in_env=False,
        needs=("--check",),
        main=True,
    ),
]


def run(
    *,
    level: Level = None,
    count: Count = None,
    seed: Seed = None,
    solutions: Solutions = False,
    check: Check = None,
    answer: Answer = None,
    answers: Annotated[options.Answers, *ANSWERS],
    document: options.Document = False,
) -> int:
    """Set exercises in derivatives, and check answers.

    No two exercises of a sheet are alike. An answer is right if it is the same function, however it is written: its
    difference from the derivative simplifies to 0, or both agree to 30 digits wherever the derivative exists among 24
    points. The command exits with 1 if the answer is wrong.
    """
    inputs = Inputs.of(options.Program(""), answers, document)
    shown = ExerciseView(unicode=inputs.output is not None or terminal_of(sys.stdout).unicode)
    chosen = inputs.chosen(shown.formats)
    found = asked(level, count=count, seed=seed, solutions=solutions, check=check, answer=answer)
    file = inputs.out()
    entries = [found] if isinstance(found, Marked) or chosen not in ("jsonl", "csv", "tsv") else found.exercises
    out = writer(chosen, file.stream, shown, many=len(entries) > 1, document=document)
    for entry in entries:
        out.answer(Asked(None), entry)
    out.close()
    return file.finish(WRONG if isinstance(found, Marked) and not found.right else 0)
