"""Value and derivatives of a program at blocks of rows, some left to the interpreter.

The program is recorded once and printed for LLVM, with the C library's vector mathematics, or
NumPy. Both flag the rows with a number that is not finite; plain Python computes those, with
messages.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..engine.graphs.adjoint import record_values
from ..engine.numbers.budget import gc_collect
from ..engine.numbers.double.formulas import Lacking
from ..engine.numbers.floats import REAL
from ..engine.numbers.recorder import CONDITIONS, Step
from ..engine.table.primitives import library_names
from ..errors import ExpressionError
from ..language.builder import Program
from .backends import needs_data, one_by_one, unavailable_backend
from .evaluator import Evaluator, Record, gradient_recorder
from .lowering import MAX_COLUMN_STEPS, Lowering, Vectors, vectors
from .target import by_library, language

# The C library's vector mathematics, if it has them.
LIBRARY = "libmvec.so.1"

# Limit of steps for LLVM: each takes microseconds to build, more in large programs.
MAX_LLVM_STEPS = 4_000

# Rows that NumPy computes at a time: a dozen columns fit in a cache.
NUMPY_BLOCK_ROWS = 16_384

Backend = TypeVar("Backend")

# Fills results, a row each, and flags; an input is a column or a shared number.
Compute = Callable[[Sequence[Any], Any, Any], None]


class Kernel(NamedTuple):
    """A program compiled for blocks, and its backend."""

    compute: Compute | None
    """None for plain Python."""
    backend: str
    note: str | None
    """A message, shown once, if it is not the fastest backend: reason and remedy."""


class Unavailable(Exception):
    """A backend is unavailable, with the reason."""


def first_backend(
    ways: Mapping[str, Callable[[], Backend]], wanted: str | None
) -> tuple[Backend, str, str]:
    """Return the result of the first available backend, or of the named one.

    Its name follows, and why the previous one is unavailable. Raises a usage error if the wanted
    one is.
    """
    why = ""
    for name, make in ways.items():
        if wanted in (None, name):
            try:
                return make(), name, why
            except Unavailable as lacking:
                why = str(lacking)
    raise unavailable_backend(str(wanted), why)


def kernel(record: Record, inputs: int, fixed: frozenset[int], backend: str | None) -> Kernel:
    """Return the fastest kernel, or that of a backend. Raises a usage error if it is unavailable.

    `fixed` are the positions of inputs that all rows share.
    """
    ways: dict[str, Callable[[], Compute | None]] = {
        "llvm": lambda: _llvm_kernel(record, inputs, fixed),
        "numpy": lambda: _numpy_kernel(record),
        "python": lambda: None,
    }
    compute, name, why = first_backend(ways, backend)
    note = f"the rows are computed by NumPy: {why}" if name == "numpy" else one_by_one(why)
    return Kernel(compute, name, note if why else None)


def _lower(record: Record, lowering: Lowering, most: int, lacks: str) -> Vectors:
    try:
        recording = record(lowering)
    except Lacking as lacking:
        raise Unavailable(f"{lacks} `{lacking}`") from None
    if len(lowering.steps) > most:
        raise Unavailable(f"the program has more than {most:,} steps")
    return vectors(recording)


# ---- LLVM
_LOADING = threading.Lock()


@cache
def _symbols() -> Callable[[str], bool]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    wide = False
    with suppress(RuntimeError, OSError):
        llvm.load_library_permanently(LIBRARY)
        wide = bool(llvm.get_host_cpu_features().get("avx2"))

    def has(name: str) -> bool:
        # the library of an x86-64 has them though its processor may not; every AArch64 has its own
        return (wide or not name.startswith("_ZGVd")) and bool(llvm.address_of_symbol(name))

    return has


def _llvm_kernel(record: Record, inputs: int, fixed: frozenset[int]) -> Compute:
    import ctypes

    try:
        import llvmlite.binding as llvm
    except ImportError:
        raise Unavailable(needs_data()) from None

    from .llvm import LANES, NATIVE, Llvm

    with _LOADING:
        has = _symbols()
    lowering = Lowering(NATIVE, functions=False, columns=True)
    plan = _lower(record, lowering, MAX_LLVM_STEPS, "no vector library has")
    text = Llvm(plan, fixed, has).module(inputs)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        jit=True,
    )
    with _LOADING:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        engine.finalize_object()
        address = engine.get_function_address("f")
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_int64)(address)

    shared = sorted(fixed)
    separate = [k for k in range(inputs) if k not in fixed]
    places = np.array(shared, np.intp)

    def run(columns: Sequence[Any], results: Any, flags: Any, rows: int) -> None:
        # shared inputs are one array, and results its rows: addresses follow by arithmetic
        numbers = np.array([columns[k] for k in shared], dtype=float)
        read = np.empty(max(1, inputs), np.uint64)
        arrays = (numbers, results, read, flags, *[columns[k] for k in separate])
        first, result, table, flag, *others = [
            array.__array_interface__["data"][0] for array in arrays
        ]
        read[places] = np.uint64(first) + np.arange(len(shared), dtype=np.uint64) * np.uint64(8)
        read[separate] = others
        written = np.uint64(result) + np.arange(len(results), dtype=np.uint64) * np.uint64(
            results.strides[0]
        )
        function(table, written.__array_interface__["data"][0], flag, rows)

    def compute(inputs: Sequence[Any], results: Any, flags: Any) -> None:
        columns = [x if k in fixed else np.ascontiguousarray(x) for k, x in enumerate(inputs)]
        rows = len(flags)
        full = rows // LANES * LANES
        if full:
            run(columns, results, flags, full)
        if full < rows:
            last = [
                column if k in fixed else np.resize(column[full:], LANES)
                for k, column in enumerate(columns)
            ]
            values, flagged = np.empty((len(results), LANES)), np.empty(LANES, bool)
            run(last, values, flagged, LANES)
            results[:, full:], flags[full:] = values[:, : rows - full], flagged[: rows - full]

    compute.engine = engine  # type: ignore[attr-defined]  # the code lives as long as it does
    return compute


# ---- NumPy
NUMPY_OPERATORS: dict[str, Any] = {
    name: getattr(np, theirs)
    for name, theirs in by_library(
        "add subtract=sub multiply=mul divide=div negative=neg less=lt less_equal=le greater=gt"
        " greater_equal=ge equal=eq not_equal=ne logical_and=and_ logical_or=or_ logical_not=not_"
        " rint=round where power=pow"
    ).items()
}

# Functions of floats, faster than formulas with a pass over columns per term.
ONE_BY_ONE = library_names("erf erfc gamma lgamma")

# Operators, and NumPy's own functions: those of SciPy are for exported code.
NUMPY_FORMS = {
    name: form for name, form in language("numpy")["forms"].items() if "scipy" not in str(form)
}


def _numpy_kernel(record: Record) -> Compute:
    lowering = Lowering((*NUMPY_FORMS, *ONE_BY_ONE), functions=False, columns=True)
    plan = _lower(record, lowering, MAX_COLUMN_STEPS, "NumPy has no")
    # columns are given up where they are used last
    last = {a: step for step in plan.steps for a in step.args}
    kept = {
        a
        for step, _ in plan.checks
        for a in (step, *(step.args if step.name in CONDITIONS else ()))
    }
    kept |= {*plan.results, *[condition for _, condition in plan.checks]}
    calls = []
    for step in plan.steps:
        done = [a for a in dict.fromkeys(step.args) if a.args and a not in kept and last[a] is step]
        calls.append((_function(step), step, done))
    work = threading.local()

    def block(inputs: Sequence[Any], results: Any, flags: Any) -> None:
        # columns of the block before hold their memory until it is needed again
        values: dict[Any, Any] = work.__dict__

        def value(step: Step) -> Any:
            if step.name == "input":
                return inputs[step.data]
            return step.data if step.name == "number" else values[step]

        with np.errstate(all="ignore"):
            for function, step, done in calls:
                values[step] = function(*map(value, step.args))
                for a in done:
                    del values[a]
            total = np.zeros(len(flags))
            for column in inputs:
                total += column
            flags[:] = False
            for result, step in zip(results, plan.results, strict=True):
                np.add(value(step), 0.0, out=result)
                total += result
            for step, condition in plan.checks:
                where = value(condition)
                if step.name in CONDITIONS:
                    x, y = map(value, step.args)
                    differ = np.abs(np.subtract(x, y)) > 0.0
                    np.logical_or(flags, np.logical_and(np.logical_not(differ), where), out=flags)
                else:
                    np.add(total, value(step), out=total, where=where)
            total -= total
            np.logical_or(flags, total != 0.0, out=flags)

    def compute(inputs: Sequence[Any], results: Any, flags: Any) -> None:
        for start in range(0, len(flags), NUMPY_BLOCK_ROWS):
            part = slice(start, start + NUMPY_BLOCK_ROWS)
            columns = [x[part] if isinstance(x, np.ndarray) else x for x in inputs]
            block(columns, results[:, part], flags[part])

    return compute


def _function(step: Step) -> Callable[..., Any]:
    name = step.name
    if name in NUMPY_OPERATORS:
        return NUMPY_OPERATORS[name]  # type: ignore[no-any-return]
    if name == "atan2":
        return lambda y, x: np.arctan2(y + 0.0, x + 0.0)  # a zero has no sign
    if name in ONE_BY_ONE:
        return _one_by_one(getattr(REAL, name))
    function: Callable[..., Any] = getattr(np, NUMPY_FORMS[name].removeprefix("np."))
    return function


def _one_by_one(function: Callable[[float], float]) -> Callable[[Any], Any]:

    def value(x: float) -> float:
        try:
            return function(x)
        except (ValueError, ArithmeticError):
            return math.nan

    return lambda x: np.array([value(element) for element in np.atleast_1d(x).tolist()], float)


# ---- rows
class Block(NamedTuple):
    """The results of a block of rows."""

    results: Any
    """An array with a row for each result: value, then derivatives; nan for none."""
    asked: list[int]
    """Rows that were computed one by one, in order."""
    errors: dict[int, ExpressionError]


# Returns all results at a point, with names in the program's order, by the interpreter.
#
# Raises `ExpressionError`.
Plain = Callable[[Mapping[str, float]], Sequence[float]]

# Returns the errors of `Plain` at points given by finite columns.
RowErrors = Callable[[Sequence[Sequence[float]]], Mapping[int, ExpressionError]]


def evaluate(
    kernel: Kernel,
    names: Sequence[str],
    columns: Sequence[Any],
    rows: int,
    count: int,
    plain: Plain,
    missing: Callable[[int, str], ExpressionError | None],
    memory: Any = None,
    refused: RowErrors | None = None,
) -> Block:
    """Compute `count` results at every row; an input is a column (nan if missing) or a number.

    `missing` returns the error of a variable that is not finite at a row. The results fill
    `memory`, if given. Raises `BudgetExceeded`.
    """
    results = np.ndarray((count, rows), float, memory)
    flags = np.ones(rows, bool)
    if kernel.compute is not None:
        kernel.compute(columns, results, flags)
    flagged = np.flatnonzero(flags)
    asked = flagged.tolist()
    errors: dict[int, ExpressionError] = {}
    if not asked:
        return Block(results, asked, errors)
    inputs = [np.broadcast_to(column, rows)[flagged] for column in columns]
    points = np.array(inputs, float).reshape(len(columns), len(asked))
    finite = np.isfinite(points).all(axis=0)
    refusals: Mapping[int, ExpressionError] = {}
    if refused is not None and kernel.compute is not None:
        refusals = refused(points[:, finite].tolist())
    faults = dict(zip(flagged[finite][list(refusals)].tolist(), refusals.values(), strict=True))
    answers: dict[int, Sequence[float]] = {}
    for row, numbers, is_finite in zip(asked, points.T.tolist(), finite.tolist(), strict=True):
        if row in faults:
            errors[row] = faults[row]
            continue
        point = dict(zip(names, numbers, strict=True))
        try:
            for name, x in () if is_finite else point.items():
                if x - x != 0.0 and (error := missing(row, name)) is not None:
                    raise error
            answers[row] = plain(point)
        except ExpressionError as error:
            # its context and traceback would keep a graph alive
            error.__context__ = None
            errors[row] = error.with_traceback(None)
        gc_collect()
    results[:, flagged] = np.nan
    if answers:
        results[:, list(answers)] = np.array(list(answers.values())).T
    return Block(results, asked, errors)


class ProgramOverRows:
    """The outputs of a program and their derivatives by `wrt` at all rows, which share the inputs
    `constant`.
    """

    def __init__(
        self,
        program: Program,
        wrt: Sequence[str] = (),
        constant: Collection[str] = (),
        backend: str | None = None,
    ) -> None:
        self.program, self.names, self.wrt, leaves = (
            program,
            list(program.leaves),
            wrt,
            program.leaf_places(),
        )
        fixed = frozenset(k for k, name in enumerate(self.names) if name in constant)
        record = (
            gradient_recorder(program, wrt)
            if wrt
            else lambda m: record_values(program.graph, leaves, m)
        )
        self.kernel = kernel(record, len(self.names), fixed, backend)

    @cached_property
    def evaluators(self) -> list[Evaluator]:
        program = self.program
        return [
            Evaluator(program.with_outputs((root,), program.text), self.wrt)
            for root in program.roots
        ]

    def __call__(self, inputs: Mapping[str, Any], rows: int) -> Block:
        """Return the values, then the derivatives of each output. Raises `BudgetExceeded`."""
        arrays = map(inputs.__getitem__, self.names)
        columns = [
            x if isinstance(x, float | np.ndarray) else np.array(x, dtype=float) for x in arrays
        ]
        count = len(self.program.roots) * (1 + len(self.wrt))
        return evaluate(
            self.kernel, self.names, columns, rows, count, self._plain, lambda row, name: None
        )

    def _plain(self, point: Mapping[str, float]) -> list[float]:
        numbers = [*point.values()]
        if not self.wrt:
            return [evaluator.value(numbers) for evaluator in self.evaluators]
        answers = [evaluator(numbers) for evaluator in self.evaluators]
        return [value for value, _ in answers] + [
            slope for _, slopes in answers for slope in slopes
        ]
