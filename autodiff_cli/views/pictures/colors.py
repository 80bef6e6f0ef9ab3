"""The colours of pictures of graphs, the same in every format."""

from __future__ import annotations

from typing import NamedTuple


class Colors(NamedTuple):
    """The colours of a theme; text is held to a contrast of at least 4.5 by a test."""

    paper: str
    text: str
    faint: str
    line: str
    edge: str
    box: str
    variable: str
    operation: str
    operation_edge: str
    result: str


class Look(NamedTuple):
    """How a kind of shape is drawn: which colours fill it and draw its edge, and how wide that is."""

    fill: str
    edge: str
    width: float


LOOKS = {
    "box": Look("box", "edge", 1),
    "variable": Look("variable", "edge", 1),
    "result": Look("result", "edge", 1.5),
    "operation": Look("operation", "operation_edge", 1.5),
    "operation result": Look("result", "operation_edge", 1.5),
    "line": Look("", "line", 1.2),
    "rule": Look("", "edge", 1),
    "head": Look("line", "", 0),
}

LIGHT = Colors(
    "#ffffff", "#0f172a", "#526073", "#64748b", "#64748b", "#f8fafc", "#dbeafe", "#fef3c7", "#b45309", "#dcfce7"
)
DARK = Colors(
    "#0f172a", "#f1f5f9", "#b6c2d4", "#8595ab", "#8595ab", "#1e293b", "#1e3a6e", "#54330c", "#f5a524", "#14532d"
)
