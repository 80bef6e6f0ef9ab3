"""A session: names with values and definitions, and programs of lines.

A name is a number or a formula: after `h = x + 1`, `h` changes with `x`. The program of a line
consists of the needed definitions and the line; numbers are its point.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import accumulate, product
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

from ...engine.graphs.value import in_order
from ...engine.numbers.budget import use_budget
from ...errors import Diagnostic, ExpressionError, Offer, Span, usage_error
from ...language.builder import CONSTANTS, SIMPLE, Program
from ...language.diagnostics.leniency import AsRead, read_leniently
from ...language.diagnostics.measured import measured_numbers
from ...language.elements import element_name, list_texts
from ...language.printer import expression_text, number_text
from ...language.tokens import (
    CLOSE,
    EQUALS,
    KIND,
    NAME,
    OPEN,
    UNREADABLE,
    has_unit_literals,
    names_in,
    scan,
)
from ...questions.arithmetic import DOUBLE
from ...questions.calculus_words import variables_in
from ...questions.parse_point import parse_point
from ...questions.problem import SPREAD, check_products, parse, single_output
from ...questions.typed_lines import (
    IN_UNIT,
    TypedStatement,
    check_per_cent,
    in_symbols,
    is_slope,
    slope_of_no_formula,
)
from ...show.numerals import attach_units, format_number
from ...streams.requests import value_with_unit
from ..derivatives.gradient import Gradient, gradient, plain_gradient
from ..formulas.differential_operator import differential_operator

if TYPE_CHECKING:
    from ..formulas.diff import Diff
    from ..formulas.diff_view import Listing

Answer = TypeVar("Answer")

ANSWER = "ans"
# The most derivatives shown with a list; `jacobian` shows all.
MAX_LISTED_DERIVATIVES = 400
MAX_ANSWER_LENGTH = 10_000
_PRIMES = re.compile("['’′]+|[\"″”]")
_OPERANDS = frozenset(KIND[name] for name in ("NAME", "NUMBER", "COEFFICIENT"))
# A number with its unit: `2 m`, `1.5[kN/m]`.
_QUANTITY = re.compile(
    r"([-+−]?[\d.]+(?:[eE][-+]?\d+)?)(?:\s+([^\W\d_][\w/^*²³⁻¹·%]*|°[CF]?|%)|\s*\[([^\[\]]+)\])"
)
_NUMBER = re.compile(r"[-+−]?[\d.]+(?:[eE][-+]?\d+)?")
_NUMBER_AND_WORD = re.compile(r"\s*[\d.]+\s+[^\W\d]{2,}\s*")

# An entry of a list, with its unit if any.
_IN_LIST = re.compile(r"[^\[\],\s][^\[\],]*(?:\[[^\[\],]*\])?")
_LEIBNIZ = re.compile(
    r"[d∂](?:\^?(\d)|([²³]))?([^\W\d]\w*)\s*/\s*[d∂]([^\W\d]\w*[²³]?|[^\W\d]\w*\^\d)"
)
_SUPERSCRIPTS = str.maketrans("²³", "23")
_NAME = r"[^\W\d]\w*"
_ARROW = r"(?:->|→|↦|=>)"
# Definitions in other languages, with translations.
FOREIGN = tuple(
    (re.compile(pattern, re.DOTALL), statement)
    for pattern, statement in (
        (rf"(?:let|var|const|set)\s+({_NAME}(?:\([^()]*\))?\s*=.+)", r"\1"),
        (rf"({_NAME}(?:\([^()]*\))?)\s*:=\s*(.+)", r"\1 = \2"),
        (rf"def\s+({_NAME}\([^()]*\))[^:]*:\s*return\s+(.+)", r"\1 = \2"),
        (rf"({_NAME})\s*=\s*lambda\s+([\w, ]+):\s*(.+)", r"\1(\2) = \3"),
        (rf"({_NAME})\s*=\s*@\(([\w, ]+)\)\s*(.+)", r"\1(\2) = \3"),
        (rf"({_NAME})\s*[:=]\s*\(?([\w, ]+?)\)?\s*{_ARROW}\s*(.+)", r"\1(\2) = \3"),
    )
)
_WHOLE_PRIME = re.compile(r"\s*([^\W\d]\w*)(['’′]+|[\"″”])\s*(\(.*\))?\s*", re.DOTALL)


class Definition(NamedTuple):
    """A formula, or a function of its parameters."""

    parameters: tuple[str, ...] | None
    body: str

    def statement(self, name: str) -> str:
        """Return the statement that defines a name so."""
        head = name if self.parameters is None else f"{name}({', '.join(self.parameters)})"
        return f"{head} = {self.body}"

    @property
    def uses(self) -> list[str]:
        return [name for name in names_in(self.body) if name not in (self.parameters or ())]


class Shown(NamedTuple):
    """The answer to a statement, with a name, or text to print."""

    name: str
    reading: AsRead
    answer: Gradient[float] | Diff | Listing | str
    formula: str | None = None
    """The value as a formula, if variables have no numbers."""


def _in_program(value: str) -> str:
    if value.startswith("["):
        return _IN_LIST.sub(lambda entry: _in_program(entry[0].strip()), value)
    match = _QUANTITY.fullmatch(value)
    return f"{match[1]}[{match[2] or match[3]}]" if match else value


def _with_unit(x: float, unit: object = None) -> str:
    number = number_text(float(getattr(x, "number", x)))
    return f"{number} {getattr(x, 'unit', unit) or ''}".rstrip()


def _places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return product(*[range(1, size + 1) for size in shape])


def _listed(shape: Sequence[int], texts: Iterable[str]) -> str:
    entries = zip(_places(shape), texts, strict=True)
    return list_texts({element_name("list", place): text for place, text in entries})["list"]


def uncorrected(text: str, line: str | None = None, start: int = 0) -> AsRead:
    """Return a piece of a line as an uncorrected reading."""
    return AsRead(text, text if line is None else line, tuple(range(start, start + len(text))))


def has_primes(text: str) -> bool:
    """Return whether a name in a text has primes: `f'(2)`."""
    return any(kind == NAME and _PRIMES.match(text, end) for kind, _, end in scan(text))


@lru_cache(256)
def _derivative(text: str, parameter: str, order: int, first: int | None = None) -> str:
    from ..formulas.diff import diff  # plain values start sooner without

    def formula(text: str) -> str:
        return diff(text, wrt=[parameter], order=order, everywhere=True).derivatives[0].formula

    text = text if first is None else text[:first] + text[first:].replace("\n", " ")
    program = parse(text, units=True)
    if len(program.outputs) == 1:
        return formula(text)
    before, line, last = text.rpartition("\n")
    outputs = f"({last})" if program.shape else f"[{last}]"
    shape = program.shape or (len(program.outputs),)
    places = [",".join(map(str, place)) for place in _places(shape)]
    return _listed(shape, [formula(f"{before}{line}{outputs}[{place}]") for place in places])


class Session:
    """The names of a session; a method that raises changes none."""

    def __init__(self, *, lenient: bool = True) -> None:
        # Whether informal notation is read.
        self.lenient = lenient
        # Constant expressions, numbers with units, and lists, by name.
        self.values: dict[str, str] = {}
        self.definitions: dict[str, Definition] = {}
        # The last expression, as typed.
        self.last: str = ""
        # Function and order of each derivative's name.
        self._primes: dict[str, tuple[str, int]] = {}

    @property
    def names(self) -> list[str]:
        return [*self.values, *self.definitions]

    @contextmanager
    def unchanged_on_error(self) -> Iterator[None]:
        """Restore the names of the session if the block raises."""
        before = self.values.copy(), self.definitions.copy(), self.last
        try:
            yield
        except BaseException:
            self.values, self.definitions, self.last = before
            raise

    def spelled_out(self, reading: AsRead, hidden: Collection[str] = ()) -> tuple[AsRead, set[str]]:
        """Return a reading with calls of lone functions and derivatives, and their parameters.

        `hidden` names have other meanings.
        """
        text, tokens = reading.text, list(scan(reading.text))
        starts = [start for _, start, _ in tokens]
        offers: list[Offer] = []
        freed: set[str] = set()
        for kind, start, end in tokens:
            name = text[start:end]
            if kind != NAME or name in hidden:
                continue
            prime = _PRIMES.match(text, end)
            after = prime.end() if prime else end
            following = tokens[bisect_left(starts, after)]
            function = self.definitions.get(name)
            if prime is not None:
                name, function = self._prime(name, _order(prime[0]), Span(start, after))
            elif (
                function is None
                or function.parameters is None
                or following[0] in (OPEN, *_OPERANDS)
            ):
                continue
            parameters = function.parameters or ()
            called = following[0] == OPEN
            freed.update(() if called else parameters)
            if prime or not called:
                offers.append(
                    Offer(start, after, name if called else f"{name}({', '.join(parameters)})")
                )
        return _with_offers(reading, offers), freed

    def _prime(self, name: str, order: int, span: Span) -> tuple[str, Definition]:
        function = self.definitions.get(name)
        if function is None and name in SIMPLE:
            function = Definition(("x",), f"{name}(x)")
        if function is None or function.parameters is None:
            is_name = name in self.values or name in self.definitions
            hint = f"write `d/dx {name}`" if is_name else f"define it first: `{name}(x) = x**2`"
            raise ExpressionError(
                "name", f"`{name}` is not a function, so it has no derivative", span, hint
            )
        if len(function.parameters) != 1:
            message = f"`{name}` has {len(function.parameters)} parameters, and a prime needs one"
            raise ExpressionError(
                "name", message, span, f"name it: `d/d{function.parameters[0]} {name}`"
            )
        of = next((own for own, meaning in self._primes.items() if meaning == (name, order)), None)
        if of is None:
            of = f"{name}_prime{'' if order == 1 else order}"
            while of in self.names or of in self._primes:
                of += "_"
            self._primes[of] = name, order
        return of, Definition(function.parameters, "")

    def _meaning(self, name: str) -> Definition | None:
        if name not in self._primes or name in self.definitions:
            return self.definitions.get(name)
        function, order = self._primes[name]
        own = self.definitions.get(function)
        parameters = ("x",) if own is None else own.parameters or ("x",)
        before = "" if own is None else f"{self._program(function)}\n"
        program = f"{before}{function}({parameters[0]})"
        return Definition(parameters[:1], _derivative(program, parameters[0], order))

    def needed_definitions(
        self, names: Iterable[str], hidden: Collection[str] = ()
    ) -> dict[str, Definition]:
        """Return the definitions that names need, in order of dependence."""
        ordered: dict[str, Definition] = {}
        path: dict[str, Definition] = {}
        visits = [(name, False) for name in names][::-1]
        while visits:
            name, has_all = visits.pop()
            if has_all:
                ordered[name] = path.pop(name)
            elif name in path:
                cycle = " → ".join([*list(path)[list(path).index(name) :], name])
                message = f"`{name}` would be defined by itself: {cycle}"
                raise ExpressionError(
                    "name", message, hint="define it by other names, or by numbers"
                )
            elif (
                name not in ordered
                and name not in hidden
                and (meaning := self._meaning(name)) is not None
            ):
                path[name] = meaning
                visits += [(name, True), *((use, False) for use in meaning.uses[::-1])]
        return ordered

    def _program(self, name: str) -> str:
        return "\n".join(
            own.statement(needed) for needed, own in self.needed_definitions([name]).items()
        )

    def compose_program(
        self, reading: AsRead, hidden: Collection[str] = (), *, as_point: bool = True
    ) -> tuple[AsRead, dict[str, str]]:
        """Return a reading's program, with the definitions, and its point unless numbers are
        bound.
        """
        used = names_in(reading.text)
        definitions = self.needed_definitions(used, hidden)
        used += [name for own in definitions.values() for name in own.uses]
        lines, point = [], dict[str, str]()
        for name in [
            name for name in dict.fromkeys(used) if name in self.values and name not in hidden
        ]:
            value = self.values[name]
            if not as_point:
                lines.append(f"{name} = {_in_program(value)}\n")
            elif value.startswith("["):
                entries = parse_point(f"{name}={value}", value_with_unit)
                point.update({entry: _with_unit(x) for entry, x in entries.items()})
            else:
                point[name] = value
        before = "".join(
            [*lines, *(f"{own.statement(name)}\n" for name, own in definitions.items())]
        )
        text = before + reading.text
        return (
            AsRead(text, reading.typed, (-1,) * len(before) + reading.places, len(before), text),
            point,
        )

    def program(self) -> str:
        """Return the session as one program. Raises `ExpressionError`."""
        names = [name for name in self.names if name != ANSWER]
        if not names and not self.last:
            raise usage_error(
                "the session has no names yet", "type `f(x) = x**2`, then `:save FILE`"
            )
        numbers = [
            f"{name} = {_in_program(self.values[name])}\n" for name in names if name in self.values
        ]
        last = ""
        if self.last:
            _, reading, _ = self._read(self.spelled_out(uncorrected(self.last))[0])
            last = f"{reading.part(reading.first).text}\n"
        defined = [name for name in names if name in self.definitions]
        definitions = self.needed_definitions([*defined, *names_in(last)])
        return "".join(
            [*numbers, *(f"{own.statement(name)}\n" for name, own in definitions.items()), last]
        )

    def is_open(self, text: str) -> bool:
        """Return whether an expression has variables without numbers."""
        program, _, point = self._read(self.spelled_out(uncorrected(text))[0])
        return not point.keys() >= program.leaves.keys()

    def statement(self, line: str, part: TypedStatement) -> Shown:
        """Execute a statement of a line; return its answer."""
        with self.unchanged_on_error(), use_budget(length=len(line)):
            if part.kind == "expression":
                return self._expression(line, part)
            span = Span(part.start, part.start + len(part.name))
            if part.name in self._primes:
                message = f"`{part.name}` stands for `{self.in_primes(part.name)}`"
                raise ExpressionError("name", message, span, "use another name")
            if part.kind == "augment" and part.name not in self.names:
                message = f"`{part.name}` is not bound yet, so it cannot be updated"
                raise ExpressionError("name", message, span, f"bind it first: `{part.name} = 0`")
            answer = self._define(line, part) if part.kind == "define" else self._bind(line, part)
            self._check_others(part.name)
            return answer

    def _read(
        self, piece: AsRead, hidden: Collection[str] = ()
    ) -> tuple[Program, AsRead, dict[str, str]]:
        reading, point = self.compose_program(piece, hidden)
        program, read = self._parse(reading, point)
        measured = self._measured(read, program, point)
        if measured is not None:
            program, read = self._parse(measured, point)
        return program, read, point

    def _parse(self, reading: AsRead, point: dict[str, str]) -> tuple[Program, AsRead]:
        valued = _valued(point)
        if not self.lenient:
            return _blame(reading, lambda: parse(reading.text, valued, units=True)), reading
        program, read = read_leniently(
            reading.text, lambda text: parse(text, valued, units=True), reading
        )
        return program, read or reading

    def _measured(self, reading: AsRead, program: Program, point: dict[str, str]) -> AsRead | None:
        """Return the reading of `2mm + 3mm` as lengths; None if a name is a variable, as in
        `2mm*x`.
        """
        free = {name for name in program.leaves if name not in point}
        if not free or not self.lenient:
            return None
        found = measured_numbers(reading.text, _valued(point))
        if not free <= {word for one in found for word in one.words}:
            return None
        return _with_offers(reading, [one.offer for one in found])

    def _with_answer(self, piece: AsRead) -> AsRead:
        """Return a text with the last answer in place of its name, which means another one after
        the next line.
        """
        if ANSWER not in self.names:
            return piece
        earlier = self.values.get(ANSWER)
        earlier = self.definitions[ANSWER].body if earlier is None else _in_program(earlier)
        earlier = earlier if earlier.startswith("[") else f"({earlier})"
        for kind, start, end in reversed([*scan(piece.text)]):
            if kind == NAME and piece.text[start:end] == ANSWER:
                piece = piece.apply_offer(Offer(start, end, earlier))
        return piece

    def _check_quotients(self, piece: AsRead) -> None:
        """Raise an error for a derivative `dh/dx` inside an expression, or of a name without a
        formula, where it is a quotient of two names.
        """
        tokens = [piece.text[start:end] for _, start, end in scan(piece.text)]
        for above, sign, below in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if sign != "/" or not above[:1] == below[:1] == "d" or {above, below} & {*self.names}:
                continue
            if above[1:] in self.definitions and len(below) > 1:
                message = f"`{above}/{below}` is a derivative only in a line by itself"
                hint = f"ask for `{above}/{below}`, and use `{ANSWER}` in the next line"
                raise ExpressionError("syntax", message, None, hint)
            if is_slope(above, below):
                raise slope_of_no_formula(above, below)

    def _side(self, line: str, part: TypedStatement, hidden: Collection[str] = ()) -> AsRead:
        side = uncorrected(line[part.body : part.end], line, part.body)
        if ANSWER not in hidden:
            side = self._with_answer(side)
        self._check_quotients(side)
        if part.kind == "augment":
            sign = line[part.start + len(part.name) : part.body].strip()[0]
            before = f"{part.name} {sign} ("
            return AsRead(f"{before}{side.text})", line, (-1,) * len(before) + side.places + (-1,))
        operator = differential_operator(side.text)
        if operator is not None:
            side = side.part(operator.end)
            side, _ = self.spelled_out(side, hidden)
            _, read, _ = self._read(side, {*hidden, operator.name})
            formula = _derivative(read.text, operator.name, operator.order)
            return AsRead(formula, line, (-1,) * len(formula))
        return self.spelled_out(side, hidden)[0]

    def _define(self, line: str, part: TypedStatement) -> Shown:
        parameters = part.parameters or ()
        side = self._side(line, part, parameters)
        head = line[part.start : part.body]
        piece = AsRead(head + side.text, line, (*range(part.start, part.body), *side.places))
        _, reading, _ = self._read(piece, {part.name, *parameters})
        own = Definition(parameters, reading.part(reading.first).text.partition("=")[2].strip())
        self._give(part.name, own)
        self.needed_definitions([part.name])
        self.last = part.name
        return Shown(
            "", reading._replace(expected=reading.text), self.in_primes(own.statement(part.name))
        )

    def _bind(self, line: str, part: TypedStatement) -> Shown:
        _check_no_spread(line, part)
        quantity = self._quantities(line, part)
        if quantity is not None:
            value, read = quantity
            self._give(part.name, value)
            self.last = part.name
            return Shown("", read, f"{part.name} = {value}")
        if ANSWER in self.values and ANSWER in names_in(line[part.body : part.end]):
            bound = self._value_of_side(line, part)
            if bound is not None:
                return bound
        return self._bind_formula(line, part)

    def _bind_formula(self, line: str, part: TypedStatement) -> Shown:
        program, reading, point = self._read(self._side(line, part))
        own = Definition(None, reading.part(reading.first).text.strip())
        needed = self.needed_definitions(own.uses).values()
        used = [*own.uses, *(name for one in needed for name in one.uses)]
        self.definitions.pop(part.name, None)
        if part.name in used:
            missing = [f"`{name}`" for name in program.leaves if name not in point]
            if missing:
                message = f"`{part.name}` would be defined by itself"
                hint = f"give {', '.join(missing)} a number first"
                raise ExpressionError("name", message, Span(part.start, part.end), hint)
            self.values[part.name] = _number_of(reading, point)
        elif not program.leaves and not {*self.names, *self._primes}.intersection(used):
            self._give(part.name, own.body)
        else:
            self._give(part.name, own)
        self.last = part.name
        if own.body.startswith("[") and len(program.outputs) != 1:
            return Shown("", reading._replace(expected=reading.text), own.statement(part.name))
        answer = self._value(uncorrected(part.name, line, part.start), part.name)
        return answer._replace(reading=reading)

    def _value_of_side(self, line: str, part: TypedStatement) -> Shown | None:
        """Bind a name to the number that a side made of the last answer has now; None if it has
        none.
        """
        program, reading, point = self._read(self._side(line, part, {ANSWER}))
        if not point.keys() >= program.leaves.keys() or len(program.outputs) != 1:
            return None
        self._give(part.name, _number_of(reading, point))
        self.last = part.name
        return self._value(uncorrected(part.name, line, part.start), part.name)._replace(
            reading=reading
        )

    def _quantities(self, line: str, part: TypedStatement) -> tuple[str, AsRead] | None:
        text = line[part.body : part.end]
        if part.kind != "bind":
            return None
        if not (text.startswith("[") and text.endswith("]")):
            return self._quantity(text, Span(part.body, part.end))
        values, typed, others = self._entries(text, part.body)
        as_read = [*map(_in_program, values)]
        if values == as_read or (others is not None and not typed):
            return None
        if others is not None:
            unit, times = _in_program(typed[0]), typed[0].replace(" ", "*")
            message = "this list has numbers with units, and this entry is not one"
            hint = f"write `{unit}` for the unit, or `{times}` for a product"
            raise ExpressionError("syntax", message, others, hint)
        between = _IN_LIST.split(text)
        value, program = ("".join(map(add, between, (*texts, ""))) for texts in (values, as_read))
        return value, AsRead(
            program, text, (-1,) * len(program), expected=None if typed else program
        )

    def _entries(self, text: str, start: int) -> tuple[list[str], list[str], Span | None]:
        """Return the entries of a list, those typed with units, and the place of the last that is
        no number.
        """
        values, typed, others = list[str](), list[str](), None
        for match in _IN_LIST.finditer(text):
            entry = match[0].rstrip()
            span = Span(start + match.start(), start + match.start() + len(entry))
            quantity = self._quantity(entry, span)
            values.append(entry if quantity is None else quantity[0])
            if quantity is not None and quantity[0] == entry:
                typed.append(entry)
            elif quantity is None and not _NUMBER.fullmatch(entry):
                others = span
        return values, typed, others

    def _quantity(self, text: str, span: Span) -> tuple[str, AsRead] | None:
        glued = measured_numbers(text, self.names) if self.lenient else []
        if glued and (glued[0].start, glued[0].end) == (0, len(text)):
            text = f"{glued[0].number} {glued[0].unit}"  # `40mm` is read as `40 mm` is
        match = _QUANTITY.fullmatch(text)
        if match is None or (match[2] and set(names_in(match[2])).intersection(self.names)):
            return None
        from ...engine.quantities.unit import unit_or_none

        unit = match[2] or match[3].strip()
        if unit_or_none(unit) is None:
            return None
        number = match[1].replace("−", "-")
        meant = _unit_of_a_letter(match[2] or "")
        if meant is not None and not measured_numbers(text):
            message = f"`{text}` is a product, or a number with a unit"
            hint = f"write `{number}*{unit}`, or for the unit {meant} `{number}[{unit}]`"
            raise ExpressionError("syntax", message, span, hint)
        program = f"{number}[{unit}]"
        expected = None if match[2] else program
        return f"{number} {unit}", AsRead(program, text, (-1,) * len(program), expected=expected)

    def _expression(self, line: str, part: TypedStatement) -> Shown:
        text = line[part.start : part.end]
        _check_no_equation(text, part.start)
        value = self.values.get(text, "")
        if value.startswith("[") or _QUANTITY.fullmatch(value):
            self.last = text
            self._give(ANSWER, value)
            return Shown(
                "", uncorrected(text, line, part.start)._replace(expected=text), f"{text} = {value}"
            )
        has_own_names = not {*self.names}.isdisjoint(names_in(text))
        spelled = text if has_own_names else in_symbols(text)
        if spelled != text and self.lenient:
            shown = self._expression(spelled, TypedStatement("expression", 0, len(spelled), 0))
            self.last = text
            return shown._replace(reading=AsRead(spelled, text, (-1,) * len(spelled)))
        try:
            return self._formula(line, part)
        except ExpressionError as error:
            if spelled != text and error.hint is not None:
                error.diagnostic = error.diagnostic._replace(
                    hint=f"{error.hint}, or add `--lenient`"
                )
            raise

    def _formula(self, line: str, part: TypedStatement) -> Shown:
        """Return the answer to a conversion, a derivative or another expression."""
        text = line[part.start : part.end]
        inner, unit = len(text), None
        check_per_cent(text)
        if match := IN_UNIT.fullmatch(text):
            from ...engine.quantities.unit import parse_unit, unit_or_none

            if self._is_quantity(match[1], converted=True):
                parse_unit(match[2])
            if unit_or_none(match[2]) is not None:
                inner, unit = match.end(1), match[2].strip()
        if self._is_quantity(text[:inner], converted=unit is not None):
            return self._converted(uncorrected(text, line, part.start), text[:inner], unit)
        piece = uncorrected(text, line, part.start)
        answer = self._asked_derivative(text, piece, part) or self._evaluated(
            text, piece, part, inner, unit
        )
        self._keep(answer)
        return answer

    def _asked_derivative(self, text: str, piece: AsRead, part: TypedStatement) -> Shown | None:
        """Return the answer to `dh/dx`, `d/dx x²` or `f'`; None for another expression."""
        leibniz, primed = derivative_by_name(text), _WHOLE_PRIME.fullmatch(text)
        operator, place = differential_operator(text), Span(part.start, part.end)
        if operator is None and differential_operator(f"{text} 1") is not None:
            hint = f"write it as in `{text} x**2`"
            raise ExpressionError("syntax", f"a function is missing after `{text}`", place, hint)
        if (
            leibniz is not None
            and text[leibniz.name] in self.names
            and f"d{leibniz.by}" not in self.names
        ):
            if leibniz.order == 0:
                message = "the orders above and below differ"
                hint = f"write `d{text[leibniz.name]}/d{leibniz.by}`, or the order in both places"
                raise ExpressionError("syntax", message, place, hint)
            name = piece.part(leibniz.name.start, leibniz.name.stop)
            return self._derivatives(name, leibniz.by, leibniz.order)
        if operator is not None:
            shown = self._derivatives(piece.part(operator.end), operator.name, operator.order)
            return _with_extent(shown, text[: operator.end].strip())
        if primed is None or primed[3] is not None:
            return None
        order = _order(primed[2])
        own = self.definitions.get(primed[1])
        names = variables_in(own.body) if own is not None and own.parameters is None else []
        if len(names) == 1 and names[0] not in self.definitions:  # `y = x^2`, `y'`
            return self._derivatives(piece.part(*primed.span(1)), names[0], order)
        _, function = self._prime(primed[1], order, place)
        (parameter,) = function.parameters or ()
        called = Offer(0, len(primed[1]), f"{primed[1]}({parameter})")
        return self._derivatives(piece.part(*primed.span(1)).apply_offer(called), parameter, order)

    def _evaluated(
        self, text: str, piece: AsRead, part: TypedStatement, inner: int, unit: str | None
    ) -> Shown:
        """Return the value of the expression before `inner`, perhaps in a unit."""
        primed, warnings = _WHOLE_PRIME.fullmatch(text), None
        if primed is not None and _is_one_call(primed[3]) and _order(primed[2]) == 1:
            warnings = self._warnings_of(primed[1], primed[3], Span(part.start, part.end))
        if text[:inner].strip() != ANSWER or not self.last:
            self.last = self._with_answer(uncorrected(text[:inner])).text
        self._check_quotients(piece)
        piece, freed = self.spelled_out(piece.part(0, inner))
        converted = piece if unit is None else self._in_brackets(piece)
        answer = self._value(converted, ANSWER, freed, unit)
        if converted is not piece:
            answer = answer._replace(reading=answer.reading._replace(expected=None))
        found = answer.answer
        if warnings is not None and (isinstance(found, Gradient) or _is_list(found)):
            answer = answer._replace(answer=found._replace(warnings=warnings))
        return answer

    def _keep(self, answer: Shown) -> None:
        """Give `ans` the value of an answer, or its formula."""
        formula = answer.formula
        if isinstance(answer.answer, Gradient):
            units = answer.answer.units
            self._give(ANSWER, _with_unit(answer.answer.value, units and units["value"]))
        elif (
            formula is not None
            and len(formula) <= MAX_ANSWER_LENGTH
            and ANSWER not in names_in(formula)
        ):
            self._give(ANSWER, Definition(None, formula))

    def _is_quantity(self, text: str, *, converted: bool) -> bool:
        """Return whether a text is a number with a unit; if it is not `converted`, certainly: no `2
        m` or `3t`.
        """
        from ...engine.quantities.unit import AmbiguousUnit
        from ...questions.quantities import split_quantity

        is_certain = converted or (self.lenient and measured_numbers(text) != [])
        if not is_certain or not {*self.names, *self._primes}.isdisjoint(names_in(text)):
            return False
        try:
            return split_quantity(text) is not None
        except AmbiguousUnit:
            raise
        except ExpressionError:
            if converted and _NUMBER_AND_WORD.fullmatch(text):
                raise  # `60 rpm in rad/s`
            return False

    def _converted(self, piece: AsRead, quantity: str, unit: str | None) -> Shown:
        """Return the answer to a lone quantity: its value in a unit, by default its own."""
        from ...engine.quantities.unit import parse_unit
        from ...questions.periods import check_periods
        from ...questions.quantities import split_quantity

        self.last = piece.text
        number, own = split_quantity(quantity) or ("", None)
        if unit is not None and own is not None:
            check_periods(number, own, parse_unit(unit))
        asked = unit or str(own)
        answer = _without_option(
            lambda: gradient(ANSWER, {ANSWER: quantity}, wrt=(), units=asked, arithmetic=DOUBLE)
        )
        answer = answer._replace(point={}, warnings=())
        self._give(ANSWER, _with_unit(answer.value, answer.units and answer.units["value"]))
        return Shown(ANSWER, piece._replace(expected=piece.text), answer)

    def _in_brackets(self, piece: AsRead) -> AsRead:
        """Return the reading of what is converted to a unit, whose numbers have units too: `3 bar *
        2 L in J`.
        """
        found = measured_numbers(piece.text, self.names, every=True) if self.lenient else []
        for one in [one for one in found if not one.divides_a_number(piece.text)][::-1]:
            piece = piece.apply_offer(one.offer)
        return piece

    def _value(
        self, piece: AsRead, name: str, freed: Collection[str] = (), unit: str | None = None
    ) -> Shown:
        program, reading, point = self._read(piece, freed)
        # of a list, only the entries used
        point = {
            own: number
            for own, number in point.items()
            if own in program.leaves or not own.endswith("]")
        }
        free = [leaf for leaf in program.leaves if leaf not in point]
        if free:
            if unit is not None:
                message = f"`{free[0]}` has no value, and the answer is to be in `{unit}`"
                hint = f"give `{free[0]}` a value too, or leave the unit out for a formula"
                raise ExpressionError("missing_value", message, hint=hint)
            text, _ = self.compose_program(reading.part(reading.first), freed, as_point=False)
            return self._in_variables(name, reading, text, free, is_list=len(program.outputs) > 1)
        result: Gradient[float] | Listing
        is_number = reading.text.strip() in self.values
        wanted = [
            leaf for leaf in program.leaves if leaf.partition("[")[0] != ANSWER and not is_number
        ]
        if len(program.outputs) > 1:
            name, result = "", self._list(name, reading, point, wanted, program, unit)
        else:
            ask = partial(gradient, wrt=wanted, units=unit, arithmetic=DOUBLE)
            result = _without_option(lambda: _blame(reading, lambda: ask(reading.text, point)))
            result = result._replace(
                point={name: x for name, x in result.point.items() if name in wanted}
            )
        warnings = (*result.warnings, *self._kinks(reading.text))
        return Shown(name, reading, result._replace(warnings=warnings))

    def _in_variables(
        self, name: str, reading: AsRead, text: AsRead, free: list[str], *, is_list: bool
    ) -> Shown:
        """Return the derivatives of a formula some of whose variables have no numbers, as
        formulas.
        """
        from ..formulas.diff import check_names, diff  # plain values start sooner without

        program = parse(text.text, units=True)
        known = {*program.leaves}.difference(free)
        _blame(text, lambda: check_names(program, known))
        _blame(text, lambda: check_products(program, known, by_option=True))
        if is_list:
            return _blame(text, lambda: self._list_of_formulas(name, reading, text, free))
        formula = expression_text(single_output(program))
        return Shown(name, reading, _blame(text, lambda: diff(text.text, wrt=free)), formula)

    def _list(
        self,
        name: str,
        reading: AsRead,
        point: dict[str, str],
        by: Sequence[str],
        program: Program,
        unit: str | None,
    ) -> Listing:
        from ..derivatives.jacobian import jacobian
        from ..formulas.derivation import derivative_name
        from ..formulas.diff_view import Listing

        shape, size = program.shape or (len(program.outputs),), len(program.outputs)
        wanted = by if len(by) * size <= MAX_LISTED_DERIVATIVES else ()
        # without derivatives one sweep is enough
        along: dict[str, float | str] | None = None if wanted else {}
        units = None if unit is None else [unit] * size
        ask = partial(jacobian, wrt=wanted, direction=along, units=units)
        answer = _blame(reading, lambda: ask(reading.text, point))
        measured = attach_units(answer, answer.units)
        texts = {name: _listed(shape, map(format_number, measured.values))}
        columns = zip(*measured.jacobian or (), strict=True)
        for variable, column in zip(answer.variables, columns, strict=True):
            texts[derivative_name((variable,))] = _listed(shape, map(format_number, column))
        if name == ANSWER:
            self._give(ANSWER, _listed(shape, map(_with_unit, measured.values)))
        return Listing(texts, answer.warnings)

    def _list_of_formulas(
        self, name: str, reading: AsRead, text: AsRead, free: Sequence[str]
    ) -> Shown:
        from ..formulas.derivation import derivative_name
        from ..formulas.diff_view import Listing

        program = parse(text.text, units=True)
        shape = program.shape or (len(program.outputs),)
        value = _listed(shape, map(expression_text, program.outputs))
        texts = {} if value == text.text[text.first :].strip() else {name: value}
        if len(free) * len(program.outputs) <= MAX_LISTED_DERIVATIVES:
            texts |= {
                derivative_name((by,)): _derivative(text.text, by, 1, text.first) for by in free
            }
        return Shown("", reading, Listing(texts), value)

    def _derivatives(self, piece: AsRead, by: str, order: int) -> Shown:
        from ..formulas.derivation import derivative_name
        from ..formulas.diff import diff
        from ..formulas.diff_view import Listing

        self.last = piece.text.strip()
        piece, freed = self.spelled_out(piece)
        # parameters of a function hide formulas of the same name, as they do where the function is
        # shown
        hidden = {by, *freed.intersection(self.definitions)}
        program, reading, point = self._read(piece, hidden)
        with_values = point | ({by: self.values[by]} if by in self.values else {})
        # formulas have no units: these numbers stay names
        has_units = any(map(_QUANTITY.fullmatch, with_values.values()))
        text = reading
        if not has_units:
            text, _ = self.compose_program(reading.part(reading.first), hidden, as_point=False)
        point = with_values if has_units and with_values.keys() >= program.leaves.keys() else {}
        if not has_units and by in self.values:
            others = [leaf for leaf in parse(text.text, units=True).leaves if leaf != by]
            point = {} if others else {by: self.values[by]}
        if len(program.outputs) == 1:
            answer = _blame(text, lambda: diff(text.text, point, wrt=[by], order=order))
            return Shown("", reading, answer, answer.derivatives[0].formula)
        formula = _blame(text, lambda: _derivative(text.text, by, order, text.first))
        name = derivative_name((by,) * order)
        texts = {name: formula}
        value = self._value(uncorrected(formula), "").answer if point and not has_units else None
        if isinstance(value, Listing):
            texts[f"{name} at {by} = {self.values[by]}"] = value.texts[""]
        return Shown("", reading, Listing(texts), formula)

    def _warnings_of(self, function: str, argument: str, span: Span) -> tuple[Diagnostic, ...]:
        if self.is_open(argument):
            return ()
        _, at, point = self._read(self.spelled_out(uncorrected(argument))[0])
        own = self.definitions.get(function)
        (parameter,) = (own and own.parameters) or ("x",)
        program, called, others = self._read(uncorrected(f"{function}({parameter})"), [parameter])
        has_units = any(map(_QUANTITY.fullmatch, (point | others).values()))
        if has_units or has_unit_literals(at.text) or has_unit_literals(called.text):
            return ()
        number = plain_gradient(at.text, point, wrt=()).value
        question: Callable[..., Any] = plain_gradient
        if len(program.outputs) > 1:
            from ..derivatives.jacobian import jacobian as question
        try:
            answer = question(called.text, {**others, parameter: repr(number)}, wrt=[parameter])
        except ExpressionError as error:
            error.diagnostic = error.diagnostic._replace(span=span, also=())
            raise
        # their places are in another text
        return tuple(warning._replace(span=None, also=()) for warning in answer.warnings)

    def _kinks(self, program: str) -> Iterator[Diagnostic]:
        used = [self._primes[name][0] for name in names_in(program) if name in self._primes]
        for name in [name for name in dict.fromkeys(used) if name in self.definitions]:
            program_of_name = parse(self._program(name), units=True)
            if any(node.primitive.kink for node in in_order(program_of_name.outputs)):
                message = (
                    f"`{name}` may have kinks, where the formula of `{name}'` has a conventional"
                    " value"
                )
                yield Diagnostic(
                    "kink",
                    message,
                    None,
                    f"compute `{name}'(3)` by itself to see whether there is one",
                )

    def _check_others(self, changed: str) -> None:
        for name, own in self.definitions.items():
            if changed in {self._primes.get(use, (use,))[0] for use in own.uses}:
                try:
                    parse(self._program(name), self.values, units=True)
                except ExpressionError as error:
                    message = f"`{name}` uses `{changed}`, and now: {error}"
                    raise ExpressionError(
                        error.kind, message, hint=f"`:forget {name}` first"
                    ) from None

    def _give(self, name: str, meaning: str | Definition) -> None:
        if isinstance(meaning, str):
            self.definitions.pop(name, None)
            self.values[name] = meaning
        else:
            self.values.pop(name, None)
            self.definitions[name] = meaning

    def forget(self, name: str) -> None:
        """Forget a name. Raises `ExpressionError` if another one needs it."""
        with self.unchanged_on_error():
            if name not in self.names:
                raise usage_error(f"there is no name `{name}`", "`:names` lists them")
            self.values.pop(name, None)
            self.definitions.pop(name, None)
            self._check_others(name)

    def in_primes(self, text: str) -> str:
        """Return the text with derivatives written as primes."""
        for name, (function, order) in self._primes.items():
            text = re.sub(rf"\b{name}\b", function + "'" * order, text)
        return text


def _is_list(answer: object) -> TypeGuard[Listing]:
    from ..formulas.diff_view import Listing  # only primes ask for it

    return isinstance(answer, Listing)


def _with_offers(reading: AsRead, offers: Sequence[Offer]) -> AsRead:
    """Return a reading with offers in the order of their places applied."""
    for offer in reversed(offers):
        reading = reading.apply_offer(offer)
    return reading


def _number_of(reading: AsRead, point: Mapping[str, str]) -> str:
    """Return the number that a program is at a point, with its unit."""
    number = _blame(reading, lambda: gradient(reading.text, point, wrt=()))
    return _with_unit(number.value, number.units and number.units["value"])


def _unit_of_a_letter(text: str) -> str | None:
    """Return the name of the unit that a letter of its own is, which may be a variable; None for
    letters of the SI.
    """
    from ...engine.quantities.table import spellings

    letters = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) == 1]
    entry = next((spellings()[letter] for letter in letters if letter in spellings()), None)
    return None if entry is None or entry.group.startswith("SI") else entry.name


def _valued(point: Mapping[str, str]) -> dict[str, float]:
    """Return the names that have values, with units where these have: `5 N*h` is a product of
    quantities then.
    """
    return {
        name: value_with_unit(name, x) if _QUANTITY.fullmatch(x) else 0.0
        for name, x in point.items()
    }


def _order(primes: str) -> int:
    return 2 if primes in '"″”' else len(primes)


class NamedDerivative(NamedTuple):
    """A derivative by name, `d²f/dx²`: the place of `f`, `x`, and 2; the order is 0 where only one
    of both has one.
    """

    name: slice
    by: str
    order: int


def _check_no_spread(line: str, part: TypedStatement) -> None:
    """Raise an error for a measured value, `L = 1.00 ± 0.01 m`, which names here do not have."""
    text = line[part.body : part.end]
    if part.kind == "bind" and re.search(SPREAD, text):
        from ...questions.measured_units import measured_value

        try:
            is_measured = hasattr(measured_value(part.name, text), "uncertainty")
        except ExpressionError:
            return
        if is_measured:
            hint = (
                f'give it to propagate, as in `propagate 2*{part.name} --at "{part.name}={text}"`'
            )
            span = Span(part.start, part.end)
            raise ExpressionError("syntax", "a name here has no uncertainty", span, hint)


def derivative_by_name(text: str) -> NamedDerivative | None:
    """Return the derivative that `df/dx`, `d²f/dx²` or `d2f/dx2` is; None for another text.

    The digit behind a name is an order only where `d` has it too: `do/dw1` is by `w1`.

    >>> derivative_by_name("d2f/dx2")
    NamedDerivative(name=slice(2, 3, None), by='x', order=2)
    >>> derivative_by_name("do/dw1").by, derivative_by_name("df/dx²").order
    ('w1', 0)
    """
    found = _LEIBNIZ.fullmatch(text)
    if found is None:
        return None
    order, by = found[1] or (found[2] or "").translate(_SUPERSCRIPTS), found[4]
    name = slice(*found.span(3))
    if not order and by.isidentifier():
        return NamedDerivative(name, by, 1)
    plain = by.translate(_SUPERSCRIPTS)
    below = (
        order if order and plain.endswith(order) else plain[-1] if plain != by or "^" in by else ""
    )
    by = plain.removesuffix(below).removesuffix("^")
    return NamedDerivative(name, by, int(order) if order == below else 0)


def derivative_in_full(statement: str, valued: Collection[str] = ()) -> str:
    """Return a derivative at its variable with the operator, `d/dx f(x)` for `f'(x)`; another text
    as it is.

    Names that are `valued`, and constants, are no variables.

    >>> derivative_in_full("f''(t)"), derivative_in_full("f'(2)"), derivative_in_full("f'(pi)")
    ('d2/dt2 f(t)', "f'(2)", "f'(pi)")
    """
    match = _WHOLE_PRIME.fullmatch(statement)
    by = match[3].strip("() ") if match and match[3] else ""
    if match is None or not by.isidentifier() or by in CONSTANTS or by in valued:
        return statement
    order = _order(match[2])
    return f"d{order if order > 1 else ''}/d{by}{order if order > 1 else ''} {match[1]}({by})"


def _with_extent(shown: Shown, operator: str) -> Shown:
    """Return the answer to `d/dx …` with the note on what is differentiated."""
    from ..formulas.diff import Diff, note_on_extent

    reading = shown.reading
    if not isinstance(shown.answer, Diff):
        return shown
    output = single_output(parse(reading.text, units=True))
    notes = note_on_extent(output, reading.text, operator, reading.first)
    return shown._replace(answer=shown.answer._replace(warnings=(*notes, *shown.answer.warnings)))


def _is_one_call(text: str) -> bool:
    kinds = [kind for kind, _, _ in scan(text)][:-1]
    *inside, depth = accumulate((kind == OPEN) - (kind == CLOSE) for kind in kinds)
    return 0 not in inside and depth == 0 and UNREADABLE not in kinds


def _without_option(answer: Callable[[], Answer]) -> Answer:
    """Return an answer; its error names the unit alone, which no option of a session gives."""
    try:
        return answer()
    except ExpressionError as error:
        diagnostic = error.diagnostic
        message, hint = (
            text and text.replace("`--in ", "`") for text in (diagnostic.message, diagnostic.hint)
        )
        error.diagnostic = diagnostic._replace(message=message or "", hint=hint)
        raise


def _blame(reading: AsRead, answer: Callable[[], Answer]) -> Answer:
    try:
        return answer()
    except ExpressionError as error:
        raise (error if error.text is not None else reading.relocate_error(error)) from None


def _check_no_equation(text: str, offset: int) -> None:
    """Raise an error for a sign of equality, which no expression has."""
    for start, end in [token[1:] for token in scan(text) if token[0] == EQUALS][:1]:
        side = "left" if not text[:start].strip() else "right" if not text[end:].strip() else ""
        message, hint = f"the {side} side is missing", "write it as in `x = 2` or `f(x) = x**2`"
        if not side:
            message = "an equation has no value"
            hint = f"to solve it: `solve {text}`; a binding is `x = 2`, a definition `f(x) = x**2`"
        raise ExpressionError("syntax", message, Span(offset + start, offset + end), hint)
