"""Lists, `x[2]`, `W @ x + b`, `sum(w[i]*x[i], i, 1, 3)`, unrolled to operations: the graph has no
lists.

Each statement is recorded like the body of a definition, and then evaluated, with an operation for
each entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, NoReturn

from ..engine.run.flat_graph import Place
from ..engine.table.operators import ADD, CONSTANT, DIV, MUL, NEG, SUB
from ..engine.table.primitive import COMPOSED, FUNCTIONS, Primitive
from ..errors import ExpressionError, Span
from .builder import (
    ARRAY,
    BOUNDED,
    CONSTANTS,
    INDEX,
    ITERATE,
    MATMUL,
    MAX_NODES,
    RANGE,
    Program,
    joined,
)
from .elements import element_name, shapes_of
from .list_functions import FUNCTIONS_OF_LISTS, REPEATED, Array, Make, WrongShape, products
from .tokens import UnknownShape
from .tree import SyntaxNode
from .tree_builder import CALL_MARK, NAME_MARK, PLUS_MARK, Body, Call, Function, TreeBuilder

MAX_TERMS = 10_000  # the most terms of a sum, or entries of a range of indices
MAX_UNROLLED = 300_000  # the most operations of an unrolled text
MAX_DEPTH = 60  # the deepest nesting of calls, sums and indices

# Operations that an index may use.
_WHOLE: Mapping[Primitive, Callable[..., float]] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    DIV: lambda a, b: a / b if b else math.nan,
    NEG: lambda a: -a,
    PLUS_MARK: lambda a: a,
}


class FreeName(NamedTuple):
    """A free name not yet used as a number or a list."""

    name: str
    place: Place


class Index(NamedTuple):
    """The value of a sum's index in one term."""

    number: int


Meaning = int | Array | FreeName


def _uses_index(body: Body, i: int) -> bool:
    """Return whether the first argument of a sum or product has its second, a name, in it."""
    term, index = body.parents[i][:2]
    names = (
        body.called[k][0]
        for k in range(body.start[term], term + 1)
        if body.primitives[k] is NAME_MARK
    )
    return body.called[index][0] in names


