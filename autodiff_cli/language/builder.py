"""The builder: what names, bindings, definitions and calls are in the graph, and the types. It evaluates nothing."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from ..errors import ExpressionError, Span
from ..graphs.value import Value, values_of
from ..numbers import budget as work
from ..numbers.floats import REAL
from ..run.evaluation import Evaluation
from ..run.flat_graph import Graph, Place, Row, in_order
from ..table.operators import AND, COMPARISONS, CONSTANT, NEG
from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from .statements import Complete, Head, Statement, check_thousands
from .statements import UnexplainedText as UnexplainedText
from .tokens import Offsets, number_of, offsets, worth

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}
"""The names that have a value unless the program or the point gives them another."""

MAX_NODES = 2_000_000
SIMPLE = {
    name: p
    for name, p in FUNCTIONS.items()
    if len(p.params) == 1 and not (p.variadic or p.constant_params or p.takes_conditions)
}
"""The functions of the language that can be called with one number."""

Piece = tuple[int, int]
"""A piece of the text in pairs, see `Offsets.span`."""


class Binding(NamedTuple):
    """A name that the program bound: where, and to which node."""

    name: str
    start: int
    value: Value


class Program:
    """A program as a graph, not evaluated. `outputs`, `variables` and `bindings` show it as Values."""

    def __init__(
        self,
        text: str,
        whole: Graph,
        roots: tuple[int, ...],
        leaves: dict[str, int],
        parameters: tuple[str, ...],
        constants: dict[str, float],
        bound: Sequence[tuple[str, Place, int]],
        labels: Mapping[int, str],
        is_plain: bool,
    ) -> None:
        self.text = text
        self.whole = whole
        """All that was read, whether an output needs it or not."""
        self.roots = roots
        """The places of the outputs in all that was read."""
        self.leaves = leaves
        """The places of the variables there, by name, in order of first appearance."""
        self.parameters = parameters
        """The variables that a gradient is taken in unless it is said otherwise."""
        self.constants = constants
        """The named constants that were used."""
        self.bound = bound
        """The names that the program bound: each with where it stands in pairs, and the place of its node."""
        self.shape: tuple[int, ...] = ()
        """The shape of the list that all outputs together are; empty where they are none."""
        self.is_plain = is_plain
        """Whether all that was read is needed for the outputs wherever they are taken, and in their order."""
        whole.roots = roots
        whole.names = labels, leaves
        if is_plain:
            self.graph, self.places = whole, leaves
            whole.chooses = False

    def with_outputs(self, roots: tuple[int, ...], text: str) -> Program:
        """Return the program with other outputs, from nodes that were read or added, and its longer `text`."""
        return self._of(self.whole.changed(rows=self.whole.rows), roots, text)

    def negative(self) -> Program:
        """Return the program whose outputs are the negatives of this one's."""
        whole, first = self.whole, len(self.whole.places)
        negatives: list[Row] = [(NEG, first + k, root, None) for k, root in enumerate(self.roots)]
        places = [*whole.places, *(whole.places[root] for root in self.roots)]
        longer = whole.changed(rows=[*whole.rows, *negatives], places=places)
        return self._of(longer, tuple(range(first, len(places))), self.text)

    def _of(self, whole: Graph, roots: tuple[int, ...], text: str) -> Program:
        labels = self.whole.names[0]
        return Program(text, whole, roots, self.leaves, self.parameters, self.constants, self.bound, labels, False)

    @cached_property
    def _needed(self) -> tuple[Graph, dict[int, int]]:
        return self.whole.below(self.roots)

    @cached_property
    def graph(self) -> Graph:
        """The graph of the nodes that the outputs need, in depth-first order; always the same object."""
        return self._needed[0]

    def place(self, i: int) -> int | None:
        """Return the index in `graph` of a node of `whole`; None if no output needs it."""
        return i if self.graph is self.whole else self._needed[1].get(i)

    @cached_property
    def places(self) -> dict[str, int]:
        """The variables that the outputs need, with their places in `graph`."""
        return {name: place for name, i in self.leaves.items() if (place := self.place(i)) is not None}

    def leaf_places(self, names: Iterable[str] | None = None) -> list[int | None]:
        """Return the places in `graph` of these variables, or of all; None for one that it does not hold."""
        return list(map(self.places.get, self.leaves if names is None else names))

    @cached_property
    def values(self) -> list[Value]:
        """The nodes of `whole` as Values, in its order; always the same ones."""
        return values_of(self.whole)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The outputs."""
        return tuple([self.values[i] for i in self.roots])

    @cached_property
    def variables(self) -> dict[str, Value]:
        """The free names and their leaves, in order of first appearance; always the same dictionary."""
        return {name: self.values[i] for name, i in self.leaves.items()}

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The names that the program bound."""
        return tuple([Binding(name, start, self.values[i]) for name, start, i in self.bindings_at()])

    def bindings_at(self) -> list[tuple[str, int, int]]:
        """The names that the program bound, where, and the places of their nodes."""
        where = Spans(self.text)
        return [(name, where(place).start, i) for name, place, i in self.bound]


