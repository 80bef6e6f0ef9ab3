"""Translation of unambiguous LaTeX to the language."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from ...engine.table.primitive import FUNCTIONS
from ...engine.table.primitives import library_names
from ...errors import Span, closest
from ..tokens import KEYWORDS, LazyPattern
from ..typesetting import APPLIED, FUNCTION_LETTERS, GREEK
from .absent_functions import absent_function
from .suggestions import own_name

_TOKEN = LazyPattern(
    r"\\(?:left|right)\s*(?:[|\[\]]|\\vert(?![a-zA-Z])|\\[{}])|(?<!\\)%[^\n]*\n|(?<=\n)%[^\n]*|\\[a-zA-Z]+|\\."
    r"|\d+(?:\.\d*|\{,\}\d+)?|\.\d+|[^\W\d_]\w*(?<!_)|\s+|.",
    re.DOTALL,
)
_GREEK = frozenset((*GREEK, "varepsilon", "vartheta", "varphi", "ell"))
_SIGNS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=",
    "geq": ">=", "ne": "!=", "neq": "!=", "lt": "<", "gt": ">",
}  # fmt: skip
# What says nothing of the formula: spaces, sizes, comments, the signs around it.
_SPACING = LazyPattern(
    r"\s+|%[^\n]*\n|%.+|[$~]|\\[,;:! ()\[\]]"
    r"|\\(?:left|right|[bB]igg?[lrm]?|(?:display|text)style|q?quad|nonumber|notag|hfill|limits)"
)
# Commands before which an argument without parentheses ends.
_ENDS = frozenset((*_SIGNS, "\\", "end", "closingbar", "closingbrace", "closingbracket"))
_DELIMITERS = LazyPattern(r"\\(?:left|right|[bB]igg?[lrm]?)")
# Greek letters that are functions before parentheses.
_LETTER_CALLED = {r"\Gamma": "gamma", r"\zeta": "zeta"}
# Functions whose power of -1 is the inverse in all books and calculators, as that of `log` is not.
CIRCULAR = frozenset(library_names("sin cos tan sec csc cot sinh cosh tanh sech csch coth"))
# Letters that also denote functions: digamma, sigmoid.
_CALLED = ({command for command in APPLIED if command[1:] in GREEK} | {r"\sigma"}) - {
    *_LETTER_CALLED
}
_FENCED = frozenset((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"))
_ROUNDED = {r"\lfloor": ("floor", r"\rfloor"), r"\lceil": ("ceil", r"\rceil")}
_LIMITS = ("max", "min", "sup", "inf")  # upright words below a letter
_OPENING_BAR, _CLOSING_BAR = r"\openingbar", r"\closingbar"
_BRACKETS = {"(": ")", r"\openingbracket": r"\closingbracket", r"\openingbrace": r"\closingbrace"}
_NAMED = {
    r"\left|": _OPENING_BAR, r"\left\vert": _OPENING_BAR, r"\lvert": _OPENING_BAR,
    r"\right|": _CLOSING_BAR, r"\right\vert": _CLOSING_BAR, r"\rvert": _CLOSING_BAR, r"\vert": "|",
    r"\left[": r"\openingbracket", r"\right]": r"\closingbracket", r"\left\{": r"\openingbrace",
    r"\right\}": r"\closingbrace", r"\{": r"\openingbrace", r"\}": r"\closingbrace",
    r"\lbrace": r"\openingbrace", r"\rbrace": r"\closingbrace",
}  # fmt: skip
_NEW_LINE = "\\\\"
# What an argument of one name has not in it.
_SIGNED = frozenset("+-*/^")
_STYLES = frozenset((
    r"\mathrm", r"\operatorname", r"\text", r"\mathbf", r"\mathit", r"\mathsf", r"\mathtt",
    r"\boldsymbol", r"\bm",
))  # fmt: skip
_PARTIAL = r"(?:\\partial\b|\\mathrm\s*\{\s*d\s*\}|d)\s*(?:\^\s*(?:\d|\{\s*\d+\s*\})\s*)?"
# A derivative, and the function in it.
_DERIVATIVE = LazyPattern(
    rf"\s*&?\s*\\[dt]?frac\s*\{{\s*{_PARTIAL}([^\W\d]\w*)?\s*\}}\s*\{{\s*{_PARTIAL}\w"
)
_OVER = LazyPattern(r"\W*d(?:\*\*\w+)?(?:\*?[^\W\d](?:\(\w*\))?)?\W*")
# What stands over and under the line of a derivative, as read: `d**2*y`, `d*x**2`.
_UNDER = LazyPattern(r"\W*d\*?[^\W\d](?:\*\*\w+)?\W*")
# A value of a function at numbers.
_AT_NUMBERS = LazyPattern(r"\s*&?\s*([^\W\d]\w*)\s*\(\s*-?[\d.]+(?:\s*,\s*-?[\d.]+)*\s*\)\s*&?\s*=")

_MAX_DEPTH = 40
_DISPLAYED = (
    "equation|align|alignat|aligned|gather|gathered|multline|split|eqnarray|displaymath|math"
)
# A displayed formula or several, with the comments before and after.
_DOCUMENT = LazyPattern(
    r"(?:["
    rf" \t]*%[^\n]*\n|\s)*(?:\\\[|\$\$|\$)?\s*\\begin\{{({_DISPLAYED})(\*?)\}}[\s\S]*?\\end\{{\1\2\}}"
    r"\s*(?:\\\]|\$\$|\$)?[ \t]*\.?(?:\s*%[^\n]*)*"
)
# A formula below a comment.
_COMMENTED = LazyPattern(r"\s*%[^\n]*\n[\s\S]*\\[a-zA-Z][\s\S]*")
_ENVIRONMENT = LazyPattern(
    rf"\\(?:begin|end)\s*\{{({_DISPLAYED})\*?\}}(?:\{{\d+\}})?|\\(?:label|tag)\s*\{{[^{{}}]*\}}"
)
# The space before the next line; a remark at the end of one.
_AFTER_NEW_LINE = LazyPattern(r"(?<=\\\\)\[-?[\d.]+\s*[a-z]{2}\]|&&\s*\\text\s*\{[^{}]*\}")

_SUMS = "its index and ends are arguments here", "write it as in `sum(x**i, i, 1, 3)`"
_DERIVATIVES = (
    "this is a derivative",
    "write the function itself: autodiff computes its derivatives",
)
_DIFFERENTIAL = "write `d` for a name; the commands diff and integrate take the function alone", ()
_TWO_VALUES = (
    "this gives two values",
    "write two formulas; an uncertainty is given to the command propagate",
)
_ACCENTS = "a name has no accent here", "give it a name of its own, as in `x_dot`"
# What is said of commands that are not read, and what to write.
_REMARKS = {
    "sum": _SUMS,
    "prod": ("its index and ends are arguments here", "write it as in `prod(x**i, i, 1, 3)`"),
    "int": (
        "there are no integrals in a formula",
        "the command integrate finds them; write the integrated function itself, as in `x**3/3`",
    ),
    "lim": ("there are no limits in a formula", "the command limit finds them"),
    "partial": _DERIVATIVES,
    "nabla": _DERIVATIVES,
    "pm": _TWO_VALUES,
    "mp": _TWO_VALUES,
    "binom": ("it is no function here", "write `gamma(n + 1)/(gamma(k + 1)*gamma(n - k + 1))`"),
    **dict.fromkeys(
        ["dot", "ddot", "hat", "bar", "vec", "tilde", "overline", "widehat", "widetilde"], _ACCENTS
    ),
    "infty": ("infinity is not a number of a formula", "write a number"),
    **dict.fromkeys(["bmod", "mod", "pmod"], ("there is no remainder", "write `x - y*floor(x/y)`")),
    **dict.fromkeys(
        ["|", "Vert", "lVert", "rVert"],
        ("a norm is a function here", "write it as in `norm([x, y])`"),
    ),
    **dict.fromkeys(
        ["circ", "degree"], ("angles are in radians here", "write degrees as in `rad(30)`")
    ),
    **dict.fromkeys(["Re", "Im"], ("there are no complex numbers here", "write the real part out")),
    **dict.fromkeys(
        ["prime", "dagger", "star"], ("a name has no such mark here", "give it a name, as in `x_1`")
    ),
    "%": ("there is no percent sign", "write it as in `5/100`"),
    "hbar": ("it is no letter here", "give it a name: `hbar`"),
    "lg": ("its base can be 10 or 2", "write `log10(x)` or `log2(x)`"),
    "lb": ("it is called `log2` here", "write `log2(x)`"),
    "deg": ("it is the degree of a polynomial in LaTeX", "degrees of an angle are `deg(x)`"),
    "det": ("it is a function of a list here", "write it as in `det([[a, b], [c, d]])`"),
    "boxed": ("it is no formula", "leave it out"),
}


class NotReadable(Exception):
    """A form without a single spelling in the language: where it stands, why, and what to write."""

    def __init__(
        self,
        message: str = "",
        hint: str = "",
        spellings: Sequence[str] = (),
        first: int | None = None,
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.spellings = spellings
        # Whether informal reading takes the first spelling.
        self.is_first_meant = False
        # The index of its first token; None for the token where reading stopped.
        self.first = first
        self.span = Span(0, 0)


def _times(number: str, factor: str) -> str:
    """Return the product of a number and a factor, of which one may be empty."""
    return f"{number}*{factor}" if number and factor else number or factor


class _LatexReader:
    def __init__(self, text: str, valued: Collection[str] = ()) -> None:
        self.text = text
        self.tokens: list[str] = []
        self.places: list[Span] = []
        # By token, whether spacing stands before it.
        self.after_space: list[bool] = []
        self.at = 0
        self.depth = 0
        hidden = {k for found in _hidden(text) for k in range(*found.span())}
        is_after, nested = False, 0
        for match in _TOKEN.finditer(text):
            token = match[0]
            if match.start() in hidden or _SPACING.fullmatch(token):
                is_after = is_after or not _DELIMITERS.fullmatch(token)
                continue
            nested += (token == r"\begin") - (token == r"\end")
            if token == "&" and not nested:
                continue
            self.tokens.append(_NAMED.get(re.sub(r"\s", "", token), token))
            self.places.append(Span(*match.span()))
            self.after_space.append(is_after)
            is_after = False
        # What is no function of mathematics here: it has a value, or a definition.
        self.defined = self._defined_letters() | {f"\\{name}" for name in valued} | {*valued}
        for k, token in enumerate(self.tokens):
            plain = token.replace("var", "")
            if token.startswith(r"\var") and plain in self.tokens:
                raise self.placed(
                    NotReadable(
                        f"`{token}` and `{plain}` are two names, and would be one", "", (), k
                    )
                )

    def _defined_letters(self) -> set[str]:
        """Return the letters that the program defines: `\\phi(x) = x^2`, `\\phi = 2`."""
        letters: set[str] = set()
        for k, token in enumerate(self.tokens):
            is_first = k == 0 or self.tokens[k - 1] == _NEW_LINE
            if is_first and token[1:] in _GREEK and self.tokens[k + 1 : k + 2] == ["("]:
                self.at = k + 1
                closing = self._closing()
                if self.tokens[closing + 1 : closing + 2] == ["="]:
                    letters.add(token)
            elif is_first and token[1:] in _GREEK and self.tokens[k + 1 : k + 2] == ["="]:
                letters.add(token)
        self.at = 0
        return letters

    def word(self, k: int) -> str:
        """Return the name of the command at a place; empty if there is none."""
        return self.tokens[k][1:] if 0 <= k < len(self.tokens) and self.tokens[k][0] == "\\" else ""

    def placed(self, error: NotReadable) -> NotReadable:
        """Return the error with its place and its words."""
        last = min(self.at, len(self.places) - 1)
        first = min(last if error.first is None else error.first, last)
        last = last if error.first is None else max(first, self.at - 1)
        if self.places:
            error.span = Span(self.places[first].start, self.places[last].end)
        if not error.args[0]:
            token = self.tokens[self.at] if self.at < len(self.tokens) else ""
            remark = next((k for k in (self.at, self.at - 1) if self.word(k) in _REMARKS), None)
            if remark is not None:
                name, error.span = self.word(remark), self.places[remark]
                message, error.hint = _REMARKS[name]
                error.args = (f"`\\{name}` is not read: {message}",)
            elif not token:
                error.args = ("the LaTeX ends before it is complete",)
                error.hint = "close what is open, and write what is missing"
            else:
                typed = self.text[error.span.start : error.span.end]
                error.args = (f"this LaTeX is not read from `{typed}` on",)
        return error

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.next
        if not token or (expected and token not in expected):
            raise NotReadable
        self.at += 1
        return token

    def program(self) -> str:
        """Return the program: a statement for each line of a document. Raises `NotReadable`."""
        lines: list[str] = []
        try:
            while self.next:
                self.line(lines)
            _check_use(lines)
        except NotReadable as error:
            raise self.placed(error) from None
        return "; ".join(lines)

    def line(self, lines: list[str]) -> None:
        first, start = self.at, self.places[self.at].start
        known = _DERIVATIVE.match(self.text, start) or _AT_NUMBERS.match(self.text, start)
        if known and any(line.startswith((f"{known[1]}(", f"{known[1]} =")) for line in lines):
            self.skip_line()  # what the program's derivatives and values are follows from it
            return
        if self.next == "=" and lines:
            name, equals, before = lines[-1].partition(" = ")
            self.take()
            after = self.sequence("", _NEW_LINE).strip()
            message = f"there are two formulas for `{name}`"
            spellings = (f"{name} = {before.strip()}", f"{name} = {after}") if equals else ()
            raise NotReadable(message, "write one of them", spellings, first)
        goes_on = self.next in ("+", "-", r"\cdot", r"\times") and bool(lines)
        written = self.sequence("", _NEW_LINE).strip()
        if self.next:
            self.take(_NEW_LINE)
        if goes_on:
            lines[-1] += f" {written}"
        elif written:
            lines.append(written)

    def skip_line(self) -> None:
        nested = 0
        while self.next and (nested or self.next != _NEW_LINE):
            token = self.take()
            nested += (token == r"\begin") - (token == r"\end")
        if self.next:
            self.take()

    def sequence(self, *ends: str) -> str:
        written, before, is_operand, is_divisor = "", "", False, False
        while self.next not in ends:
            sign = self._sign()
            if sign is not None:
                self.take()
                written += (
                    f" {sign} " if is_operand and sign not in "*/,;" and not ends[0] else sign
                )
                before, is_operand, is_divisor = "", False, sign == "/"
                continue
            self._check_operand(before, is_operand=is_operand, is_divisor=is_divisor)
            token, start = self.next, self.at
            space = " " if self.after_space[start] else ""
            factor = self.factor()
            # calls `f(x)` are kept, as the language knows the program's functions
            called = r"[^\W\d]" if space else r"[^\W\d]\w*"
            is_called = token == "(" and (
                before in self.defined or re.fullmatch(called, before) is not None
            )
            before = (token if self.at == start + 1 else "") if token[0] == "\\" else factor
            if factor.isalpha() and factor in KEYWORDS:
                written, is_operand = f"{written} {factor} ", False
                continue
            written += (space if is_called else "*" if is_operand else "") + factor
            is_operand = True
        return written

    def _sign(self) -> str | None:
        """Return the sign that the next token is, as the language writes it; None if it is no
        sign.
        """
        token = self.next
        if not token:
            raise NotReadable
        if token[0] == "\\":
            return _SIGNS.get(token[1:])
        return token if token in "+-*/=<>!,;" else None

    def _check_operand(self, before: str, *, is_operand: bool, is_divisor: bool) -> None:
        """Raise `NotReadable` if the next token does not begin a factor, or the last operand may
        end in two places.
        """
        token = self.next
        if token in ("^", "_", "}", ")", "]", "&"):
            raise NotReadable
        if is_operand and (is_divisor or token[0].isdigit()):
            message = f"what stands before `{self.typed(self.at)}` can be read in two ways"
            raise NotReadable(message, r"write a \frac, or a sign of multiplication")
        if token == "(" and before in _CALLED and before not in self.defined:
            spellings = (f"{_function_of(before)}(x)", f"{before[1:]}*(x)")
            raise NotReadable(f"`{before}(` can be a call or a product", "", spellings, self.at - 1)
        if before in _LETTER_CALLED and before not in self.defined and is_operand and token != "(":
            following, name = self.typed(self.at), _LETTER_CALLED[before]
            both = (
                [f"{name}({following})", f"{before[1:]}*{following}"]
                if re.fullmatch(r"\w+", following)
                else []
            )
            message = f"`{before}` before `{following}` can be the {name} function or a factor"
            raise NotReadable(
                message, r"write a sign of multiplication, or parentheses", both, self.at - 1
            )

    def factor(self) -> str:
        token = self.take()
        if token[0] == "\\" and _is_function(token[1:]):
            return self.call(token[1:])
        if token in _LETTER_CALLED and self.next == "(" and token not in self.defined:
            self._check_incomplete(token)
            return self.call(_LETTER_CALLED[token])
        if token == "\\psi" and self.next == "^" and self.is_order():
            return self.polygamma()
        first, written = self.at - 1, self._indexed(self.base(token))
        if self.next == "^":
            exponent = self.exponent()
            # the index may stand behind the exponent: `x^2_1` is `x_1^2`
            written = self._raised(token, self._indexed(written), exponent, first)
        if token[1:] in _GREEK or "**" in written:
            self._check_call(token, written, first)
        return written

    def _indexed(self, name: str) -> str:
        """Return a name with the indices that follow it."""
        while self.next == "_":
            self.take()
            index = self._index()
            if not re.fullmatch(r"\w+", index):
                raise NotReadable("this index is no name or number", "write it as in `T_max`")
            if not re.fullmatch(r"[^\W\d]\w*", name):
                raise NotReadable
            name += f"_{index}"
        return name

    def _index(self) -> str:
        if self.next == "{":
            return self.read_index()
        token = self.take()
        return self.read_braced() if token in _STYLES and self.next == "{" else token

    def _check_call(self, token: str, written: str, first: int) -> None:
        """Raise `NotReadable` if a letter before parentheses may be a function: `\\phi(2)`,
        `\\alpha(t)`.
        """
        closing, is_letter = self._closing(), token[1:] in _GREEK
        if (
            not closing
            or token in self.defined
            or token == r"\pi"
            or (token in _CALLED and written == token[1:])
        ):
            return
        if not is_letter and (token == "e" or not re.fullmatch(r"[^\W\d]\w*", token)):
            return
        inner = self.tokens[self.at + 1 : closing]
        name = token[1:].removeprefix("var") if is_letter else token
        typed = self.text[self.places[self.at].end : self.places[closing].start].strip()
        spellings = [f"{written}*({typed})"] if "\\" not in typed and "," not in inner else []
        if "," in inner and name in ("gamma", "beta") and "\\" not in typed:
            # the incomplete gamma function is not divided by the whole one
            spellings = (
                [f"beta({typed})"]
                if name == "beta"
                else [f"gammainc({typed})*gamma({typed.partition(',')[0]})"]
            )
        hint = (
            ""
            if spellings
            else r"for a product write a sign of multiplication, `\cdot`, before the parenthesis"
        )
        absent = absent_function(name) if token in FUNCTION_LETTERS and token not in inner else ""
        if absent:
            message = f"`{token}(` can be a product or {absent}, which the language lacks"
            raise NotReadable(message, hint, spellings, first)
        is_lone = (
            len(inner) == 1
            or "," in inner
            or (len(inner) > 2 and inner[1] == "_" and not _SIGNED & {*inner})
        )
        if is_lone:
            raise NotReadable(f"`{token}(` can be a call or a product", hint, spellings, first)

    def _check_incomplete(self, token: str) -> None:
        """Raise `NotReadable` for the upper incomplete gamma function, `\\Gamma(s, x)`."""
        closing = self._closing()
        if token == r"\Gamma" and "," in self.tokens[self.at : closing]:
            typed = self.text[self.places[self.at].end : self.places[closing].start].strip()
            spellings = (
                [] if "\\" in typed else [f"gammaincc({typed})*gamma({typed.partition(',')[0]})"]
            )
            hint = "write it as in `gammaincc(s, x)*gamma(s)`"
            raise NotReadable(
                "the incomplete gamma function is divided by `gamma(s)` here",
                hint,
                spellings,
                self.at - 1,
            )

    def _closing(self) -> int:
        """Return the index of the parenthesis that closes the next one; 0 if no parenthesis is
        next.
        """
        if self.next not in ("(", r"\openingbracket"):
            return 0
        opening, closing = self.next, _BRACKETS[self.next]
        depth = 0
        for k in range(self.at, len(self.tokens)):
            depth += (self.tokens[k] == opening) - (self.tokens[k] == closing)
            if depth == 0:
                return k
        return 0

    def _raised(self, token: str, base: str, exponent: str, first: int) -> str:
        """Return the power of a factor; `token` is its first one."""
        if self.next == "^":
            outer = self.exponent()
            spellings = (f"({base}**{exponent})**{outer}", f"{base}**({exponent}**{outer})")
            raise NotReadable("a power of a power can be read in two ways", "", spellings, first)
        if token in _CALLED and self.next == "(":
            spellings = (f"{_function_of(token)}(x)**{exponent}", f"{base}**{exponent}*(x)")
            raise NotReadable(
                f"a power of `{token}` before `(` can be read in two ways", "", spellings, first
            )
        return f"{base}**{exponent}"

    def typed(self, first: int) -> str:
        """Return the text from a token to the next, or the end."""
        return self.text[slice(*self.places[first][:2])]

    def is_order(self) -> bool:
        """Return whether the exponent here is the order of a polygamma function, `(1)`."""
        return [*self.tokens[self.at + 1 : self.at + 3]] == ["{", "("]

    def base(self, token: str) -> str:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise NotReadable
        written = self._base(token)
        self.depth -= 1
        return written

    def within(self, close: str) -> str:
        inner = self.sequence(close)
        self.take(close)
        return inner

    def _base(self, token: str) -> str:
        if token[0] == "\\" and token not in (*_BRACKETS, _OPENING_BAR):
            return self._command(token)
        if (enclosed := self._enclosed(token)) is not None:
            return enclosed
        if "{,}" in token:
            whole, _, rest = token.partition("{,}")
            if len(rest) == 3:
                message = f"`{token}` can be read in two ways"
                raise NotReadable(message, "", (f"{whole}{rest}", f"{whole}.{rest}"), self.at - 1)
            return f"{whole}.{rest}"
        if token in FUNCTIONS and self.next == "(":
            return self.call(token)
        if token in FUNCTIONS or not re.fullmatch(r"[^\W\d]\w*|[\d.]+", token):
            raise NotReadable("", "", (), self.at - 1)
        return token

    def _enclosed(self, token: str) -> str | None:
        """Return what stands in brackets or bars; None if the token opens none."""
        if token in "({":
            return f"({self.within(')' if token == '(' else '}')})"
        if token in _BRACKETS:
            first = self.at - 1
            inner = self.within(_BRACKETS[token])
            if "," in re.sub(r"\([^()]*\)", "", inner):
                raise NotReadable(
                    "these may be a list or an interval", "write a list as in `[1, 2]`", (), first
                )
            return f"({inner})"
        if token == "|":
            return f"|{self.within('|')}|"
        if token == _OPENING_BAR:
            inner = self.within(_CLOSING_BAR)
            return f"abs({inner})" if "|" in inner else f"|{inner}|"
        return None

    def _command(self, token: str) -> str:
        """Return what a command with its arguments is; it is no function."""
        if token in _FENCED:
            over, under = self.argument(), self.argument()
            if _OVER.fullmatch(over) and _UNDER.fullmatch(under):
                raise NotReadable(*_DERIVATIVES)
            return f"({over}/{under})"
        if token == "\\sqrt":
            return self._root()
        if token in _ROUNDED:
            name, close = _ROUNDED[token]
            return f"{name}({self.within(close)})"
        if token == r"\begin":
            return self.cases()
        if token in _STYLES:
            return self._styled(token)
        if token[1:] in _GREEK:
            return token[1:].removeprefix("var")
        if token[1:] in _REMARKS:
            raise NotReadable("", "", (), self.at - 1)
        message = f"`{self.typed(self.at - 1)}` is not a LaTeX command that is read"
        raise NotReadable(message, "", (), self.at - 1)

    def _root(self) -> str:
        if self.next != "[":
            return f"sqrt{_enclose(self.argument())}"
        self.take()
        degree, inner = self.within("]"), self.argument()
        if degree == "3":
            return f"cbrt{_enclose(inner)}"
        root = f"{_atom(inner)}**(1/{_atom(degree)})"
        # `x**(1/5)**2` would be `x**((1/5)**2)`
        return f"({root})" if self.next == "^" else root

    def _styled(self, token: str) -> str:
        name = self.read_braced()
        if name in KEYWORDS:
            return name
        if name == "d" and token == r"\mathrm":
            raise NotReadable("an upright `d` is a differential", *_DIFFERENTIAL, self.at - 4)
        name = "beta" if (name, self.next) == ("B", "(") else name
        with suppress(KeyError):
            name = own_name(name, ())
        if name in FUNCTIONS:
            return self.call(name)
        # any other operator is an unknown function
        if re.fullmatch(r"[^\W\d]\w*", name) and token != r"\operatorname" and self.next != "(":
            return name
        if not re.fullmatch(r"[^\W\d]\w*", name):
            raise NotReadable("a name is one word here", "write it as in `T_max`", (), self.at - 2)
        near = closest(name.lower(), [*FUNCTIONS])
        raise NotReadable(
            f"there is no function `{name}`",
            (
                f"did you mean `{near}`? `autodiff functions` lists all"
                if near
                else "`autodiff functions` lists them all"
            ),
            (),
            self.at - 2,
        )

    def call(self, name: str) -> str:
        self.depth += 1
        if name not in FUNCTIONS or self.depth > _MAX_DEPTH:
            raise NotReadable
        start = self.at - 1
        self._check_limits(name, start)
        base = self._base_of_logarithm() if name == "log" else ""
        exponent = self.exponent() if self.next == "^" else ""
        outer = ""
        if self.next in _BRACKETS or self.next == "[":
            opening = self.take()
            argument = self.within("]" if opening == "[" else _BRACKETS[opening])
            if self.next == "^" and not exponent:
                outer = self.exponent()
        elif self.next == "{":
            self.take()
            argument = self.within("}")
        else:
            argument = self._bare_argument(name, exponent)
        argument += f", {base}" if base else ""
        self._check_powers(name, argument, exponent, start)
        self.depth -= 1
        raised = exponent or outer
        size = re.fullmatch(r"\|gamma(\(.*\))\|", argument) if name in ("ln", "log") else None
        if size and _is_enclosed(size[1]):
            name, argument = "lgamma", size[1][1:-1]  # the gamma function may overflow on the way
        return f"{name}({argument})" + (f"**{raised}" if raised else "")

    def _check_limits(self, name: str, start: int) -> None:
        """Raise `NotReadable` for a sum or a product over an index, which is a function of a list
        otherwise.
        """
        if name in _REMARKS and self.tokens[start][1:] == name and self.next in ("_", "^"):
            message, hint = _REMARKS[name]
            raise NotReadable(f"`\\{name}` is not read: {message}", hint, (), start)

    def _base_of_logarithm(self) -> str:
        if self.next != "_":
            return ""
        self.take()
        return self.argument()

    def _bare_argument(self, name: str, exponent: str) -> str:
        """Return an argument without parentheses: a number, a factor, or both."""
        number = self.take() if re.fullmatch(r"[\d.]+", self.next) else ""
        thing = self.next and self.next not in "+-*/=<>!,;)}]&_^" and self.next[1:] not in _SIGNS
        factor = self.factor() if thing else ""
        following = self.next
        is_command = following[:1] == "\\" and (
            _is_function(following[1:]) or following[1:] in _ENDS
        )
        self.check_argument(
            name, exponent, number, factor, following in "+-=<>,;)}]|&" or is_command
        )
        return _times(number, factor)

    def _check_powers(self, name: str, argument: str, exponent: str, start: int) -> None:
        """Raise `NotReadable` for an inverse or a reciprocal, and for a power of the argument or of
        the call.
        """
        if exponent == "(-1)":
            inverse = FUNCTIONS[name].inverse
            spellings = (f"{inverse or 'a' + name}({argument})", f"1/{name}({argument})")
            error = NotReadable(rf"`\{name}^{{-1}}` can be read in two ways", "", spellings, start)
            error.is_first_meant = name in CIRCULAR and self.next != "^"
            raise error
        if self.next == "^":
            power, raised = self.exponent(), f"**{exponent}" if exponent else ""
            outside = (
                f"({name}({argument}){raised})**{power}"
                if raised
                else f"{name}({argument})**{power}"
            )
            spellings = (outside, f"{name}(({argument})**{power}){raised}")
            raise NotReadable("this power can be read in two ways", "", spellings, start)

    def check_argument(
        self, name: str, exponent: str, number: str, factor: str, ends: bool
    ) -> None:
        """Raise `NotReadable` for an argument without parentheses whose end, or power, can be seen
        in two ways.
        """
        if not number and not factor:
            raise NotReadable(f"`{name}` has no argument here", f"write it as in `{name}(x)`")
        _, sign, power = re.sub(r"^(?:([^(|]*)\(.*\)|\|.*\|)", r"\1", factor).partition("**")
        if sign:
            base = factor.removesuffix(f"**{power}")
            inner = _times(number, base)
            spellings = (f"{name}({inner}**{power})", f"{name}({inner})**{power}")
            raise NotReadable(
                f"the power after `{name}` can be read in two ways", "", spellings, self.at - 1
            )
        if not ends:
            inner = _times(number, factor)
            more = self.typed(self.at)
            message = f"the argument of `{name}` can end before `{more}` or after it"
            if more.isascii() and more.isalnum() and inner.strip("."):
                raise NotReadable(
                    message, "", (f"{name}({inner})*{more}", f"{name}({inner}*{more})")
                )
            raise NotReadable(message, f"put the argument of `{name}` in parentheses")

    def exponent(self) -> str:
        self.take("^")
        if len(self.next) > 1 and self.next[0] != "\\":
            whole = self.next
            spellings: tuple[str, ...] = ()
            if whole.isascii() and not KEYWORDS.keys() & {whole, whole[1:]}:
                spellings = (f"x**{whole}", f"x**{whole[0]}*{whole[1:]}")
            raise NotReadable(
                f"`^{whole}` can be read in two ways",
                "in LaTeX, an exponent stands in braces",
                spellings,
            )
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
            raise NotReadable
        if order[1] == "0":
            return self.call("digamma")
        written = self.call("polygamma")
        return written.replace("(", f"({order[1]}, ", 1)

    def cases(self) -> str:
        first = self.at - 1
        kind = self.read_braced()
        if kind.endswith("matrix") or kind == "array":
            raise NotReadable(
                "a matrix is a list of its rows here",
                "write it as in `[[a, b], [c, d]]`",
                (),
                first,
            )
        if kind not in ("cases", "dcases"):
            raise NotReadable(
                f"`{kind}` is not an environment of formulas", "write the formula alone", (), first
            )
        values: list[str] = []
        conditions: list[str] = []
        while self.next != r"\end" and (not conditions or conditions[-1]):
            values.append(self.sequence("&").rstrip(", "))
            self.take("&")
            conditions.append(self.condition())
        self.take(r"\end")
        if self.read_braced() != kind:
            raise NotReadable
        if conditions[-1] and not (len(values) > 1 and _are_opposite(*conditions[-2:])):
            hint = r"add a last line with \text{otherwise}"
            raise NotReadable("the cases do not say what holds elsewhere", hint, (), first)
        lines = [
            f"({value}) if {condition} else "
            for value, condition in zip(values[:-1], conditions, strict=False)
        ]
        return f"({''.join(lines)}({values[-1]}))"

    def condition(self) -> str:
        """Return the condition of a case; empty for all others."""
        words = ""
        while self.next in (r"\text", r"\mbox", r"\textrm", ","):
            words += "" if self.take() == "," else self.read_braced() + " "
        words = words.strip().rstrip(",")
        if words in ("otherwise", "else", "sonst"):
            if self.next == _NEW_LINE:
                self.take()
            return ""
        known = re.fullmatch("(?:if|for|when|else if|)((?: ?not)*)", words)
        if known is None:
            raise NotReadable(
                f"`{words}` is not a word before a condition",
                r"write \text{if } or \text{otherwise}",
            )
        written = self.sequence(_NEW_LINE, r"\end")
        if self.next == _NEW_LINE:
            self.take()
        if not re.search("[<>=]", written):
            raise NotReadable("this is not a condition", r"write a comparison, or \text{otherwise}")
        negated = "not " * known[1].count("not")
        return negated + re.sub("(?<![<>=!])=(?!=)", "==", written)

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
            is_letter = token[0] != "\\" or words[-1] in (*_LIMITS, *_GREEK)
            if not re.fullmatch(r"\w+", words[-1]) or not (is_word or is_letter):
                raise NotReadable("this index is no name or number", "write it as in `T_max`")
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


def _function_of(letter: str) -> str:
    """Return the function that a letter also denotes."""
    return "sigmoid" if letter == r"\sigma" else letter[1:]


def _is_function(command: str) -> bool:
    return command in FUNCTIONS and command not in _GREEK and command not in ("sqrt", "deg")


_RELATION = LazyPattern(r"(.*?)(<=|>=|==|!=|<|>)(.*)")
_OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def _are_opposite(one: str, other: str) -> bool:
    """Return whether of two comparisons of the same sides always one holds."""
    first, second = (
        _RELATION.fullmatch(one.replace(" ", "")),
        _RELATION.fullmatch(other.replace(" ", "")),
    )
    if first is None or second is None:
        return False
    sign = _OPPOSITE[first[2]]
    return second.groups() in ((first[1], sign, first[3]), (first[3], _TURNED[sign], first[1]))


def _check_use(lines: Sequence[str]) -> None:
    """Raise `NotReadable` for a name that no line below uses: these are several formulas, and one
    is asked for.
    """
    for k, line in enumerate(lines[:-1], start=1):
        named = re.match(r"([^\W\d]\w*)(?:\([^()]*\))? = ", line)
        if named and not re.search(rf"(?<!\w){named[1]}(?!\w)", " ".join(lines[k:])):
            raise NotReadable(
                f"these are several formulas, and none uses `{named[1]}`", "", lines, 0
            )


def _hidden(text: str) -> Iterator[re.Match[str]]:
    yield from _ENVIRONMENT.finditer(text)
    yield from _AFTER_NEW_LINE.finditer(text)


def document_in(text: str) -> re.Match[str] | None:
    """Return the displayed formulas of a document that goes over several statements or lines."""
    document = _DOCUMENT.search(text) if "\\begin" in text else None
    return document or (_COMMENTED.fullmatch(text) if "\\" in text else None)


def read_document(text: str, valued: Collection[str] = ()) -> str:
    """Return LaTeX as a program, a statement for each equation; `valued` names are variables.
    Raises `NotReadable`.
    """
    return _LatexReader(text, valued).program()


def translate(match: re.Match[str]) -> str:
    """Return the text as a program; empty if it has no single spelling."""
    text = match[0]
    try:
        return read_document(text) if "\\" in text or re.search(r"[\^_]\s*\{|\{,\}", text) else text
    except NotReadable:
        return ""
