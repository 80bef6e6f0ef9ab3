"""JavaScript as a target: a function that returns the value and an array of the derivatives."""

from __future__ import annotations

import re

from ..errors import quoted
from ..graphs.adjoint import Recording
from ..language.printer import assembled
from ..table.binding import COMPARISON, SUM
from ..table.names import by_name, native
from .curly import Curly
from .python import named, needed
from .target import Unit, words


class JavaScript(Curly):
    """JavaScript with its `Math`, in a browser or elsewhere; ECMAScript 2015."""

    name = "javascript"
    title = "JavaScript"
    declares = ("let", "let")
    pow = "Math.pow"
    infix = Curly.infix | by_name(
        {
            "eq": (" === ", COMPARISON, SUM, SUM),
            "ne": (" !== ", COMPARISON, SUM, SUM),
        }
    )
    reserved = words(
        "abstract arguments as async await boolean break byte case catch char class const continue debugger default "
        "delete do double else enum eval export extends false final finally float for from function get globalThis "
        "goto if implements import in instanceof int interface let long NaN native new null of package private "
        "protected public return set short static super switch synchronized this throw throws transient true try "
        "typeof undefined var void volatile while with yield Infinity Math"
    )
    """The words of ECMAScript 2023 (12.7.2) and of its earlier editions, and the names that this code rests on."""

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "Math.",
            native("sqrt cbrt exp expm1 log log1p log2 log10 asin acos atan atan2 asinh acosh atanh")
            | native("sin cos tan sinh cosh tanh floor ceil sign abs max min"),
        ) | by_name({"where": self.choice, "pow": self.power})

    def number(self, value: float | bool) -> str:
        return str(value).lower() if isinstance(value, bool) else "NaN" if value != value else repr(value)

    def remark(self, text: str) -> str:
        return "  // " + " ".join(self.comment(text))

    def comment(self, text: str) -> list[str]:
        """The lines of a text, for a comment: nothing in them ends the `<script>` that the code may be in."""
        return [re.sub(r"<(?=[/!]|script)", "< ", row, flags=re.IGNORECASE) for row in super().comment(text)]

    def module(self, unit: Unit) -> str:
        """The source of a script: the function, after those that it needs."""
        variables = self.spelled(unit.variables)
        lines = [
            "// Written by autodiff from this program:",
            *[f"//     {x}".rstrip() for x in self.comment(unit.text)],
        ]
        lines += [f"// {told}" for told in self.renamed(variables)]
        for name, count in needed(self, unit):
            parameters = ["x", "y", "z", "w"][:count]
            lines += ["", *type(self)().declared(f"ad_{name}", parameters, self.supported(name, count))]
        wanted = [variables.get(name) for name in unit.wanted]
        told = quoted([name for name in wanted if name], "")
        lines += ["", f"/** The value, and the array of its derivatives{f' by {told}' if told else ''}. */"]
        lines += self.declared(unit.function, list(variables.values()), unit.recording, unit)
        return "\n".join(lines) + "\n"

    def declared(self, name: str, parameters: list[str], recording: Recording, unit: Unit | None = None) -> list[str]:
        """A function: of a value, or for a unit of a value and the derivatives."""
        self.inputs(recording, parameters)
        rows = self.written(recording, unit.labels if unit else {})
        value = self.value(recording)
        if unit:
            value = f"[{value}, [{', '.join(assembled(step, self.parts) for step in recording.partials)}]]"
        rows.append(f"return {value};")
        return [f"function {name}({', '.join(parameters)}) {{", *[self.indent + row for row in rows], "}"]
