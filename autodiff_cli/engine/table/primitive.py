"""Primitive: a row of the table, with all facts of one operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

# How tightly the operators of the language bind, loosest first, as the grammar has it.
CHOICE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)

# A number of any type that has a `NumberType`: float, Fraction, mpf, Value …
Number = Any

# Formulas for number types without a better way, filled by the table of primitives.
DEFINITIONS: dict[str, Callable[..., Number]] = {}

# Formulas for arithmetic where the definition is for reading; they may choose by values.
ACCURATE: dict[str, Callable[..., Number]] = {}

# A local derivative: `rule(m, *inputs, out)`, with `m` the number type. A variadic primitive has
# one for all inputs, `rule(m, inputs, out)`, which returns a list.
Rule = Callable[..., Number]


class Side(Protocol):
    """Near a point, on which side of 0 numbers are that are 0 at the point itself."""

    def __call__(self, u: Number) -> int:
        """Return 1 or -1, the sign of `u`."""

    def is_nonzero(self, u: Number) -> bool:
        """Return whether `u` is not 0."""

    def length(self, xs: Sequence[Number]) -> Number:
        """Return the length of a vector that is 0 at the point."""


_BOUND = r"(?:(-?\d+) (<=?) )?(\w+) (<=?|>=?|!=) (-?\d+)"
_POLES = r"(.+) (?:is|are) not 0, -1, -2, …"
_MIRRORED = {"<": ">", "<=": ">="}


class Bound(NamedTuple):
    """One bound of one input: `x > 0`, `x != 0`."""

    position: int
    relation: str
    """`<`, `<=`, `>`, `>=` or `!=`."""
    end: int | None
    """The number on the right; None for all of 0, -1, -2, …"""

    def side(self, x: Any) -> Any:
        """Return how far `x` is inside a one-sided bound; negative outside."""
        return x - self.end if self.relation[0] == ">" else self.end - x


class Domain(NamedTuple):
    """The bounds in the description of a domain; `complete` if they are all of it."""

    bounds: tuple[Bound, ...]
    complete: bool
    ordered: tuple[tuple[int, int], ...] = ()
    """Positions of two inputs that must be in order: `lo <= hi`."""


@cache
def domain(words: str, params: tuple[str, ...]) -> Domain:
    """Return the numeric bounds in a row's description of its domain."""
    if poles := re.fullmatch(_POLES, words):
        return Domain(
            tuple([Bound(params.index(name), "!=", None) for name in poles[1].split(" and ")]), True
        )
    if " or " in words:
        return Domain((), False)
    bounds: list[Bound] = []
    ordered: list[tuple[int, int]] = []
    complete = True
    for clause in re.split(r", | and ", words) if words else ():
        low, _, high = clause.partition(" <= ")
        said = re.fullmatch(_BOUND, clause)
        if low in params and high in params:
            ordered.append((params.index(low), params.index(high)))
        elif said is None or said[3] not in params:
            complete = False
        else:
            position = params.index(said[3])
            if said[1] is not None:
                bounds.append(Bound(position, _MIRRORED[said[2]], int(said[1])))
            bounds.append(Bound(position, said[4], int(said[5])))
    return Domain(tuple(bounds), complete, tuple(ordered))


def check_domain(limits: Domain, inputs: Sequence[Any]) -> None:
    """Check the bounds. Raises ZeroDivisionError at a pole or an open end, ValueError outside."""
    for bound in limits.bounds:
        x = inputs[bound.position]
        if bound.end is None:
            infinite = x <= 0 and x == int(x)
        elif bound.relation == "!=":
            infinite = x == bound.end
        else:
            side = bound.side(x)
            if side < 0:
                raise ValueError("outside the domain")
            infinite = side == 0 and len(bound.relation) == 1
        if infinite:
            raise ZeroDivisionError("infinite here")
    if any(inputs[low] > inputs[high] for low, high in limits.ordered):
        raise ValueError("the lower bound is above the upper one")


