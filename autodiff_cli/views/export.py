"""An exported program: its source as it is, or as a record."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import ExpressionError
from ..formulas.export import Exported
from ..targets import TARGETS
from .document import Block, Line
from .formats import View

ENDINGS = tuple(ending for name, endings in TARGETS.items() for ending in endings if name != "latex")


def _record(answer: Exported) -> dict[str, object]:
    return {
        "target": answer.target,
        **({"dialect": answer.dialect} if answer.dialect else {}),
        "name": answer.name,
        "variables": answer.variables,
        "wrt": list(answer.wanted),
        "source": answer.source,
    }


def _document(answer: Exported) -> Iterator[Block]:
    for line in answer.source.splitlines():
        yield Line(((line, ""),), source=True)


def _markdown(answer: Exported) -> str:
    from .rendering import fenced

    # pages that colour code know a language by the ending of its files
    return "\n".join(fenced(answer.source.splitlines(), TARGETS[answer.target][0][1:]))


def _page(answer: Exported) -> str:
    if answer.target != "latex":
        hint = "leave out `--format`, or give `--to latex`"
        raise ExpressionError("usage", f"`{answer.target}` is no LaTeX", hint=hint)
    # whoever writes LaTeX says for all answers what they are of
    return "\n".join(line for line in answer.source.splitlines() if not line.startswith("%"))


def _formula(answer: Exported) -> str | None:
    return _page(answer) if answer.target == "latex" else None


def view() -> View[Exported]:
    """How an exported program is shown."""
    return View(
        _record,
        document=_document,
        extra_formats={"markdown": _markdown},
        latex_formula=_formula,
        latex_document=_page,
        endings=ENDINGS,
    )
