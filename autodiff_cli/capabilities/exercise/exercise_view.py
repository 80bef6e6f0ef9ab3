"""The views of exercises and their answers."""

import re
from collections.abc import Iterator
from typing import ClassVar, TypeAlias

from ...errors import ExpressionError
from ...language.printer import expression_text
from ...language.typesetting import expression_latex, name_latex, text_latex
from ...questions.parse_point import split
from ...questions.problem import parse
from ...show.characters import Terminal
from ...show.document import Block, Paragraph, Pieces, Room, plain_text, sentence, text_line
from ...show.mathematics import mathematics
from ...show.schema import OutputRow, View, cells_of, read_declaration
from ...show.tex import page as trace_page
from ..formulas.derivation import latex as steps_latex
from ..formulas.diff_view import derivation_blocks, derivation_record
from ..trace.trace_view import TraceView
from .exercise import Exercise, Marked, Sheet

LATEX_ROOM = r"\par\vspace{3cm}"
"""Blank space for a solution, in LaTeX."""
ROOM_LINES = 6
"""Lines of blank space for a solution, in text and Markdown."""
_SIGN = re.compile(r"(?<![\w)])-(?=[\d.])")
_PAIR = re.compile(r"\(([^()]*,[^()]*)\)")

EXERCISE, COLUMNS, *_ = read_declaration(
    Exercise,
    {
        "task": lambda exercise: plain_text(task(exercise)),
        "asks": lambda exercise: "formula" if exercise.is_formula else exercise.names,
        "answer": lambda exercise: exercise.answer_line if exercise.solution else None,
        "solution.steps": lambda x: x.derived and [*map(derivation_record, x.derived.derivations)],
        "solution.trace": lambda x: x.traced and TraceView().record(x.traced),
        "solution.lines": lambda x: [line.replace("`", "") for line in x.lines],
    },
)
"""The JSON keys of an exercise."""
OF_MARK = read_declaration(Marked)
Answer: TypeAlias = Sheet | Exercise | Marked


class ExerciseView(View[Answer]):
    """The view of sheets, exercises and marked answers."""

    fields = EXERCISE
    other_records = (
        ("in `json`, a sheet", Sheet, read_declaration(Sheet).fields),
        ("about an answer", Marked, OF_MARK.fields),
    )
    csv_columns = COLUMNS
    extra_formats: ClassVar[tuple[str, ...]] = ("html",)

    def rows(self, answer: Answer) -> Iterator[OutputRow]:
        if isinstance(answer, Marked):
            yield cells_of(OF_MARK.fields, answer) | {"answer": self.one_line(answer)}
            return
        for exercise in _exercises(answer):
            point = ",".join(f"{name}={x}" for name, x in exercise.point.items())
            yield cells_of(EXERCISE, exercise) | {"at": point}

    def one_line(self, answer: Answer) -> str:
        if isinstance(answer, Marked):
            return "right" if answer.right else "wrong"
        tasks = [(exercise.number, plain_text(task(exercise, self.unicode))) for exercise in _exercises(answer)]
        return "\n".join([f"{number}. {text}" for number, text in tasks])

    def document(self, answer: Answer) -> Iterator[Block]:
        if isinstance(answer, Marked):
            for marked in (answer, *answer.entries):
                of: Pieces = ((f"  {marked.of}: ", "name"),) if marked.of else ()
                yield Paragraph((*of, *sentence(marked.message, "" if marked.right else "error")))
                if marked.hint and not marked.entries:
                    yield Paragraph((("    hint: " if marked.of else "  hint: ", "faint"), *sentence(marked.hint)))
            return
        if isinstance(answer, Sheet):
            yield Paragraph(((_heading(answer), "heading"),))
        for exercise in _exercises(answer):
            yield Paragraph((("", ""),), source=True)
            yield Paragraph(((f"{exercise.number}. ", "heading"), *task(exercise, self.unicode)))
            yield from solution(exercise, self.unicode) if exercise.solution else (Room(ROOM_LINES),)

    def draw(self, answer: Answer, format: str) -> str:
        from ...show.rendering import Html, escaped_html, web_file

        items = []
        for exercise in () if isinstance(answer, Marked) else _exercises(answer):
            pieces = [(escaped_html(text), style) for text, style in task(exercise)]
            words = "".join([f"<code>{text}</code>" if style == "code" else text for text, style in pieces])
            below = '<section class="room"></section>'
            if exercise.solution is not None:
                below = f"<section>{Html(Terminal()).render(solution(exercise))}</section>"
            items.append(f'<li value="{exercise.number}">{words}{below}</li>\n')
        body = f"<ol>\n{''.join(items)}</ol>"
        if isinstance(answer, Marked):
            body = f"<p>{escaped_html(answer.message)}</p>"
        return web_file("exercises.html", heading=escaped_html(_heading(answer)), body=body)

    def latex_document(self, answer: Answer) -> str:
        if isinstance(answer, Marked):
            entries = [f"{text_latex(entry.of)}: {_latex_sentence(entry.message)}" for entry in answer.entries]
            return "\n\n".join([_latex_sentence(answer.message), *entries])
        lines = [rf"\section*{{{text_latex(_heading(answer))}}}"] if isinstance(answer, Sheet) else []
        for exercise in _exercises(answer):
            lines.append(rf"\paragraph{{{exercise.number}.}} {_latex_sentence(exercise.task, exercise)}")
            if exercise.solution is None:
                lines.append(LATEX_ROOM)
            else:
                derived, traced = exercise.solution.derived, exercise.solution.traced
                lines += [steps_latex(derived.derivations)] if derived is not None else []
                lines += ["", trace_page(traced)] if traced is not None else []
                lines += [rf"\par\noindent {_latex_sentence(line)}." for line in exercise.solution.lines]
                lines.append(rf"\par\noindent\textbf{{Answer:}} {_latex_sentence(f'`{exercise.answer_line}`')}.")
        return "\n".join(lines)


