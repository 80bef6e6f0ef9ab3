"""The views of exercises and their answers."""

import re
from collections.abc import Iterator
from typing import ClassVar, TypeAlias

from ...engine.graphs.value import Value
from ...errors import ExpressionError
from ...language.printer import expression_text
from ...language.typesetting import text_latex
from ...questions.parse_point import split
from ...questions.problem import parse
from ...show.document import Block, Paragraph, Pieces, Room, plain_text, sentence, text_line
from ...show.mathematics import mathematics
from ...show.schema import OutputRow, View, cells_of, read_declaration
from ..formulas.diff_view import derivation_blocks, derivation_record
from ..trace.trace_view import TraceView
from .exercise import Exercise, Marked, Sheet

# Lines of blank space for a solution, in text and Markdown.
ROOM_LINES = 6
_SIGN = re.compile(r"(?<![\w)])-(?=[\d.])")

# The JSON keys of an exercise.
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
    extra_formats: ClassVar[tuple[str, ...]] = ("html", "pdf")

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
        tasks = [
            (exercise.number, plain_text(task(exercise, self.unicode)))
            for exercise in _exercises(answer)
        ]
        return "\n".join([f"{number}. {text}" for number, text in tasks])

    def document(self, answer: Answer) -> Iterator[Block]:
        if isinstance(answer, Marked):
            for marked in (answer, *answer.entries):
                of: Pieces = ((f"  {marked.of}: ", "name"),) if marked.of else ()
                yield Paragraph((*of, *sentence(marked.message, "" if marked.right else "error")))
                if marked.hint and not marked.entries:
                    yield Paragraph(
                        (
                            ("    hint: " if marked.of else "  hint: ", "faint"),
                            *sentence(marked.hint),
                        )
                    )
            return
        if isinstance(answer, Sheet):
            yield Paragraph(((_heading(answer), "heading"),))
        for exercise in _exercises(answer):
            yield Paragraph((("", ""),), source=True)
            yield Paragraph(((f"{exercise.number}. ", "heading"), *task(exercise, self.unicode)))
            yield from (
                solution(exercise, self.unicode) if exercise.solution else (Room(ROOM_LINES),)
            )

    def draw(self, answer: Answer, format: str) -> str | bytes:
        if format == "pdf":
            from ...show.compiled_latex import pdf_of  # LaTeX is only run for this
            from ...show.formats import document_ends

            return pdf_of(self.latex_document(answer).join(document_ends()), "the sheet", "amsmath")
        from .exercise_page import sheet_page

        return sheet_page(answer, _heading(answer), _is_solved(answer))

    def latex_document(self, answer: Answer) -> str:
        from .exercise_latex import sentence_latex, sheet_latex

        if isinstance(answer, Marked):
            entries = [
                f"{text_latex(entry.of)}: {sentence_latex(entry.message)}"
                for entry in answer.entries
            ]
            return "\n\n".join([sentence_latex(answer.message), *entries])
        return sheet_latex(answer, _heading(answer), _is_solved(answer))


class MarkedView(ExerciseView):
    """The view of a marked answer to a question that the user chose."""

    fields, csv_columns, *_ = OF_MARK
    extra_formats = ()

    def rows(self, answer: Answer) -> Iterator[OutputRow]:
        assert isinstance(answer, Marked)
        for marked in (answer, *answer.entries):
            yield {
                "of": marked.of,
                "right": marked.right,
                "message": marked.message,
                "hint": marked.hint,
            }


def _exercises(answer: Sheet | Exercise) -> tuple[Exercise, ...]:
    return answer.exercises if isinstance(answer, Sheet) else (answer,)


def _heading(answer: Answer) -> str:
    return answer.heading if isinstance(answer, Sheet) else "Exercise"


def _is_solved(answer: Answer) -> bool:
    return isinstance(answer, Marked) or any(
        exercise.solution is not None for exercise in _exercises(answer)
    )


def task(exercise: Exercise, unicode: bool = True) -> Pieces:
    """Return the styled text of a task."""
    written = mathematics if unicode else expression_text
    left = [written(name) if isinstance(name, Value) else name for name, _ in exercise.statements]
    right = [written(graph) for _, graph in exercise.statements]
    program = "; ".join(map(" = ".join, zip(left, right, strict=True)))
    pieces = sentence(exercise.task.replace("{f}", f"`{program}`"))
    if not unicode:
        return pieces
    return tuple(
        (_SIGN.sub("−", text) if style == "code" else text, style) for text, style in pieces
    )


def solution(exercise: Exercise, unicode: bool = True) -> Iterator[Block]:
    """Yield the worked solution of an exercise, and its answer."""
    assert exercise.solution is not None
    derived, traced, lines = (
        exercise.solution.derived,
        exercise.solution.traced,
        exercise.solution.lines,
    )
    if derived is not None:
        yield from derivation_blocks(derived.derivations, unicode)
    if traced is not None:
        yield from TraceView(unicode=unicode).document(traced)
    yield from (text_line(_in_mathematics(line) if unicode else line) for line in lines)
    yield Paragraph((("answer: ", "heading"), (answer_line(exercise, unicode), "number")))


def _in_mathematics(line: str) -> str:
    """Return a line with the formulas in its backticks as people write them."""
    pieces = line.split("`")
    pieces[1::2] = map(_formulas_in_mathematics, pieces[1::2])
    return "`".join(pieces)


def _formulas_in_mathematics(text: str) -> str:
    try:
        sides = [
            [mathematics(parse(side).outputs[0]) for side in part.split(" = ")]
            for part in split(text)
        ]
    except ExpressionError:
        return text
    return ", ".join(map(" = ".join, sides)) if all(map(all, sides)) else text


def answer_line(exercise: Exercise, unicode: bool = True) -> str:
    """Return the answer on one line, a formula as people write it."""
    written = exercise.answer_line
    return mathematics(parse(written).outputs[0]) if unicode and exercise.is_formula else written
