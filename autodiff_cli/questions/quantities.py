"""Values with units, and units of results; programs compute in coherent SI units."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial, reduce
from operator import mul, truediv
from typing import Any, cast

from ..engine.graphs.value_and_gradient import at_point
from ..engine.numbers.dimensions import Dimensioned, Dimensions, UnknownDimensions
from ..engine.quantities import unit as unit_tools
from ..engine.quantities.presentation import factor, present
from ..engine.quantities.table import units_file
from ..engine.quantities.unit import (
    NUMBER,
    AmbiguousUnit,
    Dimension,
    Unit,
    parse_unit,
    quantity_name,
    si_unit,
    unit_or_none,
)
from ..engine.run.evaluation import Evaluation
from ..engine.table.operators import ADD, CONSTANT, DIV, MUL
from ..engine.table.primitive import FUNCTIONS, Primitive
from ..errors import (
    Diagnostic,
    ExpressionError,
    Span,
    plural,
    quote,
    usage_error,
)
from ..language.builder import CONSTANTS, Program
from ..language.tokens import has_unit_literals, is_name, plain_number
from .conversions import converted_twice
from .parse_point import Range, constant_value, split
from .periods import check_one_kind, mixed_kinds
from .powers_of_ten import in_e_notation
from .problem import Names, Quantity, evaluate_constant, output_names


class Units(dict[str, Any]):
    """The units of an answer's numbers, by field, in the shape of the numbers."""

    fixed = False
    typed: Mapping[str, float] = {}
    asked: Collection[str] = ()

    def __repr__(self) -> str:
        return repr(self.texts())

    def texts(self) -> dict[str, Any]:
        """Return the units as texts: `1` for a number, None for an unknown unit."""
        return cast(
            dict[str, Any], map_units(self, lambda unit: None if unit is None else str(unit) or "1")
        )


