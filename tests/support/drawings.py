"""Drawings to be measured: pictures of graphs of a given size, and what lies where in an SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from random import Random
from typing import NamedTuple

from autodiff_cli.capabilities.graph.graph import Picture, picture
from autodiff_cli.capabilities.graph.pictures.layout import Size, layered_layout
from autodiff_cli.capabilities.graph.pictures.scene import FONT

SVG = "{http://www.w3.org/2000/svg}"
WIDEST = 0.62 * FONT
"""What a character takes in the widest of the usual fonts of one width."""


def size(shape: str, count: int) -> Picture:
    """A picture with about so many nodes."""
    if shape == "chain":  # one variable that all of it uses
        text = "+".join(["x"] * count)
    elif shape == "tree":  # a balanced product of different variables
        names = [f"x{k}" for k in range((count + 1) // 2)]
        while len(names) > 1:
            names = [f"({'*'.join(names[k : k + 2])})" for k in range(0, len(names), 2)]
        text = names[0]
    elif shape == "powers":  # a wide one, with constants
        text = "sum(" + ",".join(f"{k}*x**{k}" for k in range(2, 2 + max(count // 4, 1))) + ")"
    else:  # names that are used far apart
        lines = ["a = x*y", "b = a - x"]
        for k in range(2, count - 3):
            lines.append(
                f"v{k} = {f'v{k // 2}' if k > 4 else 'x'} {'-*+/'[k % 4]}"
                f" {f'v{k - 1}' if k > 2 else 'b'}"
            )
        text = "\n".join([*lines, f"v{count - 4} + a" if count > 6 else "a + b"])
    names = [node.label for node in picture(text, symbolic=True).nodes if node.variable]
    return picture(text, {name: 1 + 0.001 * k for k, name in enumerate(names)})


class Box(NamedTuple):
    """A rectangle of a drawing."""

    left: float
    top: float
    right: float
    bottom: float


def boxes(root: ET.Element) -> list[Box]:
    """The boxes of a drawing, operations as well."""
    found = []
    for each in root.iter(f"{SVG}rect"):
        if each.get("class") != "paper":
            x, y, width, height = (
                float(each.get(name, "")) for name in ("x", "y", "width", "height")
            )
            found.append(Box(x, y, x + width, y + height))
    return found


def overlaps(found: list[Box]) -> int:
    """How many pairs of boxes lie on each other."""
    return sum(
        a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom
        for a, b in combinations(found, 2)
    )


def cut(root: ET.Element, found: list[Box]) -> list[str]:
    """The texts that do not fit into the box that they are in, up to the next rule or text in
    it.
    """
    wrong = []
    rules = [tuple(map(float, re.findall(r"-?[\d.]+", each.get("d", ""))))[:2]
             for each in root.iter(f"{SVG}path") if each.get("class") == "rule"]  # fmt: skip
    texts = [(float(t.get("x", "")), float(t.get("y", "")), float(t.get("textLength", "")), t.text or "")
             for t in root.iter(f"{SVG}text")]  # fmt: skip
    for x, y, length, text in texts:
        home = [box for box in found if box.left <= x <= box.right and box.top <= y <= box.bottom]
        if len(home) != 1:
            wrong.append(text)
            continue
        ends = [
            home[0].right,
            *(rx for rx, ry in rules if x < rx < home[0].right and ry == home[0].top),
        ]
        ends += [other for other, height, *_ in texts if height == y and x < other < home[0].right]
        # `textLength` holds everywhere; what is short also fits where nobody minds it
        if x + max(length, len(text) * WIDEST if text.isascii() and len(text) < 30 else 0.0) > min(
            ends
        ):
            wrong.append(text)
    return wrong


def points(path: str) -> list[tuple[float, float]]:
    """Points along a path of M, L, C, H and V."""
    found: list[tuple[float, float]] = []
    for command, rest in re.findall(r"([MLCHV])([^MLCHV]*)", path):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", rest)]
        if command == "M":
            found.append((numbers[0], numbers[1]))
        elif command == "C":
            (x0, y0), (x1, y1, x2, y2, x3, y3) = found[-1], numbers
            for k in range(1, 17):
                t = k / 16
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                found.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
        else:
            x, y = found[-1]
            end_x = x if command == "V" else numbers[0]
            end_y = y if command == "H" else numbers[-1]
            found += [(x + (end_x - x) * k / 8, y + (end_y - y) * k / 8) for k in range(1, 9)]
    return found


def struck(root: ET.Element, found: list[Box]) -> int:
    """How many boxes a line runs into otherwise than at its end."""
    columns: dict[int, list[Box]] = {}
    for box in found:
        for part in range(int(box.left) // 50, int(box.right) // 50 + 1):
            columns.setdefault(part, []).append(box)
    return sum(
        box.left + 0.6 < x < box.right - 0.6 and box.top + 0.6 < y < box.bottom - 0.6
        for each in root.iter(f"{SVG}path")
        if (each.get("class") or "").startswith("line")
        for x, y in points(each.get("d", ""))
        for box in columns.get(int(x) // 50, ())
    )


def tangle(random: Random, count: int = 30) -> Picture:
    """A picture of bindings that take any earlier ones."""
    names, lines = list("abcde"), []
    for k in range(count):
        lines.append(
            f"v{k} = {random.choice(names)} {random.choice('+-*')} {random.choice(names[-6:])}"
        )
        names.append(f"v{k}")
    return picture("\n".join([*lines, names[-1]]), symbolic=True)


def crossings(drawn: Picture) -> int:
    """How often the lines of a picture cross between two columns."""
    inputs = [list(dict.fromkeys(each.node for each in node.inputs)) for node in drawn.nodes]
    layout = layered_layout(
        [Size(20, 10, 10)] * len(inputs), inputs, drawn.outputs, [False] * len(inputs)
    )
    lines = [
        (layout.lefts[a], layout.corners[a][1], layout.corners[b][1]) for a, b, _ in layout.segments
    ]
    return sum(
        a[0] == b[0] and (a[1] - b[1]) * (a[2] - b[2]) < 0 for a, b in combinations(lines, 2)
    )
