"""Whether derivatives that people found themselves are right: of a program by its variables, or of equations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import usage_error
from ..formulas.derivation import derivative_name
from ..formulas.diff import Derivative, diff, differential_operator
from ..inputs.problem import Point, parse
from .exercise import Exercise, Marked
from .labels import Key, entries
from .marking import formula_marked

KINDS = {1: "derivative", 2: "second"}
"""The kinds of exercise, by the order of their derivatives."""


MISSING = "missing"
"""The message about an entry that is not there."""


def own(
    kind: str, program: str, answer: Sequence[str], wrt: Sequence[str] = (), point: Point | None = None
) -> Exercise:
    """The exercise that a question and its answer are."""
    at = {name: str(x) for name, x in (point or {}).items()}
    formula = kind in ("derivative", "second", "higher")
    return Exercise(0, 0, 0, kind, "Differentiate {f}.", program, at, tuple(wrt), ("",), tuple(answer), formula, None)


def check_derivative(
    text: str,
    point: Point | None = None,
    *,
    answer: str,
    wrt: Sequence[str] | None = None,
    order: int = 1,
    unknowns: Sequence[str] | None = None,
) -> Marked:
    """Whether formulas are the derivatives of a program, and if not, what is wrong with them.

    With `unknowns`, of these as equations determine them. Several are named, `d/dx = 2*x*y, d/dy = x**2`, or stand in
    the order of the variables. Raises `ExpressionError`.

    >>> check_derivative("x**2*sin(x)", answer="2*x*cos(x)").hint
    'the derivative of a product is not the product of the derivatives: it is u′·v + u·v′'
    """
    if unknowns:
        from ..equations.implicit_formulas import implicit_diff  # only equations need it
        from .curve_answers import Curve

        derivatives = implicit_diff(text, unknowns=unknowns, wrt=wrt, order=order).derivatives
        curve: Curve | None = Curve(text, unknowns)
        names: Sequence[str] = [name for name in curve.names if name not in unknowns] if curve else ()
    else:
        derivatives, curve = diff(text, wrt=wrt, order=order).derivatives, None
        operator = differential_operator(text)
        if operator is not None:
            text, order = " " * operator.end + text[operator.end :], operator.order
        names = list(parse(text).variables)
    wanted: dict[Key, Derivative] = {(derivative.of, derivative.by): derivative for derivative in derivatives}
    if not wanted:
        raise usage_error("there is no variable to differentiate by", "name one: `--wrt x`")
    marks: dict[Key, Marked] = {}
    for entry in entries(answer, list(wanted), names):
        assert entry.key is not None
        derivative = wanted[entry.key]
        posed = own(KINDS.get(order, "higher"), text, [derivative.formula], derivative.by[:1])
        if curve is None:
            marked = formula_marked(posed, answer, entry)
        else:
            marked = curve.marked(posed, derivative, answer, entry)
        marks[entry.key] = marked._replace(
            given=answer[entry.start : entry.end].strip(), of=derivative_name(derivative.by, derivative.of)
        )
    if len(wanted) == 1:
        (single,) = marks.values()
        return single._replace(given=answer, of="")
    whole = own(KINDS.get(order, "higher"), text, [derivative.formula for derivative in derivatives], wrt or ())
    marked = together(
        whole, answer, [marks.get(key) or missing(whole, derivative_name(key[1], key[0])) for key in wanted]
    )
    asked = [derivative.by[0] for derivative in derivatives]
    if order > 1 or curve or "=" in answer or marked.right or asked == sorted(asked):
        return marked
    typed = dict(zip(sorted(asked), entries(answer, list(wanted), names), strict=True))
    turned = (
        formula_marked(own(KINDS[1], text, [derivative.formula], derivative.by), answer, typed[derivative.by[0]]).right
        for derivative in derivatives
    )
    return with_order(marked, turned, asked)


def with_order(marked: Marked, turned: Iterable[bool], names: Sequence[str]) -> Marked:
    """Return the marking of entries without names, which says so where they are right in the order of the alphabet."""
    alphabetic = ", ".join(sorted(names))
    message = f"{marked.message}; in the order {alphabetic} they are right, and asked for is {', '.join(names)}"
    return marked._replace(message=message) if all(turned) else marked


def missing(posed: Exercise, of: str) -> Marked:
    """The marking of an entry that is not there."""
    return Marked(posed, "", False, MISSING, f"add it to the answer: `{of} = …`", "entries", 0, of)


def together(posed: Exercise, answer: str, marks: Sequence[Marked]) -> Marked:
    """The marking of an answer of several entries from that of each."""
    right = [mark.of for mark in marks if mark.right]
    absent = [mark.of for mark in marks if mark.message == MISSING]
    wrong = [mark.of for mark in marks if not mark.right and mark.message != MISSING]
    if len(right) == len(marks):
        message = "right: both of them" if len(marks) == 2 else f"right: all {len(marks)} of them"
    else:
        groups = (("wrong", wrong), (MISSING, absent), ("right", right))
        message = "wrong: " + "; ".join(
            f"{', '.join(group)} {'is' if len(group) == 1 else 'are'} {word}" for word, group in groups if group
        )
    points = max((mark.points for mark in marks), default=0)
    hint = next((mark.hint for mark in marks if not mark.right), "")
    return Marked(posed, answer, len(right) == len(marks), message, hint, "entries", points, entries=tuple(marks))
