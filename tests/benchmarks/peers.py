"""Value and gradient from text, in one process: this program beside all others that are installed.

Every program gets the same formulas in turns, over several rounds, and every answer is compared
with one of 30 digits. The others are given what they like best: the text as Python reads it, and
the point as numbers. This one is given lines of a stream, formula and point as text, and its
answers are finished records. Each has the collector as its users have it: on, and for the
`autodiff` command off.
"""

from __future__ import annotations

import gc
import io
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from random_formulas import Formula, formulas, is_right, unshared_formulas
from written_formulas import formulas as written_formulas

from autodiff_cli.capabilities.derivatives.gradient import Programs
from autodiff_cli.capabilities.derivatives.gradient_view import GradientView
from autodiff_cli.cli.runner import answer_requests
from autodiff_cli.show.formats import writer
from autodiff_cli.streams.requests import Defaults, stream

Answer = tuple[float, dict[str, float]]
Way = Callable[[str, Mapping[str, float]], Answer]
"""From a formula and a point to value and gradient."""


def _python(text: str, names: Mapping[str, Any]) -> Any:
    """What Python makes of the formula, as `eval` would."""
    code = compile(text, "<formula>", "eval")
    assert isinstance(code, CodeType)
    return FunctionType(code, dict(names))()


def _either(
    function: Callable[[float], float], other: Callable[[Any], Any], kind: type
) -> Callable[[Any], Any]:
    """A function for numbers of a kind, which leaves floats to `math`."""
    return lambda a: other(a) if isinstance(a, kind) else function(a)


