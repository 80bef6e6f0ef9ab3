"""Lines that nobody would write on purpose: formulas with a character too few, records cut short,
bytes of any kind.
"""

from __future__ import annotations

import json
import random
from typing import Any

PIECES = (
    "x", "y", "1", "0.5", "1e308", "1e400", "1e999999", "pi", "π", "x₁", "λ", "if", "else", "and", "not", "x'", "0x10",
    "1_000", "½", "²", "⁻¹", "√", "|", "(", ")", "((", "+", "-", "*", "**", "^", "//", "%", "!", "=", "==", "<", "≤",
    ",", ";", "\\frac{x}{2}", "#", "\u202e", "\u200b", "\u009b31m", "\x1b[31m", "\x00", "\ufeff", "\u2028", "{", "}",
    "[", '"', "'", "`", "漢", "😀", "٣", "−", "×", " ", "9" * 400,
)  # fmt: skip
FUNCTIONS = (
    "exp", "log", "sqrt", "sin", "tan", "acos", "atan2", "sinh", "erf", "erfinv", "gamma", "lgamma",
    "digamma", "polygamma", "beta", "relu", "gelu", "softplus", "logit", "abs", "sign", "floor",
    "round", "min", "max", "clamp", "hypot", "logsumexp", "mean", "where", "foo", "lenght",
)  # fmt: skip
NUMBERS = (
    "1",
    "2",
    "0.3",
    "-1",
    "0",
    "1e308",
    "1e400",
    "nan",
    "pi/4",
    "1/0",
    "x",
    "",
    "@/dev/null",
    "3+-0.1",
)
VALUES: tuple[Any, ...] = (1, 2.5, "pi/4", "1/0", True, None, "x", 10**400, "", [1], {"x": 1})


def formula(rng: random.Random, depth: int) -> str:
    """A formula that is well formed, but for names and numbers of arguments."""
    kind = rng.random()
    if depth <= 0 or kind < 0.2:
        return rng.choice("xxyy2035")
    if kind < 0.55:
        inner = ", ".join(formula(rng, depth - 1) for _ in range(rng.choice((1, 1, 1, 2))))
        return f"{rng.choice(FUNCTIONS)}({inner})"
    if kind < 0.95:
        return f"({formula(rng, depth - 1)}{rng.choice(('+', '-', '*', '/', '**'))}{formula(rng, depth - 1)})"
    return (
        f"({formula(rng, depth - 1)} if {formula(rng, depth - 1)} < {formula(rng, depth - 1)}"
        " else x)"
    )


def program(rng: random.Random) -> str:
    """A program, mostly not quite one."""
    kind = rng.random()
    if kind < 0.45:
        return formula(rng, rng.randint(0, 3))
    if kind < 0.65:
        text = list(formula(rng, rng.randint(1, 4)))
        place = rng.randrange(len(text))
        text[place : place + rng.randint(0, 2)] = rng.choice(PIECES)
        return "".join(text)
    if kind < 0.85:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))
    if kind < 0.9:
        return (
            rng.choice(("(", "-", "sin(", "|", "x**", "[")) * rng.randint(1, 200)
            + "x"
            + ")" * rng.randint(0, 200)
        )
    if kind < 0.95:
        return f"f(x) = {formula(rng, 2)}; a = f({formula(rng, 1)}); f(a) + {formula(rng, 1)}"
    return rng.choice(
        ("", "# nothing", "e += 1", "f(x)=f(x); f(1)", "1/2x", "x(y)", "sqrt(x)**2", "x, y", "0/0")
    )


def line(rng: random.Random) -> bytes:
    """A line of a stream: a program, one with a point, or a record; some with bytes that are no
    text.
    """
    kind, text = rng.random(), program(rng)
    if kind < 0.2:
        text += "\t" + ",".join(
            f"{rng.choice('xyz1')}={rng.choice(NUMBERS)}" for _ in range(rng.randint(1, 2))
        )
    elif kind < 0.55:
        record: dict[str, Any] = {
            "expr": text,
            "at": {"x": rng.choice((1, 0.5, -3, "pi/4", *VALUES)), "y": 2},
        }
        for key in ("expr", "at", "wrt", "id", "format"):
            if rng.random() < 0.08:
                record[key] = rng.choice(VALUES)
        text = json.dumps(record, ensure_ascii=rng.random() < 0.5)
        text = text[: rng.randrange(len(text))] if rng.random() < 0.05 else text
    data = bytearray(text.encode())
    if rng.random() < 0.05:
        data += rng.choice((b"\xff", b"\x00", b"\xc3", b"\r", rng.randbytes(3)))
    return bytes(data).replace(b"\n", b" ")


def asks(data: bytes) -> bool:
    """Whether a line asks for an answer: blank ones and comments do not."""
    text = data.decode(errors="replace").lstrip()
    return bool(text) and not text.startswith("#")
