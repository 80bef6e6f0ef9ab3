"""A session of exercises: question, answer, score."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

from ...cli.commands import EXIT_NO
from ...engine.numbers.budget import use_budget
from ...errors import ExpressionError, limit_error, plural
from ...questions import decoding
from ...show.characters import escaped, terminal_of
from ...show.document import Block, Paragraph
from ...show.error import report
from ...show.rendering import ScreenText
from ...streams.requests import lines, standard_input
from .exercise import Exercise, Sheet
from .exercise_view import ExerciseView, answer_line, task
from .sheet_marks import mark_exercise

PROMPT = "> "
# Answers to an exercise, after which the right one is shown.
MAX_TRIES = 3
ENDS = ("quit", "exit", ":quit", ":q")

# Reads the next line. Raises `EOFError` at the end, or `KeyboardInterrupt`.
Reader = Callable[[], str]


def ask(sheet: Sheet, view: ExerciseView) -> int:
    """Ask for the answers of a sheet; return the exit code, 0 if all are right."""
    screen = ScreenText(terminal_of(sys.stdout))
    read = _reader()

    def write(*blocks: Block) -> None:
        sys.stdout.write(screen.render(blocks))
        sys.stdout.flush()

    write(Paragraph(((sheet.heading, "heading"),)))
    right = at_once = 0
    try:
        for exercise in sheet.exercises:
            write(Paragraph((("", ""),)), _question(exercise, view))
            tries = _tries(exercise, read, view, write)
            right += tries > 0
            at_once += tries == 1
    except (EOFError, KeyboardInterrupt):
        sys.stdout.write("\n")
    first = f", {at_once} of them at once" if at_once < right else ""
    count = len(sheet.exercises)
    write(
        Paragraph((("", ""),)),
        Paragraph(((f"{right} of {plural(count, 'exercise')} right{first}", "heading"),)),
    )
    return 0 if right == count else EXIT_NO


def _question(exercise: Exercise, view: ExerciseView) -> Block:
    return Paragraph(((f"{exercise.number}. ", "heading"), *task(exercise, view.unicode)))


def _tries(exercise: Exercise, read: Reader, view: ExerciseView, write: Callable[..., None]) -> int:
    """Return at which try the answer was right; 0 if at none. Raises `EOFError` where a person
    ends.
    """
    tries = 0
    while tries < MAX_TRIES:
        text = ""
        try:
            text = read().strip()
            if text.lower() in ENDS:
                raise EOFError
            if not text:
                break
            with use_budget():
                marked = mark_exercise(exercise, text)
        except ExpressionError as error:
            # what cannot be read is no try
            report(error.diagnostic, error.text or text)
            continue
        tries += 1
        if marked.right:
            write(Paragraph((("right", "heading"),)))
            return tries
        write(*view.document(marked))
    write(Paragraph((("the answer: ", "heading"), (answer_line(exercise, view.unicode), "number"))))
    return 0


def _reader() -> Reader:
    """Return what reads answers: a person's, or those of a pipe, which are shown behind the
    prompt.
    """
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  so that a line can be edited

        return lambda: input(PROMPT)
    source, encoding = enumerate(lines(standard_input())), terminal_of(sys.stdout).encoding

    def read() -> str:
        sys.stdout.write(PROMPT)
        for number, data in source:
            if data is None:
                raise limit_error(
                    f"the line is longer than {decoding.MAX_BYTES:,} bytes",
                    "write a shorter answer",
                )
            text, error = decoding.decode(data.removesuffix(b"\r"), first=number == 0)
            sys.stdout.write(f"{escaped(text, encoding)}\n")
            if error is not None:
                error.text = text
                raise error
            return text
        raise EOFError

    return read
