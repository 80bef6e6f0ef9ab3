"""The functions of the language in every form: one in full, or all of them in a list."""

from __future__ import annotations

from collections.abc import Iterator

from ..formulas.functions import FunctionEntry, Functions
from .characters import Style
from .document import Block, Line, Pieces, Table
from .formats import OutputRow, View

COLUMNS = ("name", "signature", "group", "domain", "parameter", "derivative", "kink", "aliases", "doc")
EVERYWHERE = "every number"


def _record(entry: FunctionEntry | Functions) -> dict[str, object]:
    if isinstance(entry, Functions):
        return {"functions": list(map(_record, entry))}
    return {
        "name": entry.name,
        "aliases": list(entry.aliases),
        "signature": entry.signature,
        "group": entry.group,
        "doc": entry.doc,
        "domain": entry.domain or None,
        "derivatives": entry.derivatives,
        "kink": entry.kink,
    }


def _rows(entry: FunctionEntry | Functions) -> Iterator[OutputRow]:
    if isinstance(entry, Functions):
        for each in entry:
            yield from _rows(each)
        return
    common = {
        "name": entry.name,
        "signature": entry.signature,
        "group": entry.group,
        "domain": entry.domain,
        "kink": entry.kink or "",
        "aliases": " ".join(entry.aliases),
        "doc": entry.doc,
    }
    for parameter, formula in (entry.derivatives or {"": ""}).items():
        yield {**common, "parameter": parameter, "derivative": formula}


def _document(entry: FunctionEntry | Functions) -> Iterator[Block]:
    if isinstance(entry, Functions):
        yield from _listed(entry)
        return
    facts: list[tuple[str, str, Style]] = [("domain", entry.domain or EVERYWHERE, "")]
    facts += [(f"derivative by {parameter}", formula, "code") for parameter, formula in entry.derivatives.items()]
    if entry.kink:
        facts.append(("at a kink", entry.kink, ""))
    if entry.aliases:
        facts.append(("also called", ", ".join(entry.aliases), "name"))
    yield Table(
        (entry.signature, entry.doc),
        [(((what, "faint"),), ((text, style),)) for what, text, style in facts],
    )


def _listed(entries: Functions) -> Iterator[Block]:
    for group in dict.fromkeys(entry.group for entry in entries):
        rows = [row for entry in entries if entry.group == group for row in _listed_rows(entry)]
        yield Table((group, "derivative", "domain, kinks"), rows, spare=frozenset((2,)))
    yield Line((("`autodiff functions NAME` says more about one of them.", "faint"),))


def _listed_rows(entry: FunctionEntry) -> Iterator[tuple[Pieces, ...]]:
    signature: Pieces = ((entry.signature, "name"),)
    kink = f"kink: {entry.kink}" if entry.kink else ""
    where: Pieces = (("; ".join(filter(None, (entry.domain, kink))), ""),)
    nothing: Pieces = (("", ""),)
    for index, (parameter, formula) in enumerate(entry.derivatives.items()):
        by: Pieces = ((f"{parameter}: ", "faint"),) if len(entry.derivatives) > 1 else ()
        derivative: Pieces = (*by, (formula, "code"))
        yield (nothing, derivative, nothing) if index else (signature, derivative, where)


def _brief(entry: FunctionEntry | Functions) -> str:
    return "\n".join(map(_brief, entry)) if isinstance(entry, Functions) else entry.signature


def _page(entry: FunctionEntry | Functions) -> str:
    from .tex import of_function

    return "\n".join(map(_page, entry)) if isinstance(entry, Functions) else of_function(entry)


def view() -> View[FunctionEntry | Functions]:
    """How functions are shown: one in full, or several, to people in a table for each group."""
    return View(_record, _rows, _brief, _document, COLUMNS, latex_document=_page)
