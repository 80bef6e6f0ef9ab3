"""Derivatives as formulas: as input text, LaTeX, MathML, Python, SymPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from ...api.api_answers import Answer
from ...capability import resolve
from ...engine.algebra.almost_everywhere import Contradiction, Generic, conjunction, generic_form
from ...engine.algebra.guards_at_point import gradient_around, smooth_around
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic_derivative import Multi, derivatives
from ...engine.algebra.walk import facts_of, rebuild, rewrite, substitute, text_ids
from ...engine.graphs.adjoint import record_values
from ...engine.graphs.higher_order import hessian_in, taylor_in
from ...engine.graphs.value import Value, graph_of, in_order, variable
from ...engine.graphs.value_and_gradient import (
    breakpoints_met,
    evaluate_in,
    value_and_gradient,
    value_in,
)
from ...engine.numbers import budget
from ...engine.numbers.base import NumberType
from ...engine.numbers.floats import REAL
from ...engine.run.evaluation import error_at
from ...engine.table.operators import ADD, CONSTANT, DIV, MUL, SUB, VARIABLE, WHERE
from ...engine.table.primitive import FUNCTIONS
from ...errors import (
    Diagnostic,
    ExpressionError,
    closest,
    either,
    limit_error,
    point_error,
    quote,
    spelling_hint,
    usage_error,
)
from ...language.builder import SIMPLE, Program
from ...language.printer import expression_text
from ...language.tokens import has_unit_literals
from ...language.typesetting import GREEK, Typesetting, equations, equations_of, typesetting
from ...questions.arithmetic import DOUBLE, Arithmetic, Shown, Values, kink_warnings
from ...questions.optional_units import check_dimensions, program_units, with_units
from ...questions.parse_point import split
from ...questions.problem import (
    Point,
    check_bare_functions,
    check_products,
    check_values,
    conversion_warnings,
    numbers_or_quantities,
    parse,
    parse_program,
    single_output,
    split_name_offers,
    wanted_variables,
)
from ...questions.rounding import lost_number_warnings, rounding_warnings
from ...record import Record
from .derivation import Derivation, check_length, derivations
from .derivation import latex as steps_latex
from .differential_operator import differential_operator
from .guards import ConventionalPlace, KinkNotes, guard_warnings, kink_notes

if TYPE_CHECKING:
    from ...questions.quantities import Units

MAX_ORDERS = 30
MAX_DERIVATIVES = 200
# Characters of a formula with shared parts expanded.
MAX_LENGTH = 1_000_000
# The languages that formulas are written in without units.
WITHOUT_UNITS = ("python", "sympy", "mathml")
# File extensions by language.
LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "latex": (".tex",),
    "mathml": (".mml", ".mathml"),
    "python": (".py",),
    "sympy": (),
}


class Assumption(Record):
    """An assumption as typed, and as a condition."""

    text: str
    condition: Value


class Derivative(Record):
    """One derivative: its variables and its formula."""

    declaration = """
    of optional nonempty: with `--for`: the unknown that is differentiated
    by: the variables that it is taken by, in their order
    formula: the derivative as a formula
    short: a shorter form
    condition: where the shorter form holds
    value figures: with `--at`: its value at the point
    """

    by: tuple[str, ...]
    formula: str
    value: Shown | None
    short: str | None = None
    """A shorter formula that holds except at single points and kinks."""
    condition: str | None = None
    """Where the short form equals the formula; None for everywhere."""
    of: str = ""
    """The unknown of equations that is differentiated."""

    @property
    def shown(self) -> str:
        """The form in tables: the short one, if any."""
        return self.short or self.formula


class Diff(Answer, shows=("program", "point")):
    """The derivatives of a program as formulas."""

    declaration = """
    csv line id by derivative value[] error short condition
    order: the order of the derivatives
    language: the language of `program`
    program: the derivatives as a program
    shared: names that the formulas share
      name: the name
      formula: what it stands for
    derivatives keys=Derivative: the derivatives
    steps optional keys=Derivation: with `--steps`: the derivation of each derivative
    point
    units
    equations optional nonempty: with `--for`: the equations
    assumptions optional nonempty: with `--assume`: what was assumed
    conventions optional nonempty keys=ConventionalPlace: where the formulas keep a convention
    constants
    warnings
    """

    text: str
    arithmetic: Arithmetic
    order: int
    language: str
    shared: list[tuple[str, str]]
    """Names of common parts and their formulas, in order."""
    derivatives: list[Derivative]
    program: str
    """All of it as one text in the language."""
    point: dict[str, Shown]
    warnings: tuple[Diagnostic, ...]
    constants: dict[str, float]
    derivations: tuple[Derivation, ...] = ()
    """Lower orders first, if requested."""
    assumptions: tuple[str, ...] = ()
    equations: Sequence[str] = ()
    units: Units | None = None
    """The units of the values and the point, by field."""
    conventions: tuple[ConventionalPlace, ...] = ()


class _DiffProblem(NamedTuple):
    """An output, the variables by which it is differentiated, and the point: as typed, and in plain
    numbers.
    """

    text: str
    program: Program
    output: Value
    names: Sequence[str]
    leaves: Sequence[Value]
    order: int
    point: Point
    numbers: Mapping[str, float]
    quantities: Mapping[str, Value]
    """The numbers with units of the output, by their texts."""

    @property
    def symbolic(self) -> Value:
        """The output with its numbers with units as variables of these names."""
        return _with_named(self.output, self.quantities)

    @property
    def has_point(self) -> bool:
        """Whether there are values to be computed."""
        return any(name in self.numbers for name in self.program.variables)


class _Derived(NamedTuple):
    """The derivatives, the short forms of those that have one, and the assumptions that were given
    and used.
    """

    formulas: dict[Multi, Value]
    shorts: Sequence[Generic | None]
    assumed: Sequence[Assumption]
    used: Sequence[Assumption]
    comments: tuple[str, ...] = ()
    """What code says of the formulas."""

    def with_numbers(self, quantities: Mapping[str, Value]) -> _Derived:
        """Return them with the numbers with units that were variables."""
        if not quantities:
            return self
        formulas = {by: _with_numbers(formula, quantities) for by, formula in self.formulas.items()}
        shorts = [
            short and short.mapped(lambda value: _with_numbers(value, quantities))
            for short in self.shorts
        ]
        return self._replace(formulas=formulas, shorts=shorts)


class DerivativeValues(NamedTuple):
    """The values of derivatives at the point, in the order of their formulas."""

    values: Sequence[Shown | None]
    point: dict[str, Shown]
    units: Units | None
    warnings: Sequence[Diagnostic]


def no_values(count: int) -> DerivativeValues:
    """Return the values of derivatives without a point."""
    return DerivativeValues([None] * count, {}, None, ())


class _SharedParts(NamedTuple):
    """The formulas to be written: common parts by their names, the function itself where it is
    stated, derivatives.
    """

    shared: Sequence[tuple[str, Value]]
    function: Sequence[Value]
    derivatives: Sequence[Value]


def diff(
    text: str,
    point: Point | None = None,
    *,
    wrt: Sequence[str] | None = None,
    order: int = 1,
    share: bool = False,
    steps: bool = False,
    language: str = "text",
    everywhere: bool = False,
    assume: str | Sequence[str] | None = None,
    name: str | None = None,
    arithmetic: Arithmetic = DOUBLE,
    units: Sequence[str] | str | None = None,
) -> Diff:
    """Return the derivatives of an order of `text` by all combinations of the variables `wrt`.

    With `share` common parts are named. In LaTeX the function is stated first, by this `name`.
    Unless `everywhere` or `share`, a formula may have a short form. `assume` has conditions: `x >
    0, n > 1`.

    >>> [d.formula for d in diff("x**2*sin(y)").derivatives]
    ['2*x*sin(y)', 'x**2*cos(y)']
    """
    problem, warnings = _read_problem(text, point, wrt, order, units, language)
    _check_options(language, steps=steps, share=share)
    if steps:
        check_length(problem.output)
    for graph in (problem.output, *simplify((problem.output,), spell=False)):
        _check_divisors(graph, problem.output)
    keeps_guards = everywhere or share or language in ("python", "sympy")
    derived = _derived(problem, assume, short=not keeps_guards)
    warnings += [_unused(one) for one in derived.assumed if one not in derived.used]
    kinks = _kink_notes(problem, derived)
    if keeps_guards and any(v.primitive is WHERE for v in in_order(derived.formulas.values())):
        warnings += guard_warnings(problem.program)
    derived = derived._replace(comments=kinks.comments)
    worked = _worked(problem, derived) if steps else ()
    derived = derived.with_numbers(problem.quantities)
    at_point = _values(problem, derived.formulas, arithmetic, units)
    shared, derivatives, document = _written(
        problem, derived, at_point.values, worked, language, share, name
    )
    return Diff(
        problem.text,
        arithmetic,
        problem.order,
        language,
        shared,
        derivatives,
        document,
        at_point.point,
        (*warnings, *at_point.warnings, *kinks.notes),
        problem.program.constants,
        worked,
        tuple(one.text for one in derived.assumed),
        units=at_point.units,
        conventions=kinks.places,
    )


# ---- the problem
def _check_without_operator(name: str, wrt: Sequence[str] | None, order: int) -> None:
    """Raise an error for options that say otherwise than a `d/dx` in the text."""
    if wrt not in (None, (name,), [name]) or order != 1:
        hint = f"leave `d/d{name}` out, or the options"
        raise ExpressionError(
            "usage", "`d/d…` and the options `--wrt` and `--order` exclude each other", hint=hint
        )


def _read_problem(
    typed: str,
    point: Point | None,
    wrt: Sequence[str] | None,
    order: int,
    units: Sequence[str] | str | None,
    language: str,
) -> tuple[_DiffProblem, list[Diagnostic]]:
    """Return what is to be differentiated, and warnings; a `d/dx` at the start is in place of `wrt`
    and `order`.
    """
    text, operator = typed, differential_operator(typed)
    if operator is not None:
        _check_without_operator(operator.name, wrt, order)
        wrt, order = [operator.name], operator.order
        text = " " * operator.end + typed[operator.end :]
    if order > MAX_ORDERS:
        message = f"the order {order:,} is above {MAX_ORDERS}, and a formula grows with every order"
        raise limit_error(message, "compute derivatives of high order at a point with `taylor`")
    values = with_units(point)
    numbers = numbers_or_quantities(values)
    has_quantities = has_unit_literals(text) and language not in WITHOUT_UNITS
    program, bound, notes = parse_program(text, numbers, wrt, units=has_quantities)
    values |= bound
    output = single_output(program)
    if operator is not None:
        notes = [*notes, *note_on_extent(output, text, typed[: operator.end].strip())]
    known = {*values, *(wrt or ())}
    check_names(program, known)
    check_products(program, known, known or None, by_option=True, may_lack=wrt is None)
    names = wanted_variables(program, numbers, wrt)
    leaves = [program.variables.get(name) or variable(name) for name in names]
    quantities = quantities_of(output) if has_quantities else {}
    problem = _DiffProblem(text, program, output, names, leaves, order, values, numbers, quantities)
    if quantities and not problem.has_point:
        check_dimensions(program)
    check_has_values(units, problem.has_point)
    checked = check_values(program, numbers) if problem.has_point else conversion_warnings(program)
    if math.comb(len(names) + order - 1, order) > MAX_DERIVATIVES:
        message = (
            f"{len(names):,} variables have more than {MAX_DERIVATIVES} derivatives of order"
            f" {order}"
        )
        raise limit_error(message, "name some of them: `--wrt x,y`")
    return problem, [*checked, *notes]


def note_on_extent(output: Value, text: str, operator: str, first: int = 0) -> list[Diagnostic]:
    """Return the note that all of a sum, or of a product behind parentheses, is differentiated.

    The formula begins at `first` of the text.
    """
    before = text[first : output.span.start].rstrip() if output.span else ""
    formula = text[first:].strip()
    extends = output.primitive in (ADD, SUB) or (
        output.primitive in (MUL, DIV) and formula.startswith(("(", "["))
    )
    if not extends or before.endswith(("(", "[")):
        return []
    message = f"read as: {operator} ({formula})"
    return [Diagnostic("note", message, None, "put parentheses around what is differentiated")]


def _check_options(language: str, *, steps: bool, share: bool) -> None:
    if steps and language not in ("text", "latex"):
        hint = "leave `--steps` out: steps are shown as text, or in LaTeX"
        raise usage_error(f"`--steps` and `--to {language}` exclude each other", hint)
    if share and language == "sympy":
        hint = "leave `--share` out: `sympy.cse` finds common parts"
        raise usage_error("`--share` and `--to sympy` exclude each other", hint)


# ---- the answer
def _values(
    problem: _DiffProblem,
    derived: Mapping[Multi, Value],
    arithmetic: Arithmetic,
    units: Sequence[str] | str | None,
) -> DerivativeValues:
    program, output, names, numbers = (
        problem.program,
        problem.output,
        problem.names,
        problem.numbers,
    )
    if not problem.has_point:
        return no_values(len(derived))
    warnings: list[Diagnostic] = []
    at = {name: problem.point[name] for name in program.variables}
    tree: Units | None = None
    measured = program_units(program, {name: numbers[name] for name in program.variables}, units)
    if measured is not None:
        tree = measured.tree(values=[measured.derivative([names[k] for k in by]) for by in derived])
        warnings += measured.warnings
    met: list[Diagnostic] = []

    def task(m: NumberType, numbers: Values) -> dict[str, Any]:
        if problem.order == 1:
            swept = gradient_around(m, output, numbers, names)
            met[:] = kink_warnings(arithmetic, swept.kinks.values())
            return {"values": [*swept.gradient.values()], "point": numbers}
        return {"values": _higher(m, output, derived, numbers, names), "point": numbers}

    answer = arithmetic.run(at, task, tree, hint=True)
    warnings += met
    if arithmetic == DOUBLE:
        doubles = {name: float(numbers[name]) for name in program.variables}
        warnings += _lost_digits(program, output, derived, doubles, at, names)
    return DerivativeValues(answer["values"], answer["point"], tree, warnings)


def _worked(problem: _DiffProblem, derived: _Derived) -> tuple[Derivation, ...]:
    formulas = zip(derived.formulas.items(), derived.shorts, strict=True)
    ends = {by: short.formula if short else formula for (by, formula), short in formulas}
    used = [one.text for one in derived.used]
    return derivations(problem.symbolic, problem.names, problem.leaves, problem.order, ends, used)


# ---- its text
def _bound_names(program: Program) -> set[str]:
    return {name for name, _, _ in program.bound}


def _written(
    problem: _DiffProblem,
    derived: _Derived,
    values: Sequence[Shown | None],
    worked: Sequence[Derivation],
    language: str,
    share: bool,
    name: str | None,
) -> tuple[list[tuple[str, str]], list[Derivative], str]:
    """Return common parts, derivatives, and all of it, in a language."""
    program, names = problem.program, problem.names
    typeset = (
        typesetting(program, names, function=name) if language in ("latex", "mathml") else None
    )
    parts = _SharedParts((), (), list(derived.formulas.values()))
    if share:
        # a program that is not printed as it is typed, as it is too long, shares parts with its
        # derivatives
        is_shared = typeset is not None and not equations_of(program, typeset)
        parts = _share(
            problem.output if is_shared else None, parts.derivatives, _bound_names(program)
        )
    _check_lengths([*dict(parts.shared).values(), *parts.function, *parts.derivatives])
    if typeset:
        typeset = typesetting(program, names, list(dict(parts.shared)), function=name)
    write = typeset.expression if typeset else _writer(language)
    shared = [(typeset.name(name) if typeset else name, write(part)) for name, part in parts.shared]
    bys = [tuple(names[k] for k in by) for by in derived.formulas]
    listed = [
        _derivative(by, formula, value, short, write)
        for by, formula, value, short in zip(
            bys, parts.derivatives, values, derived.shorts, strict=True
        )
    ]
    if language == "python":
        outputs = [problem.output, *derived.formulas.values()]
        return (
            shared,
            listed,
            _module(problem.text, outputs, tuple(dict.fromkeys(chain(*bys))), derived.comments),
        )
    if typeset is None:
        return shared, listed, _line(language, shared, [one.formula for one in listed])
    lines = _equations(program, typeset, shared, parts.function, listed)
    if language == "mathml":
        return _in_mathml(lines, shared, listed)
    return shared, listed, steps_latex(worked) if worked else equations(lines)


def _check_lengths(formulas: Sequence[Value]) -> None:
    for formula in formulas:
        length = facts_of(
            (formula,), lambda v, inputs: 2 + sum(inputs) if inputs else len(v.label) + 1
        )[formula]
        if length > MAX_LENGTH:
            message = f"the formula is longer than {MAX_LENGTH:,} characters"
            raise limit_error(message, "name its common parts: `--share`")
        budget.charge(length)


def _writer(language: str) -> Callable[[Value], str]:
    """Return the function that writes a formula in a language that is not typeset."""
    if language == "sympy":
        sympy_text: Callable[[Value], str] = resolve("export.languages.sympy_text")
        return sympy_text
    return expression_text


def _derivative(
    by: tuple[str, ...],
    formula: Value,
    value: Shown | None,
    short: Generic | None,
    write: Callable[[Value], str],
) -> Derivative:
    if short is None:
        return Derivative(by, write(formula), value)
    condition = write(conjunction(short.conditions)) if short.conditions else None
    return Derivative(by, write(formula), value, write(short.formula), condition)


def _equations(
    program: Program,
    typeset: Typesetting,
    shared: Sequence[tuple[str, str]],
    function: Sequence[Value],
    derivatives: Sequence[Derivative],
) -> list[tuple[str, str]]:
    """Return the sides of all equations in LaTeX: the function, or common parts and the function;
    its derivatives.
    """
    several = len(program.variables) > 1
    return [
        *equations_of(program, typeset),
        *shared,
        *((typeset.head(program.variables), typeset.expression(formula)) for formula in function),
        *(
            (typeset.derivative(one.by, several), one.shown + where_latex(one.condition))
            for one in derivatives
        ),
    ]


def _in_mathml(
    lines: list[tuple[str, str]],
    shared: Sequence[tuple[str, str]],
    derivatives: Sequence[Derivative],
) -> tuple[list[tuple[str, str]], list[Derivative], str]:
    """Return common parts, derivatives and equations, which are in LaTeX, in MathML."""
    from ...language.mathml import mathml, mathml_equations  # only MathML needs it

    fields = ("formula", "short", "condition")
    converted = [
        one._replace(**{field: mathml(latex) for field in fields if (latex := getattr(one, field))})
        for one in derivatives
    ]
    return [(left, mathml(right)) for left, right in shared], converted, mathml_equations(lines)


def _line(language: str, shared: Sequence[tuple[str, str]], formulas: Sequence[str]) -> str:
    texts = ", ".join(formulas)
    if language == "sympy" and len(formulas) > 1:
        return f"[{texts}]"
    return "; ".join([*(f"{name} = {formula}" for name, formula in shared), texts])


# ---- numbers with units
def quantities_of(root: Value) -> dict[str, Value]:
    """Return the numbers with units in a formula, by their texts: `2[mm]`."""
    leaves = [value for value in in_order((root,)) if value.primitive is CONSTANT]
    return {
        value.source: value
        for value in leaves
        if value.source is not None and value.source.endswith("]")
    }


def _with_named(root: Value, quantities: Collection[str]) -> Value:
    """Return a formula with numbers with units as variables of these names: a derivative keeps them
    as they are.
    """
    if not quantities:
        return root
    named = {text: variable(text) for text in quantities}
    return substitute(
        root, lambda value: named.get(value.source or "") if value.primitive is CONSTANT else None
    )


def _with_numbers(root: Value, quantities: Mapping[str, Value]) -> Value:
    """Return a formula with the numbers that `_with_named` has named."""
    return substitute(
        root, lambda value: quantities.get(value.label) if value.primitive is VARIABLE else None
    )


# ---- assumptions
MAX_ASSUMPTIONS = 20
_HINT = (
    "an assumption is a comparison, or `integer`, `even`, `odd`: `x > 0`, `0 < t < 1`, `n != 0`, `n"
    " integer`"
)
# Conditions on a variable in words.
_WORDS = {
    "positive": "{0} > 0",
    "negative": "{0} < 0",
    "nonnegative": "{0} >= 0",
    "nonzero": "{0} != 0",
    "integer": "floor({0}) == {0}",
    "even": "floor({0}/2) == {0}/2",
    "odd": "floor(({0} + 1)/2) == ({0} + 1)/2 and {0} != 0",
}

_FILLERS = ("is", "a", "an", "number")


def assumptions(texts: str | Sequence[str] | None, program: Program) -> list[Assumption]:
    """Return parsed assumptions on a program's variables."""
    listed = [texts] if isinstance(texts, str) else list(texts or ())
    result = [_assumption(part.strip(), program) for text in listed for part in split(text)]
    if len(result) > MAX_ASSUMPTIONS:
        message = f"there are more than {MAX_ASSUMPTIONS} assumptions"
        raise limit_error(message, "leave out what is not needed")
    return result


