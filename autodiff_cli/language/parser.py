"""Text to its program, or to its syntax tree.

A program that is computed as it stands becomes a graph while it is read, in one pass (`reader`,
`builder`): with a tree on the way, a record of a short formula would take a fifth more time. What
the graph does not show - definitions, lists, sums over an index - is built from the tree, and so is
every program that is changed before it is computed.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from .builder import MAX_NODES, Builder, NeedsTree, Program
from .reader import outline, read

if TYPE_CHECKING:
    from .tokens import Spans, Statement
    from .tree import SyntaxNode


def parse(text: str, valued: Collection[str] = (), most: int = MAX_NODES) -> Program:
    """Return the program of a text; see `Builder`. Raises `ParseFailure` for syntax errors, else
    `ExpressionError`.

    Calls of its functions expand to at most `most` nodes.
    """
    builder = Builder(text, valued)
    try:
        read(builder)
        return builder.program()
    except NeedsTree:
        tree = syntax_tree(text, valued, builder.span)
    return build(tree, text, valued, most)


def build(
    tree: SyntaxNode, text: str, valued: Collection[str] = (), most: int = MAX_NODES
) -> Program:
    """Return the program of a tree, whose places are in `text`. Raises `ExpressionError`; see
    `Builder`.

    >>> text = "f(x) = x**2; f(2*w)"
    >>> build(syntax_tree(text), text).parameters
    ('w',)
    """
    from .tree_builder import TreeBuilder  # only some programs need it

    with suppress(NeedsTree):
        return TreeBuilder(text, valued, most).build(tree)
    # outside of a handler: an error of it has no other error behind it
    from .unrolling import Unroller  # only lists need it

    return Unroller(text, valued, most).build(tree)


def syntax_tree(text: str, valued: Collection[str] = (), spans: Spans | None = None) -> SyntaxNode:
    """Return the tree of a program. Raises `ParseFailure`, and `ExpressionError` for other errors
    of syntax.

    A name in `valued` is a list, or a number, where it could be a function too.
    `spans` are those of the text, if known.

    >>> [(node.kind, node.text("2*sin(x)")) for node in syntax_tree("2*sin(x)").walk()][1:]
    [('operation', '2*sin(x)'), ('number', '2'), ('call', 'sin(x)'), ('name', 'x')]
    """
    from .tree_recorder import TreeRecorder  # only some programs need it

    recorder = TreeRecorder(text, valued, spans)
    read(recorder)
    return recorder.tree()


def statements_of(text: str) -> list[Statement]:
    """Return the statements of a text, without its tree. Raises as `syntax_tree`."""
    from .tree_recorder import TreeRecorder  # only some programs need it

    recorder = TreeRecorder(text)
    read(recorder)
    return outline(recorder)
