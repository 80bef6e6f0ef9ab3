"""Exercises by level, drawn from a seed by `patterns.toml`, and solved."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from ...api.api_answers import Answer
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
from .calculus import approached, exact_limit, exact_value, implicit_derivative, is_antiderivative

T = TypeVar("T")

LEVELS = {
    1: "slopes of a function of one variable",
    2: "product, quotient and chain rule",
    3: "several variables",
    4: "graphs with shared nodes, and neurons",
    5: "kinks, steps of descent, second derivatives",
    6: "integrals, limits, implicit functions",
}
DEFAULT_COUNT = 10
DEFAULT_SEED = 1
# Drafts for a problem, for one of a topic, and for an unlike one.
MAX_DRAFTS, MAX_DRAFTS_OF_TOPIC, MAX_UNLIKE_DRAFTS = 200, 30, 20
MAX_NUMERATOR, MAX_DENOMINATOR = 120, 12
RULES = {"product": {"product"}, "quotient": {"quotient", "reciprocal"}, "chain": {"chain"}}
# The default level and the kinds of each topic.
TOPICS: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(RULES, (2, ("derivative",))),
    "slope": (1, ("slope",)),
    "tangent": (1, ("tangent",)),
    "gradient": (3, ("gradient",)),
    "graph": (4, ("gradient",)),
    "kink": (5, ("kink",)),
    "descent": (5, ("step",)),
    "second": (5, ("second",)),
    "integral": (6, ("antiderivative", "integral")),
    "limit": (6, ("limit",)),
    "implicit": (6, ("implicit", "curve")),
}
# The name that equations on a sheet determine.
UNKNOWN = "y"
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
    """The direction, the rate of a step, the ends of an integral, or what a limit is taken to."""
    antiderivative: str = ""
    """Of an integral."""
    way: str = ""
    """How it is found, where no derivation shows it."""
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
        return self.kind in (
            "derivative",
            "tangent",
            "second",
            "higher",
            "antiderivative",
            "implicit",
        )

    @property
    def is_equation(self) -> bool:
        """Whether the program is an equation, which determines `UNKNOWN`."""
        return self.kind in ("implicit", "curve")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the answer's numbers; `("",)` for one number."""
        return self.wrt if self.kind in ("gradient", "step") else ("",)

    @property
    def statements(self) -> tuple[tuple[str | Value, Value], ...]:
        """The statements of the program: names or heads, `f(x)`, or the left sides of equations,
        and graphs.
        """
        if self.is_equation:
            left, right = (parse(side).outputs[0] for side in self.program.split(" = "))
            return ((left, right),)
        head, parsed = _HEAD.match(self.program), parse(self.program)
        if head is not None and not re.search("[;\n]", self.program):
            return ((head[1], parsed.outputs[0]),)
        statements: list[tuple[str | Value, Value]] = []
        defined: dict[Value, Value] = {}
        for name, value in parsed.bindings:
            statements.append((name, substitute(value, defined.get)))
            defined[value] = variable(name)
        (output,) = parsed.outputs
        if output not in defined:
            # the last statement has no name yet
            name = next(
                (name for name in "fghy" if not re.search(rf"\b{name}\b", self.program)), "f"
            )
            head_text = f"{name}({', '.join(parsed.variables)})"
            statements.append((head_text, substitute(output, defined.get)))
        return tuple(statements)

    @property
    def answer_line(self) -> str:
        """Return the answer on one line: `x = 3, y = -1/2`."""
        return ", ".join(
            f"{name} = {x}" if name else x for name, x in zip(self.names, self.answer, strict=True)
        )


