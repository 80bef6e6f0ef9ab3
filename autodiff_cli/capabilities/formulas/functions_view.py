"""The view of the functions of the language."""

from collections.abc import Iterator
from typing import TypeAlias

from ...engine.table.primitive import COMPOSED
from ...show.characters import Style
from ...show.document import Block, Paragraph, Pieces, Table
from ...show.schema import OutputRow, View
from .functions import LISTED, FunctionEntry, Functions, forms

Answer: TypeAlias = FunctionEntry | Functions
EVERYWHERE = "every number"
# The derivatives of a form with further arguments that the list of all functions shows.
MOST_LISTED = 2


class FunctionsView(View[Answer], of=FunctionEntry):
    """How functions are shown: one in full, or a table for each group."""

    row_key = ("parameter", "derivatives")

    def record(self, entry: Answer) -> dict[str, object]:
        if isinstance(entry, Functions):
            return {"functions": list(map(super().record, entry))}
        return super().record(entry)

    def rows(self, entry: Answer) -> Iterator[OutputRow]:
        for function in _entries(entry):
            yield from super().rows(function)

    def one_line(self, entry: Answer) -> str:
        return "\n".join(function.signature for function in _entries(entry))

    def document(self, entry: Answer) -> Iterator[Block]:
        if isinstance(entry, Functions):
            for group in dict.fromkeys(function.group for function in entry):
                members = [forms(function) for function in entry if function.group == group]
                rows = [row for same in members for row in _rows_of_forms(same)]
                what = (
                    "derivative"
                    if any(function.derivatives for function in members[0])
                    else "what it is"
                )
                yield Table((group, what, "domain, kinks"), rows, spare=frozenset((2,)))
            yield Paragraph((("`autodiff functions NAME` says more about one of them.", "faint"),))
            return
        facts: list[tuple[str, str, Style]] = [("domain", entry.domain or EVERYWHERE, "")]
        facts += [
            (f"derivative by {parameter}", formula, "code")
            for parameter, formula in entry.derivatives.items()
        ]
        facts += [
            ("at a kink", entry.kink or "", ""),
            ("also called", ", ".join(entry.aliases), "name"),
        ]
        facts += [("example", entry.example, "code"), ("its answer", entry.answer, "code")]
        rows = [(((what, "faint"),), ((text, style),)) for what, text, style in facts if text]
        yield Table((entry.signature, entry.doc), rows)

    def latex_document(self, entry: Answer) -> str:
        from .functions_latex import of_function

        return "\n".join(map(of_function, _entries(entry)))


def _entries(entry: Answer) -> tuple[FunctionEntry, ...]:
    return entry.entries if isinstance(entry, Functions) else (entry,)


def _rows(entry: FunctionEntry) -> Iterator[tuple[Pieces, ...]]:
    signature: Pieces = ((entry.signature, "name"),)
    kink = f"kink: {entry.kink}" if entry.kink else ""
    where: Pieces = (("; ".join(filter(None, (entry.domain, kink))), ""),)
    nothing: Pieces = (("", ""),)
    if not entry.derivatives:
        yield signature, ((entry.doc, "faint"),), where
    for index, (parameter, formula) in enumerate(entry.derivatives.items()):
        by: Pieces = ((f"{parameter}: ", "faint"),) if len(entry.derivatives) > 1 else ()
        derivative: Pieces = (*by, (formula, "code"))
        yield (nothing, derivative, nothing) if index else (signature, derivative, where)


def _rows_of_forms(entries: list[FunctionEntry]) -> Iterator[tuple[Pieces, ...]]:
    """Yield the rows of a function in the list of all; of the shapes of curves, each parameter's
    would take lines.
    """
    short, *longer = entries
    if LISTED[short.name].shown_orders:
        yield from _named_rows(short)
    else:
        yield from _rows_of_longer([short]) if short.name in COMPOSED else _rows(short)
    yield from _rows_of_longer(longer)


def _rows_of_longer(forms: list[FunctionEntry]) -> Iterator[tuple[Pieces, ...]]:
    """Yield rows of forms with further arguments; many derivatives are only named, since each takes
    some lines.
    """
    for form in forms:
        if len(form.derivatives) <= MOST_LISTED:
            yield from _rows(form)
        else:
            yield from _named_rows(form)


def _named_rows(form: FunctionEntry) -> Iterator[tuple[Pieces, ...]]:
    """Yield a row that only names the variables of the derivatives."""
    names = [name.partition(" of ")[0] for name in form.derivatives]
    by: Pieces = ((f"by {', '.join(names)}", "faint"),)
    yield ((form.signature, "name"),), by, ((form.domain or "", ""),)