class Spans:
    """The spans of a text's parts. The text is tokenised on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def offsets(self) -> Offsets:
        """The positions of the pairs of the text."""
        return offsets(self.text)

    def __call__(self, place: Place) -> Span:
        """A place as users are shown it."""
        return self.offsets.span(place)


name_mark, call_mark, plus_mark = Primitive("name", ()), Primitive("call", ()), Primitive("pos", ("x",))
"""Markers in the body of a definition for what only a call decides."""

ARRAY, INDEX, RANGE, MATMUL = (Primitive(name, ()) for name in ("array", "index", "range", "matmul"))
"""Markers for what is done with lists, which `unrolling` works out."""

_OF_LISTS = frozenset((ARRAY, INDEX, RANGE, MATMUL))

BOUNDED = frozenset(("sum", "prod"))
"""The functions that may have an index and its bounds: `sum(w[i]*x[i], i, 1, 3)`."""
_ON_LISTS = frozenset(("dot", "norm"))


class ListNotation(Exception):
    """The text has lists in it, or may have: `unrolling` has to read it."""


class Body(Graph):
    """The body of a definition, which is worked out again at every call."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[int, Sequence[Piece]] = {}
        """Of each operation, where its operands stand."""
        self.called: dict[int, tuple[str, Place]] = {}
        """The names that are used or called, and where."""


def used_before(name: str, span: Span) -> ExpressionError:
    """Return the error for a parameter that is a variable of the program before."""
    message = f"`{name}` is a parameter here, and a variable of the program before"
    return ExpressionError("name", message, span, "give one of them another name")


class Anything:
    """The conditions in a body, where parameters may be numbers or conditions: nothing can be ruled out."""

    def __contains__(self, node: object) -> bool:
        return True

    def add(self, node: int) -> None:
        """Leave the question open."""


class _Function(NamedTuple):
    name: str
    parameters: tuple[str, ...]
    body: Body
    primitives: Sequence[Primitive]
    parents: Sequence[tuple[int, ...]]
    root: int
    piece: Piece
    statement: int


def _latest(history: Sequence[tuple[int, Any]] | None, statement: int) -> Any:
    """The last thing that was noted before a statement; None where there is none."""
    k = bisect_left(history, statement, key=itemgetter(0)) if history else 0
    return history[k - 1][1] if history and k else None