def _assumption(text: str, program: Program) -> Assumption:
    spelled = _spelled(text)
    try:
        outputs = parse(f"where({spelled}, 1, 0)", program.variables).outputs if text else []
    except ExpressionError as error:
        raise usage_error(f"the assumption `{text}` cannot be read: {error}", _HINT) from None
    if (
        len(outputs) != 1
        or outputs[0].primitive is not WHERE
        or any(p._prev for p in outputs[0]._prev[1:])
    ):
        raise usage_error(f"`{text}` is not one condition", _HINT)
    condition = outputs[0]._prev[0]
    for leaf in in_order((condition,)):
        if leaf.primitive is VARIABLE and leaf.label not in program.variables:
            near = closest(leaf.label, list(program.variables))
            hint = (
                f"did you mean `{near}`?" if near else f"its variables: {quote(program.variables)}"
            )
            message = (
                f"the assumption `{text}` is about `{leaf.label}`, which the program does not use"
            )
            raise usage_error(message, hint)
    return Assumption(
        text, substitute(condition, lambda v: None if v._prev else program.variables.get(v.label))
    )


def _spelled(text: str) -> str:
    """Return an assumption in words, as `x positive`, as a condition of the language; another one
    as it is.
    """
    name, *words = [word for word in text.split() if word not in _FILLERS] or [""]
    if words == ["natural"]:
        hint = f"`{name} integer, {name} > 0` or `{name} integer, {name} >= 0`"
        message = f"the assumption `{text}` can be read in two ways: 0 is a natural number for some"
        raise usage_error(message, hint)
    if words == ["real"]:
        message = f"`{text}` holds already: every variable is real"
        raise usage_error(message, "leave it out")
    are_known = words and all(word in _WORDS for word in words)
    return " and ".join([_WORDS[word].format(name) for word in words]) if are_known else text


