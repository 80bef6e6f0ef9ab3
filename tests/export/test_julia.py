"""Exported Julia: run by Julia where it is installed, and everywhere by a translator of the little
that is written.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli import gradient
from autodiff_cli.capabilities.export.export import Exported, export
from autodiff_cli.engine.table.primitive import FUNCTIONS
from samples import OF_FEW_TARGETS, samples_of

# what Julia's Base calls these functions, https://docs.julialang.org/en/v1/base/math/
BASE: dict[str, Callable[..., Any]] = {
    name: getattr(math, name)
    for name in (
        "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "asin", "acos", "acosh", "atanh", "asinh", "hypot",
    )
} | {
    "abs": abs, "max": max, "min": min, "float": float, "round": lambda x: float(round(x)),
    "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)), "NaN": math.nan, "Inf": math.inf,
    "sign": lambda x: float((x > 0) - (x < 0)), "atan": lambda *xs: math.atan2(*xs) if len(xs) == 2 else math.atan(*xs),
    "true": True, "false": False,
}  # fmt: skip


def expression(text: str) -> str:
    """An expression of Julia in Python: the same but for powers, logic and choices."""
    depth, parts = 0, [""]
    inside = ""
    for character in text:
        depth -= character == ")"
        if character == ")" and depth == 0:
            parts[-1] += expression(inside)
            inside = ""
        if depth:
            inside += character
        else:
            parts[-1] += character
        depth += character == "("
    (whole,) = parts
    chosen = re.fullmatch(r"(.*?) \? (.*?) : (.*)", whole)
    if chosen:
        condition, then, otherwise = chosen.groups()
        return f"({expression(then)} if {expression(condition)} else {expression(otherwise)})"
    whole = whole.replace("^", "**").replace("&&", "and").replace("||", "or")
    return re.sub(r"!(?!=)", " not ", whole)


def translated(source: str) -> str:
    """The functions of a file in Python."""
    lines = []
    depth = 0
    for row in source.splitlines():
        code = row.partition("#")[0].strip()
        word, _, rest = code.partition(" ")
        if code == "end":
            depth -= 1
            continue
        if word == "function":
            line = f"def {rest}:"
        elif word == "if":
            line = f"if {expression(rest)}:"
        elif word == "else":
            line = "else:"
        elif word == "return":
            line = f"return {expression(rest)}"
        elif code:
            name, _, value = code.partition(" = ")
            assert re.fullmatch(r"[A-Za-z]\w*", name), row
            line = f"{name} = {expression(value)}"
        else:
            continue
        lines.append("    " * (depth - (word == "else")) + line)
        depth += word in ("function", "if")
    assert depth == 0
    return "\n".join(lines)


def answer(exported: Exported, point: dict[str, float]) -> list[float]:
    """The value and the derivatives; with no names but those of Julia's Base."""
    space: dict[str, Any] = {**BASE, "__builtins__": {}}
    exec(translated(exported.source), space)
    value, partials = space[exported.name](*point.values())
    return [value, *partials]


def cases() -> list[tuple[str, dict[str, float]]]:
    """Each function at sample points of the table, and choices."""
    found: list[tuple[str, dict[str, float]]] = [
        (text, {"x": x, "y": 0.75})
        for text in (
            "log(x)*y if x > 0 and not (y > 2 or x == 3) else -x**2/(3*y)", "where(x < 1, 2, y)*x**-3 + 2**-x - -x",
            "x if x > 1 else where(y > 0, sin(x), where(x < -1, exp(x)*y, y**2))",
        )
        for x in (-1.5, 0.5, 3.0)
    ]  # fmt: skip
    for primitive in [p for p in dict.fromkeys(FUNCTIONS.values()) if p.name not in OF_FEW_TARGETS]:
        for sample in [
            each for each in samples_of(primitive) if all(1e-3 <= abs(x) <= 30 for x in each)
        ][:3]:
            names = ["x", "y", "z", "w"][: len(sample)]
            fixed = {k for k, p in enumerate(primitive.params) if p in primitive.constant_params}
            args = [
                str(int(v)) if k in fixed else n
                for k, (n, v) in enumerate(zip(names, sample, strict=True))
            ]
            point = {
                n: v for k, (n, v) in enumerate(zip(names, sample, strict=True)) if k not in fixed
            }
            found.append((f"{primitive.spelling or primitive.name}({', '.join(args)})", point))
    return found


def agrees(got: list[float], text: str, point: dict[str, float]) -> None:
    want = gradient(text, point)
    names = list(export(text, "julia").wanted)
    for a, b in zip(got, [want.value, *(want.gradient[name] for name in names)], strict=True):
        assert math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300), (text, point, got, want)


def test_every_function_and_choices_by_the_translator() -> None:
    for text, point in cases():
        exported = export(text, "julia")
        agrees(answer(exported, {name: point[name] for name in exported.variables}), text, point)
    assert len(cases()) > 150


@pytest.mark.skipif(not shutil.which("julia"), reason="there is no Julia")
def test_every_function_and_choices_by_julia(tmp_path: Path) -> None:
    lines = []
    for k, (text, point) in enumerate(cases()):
        exported = export(text, "julia", name=f"f_{k}")
        numbers = ", ".join(repr(point[name]) for name in exported.variables)
        lines.append(f"module M{k}\n{exported.source}end\nvalue, partials = M{k}.f_{k}({numbers})")
        lines.append("println([value, partials...])")
    script = tmp_path / "all.jl"
    script.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        ["julia", "--startup-file=no", str(script)], capture_output=True, text=True, check=True
    )
    for (text, point), row in zip(cases(), done.stdout.splitlines(), strict=True):
        agrees(json.loads(row), text, point)


def test_what_is_special_in_its_code() -> None:
    source = export("x*y", "julia", name="area").source
    assert "function area(x, y)\n    x = float(x)\n" in source and "return t1, (y, x)" in source
    # names of functions that the code calls, and of its words
    named = ["exp", "end", "float", "function", "atan", "i"]
    assert export("exp*end + float*function + atan*i", "julia", wrt=named).variables == {
        "exp": "v1", "end": "v2", "float": "v3", "function": "v4", "atan": "v5", "i": "i",
    }  # fmt: skip