def is_outside(limits: Domain, inputs: Sequence[Any]) -> bool:
    """Return whether plain numbers certainly violate a bound."""
    try:
        check_domain(limits, inputs)
    except (ValueError, ZeroDivisionError):
        return True
    return False


class Facts(NamedTuple):
    """The facts of a row of the table."""

    name: str
    params: tuple[str, ...]
    """Names of the inputs; `("*xs",)` for any number of them."""
    partials: tuple[Rule | None, ...] = ()
    """The rules by parameter; None without a derivative (a condition, an order)."""
    symbol: str = ""
    """How a drawing of the graph names the operation: `+`, `tanh`."""
    group: str = ""
    """The heading in the reference of the language; empty for internal functions."""
    family: str = ""
    """erf, erfinv or gamma for functions that are slow with many digits."""
    doc: str = ""
    domain: str = ""
    """Its domain in words of the language; empty if it is defined everywhere."""
    values: str = ""
    """The interval of its values, such as `[1, inf)`; empty for all numbers."""
    increasing: bool = False
    """Whether it grows strictly with its input, wherever it is defined."""
    aliases: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    constant_params: tuple[str, ...] = ()
    """Parameters that must be whole constants, such as a polygamma's order."""
    constant_values: tuple[int, ...] = ()
    """The values that those may have, such as the branches of a function; empty for 0, 1, 2, …"""
    shown_orders: tuple[int, ...] = ()
    """The constants for which derivatives are listed, where no formula holds for all."""
    operator: tuple[str, int, int, int] | tuple[str, int, int] | tuple[()] = ()
    """An operator's text, how tightly it binds, and how tightly its inputs have to."""
    spelling: str = ""
    """How a call of it is written, where that is not by its name."""
    longer: str = ""
    """The primitive that a call with its number of arguments means instead: `log(x, b)`."""
    kink: Callable[..., bool] | None = None
    """Whether there is no derivative at these inputs, but a value."""
    convention: str = ""
    smooth: tuple[str, ...] = ()
    """The readable derivatives away from kinks, if the rules also define them at kinks."""
    domain_message: Callable[..., tuple[str, str | None] | None] | None = None
    """Message and hint for inputs without a value; `{0}`, `{1}` are the inputs."""
    gives_condition: bool = False
    takes_conditions: tuple[int, ...] = ()
    lazy_inputs: Callable[..., tuple[int, ...]] | None = None
    """The positions that a lazy operation needs next, given those it has."""
    variadic: bool = False
    """Whether it takes any number of inputs, at least one."""
    may_kink: bool = False
    """Whether it has a value but no derivative at some points, as a choice of branches has."""
    jumps: bool = False
    has_structural_zeros: bool = False
    """Whether an input may take no part in the output at some points."""
    extreme_value: str = ""
    """The relation of a maximum or minimum to the other inputs: `>` or `<`."""
    norm: bool = False
    """Whether its square is the sum of its inputs' squares."""
    breakpoint: Callable[..., bool] | None = None
    """Whether its pieces meet here, perhaps with equal first derivatives; mostly its `kink`."""
    active_branch: Callable[..., Any] | None = None
    """`active_branch(m, side, *inputs, out)`, its smooth branch near the point, also at
    breakpoints.

    `side(u)` is the sign of `u` near the point. If it does not ask for `out`, it holds wherever the
    signs are those.
    """
    infinite: bool = False
    """Whether the result can be infinite at finite inputs: by overflow, or at a pole."""
    propagates_infinity: bool = False
    """Whether an infinite input never gives a finite result, so that the result shows it."""
    propagates_first: Callable[[Number | None], bool] | None = None
    """Whether it propagates an infinite first input for this second one; None for any."""
    total_for: Callable[[Number], bool] | None = None
    """Whether this last input gives it a value for all others, if `domain` is not bounds."""
    roles: tuple[str, ...] = ()
    """The names of the inputs in messages, if they differ: the base."""
    cancels_far: bool = False
    """Whether compiled formulas of its second derivatives lose digits at inputs far from 0."""
    cancels_near: bool = False
    """Whether its second derivatives lose digits where an input or the sum of both is near 0, -1,
    -2, …
    """
    for_reading: bool = False
    """Whether its definition loses digits or is no easier: it is for reading only."""
    commutative: bool = False
    associative: bool = False
    odd: bool = False
    even: bool = False
    periodic: bool = False
    """Whether its value is the same after 2π."""
    half_periodic: bool = False
    """Whether it is the same after π already."""
    unit: tuple[str, int, int] | None = None
    """Another function, and the signs with which both squares add up to 1."""
    inverse: str = ""
    """The function that gives its input back, from every value of it."""
    preimages: tuple[Callable[..., Number], ...] = ()
    """`f(m, y)`: together all inputs with the output `y` where `attained` holds, if they are not
    those of `inverse`; of a periodic function those of one period.
    """
    attained: str = ""
    """The comparisons of `y` that hold for its outputs exactly: `-1 < y < 1`; empty for all
    numbers.
    """
    complement: str = ""
    """A stable form of 1 minus it, which would cancel near 1."""
    exact: Mapping[int, Any] = MappingProxyType({})
    """Rational values by input that neither arithmetic nor the definition finds."""
    holds: str = ""
    """The relations `<`, `=`, `>` of its two numbers for which a comparison holds."""
    linear: bool = False
    """Whether it is linear in all inputs together: no derivative depends on an input."""
    product: bool = False
    """Whether it multiplies: a literal 0 cuts off the others, even without finite derivatives."""
    by_output: Callable[..., Number] | None = None
    """`by_output(m, x, out)`, the derivative by one of many inputs from it and the output."""
    vector: bool = False
    """Whether its value is a list with one number per input."""
    latex: str = ""
    """Its LaTeX: a name, or a form with `#1` for the first input; other inputs follow in
    parentheses. `BY_DEFINITION` if mathematics has no sign for it."""
    latex_raised: str = ""
    """Its LaTeX if its input is short enough for an exponent: `e^{#1}`."""
    source: str = ""
    scales: tuple[str, ...] = ()
    """What the parameters of a shape are: `place`, `positive place`, `width`, `rate`, `exponent`,
    or empty.
    """
    composition: Callable[..., Number] | None = None
    """`f(m, *inputs)`, what a call stands for: it is written out where it is called, and is no
    operation of a graph.
    """


