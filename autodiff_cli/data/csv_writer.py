"""Lines of cells from columns, a block of rows at a time, in machine code; or where that cannot be had, by pyarrow.

Numbers are the shortest text that reads back as the same double, spelled as Python does. The digits are those of the
C++ library's `std::to_chars`; what stands between them is a pattern, which is printed for LLVM.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .rows import doubles

SLICE = 4096
"""Rows that are written at a time: what they become stays in the processor's cache."""

LIBRARY = "libstdc++.so.6"
MACHINES = ("x86_64", "aarch64")
"""Where a pair of a pointer and a number comes back in registers."""

SHORTEST = "_ZSt8to_charsPcS_dSt12chars_format"
"""`std::to_chars(char*, char*, double, std::chars_format)`."""

LONGEST = 26
"""Characters of a number, at most, and what is written behind them before it is known to be too much."""


class Number(NamedTuple):
    """The cell of a column of doubles."""

    column: int


class Text(NamedTuple):
    """The cell of a column of texts, as it is written."""

    column: int


Piece = str | Number | Text
"""A part of a line: what is the same in all of them, or a cell."""

Lines = Callable[[Sequence[Any], Sequence[Any], Any], Iterator[Any]]
"""From columns of doubles, columns of texts without null, and flags of rows: bytes, some rows at a time.

A row that is flagged is written by the second pattern, the others by the first."""


def lines(good: Sequence[Piece], bad: Sequence[Piece]) -> Lines:
    """What writes rows by two patterns, the fastest that there is."""
    import ctypes

    from ..batched.kernels import compiled, has_symbol

    if not (hasattr(os, "uname") and os.uname().machine in MACHINES and has_symbol(LIBRARY, SHORTEST)):
        return lambda numbers, texts, flags: _joined(good, bad, numbers, texts, flags)
    engine, address = compiled(_module(good, bad))
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer, ctypes.c_int64, pointer)(address)
    pieces = (*good, *bad)
    fixed = sum(len(piece.encode()) for piece in pieces if isinstance(piece, str))
    digits = LONGEST * sum(isinstance(piece, Number) for piece in pieces)
    carried = [piece.column for piece in pieces if isinstance(piece, Text)]

    def written(numbers: Sequence[Any], texts: Sequence[Any], flags: Any) -> Iterator[Any]:
        import numpy as np

        values = [np.frombuffer(x.buffers()[1], np.float64, len(x), 8 * x.offset) for x in numbers]
        ends = [np.frombuffer(x.buffers()[1], np.int32, len(x) + 1, 4 * x.offset) for x in texts]
        begins = [x.buffers()[2].address if x.buffers()[2] is not None else 0 for x in texts]
        space = np.empty(0, np.uint8)
        for start in range(0, len(flags), SLICE):
            rows = min(SLICE, len(flags) - start)
            size = rows * (fixed + digits) + sum(int(ends[k][start + rows] - ends[k][start]) for k in carried)
            if size > len(space):
                space = np.empty(size, np.uint8)
            places = [x[start:].ctypes.data for x in values]
            for end, begin in zip(ends, begins, strict=True):
                places += end[start:].ctypes.data, begin
            read = np.array([*places, 0], np.uint64)
            yield space[: function(read.ctypes.data, flags[start:].ctypes.data, rows, space.ctypes.data)]

    written.engine = engine  # type: ignore[attr-defined]  # the code lives as long as it does
    return written


# ---- machine code -------------------------------------------------------------------------------------------------
_NUMBER = """
declare { ptr, i32 } @SHORTEST(ptr, ptr, double, i32)
declare double @llvm.fabs.f64(double)
declare double @llvm.trunc.f64(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal ptr @number(ptr %to, double %x) noinline {
  %size = call double @llvm.fabs.f64(double %x)
  %below = fcmp olt double %size, 1.0e-4
  %some = fcmp one double %size, 0.0
  %small = and i1 %below, %some
  %large = fcmp oge double %size, 1.0e16
  %exponent = or i1 %small, %large
  %form = select i1 %exponent, i32 1, i32 2
  %end = getelementptr i8, ptr %to, i64 24
  %found = call { ptr, i32 } @SHORTEST(ptr %to, ptr %end, double %x, i32 %form)
  %last = extractvalue { ptr, i32 } %found, 0
  %trunc = call double @llvm.trunc.f64(double %x)
  %whole = fcmp oeq double %trunc, %x
  %none = xor i1 %exponent, true
  %bare = and i1 %whole, %none
  store i8 46, ptr %last
  %second = getelementptr i8, ptr %last, i64 1
  store i8 48, ptr %second
  %third = getelementptr i8, ptr %last, i64 2
  %next = select i1 %bare, ptr %third, ptr %last
  ret ptr %next
}
""".replace("SHORTEST", SHORTEST)
"""Writes a number, by an exponent where Python writes one, and `.0` where else it would look like an integer."""


