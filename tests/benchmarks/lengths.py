"""How long derivatives are as text, beside those of SymPy where it is installed: names, numbers,
operators and calls.

The formulas are those of a first course, those as people write them, and random ones from a seed.
"""

from __future__ import annotations

import ast
import time
from pathlib import Path
from typing import Any

from random_formulas import formulas as random_formulas
from written_formulas import LINES

from autodiff_cli import parse
from autodiff_cli.capabilities.formulas.diff import diff
from autodiff_cli.language.printer import expression_text

COURSE = Path(__file__).parents[1] / "corpora" / "course.txt"
SHARES = (0.5, 0.75, 0.9, 0.99)


def texts(random: int) -> dict[str, list[str]]:
    """The formulas by where they come from, so many of them random."""
    course = [
        line.split(" | ")[0] for line in COURSE.read_text().splitlines() if not line.startswith("#")
    ]
    return {
        "course": list(dict.fromkeys(course)),
        "written": [line.split(" | ")[0].strip() for line in LINES.strip().split("\n")],
        "random": [each.text for each in random_formulas(random, seed=7)],
    }


def length(text: str) -> int:
    """How many names, numbers, operators and calls an expression has that Python can read."""
    total = 0
    for each in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(each, (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp)):
            total += 1
        elif isinstance(each, ast.Compare):
            total += len(each.ops)
        elif isinstance(each, ast.BoolOp):
            total += len(each.values) - 1
    return total


def peer(text: str) -> dict[str, str]:
    """SymPy's derivatives of a formula by its variables; none for a function that it lacks, or
    where it is missing.
    """
    try:
        import sympy
    except ImportError:
        return {}
    program = parse(text)
    functions: dict[str, Any] = {
        "where": lambda c, x, y: sympy.Piecewise((x, c), (y, True)), "abs": sympy.Abs,
        "max": sympy.Max, "min": sympy.Min, "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)),
        "hypot": lambda x, y: sympy.sqrt(x * x + y * y), "log": sympy.log, "e": sympy.E,
        "pi": sympy.pi,
    }  # fmt: skip
    symbols = {name: sympy.Symbol(name, real=True) for name in program.variables}
    try:
        formula = sympy.sympify(
            expression_text(program.outputs[0]), locals=functions | symbols, rational=True
        )
        found = {name: sympy.diff(formula, symbol) for name, symbol in symbols.items()}
        return {name: str(each) for name, each in found.items() if not each.has(sympy.Derivative)}
    except (sympy.SympifyError, TypeError, AttributeError):
        return {}


def measure(random: int) -> list[dict[str, object]]:
    """A row a set of formulas, and one for all: how their lengths divided by SymPy's are
    distributed, and the time.
    """
    rows: list[dict[str, object]] = []
    all_ratios: list[float] = []
    all_taken = all_count = 0.0
    for name, listed in texts(random).items():
        ratios: list[float] = []
        taken = 0.0
        for text in listed:
            begin = time.process_time()
            found = diff(text).derivatives
            taken += time.process_time() - begin
            others = peer(text)
            for each in found:
                try:
                    ratios.append(length(each.shown) / length(others[each.by[0]]))
                except (KeyError, SyntaxError):
                    continue
        rows.append(row(name, ratios, taken / len(listed)))
        all_ratios += ratios
        all_taken += taken
        all_count += len(listed)
    return [*rows, row("all", all_ratios, all_taken / all_count)]


def row(name: str, ratios: list[float], seconds: float) -> dict[str, object]:
    """A row of the table: how many are shorter than SymPy's, as long and longer, and the ends of
    shares of them.
    """
    ratios = sorted(ratios)
    ends = {
        f"{share:.0%}": round(ratios[min(len(ratios) - 1, int(share * len(ratios)))], 2)
        if ratios
        else "-"
        for share in (*SHARES, 1)
    }
    counts = {
        "shorter": sum(ratio < 1 for ratio in ratios),
        "equal": ratios.count(1),
        "longer": sum(ratio > 1 for ratio in ratios),
    }
    return {
        "formulas": name,
        "derivatives": len(ratios),
        **counts,
        **ends,
        "ms": round(1000 * seconds, 2),
    }
