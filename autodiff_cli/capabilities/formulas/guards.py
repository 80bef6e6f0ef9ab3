"""What code and formulas cannot say of guards, `where(u == v, a, b)`, and of places where the
pieces of `abs` meet.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...engine.graphs.value import Value, in_order, values_of
from ...engine.table.operators import VARIABLE
from ...errors import Diagnostic, ExpressionError
from ...language.builder import Program
from ...language.printer import expression_text
from ...record import Record

if TYPE_CHECKING:
    from ...engine.algebra.borders import Border, Convention

# Characters of a line in a comment: with its mark less than style checks allow.
COMMENT_WIDTH = 90
# The places of a kind that a note lists.
MAX_PLACES = 4


class ConventionalPlace(Record):
    """Where a formula has the number of a convention, or where that is not decided."""

    declaration = """
    where: an equation, or a condition in words
    operation: the operation whose pieces meet there
    derivative: `none`, `none in general`, `other` (than what the formula gives), or `undecided`
    """

    where: str
    operation: str
    derivative: str


class KinkNotes(Record):
    """The places of a formula at which it keeps a convention, and the note that names them."""

    places: tuple[ConventionalPlace, ...] = ()
    notes: tuple[Diagnostic, ...] = ()

    @property
    def comments(self) -> tuple[str, ...]:
        """The notes as lines of comments in code."""
        return comments_of(self.notes)


def guard_warnings(program: Program) -> tuple[Diagnostic, ...]:
    """Return a warning for each guard `u == v` at which code and formulas have the derivative of
    its branch alone.
    """
    if not any(primitive.lazy_inputs for primitive in program.graph.primitives):
        return ()
    from ...engine.algebra.guard_series import undecided_guards  # only guards need it

    warnings = []
    for equation in undecided_guards(values_of(program.graph)):
        place = equation.span
        where = (
            program.text[place.start : place.end]
            if place is not None and place.via is None
            else "there"
        )
        message = (
            f"where `{where}` the derivatives are those of this branch; those of the function"
            " around it are not decided"
        )
        warnings.append(
            Diagnostic(
                "kink", message, place, "`autodiff grad` at a point there says what is known"
            )
        )
    return tuple(warnings)


def comments_of(warnings: Iterable[Diagnostic]) -> tuple[str, ...]:
    """Return the notes among warnings as lines of comments in code."""
    texts = (f"Note: {warning.message}." for warning in warnings if warning.kind == "note")
    return tuple(line for text in texts for line in textwrap.wrap(text, COMMENT_WIDTH))


# ---- places where the pieces of a formula meet
def kink_notes(
    outputs: Sequence[Value],
    formulas: Callable[[Value], Iterable[Value]],
    wrt: Sequence[Value],
    order: int = 1,
    facts: Sequence[Value] = (),
) -> KinkNotes:
    """Return where derivatives by leaves are conventional, and one note on it; `formulas` derives
    an output.
    """
    with_pieces = [output for output in outputs if _has_pieces(output)]
    if not with_pieces:
        return KinkNotes()
    from ...engine.algebra.borders import conventions  # it takes a tenth of a second

    found: list[Convention] = []
    is_complete = True
    for output in with_pieces:
        here = conventions(output, lambda output=output: formulas(output), wrt, order, facts)  # type: ignore[misc]
        found += here.found
        is_complete = is_complete and here.is_complete
    places = tuple(dict.fromkeys(_place(one) for one in found))
    return KinkNotes(places, _note(places, order, is_complete))


def _has_pieces(output: Value) -> bool:
    return any(value.primitive.breakpoint is not None for value in in_order((output,)))


def program_kinks(program: Program, names: Sequence[str]) -> KinkNotes:
    """Return where the first derivatives of a program, by variables of these names, are
    conventional.
    """
    from ...engine.algebra.symbolic_derivative import derivatives  # only kinks need it

    values = values_of(program.graph)
    leaves = [value for value in values if value.primitive is VARIABLE and value.label in names]
    outputs = [values[root] for root in program.graph.roots]
    return kink_notes(outputs, lambda output: derivatives(output, leaves, 1).values(), leaves)


def _place(one: Convention) -> ConventionalPlace:
    return ConventionalPlace(
        _where(one.border), one.border.operation.primitive.written, one.known.value
    )


def _where(border: Border) -> str:
    from ...engine.algebra.simplify import simplify

    left, right = _constant_place(border) or (border.left, border.right)
    with suppress(ExpressionError):
        left, right = simplify((left, right))
    if border.is_integral:
        is_half = border.operation.primitive.name == "round"
        return (
            f"{expression_text(left)} is"
            f" {'half-way between whole numbers' if is_half else 'a whole number'}"
        )
    equation = f"{expression_text(left)} = {expression_text(right)}"
    return (
        f"{equation} and {expression_text(border.operation._prev[1])} <= 0"
        if border.is_cut
        else equation
    )


def _constant_place(border: Border) -> tuple[Value, Value] | None:
    """Return a variable and its value, where that is a number: `x` and `-1` of `x + 1 = 0`."""
    from ...engine.algebra.guard_series import isolated
    from ...engine.algebra.walk import has_variables

    place = None if border.is_integral or border.is_cut else isolated(border.equation)
    return place if place is not None and not has_variables(place[1]) else None


def _note(
    places: Sequence[ConventionalPlace], order: int, is_complete: bool
) -> tuple[Diagnostic, ...]:
    derivative = "derivative" if order == 1 else f"derivative of order {order}"
    words = {
        "none": f"no {derivative} where {{}}",
        "none in general": f"in general no {derivative} where {{}}",
        "undecided": f"perhaps no {derivative} where {{}}",
        "other": "the formula does not hold where {}",
    }
    parts = []
    for known, sentence in words.items():
        listed = [
            f"{_quoted(place.where)} (`{place.operation}`)"
            for place in places
            if place.derivative == known
        ]
        if listed:
            more = (
                f" and {len(listed) - MAX_PLACES} more places" if len(listed) > MAX_PLACES else ""
            )
            parts.append(sentence.format(", ".join(listed[:MAX_PLACES]) + more))
    if not is_complete:
        parts.append("there are more kinks, which were not looked at")
    if not parts:
        return ()
    tail = (
        ": what the formula gives there is a convention"
        if any(p.derivative != "other" for p in places)
        else ""
    )
    command = "`autodiff grad`" if order == 1 else "`autodiff hessian` or `taylor`"
    hint = f"{command} at a point there says what is known"
    return (Diagnostic("note", "; ".join(parts) + tail, None, hint),)


def _quoted(where: str) -> str:
    formula, word, rest = where.partition(" is ")
    return f"`{formula}`{word}{rest}"
