"""The evaluator's target: Python with numbered names, on the engine's float functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..graphs.adjoint import Recording, schedule
from ..language.printer import OPERATORS, assemble
from ..numbers.floats import REAL
from ..numbers.recorder import CONDITIONS, Step
from ..table.primitive import CHOICE, SUM
from ..table.primitives import by_name, library_names
from .target import Form, Target

SILENT = library_names("add sub mul div pow leaky_relu elu").keys()
"""Operations written as operators, which overflow to infinity without an error."""

MAX_TERMS = 40
"""Terms of one sum: Python's compiler recurses into longer ones."""


CONDITIONAL: Form = ("{1} if {0} else {2}", CHOICE, CHOICE + 1, CHOICE + 1, CHOICE)


class Internal(Target):
    """Python to be run: inputs `x0`, `x1` …, steps `t0`, `t1` …, the engine's functions."""

    whole_powers = 1e15  # Python's own power gives a complex number for a negative base only if it is not whole

    def __init__(self) -> None:
        super().__init__()
        self.bound: dict[str, Callable[..., Any]] = by_name({"pow": math.pow})
        self.forms = OPERATORS | by_name({"where": CONDITIONAL})

    def _number(self, value: float | bool) -> str:
        return f"({value!r})" if value < 0 else repr(value)

    def function(self, name: str) -> Form:
        self.bound[name] = getattr(REAL, name)
        self.forms[name] = name
        return name

    def _check(self, step: Step, name: str) -> str:
        if step.name in CONDITIONS:
            x, y = (assemble(a, self.parts, SUM) for a in step.args)
            return f"if {x} == {y}: return None"
        return f"s += {name}"

    def source(self, recording: Recording, inputs: int) -> str:
        """Return the source of a function: inputs to value and partials; None if one is infinite."""
        plan = schedule(recording, SILENT)
        used = {s.data for s in recording.recorder.steps if s.name == "input"}
        self._inputs(recording, [f"x{k}" for k in range(inputs)])
        rows = [", ".join(f"x{k}" if k in used else "_" for k in range(inputs)) + ", = x"] if inputs else []
        called = {task.step: f"t{task.step.index}" for task in plan.tasks}
        rows += ["s = 0.0", *self.statements(plan, called, {})]
        results = [self._result(step) for step in recording.results]
        for start in range(0, len(results), MAX_TERMS):
            rows.append("s += " + " + ".join(results[start : start + MAX_TERMS]))
        count = len(recording.values)
        values = results[0] if count == 1 else "[" + ", ".join(results[:count]) + "]"
        # If a number is infinite or nan, s - s is nan.
        rows += ["if s - s == 0.0:", f"    return {values}, [{', '.join(results[count:])}]", "return None"]
        return "\n".join(["def f(x):", *["    " + row for row in rows]]) + "\n"
