"""The picture as a Mermaid flowchart, which Markdown on many sites shows as a drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...derivatives.graph import Picture
from .cells import USUAL, Choices, cells, description, title

EDGES = 500
"""How many edges Mermaid draws by default; a diagram may not raise its `maxEdges` itself."""

# Harmless: letters, digits, single spaces, a point inside a number, an underscore inside a name.
_SPECIAL = re.compile(r"(?<!\d)\.|\.(?!\d)|(?<![^\W_])_|_(?![^\W_])|^ | (?= )| $|[^\w. ]")


def mermaid(picture: Picture, choices: Choices = USUAL) -> str:
    """The picture in Mermaid's language."""
    lines = list(_lines(picture, choices))
    edges = sum(arrow in line for line in lines for arrow in ("-->", "-.->"))
    if edges > EDGES:
        lines.insert(1, f"  %% {edges} edges: a page draws more than {EDGES} only if its maxEdges setting allows it")
    return "\n".join(lines) + "\n"


def _lines(picture: Picture, choices: Choices) -> Iterator[str]:
    yield f"flowchart {'TD' if choices.way == 'down' else 'LR'}"
    yield f"  accTitle: {escape(title(picture))}"
    yield f"  accDescr: {escape(description(picture, choices))}"
    ends: list[str] = []
    skipped: list[str] = []
    for index, node in enumerate(picture.nodes):
        # escaped character by character, then set between bars that are the picture's own
        boxes = " #124; ".join(escape(cell.whole) for cell in cells(node, choices.digits))
        if boxes:
            yield f'  v{index}["{boxes}"]'
        if node.operation:
            yield f'  f{index}(["{escape(node.operation)}"])'
            for edge in node.inputs:
                partial = choices.partial(edge)
                said = f'|"{escape(partial)}"|' if partial else ""
                yield f"  {ends[edge.node]} {'-->' if edge.taken else '-.->'}{said} f{index}"
            if boxes:
                yield f"  f{index} {'-->' if node.taken else '-.->'} v{index}"
        if not node.taken:
            skipped += [f"{kind}{index}" for kind, there in (("v", boxes), ("f", node.operation)) if there]
        ends.append(f"v{index}" if boxes else f"f{index}")
    if skipped:
        yield "  classDef skipped stroke-dasharray: 4 3"
        for start in range(0, len(skipped), 40):
            yield f"  class {','.join(skipped[start : start + 40])} skipped"


def escape(text: str) -> str:
    """The text with everything but letters, digits and plain spaces as Mermaid's entity codes.

    Mermaid reads Markdown, directives (`%%{`), links and HTML in labels, so that even a lone `*` or `-` needs it.
    """
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", text)
