"""A problem: a program with its point and the variables to differentiate by, checked against each other.

What every question begins with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..diagnostics.parsing import parse as parse
from ..diagnostics.parsing import statements
from ..errors import Diagnostic, ExpressionError, Offer, Span, nearest, quoted
from ..graphs.value import Value
from ..language.builder import Program
from ..language.tokens import plain_number
from ..numbers.budget import reported
from ..numbers.floats import REAL
from ..run.evaluation import Evaluation

_DIGITS = r"(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
UNCERTAIN_DIGITS = re.compile(
    # the rest of `1,000.5(1)` is a part of another number
    rf"(?<![\w.])(?!(?<=\d,)\d{{3}}\b)({_DIGITS}\s*+)(\(\s*+(?:{_DIGITS}\s*+|\+[^()]*+)\))(?:[eE][+-]?\d++)?"
)
"""A number and digits in parentheses behind it, as uncertainties are written: `127.7(12)`, `6.67e-11(15)`."""

Point = Mapping[str, float | str]
"""The values of variables: numbers, or constant expressions as text."""


class Problem(NamedTuple):
    """A program with the values and the roles of its names, checked against each other."""

    program: Program
    point: dict[str, float | str]
    """The values of the program's variables, as they were given; of other wanted names too."""
    values: dict[str, float]
    """The values as numbers; of an unknown its starting value."""
    wanted: list[str]
    """The variables to differentiate by."""
    warnings: list[Diagnostic]
    unknowns: Sequence[str] = ()
    """The names whose values are looked for."""
    bounds: Mapping[str, tuple[float, float]] = {}
    """Of unknowns; an infinite end is open."""
    texts: Sequence[str] = ()
    """Of equations, each as it was written."""


def pose(text: str, point: Point | None, wrt: Sequence[str] | str | None) -> Problem:
    """The program of a text, ready to be differentiated at a point. Raises `ExpressionError`."""
    typed = dict(point or {})
    values = {name: as_number(value, name) for name, value in typed.items()}
    program = parse(text, values)
    warnings = check_values(program, values)
    wanted = wanted_variables(program, values, wrt)
    names = [*program.leaves, *(name for name in wanted if name not in program.leaves)]
    used = {name: typed[name] for name in names}
    return Problem(program, used, {name: values[name] for name in names}, wanted, warnings)


def evaluate_constant(text: str) -> float:
    """The value of an expression without variables, such as `pi/4`: what a point may give to a name.

    Raises `ExpressionError`, with the span in this text.
    """
    try:
        if plain_number(text):
            value = float(text)
            if math.isinf(value):
                raise ExpressionError(
                    "overflow", f"{text} is too large for double precision", None, "give a smaller value"
                )
            return value
        _check_no_uncertainty(text)
        _check_one_expression(text)
        program = parse(text)
        if program.leaves:
            name, leaf = next(iter(program.leaves.items()))
            span = program.whole.span(leaf)
            hint = "give a number, or an expression of numbers such as `pi/4`"
            if name.lower() in ("nan", "inf", "infinity"):
                raise ExpressionError("point", f"`{name}` is not a value that a variable can have", span, hint)
            raise ExpressionError("point", f"`{name}` has no value here", span, hint)
        check_single(program)
        with reported():
            (value,) = Evaluation(REAL, program.graph.with_leaves({})).values
    except ExpressionError as error:
        error.text = text
        raise
    return float(value) + 0.0


def _check_no_uncertainty(text: str) -> None:
    """Raise an error for `3+-0.1`, which would be 2.9, and `3.0(1)`, 0.3, which nobody writes for these."""
    digits = UNCERTAIN_DIGITS.search(text)
    if digits is not None:
        raise ExpressionError(
            "point",
            f"`{digits[0]}` gives an uncertainty, and a point here has none",
            Span(*digits.span()),
            f"leave `{digits[2]}` out, or ask `autodiff propagate`; a product is `{digits[1].rstrip()}*{digits[2]}`",
        )
    sign = re.search(r"\+[-−]|\+/[-−]|±", text)
    if sign is not None:
        value, doubt = text[: sign.start()].strip(), text[sign.end() :].strip()
        example = f"`{value}`" if value else "the number"
        raise ExpressionError(
            "point",
            f"`{sign[0]}` gives an uncertainty, and a point here has none",
            Span(*sign.span()),
            f"give {example} alone, or ask `autodiff propagate`"
            + (f"; a difference is `{value} - {doubt}`" if value and doubt else ""),
        )