def check_has_values(units: Sequence[str] | str | None, here: bool) -> None:
    """Raise a usage error for units of values without a point."""
    if units and not here:
        raise usage_error(
            "`--in` is the unit of values, and there is no point",
            "give `--at`, or leave `--in` out",
        )


def _check_assumptions(assumed: Sequence[Assumption], numbers: Mapping[str, float]) -> None:
    """Raise a point error where the point does not meet an assumption."""
    for one in assumed:
        is_known = all(
            v.label in numbers for v in in_order((one.condition,)) if v.primitive is VARIABLE
        )
        if is_known and value_in(REAL, one.condition, numbers) is False:
            raise point_error(
                f"the point does not meet the assumption `{one.text}`", "change one of them"
            )


def _unused(assumption: Assumption) -> Diagnostic:
    message = (
        f"the assumption `{assumption.text}` was not used: the derivatives are the same without it"
    )
    return Diagnostic("assumption", message, None, "leave it out")


# ---- checks
def check_names(program: Program, known: Collection[str]) -> None:
    """Raise an error for a variable whose name may be meant as a call, `sinx`."""
    check_bare_functions(program, known, by_option=True)
    _check_powers_of_ten(program, known)
    for name in [name for name in program.leaves if name not in {*known, *GREEK, *SIMPLE}]:
        others = {*program.leaves, *known, *"xyzt"} - {name}
        is_part = any(function in name for function in SIMPLE)
        offers = split_name_offers(program, [name], others) if is_part else ()
        meant = [offer.text for offer in offers if "(" in offer.text]
        if meant:
            message = f"`{name}` may be one name or the value of a function"
            hint = f"write {either(meant)}, or for the name `--wrt {name}`"
            raise ExpressionError(
                "name", message, program.all_nodes.span(program.leaves[name]), hint, offers=offers
            )


