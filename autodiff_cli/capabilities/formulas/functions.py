"""The reference of the language's functions, from the table of primitives."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.api_answers import Answer
from ...engine.algebra.simplify import simplify
from ...engine.algebra.symbolic import SYMBOLIC, UNEVALUATED, as_node
from ...engine.algebra.symbolic_derivative import derivatives as formulas_of
from ...engine.graphs.value import Value, constant, node, variable
from ...engine.table.operators import WHERE
from ...engine.table.primitive import COMPOSED, FUNCTIONS, PRIMITIVES, Primitive
from ...errors import ExpressionError, near_words
from ...language.list_functions import FUNCTIONS_OF_LISTS, REPEATED
from ...language.printer import expression_text
from ...questions.problem import parse
from .function_examples import example_of

# The functions of lists by name, which are written out as operations on their entries.
UNROLLED = {primitive.name: primitive for primitive, _ in FUNCTIONS_OF_LISTS.values()} | {
    REPEATED.name: REPEATED
}

# The functions of the language by name and by alias.
LISTED = FUNCTIONS | COMPOSED | UNROLLED


class FunctionEntry(Answer, shows=("signature", "doc")):
    """A function of the language: signature, domain, derivative and definition."""

    declaration = """
    csv name signature group domain parameter derivative kink aliases doc
    name column: its name
    aliases column: its other names
    signature column: its name with its parameters
    group column: its group
    doc column: what it is
    domain column nonempty: its domain; null for all numbers
    derivatives column=derivative: its partial derivatives, by parameter
    kink column: its derivative at a kink; null where it has none
    example column nonempty: a command that computes it at a point; null in the list of all
    answer column nonempty: what that command prints; null in the list of all
    """

    name: str
    aliases: tuple[str, ...]
    signature: str
    doc: str
    domain: str
    """Empty for everywhere."""
    derivatives: dict[str, str]
    """The formulas of the partial derivatives, by parameter."""
    kink: str | None
    """The conventional derivative at a kink, if any."""
    group: str
    source: str
    """The source of the derivative, unless it is obvious."""
    example: str = ""
    """A command that computes it at a point; empty in the list of all."""
    answer: str = ""
    """What that command prints: its value and its partial derivatives."""


class Functions(Answer):
    """Several functions."""

    entries: tuple[FunctionEntry, ...]

    def __iter__(self) -> Iterator[FunctionEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<{len(self)} functions>"


def functions() -> Functions:
    """Return every function of the language, in the order of the table."""
    return Functions(tuple([describe(primitive) for primitive in dict.fromkeys(LISTED.values())]))


def function(name: str) -> FunctionEntry:
    """Return the function of a name or alias."""
    if name not in LISTED:
        near = near_words(name.lower(), list(LISTED), 3)
        hint = (
            f"did you mean {' or '.join(f'`{x}`' for x in near)}?"
            if near
            else "`autodiff functions` lists them all"
        )
        raise ExpressionError("name", f"there is no function `{name}`", None, hint)
    return with_example(describe(LISTED[name]))


def with_example(entry: FunctionEntry) -> FunctionEntry:
    """Return the entry with a command that computes the function, and what it prints."""
    example, answer = example_of(LISTED[entry.name])
    return entry._replace(example=example, answer=answer)


def describe(primitive: Primitive) -> FunctionEntry:
    """Return the entry of a primitive and its form with further arguments."""
    names = primitive.name, primitive.aliases, primitive.signature
    kink, formulas = primitive.convention or None, derivatives(primitive)
    entry = FunctionEntry(
        *names, primitive.doc, primitive.domain, formulas, kink, primitive.group, primitive.source
    )
    if not primitive.longer:
        return entry
    _, longer = forms(entry)
    by = {f"{name} of {longer.signature}": formula for name, formula in longer.derivatives.items()}
    domain = "; ".join(filter(None, [primitive.domain, f"{longer.signature}: {longer.domain}"]))
    return entry._replace(domain=domain, derivatives=formulas | by)


def forms(entry: FunctionEntry) -> list[FunctionEntry]:
    """Return the entries of a function's forms, two where it may have further arguments."""
    short = LISTED[entry.name]
    longer = PRIMITIVES.get(short.longer)
    if longer is None:
        return [entry]
    calls = [f"{entry.name}({', '.join(form.params)})" for form in (short, longer)]
    return [
        entry._replace(signature=call, domain=form.domain, derivatives=derivatives(form))
        for call, form in zip(calls, (short, longer), strict=True)
    ]


def derivatives(primitive: Primitive) -> dict[str, str]:
    """Return the partial derivatives as formulas; none of a function that is written out as
    operations on entries.
    """
    if primitive.name in UNROLLED:
        return {}
    call, slopes = rule(primitive)
    formulas = primitive.smooth or tuple(map(_formula, slopes.values()))
    of = f" of ({', '.join(operand.label for operand in call._prev)})" if primitive.variadic else ""
    of = f" of {expression_text(call)}" if primitive.shown_orders else of
    return {f"{name}{of}": formula for name, formula in zip(slopes, formulas, strict=True)}


def rule(primitive: Primitive) -> tuple[Value, dict[str, Value]]:
    """Return an operation on variables named as its parameters, and its partial derivatives.

    Formulas that hold away from kinks are kept as written. A variadic function has two variables.
    """
    names = primitive.params
    if primitive.variadic:
        stem = names[0].strip("*").removesuffix("s")
        names = (f"{stem}1", f"{stem}2")
    orders = map(constant, primitive.shown_orders)
    inputs = (*orders, *map(variable, names[len(primitive.shown_orders) :]))
    call = node(primitive, inputs)
    if primitive.composition is not None and not primitive.smooth:
        partials_by = formulas_of(primitive.composition(UNEVALUATED, *inputs), inputs, 1)
        return call, {name: partials_by[(k,)] for k, name in enumerate(names)}
    rules = zip(names, primitive.partials, strict=False)
    wanted = names[:1] if primitive.variadic else [n for n, p in rules if p] or names
    if primitive.smooth:
        slopes = [parse(text).outputs[0] for text in primitive.smooth]
    else:
        partials = [
            partial for partial in primitive.slopes(SYMBOLIC, inputs, call) if partial is not None
        ]
        slopes = [simplify((as_node(partial),))[0] for partial in partials[: len(wanted)]]
    return call, dict(zip(wanted, slopes, strict=True))


def _formula(slope: Value) -> str:
    if slope.primitive is WHERE:
        condition, then, otherwise = map(expression_text, slope._prev)
        return f"{then} if {condition} else {otherwise}"
    return expression_text(slope)