class MarkedView(ExerciseView):
    """The view of a marked answer to a question that the user chose."""

    fields, csv_columns, *_ = OF_MARK
    extra_formats = ()

    def rows(self, answer: Answer) -> Iterator[OutputRow]:
        assert isinstance(answer, Marked)
        for marked in (answer, *answer.entries):
            yield {"of": marked.of, "right": marked.right, "message": marked.message, "hint": marked.hint}


def _exercises(answer: Sheet | Exercise) -> tuple[Exercise, ...]:
    return answer.exercises if isinstance(answer, Sheet) else (answer,)


def _heading(answer: Answer) -> str:
    if isinstance(answer, Sheet) and answer.level:
        return f"Level {answer.level}: {answer.title} (seed {answer.seed})"
    return "Exercise"


def task(exercise: Exercise, unicode: bool = True) -> Pieces:
    """Return the styled text of a task."""
    written = mathematics if unicode else expression_text
    program = "; ".join(f"{name} = {written(graph)}" for name, graph in exercise.statements)
    pieces = sentence(exercise.task.replace("{f}", f"`{program}`"))
    if not unicode:
        return pieces
    return tuple((_SIGN.sub("−", text) if style == "code" else text, style) for text, style in pieces)


def solution(exercise: Exercise, unicode: bool = True) -> Iterator[Block]:
    """Yield the worked solution of an exercise, and its answer."""
    assert exercise.solution is not None
    derived, traced, lines = exercise.solution.derived, exercise.solution.traced, exercise.solution.lines
    if derived is not None:
        yield from derivation_blocks(derived.derivations, unicode)
    if traced is not None:
        yield from TraceView(unicode=unicode).document(traced)
    yield from map(text_line, lines)
    written = exercise.answer_line
    if unicode and exercise.is_formula:
        written = mathematics(parse(written).outputs[0])
    yield Paragraph((("answer: ", "heading"), (written, "number")))


def _latex_sentence(text: str, exercise: Exercise | None = None) -> str:
    if exercise is not None and "{f}" in text:
        stated = [f"{_latex_head(name)} = {expression_latex(graph)}" for name, graph in exercise.statements]
        before, _, after = text.partition("{f}")
        return _latex_sentence(before) + "$" + ",\\ ".join(stated) + "$" + _latex_sentence(after)
    pieces = enumerate(text.split("`"))
    return "".join([_latex_formula(piece) if k % 2 else text_latex(piece) for k, piece in pieces])


def _latex_head(name: str) -> str:
    called, mark, rest = name.partition("(")
    inside = ", ".join(name_latex(argument.strip()) for argument in rest.rstrip(")").split(","))
    return f"{name_latex(called)}({inside})" if mark else name_latex(name)


def _latex_formula(text: str) -> str:
    pair = _PAIR.fullmatch(text)
    try:
        parts = [
            " = ".join(expression_latex(parse(side).outputs[0]) for side in part.strip().split(" = "))
            for part in split(pair[1] if pair else text)
        ]
    except ExpressionError:
        return rf"\texttt{{{text_latex(text)}}}"
    written = r",\ ".join(parts)
    return f"$({written})$" if pair else rf"$\displaystyle {written}$"
