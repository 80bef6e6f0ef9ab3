"""A syntax tree to a graph: each statement, and the body of a definition at each of its calls.

An expression is evaluated as a row of its parts, each after its own: by a loop, as formulas may be
nested deeply.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import copy
from typing import Any, NamedTuple

from ..engine.numbers import budget
from ..engine.run.flat_graph import Place, in_order
from ..engine.table.operators import CONSTANT
from ..engine.table.primitive import FUNCTIONS, Primitive
from ..errors import ExpressionError, Span
from .builder import (
    BOUNDED,
    MAX_NODES,
    OF_LISTS,
    UNROLLED,
    Builder,
    NeedsTree,
    Program,
    chained,
    latest,
)
from .tree import SyntaxNode

# What a part is that is neither a number nor an operation.
NAME_MARK, CALL_MARK, PLUS_MARK = (
    Primitive("name", ()),
    Primitive("call", ()),
    Primitive("pos", ("x",)),
)


class Body:
    """An expression as a row of its parts, each after its own; the last is the whole."""

    def __init__(self) -> None:
        self.primitives: list[Primitive] = []
        self.parents: list[tuple[int, ...]] = []
        self.places: list[Span] = []
        self.start: list[int] = []  # the first part of each part
        self.constants: dict[int, tuple[float, str]] = {}
        self.called: dict[int, tuple[str, Span]] = {}  # names and called functions
        self.pieces: dict[int, Sequence[Span]] = {}  # the places of the operands
        self.bounded: set[int] = set()  # the calls with an index and bounds
        self.iterated: set[int] = set()  # the calls of `iterate`
        # by lazily evaluated part, the innermost part that demands it
        self.lazy: dict[int, int] = {}

    def add(
        self,
        primitive: Primitive,
        parents: tuple[int, ...],
        place: Span,
        pieces: Sequence[Span] = (),
    ) -> int:
        """Add a part, and return its number."""
        i = len(self.places)
        self.primitives.append(primitive)
        self.parents.append(parents)
        self.places.append(place)
        self.start.append(min([self.start[p] for p in parents], default=i))
        if pieces:
            self.pieces[i] = pieces
        return i


class Function(NamedTuple):
    """A function that the program defines."""

    name: str
    parameters: tuple[str, ...]
    body: Body
    piece: Span
    statement: int


class Call(NamedTuple):
    """A part of a body in evaluation: its nodes from `first` to before `end`."""

    function: Function
    meanings: dict[str, Any]
    via: Place | None  # the place of the call, unless the program ends with it
    end: int
    values: list[Any]
    first: int = 0
    depth: int = 0

    def place(self, i: int) -> Place:
        """Return the place of a node in this call."""
        place = self.function.body.places[i]
        return place if self.via is None else Span(place.start, place.end, self.via)


class TreeBuilder(Builder):
    """The graph of a tree without lists. Its calls expand to at most `most` nodes."""

    too_many = "the calls expand to more than {:,} nodes"
    max_depth = math.inf
    takes_lists = False
    indexed: Collection[str] = ()
    """The names of lists."""

    def __init__(self, text: str, valued: Collection[str] = (), most: int = MAX_NODES) -> None:
        super().__init__(text, valued)
        self.most = most
        self.expanded = 0
        # the parameters of a function without calls, which is only checked
        self.unknown: frozenset[int] = frozenset()
        # By name, its functions and their statements.
        self.defined: dict[str, list[tuple[int, Function]]] = {}
        self.uncalled: dict[int, Function] = {}
        self.parameters: Sequence[SyntaxNode] = ()  # of the last definition

    def build(self, tree: SyntaxNode) -> Program:
        """Return the program of a tree. Raises `ExpressionError`, and `NeedsTree` for lists."""
        if self.lists and not self.takes_lists:
            raise NeedsTree
        for statement in tree.parts:
            self.build_statement(statement)
            self.statements.append((statement.kind, statement.span))
        return self.program()

    def program(self) -> Program:
        if self.problem is not None:
            self.raise_problem()
        parameters = None
        if self.statements[-1][0] == "define":
            _, function = self.uncalled.popitem()
            parameters = self.apply_to_variables(function)
        self.check_uncalled()
        places = self.nodes.places
        leaves = dict(sorted(self.free.items(), key=lambda leaf: self.span(places[leaf[1]])[:2]))
        return self.as_program(leaves, parameters)

    # ---- statements
    def build_statement(self, statement: SyntaxNode) -> None:
        """Add a statement to the program."""
        parts = statement.parts
        if statement.kind == "bind":
            self.bind(statement.value, statement.name_span, self.evaluate(parts[0]))
        elif statement.kind == "augment":
            ((_, value),) = (part.parts for part in parts)
            self.augment(
                statement.value,
                statement.name_span,
                parts[0].value,
                self.evaluate(value),
                value.span,
            )
        elif statement.kind == "define":
            self.define_function(statement)
        else:
            outputs = parts if statement.kind == "outputs" else (statement,)
            self.output(
                tuple([self.evaluate(part) for part in outputs]), [part.span for part in outputs]
            )

    def evaluate(self, expression: SyntaxNode) -> Any:
        """Return the value of an expression, or a placeholder where it has none."""
        body = self.body_of(expression)
        whole = Function("", (), body, expression.span, len(self.statements))
        try:
            return self.value(Call(whole, {}, None, len(body.places), []))
        except ExpressionError as error:
            return self.refuse(error)

    def define_function(self, statement: SyntaxNode) -> None:
        """Define a function."""
        *parameters, expression = statement.parts
        body = self.body_of(expression)
        self.hide(statement.value)
        names = tuple([parameter.value for parameter in parameters])
        try:
            for k, (_, span, _, name) in enumerate(parameters):
                if name in names[:k]:
                    raise ExpressionError(
                        "name",
                        f"the parameter `{name}` is listed twice",
                        span,
                        "rename one of them",
                    )
                self.check_look(name, span)
            self.check_look(statement.value, statement.name_span)
        except ExpressionError as error:
            self.refuse(error)
        function = Function(statement.value, names, body, expression.span, len(self.statements))
        self.defined.setdefault(statement.value, []).append((len(self.statements), function))
        self.uncalled[len(self.statements)] = function
        self.parameters = parameters

    def apply_to_variables(self, function: Function) -> tuple[str, ...]:
        """Output the body of the last function, with its parameters as variables."""
        for _, span, _, name in self.parameters:
            if name in self.free or name in self.indexed:
                message = f"`{name}` is a parameter here, and a variable of the program before it"
                raise self.error("name", message, span, "rename one of the two")
        arguments = [self.parameter(name, span) for _, span, _, name in self.parameters]
        self.nodes.roots = self.entries(self.value(self.enter(function, arguments, None)))
        self.raise_for_types((), self.nodes.roots, [function.piece] * len(self.nodes.roots))
        return function.parameters

    def parameter(self, name: str, span: Span) -> Any:
        """Return a parameter as a variable."""
        self.free[name] = self.leaf(span)
        return self.free[name]

    def entries(self, value: Any) -> tuple[int, ...]:
        """Return the nodes of a value."""
        return (value,)

    def check_uncalled(self) -> None:
        """Raise the error of a definition that no call has shown."""
        if not self.uncalled:
            return
        trial, graph = copy(self), self.nodes
        parts = {"rows": [*graph.rows], "constants": {**graph.constants}, "places": [*graph.places]}
        trial.nodes = graph.replace(**parts, names=({}, {}))
        trial.free, trial.used_constants = {**self.free}, {**self.used_constants}
        for function in [*self.uncalled.values()]:
            trial.unknown = frozenset([trial.leaf((0, 0)) for _ in function.parameters])
            trial.value(trial.enter(function, sorted(trial.unknown), None))

    # ---- expressions as rows of parts
    def body_of(self, expression: SyntaxNode) -> Body:
        """Return an expression as a row of its parts. Raises `NeedsTree` for lists."""
        body = Body()
        waiting = [(expression, False)]
        found: list[tuple[int, Span]] = []  # of the parts so far, the number and the place
        while waiting:
            node, has_parts = waiting.pop()
            if node.parts and not has_parts:
                waiting.append((node, True))
                waiting.extend([(part, False) for part in reversed(node.parts)])
                continue
            first = len(found) - len(node.parts)
            operands = tuple([number for number, _ in found[first:]])
            pieces = [piece for _, piece in found[first:]]
            del found[first:]
            number = (
                operands[0] if node.kind == "group" else self._add(body, node, operands, pieces)
            )
            found.append((number, node.span))
        return body

    def _add(
        self, body: Body, node: SyntaxNode, operands: tuple[int, ...], pieces: Sequence[Span]
    ) -> int:
        kind, span, _, value = node
        if kind == "number":
            is_usual = value[0] < math.inf and value[1][-1] != "]"
            body.constants[len(body.places)] = (
                value if is_usual else self.unusual_number(value[1], span) or value
            )
            return body.add(CONSTANT, (), span)
        if kind == "name":
            body.called[len(body.places)] = value, span
            return body.add(NAME_MARK, (), span)
        if kind == "call":
            self.check_call(value, len(operands))
            body.called[len(body.places)] = value, node.name_span
            return body.add(CALL_MARK, operands, span, pieces)
        if kind == "plus":
            return body.add(PLUS_MARK, operands, span, pieces)
        if kind == "comparison":
            return chained(body.add, operands, pieces, value)
        self.check_operation(value)
        return body.add(value, operands, span, pieces)

    def check_call(self, name: str, count: int) -> None:
        """Raise `NeedsTree` for a call in the body of a definition that may be of lists."""
        if name in UNROLLED or (name in BOUNDED and count == 4):
            raise NeedsTree

    def check_operation(self, primitive: Primitive) -> None:
        """Raise `NeedsTree` for an operation on lists."""
        if primitive in OF_LISTS:
            raise NeedsTree

    # ---- evaluation
    def enter(
        self,
        called: Function,
        operands: Sequence[Any],
        via: Place | None,
        pieces: Sequence[Place] = (),
        depth: int = 0,
    ) -> Call:
        """Return a call of a function, not evaluated yet. Raises `ExpressionError` (`arity`)."""
        name, parameters = called.name, called.parameters
        self.check_depth(depth, via or called.piece)
        if via is not None and len(operands) != len(parameters):
            self.refuse_count(
                name, f"{name}({', '.join(parameters)})", len(parameters), via, pieces
            )
        self.uncalled.pop(called.statement, None)
        if via is not None:
            self.charge_call(called, via)
        meanings = dict(zip(parameters, operands, strict=True))
        return Call(called, meanings, via, len(called.body.places), [], 0, depth + 1)

    def charge_call(self, called: Function, place: Place) -> None:
        """Charge for a call: with nodes or without, calls can grow exponentially."""
        self.charge(len(called.body.places), place)

    def check_depth(self, depth: int, place: Place) -> None:
        """Raise an error if calls are nested too deeply."""
        if depth > self.max_depth:
            message = (
                f"calls, sums and indices stand more than {self.max_depth} deep in one another"
            )
            raise self.error("limit", message, place, "bind the inner ones to names")

    def charge(self, count: int, place: Place) -> None:
        """Charge for nodes. Raises `ExpressionError` (`limit`)."""
        self.expanded += count
        budget.charge(budget.CALLED_NODE * count)
        if self.expanded > self.most:
            raise self.error("limit", self.too_many.format(self.most), place, "split the program")

    def value(self, call: Call) -> Any:
        """Return the last node's value of a call, by a stack, not recursion."""
        calls = [call]
        while True:
            call = calls[-1]
            values = call.values
            for i in range(call.first + len(values), call.end):
                value = self.node_value(call, i)
                if type(value) is Call:
                    calls.append(value)
                    break
                values.append(value)
            else:
                calls.pop()
                if not calls:
                    return values[-1]
                calls[-1].values.append(values[-1])

    def node_value(self, call: Call, i: int) -> Any:
        """Return a node's value, or the call that it makes."""
        function, body, place = call.function, call.function.body, call.place(i)
        primitive = body.primitives[i]
        if primitive is CONSTANT:
            return self.constant(*body.constants[i], place)
        if primitive is NAME_MARK:
            return self.meaning(body.called[i][0], place, call)
        operands = tuple([call.values[p - call.first] for p in body.parents[i]])
        pieces = body.pieces.get(i, ())
        if primitive is not CALL_MARK:
            return self.checked_node(primitive, operands, place, pieces)
        name, at = body.called[i]
        called = self.function_in(function, name, at, place)
        if isinstance(called, Function):
            return self.enter(called, operands, place, pieces, call.depth)
        return self.apply(called, name, operands, place, pieces)

    def checked_node(
        self, primitive: Primitive, operands: Any, place: Place, pieces: Sequence[Place]
    ) -> Any:
        node = super().checked_node
        if primitive is not PLUS_MARK:
            return node(primitive, operands, place, pieces)
        if self.conditions:
            self.raise_for_types((), operands, pieces)
        return operands[0]

    def function_in(
        self, caller: Function, name: str, at: Place, place: Place
    ) -> Function | Primitive:
        """Return the function that a call in the body of another, or in the program, means."""
        statement, history = caller.statement, self.defined.get(name)
        is_bound = latest(self.bound.get(name), statement) is not None
        has_value = is_bound or name in self.valued or name in caller.parameters
        function: Function | None = None if has_value else latest(history, statement)
        if function is None and history and not has_value and name not in FUNCTIONS:
            if caller.name == name:
                hint = "write the recursion out: definitions are expanded in place"
                raise self.error("name", f"`{name}` calls itself", at, hint)
            raise self.error(
                "name", f"`{name}` is defined only later", at, "move its definition up"
            )
        return function or self.function(name, at, place, has_value)

    def own_functions(self) -> Collection[str]:
        return tuple(self.defined)

    def meaning(self, name: str, place: Place, call: Call) -> Any:
        """Return the value of a name in a call."""
        if name not in call.meanings:
            call.meanings[name] = self.lookup(name, place, call.function.statement)
        return call.meanings[name]

    def fixed(self, node: int) -> float | None:
        if self.unknown and not self.unknown.isdisjoint(
            in_order(self.nodes.replace(rows=self.nodes.rows).parents, (node,))
        ):
            return 0.0  # a parameter, whose value a call would tell
        return super().fixed(node)
