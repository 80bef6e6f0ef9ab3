"""The view of a Minimum."""

from collections.abc import Iterator

from ...errors import plural
from ...show.document import (
    Block,
    Paragraph,
    Table,
    input_lines,
    numbers_table,
    partials_table,
    value_line,
)
from ...show.numerals import attach_units, format_number
from ...show.schema import View
from .minimize import Minimum


class MinimumView(View[Minimum], of=Minimum):
    """How a minimum is shown."""

    def document(self, answer: Minimum) -> Iterator[Block]:
        answer = by_size(answer)
        yield value_line("value", answer.value, self.digits)
        yield from input_lines({}, answer.point, answer.gradient, self.digits, answer.over)
        if answer.at_bounds:
            rows = [
                (
                    (
                        (name, "name"),
                        (" (at its bound)" if name in answer.at_bounds else "", "faint"),
                    ),
                    ((self.number(answer.point[name]), "number"),),
                    ((self.number(partial), "number"),),
                )
                for name, partial in answer.gradient.items()
            ]
            right = frozenset(() if answer.units else (1, 2))
            yield Table(("variable", "value", "partial derivative"), rows, right)
        else:
            yield partials_table(answer.point, answer.gradient, self.digits)
        if answer.constraints:
            heads = ("constraint", "slack", "multiplier", "active")
            held = [
                (c.text, c.slack, c.multiplier, "yes" if c.active else "no")
                for c in answer.constraints
            ]
            yield numbers_table(heads, held, self.digits, right=(1, 2), style="code")
        yield Paragraph(((answer.message, "" if answer.converged else "heading"),))
        if answer.verdict and answer.converged:
            yield Paragraph(((answer.verdict, "" if answer.kind == answer.sought else "heading"),))
        if answer.tried:
            yield Paragraph(((answer.tried, ""),))
        outside = f" ({answer.outside:,} outside the domain)" if answer.outside else ""
        parts = [
            plural(answer.steps, "step"),
            f"{plural(answer.evaluations, 'evaluation')} of value and gradient{outside}",
        ]
        parts += [f"{answer.hessians:,} of the Hessian"] if answer.hessians else []
        norm = format_number(answer.gradient_norm, 3)
        yield Paragraph(
            ((f"{answer.method}: {', '.join(parts)}; the gradient norm is {norm}", "faint"),)
        )


def by_size(answer: Minimum) -> Minimum:
    """Return the answer in a readable prefix of its unit."""
    units = answer.units
    if units is None or units.fixed:
        return answer
    from ...engine.quantities.presentation import convert_difference
    from ...engine.quantities.unit import readable_unit
    from ...questions.quantities import step_units

    value = readable_unit(units["value"], answer.value)
    if value == units["value"]:
        return answer
    shown = step_units(value, units["point"], answer.gradient)
    slacks = [unit["slack"] for unit in units.get("constraints", ())]
    shown["constraints"] = [
        {"slack": slack, "multiplier": value.difference / slack} for slack in slacks
    ]
    # the norm is converted also where it has no unit
    norm = convert_difference(answer.gradient_norm, units["value"], value)
    of = {**units, "gradient_norm": shown["gradient_norm"]}
    scaled: Minimum = attach_units(answer._replace(gradient_norm=norm), shown, of)
    return scaled


def verdict(answer: Minimum) -> str:
    """Return the warning about the end of the search, or an empty text."""
    if not answer.converged:
        return answer.message
    return "" if answer.kind == answer.sought else answer.verdict