class Primitive(Facts):
    """An operation and its derivatives by each input; equal to itself only."""

    __slots__ = ()
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__

    def slopes(
        self, m: Any, inputs: Sequence[Number], out: Number, active: Sequence[object] | None = None
    ) -> list[Number | None]:
        """Return the local derivatives, with `out` the value; `m.nothing` for a structural zero.

        None by an input that has no derivative (a condition, an order) or is not `active`. Raises
        ValueError or ArithmeticError, as rules do, where one is infinite or undefined.
        """
        if self.variadic:
            (rule,) = self.partials
            partials: list[Number | None] = rule(m, inputs, out) if rule else [None] * len(inputs)
            return (
                partials
                if active is None
                else [d if on else None for d, on in zip(partials, active, strict=True)]
            )
        if active is None:
            return [rule and rule(m, *inputs, out) for rule in self.partials]
        if len(inputs) == 2:
            # Most operations of most programs: the same, written out.
            (by_first, by_second), (x, y), (first, second) = self.partials, inputs, active
            return [
                by_first(m, x, y, out) if first and by_first else None,
                by_second(m, x, y, out) if second and by_second else None,
            ]
        return [
            rule(m, *inputs, out) if on and rule else None
            for rule, on in zip(self.partials, active, strict=True)
        ]

    @property
    def bounds(self) -> Domain:
        return domain(self.domain, self.params)

    @property
    def total(self) -> bool:
        """Return whether it has a value everywhere, overflow aside."""
        return not self.domain

    def defined(self, fixed: Sequence[Number | None]) -> bool:
        """Return whether it is defined, overflow aside, for all values of inputs not fixed."""
        if self.total:
            return True
        if self.total_for is not None:
            return fixed[-1] is not None and self.total_for(fixed[-1])
        bounds, complete, ordered = self.bounds
        decidable = (
            complete and not ordered and all(fixed[bound.position] is not None for bound in bounds)
        )
        return decidable and not is_outside(self.bounds, fixed)

    def allows_constant(self, value: float) -> bool:
        """Return whether a constant parameter may have this value."""
        return (
            value in self.constant_values
            if self.constant_values
            else value >= 0 and float(value).is_integer()
        )

    @property
    def written(self) -> str:
        """Return its symbol in formulas: `log`, `+`."""
        return self.spelling or self.symbol

    @property
    def signature(self) -> str:
        """Return the call in the reference: `leaky_relu(x, slope=0.01)`."""
        if self.variadic:
            return f"{self.name}({self.params[0][1:-1]}1, {self.params[0][1:-1]}2, …)"
        required = len(self.params) - len(self.defaults)
        shown = [
            name if k < required else f"{name}={self.defaults[k - required]}"
            for k, name in enumerate(self.params)
        ]
        if self.longer:
            return (
                f"{self.name}({', '.join(shown)}) or"
                f" {self.name}({', '.join(PRIMITIVES[self.longer].params)})"
            )
        return f"{self.name}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (self.name,)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _row(name: str) -> Primitive:
    return OPERATIONS[name]


