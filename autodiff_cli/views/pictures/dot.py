"""The picture as a Graphviz file. Takes time in proportion to the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...derivatives.graph import Picture
from .cells import USUAL, Choices, cells, title

# A record's own characters, a backslash, and the ampersand of an HTML entity, which Graphviz reads in any label.
_RECORD = str.maketrans({char: f"\\{char}" for char in '{}|<>\\"'} | {"&": "&amp;"})
_PLAIN = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})

_LOST_SPACE = re.compile(r"^ |(?<= ) | $")


def dot(picture: Picture, choices: Choices = USUAL) -> str:
    """The picture in Graphviz's language, to be drawn by `dot -Tsvg`, say."""
    return "\n".join(_lines(picture, choices)) + "\n"


def _lines(picture: Picture, choices: Choices) -> Iterator[str]:
    yield "digraph autodiff {"
    way = "TB" if choices.way == "down" else "LR"
    yield f'  graph [rankdir={way}, nodesep=0.2, ranksep=0.35, tooltip="{title(picture).translate(_PLAIN)}"]'
    yield '  node [shape=record, height=0.3, fontname="DejaVu Sans Mono, monospace", fontsize=11]'
    yield "  edge [arrowsize=0.6]"
    ends: list[str] = []
    for index, node in enumerate(picture.nodes):
        dashed = "" if node.taken else ", style=dashed"
        boxes = " | ".join(_compartment(cell.whole) for cell in cells(node, choices.digits))
        if boxes:
            yield f'  v{index} [label="{{{boxes}}}"{dashed}]'
        if node.operation:
            ordering = ", ordering=in" if node.ordered else ""
            yield f'  f{index} [label="{node.operation.translate(_PLAIN)}", shape=oval{ordering}{dashed}]'
            for edge in node.inputs:
                partial = choices.partial(edge)
                said = f' [label="{partial}", fontsize=10]' if partial else "" if edge.taken else " [style=dashed]"
                yield f"  {ends[edge.node]} -> f{index}{said}"
            if boxes:
                yield f"  f{index} -> v{index}" + (" [style=dashed]" if not node.taken else "")
        ends.append(f"v{index}" if boxes else f"f{index}")
    yield "}"


def _compartment(text: str) -> str:
    """The text as one compartment of a record, which loses spaces unless they are escaped."""
    return _LOST_SPACE.sub(r"\\ ", text.translate(_RECORD))
