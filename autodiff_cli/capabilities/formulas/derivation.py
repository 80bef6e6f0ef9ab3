"""Step-by-step derivations of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic_derivative import Multi, derivatives, partials
from ...engine.algebra.walk import chain_of, facts_of, flat_inputs, has_variables, substitute
from ...engine.graphs.value import Value, constant, in_order, node, variable
from ...engine.numbers import budget
from ...engine.table.operators import (
    ADD,
    AND,
    CONSTANT,
    DIV,
    EQ,
    GE,
    GT,
    LE,
    LT,
    MUL,
    NEG,
    NOT,
    OR,
    POW,
    SUB,
    VARIABLE,
    WHERE,
)
from ...engine.table.primitive import PRIMITIVES, Primitive
from ...errors import ExpressionError, limit_error
from ...language.printer import expression_text
from ...language.typesetting import Typesetting, names_in, text_latex
from ...questions.problem import parse
from ...record import Record

# Nodes of a formula, shared ones counted at each use.
MAX_NODES = 400
# Steps of all derivations in an answer.
MAX_STEPS = 2_000

# Steps that are no rules; `conventions` adds the values at kinks.
SUBSTITUTE, SIMPLIFY, ASSUMPTION, CONVENTIONS = (
    "substitute",
    "simplify",
    "assumption",
    "conventions",
)

GREATER = {LT: GT, LE: GE}
SUM = PRIMITIVES["sum"]
PRODUCTS = (MUL, PRIMITIVES["prod"])


class RuleStep(Record):
    """A rule, the part that it rewrites, and the result."""

    rule: str
    """A rule, `chain` for an outer function or power, or a change of a result."""
    function: str
    """The function whose derivative is used, or `power` and so on."""
    part: Value
    """Variables stand for derivatives that are not yet computed."""
    result: Value
    condition: str
    """`x != 0`, or in words; empty if it holds wherever both sides are defined."""
    depth: int
    """The number of derivatives around the part."""
    pending: Mapping[str, Value]
    """The function whose derivative a variable stands for."""

    @property
    def is_rule(self) -> bool:
        return self.rule not in (SUBSTITUTE, SIMPLIFY, CONVENTIONS, ASSUMPTION)

    @property
    def name(self) -> str:
        if self.rule == "chain":
            return f"chain, {self.function}"
        return self.function if self.rule == "function" else self.rule

    @property
    def title(self) -> str:
        """The name beside mathematics, with `log` as ln."""
        return self.name.replace("log", "ln") if self.function == "log" else self.name


def derivative_name(by: tuple[str, ...], of: str = "") -> str:
    """Return a derivative on one line: d2/dx dy, or d2y/dx^2 of an unknown."""
    powers = {name: by.count(name) for name in by}
    below = " ".join(f"d{name}" + (f"^{k}" if k > 1 else "") for name, k in powers.items())
    return f"d{len(by) if len(by) > 1 else ''}{of}/{below}"


class Derivation(Record):
    """The derivation of one derivative."""

    declaration = """
    by: the variables that it is taken by, in their order
    function: the function
    steps: the steps
      rule: the rule
      function nonempty: the function that the rule is about
      part: what the rule is applied to
      result: what comes of it
      condition nonempty: where that holds
      depth: how deep in the derivation
    formula: the derivative
    """

    by: tuple[str, ...]
    """The variables of differentiation, of which this derivation is by the last."""
    function: Value
    steps: tuple[RuleStep, ...]
    formula: Value
    """The result, as `diff` returns it."""


def derivations(
    output: Value,
    names: Sequence[str],
    leaves: Sequence[Value],
    order: int,
    formulas: Mapping[Multi, Value],
    assumed: Sequence[str] = (),
) -> tuple[Derivation, ...]:
    """Return the derivations of the derivatives `formulas`, lower orders first.

    `assumed` are the assumptions used. Raises `ExpressionError` if they are too long.
    """
    worked: list[Derivation] = []
    before: Mapping[Multi, Value] = {(): output}
    for k in range(1, order + 1):
        following, used = (
            (formulas, assumed) if k == order else (derivatives(output, leaves, k), ())
        )
        for multi, formula in following.items():
            by = tuple([names[j] for j in multi])
            worked.append(derivation(before[multi[:-1]], leaves[multi[-1]], by, formula, used))
            if sum(len(entry.steps) for entry in worked) > MAX_STEPS:
                message = f"the derivations have more than {MAX_STEPS:,} steps"
                raise limit_error(
                    message, "ask for fewer variables, `--wrt x`, or leave `--steps` out"
                )
        before = following
    return tuple(worked)


def derivation(
    function: Value,
    leaf: Value,
    by: tuple[str, ...],
    formula: Value,
    assumed: Sequence[str] = (),
    follows: Sequence[Value] = (),
) -> Derivation:
    """Return the derivation of a formula's derivative by a leaf, which ends in `formula`.

    The leaves `follows` are functions of it, whose derivatives stay open.
    """
    check_length(function)
    return Derivation(
        by, function, tuple(_Rewriting(function, leaf, formula, assumed, follows).steps()), formula
    )


def check_length(function: Value) -> None:
    """Raise `ExpressionError` for a formula that is too long for steps."""
    size = facts_of((function,), lambda _, sizes: 1 + sum(sizes))[function]
    if size > MAX_NODES:
        message = (
            f"a formula of {size:,} operations and numbers is too long to be derived step by step"
        )
        raise limit_error(message, f"leave `--steps` out, or derive a part: of {MAX_NODES} at most")


def pending_name(function: Value, by: str) -> str:
    """Return the variable that stands for a function's derivative."""
    return f"d/d{by}({expression_text(function)})"


