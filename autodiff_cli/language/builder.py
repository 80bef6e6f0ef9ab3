"""The builder: from postfix code to a tape. It knows names, bindings, definitions and types; it evaluates nothing."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ..errors import ExpressionError, Span
from ..graph.value import Value, evaluate, values_of
from ..run.tape import Place, Tape, in_order
from ..table.operators import AND, COMPARISONS, CONSTANT, VARIABLE, WHERE
from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from .checks import check_thousands
from .code import BINARY, CALL, CHOICE, COMPARE, GROUP, NAME, NUMBER, UNARY, Item, Statement, Unexplained, operand_spans

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}
"""The names that have a value unless the program or the point gives them another."""

MAX_NODES = 2_000_000


class Binding(NamedTuple):
    """A name that the program bound: where, and to which node."""

    name: str
    start: int
    value: Value


class Program:
    """A program on a tape, not evaluated. `outputs`, `variables` and `bindings` show it as a graph of Values."""

    __slots__ = ("_values", "bound", "constants", "is_plain", "leaves", "parameters", "roots", "tape", "text")

    def __init__(
        self,
        text: str,
        tape: Tape,
        roots: tuple[int, ...],
        leaves: dict[str, int],
        parameters: tuple[str, ...],
        constants: dict[str, float],
        bound: tuple[tuple[str, int, int], ...],
        is_plain: bool,
    ) -> None:
        self.text = text
        self.tape = tape
        self.roots = roots
        """The places of the outputs on the tape."""
        self.leaves = leaves
        """The places of the variables, by name, in order of first appearance."""
        self.parameters = parameters
        """The variables that a gradient is taken in unless it is said otherwise."""
        self.constants = constants
        """The named constants that were used."""
        self.bound = bound
        """The names that the program bound: each with where, and the place of its node."""
        self.is_plain = is_plain
        """Whether all of the tape is needed for the outputs, and in their order."""
        self._values: list[Value] | None = None

    @property
    def values(self) -> list[Value]:
        """The nodes of the tape as Values, in its order; always the same ones."""
        if self._values is None:
            self._values = values_of(self.tape)
        return self._values

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The outputs."""
        return tuple([self.values[i] for i in self.roots])

    @property
    def variables(self) -> dict[str, Value]:
        """The free names and their leaves, in order of first appearance."""
        return {name: self.values[i] for name, i in self.leaves.items()}

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The names that the program bound."""
        return tuple([Binding(name, start, self.values[i]) for name, start, i in self.bound])


class _Function:
    __slots__ = ("body", "name", "parameters", "statement")

    def __init__(self, name: str, parameters: tuple[str, ...], body: list[Item], statement: int) -> None:
        self.name = name
        self.parameters = parameters
        self.body = body
        self.statement = statement


class _Scope:
    """What names mean in a piece of text: a function's parameters, and the program as it was before a statement."""

    __slots__ = ("function", "known", "statement", "via")

    def __init__(
        self, statement: int, known: dict[str, int], via: Span | None = None, function: _Function | None = None
    ) -> None:
        self.statement = statement
        self.known = known
        """The nodes of the names that have been looked up here, and of the parameters."""
        self.via = via
        self.function = function


def build(statements: Sequence[Statement], text: str, given: Collection[str] = (), most: int = MAX_NODES) -> Program:
    """The program of the statements that were read from a text.

    `given` are the names that the point gives values to: they win over constants; calls expand to at most so many
    nodes. Raises `ExpressionError` (`name`, `arity`, `type`, `overflow`, `limit`).
    """
    return _Builder(text, given, most).program(statements)