def _check_powers_of_ten(program: Program, known: Collection[str]) -> None:
    """Raise an error for a power of `x10` after a number: `1.2x10^3` is 1200 to who reads a
    paper.
    """
    span = (
        program.all_nodes.span(program.leaves["x10"])
        if "x10" in program.leaves and "x10" not in known
        else None
    )
    if span is None:
        return
    from ...language.diagnostics.suggestions import power_of_ten  # few names need it

    offer = power_of_ten(program.text, span)
    if offer is not None:
        hint = f"write {spelling_hint((offer,))} for ten, or for the name `--wrt x10`"
        raise ExpressionError(
            "name", "`x10` may be one name or a power of ten", span, hint, offers=(offer,)
        )


def _check_divisors(root: Value, output: Value) -> None:
    varies = facts_of((root,), lambda v, inputs: v.primitive is VARIABLE or any(inputs))
    seen, stack = {root}, [root]
    while stack:
        top = stack.pop()
        # a branch may never be taken
        inner = top._prev if top.primitive.lazy_inputs is None else top._prev[:1]
        stack += [p for p in inner if p not in seen]
        seen.update(inner)
        if top.primitive is DIV and not varies[inner[1]] and value_in(REAL, inner[1], {}) == 0:
            from ...engine.numbers.multiprecision import Multiprecision

            if value_in(Multiprecision(decimals=True), inner[1], {}) == 0:
                hint = "no point is in its domain: correct the formula"
                raise ExpressionError("domain", "division by zero", top.span or output.span, hint)


