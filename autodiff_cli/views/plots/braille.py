"""Plots on a terminal, in braille characters by uniplot, or in ASCII."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any

from ...curves.contours import Surface, refine_surface
from ...curves.plot import Curve
from ...curves.sampling import Point as Place
from ...curves.sampling import Stretch
from ...errors import require
from ..characters import Terminal
from ..document import Drawing
from .frame import FUNCTIONS, TOUCHED, Frame, Look, Series, panels, path_of, rows_of

WIDTH = 72
HEIGHT = 20
_CHARACTERS = {"blue": "*", "red": "o", "green": ".", "yellow": "#", "magenta": "@", "cyan": "+", "white": "x"}


def drawings(plot: Curve | Surface, names: Sequence[str]) -> list[Drawing]:
    """Return the plot as one drawing, or as two below each other under `names`.

    They raise `ExpressionError` without the libraries of `plot`.
    """
    if isinstance(plot, Surface):
        return [Drawing("", partial(_surface, plot))]
    plot = plot.in_logs() if plot.log else plot
    sides = (plot.low, plot.high)
    (frame, series), *lower = panels(plot, names, False)
    if not lower:
        return [Drawing("", partial(_drawing, series, sides, frame, HEIGHT))]
    titled = zip(names, [(frame, series), *lower], strict=False)
    return [Drawing(name, partial(_drawing, part, sides, frame, HEIGHT * 2 // 3)) for name, (frame, part) in titled]


def _surface(surface: Surface, look: Terminal) -> str:
    numpy, contourpy = library("numpy"), library("contourpy")
    across, up, heights = refine_surface(surface)
    generator: Any = contourpy.contour_generator(across, up, numpy.ma.masked_invalid(heights))
    levels = surface.levels if len(surface.levels) <= 8 else surface.levels[::2]
    pieces = [tuple((float(x), float(y)) for x, y in line) for level in levels for line in generator.lines(level)]
    series = [Series(FUNCTIONS[0], pieces), *path_of(surface, "red", "")]
    if surface.point is not None:
        series += [Series(Look("green", 0, ""), arrow(surface)), Series(TOUCHED, [(surface.point,)])]
    frame = Frame(surface.y[0], surface.y[-1])
    return _drawing([*series, *rows_of(surface)], (surface.x[0], surface.x[-1]), frame, HEIGHT + 4, look)


def arrow(surface: Surface, share: float = 0.14) -> list[Stretch]:
    """Return the shaft and the head of the gradient; nothing where it is 0."""
    if surface.point is None or surface.gradient is None or not any(surface.gradient):
        return []
    width, height = surface.x[-1] - surface.x[0], surface.y[-1] - surface.y[0]
    # as long as this share of the drawing, in whichever direction it points
    largest = max(abs(surface.gradient[0]) / width, abs(surface.gradient[1]) / height)
    dx, dy = surface.gradient[0] / largest * share, surface.gradient[1] / largest * share
    x, y = surface.point
    tip = (x + dx, y + dy)
    u, v = dx / width, dy / height
    head = [(tip[0] - width * (0.3 * u + s * 0.2 * v), tip[1] - height * (0.3 * v - s * 0.2 * u)) for s in (1, -1)]
    return [(surface.point, tip), (head[0], tip, head[1])]


def _drawing(series: Sequence[Series], sides: tuple[float, float], frame: Frame, height: int, look: Terminal) -> str:
    numpy = library("numpy")
    # uniplot does without numba, which takes seconds to import
    absent = sys.modules.setdefault("numba", None) is None  # type: ignore[arg-type]
    try:
        uniplot = library("uniplot")
    finally:
        if absent:
            del sys.modules["numba"]
    across, up = _unit(*sides), _unit(*frame)
    width = max(20, min(look.width or WIDTH + 12, 100) - 12)
    # a block of dots, or one character
    dx, dy = (sides[1] - sides[0]) / (2 * width), (frame.high - frame.low) / (4 * height)
    block = [(i * dx, j * dy) for i in (-1, 0, 1) for j in (-1, 0, 1)] if look.unicode else [(0.0, 0.0)]
    drawn: list[tuple[Look, list[Place]]] = []
    for drawn_as, pieces, _ in series:
        if drawn_as.every is None:
            places = [(x, y) for ((x, y), *_) in pieces if sides[0] <= x <= sides[1] and frame.low <= y <= frame.high]
            points = [(x + dx, y + dy) for x, y in places for dx, dy in block]
        else:
            gap = ((math.nan, math.nan),)
            joined = chain.from_iterable([(*gap * (k > 0), *piece) for k, piece in enumerate(pieces)])
            points = [*(_dots(pieces, drawn_as.every, sides, frame) if drawn_as.every else joined)]
        if points and drawn_as.terminal:  # not all of it lies outside
            drawn.append((drawn_as, points))
    text: str = uniplot.plot_to_string(
        xs=[numpy.array([x / across for x, _ in points]) for _, points in drawn],
        ys=[numpy.array([y / up for _, y in points]) for _, points in drawn],
        lines=[drawn_as.every == 0 for drawn_as, _ in drawn],
        width=width,
        height=height,
        color=[drawn_as.terminal for drawn_as, _ in drawn],
        character_set="braille" if look.unicode else "ascii",
        force_ascii_characters=[_CHARACTERS[drawn_as.terminal] for drawn_as, _ in drawn],
        x_min=sides[0] / across,
        x_max=sides[1] / across,
        y_min=frame.low / up,
        y_max=frame.high / up,
        x_unit="" if across == 1 else f"·{across:g}",
        y_unit="" if up == 1 else f"·{up:g}",
    )
    if not look.color:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    if look.unicode:
        return text
    # the frame and the axes in ASCII too
    return text.translate(str.maketrans("┌┐└┘─│▁▔▏▕┼", "++++-|--||+")).encode("ascii", "replace").decode()


def _unit(low: float, high: float) -> float:
    exponent = math.floor(math.log10(max(abs(low), abs(high))))
    return 1.0 if -6 <= exponent <= 9 else float(f"1e{max(exponent, -300)}")


def _dots(pieces: Sequence[Stretch], every: float, sides: tuple[float, float], frame: Frame) -> Iterator[Place]:
    across, up = sides[1] - sides[0], (frame.high - frame.low) * 2.2
    for piece in pieces:
        left = 0.0
        yield piece[0]
        for (a, at_a), (b, at_b) in pairwise(piece):
            length = ((((b - a) / across) ** 2) + (((at_b - at_a) / up) ** 2)) ** 0.5
            while length > 0 and left + every <= length:
                left += every
                share = left / length
                yield a + share * (b - a), at_a + share * (at_b - at_a)
            left -= length


def library(module: str) -> Any:
    """Return a library. Raises a usage error where it is not installed."""
    message = "drawing needs the libraries of the extra `plot`"
    return require(module, "plot", message, "; the formats json, jsonl, csv, tsv and plain need nothing")
