"""Builder: from the parse tree to the graph. It knows names, bindings, definitions and types; it evaluates nothing."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..errors import ExpressionError, Span
from ..graph.value import Value, constant, evaluate, in_order, node, variable
from ..table.operators import ADD, AND, COMPARISONS, DIV, MUL, NEG, NOT, OR, POW, SUB, VARIABLE, WHERE
from ..table.primitive import FUNCTIONS, PRIMITIVES, Primitive
from ..table.primitives import ABS, SQRT
from .checks import check_thousands
from .tree import Node

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}
"""The names that have a value unless the program or the point gives them another."""

MAX_NODES = 2_000_000

_OPERATORS = {
    "add": ADD, "sub": SUB, "mul": MUL, "div": DIV, "pow": POW, "neg": NEG, "sqrt": SQRT, "abs": ABS,
    "and": AND, "or": OR, "not": NOT, "if": WHERE,
}  # fmt: skip


class Binding(NamedTuple):
    """A name that the program bound: where, and to which node."""

    name: str
    start: int
    value: Value


class Program(NamedTuple):
    """A program as a graph, not evaluated: its outputs, and the leaves that a point gives values to."""

    text: str
    outputs: tuple[Value, ...]
    variables: dict[str, Value]
    """The free names and their leaves, in order of first appearance."""
    parameters: tuple[str, ...]
    """The variables that a gradient is taken in unless it is said otherwise."""
    constants: dict[str, float]
    """The named constants that were used."""
    bindings: tuple[Binding, ...]


class _Function(NamedTuple):
    name: str
    parameters: tuple[str, ...]
    body: Node
    statement: int


class _Scope(NamedTuple):
    """What names mean in a piece of text: the parameters, and the program as it was before a statement."""

    statement: int
    parameters: Mapping[str, Value] = MappingProxyType({})
    via: Span | None = None
    function: str | None = None


def build(tree: Node, text: str, given: Collection[str] = (), most: int = MAX_NODES) -> Program:
    """The program of a parse tree.

    `given` are the names that the point gives values to: they win over constants; calls expand to at most so many
    nodes. Raises `ExpressionError` (`name`, `arity`, `type`, `overflow`, `limit`).
    """
    return _Builder(text, given, most).program(tree)


class _Builder:
    def __init__(self, text: str, given: Collection[str], most: int) -> None:
        self.text = text
        self.most = most
        self.given = given
        self.expanded = 0
        self.free: dict[str, Value] = {}
        self.used_constants: dict[str, Value] = {}
        self.bound: dict[str, list[tuple[int, Value]]] = {}
        self.defined: dict[str, list[tuple[int, _Function]]] = {}
        self.called: set[_Function] = set()
        self.bindings: list[Binding] = []
        self.looks: dict[str, tuple[str, Span]] = {}

    # -- statements -------------------------------------------------------------------------------------------------
    def program(self, tree: Node) -> Program:
        outputs: tuple[Value, ...] = ()
        parameters: tuple[str, ...] | None = None
        last = len(tree.children) - 1
        for number, statement in enumerate(tree.children):
            scope = _Scope(number)
            if statement.kind in ("bind", "augment"):
                outputs = (self.bind(statement, scope),)
            elif statement.kind == "define":
                function = self.define(statement, number)
                if number == last:
                    parameters = function.parameters
                    outputs = (self.apply_to_variables(function, statement),)
            else:
                listed = statement.children if statement.kind == "outputs" else (statement,)
                outputs = tuple(self.number(item, scope) for item in listed)
        self.check_uncalled(None if parameters is None else function.name)
        in_text_order = sorted(self.free.items(), key=lambda item: (item[1].span or (0, 0))[:2])
        variables = dict(in_text_order)
        return Program(
            self.text,
            outputs,
            variables,
            tuple(variables) if parameters is None else parameters,
            {name: n.data for name, n in self.used_constants.items()},
            tuple(self.bindings),
        )

    def bind(self, statement: Node, scope: _Scope) -> Value:
        name = str(statement.value)
        at = statement.name_span or statement.span
        if statement.kind == "augment" and name not in self.bound:
            what = "a constant" if name in CONSTANTS and name not in self.given else "not bound yet"
            raise ExpressionError(
                "name", f"`{name}` is {what}, so it cannot be updated", at, f"bind it first: `{name} = …`"
            )
        value = self.expression(statement.children[0], scope)
        self.check_unused_before(name, at)
        self.check_look(name, at)
        if not value.label and value.primitive is not VARIABLE:
            value.label = name
        self.bound.setdefault(name, []).append((scope.statement, value))
        self.bindings.append(Binding(name, statement.start, value))
        return value

    def check_unused_before(self, name: str, at: Span) -> None:
        if name in self.bound:
            return
        earlier = self.free.get(name) or self.used_constants.get(name)
        if earlier is not None:
            raise ExpressionError(
                "name", f"`{name}` is bound here but was used before", at,
                "bind a name before its first use, or give this one another name",
                ((earlier.span, "used here"),) if earlier.span else (),
            )  # fmt: skip

    def define(self, statement: Node, number: int) -> _Function:
        name = str(statement.value)
        *parameters, body = statement.children
        names = tuple(str(p.value) for p in parameters)
        for k, p in enumerate(parameters):
            if names[k] in names[:k]:
                raise ExpressionError(
                    "name", f"the parameter `{names[k]}` is listed twice", p.span, "rename one of them"
                )
            self.check_look(names[k], p.span)
        self.check_look(name, statement.name_span or statement.span)
        function = _Function(name, names, body, number)
        self.defined.setdefault(name, []).append((number, function))
        return function

    def apply_to_variables(self, function: _Function, statement: Node) -> Value:
        """The body of the function that ends the program, over its parameters as variables."""
        leaves: dict[str, Value] = {}
        for p in statement.children[:-1]:
            name = str(p.value)
            if name in self.free:
                raise ExpressionError(
                    "name", f"`{name}` is a parameter here, and a variable of the program before", p.span,
                    "give one of them another name",
                )  # fmt: skip
            leaves[name] = variable(name, p.span)
        self.free.update(leaves)
        return self.number(function.body, _Scope(function.statement, leaves, None, function.name))

    def check_uncalled(self, called: str | None) -> None:
        """Read the bodies of definitions that nothing called, for the errors in them; what they name is not used."""
        free, constants = dict(self.free), dict(self.used_constants)
        for name, history in self.defined.items():
            for number, function in history:
                if function not in self.called and not (name == called and (number, function) == history[-1]):
                    leaves = {p: variable(p) for p in function.parameters}
                    self.expression(function.body, _Scope(number, leaves, None, name))
        self.free, self.used_constants = free, constants

    # -- names ------------------------------------------------------------------------------------------------------
    def check_look(self, name: str, at: Span) -> None:
        """Refuse two names that look alike."""
        look = name if name.isascii() else unicodedata.normalize("NFKC", name)
        known, where = self.looks.setdefault(look, (name, at))
        if known != name:
            raise ExpressionError(
                "name", f"`{name}` and `{known}` look alike but are two names", at, "write both the same way",
                ((where, f"`{known}` is here"),),
            )  # fmt: skip

    def lookup(self, n: Node, scope: _Scope) -> Value:
        name = str(n.value)
        if name in scope.parameters:
            return scope.parameters[name]
        at = Span(n.start, n.end, scope.via)
        if not name.isascii() or self.looks:
            self.check_look(name, at)
        elif name not in self.looks:
            self.looks[name] = (name, at)
        history = self.bound.get(name)
        if history:
            k = bisect_left(history, scope.statement, key=lambda item: item[0])
            if k:
                return history[k - 1][1]
            if name not in CONSTANTS:
                raise ExpressionError(
                    "name", f"`{name}` has no value yet where it is used here", at, "bind it before the definition"
                )
        if name in CONSTANTS and name not in self.given and name not in self.free:
            if name not in self.used_constants:
                leaf = constant(CONSTANTS[name], name, at)
                leaf.label = name
                self.used_constants[name] = leaf
            return self.used_constants[name]
        if name not in self.free:
            self.free[name] = variable(name, at)
        return self.free[name]

    def function(self, n: Node, scope: _Scope) -> _Function | Primitive:
        """What a call calls."""
        name, at = str(n.value), n.name_span or n.span
        bound = self.bound.get(name, [])
        is_bound = bisect_left(bound, scope.statement, key=lambda item: item[0]) > 0
        if name in scope.parameters or is_bound or name in self.given:
            self.refuse_product(n, name, at, "has a value here, so it cannot be called")
        history = self.defined.get(name, [])
        k = bisect_left(history, scope.statement, key=lambda item: item[0])
        if k:
            return history[k - 1][1]
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        if scope.function == name:
            raise ExpressionError(
                "name", f"`{name}` calls itself", at, "write the recursion out: definitions are expanded in place"
            )
        if history:
            raise ExpressionError("name", f"`{name}` is defined only later", at, "move its definition up")
        if name in self.free or name in CONSTANTS or len(name) == 1:
            self.refuse_product(n, name, at, "is not a function")
        import difflib  # costs more than a whole small program, and only an error needs it

        near = difflib.get_close_matches(name, [*FUNCTIONS, *self.defined], 3)
        hint = f"did you mean {' or '.join(f'`{x}`' for x in near)}?" if near else "`autodiff functions` lists them all"
        raise ExpressionError("name", f"there is no function `{name}`", at, hint)

    def refuse_product(self, n: Node, name: str, at: Span, why: str) -> None:
        from .products import product_hint  # only an error needs it

        hint = product_hint(n, self.text) if n.children else f"for its value write `{name}`"
        raise ExpressionError("name", f"`{name}` {why}", at, hint)

    # -- expressions ------------------------------------------------------------------------------------------------
    def make(self, primitive: Primitive, parents: tuple[Value, ...], n: Node, scope: _Scope) -> Value:
        return node(primitive, parents, Span(n.start, n.end, scope.via))

    def number(self, n: Node, scope: _Scope) -> Value:
        value = self.expression(n, scope)
        self.check_type(value, n, condition=False)
        return value

    def check_type(self, value: Value, n: Node, *, condition: bool) -> None:
        if value.primitive.gives_condition == condition:
            return
        if condition:
            raise ExpressionError(
                "type", "a condition is needed here, and this is a number", n.span, "compare it: `… > 0`, `… != 0`"
            )
        raise ExpressionError(
            "type", "a number is needed here, and this is a condition", n.span, "choose numbers by it: `1 if … else 0`"
        )

    def expression(self, root: Node, scope: _Scope) -> Value:
        """The graph of one expression. A stack of work instead of recursion: the text may nest to any depth."""
        values: list[Value] = []
        work: list[tuple[Node, _Scope, bool]] = [(root, scope, False)]
        while work:
            n, scope, visited = work.pop()
            kind = n.kind
            if scope.via is not None:
                # What calls add to the text is counted, whether it makes a node or not: it can grow exponentially.
                self.expanded += 1
                if self.expanded > self.most:
                    raise ExpressionError(
                        "limit", f"the calls expand to more than {self.most:,} nodes", scope.via, "split the program"
                    )
            if kind == "number":
                values.append(self.literal(n, scope))
            elif kind == "name":
                values.append(self.lookup(n, scope))
            elif kind == "group":
                work.append((n.children[0], scope, False))
            elif not visited:
                work.append((n, scope, True))
                for child in reversed(n.children):
                    work.append((child, scope, False))
            else:
                count = len(n.children)
                operands = tuple(values[len(values) - count :])
                del values[len(values) - count :]
                if kind == "call":
                    called = self.function(n, scope)
                    if isinstance(called, _Function):
                        work.append(self.expand(called, operands, n, scope))
                    else:
                        values.append(self.call(called, operands, n, scope))
                elif kind == "pos":
                    self.check_type(operands[0], n.children[0], condition=False)
                    values.append(operands[0])
                elif kind == "compare":
                    values.append(self.compare(operands, n, scope))
                else:
                    primitive = _OPERATORS[kind]
                    self.check_operands(primitive, operands, n)
                    values.append(self.make(primitive, operands, n, scope))
        return values[0]

    def literal(self, n: Node, scope: _Scope) -> Value:
        source = str(n.value)
        data = float(source)
        if math.isinf(data):
            raise ExpressionError(
                "overflow", "this number is too large for double precision", n.span, "the largest is about 1.8e308"
            )
        return constant(data, source, Span(n.start, n.end, scope.via))

    def check_operands(self, primitive: Primitive, operands: tuple[Value, ...], n: Node) -> None:
        conditions = primitive.takes_conditions
        for k, operand in enumerate(operands):
            if operand.primitive.gives_condition != (k in conditions):
                self.check_type(operand, n.children[k], condition=k in conditions)

    def compare(self, operands: tuple[Value, ...], n: Node, scope: _Scope) -> Value:
        """A comparison, chained ones as the conjunction of their pairs."""
        for operand, child in zip(operands, n.children, strict=True):
            self.check_type(operand, child, condition=False)
        result: Value | None = None
        for k, operator in enumerate(n.value or ()):
            pair = self.make(COMPARISONS[operator], operands[k : k + 2], n, scope)
            pair.span = Span(n.children[k].start, n.children[k + 1].end, scope.via)
            result = pair if result is None else self.make(AND, (result, pair), n, scope)
        assert result is not None
        return result

    def expand(
        self, function: _Function, operands: tuple[Value, ...], n: Node, scope: _Scope
    ) -> tuple[Node, _Scope, bool]:
        """The work of evaluating a defined function's body with these arguments."""
        if len(operands) != len(function.parameters):
            signature = f"{function.name}({', '.join(function.parameters)})"
            self.refuse_count(function.name, signature, len(function.parameters), len(operands), n)
        self.called.add(function)
        via = Span(n.start, n.end, scope.via)
        parameters = dict(zip(function.parameters, operands, strict=True))
        return (function.body, _Scope(function.statement, parameters, via, function.name), False)

    def refuse_count(self, name: str, signature: str, wanted: int | str, got: int, n: Node) -> None:
        check_thousands(n.children, self.text)
        plural = "" if str(wanted).endswith("1") else "s"
        raise ExpressionError(
            "arity", f"`{name}` takes {wanted} argument{plural}, and {got} {'is' if got == 1 else 'are'} given", n.span,
            f"write it as `{signature}`",
        )  # fmt: skip

    def call(self, primitive: Primitive, operands: tuple[Value, ...], n: Node, scope: _Scope) -> Value:
        """A call of a function of the language."""
        if primitive.with_two and len(operands) == 2:
            primitive = PRIMITIVES[primitive.with_two]
        if primitive.variadic:
            if not operands:
                self.refuse_count(str(n.value), primitive.signature, "at least 1", 0, n)
        else:
            most = len(primitive.params)
            least = most - len(primitive.defaults)
            if not least <= len(operands) <= most:
                wanted = f"{least} or {most}" if least < most else f"{most} or 2" if primitive.with_two else most
                self.refuse_count(str(n.value), primitive.signature, wanted, len(operands), n)
        self.check_operands(primitive, operands, n)
        if not primitive.variadic:
            for default in primitive.defaults[len(operands) - most :] if len(operands) < most else ():
                operands += (constant(float(default), default, Span(n.start, n.end, scope.via)),)
        for name in primitive.constant_params:
            self.check_whole(primitive, operands[primitive.params.index(name)], n)
        return self.make(primitive, operands, n, scope)

    def check_whole(self, primitive: Primitive, order: Value, n: Node) -> None:
        fixed = not any(leaf.primitive is VARIABLE for leaf in in_order((order,)))
        if fixed and order.data is None:
            evaluate((order,))
        if not fixed or order.data < 0 or order.data != int(order.data):
            raise ExpressionError(
                "type", f"the order of `{primitive.name}` must be a whole number fixed by the program", n.span,
                f"write it as `{primitive.name}(2, …)`",
            )  # fmt: skip