def _derived(problem: _DiffProblem, assume: str | Sequence[str] | None, *, short: bool) -> _Derived:
    assumed = assumptions(assume, problem.program)
    _check_assumptions(assumed, problem.numbers)
    formulas, used = _derive(problem.symbolic, problem.leaves, problem.order, assumed)
    if not short:
        return _Derived(formulas, [None] * len(formulas), assumed, used)
    conditions = [one.condition for one in assumed]
    return _Derived(
        formulas,
        [generic_form(formula, conditions) for formula in formulas.values()],
        assumed,
        used,
    )


def _derive(
    output: Value, leaves: Sequence[Value], order: int, assumed: Sequence[Assumption]
) -> tuple[dict[Multi, Value], list[Assumption]]:
    """Return the derivatives, and those assumptions without which they would be different."""
    numbers: dict[tuple[object, ...], int] = {}

    def shown(formulas: Mapping[Multi, Value], facts: Sequence[Value]) -> list[list[int]]:
        shorts = [
            generic_form(formula, facts) or Generic(formula, ()) for formula in formulas.values()
        ]
        return [text_ids([short.formula, *short.conditions], numbers) for short in shorts]

    used, facts = list(assumed), [assumption.condition for assumption in assumed]
    try:
        derived = derivatives(output, leaves, order, facts)
    except Contradiction:
        texts = ", ".join(f"`{assumption.text}`" for assumption in assumed)
        raise usage_error(
            f"the assumptions cannot all hold: {texts}", "leave one of them out"
        ) from None
    wanted = shown(derived, facts) if assumed else []
    for assumption in assumed:
        others = [other for other in used if other is not assumption]
        facts = [other.condition for other in others]
        if shown(derivatives(output, leaves, order, facts), facts) == wanted:
            used = others
    return derived, used


