"""Signs that are not of the language, and what people mean by them."""

from __future__ import annotations

import re
from unicodedata import normalize

from ...language.tokens import KEYWORDS
from ...table.names import native
from ...table.primitive import FUNCTIONS
from .backslashes import spelled
from .mistake import DERIVATIVES, LINES, Mistake, Repair

_RAISED = "ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⁱⁿ"
_LOWERED = "ᵢ-ᵪₐ-ₜⱼ"
_QUOTES = "\"'`´“”„‟«»‘’‚‛"
_DASHES = "‐‑‒–—―﹘﹣－"
_MODULES = r"\b(?:math|cmath|np|numpy|jnp|jax|torch|tf|F|Math|mpmath|sympy|sp)"
_UNSEEN = "\u00ad\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"


_CAPITAL = frozenset((*native("log atan2 sinc"), "arctan"))
"""Functions that are others, or take their arguments otherwise, in languages that write them with a capital letter."""


def _plain(found: re.Match[str]) -> str:
    return normalize("NFKC", found[0])


def _raised(found: re.Match[str]) -> str:
    exponent = normalize("NFKC", found[0]).replace("−", "-")
    return f"**{exponent}" if len(exponent) == 1 else f"**({exponent})"


_FRACTION = (
    r"(?:(?<![\w.])([0-9]+)\s*|(?P<after>[\w)|]\s*))?(?P<sign>[¼-¾⅐-⅞↉])"
    r"(?=\s*(?P<before>(?!(?:if|else|and|or)\b)(?:[^\W\d¼-¾⅐-⅞↉]|[(√]))?)"
)


def _fraction(found: re.Match[str]) -> str:
    over, _, under = normalize("NFKC", found["sign"]).partition("⁄")
    value = f"({found[1]} + {over}/{under})" if found[1] else f"({over}/{under})"
    if found["after"]:
        word = re.search(r"[^\W\d]\w*\Z", found.string[: found.end("after")].rstrip())
        is_operand = not (word and (word[0] in FUNCTIONS or word[0] in KEYWORDS))
        value = (found["after"].rstrip() + "*" if is_operand else found["after"]) + value
    # As an exponent or a divisor it has two readings before a factor, as `2^2x` has: no sign, no spelling.
    is_ambiguous = re.search(r"(?:[/÷^]|\*\*)\s*[-+−]?\s*\Z", found.string[: found.start()])
    return value + "*" * bool(found["before"] and not is_ambiguous)


def _chosen(found: re.Match[str]) -> str:
    condition = found[2] if re.search("[<>=!≤≥≠]|\\b(?:and|or|not)\\b", found[2]) else f"{found[2]} != 0"
    return f"{found[1] or ''}{found[3]} if {condition} else {found[4]}"


def _digit(found: re.Match[str]) -> str:
    return "".join(str(int(digit)) for digit in found[0])


def _folded(found: re.Match[str]) -> str:
    name = found[1].lower()
    return f"{name if name in FUNCTIONS and name not in _CAPITAL else found[1]}("


def _sign(
    text: str,
    message: str,
    *repair: Repair,
    examples: tuple[str, ...] = (),
    hint: str = "write {}",
    alone: bool = False,
    **more: str,
) -> Mistake:
    """A mistake that is recognised by a sign in the text, where the repaired statement is what is offered."""
    tokens = more.pop("tokens", "! UNREADABLE")
    return Mistake(
        tokens, message, (), examples, hint, text, more.pop("before", ""), caret="sign", repair=repair, alone=alone,
        needs=more.pop("needs", ""), certain=more.pop("certain", ""),
    )  # fmt: skip


