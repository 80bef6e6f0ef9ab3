"""Implicit curves: where equations of two variables hold, all branches in a rectangle."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...api.api_answers import Drawing
from ...compiled.evaluator import Evaluator
from ...engine.graphs.value_and_gradient import value_and_gradient
from ...engine.numbers import budget
from ...engine.numbers.budget import Defined
from ...engine.numbers.floats import REAL
from ...engine.table.primitive import FUNCTIONS
from ...errors import Diagnostic, ExpressionError, limit_error, plural, quote, usage_error
from ...language.builder import Program
from ...language.equation_trees import is_head, split_equations
from ...language.tokens import EQUALS
from ...questions.parse_point import Range
from ...questions.problem import check_values
from ...record import Record
from .sampling import Stretch

if TYPE_CHECKING:
    from ...questions.quantities import Units

# Cells of a side.
GRID = 256
# Larger cells of a side, in which the equation is enclosed.
COVER = 64
FIRST_GRID = 8
# Steps of work of an enclosure.
BOX = 40
# The most boxes over which an equation is enclosed, some 100 to 500 µs each.
MAX_BOXES = 8_000
# Halvings of a cell that may hold a curve without a change of sign.
REFINEMENTS = 2
# The number of colours.
MAX_EQUATIONS = 6
# Steps towards a root on an edge; a third of them, its halvings, reach a share of 1e-12.
MAX_HALVINGS = 120
# The residual on a curve, relative to that at the ends of an edge: at a jump or a pole it stays
# larger.
MAX_SHARE_AT_ROOT = 1e-9
# The half side of the square in which a curve is looked for if no range is given.
FARTHEST = 100.0
# The half side of the square that is drawn of curves that leave it.
USUAL = 5.0
# The margin around a whole curve, relative to its size.
ROOM = 0.1
# The distance from a curve, relative to the ranges, of a point that is on it.
NEAR = 1e-9
Rectangle = tuple[tuple[float, float], tuple[float, float]]
Cell = tuple[int, int]
# The place of a corner, and whether the edge goes up from it.
Edge = tuple[int, int, bool]
Height = Callable[[float, float], float | None]


class Decider(Protocol):
    """Tells whether an equation holds all over a rectangle, or nowhere; None if undecided."""

    def __call__(self, box: Rectangle, *, closely: bool = False) -> bool | None:
        """Enclose the residual over the box, and `closely` by its slopes too."""


class EquationCurve(Record):
    """Where one equation holds."""

    equation: str
    branches: tuple[Stretch, ...]
    undecided: tuple[Stretch, ...]
    """Rectangles, by two corners, where it may hold without a change of sign."""


class CurveTangent(NamedTuple):
    """The tangent of a curve at a point, by the gradient of the equation there."""

    point: tuple[float, float]
    normal: tuple[float, float]


class ImplicitPlot(Drawing, shows=("text", "variables")):
    """Curves of equations in two variables."""

    declaration = """
    variables: the variables that it is drawn over
    range: the range of each
    held from=fixed: the variables that are held fixed, by name
    curves: the curve of each equation
      equation: its text
      branches: lists of points, one for each branch
      undecided: rectangles, by two corners, in which it is not decided whether the equation holds
    tangent: the tangent at the point: its `point`, and its `normal`; null without one
    units
    warnings
    """

    text: str
    variables: tuple[str, str]
    x: tuple[float, float]
    y: tuple[float, float]
    curves: tuple[EquationCurve, ...]
    fixed: dict[str, float]
    tangent: CurveTangent | None
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None


def implicit_equations(text: str) -> bool:
    """Return whether a text has an equation that neither binds a name nor defines a function.

    >>> implicit_equations("x**2 + y**2 = 25"), implicit_equations("y = x**2"), implicit_equations("f(x) = x; f(2)")
    (True, False, False)
    """
    if "=" not in text:
        return False
    try:
        statements = split_equations(text)
    except ExpressionError:
        return False
    signed = [
        (part.tokens[: part.sign], part.tokens[part.sign])
        for part in statements
        if part.sign is not None
    ]
    for left, sign in signed:
        name = text[left[0][1] : left[0][2]] if left else ""
        if len(left) > 1 and sign[0] == EQUALS and (not is_head(left) or name in FUNCTIONS):
            return True
    return False


def two_variables(
    program: Program, chosen: Sequence[str], values: Mapping[str, float]
) -> tuple[str, str]:
    """Return the variables of the axes, by default those without a value. Raises a usage error
    unless they are two.
    """
    names = [*program.leaves]
    for name in chosen:
        if name not in names:
            raise usage_error(
                f"`{name}` is not a variable of these equations", f"their variables: {quote(names)}"
            )
    free = [name for name in names if name not in values]
    wanted = (
        [*chosen] if len(chosen) == 2 else sorted({*chosen, *(free if len(names) > 2 else names)})
    )
    if len(wanted) == 2:
        return wanted[0], wanted[1]
    if len(names) == 1:
        hint = f"`autodiff solve` finds `{names[0]}`"
        raise usage_error("the curve of an equation has two variables, and this one has one", hint)
    hint = "give the others values, `--at …`, or say over which: `--wrt x,y`"
    raise usage_error(
        f"the curve of an equation is drawn over two variables, and there are {len(wanted)}", hint
    )


def implicit_plot(
    program: Program,
    texts: Sequence[str],
    names: tuple[str, str],
    values: Mapping[str, float],
    ranges: Mapping[str, Range],
    pointed: bool,
) -> ImplicitPlot:
    """Return the curves of equations, the outputs of a program, over two variables, with the
    tangent at a point.
    """
    count = len(program.roots)
    if count > MAX_EQUATIONS:
        raise limit_error(
            f"{count} equations are too many for one plot", f"draw {MAX_EQUATIONS} at most"
        )
    assumed = {**dict.fromkeys(names, 0.0), **values}
    warnings = [*check_values(program, assumed)]
    parts = [program.with_outputs((root,), program.text) for root in program.roots]
    heights = [_height(part, names, assumed) for part in parts]
    tests = [_decider(part, names, assumed) for part in parts]
    box = _box(
        names, values, ranges, [test for test in tests if test is not None], warnings, pointed
    )
    curves: list[EquationCurve] = []
    for text, height, decide in zip(texts, heights, tests, strict=True):
        tracer = BranchTracer(height, decide, box)
        curves.append(EquationCurve(text, tuple(tracer.branches()), tuple(tracer.undecided)))
        warnings += tracer.warnings(text, names)
    fixed = {name: x for name, x in values.items() if name not in names and name in program.leaves}
    tangent = _tangent(parts, names, assumed, box, warnings) if pointed else None
    return ImplicitPlot(program.text, names, *box, tuple(curves), fixed, tangent, tuple(warnings))


class _Unexamined(Exception):
    """There are more boxes than an answer may take."""


def _height(program: Program, names: tuple[str, str], values: Mapping[str, float]) -> Height:
    evaluator = Evaluator(program, names)
    here = [values[name] for name in evaluator.variables]
    places = [
        evaluator.variables.index(name) if name in evaluator.variables else None for name in names
    ]

    def height(*at: float) -> float | None:
        for place, x in zip(places, at, strict=True):
            if place is not None:
                here[place] = x
        with Defined():
            return evaluator.value(here)
        return None

    return height


def _decider(
    program: Program, names: tuple[str, str], values: Mapping[str, float]
) -> Decider | None:
    try:
        from flint import arb
    except ImportError:
        return None
    from ...engine.numerics.krawczyk import ENCLOSURE_BITS, Krawczyk, boxes

    balls = boxes(ENCLOSURE_BITS)
    others = {name: balls.number(x) for name, x in values.items() if name not in names}
    equation = Krawczyk(program.outputs, names, others, balls)
    left = MAX_BOXES

    def decide(box: Rectangle, *, closely: bool = False) -> bool | None:
        nonlocal left
        if left <= 0:
            raise _Unexamined
        left -= 1
        budget.charge(BOX)
        sides = [arb(low).union(arb(high)) for low, high in box]
        with Defined(ArithmeticError, ValueError):
            holds = equation.decide(sides)
            return False if holds is None and closely and excluded(sides) else holds
        return None

    def excluded(sides: list[Any]) -> bool:
        # the mean value form is the narrower one where the box is small
        middle = [side.mid() for side in sides]
        (at_middle,), _ = equation.evaluate(middle)
        _, (slopes,) = equation.evaluate(sides)
        form = at_middle
        for slope, side, centre in zip(slopes, sides, middle, strict=True):
            form += slope * (side - centre)
        return not form.contains(0)

    return decide


def _box(
    names: tuple[str, str],
    values: Mapping[str, float],
    ranges: Mapping[str, Range],
    tests: Sequence[Decider],
    warnings: list[Diagnostic],
    pointed: bool,
) -> Rectangle:
    """Return the ranges to draw: those given, else those of the whole curve if all of it is near,
    else usual ones.
    """
    across, up = (_numbers_of(ranges.get(name)) for name in names)
    if across is not None and up is not None:
        return across, up
    point = [abs(values[name]) for name in names] if pointed else []
    reach = max([USUAL, *(2 * x for x in point)])
    far = max(FARTHEST, reach)
    try:
        whole = _whole(
            (across or (-far, far), up or (-far, far)), tests, (across is not None, up is not None)
        )
    except _Unexamined:
        whole = None
    if whole is not None:
        return across or whole[0], up or whole[1]
    warnings.append(_note_on_range(names, reach, far))
    return across or (-reach, reach), up or (-reach, reach)


def _numbers_of(ends: Range | None) -> tuple[float, float] | None:
    return None if ends is None else (float(ends.ends[0]), float(ends.ends[1]))


def _note_on_range(names: tuple[str, str], reach: float, far: float) -> Diagnostic:
    example = ",".join(f"{name}={-reach:g}:{reach:g}" for name in names)
    message = (
        f"drawn from {-reach:g} to {reach:g}: no range is given, and the curve goes on beyond"
        f" {far:g} or may do so"
    )
    return Diagnostic("note", message, None, f"choose another range: `--range {example}`")


def _whole(far: Rectangle, tests: Sequence[Decider], given: tuple[bool, bool]) -> Rectangle | None:
    """Return a rectangle with everything that is in a far larger one; None if something reaches its
    sides.
    """
    box = far
    for _ in range(8):
        cells = [cell for decide in tests for cell in _cover(decide, box, 4 * FIRST_GRID)]
        if not cells:
            return None
        new: list[tuple[float, float]] = []
        for axis in (0, 1):
            numbers = [cell[axis] for cell in cells]
            step = (box[axis][1] - box[axis][0]) / (4 * FIRST_GRID)
            ends = (
                box[axis][0] + (min(numbers) - 1) * step,
                box[axis][0] + (max(numbers) + 2) * step,
            )
            if (
                box is far
                and not given[axis]
                and (min(numbers) == 0 or max(numbers) == 4 * FIRST_GRID - 1)
            ):
                return None
            new.append(
                box[axis]
                if given[axis]
                else (max(ends[0], box[axis][0]), min(ends[1], box[axis][1]))
            )
        small = new[0], new[1]
        done = all(_size(a) > 0.8 * _size(b) for a, b in zip(small, box, strict=True))
        box = small
        if done:
            break
    widest = max(map(_size, box))
    rounded = [_rounded(ends, max(_size(ends), widest / 4)) for ends in box]
    return rounded[0], rounded[1]


def _size(ends: tuple[float, float]) -> float:
    return ends[1] - ends[0]


def _rounded(ends: tuple[float, float], size: float) -> tuple[float, float]:
    step: float = 10.0 ** math.floor(math.log10(size)) / 10
    edge = ROOM / 2 * size
    return step * math.floor((ends[0] - edge) / step), step * math.ceil((ends[1] + edge) / step)


def _cover(decide: Decider, box: Rectangle, count: int) -> list[Cell]:
    """Return the cells of a grid in which an equation may hold."""
    size = FIRST_GRID
    cells = [(i, j) for j in range(size) for i in range(size)]
    while True:
        cells = [cell for cell in cells if decide(_part(box, cell, size)) is not False]
        if size >= count:
            return cells
        cells = [(2 * i + a, 2 * j + b) for i, j in cells for b in (0, 1) for a in (0, 1)]
        size *= 2


def _part(box: Rectangle, cell: Cell, size: int) -> Rectangle:
    (left, right), (low, high) = box
    i, j = cell
    across, up = (right - left) / size, (high - low) / size
    return (left + i * across, left + (i + 1) * across), (low + j * up, low + (j + 1) * up)


class BranchTracer:
    """Follows where an equation holds: cells that may hold some of it, edges where its residual
    changes sign.
    """

    def __init__(self, height: Height, decide: Decider | None, box: Rectangle) -> None:
        self.height, self.decide, self.box = height, decide, box
        # Whether small closed curves may be missing.
        self.unexamined = decide is None
        self.cells = self._covered()
        self._heights: dict[Cell, float | None] = {}
        self._roots: dict[Edge, tuple[float, float] | None] = {}
        self._joined: dict[Edge, list[Edge]] = {}
        # Cells that a branch passes through.
        self._crossed: set[Cell] = set()
        share = GRID // COVER
        for i, j in self.cells:
            for k in range(share * share):
                self._trace((share * i + k % share, share * j + k // share))

    def _covered(self) -> list[Cell]:
        if self.decide is not None:
            try:
                return _cover(self.decide, self.box, COVER)
            except _Unexamined:
                self.unexamined = True
        return [(i, j) for j in range(COVER) for i in range(COVER)]

    def _place(self, corner: Cell) -> tuple[float, float]:
        (left, right), (low, high) = self.box
        i, j = corner
        return left + (right - left) * i / GRID, low + (high - low) * j / GRID

    def _at(self, corner: Cell) -> float | None:
        if corner not in self._heights:
            budget.charge(budget.SAMPLE)
            self._heights[corner] = self.height(*self._place(corner))
        return self._heights[corner]

    def _trace(self, cell: Cell) -> None:
        i, j = cell
        edges: list[Edge] = [(i, j, False), (i + 1, j, True), (i, j + 1, False), (i, j, True)]
        crossed = [edge for edge in edges if self._root(edge) is not None]
        if crossed:
            self._crossed.add(cell)
        if len(crossed) % 2:
            # an odd one ends at a jump, a pole or the edge of the domain
            return
        if len(crossed) == 4:
            # at a saddle the centre shows which edges belong together
            (x0, x1), (y0, y1) = _part(self.box, cell, GRID)
            centre, corner = self.height((x0 + x1) / 2, (y0 + y1) / 2), self._at(cell)
            like = centre is not None and corner is not None and (centre < 0) == (corner < 0)
            crossed = [edges[k] for k in ((0, 1, 2, 3) if like else (3, 0, 1, 2))]
        for one, other in zip(crossed[::2], crossed[1::2], strict=False):
            self._joined.setdefault(one, []).append(other)
            self._joined.setdefault(other, []).append(one)

    def _root(self, edge: Edge) -> tuple[float, float] | None:
        if edge not in self._roots:
            self._roots[edge] = self._new_root(edge)
        return self._roots[edge]

    def _new_root(self, edge: Edge) -> tuple[float, float] | None:
        i, j, upwards = edge
        ends = (i, j), (i + (not upwards), j + upwards)
        one, other = map(self._at, ends)
        if one is None or other is None or (one < 0) == (other < 0):
            return None
        (x0, y0), (x1, y1) = map(self._place, ends)

        def along(t: float) -> float:
            height = self.height(x0 + t * (x1 - x0), y0 + t * (y1 - y0))
            return math.nan if height is None else height

        share = _root_between(along, one, other)
        return None if share is None else (x0 + share * (x1 - x0), y0 + share * (y1 - y0))

    def branches(self) -> Iterator[Stretch]:
        """Yield the branches: open ones from end to end, then closed ones."""
        left = {edge: [*others] for edge, others in self._joined.items()}
        ends = [edge for edge, others in left.items() if len(others) == 1]
        for start in [*ends, *left]:
            chain = [start]
            while left[chain[-1]]:
                following = left[chain[-1]].pop()
                left[following].remove(chain[-1])
                chain.append(following)
            if len(chain) > 1:
                yield tuple([root for edge in chain if (root := self._roots[edge]) is not None])

    @cached_property
    def undecided(self) -> list[Stretch]:
        """The cells away from all branches that may hold some of the curve."""
        try:
            return [] if self.unexamined else [*self._undecided()]
        except _Unexamined:
            self.unexamined = True
            return []

    def _undecided(self) -> Iterator[Stretch]:
        share = GRID // COVER
        crossed = {(i // share, j // share) for i, j in self._crossed}
        near = {(i + a, j + b) for i, j in crossed for a in (-1, 0, 1) for b in (-1, 0, 1)}
        for cell in self.cells:
            if cell not in near:
                yield from self._open_parts(_part(self.box, cell, COVER), REFINEMENTS)

    def _open_parts(self, part: Rectangle, depth: int) -> Iterator[Stretch]:
        """Yield the smallest parts in which the equation may hold."""
        assert self.decide is not None
        if self.decide(part, closely=True) is False:
            return
        if depth == 0:
            (x0, x1), (y0, y1) = part
            yield ((x0, y0), (x1, y1))
            return
        for cell in ((0, 0), (1, 0), (0, 1), (1, 1)):
            yield from self._open_parts(_part(part, cell, 2), depth - 1)

    def warnings(self, text: str, names: tuple[str, str]) -> Iterator[Diagnostic]:
        """Yield a warning of cells that are not decided."""
        cells = self.undecided
        if self.unexamined:
            message = (
                f"closed curves of `{text}` that are smaller than a cell of the grid, 1/{GRID} of a"
                " side, may be"
            )
            hint = (
                "give smaller ranges: `--range`" if self.decide else "install the extra `certified`"
            )
            yield Diagnostic("limit", f"{message} missing", None, hint)
        if not cells:
            return
        x, y = ((a + b) / 2 for a, b in zip(*cells[0], strict=True))
        first, second = names
        message = (
            f"in {plural(len(cells), 'cell')} of {GRID}·{GRID}, as around {first} = {x:.4g},"
            f" {second} = {y:.4g}, it is"
        )
        message += (
            f" not decided whether `{text}` holds: its sides may be equal there, but do not cross"
        )
        hint = "the cells are shaded; give smaller ranges: `--range`"
        yield Diagnostic("limit", message, None, hint)


def _tangent(
    parts: Sequence[Program],
    names: tuple[str, str],
    values: Mapping[str, float],
    box: Rectangle,
    warnings: list[Diagnostic],
) -> CurveTangent | None:
    """Return the tangent of the first curve that the point is on, or add a warning."""
    x, y = (values[name] for name in names)
    size = max(map(_size, box))
    for part in parts:
        try:
            swept = value_and_gradient(
                REAL, part.graph, values, [name for name in names if name in part.leaves]
            )
        except ExpressionError:
            continue
        normal = swept.gradient.get(names[0], 0.0), swept.gradient.get(names[1], 0.0)
        steepness = math.hypot(*normal)
        if steepness > 0 and abs(swept.value) <= NEAR * steepness * size:
            warnings += swept.warnings
            return CurveTangent((x, y), normal)
    where = ", ".join(f"{name} = {values[name]:g}" for name in names)
    message = f"no curve has a tangent at {where}: the point is on none, or the gradient is 0 there"
    warnings.append(Diagnostic("note", message, None, "give a point of the curve"))
    return None


def _root_between(
    function: Callable[[float], float], at_low: float, at_high: float
) -> float | None:
    """Return a root between 0 and 1 of a function that changes its sign there; None at a jump or a
    pole.
    """
    low, high, small = 0.0, 1.0, MAX_SHARE_AT_ROOT * max(abs(at_low), abs(at_high))
    for step in range(MAX_HALVINGS):
        # every third step halves, so that all converge
        share = (
            (low + high) / 2 if step % 3 == 2 else low - at_low * (high - low) / (at_high - at_low)
        )
        at_share = function(share)
        if abs(at_share) <= small:
            return share
        if (at_share < 0) == (at_low < 0):
            low, at_low = share, at_share
        else:
            high, at_high = share, at_share
    return None


def tangent_ends(plot: ImplicitPlot) -> Collection[Stretch]:
    """Return the tangent as a line across the rectangle; empty without one."""
    if plot.tangent is None:
        return ()
    (x, y), (a, b) = plot.tangent
    across, up = _size(plot.x), _size(plot.y)
    if abs(b) * up >= abs(a) * across:
        return [tuple([(end, y - a / b * (end - x)) for end in plot.x])]
    return [tuple([(x - b / a * (end - y), end) for end in plot.y])]