def _kink_notes(problem: _DiffProblem, derived: _Derived) -> KinkNotes:
    """Return where the formulas keep a convention, of the places that the assumptions admit."""
    facts = [one.condition for one in derived.assumed]
    return kink_notes(
        (problem.symbolic,),
        lambda _: derived.formulas.values(),
        problem.leaves,
        problem.order,
        facts,
    )


def _higher(
    m: NumberType,
    output: Value,
    formulas: Mapping[Multi, Value],
    numbers: Values,
    names: Sequence[str],
) -> list[Any]:
    order = len(next(iter(formulas), ()))
    at = value_and_gradient(m, output, numbers, names)
    met = breakpoints_met(at)
    if not met:
        try:
            return evaluate_in(m, list(formulas.values()), numbers).values
        except ExpressionError as error:
            # The place is in the derivative, which is not part of the input.
            message = f"the derivative has no value here: {error}"
            raise ExpressionError("derivative", message, None, error.hint) from None
    if order == 2:
        rows = smooth_around(
            lambda source: hessian_in(m, source, numbers, names), m, output, numbers, names, 2
        ).hessian
        return [rows[i][j] for i, j in formulas]
    if len(names) == 1:
        (by,) = names
        series = smooth_around(
            lambda source: taylor_in(m, source, numbers, by, order),
            m,
            output,
            numbers,
            names,
            order,
        )
        return [series[order] * math.factorial(order)]
    fault = met[0].refusal(
        f"derivatives of order {order} in several variables are not computed there"
    )
    raise error_at(fault, at.graph)


