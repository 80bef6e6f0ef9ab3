"""Intervals by the profile of a fit, of formulas of its parameters.

The sum of squares that belongs to a value of the formula is the least one over the values of the
parameters that give it. For one parameter the interval of the formula has its values over the
interval of the parameter, for several it comes of fits to the rows in the record of the fit: Bates
and Watts, Nonlinear Regression Analysis and Its Applications (1988), 6.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...capability import resolve
from ...engine.algebra.guards_at_point import jacobian_around
from ...engine.numbers.base import NO_RESULT
from ...engine.numbers.budget import BudgetExceeded, current_budget, use_budget
from ...engine.numbers.floats import REAL
from ...engine.quantities.presentation import present
from ...engine.quantities.unit import Unit
from ...engine.table.operators import VARIABLE
from ...errors import AutodiffError, Diagnostic
from .measurement_model import Explicit, Model
from .worst_case import proven_range

# The ends of an interval, None where it is open.
Ends = tuple[float | None, float | None]
# The length of a formula, and of each row of the fit, for the work of the fits that a profile
# takes.
CHARACTERS, ROW_LENGTH = 1000, 10


class Estimates(NamedTuple):
    """Quantities that were estimated together, or fixed."""

    values: dict[str, float]
    correlation: dict[tuple[str, str], float]
    level: float
    units: Mapping[str, str] = {}
    profiles: Mapping[str, Ends] = {}  # intervals that are not those of standard errors
    record: Mapping[str, Any] | None = None  # of a fit, if it has the rows that were fitted


class ProfiledParameter(NamedTuple):
    """A parameter of a fit as it stands in the fit: estimate, standard error, interval by
    profile.
    """

    estimate: float
    error: float
    ends: Ends


class FitProfiles:
    """The intervals by profile of a model's outputs, which have parameters of a fit."""

    def __init__(
        self,
        model: Model,
        inputs: Sequence[str],
        fitted: Estimates,
        profiled: Mapping[str, ProfiledParameter],
    ) -> None:
        self.model, self.inputs, self.fitted, self.profiled = model, inputs, fitted, profiled
        self.warnings: list[Diagnostic] = []
        self.refitted: Any = None

    def intervals(
        self, outputs: Sequence[str], units: Sequence[Unit], level: float
    ) -> list[Ends | None]:
        """Return the intervals of the outputs, those that are known. Raises `ExpressionError`."""
        found: list[Ends | None] = []
        for j, (output, unit) in enumerate(zip(outputs, units, strict=True)):
            ends = (
                self._of_output(self.model, j, output, level)
                if isinstance(self.model, Explicit)
                else None
            )
            low, high = (
                None if end is None else present(end, unit) for end in ends or (None, None)
            )
            found.append(None if ends is None else (low, high))
        self.warnings[:0] = self._warnings(any(ends is None for ends in found), level)
        return found

    def _of_output(self, model: Explicit, j: int, output: str, level: float) -> Ends | None:
        """Return the interval of an output in its SI unit; None if it has other inputs, or none is
        known.
        """
        used = [name for name in self.inputs if name in model.output_program(j).leaves]
        if not used or not self.profiled.keys() >= {*used}:
            return None
        if len(used) == 1 and level == self.fitted.level:
            return self._of_one(model, j, used[0])
        return self._of_several(model, j, used, output, level)

    def _scale(self, model: Model, name: str) -> tuple[float, float, float]:
        """Return the estimate in the unit of the model, that in the unit of the fit, and the ratio
        of these units.
        """
        own, quantity = self.profiled[name], model.point[name]
        middle, error = quantity.distribution.parameters  # type: ignore[union-attr]
        return middle, own.estimate, error / own.error

    def _of_one(self, model: Explicit, j: int, name: str) -> Ends | None:
        """Return the interval of a formula of one parameter: its values between the ends."""
        middle, estimate, factor = self._scale(model, name)
        low, high = (
            None if end is None else middle + (end - estimate) * factor
            for end in self.profiled[name].ends
        )
        graph = model.output_program(j).graph
        if graph.primitives[graph.roots[0]] is VARIABLE:
            return low, high
        if low is None or high is None:
            return None
        return proven_range(model, j, {name: (low, middle, high)})

    def _of_several(
        self, model: Explicit, j: int, used: Sequence[str], output: str, level: float
    ) -> Ends | None:
        """Return the interval of a formula by fits in which it is held; None if the record has no
        rows for them.
        """
        record = self.fitted.record
        if record is None:
            return None
        try:
            refitted, find = (
                resolve("optimize.refits.refitted"),
                resolve("optimize.function_profiles.function_ends"),
            )
        except ImportError:
            # the libraries of the extra `optimize` are not installed
            return None
        with use_budget(current_budget().times, length=CHARACTERS + ROW_LENGTH * record["rows"]):  # type: ignore[arg-type]
            if self.refitted is None:
                self.refitted = refitted(record, level)
            ends, warning = find(*self.refitted, self._function(model, j, used), output)
        self.warnings += [] if warning is None else [warning]
        return ends  # type: ignore[no-any-return]

    def _function(
        self, model: Explicit, j: int, used: Sequence[str]
    ) -> Callable[[Mapping[str, float]], tuple[float, Mapping[str, float]] | None]:
        """Return a formula and its derivatives as a function of the fit's parameters, in the units
        of the fit.
        """
        graph, values = model.output_program(j).graph, model.values
        scales = {name: self._scale(model, name) for name in used}

        def at(parameters: Mapping[str, float]) -> tuple[float, Mapping[str, float]] | None:
            here = {
                name: x + (parameters[name] - own) * factor
                for name, (x, own, factor) in scales.items()
            }
            try:
                found, (row,), _ = jacobian_around(REAL, graph, {**values, **here}, used)
            except BudgetExceeded:
                raise
            except (AutodiffError, *NO_RESULT):
                return None
            slopes = {name: float(x) * scales[name][2] for name, x in zip(used, row, strict=True)}
            return float(found.values[0]), slopes

        return at

    def _warnings(self, lacking: bool, level: float) -> Iterator[Diagnostic]:
        """Yield a warning for each parameter whose interval in the fit is not that of its standard
        error.
        """
        fitted, hint = self.fitted, "the interval by profile is shown below the linear one"
        if lacking and level != fitted.level and fitted.record is None:
            hint = (
                f"fit with `--level {level:g}`: the interval by profile of a formula of one"
                " parameter comes of that"
            )
        elif lacking:
            hint = (
                "fit again with the quantity as a parameter, for its own profile: "
                "for `q = V/K` with `q*K` in place of `V`"
            )
            hint = f"{self._without_rows()}{hint}"
        for name in self.profiled:
            low, high = fitted.profiles[name]
            ends = (
                f"{'-∞' if low is None else f'{low:.6g}'} to"
                f" {'∞' if high is None else f'{high:.6g}'}"
            )
            unit = f" {fitted.units[name]}" if name in fitted.units else ""
            interval = f"its {fitted.level * 100:g} % interval by profile is {ends}{unit}"
            message = f"`{name}` is taken as normal, and in the fit it is not: {interval}"
            yield Diagnostic("profile", message, None, hint)

    def _without_rows(self) -> str:
        """Say why the fit cannot be made again, if its record has no rows."""
        return (
            "" if self.fitted.record is not None else "the record of the fit is without its rows; "
        )
