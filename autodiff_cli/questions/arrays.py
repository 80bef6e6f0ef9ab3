"""A program over NumPy's arrays: values and derivatives of many rows in one go, by the code that `export` writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..targets.lowering import Lowering
from ..targets.python import NumPy
from ..targets.target import Unit
from ..values.adjoint import record_gradient
from ..values.value import Value, variable

ArrayFunction = Callable[..., tuple[Any, tuple[Any, ...]]]


class _WithSciPy(NumPy):
    """NumPy, with SciPy's error function where it is installed: over arrays `math` has it one number at a time only."""

    def module(self, unit: Unit) -> str:
        source = super().module(unit)
        try:
            import scipy.special
        except ImportError:
            return source
        assert scipy.special
        for name, known in {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}.items():
            slow = f"ad_{name} = np.vectorize(math.{name}, otypes=[float])"
            source = source.replace(slow, f"from scipy.special import {known} as ad_{name}")
        return source


def compile_arrays(output: Value, leaves: Sequence[Value], wanted: Sequence[Value | None] = ()) -> ArrayFunction:
    """A function of one array (or number) for each of the `leaves`: the output, and its derivatives by the `wanted`.

    Where a row has no value or derivative the result is not finite there; it says not where in the formula that is.
    The derivative by None is 0.
    """
    writer = _WithSciPy()
    recorder = Lowering(writer.forms, writer.functions, writer.textbook)
    recording = record_gradient(output, leaves, [each or variable("") for each in wanted], recorder)
    shown = writer.faultless(recording, {})
    # numbered names, so that nothing that anybody typed is in the source
    names = tuple([f"v{k}" for k in range(1, len(leaves) + 1)])
    source = writer.module(Unit("", "f", names, (), shown, {}))
    scope: dict[str, Any] = {}
    exec(source, scope)  # noqa: S102 - code of our own making, as `export` gives it
    function: ArrayFunction = scope["f"]
    return function
