"""Answers in LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..engine.algebra.simplify import simplify
from ..engine.algebra.symbolic import by_definition
from ..engine.graphs.value import Value, constant, node
from ..engine.table.operators import ADD, SUB
from ..engine.table.primitive import DEFINITIONS, FUNCTIONS, PRIMITIVES
from ..language.typesetting import (
    Typesetting,
    equations,
    equations_of,
    matrix,
    number_latex,
    text_latex,
    typesetting,
)
from ..questions.figures import Figure, Shown
from ..questions.problem import parse
from .numerals import format_number, literal, unit_of, without_unit

if TYPE_CHECKING:
    from ..capabilities.formulas.diff import Diff
    from ..capabilities.formulas.functions import FunctionEntry
    from ..capabilities.trace.trace import AdjointStep, TangentStep, Trace, TraceRow

TITLE = r"\par\noindent\textbf{%s}"
MAX_ARGUMENTS = 4
"""The maximal number of values in parentheses after the function."""
MAX_ALIGNED_LINES = 300
"""The most lines of a trace in one aligned block."""
SUM_LINE_CHARACTERS = 85
"""About how many characters of a sum fit on a line."""
MAX_FRACTION_SIZE = 10**9
FRACTION_TOLERANCE = 1e-15
"""How close a double is to a fraction."""


def unit_latex(x: object) -> str:
    """Return the unit of a measured number, behind a thin space."""
    unit = unit_of(x)
    return rf"\,{unit.latex}" if unit is not None and unit.atoms else ""


def measured_latex(x: Shown | bool | None, digits: int | None) -> str:
    """Return a number with its unit, if any."""
    return number_latex(format_number(without_unit(x), digits)) + unit_latex(x)


def over_lines(total: str) -> str:
    """Return a sum broken into lines."""
    lines, depth, begin, last = list[str](), 0, 0, 0
    for match in re.finditer(r"\\[{}]|[{}()]| (?=[+-] )|$", total):
        text, place = match[0], match.start()
        depth += (text in ("{", "(")) - (text in ("}", ")"))
        if depth or text not in (" ", ""):
            continue
        visible = re.sub(r"\\[a-zA-Z]+|[{}^\\,]", "", total[begin:place])
        if last > begin and len(visible) > SUM_LINE_CHARACTERS:
            lines.append(total[begin:last])
            begin = last
        last = place
    return " \\\\\n&\\quad {}".join([*lines, total[begin:]])


def of_function(entry: FunctionEntry) -> str:
    """Return the definition of a function, and its derivatives."""
    from ..capabilities.formulas.functions import rule
    from ..language.typesetting import names_in

    primitive = FUNCTIONS[entry.name]
    sides = []
    for function in filter(None, (primitive, PRIMITIVES.get(primitive.with_two))):
        call, slopes = rule(function)
        typeset = Typesetting(names_in((call,)))
        left = typeset.factor(call)
        if not function.latex and function.name in DEFINITIONS:
            (definition,) = simplify((by_definition(call, always=True),))
            sides.append((left, typeset.expression(definition)))
        d = r"\partial " if len(call._prev) > 1 else "d"
        sides += [
            (rf"\frac{{{d.strip()}}}{{{d}{typeset.name(name)}}} {left}", typeset.expression(slope))
            for name, slope in slopes.items()
        ]
    return equations(sides)


def recognise_number(x: Shown) -> str:
    """Return the fraction or multiple of π that a double is near, if any."""
    if isinstance(x, Figure) or not math.isfinite(x) or not x:
        return ""
    fraction = Fraction(x).limit_denominator(10**7)
    above, below = abs(fraction.numerator), fraction.denominator
    short = len(repr(abs(x)).strip("0.").replace(".", "")) <= 8 and below & (below - 1)
    if below > 1 and not short and _near(fraction, x) and above * below <= MAX_FRACTION_SIZE:
        return str(fraction)
    times = Fraction(x / math.pi).limit_denominator(12)
    if not times or abs(times.numerator) > 12 or not _near(times, x / math.pi):
        return ""
    factor = {1: "", -1: "-"}.get(times.numerator, f"{times.numerator}*")
    return f"{factor}pi" if times.denominator == 1 else f"{factor}pi/{times.denominator}"


def coordinate(x: Shown, digits: int | None) -> str:
    """Return a coordinate as LaTeX with its unit."""
    fraction = recognise_number(x)
    if "pi" in fraction:
        return fraction.replace("pi", r"\pi").replace("*", "") + unit_latex(x)
    return measured_latex(x, digits)


def _near(fraction: Fraction, x: float) -> bool:
    return abs(float(fraction) - x) <= FRACTION_TOLERANCE * abs(x)


class FunctionAtPoint:
    """A function at a point: `f(x, y) = …`, and then `f(1, 2)`."""

    def __init__(self, text: str, point: Mapping[str, Shown], digits: int | None, by: str | None = None) -> None:
        program = parse(text, {*point, *([by] if by else [])}, units=True)
        self.digits = digits
        self.typeset = typesetting(program, point)
        self.name = self.typeset.name
        self.sides: list[tuple[str, ...]] = [*equations_of(program, self.typeset)]
        self.several = len(program.variables) > 1
        values = {name: coordinate(x, digits) for name, x in point.items()}
        if len(values) > MAX_ARGUMENTS:
            self.sides += [(self.name(name), value) for name, value in values.items()]
            values = {}
        self.head = self.typeset.head(program.variables, values)
        self.arguments = self.head.removeprefix(self.typeset.function)

    def number(self, x: Shown) -> str:
        """Return a number with its unit."""
        return measured_latex(x, self.digits)

    def matrix(self, rows: Iterable[Iterable[Shown]]) -> str:
        """Return a matrix of numbers."""
        return matrix([[self.number(x) for x in row] for row in rows])

    def column(self, numbers: Iterable[Shown]) -> str:
        """Return a column of numbers."""
        return self.matrix([[x] for x in numbers])

    def equations(self, sides: Iterable[tuple[str, ...]]) -> str:
        """Return the equations at the point."""
        return equations([*self.sides, *sides])


def derivatives(answer: Diff, digits: int | None = None) -> str:
    """Return a function, its derivatives and their values."""
    from ..capabilities.formulas.diff import where_latex  # few answers are derivatives as formulas

    latex = answer.language == "latex" and not answer.equations
    wanted = [(derivative.of, *derivative.by) for derivative in answer.derivatives]
    names = dict.fromkeys(name for several in wanted for name in several if name)
    names |= dict.fromkeys((*dict(answer.shared), *answer.point))
    sides: list[tuple[str, ...]] = []
    if answer.equations:
        texts = [one.shown for one in answer.derivatives]
        texts += [f"where({one.condition}, 1, 0)" for one in answer.derivatives if one.condition]
        names |= dict.fromkeys(name for text in texts for name in parse(text, names).variables)
        typeset = Typesetting(names)
        several = len(names) > len({derivative.of for derivative in answer.derivatives}) + 1
    else:
        program = parse(answer.text, answer.point, units=True)
        typeset = typesetting(program, names)
        names |= dict.fromkeys(program.variables)
        several = len(program.variables) > 1
        sides += equations_of(program, typeset)

    def written(formula: str, condition: bool = False) -> str:
        if latex:
            return formula
        (output,) = parse(f"where({formula}, 1, 0)" if condition else formula, names, units=True).outputs
        return typeset.expression(output._prev[0] if condition else output)

    sides += [(name if latex else typeset.name(name), written(formula)) for name, formula in answer.shared]
    shown = without_unit if answer.equations else lambda x: x
    point = [(typeset.name(name), coordinate(shown(x), digits)) for name, x in answer.point.items()]
    place = r",\ ".join(f"{name} = {x}" for name, x in point)
    values: list[tuple[str, ...]] = []
    for derivative in answer.derivatives:
        if derivative.of:
            typeset.function = typeset.name(derivative.of)
        slope = typeset.derivative(derivative.by, several)
        where = where_latex(derivative.condition and written(derivative.condition, condition=True))
        sides.append((slope, written(derivative.shown) + where))
        if place:
            value = measured_latex(shown(derivative.value), digits)
            (sides if answer.equations else values).append((rf"\left.{slope}\right|_{{{place}}}", value))
    return equations([*sides, *values])


def page(trace: Trace, digits: int | None = None, blanks: bool = False) -> str:
    """Return a trace; `blanks` omits numbers to be found."""
    names = [*(row.name for row in trace.rows), *trace.point]
    typeset = Typesetting(names, trace.constants, {row.name for row in trace.rows if row.numbered})
    name = typeset.name

    def number(x: float | bool | None) -> str:
        return measured_latex(x, digits)

    def product(x: float, y: float) -> str:
        factors = number(x), number(y)
        return r" \cdot ".join([f"({text})" if text.startswith("-") else text for text in factors])

    def result(x: float | bool | None) -> str:
        return r"\underline{\hspace{4em}}" if blanks else number(x)

    def primal(row: TraceRow) -> list[str]:
        if not row.formula:
            return [name(row.name), number(row.value)]
        numbers = typeset.expression(in_numbers(row.graph, lambda x: literal(x, digits)))
        value = result(row.value)
        results = [value] if blanks or numbers == value else [numbers, value]
        return [name(row.name), typeset.expression(row.graph), *results]

    def pull(pull: AdjointStep) -> list[str]:
        source, target = pull.source.name, pull.target.name
        adjoint, upstream = name(target, r"\bar"), name(source, r"\bar")
        # a column begins with a relation's space, which would part the signs of `+=`
        sign = r"\mathrel{+}\mkern-5mu" if pull.accumulates else ""
        local = rf"{upstream} \cdot \frac{{\partial {name(source)}}}{{\partial {name(target)}}}"
        if pull.graph is not None and (pull.graph._prev or pull.graph.label):
            local += rf" = {upstream} \cdot {typeset.factor(pull.graph)}"
        total = result(pull.product)
        if pull.accumulates:
            total += rf",\quad {adjoint} = {result(pull.total)}"
        return [adjoint + sign, local, *([] if blanks else [product(pull.upstream, pull.partial)]), total]

    def push(push: TangentStep) -> list[str]:
        terms = []
        for term in push.terms:
            dot = name(term.source.name, r"\dot")
            local = typeset.factor(term.graph) if term.graph is not None else number(term.partial)
            terms.append(dot if local == "1" else rf"{local} \cdot {dot}")
        numbers = " + ".join(product(term.partial, term.tangent) for term in push.terms) or "0"
        target = name(push.target.name, r"\dot")
        return [target, " + ".join(terms) or "0", *([] if blanks else [numbers]), result(push.tangent)]

    lines = _align("Forward primal trace", [*map(primal, trace.rows)])
    if trace.mode == "reverse":
        seed = [[name(step.source.name, r"\bar"), "1"] for step in trace.adjoint_steps[:1]]
        lines += _align("Reverse adjoint trace", [*seed, *map(pull, trace.adjoint_steps)])
        if trace.gradient:
            slopes = {by: typeset.derivative((by,), len(trace.point) > 1) for by in trace.gradient}
            sides = [(slopes[by], result(x)) for by, x in trace.gradient.items()]
            lines += [TITLE % "Gradient", equations(sides)]
    else:
        variables = [row for row in trace.rows if row.kind == "variable"]
        speeds = [[name(row.name, r"\dot"), number(trace.direction.get(row.symbol, 0.0))] for row in variables]
        lines += _align("Forward tangent trace", [*speeds, *map(push, trace.tangent_steps)])
        lines.append(rf"\noindent Derivative along the direction: ${result(trace.tangent)}$.")
    if trace.notes and not blanks:
        notes = [rf"\item {text_latex(f'{note.kind}: {note.message}')}" for note in trace.notes]
        lines += [TITLE % "Notes", r"\begin{itemize}", *notes, r"\end{itemize}"]
    return "\n".join(lines)


def _align(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [TITLE % title] if rows else []
    for k in range(0, len(rows), MAX_ALIGNED_LINES):
        steps = [
            r" & \quad &= ".join([f"{left} &= {first}", *more])
            for left, first, *more in rows[k : k + MAX_ALIGNED_LINES]
        ]
        lines += [r"\begin{alignat*}{3}", " \\\\\n".join(steps), r"\end{alignat*}"]
    return lines


def in_numbers(graph: Value, number: Callable[[float | bool | None], str]) -> Value:
    """Replace the inputs of an operation by numbers."""
    leaves = []
    for k, leaf in enumerate(graph._prev):
        if leaf.data is None or (leaf.source or "").endswith("]"):
            leaves.append(leaf)
            continue
        text = number(leaf.data)
        signed = k and text.startswith("-") and graph.primitive in (ADD, SUB)
        leaves.append(constant(leaf.data, f"({text})" if signed else text))
    return node(graph.primitive, tuple(leaves))
