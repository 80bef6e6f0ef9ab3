"""An exported program: its source as it is, or as a record."""

from collections.abc import Iterator

from ...errors import usage_error
from ...show.document import Block, Paragraph
from ...show.schema import View
from .export import Exported
from .targets import TARGETS


class ExportedView(View[Exported], of=Exported):
    """How an exported program is shown."""

    extra_formats = ("markdown", "xlsx")
    endings = tuple(
        ending
        for name, endings in TARGETS.items()
        for ending in endings
        if name != "latex" and ending != ".xlsx"
    )

    def document(self, answer: Exported) -> Iterator[Block]:
        for line in answer.source.splitlines():
            yield Paragraph(((line, ""),), source=True)

    def draw(self, answer: Exported, format: str) -> str | bytes:
        if format == "xlsx":
            if answer.target != "spreadsheet":
                raise usage_error(
                    f"`{answer.target}` is no spreadsheet",
                    "give `--to spreadsheet`, or another format",
                )
            from .named_cells import workbook  # few exports are workbooks

            return workbook(answer)
        from ...show.rendering import in_fence

        # pages know a language by the ending of its files
        return "\n".join(in_fence(answer.source.splitlines(), TARGETS[answer.target][0][1:]))

    def latex_document(self, answer: Exported) -> str:
        if answer.target != "latex":
            raise usage_error(
                f"`{answer.target}` is not LaTeX", "leave out `--format`, or give `--to latex`"
            )
        equations = [line for line in answer.source.splitlines() if not line.startswith("%")]
        return "\n".join([*(f"% {line}" for line in answer.comments), *equations])

    def latex_formula(self, answer: Exported) -> str | None:
        return self.latex_document(answer) if answer.target == "latex" else None
