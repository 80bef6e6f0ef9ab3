"""What a row of the table of primitives may lack, in words."""

from __future__ import annotations

from itertools import combinations, pairwise, product

from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table.primitive import DEFINITIONS, OPERATIONS, Primitive, is_outside
from reference import REFERENCE
from samples import samples_of

PROBES = (-3.3, -1.0, -0.6, 0.6, 1.0, 3.3)


def missing(row: Primitive) -> list[str]:
    """What to add to the row of a function, or to mend in it, a sentence each; nothing of a good
    one.
    """
    name, said = row.name, []
    rules = 1 if row.variadic else len(row.params)
    if not row.doc:
        said.append(f"{name} has no doc: what `autodiff functions {name}` says that it is")
    if len(row.partials) != rules:
        said.append(
            f"{name} has {len(row.partials)} rules for {rules} inputs: a derivative by each, None"
            " for none"
        )
    if not samples_of(row):
        said.append(
            f"{name} has no samples in tests/support/samples.py: points of its domain, ordinary and"
            " extreme"
        )
    if bool(row.kink) != bool(row.convention):
        said.append(f"{name} has a kink without a convention, or a convention without a kink")
    if row.inverse and row.inverse not in OPERATIONS:
        said.append(f"{name} is undone by {row.inverse}, which is not in the table")
    if name not in REFERENCE:
        said.append(
            f"{name} has no reference in tests/support/reference.py: its value and its derivatives"
            " in mpmath"
        )
    if name not in {*DEFINITIONS, *REAL.accurate} and name not in REAL.__dict__:
        return [
            *said,
            (
                f"{name} cannot be computed: it has no definition, and `REAL` has no function of"
                " that name"
            ),
        ]
    for sample in samples_of(row):
        if is_outside(row.bounds, sample):
            said.append(f"{name} has a sample outside of its domain: {sample}")
    if len(row.params) == 1 and not row.variadic:
        said += _facts(row)
    return said + _commutes(row) + _lies(row) + _strays(row) + _bends(row)


def _value(row: Primitive, *xs: float) -> float | None:
    try:
        return float(getattr(REAL, row.name)(*xs))
    except (ValueError, ArithmeticError):
        return None


def _plain(row: Primitive) -> bool:
    """Whether it takes numbers and gives one."""
    return not (row.gives_condition or row.takes_conditions or row.constant_params or row.vector)


def _commutes(row: Primitive) -> list[str]:
    """Whether the inputs may change places."""
    if not _plain(row) or not (row.variadic or len(row.params) == 2):
        return []
    pairs = [(_value(row, x, y), _value(row, y, x)) for x, y in combinations(PROBES, 2)]
    known = [(a, b) for a, b in pairs if a is not None or b is not None]
    holds = all(a is not None and b is not None and abs(a - b) <= 1e-14 * abs(a) for a, b in known)
    if not known or holds == row.commutative:
        return []
    return [
        (
            f"{row.name} is commutative: say so in its facts"
            if holds
            else f"{row.name} is not commutative"
        )
    ]


def _lies(row: Primitive) -> list[str]:
    """Whether the values lie where the row says."""
    if not row.values or not _plain(row):
        return []
    low, high = (float(end) for end in row.values[1:-1].split(","))
    points = [*samples_of(row), *[(x,) for x in PROBES if len(row.params) == 1]]
    found = [(xs, y) for xs in points if (y := _value(row, *xs)) is not None]
    # rounding takes a value to an end that it comes near to
    outside = [xs for xs, y in found if not low <= y <= high]
    return [f"{row.name} has values outside of {row.values}, at {outside}"] if outside else []


def _strays(row: Primitive) -> list[str]:
    """Whether it has no value where the row says so: what writes it as it is defined has no other
    word for that.
    """
    if row.variadic or not (row.bounds.bounds or row.bounds.ordered) or row.takes_conditions:
        return []
    points = [
        xs for xs in product((*PROBES, 0.0), repeat=len(row.params)) if is_outside(row.bounds, xs)
    ]
    found = [xs for xs in points if _value(row, *xs) is not None]
    return [f"{row.name} has a value outside of its domain, at {found[0]}"] if found else []


def _bends(row: Primitive) -> list[str]:
    """Whether second derivatives and series know its kinks."""
    if row.kink is None:
        return []
    if row.active_branch is None:
        return [
            f"{row.name} has a kink and no `active_branch`: which smooth function it is on either"
            " side"
        ]
    # some have a derivative nowhere else either: steps
    if not any(any(_slopes(row, xs)) for xs in samples_of(row)):
        return []
    for xs in [(x,) * max(len(row.params), 1 + row.variadic) for x in (*PROBES, 0.0)]:
        if row.kink(*xs) and all(slope is REAL.nothing for slope in _slopes(row, xs) or (0,)):
            return [
                f"{row.name} takes no part at its kink {xs}: its rule gives `m.nothing` there, not"
                " the number 0"
            ]
    return []


def _slopes(row: Primitive, xs: tuple[float, ...]) -> list[float | None]:
    try:
        return row.slopes(REAL, xs, _value(row, *xs))
    except (ValueError, ArithmeticError, TypeError):
        return []


def _facts(row: Primitive) -> list[str]:
    name, said = row.name, []
    found = {x: _value(row, x) for x in PROBES}
    if None in found.values() and not row.domain:
        said.append(
            f"{name} has no domain, but no value at {[x for x, y in found.items() if y is None]}"
        )
    pairs = [(y, z) for x, y in found.items() if y is not None and (z := found.get(-x)) is not None]
    for fact, sign in (("odd", -1), ("even", 1)):
        holds = bool(pairs) and all(abs(z - sign * y) <= 1e-14 * abs(y) for y, z in pairs)
        if holds != getattr(row, fact) and pairs:
            said.append(
                f"{name} is {fact}: say so in its facts" if holds else f"{name} is not {fact}"
            )
    if row.inverse and row.inverse in OPERATIONS:
        undo = OPERATIONS[row.inverse]
        backs = [(x, _value(undo, y)) for x, y in found.items() if y is not None]
        wrong = [x for x, back in backs if back is None or abs(back - x) > 1e-10 * abs(x)]
        if wrong:
            said.append(
                f"{name} is not undone by {row.inverse}: at {wrong} it does not give them back"
            )
    if row.unit is not None:
        other, own, others = row.unit
        sums = [own * y * y + others * (z * z if (z := _value(OPERATIONS[other], x)) is not None else 0)
                for x, y in found.items() if y is not None]  # fmt: skip
        if any(abs(total - 1) > 1e-9 for total in sums) or not sums:
            said.append(
                f"{name} and {other} have squares that do not add up to 1 with the signs {own:+},"
                f" {others:+}"
            )
    known = [y for y in found.values() if y is not None]
    if row.increasing and any(y >= z for y, z in pairwise(known)):
        said.append(f"{name} does not increase")
    return said