# A rule, its result, a function and conditions.
Outcome = tuple[str, Value, str, tuple[str, ...]]


class _Rewriting:
    def __init__(
        self,
        function: Value,
        leaf: Value,
        formula: Value,
        assumed: Sequence[str],
        follows: Sequence[Value],
    ) -> None:
        self.function, self.leaf, self.formula, self.assumed = function, leaf, formula, assumed
        varies = facts_of((function,), lambda v, inputs: v is leaf or v in follows or any(inputs))
        self.varying = {value for value in varies if varies[value]}
        self.pending: dict[str, Value] = {}
        self.results = {
            name: variable(name) for name in (pending_name(v, leaf.label) for v in follows)
        }
        self.conditional = False

    def steps(self) -> Iterator[RuleStep]:
        root = self.open(self.function)
        if root.primitive is CONSTANT:
            rule = "variable" if self.function is self.leaf else "constant"
            yield self.step(rule, self.pending_derivative(self.function), root, 0)
            return
        # names of derivatives, and results of rules
        stack: list[tuple[str, Value | None, int]] = [(root.label, None, 0)]
        while stack:
            name, result, depth = stack.pop()
            if result is None:
                if name in self.results:
                    continue
                rule, derivative, function, conditions = self.rule(self.pending[name])
                self.conditional = self.conditional or bool(conditions)
                yield self.step(
                    rule, variable(name), derivative, depth, function, "; ".join(conditions)
                )
                stack.append((name, derivative, depth))
                stack += [(inner, None, depth + 1) for inner in reversed(self.waiting(derivative))]
                continue
            inserted = substitute(
                result, lambda v: self.results.get(v.label, v) if not v._prev else None
            )
            if inserted is not result and expression_text(inserted) != expression_text(result):
                yield self.step(SUBSTITUTE, result, inserted, depth)
            self.charge(inserted)
            last = name == root.label
            if last and self.assumed:
                yield from self._last_steps(inserted, depth)
                continue
            simple = self.formula
            if not last:
                simple = inserted if _is_fraction(inserted) else simplify((inserted,))[0]
            yield from self._shortened(inserted, simple, depth)
            self.results[name] = simple

    def step(
        self,
        rule: str,
        part: Value,
        result: Value,
        depth: int,
        function: str = "",
        condition: str = "",
    ) -> RuleStep:
        self.charge(part, result)
        pending = {name: self.pending[name] for name in self.waiting(part, result)}
        return RuleStep(rule, function, part, result, condition, depth, pending)

    def charge(self, *graphs: Value) -> None:
        budget.charge(budget.DERIVED_NODE * len(in_order(graphs)))

    def waiting(self, *graphs: Value) -> list[str]:
        return [
            value.label
            for value in in_order(graphs)
            if value.label in self.pending and not value._prev
        ]

    def open(self, function: Value) -> Value:
        if function is self.leaf:
            return constant(1.0, "1")
        if function not in self.varying:
            return constant(0.0, "0")
        return self.pending_derivative(function)

    def pending_derivative(self, function: Value) -> Value:
        name = pending_name(function, self.leaf.label)
        self.pending[name] = function
        return variable(name)

    # -- the rules
    def rule(self, value: Value) -> Outcome:
        primitive, inputs = value.primitive, value._prev
        if primitive in (ADD, SUB):
            # signs and parentheses are kept
            kept = (ADD, SUB, NEG)
            return (
                "sum",
                substitute(value, lambda v: None if v.primitive in kept else self.open(v)),
                "",
                (),
            )
        if primitive is SUM:
            return "sum", node(SUM, tuple(map(self.open, inputs))), "", ()
        if (multiple := self.constant_multiple(value)) is not None:
            return "constant multiple", multiple, "", ()
        if primitive in PRODUCTS:
            # each factor is differentiated once
            factors = flat_inputs(value, PRODUCTS)
            terms = [
                chain_of(MUL, [*factors[:k], self.open(f), *factors[k + 1 :]])
                for k, f in enumerate(factors)
            ]
            return "product", _total(terms), "", ()
        if primitive is DIV:
            return self.quotient(*inputs)
        if primitive is WHERE:
            condition, then, otherwise = inputs
            compared = [
                part._prev
                for part in flat_inputs(condition, (AND, OR, NOT))
                if part.primitive.holds
            ]
            borders = tuple(dict.fromkeys(_apart(*sides) for sides in compared))
            return (
                "branches",
                node(WHERE, (condition, self.open(then), self.open(otherwise))),
                "",
                borders,
            )
        return self.of_function(value)

    def constant_multiple(self, value: Value) -> Value | None:
        outer: Callable[[Value], Value]
        if value.primitive is NEG:
            inner, outer = value._prev[0], _negative
        elif value.primitive is DIV and value._prev[1] not in self.varying:
            inner, outer = value._prev[0], lambda v: node(DIV, (v, value._prev[1]))
        else:
            factors = flat_inputs(value, PRODUCTS)
            fixed = [factor for factor in factors if factor not in self.varying]
            if not fixed:
                return None
            outer = partial(_times, chain_of(MUL, fixed))
            inner = chain_of(MUL, [factor for factor in factors if factor in self.varying])
            left = inner
            while left.primitive is MUL:
                self.varying.add(left)
                left = left._prev[0]
        multiple = self.constant_multiple(inner)
        return outer(self.open(inner) if multiple is None else multiple)

    def quotient(self, above: Value, below: Value) -> Outcome:
        square = node(POW, (below, constant(2.0, "2")))
        if above not in self.varying:
            slope = _times(above, self.open(below))
            return "reciprocal", node(DIV, (node(NEG, (slope,)), square)), "", ()
        first, second = node(MUL, (self.open(above), below)), node(MUL, (above, self.open(below)))
        return "quotient", node(DIV, (node(SUB, (first, second)), square)), "", ()

    def _shortened(self, inserted: Value, simple: Value, depth: int) -> Iterator[RuleStep]:
        """Yield the step to a simpler formula, if it is another one."""
        if expression_text(simple) != expression_text(inserted):
            # the last formula may include values at kinks that were not derived
            more = self.conditional and not _comparisons(simple) <= _comparisons(inserted)
            yield self.step(CONVENTIONS if more else SIMPLIFY, inserted, simple, depth)

    def _last_steps(self, inserted: Value, depth: int) -> Iterator[RuleStep]:
        """Yield the steps to a formula that holds under assumptions."""
        plain = simplify((inserted,))[0]
        if expression_text(plain) not in (expression_text(inserted), expression_text(self.formula)):
            yield self.step(SIMPLIFY, inserted, plain, depth)
            inserted = plain
        if expression_text(inserted) != expression_text(self.formula):
            yield self.step(
                ASSUMPTION, inserted, self.formula, depth, "", " and ".join(self.assumed)
            )

    def _choice(self, value: Value, slopes: Sequence[Value]) -> Value:
        """Return the derivative of a choice, not of a sum: of equal inputs, as in max(x, x, y), one
        counts.
        """
        inputs = value._prev
        *places, last = range(len(inputs)) if value.primitive.variadic else (1, 2, 0)
        result = self.open(inputs[last])
        for k in reversed(places):
            slope = self.open(inputs[k])
            if not slope.source or slope.source != result.source:
                result = node(WHERE, (slopes[k]._prev[0], slope, result))
        return result

    def of_function(self, value: Value) -> Outcome:
        primitive, inputs = value.primitive, value._prev
        active = [k for k, p in enumerate(inputs) if p in self.varying]
        one_of_them = bool(primitive.smooth) and (
            len(active) > 1 or (primitive.variadic and len(inputs) == 2)
        )
        slopes, conditions = _slopes(value, range(len(inputs)) if one_of_them else active)
        if one_of_them:
            result = self._choice(value, slopes)
        else:
            terms = [
                _times(slope, self.open(inputs[k])) for k, slope in zip(active, slopes, strict=True)
            ]
            result = _total(terms)
        is_chain = not all(inputs[k] is self.leaf for k in active)
        if primitive is POW:
            rule = "general power" if len(active) > 1 else ("power", "exponential")[active[0]]
            return (
                ("chain", result, rule, conditions) if is_chain else (rule, result, "", conditions)
            )
        return (
            "chain" if is_chain else "function",
            result,
            primitive.spelling or primitive.name,
            conditions,
        )