def _root(
    sign: str, offer: str, example: str, of_power: tuple[str, str], powers: tuple[str, str], products: tuple[str, str]
) -> tuple[Mistake, ...]:
    """The mistakes with the sign of a root: `offer` is what to write, the pairs are for two readings."""
    return (
        Mistake(
            "(NAME|CLOSE|SUPERSCRIPT|BAR) ! UNREADABLE",
            f"there is no operator before `{sign}`, which is not a sign of the language",
            ("{left}*" + offer,),
            (f"a*{example}",),
            text=sign,
            caret="sign",
            places=("gap",),
            edit="*",
            certain="factor",
            needs="left",
        ),
        Mistake(
            "! UNREADABLE",
            f"`{sign}` is not a sign of the language, and `{sign}{{rooted_power}}` can be read in two ways",
            of_power,
            powers,
            text=sign,
            caret="sign",
            places=("sign..rooted_power", "sign..rooted_power"),
            needs="after_root",
        ),
        Mistake(
            "! UNREADABLE COEFFICIENT",
            f"`{sign}` is not a sign of the language, and what it is taken of can be read in two ways",
            examples=products,
            text=sign,
            caret="sign",
        ),
        Mistake(
            "! UNREADABLE",
            f"`{sign}` is not a sign of the language",
            (offer,),
            (example,),
            text=sign,
            caret="sign",
            places=("sign..rooted",),
            certain="closed",
        ),
    )


LATEX: Repair = (r"^[\s\S]+$", spelled)