def _module(good: Sequence[Piece], bad: Sequence[Piece]) -> str:
    """`i64 f(ptr columns, ptr flags, i64 rows, ptr to)` as text: how many bytes it has written."""
    count = 1 + max((piece.column for piece in (*good, *bad) if isinstance(piece, Number)), default=-1)
    return "\n".join([
        _NUMBER,
        "define i64 @f(ptr %columns, ptr %flags, i64 %rows, ptr %to) {",
        "entry:",
        "  %some = icmp sgt i64 %rows, 0",
        "  br i1 %some, label %row, label %end",
        "row:",
        "  %k = phi i64 [0, %entry], [%next, %done]",
        "  %at = phi ptr [%to, %entry], [%last, %done]",
        "  %place = getelementptr i8, ptr %flags, i64 %k",
        "  %flag = load i8, ptr %place",
        "  %is = icmp ne i8 %flag, 0",
        "  br i1 %is, label %bad, label %good",
        "good:", *_written(good, "g", count), "  br label %done",
        "bad:", *_written(bad, "b", count), "  br label %done",
        "done:",
        f"  %last = phi ptr [%g{len(good)}, %good], [%b{len(bad)}, %bad]",
        "  %next = add i64 %k, 1",
        "  %more = icmp slt i64 %next, %rows",
        "  br i1 %more, label %row, label %end",
        "end:",
        "  %stop = phi ptr [%to, %entry], [%last, %done]",
        "  %from = ptrtoint ptr %to to i64",
        "  %until = ptrtoint ptr %stop to i64",
        "  %size = sub i64 %until, %from",
        "  ret i64 %size",
        "}", "",
    ])  # fmt: skip


def _written(pieces: Sequence[Piece], name: str, count: int) -> Iterator[str]:
    """One row by a pattern, whose pieces end at places called by this name; `count` columns are numbers."""
    yield f"  %{name}0 = getelementptr i8, ptr %at, i64 0"
    for k, piece in enumerate(pieces):
        here, after = f"%{name}{k}", f"%{name}{k + 1}"
        own = f"%{name}{k}."
        if isinstance(piece, str):
            data = piece.encode()
            for j, byte in enumerate(data):
                yield f"  {own}{j} = getelementptr i8, ptr {here}, i64 {j}"
                yield f"  store i8 {byte}, ptr {own}{j}"
            yield f"  {after} = getelementptr i8, ptr {here}, i64 {len(data)}"
            continue
        column = piece.column if isinstance(piece, Number) else count + 2 * piece.column
        yield f"  {own}place = getelementptr ptr, ptr %columns, i64 {column}"
        yield f"  {own}column = load ptr, ptr {own}place"
        if isinstance(piece, Number):
            yield f"  {own}cell = getelementptr double, ptr {own}column, i64 %k"
            yield f"  {own}x = load double, ptr {own}cell"
            yield f"  {after} = call ptr @number(ptr {here}, double {own}x)"
            continue
        yield f"  {own}texts = getelementptr ptr, ptr %columns, i64 {column + 1}"
        yield f"  {own}data = load ptr, ptr {own}texts"
        yield f"  {own}from = getelementptr i32, ptr {own}column, i64 %k"
        yield f"  {own}until = getelementptr i32, ptr {own}from, i64 1"
        yield f"  {own}first = load i32, ptr {own}from"
        yield f"  {own}last = load i32, ptr {own}until"
        yield f"  {own}less = sub i32 {own}last, {own}first"
        yield f"  {own}size = zext i32 {own}less to i64"
        yield f"  {own}start = zext i32 {own}first to i64"
        yield f"  {own}text = getelementptr i8, ptr {own}data, i64 {own}start"
        yield f"  call void @llvm.memcpy.p0.p0.i64(ptr {here}, ptr {own}text, i64 {own}size, i1 false)"
        yield f"  {after} = getelementptr i8, ptr {here}, i64 {own}size"


# ---- pyarrow ------------------------------------------------------------------------------------------------------
def _joined(
    good: Sequence[Piece], bad: Sequence[Piece], numbers: Sequence[Any], texts: Sequence[Any], flags: Any
) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(flags):
        return
    shown = [spelled(column) for column in numbers]

    def by(pattern: Sequence[Piece]) -> Any:
        cells = [
            piece if isinstance(piece, str) else (shown if isinstance(piece, Number) else texts)[piece.column]
            for piece in pattern
        ]
        return pc.binary_join_element_wise(*cells, "")

    found = by(good)
    if flags.any():
        found = pc.if_else(pa.array(np.asarray(flags, bool)), by(bad), found)
    ends = np.frombuffer(found.buffers()[1], np.int32, len(found) + 1, 4 * found.offset)
    yield memoryview(found.buffers()[2])[ends[0] : ends[-1]]


def spelled(column: Any) -> Any:
    """Numbers as Python spells them; where there is none, an empty text."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    x = doubles(column)
    # which pyarrow may spell otherwise; it gives the same digits
    size = np.abs(x)
    with np.errstate(invalid="ignore"):
        other = ((size < 1e-4) | (size >= 1e9) | (x == np.trunc(x))) & np.isfinite(x)
    found = pc.fill_null(pc.cast(column, pa.string()), "")
    if other.any():
        texts = pa.array([repr(each) for each in x[other].tolist()], pa.string())
        found = pc.replace_with_mask(found, pa.array(other), texts)
    return found