class Marked(Answer, shows=("right", "message")):
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
    how: how it was decided: `simplified`, `equation`, `points`, `numbers`, or `entries`, each for \
    itself
    points: at how many points functions were compared
    entries optional nonempty: of an answer of several entries: each of them, with those that are \
    missing
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
    """`simplified` (the difference is 0), `equation` (it is 0 where that holds), `points`,
    `numbers` or `entries`.
    """
    points: int = 0
    of: str = ""
    """The label of an entry, such as `d/dx`."""
    entries: tuple[Marked, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str | None:
        """Return the program of a user's question, else None."""
        return None if self.exercise.level else self.exercise.program


class Sheet(Answer, shows=("level", "seed", "title")):
    """Exercises of one level or of several, or about a user's functions."""

    declaration = """
    level: the level; 0 of several levels, or of own functions
    title: the title of the sheet, or of its level
    seed: the seed
    exercises keys=Exercise: the exercises
    """

    level: int
    title: str
    seed: int
    exercises: tuple[Exercise, ...]
    heading: str = "Exercise"


def make_sheet(
    level: int | None = None,
    *,
    count: int = DEFAULT_COUNT,
    seed: int = DEFAULT_SEED,
    solutions: bool = False,
    topics: Sequence[str] | None = None,
    function: str | None = None,
    functions: Sequence[tuple[int, str]] | None = None,
    title: str | None = None,
) -> Sheet:
    """Return `count` different exercises of a level or of topics, and of a seed, equal on every
    machine.

    Instead they may be about a `function`, or about the lines of a file with `functions`. Raises
    `ExpressionError`.

    >>> make_sheet(1, count=1, seed=7).exercises[0].program
    'f(x) = 2*x**2 - 3*x + 4'
    """
    if function in TOPICS:
        raise usage_error(f"`{function}` is a topic", f"write `--topic {function}`")
    if function is not None or functions is not None:
        drafts = _about(function) if function is not None else tuple(_about_each(functions or ()))
        level, level_title, heading = 0, "", "Exercise" if functions is None else "Exercises"
    else:
        drafts = tuple(
            islice(_mixed(level, seed, topics) if topics else _exercises(level or 1, seed), count)
        )
        levels = sorted({draft.level for draft in drafts})
        level = levels[0] if len(levels) == 1 else 0
        level_title = LEVELS[level] if level else ", ".join(topics or ())
        heading = f"{f'Level {level}: ' if level else ''}{level_title} (seed {seed})"
    exercises = [
        _pose(draft, seed=seed, number=k, solutions=solutions)
        for k, draft in enumerate(drafts, start=1)
    ]
    return Sheet(level, title or level_title, seed, tuple(exercises), title or heading)


def _about(function: str) -> tuple[Exercise, ...]:
    """Return a question about a function for each of its variables."""
    program, reading = read_leniently(function, parse)
    text, names = function if reading is None else reading.text, list(program.variables)
    if not names:
        hint = "write one of `x`: `x² sin x`"
        raise usage_error(f"`{function}` has no variable to differentiate by", hint)
    if not program.bindings and not _HEAD.match(text):
        text = f"f({', '.join(names)}) = {text}"
    derivatives = [(name, diff(text, wrt=[name]).derivatives[0]) for name in names]
    return tuple(
        [
            Exercise("derivative", text, {}, (name,), answer=(found.shown,))
            for name, found in derivatives
        ]
    )


def _about_each(functions: Sequence[tuple[int, str]]) -> Iterator[Exercise]:
    for line, function in functions:
        try:
            yield from _about(function)
        except ExpressionError as error:
            error.diagnostic = error.diagnostic._replace(message=f"line {line}: {error}")
            error.text = function
            raise


def _mixed(level: int | None, seed: int, topics: Sequence[str]) -> Iterator[Exercise]:
    """Yield exercises about each topic in turn, of one level, or each of its own."""
    used: set[tuple[str, str]] = set()
    chosen = {topic: level or TOPICS[topic][0] for topic in topics}
    drawn = {topic: _exercises(of, seed, topic, used) for topic, of in chosen.items()}
    begun: set[str] = set()
    while drawn:
        for topic in [*drawn]:
            one = next(drawn[topic], None)
            if one is None and topic not in begun:
                hint = f"its level is {TOPICS[topic][0]}: leave `--level` out"
                raise usage_error(f"no exercise of level {chosen[topic]} is about `{topic}`", hint)
            begun.add(topic)
            if one is None:
                del drawn[topic]
            else:
                yield one


def _is_about(draft: Exercise, topic: str) -> bool:
    if topic not in RULES or draft.kind != "derivative":
        return topic not in RULES and draft.kind in TOPICS[topic][1]
    # drafts are many, their number is bounded, and each takes little work
    with use_budget():
        derived = diff(draft.program, wrt=draft.wrt, steps=True)
    return any(step.rule in RULES[topic] for one in derived.derivations for step in one.steps)


def _exercises(
    level: int, seed: int, topic: str | None = None, used_shapes: set[tuple[str, str]] | None = None
) -> Iterator[Exercise]:
    """Yield exercises with their answers; none is like one of those `used_shapes`, to which it is
    added.
    """
    draw, left = Draw(seed, level), list(load_patterns()["levels"][str(level)])
    used_shapes = set() if used_shapes is None else used_shapes
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
                    yield draft._replace(answer=answer, level=level)
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
                drawn |= (
                    zip(names.split(), text.split(), strict=True) if " " in names else {names: text}
                )
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
            {
                name: str(Fraction(x))
                for name, x in re.findall(r"(\w+)=([^,]+)", pattern.get(key, "").format_map(drawn))
            }
            for key in ("point", "more")
        )
        if "each" in pattern:
            wrt = tuple(sorted(parse(program).variables))
            point = {name: str(Fraction(self.text(pattern["each"], {}))) for name in wrt}
        ends = {
            key: pattern[key].format_map(drawn) for key in ("to", "low", "high") if key in pattern
        }
        antiderivative, way = (
            fill(pattern.get(key, ""), drawn) for key in ("antiderivative", "way")
        )
        if pattern["kind"] in FURTHER_KINDS:
            # texts that are drawn together have no spaces
            program, way = map(_respaced, (f"`{program}`", way))
            program, antiderivative = (
                program.strip("`"),
                _respaced(f"`{antiderivative}`").strip("`"),
            )
        return Exercise(
            pattern["kind"], program, point, wrt, more | ends, task=pattern.get("words", ""),
            antiderivative=antiderivative, way=way,
        )  # fmt: skip


