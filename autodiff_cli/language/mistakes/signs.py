"""Signs that are not of the language, and what people mean by them."""

from __future__ import annotations

import re
from unicodedata import normalize

from .row import DERIVATIVES, LINES, Repair, Row

_RAISED = "ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⁱⁿ"
_LOWERED = "ᵢ-ᵪₐ-ₜⱼ"
_QUOTES = "\"'`´“”„‟«»‘’‚‛"
_DASHES = "‐‑‒–—―﹘﹣－"
_UNSEEN = "\u00ad\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"


def _plain(found: re.Match[str]) -> str:
    return normalize("NFKC", found[0])


def _raised(found: re.Match[str]) -> str:
    exponent = normalize("NFKC", found[0]).replace("−", "-")
    return f"**{exponent}" if len(exponent) == 1 else f"**({exponent})"


def _lowered(found: re.Match[str]) -> str:
    return "_" + normalize("NFKC", found[0])


def _fraction(found: re.Match[str]) -> str:
    over, _, under = normalize("NFKC", found[2]).partition("⁄")
    value = f"({found[1]} + {over}/{under})" if found[1] else f"({over}/{under})"
    return value + "*" * bool(found[3])


def _digit(found: re.Match[str]) -> str:
    return "".join(str(int(digit)) for digit in found[0])


def _row(
    text: str, message: str, *repair: Repair, examples: tuple[str, ...] = (), hint: str = "write {}", **more: str
) -> Row:
    """A row for a sign that is recognised by its text, where the repaired statement is what is offered."""
    tokens = more.pop("tokens", "! UNREADABLE")
    return Row(
        tokens, message, ("{repaired}",) if repair else (), examples, hint, text, caret="sign", repair=repair, **more
    )


LATEX: tuple[Repair, ...] = (
    (r"\\(?:left|right|displaystyle|,|;|!|quad|big|Big)(?![a-zA-Z])\s*", ""),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\sqrt\s*\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\(?:mathrm|operatorname|text|mathbf)\s*\{([^{}]*)\}", r"\1"),
    (r"\\(?:cdot|times|ast)(?![a-zA-Z])\s*", "*"),
    (r"\\div(?![a-zA-Z])\s*", "/"),
    (r"\\leq?(?![a-zA-Z])", "<="),
    (r"\\geq?(?![a-zA-Z])", ">="),
    (r"\\neq?(?![a-zA-Z])", "!="),
    (r"\\l?vert(?![a-zA-Z])", "|"),
    (r"\\([a-zA-Z]+)\s*\^\s*\{?([0-9]+)\}?\s*(\([^()]*\))", r"\1\3**\2"),
    (r"\\([a-zA-Z]+)\s*\^\s*\{?([0-9]+)\}?\s*(\w+)", r"\1(\3)**\2"),
    (r"\\([a-zA-Z]+)\s+(\w+)", r"\1(\2)"),
    (r"(?<=\w)\\([a-zA-Z]+)", r" \1"),
    (r"\\([a-zA-Z]+)", r"\1"),
    (r"_\{(\w+)\}", r"_\1"),
    (r"\{", "("),
    (r"\}", ")"),
)

