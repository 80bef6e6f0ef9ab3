"""A Picture in every form: as a tree, a drawing in several formats, a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, ClassVar

from ...engine.run.flat_graph import Graph
from ...show.characters import Theme
from ...show.document import Block, Outline, OutlineRow, Pieces, quantity_text
from ...show.numerals import format_number
from ...show.schema import Values, View
from ..derivatives.gradient import Gradient
from .graph import MANY_ALIKE, Picture, PictureNode, gather, is_unrolled, picture_of, to_picture

if TYPE_CHECKING:
    from .pictures.scene import Way

# Without `--depth`: the most lines and levels, and levels of a larger graph.
MAX_LINES = 64
MAX_LEVELS = 24
CUT_DEPTH = 12
# Of more than MAX_TERMS terms, MAX_FOLDED_TERMS are drawn.
MAX_TERMS, MAX_FOLDED_TERMS = 12, 5
# Without `--depth`: how many of more than MANY_ALIKE terms are drawn.
DRAWN_ALIKE = 2
# The modules of formats that are not drawn here.
WRITERS = {"dot": "flowcharts", "mermaid": "flowcharts"}


class PictureView(View[Picture], of=Picture):
    """How a graph is shown: as a tree, or drawn in the colours of a theme."""

    computed: ClassVar[Values] = {"nodes.inputs": lambda node: [edge.node for edge in node.inputs]}
    remembers_units = False
    extra_formats = ("tikz", "dot", "mermaid", "svg", "png", "pdf")

    depth: int | None = None
    theme: Theme = "auto"
    binary: bool = False
    way: Way = "auto"
    partials: bool = False
    width: int | None = None

    def document(self, picture: Picture) -> Iterator[Block]:
        for root in picture.graph.roots:
            tree = outline(
                picture.graph, root, depth=self.depth, digits=self.digits, binary=self.binary
            )
            yield tree._replace(note=tree.note.replace(", `--no-tree` none", ""))

    def draw(self, picture: Picture, format: str) -> str | bytes:
        from .pictures.scene import Choices

        write = getattr(
            import_module(f".pictures.{WRITERS.get(format, 'drawings')}", __package__), format
        )
        choices = Choices(self.digits, self.theme, self.way, self.partials, self.width)
        drawing: str | bytes = write(picture if self.binary else gather(picture), choices)
        return drawing.encode() if isinstance(drawing, str) and format != "tikz" else drawing


def graph_in_notebook(answer: Gradient[Any], digits: int | None, *, binary: bool) -> str | None:
    """Return the graph of a gradient as SVG for a notebook; None if it is larger than a tree that
    is drawn whole.
    """
    picture = picture_of(answer)
    picture = picture if binary else gather(picture)
    if len(picture.nodes) > MAX_LINES:
        return None
    from .pictures.drawings import svg_in_notebook

    return svg_in_notebook(picture, digits)


# The table of other answers is a tree here.
FORMATS = ("tree", *(name for name in PictureView().formats if name != "table"))


def writer_of(format: str) -> str:
    """Return the writers' name of a format."""
    return "table" if format == "tree" else format


def drawn_as(path: str) -> str:
    """Return the writers' name of the format of a file."""
    from ...show.formats import format_of  # a graph on a terminal is written by Rich alone

    return writer_of(format_of(None, path, FORMATS, "tree"))


def outline(
    graph: Graph,
    root: int | None = None,
    *,
    depth: int | None = None,
    digits: int | None = None,
    binary: bool = False,
) -> Outline:
    """Return the outline of a graph, each node drawn in full once."""
    roots = None if root is None else (root,)
    tree = _Tree(to_picture(graph, roots=roots, chains=not binary, partials=False), depth)
    rows, hidden, cut = tree.walk()
    nodes, numbers = tree.picture.nodes, tree.picture.numbers
    marks: dict[int, int] = {}
    referred = {k for _, k, again, _, more in rows if again and nodes[k].operation and not more}
    branches = []
    for rails, k, again, times, more in rows:
        if more:
            branches.append(OutlineRow(rails, ((f"… {more:,} more terms", "faint"),)))
            continue
        node, cells = nodes[k], tuple[str, ...]()
        mark = f"#{marks.setdefault(k, len(marks) + 1)}" if k in referred else ""
        remarks = _remarks(mark, times, again, is_cut=k in hidden)
        if numbers and not again:
            data = quantity_text(node.value, node.unit, digits)
            cells = data, quantity_text(node.adjoint, node.grad_unit, digits)
        branches.append(OutlineRow(rails, (*_name(node, digits, short=again), *remarks), cells))
    note = _note_of_rest(rows, len(nodes), cut)
    return Outline(("node", "data", "grad") if numbers else ("node",), branches, note)


