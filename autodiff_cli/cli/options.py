"""The values of options that commands take together: a tuple for each group of `commands.txt`."""

from __future__ import annotations

from typing import NamedTuple

from ..record import Record
from ..views.numerals import rounding


class Program(NamedTuple):
    """The program, its point, the variables to differentiate by, and how strictly it is read."""

    expr: str | None = None
    at: list[str] | None = None
    wrt: list[str] | None = None
    constants: list[str] | None = None
    lenient: bool = False


class Answers(NamedTuple):
    """The source of the program, and the format and destination of its answer."""

    file: str | None = None
    format: str | None = None
    json: bool = False
    output: str | None = None
    force: bool = False
    digits: int | None = None
    decimals: int | None = None
    on_error: str | None = None

    @property
    def shown(self) -> int | None:
        """The rounding of numbers in tables, as views take it. Raises a usage error where two options set it."""
        return rounding(self.digits, self.decimals)


class Saves(NamedTuple):
    """The files that a run or a search writes besides its answer."""

    save_point: str | None = None
    save_path: str | None = None


class Numbers(NamedTuple):
    """The arithmetic; the arguments of `inputs.arithmetic.chosen`."""

    exact: bool = False
    precision: int | None = None
    certified: bool = False


class Dialect(Record):
    """How files of data are written, where they do not show it."""

    input_format: str | None = None
    separator: str | None = None
    decimal: str | None = None
    skip: int | None = None
    encoding: str | None = None
    comment: str | None = None


class Rows(Dialect):
    """The rows of data files, and those of sweeps, as points."""

    points: list[str] | None = None
    columns: list[str] | None = None
    keep: list[str] | None = None
    keep_all: bool = False
    wide: bool = False
    backend: str | None = None
    spreadsheet: bool = False
    engine: str | None = None
    scheduler: str | None = None
    workers: int | None = None
    zip: bool = False


class Loss(Dialect):
    """The rows of data over which a formula is added up or averaged."""

    data: list[str] | None = None
    reduce: str | None = None
    columns: list[str] | None = None
    backend: str | None = None


GROUPS: dict[str, type[Program | Answers | Saves | Numbers | Rows | Loss | Dialect]] = {
    "program": Program,
    "answers": Answers,
    "saves": Saves,
    "numbers": Numbers,
    "rows": Rows,
    "loss": Loss,
    "dialect": Dialect,
}
"""The groups, by their names in `commands.txt`."""
