"""Lists: `[a, b]`, `x[2]`, `W @ x + b` and `sum(w[i]*x[i], i, 1, 3)`, unrolled to operations on numbers.

A program with lists in it is recorded whole, as the body of a definition is, and then worked out statement by
statement: the builder adds an operation for each entry, in the place of the text that it comes from. Lists are no part
of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, NoReturn

from ..errors import ExpressionError, Span
from ..numbers import budget as work
from ..run.flat_graph import Place
from ..table.operators import ADD, CONSTANT, DIV, MUL, NEG, SUB
from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from . import builder as marks
from .builder import BOUNDED, CONSTANTS, MAX_NODES, Body, Builder, Piece, _Function, used_before
from .elements import element_name, shapes_of
from .statements import Head, UnknownShape

MAX_TERMS = 10_000
"""The terms of a sum, or the entries that a range of indices has."""

MAX_UNROLLED = 300_000
"""The operations that a text with lists unrolls to."""

MAX_DEPTH = 60
"""Calls, sums and indices within one another."""

_WHOLE: Mapping[Primitive, Callable[..., float]] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    DIV: lambda a, b: a / b if b else math.nan,
    NEG: lambda a: -a,
    marks.plus_mark: lambda a: a,
}
"""What an index may be computed by."""


class Array(NamedTuple):
    """A list of nodes, or a list of rows of them: its shape, and its entries row by row."""

    shape: tuple[int, ...]
    entries: tuple[int, ...]


class Named(NamedTuple):
    """A free name that has not been used as a number or a list yet."""

    name: str
    place: Place


Meaning = int | Array | Named


class _Scope(NamedTuple):
    meanings: dict[str, Meaning]
    function: _Function | None
    via: Place | None
    depth: int
    indices: Mapping[str, int]


class Unroller(Builder):
    """A builder that records the text first; `program` then adds the nodes."""

    takes_lists = True

    def __init__(self, text: str, valued: Collection[str] = (), most: int = MAX_NODES) -> None:
        super().__init__(text, valued, min(most, max(MAX_UNROLLED, 8 * len(text))))
        self.lists = False
        self.shapes = shapes_of(valued)
        self.shape: tuple[int, ...] = ()
        self.dimensions: dict[str, tuple[int, Place]] = {}
        """How many indices a name takes of which entries were used, and where."""
        self.first: dict[str, Place] = {}
        """Where each free name stands first."""
        self.steps: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        """What each statement does, once the text has been read."""
        self.begin(Body())

    def operation(self, primitive: Primitive, operands: tuple[int, ...], place: Place, pieces: Sequence[Piece]) -> int:
        self.check_types(primitive.takes_conditions, operands, pieces)
        return self.node(primitive, operands, place)

    def begin_body(self) -> None:
        """Go on: all of the text is a body."""

    def output(self, *arguments: Any) -> None:
        self.steps.append((self._output, arguments))

    def bind(self, *arguments: Any) -> None:
        self.steps.append((self._bind, arguments))

    def augment(self, *arguments: Any) -> None:
        self.steps.append((self._augment, arguments))

    def define(self, *arguments: Any) -> None:
        self.steps.append((self._define, arguments))

    def program(self) -> Any:
        if self.problem is None:
            self._survey()
            statements, self.statements = self.statements, []
            self.nodes, self.body, self.conditions = self.whole, None, set()
            for statement, (step, arguments) in zip(statements, self.steps, strict=True):
                step(*arguments)
                self.statements.append(statement)
        self.expanded = self.expanded or 1
        self.branches = True  # not all that was added is needed
        program = super().program()
        program.shape = self.shape
        return program

    def _survey(self) -> None:
        assert self.body is not None
        self.recorded = body = self.body
        self.primitives, self.parents = body.columns(marks.name_mark)
        self.start: list[int] = []
        self.lazy: dict[int, list[tuple[int, int]]] = {}
        """By where an expression begins that is worked out on demand: for which node, and the last of its own."""
        for i, (primitive, parents) in enumerate(zip(self.primitives, self.parents, strict=True)):
            self.start.append(min([self.start[p] for p in parents], default=i))
            if primitive is marks.INDEX:
                on_demand = parents[1:]
            elif self._is_bounded(i):
                on_demand = parents
            else:
                continue
            for p in on_demand:
                self.lazy.setdefault(self.start[p], []).append((i, p))

    def _is_bounded(self, i: int) -> bool:
        """Whether a node is a sum over an index, `sum(w[i]*x[i], i, 1, 3)`: the index is a name that the term uses."""
        parents, called = self.parents[i], self.recorded.called
        if self.primitives[i] is not marks.call_mark or len(parents) != 4 or called[i][0] not in BOUNDED:
            return False
        term, index = parents[:2]
        if self.primitives[index] is not marks.name_mark:
            return False
        name = called[index][0]
        return any(
            self.primitives[k] is marks.name_mark and called[k][0] == name for k in range(self.start[term], term + 1)
        )

    def _expression(self, root: int) -> int | Array:
        value = self._value(self.start[root], root, _Scope({}, None, None, 0, {}))
        return self._resolved(value)

    def _output(self, operands: tuple[int, ...], pieces: Sequence[Piece]) -> None:
        outputs: list[int] = []
        for root, piece in zip(operands, pieces, strict=True):
            value = self._expression(root)
            entries = self._entries(value)
            self.shape = value.shape if isinstance(value, Array) and len(operands) == 1 else ()
            self.raise_for_types((), entries, [piece] * len(entries))
            outputs += entries
        self.outputs = tuple(outputs)

    def _bind(self, name: str, at: Place, root: int) -> None:
        self._bind_value(name, at, self._expression(root))

    def _bind_value(self, name: str, at: Place, value: int | Array) -> None:
        if name in self.dimensions or name in self.shapes:
            used = [self.dimensions[name][1]] if name in self.dimensions else []
            message = (
                "bound here but its entries were used before" if used else "bound here and has a value at the point"
            )
            also = tuple([(self.span(place), "used here") for place in used])
            raise ExpressionError(
                "name", f"`{name}` is {message}", self.span(at), "give one of them another name", also
            )
        if not isinstance(value, Array):
            super().bind(name, at, value)
        else:
            self.check_unused_before(name, at)
            self.check_look(name, at)
            indices = product(*[range(1, n + 1) for n in value.shape])
            for index, entry in zip(indices, value.entries, strict=True):
                label = element_name(name, index)
                self.labels.setdefault(entry, label)
                self.bindings.append((label, at, entry))
            self.bound.setdefault(name, []).append((len(self.statements), value))
            self.hide(name)
            self.outputs = value.entries
        if self.problem is not None:
            raise self.problem

    def _augment(self, name: str, at: Piece, primitive: Primitive, root: int, piece: Piece) -> None:
        value = self._expression(root)
        if name not in self.bound:
            super().augment(name, at, primitive, 0, piece)
            return
        old: int | Array = self.bound[name][-1][1]
        place, pieces = (at[0], piece[1]), (at, piece)
        self._bind_value(name, at, self._elementwise(primitive, [old, value], place, pieces))

    def _define(self, head: Head, root: int, piece: Piece) -> None:
        self.declare(head, self.recorded, (self.primitives, self.parents), root, piece)
        if self.problem is not None:
            raise self.problem

    def apply_to_variables(self, function: _Function) -> tuple[str, ...]:
        """Make the body of the function that ends the program the output; its parameters are free names."""
        for name, span in self.parameters:
            if name in self.free or name in self.dimensions:
                raise used_before(name, span)
        before = len(self.free)
        meanings: dict[str, Meaning] = {name: Named(name, span) for name, span in self.parameters}
        value = self._resolved(self._body_value(function, meanings, None, 0))
        for name, span in self.parameters:
            if name not in self.dimensions and name not in self.shapes:
                self._number(Named(name, span))
        self.outputs = self._entries(value)
        self.raise_for_types((), self.outputs, [function.piece] * len(self.outputs))
        order = {name: k for k, name in enumerate(function.parameters)}
        own = [name for name in [*self.free][before:] if name.partition("[")[0] in order]
        return tuple(sorted(own, key=lambda name: order[name.partition("[")[0]]))

    def check_body(self, function: _Function) -> None:
        """Leave a function alone that nothing calls: what shapes its arguments have is not known."""

    def _value(self, first: int, root: int, scope: _Scope) -> Meaning:
        values: dict[int, Meaning] = {}
        i = first
        while i <= root:
            skipped = [end for node, end in self.lazy.get(i, ()) if node <= root]
            if skipped:
                i = skipped[-1] + 1
                continue
            values[i] = self._node(i, values, scope)
            i += 1
        return values[root]

    def _node(self, i: int, values: Mapping[int, Meaning], scope: _Scope) -> Meaning:
        body, primitive, place = self.recorded, self.primitives[i], self._place(i, scope)
        self._spend(1, place)
        if primitive is CONSTANT:
            return self.constant(*body.constants[i], place)
        if primitive is marks.name_mark:
            return self._name(body.called[i][0], place, scope)
        pieces = body.pieces.get(i, ())
        if primitive is marks.INDEX:
            return self._index(values[self.parents[i][0]], i, place, scope)
        if primitive is marks.call_mark and self._is_bounded(i):
            return self._bounded(i, place, scope)
        operands = [values[p] for p in self.parents[i]]
        if primitive is marks.call_mark:
            return self._call(*body.called[i], operands, place, pieces, scope)
        if primitive is marks.ARRAY:
            return self._array(operands, pieces)
        if primitive is marks.MATMUL:
            self._infer_shape(operands)
            left, right = (self._list(x, piece) for x, piece in zip(operands, pieces, strict=True))
            return self._matmul(left, right, place, pieces)
        if primitive is marks.plus_mark:
            return self._resolved(operands[0])
        return self._elementwise(primitive, operands, place, pieces)

    def _place(self, i: int, scope: _Scope) -> Place:
        place = self.recorded.places[i]
        if scope.via is None:
            return place
        return (*place[:2], scope.via) if type(place) is tuple else Span(place[0], place[1], self.span(scope.via))

    def _spend(self, count: int, place: Place) -> None:
        self.expanded += count
        work.charge(work.CALLED_NODE * count)
        if self.expanded > self.most:
            message = f"the lists, sums and calls unroll to more than {self.most:,} operations"
            raise ExpressionError("limit", message, self.span(place), "split the program")

    def _name(self, name: str, place: Place, scope: _Scope) -> Meaning:
        if name in scope.indices:
            return self.constant(float(scope.indices[name]), str(scope.indices[name]), place)
        if name in scope.meanings:
            return scope.meanings[name]
        statement = scope.function.statement if scope.function else len(self.statements)
        bound = any(before < statement for before, _ in self.bound.get(name, ()))
        if bound or (name in CONSTANTS and name not in self.valued and name not in self.shapes):
            return self.lookup(name, place, statement)
        self.first.setdefault(name, place)
        return Named(name, place)

    def _resolved(self, value: Meaning) -> int | Array:
        if not isinstance(value, Named):
            return value
        shape = self.shapes.get(value.name)
        return self._number(value) if shape is None else self._entries_of(value, [range(1, n + 1) for n in shape])

    def _number(self, value: Named) -> int:
        name, place = value
        if name in self.dimensions:
            self._unknown_shape(name, self.span(place))
        return self.lookup(name, self.first.get(name, place), len(self.statements))

    def _entries(self, value: int | Array) -> tuple[int, ...]:
        return value.entries if isinstance(value, Array) else (value,)

    def _infer_shape(self, operands: Sequence[Meaning]) -> None:
        """Take an operand of `A @ x` without a value for a list that is as long as the other one needs."""
        for value, other, side in ((operands[1], operands[0], -1), (operands[0], operands[1], 0)):
            known_names = (self.shapes, self.valued, self.free, self.dimensions)
            if isinstance(value, Named) and not any(value.name in names for names in known_names):
                known = self._resolved(other) if not isinstance(other, Named) or other.name in self.shapes else None
                if isinstance(known, Array):
                    self.shapes[value.name] = known.shape[side:][:1]

    def _list(self, value: Meaning, piece: Piece) -> Array:
        if isinstance(value, Named) and value.name not in self.shapes and value.name not in self.valued:
            self._unknown_shape(value.name, self.span(piece))
        resolved = self._resolved(value)
        if isinstance(resolved, Array):
            return resolved
        raise self._wrong("a list is needed here, and this is a number", piece, "write it as in `[1, 2, 3]`")

    def _unknown_shape(self, name: str, span: Span) -> NoReturn:
        raise UnknownShape(
            "type",
            f"`{name}` is a list here, and how many entries it has is not known",
            Span(*span[:2]),
            f'give its value, `--at "{name}=[1, 2, 3]"`, or write which entries: `{name}[1:3]`, `{name}[1:2,1:3]`',
        )

    def _array(self, operands: Sequence[Meaning], pieces: Sequence[Piece]) -> Array:
        rows = [self._resolved(operand) for operand in operands]
        first = rows[0]
        shape = first.shape if isinstance(first, Array) else ()
        for row, piece in zip(rows, pieces, strict=True):
            other = row.shape if isinstance(row, Array) else ()
            if other != shape:
                message = f"the entries of a list are all alike, and this is {described(other)}"
                raise self._wrong(message, piece, "give the rows the same length", (pieces[0], described(shape)))
            if len(other) > 1:
                raise self._wrong("lists are nested twice at most", piece, "write a list of rows: `[[1, 2], [3, 4]]`")
            self.raise_for_types((), self._entries(row), [piece] * math.prod(other))
        return Array((len(rows), *shape), tuple([entry for row in rows for entry in self._entries(row)]))

    def _elementwise(
        self,
        primitive: Primitive,
        operands: Sequence[Meaning],
        place: Place,
        pieces: Sequence[Piece],
        make: Callable[[tuple[int, ...]], int] | None = None,
    ) -> int | Array:
        """An operation on numbers, or on the entries of lists of the same shape; a number goes with every entry."""
        resolved = [self._resolved(operand) for operand in operands]
        make = make or (lambda numbers: self.checked_node(primitive, numbers, place, pieces))
        lists = [k for k, value in enumerate(resolved) if isinstance(value, Array)]
        if not lists:
            return make(tuple([value for value in resolved if not isinstance(value, Array)]))
        shape: tuple[int, ...] = resolved[lists[0]].shape  # type: ignore[union-attr]
        for k in lists[1:]:
            other = resolved[k]
            if isinstance(other, Array) and other.shape != shape:
                self._wrong_shapes(resolved[lists[0]], other, (pieces[lists[0]], pieces[k]))
        count = math.prod(shape)
        self._spend(count, place)
        columns = [value.entries if isinstance(value, Array) else (value,) * count for value in resolved]
        return Array(shape, tuple([make(numbers) for numbers in zip(*columns, strict=True)]))

    def _wrong_shapes(self, left: Any, right: Array, pieces: Sequence[Piece], hint: str = "") -> NoReturn:
        first, second = pieces
        message = f"these do not go together: {described(left.shape)} and {described(right.shape)}"
        hint = hint or "lists of the same shape are combined entry by entry, and a number with every entry"
        raise self._wrong(message, second, hint, (first, described(left.shape)))

    def _wrong(self, message: str, place: Place, hint: str, *also: tuple[Place, str]) -> ExpressionError:
        return ExpressionError(
            "type", message, self.span(place), hint, tuple([(self.span(other), text) for other, text in also])
        )

    def _matmul(self, left: Array, right: Array, place: Place, pieces: Sequence[Piece]) -> int | Array:
        inner = left.shape[-1]
        if inner != right.shape[0]:
            self._wrong_shapes(left, right, pieces, "in `A @ B`, a row of A is as long as a column of B")
        rows = [left.entries[k : k + inner] for k in range(0, len(left.entries), inner)]
        width = right.shape[1] if len(right.shape) == 2 else 1
        columns = [right.entries[k::width] for k in range(width)]
        self._spend(len(rows) * width * inner, place)
        shape = (*left.shape[:-1], *right.shape[1:])
        entries = tuple([self._products(row, column, place) for row in rows for column in columns])
        return Array(shape, entries) if shape else entries[0]

    def _products(self, left: Sequence[int], right: Sequence[int], place: Place) -> int:
        products = tuple([self.node(MUL, pair, place) for pair in zip(left, right, strict=True)])
        return self.node(PRIMITIVES["sum"], products, place) if len(products) > 1 else products[0]

    def _call(
        self, name: str, at: Place, operands: Sequence[Meaning], place: Place, pieces: Sequence[Piece], scope: _Scope
    ) -> Meaning:
        own = name in self.defined or name in self.bound or (scope.function and name in scope.function.parameters)
        if name in ("dot", "norm") and not own and name not in self.valued:
            return self._product_or_norm(name, operands, place, pieces)
        called = self.function(name, at, place[1], scope.function)
        if isinstance(called, _Function):
            self.check_count(called, place, pieces)
            meanings = dict(zip(called.parameters, operands, strict=True))
            return self._body_value(called, meanings, place, scope.depth)
        if called.variadic and len(operands) == 1:
            only = operands[0]
            resolved = self._resolved(only)
            if isinstance(resolved, Array):
                self._spend(len(resolved.entries), place)
                entries = resolved.entries
                self.raise_for_types(called.takes_conditions, entries, list(pieces) * len(entries))
                return self.node(called, entries, place) if len(entries) > 1 else entries[0]
            if isinstance(only, Named) and only.name not in self.valued:
                self._unknown_shape(only.name, self.span(pieces[0]))
        return self._elementwise(
            called, operands, place, pieces, lambda numbers: self.apply(called, name, numbers, place, pieces)
        )

    def _product_or_norm(self, name: str, operands: Sequence[Meaning], place: Place, pieces: Sequence[Piece]) -> int:
        count = 2 if name == "dot" else 1
        if len(operands) != count:
            self.refuse_count(name, "dot(a, b)" if name == "dot" else "norm(a)", count, place, pieces)
        lists = [self._list(operand, piece) for operand, piece in zip(operands, pieces, strict=True)]
        self._spend(2 * len(lists[0].entries), place)
        if name == "norm":
            return self.node(PRIMITIVES["hypot"], lists[0].entries, place)
        left, right = lists
        if left.shape != right.shape:
            self._wrong_shapes(left, right, pieces, "`dot` takes two lists of the same shape")
        return self._products(left.entries, right.entries, place)

    def _body_value(self, function: _Function, meanings: dict[str, Meaning], via: Place | None, depth: int) -> Meaning:
        self.uncalled.pop(function.statement, None)
        self._check_depth(depth, via or function.piece)
        scope = _Scope(meanings, function, via, depth + 1, {})
        return self._value(self.start[function.root], function.root, scope)

    def _check_depth(self, depth: int, place: Place) -> None:
        if depth > MAX_DEPTH:
            message = f"calls, sums and indices stand more than {MAX_DEPTH} deep in one another"
            raise ExpressionError("limit", message, self.span(place), "bind the inner ones to names")

    def _bounded(self, i: int, place: Place, scope: _Scope) -> int | Array:
        body = self.recorded
        called, at = body.called[i]
        term, index, *bounds = self.parents[i]
        name, index_place = body.called[index]
        primitive = self.function(called, at, place[1], scope.function)
        if isinstance(primitive, _Function):
            operands = [self._value(self.start[p], p, scope) for p in self.parents[i]]
            return self._resolved(self._call(called, at, operands, place, body.pieces[i], scope))
        plain = f"; the {called} of four numbers is `{called}([a, b, c, d])`"
        if name in self.valued or name in self.shapes or name in self.bound or name in scope.meanings:
            message = f"`{name}` is the index of this `{called}`, and has a value besides"
            also = ((self.span(index_place), "the index"),) if scope.via else ()
            hint = f"give the index another name{plain}"
            raise ExpressionError("name", message, self.span(self._place(index, scope)), hint, also)
        first, last = (self._whole(p, scope, f"a bound of `{called}`", plain) for p in bounds)
        if last < first:
            both = body.pieces[i][2][0], body.pieces[i][3][1]
            message = f"`{name}` goes from {first} to {last}, which is nothing"
            raise self._wrong(message, both, "the first bound is the smaller one")
        self._check_terms(last - first + 1, place, called)
        self._check_depth(scope.depth, place)
        terms = []
        for k in range(first, last + 1):
            inner = scope._replace(depth=scope.depth + 1, indices={**scope.indices, name: k})
            terms.append(self._value(self.start[term], term, inner))
        if len(terms) == 1:
            return self._resolved(terms[0])
        return self._elementwise(primitive, terms, place, [body.pieces[i][0]] * len(terms))

    def _check_terms(self, count: int, place: Place, what: str) -> None:
        if count > MAX_TERMS:
            message = f"`{what}` has {count:,} terms here, and {MAX_TERMS:,} is the most"
            hint = "for more of them, let each be a row of data, which --data adds up"
            raise ExpressionError("limit", message, Span(*self.span(place)[:2]), hint)

    def _whole(self, root: int, scope: _Scope, what: str, also: str = "") -> int:
        """The whole number that an index or a bound is: of numbers, indices of sums, and names bound to numbers."""
        numbers: dict[int, float] = {}
        problem = f"{what} has to be a whole number that the program fixes"
        for i in range(self.start[root], root + 1):
            primitive = self.primitives[i]
            if primitive is CONSTANT:
                numbers[i] = self.recorded.constants[i][0]
            elif primitive is marks.name_mark:
                name, place = self.recorded.called[i][0], self._place(i, scope)
                if name in scope.indices:
                    numbers[i] = scope.indices[name]
                    continue
                meaning = self._name(name, place, scope)
                number = self.fixed(meaning) if type(meaning) is int else None
                if number is None:
                    hint = f"bind it before: `{name} = 3; …`{also}"
                    raise self._wrong(f"{problem}, and `{name}` is none", place, hint)
                numbers[i] = number
            elif primitive in _WHOLE:
                numbers[i] = _WHOLE[primitive](*[numbers[p] for p in self.parents[i]])
            else:
                hint = "it may be computed by + - * / from such numbers"
                raise self._wrong(problem, self._place(i, scope), hint)
        number = numbers[root]
        if number != number or abs(number) > 1e9 or number != int(number):
            raise self._wrong(f"{problem}, and this is {number:g}", self._place(root, scope), "counting begins at 1")
        return int(number)

    def _index(self, value: Meaning, i: int, place: Place, scope: _Scope) -> int | Array:
        _, *operands = self.parents[i]
        pieces = self.recorded.pieces[i]
        shape = self._indexed_shape(value, place, pieces)
        if len(operands) > (2 if shape is None else len(shape)):
            most = "lists are nested twice at most" if shape is None else f"this is {described(shape)}"
            raise self._wrong(f"there are {len(operands)} indices here, and {most}", pieces[-1], "leave it out")
        ranges: list[range] = []
        for k, p in enumerate(operands):
            ends = self.parents[p] if self.primitives[p] is marks.RANGE else (p, p)
            first, last = (self._whole(end, scope, "an index") for end in ends)
            highest = math.inf if shape is None else shape[k]
            if not 1 <= first <= last <= highest:
                at = self._place(p, scope)
                if first > last:
                    raise self._wrong(f"there is nothing from {first} to {last}", at, "write the smaller first")
                outside = first if first < 1 else last
                valid = "counting begins at 1" if shape is None else f"the indices here go from 1 to {shape[k]}"
                raise self._wrong(f"there is no entry {outside}", at, valid)
            self._check_terms(last - first + 1, place, "[…]")
            ranges.append(range(first, last + 1))
        ranges += [range(1, n + 1) for n in (shape or ())[len(operands) :]]
        kept = [k for k in range(len(ranges)) if k >= len(operands) or self.primitives[operands[k]] is marks.RANGE]
        array = self._entries_of(value, ranges, place)
        if not kept:
            return array.entries[0]
        return Array(tuple([len(ranges[k]) for k in kept]), array.entries)

    def _indexed_shape(self, value: Meaning, place: Place, pieces: Sequence[Piece]) -> tuple[int, ...] | None:
        if isinstance(value, Array):
            return value.shape
        if not isinstance(value, Named):
            span = self.span(pieces[0])
            number = self.text[span.start : span.end]
            hint = f"a product is `{number}*[…]`" if len(number) < 20 else "a product is written with `*`"
            raise self._wrong("this is a number, and has no entries", span, hint)
        name = value.name
        if name in self.shapes:
            return self.shapes[name]
        if name not in self.valued and name not in self.free:
            if name not in FUNCTIONS:
                return None
            text = self.text[self.span(pieces[1]).start : self.span(pieces[-1]).end]
            hint = f"write a call in parentheses: `{name}({text})`"
            raise ExpressionError("name", f"`{name}` is a function", self.span(place), hint)
        hint = f"give it as a list: `{name}=[…]`" if name in self.valued else "give one of them another name"
        also = [(self.whole.places[self.free[name]], "used here")] if name in self.free else []
        raise self._wrong(f"`{name}` is a number, and has no entries", pieces[0], hint, *also)

    def _entries_of(self, value: Meaning, ranges: Sequence[range], place: Place | None = None) -> Array:
        self._spend(math.prod(map(len, ranges)), (0, 0) if place is None else place)
        shape = tuple([len(indices) for indices in ranges])
        if isinstance(value, Named):
            where = value.place if place is None else place
            return Array(shape, tuple([self._element(value.name, index, where) for index in product(*ranges)]))
        assert isinstance(value, Array)
        width = value.shape[1] if len(value.shape) == 2 else 1
        flat = ((index[0] - 1) * width + (index[1] - 1 if len(index) > 1 else 0) for index in product(*ranges))
        return Array(shape, tuple([value.entries[k] for k in flat]))

    def _element(self, name: str, index: tuple[int, ...], place: Place) -> int:
        label = element_name(name, index)
        if label not in self.free:
            self._spend(1, place)
            self.check_look(name, place)
            count, before = self.dimensions.setdefault(name, (len(index), place))
            if count != len(index):
                indices = f"{len(index)} {'index' if len(index) == 1 else 'indices'}"
                message = f"`{name}` has {indices} here, and {count} before"
                raise self._wrong(message, place, "write as many indices everywhere", (before, "here"))
            self.free[label] = self.variable(place)
        return self.free[label]


def described(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    if not shape:
        return "a number"
    return f"a list of {shape[0]}" if len(shape) == 1 else f"a {shape[0]} by {shape[1]} list"
