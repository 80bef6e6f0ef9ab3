"""What code and formulas cannot say of guards, `where(u == v, a, b)`."""

from __future__ import annotations

from ...engine.graphs.value import values_of
from ...errors import Diagnostic
from ...language.builder import Program


def guard_warnings(program: Program) -> tuple[Diagnostic, ...]:
    """Return a warning for each guard `u == v` at which code and formulas have the derivative of its branch alone."""
    if not any(primitive.lazy_inputs for primitive in program.graph.primitives):
        return ()
    from ...engine.algebra.guard_series import undecided_guards  # only guards need it

    warnings = []
    for equation in undecided_guards(values_of(program.graph)):
        place = equation.span
        where = program.text[place.start : place.end] if place is not None and place.via is None else "there"
        message = (
            f"where `{where}` the derivatives are those of this branch; those of the function around it are not decided"
        )
        warnings.append(Diagnostic("kink", message, place, "`autodiff grad` at a point there says what is known"))
    return tuple(warnings)
