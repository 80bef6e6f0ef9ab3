"""Translation of unambiguous LaTeX to the language."""

from __future__ import annotations

import re
from contextlib import suppress

from ...engine.table.primitive import FUNCTIONS
from ..tokens import KEYWORDS, LazyPattern
from ..typesetting import APPLIED, GREEK
from .suggestions import own_name

_TOKEN = LazyPattern(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d*)?|\.\d+|[^\W\d_]\w*(?<!_)|\s+|.", re.DOTALL)
_GREEK = frozenset((*GREEK, "varepsilon", "vartheta", "varphi", "ell"))
_SIGNS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ne": "!=",
    "neq": "!=", "lt": "<", "gt": ">",
}  # fmt: skip
_SPACING = frozenset((
    r"\left", r"\right", r"\big", r"\Big", r"\bigl", r"\bigr", r"\displaystyle", r"\quad", r"\qquad",
    r"\,", r"\;", r"\:", r"\!", "\\ ", r"\(", r"\)", r"\[", r"\]", "$",
))  # fmt: skip
_DELIMITERS = frozenset((r"\left", r"\right", r"\big", r"\Big", r"\bigl", r"\bigr"))
_CALLED = {command for command in APPLIED if command[1:] in GREEK} | {r"\sigma"}
"""Letters that also denote functions: digamma, sigmoid."""
_FENCED = frozenset((r"\frac", r"\dfrac", r"\tfrac"))
_ROUNDED = {r"\lfloor": ("floor", r"\rfloor"), r"\lceil": ("ceil", r"\rceil")}
_LIMITS = ("max", "min", "sup", "inf")  # upright words below a letter
_OPENING_BAR, _CLOSING_BAR = r"\openingbar", r"\closingbar"
_BARS = (
    (r"\\left\s*(?:\||\\vert(?![a-zA-Z]))|\\lvert(?![a-zA-Z])", r"\\openingbar "),
    (r"\\right\s*(?:\||\\vert(?![a-zA-Z]))|\\rvert(?![a-zA-Z])", r"\\closingbar "),
    (r"\\vert(?![a-zA-Z])", "|"),
)
_NEW_LINE = "\\\\"
_STYLES = frozenset((r"\mathrm", r"\operatorname", r"\text", r"\mathbf", r"\mathit"))

_MAX_DEPTH = 40


_ENVIRONMENT = LazyPattern(
    r"\s*(?:\\\[\s*)?\\begin\{(equation|align|aligned|gather|multline|displaymath|math)(\*?)\}([\s\S]*)"
    r"\\end\{\1\2\}\s*(?:\\\]\s*)?\.?\s*"
)
"""A document with one displayed formula."""
_MARKS = LazyPattern(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![a-zA-Z])|\\\\\s*$")
"""What says nothing of the formula: a label, no number, the end of the last line."""


def without_environment(text: str) -> str:
    """Return the formula of a document with a single one; the text if it has several, or no environment."""
    document = _ENVIRONMENT.fullmatch(text)
    if document is None:
        return text
    formula = str(_MARKS.sub("", document[3].strip())).strip()
    inner = re.sub(r"\\begin\{cases\}[\s\S]*?\\end\{cases\}", "", formula)
    if _NEW_LINE in inner or "\\begin" in inner:
        return text
    return formula if inner != formula else formula.replace("&", "")


class _NotReadable(Exception):
    """A form without a single spelling in the language."""