class Builder:
    """The program as far as it has been read. The reader adds plain operations to `nodes` itself.

    What is wrong with names and types is kept, the first of it, until the text has been read to its end: only a text
    that is in the language has a meaning.
    """

    takes_lists = False

    def __init__(self, text: str, valued: Collection[str] = (), most: int = MAX_NODES) -> None:
        self.text = text
        self.valued = valued
        self.most = most
        self.statements: list[Complete] = []
        self.nodes = Graph()
        self.whole = self.nodes
        self.body: Body | None = None
        self.node_of: dict[str, int] = {}
        """The nodes of the names that mean the same wherever they stand from here on."""
        self.conditions: Any = set()
        """The nodes that are no numbers."""
        self.functions: Mapping[str, Primitive] = SIMPLE
        """The functions of one number by the names under which they can be called from here on."""
        self.lists = False
        """Whether the point has lists in it."""
        for name in valued:
            if name in SIMPLE:
                self.hide(name)
            elif name[-1:] == "]":
                self.lists = True
        self.problem: ExpressionError | None = None
        self.labels: dict[int, str] = {}
        self.outputs: tuple[int, ...] = ()
        self.branches = False
        self.expanded = 0
        self.free: dict[str, int] = {}
        self.used_constants: dict[str, int] = {}
        self.unknown: frozenset[int] = frozenset()
        """The parameters of a function that nothing calls, whose body is only checked."""
        self.bound: dict[str, list[tuple[int, Any]]] = {}
        """What each name was bound to, and by which statement; `defined` likewise."""
        self.defined: dict[str, list[tuple[int, _Function]]] = {}
        self.uncalled: dict[int, _Function] = {}
        self.bindings: list[tuple[str, Place, int]] = []
        self.looks: dict[str, tuple[str, Place]] = {}
        self.span = self.nodes.span_of = Spans(text)
        self._before: tuple[Sequence[int], int, ExpressionError | None] = (0, 0, 0, 0), 0, None
        """The state before this statement: names, nodes, and errors."""

    @property
    def offsets(self) -> Offsets:
        """The positions of the pairs of the text."""
        return self.span.offsets

    def outline(self) -> list[Statement]:
        """The statements, where they stand in the text."""
        return [Statement(kind, *self.span((first, last))[:2]) for kind, first, last in self.statements]

    def scope(self) -> tuple[Graph, dict[str, int], Any, Mapping[str, Primitive]]:
        """The scope in which the reader adds nodes. Raises `ListNotation`, as `operation` and `call` do."""
        if self.lists:
            raise ListNotation
        return self.nodes, self.node_of, self.conditions, self.functions

    def hide(self, name: str) -> None:
        """Call what the program or the point calls so, where it is called."""
        if name in self.functions:
            self.functions = {other: primitive for other, primitive in self.functions.items() if other != name}

    def program(self) -> Program:
        """The program that has been read. Raises `ExpressionError` (`name`, `arity`, `type`, `overflow`, `limit`)."""
        if self.problem is not None:
            problem, self.problem, self._before = self.problem, None, ((), 0, None)
            try:
                raise problem
            finally:
                del problem  # it would hold itself, by the frame in its traceback
        parameters = None
        if self.statements[-1][0] == "define":
            _, function = self.uncalled.popitem()
            parameters = self.apply_to_variables(function)
        if self.uncalled:
            for function in [*self.uncalled.values()]:
                self.check_body(function)
        nodes, leaves = self.whole, self.free
        if self.expanded:
            leaves = dict(sorted(leaves.items(), key=lambda leaf: self.span(nodes.places[leaf[1]])[:2]))
        return Program(
            self.text,
            nodes,
            self.outputs,
            leaves,
            tuple(leaves) if parameters is None else parameters,
            {name: CONSTANTS[name] for name in self.used_constants} if self.used_constants else {},
            self.bindings,
            self.labels,
            len(self.statements) == 1 and not self.expanded and not self.branches,
        )

    def finish_statement(self, statement: Complete | int, place: Piece) -> list[Complete]:
        """Take note of a statement that is complete, or of an expression that is one; all of them so far."""
        if isinstance(statement, int):
            self.output((statement,), (place,))
            statement = "expression", *place
        self.statements.append(statement)
        return self.statements

    def next_statement(self) -> None:
        """Go on to the next statement."""
        sizes = len(self.node_of), len(self.free), len(self.used_constants), len(self.looks)
        self._before = sizes, len(self.whole.places), self.problem

    def output(self, operands: tuple[int, ...], pieces: Sequence[Piece]) -> None:
        """The outputs, if no statement comes after this one."""
        if self.conditions:
            self.check_types((), operands, pieces)
        self.outputs = operands

    def bind(self, name: str, at: Place, value: int) -> None:
        """Bind a name to a node."""
        try:
            self.check_unused_before(name, at)
            self.check_look(name, at)
        except ExpressionError as error:
            self.refuse(error)
        self.labels.setdefault(value, name)
        self.bound.setdefault(name, []).append((len(self.statements), value))
        self.bindings.append((name, at, value))
        self.node_of[name] = value
        self.hide(name)
        self.outputs = (value,)

    def augment(self, name: str, at: Piece, primitive: Primitive, value: int, piece: Piece) -> None:
        """Bind a name to an operation on what it was bound to."""
        if name in self.bound:
            old = self.bound[name][-1][1]
            place = (at[0], piece[1])
            self.bind(name, at, self.operation(primitive, (old, value), place, (at, piece)))
            return
        what = "a constant" if name in CONSTANTS and name not in self.valued else "not bound yet"
        message = f"`{name}` is {what}, so it cannot be updated"
        self.problem = self._before[2] or ExpressionError(
            "name", message, self.span(at), f"bind it first: `{name} = …`"
        )

    def check_unused_before(self, name: str, at: Place) -> None:
        """Raise where a name that is bound now was used as a variable, or as a constant, before."""
        if name in self.bound:
            return
        earlier = self.free.get(name, self.used_constants.get(name))
        if earlier is not None:
            hint = "bind a name before its first use, or give this one another name"
            also = ((self.span(self.whole.places[earlier]), "used here"),)
            raise ExpressionError("name", f"`{name}` is bound here but was used before", self.span(at), hint, also)

    def begin_body(self) -> None:
        """Take what has been read of this statement for the head of a definition, and what follows for the body."""
        sizes, size, self.problem = self._before
        rows: tuple[dict[str, Any], ...] = (self.node_of, self.free, self.used_constants, self.looks)
        for row, before in zip(rows, sizes, strict=True):
            while len(row) > before:
                row.popitem()
        self.cut(size)
        self._top = self.node_of, self.conditions, self.functions
        self.begin(Body())

    def begin(self, body: Body) -> None:
        """Add the nodes that follow to a body, where no name has a meaning yet."""
        self.nodes = self.body = body
        self.node_of, self.conditions, self.functions = {}, Anything(), {}

    def cut(self, size: int) -> None:
        """Take back the nodes from there on."""
        nodes = self.whole
        for kept in (self.conditions, nodes.signed):
            kept.difference_update(range(size, len(nodes.places)))
        while nodes.rows and nodes.rows[-1][1] >= size:
            nodes.rows.pop()
        del nodes.places[size:]
        table: dict[int, Any]
        for table in (nodes.constants, self.labels):
            while table and next(reversed(table)) >= size:
                table.popitem()

    def define(self, head: Head, root: int, piece: Piece) -> None:
        """End the body, and define the function."""
        body = self.body
        assert body is not None
        self.nodes, self.body = self.whole, None
        self.node_of, self.conditions, self.functions = self._top
        self.declare(head, body, body.columns(name_mark), root, piece)

    def declare(self, head: Head, body: Body, columns: Any, root: int, piece: Piece) -> None:
        """Define a function by what has been read of its body."""
        self.hide(head.name)
        names = tuple([name for name, _ in head.parameters])
        try:
            for k, (name, span) in enumerate(head.parameters):
                if name in names[:k]:
                    raise ExpressionError("name", f"the parameter `{name}` is listed twice", span, "rename one of them")
                self.check_look(name, span)
            self.check_look(head.name, head.span)
        except ExpressionError as error:
            self.refuse(error)
        primitives, parents = columns
        function = _Function(head.name, names, body, primitives, parents, root, piece, len(self.statements))
        self.defined.setdefault(head.name, []).append((len(self.statements), function))
        self.uncalled[len(self.statements)] = function
        self.parameters = head.parameters

    def apply_to_variables(self, function: _Function) -> tuple[str, ...]:
        """Make the body of the function that ends the program the output, over its parameters: their variables."""
        leaves: list[int] = []
        for name, span in self.parameters:
            if name in self.free:
                raise used_before(name, span)
            leaves.append(self.variable(span))
        self.free.update(zip(function.parameters, leaves, strict=True))
        root = self.expand(function, tuple(leaves), None)
        self.outputs = (root,)
        self.raise_for_types((), self.outputs, (function.piece,))
        return function.parameters

    def check_body(self, function: _Function) -> None:
        """Work the body of a definition out that nothing called, for the errors in it; what it names is not used."""
        free, constants, size = dict(self.free), dict(self.used_constants), len(self.whole.places)
        self.unknown = frozenset([self.variable((0, 0)) for _ in function.parameters])
        self.expand(function, tuple(sorted(self.unknown)), None)
        self.unknown = frozenset()
        self.free, self.used_constants = free, constants
        self.cut(size)

    def refuse(self, error: ExpressionError) -> int:
        """Keep an error, and go on with a node that stands for nothing."""
        error.__traceback__ = None
        self.problem = self.problem or error
        return self.constant(0.0, "0", (0, 0))

    def unusual_number(self, text: str, place: Place) -> tuple[float, str] | None:
        """The value of a number that is too large, or has a unit, `5[kg]`, in coherent units, and its text.

        What is no unit is refused, and what is infinite; None for a number that is none.
        """
        digits, unit = text, ""
        if text[-1] == "]":
            digits, _, unit = text[:-1].partition("[")
        number = number_of(digits)
        if number is None:
            return None
        if unit:
            number = self.quantity(number, unit, self.span(place).start + len(digits) + 1)
        if number[0] == math.inf:
            message = "this number is too large for double precision"
            self.refuse(ExpressionError("overflow", message, self.span(place), "the largest is about 1.8e308"))
        return number

    def quantity(self, number: tuple[float, str], unit: str, start: int) -> tuple[float, str]:
        """A number with a unit that stands there, in coherent units, and its text."""
        from ..quantities.unit import parse_unit  # only units need it

        try:
            factor = parse_unit(unit)
            if factor.zero:
                message = f"`{unit}` is a scale with a zero of its own, which a number in a formula has not"
                raise ExpressionError("type", message, None, "write `K`, or give the temperature in `--at`")
        except ExpressionError as error:
            span = error.span or Span(0, len(unit))
            self.refuse(ExpressionError("type", str(error), Span(start + span.start, start + span.end), error.hint))
            return number
        return factor.to_si(number[0]), f"{number[1]}[{factor}]"

    def check_look(self, name: str, at: Place) -> None:
        """Refuse two names that look alike."""
        look = name
        if not name.isascii():
            from unicodedata import normalize

            look = normalize("NFKC", name)
        same_look, where = self.looks.setdefault(look, (name, at))
        if same_look != name:
            message = f"`{name}` and `{same_look}` look alike but are two names"
            also = ((self.span(where), f"`{same_look}` is here"),)
            raise ExpressionError("name", message, self.span(at), "write both the same way", also)

    def name(self, name: str, place: Place) -> int:
        """The node of a name that the reader has met."""
        if self.body is not None:
            self.body.called[len(self.body.places)] = name, place
            return self.leaf(place)
        if name.isascii() and name not in CONSTANTS and name not in self.bound and name not in self.looks:
            # A variable that nothing can be wrong with: what `lookup` would do.
            places = self.nodes.places
            self.free[name] = self.node_of[name] = node = len(places)
            self.looks[name] = name, place
            places.append(place)
            return node
        try:
            node = self.node_of[name] = self.lookup(name, place, len(self.statements))
        except ExpressionError as error:
            return self.refuse(error)
        return node

    def lookup(self, name: str, place: Place, statement: int) -> int:
        """The node of a name in the program as it was before a statement."""
        self.check_look(name, place)
        history = self.bound.get(name)
        value: int | None = _latest(history, statement)
        if value is not None:
            return value
        if history and name not in CONSTANTS:
            message = f"`{name}` has no value yet where it is used here"
            raise ExpressionError("name", message, self.span(place), "bind it before the definition")
        if name in CONSTANTS and name not in self.valued and name not in self.free:
            if name not in self.used_constants:
                self.used_constants[name] = node = self.constant(CONSTANTS[name], name, place)
                self.labels[node] = name
            return self.used_constants[name]
        if name not in self.free:
            self.free[name] = self.variable(place)
        return self.free[name]

    def function(self, name: str, place: Place, end: int, scope: _Function | None) -> _Function | Primitive:
        """Return the function of a call that ends before a sign, in the body of a function or in the program."""
        statement = scope.statement if scope else len(self.statements)
        bound = _latest(self.bound.get(name), statement) is not None
        if bound or name in self.valued or (scope and name in scope.parameters):
            raise self.unexplained(f"`{name}` has a value here, so it cannot be called", place, end)
        history = self.defined.get(name)
        function: _Function | Primitive | None = _latest(history, statement) or FUNCTIONS.get(name)
        if function is not None:
            return function
        if scope and scope.name == name:
            hint = "write the recursion out: definitions are expanded in place"
            raise ExpressionError("name", f"`{name}` calls itself", self.span(place), hint)
        if history:
            raise ExpressionError("name", f"`{name}` is defined only later", self.span(place), "move its definition up")
        if name in _ON_LISTS:
            raise ListNotation
        if name in self.free or name in CONSTANTS or len(name) == 1:
            raise self.unexplained(f"`{name}` is not a function", place, end)
        raise self.unexplained(f"there is no function `{name}`", place, end, tuple(self.defined))

    def unexplained(
        self, message: str, place: Place, end: int, functions: Collection[str] | None = None
    ) -> UnexplainedText:
        """The error of a call that ends before a sign."""
        return UnexplainedText("name", message, self.span(place), self.offsets.ends[end], functions=functions)

    def node(self, primitive: Primitive, parents: tuple[int, ...], place: Place) -> int:
        """A new operation."""
        i = self.leaf(place)
        a, b = (parents[0], None) if len(parents) == 1 else parents if len(parents) == 2 else (parents, None)
        self.nodes.rows.append((primitive, i, a, b))
        if primitive is NEG and a in self.nodes.constants:
            self.nodes.signed.add(i)
        elif primitive.gives_condition:
            self.conditions.add(i)
        elif primitive.lazy_inputs:
            self.branches = True
        return i

    def checked_node(
        self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]
    ) -> int:
        """An operation that was recorded. Raises `ExpressionError` where a condition is a number, or the reverse."""
        if self.conditions or primitive.takes_conditions:
            self.raise_for_types(primitive.takes_conditions, operands, pieces)
        return operands[0] if primitive is plus_mark else self.node(primitive, operands, place)

    def leaf(self, place: Place) -> int:
        """A new node without inputs."""
        places = self.nodes.places
        places.append(place)
        return len(places) - 1

    variable = leaf

    def constant(self, data: float, source: str | None, place: Place) -> int:
        """A new constant."""
        i = self.leaf(place)
        self.nodes.constants[i] = data, source
        return i

    def superscript(self, text: str, sign: int) -> int:
        """The exponent that a superscript is, the sign of a pair."""
        digits = worth(text)
        if digits[0] not in "+-":
            return self.constant(float(digits), digits, (~sign, sign + 1))
        start, end, _ = self.span((~sign, sign + 1))
        number = self.constant(float(digits[1:]), digits[1:], Span(start + 1, end))
        return self.node(NEG, (number,), Span(start, end)) if digits[0] == "-" else number

    def check_types(self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Piece]) -> None:
        """Hold it to the next node that exactly the `wanted` ones of its operands are conditions."""
        if self.body is not None:
            self.body.pieces[len(self.body.places)] = pieces
            return
        try:
            self.raise_for_types(wanted, operands, pieces)
        except ExpressionError as error:
            self.refuse(error)

    def raise_for_types(self, wanted: Sequence[int], operands: Sequence[int], pieces: Sequence[Piece]) -> None:
        """Raise an error unless exactly the `wanted` ones of the operands are conditions."""
        conditions = self.conditions
        for k, operand in enumerate(operands):
            if (operand in conditions) == (k in wanted):
                continue
            message = "a condition is needed here, and this is a number"
            hint = "compare it: `… > 0`, `… != 0`"
            if k not in wanted:
                message = "a number is needed here, and this is a condition"
                hint = "choose numbers by it: `1 if … else 0`"
            raise ExpressionError("type", message, self.span(pieces[k]), hint)

    def operation(self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]) -> int:
        """An operation that the grammar knows. Raises `ListNotation` for those of lists."""
        if self.conditions or primitive.takes_conditions or primitive in _OF_LISTS:
            if primitive in _OF_LISTS:
                raise ListNotation
            self.check_types(primitive.takes_conditions, operands, pieces)
        return self.node(primitive, operands, place)

    def plus(self, operand: int, place: Place, piece: Piece) -> int:
        """The operand of a sign that changes nothing."""
        if self.body is not None:
            return self.operation(plus_mark, (operand,), place, (piece,))
        if operand in self.conditions:
            self.check_types((), (operand,), (piece,))
        return operand

    def comparison(self, operands: Sequence[int], pieces: Sequence[Piece], signs: Sequence[str]) -> int:
        """A comparison, chained ones as the conjunction of their pairs."""
        result: int | None = None
        for k, sign in enumerate(signs):
            pair, two = tuple(operands[k : k + 2]), pieces[k : k + 2]
            compared = self.operation(COMPARISONS[sign], pair, (two[0][0], two[1][1]), two)
            whole = (pieces[0][0], pieces[-1][1])
            result = compared if result is None else self.node(AND, (result, compared), whole)
        assert result is not None
        return result

    def call(self, name: str, at: Place, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]) -> int:
        """A call of a function of the program or of the language."""
        if self.body is not None:
            if (name in _ON_LISTS or (name in BOUNDED and len(operands) == 4)) and not self.takes_lists:
                raise ListNotation
            i = len(self.body.places)
            self.body.pieces[i] = pieces
            self.body.called[i] = name, at
            return self.node(call_mark, operands, place)
        if name in BOUNDED and len(operands) == 4 and operands[1] <= operands[0] and pieces[1][0] == pieces[1][1]:
            # a name that stands in the first argument, or before: perhaps an index
            raise ListNotation
        try:
            called = self.function(name, at, place[1], None)
            if isinstance(called, _Function):
                self.check_count(called, place, pieces)
                return self.expand(called, operands, place)
            return self.apply(called, name, operands, place, pieces)
        except ExpressionError as error:
            return self.refuse(error)

    def apply(
        self, primitive: Primitive, name: str, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]
    ) -> int:
        """A function of the language at its arguments."""
        count = len(operands)
        if primitive.with_two and count == 2:
            primitive = PRIMITIVES[primitive.with_two]
        if primitive.variadic:
            if not operands:
                self.refuse_count(name, primitive.signature, "at least 1", place, pieces)
        elif count != len(primitive.params):
            most = len(primitive.params)
            least = most - len(primitive.defaults)
            if not least <= count <= most:
                wanted = f"{least} or {most}" if least < most else f"{most} or 2" if primitive.with_two else most
                self.refuse_count(name, primitive.signature, wanted, place, pieces)
        if self.conditions or primitive.takes_conditions:
            self.raise_for_types(primitive.takes_conditions, operands, pieces)
        if count < len(primitive.params) and not primitive.variadic:
            for default in primitive.defaults[count - len(primitive.params) :]:
                operands += (self.constant(float(default), default, place),)
        for parameter in primitive.constant_params:
            self.check_whole(primitive, operands[primitive.params.index(parameter)], place)
        return self.node(primitive, operands, place)

    def check_count(self, function: _Function, place: Place, pieces: Sequence[Piece]) -> None:
        """Raise where a function of the program's own is called with too many arguments, or with too few."""
        if len(pieces) != len(function.parameters):
            signature = f"{function.name}({', '.join(function.parameters)})"
            self.refuse_count(function.name, signature, len(function.parameters), place, pieces)

    def refuse_count(
        self, name: str, signature: str, wanted: int | str, place: Place, pieces: Sequence[Piece]
    ) -> NoReturn:
        """Raise what is to say of a number of arguments that a function does not take."""
        check_thousands([self.offsets.start(first) for first, _ in pieces], self.text)
        plural, got = "" if str(wanted).endswith("1") else "s", len(pieces)
        message = f"`{name}` takes {wanted} argument{plural}, and {got} {'is' if got == 1 else 'are'} given"
        raise ExpressionError("arity", message, Span(*self.span(place)[:2]), f"write it as `{signature}`")

    def expand(self, function: _Function, operands: tuple[int, ...], via: Place | None) -> int:
        """The body of a function at its arguments. A stack of calls instead of recursion."""
        calls: list[tuple[_Function, dict[str, int], list[int], Place | None]] = []
        nodes_made: list[int] = []
        meanings = self.enter(function, operands, via)
        while True:
            body = function.body
            for i in range(len(nodes_made), len(body.places)):
                primitive, place = function.primitives[i], body.places[i]
                if via is not None:
                    place = (*place[:2], via) if type(place) is tuple else Span(place[0], place[1], self.span(via))
                inputs = tuple([nodes_made[p] for p in function.parents[i]])
                if primitive is CONSTANT:
                    node = self.constant(*body.constants[i], place)
                elif primitive is name_mark:
                    name = body.called[i][0]
                    if name not in meanings:
                        meanings[name] = self.lookup(name, place, function.statement)
                    node = meanings[name]
                elif primitive is call_mark:
                    name, at = body.called[i]
                    called = self.function(name, at, place[1], function)
                    pieces = body.pieces[i]
                    if isinstance(called, _Function):
                        self.check_count(called, place, pieces)
                        calls.append((function, meanings, nodes_made, via))
                        function, via = called, place
                        meanings, nodes_made = self.enter(function, inputs, via), []
                        break
                    node = self.apply(called, name, inputs, place, pieces)
                else:
                    node = self.checked_node(primitive, inputs, place, body.pieces.get(i, ()))
                nodes_made.append(node)
            else:
                root = nodes_made[function.root]
                if not calls:
                    return root
                function, meanings, nodes_made, via = calls.pop()
                nodes_made.append(root)

    def enter(self, function: _Function, operands: tuple[int, ...], via: Place | None) -> dict[str, int]:
        """Return the bindings of the names in the body of a function that is called."""
        self.uncalled.pop(function.statement, None)
        if via is not None:
            # What calls add to the text is counted, whether it makes a node or not: it can grow exponentially.
            self.expanded += len(function.primitives)
            work.charge(work.CALLED_NODE * len(function.primitives))
            if self.expanded > self.most:
                message = f"the calls expand to more than {self.most:,} nodes"
                raise ExpressionError("limit", message, self.span(via), "split the program")
        return dict(zip(function.parameters, operands, strict=True))

    def check_whole(self, primitive: Primitive, order: int, place: Place) -> None:
        """Raise an error unless the node is a whole number that the program fixes."""
        if not self.unknown.isdisjoint(in_order(self.now().parents, (order,)) if self.unknown else ()):
            return
        value = self.fixed(order)
        if value is None or value < 0 or value != int(value):
            message = f"the order of `{primitive.name}` must be a whole number fixed by the program"
            raise ExpressionError("type", message, Span(*self.span(place)[:2]), f"write it as `{primitive.name}(2, …)`")

    def fixed(self, node: int) -> float | None:
        """The value of a node of the program that is made of numbers alone; None for any other."""
        if node in self.whole.constants:
            return self.whole.constants[node][0]
        graph, places = self.now().below((node,))
        if not places.keys().isdisjoint(self.free.values()):
            return None
        return float(Evaluation(REAL, graph).values[0])

    def now(self) -> Graph:
        """The program as far as it has been read."""
        return self.whole.changed(rows=self.whole.rows)