def _slopes(value: Value, active: Sequence[int]) -> tuple[list[Value], tuple[str, ...]]:
    """Return the partial derivatives of an operation by its inputs, and the conditions on which
    they hold.
    """
    if value.primitive.smooth:
        return _slopes_of_choice(value, active), (_off_border(value),)
    # Inputs have distinct names; numbers stay: exponents, orders, slopes.
    primitive, inputs = value.primitive, value._prev
    names = {k: variable(f"{k}") for k, p in enumerate(inputs) if k in active or has_variables(p)}
    local = node(primitive, tuple([names.get(k, p) for k, p in enumerate(inputs)]))
    formulas = simplify(partials(local, [names[k] for k in active]))
    places = {leaf: inputs[k] for k, leaf in names.items()}
    conditions: list[str] = []
    slopes = []
    for formula in formulas:
        slope, exceptions = _beside_single_points(formula, places)
        conditions += exceptions
        slopes.append(substitute(slope, places.get))
    if primitive.kink is not None and not conditions:
        conditions.append(_away(value))
    return slopes, _without_implied(conditions)


def _without_implied(conditions: Sequence[str]) -> tuple[str, ...]:
    """Return conditions without those that another implies: one on one input may imply one on
    another.
    """
    implied = {c for c in conditions for other in conditions if c.startswith(f"{other} and ")}
    return tuple([c for c in dict.fromkeys(conditions) if c not in implied])