def _check_one_expression(text: str) -> None:
    """Raise an error unless a text is one expression and nothing else."""
    (*earlier, last) = statements(text)
    if earlier or last.kind != "expression" or "#" in text:
        raise ExpressionError(
            "point",
            "a value is one expression, and this is more",
            Span(last.start, last.end),
            "give a number, or `pi/4` for example",
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
    except (TypeError, ValueError):
        raise ExpressionError("point", f"`{name}` needs a number", None, "give a number") from None
    if not math.isfinite(number):
        raise ExpressionError("point", f"`{name}` cannot be {number}", None, "give a finite number")
    return number


SEVERAL = "`autodiff jacobian` differentiates several outputs"


def check_single(program: Program, hint: str = SEVERAL) -> None:
    """Raise an `ExpressionError` with a hint where a program has several outputs."""
    if len(program.roots) > 1:
        raise ExpressionError(
            "type",
            f"this program has {len(program.roots)} outputs, and a gradient needs one",
            program.whole.span(program.roots[1]),
            hint,
        )


def single_output(program: Program, hint: str = SEVERAL) -> Value:
    """The one output of a program. Raises `ExpressionError` with a hint where there are several."""
    check_single(program, hint)
    return program.outputs[0]


def check_values(program: Program, values: Mapping[str, float]) -> list[Diagnostic]:
    """A warning for each name that has a value and that the program does not use.

    Raises `ExpressionError` for a name that the program binds itself, and for a variable without a value.
    """
    bound = {name: i for name, _, i in program.bound}
    warnings = []
    missing = [name for name in program.leaves if name not in values]
    for name in values:
        if name in program.leaves:
            continue
        if name in bound:
            raise ExpressionError(
                "point",
                f"`{name}` is given a value by the point, and bound by the program",
                program.whole.span(bound[name]),
                "leave one of them out",
            )
        warnings.append(unused(program, name, missing))
    if missing:
        offers = apart(program, missing, values)
        listed = " and ".join(f"`{name}`" for name in missing[:3]) + (" and others" if len(missing) > 3 else "")
        example = ",".join(f"{name}={_shortest(values[name]) if name in values else '…'}" for name in program.leaves)
        raise ExpressionError(
            "missing_value",
            f"{listed} {'has' if len(missing) == 1 else 'have'} no value",
            program.whole.span(program.leaves[missing[0]]),
            (f"write {spelled(offers)}, or " if offers else "")
            + f"give the point: `--at {example}`"
            + "".join(f"; {warning.message}: {warning.hint}" for warning in warnings[:1] if not offers),
            offers=offers,
        )
    return warnings


def unused(program: Program, name: str, missing: Sequence[str] = ()) -> Diagnostic:
    """The warning for a name that the program does not use; perhaps one of those that it misses is meant."""
    near = _alike(name, missing or list(program.leaves))
    hint = f"did you mean `{near}`?" if near else "leave it out"
    return Diagnostic("unused", f"the program does not use `{name}`", None, hint)


def spelled(offers: Sequence[Offer]) -> str:
    """Return suggestions, as hints list them."""
    return " or ".join(f"`{spelling}`" for offer in offers for spelling in offer.shown)


def apart(program: Program, missing: Sequence[str], values: Collection[str]) -> tuple[Offer, ...]:
    """Return the suggestion for the first name without a value that can be split into names with values."""
    from ..diagnostics.vocabulary import missing as spellings  # only an error needs it

    known_names = {*values, *(name for name, _, _ in program.bound)}
    for name in missing:
        span = program.whole.span(program.leaves[name])
        if span is not None and span.via is None and program.text[span.start : span.end] == name:
            offers = spellings(program.text, name, span, known_names)
            if offers:
                return offers
    return ()


def _alike(name: str, names: Sequence[str]) -> str | None:
    """Which of the names is most like this one, if any is: `σ` is like `sigma`."""
    from ..language.typesetting import plain_name  # only a warning needs it

    plain = {plain_name(candidate).lower(): candidate for candidate in names}
    return plain.get(nearest(plain_name(name).lower(), list(plain), 0.5) or "")


def _shortest(x: float) -> str:
    return repr(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def wanted_variables(program: Program, values: Mapping[str, float], wrt: Sequence[str] | str | None) -> list[str]:
    """The variables to differentiate in, in order of first appearance. Raises `ExpressionError` for an unknown name."""
    if wrt is None:
        return list(program.parameters)
    if isinstance(wrt, str):
        wrt = [name.strip() for name in wrt.split(",")]
    for name in wrt:
        if name not in program.leaves and name not in values:
            quoted_names = quoted(program.leaves)
            raise ExpressionError(
                "usage", f"`{name}` is not a variable of this program", None, f"its variables: {quoted_names}"
            )
    return [x for x in program.leaves if x in wrt] + [x for x in dict.fromkeys(wrt) if x not in program.leaves]
