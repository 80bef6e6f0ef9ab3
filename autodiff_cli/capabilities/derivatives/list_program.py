"""Programs of lists and matrices: their shapes are those of the arguments of a call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Any, NamedTuple

from ...api.tracebacks import explained
from ...errors import quote
from ...language.builder import CONSTANTS
from ...language.elements import element_name
from ...language.parser import syntax_tree
from ...questions import problem
from .program import Program, ProgramDerivatives
from .structures import ArrayShape, Structure, flatten, unflatten

# Programs are kept for so many kinds of shapes.
MAX_SHAPES = 64
# The axes of a list of the language: `x[1]`, `W[1,2]`.
MAX_AXES = 2


class ListDerivatives(ProgramDerivatives):
    """Values and derivatives of a program of lists, by the name of a variable, in its shape.

    The gradient by a matrix is a matrix; the Hessian by two variables, `hessian["W"]["x"]`, has the
    axes of both, and the Jacobian those of the results before those of the variable. As an array it
    is the numbers alone.
    """

    numbers: Any = ()
    """The derivatives in rows, all entries of the first variable, of the second, and so on."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(self.numbers, dtype=dtype or float)


class _Argument:
    """The numbers of an argument, its structure and shape."""

    def __init__(self, name: str, value: Any) -> None:
        self.numbers: list[Any] = []
        self.structure: Structure = flatten(value, f"`{name}` cannot be", self.numbers)
        shape = _shape(self.structure)
        if shape is None or len(shape) > MAX_AXES or not prod(shape):
            expected = "a number, a list of numbers, or a list of rows of the same length"
            raise TypeError(f"`{name}` is {expected}, not {value!r}")
        self.name, self.shape = name, shape

    def entries(self) -> list[str]:
        """Return the names that the numbers have in the program."""
        places = product(*[range(1, size + 1) for size in self.shape])
        return [element_name(self.name, place) for place in places] if self.shape else [self.name]


class _Shaped(NamedTuple):
    """The program of numbers for some shapes."""

    program: Program
    entries: list[str]
    """The names of all numbers of a call, in order."""
    names: list[str]
    """Those that the program has values of."""
    differentiated: dict[str, list[str]]
    """The arguments that derivatives are taken in, with the names of their entries."""
    shape: tuple[int, ...]
    """The shape of a result that is a list."""


