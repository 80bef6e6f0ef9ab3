"""A problem: a program with its point and the variables to differentiate by."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..engine.graphs.value import Value
from ..engine.numbers.budget import limit_errors
from ..engine.numbers.floats import REAL
from ..engine.run.evaluation import Evaluation
from ..errors import (
    Diagnostic,
    ExpressionError,
    Offer,
    Span,
    closest,
    point_error,
    quote,
    spelling_hint,
    usage_error,
)
from ..language.builder import SIMPLE, Program
from ..language.elements import expand, nest, point_text, split_names
from ..language.parser import build as build_tree
from ..language.parser import parse as read
from ..language.reader import ParseFailure
from ..language.tokens import Statement, UnexplainedText, has_unit_literals, plain_number
from .figures import Figure

if TYPE_CHECKING:
    from ..engine.quantities.unit import Unit
    from ..language.tree import SyntaxNode

_DIGITS = r"(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
# A number with its uncertainty in parentheses: `127.7(12)`, `6.67e-11(15)`.
UNCERTAIN_DIGITS = re.compile(
    # `000.5(1)` in `1,000.5(1)` is a part of another number
    rf"(?<![\w.])(?!(?<=\d,)\d{{3}}\b)({_DIGITS}\s*+)(\(\s*+(?:{_DIGITS}\s*+|\+[^()]*+)\))(?:[eE][+-]?\d++)?"
)
# The pattern of what stands between a number and its uncertainty; compiled where it is met.
SPREAD = r"\+[-−]|\+/[-−]|±"

# Characters of an output's text that may be its name.
MAX_OUTPUT_NAME = 40
# The values of variables: numbers, or constant expressions as text.
Point = Mapping[str, float | str]


class Typed(float):
    """A float with its source text, which other arithmetics read again."""

    __slots__ = ("as_read", "source")
    source: str
    as_read: str


def with_text(value: float, source: str) -> Typed:
    """Return the value with its text."""
    number = Typed(value)
    number.source = source
    return number


class Quantity(Typed):
    """A value with a unit: a float in coherent SI units with its exact text."""

    __slots__ = ("number", "unit")
    number: float
    unit: Unit


# The types of values without units.
PLAIN = frozenset((float, int, Typed))


def have_units(
    text: str, values: Mapping[Any, object], ranges: Mapping[str, Sequence[object]] = {}
) -> bool:
    """Return whether a number of a program, a value or an end of a range has a unit."""
    typed = [*chain(values.values(), *ranges.values())]
    has_unit = not PLAIN.issuperset(map(type, typed)) and any(hasattr(x, "unit") for x in typed)
    return has_unit or has_unit_literals(text)


Read = TypeVar("Read")
# The names of an option: a list, or text with commas; None for the default.
Names = Sequence[str] | str | None


class Problem(NamedTuple):
    """A program with the values and roles of its names, consistent with each other."""

    program: Program
    point: dict[str, float | str]
    values: dict[str, float]
    wanted: list[str]
    warnings: list[Diagnostic]
    unknowns: Sequence[str] = ()
    bounds: Mapping[str, tuple[float, float]] = {}
    texts: Sequence[str] = ()
    units: Any = None

    @property
    def used_variables(self) -> list[str]:
        """The wanted variables that the program uses: of a list's value it may use some entries."""
        return [name for name in self.wanted if name in self.program.leaves]

    def text(self, name: str, x: float, digits: int = 6) -> str:
        """Return a variable's value with its unit, for a message."""
        if self.units is None:
            return f"{x:.{digits}g}"
        from ..engine.quantities.presentation import present  # only units need it

        unit = self.units.point[name]
        return f"{present(x, unit):.{digits}g} {unit}".rstrip()

    def residual_text(self, x: float, digits: int = 6, k: int = 0) -> str:
        """Return an equation's residual with its unit, for a message."""
        if self.units is None:
            return f"{x:.{digits}g}"
        from ..engine.quantities.presentation import present_difference  # only units need it

        unit = self.units.sides[k]
        return f"{present_difference(x, unit):.{digits}g} {unit}".rstrip()


def parse(text: str, valued: Collection[str] = (), *, units: bool = False) -> Program:
    """Return the program of a text, not yet evaluated; names in `valued` win over constants.

    Without `units`, numbers with units are refused. Raises `ExpressionError`.
    """
    try:
        program = read(text, valued)
    except (ParseFailure, UnexplainedText) as failure:
        error = _explanation(text, failure, valued)
    else:
        return program if units or "[" not in text else _without_units(program)
    try:
        raise error
    finally:
        del error  # it would hold itself, by the frame in its traceback