def map_units(tree: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to each unit in a tree of lists and dictionaries."""
    if isinstance(tree, dict):
        return {name: map_units(item, function) for name, item in tree.items()}
    return (
        [map_units(item, function) for item in tree] if isinstance(tree, list) else function(tree)
    )


_NUMBER = re.compile(
    r"\s*([-+−]?(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][-+−]?\d{1,3}(?!\d))?)\s*+", re.ASCII
)
# behind a number, as in `9.81(1)`: its uncertainty, and no unit
_DIGITS = re.compile(r"\(\s*[\d.]+\s*\)")
# A number with its unit as in a formula: `2[kg]`.
_IN_BRACKETS = re.compile(rf"{_NUMBER.pattern}\[([^\[\]\d:][^\[\]:]*)\](?=\s*\Z)", re.ASCII)
_BEGINS_UNIT = re.compile(r"[^\W\d_]|[°º℃℉′″'\"(]|1\s*/|/")
# A number as Fortran writes it, and no power of a day.
_FORTRAN = re.compile(r"\s*([-+−]?[\d.]+)([dD])([-+]?\d+)\s*")
_BEFORE_UNIT = re.compile(r"(?<=[\w.)])\s*+[*·×]?\s*+(?=[^\W\d]|°)")
_WORDS = re.compile(r"[^\W\d]\w*")
# A name that people give to a difference of temperatures: `dT`, `ΔT`, `delta_T`, `T_diff`.
_IS_DIFFERENCE = re.compile(
    r"(?:[Δ∆δ]_?|[dD]elta_?|[dD]_?(?=[Ttθϑ](?:\d|_|$)|T|theta|temp))[^\W\d_]\w*|\w+_?[dD]iff(?:erence)?"
)


def quantity_value(name: str, text: str, offset: int = 0) -> float:
    """Return the value of a constant expression, which may be followed by a unit.

    `offset` is its place in a longer text. Raises `ExpressionError` of kind `point`.

    >>> length = quantity_value("L", "2 mm")
    >>> length, length.number, str(length.unit), length.source
    (0.002, 2.0, 'mm', '1/500')
    """
    text = in_e_notation(text)
    try:
        parts = split_quantity(text)
    except ExpressionError as error:
        span = error.span
        moved = (
            Span(span.start + offset, span.end + offset)
            if span
            else Span(offset, offset + len(text))
        )
        raise _refuse(
            f"the value of `{name}` cannot be used: {error}", moved, error.hint, text
        ) from None
    if parts is not None:
        return make_quantity(name, *parts, text, offset)
    try:
        return constant_value(name, text, offset)
    except ExpressionError as error:
        fortran = _FORTRAN.fullmatch(text)
        if fortran:
            span = Span(offset + fortran.start(2), offset + fortran.end(2))
            message = f"the value of `{name}` cannot be used: an exponent is written with `e`"
            hint = f"write `{fortran[1]}e{fortran[3]}`"
            raise _refuse(message, span, hint, text) from error
        written = _in_parentheses(text)
        if written is None:
            raise
        span = Span(offset, offset + len(text))
        message = (
            f"the value of `{name}` can be read in two ways: its unit belongs to the last number,"
            " or to all before it"
        )
        hint = f"write `{written}` if it is that of the whole value"
        raise _refuse(message, span, hint, text) from error


def _in_parentheses(text: str) -> str | None:
    """Return an expression before a unit in parentheses, `(1/2) m`; None if it is none."""
    first = max(len(text) - unit_tools.MAX_UNIT_CHARACTERS, 0)
    for match in _BEFORE_UNIT.finditer(text, first):
        before, unit = text[: match.start()].strip(), text[match.end() :].strip()
        if unit_or_none(unit) is not None:
            with suppress(ExpressionError):
                evaluate_constant(before)
                return f"({before}) {unit}"
    return None


def _refuse(
    message: str, span: Span | None, hint: str | None, text: str, kind: str = "point"
) -> ExpressionError:
    error = ExpressionError(kind, message, span, hint)
    error.text = text
    return error


def split_quantity(text: str) -> tuple[str, Unit] | None:
    """Return the number and the unit behind it, or in brackets; None without a unit."""
    text = in_e_notation(text)
    if "[" in text:
        text = _IN_BRACKETS.sub(r"\1 \2", text)
    match = _NUMBER.match(text)
    if match is None:
        return _expression_and_unit(text)
    end = match.end()
    rest = text[end:]
    if not rest or not _BEGINS_UNIT.match(rest) or _DIGITS.match(rest):
        return None
    try:
        return match[1].replace("−", "-").replace("_", ""), parse_unit(rest.rstrip())
    except ExpressionError as error:
        from .mixed_units import in_mixed_units  # few values have several units

        if match[0][-1:].isdigit():
            _check_no_decimal_prefix(match[1], rest, end)
        is_ambiguous = isinstance(error, AmbiguousUnit)
        mixed = None if is_ambiguous else in_mixed_units(text)
        if mixed is not None or (not is_ambiguous and _is_expression(rest)):
            return mixed
        span = error.span or Span(0, len(rest))
        found = type(error)("point", str(error), Span(span.start + end, span.end + end), error.hint)
        raise found from None


# `4k7`, whose prefix is its decimal point.
_DECIMAL_PREFIX = re.compile(r"([kMGnpuµμ])(\d{1,3})(?![\w.])\s*([^\W\d_]+)?", re.ASCII)


def _check_no_decimal_prefix(number: str, rest: str, place: int) -> None:
    """Raise an error for `4k7`, the value of a part of a circuit."""
    found = _DECIMAL_PREFIX.match(rest)
    if found is None or not number.isdigit():
        return
    prefix, digits, unit = found.groups()
    spelled = f"{number}.{digits} {prefix}{unit}" if unit else f"{number}.{digits} {prefix}ohm"
    raise ExpressionError(
        "point",
        f"`{number}{prefix}{digits}` has a prefix for its decimal point",
        Span(place, place + found.end(2)),
        f"write it with its unit, as in `{spelled}`",
    )


def _is_expression(rest: str) -> bool:
    """Return whether what stands behind a number, and is no unit, makes an expression or another
    language's number.
    """
    # `0x10` and `1d5` are notations of other languages, which the number parser reports
    prefixed = re.match(r"[^\W\d_]+(?=\d)|'\d{3}(?!\d)", rest)
    is_fortran = _FORTRAN.fullmatch(f"0{rest}") is not None
    foreign = is_fortran or (prefixed is not None and unit_or_none(prefixed[0]) is None)
    functions = {*_WORDS.findall(rest)} & (CONSTANTS.keys() | FUNCTIONS.keys())
    if "(" not in rest:  # `sec` and `deg` are functions and names of units
        functions -= {*units_file()["refused"], *filter(unit_or_none, functions)}
    return bool(functions) or rest[0] in "(/1" or foreign


def _expression_and_unit(text: str) -> tuple[str, Unit] | None:
    """Return the expression before a unit: in parentheses, a call or a name; None without a
    unit.
    """
    depth, first = 0, max(len(text.rstrip()) - unit_tools.MAX_UNIT_CHARACTERS, 0)
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth or index < first or not (char == " " or text[index - 1] == ")"):
            continue
        before = text[:index].strip()
        unit = unit_or_none(text[index:].strip()) if before else None
        if unit is None:
            continue
        inner = before.lstrip("+-−")
        is_call = re.fullmatch(r"(?:[^\W\d]\w*)?\(.*\)", inner, re.DOTALL)
        if is_call or is_name(inner):
            return before, unit
    return None


def make_quantity(name: str, number: str, unit: Unit, text: str, offset: int = 0) -> Quantity:
    """Return an expression's value in a unit; decimals are converted as fractions."""
    value = constant_value(name, number, offset)
    if (
        plain_number(number)
        and (abs(value) < 1e300 and (not value or abs(value) > 1e-300))
        and not unit.pi
    ):
        exact = Fraction(number) * unit.scale + unit.zero
        si, source = to_double(exact), str(exact)
    else:
        zero = f" + {unit.zero}" if unit.zero else ""
        source = f"({number})*({unit.factor_text}){zero}"
        si = evaluate_constant(source)
    if not math.isfinite(si):
        raise _refuse(
            f"`{name}` is too large for double precision", None, "give a smaller number", text
        )
    check_temperature(name, si, unit, text, offset)
    quantity = Quantity(si)
    quantity.source, quantity.number, quantity.unit = source, float(value), unit
    return quantity


def _difference(text: str, unit: Unit) -> str:
    """Return how a value on a scale of temperatures is written as a difference, in kelvin."""
    number, sign, rest = text.strip().rpartition(str(unit))
    if sign and not rest and unit.scale == 1:
        return f"write `{number.strip()} K`"
    return f"write it in K; 1 {unit} is {unit.scale} K of a difference"


def check_temperature(name: str, si: float, unit: Unit, text: str, offset: int = 0) -> None:
    """Raise an `ExpressionError` for a temperature below absolute zero, and for one that is a
    difference by its name, `dT=5 °C`.
    """
    if unit.zero and _IS_DIFFERENCE.fullmatch(name):
        message = f"`{name}={text.strip()}` is a difference by its name, and {unit} is a scale"
        hint = f"{_difference(text, unit)}; a temperature needs another name"
        raise _refuse(message, Span(offset, offset + len(text)), hint, text)
    if unit.zero and si < 0:
        message = f"`{name}={text.strip()}` is below absolute zero"
        hint = f"that is {present(0.0, unit):.6g} {unit}"
        raise _refuse(message, Span(offset, offset + len(text)), hint, text)


def to_double(exact: Fraction) -> float:
    """Return the double nearest to a fraction; infinite on overflow."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def parse_units(texts: Names, outputs: Sequence[str]) -> dict[int, Unit]:
    """Return the units in `--in` by output index: `mm`, `mm, kN` in order, or `y=mm`."""
    if texts is None:
        return {}
    listed = [
        piece for text in ([texts] if isinstance(texts, str) else texts) for piece in split(text)
    ]
    units: dict[int, Unit] = {}
    for k, piece in enumerate(listed):
        name, equals, text = (part.strip() for part in piece.rpartition("="))
        if equals and name not in outputs:
            raise usage_error(
                f"`--in` names `{name}`, which is not an output", f"the outputs: {quote(outputs)}"
            )
        if not equals and k >= len(outputs):
            raise usage_error(
                f"`--in` has {len(listed)} units for {plural(len(outputs), 'output')}",
                "leave some out",
            )
        try:
            units[outputs.index(name) if equals else k] = parse_unit(text)
        except ExpressionError as error:
            raise _refuse(f"`--in {piece}`: {error}", None, error.hint, piece, "usage") from None
    return units


def _dimensioned(unit: Unit) -> Dimensioned:
    return Dimensioned(unit.dimension, temperatures=Fraction(1) if unit.zero else None)


def _temperatures(
    program: Program, leaves: Mapping[str, Dimensioned], unknowns: Mapping[str, Dimensioned]
) -> list[Dimensioned]:
    """Return the dimensions of unknowns, as those of differences where the equations are of
    differences.
    """
    differences = {name: of._replace(temperatures=Fraction(0)) for name, of in unknowns.items()}
    sides = evaluate_dimensions(Dimensions(), program, {**leaves, **differences}).values
    return [*(differences if any(side.temperatures == 0 for side in sides) else unknowns).values()]


def _units_of(values: Mapping[str, Any]) -> dict[str, Unit]:
    """Return the units of values, which numbers lack."""
    return {name: getattr(value, "unit", None) or Unit() for name, value in values.items()}


def _chosen_units(
    inputs: Sequence[Unit], system: bool
) -> tuple[unit_tools.UnitSystem | None, Callable[[Dimension], Unit]]:
    """Return the system of units if one is asked for, and the function from a dimension to its
    unit.
    """
    if not system:
        return None, partial(unit_tools.choose, inputs=inputs)
    own = unit_tools.UnitSystem(sorted(inputs, key=lambda unit: len(unit.atoms)))
    return own, own.unit


def _solved(
    m: UnknownDimensions,
    own_unit: Mapping[str, Unit | None],
    values: Mapping[str, Any],
    ranges: Mapping[str, Range],
) -> list[Dimensioned]:
    """Return the dimensions of the unknowns."""
    solved = [
        _solve(m, name, unit, values.get(name), ranges.get(name)) for name, unit in own_unit.items()
    ]
    return [*map(Dimensioned, solved)]


def _dimensions(
    program: Program, leaves: Mapping[str, Dimensioned], own_unit: Mapping[str, Unit | None]
) -> tuple[Any, Evaluation]:
    """Return the dimensions of a program's nodes; those of unknowns are their own units', or to be
    solved for.
    """
    if not own_unit:
        m: Any = Dimensions()
        return m, evaluate_dimensions(m, program, leaves)
    m = UnknownDimensions([name for name, unit in own_unit.items() if unit is None])
    unknowns = {
        name: m.unknown(name) if x is None else Dimensioned(x.dimension)
        for name, x in own_unit.items()
    }
    return m, evaluate_dimensions(m, program, {**leaves, **unknowns})


_ENERGY, _LENGTH = parse_unit("J").dimension, parse_unit("m").dimension


class ProgramUnits:
    """The units of a program's variables, nodes and outputs at a point."""

    def __init__(
        self,
        program: Program,
        values: Mapping[str, Any],
        asked: Names = None,
        *,
        unknowns: Sequence[str] = (),
        ranges: Mapping[str, Range] = {},
        system: bool = False,
        over: str = "",
    ) -> None:
        """Propagate dimensions through the graph. Raises `ExpressionError` if they are
        inconsistent.

        In a `system`, outputs are in products of input units; else in an input unit, or the SI's.
        An unknown has the dimension of its start or bounds, else the one that makes the equations
        consistent. The outputs are integrated `over` a variable.
        """
        self.unknowns = list(unknowns)
        self.warnings: list[Diagnostic] = []
        self.point = _units_of(
            {name: value for name, value in values.items() if name not in unknowns}
        )
        own_unit = {name: _own_unit(name, values.get(name), ranges.get(name)) for name in unknowns}
        leaves = {name: _dimensioned(unit) for name, unit in self.point.items()}
        m, evaluation = _dimensions(program, leaves, own_unit)
        self.dimensions: list[Any] = evaluation.graph.data
        self._inputs = [self.point[name] for name in program.leaves if name in self.point]
        self._inputs += filter(None, own_unit.values())
        self._system, self._unit = _chosen_units(self._inputs, system)
        rates = results = evaluation.values
        if unknowns:
            results = _solved(m, own_unit, values, ranges)
        if over:
            results = [
                Dimensioned(m.mul(of, leaves[over]).dimension, None, Fraction(0)) for of in rates
            ]
        self.chosen: set[int] = set()
        self.outputs = self._outputs(program, results, asked, own_unit, leaves)
        if over and not self.chosen and not system:
            self.outputs = [self._integrated(rates[0].dimension, self.point[over], self.outputs[0])]
        self.point |= dict(zip(unknowns, self.outputs, strict=bool(unknowns)))
        self.numbers = self._numbers_in_units(values)
        self.sides = (
            [self._side(m.resolve(of.dimension)) for of in rates] if unknowns else self.outputs
        )
        self._node_units = self._units_of_nodes(program)
        self._check_periods(program)
        self._check_conversions(program)

    def _check_periods(self, program: Program) -> None:
        """Note where some units count periods and others are of angles, which numbers do not tell
        apart.
        """
        names = [] if self.unknowns else output_names(program)
        answers = [
            (f"the answer `{name}`", unit)
            for name, unit in zip(names, self.outputs, strict=bool(names))
        ]
        asked = {name: unit for k, (name, unit) in enumerate(answers) if k in self.chosen}
        named = {f"`{name}`": unit for name, unit in self.point.items()}
        if (mixed := mixed_kinds(program, {**named, **dict(answers)}, asked)) is not None:
            self.warnings.append(mixed)

    def _check_conversions(self, program: Program) -> None:
        """Note where the formula converts what has a unit, as if it were a number in this unit."""
        wanted = {} if self.unknowns else {k: self.outputs[k] for k in self.chosen}
        if (twice := converted_twice(program, self.point, wanted)) is not None:
            self.warnings.append(twice)

    def _numbers_in_units(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the numbers of values that are given in the variable's unit, as they were
        typed.
        """
        return {
            name: x.number
            for name, x in values.items()
            if getattr(x, "unit", None) == self.point[name]
        }

    def _units_of_nodes(self, program: Program) -> dict[int, Unit]:
        """Return the units of differences of the variables and the outputs."""
        units = {i: self.point[name].difference for name, i in program.places.items()}
        return units | {
            i: unit.difference for i, unit in zip(program.graph.roots, self.sides, strict=True)
        }

    def _outputs(
        self,
        program: Program,
        results: Sequence[Dimensioned],
        asked: Names,
        own_unit: Mapping[str, Unit | None],
        leaves: Mapping[str, Any],
    ) -> list[Unit]:
        """Return the units of the outputs: those that are asked for, or the unknowns' own, or usual
        ones.
        """
        wanted = {} if asked is None else parse_units(asked, self.unknowns or output_names(program))
        own = {
            k: unit for k, name in enumerate(self.unknowns) if (unit := own_unit[name]) is not None
        }
        if self.unknowns and any(unit.zero for unit in (own | wanted).values()):
            results = _temperatures(program, leaves, dict(zip(self.unknowns, results, strict=True)))
        used = [unit.dimension for unit in self._inputs] + [result.dimension for result in results]
        self._in_si = (
            has_unit_literals(program.text)
            or self._system is None
            or not self._system.has_units_for(used)
        )
        self.chosen = {*wanted, *own}
        return [self._output(result, wanted.get(k), own.get(k)) for k, result in enumerate(results)]

    def _integrated(self, rate: Dimension, by: Unit, usual: Unit) -> Unit:
        """Return the unit of an integral: `N·s`, unless an input or the SI has one symbol for it,
        as `J`.
        """
        product = self._unit(rate).difference * by.difference
        symbols = {parse_unit(symbol).dimension for symbol, _ in product.atoms}
        # `N·m²`, not `J·m`: a force times lengths is no energy
        is_simple = len(product.atoms) == len(symbols) == 2 and not symbols >= {_ENERGY, _LENGTH}
        return product if is_simple and len(usual.atoms) > 1 else usual

    def _side(self, dimension: Dimension | None) -> Unit:
        return Unit() if dimension is None else unit_tools.choose(dimension, self._inputs)

    def _output(self, result: Dimensioned, asked: Unit | None, own: Unit | None) -> Unit:
        unit = asked or own
        if unit is None:
            return self._unit(result.dimension)
        if unit.dimension != result.dimension:
            ours, theirs = quantity_name(result.dimension), quantity_name(unit.dimension)
            hint = f"ask for it in a unit such as `--in {si_unit(result.dimension)}`"
            hint = hint if result.dimension != NUMBER else "leave `--in` out"
            if result.dimension == parse_unit("kg").dimension and unit.dimension == _ENERGY:
                hint += "; the energy of a mass is that times `299792458[m/s]**2`"
            raise usage_error(f"the answer is {ours}, and `--in {unit}` is for {theirs}", hint)
        if unit.zero and result.temperatures == 0:
            message = (
                f"the answer is a difference of temperatures, and `--in {unit}` is for a"
                " temperature"
            )
            raise usage_error(message, "ask for it in kelvin: `--in K`")
        if asked is not None and asked.zero and self.point:
            why = (
                "a temperature on this scale is a value; its derivatives are of differences, in"
                " kelvin"
            )
            hint = "leave `--in` out for kelvin"
            self.warnings.append(Diagnostic("unit", f"the answer is in {asked}: {why}", None, hint))
        return unit

    def derivative(self, names: Sequence[str], output: int = 0) -> Unit:
        """Return the unit of an output's derivative by these variables in succession.

        In a unit that was asked for, a first derivative stays in it over that of the variable:
        `mm/m`.
        """
        if not names:
            return self.outputs[output].difference
        kept = output in self.chosen and len(names) == 1
        return self._ratio(
            output, [self.point.get(name, Unit()).difference for name in names], kept=kept
        )

    def sensitivity(self, name: str, output: int) -> Unit:
        """Return the unit of an output over that of a variable: times an uncertainty, it is a
        contribution.
        """
        below = self.point[name].degree
        unit = unit_tools.ratio(self.outputs[output].degree, below, kept=True)
        # a product of other units cannot replace `mm/m`
        return (
            unit
            if unit.atoms and unit.dimension == NUMBER
            else self._of_system(unit, output, [below])
        )

    def _ratio(self, output: int, below: Sequence[Unit], *, kept: bool = False) -> Unit:
        unit = unit_tools.ratio(self.outputs[output], reduce(mul, below), len(below) > 1, kept=kept)
        return self._of_system(unit, output, below)

    def _of_system(self, unit: Unit, output: int, below: Sequence[Unit]) -> Unit:
        """Return the unit of a derivative by variables in units `below`, which the system of units
        replaces.
        """
        if self._system is None or output in self.chosen:
            return unit
        # products of other units cannot replace degrees and per cent
        return reduce(
            truediv,
            [one for one in below if one.dimension == NUMBER],
            self._system.unit(unit.dimension),
        )

    def in_system(self, tree: Any) -> Any:
        """Return the units in which numbers of these dimensions need no factor: the system's, or
        the SI's.
        """
        assert self._system is not None
        unit = si_unit if self._in_si else self._system.unit
        return map_units(tree, lambda own: unit(own.dimension))

    def quotient(self, by: Iterable[str]) -> Unit:
        """Return the unit of the output over those of these variables."""
        return reduce(
            truediv, (self.point.get(name, Unit()).degree for name in by), self.outputs[0].degree
        )

    def factor_of(self, unit: Unit, by: Iterable[str]) -> float:
        """Return the factor from that `quotient` to this unit."""
        return factor(self.quotient(by), unit)

    def of_steps(self, free: Iterable[str]) -> Units:
        """Return the units of an iterate; those of derivatives are quotients."""
        return self.tree(**step_units(self.outputs[0], self.point, free))

    def node(self, i: int) -> Unit:
        """Return the unit of differences of a graph node."""
        return (
            self._node_units[i]
            if i in self._node_units
            else self._unit(self.dimensions[i].dimension)
        )

    def adjoint(self, i: int) -> Unit:
        """Return the unit of the first output's derivative by a graph node."""
        return self._ratio(0, [self.node(i)], kept=0 in self.chosen)

    def gradient(self, wanted: Iterable[str], output: int = 0) -> dict[str, Unit]:
        """Return the units of an output's derivatives by these variables."""
        return {name: self.derivative([name], output) for name in wanted}

    def of_gradient(self, wanted: Iterable[str], bound: Sequence[int | None] = ()) -> Units:
        """Return the units of a gradient; `bound` are the nodes of intermediates."""
        units = self.tree(value=self.outputs[0], gradient=self.gradient(wanted))
        if bound:
            units["intermediates"] = [
                (
                    {"value": Unit(), "grad": Unit()}
                    if i is None
                    else {"value": self.node(i), "grad": self.adjoint(i)}
                )
                for i in bound
            ]
        return units

    def of_jacobian(self, names: Sequence[str]) -> Units:
        """Return the units of a Jacobian's numbers."""
        matrix = [[self.derivative([name], k) for name in names] for k in range(len(self.outputs))]
        return self.tree(values=self.outputs, jacobian=matrix)

    def of_hessian(self, names: Sequence[str]) -> Units:
        """Return the units of a Hessian's numbers."""
        places = range(len(names))
        matrix = [
            [self.derivative([names[min(j, k)], names[max(j, k)]]) for j in places] for k in places
        ]
        return self.tree(value=self.outputs[0], gradient=self.gradient(names), hessian=matrix)

    def tree(self, **fields: Any) -> Units:
        """Return the units of an answer's fields and of its point."""
        units = Units({**fields, "point": self.point})
        units.fixed, units.typed = bool(self.chosen), self.numbers
        return units

    def in_own_units(
        self,
        program: Program,
        others: Mapping[str, Unit] = {},
        computed: Callable[[Unit], Unit] | None = None,
    ) -> Program:
        """Return the program for numbers in its own units, or in those of `others`, as
        `in_own_units` does.
        """
        return in_own_units(program, {**self.point, **others}, self.sides, computed)

    def number_of(self, name: str, x: float) -> float:
        """Return a variable's value in its unit, as typed."""
        return self.numbers[name] if name in self.numbers else present(x, self.point[name])

    def of_solution(self, by: Sequence[str], order: int = 1) -> Units:
        """Return the units of a solution and of its derivatives up to this order."""
        named = {name: self.point[name] for name in self.unknowns}
        numbered = [*enumerate(self.unknowns)]
        units = self.tree(
            values=named, derivatives={name: self.gradient(by, k) for k, name in numbered}
        )
        if order > 1:
            units["second"] = {
                name: {x: {y: self.derivative([x, y], k) for y in by} for x in by}
                for k, name in numbered
            }
        units["errors"] = {name: unit.difference for name, unit in named.items()}
        units["residuals"] = self.sides
        units["point"] = {
            name: unit for name, unit in self.point.items() if name not in self.unknowns
        }
        units.asked = [self.unknowns[k] for k in self.chosen]
        return units

    def ends(self, name: str, ends: tuple[float, float]) -> tuple[float, float]:
        """Return an unknown's bounds in its unit."""
        unit = self.point[name]
        return present(ends[0], unit), present(ends[1], unit)


def _own_unit(name: str, start: Any, ends: Range | None) -> Unit | None:
    typed = [x for x in (*(ends or ()), start) if x is not None]
    units = [x.unit for x in typed if hasattr(x, "unit")]
    if not units:
        return None
    own: Unit = units[0]
    for unit in units:
        if unit.dimension != own.dimension:
            theirs = f"{quantity_name(own.dimension)} and {quantity_name(unit.dimension)}"
            raise usage_error(
                f"`{name}` has two dimensions, {theirs}",
                "give its bounds and its start in one dimension",
            )
        check_one_kind(name, own, unit)
    for x in typed:
        if not hasattr(x, "unit") and float(x) and own.dimension != NUMBER:
            raise usage_error(
                f"`{name}` has values with a unit and without one", f"write `{float(x):g} {own}`"
            )
    return own


def _solve(
    m: UnknownDimensions, name: str, own: Unit | None, start: Any, ends: Range | None
) -> unit_tools.Dimension:
    if own is not None:
        return own.dimension
    dimension = m.solution(name)
    if dimension is None:
        message = f"the equations do not determine the unit of `{name}`"
        raise usage_error(
            message, f'give bounds with a unit, `--between "{name}=0 m:1 m"`, or a start'
        )
    typed = [x for x in (start, *(ends or ())) if x is not None and float(x)]
    if typed and dimension != NUMBER:
        what = "its start is a number" if start is not None else "its bounds are numbers"
        message = f"`{name}` is {quantity_name(dimension)}, and {what}"
        raise usage_error(message, f"give a unit: `{float(typed[0]):g} {si_unit(dimension)}`")
    return dimension


def evaluate_dimensions(m: Dimensions, program: Program, leaves: Mapping[str, Any]) -> Evaluation:
    """Evaluate dimensions on all branches. Raises if they are inconsistent."""
    graph = at_point(m, program.graph, leaves)
    graph.has_lazy_inputs = False
    return Evaluation(m, graph)


def needed_dimension(program: Program, name: str, units: Mapping[str, Unit]) -> Dimension | None:
    """Return the dimension that a variable needs for the formula to be consistent; None if it may
    have several.
    """
    m = UnknownDimensions([name])
    leaves = {other: Dimensioned(unit.dimension) for other, unit in units.items()}
    evaluate_dimensions(m, program, leaves | {name: m.unknown(name)})
    return m.solution(name)


def unit_value(unit: Unit, number: float = 0.0) -> Quantity:
    """Return a value in a unit, from which to derive units of results."""
    value = Quantity(unit.to_si(number))
    value.source, value.number, value.unit = repr(float(value)), number, unit
    return value


def step_units(value: Unit, point: Mapping[str, Unit], free: Iterable[str]) -> Units:
    """Return the units of an iterate; the gradient norm has none if the units differ."""
    slopes = {name: value.degree / point[name].degree for name in free}
    norm = {*slopes.values()}
    of_norm = norm.pop() if len(norm) == 1 else None
    return Units(value=value, gradient=slopes, gradient_norm=of_norm, point={**point})


def unit_of_rate(units: Units, free: Iterable[str], scaled: bool = False) -> str:
    """Return the unit of a descent's rate, by `scaled` derivatives or not; several are listed."""
    own = {name: units["point"][name].degree for name in free}
    if not scaled:
        own = {name: unit / units["gradient"][name] for name, unit in own.items()}
    texts = {name: str(unit) or "1" for name, unit in own.items()}
    shared = {*texts.values()}
    if len(shared) == 1:
        return shared.pop()
    lists: dict[str, set[str]] = {}
    for name, text in texts.items():
        lists.setdefault(name.partition("[")[0], set()).add(text)
    # a list by its name if its entries have one unit
    stems = {name: name.partition("[")[0] for name in texts}
    by_name = {name if len(lists[stems[name]]) > 1 else stems[name]: x for name, x in texts.items()}
    return ", ".join(f"{text} for `{name}`" for name, text in by_name.items())


def direction_in_units(
    units: ProgramUnits, direction: Mapping[str, float | str]
) -> tuple[dict[str, float | str], dict[str, Unit], Unit]:
    """Return a direction in coherent units, its components' units, and their common divisor."""
    values: dict[str, float | str] = {}
    shown: dict[str, Unit] = {}
    rates: dict[str, Unit] = {}
    for name, component in direction.items():
        own = units.point.get(name, Unit()).degree
        value = quantity_value(name, component) if isinstance(component, str) else component
        number = value.number if isinstance(value, Quantity) else value
        shown[name] = value.unit.degree if isinstance(value, Quantity) else own
        source = getattr(value, "source", None) if not isinstance(value, Quantity) else None
        values[name] = make_quantity(
            name, source or repr(float(number)), shown[name], str(component)
        )
        if number:
            rates[name] = own / shown[name]
    first, *others = rates or [""]
    for name in others:
        if rates[name].dimension != rates[first].dimension:
            message = (
                f"the components of the direction by `{first}` and `{name}` are not per the same"
                " unit"
            )
            raise usage_error(
                message, "give all components in the units of their variables, or all per second"
            )
    return values, shown, si_unit(rates[first].dimension) if rates else Unit()


def in_own_units(
    program: Program,
    variables: Mapping[str, Unit],
    sides: Sequence[Unit],
    computed: Callable[[Unit], Unit] | None = None,
) -> Program:
    """Return the program with variables and outputs converted to these units.

    It computes in the units of `computed`, by default the SI's: its own numbers may have units.
    """
    of_system = computed or (lambda unit: si_unit(unit.dimension))
    source, leaves = program.all_nodes, {i: name for name, i in program.leaves.items()}
    primitives: list[Primitive] = []
    parents: list[tuple[int, ...]] = []
    places: list[Any] = []
    constants: dict[int, tuple[float, str | None]] = {}

    def node(primitive: Primitive, inputs: tuple[int, ...], place: Any) -> int:
        primitives.append(primitive)
        parents.append(inputs)
        places.append(place)
        return len(places) - 1

    def converted(k: int, unit: Unit, to: Unit, place: Any) -> int:
        scale, pi, zero = unit.scale / to.scale, unit.pi - to.pi, (unit.zero - to.zero) / to.scale
        steps = [
            (MUL, math.pi ** float(pi)),
            (MUL, float(scale.numerator)),
            (DIV, float(scale.denominator)),
        ]
        steps = [step for step in steps if step[1] != 1] + [(ADD, float(zero))] * bool(zero)
        for primitive, number in steps:
            constant = node(CONSTANT, (), place)
            constants[constant] = number, None
            k = node(primitive, (k, constant), place)
        return k

    moved: list[int] = []
    own: dict[str, int] = {}
    for i, (primitive, inputs, place) in enumerate(
        zip(source.primitives, source.parents, source.places, strict=True)
    ):
        k = node(primitive, tuple([moved[p] for p in inputs]), place)
        if i in source.constants:
            constants[k] = source.constants[i]
        if i in leaves:
            own[leaves[i]] = k
            unit = variables.get(leaves[i], Unit())
            k = converted(k, unit, of_system(unit), place)
        moved.append(k)
    roots = [
        converted(moved[root], of_system(unit), unit, source.places[root])
        for root, unit in zip(program.roots, sides, strict=True)
    ]
    graph = source.replace(
        primitives=primitives, parents=parents, places=places, constants=constants
    )
    graph.roots, graph.names = (
        tuple(roots),
        ({moved[i]: label for i, label in source.names[0].items()}, own),
    )
    bound = [(name, place, moved[i]) for name, place, i in program.bound]
    return Program(program.text, graph, program.parameters, program.constants, bound)


def ranges_in(
    ranges: Mapping[str, Range], units: Mapping[str, Unit], what: str = "a bound of it"
) -> dict[str, Range]:
    """Return ranges in the units of their variables. Raises a usage error on other dimensions."""

    def end(name: str, x: float | None) -> float | None:
        if x is None:
            return None
        unit = units.get(name, Unit())
        own = x.unit if isinstance(x, Quantity) else Unit()
        if own.dimension != unit.dimension and (isinstance(x, Quantity) or x or unit.zero):
            mine, theirs = quantity_name(unit.dimension), quantity_name(own.dimension)
            raise usage_error(
                f"`{name}` is {mine}, and {what} is {theirs}",
                f"write `{float(x):g} {unit}`".rstrip(),
            )
        check_one_kind(name, unit, own)
        return x.number if isinstance(x, Quantity) and own == unit else present(float(x), unit)

    return {name: Range(end(name, low), end(name, high)) for name, (low, high) in ranges.items()}