class _CallOfLists(NamedTuple):
    """The program of numbers of a call, its point, and the arguments that derivatives are taken
    in.
    """

    program: Program
    point: dict[str, Any]
    arguments: list[_Argument]
    entries: list[str]
    """The names of the numbers of these arguments, in order."""
    results: Structure
    """The structure of the results: arrays, if some argument is one."""

    def row(self, by_entry: Mapping[str, float]) -> list[float]:
        """Return the derivatives by all entries; 0 by those that the program does not use."""
        return [by_entry.get(entry, 0.0) for entry in self.entries]

    def parts(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return what is in a row for all entries by variable, in its structure."""
        rest: Iterator[Any] = iter(row)
        return {
            argument.name: unflatten(argument.structure, rest, numeric=True)
            for argument in self.arguments
        }

    def blocks(self, rows: Sequence[Sequence[Any]]) -> dict[str, dict[str, Any]]:
        """Return what is in rows of all entries for all entries, by the variable of each."""
        of_rows, blocks = iter([self.parts(row) for row in rows]), {}
        for argument in self.arguments:
            own = list(islice(of_rows, len(argument.numbers)))
            blocks[argument.name] = {
                other.name: unflatten(
                    argument.structure, iter([parts[other.name] for parts in own]), numeric=True
                )
                for other in self.arguments
            }
        return blocks


def _shape(structure: Structure) -> tuple[int, ...] | None:
    """Return the shape of rectangular lists or arrays; None for another structure."""
    if structure is None:
        return ()
    if isinstance(structure, ArrayShape):
        return structure.shape
    if not isinstance(structure, list | tuple):
        return None
    shapes = {_shape(part) for part in structure}
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (len(structure), *inner)


class ListProgram(Program):
    """A program with lists or matrices among its variables: a function of arrays, with its gradient
    in their shapes.

    >>> from autodiff_cli import parse
    >>> f = parse("sum(W @ x)**2")
    >>> f.parameters, f([[1, 2], [3, 4]], [1, 1])
    (('W', 'x'), 100.0)
    >>> f.gradient(W=[[1, 2], [3, 4]], x=[1, 1]).gradient
    {'W': [[20.0, 20.0], [20.0, 20.0]], 'x': [80.0, 120.0]}

    A program is built for each shape of its arguments.
    """

    def __init__(self, text: str, given: Collection[str] = ()) -> None:
        self._text, self._given = text, tuple(given)
        self._by_shapes: dict[Any, _Shaped] = {}

    @property
    def text(self) -> str:
        return self._text

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the variables, lists and numbers, in the order of the text."""
        tree = problem.explained(self._text, lambda: syntax_tree(self._text))
        bound: set[str] = set()
        for node in tree.walk():
            if node.kind in ("bind", "augment", "define"):
                bound.add(node.value)
            if node.kind == "define" and node is not tree.parts[-1]:
                bound |= {parameter.value for parameter in node.parts[:-1]}
        names = dict.fromkeys([node.value for node in tree.names()])
        return tuple(
            [
                name
                for name in names
                if name not in bound and name not in CONSTANTS.keys() - {*self._given}
            ]
        )

    @cached_property
    def _program(self) -> Any:  # type: ignore[override]
        """The program of numbers alone. Raises `ExpressionError` if it needs lists."""
        with explained(self._text):
            return problem.parse(self._text, self._given)

    def __call__(self, /, *args: Any, **values: Any) -> Any:
        """Return the result at these values: a float, or a Value where one of their entries is a
        Value.

        A list in its shape, an array if some value is one, if the result is a list.
        """
        call = self._call(args, values)
        found = call.program(**call.point)
        if call.results is None:
            return found
        return unflatten(
            call.results, iter(found if isinstance(found, tuple) else [found]), numeric=True
        )

    value = __call__

    def gradient(self, /, *args: Any, **values: Any) -> ListDerivatives:
        """Return value and gradient, a part for each variable in its shape.

        Raises TypeError for names and structures that do not fit, and `ExpressionError` where there
        is no gradient, or where the shapes do not fit the program.
        """
        call = self._call(args, values)
        answer = call.program.gradient(**call.point)
        slopes = call.row(answer.gradient)
        return ListDerivatives(
            answer.value, call.parts(slopes), numbers=slopes, warnings=answer.warnings
        )

    def hessian(self, /, *args: Any, **values: Any) -> ListDerivatives:
        """Return value, gradient and Hessian: a part for each pair of variables, with the axes of
        both.

        Raises as `gradient`.
        """
        call = self._call(args, values)
        answer, names = call.program.hessian(**call.point), call.program.parameters
        by_entry = {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, answer.hessian, strict=True)
        }
        rows = [call.row(by_entry.get(entry, {})) for entry in call.entries]
        return ListDerivatives(
            answer.value,
            call.parts(call.row(answer.gradient or {})),
            call.blocks(rows),
            numbers=rows,
        )

    def jacobian(self, /, *args: Any, **values: Any) -> ListDerivatives:
        """Return all results, and their derivatives by each variable: the axes of the results
        before its own.

        Raises as `gradient`.
        """
        call = self._call(args, values)
        answer = call.program.jacobian(**call.point)
        rows = [
            call.row(dict(zip(call.program.parameters, row, strict=True)))
            for row in answer.jacobian
        ]
        of_results = [call.parts(row) for row in rows]

        def of_all(parts: list[Any]) -> Any:
            return unflatten(call.results, iter(parts), numeric=True)

        blocks = {
            argument.name: of_all([part[argument.name] for part in of_results])
            for argument in call.arguments
        }
        return ListDerivatives(
            of_all(answer.value), jacobian=blocks, numbers=rows, warnings=answer.warnings
        )

    # ---- arguments
    def _call(self, args: Sequence[Any], values: dict[str, Any]) -> _CallOfLists:
        """Return the program for the shapes of a call, and its arguments."""
        arguments = [_Argument(name, x) for name, x in self._by_name(args, values).items()]
        key = tuple([(argument.name, argument.shape) for argument in arguments])
        shaped = self._by_shapes.get(key)
        if shaped is None:
            shaped = self._read(arguments)
            if len(self._by_shapes) >= MAX_SHAPES:
                self._by_shapes.clear()
            self._by_shapes[key] = shaped
        numbers = dict(
            zip(
                shaped.entries, [x for argument in arguments for x in argument.numbers], strict=True
            )
        )
        point = {name: numbers[name] for name in shaped.names}
        differentiated = [
            argument for argument in arguments if argument.name in shaped.differentiated
        ]
        entries = [
            entry for argument in differentiated for entry in shaped.differentiated[argument.name]
        ]
        has_arrays = any(isinstance(argument.structure, ArrayShape) for argument in arguments)
        results = _of_results(shaped.shape, len(shaped.program.outputs), has_arrays)
        return _CallOfLists(shaped.program, point, differentiated, entries, results)

    def _by_name(self, args: Sequence[Any], values: Mapping[str, Any]) -> dict[str, Any]:
        names = self.parameters
        if len(args) > len(names):
            raise TypeError(
                f"the program has {len(names)} variables, and the call has {len(args)} values"
            )
        if twice := [name for name in names[: len(args)] if name in values]:
            raise TypeError(f"{quote(twice)} has two values, by its position and by its name")
        named = {**dict(zip(names, args, strict=False)), **values}
        # a list may be given by its entries, `x[1]`
        lists = {name.partition("[")[0] for name in named}
        if missing := [name for name in names if name not in lists]:
            raise TypeError(
                f"the program needs a value for {quote(missing)}: call it as `f({missing[0]}=…)`"
            )
        return {name: named[name] for name in dict.fromkeys((*names, *named)) if name in named}

    def _read(self, arguments: Sequence[_Argument]) -> _Shaped:
        by_name = {argument.name: argument.entries() for argument in arguments}
        entries = [entry for names in by_name.values() for entry in names]
        with explained(self._text):
            program = problem.parse(self._text, entries)
        leaves, known = program.leaves, frozenset(entries)
        used = dict.fromkeys((*leaves, *program.parameters))
        for name, names in by_name.items():
            if name not in self.parameters and leaves.keys().isdisjoint(names):
                listed = quote(self.parameters, "no variables")
                raise TypeError(
                    f"`{name}` is not a variable of this program: its variables are {listed}"
                )
        if missing := [name for name in used if name not in known]:
            raise TypeError(
                f"the program needs a value for {quote(missing)}, which the arguments of the call"
                " lack"
            )
        # of a definition derivatives are by its parameters; what a program does not use has
        # derivatives of 0
        held = leaves.keys() - {*program.parameters}
        differentiated = {name: names for name, names in by_name.items() if held.isdisjoint(names)}
        return _Shaped(Program(program), entries, [*used], differentiated, program.shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return ListProgram, (self._text, self._given)

    def __repr__(self) -> str:
        return (
            f"<Program of {quote(self.parameters, 'no variables')}, whose shapes are those of a"
            " call>"
        )


def _of_results(shape: tuple[int, ...], count: int, has_arrays: bool) -> Structure:
    """Return the structure of so many results; None for a single number."""
    if not shape:
        return (None,) * count if count > 1 else None
    if has_arrays:
        return ArrayShape(shape)
    structure: Structure = None
    for size in reversed(shape):
        structure = [structure] * size
    return structure