def build(
    tree: Callable[[], SyntaxNode], text: str, valued: Collection[str] = (), *, units: bool = False
) -> Program:
    """Return the program of a tree, which the function returns; its places are in `text`. Raises
    `ExpressionError`.
    """
    program = explained(text, lambda: build_tree(tree(), text, valued), valued)
    return program if units or "[" not in text else _without_units(program)


def _without_units(program: Program) -> Program:
    """Return the program. Raises `ExpressionError` if a number in it has a unit."""
    for i, (x, source) in program.all_nodes.constants.items():
        if source is not None and source.endswith("]"):
            message = (
                "numbers with units are not taken here: formulas and code are written in plain"
                " numbers"
            )
            hint = f"in units of the SI it is `{x:.15g}`, if all values are in these"
            raise ExpressionError("type", message, program.all_nodes.span(i), hint)
    return program


def statements(text: str) -> Sequence[Statement]:
    """Return the statements of a text. Raises `ExpressionError` for invalid text."""
    from ..language.parser import statements_of  # only changed programs need it

    return explained(text, lambda: statements_of(text))


def explained(text: str, reading: Callable[[], Read], valued: Collection[str] = ()) -> Read:
    """Return what is read from a text. Raises `ExpressionError` that says why it cannot be read,
    and what to write.
    """
    try:
        return reading()
    except (ParseFailure, UnexplainedText) as failure:
        error = _explanation(text, failure, valued)
    try:
        raise error
    finally:
        del error  # as above


def _explanation(
    text: str, failure: ParseFailure | UnexplainedText, valued: Collection[str]
) -> ExpressionError:
    if isinstance(failure, UnexplainedText):
        from ..language.diagnostics.suggestions import explain  # only an error needs it

        return explain(text, failure, valued)
    from ..language.diagnostics.diagnosis import diagnosis  # only an error needs it

    return diagnosis(failure.text or text, failure, valued)


def parse_program(
    text: str, values: dict[str, float], wrt: Names = None, *, units: bool = False
) -> tuple[Program, dict[str, str], list[Diagnostic]]:
    """Return the program, the texts of bound numbers that become values, and notes.

    A name of a bound number is a variable if it has a value or is in `wrt`, or if both `wrt` and
    variables are missing. The numbers of those without a value are added to `values`. Raises
    `ExpressionError`.

    >>> values = {"b": 1.0}
    >>> program, numbers, _ = parse_program("a = 2; b = 3; a*b", values, "a")
    >>> list(program.leaves), numbers, values
    (['a', 'b'], {'a': '2'}, {'b': 1.0, 'a': 2.0})
    """
    program = parse(text, values, units=units)
    notes = first_powers(text)
    bound = [name for name, _, _ in program.bound]
    if not bound:
        return program, {}, notes
    wanted = [*map(str.strip, wrt.split(","))] if isinstance(wrt, str) else wrt or ()
    alone = not program.leaves and not wanted
    given = {*bound} if alone else {*values, *wanted}
    if given.isdisjoint(bound):
        return program, {}, notes
    # few programs come this far
    chosen = {name: number for name, number in _bound_numbers(text, bound).items() if name in given}
    if not chosen:
        return program, {}, notes
    if alone:
        message = (
            f"differentiated by {quote(chosen)}, which the program binds to numbers: it has no"
            " other variables"
        )
        notes.append(Diagnostic("note", message))
    added = {name: number for name, number in chosen.items() if name not in values}
    values |= {name: float(number) for name, number in added.items()}
    return _without_bindings(text, chosen, values, units=units), added, notes


def _without_bindings(
    text: str, names: Collection[str], values: Mapping[str, float], *, units: bool
) -> Program:
    """Return a program without the statements that bind some names, which are variables then."""
    from ..language.parser import syntax_tree
    from ..language.tree import program_of

    rest = [
        part for part in syntax_tree(text).parts if part.kind != "bind" or part.value not in names
    ]
    return build(lambda: program_of(rest), text, values, units=units)


