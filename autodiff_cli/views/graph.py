"""The formats of a picture, and a writer that draws in one of them for a stream or for a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import NamedTuple, TextIO

from ..errors import ExpressionError
from ..questions.graph import Picture
from .characters import Look
from .document import Block
from .formats import Asked, Documents, View, Writer
from .outline import outline
from .pictures.cells import Theme
from .rendering import PlainText

FORMATS = ("tree", "dot", "mermaid", "svg", "png")
ENDINGS = {".txt": "tree", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".svg": "svg",
           ".png": "png"}  # fmt: skip
"""Which format the name of a file asks for."""

OTHER_PICTURES = frozenset((".pdf", ".gif", ".jpg", ".jpeg", ".bmp", ".webp", ".eps", ".ps", ".html", ".tex"))
"""Endings by which a picture is surely meant, and none that can be drawn here."""


THEMES: tuple[Theme, ...] = ("auto", "light", "dark")


class Style(NamedTuple):
    """How a picture is to be drawn."""

    digits: int | None = None
    depth: int | None = None
    theme: Theme = "auto"


def format_of(name: str | None, path: str | None) -> str:
    """The format that was asked for by name, or by the name of the file; `tree` where neither says.

    Raises a usage error for a format that there is not.
    """
    ending = PurePath(path).suffix.lower() if path else ""
    chosen = name or ENDINGS.get(ending, "tree")
    if not name and ending in OTHER_PICTURES:
        raise ExpressionError(
            "usage", f"`{ending}` is not one of the formats that there are",
            hint="end it in `.svg`, `.png`, `.dot` or `.mmd`, or say `--format tree`",
        )  # fmt: skip
    if chosen not in FORMATS:
        listed = ", ".join(f"`{each}`" for each in FORMATS)
        raise ExpressionError("usage", f"`{chosen}` is not one of this command's formats", hint=f"it has {listed}")
    return chosen


def theme_of(name: str | None) -> Theme:
    """The theme of a name. Raises a usage error for one that there is not."""
    for theme in THEMES:
        if name in (theme, None):
            return theme
    listed = ", ".join(f"`{each}`" for each in THEMES)
    raise ExpressionError("usage", f"`{name}` is not a theme", hint=f"there are {listed}")


class Pictures(Writer[Picture]):
    """Draws a picture in one format: on the stream, or into whatever `put` does with the bytes."""

    def __init__(self, out: TextIO, format: str, style: Style, put: Callable[[bytes], None] | None) -> None:
        super().__init__(out, tree_view(style), many=False)
        self.format, self.style, self.put = format, style, put

    def answer(self, asked: Asked, answer: Picture) -> None:
        if self.format == "tree" and self.put is None:
            Documents(self.out, self.view, self.many).answer(asked, answer)
        elif self.put is not None:
            self.put(drawn(answer, self.format, self.style))
        else:
            data = drawn(answer, self.format, self.style)
            self.out.flush()
            self.out.buffer.write(data)


def tree_view(style: Style) -> View[Picture]:
    """How a picture is shown as an outline."""

    def document(picture: Picture) -> Iterator[Block]:
        for root in picture.roots:
            drawn = outline(root, depth=style.depth, digits=style.digits, numbers=picture.numbers)
            # there is nothing else here that the tree could be left out of
            yield drawn._replace(note=drawn.note.replace(", `--no-tree` none", ""))

    return View(lambda picture: {}, document=document)


def drawn(picture: Picture, format: str, style: Style) -> bytes:
    """The picture as the content of a file. Raises `ExpressionError` for one too large, and for libraries not there."""
    return _DRAW[format](picture, style)


def _tree(picture: Picture, style: Style) -> bytes:
    document = tree_view(style).document
    assert document
    return PlainText(Look()).render(document(picture)).encode()


def _dot(picture: Picture, style: Style) -> bytes:
    from .pictures.dot import dot

    return dot(picture, style.digits).encode()


def _mermaid(picture: Picture, style: Style) -> bytes:
    from .pictures.mermaid import mermaid

    return mermaid(picture, style.digits).encode()


def _svg(picture: Picture, style: Style) -> bytes:
    from .pictures.svg import svg

    return svg(picture, style.digits, style.theme).encode()


def _png(picture: Picture, style: Style) -> bytes:
    from .pictures.png import png

    return png(picture, style.digits, style.theme)


_DRAW: Mapping[str, Callable[[Picture, Style], bytes]] = {
    "tree": _tree, "dot": _dot, "mermaid": _mermaid, "svg": _svg, "png": _png,
}  # fmt: skip
