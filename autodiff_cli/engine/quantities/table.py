"""The table of units and constants, `units.toml`, read on demand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from ...errors import closest, usage_error

# the SI base units, in the order of exponents in dimensions
BASE = ("kg", "m", "s", "A", "K", "mol", "cd")
_UNCERTAIN = re.compile(r"(?<=\d)\(\d+\)")  # the digits of a standard uncertainty
_DECIMAL = re.compile(r"[\d.]+(?:\(\d+\))?(?:e-?\d+)?")  # a number, perhaps with its uncertainty


class TableUnit(NamedTuple):
    """A unit of the table."""

    symbol: str
    name: str
    aliases: tuple[str, ...]
    definition: str
    """A number, perhaps a power of pi, and units; empty for a base unit."""
    prefixes: frozenset[str]
    quantity: str
    """The quantity of which it is the usual coherent unit; empty for none."""
    zero: str
    group: str
    source: str


class Constant(NamedTuple):
    """A constant of nature."""

    name: str
    meaning: str
    value: str
    """An expression; digits in parentheses are the standard uncertainty."""
    unit: str

    @property
    def estimate(self) -> str:
        return _UNCERTAIN.sub("", self.value)

    @property
    def exact(self) -> bool:
        return self.estimate == self.value


@cache
def units_file() -> dict[str, Any]:
    """Return the content of `units.toml`, which describes its fields."""
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "units.toml"), "rb") as file:
        return tomllib.load(file)


@cache
def table() -> dict[str, TableUnit]:
    """Return the units by symbol."""
    entries, prefixes = {}, units_file()["prefixes"]
    for group in units_file()["group"]:
        for symbol, fields in group["units"].items():
            name, *aliases = fields["names"]
            allowed = fields.get("prefix", "")
            entries[symbol] = TableUnit(
                symbol, name, tuple(aliases), fields["is"],
                frozenset(prefixes if allowed == "all" else allowed.split()),
                fields.get("of", ""), fields.get("zero", "0"), group["title"], group["source"],
            )  # fmt: skip
    return entries


@cache
def spellings() -> dict[str, TableUnit]:
    """Return the units by symbol and by alias."""
    return {name: entry for entry in table().values() for name in (entry.symbol, *entry.aliases)}


@cache
def constants() -> dict[str, Constant]:
    """Return the constants of nature, by name."""
    return {name: Constant(name, *fields) for name, fields in units_file()["constants"].items()}


def constant_texts(names: Iterable[str], uncertain: bool = False) -> list[str]:
    """Return constants as texts of a point, `c=299792458 m/s`, perhaps `uncertain`. Raises a usage
    error.
    """
    texts = []
    for name in names:
        constant = constants().get(name)
        if constant is None:
            near = closest(name, list(constants()))
            hint = f"did you mean `{near}`? " if near else ""
            raise usage_error(
                f"`{name}` is not a constant of CODATA 2022", f"{hint}`autodiff units` lists them"
            )
        value = constant.value if uncertain else constant.estimate
        number = value if _DECIMAL.fullmatch(value) else f"({value})"
        texts.append(f"{name}={number}" + (f" {constant.unit}" if constant.unit != "1" else ""))
    return texts
