"""`--points`: one program at every row of a data file, whose header says which column is which variable."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import BinaryIO, NamedTuple

from ..errors import ExpressionError
from ..questions import reading
from ..questions.point import constant_value, is_name, point_of_object, read_json
from ..questions.problem import parse, single_output, wanted_variables
from ..views.formats import Asked, View, writer
from .driver import Answer, Inputs, Method, answer_requests, is_file
from .requests import Request, default_point, lines, names, standard_input, whole

Row = tuple[int, Mapping[str, object], ExpressionError | None]
"""Its line in the file, its cells by column, and what is wrong with it as a whole."""


class Data(NamedTuple):
    """What the options say about the data file."""

    path: str
    keep: tuple[str, ...]
    fail: bool


def given(path: str | None, keep: list[str] | None, on_error: str | None) -> Data | None:
    """The data file that the options name, if any. Raises a usage error."""
    if on_error not in (None, "skip", "fail"):
        raise ExpressionError("usage", f"`--on-error` cannot be `{on_error}`", hint="it is `skip` or `fail`")
    if path is None:
        if keep or on_error:
            option = "--keep" if keep else "--on-error"
            raise ExpressionError("usage", f"`{option}` is about the rows of `--points`", hint="give a data file too")
        return None
    kept = [name.strip() for option in keep or () for name in option.split(",")]
    return Data(path, tuple(dict.fromkeys(kept)), on_error == "fail")


# ---- the rows of a file -------------------------------------------------------------------------------------------
def table(file: BinaryIO, path: str, idle: Callable[[], None] | None) -> tuple[list[str] | None, Iterator[Row]]:
    """The names in the header, None where each row names its own, and the rows, read as they are asked for."""
    texts = _texts(file, idle)
    first = next(texts, None)
    while first is not None and first[2] is None and not first[1].strip():
        first = next(texts, None)
    if first is None:
        name = "standard input" if path == "-" else f"`{path}`"
        raise ExpressionError("point", f"{name} is empty", hint="its first line names the columns: `x,y`")
    if path.endswith((".jsonl", ".ndjson", ".json")) or (path == "-" and first[1].lstrip().startswith("{")):
        return None, _objects(first, texts)
    tabs = path.endswith((".tsv", ".tab")) or (not path.endswith(".csv") and "\t" in first[1])
    try:
        if first[2] is not None:
            raise first[2]
        header = _separated(first[1], texts, "\t" if tabs else ",")
    except ExpressionError as fault:
        placed = ExpressionError("point", f"in the header: {fault}", fault.span, fault.hint)
        placed.text = fault.text
        raise placed from None
    columns = [cell.strip() for cell in header]
    if len(columns) == 1 and ";" in columns[0]:
        raise ExpressionError(
            "point", f"the header is one column, `{columns[0]}`", hint="put commas between the columns, or tabs"
        )
    return unique(columns), _cells(columns, texts, "\t" if tabs else ",")


def unique(columns: list[str]) -> list[str]:
    """The same columns. Raises `ExpressionError` where two have one name."""
    for column, times in Counter(columns).items():
        if times > 1:
            raise ExpressionError("point", f"the data has two columns `{column}`", hint="rename one of them")
    return columns


def _texts(file: BinaryIO, idle: Callable[[], None] | None) -> Iterator[tuple[int, str, ExpressionError | None]]:
    for number, data in enumerate(lines(file, idle), start=1):
        if data is None:
            error = ExpressionError(
                "limit", f"the line is longer than {reading.LIMIT:,} bytes", hint="use shorter lines"
            )
            yield number, "", error
        else:
            text, fault = reading.decode(data.removesuffix(b"\r"), first=number == 1)
            if fault is not None:
                fault.text = text
            yield number, text, fault


def _separated(text: str, texts: Iterator[tuple[int, str, ExpressionError | None]], separator: str) -> list[str]:
    """The cells of a row, which takes further lines while a quoted cell is open.

    Raises `ExpressionError` for what is wrong with them.
    """
    if '"' not in text:
        return text.split(separator)
    size = len(text)
    parts = [text]
    open_quote = text.count('"') % 2
    fault: ExpressionError | None = None
    while open_quote and size <= reading.LIMIT and (more := next(texts, None)) is not None:
        parts.append(more[1])
        size += len(more[1])
        fault = fault or more[2]
        open_quote ^= more[1].count('"') % 2
    if fault is not None:
        raise fault
    try:
        return next(csv.reader(["\n".join(parts)], delimiter=separator))
    except csv.Error as unread:
        raise ExpressionError("point", f"the row cannot be read: {unread}", hint="check its quotes") from None


def _cells(
    columns: Sequence[str], texts: Iterator[tuple[int, str, ExpressionError | None]], separator: str
) -> Iterator[Row]:
    count = len(columns)
    for number, text, fault in texts:
        if fault is not None:
            yield number, {}, fault
        elif text.strip():
            try:
                cells = _separated(text, texts, separator)
            except ExpressionError as spoilt:
                yield number, {}, spoilt
                continue
            if len(cells) == count:
                yield number, dict(zip(columns, cells, strict=True)), None
            else:
                message = f"the row has {len(cells)} cells, and the header {count}"
                yield number, {}, ExpressionError("point", message, hint="check its separators and quotes")


def _objects(
    first: tuple[int, str, ExpressionError | None], texts: Iterator[tuple[int, str, ExpressionError | None]]
) -> Iterator[Row]:
    line: tuple[int, str, ExpressionError | None] | None = first
    while line is not None:
        number, text, error = line
        cells: Mapping[str, object] = {}
        if error is None and text.strip():
            try:
                value, error = read_json(text)
                if not isinstance(value, Mapping):
                    raise ExpressionError("point", "the row is not an object", hint='write it as {"x": 3, "y": 1}')
                cells = value
            except ExpressionError as fault:
                error = fault
        if error is not None or text.strip():
            yield number, cells, error
        line = next(texts, None)


# ---- the answers --------------------------------------------------------------------------------------------------
def answer_rows(inputs: Inputs, data: Data, method: Method[Answer], view: View[Answer]) -> int:
    """Answer the program at every row; return the exit code."""
    text = _program(inputs, data)
    chosen = inputs.format or "jsonl"
    if chosen in ("csv", "tsv"):
        clash = [name for name in data.keep if name in view.columns and name != "id"]
        if clash:
            hint = "`--format jsonl` keeps them apart"
            raise ExpressionError("usage", f"there is a column `{clash[0]}` in the answers already", hint=hint)
        view = view._replace(columns=(*view.columns, *(name for name in data.keep if name not in view.columns)))
    out = writer(chosen, sys.stdout, view, True)
    with ExitStack() as stack:
        if data.path == "-":
            file = standard_input()
            flush = not (is_file(sys.stdin) and not sys.stdout.isatty())
        else:
            try:
                file = stack.enter_context(open(data.path, "rb"))
            except OSError as fault:
                message = f"`{data.path}` cannot be read: {fault.strerror}"
                raise ExpressionError("io", message, hint="check the path") from None
            flush = sys.stdout.isatty()
        columns, rows = table(file, data.path, out.out.flush if flush else None)
        asked = _Rows(text, inputs, data, columns)
        return answer_requests(asked.requests(rows), method, out, flush, fail=data.fail)


def _program(inputs: Inputs, data: Data) -> str:
    """The one program that the rows are points of."""
    if inputs.file is not None and inputs.expr is not None:
        raise ExpressionError("usage", "there is an expression as well as `--file`", hint="leave one of them out")
    if inputs.file is not None:
        if inputs.file == data.path == "-":
            raise ExpressionError("usage", "`--file` and `--points` both read standard input", hint="name a file")
        text, fault = whole(inputs.file)
        if fault is not None:
            fault.text = text
            raise fault
        return text
    if inputs.expr in (None, "-"):
        raise ExpressionError("usage", "`--points` needs a program", hint="give it as an argument, or with `--file`")
    assert inputs.expr is not None
    return inputs.expr


class _Rows:
    """The rows as requests."""

    def __init__(self, text: str, inputs: Inputs, data: Data, columns: Sequence[str] | None) -> None:
        self.text, self.data = text, data
        self.constants = default_point(inputs.at)
        self.wrt = names(inputs.wrt)
        self.used: list[str] | None = None if columns is None else self.begin(columns)

    def begin(self, columns: Sequence[str]) -> list[str]:
        """The columns that the program uses, now that it is known which names have values."""
        for name in self.data.keep:
            if name not in columns:
                listed = ", ".join(f"`{column}`" for column in columns)
                raise ExpressionError("usage", f"there is no column `{name}` to keep", hint=f"there are {listed}")
        given = [*(column for column in columns if is_name(column)), *self.constants]
        try:
            variables = self.variables(given)
        except ExpressionError as error:
            error.text = self.text if error.text is None else error.text
            raise
        for name in variables:
            if name in columns and name in self.constants:
                message = f"`{name}` is given a value by `--at`, and is a column of the data"
                raise ExpressionError("point", message, hint="leave one of them out")
        return [name for name in variables if name in columns]

    def variables(self, given: Sequence[str]) -> Sequence[str]:
        """The names whose values the program needs. Raises `ExpressionError` where that does not fit what is given."""
        program = parse(self.text, given)
        single_output(program)
        missing = [name for name in program.variables if name not in given]
        if missing:
            raise ExpressionError(
                "missing_value", f"`{missing[0]}` has no value", program.variables[missing[0]].span,
                f"add a column `{missing[0]}` to the data, or give it to all rows: `--at {missing[0]}=…`",
            )  # fmt: skip
        for binding in program.bindings:
            if binding.name in given:
                raise ExpressionError(
                    "point", f"`{binding.name}` is given a value by the data, and bound by the program",
                    binding.value.span, "rename one of them",
                )  # fmt: skip
        wanted_variables(program, dict.fromkeys(given, 0.0), self.wrt)
        return list(program.variables)

    def requests(self, rows: Iterator[Row]) -> Iterator[Request]:
        """What to answer, row by row."""
        keep, wrt, text = self.data.keep, self.wrt, self.text
        for line, cells, error in rows:
            if self.used is None:
                self.used = self.begin(list(cells))
            kept = {name: cells.get(name) for name in keep} if keep else None
            asked = Asked(text, line, None, kept)
            try:
                if error is not None:
                    raise error
                point = {**self.constants, **{name: value(name, cells.get(name)) for name in self.used}}
            except ExpressionError as fault:
                fault.text = fault.text or ""
                yield Request(asked, text, {}, None, fault)
                continue
            yield Request(asked, text, point, wrt)


def value(name: str, cell: object) -> float:
    """The number in a cell: a constant expression as text, or a number of JSON.

    It remembers its text, for other arithmetics. Raises `ExpressionError` naming the column.
    """
    try:
        if isinstance(cell, str):
            if not cell.strip():
                raise ExpressionError("point", "it is empty", hint="give a number")
            return constant_value(name, cell.strip())
        return point_of_object({name: cell})[name]
    except ExpressionError as error:
        raise ExpressionError("point", f"column `{name}`: {error}", hint=error.hint) from None
