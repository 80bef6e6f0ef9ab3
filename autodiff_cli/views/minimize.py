"""A Minimum in every form: as a record, as rows, on one line, and as a document for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ..optimize.minimize import Minimum
from .document import (
    Block,
    Line,
    Table,
    held_fixed,
    loss_summary_lines,
    measured,
    measured_row,
    numbers_table,
    partials_table,
    stated,
)
from .schema import View, declared

if TYPE_CHECKING:
    from ..quantities.unit import Unit


class MinimumView(View[Minimum]):
    """How a minimum is shown."""

    fields, csv_columns, line_fields = declared("minimize")

    def document(self, answer: Minimum) -> Iterator[Block]:
        answer = by_size(answer)
        units: Mapping[str, Any] = answer.units or {}
        at, slopes = units.get("point", {}), units.get("gradient", {})

        def number(x: float, unit: Unit | None) -> str:
            return measured(x, unit, self.digits)

        yield stated("value", number(answer.value, units.get("value")))
        yield from loss_summary_lines(answer.over)
        yield from held_fixed(
            {name: number(x, at.get(name)) for name, x in answer.point.items() if name not in answer.gradient}
        )
        if answer.at_bounds:
            rows = [
                (
                    ((name, "name"), (" (at its bound)" if name in answer.at_bounds else "", "faint")),
                    ((number(answer.point[name], at.get(name)), "number"),),
                    ((number(partial, slopes.get(name)), "number"),),
                )
                for name, partial in answer.gradient.items()
            ]
            yield Table(("variable", "value", "partial derivative"), rows, frozenset() if units else frozenset((1, 2)))
        else:
            yield partials_table(answer.point, answer.gradient, self.digits, units=answer.units)
        if answer.constraints:
            heads = ("constraint", "slack", "multiplier", "active")
            held = [
                (
                    constraint.text,
                    *measured_row((constraint.slack, constraint.multiplier), of and of.values(), self.digits),
                    "yes" if constraint.active else "no",
                )
                for constraint, of in zip_longest(answer.constraints, units.get("constraints", ()))
            ]
            yield numbers_table(heads, held, self.digits, right=() if units else (1, 2), style="code")
        yield Line(((answer.message, "" if answer.converged else "heading"),))
        if answer.verdict and answer.converged:
            yield Line(((answer.verdict, "" if answer.kind == answer.sought else "heading"),))
        yield Line(((_effort(answer), "faint"),))


def by_size(answer: Minimum) -> Minimum:
    """The answer with the prefix that makes its value easiest to read, where nobody asked for a unit."""
    units = answer.units
    if units is None or units.fixed:
        return answer
    from ..inputs.quantities import step_units
    from ..quantities.unit import readable
    from ..quantities.unit_system import factor

    old, new = units["value"], readable(units["value"], answer.value)
    if new == old:
        return answer
    times = factor(old, new)
    shown = type(units)({**units, **step_units(new, units["point"], answer.gradient)})
    constraints = answer.constraints
    if constraints:
        of = [{"slack": unit["slack"], "multiplier": new.difference / unit["slack"]} for unit in units["constraints"]]
        shown["constraints"] = of
        constraints = tuple([each._replace(multiplier=each.multiplier * times) for each in constraints])
    return answer._replace(
        value=new.value_from_si(old.to_si(answer.value)),
        gradient={name: slope * times for name, slope in answer.gradient.items()},
        gradient_norm=answer.gradient_norm * times,
        constraints=constraints,
        units=shown,
    )


def verdict(answer: Minimum) -> str:
    """Return the warning about the end of the search; empty if it is what was looked for."""
    if not answer.converged:
        return answer.message
    return "" if answer.kind == answer.sought else answer.verdict


def _effort(answer: Minimum) -> str:
    """Return the cost of the search in words."""
    parts = [_count(answer.steps, "step"), _count(answer.evaluations, "evaluation") + " of value and gradient"]
    if answer.outside:
        parts[-1] += f" ({answer.outside:,} outside the domain)"
    if answer.hessians:
        parts.append(f"{answer.hessians:,} of the Hessian")
    unit = None if answer.units is None else answer.units["gradient_norm"]
    norm = measured(answer.gradient_norm, unit, 3)
    return f"{answer.method}: {', '.join(parts)}; the gradient norm is {norm}"


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
