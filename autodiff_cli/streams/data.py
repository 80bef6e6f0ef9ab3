"""`--points`: one program at every row of a data file, whose header says which column is which variable."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from ..errors import ExpressionError
from ..questions.point import constant_value, is_name, point_of_object
from ..questions.problem import parse, single_output, wanted_variables
from ..views.formats import Asked, View, writer
from .driver import Answer, Inputs, Method, answer_requests, is_file
from .requests import Request, default_point, names, standard_input, whole
from .textrows import Row, table


class Data(NamedTuple):
    """What the options say about the data file."""

    path: str
    keep: tuple[str, ...]
    spreadsheet: bool


def given(path: str | None, keep: list[str] | None, spreadsheet: bool) -> Data | None:
    """The data file that the options name, if any. Raises a usage error."""
    if path is None:
        if keep or spreadsheet:
            option = "--keep" if keep else "--spreadsheet"
            raise ExpressionError("usage", f"`{option}` is about the rows of `--points`", hint="give a data file too")
        return None
    kept = [name.strip() for option in keep or () for name in option.split(",")]
    return Data(path, tuple(dict.fromkeys(kept)), spreadsheet)


# ---- the answers --------------------------------------------------------------------------------------------------
def answer_rows(inputs: Inputs, data: Data, method: Method[Answer], view: View[Answer]) -> int:
    """Answer the program at every row; return the exit code."""
    text = _program(inputs, data)
    inputs = inputs._replace(expr=None, file=None)
    chosen = inputs.chosen(view.formats)
    if chosen in ("csv", "tsv"):
        clash = [name for name in data.keep if name in view.columns and name != "id"]
        if clash:
            hint = "`--format jsonl` keeps them apart"
            raise ExpressionError("usage", f"there is a column `{clash[0]}` in the answers already", hint=hint)
        view = view._replace(columns=(*view.columns, *(name for name in data.keep if name not in view.columns)))
    output = inputs.out()
    out = writer(chosen, output.stream, view, True, spreadsheet=data.spreadsheet)
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
        return output.finish(answer_requests(asked.requests(rows), method, out, flush, fail=inputs.fail), whole=True)


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
