"""What a row of the table of primitives may lack, in words."""

from __future__ import annotations

from itertools import pairwise

from autodiff_cli.numbers.floats import REAL
from autodiff_cli.table.domain import is_outside
from autodiff_cli.table.primitive import ACCURATE, DEFINITIONS, OPERATIONS, Primitive
from reference import REFERENCE

PROBES = (-3.3, -1.0, -0.6, 0.6, 1.0, 3.3)


def missing(row: Primitive) -> list[str]:
    """What to add to the row of a function, or to mend in it, a sentence each; nothing of a good one."""
    name, said = row.name, []
    rules = 1 if row.variadic else len(row.params)
    if not row.doc:
        said.append(f"{name} has no doc: what `autodiff functions {name}` says that it is")
    if len(row.partials) != rules:
        said.append(f"{name} has {len(row.partials)} rules for {rules} inputs: a derivative by each, None for none")
    if not row.samples:
        said.append(f"{name} has no samples: points of its domain, ordinary and extreme")
    if bool(row.kink) != bool(row.convention):
        said.append(f"{name} has a kink without a convention, or a convention without a kink")
    if row.inverse and row.inverse not in OPERATIONS:
        said.append(f"{name} is undone by {row.inverse}, which is not in the table")
    if name not in REFERENCE:
        said.append(f"{name} has no reference in tests/support/reference.py: its value and its derivatives in mpmath")
    if name not in DEFINITIONS | ACCURATE and name not in REAL.__dict__:
        return [*said, f"{name} cannot be computed: it has no definition, and `REAL` has no function of that name"]
    for sample in row.samples:
        if is_outside(row.bounds, sample):
            said.append(f"{name} has a sample outside of its domain: {sample}")
    if len(row.params) == 1 and not row.variadic:
        said += _facts(row)
    return said


def _value(row: Primitive, x: float) -> float | None:
    try:
        return float(getattr(REAL, row.name)(x))
    except (ValueError, ArithmeticError):
        return None


def _facts(row: Primitive) -> list[str]:
    name, said = row.name, []
    found = {x: _value(row, x) for x in PROBES}
    if None in found.values() and not row.domain:
        said.append(f"{name} has no domain, but no value at {[x for x, y in found.items() if y is None]}")
    pairs = [(y, z) for x, y in found.items() if y is not None and (z := found.get(-x)) is not None]
    for fact, sign in (("odd", -1), ("even", 1)):
        holds = bool(pairs) and all(abs(z - sign * y) <= 1e-14 * abs(y) for y, z in pairs)
        if holds != getattr(row, fact) and pairs:
            said.append(f"{name} is {fact}: say so in its facts" if holds else f"{name} is not {fact}")
    known = [y for y in found.values() if y is not None]
    if row.increasing and any(y >= z for y, z in pairwise(known)):
        said.append(f"{name} does not increase")
    return said
