"""Units and constants in every form."""

from collections.abc import Iterator

from ...show.document import Block, Paragraph, Table, numbers_table, sentence
from ...show.numerals import repr_number
from ...show.schema import View
from .units import UnitEntry, UnitTable


class UnitsView(View[UnitTable], of=UnitTable):
    """How units and constants are shown."""

    row_key = ("name", "entries")

    def one_line(self, answer: UnitTable) -> str:
        return "\n".join(f"{entry.name} = {_value(entry)}" for entry in answer.entries)

    def document(self, answer: UnitTable) -> Iterator[Block]:
        if len(answer.entries) < 3:
            yield from map(_describe, answer.entries)
            return
        for group in dict.fromkeys(entry.group for entry in answer.entries):
            entries = [entry for entry in answer.entries if entry.group == group]
            rows = [(entry.name, _value(entry), entry.meaning, entry.prefixes) for entry in entries]
            heads = (group, "value", "", *("prefixes",) * any(entry.prefixes for entry in entries))
            yield numbers_table(heads, [row[: len(heads)] for row in rows], right=False)
        yield Paragraph(sentence("`autodiff units NAME` says more about one of them.", "faint"))


def _value(entry: UnitEntry) -> str:
    number = (
        repr_number(entry.value).removesuffix(".0") if set("/*") & set(entry.exact) else entry.exact
    )
    zero = f"; 0 is {repr_number(entry.zero)} K" if entry.zero else ""
    return f"{number} {entry.unit}".rstrip() + zero


def _describe(entry: UnitEntry) -> Table:
    facts = [("value", _value(entry))]
    facts += [("exact", entry.exact)] * (entry.exact not in _value(entry))
    if entry.uncertainty is not None:
        facts.append(("standard uncertainty", f"{repr_number(entry.uncertainty)} {entry.unit}"))
    facts += [("prefixes", entry.prefixes)] * bool(entry.prefixes)
    facts += [("also written", ", ".join(entry.aliases))] * bool(entry.aliases)
    facts += [("source", entry.source)] * bool(entry.source)
    return numbers_table((entry.name, entry.meaning), facts, right=False)