# For an operation that a person writes as it is defined.
BY_DEFINITION = "="

# Every primitive by name.
PRIMITIVES: dict[str, Primitive] = {}

# All operations, with those that only rules use, which have no rule themselves.
OPERATIONS: dict[str, Primitive] = {}

# Functions whose names are units too.
ALSO_UNITS = frozenset(("Ci", "arcsec", "deg", "rad", "psi", "min"))

# The functions of the language by name and by alias.
FUNCTIONS: dict[str, Primitive] = {}

# The functions of the language by name that stand for a formula of others, which is written out at
# each call.
COMPOSED: dict[str, Primitive] = {}

# Primitives by the symbol that a graph shows.
BY_SYMBOL: dict[str, Primitive] = {}


def entry(
    name: str,
    params: str,
    doc: str = "",
    *partials: Rule | None,
    **rest: Any,
) -> Primitive:
    """Enter a new primitive in the table and return it; `rest` is as for `helper`."""
    said: dict[str, Any] = {
        "infinite": "domain" in rest,
        "breakpoint": rest.get("kink"),
        "symbol": name,
    }
    said["may_kink"] = "kink" in rest or name == "where"
    primitive = helper(name, params, doc=doc, partials=partials, **{**said, **rest})
    PRIMITIVES[name] = primitive
    BY_SYMBOL[primitive.symbol] = primitive
    if primitive.group:
        FUNCTIONS.update(dict.fromkeys((name, *primitive.aliases), primitive))
    return primitive


def composed(
    name: str, params: str, doc: str, composition: Callable[..., Number], **rest: Any
) -> Primitive:
    """Enter a function that stands for a formula of others, and return it."""
    primitive = Primitive(
        name, tuple(params.split()), doc=doc, composition=composition, symbol=name, **rest
    )
    COMPOSED[name] = primitive
    return primitive


def helper(
    name: str,
    params: str,
    definition: Callable[..., Number] | None = None,
    *,
    accurate: Callable[..., Number] | None = None,
    facts: str = "",
    **rest: Any,
) -> Primitive:
    """Return an operation for rules alone, without a derivative.

    `facts` are those fields of `Facts` that hold; `finite`: no poles at the ends of the domain.
    `definition` composes it readably from others, `accurate` so that no digits are lost.
    """
    for fact in facts.split():
        field = "infinite" if fact == "finite" else fact
        if Facts._field_defaults.get(field) is not False:
            raise ValueError(f"{name}: there is no fact {fact!r}")
        rest[field] = fact != "finite"
    primitive = Primitive(name, tuple(params.split()), variadic=params[:1] == "*", **rest)
    OPERATIONS[name] = primitive
    if definition:
        DEFINITIONS[name] = definition
    if accurate:
        ACCURATE[name] = accurate
    return primitive