def _respaced(text: str) -> str:
    """Return a text with the formulas in backticks written as all others are."""

    def written(match: re.Match[str]) -> str:
        head, equals, formula = match[1].rpartition(" = ")
        return f"`{head}{equals}{expression_text(parse(formula).outputs[0]) if formula else ''}`"

    return re.sub("`(.*?)`", written, text)


def fill(template: str, drawn: Mapping[str, str]) -> str:
    """Return a template with drawn values filled in and sums written out."""
    text = re.sub(
        r"\[(.*?)\]", lambda match: write_sum(match[1].split(", ")), template.format_map(drawn)
    )
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
        text += (
            f" {'-' if negative else '+'} {body}" if text else f"{'-' if negative else ''}{body}"
        )
    return text or "0"


@cache
def load_patterns() -> dict[str, Any]:
    """Return the parsed `patterns.toml`."""
    return tomllib.loads((Path(__file__).parent / "patterns.toml").read_text("utf-8"))


def _answer(draft: Exercise) -> tuple[str, ...] | None:
    kind, order = draft.kind, 2 if draft.kind == "second" else 1
    if kind in FURTHER_KINDS:
        try:
            return _further_answer(draft)
        except (ExpressionError, ZeroDivisionError, ValueError):
            # no value, or no fraction
            return None
    point, more = (
        {name: Fraction(x) for name, x in numbers.items()} for numbers in (draft.point, draft.more)
    )
    try:
        if kind in ("derivative", "second"):
            (derivative,) = diff(draft.program, wrt=draft.wrt, order=order).derivatives
            return None if derivative.shown == "0" else (derivative.shown,)
        if kind == "flat":
            at_0, at_1 = (_exactly(draft.program, {"x": x})[1]["x"] for x in "01")
            numbers = [-at_0 / (at_1 - at_0)]
        elif kind == "kink":
            sides = [expression_text(side) for side in _bent(draft.program)._prev]
            value, slopes = _exactly(
                f"{sides[0]} - ({sides[1]})" if len(sides) == 2 else sides[0], {"x": "0"}
            )
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
    if not are_clean(numbers) or not any(numbers):
        return None
    if kind != "tangent":
        return tuple(map(str, numbers))
    slope, height = numbers[0], numbers[1] - numbers[0] * point["x"]
    line = write_sum([f"{slope} x", str(height)])
    return (expression_text(parse(line).outputs[0]),) if slope else None


# The kinds of level 6.
FURTHER_KINDS = ("antiderivative", "integral", "limit", "implicit", "curve")


def _further_answer(draft: Exercise) -> tuple[str, ...] | None:
    kind, by = draft.kind, draft.wrt[0]
    if draft.antiderivative and not is_antiderivative(draft.antiderivative, draft.program, by):
        return None
    if kind == "antiderivative":
        return (f"{draft.antiderivative} + C",)
    if kind == "integral":
        low, high = _at_ends(draft)
        number = high - low
    elif kind == "limit":
        number = exact_limit(draft.program, by, draft.more["to"])
    else:
        formula = implicit_derivative(draft.program, by, UNKNOWN).derivatives[0].shown
        if kind == "implicit":
            return (formula,)
        if not _is_on_curve(draft):
            return None
        number = exact_value(formula, draft.point)
    return (str(number),) if are_clean([number]) and (number or kind == "limit") else None


