"""Span, and errors and warnings that a user can cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

_KINDS = {
    2: "usage point missing_value request",
    3: "syntax name arity type",
    4: "domain derivative dimension overflow limit",
    5: "io",
    70: "internal",
}
# The exit code of each kind of error, for all kinds.
EXIT_CODES = {kind: code for code, kinds in _KINDS.items() for kind in kinds.split()}


class Span(NamedTuple):
    """A piece of the program's text: 0-based, half-open code-point offsets.

    `via` is the call that led into an expanded function body, if any.
    """

    start: int
    end: int
    via: Span | None = None


class Offer(NamedTuple):
    """A replacement for a piece of the text, one possible meaning."""

    start: int
    end: int
    text: str
    certain: bool = True
    """Whether the only offer is the only possible meaning."""
    shown: tuple[str, ...] = ()
    """The spellings in a hint, perhaps with context; empty if too long."""
    preferred: bool = False
    """Whether informal reading takes it before the others: `tan^-1 x` is the inverse in all books
    and calculators.
    """

    def within(self, text: str) -> str:
        """Return the text with this replacement."""
        return text[: self.start] + self.text + text[self.end :]


class Diagnostic(NamedTuple):
    """An error or a warning: the problem, its place, and a hint."""

    kind: str
    message: str
    span: Span | None = None
    hint: str | None = None
    also: tuple[tuple[Span, str], ...] = ()
    """Further places to mark, each with a few words."""
    offers: tuple[Offer, ...] = ()
    """The spellings in the hint; several are different meanings."""


class AutodiffError(Exception):
    """An error that this package raises on purpose.

    It is neither a ValueError nor an ArithmeticError: handlers of missing values must not catch a
    limit on the work or a mistake in a text.
    """


class Diagnosed(Exception):
    """An error with its text as message, and all of it in `diagnostic`."""

    text: str | None = None
    """The text of the span, if not the program (a point value, say)."""
    read: str | None = None
    """The corrected program; None if it was read as typed."""

    def __init__(
        self,
        kind: str,
        message: str,
        span: Span | None = None,
        hint: str | None = None,
        also: tuple[tuple[Span, str], ...] = (),
        offers: tuple[Offer, ...] = (),
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(kind, message, span, hint, also, offers)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self.diagnostic), self.__dict__

    @property
    def kind(self) -> str:
        return self.diagnostic.kind

    @property
    def span(self) -> Span | None:
        return self.diagnostic.span

    @property
    def hint(self) -> str | None:
        return self.diagnostic.hint

    @property
    def offers(self) -> tuple[Offer, ...]:
        return self.diagnostic.offers

    @property
    def exit_code(self) -> int:
        """The exit code of the command line for this kind of error."""
        return EXIT_CODES[self.diagnostic.kind]

    def at(self, span: Span | None) -> Self:
        """Return this error, placed at a span unless it has a place."""
        if self.diagnostic.span is None and span is not None:
            self.diagnostic = self.diagnostic._replace(span=span)
        return self


class ExpressionError(Diagnosed, AutodiffError):
    """An error that a user can cause."""


class NotSmooth(ExpressionError):
    """A derivative that may not exist: the point lies on a kink or a jump."""

    is_decided = True
    """Whether both sides are known; false where one has no value or no power series at this very
    point.
    """


@contextmanager
def errors_about(text: str | None, *, always: bool = False) -> Iterator[None]:
    """Set the text of errors that have none; with `always`, of all."""
    try:
        yield
    except ExpressionError as error:
        error.text = text if always or error.text is None else error.text
        raise


def usage_error(message: str, hint: str | None = None, span: Span | None = None) -> ExpressionError:
    """Return the error of conflicting options, names or data."""
    return ExpressionError("usage", message, span, hint)


def needs_error(name: str, needs: str, text: str | None = None) -> ExpressionError:
    """Return the error of an option without what it needs; `text` is how to write that."""
    text = needs if text is None else text
    return usage_error(
        f"`{name}` needs {needs}", f"{text and f'add {text}, or '}leave `{name}` out"
    )


def limit_error(message: str, hint: str) -> ExpressionError:
    """Return the error of a request that is too large."""
    return ExpressionError("limit", message, None, hint)


def point_error(message: str, hint: str | None = None, span: Span | None = None) -> ExpressionError:
    """Return the error of an invalid value of a name."""
    return ExpressionError("point", message, span, hint)


def require(module: str, extra: str, message: str, otherwise: str = "") -> Any:
    """Return a module of an extra. Raises a usage error if there is none."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        from .extras import install_hint

        hint = f"{install_hint(extra)}{otherwise}"
        raise ExpressionError("usage", message, hint=hint) from None


