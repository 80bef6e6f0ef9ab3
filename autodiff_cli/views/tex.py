"""Answers in LaTeX: formulas for a page, and a Trace as a document that compiles as it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from ..language.printer import PRODUCT
from ..language.typesetting import expression_latex, level_of, name_latex, name_parts, number_latex, text_latex
from ..questions.diff import Derivative, Diff, condition_latex, derivative_latex, equations
from ..questions.digits import Shown
from ..questions.problem import parse
from ..questions.trace import Pull, Push, Row, Trace
from ..table.operators import ADD, SUB
from ..values.value import Value, constant, node
from .numerals import readable

HEAD = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{amsmath,longtable}
\begin{document}
"""
FOOT = "\\end{document}\n"
"""What a document begins and ends with."""


def display(formula: str, given: Collection[str] = ()) -> str:
    """A formula of the language as a display; `given` are variables although they are called like a constant."""
    return rf"\[{_mathematics(formula, given)}\]"


def derivatives(answer: Diff, digits: int | None = None) -> str:
    """The derivatives that were asked for, what they share, and their values, as equations below each other."""
    given = {*answer.point, *(name for name, _ in answer.shared)}.union(*(each.by for each in answer.derivatives))
    return equations(
        [(name_latex(name), _mathematics(formula, given)) for name, formula in answer.shared]
        + [(derivative_latex(each.by), _shown(each, given)) for each in answer.derivatives]
        + (_values(answer, digits) if answer.point else [])
    )


def _shown(each: Derivative, given: Collection[str]) -> str:
    if not each.condition:
        return _mathematics(each.shown, given)
    choice = parse(f"where({each.condition}, 1, 0)", given).outputs[0]
    return _mathematics(each.shown, given) + condition_latex(expression_latex(choice._prev[0]))


def _values(answer: Diff, digits: int | None) -> list[tuple[str, str]]:
    def shown(x: Shown | None) -> str:
        return number_latex(readable(x, digits))

    place = r",\ ".join(f"{name_latex(name)} = {shown(x)}" for name, x in answer.point.items())
    return [
        (rf"\left.{derivative_latex(each.by)}\right|_{{{place}}}", shown(each.value)) for each in answer.derivatives
    ]


def _mathematics(formula: str, given: Collection[str]) -> str:
    return expression_latex(parse(formula, given).outputs[0])


def listing(program: str) -> Iterator[str]:
    """A program, line by line."""
    for line in program.splitlines():
        if line.strip():
            yield rf"\noindent\texttt{{{text_latex(line)}}}\\"


def page(trace: Trace, digits: int | None = None, blanks: bool = False) -> str:
    """What a document says of a trace: the steps as long tables, the gradient, and the notes.

    With `blanks` the numbers are left out that are to be found.
    """
    return "\n".join(_Page(trace, digits, blanks).lines())


