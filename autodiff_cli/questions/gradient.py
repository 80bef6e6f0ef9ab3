"""The gradient of a program at a point."""

from __future__ import annotations

import gc
import math
import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..errors import Diagnostic, ExpressionError
from ..graph.value import Value, differentiate, evaluate
from ..language.builder import Program, build
from ..language.parser import parse_program
from ..language.tree import Node

_PLAIN_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,6})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Intermediate:
    """A name that the program bound: its line (from 1), its value and its derivative, None where not needed."""

    name: str
    line: int
    value: float | bool | None
    grad: float | None


@dataclass(frozen=True, slots=True)
class Gradient:
    """The value and the gradient of a program at a point, and the graph that they were read from."""

    text: str
    value: float
    gradient: dict[str, float]
    """The partial derivative by each wanted variable, in order of first appearance."""
    point: dict[str, float]
    """The value of every variable, in the same order; also of a wanted name that the program does not use."""
    constants: dict[str, float]
    """The named constants that took part, so that a forgotten variable `e` is seen."""
    warnings: tuple[Diagnostic, ...]
    intermediates: tuple[Intermediate, ...]
    output: Value
    """The root of the graph; every node has its `data` and `grad`."""


def parse(text: str, given: Collection[str] = ()) -> Program:
    """The program of a text, as a graph that is not evaluated yet.

    `given` are the names that a point gives values to; they win over the constants `e`, `pi`, `π`.
    Raises `ExpressionError` where the text is not valid.
    """
    return build(parse_program(text), text, given)


def evaluate_constant(text: str) -> float:
    """The value of an expression without variables, such as `pi/4`: what a point may give to a name.

    Raises `ExpressionError`, with the span in this text.
    """
    try:
        if _PLAIN_NUMBER.fullmatch(text):
            value = float(text)
            if math.isinf(value):
                raise ExpressionError(
                    "overflow", f"{text} is too large for double precision", None, "give a smaller value"
                )
            return value
        program = build(_one_expression(text), text)
        if program.variables:
            name, leaf = next(iter(program.variables.items()))
            hint = "give a number, or an expression of numbers such as `pi/4`"
            if name.lower() in ("nan", "inf", "infinity"):
                raise ExpressionError("point", f"`{name}` is not a value that a variable can have", leaf.span, hint)
            raise ExpressionError("point", f"`{name}` has no value here", leaf.span, hint)
        output = single_output(program)
        evaluate((output,))
    except ExpressionError as error:
        error.text = text
        raise
    return float(output.data) + 0.0


def _one_expression(text: str) -> Node:
    """The tree of a text that is one expression and nothing else. Raises `ExpressionError`."""
    tree = parse_program(text)
    (*earlier, last) = tree.children
    if earlier or last.kind in ("bind", "augment", "define", "outputs") or "#" in text:
        raise ExpressionError(
            "point", "a value is one expression, and this is more", last.span, "give a number, or `pi/4` for example"
        )
    return tree


def gradient(
    text: str, point: Mapping[str, float | str] | None = None, *, wrt: Sequence[str] | str | None = None
) -> Gradient:
    """The value of the program `text` at `point`, and its partial derivatives with respect to `wrt`.

    `point` gives each variable a number, or a constant expression as text; `wrt` names variables, as a list or as
    `"x,y"`. Without it the gradient is taken in all
    variables (for a program that ends in a definition: in that function's parameters). Derivatives with respect to
    angles are per radian. Raises `ExpressionError`: `syntax`, `name`, `arity`, `type` for the text, `point`,
    `missing_value`, `usage` for the point and `wrt`, `domain`, `derivative`, `overflow`, `limit` for the mathematics.

    >>> result = gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3})
    >>> result.value, result.gradient
    (2.5, {'w1': 1.0, 'w2': -2.0})
    """
    if not isinstance(text, str):
        raise TypeError(f"a program is text, not {text!r}")
    values = {name: as_number(value, name) for name, value in (point or {}).items()}
    # The collector would walk through the growing graph again and again, and nothing here is cyclic garbage.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return gradient_of(parse(text, values), values, wrt)
    finally:
        if collecting:
            gc.enable()


