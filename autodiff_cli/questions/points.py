"""One program at many points: it is parsed once, and evaluated by the short way where that has an answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..errors import ExpressionError
from ..graph.value import in_order
from ..language.straight import flattened
from .gradient import Gradient, gradient_of, parse, single_output, wanted_variables
from .straight import StraightGradient, gradient_at


class Points:
    """The gradients of one program, at one point after the other. `given` are the names that every point has.

    Raises `ExpressionError` for a program that is not valid, and for a variable that gets no value.
    """

    def __init__(self, text: str, given: Collection[str], wrt: Sequence[str] | None = None) -> None:
        self._program = parse(text, given)
        output = single_output(self._program)
        self.variables = tuple(self._program.variables)
        """The names whose values an evaluation needs."""
        missing = [name for name in self.variables if name not in given]
        if missing:
            raise ExpressionError(
                "missing_value", f"`{missing[0]}` has no value", self._program.variables[missing[0]].span,
                f"add a column `{missing[0]}` to the data, or give it to all rows: `--at {missing[0]}=…`",
            )  # fmt: skip
        for binding in self._program.bindings:
            if binding.name in given:
                raise ExpressionError(
                    "point", f"`{binding.name}` is given a value by the data, and bound by the program",
                    binding.value.span, "rename one of them",
                )  # fmt: skip
        wanted_variables(self._program, dict.fromkeys(given, 0.0), wrt)
        self._wrt = wrt
        self._parameters = self._program.parameters if wrt is None else wrt
        self._straight = flattened(self._program)
        self._computed = [node for node in in_order((output,)) if node._prev]

    def quick(self, point: Mapping[str, float]) -> StraightGradient | None:
        """The gradient there; None where `gradient` has to be asked, which knows about warnings and errors."""
        if self._straight is None:
            return None
        try:
            found = self._straight.at(point)
            return found and gradient_at(found, self._parameters)
        except (ValueError, ArithmeticError):
            return None

    def gradient(self, point: Mapping[str, float]) -> Gradient:
        """The gradient there, with all that belongs to it. The graph in it is that of the next one too."""
        for node in self._computed:
            node.data = node.grad = None
        names = (*self.variables, *(self._wrt or ()))
        return gradient_of(self._program, {name: point[name] for name in names}, self._wrt)