_LONG = re.compile(r"--[^\W\d_]")


def looks_like_option(arg: str) -> bool:
    """Return whether an argument is a long option, known or not: two dashes and a letter."""
    return _LONG.match(arg) is not None


def quote(names: Iterable[str], otherwise: str = "none") -> str:
    """Return names as in a message; `otherwise` if there are none."""
    return ", ".join([f"`{name}`" for name in names]) or otherwise


def either(names: Iterable[str]) -> str:
    """Return the names as a message lists alternatives: "`x` or `y`"."""
    return " or ".join([f"`{name}`" for name in names])


def spelling_hint(offers: Iterable[Offer]) -> str:
    """Return suggestions as the text of a hint."""
    return either(spelling for offer in offers for spelling in offer.shown)


def plural(count: int, noun: str) -> str:
    """Return a number of things in words: `1 row`, `1,200 rows`."""
    return (
        f"{count:,} {noun}"
        if count == 1
        else f"{count:,} {noun}{'es' if noun.endswith('x') else 's'}"
    )


# The letters of a word that shares most of them with many others: only one typing error makes these
# near.
SHORT = 4


def closest(word: str, words: Sequence[str], cutoff: float = 0.6) -> str | None:
    """Return the most similar word, or None."""
    return next(iter(near_words(word, words, 1, cutoff)), None)


def near_words(word: str, words: Sequence[str], count: int, cutoff: float = 0.6) -> list[str]:
    """Return the most similar words.

    >>> near_words("sine", ["sin", "sinh", "floor"], 2), near_words("foo", ["floor"], 1)
    (['sin', 'sinh'], [])
    """
    from difflib import get_close_matches

    near = get_close_matches(word, words, count + 3, cutoff)
    if len(word) <= SHORT:
        near = [other for other in near if other.startswith(word) or _is_one_slip(word, other)]
    return near[:count]


def _is_one_slip(typed: str, word: str) -> bool:
    """Return whether a letter is missing, added, wrong, or exchanged with its neighbour."""
    typed, word = typed.lower(), word.lower()
    start = next(
        (k for k, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b),
        min(len(typed), len(word)),
    )
    ours, theirs = typed[start:], word[start:]
    swapped = ours[1::-1] + ours[2:]
    return ours[1:] == theirs[1:] or ours[1:] == theirs or ours == theirs[1:] or swapped == theirs


# Whether `--debug` was given.
tracebacks = False


def error_of(fault: Exception, task: str) -> ExpressionError:
    """Return the error for a fault in a `task`; `--debug` raises bugs."""
    if isinstance(fault, ExpressionError):
        return fault
    if isinstance(fault, MemoryError):
        return limit_error("there is not enough memory for this", "use a smaller program")
    if tracebacks:
        raise fault
    if isinstance(fault, ModuleNotFoundError) and (fault.name or "").startswith(f"{__package__}."):
        part = str(fault.name).removeprefix(f"{__package__}.")
        message = f"this installation lacks a part of autodiff: `{part}`"
        return ExpressionError(
            "usage", message, hint="install it whole: `pip install --force-reinstall autodiff-cli`"
        )
    return ExpressionError(
        "internal",
        f"something went wrong inside autodiff ({type(fault).__name__}); this is a bug, sorry",
        hint=f"please report it, with {task} and what it prints under `--debug`",
    )
