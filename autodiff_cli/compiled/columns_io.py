"""Columns as variables: a program's names among columns, and rows without values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from ..errors import (
    Diagnostic,
    ExpressionError,
    closest,
    point_error,
    quote,
    spelling_hint,
    usage_error,
)
from ..language.builder import Program
from ..language.diagnostics.leniency import AsRead, read_leniently
from ..language.elements import element_name
from ..language.tokens import names_in
from ..questions.optional_units import heading, names_in_headings
from ..questions.parse_point import is_name
from ..questions.problem import check_single, parse, split_name_offers, wanted_variables

# Maximum number of variables for second derivatives in blocks; else row by row.
MAX_IN_BLOCKS = 16


class Fitted(NamedTuple):
    """A program whose variables all have values, by columns or as constants."""

    program: Program
    variables: tuple[str, ...]
    wanted: tuple[str, ...]
    reading: AsRead | None = None
    """The corrected program; None if it was read as typed."""
    unknowns: tuple[str, ...] = ()


def program_over(
    text: str,
    columns: Sequence[str],
    constants: Mapping[str, float],
    wrt: Sequence[str] | None,
    *,
    outputs: bool = False,
    lenient: bool = False,
) -> Fitted:
    """Return the program of a text over columns; `constants` hold for all rows.

    With `outputs` it may have several; with `lenient` it is read as its refusal offers.
    """
    if lenient:
        fit, reading = read_leniently(
            text, lambda read: program_over(read, columns, constants, wrt, outputs=outputs)
        )
        return fit._replace(reading=reading)
    columns = without_unused_lists(text, columns, constants)
    known_names = [*(column for column in columns if is_name(column)), *constants]
    program = parse(text, known_names, units=True)
    if not outputs:
        check_single(program)
    _check_names(program, columns, constants, known_names)
    wanted = wanted_variables(program, dict.fromkeys(known_names, 0.0), wrt)
    # a column that the program does not use is not read
    unused = [name for name in program.unused_entries if name not in columns]
    if wrt is None:
        wanted = [name for name in wanted if name in program.leaves or name in unused]
    return Fitted(program, (*program.leaves, *unused), tuple(wanted))


def _check_names(
    program: Program,
    columns: Collection[str],
    constants: Collection[str],
    known_names: Sequence[str],
) -> None:
    """Raise an error if a variable has no value or two, or if a name that is bound has one."""
    missing = [name for name in program.leaves if name not in known_names]
    if missing:
        offers = split_name_offers(program, missing, known_names)
        raise ExpressionError(
            "missing_value",
            f"`{missing[0]}` has no value",
            program.all_nodes.span(program.leaves[missing[0]]),
            missing_hint(missing[0], [*columns])
            + (f"; or write {spelling_hint(offers)}" if offers else ""),
            offers=offers,
        )
    for name, _, i in program.bound:
        if name in known_names:
            message = f"`{name}` is a column of the data, and the program binds it"
            raise point_error(message, "rename one of the two", program.all_nodes.span(i))
    for name in program.leaves:
        if name in columns and name in constants:
            message = f"`{name}` has a value in `--at`, and is a column of the data"
            hint = f"leave it out of `--at`; or rename the column: `--columns {name}_column={name}`"
            raise point_error(message, hint)


def missing_hint(name: str, columns: Sequence[str]) -> str:
    """Return a hint for a name without a value: a similar column, or all columns."""
    near = next((column for column in columns if look(column).lower() == look(name).lower()), None)
    near = near or next(
        (column for column in columns if name.lower() in map(str.lower, heading(column)[0])), None
    )
    near = near or closest(name, list(columns))
    mapped = f"{name}={near}" if near is None or is_name(near) else f'"{name}={near}"'
    mapped = f", or take another: `--columns {mapped}`" if near else ""
    if not near and columns:
        mapped = f"; its columns are {list_columns(columns)}"
        mapped += f": `--columns {name}={columns[0]}`" if all(map(is_name, columns)) else ""
    add = f"add a column `{name}` to the data"
    if columns and all(map(_NUMERAL.fullmatch, columns)):
        add, mapped = (
            f"name the columns in the first line of the data, which is `{','.join(columns)}`",
            "",
        )
    return f"{add}, or give it to all rows: `--at {name}=…`{mapped}"


def check_type(name: str, kind: Any) -> None:
    """Raise a `point` error for a column of a type that holds no numbers."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    ):
        return
    text = types.is_string(kind) or types.is_large_string(kind) or kind in ("string_view",)
    what = (
        "text"
        if text
        else "truth values"
        if types.is_boolean(kind)
        else f"values of the type {kind}"
    )
    hint = (
        "convert it to a number type where the data are made, or map another column: `--columns"
        " x=NAME`"
    )
    raise point_error(f"column `{name}` holds {what}, and a variable needs numbers", hint)