SIGNS = (
    _sign("\u2062", "there is an invisible sign of a product here", ("\u2062", "*"), examples=("a*b",)),
    _sign(
        rf"[{_UNSEEN}]",
        "there is an invisible character here, {code}",
        (rf"[{_UNSEEN}]+", ""),
        hint="leave it out: {}",
        certain="apart",
    ),
    _sign(
        r"[\x00-\x1f\x7f-\x9f]",
        "there is a control character here, {code}",
        (r"[\x00-\x1f\x7f-\x9f]+", " "),
        hint="leave it out: {}",
        certain="never",
    ),
    _sign(
        rf"[{_DASHES}]",
        "`{character}` is a dash and not a minus sign",
        (rf"[{_DASHES}]", "-"),
        examples=("a - b",),
        certain="single_dash",
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "`{character}` marks neither a derivative nor a name",
        ("{left}_1", "{left}1"),
        ("x1",),
        "derivatives are what the program works out; for a further name write {}",
        text="['’′´]+",
        caret="sign",
        places=("left..sign", "left..sign"),
        before=r"(?<!['\"‘“])\b[^\W\d]\w*(?:\([^()]*\))?",
    ),
    _sign(
        rf"[{_QUOTES}]",
        "a quotation mark is no part of a formula",
        (rf"(?<=\w)[{_QUOTES}](?=\w)", " "),
        (rf"[{_QUOTES}]", ""),
        examples=("x + 1",),
        hint="leave the quotation marks out (or did the shell leave them in?): {}",
        alone=True,
        certain="quoted",
    ),
    Mistake(
        "(NAME|CLOSE) ! UNREADABLE",
        "`{character}` is not a number here",
        ("{left}*({fraction})", "{left}**({fraction})"),
        ("x*(1/2)", "x**(1/2)"),
        text=r"[¼-¾⅐-⅞↉](?!\s*[\w(√|])",
        caret="sign",
        places=("left..sign", "left..sign"),
        needs="after_operand",
    ),
    _sign(
        "[¼-¾⅐-⅞↉]",
        "`{character}` is not a number here",
        (_FRACTION, _fraction),
        examples=("1/2",),
        certain="no_operand_before",
    ),
    _sign(r"(?![0-9])\d", "digits are 0 to 9 here", (r"(?:(?![0-9])\d)+", _digit), examples=("12",)),
    _sign(
        rf"[{_RAISED}]",
        "`{character}` is neither part of a name nor an exponent",
        (rf"[⁺⁻⁰¹²³⁴-⁹]*[{_RAISED}][⁺⁻⁰¹²³⁴-⁹{_RAISED}]*", _raised),
        examples=("x**n",),
    ),
    _sign(f"[₀-₉{_LOWERED}]", "a subscript can follow only a name", examples=("x₁",)),
    _sign("[⁺⁻]", "an exponent is missing after `{character}`", examples=("x⁻¹",)),
    _sign(
        "∘",
        "`∘` is not a sign for a product here",
        ("∘", "*"),
        examples=("a*b",),
        certain="never",
    ),
    _sign("[•●✕✖⨯⨉]", "`{character}` is not a sign for a product here", ("[•●✕✖⨯⨉]", "*"), examples=("a*b",)),
    _sign("[∕⁄∶]", "`{character}` is not a sign for a quotient here", ("[∕⁄∶]", "/"), examples=("a/b",)),
    _sign("[！-～]", "`{character}` is a full-width character", ("[！-～]", _plain), examples=("a + b",)),
    _sign("[、，]", "`{character}` is not the comma of the language", ("[、，]", ", "), examples=("max(x, y)",)),
    *_root(
        "∛",
        "cbrt({radix})",
        "cbrt(x)",
        ("cbrt({rooted_power})", "cbrt({radix}){after_root}"),
        ("cbrt(x²)", "cbrt(x)²"),
        ("cbrt(2*x)", "cbrt(2)*x"),
    ),
    *_root(
        "∜",
        "{rooted}**(1/4)",
        "x**(1/4)",
        ("({rooted_power})**(1/4)", "({radix}**(1/4)){after_root}"),
        ("(x²)**(1/4)", "(x**(1/4))²"),
        ("(2*x)**(1/4)", "2**(1/4)*x"),
    ),
    _sign("¬", "`¬` is not an operator here", (r"¬\s*", "not "), examples=("1 if not a > 0 else 0",)),
    _sign("∧", "`∧` is not an operator here", (r"\s*∧\s*", " and "), examples=("1 if a > 0 and b > 0 else 0",)),
    _sign("∨", "`∨` is not an operator here", (r"\s*∨\s*", " or "), examples=("1 if a > 0 or b > 0 else 0",)),
    _sign(
        "°",
        "angles are in radians here",
        (r"(?<![\w.,])([\w.]+|(?<!\w)\([^()]*\))\s*°", r"rad(\1)"),
        examples=("rad(30)",),
        certain="no_letter_after",
    ),
    _sign("⌊", "`⌊` is not a sign of the language", (r"⌊([^⌊⌋]*)⌋", r"floor(\1)"), examples=("floor(x)",)),
    _sign("⌈", "`⌈` is not a sign of the language", (r"⌈([^⌈⌉]*)⌉", r"ceil(\1)"), examples=("ceil(x)",)),
    _sign("[∂∇]", "`{character}` is not a sign of the language", hint=DERIVATIVES),
    _sign(
        "[∑∏∫]",
        "`{character}` is not a sign of the language",
        examples=("x1 + x2 + x3",),
        hint="write the terms out, as in {}",
    ),
    _sign(
        "∞", "infinity is not a number of the language", examples=("1e300",), hint="a large number, such as {}, may do"
    ),
    _sign("±", "`±` stands for two values", examples=("a + b", "a - b"), hint="write one of them, as in {}"),
    _sign(
        r"…|\.\.\.?",
        "three dots do not stand for terms",
        examples=("x1 + x2 + x3",),
        hint="write the terms out, as in {}",
    ),
    _sign("←", "`←` is not a sign of the language", (r"\s*←\s*", " = "), examples=("y = x + 1",)),
    _sign(r"\\\s*[\r\n]", "a backslash does not continue a line", hint=LINES),
    _sign(
        r"\\[dt]?frac\s*\{\s*(?:d|\\partial)\s*(?:\^\s*\w)?\s*\w?\s*\}\s*\{\s*(?:d|\\partial)\s*\w",
        "this is a derivative in LaTeX",
        hint=DERIVATIVES,
    ),
    _sign(r"\\", "this is a LaTeX command", LATEX, examples=("sin(x)/2",), certain="single_letters"),
    _sign(
        r"\$",
        "a dollar sign is no part of a name (or did the shell leave it in?)",
        (r"\$\{?([^\W\d]\w*)\}?", r"\1"),
        (r"\$", ""),
        examples=("x",),
        certain="single_letters no_dollar_within",
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "there is no `@` operator",
        ("{left}*{rest}",),
        ("a*b",),
        text="@",
        caret="sign",
        places=("left..rest",),
    ),
    _sign(
        r"@\s*\(",
        "`@` does not define a function here",
        (r"^(?:(\w+)\s*=\s*)?@\s*\(([\w\s,]*)\)\s*(.*)$", lambda found: f"{found[1] or 'f'}({found[2]}) = {found[3]}"),
        examples=("f(x) = x**2",),
    ),
    _sign("@", "`@` is no part of a name", ("@", ""), examples=("x",)),
    _sign(
        "&&?", "`{sign}` is not an operator here", (r"\s*&&?\s*", " and "), examples=("1 if a > 0 and b > 0 else 0",)
    ),
    _sign(
        "!",
        "`=!` is not an operator here",
        ("=!", "!="),
        examples=("1 if a != b else 0",),
        before="=",
        tokens="EQUALS ! UNREADABLE",
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "there is no `!!` operator",
        (),
        ("5*3*1",),
        "write a double factorial out, as in {}",
        text="!!",
        caret="sign",
    ),
    Mistake(
        "SUPERSCRIPT ! UNREADABLE",
        "there is no `!` operator, and `{squared}!` can be read in two ways",
        ("{lead}gamma({squared} + 1)", "{lead}gamma({base} + 1){before}"),
        ("gamma(x² + 1)", "gamma(x + 1)²"),
        text="!",
        caret="sign",
        places=("left..sign", "left..sign"),
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "there is no `!` operator",
        ("{lead}gamma({atom} + 1)",),
        ("gamma(x + 1)",),
        "write the factorial as a call: {}",
        text="!",
        caret="sign",
        places=("left..sign",),
        certain="whole",
    ),
    _sign(
        "[!~]",
        "`{character}` is not an operator here",
        (r"(?<![\w)|])(?<![\w)|]\s)[!~](?!=)\s*", "not "),
        examples=("1 if not a > 0 else 0",),
        alone=True,
    ),
    _sign(
        "%=",
        "`%=` is not an operator here",
        (r"^\s*(\w+)\s*%=\s*(.*)$", r"\1 = \1 - (\2)*floor(\1/(\2))"),
        examples=("y = x - 2*floor(x/2)",),
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "`{sign}` is not an operator here",
        ("({term} - {rest_far}*floor({term}/{rest_far}))",),
        ("(x - y*floor(x/y))",),
        "write the remainder out: {}",
        text="%%",
        caret="sign",
        places=("term..rest_far",),
        certain="closed",
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "`%` can be a remainder or a percentage, and the language has neither",
        ("({term} - ({divisor})*floor({term}/({divisor})))", "{lead}({atom}/100)"),
        ("(x - y*floor(x/y))", "(x/100)"),
        text=r"%(?=\s*[-+−]+\s*[\w(.|√])",
        caret="sign",
        places=("term..divisor", "left..sign"),
    ),
    Mistake(
        "NUMBER ! UNREADABLE",
        "`%` can be a remainder or a percentage, and the language has neither",
        ("({term} - {rest}*floor({term}/{rest}))", "{lead}({atom}/100)*{rest}"),
        ("(x - y*floor(x/y))", "(x/100)"),
        text=r"%(?=\s+(?!(?:if|else|and|or)\b)[\w(.|√])",
        before=r"[0-9.]",
        caret="sign",
        places=("term..rest", "left..rest"),
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "there is no `%` operator",
        ("({term} - {rest}*floor({term}/{rest}))",),
        ("(x - y*floor(x/y))",),
        "write the remainder out: {}",
        text=r"%(?=\s*(?!(?:if|else|and|or)\b)[\w(.|√])",
        caret="sign",
        places=("term..rest",),
        certain="no_words closed",
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "there is no `%` sign",
        ("{lead}({atom}/100)",),
        ("(x/100)",),
        text="%",
        caret="sign",
        places=("left..sign",),
        certain="percentage",
    ),
    Mistake(
        "OPERAND ! UNREADABLE",
        "there is no `‰` sign",
        ("{lead}({atom}/1000)",),
        ("(x/1000)",),
        text="‰",
        caret="sign",
        places=("left..sign",),
    ),
    _sign(":=", "`:=` is not an operator here", (r"\s*:=\s*", " = "), examples=("y = x + 1",)),
    _sign(
        r"[?]",
        "`?` does not make a choice here",
        (r"^(\s*\w+\s*=(?!=)\s*)?([^?]*?)\s*\?\s*([^?:]*?)\s*:\s*([^?:]*)$", _chosen),
        examples=("a if c > 0 else b",),
    ),
    _sign(
        r"\[",
        "the language has only round parentheses",
        (r"\bLog\[([^\[\],]*)\]", r"log(\1)"),
        (r"\b([^\W\d]\w*)\s*\[", _folded),
        (r"\[", "("),
        (r"\]", ")"),
        examples=("sin(x)",),
        tokens="NAME ! UNREADABLE",
        needs="folded",
        certain="no_index",
    ),
    _sign(
        r"\[\w+\]",
        "there are no lists, so nothing to index",
        (r"(?<=\w)\[(\w+)\]", r"_\1"),
        examples=("x_1",),
        tokens="NAME ! UNREADABLE",
        certain="numbered",
    ),
    _sign(r"\{\w+\}", "braces are no part of a name", (r"_\{(\w+)\}", r"_\1"), examples=("x_1",), before="_"),
    _sign(
        r"[\[\]{}⟨⟩]",
        "the language has only round parentheses",
        (r"[\[{⟨]", "("),
        (r"[\]}⟩]", ")"),
        examples=("2*(x + 1)",),
        certain="no_index",
    ),
    _sign(
        r"\.(?=\s*[^\W\d])",
        "names have no dots",
        (rf"{_MODULES}\s*\.\s*(?=[^\W\d])", ""),
        examples=("sin(x)",),
        before=_MODULES,
        certain="module",
    ),
    Mistake(
        "(NAME|FUNCTION) ! UNREADABLE",
        "there are no operators with a dot",
        ("{before}{group}",),
        ("sin(x)",),
        text=r"\.(?=\()",
        caret="sign",
        places=("sign",),
        edit=" ",
    ),
    Mistake(
        "NAME ! UNREADABLE NAME",
        "names have no dots",
        ("{before}_{next}", "{before}*{next}"),
        ("x_1", "x*y"),
        text=r"\.(?=[^\W\d])",
        caret="sign",
        places=("before..next", "before..next"),
    ),
    _sign(
        r"\.(?=\s*[^\W\d])", "names have no dots", (r"(?<=\w)\.(?=[^\W\d])", "_"), examples=("x_1",), certain="never"
    ),
    _sign(r"\.(?=[*/^])", "there are no operators with a dot", (r"\.(?=[*/^])", ""), examples=("x*y",)),
    _sign(r"\.", "a point can stand only within a number", examples=("0.5",)),
    _sign(":", "a colon has no meaning here", examples=("y = x + 1", "a if c > 0 else b"), hint="write {}"),
    Mistake(
        "! UNREADABLE",
        "`{character}` cannot be part of a name",
        text=r"[^\x00-\x7f]",
        caret="sign",
        before=r"\w",
        hint="leave it out",
    ),
    Mistake("! UNREADABLE", "`{character}` is not a sign of the language", hint="leave it out", caret="sign"),
)
