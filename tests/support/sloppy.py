"""Random formulas as people write them by hand, each with the program that is meant.

Signs are left out, functions have powers and no parentheses; there are roots, fractions and numbers
in groups.

Some of them are ambiguous: what is meant is then one of the readings, drawn at random, so that a
reader that takes either of them is found out.
"""

from __future__ import annotations

import random
from typing import NamedTuple

POINT = {"x": 0.7, "y": 1.3, "a": 0.6, "k": 1.1, "t": 0.9, "ω": 1.7, "λ": 0.4}
_FUNCTIONS = ("sin", "cos", "ln", "exp", "log", "sqrt")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Sloppy(NamedTuple):
    """What is written, and the program that is meant by it."""

    text: str
    meant: str


def sloppy(rng: random.Random, depth: int = 2) -> Sloppy:
    """A random sum."""
    terms = [_product(rng, depth) for _ in range(rng.choice((1, 1, 2, 3)))]
    text, meant = terms[0]
    for term in terms[1:]:
        sign = rng.choice((" + ", " - ", "+", "-", " – "))
        text += sign + term.text
        meant += ("+" if "+" in sign else "-") + term.meant
    return Sloppy(text, f"({meant})")


def _name(rng: random.Random) -> Sloppy:
    name = rng.choice(list(POINT))
    return Sloppy(name, name)


def _number(rng: random.Random) -> Sloppy:
    plain = rng.choice(("2", "3", "4", "0.5", "1.5"))
    return rng.choice(
        (Sloppy(plain, plain), Sloppy(plain, plain), Sloppy("½", "(1/2)"), Sloppy("1,000", "1000"))
    )


def _group(rng: random.Random, depth: int) -> Sloppy:
    inner = sloppy(rng, depth - 1)
    opening, closing = rng.choice(("()", "()", "[]"))
    return Sloppy(opening + inner.text + closing, inner.meant)


def _call(rng: random.Random, depth: int) -> Sloppy:
    name, inner = rng.choice(_FUNCTIONS), sloppy(rng, depth - 1)
    raised, plain = f"({name}{inner.meant})**2", f"{name}{inner.meant}"
    return rng.choice((
        Sloppy(f"{name}({inner.text})", plain),
        Sloppy(f"{name}({inner.text})", plain),
        Sloppy(f"{name}²({inner.text})", raised),
        Sloppy(f"{name}^2({inner.text})", raised),
    ))  # fmt: skip


def _bare(rng: random.Random) -> Sloppy:
    """A function without parentheses around its argument, which may be more than a name."""
    name, (first, _), (second, _) = rng.choice(_FUNCTIONS), _name(rng), _name(rng)
    argument = rng.choice((
        Sloppy(first, first), Sloppy(first, first), Sloppy(first, first),
        Sloppy(f"2{first}", f"2*{first}"), Sloppy(f"2 {first}", f"2*{first}"),
        Sloppy(f"{first} {second}", f"{first}*{second}"),
        Sloppy(f"{first}{second}", f"{first}*{second}"),
        Sloppy(f"{first}/{second}", f"{first}/{second}"), Sloppy(f"{first}²", f"{first}**2"),
        Sloppy(f"{first}^2", f"{first}**2"),
        Sloppy(f"{first} ({second} + 1)", f"{first}*({second} + 1)"),
    ))  # fmt: skip
    power = rng.choice(("", "", "", "²", "^2"))
    return Sloppy(
        f"{name}{power} {argument.text}", f"({name}({argument.meant}))" + "**2" * bool(power)
    )


def _power(rng: random.Random, depth: int) -> Sloppy:
    base = _name(rng) if depth < 1 or rng.random() < 0.6 else _group(rng, depth)
    (first, _), (second, _), whole = _name(rng), _name(rng), rng.choice("23")
    exponent = rng.choice((
        Sloppy(whole.translate(_RAISED), whole), Sloppy(f"^{whole}", whole),
        Sloppy(f"^{first}", first), Sloppy(f"^-{first}", f"-{first}"),
        Sloppy(f"^{{{first} {second}}}", f"{first}*{second}"),
    ))  # fmt: skip
    if rng.random() < 0.15:
        return Sloppy(f"e^{whole} {first}", f"e**({whole}*{first})")
    return Sloppy(base.text + exponent.text, f"({base.meant})**({exponent.meant})")


def _root(rng: random.Random) -> Sloppy:
    sign, name = rng.choice((("√", "sqrt"), ("∛", "cbrt")))
    of, (other, _) = rng.choice((_name(rng), _number(rng))), _name(rng)
    return rng.choice((
        Sloppy(sign + of.text, f"{name}({of.meant})"),
        Sloppy(f"{sign}{of.text}{rng.choice(('', ' '))}{other}", f"{name}({of.meant}*{other})"),
        Sloppy(f"{sign}{of.text}²", f"{name}(({of.meant})**2)"),
    ))  # fmt: skip


def _factor(rng: random.Random, depth: int) -> Sloppy:
    if depth <= 0:
        return rng.choice((_name(rng), _name(rng), _number(rng)))
    deeper = rng.choice((_group, _call, _power))
    return rng.choice(
        (_name, _name, _number, _bare, _bare, _root, *[lambda r: deeper(r, depth)] * 3)
    )(rng)


def _product(rng: random.Random, depth: int) -> Sloppy:
    text, meant = _factor(rng, depth)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        factor, sign = _factor(rng, depth), rng.choice((" ", "", "*", "·", " * "))
        # Two numbers side by side are one number, and a letter before a function's name may make
        # another function.
        if factor.text[0] in "0123456789½" or (
            text[-1].isalpha() and factor.text[:3] in ("sin", "cos")
        ):
            sign = "*"
        text, meant = text + sign + factor.text, f"{meant}*{factor.meant}"
    if rng.random() < 0.15:
        under, rest = _name(rng), _name(rng)
        whole = rng.random() < 0.5  # both are meant by such a text
        text += f"/{under.text} {rest.text}"
        meant = (
            f"({meant})/({under.meant}*{rest.meant})"
            if whole
            else f"({meant})/{under.meant}*{rest.meant}"
        )
    return Sloppy(text, f"({meant})")