def _remarks(mark: str, times: int, again: bool, *, is_cut: bool) -> Pieces:
    """Return what stands behind a node: how often it is an input, its mark or where it is drawn,
    what is left out.
    """
    remarks: Pieces = ((f"  ({times:,} times)", "faint"),) if times > 1 else ()
    if again:
        return (*remarks, (f"  (see {mark or 'above'})", "faint"))
    if mark:
        remarks += ((f"  {mark}", "faint"),)
    return (*remarks, ("  …", "faint")) if is_cut else remarks


def _note_of_rest(rows: Iterable[_Row], nodes: int, cut: bool) -> str:
    """Return the note on nodes that a tree leaves out; nothing if it is whole."""
    left = nodes - len({k for _, k, again, _, _ in rows if not again})
    if not left and not cut:
        return ""
    what = f"{left:,} of {nodes:,} nodes" if left else "further uses of the same nodes"
    return f"… {what} not drawn; `--depth N` draws N levels, `--no-tree` none"


def _name(node: PictureNode, digits: int | None, short: bool = False) -> Pieces:
    name: Pieces = ((node.label, "name"),) if node.label else ()
    if not node.operation:
        literal = node.literal
        return name or (
            (literal if isinstance(literal, str) else format_number(literal, digits), "number"),
        )
    operation: Pieces = ((node.operation, "operator"),)
    return operation if not name else name if short else (*name, (" = ", "faint"), *operation)


# A line: rails, node, whether drawn before, times, more terms.
_Row = tuple[tuple[bool, ...], int, bool, int, int]


class _Tree:
    def __init__(self, picture: Picture, depth: int | None) -> None:
        self.picture = picture
        (self.root,) = picture.outputs
        self.fits = depth is None
        self.large = len(picture.nodes) > MAX_LINES
        self.levels = self._levels() if depth is None else depth

    def _levels(self) -> int:
        sizes = [1]
        seen = {self.root}
        level = [self.root]
        while level and len(sizes) <= MAX_LEVELS and sum(sizes) <= MAX_LINES:
            children = [child for k in level for child, _ in self._terms(k)[0]]
            level = [child for child in dict.fromkeys(children) if child not in seen]
            seen.update(level)
            sizes.append(len(children))
        if sum(sizes) <= MAX_LINES and not level:
            return len(sizes)
        return max(
            1, sum(count <= MAX_LINES for count in islice(accumulate(sizes), 1, CUT_DEPTH + 1))
        )

    def _terms(self, k: int) -> tuple[Sequence[tuple[int, int]], int]:
        node = self.picture.nodes[k]
        if not node.inputs:
            return (), 0
        inputs = [edge.node for edge in node.inputs]
        terms = (
            [(p, 1) for p in inputs]
            if node.ordered or len(inputs) < 3
            else [*Counter(inputs).items()]
        )
        if not self.fits or len(terms) <= MANY_ALIKE:
            return terms, 0
        drawn = MAX_FOLDED_TERMS if self.large and len(terms) > MAX_TERMS else len(terms)
        if is_unrolled(self.picture.graph, (self.picture.order[p] for p, _ in terms)):
            drawn = DRAWN_ALIKE
        return terms[:drawn], len(terms) - drawn

    def walk(self) -> tuple[list[_Row], set[int], bool]:
        """Return the lines, the nodes whose inputs are left out, and whether lines are."""
        rows: list[_Row] = []
        expanded: set[int] = set()
        hidden: set[int] = set()
        stack: list[tuple[tuple[bool, ...], int, int, int]] = [((), self.root, 1, 0)]
        while stack:
            rails, k, times, more = stack.pop()
            if self.fits and len(rows) >= MAX_LINES:
                return rows, hidden, True
            again = k in expanded
            rows.append((rails, k, again or more > 0, times, more))
            if again or more:
                continue
            if self.picture.nodes[k].inputs and len(rails) >= self.levels:
                hidden.add(k)
                continue
            expanded.add(k)
            hidden.discard(k)
            terms, more = self._terms(k)
            last = len(terms) - (not more)
            shown = terms[: MAX_LINES + 1] if self.fits else terms
            if more:
                stack.append(((*rails, False), k, 1, more))
            stack += [
                ((*rails, index < last), *term, 0)
                for index, term in reversed(list(enumerate(shown)))
            ]
        return rows, hidden, False
