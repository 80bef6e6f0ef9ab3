"""The texts in the boxes of a picture and around it, equal in every format."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...derivatives.graph import Picture, PictureInput, PictureNode
from ..characters import Theme, escaped, shorten_end
from ..document import quantity_text

NOT_EVALUATED = "not evaluated"
MAX_TITLE_CHARACTERS = 160
"""The most characters of a program in a title."""
Way = Literal["auto", "right", "down"]
"""The direction of a drawing from the inputs to the result."""


class Choices(NamedTuple):
    """How a picture is drawn: colours, direction, local derivatives, width."""

    digits: int | None = None
    theme: Theme = "auto"
    way: Way = "auto"
    partials: bool = False
    width: int | None = None
    """In pixels; None to fit the text."""
    live: bool = False
    """Whether a page changes its numbers and writes on its lines."""

    def partial(self, edge: PictureInput) -> str:
        """Return the label of an edge; empty for none."""
        return "" if edge.partial is None or not self.partials else quantity_text(edge.partial, edge.unit, self.digits)


DEFAULT_CHOICES = Choices()


class Cell(NamedTuple):
    """A compartment of a box: a name, or a number with the word before it."""

    text: str
    word: Literal["", "data", "grad"] = ""

    @property
    def as_read(self) -> str:
        return f"{self.word} {self.text}" if self.word else self.text


def cells(node: PictureNode, digits: int | None = None) -> list[Cell]:
    """Return the compartments of a node's box; none for an operation alone.

    Control characters in names are made visible; nothing is escaped yet.
    """
    texts = [Cell(escaped(node.label))] if node.label else []
    if not node.operation and not node.label:
        return [Cell(quantity_text(node.data, node.unit, digits))]
    if not node.taken:
        return texts if not node.operation else [*texts, Cell(NOT_EVALUATED)]
    if node.data is not None:
        texts.append(Cell(quantity_text(node.data, node.unit, digits), "data"))
    if node.grad is not None:
        texts.append(Cell(quantity_text(node.grad, node.grad_unit, digits), "grad"))
    return texts


def title(picture: Picture) -> str:
    """Return the picture's title in one line; long programs are shortened."""
    lines = [line for line in picture.text.splitlines() if line.strip()]
    if len(lines) != 1:
        return f"Graph of a program of {len(lines)} lines" if lines else "Graph of an expression"
    text = escaped(lines[0].strip())
    return "Graph of " + shorten_end(text, MAX_TITLE_CHARACTERS)


def description(picture: Picture, choices: Choices = DEFAULT_CHOICES) -> str:
    """Return the description for readers who cannot see the picture."""
    digits, count = choices.digits, len(picture.nodes)
    right = choices.way != "down"
    ends = "on the left to the result on the right" if right else "at the top to the result at the bottom"
    sentences = [f"{count:,} {'node' if count == 1 else 'nodes'}, from the inputs {ends}."]
    if picture.numbers:
        output = picture.nodes[picture.outputs[0]]
        sentences.append(f"The value is {quantity_text(output.data, output.unit, digits)}.")
        units = picture.units["gradient"] if picture.units else {}
        heading = "Its derivatives"
        named = [f"{escaped(name)} {quantity_text(x, units.get(name), digits)}" for name, x in picture.gradient.items()]
    else:
        heading = "Its variables"
        named = [escaped(node.label) for node in picture.nodes if node.variable]
    if named:
        sentences.append(f"{heading}: {', '.join(named[:20])}{', …' if len(named) > 20 else ''}.")
    skipped = sum(not node.taken for node in picture.nodes)
    if skipped:
        sentences.append(f"Dashed: {skipped:,} {'node that was' if skipped == 1 else 'nodes that were'} not evaluated.")
    return " ".join(sentences)
