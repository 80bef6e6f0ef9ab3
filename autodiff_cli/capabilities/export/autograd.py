"""Programs as code that another engine differentiates: graphs of micrograd's `Value`, modules of
PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from ...compiled.lowering import Lowering, showing_faults
from ...compiled.target import PARAMETERS, RESERVED_PREFIX, Form, SourceUnit, Target
from ...engine.graphs.adjoint import record_gradient
from ...engine.graphs.value import constant, graph_of, node
from ...engine.numbers.recorder import CONDITIONS, Step
from ...engine.table.operators import COMPARISONS, EQ, NE, VARIABLE
from ...engine.table.primitive import ATOM, CHOICE, COMPARISON, OPERATIONS, POWER, SUM
from ...errors import quote, usage_error
from ...language.printer import OPERATORS, Item, Written
from .languages import Python, Torch

# ---- micrograd
APPLY = '''\
def ad_apply(name, rule, *inputs):
    """The result of an operation on Values; `rule` returns the value and the derivatives by the inputs."""
    inputs = [x if isinstance(x, Value) else Value(x) for x in inputs]
    value, slopes = rule(*[x.data for x in inputs])
    out = Value(value, tuple(inputs), name)

    def _backward():
        for x, slope in zip(inputs, slopes):
            x.grad += slope * out.grad

    out._backward = _backward
    return out'''


class Micrograd(Python):
    """A function of Values of micrograd, or of the class that the tutorials build.

    micrograd has `+ - * /`, constant powers and `relu`; every other operation is a node with the
    rule of the table.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        known = {name: form for name, form in self.forms.items() if name in OPERATORS}
        compared = {
            comparison.name: partial(_compared, sign) for sign, comparison in COMPARISONS.items()
        }
        relu: Form = ("{0}.relu()", ATOM, ATOM)
        own: dict[str, Form] = {
            name: _applied
            for name, operation in OPERATIONS.items()
            if name not in CONDITIONS and not operation.vector
        }
        self.forms = {**own, **known, **compared, "relu": relu, "where": self.forms["where"]}

    def power(self, x: Step, y: Step) -> Written:
        # a whole exponent is micrograd's own; Python's `**` of a negative number is complex for
        # others
        if y.name == "number" and y.data == int(y.data) and abs(y.data) < self.whole_powers:
            return POWER, [(x, ATOM), f"**{y.data:.0f}" if y.data > 0 else f"**({y.data:.0f})"]
        return _applied(self, x.m.step("pow", x, y))

    def lines(self) -> list[str]:
        plan = self.plan(self.unit.recording)
        steps = sorted({task.step for task in plan.tasks}, key=lambda step: step.index)
        if any(step.name in (EQ.name, NE.name) for step in steps):
            hint = "leave the condition out, or write it with `<` or `>`"
            raise usage_error("a graph of micrograd has no conditions with `==` or `!=`", hint)
        applied = {_rule_name(step): step for step in steps if self._is_applied(step)}
        functions = {block[0]: block for step in applied.values() for block in _rule(step)}
        blocks = [APPLY.split("\n")] if applied else []
        blocks += [*functions.values(), self.defined()]
        uses_math = any("math." in row for block in functions.values() for row in block)
        head = [
            *self.heading(),
            *["import math", ""] * uses_math,
            "from micrograd.engine import Value",
        ]
        return [*head, *[row for block in blocks for row in ["", "", *block]]]

    def _is_applied(self, step: Step) -> bool:
        if step.name == "pow":
            return self.operation(step)[0] is ATOM
        return self.forms.get(step.name) is _applied

    def defined(self) -> list[str]:
        unit = self.unit
        rows = [
            '"""The output, as a Value: `backward()` on it has the'
            f' derivatives{self.variables_phrase()}."""'
        ]
        rows += self.body(unit.recording, unit.labels)
        result = unit.recording.values[0]
        text = self._result(result)
        rows.append(f"return Value({text})" if result.name == "number" else f"return {text}")
        return self._block(
            self.signature.format(unit.function, ", ".join(self.variables.values())), rows
        )


def _compared(sign: str, target: Target, step: Step) -> Written:
    parts: list[Item] = []
    for a in step.args:
        parts += [f" {sign} "] if parts else []
        parts += [(a, SUM)] if a.name == "number" else [(a, ATOM), ".data"]
    return COMPARISON, parts


def _fixed(step: Step) -> dict[int, Step]:
    """Return the inputs by which an operation has no derivatives: the order of `polygamma`."""
    operation = OPERATIONS[step.name]
    return {
        k: step.args[k]
        for k, name in enumerate(operation.params)
        if name in operation.constant_params
    }