class Unroller(TreeBuilder):
    """The graph of a tree with lists, an operation for each entry."""

    too_many = "the lists, sums and calls unroll to more than {:,} operations"
    max_depth = MAX_DEPTH
    takes_lists = True

    def __init__(self, text: str, valued: Collection[str] = (), most: int = MAX_NODES) -> None:
        super().__init__(text, valued, min(most, max(MAX_UNROLLED, 8 * len(text))))
        self.shapes = shapes_of(valued)
        # the number of indices of each list, and a place
        self.dimensions: dict[str, tuple[int, Place]] = {}
        self.indexed = self.dimensions.keys()
        self.shape: tuple[int, ...] = ()
        self.first: dict[str, Place] = {}
        # By the name of an index that its summand lacks, the error if it is a variable elsewhere.
        self.unused_indices: dict[str, ExpressionError] = {}

    def program(self) -> Program:
        """Return the program. Raises `ExpressionError`, also where four arguments can be read in
        two ways.
        """
        program = super().program()
        if self.shape:
            program.shape = self.shape
        for name, error in self.unused_indices.items():
            if name in self.free or name in self.dimensions:
                raise error
        return program

    def as_program(
        self, leaves: dict[str, int], parameters: tuple[str, ...] | None = None
    ) -> Program:
        """Return the program; where it uses entries of a value, all of them are its parameters, in
        their order.
        """
        return super().as_program(
            leaves, self._with_all_entries(leaves) if parameters is None else parameters
        )

    def _with_all_entries(self, names: Iterable[str]) -> tuple[str, ...]:
        valued = shapes_of(self.valued)
        result: dict[str, None] = {}
        for name in names:
            base = name.partition("[")[0]
            if base in self.dimensions and base in valued:
                indices = product(*[range(1, size + 1) for size in valued.pop(base)])
                result |= dict.fromkeys([element_name(base, index) for index in indices])
            result[name] = None
        return tuple(result)

    # ---- statements
    def output(self, operands: Sequence[Any], pieces: Sequence[Place]) -> None:
        self.nodes.roots = ()
        for value, piece in zip(operands, pieces, strict=True):
            entries = self.entries(value)
            self.shape = value.shape if isinstance(value, Array) and len(operands) == 1 else ()
            self.check_types((), entries, [piece] * len(entries))
            self.nodes.roots += entries

    def evaluate(self, expression: SyntaxNode) -> int | Array:
        value = super().evaluate(expression)
        try:
            return self._resolve(value)
        except ExpressionError as error:
            return self.refuse(error)

    def body_of(self, expression: SyntaxNode) -> Body:
        body = super().body_of(expression)
        for i, parents in enumerate(body.parents):
            if self._is_bounded(body, i):
                body.bounded.add(i)
            waiting = (
                parents[1:] if body.primitives[i] is INDEX else parents if i in body.bounded else ()
            )
            if self._is_iterated(body, i):
                body.iterated.add(i)
                waiting = (*parents[:1], *parents[2:])
            for p in waiting:
                k = p
                while k >= body.start[p]:
                    if k in body.lazy:
                        k = body.start[k]  # all of this waits for another node already
                    else:
                        body.lazy[k] = i
                    k -= 1
        return body

    def _is_iterated(self, body: Body, i: int) -> bool:
        name = body.called[i][0] if body.primitives[i] is CALL_MARK else ""
        return name == ITERATE and name not in self.defined

    def check_call(self, name: str, count: int) -> None:
        """Take any call."""

    def check_operation(self, primitive: Primitive) -> None:
        """Take any operation."""

    def check_uncalled(self) -> None:
        """Take any definition: the shapes in it only calls tell."""

    def charge_call(self, called: Function, place: Place) -> None:
        """Charge nothing: each node of the call is charged for."""

    def unrolled(self, name: str) -> Primitive:
        return FUNCTIONS_OF_LISTS[name][0]

    def _is_bounded(self, body: Body, i: int) -> bool:
        parents, called = body.parents[i], body.called
        if body.primitives[i] is not CALL_MARK or len(parents) != 4 or called[i][0] not in BOUNDED:
            return False
        _, index, *bounds = parents
        if body.primitives[index] is not NAME_MARK or called[i][0] in self.defined:
            return False
        return _uses_index(body, i) or all(self._may_be_bound(body, p) for p in bounds)

    def _may_be_bound(self, body: Body, root: int) -> bool:
        nodes = range(body.start[root], root + 1)
        return all(body.primitives[k] in (CONSTANT, NAME_MARK, *_WHOLE) for k in nodes)

    def bind(self, name: str, at: Place, value: int | Array) -> None:
        if name in self.dimensions or name in self.shapes:
            used = [(self.dimensions[name][1], "used here")] if name in self.dimensions else []
            what = "but its entries were used before" if used else "and has a value at the point"
            message, hint = f"`{name}` is bound here {what}", "give the new value another name"
            self.refuse(self.error("name", message, at, hint, *used))
        if not isinstance(value, Array):
            super().bind(name, at, value)
            return
        self.rebind(name, at, value)
        self.nodes.roots = value.entries
        for index, entry in zip(
            product(*[range(1, n + 1) for n in value.shape]), value.entries, strict=True
        ):
            label = element_name(name, index)
            self.nodes.names[0].setdefault(entry, label)
            self.bindings.append((label, at, entry))

    def apply_to_variables(self, function: Function) -> tuple[str, ...]:
        before = len(self.free)
        super().apply_to_variables(function)
        for _, span, _, name in self.parameters:
            if name not in self.dimensions and name not in self.shapes:
                self._number(FreeName(name, span))
        order = {name: k for k, name in enumerate(function.parameters)}
        own = [name for name in [*self.free][before:] if name.partition("[")[0] in order]
        return tuple(sorted(own, key=lambda name: order[name.partition("[")[0]]))

    def parameter(self, name: str, span: Span) -> FreeName:
        return FreeName(name, span)

    def entries(self, value: Meaning) -> tuple[int, ...]:
        resolved = self._resolve(value)
        return resolved.entries if isinstance(resolved, Array) else (resolved,)

    # ---- values
    def _part(self, call: Call, root: int) -> Meaning:
        first = call.function.body.start[root]
        value: Meaning = self.value(call._replace(first=first, end=root + 1, values=[]))
        return value

    def node_value(self, call: Call, i: int) -> Any:
        body, place = call.function.body, call.place(i)
        if body.lazy.get(i, call.end) < call.end:
            return None  # it waits to be asked for
        self.charge(1, place)
        primitive, pieces = body.primitives[i], body.pieces.get(i, ())
        if i in body.bounded:
            return self._bound(call, i, place)
        if i in body.iterated:
            return self._iterate(call, i, place)
        operands = [call.values[p - call.first] for p in body.parents[i]]
        if primitive is INDEX:
            return self._index(operands[0], call, i, place)
        if primitive is ARRAY:
            return self._array(operands, pieces)
        if primitive is MATMUL:
            return self._matmul(operands, place, pieces)
        return super().node_value(call, i)

    def meaning(self, name: str, place: Place, call: Call) -> Meaning:
        value: Meaning | Index | None = call.meanings.get(name)
        if isinstance(value, Index):
            return self.constant(float(value.number), str(value.number), place)
        if value is not None:
            return value
        statement = call.function.statement
        bound = any(before < statement for before, _ in self.bound.get(name, ()))
        if bound or (name in CONSTANTS and name not in self.valued and name not in self.shapes):
            return self.lookup(name, place, statement)
        self.first.setdefault(name, place)
        return FreeName(name, place)

    def _resolve(self, value: Meaning) -> int | Array:
        if not isinstance(value, FreeName):
            return value
        shape = self.shapes.get(value.name)
        return (
            self._number(value)
            if shape is None
            else self._entries_of(value, [range(1, n + 1) for n in shape])
        )

    def _number(self, value: FreeName) -> int:
        name, place = value
        if name in self.dimensions:
            self._unknown_shape(name, self.span(place))
        return self.lookup(name, self.first.get(name, place), len(self.statements))

    def _list(self, value: Meaning, piece: Place) -> Array:
        if (
            isinstance(value, FreeName)
            and value.name not in self.shapes
            and value.name not in self.valued
        ):
            self._unknown_shape(value.name, self.span(piece))
        resolved = self._resolve(value)
        if isinstance(resolved, Array):
            return resolved
        raise self.error(
            "type",
            "a list is needed here, and this is a number",
            piece,
            "write it as in `[1, 2, 3]`",
        )

    def _unknown_shape(self, name: str, span: Span) -> NoReturn:
        raise UnknownShape(
            "type",
            f"`{name}` is a list here, and its length is not known",
            Span(*span[:2]),
            f'give its value, `--at "{name}=[1, 2, 3]"`, or write which entries: `{name}[1:3]`,'
            f" `{name}[1:2,1:3]`",
        )

    def _array(self, operands: Sequence[Meaning], pieces: Sequence[Place]) -> Array:
        rows = [self._resolve(operand) for operand in operands]
        first = rows[0]
        shape = first.shape if isinstance(first, Array) else ()
        for row, piece in zip(rows, pieces, strict=True):
            other = row.shape if isinstance(row, Array) else ()
            if other != shape:
                message = f"the entries of a list are all alike, and this is {shape_text(other)}"
                first_row = pieces[0], shape_text(shape)
                raise self.error("type", message, piece, "give the rows the same length", first_row)
            if len(other) > 1:
                hint = "write a list of rows: `[[1, 2], [3, 4]]`"
                raise self.error("type", "lists are nested twice at most", piece, hint)
            self.raise_for_types((), self.entries(row), [piece] * math.prod(other))
        return Array(
            (len(rows), *shape), tuple([entry for row in rows for entry in self.entries(row)])
        )

    def checked_node(
        self,
        primitive: Primitive,
        operands: Sequence[Meaning],
        place: Place,
        pieces: Sequence[Place],
    ) -> int | Array:
        make = super().checked_node
        return self._elementwise(
            operands, place, pieces, lambda numbers: make(primitive, numbers, place, pieces)
        )

    def _elementwise(
        self,
        operands: Sequence[Meaning],
        place: Place,
        pieces: Sequence[Place],
        make: Callable[[tuple[int, ...]], int],
    ) -> int | Array:
        resolved = [self._resolve(operand) for operand in operands]
        lists = [k for k, value in enumerate(resolved) if isinstance(value, Array)]
        if not lists:
            return make(tuple([value for value in resolved if not isinstance(value, Array)]))
        shape: tuple[int, ...] = resolved[lists[0]].shape  # type: ignore[union-attr]
        for k in lists[1:]:
            other = resolved[k]
            if isinstance(other, Array) and other.shape != shape:
                self._wrong_shapes(resolved[lists[0]], other, (pieces[lists[0]], pieces[k]))
        count = math.prod(shape)
        self.charge(count, place)
        columns = [
            value.entries if isinstance(value, Array) else (value,) * count for value in resolved
        ]
        return Array(shape, tuple([make(numbers) for numbers in zip(*columns, strict=True)]))

    def _wrong_shapes(
        self, left: Any, right: Array, pieces: Sequence[Place], hint: str = ""
    ) -> NoReturn:
        first, second = pieces
        message = (
            f"these do not go together: {shape_text(left.shape)} and {shape_text(right.shape)}"
        )
        hint = (
            hint
            or "lists of the same shape are combined entry by entry, and a number with every entry"
        )
        raise self.error("type", message, second, hint, (first, shape_text(left.shape)))

    def _is_known(self, name: str) -> bool:
        """Return whether it is known if a name is a number or a list."""
        return any(
            name in names for names in (self.shapes, self.valued, self.free, self.dimensions)
        )

    def _matmul(
        self, operands: Sequence[Meaning], place: Place, pieces: Sequence[Place]
    ) -> int | Array:
        # an operand without a value becomes a list as long as the other
        for value, other, side in ((operands[1], operands[0], -1), (operands[0], operands[1], 0)):
            if isinstance(value, FreeName) and not self._is_known(value.name):
                operand = (
                    self._resolve(other)
                    if not isinstance(other, FreeName) or other.name in self.shapes
                    else None
                )
                if isinstance(operand, Array):
                    self.shapes[value.name] = operand.shape[side:][:1]
        left, right = (self._list(x, piece) for x, piece in zip(operands, pieces, strict=True))
        inner = left.shape[-1]
        if inner != right.shape[0]:
            self._wrong_shapes(
                left, right, pieces, "in `A @ B`, a row of A is as long as a column of B"
            )
        rows = [left.entries[k : k + inner] for k in range(0, len(left.entries), inner)]
        width = right.shape[1] if len(right.shape) == 2 else 1
        columns = [right.entries[k::width] for k in range(width)]
        shape = (*left.shape[:-1], *right.shape[1:])
        make = self._make_at(place)
        entries = tuple([products(row, column, make) for row in rows for column in columns])
        return Array(shape, entries) if shape else entries[0]

    def apply(
        self,
        primitive: Primitive,
        name: str,
        operands: Sequence[Meaning],
        place: Place,
        pieces: Sequence[Place],
    ) -> int | Array:
        if FUNCTIONS_OF_LISTS.get(primitive.name, (None,))[0] is primitive:
            return self._of_lists(primitive, operands, place, pieces)
        if primitive.variadic and len(operands) == 1:
            only = operands[0]
            resolved = self._resolve(only)
            if isinstance(resolved, Array):
                self.charge(len(resolved.entries), place)
                entries = resolved.entries
                self.raise_for_types(
                    primitive.takes_conditions, entries, list(pieces) * len(entries)
                )
                return self.node(primitive, entries, place) if len(entries) > 1 else entries[0]
            if isinstance(only, FreeName) and only.name not in self.valued:
                self._unknown_shape(only.name, self.span(pieces[0]))
        make = super().apply
        return self._elementwise(
            operands, place, pieces, lambda numbers: make(primitive, name, numbers, place, pieces)
        )

    def _of_lists(
        self,
        primitive: Primitive,
        operands: Sequence[Meaning],
        place: Place,
        pieces: Sequence[Place],
    ) -> int | Array:
        if len(operands) != len(primitive.params):
            self.refuse_count(
                primitive.name, primitive.signature, len(primitive.params), place, pieces
            )
        lists = [
            self._list(operand, piece) for operand, piece in zip(operands, pieces, strict=True)
        ]
        self.charge(2 * len(lists[0].entries), place)
        try:
            value: int | Array = FUNCTIONS_OF_LISTS[primitive.name][1](*lists, self._make_at(place))
        except WrongShape as wrong:
            message = (
                f"this is {shape_text(lists[wrong.k].shape)}, and `{primitive.name}` does not"
                " take it"
            )
            if wrong.k:
                self._wrong_shapes(lists[0], lists[1], pieces, wrong.needed)
            raise self.error("type", message, pieces[wrong.k], wrong.needed) from None
        return value

    def _make_at(self, place: Place) -> Make:
        def make(primitive: Primitive, parents: Sequence[int]) -> int:
            self.charge(1, place)
            return self.node(primitive, tuple(parents), place)

        return make

    def _may_be_index(self, name: str, call: Call, is_used: bool) -> bool:
        """Return whether a name has no other value than that of an index; an unused one may be no
        constant either.
        """
        if any(name in names for names in (self.valued, self.shapes, self.bound)):
            return False
        meaning = call.meanings.get(name)
        if is_used:
            return meaning is None or isinstance(meaning, Index)
        return meaning is None and name not in CONSTANTS

    def _bound(self, call: Call, i: int, place: Place) -> Any:
        body = call.function.body
        called, at = body.called[i]
        term, index, *bounds = body.parents[i]
        name = body.called[index][0]
        primitive = self.function_in(call.function, called, at, place)
        assert isinstance(primitive, Primitive)
        is_used = _uses_index(body, i)
        if not is_used and not all(self._is_whole(p, call) for p in bounds):
            operands = [self._part(call, p) for p in body.parents[i]]
            return self.apply(primitive, called, operands, place, body.pieces[i])
        plain = ""
        if is_used:
            plain = f"; the {called} of four numbers is `{called}([a, b, c, d])`"
            message = f"`{name}` is the index of this `{called}`, and has another value"
            taken = self.error(
                "name", message, call.place(index), f"give the index another name{plain}"
            )
        else:
            taken = self._ambiguous(call, i, index)
        if not self._may_be_index(name, call, is_used):
            raise taken
        if not is_used:
            self.unused_indices.setdefault(name, taken)
        first, last = (
            self._fixed_integer(p, call, f"a bound of `{called}`", plain) for p in bounds
        )
        if last < first:
            both = joined(*body.pieces[i][2:])
            message = f"`{name}` has no values: its bounds are {first} and {last}"
            raise self.error("type", message, both, "write the smaller bound first")
        self._check_terms(last - first + 1, place, called)
        self.check_depth(call.depth, place)
        terms = []
        for k in range(first, last + 1):
            inner = call._replace(depth=call.depth + 1, meanings={**call.meanings, name: Index(k)})
            terms.append(self._part(inner, term))
        if len(terms) == 1:
            return self._resolve(terms[0])
        return self.checked_node(primitive, terms, place, [body.pieces[i][0]] * len(terms))

    def _iterate(self, call: Call, i: int, place: Place) -> int | Array:
        """Return the value of `iterate(f, x0, n)`: f of x0, f of that, and so on, n times."""
        body = call.function.body
        parents, pieces = body.parents[i], body.pieces.get(i, ())
        if len(parents) != len(REPEATED.params):
            self.refuse_count(ITERATE, REPEATED.signature, len(REPEATED.params), place, pieces)
        step = self._step_function(call, parents[0], pieces[0])
        count = self._fixed_integer(parents[2], call, "the number of steps of `iterate`")
        if not 0 <= count <= MAX_TERMS:
            message, hint = (
                f"`iterate` cannot take {count:,} steps",
                f"write a number up to {MAX_TERMS:,}",
            )
            raise self.error("limit" if count > 0 else "type", message, pieces[2], hint)
        self.check_depth(call.depth, place)
        value = self._resolve(call.values[parents[1] - call.first])
        for k in range(1, count + 1):
            before, value = value, self._step(step, value, k, call, place, pieces)
            if _shape(value) != _shape(before):
                message = (
                    f"a step of `iterate` makes {shape_text(_shape(value))} of"
                    f" {shape_text(_shape(before))}"
                )
                raise self.error("type", message, place, "let the function return what it takes")
        return value

    def _step_function(self, call: Call, name: int, piece: Place) -> Function | Primitive:
        """Return the function that `iterate` is to apply."""
        body, hint = call.function.body, "define it before: `f(x) = …; iterate(f, x0, 10)`"
        if body.primitives[name] is not NAME_MARK:
            raise self.error(
                "type", "the first argument of `iterate` is the name of a function", piece, hint
            )
        called, at = body.called[name]
        if called not in self.defined and called not in FUNCTIONS and called not in COMPOSED:
            raise self.error(
                "name", f"there is no function `{called}`, which `iterate` would apply", at, hint
            )
        step = self.function_in(call.function, called, at, piece)
        count = len(step.parameters if isinstance(step, Function) else step.params)
        if count > 2 or (count == 2 and isinstance(step, Primitive)):
            message = f"`{called}` takes {count} arguments, and `iterate` gives it one"
            hint = (
                f"define `g(x) = {called}(x, …)`, or with the number of the step `g(x, k) = …`, and"
                " iterate that"
            )
            raise self.error("arity", message, at, hint)
        return step

    def _step(
        self,
        step: Function | Primitive,
        value: int | Array,
        k: int,
        call: Call,
        place: Place,
        pieces: Sequence[Place],
    ) -> int | Array:
        if isinstance(step, Primitive):
            return self.apply(step, step.name, (value,), place, pieces[1:2])
        number = [self.constant(float(k), str(k), place)] if len(step.parameters) == 2 else []
        return self._resolve(
            self.value(self.enter(step, [value, *number], place, pieces, call.depth))
        )

    def _ambiguous(self, call: Call, i: int, index: int) -> ExpressionError:
        """Return the error about four arguments that are an index with its bounds, or four
        numbers.
        """
        called, name = call.function.body.called[i][0], call.function.body.called[index][0]
        term, _, *bounds = map(self.source, call.function.body.pieces[i])
        other = next(letter for letter in ("k", "i", "j") if letter != name)
        indexed = f"{called}({', '.join((term, other, *bounds))})"
        numbers = f"{called}([{', '.join((term, name, *bounds))}])"
        message = f"this `{called}` can be read in two ways: `{name}` is its index, or a number"
        hint = f"write `{indexed}` with an index of its own, or `{numbers}` for four numbers"
        return self.error("name", message, call.place(index), hint)

    def _check_terms(self, count: int, place: Place, what: str) -> None:
        if count > MAX_TERMS:
            message = f"`{what}` has {count:,} terms here, and {MAX_TERMS:,} is the most"
            hint = "for more terms, write each as a row of data, and add the rows up with --data"
            raise ExpressionError("limit", message, Span(*self.span(place)[:2]), hint)

    def _is_whole(self, root: int, call: Call) -> bool:
        try:
            return self._fixed_number(root, call, "").is_integer()
        except ExpressionError:
            return False

    def _fixed_integer(self, root: int, call: Call, what: str, also: str = "") -> int:
        number = self._fixed_number(root, call, what, also)
        if number != number or abs(number) > 1e9 or number != int(number):
            message = (
                f"{what} has to be a whole number that the program fixes, and this is {number:g}"
            )
            raise self.error("type", message, call.place(root), "counting begins at 1")
        return int(number)

    def _fixed_number(self, root: int, call: Call, what: str, also: str = "") -> float:
        body = call.function.body
        numbers: dict[int, float] = {}
        problem = f"{what} has to be a whole number that the program fixes"
        for i in range(body.start[root], root + 1):
            primitive, place = body.primitives[i], call.place(i)
            if primitive is CONSTANT:
                numbers[i] = body.constants[i][0]
            elif primitive is NAME_MARK:
                name = body.called[i][0]
                index = call.meanings.get(name)
                if isinstance(index, Index):
                    numbers[i] = index.number
                    continue
                meaning = self.meaning(name, place, call)
                number = self.fixed(meaning) if type(meaning) is int else None
                if number is None:
                    hint = f"bind it before: `{name} = 3; …`{also}"
                    raise self.error("type", f"{problem}, and `{name}` is not one", place, hint)
                numbers[i] = number
            elif primitive in _WHOLE:
                numbers[i] = _WHOLE[primitive](*[numbers[p] for p in body.parents[i]])
            else:
                hint = "compute it from such numbers by + - * /"
                raise self.error("type", problem, place, hint)
        return float(numbers[root])

    def _index(self, value: Meaning, call: Call, i: int, place: Place) -> int | Array:
        body = call.function.body
        operands, pieces = body.parents[i][1:], body.pieces[i]
        shape = self._indexed_shape(value, place, pieces)
        self._check_count(len(operands), shape, pieces[-1])
        ranges: list[range] = []
        for k, p in enumerate(operands):
            ends = body.parents[p] if body.primitives[p] is RANGE else (p, p)
            first, last = (self._fixed_integer(end, call, "an index") for end in ends)
            highest = math.inf if shape is None else shape[k]
            if not 1 <= first <= last <= highest:
                raise self._wrong_index(first, last, highest, call.place(p))
            self._check_terms(last - first + 1, place, "[…]")
            ranges.append(range(first, last + 1))
        ranges += [range(1, n + 1) for n in (shape or ())[len(operands) :]]
        kept = [
            k
            for k in range(len(ranges))
            if k >= len(operands) or body.primitives[operands[k]] is RANGE
        ]
        array = self._entries_of(value, ranges, place)
        if not kept:
            return array.entries[0]
        return Array(tuple([len(ranges[k]) for k in kept]), array.entries)

    def _check_count(self, count: int, shape: tuple[int, ...] | None, at: Place) -> None:
        """Raise an error if there are more indices than the list has levels."""
        if count > (2 if shape is None else len(shape)):
            most = (
                "lists are nested twice at most"
                if shape is None
                else f"this is {shape_text(shape)}"
            )
            raise self.error(
                "type", f"there are {count} indices here, and {most}", at, "leave it out"
            )

    def _wrong_index(self, first: int, last: int, highest: float, at: Place) -> ExpressionError:
        if first > last:
            return self.error(
                "type", f"the range from {first} to {last} is empty", at, "write the smaller first"
            )
        outside = first if first < 1 else last
        valid = (
            "counting begins at 1"
            if highest == math.inf
            else f"the indices here go from 1 to {highest}"
        )
        return self.error("type", f"there is no entry {outside}", at, valid)

    def _indexed_shape(
        self, value: Meaning, place: Place, pieces: Sequence[Place]
    ) -> tuple[int, ...] | None:
        if isinstance(value, Array):
            return value.shape
        if not isinstance(value, FreeName):
            raise self.error(
                "type",
                "this is a number, and has no entries",
                pieces[0],
                "a product is written with `*`",
            )
        name = value.name
        if name in self.shapes:
            return self.shapes[name]
        if name not in self.valued and name not in self.free:
            if name not in FUNCTIONS:
                return None
            text = self.span.text[self.span(pieces[1]).start : self.span(pieces[-1]).end]
            hint = f"write a call in parentheses: `{name}({text})`"
            raise self.error("name", f"`{name}` is a function", place, hint)
        hint = f"give `{name}` a list as its value, `{name}=[…]`, or use another name for the list"
        raise self.error("type", f"`{name}` is a number, and has no entries", pieces[0], hint)

    def _entries_of(
        self, value: Meaning, ranges: Sequence[range], place: Place | None = None
    ) -> Array:
        self.charge(math.prod(map(len, ranges)), (0, 0) if place is None else place)
        shape = tuple([len(indices) for indices in ranges])
        if isinstance(value, FreeName):
            where = value.place if place is None else place
            return Array(
                shape,
                tuple([self._element(value.name, index, where) for index in product(*ranges)]),
            )
        assert isinstance(value, Array)
        width = value.shape[1] if len(value.shape) == 2 else 1
        flat = (
            (index[0] - 1) * width + (index[1] - 1 if len(index) > 1 else 0)
            for index in product(*ranges)
        )
        return Array(shape, tuple([value.entries[k] for k in flat]))

    def _element(self, name: str, index: tuple[int, ...], place: Place) -> int:
        label = element_name(name, index)
        if label not in self.free:
            self.charge(1, place)
            self.check_look(name, place)
            count, before = self.dimensions.setdefault(name, (len(index), place))
            if count != len(index):
                indices = f"{len(index)} {'index' if len(index) == 1 else 'indices'}"
                message = f"`{name}` has {indices} here, and {count} before"
                raise self.error(
                    "type", message, place, "write as many indices everywhere", (before, "here")
                )
            self.free[label] = self.leaf(place)
        return self.free[label]


def _shape(value: int | Array) -> tuple[int, ...]:
    return value.shape if isinstance(value, Array) else ()


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape in words."""
    if not shape:
        return "a number"
    return f"a list of {shape[0]}" if len(shape) == 1 else f"a {shape[0]} by {shape[1]} list"
