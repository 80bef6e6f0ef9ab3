"""Random programs at points where they have kinks and jumps, and what is true of them there by
one-sided limits.

A program is a nested tuple; `text` writes it in the language, `value` evaluates it with mpmath, by
definitions of its own. `truth` follows it along rays from the point, where it is a polynomial to
many digits. Run as a script it draws many programs, asks for value, gradient, Hessian and Taylor
coefficients, and counts the answers by kind:

    python tests/support/kinked.py 5000 1
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.derivatives.hessian import hessian
from autodiff_cli.capabilities.derivatives.jacobian import jacobian
from autodiff_cli.capabilities.derivatives.taylor import taylor
from autodiff_cli.questions.arithmetic import Arithmetic

Program = tuple[Any, ...]

DIGITS = 120
STEP = mpf(10) ** -14
NODES = 7
RAYS = 14
ORDER = 4
"""Taylor coefficients are asked for up to this order."""

POINTS = ("0", "0", "0", "1", "-1", "2", "0.5", "-0.5", "1.5")
NUMBERS = ("0", "1", "-1", "2", "0.5", "3")
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a,
    b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


class Near(Exception):
    """A comparison so close that doubles may take it for a tie."""


class Outside(Exception):
    """A point where the program has no value."""


def _side(u: Any) -> int:
    """The sign of what decides."""
    if u and abs(u) < mpf(10) ** -13 and not _moving:
        raise Near
    _signs.append((u > 0) - (u < 0))
    return _signs[-1]


_signs: list[int] = []
_moving: list[bool] = []
"""Not empty while the program is evaluated beside the point, where deciding numbers are small."""

UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: x * _side(x), "relu": lambda x: x if _side(x) > 0 else mpf(0),
    "leaky_relu": lambda x: x if _side(x) > 0 else x / 100,
    "elu": lambda x: x if _side(x) > 0 else mp.expm1(x),
    "softsign": lambda x: x / (1 + x * _side(x)), "sign": lambda x: mpf(_side(x)),
    "heaviside": lambda x: mpf(1 + _side(x)) / 2,
    "floor": lambda x: mp.floor(x) + 0 * _side(x - mp.nint(x)),
    "ceil": lambda x: mp.ceil(x) + 0 * _side(x - mp.nint(x)),
    "round": lambda x: mp.nint(x) + 0 * _side(x - mp.floor(x) - mpf(1) / 2), "sin": mp.sin,
    "cos": mp.cos, "exp": mp.exp, "tanh": mp.tanh, "cosh": mp.cosh, "sinc": mp.sincpi,
    "square": lambda x: x * x, "cube": lambda x: x * x * x, "neg": lambda x: -x,
    "softplus": lambda x: mp.log1p(mp.exp(x)), "rise": lambda x: mp.sqrt(1 + x * x),
}  # fmt: skip
KINKED = (
    "abs",
    "relu",
    "leaky_relu",
    "elu",
    "softsign",
    "sign",
    "heaviside",
    "floor",
    "ceil",
    "round",
)
SMOOTH = tuple(name for name in UNARY if name not in KINKED)
BINARY = ("+", "-", "*", "*", "max", "min", "hypot", "/", "atan2")
SPELLED = {"square": "({})**2", "cube": "({})**3", "neg": "(-({}))", "rise": "sqrt(1 + ({})**2)"}


def text(program: Program) -> str:
    """The program in the language."""
    op, *rest = program
    if op == "leaf":
        return str(rest[0]) if not str(rest[0]).startswith("-") else f"({rest[0]})"
    if op == "where":
        compare, a, b, x, y = rest
        return f"({text(x)} if {text(a)} {compare} {text(b)} else {text(y)})"
    parts = [text(p) for p in rest]
    if op in SPELLED:
        return SPELLED[op].format(*parts)
    if op in ("+", "-", "*", "/"):
        return f"({parts[0]} {op} {parts[1]})"
    return f"{op}({', '.join(parts)})"


def value(program: Program, at: Mapping[str, Any]) -> Any:
    """Its value. Raises `Outside` and `Near`."""
    op, *rest = program
    if op == "leaf":
        return at[rest[0]] if rest[0] in at else mpf(rest[0])
    if op == "where":
        compare, a, b, x, y = rest
        left, right = value(a, at), value(b, at)
        _side(left - right)
        return value(x if COMPARISONS[compare](left, right) else y, at)
    xs = [value(p, at) for p in rest]
    if op in UNARY:
        return UNARY[op](xs[0])
    if op == "clamp":
        x, lo, hi = xs
        if lo > hi:
            raise Outside
        return lo if _side(x - lo) < 0 else hi if _side(x - hi) > 0 else x
    a, b = xs
    if op in ("max", "min"):
        return a if (_side(a - b) > 0) == (op == "max") else b
    if op == "/":
        if b == 0:
            raise Outside
        return a / b
    if op == "hypot":
        return mp.sqrt(a * a + b * b) if _side(a * a + b * b) else mpf(0)
    if op == "atan2":
        if _side(a) == 0:
            return mp.pi if _side(b) < 0 else mpf(0)
        return mp.atan2(a, b)
    return a + b if op == "+" else a - b if op == "-" else a * b


def draw(rng: random.Random, depth: int) -> Program:
    """A random program of `x` and `y`, rich in kinks."""
    if depth == 0 or rng.random() < 0.12:
        return ("leaf", rng.choice(("x", "x", "y")) if rng.random() < 0.8 else rng.choice(NUMBERS))
    kind = rng.random()
    if kind < 0.28:
        return (rng.choice(KINKED), draw(rng, depth - 1))
    if kind < 0.48:
        return (rng.choice(SMOOTH), draw(rng, depth - 1))
    if kind < 0.56:
        inside = draw(rng, depth - 1)
        branches = draw(rng, depth - 1), draw(rng, depth - 1)
        return ("where", rng.choice(list(COMPARISONS)), inside, draw(rng, 1), *branches)
    if kind < 0.6:
        low, high = sorted(rng.sample(("-1", "0", "0.5", "1", "2"), 2), key=float)
        return ("clamp", draw(rng, depth - 1), ("leaf", low), ("leaf", high))
    if kind < 0.68:
        # smooth although it is made of kinks
        a, b = (
            draw(rng, depth - 2) if depth > 1 else ("leaf", "x"),
            ("leaf", rng.choice(("x", "y"))),
        )
        return rng.choice((
            ("square", ("abs", a)), ("*", ("max", a, b), ("min", a, b)),
            ("square", ("hypot", a, b)), ("cosh", ("abs", a)),
            ("+", ("square", ("relu", a)), ("square", ("relu", ("neg", a)))),
            ("-", ("relu", a), ("relu", ("neg", a))), ("cos", ("hypot", a, b)),
            ("*", ("cube", a), ("sign", a)),
        ))  # fmt: skip
    return (rng.choice(BINARY), draw(rng, depth - 1), draw(rng, depth - 1))


# ---- what is true -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Truth:
    """A program near a point: its value there, and its derivatives as far as they exist."""

    value: Any
    gradient: list[Any] | None
    hessian: list[list[Any]] | None
    series: list[Any] | None
    """Taylor coefficients in `x`, as many as are the same on both sides."""


def along(program: Program, point: Mapping[str, Any], ray: Sequence[Any]) -> list[Any]:
    """The polynomial that the program is along a ray from the point, by values close to it."""
    _moving.append(True)
    try:
        knots = [STEP * (k + 1) for k in range(NODES)]
        table = [
            value(program, {n: x + t * v for (n, x), v in zip(point.items(), ray, strict=True)})
            for t in knots
        ]
    finally:
        _moving.pop()
    # Newton's divided differences, multiplied out.
    for k in range(1, NODES):
        for j in reversed(range(k, NODES)):
            table[j] = (table[j] - table[j - 1]) / (knots[j] - knots[j - k])
    coefficients = [table[-1]]
    for k in reversed(range(NODES - 1)):
        coefficients = [mpf(0), *coefficients]
        for j in range(len(coefficients) - 1):
            coefficients[j] -= knots[k] * coefficients[j + 1]
        coefficients[0] += table[k]
    return coefficients


def close(a: Any, b: Any, order: int = 2) -> bool:
    """Whether two numbers found along rays are the same."""
    return bool(abs(a - b) <= mpf(10) ** (8 * order - 60) * (1 + abs(a) + abs(b)))


def truth(program: Program, point: Mapping[str, str], rng: random.Random) -> Truth:
    """What is true of a program at a point. Raises `Near` and `Outside`."""
    with mp.workdps(DIGITS):
        at = {name: mpf(x) for name, x in point.items()}
        middle = value(program, at)
        if len({_ties(program, point, digits) for digits in (DIGITS, DIGITS - 23, 16)}) > 1:
            raise Near
        series = None
        try:
            ends = [along(program, at, (mpf(sign), mpf(0))) for sign in (1, -1)]
            if all(close(end[0], middle, 0) for end in ends):
                right, left = ends[0], [c * (-1) ** k for k, c in enumerate(ends[1])]
                same = next(
                    (k for k in range(ORDER + 1) if not close(right[k], left[k], k)), ORDER + 1
                )
                series = right[:same]
            rays = [
                (mp.cos(a), mp.sin(a)) for a in (mpf(rng.random()) * 2 * mp.pi for _ in range(RAYS))
            ]
            found = [(ray, along(program, at, ray)) for ray in rays]
        except (Outside, ZeroDivisionError):
            return Truth(middle, None, None, series)
        if not all(close(c[0], middle, 0) for _, c in found):
            return Truth(middle, None, None, series)
        (p, a), (q, b) = found[:2]
        slopes = list(mp.lu_solve(mp.matrix([p, q]), mp.matrix([a[1], b[1]])))
        if not all(close(slopes[0] * v + slopes[1] * w, c[1], 1) for (v, w), c in found):
            return Truth(middle, None, None, series)
        rows = mp.matrix([[v * v / 2, v * w, w * w / 2] for (v, w), _ in found[:3]])
        xx, xy, yy = mp.lu_solve(rows, mp.matrix([c[2] for _, c in found[:3]]))
        quadratic = all(
            close(xx * v * v / 2 + xy * v * w + yy * w * w / 2, c[2], 2) for (v, w), c in found
        )
        return Truth(middle, slopes, [[xx, xy], [xy, yy]] if quadratic else None, series)


# ---- what is answered ---------------------------------------------------------------------------------------------
NEAR = 1e-9


def _right(computed: Any, exact: Any) -> bool:
    return bool(abs(mpf(computed) - exact) <= NEAR * (1 + abs(exact)))


def judged(text: str, point: Mapping[str, str], told: Truth) -> dict[str, str]:
    """For each question how it was answered: `right`, `warned`, `refused`; with `needlessly` where
    there was an answer.

    Anything else is wrong.
    """
    names = list(point)

    def first() -> str:
        found = gradient(text, point, wrt=names)
        if not _right(found.value, told.value):
            return f"WRONG value {found.value}"
        return one([found.gradient[name] for name in names], found.warnings)

    def one(partials: Any, warnings: Any) -> str:
        if any(w.kind == "kink" for w in warnings):
            return "warned needlessly" if told.gradient else "warned"
        if told.gradient and all(
            _right(x, y) for x, y in zip(partials, told.gradient, strict=True)
        ):
            return "right"
        return f"WRONG gradient {list(partials)}"

    def along() -> str:
        found = jacobian(text, point, wrt=names, direction={"x": 1.0, "y": 1.0})
        if any(w.kind == "kink" for w in found.warnings):
            return "warned needlessly" if told.gradient else "warned"
        right = told.gradient and _right(found.product[0], sum(told.gradient))  # type: ignore[index]
        return "right" if right else f"WRONG product {found.product}"

    def proven() -> str:
        found = gradient(text, point, wrt=names, arithmetic=Arithmetic("certified"))
        return one([mpf(found.gradient[name].text) for name in names], found.warnings)  # type: ignore[union-attr]

    def second(arithmetic: Arithmetic) -> str:
        found = hessian(text, point, wrt=names, arithmetic=arithmetic)
        at = {name: k for k, name in enumerate(found.gradient)}
        numbers = [[float(found.hessian[at[a]][at[b]]) for b in names] for a in names]
        if not told.hessian or not all(
            map(_right, [*numbers[0], *numbers[1]], [*told.hessian[0], *told.hessian[1]])
        ):
            return f"WRONG hessian {numbers}"
        return one([float(found.gradient[name]) for name in names], ())

    def power() -> str:
        found = taylor(text, point, wrt=["x"], order=ORDER).coefficients
        if told.series and len(told.series) == len(found):
            return "right" if all(map(_right, found, told.series)) else f"WRONG series {found}"
        return f"WRONG series {found}"

    exists = {
        "gradient": told.gradient, "product": told.gradient, "certified gradient": told.gradient,
        "hessian": told.hessian, "certified hessian": told.hessian,
        "taylor": told.series and len(told.series) == ORDER + 1,
    }  # fmt: skip
    questions: dict[str, Callable[[], str]] = {
        "gradient": first, "product": along, "certified gradient": proven,
        "hessian": lambda: second(Arithmetic()),
        "certified hessian": lambda: second(Arithmetic("certified")), "taylor": power,
    }  # fmt: skip
    answers = {}
    for name, ask in questions.items():
        try:
            answers[name] = ask()
        except ExpressionError as error:
            placed = error.hint and (error.span is not None or error.kind == "domain")
            if error.kind not in ("derivative", "domain", "overflow") or not placed:
                answers[name] = f"WRONG error {error.kind}: {error}"
            else:
                answers[name] = "refused needlessly" if exists[name] else "refused"
    return answers


@dataclass(frozen=True, slots=True)
class Case:
    """A program at a point, the truth, and the answers."""

    text: str
    point: dict[str, str]
    told: Truth
    answers: dict[str, str]


def cases(count: int, seed: int) -> list[Case]:
    """So many random programs with a kink or a jump at their point, judged."""
    rng = random.Random(seed)
    found: list[Case] = []
    while len(found) < count:
        program = draw(rng, rng.choice((2, 3, 3, 4)))
        point = {"x": rng.choice(POINTS), "y": rng.choice(POINTS)}
        written = text(program)
        try:
            told = truth(program, point, rng)
        except (Near, Outside, OverflowError, ZeroDivisionError):
            continue
        if (
            not any(name in written for name in ("x", "y"))
            or abs(told.value) > 1e6
            or not met(program, point)
        ):
            continue
        found.append(Case(written, point, told, judged(written, point, told)))
    return found


def _ties(program: Program, point: Mapping[str, str], digits: int) -> tuple[int, ...]:
    """The signs of all that decides, in the order of evaluation."""
    _signs.clear()
    with mp.workdps(digits):
        value(program, {name: mpf(x) for name, x in point.items()})
    return tuple(_signs)


def met(program: Program, point: Mapping[str, str]) -> bool:
    """Whether anything that is evaluated is at a kink or a jump: where a deciding number is 0."""
    return 0 in _ties(program, point, DIGITS)


def main() -> None:
    """Draw many, and count."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    kinds: dict[str, Counter[str]] = {}
    wrong = 0
    for case in cases(count, seed):
        for name, answer in case.answers.items():
            kinds.setdefault(name, Counter())[
                answer.split()[0] if "WRONG" in answer else answer
            ] += 1
            if "WRONG" in answer:
                wrong += 1
                if wrong <= 40:
                    print(name, "|", case.text, "|", case.point, "|", answer, "|", _told(case.told))
    for name, counter in kinds.items():
        print(f"{name:20}", dict(sorted(counter.items())))


def _told(told: Truth) -> str:
    numbers = [told.gradient, told.hessian and [*told.hessian[0], *told.hessian[1]], told.series]
    return " ".join(str(xs and [mp.nstr(x, 6) for x in xs]) for xs in numbers)


if __name__ == "__main__":
    main()