class _Builder:
    def __init__(self, text: str, given: Collection[str], most: int) -> None:
        self.text = text
        self.most = most
        self.given = given
        self.tape = Tape([], [], [])
        self.conditions: set[int] = set()
        """The nodes that are no numbers."""
        self.expanded = 0
        self.free: dict[str, int] = {}
        self.used_constants: dict[str, int] = {}
        self.bound: dict[str, list[tuple[int, int]]] = {}
        self.defined: dict[str, list[tuple[int, _Function]]] = {}
        self.called: set[_Function] = set()
        self.bindings: list[tuple[str, int, int]] = []
        self.looks: dict[str, tuple[str, Span]] = {}

    # -- statements -------------------------------------------------------------------------------------------------
    def program(self, statements: Sequence[Statement]) -> Program:
        tape = self.tape
        outputs: tuple[int, ...] = ()
        function: _Function | None = None
        known: dict[str, int] = {}
        last = len(statements) - 1
        for number, statement in enumerate(statements):
            scope = _Scope(number, known)
            if statement.kind in ("bind", "augment"):
                outputs = (self.bind(statement, scope),)
            elif statement.kind == "define":
                defined = self.define(statement, number)
                if number == last:
                    function = defined
                    outputs = (self.apply_to_variables(function, statement),)
            else:
                outputs = tuple([self.number(code, scope) for code in statement.codes])
        if self.defined:
            self.check_uncalled(function)
        places, free = tape.places, self.free
        names = sorted(free, key=lambda name: places[free[name]][:2]) if len(free) > 1 else free
        leaves = {name: free[name] for name in names}
        return Program(
            self.text,
            tape,
            outputs,
            leaves,
            tuple(leaves) if function is None else function.parameters,
            {name: tape.data[i] for name, i in self.used_constants.items()},
            tuple(self.bindings),
            last == 0 and not self.called,
        )

    def bind(self, statement: Statement, scope: _Scope) -> int:
        name, at = statement.name, statement.name_span
        if statement.kind == "augment" and name not in self.bound:
            what = "a constant" if name in CONSTANTS and name not in self.given else "not bound yet"
            raise ExpressionError(
                "name", f"`{name}` is {what}, so it cannot be updated", at, f"bind it first: `{name} = …`"
            )
        value = self.expression(statement.codes[0], scope)
        self.check_unused_before(name, at)
        self.check_look(name, at)
        if self.tape.primitives[value] is not VARIABLE:
            self.tape.labels.setdefault(value, name)
        self.bound.setdefault(name, []).append((scope.statement, value))
        self.bindings.append((name, statement.start, value))
        scope.known[name] = value
        return value

    def check_unused_before(self, name: str, at: Span) -> None:
        if name in self.bound:
            return
        earlier = self.free.get(name, self.used_constants.get(name))
        if earlier is not None:
            raise ExpressionError(
                "name", f"`{name}` is bound here but was used before", at,
                "bind a name before its first use, or give this one another name",
                ((Span(*self.tape.places[earlier]), "used here"),),
            )  # fmt: skip

    def define(self, statement: Statement, number: int) -> _Function:
        names = tuple([str(p[2]) for p in statement.parameters])
        for k, p in enumerate(statement.parameters):
            if names[k] in names[:k]:
                raise ExpressionError(
                    "name", f"the parameter `{names[k]}` is listed twice", Span(*p[1]), "rename one of them"
                )
            self.check_look(names[k], Span(*p[1]))
        self.check_look(statement.name, statement.name_span)
        function = _Function(statement.name, names, statement.codes[0], number)
        self.defined.setdefault(statement.name, []).append((number, function))
        return function

    def apply_to_variables(self, function: _Function, statement: Statement) -> int:
        """The body of the function that ends the program, over its parameters as variables."""
        leaves: dict[str, int] = {}
        for p in statement.parameters:
            name = p[2]
            if name in self.free:
                raise ExpressionError(
                    "name", f"`{name}` is a parameter here, and a variable of the program before", Span(*p[1]),
                    "give one of them another name",
                )  # fmt: skip
            leaves[name] = self.variable(name, p[1])
        self.free.update(leaves)
        return self.number(function.body, _Scope(function.statement, leaves, None, function))

    def check_uncalled(self, applied: _Function | None) -> None:
        """Read the bodies of definitions that nothing called, for the errors in them; what they name is not used."""
        tape, free, constants = self.tape, dict(self.free), dict(self.used_constants)
        size = len(tape.primitives)
        for history in self.defined.values():
            for number, function in history:
                if function not in self.called and function is not applied:
                    leaves = {p: self.variable(p, (0, 0)) for p in function.parameters}
                    self.expression(function.body, _Scope(number, leaves, None, function))
        self.free, self.used_constants = free, constants
        for row in (tape.primitives, tape.parents, tape.data, tape.places):
            del row[size:]
        for texts in (tape.labels, tape.sources):
            for i in [i for i in texts if i >= size]:
                del texts[i]

    # -- names ------------------------------------------------------------------------------------------------------
    def check_look(self, name: str, at: Span) -> None:
        """Refuse two names that look alike."""
        look = name
        if not name.isascii():
            from unicodedata import normalize

            look = normalize("NFKC", name)
        known, where = self.looks.setdefault(look, (name, at))
        if known != name:
            raise ExpressionError(
                "name", f"`{name}` and `{known}` look alike but are two names", at, "write both the same way",
                ((where, f"`{known}` is here"),),
            )  # fmt: skip

    def lookup(self, name: str, place: Place, scope: _Scope) -> int:
        """The node of a name where it is first used in a scope."""
        self.check_look(name, Span(*place))
        history = self.bound.get(name)
        if history:
            k = bisect_left(history, scope.statement, key=lambda item: item[0])
            if k:
                return history[k - 1][1]
            if name not in CONSTANTS:
                raise ExpressionError(
                    "name", f"`{name}` has no value yet where it is used here", Span(*place),
                    "bind it before the definition",
                )  # fmt: skip
        if name in CONSTANTS and name not in self.given and name not in self.free:
            if name not in self.used_constants:
                self.used_constants[name] = at = self.constant(CONSTANTS[name], name, place)
                self.tape.labels[at] = name
            return self.used_constants[name]
        if name not in self.free:
            self.free[name] = self.variable(name, place)
        return self.free[name]

    def function(self, item: Item, scope: _Scope) -> _Function | Primitive:
        """What a call calls."""
        name, at = item[2], Span(*item[3])
        bound = self.bound.get(name)
        if (
            name in self.given
            or (scope.function and name in scope.function.parameters)
            or (bound and bisect_left(bound, scope.statement, key=lambda entry: entry[0]) > 0)
        ):
            self.refuse_product(item, "has a value here, so it cannot be called")
        history = self.defined.get(name)
        k = bisect_left(history, scope.statement, key=lambda entry: entry[0]) if history else 0
        if history and k:
            return history[k - 1][1]
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        if scope.function and scope.function.name == name:
            raise ExpressionError(
                "name", f"`{name}` calls itself", at, "write the recursion out: definitions are expanded in place"
            )
        if history:
            raise ExpressionError("name", f"`{name}` is defined only later", at, "move its definition up")
        if name in self.free or name in CONSTANTS or len(name) == 1:
            self.refuse_product(item, "is not a function")
        import difflib  # costs more than a whole small program, and only an error needs it

        near = difflib.get_close_matches(name, [*FUNCTIONS, *self.defined], 3)
        hint = f"did you mean {' or '.join(f'`{x}`' for x in near)}?" if near else "`autodiff functions` lists them all"
        raise ExpressionError("name", f"there is no function `{name}`", at, hint)

    def refuse_product(self, item: Item, why: str) -> None:
        raise Unexplained("name", f"`{item[2]}` {why}", Span(*item[3]), item)

    # -- nodes ------------------------------------------------------------------------------------------------------
    def node(self, primitive: Primitive, parents: tuple[int, ...], place: Place) -> int:
        tape = self.tape
        i = len(tape.primitives)
        tape.primitives.append(primitive)
        tape.parents.append(parents)
        tape.data.append(None)
        tape.places.append(place)
        if primitive.gives_condition:
            self.conditions.add(i)
        return i

    def constant(self, data: float, source: str, place: Place) -> int:
        i = self.node(CONSTANT, (), place)
        self.tape.data[i] = data
        self.tape.sources[i] = source
        return i

    def variable(self, name: str, place: Place) -> int:
        i = self.node(VARIABLE, (), place)
        self.tape.labels[i] = name
        return i

    # -- expressions ------------------------------------------------------------------------------------------------
    def number(self, code: Sequence[Item], scope: _Scope) -> int:
        value = self.expression(code, scope)
        if value in self.conditions:
            raise _wrong_type(Span(*code[-1][1]), wanted_condition=False)
        return value

    def expression(self, code: Sequence[Item], scope: _Scope) -> int:
        """The node of one expression. Calls are a stack instead of recursion: the text may nest to any depth."""
        tape, conditions = self.tape, self.conditions
        primitives, all_parents, data, places = tape.primitives, tape.parents, tape.data, tape.places
        values: list[int] = []
        calls: list[tuple[Sequence[Item], Iterator[Item], _Scope]] = []
        items = iter(code)
        while True:
            known, via = scope.known, scope.via
            for item in items:
                kind = item[0]
                place = item[1]
                if via is not None:
                    place = (*place, via)
                if kind == NAME:
                    name = item[2]
                    if name not in known:
                        known[name] = self.lookup(name, place, scope)
                    values.append(known[name])
                elif kind == BINARY:
                    b = values.pop()
                    a = values[-1]
                    if conditions and (a in conditions or b in conditions):
                        self.check_types((a, b), (), code, item)
                    values[-1] = len(primitives)
                    primitives.append(item[2])
                    all_parents.append((a, b))
                    data.append(None)
                    places.append(place)
                elif kind == NUMBER:
                    number = float(item[2])
                    if number == math.inf:
                        raise ExpressionError(
                            "overflow", "this number is too large for double precision", Span(*item[1]),
                            "the largest is about 1.8e308",
                        )  # fmt: skip
                    values.append(self.constant(number, item[2], place))
                elif kind == CALL:
                    first = len(values) - item[4]
                    parents = tuple(values[first:])
                    del values[first:]
                    called = self.function(item, scope)
                    if isinstance(called, _Function):
                        calls.append((code, items, scope))
                        scope = self.expand(called, parents, code, item, place)
                        code = called.body
                        items = iter(code)
                        break
                    values.append(self.call(called, parents, code, item, place))
                elif kind == UNARY:
                    if conditions and values[-1] in conditions:
                        self.check_types(values[-1:], (), code, item)
                    if item[2] is not None:
                        values[-1] = self.node(item[2], (values[-1],), place)
                elif kind == CHOICE:
                    b = values.pop()
                    condition = values.pop()
                    self.check_types((values[-1], condition, b), (1,), code, item)
                    values[-1] = self.node(WHERE, (condition, values[-1], b), place)
                elif kind == COMPARE:
                    first = len(values) - len(item[2]) - 1
                    parents = tuple(values[first:])
                    values[first:] = (self.compare(parents, code, item, place),)
                elif kind != GROUP:
                    first = len(values) - item[3]
                    parents = tuple(values[first:])
                    self.check_types(parents, item[2].takes_conditions, code, item)
                    values[first:] = (self.node(item[2], parents, place),)
            else:
                if not calls:
                    return values[0]
                code, items, scope = calls.pop()

    def check_types(self, parents: Sequence[int], wanted: Sequence[int], code: Sequence[Item], item: Item) -> None:
        """Raise an error unless exactly the `wanted` ones of an item's operands are conditions."""
        wrong = [k for k, p in enumerate(parents) if (p in self.conditions) != (k in wanted)]
        if item[0] == CHOICE:
            wrong.sort(key=lambda k: k != 1)
        if wrong:
            spans = list(operand_spans(code, item))
            raise _wrong_type(spans[wrong[0]], wanted_condition=wrong[0] in wanted)

    def compare(self, parents: tuple[int, ...], code: Sequence[Item], item: Item, place: Place) -> int:
        """A comparison, chained ones as the conjunction of their pairs."""
        self.check_types(parents, (), code, item)
        result: int | None = None
        for k, (sign, span) in enumerate(zip(item[2], item[3], strict=True)):
            pair = self.node(COMPARISONS[sign], parents[k : k + 2], (*span, *place[2:]))
            result = pair if result is None else self.node(AND, (result, pair), place)
        assert result is not None
        return result

    def expand(
        self, function: _Function, parents: tuple[int, ...], code: Sequence[Item], item: Item, place: Place
    ) -> _Scope:
        """The scope in which a defined function's body has these arguments."""
        if len(parents) != len(function.parameters):
            signature = f"{function.name}({', '.join(function.parameters)})"
            self.refuse_count(signature, len(function.parameters), code, item)
        self.called.add(function)
        via = Span(*place)
        # What calls add to the text is counted, whether it makes a node or not: it can grow exponentially.
        self.expanded += len(function.body)
        if self.expanded > self.most:
            raise ExpressionError(
                "limit", f"the calls expand to more than {self.most:,} nodes", via, "split the program"
            )
        return _Scope(function.statement, dict(zip(function.parameters, parents, strict=True)), via, function)

    def refuse_count(self, signature: str, wanted: int | str, code: Sequence[Item], item: Item) -> None:
        _, place, name, _, got = item
        check_thousands([span.start for span in operand_spans(code, item)], self.text)
        plural = "" if str(wanted).endswith("1") else "s"
        raise ExpressionError(
            "arity", f"`{name}` takes {wanted} argument{plural}, and {got} {'is' if got == 1 else 'are'} given",
            Span(*place), f"write it as `{signature}`",
        )  # fmt: skip

    def call(
        self, primitive: Primitive, parents: tuple[int, ...], code: Sequence[Item], item: Item, place: Place
    ) -> int:
        """A call of a function of the language."""
        count = len(parents)
        if primitive.with_two and count == 2:
            primitive = PRIMITIVES[primitive.with_two]
        if primitive.variadic:
            if not parents:
                self.refuse_count(primitive.signature, "at least 1", code, item)
        elif count != len(primitive.params):
            most = len(primitive.params)
            least = most - len(primitive.defaults)
            if not least <= count <= most:
                wanted = f"{least} or {most}" if least < most else f"{most} or 2" if primitive.with_two else most
                self.refuse_count(primitive.signature, wanted, code, item)
        if self.conditions or primitive.takes_conditions:
            self.check_types(parents, primitive.takes_conditions, code, item)
        if not primitive.variadic and count < len(primitive.params):
            for default in primitive.defaults[count - len(primitive.params) :]:
                parents += (self.constant(float(default), default, place),)
        for name in primitive.constant_params:
            self.check_whole(primitive, parents[primitive.params.index(name)], item)
        return self.node(primitive, parents, place)

    def check_whole(self, primitive: Primitive, order: int, item: Item) -> None:
        """Raise an error unless the node is a whole number that the program fixes."""
        tape = self.tape
        below = in_order(tape.parents, (order,))
        value = None
        if not any(tape.primitives[i] is VARIABLE for i in below):
            root = values_of(tape, below)[-1]
            if root.data is None:
                evaluate((root,))
            value = root.data
        if value is None or value < 0 or value != int(value):
            raise ExpressionError(
                "type", f"the order of `{primitive.name}` must be a whole number fixed by the program",
                Span(*item[1]), f"write it as `{primitive.name}(2, …)`",
            )  # fmt: skip


def _wrong_type(span: Span, *, wanted_condition: bool) -> ExpressionError:
    if wanted_condition:
        return ExpressionError(
            "type", "a condition is needed here, and this is a number", span, "compare it: `… > 0`, `… != 0`"
        )
    return ExpressionError(
        "type", "a number is needed here, and this is a condition", span, "choose numbers by it: `1 if … else 0`"
    )
