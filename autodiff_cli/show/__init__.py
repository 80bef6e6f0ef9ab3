"""Write any answer in any of its formats, as text or on a stream.

A question and its view are in modules of one name. Nothing is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from .schema import View

SUBJECTS = (
    "derivatives", "formulas", "integrals", "optimize", "equations", "uncertainty", "accuracy", "curves", "exercises",
)  # fmt: skip
"""The rooms of what people ask."""


def question_of(answer: Any) -> str:
    """Return the name that the module of an answer's question has, and those of its view and its Python function."""
    # the Python functions have kinds of their own of the questions' answers
    homes = [kind.__module__.split(".") for kind in type(answer).__mro__]
    question = next(home[-1] for home in homes if len(home) == 3 and home[1] in SUBJECTS)
    # a plot over two variables is another answer to the same question
    return "plot" if question == "contours" else question


def view_of(answer: Any, **choices: Any) -> View[Any]:
    """Return the view of an answer, with those of the choices, such as `digits`, that it has."""
    from importlib import import_module

    from .schema import view_in

    return view_in(import_module(f".{question_of(answer)}", __name__))(**choices)


def write(answer: Any, out: TextIO, format: str = "table", *, document: bool = False, **choices: Any) -> None:
    """Write an answer as its command does. Raises a usage error for other formats."""
    from .characters import Terminal
    from .formats import Documents, writer
    from .subject import Subject

    out_writer = writer(format, out, view_of(answer, **choices), many=False, document=document)
    if isinstance(out_writer, Documents):
        # a notebook's environment asks for colour
        out_writer.terminal = Terminal()
    out_writer.answer(Subject(getattr(answer, "text", None) if format == "latex" else None), answer)
    out_writer.close()


def text(answer: Any, format: str = "table", *, document: bool = False, **choices: Any) -> str:
    """Return an answer as the command prints it to a pipe."""
    import io

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    write(answer, out, format, document=document, **choices)
    out.seek(0)
    return out.read()


def record(answer: Any, **choices: Any) -> dict[str, object]:
    """Return an answer as its JSON record."""
    return view_of(answer, **choices).record(answer)


def html(answer: Any, **choices: Any) -> str | None:
    """Return an answer as HTML; None if its formula says all."""
    from .characters import Terminal
    from .document import Paragraph
    from .error import draw
    from .rendering import Html

    view, terminal = view_of(answer, **choices), Terminal()
    if "table" not in view.formats or (not view.prefers_table and latex(answer, **choices) is not None):
        return None
    warnings = [draw(one, answer.text, terminal, level="warning") for one in getattr(answer, "warnings", ())]
    lines = [Paragraph(((line, ""),)) for line in "".join(warnings).splitlines()]
    return Html(terminal).render([*view.document(view.select_with_units(answer)), *lines])


def latex(answer: Any, **choices: Any) -> str | None:
    """Return an answer's formula in LaTeX; None for an answer without one."""
    view = view_of(answer, **choices)
    formula = view.latex_formula(view.select_with_units(answer))
    if formula is None or r"\unit{" not in formula:
        return formula
    from ..engine.quantities.unit import without_siunitx  # what shows formulas in notebooks has no packages

    return without_siunitx(formula)


def svg(answer: Any, **choices: Any) -> str | None:
    """Return an answer as a drawing, if it has one."""
    view = view_of(answer, **choices)
    drawing = view.draw(answer, "svg") if "svg" in view.extra_formats else None
    return drawing.decode() if isinstance(drawing, bytes) else drawing
