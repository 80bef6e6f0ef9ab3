"""The hints that take trying: for a value that is not used, and a call of what is no function."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import ExpressionError, Offer, Span
from ..language.statements import UnexplainedText
from ..table.primitive import FUNCTIONS
from .context import POWERS, TIGHT, Kind
from .suggestions import means, offered
from .vocabulary import called, context_at

_LONGEST = 40

DERIVATIVES = "write the function itself: derivatives are what the program works out"


def explained(text: str, error: UnexplainedText, known_names: Collection[str]) -> ExpressionError:
    """Return the error with what to write instead; `known_names` have values by the point."""
    assert error.span is not None
    offers: tuple[Offer, ...] = ()
    if error.after:
        value = text[error.span.start : error.span.end]
        hint = "give it a name, or leave it out"
        if text[error.after] in "+-−":
            hint = "put a sum over several lines in parentheses"
        elif len(value) <= _LONGEST and "\n" not in value and means(f"y = {value}"):
            hint = f"give it a name, `y = {value}`, or leave it out"
    elif error.functions is not None:
        hint, offers = _unknown(text, error.span, error.end, error.functions, known_names)
    else:
        hint, offers = _product(text, error.span, error.end, known_names)
    return ExpressionError(error.kind, str(error), error.span, hint, offers=offers)


_DERIVATIVES = frozenset(("diff", "deriv", "derivative", "differentiate", "grad", "gradient"))
"""Names of derivative functions in other programs."""


_SIZES = frozenset(("len", "length", "size", "numel", "shape"))
"""Names of functions in other programs that say how many entries there are."""


def _unknown(
    text: str, span: Span, end: int, functions: Collection[str], known_names: Collection[str]
) -> tuple[str, tuple[Offer, ...]]:
    name = text[span.start : span.end]
    offers = called(text, span, end, known_names)
    if offers:
        return f"write {_listed(offers)}", offers
    if name.lower() in _DERIVATIVES:
        return DERIVATIVES, ()
    if name.lower() in _SIZES:
        return "how many entries a list has is written as a number: `sum(x)/3`, `mean(x)`, `sum(x[i]**i, i, 1, 3)`", ()
    from difflib import get_close_matches

    near = get_close_matches(name, [*FUNCTIONS, *functions], 3)
    if near:
        return f"did you mean {' or '.join(f'`{name}`' for name in near)}?", ()
    return "`autodiff functions` lists them all", ()


def _product(text: str, name_span: Span, end: int, known_names: Collection[str]) -> tuple[str, tuple[Offer, ...]]:
    name = text[name_span.start : name_span.end]
    arguments = text[name_span.end : end].strip()
    context = context_at(text, name_span, known_names)
    tokens, kinds = context.tokens, context.kinds
    if context.partner[context.at + 1] == context.at + 2:
        offer = Offer(name_span.start, end, name, shown=(name,))
        return f"for its value write `{name}`", (offer,)
    sign = context.signs() - 1
    of_function = False
    following = kinds[context.partner[context.at + 1] + 1]
    # A division or a power whose right side is the call, perhaps with signs before it.
    if sign > 0 and kinds[sign] in (Kind.DIVIDE, Kind.POWER) and following not in POWERS:
        within = text[tokens[sign + 1].start : name_span.start]
        left = context.term(sign) if kinds[sign] == Kind.DIVIDE else context.atom(sign)
        start = tokens[left].start
        before = text[start : tokens[sign + 1].start]
        base = text[start : tokens[left].end]
        if kinds[sign] == Kind.POWER and left == sign - 1 and base in FUNCTIONS:
            of_function = True
            spelling = f"{base}{arguments}**{within}{name}"
            offers = [Offer(start, end, spelling, shown=(spelling,))]
        else:
            spellings = [f"{before}({within}{name}*{arguments})", f"({before}{within}{name})*{arguments}"]
            offers = [Offer(start, end, spelling, shown=(spelling,)) for spelling in spellings]
    else:
        spelling = f"{name}*{arguments}"
        is_known = name in known_names or any(
            kinds[k] == Kind.NAME and kinds[k + 1] != Kind.OPEN and text[token.start : token.end] == name
            for k, token in enumerate(tokens)
        )
        certain = is_known and (sign < 0 or kinds[sign] not in TIGHT)
        offers = [Offer(name_span.end, tokens[context.at + 1].start, "*", certain, (spelling,))]
    good = tuple([offer for offer in offers if offered(offer.shown[0])])
    if not good:
        # What is in the parentheses may need a repair of its own.
        unseen = tuple([offer._replace(shown=()) for offer in offers]) if len(offers) == 1 else ()
        return "a product has a sign between its factors, as in `a*b`", unseen
    if of_function:
        return f"for a power, which stands after the argument of a function, write {_listed(good)}", good
    return f"for a product write {_listed(good)}", good


def _listed(offers: Collection[Offer]) -> str:
    return " or ".join(f"`{spelling}`" for offer in offers for spelling in offer.shown)
