"""LaTeX: from the graph to mathematics, and names and text of any kind to what LaTeX takes. Nothing recurses."""

from __future__ import annotations

import re
import unicodedata

from ..table.names import by_name
from ..table.operators import VARIABLE
from ..values.symbolic import by_definition
from ..values.value import Value
from .printer import AND, ATOM, CHOICE, COMPARISON, NOT, OR, POWER, PRODUCT, SIGN, SUM, number_text

GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
)  # fmt: skip
_GREEK_LETTERS = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", GREEK, strict=True)) | {
    "ϵ": "epsilon", "ϑ": "vartheta", "ϕ": "phi", "ς": "varsigma",
}  # fmt: skip
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", "0123456789aehijklmnoprstuvxβγρφχ", strict=True))
_INDEX = str.maketrans("".join(_SUBSCRIPTS), "".join(_SUBSCRIPTS.values()))
_NAME = re.compile(
    rf"(?P<base>[^\W\d_]+?)(?:_?(?P<below>\d*)|(?P<lowered>[{''.join(_SUBSCRIPTS)}]+))(?P<again>\[\d+\])?"
)

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\char34{}", "`": r"\char96{}", "-": r"{-}",
    "√": r"\ensuremath{\surd}", "×": r"\ensuremath{\times}", "·": r"\ensuremath{\cdot}", "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}", "≠": r"\ensuremath{\ne}", "∞": r"\ensuremath{\infty}",
    "…": r"\ldots{}", "÷": r"\ensuremath{\div}", "⋅": r"\ensuremath{\cdot}",
}  # fmt: skip

_INFIX: dict[str, tuple[str, int, int, int]] = by_name(
    {
        "or_": (r" \lor ", OR, OR, AND),
        "and_": (r" \land ", AND, AND, NOT),
        "lt": (" < ", COMPARISON, SUM, SUM),
        "le": (r" \le ", COMPARISON, SUM, SUM),
        "gt": (" > ", COMPARISON, SUM, SUM),
        "ge": (r" \ge ", COMPARISON, SUM, SUM),
        "eq": (" = ", COMPARISON, SUM, SUM),
        "ne": (r" \ne ", COMPARISON, SUM, SUM),
        "add": (" + ", SUM, SUM, PRODUCT),
        "sub": (" - ", SUM, SUM, PRODUCT),
        "mul": (r" \cdot ", PRODUCT, PRODUCT, POWER),
    }
)


def plain_name(name: str) -> str:
    """A name in letters that every keyboard has, as far as there are any: `sigma1` for `σ₁`, `Ea` for `Eₐ`."""
    if name.isascii():
        return name
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join([_GREEK_LETTERS.get(c, c) for c in decomposed if not unicodedata.combining(c)])


def text_latex(text: str) -> str:
    """Any text, on one line, as LaTeX outside of mathematics; what fonts may lack is written as its code point."""
    return "".join(map(_character, text))


def _character(char: str) -> str:
    if char in _SPECIAL:
        return _SPECIAL[char]
    if char in _GREEK_LETTERS:
        return rf"\ensuremath{{\{_GREEK_LETTERS[char]}}}"
    if char.isascii() and char.isprintable():
        return char
    if char in _SUPERSCRIPTS or char in _SUBSCRIPTS:
        place = "superscript" if char in _SUPERSCRIPTS else "subscript"
        return rf"\text{place}{{{(_SUPERSCRIPTS | _SUBSCRIPTS)[char]}}}"
    if "À" <= char <= "ÿ":
        return char
    if char.isspace() and char.isprintable():
        return " "
    return rf"\textless{{}}U+{ord(char):04X}\textgreater{{}}"


def name_parts(name: str) -> tuple[str, str, bool]:
    """A name as LaTeX: its letters, what stands below them, and whether the letters are one symbol.

    `x1`, `w_1` and `λ₂` have a letter and an index; `c[2]` is the second node that the program calls `c`.
    """
    found = _NAME.fullmatch(unicodedata.normalize("NFC", name))
    if found is None:
        stem, mark, again = name.partition("[")
        return _letters(stem), f"[{again}" if mark else "", False
    base, below, again = found["base"], found["below"] or "", found["again"] or ""
    if found["lowered"]:
        lowered = found["lowered"].translate(_INDEX)
        below = _letters(lowered) if lowered.isalpha() else "".join(map(_letters, lowered))
    if base in GREEK:
        return f"\\{base}", below + again, True
    return _letters(base), below + again, len(base) == 1


def _letters(base: str) -> str:
    if len(base) == 1 and base.isascii():
        return base
    if base in _GREEK_LETTERS:
        return f"\\{_GREEK_LETTERS[base]}"
    if base.isascii():
        return rf"\mathit{{{_underscored(base)}}}"
    return rf"\text{{{text_latex(base)}}}"


def name_latex(name: str, over: str = "") -> str:
    """A name as LaTeX, with an accent over its letters if one is given: `\\bar`, `\\dot`."""
    letters, below, symbol = name_parts(name)
    if over:
        letters = f"{over if symbol or over != chr(92) + 'bar' else chr(92) + 'overline'}{{{letters}}}"
    return f"{letters}_{{{below}}}" if below else letters


def number_latex(text: str) -> str:
    """A number, given as text, as LaTeX: `1e-05` becomes a power of ten."""
    if text in ("true", "false"):
        return rf"\text{{{text}}}"
    if text.startswith("("):
        return rf"\left({number_latex(text[1:-1])}\right)"
    mantissa, mark, exponent = text.lower().replace("_", r"\_").partition("e")
    if not mark or not exponent.lstrip("+-").isdigit():
        return text_latex(text) if not re.fullmatch(r"-?[\d.]+", text) else text
    return rf"{mantissa} \times 10^{{{int(exponent)}}}"


def expression_latex(root: Value) -> str:
    """One expression as LaTeX, for mathematics."""
    written: list[str] = []
    work: list[str | tuple[Value, int]] = [(root, CHOICE)]
    while work:
        item = work.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        value, needed = item
        level, parts = _parts(by_definition(value))
        if level < needed:
            parts = [r"\left(", *parts, r"\right)"]
        work.extend(reversed(parts))
    return "".join(written)


def level_of(root: Value) -> int:
    """How tightly the expression binds as LaTeX, on the printer's scale."""
    return _parts(by_definition(root))[0]


def _parts(value: Value) -> tuple[int, list[str | tuple[Value, int]]]:
    operands, name = value._prev, value.primitive.name
    if not operands:
        return _leaf(value)
    if name in _INFIX:
        between, level, left, right = _INFIX[name]
        return level, [(operands[0], left), between, (operands[1], right)]
    if name == "div":
        return POWER, [r"\frac{", (operands[0], CHOICE), "}{", (operands[1], CHOICE), "}"]
    if name == "pow":
        return POWER, ["{", (operands[0], ATOM), "}^{", (operands[1], CHOICE), "}"]
    if name == "neg":
        return SIGN, ["-", (operands[0], POWER)]
    if name == "not_":
        return NOT, [r"\lnot ", (operands[0], NOT)]
    if name == "sqrt":
        return ATOM, [r"\sqrt{", (operands[0], CHOICE), "}"]
    if name == "cbrt":
        return ATOM, [r"\sqrt[3]{", (operands[0], CHOICE), "}"]
    if name == "abs":
        return ATOM, [r"\left|", (operands[0], CHOICE), r"\right|"]
    if name == "exp":
        return POWER, ["e^{", (operands[0], CHOICE), "}"]
    if name == "log_base":
        return ATOM, [r"\log_{", (operands[1], CHOICE), r"}\left(", (operands[0], CHOICE), r"\right)"]
    parts: list[str | tuple[Value, int]] = [_function(value), r"\left("]
    for k, operand in enumerate(operands):
        parts += [", ", (operand, CHOICE)] if k else [(operand, CHOICE)]
    return ATOM, [*parts, r"\right)"]


def _function(value: Value) -> str:
    return value.primitive.latex or rf"\operatorname{{{_underscored(value.primitive.name)}}}"


def _underscored(name: str) -> str:
    return name.replace("_", r"\_")


def _leaf(value: Value) -> tuple[int, list[str | tuple[Value, int]]]:
    if value.primitive is VARIABLE:
        return ATOM, [r"\ldots" if value.label == "…" else name_latex(value.label)]
    text = value.source or number_text(value.data)
    if text[-1].isalpha() and text not in ("true", "false"):
        return ATOM, [name_latex(text)]
    written = number_latex(text)
    return SIGN if text.startswith("-") else PRODUCT if "times" in written else ATOM, [written]