def _is_on_curve(draft: Exercise) -> bool:
    left, right = (exact_value(side, draft.point) for side in draft.program.split(" = "))
    return left == right


def _at_ends(draft: Exercise) -> tuple[Fraction, Fraction]:
    """Return the antiderivative at the ends of an integral."""
    low, high = (
        exact_value(draft.antiderivative, {draft.wrt[0]: draft.more[end]})
        for end in ("low", "high")
    )
    return low, high


def _further_lines(posed: Exercise) -> Iterator[str]:
    by = posed.wrt[0]
    if posed.way:
        yield posed.way
    if posed.kind == "antiderivative":
        yield f"the derivative of `{posed.antiderivative}` is the function"
    if posed.kind == "integral":
        low, high = map(str, _at_ends(posed))
        yield f"`{posed.antiderivative}` is an antiderivative"
        yield (
            f"at `{by} = {posed.more['high']}` it is `{high}`, at `{by} = {posed.more['low']}` it"
            f" is `{low}`"
        )
        yield f"`{high} - {_factor(low)} = {posed.answer[0]}`"
    if posed.kind == "curve":
        formula = implicit_derivative(posed.program, by, UNKNOWN).derivatives[0].shown
        value = "" if formula == posed.answer[0] else f" = {posed.answer[0]}"
        yield f"at `{_at(posed.point)}`: `{formula}{value}`"


def are_clean(numbers: Sequence[Fraction]) -> bool:
    """Return whether all numbers are short."""
    return all(
        abs(x.numerator) <= MAX_NUMERATOR and x.denominator <= MAX_DENOMINATOR for x in numbers
    )


def _bent(program: str) -> Value:
    (bent,) = [v for v in in_order(parse(program).outputs) if v.primitive.kink]
    return bent


def _exactly(
    program: str, point: dict[str, str], wrt: Sequence[str] = ("x",)
) -> tuple[Fraction, dict[str, Fraction]]:
    answer = gradient(program, point, wrt=wrt, arithmetic=Arithmetic("exact"))
    if answer.warnings:
        raise ExpressionError("derivative", "there is a kink")
    return Fraction(answer.value.text), {name: Fraction(answer.gradient[name].text) for name in wrt}


def _pose(draft: Exercise, *, seed: int, number: int, solutions: bool) -> Exercise:
    kind, several, level = draft.kind, "f(x," in draft.program, draft.level
    asks = (
        "partial"
        if kind == "derivative" and several
        else "graph"
        if kind == "gradient" and not several
        else kind
    )
    task = (draft.task or load_patterns()["tasks"][asks]).format(
        f="{f}",
        by=draft.wrt[0],
        wrt=join_names(draft.wrt),
        at=_at(draft.point),
        more=", ".join(draft.more.values()),
        last=draft.program.rpartition("; ")[2].partition(" = ")[0],
        to=approached(draft.more.get("to", "")),
        low=draft.more.get("low"),
        high=draft.more.get("high"),
    )
    posed = draft._replace(task=task, seed=seed, number=number)
    if not solutions:
        return posed
    traced, derived = None, None
    if kind in FURTHER_KINDS:
        derived = (
            implicit_derivative(posed.program, posed.wrt[0], UNKNOWN, steps=True)
            if posed.is_equation
            else None
        )
        return posed._replace(solution=WorkedSolution(derived, None, tuple(_further_lines(posed))))
    if kind in ("gradient", "step") and level >= 4:
        traced = trace(posed.program, posed.point, wrt=posed.wrt)
    elif kind != "kink":
        derived = diff(posed.program, wrt=posed.wrt, order=2 if kind == "second" else 1, steps=True)
    return posed._replace(
        solution=WorkedSolution(derived, traced, tuple(_last_lines(posed, derived)))
    )


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
        sides = " = ".join(map(expression_text, bent._prev)) + (
            " = 0" if len(bent._prev) == 1 else ""
        )
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
            last = derived.derivations[
                [d.by for d in derived.derivations].index(derivative.by)
            ].steps[-1]
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
        parts = " + ".join(
            f"{_factor(slopes[name])}*{_factor(posed.more[name])}" for name in posed.wrt
        )
        yield f"along the direction: `{parts} = {posed.answer[0]}`"
    if posed.kind == "step":
        for name, x in zip(posed.names, posed.answer, strict=True):
            yield (
                f"`{name}` becomes `{posed.point[name]} -"
                f" {posed.more['rate']}*{_factor(slopes[name])} = {x}`"
            )


def _factor(number: str) -> str:
    return f"({number})" if number.startswith("-") or "/" in number else number