class _Page:
    def __init__(self, trace: Trace, digits: int | None, blanks: bool = False) -> None:
        self.trace, self.digits, self.blanks = trace, digits, blanks

    def lines(self) -> Iterator[str]:
        trace = self.trace
        yield from listing(trace.text)
        yield from self.table("Forward primal trace", [self.primal(row) for row in trace.rows])
        if trace.mode == "reverse":
            yield from self.table("Reverse adjoint trace", [*self.seed(), *(self.pull(p) for p in trace.pulls)])
            if trace.gradient:
                yield r"\section*{Gradient}"
                yield r"\begin{align*}"
                yield " \\\\\n".join(
                    rf"\frac{{\partial f}}{{\partial {name_latex(name)}}} &= {self.found(partial)}"
                    for name, partial in trace.gradient.items()
                )
                yield r"\end{align*}"
        else:
            speeds = [
                [self.accented(row, r"\dot"), self.number(trace.direction.get(row.symbol, 0.0)), "", ""]
                for row in trace.rows
                if row.kind == "variable"
            ]
            yield from self.table("Forward tangent trace", [*speeds, *(self.push(p) for p in trace.pushes)])
            yield rf"\noindent Derivative along the direction: ${self.found(trace.tangent)}$."
        if trace.notes and not self.blanks:
            yield r"\section*{Notes}"
            yield r"\begin{itemize}"
            for note in trace.notes:
                yield rf"\item {text_latex(f'{note.kind}: {note.message}')}"
            yield r"\end{itemize}"

    def table(self, title: str, rows: list[list[str]]) -> Iterator[str]:
        yield rf"\section*{{{title}}}"
        if not rows:
            return
        yield r"\begin{longtable}{@{}r@{${}={}$}l@{\quad}l@{\quad}l@{}}"
        for row in rows:
            # An empty row's end would swallow what follows as its optional argument if that began with a bracket.
            yield " & ".join(f"${cell}$" if cell else "" for cell in row) + r" \\[2pt]"
        yield r"\end{longtable}"

    def readable(self, x: float | bool | None) -> str:
        return readable(x, self.digits)

    def number(self, x: float | bool | None) -> str:
        return number_latex(readable(x, self.digits)) if not isinstance(x, bool) else rf"\text{{{readable(x)}}}"

    def found(self, x: float | bool | None) -> str:
        """A number, or where it is to be found a blank."""
        return r"\underline{\hspace{4em}}" if self.blanks else self.number(x)

    def name(self, row: Row) -> str:
        return self.accented(row, "")

    def accented(self, row: Row, accent: str) -> str:
        if not row.numbered:
            return name_latex(row.name, accent)
        letter = name_parts(self.trace.letter)[0]
        below = row.name[len(self.trace.letter) :]
        return rf"{accent}{{{letter}}}_{{{below}}}" if accent else rf"{letter}_{{{below}}}"

    def primal(self, row: Row) -> list[str]:
        if not row.graph._prev:
            return [self.name(row), self.number(row.value), "", ""]
        return [
            self.name(row),
            expression_latex(row.graph),
            "" if self.blanks else f"= {expression_latex(in_numbers(row.graph, self.readable))}",
            f"= {self.found(row.value)}",
        ]

    def seed(self) -> list[list[str]]:
        if not self.trace.pulls:
            return []
        return [[self.accented(self.trace.rows[self.trace.pulls[0].source], r"\bar"), "1", "", ""]]

    def pull(self, pull: Pull) -> list[str]:
        source, target = self.trace.rows[pull.source], self.trace.rows[pull.target]
        adjoint = self.accented(target, r"\bar")
        upstream = self.accented(source, r"\bar")
        derivative = rf"\frac{{\partial {self.name(source)}}}{{\partial {self.name(target)}}}"
        total = f"= {self.found(pull.product)}"
        if pull.accumulates:
            total += rf",\ {adjoint} = {self.found(pull.total)}"
        sign = r"\mathrel{+}" if pull.accumulates else ""
        return [
            adjoint + sign,
            rf"{upstream} \cdot {derivative}",
            ""
            if self.blanks
            else rf"= {_factor(self.number(pull.upstream))} \cdot {self.local(pull.graph, pull.partial)}",
            total,
        ]

    def local(self, graph: Value | None, partial: float) -> str:
        if graph is None or not graph._prev:
            return _factor(self.number(partial if graph is None else graph.data)) if not _named(graph) else (
                expression_latex(graph) if graph is not None else ""
            )  # fmt: skip
        written = expression_latex(graph)
        return rf"\left({written}\right)" if level_of(graph) < PRODUCT else written

    def push(self, push: Push) -> list[str]:
        rows = self.trace.rows
        terms, numbers = [], []
        for term in push.terms:
            dot = self.accented(rows[term.source], r"\dot")
            terms.append(rf"{self.local(term.graph, term.partial)} \cdot {dot}")
            numbers.append(rf"{_factor(self.number(term.partial))} \cdot {_factor(self.number(term.tangent))}")
        return [
            self.accented(rows[push.target], r"\dot"),
            " + ".join(terms) or "0",
            "" if self.blanks else f"= {' + '.join(numbers) or '0'}",
            f"= {self.found(push.tangent)}",
        ]


def in_numbers(graph: Value, number: Callable[[float | bool | None], str]) -> Value:
    """An operation, its inputs replaced by their values, written as `number` writes them."""
    leaves = []
    for k, leaf in enumerate(graph._prev):
        text = number(leaf.data)
        if k and text.startswith("-") and graph.primitive in (ADD, SUB):
            text = f"({text})"
        leaves.append(leaf if leaf.data is None else constant(leaf.data, text))
    return node(graph.primitive, tuple(leaves))


def _named(graph: Value | None) -> bool:
    return graph is not None and bool(graph.label)


def _factor(number: str) -> str:
    return rf"\left({number}\right)" if number.startswith("-") else number
