"""Reads typeset mathematics back, as strictly as a person who gives every juxtaposition one meaning
or complains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from autodiff_cli.engine.table.primitive import FUNCTIONS, PRIMITIVES

_NUMBER = re.compile(r"\d+(\.\d+)?")
_COMPARISONS = {"<": "<", r"\le": "<=", ">": ">", r"\ge": ">=", "=": "==", r"\ne": "!="}
_APPLIED = {
    p.latex or r"\operatorname{" + p.name.replace("_", r"\_") + "}": p.name
    for p in (*dict.fromkeys(FUNCTIONS.values()), PRIMITIVES["neg"])
    if "#" not in p.latex and p.latex != "="
} | {r"\log_{2}": "log2", r"\log_{10}": "log10", r"\psi^{(1)}": "trigamma"}


class Ambiguous(Exception):
    """What can be read in two ways, or in none."""


class Reader:
    """A formula in LaTeX as a program of the language; `names` are those that it may have, by their
    LaTeX.
    """

    def __init__(self, latex: str, names: Mapping[str, str]) -> None:
        self.rest = latex.strip()
        self.before = ""
        self.names = dict(sorted(names.items(), key=lambda item: -len(item[0])))
        self.applied = sorted(_APPLIED, key=len, reverse=True)

    def program(self) -> str:
        """The whole of it."""
        made = self.choice()
        if self.rest:
            raise Ambiguous(f"left over: {self.rest}")
        return made

    # -- characters
    # ---------------------------------------------------------------------------------------------
    def at(self, text: str) -> bool:
        """Whether this comes next: a command as a whole, for `\\le` begins `\\left` too."""
        return self.rest.startswith(text) and not (
            text[-1].isalpha()
            and text[0] == "\\"
            and self.rest[len(text) : len(text) + 1].isalpha()
        )

    def take(self, text: str) -> bool:
        """Go past this if it comes next."""
        if not self.at(text):
            return False
        self.rest = self.rest[len(text) :].lstrip()
        return True

    def need(self, text: str) -> None:
        """Go past this."""
        if not self.take(text):
            raise Ambiguous(f"no {text!r} before {self.rest!r}")

    def opens(self) -> str | None:
        """Go past an opening parenthesis; what closes it."""
        return r"\right)" if self.take(r"\left(") else ")" if self.take("(") else None

    # -- levels
    # -------------------------------------------------------------------------------------------------
    def choice(self) -> str:
        """Cases, or a condition or number."""
        if not self.take(r"\begin{cases}"):
            return self.either()
        made, closing = "", ""
        word = r"\text{if }"
        while True:
            value = self.choice()
            self.need("&")
            if self.take(r"\text{otherwise}"):
                self.need(r"\end{cases}")
                return f"{made}{value}{closing}"
            self.need(word)
            word = r"\text{else if }"
            made += f"where({self.either()}, {value}, "
            closing += ")"
            self.need(r"\\")

    def either(self) -> str:
        """Conditions joined by `or`."""
        made = self.both()
        while self.take(r"\text{ or }"):
            made = f"({made} or {self.both()})"
        return made

    def both(self) -> str:
        """Conditions joined by `and`."""
        made = self.compared()
        while self.take(r"\text{ and }"):
            made = f"({made} and {self.compared()})"
        return made

    def compared(self) -> str:
        """A comparison, or a number."""
        if self.take(r"\text{not }"):
            return f"(not {self.compared()})"
        made = self.sum()
        for sign, word in _COMPARISONS.items():
            if self.take(sign):
                return f"({made} {word} {self.sum()})"
        return made

    def sum(self) -> str:
        """Terms; a sign before the first one only."""
        made = f"(-{self.product()})" if self.take("-") else self.product()
        while self.at("+") or self.at("-"):
            sign = self.rest[0]
            self.take(sign)
            made = f"({made} {sign} {self.product()})"
        return made

    def product(self) -> str:
        """Factors side by side, or with a sign between them."""
        made, before = self.factor(), self.before
        while True:
            if self.take("/"):
                made = f"({made}/{self.factor()})"
            elif self.take(r"\cdot") or self.take(r"\times"):
                made = f"({made}*{self.factor()})"
            elif self.starts():
                if self.rest[0].isdigit() or (before == "number" and self.at(r"\frac")):
                    raise Ambiguous(f"a number before {self.rest!r}")
                if self.rest[0] == "(" and before in ("f", r"\Gamma", r"\psi"):
                    raise Ambiguous(f"a call of {before}?")
                made = f"({made}*{self.factor()})"
            else:
                self.take(r"\,")
                if not self.starts():
                    return made
            before = self.before

    def starts(self) -> bool:
        """Whether a factor begins here."""
        signs = (
            r"\left(",
            "(",
            r"\frac",
            r"\sqrt",
            r"\left|",
            r"\left\lfloor",
            r"\left\lceil",
            r"\pi",
            "e",
            r"\ln",
        )
        return bool(self.rest) and (
            self.rest[0].isdigit()
            or any(map(self.at, signs))
            or any(map(self.at, self.names))
            or bool(self.call())
        )

    def call(self) -> str | None:
        """The function that is applied here."""
        found = next((each for each in self.applied if self.rest.startswith(each)), None)
        if (
            found is not None
            and found not in self.names
            and re.match(r"(\^\{\d+\})?(\(|\\left\()", self.rest[len(found) :])
        ):
            return found
        return (
            r"\log_{"
            if self.at(r"\log_{")
            else r"\psi^{("
            if self.rest.startswith(r"\psi^{(")
            else None
        )

    def group(self) -> str:
        """What stands in braces."""
        self.need("{")
        made = self.choice()
        self.need("}")
        return made

    def arguments(self) -> list[str]:
        """What stands in the parentheses of a call."""
        closing = self.opens()
        if closing is None:
            raise Ambiguous(f"no arguments before {self.rest!r}")
        made = [self.choice()]
        while self.take(","):
            made.append(self.choice())
        self.need(closing)
        return made

    def factor(self) -> str:
        """A factor with its exponents."""
        begun = self.rest
        made = self.atom()
        kind = (
            "number" if _NUMBER.fullmatch(made) else next(filter(begun.startswith, self.names), "")
        )
        while self.take("^"):
            made, kind = f"({made}**{self.group()})", "power"
        self.before = kind
        return made

    def atom(self) -> str:
        """A factor without."""
        number = _NUMBER.match(self.rest)
        if number:
            self.rest = self.rest[number.end() :].lstrip()
            return number[0]
        if self.take(r"\frac"):
            return f"({self.group()}/{self.group()})"
        if self.take(r"\sqrt[3]"):
            return f"cbrt({self.group()})"
        if self.take(r"\sqrt"):
            return f"sqrt({self.group()})"
        for opening, closing, name in (
            (r"\left|", r"\right|", "abs"), (r"\left\lfloor", r"\right\rfloor", "floor"),
            (r"\left\lceil", r"\right\rceil", "ceil"), (r"\ln\left|\Gamma(", r")\right|", "lgamma"),
        ):  # fmt: skip
            if self.take(opening):
                made = self.choice()
                self.need(closing)
                return f"{name}({made})"
        function = self.call()
        if function is not None:
            return self.called(function)
        for name, meant in self.names.items():
            if self.take(name):
                return meant
        if self.take("e^{"):
            made = self.choice()
            self.need("}")
            return f"exp({made})"
        if self.take(r"\pi"):
            return "pi"
        closing = self.opens()
        if closing is None:
            raise Ambiguous(f"no factor: {self.rest!r}")
        made = self.choice()
        self.need(closing)
        return f"({made})"

    def called(self, function: str) -> str:
        """A function that is applied."""
        self.rest = self.rest[len(function) :].lstrip()
        power = ""
        if function == r"\log_{":
            base = self.choice()
            self.need("}")
            return f"log({self.arguments()[0]}, {base})"
        if function == r"\psi^{(":
            order = self.choice()
            self.need(")}")
            return f"polygamma({order}, {self.arguments()[0]})"
        if self.take("^"):
            power = f"**{self.group()}"
        made = f"{_APPLIED[function]}({', '.join(self.arguments())})"
        return f"({made}{power})" if power else made
