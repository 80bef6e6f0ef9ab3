"""Write any answer in any of its formats, as text or on a stream.

A question is in a capability, with its view beside it. Nothing is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from types import ModuleType

    from .schema import View

CAPABILITIES = "autodiff_cli.capabilities."


def _view_module(answer: Any) -> ModuleType:
    """Import the view of an answer's question, the module of a name that begins as its own."""
    from importlib import import_module

    homes = [kind.__module__ for kind in type(answer).__mro__]
    # a run that is over is the answer of a Python function alone
    question = next(
        home for home in homes if home.startswith(CAPABILITIES) and not home.endswith("_function")
    )
    # a plot over two variables is another answer to the same question
    question = question.replace(".contours", ".plot").replace(".implicit", ".plot")
    return import_module(f"{question}_view")


def view_of(answer: Any, **choices: Any) -> View[Any]:
    """Return the view of an answer, with those of the choices, such as `digits`, that it has."""
    from .schema import view_in

    return view_in(_view_module(answer))(**choices)


def write(
    answer: Any, out: TextIO, format: str = "table", *, document: bool = False, **choices: Any
) -> None:
    """Write an answer as its command does. Raises a usage error for other formats."""
    from .characters import Terminal
    from .formats import Documents, writer
    from .subject import Subject

    out_writer = writer(format, out, view_of(answer, **choices), many=False, document=document)
    if isinstance(out_writer, Documents):
        # a notebook's environment asks for colour
        encoding = (out.encoding or "utf-8").lower()
        out_writer.terminal = Terminal(unicode=encoding.startswith("utf"), encoding=encoding)
    out_writer.answer(Subject(getattr(answer, "text", None) if format == "latex" else None), answer)
    out_writer.close()


def text(
    answer: Any,
    format: str = "table",
    *,
    document: bool = False,
    encoding: str = "utf-8",
    **choices: Any,
) -> str:
    """Return an answer as the command prints it to a pipe that has an encoding."""
    import io

    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace", newline="\n")
    write(answer, out, format, document=document, **choices)
    out.seek(0)
    return out.read()


def record(answer: Any, **choices: Any) -> dict[str, object]:
    """Return an answer as its JSON record."""
    return view_of(answer, **choices).record(answer)


def html(answer: Any, **choices: Any) -> str | None:
    """Return an answer as HTML with formula, tables and graph; None if its formula says all."""
    from .characters import Terminal
    from .document import Outline, Paragraph, text_line
    from .error import draw
    from .rendering import Html, notebook_html

    view, terminal = view_of(answer, **choices), Terminal()
    if "table" not in view.formats or (
        not view.prefers_table and latex(answer, **choices) is not None
    ):
        return None
    warnings = [
        draw(one, answer.text, terminal, level="warning") for one in getattr(answer, "warnings", ())
    ]
    lines = [Paragraph(((line, ""),)) for line in "".join(warnings).splitlines()]
    note = getattr(answer, "note", None)
    before = [text_line(note, "faint")] if note else []
    drawing = view.drawing(answer)
    blocks = [
        block
        for block in view.notebook_document(view.select_with_units(answer))
        if not (drawing and type(block) is Outline)
    ]
    return notebook_html(
        _formula(view, answer), Html(terminal).render([*before, *blocks, *lines]), drawing or ""
    )


def _formula(view: View[Any], answer: Any) -> str:
    from ..language.mathml import mathml_equations

    sides = view.formula_sides(answer)
    # MathML has no units
    has_units = any(r"\unit{" in side for pair in sides for side in pair)
    return mathml_equations(sides) if sides and not has_units else ""


def latex(answer: Any, **choices: Any) -> str | None:
    """Return an answer's formula in LaTeX; None for an answer without one."""
    view = view_of(answer, **choices)
    formula = view.latex_formula(view.select_with_units(answer))
    if formula is None or r"\unit{" not in formula:
        return formula
    # what shows formulas in notebooks has no packages
    from ..engine.quantities.unit import without_siunitx

    return without_siunitx(formula)


def svg(answer: Any, **choices: Any) -> str | None:
    """Return an answer as a drawing, if it has one."""
    view = view_of(answer, **choices)
    drawing = view.draw(answer, "svg") if "svg" in view.extra_formats else None
    return drawing.decode() if isinstance(drawing, bytes) else drawing