def _rule_name(step: Step) -> str:
    count = f"_{len(step.args)}" if OPERATIONS[step.name].variadic else ""
    fixed = "".join(f"_{a.data:g}" for a in _fixed(step).values())
    return re.sub(r"\W", "_", f"{RESERVED_PREFIX}{step.name}{count}{fixed}_rule")


def _applied(target: Target, step: Step) -> Written:
    fixed = _fixed(step)
    parts: list[Item] = [f'ad_apply("{step.name}", {_rule_name(step)}']
    for k, a in enumerate(step.args):
        parts += [] if k in fixed else [", ", (a, CHOICE)]
    return ATOM, [*parts, ")"]


def _rule(step: Step) -> list[list[str]]:
    """Return the functions of numbers that an operation's rule needs, and the rule: its value and
    derivatives.
    """
    fixed = _fixed(step)
    free = [k for k in range(len(step.args)) if k not in fixed]
    inputs = [
        constant(fixed[k].data) if k in fixed else node(VARIABLE, ()) for k in range(len(step.args))
    ]
    graph = graph_of(node(OPERATIONS[step.name], inputs))
    places: list[int | None] = [graph.places.index(inputs[k]) for k in free]
    writer = Python("python")
    recording = record_gradient(
        graph, places, places, Lowering(writer.forms, writer.functions, writer.coarse)
    )
    shown = showing_faults(recording, writer.is_silent, limits=writer.limits)
    names = [*PARAMETERS, *[f"x{k}" for k in range(len(PARAMETERS), len(free))]][: len(free)]
    writer.unit = SourceUnit("", _rule_name(step), tuple(names), tuple(names), shown, {})
    writer.variables = dict(zip(names, names, strict=True))
    writer.name_inputs(shown, names)
    return [*_blocks(writer.library()), writer.defined()]


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Return functions, between which blank lines are."""
    blocks: list[list[str]] = []
    for line in lines:
        if line.startswith("def "):
            blocks.append([])
        if line:
            blocks[-1].append(line)
    return blocks


# ---- PyTorch
FUNCTION = '''\
class ad_Function(torch.autograd.Function):
    """The formula, for PyTorch to pass its derivatives on."""

    @staticmethod
    def forward(ctx, *inputs):
        value, partials = ad_gradient(*inputs)
        partials = [torch.as_tensor(x, dtype=torch.float64) for x in partials]
        ctx.save_for_backward(*inputs, *partials)
        return torch.as_tensor(value, dtype=torch.float64)

    @staticmethod
    def backward(ctx, slope):
        if torch.is_grad_enabled():
            raise RuntimeError("this formula has first derivatives only: leave create_graph=True out")
        count = len(ctx.saved_tensors) // 2
        inputs, partials = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        return tuple((slope * y + torch.zeros_like(x)).sum_to_size(x.shape) for x, y in zip(inputs, partials))'''


class TorchModule(Torch):
    """A module of PyTorch, whose parameters are the variables of `--wrt`, and whose inputs are the
    others.
    """

    def lines(self) -> list[str]:
        unit = self.unit
        self.unit = unit._replace(function="ad_gradient", wanted=unit.variables)
        function = super().lines()
        return [*function, "", "", *FUNCTION.split("\n"), "", "", *self._module_class(unit)]

    def _module_class(self, unit: SourceUnit) -> list[str]:
        parameters = [self.variables[name] for name in unit.parameters if name in self.variables]
        inputs = [name for name in self.variables.values() if name not in parameters]
        phrase = f"Its parameters are {quote(parameters)}" if parameters else "It has no parameters"
        rows = [
            f'"""{phrase}, its inputs {quote(inputs, "none")}; a second derivative is an error."""'
        ]
        if parameters:
            rows += [
                "",
                f"def __init__({', '.join(['self', *parameters])}):",
                self.indent + "super().__init__()",
            ]
            rows += [
                f"{self.indent}self.{name} = torch.nn.Parameter(torch.as_tensor({name},"
                " dtype=torch.float64))"
                for name in parameters
            ]
        rows += ["", f"def forward({', '.join(['self', *inputs])}):"]
        rows += [
            f"{self.indent}{name} = torch.as_tensor({name}, dtype=torch.float64)" for name in inputs
        ]
        values = [
            f"self.{name}" if name in parameters else name for name in self.variables.values()
        ]
        rows.append(f"{self.indent}return ad_Function.apply({', '.join(values)})")
        return [
            row.rstrip() for row in self._block(f"class {unit.function}(torch.nn.Module):", rows)
        ]