def _slopes_of_choice(value: Value, active: Sequence[int]) -> list[Value]:
    """Return the partial derivatives of an operation that is one of its inputs, as `max`, where one
    is chosen.
    """
    primitive, inputs = value.primitive, value._prev
    if not primitive.variadic:
        at = dict(zip(primitive.params, inputs, strict=True))
        return [_place(parse(primitive.smooth[k]).outputs[0], at) for k in active]
    if len(inputs) == 2:
        (first,) = parse(primitive.smooth[0]).outputs
        leaves = [v.label for v in in_order((first,)) if v.primitive is VARIABLE]
        return [_place(first, dict(zip(leaves, inputs, strict=True)))] * len(active)
    one, zero = constant(1.0, "1"), constant(0.0, "0")
    return [node(WHERE, (node(EQ, (inputs[k], value)), one, zero)) for k in active]


def _off_border(value: Value) -> str:
    """Return the condition that a choice is not between equal inputs."""
    return (
        _apart(*value._prev) if value.primitive.variadic and len(value._prev) == 2 else _away(value)
    )


def _beside_single_points(formula: Value, places: Mapping[Value, Value]) -> tuple[Value, list[str]]:
    """Return the general formula of a derivative that has other values at single points, and these
    exceptions.
    """
    conditions = []
    while formula.primitive is WHERE and any(
        v.primitive is EQ for v in in_order((formula._prev[0],))
    ):
        (border,) = simplify((substitute(formula._prev[0], places.get),))
        conditions.append(f"unless {expression_text(border)}")
        formula = formula._prev[2]
    return formula, conditions


def _apart(a: Value, b: Value) -> str:
    return f"{_side(a)} != {_side(b)}"


def _side(value: Value) -> str:
    text = expression_text(value)
    return f"({text})" if value.primitive is WHERE or value.primitive.gives_condition else text


def _away(value: Value) -> str:
    _, _, place = value.primitive.convention.rpartition(" at ")
    if place == "0":
        return f"{_side(value._prev[0])} != 0"
    return "away from kinks" + (
        f", where it is {value.primitive.convention}" if value.primitive.convention else ""
    )


# ---- graphs
def _place(formula: Value, inputs: Mapping[str, Value]) -> Value:
    return substitute(formula, lambda v: None if v._prev else inputs.get(v.label, v))


def _is_fraction(value: Value) -> bool:
    while value.primitive is NEG:
        (value,) = value._prev
    if value.primitive is DIV:
        return all(_is_fraction(p) and p.primitive is not DIV for p in value._prev)
    return value.primitive is CONSTANT


