"""Pictures in the languages of Graphviz and Mermaid, which lay them out."""

import re

from ..graph import Picture
from .scene import DEFAULT_CHOICES, Choices, cells, description, title

# What Graphviz reads in labels of records: its own characters, a backslash, HTML entities.
_RECORD = str.maketrans({char: f"\\{char}" for char in '{}|<>\\"'} | {"&": "&amp;"})
_PLAIN = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;"})
_LOST_SPACE = re.compile(r"^ |(?<= ) | $")
# Mermaid's default limit `maxEdges`, which a diagram cannot raise.
MAX_MERMAID_EDGES = 500
# Harmless: letters, digits, single spaces, a point inside a number, an underscore inside a name.
_SPECIAL = re.compile(r"(?<!\d)\.|\.(?!\d)|(?<![^\W_])_|_(?![^\W_])|^ | (?= )| $|[^\w. ]")


def dot(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> str:
    """Return the picture in Graphviz's language, for `dot -Tsvg`."""
    way = "TB" if choices.way == "down" else "LR"
    lines = [
        "digraph autodiff {",
        (
            f"  graph [rankdir={way}, nodesep=0.2, ranksep=0.35,"
            f' tooltip="{title(picture).translate(_PLAIN)}"]'
        ),
        '  node [shape=record, height=0.3, fontname="DejaVu Sans Mono, monospace", fontsize=11]',
        "  edge [arrowsize=0.6]",
    ]
    ends: list[str] = []
    for index, node in enumerate(picture.nodes):
        dashed = "" if node.taken else ", style=dashed"
        boxes = " | ".join(
            # a compartment of a record loses spaces unless they are escaped
            _LOST_SPACE.sub(r"\\ ", cell.as_read.translate(_RECORD))
            for cell in cells(node, choices.digits)
        )
        if boxes:
            lines.append(f'  v{index} [label="{{{boxes}}}"{dashed}]')
        if node.operation:
            ordering = ", ordering=in" if node.ordered else ""
            lines.append(
                f'  f{index} [label="{node.operation.translate(_PLAIN)}",'
                f" shape=oval{ordering}{dashed}]"
            )
            for edge in node.inputs:
                partial = choices.partial(edge)
                label = (
                    f' [label="{partial}", fontsize=10]'
                    if partial
                    else ""
                    if edge.taken
                    else " [style=dashed]"
                )
                lines.append(f"  {ends[edge.node]} -> f{index}{label}")
            if boxes:
                lines.append(
                    f"  f{index} -> v{index}" + (" [style=dashed]" if not node.taken else "")
                )
        ends.append(f"v{index}" if boxes else f"f{index}")
    return "\n".join([*lines, "}\n"])


def _dashed(skipped: list[str]) -> list[str]:
    """Return the lines that draw these boxes dashed, some on each."""
    classes = [
        f"  class {','.join(skipped[k : k + 40])} skipped" for k in range(0, len(skipped), 40)
    ]
    return [*["  classDef skipped stroke-dasharray: 4 3"] * bool(skipped), *classes]


def _advice_on_edges(lines: list[str]) -> list[str]:
    edges = sum(arrow in line for line in lines for arrow in ("-->", "-.->"))
    if edges <= MAX_MERMAID_EDGES:
        return []
    why = f"a page draws more than {MAX_MERMAID_EDGES} only if its maxEdges setting allows it"
    return [f"  %% {edges} edges: {why}"]


def mermaid(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> str:
    """Return the picture in Mermaid's language."""
    lines = [
        f"flowchart {'TD' if choices.way == 'down' else 'LR'}",
        f"  accTitle: {escape(title(picture))}",
        f"  accDescr: {escape(description(picture, choices))}",
    ]
    ends: list[str] = []
    skipped: list[str] = []
    for index, node in enumerate(picture.nodes):
        # escaped character by character, then set between the picture's own bars
        boxes = " #124; ".join(escape(cell.as_read) for cell in cells(node, choices.digits))
        if boxes:
            lines.append(f'  v{index}["{boxes}"]')
        if node.operation:
            lines.append(f'  f{index}(["{escape(node.operation)}"])')
            for edge in node.inputs:
                partial = choices.partial(edge)
                label = f'|"{escape(partial)}"|' if partial else ""
                lines.append(
                    f"  {ends[edge.node]} {'-->' if edge.taken else '-.->'}{label} f{index}"
                )
            if boxes:
                lines.append(f"  f{index} {'-->' if node.taken else '-.->'} v{index}")
        if not node.taken:
            skipped += [
                f"{kind}{index}" for kind, there in (("v", boxes), ("f", node.operation)) if there
            ]
        ends.append(f"v{index}" if boxes else f"f{index}")
    lines += _dashed(skipped)
    lines[1:1] = _advice_on_edges(lines)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return the text with codes for what Mermaid would read as Markdown or HTML."""
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", text)