def gradient_of(program: Program, values: Mapping[str, float], wrt: Sequence[str] | str | None = None) -> Gradient:
    """The same for a program that is parsed and not evaluated; it may have been at another point."""
    output = single_output(program)
    text = program.text
    warnings = place(program, values)
    wanted = wanted_variables(program, values, wrt)
    for name, leaf in program.variables.items():
        leaf.active = name in wanted
    warnings += differentiate(output)
    lines = [k for k, character in enumerate(text) if character == "\n"]
    return Gradient(
        text,
        # A zero has no sign.
        float(output.data) + 0.0,
        {name: program.variables[name].grad or 0.0 if name in program.variables else 0.0 for name in wanted},
        {name: leaf.data for name, leaf in program.variables.items()}
        | {name: values[name] for name in wanted if name not in program.variables},
        program.constants,
        tuple(warnings),
        tuple(
            Intermediate(b.name, bisect_right(lines, b.start) + 1, b.value.data, b.value.grad) for b in program.bindings
        ),
        output,
    )


def as_number(value: float | str, name: str) -> float:
    """The value that a point gives to a name, as a float. Raises `ExpressionError`."""
    if isinstance(value, str):
        return evaluate_constant(value)
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise ExpressionError("point", f"`{name}` needs a number, not {value!r}", None, "give a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ExpressionError("point", f"`{name}` cannot be {number}", None, "give a finite number")
    return number


def single_output(program: Program) -> Value:
    """The one output of a program. Raises `ExpressionError` where there are several."""
    if len(program.outputs) > 1:
        raise ExpressionError(
            "type", f"this program has {len(program.outputs)} outputs, and a gradient needs one",
            program.outputs[1].span,
            "`autodiff jacobian` differentiates several outputs",
        )  # fmt: skip
    return program.outputs[0]


def place(program: Program, values: Mapping[str, float]) -> list[Diagnostic]:
    """Give the variables their values; return a warning for each name that the program does not use.

    Raises `ExpressionError` for a name that the program binds itself, and for a variable without a value.
    """
    bound = {b.name: b for b in program.bindings}
    warnings = []
    missing = [name for name in program.variables if name not in values]
    for name in values:
        if name in program.variables:
            program.variables[name].data = values[name]
        elif name in bound:
            raise ExpressionError(
                "point", f"`{name}` is given a value by the point, and bound by the program", bound[name].value.span,
                "leave one of them out",
            )  # fmt: skip
        else:
            import difflib  # only this warning needs it

            near = difflib.get_close_matches(name, missing or list(program.variables), 1, 0.5)
            hint = f"did you mean `{near[0]}`?" if near else "leave it out"
            warnings.append(Diagnostic("unused", f"the program does not use `{name}`", None, hint))
    if missing:
        first = program.variables[missing[0]]
        listed = " and ".join(f"`{name}`" for name in missing[:3]) + (" and others" if len(missing) > 3 else "")
        example = ",".join(f"{name}={_shortest(values[name]) if name in values else '…'}" for name in program.variables)
        raise ExpressionError(
            "missing_value", f"{listed} {'has' if len(missing) == 1 else 'have'} no value", first.span,
            f"give the point: `--at {example}`"
            + "".join(f"; {warning.message}: {warning.hint}" for warning in warnings[:1]),
        )  # fmt: skip
    return warnings


def _shortest(x: float) -> str:
    return repr(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def wanted_variables(program: Program, values: Mapping[str, float], wrt: Sequence[str] | str | None) -> list[str]:
    """The variables to differentiate in, in order of first appearance. Raises `ExpressionError` for an unknown name."""
    if wrt is None:
        return list(program.parameters)
    if isinstance(wrt, str):
        wrt = [name.strip() for name in wrt.split(",")]
    for name in wrt:
        if name not in program.variables and name not in values:
            known = ", ".join(f"`{x}`" for x in program.variables) or "none"
            raise ExpressionError(
                "usage", f"`{name}` is not a variable of this program", None, f"its variables: {known}"
            )
    return [x for x in program.variables if x in wrt] + [x for x in dict.fromkeys(wrt) if x not in program.variables]
