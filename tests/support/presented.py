"""Reads presentation MathML back into the language, as whoever looks at it reads it: to see what it
means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SPACE = "{http://www.w3.org/1998/Math/MathML}"
TIMES, APPLY = "\u2062", "\u2061"

FUNCTIONS = {
    "ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsec": "asec",
    "arccsc": "acsc", "arccot": "acot", "arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh",
    "arsech": "asech", "arcsch": "acsch", "arcoth": "acoth", "sgn": "sign", "Γ": "gamma",
    "ψ": "digamma", "B": "beta", "ζ": "zeta",
}  # fmt: skip
SIGNS = {TIMES: "*", "⋅": "*", "×": "*", "−": "-", "+": "+", "/": "/", ",": ",", "≤": "<=", "≥": ">=", "≠": "!=",
         "=": "==", "<": "<", ">": ">"}  # fmt: skip


def parsed(text: str) -> Element:
    """The tree of a whole `math` element, whose parts are all of MathML's."""
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SPACE}math"
    counts = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "mroot": 2, "msqrt": None}
    for each in root.iter():
        tag = each.tag.removeprefix(SPACE)
        assert tag in {
            *counts,
            "math",
            "mrow",
            "mi",
            "mn",
            "mo",
            "mtext",
            "mspace",
            "mtable",
            "mtr",
            "mtd",
        }, tag
        assert counts.get(tag) in (None, len(each)), ElementTree.tostring(each, "unicode")
        assert (each.text or "").strip() == "" or tag in ("mi", "mn", "mo", "mtext")
    return root


class Reading:
    """What a formula says, in the language; `names` are those of its variables, by their XML."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def text(self, element: Element) -> str:
        """One element that stands by itself, in parentheses where it has parts."""
        tag = element.tag.removeprefix(SPACE)
        name = self.names.get(plain(element))
        if name is not None:
            return name
        by_tag: dict[str, Callable[[Element], str]] = {
            "mn": lambda e: str(e.text),
            "mi": lambda e: {"π": "pi"}.get(str(e.text), str(e.text)),
            "mfrac": lambda e: f"(({self.text(e[0])})/({self.text(e[1])}))",
            "msqrt": lambda e: f"sqrt({self.row([*e])})",
            "mroot": lambda e: f"cbrt({self.text(e[0])})",
            "msup": lambda e: f"(({self.text(e[0])})**({self.text(e[1])}))",
            "mrow": self.group,
        }
        return by_tag[tag](element)

    def group(self, element: Element) -> str:
        """A row: with signs around it, or alone."""
        first, last = element[0], element[-1]
        signs = (first.text, last.text) if first.tag == last.tag == f"{SPACE}mo" else ("", "")
        around = {("(", ")"): "(", ("|", "|"): "abs(", ("⌊", "⌋"): "floor(", ("⌈", "⌉"): "ceil("}
        if first.tag == f"{SPACE}mo" and first.text == "{":
            return self.cases(element[1])
        if signs in around:
            return around[signs] + self.row(element[1:-1]) + ")"
        return f"({self.row([*element])})"

    def cases(self, table: Element) -> str:
        """A choice, a line a case."""
        *lines, last = table
        text = self.row([*last[0]])
        assert "".join(last[1].itertext()).strip() == "otherwise"
        for line in reversed(lines):
            head, *condition = line[1]
            assert (head.text or "").strip() in ("if", "else if")
            text = f"where({self.condition(condition)}, {self.row([*line[0]])}, {text})"
        return text

    def condition(self, elements: Sequence[Element]) -> str:
        """A condition: `and`, `or` and `not` are words."""
        return self.row(elements)

    def row(self, elements: Sequence[Element]) -> str:
        """Elements beside each other."""
        written: list[str] = []
        rest = [e for e in elements if e.tag != f"{SPACE}mspace"]
        while rest:
            element = rest.pop(0)
            if element.tag == f"{SPACE}mo":
                written.append(SIGNS[str(element.text)])
            elif element.tag == f"{SPACE}mtext":
                written.append(f" {str(element.text).strip()} ")
            elif rest and rest[0].tag == f"{SPACE}mo" and rest[0].text == APPLY:
                rest.pop(0)
                written.append(self.applied(element, rest.pop(0)))
            else:
                written.append(self.text(element))
        return "".join(written)

    def applied(self, head: Element, argument: Element) -> str:
        """A function of what follows it."""
        inside = self.group(argument)
        inside = inside[1:-1] if inside.startswith("(") else inside
        if head.tag == f"{SPACE}msub":
            assert head[0].text == "log"
            return f"log({inside}, {self.text(head[1])})"
        if head.tag == f"{SPACE}msup" and head[0].text == "ψ":
            return f"polygamma({self.text(head[1])[1:-1]}, {inside})"
        if head.tag == f"{SPACE}msup":
            return f"({self.applied(head[0], argument)}**{self.text(head[1])})"
        name = str(head.text)
        return f"{FUNCTIONS.get(name, name)}({inside})"


def plain(element: Element) -> str:
    """The XML of an element, without the namespace."""
    copy = ElementTree.tostring(element, "unicode")
    return copy.replace(' xmlns:ns0="http://www.w3.org/1998/Math/MathML"', "").replace("ns0:", "")