def _bound_numbers(text: str, bound: Sequence[str]) -> dict[str, str]:
    """Return the numbers that names are bound to once, by name."""
    from ..language.parser import syntax_tree

    numbers: dict[str, str] = {}
    for statement in explained(text, lambda: syntax_tree(text)).parts[:-1]:
        number = statement.parts[0].text(text) if statement.kind == "bind" else ""
        if plain_number(number) and bound.count(statement.value) == 1:
            numbers[statement.value] = number
    return numbers


def first_powers(text: str) -> list[Diagnostic]:
    """Return a note on the first `x^1/2` or `x^-1/2` of a program, meant as a root: nobody writes a
    first power.

    >>> [note.message for note in first_powers("2*(x+1)^1/2")]
    ['`(x+1)^1/2` is `(x+1)/2`']
    """
    if "^1/" not in text and "**1/" not in text and "^-1/" not in text and "**-1/" not in text:
        return []
    from ..language.parser import syntax_tree  # few programs have it
    from ..language.tree import first_power

    found = first_power(syntax_tree(text))
    if found is None:
        return []
    written, root = found[0].text(text), found[2].text(text)
    base, exponent = (part.text(text) for part in found[1].parts)
    power = base if exponent == "1" else f"({found[1].text(text)})"
    hint = f"for a root write `{base}**({exponent}/{root})`"
    return [Diagnostic("note", f"`{written}` is `{power}/{root}`", found[0].span, hint)]


def pose(text: str, point: Point | None, wrt: Names, *, single: bool = False) -> Problem:
    """Return a text as a problem at a point. Raises `ExpressionError`, for several outputs too if
    `single`.
    """
    values = numbers_or_quantities(point)
    program, numbers, notes = parse_program(text, values, wrt, units=True)
    if single:
        check_single(program)
    problem = problem_of(program, {**(point or {}), **numbers}, values, wrt)
    problem.warnings.extend(notes)
    return problem


def problem_of(program: Program, point: Point, values: Mapping[str, float], wrt: Names) -> Problem:
    """Return a program as a problem at a point with these `values`. Raises `ExpressionError`."""
    warnings = check_values(program, values)
    wanted = wanted_variables(program, values, wrt)
    names = [*program.leaves, *(name for name in wanted if name not in program.leaves)]
    used = {name: point[name] for name in names}
    return Problem(program, used, {name: values[name] for name in names}, wanted, warnings)


def _check_certain(text: str) -> None:
    """Raise an error for a value with its uncertainty, which a point has not."""
    spread = UNCERTAIN_DIGITS.search(text)
    if spread is not None:
        hint = f"leave `{spread[2]}` out, or ask `autodiff propagate`; "
        hint += f"a product is `{spread[1].rstrip()}*{spread[2]}`"
    elif (spread := re.search(SPREAD, text)) is not None:
        number, doubt = text[: spread.start()].strip(), text[spread.end() :].strip()
        if not number:
            hint = f"give one of them, `{doubt}` or `-{doubt}`, or both: `{{-{doubt},{doubt}}}`"
            raise point_error(f"`{spread[0]}` stands for two values", hint, Span(*spread.span()))
        hint = f"give `{number}` alone, or ask `autodiff propagate`"
        if plain_number(number) and plain_number(doubt):
            hint += f"; a difference is `{number} - {doubt}`"
    if spread is not None:
        what = f"`{spread[0]}` gives an uncertainty, and a point here has none"
        raise point_error(what, hint, Span(*spread.span()))


def evaluate_constant(text: str) -> float:
    """Return the value of an expression without variables, such as `pi/4`. Raises
    `ExpressionError`.
    """
    try:
        if plain_number(text):
            value = float(text)
            if math.isinf(value):
                message = f"{text} is too large for double precision"
                raise ExpressionError("overflow", message, None, "give a smaller value")
            return value
        _check_certain(text)
        *earlier, last = statements(text)
        if earlier or last.kind != "expression" or "#" in text:
            hint = "give a number, or `pi/4` for example"
            raise point_error(
                "a value is one expression, and this is more", hint, Span(last.start, last.end)
            )
        program = parse(text)
        if program.leaves:
            name, leaf = next(iter(program.leaves.items()))
            span = program.all_nodes.span(leaf)
            hint = "give a number, or an expression of numbers such as `pi/4`"
            is_word = name.lower() in ("nan", "inf", "infinity")
            what = "is not a value that a variable can have" if is_word else "has no value here"
            raise point_error(f"`{name}` {what}", hint, span)
        check_single(program)
        with limit_errors():
            (value,) = Evaluation(REAL, program.graph.with_leaves({})).values
    except ExpressionError as error:
        error.text = text
        raise
    return float(value) + 0.0