def _comparisons(formula: Value) -> set[str]:
    compared = [v for v in in_order((formula,)) if v.primitive.holds]
    turned = [
        node(GREATER[v.primitive], v._prev[::-1]) if v.primitive in GREATER else v for v in compared
    ]
    return set(map(expression_text, turned))


def _negative(value: Value) -> Value:
    if value.primitive in (MUL, DIV):
        return node(value.primitive, (_negative(value._prev[0]), value._prev[1]))
    return node(NEG, (value,))


def _positive(value: Value) -> Value | None:
    if value.primitive is NEG:
        return value._prev[0]
    first = _positive(value._prev[0]) if value.primitive in (MUL, DIV) else None
    return first and node(value.primitive, (first, value._prev[1]))


def _total(terms: Sequence[Value]) -> Value:
    total, *rest = terms
    for term in rest:
        positive = _positive(term)
        total = node(ADD, (total, term)) if positive is None else node(SUB, (total, positive))
    return total


def _times(factor: Value, slope: Value) -> Value:
    if slope.primitive is CONSTANT and slope.source == "1":
        return factor
    if factor.primitive is CONSTANT and factor.data in (0.0, 1.0):
        return slope if factor.data else factor
    if factor.primitive is WHERE and not any(map(has_variables, factor._prev[1:])):
        condition, then, otherwise = factor._prev
        return node(WHERE, (condition, _times(then, slope), _times(otherwise, slope)))
    return node(MUL, (factor, slope))


def operator(by: str, latex: str = "") -> Primitive:
    """Return the operation that prints a derivative: `d/dx(…)`."""
    return Primitive("derivative", ("f",), symbol=f"d/d{by}", spelling=f"d/d{by}", latex=latex)


class TypesetStep(NamedTuple):
    """A step in LaTeX, its rule in words, and the condition that it holds under, else an empty
    text.
    """

    part: str
    result: str
    title: str
    condition: str


def typeset_steps(derivations: Sequence[Derivation]) -> Iterator[list[TypesetStep]]:
    """Yield the steps of each derivation in LaTeX."""
    names = list(dict.fromkeys(names_in([entry.function for entry in derivations])))
    typeset = Typesetting([*names, *(entry.by[-1] for entry in derivations)])
    steps = [step for entry in derivations for step in entry.steps]
    followers = {v.label for step in steps for v in step.pending.values() if not v._prev}
    several = len({*names} - followers) > 1
    for entry in derivations:
        name = typeset.name(entry.by[-1])
        sign = r"\partial " if several else "d " if name.startswith("\\") else "d"
        derivative = operator(entry.by[-1], rf"\frac{{{sign.strip()}}}{{{sign}{name}}}")
        listed = []
        for step in entry.steps:
            sides = (
                as_written(graph, step.pending, derivative) for graph in (step.part, step.result)
            )
            part, result = map(typeset.expression, sides)
            conditions = [
                _condition_latex(one, typeset) for one in step.condition.split("; ") if one
            ]
            listed.append(TypesetStep(part, result, step.title, r";\ ".join(conditions)))
        yield listed


def latex(derivations: Sequence[Derivation]) -> str:
    """Return the steps in LaTeX with their rules."""
    rows: list[str] = []
    for steps in typeset_steps(derivations):
        if rows:
            rows[-1] += "[1ex]"
        for step in steps:
            condition = rf"\quad({step.condition})" if step.condition else ""
            rows.append(
                rf"{step.part} &= {step.result} && \text{{{text_latex(step.title)}}}{condition} \\"
            )
    if not rows:
        return ""
    return "\n".join(
        [r"\begin{align*}", *rows[:-1], rows[-1].removesuffix(r" \\"), r"\end{align*}"]
    )


def _condition_latex(condition: str, typeset: Typesetting) -> str:
    try:
        (choice,) = parse(f"where({condition.removeprefix('unless ')}, 1, 0)").outputs
    except (ExpressionError, ValueError):
        return rf"\text{{{text_latex(condition)}}}"
    return r"\text{unless } " * condition.startswith("unless ") + typeset.expression(
        choice._prev[0]
    )


def as_written(graph: Value, pending: Mapping[str, Value], derivative: Primitive) -> Value:
    """Return a part of a step with open derivatives as operations."""
    operations = {name: node(derivative, (function,)) for name, function in pending.items()}
    return substitute(graph, lambda v: None if v._prev else operations.get(v.label, v))