def micrograd() -> Way:
    """The engine of the tutorials, Python's own `eval` before it, and the missing functions as its
    README adds them.
    """
    from micrograd.engine import Value

    def node(
        function: Callable[[float], float], slope: Callable[[float], float]
    ) -> Callable[[Any], Any]:
        def apply(a: Any) -> Any:
            out = Value(function(a.data), (a,), "f")

            def back() -> None:
                a.grad += slope(a.data) * out.grad

            out._backward = back
            return out

        return _either(function, apply, Value)

    functions = {
        "sin": node(math.sin, math.cos),
        "cos": node(math.cos, lambda x: -math.sin(x)),
        "tanh": node(math.tanh, lambda x: 1 - math.tanh(x) ** 2),
        "exp": node(math.exp, math.exp),
        "log": node(math.log, lambda x: 1 / x),
        "sqrt": node(math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    }

    def way(text: str, point: Mapping[str, float]) -> Answer:
        leaves = {name: Value(x) for name, x in point.items()}
        result = _python(text, functions | leaves)
        result.backward()
        return result.data, {name: leaf.grad for name, leaf in leaves.items()}

    return way


def _symbolic(engine: Any) -> Way:
    """Parsed by itself, differentiated symbolically, each result evaluated by `subs`."""

    def way(text: str, point: Mapping[str, float]) -> Answer:
        expression = engine.sympify(text)
        values = {engine.Symbol(name): x for name, x in point.items()}
        gradient = {str(s): float(expression.diff(s).subs(values)) for s in expression.free_symbols}
        return float(expression.subs(values)), gradient

    return way


def symengine() -> Way:
    """SymEngine."""
    import symengine as engine

    return _symbolic(engine)


def sympy() -> Way:
    """SymPy: the same, in Python."""
    import sympy as engine

    return _symbolic(engine)


def torch() -> Way:
    """PyTorch: Python's `eval` over scalar tensors of doubles."""
    import torch as engine

    names = ("sin", "cos", "tanh", "exp", "log", "sqrt")
    functions = {
        name: _either(getattr(math, name), getattr(engine, name), engine.Tensor) for name in names
    }

    def way(text: str, point: Mapping[str, float]) -> Answer:
        leaves = {
            name: engine.tensor(x, dtype=engine.float64, requires_grad=True)
            for name, x in point.items()
        }
        result = _python(text, functions | leaves)
        result.backward()
        return result.item(), {
            name: 0.0 if x.grad is None else x.grad.item() for name, x in leaves.items()
        }

    return way


def _traced(value_and_grad: Callable[..., Any], functions: Mapping[str, Any]) -> Way:
    def way(text: str, point: Mapping[str, float]) -> Answer:
        code = compile(text, "<formula>", "eval")
        value, partials = value_and_grad(
            lambda leaves: FunctionType(code, {**functions, **leaves})()
        )(dict(point))
        return float(value), {name: float(partial) for name, partial in partials.items()}

    return way


def autograd() -> Way:
    """HIPS autograd: `value_and_grad` over a dictionary of floats."""
    import autograd.numpy as numbers
    from autograd import value_and_grad

    return _traced(
        value_and_grad,
        {name: getattr(numbers, name) for name in ("sin", "cos", "tanh", "exp", "log", "sqrt")},
    )


def jax() -> Way:
    """JAX: `value_and_grad` in double precision, not compiled, which would take longer for one
    point.
    """
    import jax as engine

    engine.config.update("jax_enable_x64", True)
    names = ("sin", "cos", "tanh", "exp", "log", "sqrt")
    return _traced(engine.value_and_grad, {name: getattr(engine.numpy, name) for name in names})


def casadi() -> Way:
    """CasADi: Python's `eval` over scalar symbols, then one function of value and gradient."""
    import casadi as engine

    functions = {
        name: getattr(engine, name) for name in ("sin", "cos", "tanh", "exp", "log", "sqrt")
    }

    def way(text: str, point: Mapping[str, float]) -> Answer:
        leaves = {name: engine.SX.sym(name) for name in point}
        inputs = engine.vertcat(*leaves.values())
        output = _python(text, functions | leaves)
        function = engine.Function("f", [inputs], [output, engine.gradient(output, inputs)])
        value, partials = function(list(point.values()))
        return float(value), dict(zip(point, map(float, partials.full()[:, 0]), strict=True))

    return way


PEERS: dict[str, Callable[[], Way]] = {
    "symengine": symengine, "micrograd + eval": micrograd, "PyTorch": torch,
    "HIPS autograd": autograd, "CasADi": casadi, "JAX": jax, "SymPy": sympy,
}  # fmt: skip


# Those whose start alone takes seconds.
SLOW_TO_START = {"PyTorch", "JAX"}


def installed(*, quick: bool) -> dict[str, Way]:
    """The peers that are here, `quick` without those that start slowly."""
    found = {}
    for name, peer in PEERS.items():
        if quick and name in SLOW_TO_START:
            continue
        try:
            found[name] = peer()
        except ImportError:
            continue
    return found


def _typed(formula: Formula) -> str:
    """A line of a stream: program and point."""
    return f"{formula.text}\t{','.join(f'{name}={x!r}' for name, x in formula.point.items())}\n"


def _record(formula: Formula) -> str:
    """The same as a request record."""
    return json.dumps({"id": 1, "expr": formula.text, "at": formula.point}) + "\n"


def _ours(asked: Sequence[Formula], line: Callable[[Formula], str]) -> tuple[float, list[Answer]]:
    """Seconds and answers of the stream for these formulas."""
    data = io.BytesIO("".join(map(line, asked)).encode())
    out = io.StringIO()
    gc.collect()
    gc.disable()
    begin = time.process_time()
    programs = Programs(complete=False)
    answer_requests(
        stream(data, Defaults({}, None)),
        lambda request: programs.gradient(request.text, request.point, request.wrt),
        writer("jsonl", out, GradientView(), True),
        False,
    )
    taken = time.process_time() - begin
    gc.enable()
    answers = [json.loads(record) for record in out.getvalue().splitlines()]
    return taken, [(answer["value"], answer["gradient"]) for answer in answers]


def _tried(way: Way, formula: Formula) -> Answer:
    """What a peer answers; what it cannot compute counts as wrong, as micrograd's powers with a
    variable exponent.
    """
    try:
        return way(formula.python or formula.text, formula.point)
    except Exception:
        return math.nan, {}


def _theirs(way: Way, asked: Sequence[Formula]) -> tuple[float, list[Answer]]:
    gc.collect()
    begin = time.process_time()
    answers = [_tried(way, formula) for formula in asked]
    return time.process_time() - begin, answers


def measure(
    count: int, rounds: int, seconds: float = 0.7, *, quick: bool = False
) -> list[dict[str, object]]:
    """One row a program: median lines a second over the rounds, for formulas that are all
    different, for formulas that come again at other points, for formulas that share no names and
    numbers, and for those that people write (each once); how many times as fast this program is;
    and wrong answers among how many.

    A program whose round would last longer than so many seconds gets the first formulas only.
    """
    distinct = formulas(count)
    repeated = [
        f._replace(point={name: x + k / 64 for name, x in f.point.items()})
        for k in range(max(1, count // 100))
        for f in distinct[:100]
    ]
    ways: dict[str, Callable[[Sequence[Formula]], tuple[float, list[Answer]]]] = {
        "autodiff": lambda asked: _ours(asked, _typed),
        "autodiff, request records": lambda asked: _ours(asked, _record),
    }
    ways |= {
        name: lambda asked, way=way: _theirs(way, asked)
        for name, way in installed(quick=quick).items()
    }
    kinds = {
        "lines/s": distinct,
        "repeated": repeated,
        "unshared": unshared_formulas(count),
        "written": written_formulas(),
    }
    shares = {}
    for name, way in ways.items():
        way(distinct[:3])
        taken, _ = way(distinct[: min(20, count)])
        shares[name] = max(10, min(count, round(seconds / max(taken, 1e-9) * min(20, count))))
    rates: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in kinds} for name in ways}
    wrong: dict[str, int] = {}
    asked_of: dict[str, int] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            wrong[name] = asked_of[name] = 0
            for kind, asked in kinds.items():
                some = asked[: shares[name]]
                taken, answers = way(some)
                rates[name][kind].append(len(some) / max(taken, 1e-9))
                if kind != "repeated":
                    asked_of[name] += len(some)
                    wrong[name] += sum(
                        not is_right(f, *answer) for f, answer in zip(some, answers, strict=True)
                    )
    medians = {
        name: {kind: statistics.median(of) for kind, of in kinds.items()}
        for name, kinds in rates.items()
    }
    ours = medians["autodiff"]
    table: list[dict[str, object]] = []
    for name, by_kind in sorted(medians.items(), key=lambda item: -item[1]["lines/s"]):
        row: dict[str, object] = {"program": name}
        for kind, rate in by_kind.items():
            row |= {kind: round(rate), f"autodiff is, {kind}": f"{ours[kind] / rate:.2f}x"}
        table.append(row | {"wrong": wrong[name], "of": asked_of[name]})
    return table