def _lost_digits(
    program: Program,
    output: Value,
    formulas: Mapping[Multi, Value],
    values: Mapping[str, float],
    point: Point,
    names: Sequence[str],
) -> list[Diagnostic]:
    if formulas.keys() <= {(k,) for k in range(len(names))}:
        # the value is not shown
        return rounding_warnings(
            program.graph, values, point, names, "diff", tolerated={"": math.inf}
        )

    def compute(m: NumberType, at: Mapping[str, Any]) -> dict[str, Any]:
        found = zip(formulas, _higher(m, output, formulas, {**at}, names), strict=True)
        return {f"the derivative by {quote([names[k] for k in by])}": x for by, x in found}

    return lost_number_warnings(program.graph, values, point, compute, "diff")


def _share(
    function: Value | None, derivatives: Sequence[Value], bound: Collection[str]
) -> _SharedParts:
    """Return formulas with their common parts named; the `function` is one of them where it is
    stated.
    """
    formulas = [*derivatives] if function is None else [function, *derivatives]
    order = in_order(formulas)
    uses: dict[Value, int] = {}
    for value in order:
        for p in value._prev:
            uses[p] = uses.get(p, 0) + 1
    taken = {v.label for v in order} | set(FUNCTIONS) | {"e", "pi", "π"} | set(bound)
    names = (f"t{k}" for k in count(1))
    parts: list[tuple[str, Value]] = []

    def rule(value: Value, inputs: tuple[Value, ...]) -> Value:
        copy = rebuild(value, inputs)
        deep = any(p._prev for p in value._prev) or (
            len(inputs) == 1 and not value.primitive.operator
        )
        if uses.get(value, 0) > 1 and deep and not value.primitive.gives_condition:
            name = next(name for name in names if name not in taken)
            parts.append((name, copy))
            return variable(name)
        return copy

    rest = rewrite(formulas, rule)
    first = len(formulas) - len(derivatives)
    return _SharedParts(parts, rest[:first], rest[first:])