def number_or_quantity(value: float | str, name: str) -> float:
    """Return an input value as a float, as it is if it has a unit. Raises `ExpressionError`."""
    return value if isinstance(value, Typed) and hasattr(value, "unit") else as_number(value, name)


def numbers_or_quantities(point: Point | None) -> dict[str, float]:
    """Return the values of a point as floats or quantities. Raises `ExpressionError`."""
    return {name: number_or_quantity(value, name) for name, value in (point or {}).items()}


def as_number(value: float | str, name: str) -> float:
    """Return an input value as a float. Raises `ExpressionError`."""
    if isinstance(value, str):
        return evaluate_constant(value)
    if type(value) is Quantity:
        raise unit_error(name, value)
    if type(value).__name__ in ("bool", "bool_") or not hasattr(value, "__float__"):
        raise point_error(f"`{name}` needs a number, not {value!r}", "give a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise point_error(f"`{name}` needs a number", "give a number") from None
    if not math.isfinite(number):
        raise point_error(f"`{name}` cannot be {number}", "give a finite number")
    return number


def written_number(name: str, value: Any) -> Typed:
    """Return a number with its exact or shortest text, for other arithmetics. Raises
    `ExpressionError`.
    """
    if isinstance(value, Typed):
        return value
    from numbers import Integral  # rarely needed

    exactly = isinstance(value, Integral) or type(value).__module__ in ("fractions", "decimal")
    number = as_number(value, name)
    text = value.text if type(value) is Figure else str(value) if exactly else repr(number)
    return with_text(number, text)


def unit_error(name: str, value: Quantity) -> ExpressionError:
    """Return the error for a value with a forbidden unit; its hint converts to the SI."""
    from ..engine.quantities.unit import si_unit

    unit = si_unit(value.unit.dimension)
    number = f"{value:.15g}"
    message = f"the value of `{name}` has a unit, and numbers here have none"
    hint = f"in {unit} it is `{name}={number}`" if unit.atoms else f"write `{name}={number}`"
    return point_error(message, hint)


SEVERAL = "`autodiff jacobian` differentiates several outputs"


def check_single(program: Program, hint: str = SEVERAL) -> None:
    """Raise an `ExpressionError` if a program has several outputs."""
    if len(program.roots) > 1:
        message = f"this program has {len(program.roots)} outputs, and a gradient needs one"
        raise ExpressionError("type", message, program.all_nodes.span(program.roots[1]), hint)


def single_output(program: Program) -> Value:
    """Return the only output of a program. Raises `ExpressionError` if there are several."""
    check_single(program)
    return program.outputs[0]


def output_names(program: Program) -> list[str]:
    """Return the names of the outputs: as bound, else their text, else their number."""
    graph, bound = program.all_nodes, {i: name for name, _, i in program.bound}
    spans = [graph.span(root) for root in program.roots]
    names: list[str] = []
    seen: Counter[Span | None] = Counter()
    for k, (root, span) in enumerate(zip(program.roots, spans, strict=True), start=1):
        name = bound.get(root) or graph.labels.get(root, "")
        if not name and span is not None and span.via is None:
            name = " ".join(program.text[span.start : span.end].split())
            if spans.count(span) > 1:  # the entries of a list
                seen[span] += 1
                name = f"{name if name.isidentifier() else f'({name})'}[{seen[span]}]"
        names.append(
            name if name and len(name) <= MAX_OUTPUT_NAME and name not in names else f"output {k}"
        )
    return names


def check_values(program: Program, values: Mapping[str, float]) -> list[Diagnostic]:
    """Return a warning for each unused value. Raises `ExpressionError` for bound and missing
    names.
    """
    bound = {name: i for name, _, i in program.bound}
    warnings = []
    missing = [name for name in program.leaves if name not in values]
    for name in values:
        if name in program.leaves or name in program.parameters:
            continue
        if name in bound:
            message = f"`{name}` has a value in the point, and the program binds it"
            raise point_error(message, "leave one of them out", program.all_nodes.span(bound[name]))
        warnings.append(unused_name(program, name, missing))
    if missing:
        raise _missing_values(program, values, missing, warnings)
    return warnings + conversion_warnings(program)


def conversion_warnings(program: Program) -> list[Diagnostic]:
    """Return a warning of angles that a program converts to radians twice, else none."""
    if "rad(" not in program.text:
        return []
    from .conversions import radians_twice  # few programs have it

    return radians_twice(program)


def _missing_values(
    program: Program,
    values: Mapping[str, float],
    missing: Sequence[str],
    unused: Sequence[Diagnostic],
) -> ExpressionError:
    """Return the error of variables without a value; its hint shows what the point may be."""
    offers = (
        *split_name_offers(program, missing, values),
        *unit_offers(program.text, missing, values),
    )
    names = [*nest(dict.fromkeys(missing))]
    stated = " and ".join(f"`{name}`" for name in names[:3]) + (
        " and others" if len(names) > 3 else ""
    )
    typed = {
        name: _short_number(values[name]) if name in values else "…" for name in program.leaves
    }
    example = point_text(typed)
    message = f"{stated} {'has' if len(names) == 1 else 'have'} no value"
    hint = (
        f"write {spelling_hint(offers)}, or " if offers else ""
    ) + f"give the point: `--at {example}`"
    if unused and not offers:
        hint += f"; {unused[0].message}: {unused[0].hint}"
    span = program.all_nodes.span(program.leaves[missing[0]])
    return ExpressionError("missing_value", message, span, hint, offers=offers)


def unused_name(program: Program, name: str, missing: Sequence[str] = ()) -> Diagnostic:
    """Return the warning for an unused name; its hint may suggest one of the `missing`."""
    from ..language.typesetting import plain_name  # only a warning needs it

    plain = {plain_name(candidate).lower(): candidate for candidate in missing or program.leaves}
    near = plain.get(closest(plain_name(name).lower(), list(plain), 0.5) or "")
    hint = f"did you mean `{near}`?" if near else "leave it out"
    return Diagnostic("unused", f"the program does not use `{name}`", None, hint)


def split_name_offers(
    program: Program, missing: Sequence[str], values: Collection[str]
) -> tuple[Offer, ...]:
    """Return suggestions for the first missing name that splits into known ones."""
    from ..language.diagnostics.suggestions import missing as spellings  # only an error needs it

    known_names = {*values, *(name for name, _, _ in program.bound)}
    for name in missing:
        span = program.all_nodes.span(program.leaves[name])
        if span is not None and span.via is None and program.text[span.start : span.end] == name:
            offers = spellings(program.text, name, span, known_names)
            if offers:
                return offers
    return ()


def unit_offers(
    text: str, missing: Sequence[str], values: Mapping[str, object]
) -> tuple[Offer, ...]:
    """Return the first number that a missing name may be the unit of, with it in brackets: `40[mm]`
    for `40mm`.
    """
    from ..language.diagnostics.measured import measured_numbers  # only an error needs it

    certain = measured_numbers(text, values)
    # a letter is more likely a variable, if nothing else has a unit
    for one in measured_numbers(text, values, every=have_units(text, values)):
        if not {*missing}.isdisjoint(one.words):
            return (one.offer._replace(certain=one in certain and not one.divides_a_number(text)),)
    return ()


def _short_number(x: float) -> str:
    if type(x) is Quantity:
        return f"{_short_number(x.number)} {x.unit}".rstrip()
    return repr(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def check_bare_functions(
    program: Program, known: Collection[str], *, by_option: bool = False
) -> None:
    """Raise an error for a variable without a role that has the name of a function, as `exp` in
    `exp -x`.

    Greek letters may be variables. The hint has `--wrt`, if that option makes a variable of it
    (`by_option`).
    """
    for name in [name for name in program.leaves if name in SIMPLE and name not in known]:
        from ..language.typesetting import GREEK  # few programs come this far

        if name not in GREEK:
            otherwise = (
                f"for the name `--wrt {name}`" if by_option else "give the variable another name"
            )
            hint = f"write `{name}(…)`, or {otherwise}"
            span = program.all_nodes.span(program.leaves[name])
            raise ExpressionError(
                "name", f"`{name}` is a function, and has no argument here", span, hint
            )


# The longest name that may be a product of its letters, by one that is asked for.
MAX_LETTERS = 3
# First letters of products such as `ax` and `πr`; `dx` is a difference.
_FIRST_FACTORS = frozenset("abckmnrt")
# What `pi` stands before in `2pir`; `pin` and `pie` are names.
_BEHIND_PI = frozenset("rRxyzthdDL")
# Further ones before a variable that is asked for: `wt` by `t`, `px` by `x`.
_FACTORS_OF_ASKED = frozenset("hpqsuvwαβγκλμνρσφω")


def may_be_product(name: str, asked: Collection[str]) -> bool:
    """Return whether a name may be a product of one-letter names, as `xy`, `ax` and `πr`.

    >>> [may_be_product(name, ("t",)) for name in ("xy", "ax", "wt", "dt", "πr", "pir", "pin", "t")]
    [True, True, True, False, True, True, False, False]
    """
    first, *others = letters_of(name)
    letters = all(other == "π" or (other.isascii() and other.isalpha()) for other in others)
    if first == "pi":
        return {*others} <= _BEHIND_PI
    if first == "π":
        return letters and 1 <= len(others) <= 2 and "π" not in others
    if len(others) != 1 or not letters:
        return False
    (last,) = others
    is_variable = last in "xyz" or last in asked
    before_asked = first in _FACTORS_OF_ASKED and last in asked
    return first in "xyz" or (first in _FIRST_FACTORS and is_variable) or before_asked


def letters_of(name: str) -> list[str]:
    """Return the letters of a name, and `pi` before a third one as a whole."""
    return ["pi", name[2]] if len(name) == MAX_LETTERS and name.startswith("pi") else [*name]


def check_products(
    program: Program,
    known: Collection[str],
    asked: Collection[str] | None = None,
    *,
    by_option: bool = False,
    may_lack: bool = False,
) -> None:
    """Raise an error for a variable without a role whose name may be meant as a product, `ax`.

    Of products of no variable that is `asked` for nothing depends. The hint has `--wrt`, if that
    option makes a variable of the name (`by_option`). A program that `may_lack` what is asked for
    may have constants of three letters: `integrate tax dx`.
    """
    absent = set() if may_lack else {*(asked or ())} - program.leaves.keys()
    for name in program.leaves:
        if name not in known and name[1:] and _is_product(name, asked, absent):
            raise _one_name_or_product(program, name, asked is not None, by_option)


def _is_product(name: str, asked: Collection[str] | None, absent: Collection[str]) -> bool:
    """Return whether a name may be a product, on which what is `asked` for depends.

    `nRT` has the `T` that is asked for and is `absent` elsewhere; `dt` is a difference.
    """
    if not {*absent}.isdisjoint(name):
        return len(name) <= MAX_LETTERS and name.isalpha() and name[0] not in "dΔδ"
    if asked is not None and {*asked}.isdisjoint(name):
        return False
    return may_be_product(name, asked or ())


def _one_name_or_product(
    program: Program, name: str, is_asked: bool, by_option: bool
) -> ExpressionError:
    span, product = program.all_nodes.span(program.leaves[name]), "*".join(letters_of(name))
    otherwise = f"for the name `--wrt {name}`"
    if is_asked or not by_option:
        otherwise = f"give the variable another name, as `{name[0]}_{name[1:]}`"
    # where `x` is asked for, `ax` is a product
    offers = () if span is None else (Offer(*span[:2], product, is_asked),)
    message = f"`{name}` may be one name or a product"
    return ExpressionError(
        "name", message, span, f"write `{product}`, or {otherwise}", offers=offers
    )


def wanted_variables(
    program: Program, values: Mapping[str, float], wrt: Names, unknowns: Collection[str] = ()
) -> list[str]:
    """Return the variables to differentiate by, in program order."""
    if wrt is None:
        return list(program.parameters)
    if isinstance(wrt, str):
        wrt = split_names(wrt)
    wrt = expand(wrt, dict.fromkeys([*program.leaves, *values]))
    for name in wrt:
        if name not in program.leaves and name not in values:
            hint = f"its variables: {quote(program.leaves)}"
            raise usage_error(f"`{name}` is not a variable of this program", hint)
        if name in unknowns:
            others = quote([other for other in program.leaves if other not in unknowns], "nothing")
            raise usage_error(
                f"`{name}` is an unknown, a function of the others", f"differentiate by {others}"
            )
    return list(
        dict.fromkeys(
            [*(name for name in (*program.parameters, *program.leaves) if name in wrt), *wrt]
        )
    )