def common_length(columns: Mapping[str, Any]) -> int:
    """Return the common number of rows. Raises `ExpressionError` if they differ."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len({*lengths.values()}) > 1:
        listed = ", ".join(f"`{name}` {length:,}" for name, length in lengths.items())
        raise point_error(
            f"the columns are not of the same length: {listed}", "make their lengths equal"
        )
    return max(lengths.values(), default=0)


def unique(columns: Sequence[str]) -> None:
    """Raise `ExpressionError` if two columns have the same name."""
    seen = set()
    for column in columns:
        if column in seen:
            raise point_error(f"the data has two columns `{column}`", "rename one of them")
        seen.add(column)


def kept_columns(keep: Sequence[str] | bool, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to copy, all for True. Raises a usage error for a missing one."""
    if keep is True:
        return tuple(columns)
    for name in keep or ():
        if name not in columns:
            raise no_column(name, columns, "to keep")
    return tuple(dict.fromkeys(keep or ()))


def mapped_columns(
    columns: Mapping[str, str], names: Sequence[str], other: Collection[str] = ()
) -> dict[str, str]:
    """Return the column of each name: the given ones, else those of the same name.

    A heading such as `U [V]` also stands for its name, unless that is one of the `other` names.
    """
    inner = {} if all(map(is_name, names)) else names_in_headings(names)
    columns = {
        name: theirs if theirs in names else inner.get(theirs, theirs)
        for name, theirs in columns.items()
    }
    for theirs in columns.values():
        if theirs not in names:
            raise no_column(theirs, names, "to read")
    hidden = set(columns.values())
    own = {name: name for name in names if name not in hidden} | dict(columns)
    free = {
        name: theirs
        for name, theirs in inner.items()
        if theirs not in hidden and name not in (*own, *other)
    }
    mapped = own | free
    check_looks(mapped)
    return mapped | {entry: mapped[name] for entry, name in list_entries(mapped).items()}


def look(name: str) -> str:
    """Return how a name looks: names that differ only in encoding, as the micro sign and mu, have
    one look.
    """
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFKC", name)


def check_looks(columns: Iterable[str]) -> None:
    """Raise `ExpressionError` if the names of two columns look alike."""
    names = [name for name in columns if is_name(name)]
    if all(map(str.isascii, names)):
        return
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(look(name), name)
        if other != name:
            message = (
                f"the columns `{other}` and `{name}` look alike but are two names: {other!a} and"
                f" {name!a}"
            )
            raise point_error(message, f'rename one of them: `--columns "other={name}"`')


def list_entries(names: Collection[str]) -> dict[str, str]:
    """Return the entries `x[1]`, `x[2]`, … of lists in columns `x1`, `x2`, …"""
    entries = {}
    names = dict.fromkeys(names)
    for name in names:
        base = name[:-1] if name[-1:] == "1" else ""
        if base.isidentifier() and base not in names and f"{base}[1]" not in names:
            for k in count(1):
                if f"{base}{k}" not in names:
                    break
                entries[element_name(base, (k,))] = f"{base}{k}"
    return entries


def without_unused_lists(
    text: str, columns: Sequence[str], constants: Collection[str]
) -> list[str]:
    """Return the columns except those of lists that the text does not use."""
    entries = list_entries([name for name in columns if name[-1:] != "]"])
    bases = {name.partition("[")[0] for name in entries}
    used = bases.intersection(names_in(text)).difference(constants) if bases else bases
    return [name for name in columns if name not in entries or name.partition("[")[0] in used]


def no_column(name: str, columns: Sequence[str], purpose: str) -> ExpressionError:
    """Return the error for a missing column."""
    near = closest(name, list(columns))
    hint = f"did you mean `{near}`? " if near else ""
    return usage_error(
        f"there is no column `{name}` {purpose}", f"{hint}there are {list_columns(columns)}"
    )


def list_columns(columns: Sequence[str]) -> str:
    """Return the columns for a hint, and how to use headings that are no names."""
    entries = list_entries([name for name in columns if name[-1:] != "]"])
    inner, known = names_in_headings(columns), {*columns}
    columns = [name for name in columns if name not in entries and inner.get(name) not in known]
    names = quote(columns[:20]) + (", …" if len(columns) > 20 else "")
    other = next((column for column in columns if not is_name(column)), None)
    return names if other is None else f'{names} (`--columns "x={other}"` calls one `x`)'


_NUMERAL = re.compile(r"(?<![\w`-])-?\d[\d.]*(?:e[+-]?\d+)?(?!\w)")


def conventions(warnings: Iterable[Diagnostic]) -> tuple[str, ...]:
    """Return the conventions at kinks in warnings, without varying numbers."""
    kinks = [f"{_NUMERAL.sub('…', x.message)} ({x.hint})" for x in warnings if x.kind == "kink"]
    return tuple(dict.fromkeys(kinks))


def reason(error: ExpressionError) -> str:
    """Return an error without details that vary by row, as a key for counting."""
    headline = str(error).split("; ")[0].split(" (here ")[0]
    if error.kind == "point":
        headline = ": ".join(headline.split(": ")[:2])
    return f"{error.kind}: {_NUMERAL.sub('…', headline)}"
