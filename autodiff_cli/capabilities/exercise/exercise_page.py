"""Sheets of exercises as pages, with their formulas in MathML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...language.mathml import APPLY, NAMESPACE, TIMES, mathml
from ...show.rendering import escaped_html, web_file
from ..formulas.derivation import Derivation, derivative_name, typeset_steps
from ..trace.trace import Trace
from ..trace.trace_latex import ACCUMULATES, sections
from .exercise import Exercise, Marked, Sheet
from .exercise_latex import formulas_latex, statements_latex, written_sentence

NAME_LINE = '<p class="name">Name: <span></span></p>\n'


def sheet_page(answer: Sheet | Exercise | Marked, heading: str, solved: bool) -> str:
    """Return a page for screens and print, with a line for the pupil's name if it is not
    `solved`.
    """
    if isinstance(answer, Marked):
        body = f"<p>{_sentence(answer.message)}</p>"
    else:
        exercises = answer.exercises if isinstance(answer, Sheet) else (answer,)
        items = "".join(
            [f'<li value="{each.number}">{_exercise(each)}</li>\n' for each in exercises]
        )
        body = f"{'' if solved else NAME_LINE}<ol>\n{items}</ol>"
    return web_file("exercises.html", heading=escaped_html(heading), body=body)


def _exercise(exercise: Exercise) -> str:
    program = "; ".join(map(_statement, statements_latex(exercise)))
    before, found, after = exercise.task.partition("{f}")
    words = f"{_sentence(before)}{program if found else ''}{_sentence(after)}"
    if exercise.solution is None:
        return f'{words}<section class="room"></section>'
    return f"{words}<section>{''.join(_solution(exercise))}</section>"


def _statement(statement: str) -> str:
    head, _, _ = statement.partition(" = ")
    # a name before its variables is a function, and no factor
    return (
        _math(statement).replace(TIMES, APPLY, 1)
        if head.endswith(")") and head[0].isalpha()
        else _math(statement)
    )


def _solution(exercise: Exercise) -> Iterator[str]:
    assert exercise.solution is not None
    derived, traced = exercise.solution.derived, exercise.solution.traced
    if derived is not None:
        yield from _derivations(derived.derivations)
    if traced is not None:
        yield from _trace(traced)
    for line in exercise.solution.lines:
        yield f"<p>{_sentence(line)}</p>\n"
    yield f"<p><b>answer: </b>{_formulas(exercise.answer_line)}</p>"


def _trace(traced: Trace) -> Iterator[str]:
    for title, rows in sections(traced):
        yield f'<p><b>{escaped_html(title)}</b></p>\n<table class="trace">\n'
        for first, *cells in rows:
            # in MathML the signs of `+=` stand together
            left, sign = (
                first.removesuffix(ACCUMULATES),
                "+=" if first.endswith(ACCUMULATES) else "=",
            )
            shown = [left, f"{sign} {cells[0]}", *[f"= {cell}" for cell in cells[1:]]]
            row = "".join([f"<td>{_math(cell)}</td>" for cell in shown])
            yield f"<tr>{row.replace('<mo>+</mo><mo>=</mo>', '<mo>+=</mo>')}</tr>\n"
        yield "</table>\n"


def _derivations(derivations: Sequence[Derivation]) -> Iterator[str]:
    for derivation, steps in zip(derivations, typeset_steps(derivations), strict=True):
        if len(derivations) > 1:
            yield f"<p><b>{escaped_html(derivative_name(derivation.by))}</b></p>\n"
        yield '<table class="steps">\n'
        for step in steps:
            condition = (
                f'<span class="when">({_math(step.condition)})</span>' if step.condition else ""
            )
            cells = (
                _math(step.part),
                f"{_math(f'= {step.result}')}{condition}",
                escaped_html(step.title),
            )
            yield "<tr>" + "".join([f"<td>{cell}</td>" for cell in cells]) + "</tr>\n"
        yield "</table>\n"


def _sentence(text: str) -> str:
    return written_sentence(text, escaped_html, _formulas)


def _formulas(text: str) -> str:
    found = formulas_latex(text)
    if found is None:
        return f"<code>{escaped_html(text)}</code>"
    parts, in_parentheses = found
    if in_parentheses:
        return _math(f"({','.join(parts)})")
    return ", ".join(map(_math, parts))


def _math(latex: str) -> str:
    # in HTML an element needs no namespace
    return mathml(latex, tall=True).replace(f' xmlns="{NAMESPACE}"', "", 1)
