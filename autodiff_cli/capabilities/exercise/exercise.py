"""Exercises by level, drawn from a seed by `patterns.toml`, and solved."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from ...engine.algebra.walk import substitute
from ...engine.graphs.value import Value, in_order, variable
from ...engine.graphs.value_and_gradient import value_in
from ...engine.numbers.budget import use_budget
from ...engine.numbers.exact import EXACT
from ...errors import Diagnostic, ExpressionError, usage_error
from ...language.diagnostics.leniency import read_leniently
from ...language.printer import expression_text
from ...questions.arithmetic import Arithmetic
from ...questions.problem import parse
from ...record import Record
from ..derivatives.gradient import gradient
from ..formulas.derivation import CONVENTIONS
from ..formulas.diff import Diff, diff
from ..trace.trace import Trace, trace

T = TypeVar("T")

LEVELS = {
    1: "slopes of a function of one variable",
    2: "product, quotient and chain rule",
    3: "several variables",
    4: "graphs with shared nodes, and neurons",
    5: "kinks, steps of descent, second derivatives",
}
DEFAULT_COUNT = 10
DEFAULT_SEED = 1
MAX_DRAFTS, MAX_DRAFTS_OF_TOPIC, MAX_UNLIKE_DRAFTS = 200, 30, 20
"""Drafts for a problem, for one of a topic, and for an unlike one."""
MAX_NUMERATOR, MAX_DENOMINATOR = 120, 12
RULES = {"product": {"product"}, "quotient": {"quotient", "reciprocal"}, "chain": {"chain"}}
TOPICS: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(RULES, (2, ("derivative",))),
    "slope": (1, ("slope",)),
    "tangent": (1, ("tangent",)),
    "gradient": (3, ("gradient",)),
    "graph": (4, ("gradient",)),
    "kink": (5, ("kink",)),
    "descent": (5, ("step",)),
    "second": (5, ("second",)),
}
"""The default level and the kinds of each topic."""
_DRAWN = re.compile(r"([\w ]+?) (=|:=|<-) (.*)")
_WHOLE = re.compile(r"(-?\d+)\.\.(-?\d+)(?: ! (-?\d+))?")
_HEAD = re.compile(r"(\w+\([\w, ]*\)) = ")


class WorkedSolution(Record):
    """A worked problem: differentiated or traced, then in words."""

    derived: Diff | None
    traced: Trace | None
    lines: tuple[str, ...]


class Exercise(Record):
    """A problem, and its answer."""

    declaration = """
    csv level seed number kind task program at answer
    level column: the level
    seed column: the seed of the sheet
    number column: its number on the sheet, from 1
    kind column: what it asks for
    task column: the task
    program column: the program that it is about
    point: the point, by name
    wrt: the variables to differentiate by
    asks: `formula`, or what the numbers are called
    answer optional column: with `--solutions`: the answer
    solution optional: with `--solutions`: how it is found
      steps: the derivations, as `diff --steps` has them
      trace: the trace, as `trace` has it
      lines: the lines that follow
    """

    kind: str
    """A key of `tasks` in `patterns.toml`, or the kind of a user's question."""
    program: str
    point: dict[str, str]
    wrt: tuple[str, ...]
    more: Mapping[str, str] = {}
    """The direction, or the rate of a step."""
    task: str = ""
    """The task, with `{f}` for the program and code in backticks."""
    answer: tuple[str, ...] = ()
    """A formula, or a number per name."""
    level: int = 0
    seed: int = 0
    number: int = 0
    solution: WorkedSolution | None = None

    @property
    def is_formula(self) -> bool:
        """Whether the answer is a formula."""
        return self.kind in ("derivative", "tangent", "second", "higher")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the answer's numbers; `("",)` for one number."""
        return self.wrt if self.kind in ("gradient", "step") else ("",)

    @property
    def statements(self) -> tuple[tuple[str, Value], ...]:
        """The statements of the program: names or heads, `f(x)`, and graphs."""
        head, parsed = _HEAD.match(self.program), parse(self.program)
        if head is not None and not re.search("[;\n]", self.program):
            return ((head[1], parsed.outputs[0]),)
        statements = []
        defined: dict[Value, Value] = {}
        for name, value in parsed.bindings:
            statements.append((name, substitute(value, defined.get)))
            defined[value] = variable(name)
        (output,) = parsed.outputs
        if output not in defined:
            # the last statement has no name yet
            name = next((name for name in "fghy" if not re.search(rf"\b{name}\b", self.program)), "f")
            head_text = f"{name}({', '.join(parsed.variables)})"
            statements.append((head_text, substitute(output, defined.get)))
        return tuple(statements)

    @property
    def answer_line(self) -> str:
        """Return the answer on one line: `x = 3, y = -1/2`."""
        return ", ".join(f"{name} = {x}" if name else x for name, x in zip(self.names, self.answer, strict=True))


