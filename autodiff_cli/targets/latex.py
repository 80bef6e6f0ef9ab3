"""LaTeX as a target: value and partial derivatives as equations, shared parts on lines of their own."""

from __future__ import annotations

from ..language.typesetting import expression_latex, name_latex
from ..numbers.recorder import Step
from ..table.primitive import PRIMITIVES
from ..values.symbolic import is_spelled
from ..values.value import Value, constant, node, variable
from .target import Target, Unit, comment_lines


class Latex(Target):
    """LaTeX, for amsmath."""

    name = "latex"
    title = "LaTeX"
    functions = False
    textbook = True
    branches = False

    def __init__(self) -> None:
        super().__init__()
        self.forms = {name: name for name, p in PRIMITIVES.items() if p.params and is_spelled(p)}

    def module(self, unit: Unit) -> str:
        """An `align*` environment."""
        plan = self.plan(unit.recording)
        results = (*unit.recording.values, *unit.recording.partials)
        hidden = self.inlined(plan, results, {})
        values: dict[Step, Value] = {}
        rows: list[str] = []
        count = 0

        def value_of(step: Step) -> Value:
            if step not in values:
                values[step] = constant(step.data)
            return values[step]

        for step in unit.recording.recorder.steps:
            if step.name == "input":
                values[step] = variable(unit.variables[step.data])
        repeated = {a for task in plan.tasks for a in task.step.args}
        for task in plan.tasks:
            step = task.step
            made = node(PRIMITIVES[step.name], tuple([value_of(a) for a in step.args]))
            if step in hidden or (step in results and step not in repeated and results.count(step) == 1):
                values[step] = made
                continue
            count += 1
            name = unit.labels.get(step) or f"{self.stem}_{count}"
            rows.append(rf"  {name_latex(name)} &= {expression_latex(made)} \\")
            values[step] = variable(name)
        function = name_latex(unit.function)
        arguments = ", ".join(map(name_latex, unit.variables))
        rows.append(rf"  {function}\left({arguments}\right) &= {expression_latex(value_of(results[0]))} \\")
        for name, step in zip(unit.wanted, results[1:], strict=True):
            slope = rf"\frac{{\partial {function}}}{{\partial {name_latex(name)}}}"
            rows.append(rf"  {slope} &= {expression_latex(value_of(step))} \\")
        rows[-1] = rows[-1].removesuffix(r" \\")
        heading = [
            "% Written by autodiff from this program:",
            *[f"%     {x}".rstrip() for x in comment_lines(unit.text)],
        ]
        return "\n".join([*heading, r"\begin{align*}", *rows, r"\end{align*}"]) + "\n"
