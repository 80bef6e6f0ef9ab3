"""The sweeps: a graph in a row, evaluated on demand and differentiated backward or forward. Nothing recurses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..numbers.base import Number, NumberType, Refusal
from ..table.operators import COMPARISONS, CONSTANT, DIV, MUL, NEG, POW, WHERE
from ..table.primitive import Primitive


@dataclass(slots=True)
class Tape:
    """A graph in a row: node `i` applies `primitives[i]` to the nodes `parents[i]`, all of which stand before it."""

    primitives: list[Primitive]
    parents: list[tuple[int, ...]]
    data: list[Any]
    """The value of each node; None where there is none (yet)."""


_OPERANDS = {POW: ("the base", "the exponent"), DIV: ("the numerator", "the denominator")}


class Fault(Exception):
    """A node without a value or derivative: its place on the tape, the kind of error, and what to say."""

    def __init__(
        self, node: int, kind: str, message: str, hint: str | None = None, position: int | None = None
    ) -> None:
        super().__init__(message)
        self.node = node
        self.kind = kind
        self.message = message
        self.hint = hint
        self.position = position
        """For a derivative: which input it was to be taken towards."""


# ---- values -------------------------------------------------------------------------------------------------------
def forward(tape: Tape, m: NumberType, roots: Iterable[int]) -> Sequence[int]:
    """The nodes that the roots need, in the order of evaluation; their values are filled in.

    A conditional evaluates its condition and then one branch only. Raises `Fault`.
    """
    primitives, parents, data = tape.primitives, tape.parents, tape.data
    if not any(primitive.demand for primitive in primitives):
        for i, value in enumerate(data):
            if value is None:
                primitive = primitives[i]
                data[i] = compute(m, primitive, [data[p] for p in parents[i]], i)
        return range(len(data))
    return _on_demand(tape, m, roots)


def compute(m: NumberType, primitive: Primitive, inputs: Sequence[Number], node: int) -> Number:
    """The value of an operation. Raises `Fault`, naming the node, where it has none."""
    try:
        out = getattr(m, primitive.name)(*inputs)
        if not m.finite(out):
            raise OverflowError
    except (ValueError, ArithmeticError) as error:
        raise undefined(m, node, primitive, inputs, error) from None
    return out


def _on_demand(tape: Tape, m: NumberType, roots: Iterable[int]) -> list[int]:
    primitives, parents, data = tape.primitives, tape.parents, tape.data
    order: list[int] = []
    done = [False] * len(data)
    stack = [*roots]
    while stack:
        i = stack[-1]
        if done[i]:
            stack.pop()
            continue
        primitive = primitives[i]
        inputs = [data[p] if done[p] else None for p in parents[i]]
        wanted = primitive.demand(*inputs) if primitive.demand else range(len(inputs))
        missing = [parents[i][k] for k in wanted if not done[parents[i][k]]]
        if missing:
            stack.extend(reversed(missing))
            continue
        if primitive.demand:
            data[i] = inputs[wanted[-1]] if wanted else inputs[0]
        elif data[i] is None:
            data[i] = compute(m, primitive, inputs, i)
        done[i] = True
        order.append(i)
        stack.pop()
    return order


def show(x: Number) -> str:
    """A number as messages show it."""
    if isinstance(x, float):
        return f"{x + 0.0:.6g}"
    text = str(x)
    if len(text) < 24:
        return text
    mantissa, mark, exponent = text.partition("e")
    if mark:
        return f"{mantissa[:8]}e{exponent}"
    try:
        return f"{float(x):.6g}"
    except (ValueError, OverflowError):
        return text


def _places(inputs: Sequence[Number]) -> str:
    return show(inputs[0]) if len(inputs) == 1 else "(" + ", ".join(map(show, inputs)) + ")"


def undefined(m: NumberType, node: int, primitive: Primitive, inputs: Sequence[Number], error: Exception) -> Fault:
    """What to say of an operation that has no value at these inputs."""
    name = primitive.symbol
    if isinstance(error, Refusal):
        return Fault(node, error.kind, error.message, error.hint)
    if isinstance(error, OverflowError):
        return Fault(
            node, "overflow", f"`{name}` at {_places(inputs)} is too large for {m.range}",
            "rescale the inputs, or use a form that stays small (`logsumexp`, `softplus`, `lgamma`)",
        )  # fmt: skip
    message = hint = None
    if primitive.trouble:
        with suppress(Refusal):
            message, hint = primitive.trouble(*inputs) or (None, None)
    if message is None:
        message = f"`{name}` is undefined at {_places(inputs)}"
        if primitive.domain:
            # The table's `x` is not the user's.
            domain = re.sub(r"\bx\b", "argument", primitive.domain) if len(inputs) == 1 else primitive.domain
            message += f"; its domain: {domain}"
    hint = hint or "move the point into the domain, or guard it: `a if condition else b`"
    return Fault(node, "domain", message, hint)


# ---- derivatives --------------------------------------------------------------------------------------------------
def activity(tape: Tape, order: Iterable[int], wanted: Iterable[int]) -> list[bool]:
    """For each node, whether its value depends on a wanted leaf at this point. Raises `Fault`."""
    primitives, parents, data = tape.primitives, tape.parents, tape.data
    active = [False] * len(data)
    for i in wanted:
        active[i] = True
    for i in order:
        ps = parents[i]
        if not ps:
            continue
        if primitives[i] is WHERE:
            # Where the branches meet, what was chosen hangs on the variables although the branch itself may not.
            taken = ps[1] if data[ps[0]] else ps[2]
            try:
                active[i] = active[taken] or (active[ps[0]] and bool(_edges(tape, ps[0], active)))
            except Refusal as refusal:
                raise Fault(i, refusal.kind, refusal.message, refusal.hint) from None
        else:
            for p in ps:
                if active[p]:
                    active[i] = True
                    break
    return active


def backward(
    tape: Tape, m: NumberType, order: Sequence[int], active: Sequence[bool], seeds: dict[int, Number]
) -> tuple[list[Number | None], list[int]]:
    """The adjoint of each node, None where nothing flowed to it; and the nodes where a kink was met.

    `seeds` gives the adjoints of the outputs. Each node passes its adjoint, times the local derivative, to those of its
    inputs that are active; an input that takes no structural part gets nothing. Raises `Fault`.
    """
    primitives, parents, data = tape.primitives, tape.parents, tape.data
    adjoints: list[Number | None] = [None] * len(data)
    kinks: list[int] = []
    finite = m.finite
    for i, seed in seeds.items():
        adjoints[i] = seed
    for i in reversed(order):
        adjoint = adjoints[i]
        if adjoint is None or not active[i] or not parents[i]:
            continue
        primitive = primitives[i]
        try:
            if primitive.may_kink and adjoint != 0:
                kinks.extend(_kinks(tape, i, active))
            pairs = local_derivatives(tape, m, i, active)
            for p, partial in _together(m, pairs) if primitive.variadic else pairs:
                if partial is None:
                    continue
                contribution = adjoint * partial
                previous = adjoints[p]
                total = contribution if previous is None else previous + contribution
                if not finite(total):
                    raise OverflowError
                adjoints[p] = total
        except (ValueError, ArithmeticError) as error:
            raise _no_derivative(tape, m, i, active, adjoint, error) from None
    return adjoints, kinks


def local_derivatives(tape: Tape, m: NumberType, i: int, active: Sequence[bool]) -> Iterator[tuple[int, Number | None]]:
    """Pairs of an active input of node `i` and the local derivative towards it, None for a structural zero.

    Raises what the rule raises (ValueError, ArithmeticError) where the derivative is infinite or undefined.
    """
    primitive, ps, data = tape.primitives[i], tape.parents[i], tape.data
    if primitive is MUL:
        for p, other in ((ps[0], ps[1]), (ps[1], ps[0])):
            if active[p]:
                factor = data[other]
                # A literal 0 cuts the other factor off, even where that has an infinite derivative.
                yield p, None if _is_literal(tape, other) and factor == 0 else factor
        return
    inputs = [data[p] for p in ps]
    if primitive.variadic:
        yield from _variadic_derivatives(tape, m, i, active)
        return
    for p, rule in zip(ps, primitive.partials, strict=True):
        if active[p] and rule is not None:
            yield p, rule(m, *inputs, data[i])


def _variadic_derivatives(
    tape: Tape, m: NumberType, i: int, active: Sequence[bool]
) -> Iterator[tuple[int, Number | None]]:
    primitive, ps = tape.primitives[i], tape.parents[i]
    inputs = [tape.data[p] for p in ps]
    rule = primitive.partials[0]
    assert rule is not None
    # As in a product of two, a literal 0 cuts the other factors off.
    cut = primitive.name == "prod" and any(_is_literal(tape, p) and tape.data[p] == 0 for p in ps)
    partials = [None] * len(ps) if cut else rule(m, inputs, tape.data[i])
    for p, partial in zip(ps, partials, strict=True):
        if active[p]:
            yield p, partial


def _together(m: NumberType, pairs: Iterable[tuple[int, Number | None]]) -> Iterator[tuple[int, Number | None]]:
    """The same with one pair a node: the shares of one listed many times are added at once, which rounds once."""
    shares: dict[int, list[Number]] = {}
    for p, partial in pairs:
        if partial is not None:
            shares.setdefault(p, []).append(partial)
    for p, partials in shares.items():
        yield p, partials[0] if len(partials) == 1 else m.sum(*partials)


def _is_literal(tape: Tape, i: int) -> bool:
    return tape.primitives[i] is CONSTANT or (
        tape.primitives[i] is NEG and tape.primitives[tape.parents[i][0]] is CONSTANT
    )


def _no_derivative(
    tape: Tape, m: NumberType, i: int, active: Sequence[bool], adjoint: Number, error: Exception
) -> Fault:
    """What to say of a node whose derivative could not be taken or passed on."""
    if isinstance(error, Refusal):
        return Fault(i, error.kind, error.message, error.hint)
    primitive, inputs = tape.primitives[i], [tape.data[p] for p in tape.parents[i]]
    name, places, position = primitive.symbol, _places(inputs), 0
    partial: Number | None = None
    try:
        for p, partial in local_derivatives(tape, m, i, active):
            position = tape.parents[i].index(p)
            if partial is not None and not m.finite(partial):
                break
    except (ValueError, ArithmeticError):
        position = _failing(tape, i, active, position, partial is None)
    try:
        vanishes = bool(adjoint == 0)
    except Refusal as refusal:
        return Fault(i, refusal.kind, refusal.message, refusal.hint)
    if vanishes:
        return Fault(
            i, "derivative",
            f"0·∞: the {m.derivative} cannot be read off here; `{name}` at {places} has no finite derivative, "
            "and what it is multiplied by is 0",
            "simplify the formula so that the two cancel", position,
        )  # fmt: skip
    if isinstance(error, OverflowError):
        return Fault(
            i, "overflow", f"the {m.derivative} through `{name}` at {places} is too large for {m.range}",
            "rescale the inputs", position,
        )  # fmt: skip
    names = _OPERANDS.get(primitive, primitive.params)
    towards = f" with respect to {names[position]}" if len(primitive.partials) > 1 else ""
    fate = "infinite there" if isinstance(error, ZeroDivisionError) else "undefined there"
    return Fault(
        i, "derivative", f"`{name}` is defined at {places} but its {m.derivative}{towards} is {fate}",
        "move the point, or leave this input out with `--wrt`", position,
    )  # fmt: skip


def _failing(tape: Tape, i: int, active: Sequence[bool], last: int, none_yet: bool) -> int:
    """The position of the input whose rule failed: the first active one, or the next after the last that worked."""
    positions = [k for k, p in enumerate(tape.parents[i]) if active[p]]
    later = positions if none_yet else [k for k in positions if k > last]
    return (later or positions)[0]


# ---- kinks --------------------------------------------------------------------------------------------------------
def _kinks(tape: Tape, i: int, active: Sequence[bool]) -> list[int]:
    """Where node `i` has no derivative: itself, or for a choice the comparisons that hold by equality."""
    primitive, ps = tape.primitives[i], tape.parents[i]
    if primitive is WHERE:
        return _edges(tape, ps[0], active)
    assert primitive.kink is not None
    if not primitive.variadic:
        return [i] if primitive.kink(*[tape.data[p] for p in ps]) else []
    # One node listed twice does not tie with itself, and a tie among constants moves nothing.
    distinct = {p: tape.data[p] for p in ps}
    tied = primitive.kink(*distinct.values())
    best = tape.data[i]
    return [i] if tied and any(active[p] and x == best for p, x in distinct.items()) else []


def _edges(tape: Tape, condition: int, active: Sequence[bool]) -> list[int]:
    """The comparisons of a condition that hold or fail by equality, with something active on one side."""
    found: list[int] = []
    seen: set[int] = set()
    stack = [condition]
    while stack:
        i = stack.pop()
        if i in seen or tape.data[i] is None:
            continue
        seen.add(i)
        primitive, ps = tape.primitives[i], tape.parents[i]
        if primitive.symbol in COMPARISONS:
            x, y = ps
            if x != y and tape.data[x] == tape.data[y] and (active[x] or active[y]):
                found.append(i)
        elif primitive.gives_condition:
            stack.extend(reversed(ps))
    return found


# ---- forward mode -------------------------------------------------------------------------------------------------
def tangents(
    tape: Tape,
    m: NumberType,
    order: Sequence[int],
    active: Sequence[bool],
    seeds: dict[int, Number],
    roots: Iterable[int] | None = None,
) -> list[Number | None]:
    """The tangent of each node along the direction that `seeds` gives to the leaves; None where it depends on none.

    Forward mode: each node adds up its inputs' tangents, times the same local derivatives as in `backward`. Raises
    `Fault` for a node without a derivative; if there are `roots`, only where one of them takes part in it.
    """
    result: list[Number | None] = [None] * len(tape.data)
    faults: dict[int, Fault] = {}
    for i, seed in seeds.items():
        result[i] = seed
    for i in order:
        if not tape.parents[i] or not active[i] or tape.primitives[i].gives_condition:
            continue
        total: Number | None = None
        try:
            for p, partial in local_derivatives(tape, m, i, active):
                tangent = result[p]
                if partial is None:
                    continue
                if p in faults:
                    faults[i] = faults[p]
                    break
                if tangent is None:
                    continue
                term = tangent * partial
                total = term if total is None else total + term
            if total is not None and not m.finite(total):
                raise OverflowError
        except (ValueError, ArithmeticError) as error:
            faults[i] = _no_derivative(tape, m, i, active, 1, error)
            if roots is None:
                raise faults[i] from None
        result[i] = total
    for root in roots or ():
        if root in faults:
            raise faults[root]
    return result
