"""LaTeX of graphs as written by hand, and of names and text; no two names look alike. Nothing
recurses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from ..engine.algebra.symbolic import to_language
from ..engine.algebra.walk import rewrite
from ..engine.graphs.value import Value, in_order, variable
from ..engine.numbers import budget
from ..engine.table import primitive as binding
from ..engine.table.operators import ADD, CONSTANT, DIV, MUL, NEG, POW, VARIABLE, WHERE
from ..engine.table.primitive import BY_DEFINITION, PRIMITIVES, Primitive
from .builder import Program
from .printer import number_text
from .tokens import has_unit_literals

GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
)  # fmt: skip
LETTERS = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩϵϑϕς",
        (*GREEK, "epsilon", "vartheta", "phi", "varsigma"),
        strict=True,
    )
)
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))
_SUBSCRIPTS = dict(
    zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", "0123456789aehijklmnoprstuvxβγρφχ", strict=True)
)
_INDEX = str.maketrans("".join(_SUBSCRIPTS), "".join(_SUBSCRIPTS.values()))
_NAME = re.compile(
    rf"(?P<base>[^\W\d_]{{1,200}}?)(?P<below>\d*)(?P<lowered>[{''.join(_SUBSCRIPTS)}]*)"
    r"(?P<words>(?:_[^\W_]+)*)(?P<again>\[\d+\])?"
)
_AGAIN = re.compile(r"(?<=.)\[\d+\]$")
_LIMITS = ("max", "min", "sup", "inf")  # words below a letter with an upright command

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\char34{}", "`": r"\char96{}", "-": r"{-}",
    "√": r"\ensuremath{\surd}", "×": r"\ensuremath{\times}", "·": r"\ensuremath{\cdot}", "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}", "≥": r"\ensuremath{\ge}", "≠": r"\ensuremath{\ne}", "∞": r"\ensuremath{\infty}",
    "…": r"\ldots{}", "÷": r"\ensuremath{\div}", "⋅": r"\ensuremath{\cdot}",
}  # fmt: skip


def plain_name(name: str) -> str:
    """Return a name in keyboard letters if possible: `sigma1` for `σ₁`, `Ea` for `Eₐ`."""
    if name.isascii():
        return name
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join([LETTERS.get(c, c) for c in decomposed if not unicodedata.combining(c)])


def text_latex(text: str) -> str:
    """Return text as LaTeX text; rare characters as code points."""
    return "".join(map(_character, text))


def _character(char: str) -> str:
    if char in _SPECIAL:
        return _SPECIAL[char]
    if char in LETTERS:
        return rf"\ensuremath{{\{LETTERS[char]}}}"
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
    """Return a name as LaTeX: letters, index (`x1`, `w_1`, `beta_max`, `c[2]`), and whether they
    are one symbol.
    """
    match = _NAME.fullmatch(unicodedata.normalize("NFC", name))
    if match is not None:
        base, again = match["base"], match["again"] or ""
        letters = f"\\{base}" if base in GREEK else _letters(base)
        symbol = len(base) == 1 or base in GREEK
        if symbol or not match["words"].strip("_0123456789"):
            below = [word for word in (match["below"], *match["words"].split("_")) if word]
            if match["lowered"]:
                below.insert(0, match["lowered"].translate(_INDEX))
            return letters, ",".join(map(_below, below)) + again, symbol
    again = _AGAIN.search(name)
    return _letters(name[: again.start()] if again else name), again[0] if again else "", False


def _below(word: str) -> str:
    if word.isdigit():
        return word
    if word in GREEK or word in _LIMITS:
        return f"\\{word}"
    if len(word) == 1 or not word.isascii():
        return _letters(word) if word.isalpha() else "".join(map(_letters, word))
    return rf"\mathrm{{{word}}}"


def _letters(base: str) -> str:
    if len(base) == 1 and base.isascii() and base.isalnum():
        return base
    if base in LETTERS:
        return f"\\{LETTERS[base]}"
    if base.isascii() and base.isidentifier():
        return r"\mathit{" + base.replace("_", r"\_") + "}"
    return rf"\text{{{text_latex(base)}}}"


def name_latex(name: str, over: str = "") -> str:
    """Return a name as LaTeX, perhaps with an accent: `\\bar`, `\\dot`."""
    return _accent(*name_parts(name), over)


def _accent(letters: str, below: str, symbol: bool, over: str) -> str:
    if over:
        letters = (
            f"{over if symbol or over != chr(92) + 'bar' else chr(92) + 'overline'}{{{letters}}}"
        )
    return f"{letters}_{{{below}}}" if below else letters


def number_latex(text: str) -> str:
    """Return a number as LaTeX: `1e-05` as a power of ten, `1/3` as a fraction."""
    if text in ("true", "false"):
        return rf"\text{{{text}}}"
    if text.startswith("("):
        return f"({number_latex(text[1:-1])})"
    fraction = re.fullmatch(r"(-?)(\d+)/(\d+)", text)
    if fraction:
        return rf"{fraction[1]}\frac{{{fraction[2]}}}{{{fraction[3]}}}"
    mantissa, mark, exponent = text.lower().replace("_", "").partition("e")
    if not re.fullmatch(r"-?(\d+(?:\.\d*)?|\.\d+)", mantissa) or (
        mark and not exponent.lstrip("+-").isdigit()
    ):
        return text_latex(text)
    sign, size = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    size = f"0{size}" if size.startswith(".") else size.removesuffix(".")
    if not mark:
        return sign + size
    power = rf"10^{{{int(exponent)}}}"
    return sign + (power if size == "1" else rf"{size} \times {power}")


# ---- formulas
# On paper a leading minus or a slash binds less than a product; up to sums the grammar's order
# holds.
NEGATED, RATIO, PRODUCT, POWER, ATOM = range(binding.SUM + 1, binding.SUM + 6)
_ON_PAPER = {binding.PRODUCT: RATIO}
# Text between operands, and precedences: own and operands'.
_INFIX: dict[Primitive, tuple[str, int, int, int]] = {
    p: (p.latex[2:-2], level, left, _ON_PAPER.get(right, right))
    for p in PRIMITIVES.values()
    if p.latex and len(p.operator) == 4
    for _, level, left, right in [p.operator]
}

# kinds of beginnings and ends of formulas, for spacing
DIGIT, SYMBOL, WORD, OPEN, FRACTION, BAR, OTHER = range(7)
TYPICAL_FUNCTIONS = "fghuFGH"  # names for a function, the usual first
# the most nodes of a function stated before its derivatives, with repetition
MAX_STATED_NODES = 1000
# the longest superscript of e in LaTeX characters; longer exponents use `exp`
MAX_EXPONENT_LENGTH = 60
# Letters that mathematics also calls: before a parenthesis they are no factors without a sign.
FUNCTION_LETTERS = frozenset((
    r"\Gamma", r"\Phi", r"\Theta", r"\chi", r"\delta", r"\eta", r"\phi", r"\sigma", r"\theta",
    r"\varphi", r"\vartheta", r"\xi", r"\zeta",
))  # fmt: skip
APPLIED = {
    command[0] for p in PRIMITIVES.values() if (command := re.match(r"\\?[A-Za-z]+", p.latex))
}


class _Piece(NamedTuple):
    level: int
    text: tuple[str | _Piece, ...]
    start: int = OTHER
    end: int = OTHER
    tall: bool = False
    length: int = 0
    scripts: int = 0
    positive: _Piece | None = None
    called: tuple[str, _Piece] | None = None
    rest: tuple[str | _Piece, ...] = ()
    name: str = ""


class Typesetting:
    """Typesetting for one program, in which no two names look alike."""

    def __init__(
        self,
        names: Iterable[str],
        constants: Container[str] = (),
        first: Container[str] = (),
        function: str | None = None,
    ) -> None:
        """Names in `first` are typeset as if alone; `constants` mean π and e; the default
        `function` is a letter.
        """
        self._names: dict[str, tuple[str, str, bool]] = {}
        taken = {r"\pi"}
        # typed Greek letters and underscores are deliberate; other names may change
        names = dict.fromkeys(names)
        ranked = sorted(
            names, key=lambda name: (name not in first, name.isascii(), "_" not in name)
        )
        for name in ranked:
            parts = self._names[name] = name_parts(name)
            if name in constants:
                continue
            stem, mark, again = name.partition("[")
            # an entry of a list: a redefined name, `c[2]`, also occurs without index
            if mark and stem not in names:
                letter, below, symbol = name_parts(stem)
                parts = letter, f"{below},{again[:-1]}" if below else again[:-1], symbol
            if _accent(*parts, "") in taken:
                parts = (
                    r"\mathit{" + plain_name(stem).replace("_", r"\_") + "}",
                    f"[{again}" if mark else "",
                    False,
                )
            k = 2
            while _accent(*parts, "") in taken:
                parts = (parts[0], f"({k})", False)
                k += 1
            taken.add(_accent(*parts, ""))
            self._names[name] = parts
        self._euler = "e" not in taken
        letters = [letter for letter in TYPICAL_FUNCTIONS if letter not in taken]
        self.function = (
            name_latex(function) if function else letters[0] if letters else r"\operatorname{f}"
        )

    def name(self, name: str, over: str = "") -> str:
        """Return a name, perhaps with an accent: `\\bar`, `\\dot`."""
        return _accent(*(self._names.get(name) or name_parts(name)), over)

    def derivative(self, by: Sequence[str], several: bool) -> str:
        """Return the derivative by these variables, with ∂ for `several`."""
        d = r"\partial " if several else "d"
        powers = {name: by.count(name) for name in by}
        below = r"\, ".join(f"{d}{self.name(name)}{_power(k)}" for name, k in powers.items())
        above = (
            f"{d}{self.function}"
            if len(by) == 1
            else f"{d.rstrip()}{_power(len(by))} {self.function}"
        )
        return rf"\frac{{{above}}}{{{below}}}"

    def head(
        self, variables: Iterable[str], values: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """Return the function of its variables, or of values: `f(x, y)`."""
        arguments = ", ".join([values.get(name) or self.name(name) for name in variables])
        return f"{self.function}({arguments})" if arguments else self.function

    def expression(self, root: Value, named: Mapping[Value, str] | None = None) -> str:
        """Return a formula in which `named` nodes are names."""
        return _join(self._typeset(root, named or {}))

    def factor(self, root: Value) -> str:
        """Return the formula as a factor."""
        piece = self._typeset(root, {})
        return _join(_enclose(piece) if piece.level < PRODUCT else piece)

    def _typeset(self, root: Value, named: Mapping[Value, str]) -> _Piece:
        names = {value: variable(name) for value, name in named.items()}
        (root,) = rewrite(
            (root,), partial(to_language, always=lambda p: p.latex == BY_DEFINITION), names
        )
        plain: dict[Value, _Piece] = {}
        script: dict[Value, _Piece] = {}
        order = in_order((root,))
        budget.charge(len(order))
        for value in order:
            # In an exponent everything stands on one line.
            script[value] = self._piece(value, script, script, True)
            plain[value] = self._piece(value, plain, script, False)
        return plain[root]

    def _piece(
        self, value: Value, pieces: dict[Value, _Piece], script: dict[Value, _Piece], inline: bool
    ) -> _Piece:
        primitive = value.primitive
        if not value._prev:
            return self._leaf(value)
        inputs = [pieces[operand] for operand in value._prev]
        if primitive in _INFIX:
            return _infix(primitive, *inputs)
        if primitive in _ARRANGED:
            return _ARRANGED[primitive](*inputs)
        if primitive is DIV:
            return _quotient(inputs[0], inputs[1], inline)
        if primitive is POW:
            return _raised(inputs[0], script[value._prev[1]], value._prev[1])
        if len(primitive.operator) == 3:
            _, level, inner = primitive.operator
            return _piece_of(level, primitive.latex.removesuffix("#1"), _at(inputs[0], inner))
        if primitive.latex_raised and self._euler:
            above = script[value._prev[0]]
            if above.length <= MAX_EXPONENT_LENGTH and above.scripts <= 1 and not above.tall:
                before, after = primitive.latex_raised.split("#1")
                return _piece_of(POWER, before, above, after, start=SYMBOL, scripts=1)
        return _function(value, inputs, [script[operand] for operand in value._prev])

    def _leaf(self, value: Value) -> _Piece:
        # a formula that is derived has them as variables
        is_quantity = has_unit_literals(value.label)
        if value.primitive is VARIABLE and not is_quantity:
            return self._symbol(r"\ldots" if value.label == "…" else self.name(value.label))
        text = value.label if is_quantity else value.source or number_text(value.data)
        if text[-1].isalpha() and text not in ("true", "false"):
            return self._symbol(name_latex(text))
        if text.endswith("]"):
            from ..engine.quantities.unit import split_literal  # only units need it

            number, unit = split_literal(text)
            return _piece_of(PRODUCT, rf"{number_latex(number)}\,{unit.latex}", start=DIGIT)
        written = number_latex(text)
        if text.startswith("-"):
            return _negate(_number(written[1:]))
        return _number(written)

    @staticmethod
    def _symbol(latex: str) -> _Piece:
        kind = WORD if latex.startswith((r"\mathit", r"\text")) else SYMBOL
        return _piece_of(ATOM, latex, start=kind, end=kind)._replace(name=latex)


def _number(latex: str) -> _Piece:
    level = PRODUCT if "times" in latex else POWER if "^" in latex or r"\frac" in latex else ATOM
    return _piece_of(
        level, latex, start=DIGIT, end=OTHER if "^" in latex else DIGIT, tall=r"\frac" in latex
    )


def _piece_of(
    level: int,
    *text: str | _Piece,
    start: int = OTHER,
    end: int = OTHER,
    tall: bool = False,
    scripts: int = 0,
) -> _Piece:
    inner = [part for part in text if not isinstance(part, str)]
    length = sum(len(part) if isinstance(part, str) else part.length for part in text)
    most = max([part.scripts for part in inner], default=0)
    return _Piece(
        level, text, start, end, tall or any(part.tall for part in inner), length, most + scripts
    )


def _enclose(piece: _Piece) -> _Piece:
    return _piece_of(
        ATOM, *_parenthesise(piece), start=OPEN if piece.positive is None else DIGIT, end=OPEN
    )


def _parenthesise(piece: _Piece) -> tuple[str, _Piece, str]:
    return (r"\left(", piece, r"\right)") if piece.tall else ("(", piece, ")")


def _at(piece: _Piece, level: int) -> _Piece:
    return piece if piece.level >= level else _enclose(piece)


def _infix(primitive: Primitive, x: _Piece, y: _Piece) -> _Piece:
    """Return an operation with its sign between its operands; a sum with a negative number as a
    difference.
    """
    between, level, left, right = _INFIX[primitive]
    if primitive is ADD and y.positive is not None:
        between, y = " - ", y.positive
    return _piece_of(level, _at(x, left), between, _at(y, right))


def _negate(x: _Piece) -> _Piece:
    x = _at(x, RATIO)
    return _piece_of(NEGATED, "-", x)._replace(positive=x)


def _product(x: _Piece, y: _Piece) -> _Piece:
    if x.positive is not None:
        return _negate(_product(x.positive, y))
    x, y = _at(x, PRODUCT), _at(y, PRODUCT)
    return _piece_of(PRODUCT, x, _between(x, y), y, start=x.start, end=y.end)


def _between(x: _Piece, y: _Piece) -> str:
    apart = (
        y.start == DIGIT
        or (x.end == DIGIT and y.start == FRACTION)  # 2½ is no product
        or (WORD in (x.end, y.start) and x.end != DIGIT)
        or (BAR in (x.end, y.start) and x.end != DIGIT)
        or (y.start == OPEN and not {_last_name(x).partition("_")[0]}.isdisjoint(FUNCTION_LETTERS))
        or (y.start == OPEN and not {_last_name(x)}.isdisjoint((*APPLIED, *TYPICAL_FUNCTIONS)))
        or _last_name(x) == r"\Gamma"  # `\Gamma x` may be the function of `x`
        or (_base(x) != "" and _base(x) == _base(y))
    )
    return r" \cdot " if apart else r"\," if y.start == WORD else "" if x.end == DIGIT else " "


def _last_name(piece: _Piece) -> str:
    """Return the name that the last factor is, or is a power of; empty if it is none."""
    while piece.level == PRODUCT and isinstance(piece.text[-1], _Piece):
        piece = piece.text[-1]
    return _base(piece)


def _base(piece: _Piece) -> str:
    first = piece.text[0] if piece.text and piece.level == POWER else ""
    return piece.name or (first.name if isinstance(first, _Piece) else "")


def _quotient(x: _Piece, y: _Piece, inline: bool) -> _Piece:
    if x.positive is not None:
        return _negate(_quotient(x.positive, y, inline))
    if inline:
        return _piece_of(RATIO, _at(x, PRODUCT), "/", _at(y, POWER), start=x.start)
    return _piece_of(POWER, r"\frac{", x, "}{", y, "}", start=FRACTION, end=FRACTION, tall=True)


def _raised(x: _Piece, y: _Piece, exponent: Value) -> _Piece:
    if (
        x.called is not None
        and exponent.primitive is CONSTANT
        and re.fullmatch(r"[2-9]|\d\d+", _join(y))
    ):
        name, arguments = x.called
        return _piece_of(POWER, f"{name}^{{", y, "}", arguments, scripts=1)
    x = _at(x, ATOM)
    return _piece_of(POWER, x, "^{", y, "}", start=x.start, scripts=1)


def _cases(condition: _Piece, then: _Piece, otherwise: _Piece) -> _Piece:
    last: tuple[str | _Piece, ...] = otherwise.rest or (otherwise, r" & \text{otherwise}")
    lines = condition, r" \\ ", *last
    cases = r"\begin{cases} ", then, r" & \text{if } ", *lines, r" \end{cases}"
    # one part, so that time is linear in the number of cases
    rest = _piece_of(binding.CHOICE, then, r" & \text{else if } ", *lines)
    return _piece_of(binding.CHOICE, *cases, tall=True)._replace(rest=(rest,))


# Operations that are written as their inputs alone say.
_ARRANGED: dict[Primitive, Callable[..., _Piece]] = {MUL: _product, NEG: _negate, WHERE: _cases}


def _arguments(parts: Sequence[_Piece]) -> _Piece:
    """Return the arguments of a call in parentheses."""
    listed: list[str | _Piece] = []
    for part in parts:
        listed += [", ", part] if listed else [part]
    return _piece_of(ATOM, *_parenthesise(_piece_of(binding.CHOICE, *listed)))


def _function(value: Value, inputs: Sequence[_Piece], scripts: Sequence[_Piece]) -> _Piece:
    shape = (
        value.primitive.latex or r"\operatorname{" + value.primitive.name.replace("_", r"\_") + "}"
    )
    head: list[str | _Piece] = []
    used: set[int] = set()
    raised = 0
    for k, text in enumerate(re.split(r"#(\d)", shape)):
        if k % 2 == 0:
            head.append(text)
            continue
        place, small = int(text) - 1, shape[: shape.index(f"#{text}")].endswith(("^{", "_{", "^{("))
        raised |= small
        head.append((scripts if small else inputs)[place])
        used.add(place)
    left = [part for place, part in enumerate(inputs) if place not in used]
    if not left:
        kind = BAR if "|" in shape else DIGIT if shape[0].isdigit() else OTHER
        level = POWER if raised or "ln" in shape else ATOM
        return _piece_of(
            level, *head, start=kind, end=BAR if kind == BAR else OTHER, scripts=raised
        )
    arguments = _arguments(left)
    formula = _piece_of(ATOM, *head, arguments)
    # a power of a letter before its arguments may be a factor
    may_raise = re.fullmatch(r"\\[a-z]+(\{[a-z]+\})?", shape) and shape not in FUNCTION_LETTERS
    return formula._replace(called=(shape, arguments)) if may_raise else formula


def _power(k: int) -> str:
    return f"^{{{k}}}" if k > 1 else ""


def _join(piece: _Piece) -> str:
    text = ""
    left: list[str | _Piece] = [piece]
    while left:
        part = left.pop()
        if isinstance(part, str):
            text += part
        else:
            left.extend(reversed(part.text))
    return text


def names_in(roots: Iterable[Value]) -> Iterator[str]:
    """Yield the names of variables in formulas."""
    return (value.label for value in in_order(tuple(roots)) if value.primitive is VARIABLE)


def typesetting(
    program: Program, *others: Iterable[str], function: str | None = None
) -> Typesetting:
    """Return the typesetting of a program's names and others."""
    names = [*program.variables, *(name for name, _, _ in program.bound)]
    return Typesetting([*names, *(name for more in others for name in more)], function=function)