SIGNS = (
    _row(
        rf"[{_UNSEEN}]", "there is an invisible character here, {code}", (rf"[{_UNSEEN}]+", ""), hint="leave it out: {}"
    ),
    _row(
        r"[\x00-\x1f\x7f-\x9f]",
        "there is a control character here, {code}",
        (r"[\x00-\x1f\x7f-\x9f]+", " "),
        hint="leave it out: {}",
    ),
    _row(
        rf"[{_DASHES}]",
        "`{character}` is a dash and not a minus sign",
        (rf"[{_DASHES}]", "-"),
        examples=("a - b",),
    ),
    Row(
        "OPERAND ! UNREADABLE",
        "`{character}` marks neither a derivative nor a name",
        ("{left}_1", "{left}1"),
        ("x1",),
        "derivatives are what the program works out; for a further name write {}",
        text="['’′´]+",
        caret="sign",
        before=r"(?<!['\"‘“])\b[^\W\d]\w*(?:\([^()]*\))?",
    ),
    _row(
        rf"[{_QUOTES}]",
        "a quotation mark is no part of a formula",
        (rf"(?<=\w)[{_QUOTES}](?=\w)", " "),
        (rf"[{_QUOTES}]", ""),
        examples=("x + 1",),
        hint="leave the quotation marks out (or did the shell leave them in?): {}",
    ),
    _row(
        "[¼-¾⅐-⅞↉]",
        "`{character}` is not a number here",
        (r"([0-9]*)([¼-¾⅐-⅞↉])(?=\s*([^\W\d]|[(√])?)", _fraction),
        examples=("1/2",),
    ),
    _row(r"(?![0-9])\d", "digits are 0 to 9 here", (r"(?:(?![0-9])\d)+", _digit), examples=("12",)),
    _row(
        rf"[{_RAISED}]",
        "`{character}` is neither part of a name nor an exponent",
        (rf"[⁺⁻⁰¹²³⁴-⁹]*[{_RAISED}][⁺⁻⁰¹²³⁴-⁹{_RAISED}]*", _raised),
        examples=("x**n",),
    ),
    _row(rf"[{_LOWERED}]", "`{character}` cannot be part of a name", (rf"[{_LOWERED}]+", _lowered), examples=("x_i",)),
    _row("[₀-₉]", "a subscript can follow only a name", examples=("x₁",)),
    _row("[⁺⁻]", "an exponent is missing after `{character}`", examples=("x⁻¹",)),
    _row("[∗∙•●✕✖⨯⨉∘]", "`{character}` is not a sign for a product here", ("[∗∙•●✕✖⨯⨉∘]", "*"), examples=("a*b",)),
    _row("[∕⁄∶]", "`{character}` is not a sign for a quotient here", ("[∕⁄∶]", "/"), examples=("a/b",)),
    _row("[！-～]", "`{character}` is a full-width character", ("[！-～]", _plain), examples=("a + b",)),
    _row("[、，]", "`{character}` is not the comma of the language", ("[、，]", ", "), examples=("f(x, y)",)),
    _row(
        "∛",
        "`∛` is not a sign of the language",
        (r"∛\s*([^\W\d]\w*\([^()]*\)|\w+|(?=\())", r"cbrt(\1)"),
        (r"cbrt\(\)(\([^()]*\))", r"cbrt\1"),
        examples=("cbrt(x)",),
    ),
    _row("∜", "`∜` is not a sign of the language", (r"∜\s*(\w+|\([^()]*\))", r"\1**(1/4)"), examples=("x**(1/4)",)),
    _row("¬", "`¬` is not an operator here", (r"¬\s*", "not "), examples=("not a",)),
    _row("∧", "`∧` is not an operator here", (r"\s*∧\s*", " and "), examples=("a and b",)),
    _row("∨", "`∨` is not an operator here", (r"\s*∨\s*", " or "), examples=("a or b",)),
    _row("°", "angles are in radians here", (r"(\w+|\([^()]*\))\s*°", r"rad(\1)"), examples=("rad(30)",)),
    _row("[∂∇]", "`{character}` is not a sign of the language", hint=DERIVATIVES),
    _row(
        "[∑∏∫]",
        "`{character}` is not a sign of the language",
        examples=("x1 + x2 + x3",),
        hint="write the terms out, as in {}",
    ),
    _row(
        "∞", "infinity is not a number of the language", examples=("1e300",), hint="a large number, such as {}, may do"
    ),
    _row("±", "`±` stands for two values", examples=("a + b", "a - b"), hint="write one of them, as in {}"),
    _row(
        r"…|\.\.\.?",
        "three dots do not stand for terms",
        examples=("x1 + x2 + x3",),
        hint="write the terms out, as in {}",
    ),
    _row("←", "`←` is not a sign of the language", (r"\s*←\s*", " = "), examples=("y = x + 1",)),
    _row(r"\\\s*[\r\n]", "a backslash does not continue a line", hint=LINES),
    _row(r"\\", "this is a LaTeX command", *LATEX, examples=("sin(x)/2",)),
    _row(
        r"\$",
        "a dollar sign is no part of a name (or did the shell leave it in?)",
        (r"\$\{?([^\W\d]\w*)\}?", r"\1"),
        (r"\$", ""),
        examples=("x",),
    ),
    Row("OPERAND ! UNREADABLE", "there is no `@` operator", ("{left}*{rest}",), ("a*b",), text="@", caret="sign"),
    _row("@", "`@` is no part of a name", ("@", ""), examples=("x",)),
    _row("&&?", "`{sign}` is not an operator here", (r"\s*&&?\s*", " and "), examples=("a and b",)),
    _row(
        "!",
        "`=!` is not an operator here",
        ("=!", "!="),
        examples=("a != b",),
        before="=",
        tokens="EQUALS ! UNREADABLE",
    ),
    Row(
        "OPERAND ! UNREADABLE",
        "there is no `!` operator",
        ("gamma({left} + 1)",),
        ("gamma(x + 1)",),
        "a factorial is {}",
        text="!",
        caret="sign",
    ),
    _row("[!~]", "`{character}` is not an operator here", (r"[!~](?!=)\s*", "not "), examples=("not a",)),
    Row(
        "OPERAND ! UNREADABLE",
        "there is no `%` operator",
        ("{left} - {rest}*floor({left}/{rest})",),
        ("x - y*floor(x/y)",),
        "a remainder is {}",
        text=r"%(?=\s*[\w(.|√])",
        caret="sign",
    ),
    Row("OPERAND ! UNREADABLE", "there is no `%` sign", ("{left}/100",), ("x/100",), text="[%‰]", caret="sign"),
    _row(":=", "`:=` is not an operator here", (r"\s*:=\s*", " = "), examples=("y = x + 1",)),
    _row(
        r"[?]",
        "`?` does not make a choice here",
        (r"^([^=?]*=(?!=)\s*)?([^?]*?)\s*\?\s*([^?:]*?)\s*:\s*([^?:]*)$", r"\1\3 if \2 else \4"),
        examples=("a if c else b",),
    ),
    _row(
        r"\[\w+\]",
        "there are no lists, so nothing to index",
        (r"\[(\w+)\]", r"_\1"),
        examples=("x_1",),
        tokens="NAME ! UNREADABLE",
    ),
    _row(r"\{\w+\}", "braces are no part of a name", (r"_\{(\w+)\}", r"_\1"), examples=("x_1",), before="_"),
    _row(
        r"[\[\]{}⟨⟩]",
        "the language has only round parentheses",
        (r"[\[{⟨]", "("),
        (r"[\]}⟩]", ")"),
        examples=("2*(x + 1)",),
    ),
    _row(
        r"\.(?=\s*[^\W\d])",
        "names have no dots",
        (r"\b[^\W\d]\w*\s*\.\s*(?=[^\W\d])", ""),
        examples=("sin(x)",),
        before=r"\b(?:math|cmath|np|numpy|jnp|jax|torch|tf|F|Math|mpmath|sympy|sp)",
    ),
    _row(r"\.(?=\s*[^\W\d])", "names have no dots", (r"(?<=\w)\.(?=[^\W\d])", "_"), examples=("x_1",)),
    _row(r"\.(?=[*/^])", "there are no operators with a dot", (r"\.(?=[*/^])", ""), examples=("x*y",)),
    _row(r"\.", "a point can stand only within a number", examples=("0.5",)),
    _row(":", "a colon has no meaning here", examples=("y = x + 1", "a if c else b"), hint="write {}"),
    Row(
        "! UNREADABLE",
        "`{character}` cannot be part of a name",
        text=r"[^\x00-\x7f]",
        caret="sign",
        before=r"\w",
        hint="leave it out",
    ),
    Row("! UNREADABLE", "`{character}` is not a sign of the language", hint="leave it out", caret="sign"),
)