def _module(
    text: str, outputs: Sequence[Value], wanted: tuple[str, ...], notes: tuple[str, ...]
) -> str:
    from ...compiled.lowering import Lowering
    from ...compiled.target import SourceUnit
    from ...engine.numbers.double.formulas import Lacking

    writer = resolve("export.targets.target")("python")
    assert writer is not None
    graph = graph_of(outputs)
    leaves = [i for i, primitive in enumerate(graph.primitives) if primitive is VARIABLE]
    recorder = Lowering(writer.forms, writer.functions)
    try:
        recording = record_values(graph, leaves, recorder)
    except Lacking as lacking:
        raise usage_error(
            f"{writer.title} has no function `{lacking}`, which the derivative needs",
            "leave the function out, or print the formula as text",
            span=graph.span(recorder.node),
        ) from None
    reordered = recording._replace(values=recording.values[:1], partials=recording.values[1:])
    variables = tuple(graph.labels[i] for i in leaves)
    unit = SourceUnit(text, "derivative", variables, wanted, reordered, {}, notes=notes)
    return str(writer.module(unit)).rstrip("\n")


def where_latex(condition: str | None) -> str:
    """Return a condition in LaTeX, to follow its formula."""
    return rf" \quad \text{{where }} {condition}" if condition else ""
