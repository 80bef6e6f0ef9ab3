"""Tests of which results of an exported program need a term that shows a failure, because a failure
is hidden there.
"""

from __future__ import annotations

import pytest

from autodiff_cli.compiled.lowering import showing_faults
from autodiff_cli.engine.graphs.adjoint import record_gradient
from autodiff_cli.questions.problem import parse

HIDDEN: dict[str, str] = {
    # the derivative 1/x has a value where the logarithm has none
    "log(x)": "-x",
    "asin(x) + acos(x)": "-x",
    # infinite results show by themselves
    "abs(1/x)": "--",
    "exp(x*x)": "--",
    # what a comparison, an order or a losing side takes in does not show
    "x if log(x) > 0 else 2*x": "vx",
    "x if asin(y) < 1 else 2": "vxy",
    "x if 1/(2-2) > x else 3": "vx",
    "max(log(x), y)": "vxy",
    "min(x, sqrt(y))": "vxy",
    "relu(1/x)": "vx",
    "heaviside(log(x))": "vx",
    "log(x)**0": "vx",
    "x**y": "-xy",
    "log(x)**y": "vxy",
    # what is hidden stays so behind further operations
    "2*max(log(x), y)": "vxy",
    "2*elu(x, log(y))": "vxy",
    "tanh(exp(log(x)))": "vx",
    "tanh(x*x*log(y))": "vxy",
    # a step that fails shows where both branches take it, but its derivatives do not
    "log(x) if x > 0 else log(x) + y": "-xy",
    "where(y > 0, log(x), 2*log(x))": "-yx",
    # operands that the formula leaves out at some points
    "elu(x, log(y))": "vxy",
    "leaky_relu(x, 1/y)": "vxy",
    # an infinite number that a limit or a division takes away
    "tanh(1/x)": "vx",
    "atan(1/x)": "vx",
    "y/exp(x)": "vyx",
    "tanh(log(x))": "vx",
    # a too large number at a limit that is right needs nothing
    "tanh(x*x)": "--",
    "erf(x*x)": "--",
    # conditions under which the domain is certain, on either side and through `and`, `or`, `not`
    "log(x) if x > 0 else x": "--",
    "log(x) if x > 1 else x": "--",
    "x if x <= 0 else log(x)": "--",
    "log(x) if not x <= 0 else x": "--",
    "log(x) if x > 0 and y > 1 else y": "---",
    "sqrt(x) if x >= 0 else 0": "--",
    "1/x if x != 0 else 0": "--",
    "1/x if not (x == 0 or y == 0) else 2": "---",
    "tanh(1/x) if x != 0 else 1": "--",
    "max(log(x), y) if x > 0 else y": "---",
    "1/x if x == 3 else 2": "--",
    "1/x if x < -1 else 2": "--",
    "acosh(x) if x > 2 else 1": "--",
    # and those under which it is not
    "log(x) if x >= 0 else x": "-x",
    "log(x) if x > -1 else x": "-x",
    "log(x) if not x < 0 else x": "-x",
    "log(x) if x > 0 or y > 1 else y": "-xy",
    "1/x if x == 0 else 0": "-x",
    "1/x if not (x == 0 and y == 0) else 2": "-xy",
    "where(x > 0, log(x), log(x + 5))": "-x",
    "log(x)*y + x if x > 0 else log(y)": "-xy",
    "(log(x) if x > 0 else y) + log(y)": "-xy",
}
"""For each program the results that need such a term: `v` the value, and the derivatives by their
variables.
"""


@pytest.mark.parametrize("text", HIDDEN)
def test_a_term_is_added_where_a_failure_is_hidden_and_nowhere_else(text: str) -> None:
    program = parse(text)
    leaves = list(program.places.values())
    recording = record_gradient(program.graph, leaves, leaves)
    shown = showing_faults(recording, lambda step, large: True)
    before, after = (*recording.values, *recording.partials), (*shown.values, *shown.partials)
    names = ("v", *program.variables)
    marks = "".join(
        name if ours is not theirs else "-"
        for name, ours, theirs in zip(names, before, after, strict=True)
    )
    assert marks == HIDDEN[text]