class Marked(Record):
    """The marking of an answer."""

    declaration = """
    csv line id of right message hint error
    level column from=exercise.level nonempty: the level; null of an own question
    seed column from=exercise.seed nonempty: the seed of the sheet
    number column from=exercise.number nonempty: the number of the exercise
    answer from=given: the answer that was given
    right: whether it is right
    message: the same in words
    hint nonempty: a hint; null without one
    how: how it was decided: `simplified`, `equation`, `points`, `numbers`, or `entries`, each for itself
    points: at how many points functions were compared
    entries optional nonempty: of an answer of several entries: each of them, with those that are missing
      of: which one: `d/dx`
      answer from=given: what was answered; empty if it is missing
      right: whether it is right
      message: the same in words
      hint nonempty: a hint; null without one
      how: how it was decided
      points: at how many points functions were compared
    """

    exercise: Exercise
    given: str
    right: bool
    message: str
    hint: str = ""
    how: str = "numbers"
    """`simplified` (the difference is 0), `equation` (it is 0 where that holds), `points`, `numbers` or `entries`."""
    points: int = 0
    of: str = ""
    """The label of an entry, such as `d/dx`."""
    entries: tuple[Marked, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str | None:
        """Return the program of a user's question, else None."""
        return None if self.exercise.level else self.exercise.program


class Sheet(Record):
    """Exercises of one level."""

    declaration = """
    level: the level
    title: its title
    seed: the seed
    exercises keys=Exercise: the exercises
    """

    level: int
    title: str
    seed: int
    exercises: tuple[Exercise, ...]


def make_sheet(
    level: int = 1,
    *,
    count: int = DEFAULT_COUNT,
    seed: int = DEFAULT_SEED,
    solutions: bool = False,
    topic: str | None = None,
    function: str | None = None,
) -> Sheet:
    """Return `count` different exercises of a level and a seed, equal on every machine.

    >>> make_sheet(1, count=1, seed=7).exercises[0].program
    'f(x) = 2*x**2 - 3*x + 4'
    """
    if function in TOPICS:
        raise usage_error(f"`{function}` is a topic", f"write `--topic {function}`")
    if function is not None:
        program, reading = read_leniently(function, parse)
        text, names = function if reading is None else reading.text, list(program.variables)
        if not names:
            hint = "write one of `x`: `x² sin x`"
            raise usage_error(f"`{function}` has no variable to differentiate by", hint)
        if not program.bindings and not _HEAD.match(text):
            text = f"f({', '.join(names)}) = {text}"
        own = []
        for number, name in enumerate(names, start=1):
            (derivative,) = diff(text, wrt=[name]).derivatives
            draft = Exercise("derivative", text, {}, (name,), answer=(derivative.shown,))
            own.append(_pose(draft, seed=seed, number=number, solutions=solutions))
        return Sheet(0, "", seed, tuple(own))
    exercises = tuple([one for _, one in zip(range(count), _exercises(level, seed, solutions, topic), strict=False)])
    if not exercises:
        hint = f"its level is {TOPICS[topic][0]}: leave `--level` out" if topic else "choose another level"
        raise usage_error(f"no exercise of level {level} is about `{topic}`", hint)
    return Sheet(level, LEVELS[level], seed, exercises)


def _is_about(draft: Exercise, topic: str) -> bool:
    if topic not in RULES or draft.kind != "derivative":
        return topic not in RULES and draft.kind in TOPICS[topic][1]
    # drafts are many, their number is bounded, and each takes little work
    with use_budget():
        derived = diff(draft.program, wrt=draft.wrt, steps=True)
    return any(step.rule in RULES[topic] for one in derived.derivations for step in one.steps)


def _exercises(level: int, seed: int, solutions: bool, topic: str | None = None) -> Iterator[Exercise]:
    draw, left = Draw(seed, level), list(load_patterns()["levels"][str(level)])
    used_shapes: set[tuple[str, str]] = set()
    number = 0
    while left:
        # use every pattern once, in a new order each time
        for pattern in [left[place] for place in draw.order(len(left))]:
            for tried in range(MAX_DRAFTS if topic is None else MAX_DRAFTS_OF_TOPIC):
                draft = draw.draft_problem(pattern)
                if topic is not None and not _is_about(draft, topic):
                    continue
                program = draft.kind, draft.program
                shape = draft.kind, re.sub(r"\d+", "#", draft.program).replace("-", "+")
                used = {program, *([shape] if tried < MAX_UNLIKE_DRAFTS else [])}
                answer = None if used & used_shapes else _answer(draft)
                if answer is not None:
                    used_shapes |= {program, shape}
                    number += 1
                    draft = draft._replace(answer=answer)
                    yield _pose(draft, level=level, seed=seed, number=number, solutions=solutions)
                    break
            else:
                left.remove(pattern)


class Draw:
    """Random draws that are equal on every machine: only `random()` promises that."""

    def __init__(self, seed: int, level: int) -> None:
        self._random = random.Random(seed * 1000 + level)

    def _choice(self, choices: Sequence[T]) -> T:
        return choices[int(self._random.random() * len(choices))]

    def integer(self, low: int, high: int, without: int | None = None) -> int:
        """Return an integer from `low` to `high`, but not `without`."""
        return self._choice([k for k in range(low, high + 1) if k != without])

    def order(self, count: int) -> list[int]:
        """Return a permutation of `range(count)`."""
        left = list(range(count))
        return [left.pop(int(self._random.random() * len(left))) for _ in range(count)]

    def text(self, choices: str, drawn: Mapping[str, str]) -> str:
        """Return an integer of a range, or one of several texts or macros."""
        if bounds := _WHOLE.fullmatch(choices.format_map(drawn)):
            low, high, without = bounds.groups()
            return str(self.integer(int(low), int(high), None if without is None else int(without)))
        options = choices.split(" | ")
        chosen = self._choice(options) if len(options) > 1 else choices
        if chosen == "@polynomial_in_two":
            return self._polynomial_in_two()
        if chosen.startswith("@"):
            macro = load_patterns()["macros"][chosen[1:]]
            return fill(macro["text"], self.draw_values(macro["draw"]))
        return fill(chosen, drawn)

    def draw_values(self, draws: Sequence[str]) -> dict[str, str]:
        """Return drawn, computed and written values by name."""
        drawn: dict[str, str] = {}
        for row in draws:
            match = _DRAWN.fullmatch(row)
            assert match, row
            names, sign, rest = match.groups()
            if sign == "<-":
                drawn[names] = str(value_in(EXACT, parse(rest.format_map(drawn)).outputs[0], {}))
            elif sign == ":=":
                drawn[names] = fill(rest, drawn)
            else:
                text = self.text(rest, drawn)
                drawn |= zip(names.split(), text.split(), strict=True) if " " in names else {names: text}
        return drawn

    def _polynomial_in_two(self) -> str:
        terms = ["x**2*y", "x*y**2", "x*y", "x**2", "y**2", "x", "y", "x**3", "y**3"]
        chosen = [terms[k] for k in sorted(self.order(len(terms))[: self.integer(2, 3)])]
        text = write_sum([f"{self.integer(-4, 5, 0)} {term}" for term in chosen])
        return text if "x" in text and "y" in text else f"{text} + x*y"

    def draft_problem(self, pattern: Mapping[str, Any]) -> Exercise:
        """Return a problem of a pattern, not yet solved."""
        drawn = self.draw_values(pattern["draw"])
        program = fill(pattern["program"], drawn)
        wrt = tuple(pattern.get("wrt", "x").format_map(drawn).split(", "))
        point, more = (
            # as `x=1, y=-1/2`
            {name: str(Fraction(x)) for name, x in re.findall(r"(\w+)=([^,]+)", pattern.get(key, "").format_map(drawn))}
            for key in ("point", "more")
        )
        if "each" in pattern:
            wrt = tuple(sorted(parse(program).variables))
            point = {name: str(Fraction(self.text(pattern["each"], {}))) for name in wrt}
        return Exercise(pattern["kind"], program, point, wrt, more, pattern.get("words", ""))


def fill(template: str, drawn: Mapping[str, str]) -> str:
    """Return a template with drawn values filled in and sums written out."""
    text = re.sub(r"\[(.*?)\]", lambda match: write_sum(match[1].split(", ")), template.format_map(drawn))
    return re.sub("⟨(.*?)⟩", lambda match: f"({match[1]})" if " " in match[1] else match[1], text)


def write_sum(terms: Sequence[str]) -> str:
    """Return a sum of multiples, `3 x**2`, as `3*x**2 - x + 5`."""
    text = ""
    for row in terms:
        factor, _, term = row.partition(" ")
        size = factor.removeprefix("-")
        if size == "0":
            continue
        term = re.sub(r"\*\*1\b", "", term)
        body = size if not term else term if size == "1" else f"{size}*{term}"
        negative = factor.startswith("-")
        text += f" {'-' if negative else '+'} {body}" if text else f"{'-' if negative else ''}{body}"
    return text or "0"


@cache
def load_patterns() -> dict[str, Any]:
    """Return the parsed `patterns.toml`."""
    return tomllib.loads((Path(__file__).parent / "patterns.toml").read_text("utf-8"))


def _answer(draft: Exercise) -> tuple[str, ...] | None:
    kind, order = draft.kind, 2 if draft.kind == "second" else 1
    point, more = ({name: Fraction(x) for name, x in numbers.items()} for numbers in (draft.point, draft.more))
    try:
        if kind in ("derivative", "second"):
            (derivative,) = diff(draft.program, wrt=draft.wrt, order=order).derivatives
            return None if derivative.shown == "0" else (derivative.shown,)
        if kind == "flat":
            at_0, at_1 = (_exactly(draft.program, {"x": x})[1]["x"] for x in "01")
            numbers = [-at_0 / (at_1 - at_0)]
        elif kind == "kink":
            sides = [expression_text(side) for side in _bent(draft.program)._prev]
            value, slopes = _exactly(f"{sides[0]} - ({sides[1]})" if len(sides) == 2 else sides[0], {"x": "0"})
            numbers = [-value / slopes["x"]]
        else:
            value, slopes = _exactly(draft.program, draft.point, draft.wrt)
            numbers = list(slopes.values())
            if kind == "tangent":
                numbers.append(value)
            elif kind == "direction":
                numbers = [sum((slope * more[name] for name, slope in slopes.items()), Fraction(0))]
            elif kind == "step" and any(numbers):
                numbers = [point[name] - more["rate"] * slope for name, slope in slopes.items()]
    except (ExpressionError, ZeroDivisionError):
        # no value, or no fraction
        return None
    is_long = any(abs(x.numerator) > MAX_NUMERATOR or x.denominator > MAX_DENOMINATOR for x in numbers)
    if is_long or not any(numbers):
        return None
    if kind != "tangent":
        return tuple(map(str, numbers))
    slope, height = numbers[0], numbers[1] - numbers[0] * point["x"]
    line = write_sum([f"{slope} x", str(height)])
    return (expression_text(parse(line).outputs[0]),) if slope else None


def _bent(program: str) -> Value:
    (bent,) = [v for v in in_order(parse(program).outputs) if v.primitive.kink]
    return bent


def _exactly(program: str, point: dict[str, str], wrt: Sequence[str] = ("x",)) -> tuple[Fraction, dict[str, Fraction]]:
    answer = gradient(program, point, wrt=wrt, arithmetic=Arithmetic("exact"))
    if answer.warnings:
        raise ExpressionError("derivative", "there is a kink")
    return Fraction(answer.value.text), {name: Fraction(answer.gradient[name].text) for name in wrt}


def _pose(draft: Exercise, *, level: int = 0, seed: int, number: int, solutions: bool) -> Exercise:
    kind, several = draft.kind, "f(x," in draft.program
    asks = "partial" if kind == "derivative" and several else "graph" if kind == "gradient" and not several else kind
    task = (draft.task or load_patterns()["tasks"][asks]).format(
        f="{f}",
        by=draft.wrt[0],
        wrt=join_names(draft.wrt),
        at=_at(draft.point),
        more=", ".join(draft.more.values()),
        last=draft.program.rpartition("; ")[2].partition(" = ")[0],
    )
    posed = draft._replace(task=task, level=level, seed=seed, number=number)
    if not solutions:
        return posed
    traced, derived = None, None
    if kind in ("gradient", "step") and level >= 4:
        traced = trace(posed.program, posed.point, wrt=posed.wrt)
    elif kind != "kink":
        derived = diff(posed.program, wrt=posed.wrt, order=2 if kind == "second" else 1, steps=True)
    return posed._replace(solution=WorkedSolution(derived, traced, tuple(_last_lines(posed, derived))))


def join_names(names: Sequence[str]) -> str:
    """Return names in backticks, joined for a sentence."""
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def _at(point: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {x}" for name, x in point.items())


def _last_lines(posed: Exercise, derived: Diff | None) -> Iterator[str]:
    if posed.kind in ("derivative", "second"):
        return
    if posed.kind == "kink":
        bent = _bent(posed.program)
        sides = " = ".join(map(expression_text, bent._prev)) + (" = 0" if len(bent._prev) == 1 else "")
        yield f"`{expression_text(bent)}` has its kink where `{sides}`, at `x = {posed.answer[0]}`"
        return
    if posed.kind == "flat" and derived is not None:
        yield f"`{derived.derivatives[0].shown} = 0` at `x = {posed.answer[0]}`"
        return
    value, exact_slopes = _exactly(posed.program, posed.point, posed.wrt)
    slopes = {name: str(slope) for name, slope in exact_slopes.items()}
    if derived is not None:
        for derivative in derived.derivatives:
            formula = derivative.shown
            last = derived.derivations[[d.by for d in derived.derivations].index(derivative.by)].steps[-1]
            if last.rule == CONVENTIONS:
                formula = expression_text(last.part)
            by = derivative.by[0]
            if formula != slopes[by]:
                formula += f" = {slopes[by]}"
            yield f"the derivative by `{by}` at `{_at(posed.point)}`: `{formula}`"
    if posed.kind == "tangent":
        line = f"{value} + {_factor(slopes['x'])}*(x - {_factor(posed.point['x'])})"
        yield f"the value there is `{value}`, so the line is `{line}`, which is `{posed.answer[0]}`"
    if posed.kind == "direction":
        parts = " + ".join(f"{_factor(slopes[name])}*{_factor(posed.more[name])}" for name in posed.wrt)
        yield f"along the direction: `{parts} = {posed.answer[0]}`"
    if posed.kind == "step":
        for name, x in zip(posed.names, posed.answer, strict=True):
            yield f"`{name}` becomes `{posed.point[name]} - {posed.more['rate']}*{_factor(slopes[name])} = {x}`"


def _factor(number: str) -> str:
    return f"({number})" if number.startswith("-") or "/" in number else number
