"""Exercises in LaTeX, and the formulas of their sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...engine.graphs.value import Value
from ...errors import ExpressionError
from ...language.typesetting import expression_latex, name_latex, text_latex
from ...questions.parse_point import split
from ...questions.problem import parse
from ..formulas.derivation import latex as steps_latex
from ..trace.trace_latex import page as trace_page
from .exercise import Exercise, Sheet

# Blank space for a solution.
ROOM = r"\par\vspace{3cm}"
NAME_LINE = r"\noindent Name: \underline{\hspace{7cm}}\par\medskip"
_PAIR = re.compile(r"\(([^()]*,[^()]*)\)")


def statements_latex(exercise: Exercise) -> list[str]:
    """Return each statement of the program."""

    def left(side: str | Value) -> str:
        return expression_latex(side) if isinstance(side, Value) else _head(side)

    return [f"{left(name)} = {expression_latex(graph)}" for name, graph in exercise.statements]


def _head(name: str) -> str:
    called, mark, rest = name.partition("(")
    inside = ", ".join(name_latex(argument.strip()) for argument in rest.rstrip(")").split(","))
    return f"{name_latex(called)}({inside})" if mark else name_latex(name)


def formulas_latex(text: str) -> tuple[list[str], bool] | None:
    """Return the formulas and equations of a list, and whether it is in parentheses; None if it is
    none of formulas.
    """
    pair = _PAIR.fullmatch(text)
    try:
        parts = [
            " = ".join(
                expression_latex(parse(side).outputs[0]) for side in part.strip().split(" = ")
            )
            for part in split(pair[1] if pair else text)
        ]
    except ExpressionError:
        return None
    return parts, pair is not None


def sheet_latex(answer: Sheet | Exercise, heading: str, solved: bool) -> str:
    """Return a sheet, with a line for the pupil's name if it is not `solved`, or an exercise."""
    lines = []
    exercises: tuple[Exercise, ...]
    if isinstance(answer, Sheet):
        lines = [rf"\section*{{{text_latex(heading)}}}", *([] if solved else [NAME_LINE])]
        exercises = answer.exercises
    else:
        exercises = (answer,)
    return "\n".join([*lines, *(line for exercise in exercises for line in _exercise(exercise))])


def _exercise(exercise: Exercise) -> Iterator[str]:
    yield rf"\paragraph{{{exercise.number}.}} {sentence_latex(exercise.task, exercise)}"
    if exercise.solution is None:
        yield ROOM
        return
    derived, traced = exercise.solution.derived, exercise.solution.traced
    if derived is not None:
        yield steps_latex(derived.derivations)
    if traced is not None:
        yield ""
        yield trace_page(traced)
    for line in exercise.solution.lines:
        yield rf"\par\noindent {sentence_latex(line)}."
    yield rf"\par\noindent\textbf{{Answer:}} {sentence_latex(f'`{exercise.answer_line}`')}."


def sentence_latex(text: str, exercise: Exercise | None = None) -> str:
    """Return a sentence, with the program of an exercise for `{f}`, and the formulas in
    backticks.
    """
    if exercise is not None and "{f}" in text:
        before, _, after = text.partition("{f}")
        return (
            sentence_latex(before)
            + "$"
            + ",\\ ".join(statements_latex(exercise))
            + "$"
            + sentence_latex(after)
        )
    return written_sentence(text, text_latex, _formula)


def written_sentence(text: str, words: Callable[[str], str], formulas: Callable[[str], str]) -> str:
    """Return a sentence whose parts in backticks are written by `formulas`, and all others by
    `words`.
    """
    pieces = enumerate(text.split("`"))
    return "".join([formulas(piece) if k % 2 else words(piece) for k, piece in pieces])


def _formula(text: str) -> str:
    found = formulas_latex(text)
    if found is None:
        return rf"\texttt{{{text_latex(text)}}}"
    parts, in_parentheses = found
    written = r",\ ".join(parts)
    return f"$({written})$" if in_parentheses else rf"$\displaystyle {written}$"