def equations_of(program: Program, typeset: Typesetting) -> list[tuple[str, str]]:
    """Return the equations of a program: the names that it binds, and `f(x, y)`; none if it is too
    long.
    """
    outputs = program.outputs
    bound = {value: name for name, value in program.bindings if value._prev}
    for output in outputs:
        bound.pop(output, None)
    order = in_order(outputs)
    if len({*bound.values(), *program.variables}) < len(bound) + len(program.variables):
        # omit names with two meanings
        bound = {}
    sizes: dict[Value, int] = {}
    for value in order:
        sizes[value] = 1 + sum(
            [1 if operand in bound else sizes[operand] for operand in value._prev]
        )
    if max(sizes.values()) > MAX_STATED_NODES:
        return []
    sides = []
    for value in filter(bound.__contains__, order):
        named = {node: name for node, name in bound.items() if node is not value}
        sides.append((typeset.name(bound[value]), typeset.expression(value, named)))
    written = [typeset.expression(output, bound) for output in outputs]
    right = written[0] if len(written) == 1 else matrix([[x] for x in written])
    return [*sides, (typeset.head(program.variables), right)]


def expression_latex(root: Value) -> str:
    """Return a formula as LaTeX."""
    return Typesetting(names_in((root,))).expression(root)


COLUMNS = 10  # the default number of matrix columns in amsmath


def matrix(rows: Sequence[Sequence[str]]) -> str:
    """Return a matrix in brackets."""
    wide = max(map(len, rows), default=0)
    lines = r" \\ ".join([" & ".join(row) for row in rows])
    if wide <= COLUMNS:
        return rf"\begin{{bmatrix}} {lines} \end{{bmatrix}}"
    return rf"\left[\begin{{array}}{{{'c' * wide}}} {lines} \end{{array}}\right]"


def equations(sides: Sequence[tuple[str, ...]]) -> str:
    """Return equations below each other; a third part replaces the `=`."""
    lines = [f"{left} &{sign[0] if sign else '='} {right}".lstrip() for left, right, *sign in sides]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"