class _LatexReader:
    def __init__(self, text: str) -> None:
        text = without_environment(text)
        for pattern, bar in _BARS:
            text = re.sub(pattern, bar, text)
        tokens = _TOKEN.findall(text)
        self.tokens: list[str] = []
        self.after_space: list[bool] = []
        """By token, whether spacing stands before it."""
        is_after = False
        for token in tokens:
            if token in _SPACING or token.isspace():
                is_after = is_after or token not in _DELIMITERS
                continue
            self.tokens.append(token)
            self.after_space.append(is_after)
            is_after = False
        if any(token.startswith(r"\var") and token.replace("var", "") in tokens for token in tokens):
            raise _NotReadable  # `\phi` and `\varphi` are two names, and would be one
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.next
        if not token or (expected and token not in expected):
            raise _NotReadable
        self.at += 1
        return token

    def sequence(self, *ends: str) -> str:
        written, before, is_operand, is_divisor = "", "", False, False
        while self.next not in ends:
            if not self.next:
                raise _NotReadable
            token = self.next
            sign = _SIGNS.get(token[1:]) if token[0] == "\\" else token if token in "+-*/=<>!,;" else None
            if sign is not None:
                self.take()
                written += f" {sign} " if is_operand and sign not in "*/,;" and not ends[0] else sign
                before, is_operand, is_divisor = "", False, sign == "/"
                continue
            if token in ("^", "_", "}", ")", "]", "&") or (is_operand and (is_divisor or token[0].isdigit())):
                raise _NotReadable  # `1/2x` can be read in two ways
            if token == "(" and before in _CALLED:
                raise _NotReadable  # a function, or a factor before parentheses
            space = " " if self.after_space[self.at] else ""
            factor = self.factor()
            # calls `f(x)` are kept, as the language knows the program's functions
            is_called = token == "(" and re.fullmatch(r"[^\W\d]\w*", before) is not None
            before = token if token[0] == "\\" else factor
            if factor.isalpha() and factor in KEYWORDS:
                written, is_operand = f"{written} {factor} ", False
                continue
            written += (space if is_called else "*" if is_operand else "") + factor
            is_operand = True
        return written

    def factor(self) -> str:
        token = self.take()
        if token[0] == "\\" and _is_function(token[1:]):
            return self.call(token[1:])
        if token == "\\Gamma" and self.next == "(":
            return self.call("gamma")
        if token == "\\psi" and self.next == "^":
            return self.polygamma()
        written = self.base(token)
        while self.next == "_":
            self.take()
            index = self.read_index() if self.next == "{" else self.take()
            if not re.fullmatch(r"\w+", index) or not re.fullmatch(r"[^\W\d]\w*", written):
                raise _NotReadable
            written += f"_{index}"
        if self.next == "^":
            written += f"**{self.exponent()}"
            if self.next == "^":
                raise _NotReadable  # a power of a power, or of the exponent
        return written

    def base(self, token: str) -> str:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _NotReadable
        written = self._base(token)
        self.depth -= 1
        return written

    def within(self, close: str) -> str:
        inner = self.sequence(close)
        self.take(close)
        return inner

    def _base(self, token: str) -> str:
        if token in "({":
            return f"({self.within(')' if token == '(' else '}')})"
        if token == "|":
            return f"|{self.within('|')}|"
        if token == _OPENING_BAR:
            inner = self.within(_CLOSING_BAR)
            return f"abs({inner})" if "|" in inner else f"|{inner}|"
        if token in _FENCED:
            over, under = self.argument(), self.argument()
            if re.match(r"\W*d", over) and re.match(r"\W*d\w", under):
                raise _NotReadable  # a derivative
            return f"({over}/{under})"
        if token == "\\sqrt":
            if self.next != "[":
                return f"sqrt{_enclose(self.argument())}"
            self.take()
            degree, inner = self.within("]"), self.argument()
            return f"cbrt{_enclose(inner)}" if degree == "3" else f"{_atom(inner)}**(1/{_atom(degree)})"
        if token in _ROUNDED:
            name, close = _ROUNDED[token]
            return f"{name}({self.within(close)})"
        if token == r"\begin":
            return self.cases()
        if token in _STYLES:
            return self._styled(token)
        if token[0] == "\\" and token[1:] in _GREEK:
            return token[1:].removeprefix("var")
        if token in FUNCTIONS and self.next == "(":
            return self.call(token)
        if token in FUNCTIONS or not re.fullmatch(r"[^\W\d]\w*|[\d.]+", token):
            raise _NotReadable
        return token

    def _styled(self, token: str) -> str:
        name = self.read_braced()
        if name in KEYWORDS:
            return name
        name = "beta" if (name, self.next) == ("B", "(") else name
        with suppress(KeyError):
            name = own_name(name, ())
        if name in FUNCTIONS:
            return self.call(name)
        # any other operator is an unknown function
        if re.fullmatch(r"[^\W\d]\w*", name) and token != r"\operatorname" and self.next != "(":
            return name
        raise _NotReadable

    def call(self, name: str) -> str:
        self.depth += 1
        if name not in FUNCTIONS or self.depth > _MAX_DEPTH:
            raise _NotReadable
        exponent = base = ""
        if self.next == "_" and name == "log":
            self.take()
            base = self.argument()
        if self.next == "^":
            exponent = self.exponent()
        outer = ""
        if self.next == "(":
            self.take()
            argument = self.within(")")
            if self.next == "^" and not exponent:
                outer = self.exponent()
        elif self.next == "{":
            self.take()
            argument = self.within("}")
        else:
            number = self.take() if re.fullmatch(r"[\d.]+", self.next) else ""
            thing = self.next and self.next not in "+-*/=<>!,;)}]&" and self.next[1:] not in _SIGNS
            factor = self.factor() if thing else ""
            argument = f"{number}*{factor}" if number and factor else number or factor
            following = self.next
            is_command = following[:1] == "\\" and (_is_function(following[1:]) or following[1:] in _SIGNS)
            ends = following in "+-=<>,;)}]|" or following == _CLOSING_BAR or is_command
            if not argument or not ends or "**" in re.sub(r"^([^(]*)\(.*\)", r"\1", factor):
                raise _NotReadable  # `\sin x^2` is the sine of a square, or the square of a sine
        if base:
            argument += f", {base}"
        if exponent == "(-1)" or self.next == "^":
            raise _NotReadable  # the inverse, or the reciprocal; a power of a power, or of the argument
        self.depth -= 1
        raised = exponent or outer
        return f"{name}({argument})" + (f"**{raised}" if raised else "")

    def exponent(self) -> str:
        self.take("^")
        if len(self.next) > 1 and self.next[0] != "\\":
            raise _NotReadable  # all of it, or, as in LaTeX, the first sign
        return self.argument()

    def argument(self) -> str:
        """Return a command's argument: the content of braces, a sign, or a digit."""
        if self.next == "{":
            self.take()
            return _atom(self.within("}"))
        token = self.take()
        if len(token) > 1 and token[0] != "\\":
            self.at -= 1
            self.tokens[self.at : self.at + 1] = [token[0], token[1:]]
            self.after_space.insert(self.at, False)
            token = self.take()
        return self.base(token)

    def polygamma(self) -> str:
        exponent = self.exponent()
        order = re.fullmatch(r"\((\d+)\)", exponent)
        if order is None or self.next != "(":
            raise _NotReadable
        if order[1] == "0":
            return self.call("digamma")
        written = self.call("polygamma")
        return written.replace("(", f"({order[1]}, ", 1)

    def cases(self) -> str:
        if self.read_braced() != "cases":
            raise _NotReadable
        lines: list[str] = []
        while not lines or lines[-1].endswith("else "):
            value = self.sequence("&")
            self.take("&")
            self.take(r"\text")
            word = self.read_braced()
            if word not in ("otherwise", "else if" if lines else "if"):
                raise _NotReadable
            lines.append(f"({value})")
            if word != "otherwise":
                condition = re.sub("(?<![<>=!])=(?!=)", "==", self.sequence(_NEW_LINE))
                lines[-1] += f" if {condition} else "
                self.take(_NEW_LINE)
        self.take(r"\end")
        if self.read_braced() != "cases":
            raise _NotReadable
        return f"({''.join(lines)})"

    def read_braced(self) -> str:
        self.take("{")
        words: list[str] = []
        while self.next != "}":
            words.append(self.take())
        self.take("}")
        return " ".join(words).replace(r" \_ ", "_")

    def read_index(self) -> str:
        """Return the index in braces of a name: `max` for `\\max`, `1_2` for `1,2`."""
        self.take("{")
        words: list[str] = []
        while not words or self.next == ",":
            if words:
                self.take(",")
            token = self.take()
            is_word = token in _STYLES and self.next == "{"
            words.append(self.read_braced() if is_word else token.removeprefix("\\"))
            if token[0] == "\\" and not is_word and words[-1] not in (*_LIMITS, *_GREEK):
                raise _NotReadable
        self.take("}")
        return "_".join(words)


def _atom(text: str) -> str:
    name = re.match(r"\w*", text)[0]  # type: ignore[index]
    # `x(y - z)` may be a product
    is_call = (not name or name in FUNCTIONS) and _is_enclosed(text[len(name) :])
    return text if is_call or re.fullmatch(r"\w+|\d+\.\d*", text) else f"({text})"


def _enclose(text: str) -> str:
    return text if _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return at > 0 and at == len(text) - 1
    return False


def _is_function(command: str) -> bool:
    return command in FUNCTIONS and command not in _GREEK and command != "sqrt"


def translate(match: re.Match[str]) -> str:
    """Return the text as a program; empty if it has no single spelling."""
    text = match[0]
    try:
        return _LatexReader(text).sequence("") if "\\" in text or re.search(r"\^\s*\{", text) else text
    except _NotReadable:
        return ""
