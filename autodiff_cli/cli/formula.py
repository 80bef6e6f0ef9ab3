"""A command line without a command: `autodiff 'x^2'`, `autodiff '100 kPa in psi'`.

With options the formula is given to the command that they are for: `grad` at a point, `solve` for an equation, else
`diff`. Alone it is answered as a line of a session.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from ..capability import resolve
from ..errors import ExpressionError, errors_about, looks_like_option, usage_error
from .declarations import COMMANDS, PAGES

CONVERT = "convert"
"""The synonym of `QUANTITY in UNIT`."""
MAX_VARIABLE_LENGTH = 3
"""The most letters of a name in a difference that is no hyphenated word."""
_HYPHENATED = re.compile(r"[A-Za-z_-]+")
_OPTION = re.compile(r"-[A-Za-z-]*")
_READING = ("--lenient", "--strict", "-q", "--quiet", "--debug")
_PLAIN = re.compile(r"(?![d∂][^/]*/[d∂])[\w.+*/^()²³-]+")
"""A formula in one piece: no equation, program, list or derivative, and no unit behind a space."""
_GLUED = re.compile(r"\d[^\W\d_²³]{2}")
"""A number with a word behind it, which may be a unit: `40mm`."""
_INTEGRAL_SIGN = re.compile(r"\s*(?:∫|\\int(?![a-zA-Z])|integra(?:te|l)\s)")
"""How integrals by hand begin."""
_CONVERSION = re.compile(r"(.+)\s(?:in|to|->|→)\s+(\S.*)", re.DOTALL)


def is_formula(args: Sequence[str]) -> bool:
    """Return whether a command line begins with a formula; a word by itself is a command, perhaps a mistyped one."""
    if not args:
        return False
    first = args[0]
    if first in COMMANDS or first in PAGES or looks_like_option(first) or _OPTION.fullmatch(first):
        return False
    from ..engine.table.primitive import FUNCTIONS
    from ..language.builder import CONSTANTS  # options need no engine

    if first == CONVERT or first in CONSTANTS or not first.isascii() or not first.strip():
        return True
    if first.isidentifier():
        if first == "lim":
            return len(args) > 1
        return first in FUNCTIONS and len(args) > 1 and not _is_command(first)
    # `x-y`, and neither `line-search` nor `to-js`
    if first.startswith("to-"):
        return False
    return not _HYPHENATED.fullmatch(first) or max(map(len, first.split("-"))) <= MAX_VARIABLE_LENGTH


def _is_command(word: str) -> bool:
    from .slips import COMMAND_ADVICE, COMMAND_SYNONYMS

    return word in COMMAND_SYNONYMS or word in COMMAND_ADVICE


def answer_formula(args: Sequence[str]) -> int:
    """Answer a command line that `is_formula`; return the exit code. Raises `ExpressionError`."""
    text, options = _split(args)
    asked = _in_words(text)
    if asked is not None and _is_informal(options):
        import shlex

        from ..show.error import write_reading
        from .commands import call

        write_reading("", f"autodiff {shlex.join(asked)}")
        return call(asked[0], [*asked[1:], *options])
    command, space, rest = text.partition(" ")
    if text.lstrip().startswith(("lim", "\\lim")):
        limit = resolve("session.session.limit_arguments")(text)
        if limit is not None:
            from .commands import call

            return call("limit", [*limit, *options])
    if _INTEGRAL_SIGN.match(text):
        integral = resolve("session.session.integral_arguments")(text)
        if integral is not None:
            from .commands import call

            return call("integrate", [*integral, *options])
    if space and command in COMMANDS and len(args) == 1:
        raise usage_error(f"`{text}` is one argument", f"quote the formula alone: `autodiff {command} '{rest}'`")
    if rest[:1].isalnum() and _is_command(command):
        from .slips import bad_command

        raise bad_command(command)  # `integrate x^2` in quotes
    if _PLAIN.fullmatch(text) and not _GLUED.search(text) and _is_valid_with_variables(text):
        # what needs no session starts sooner
        from .commands import call

        if all(option in _READING for option in options):
            return call("diff", [text, *options])
        if _has_point(options):
            return call("grad", [text, *options])
    if not all(option in _READING for option in options):
        return _by_command(text, options)
    from .. import errors
    from ..show import error

    errors.tracebacks = "--debug" in options
    error.quiet = "-q" in options or "--quiet" in options
    answer_line = resolve("session.session_lines.answer_line")
    return int(answer_line(text, lenient=_is_informal(options)))


def _is_informal(options: Sequence[str]) -> bool:
    from .runner import is_shown

    at_terminal = is_shown(sys.stdout) and is_shown(sys.stderr) and "--strict" not in options
    return "--lenient" in options or at_terminal


MAX_WORDS_LENGTH = 500
"""The most characters of a question in words: each blank may begin its end, so the search is quadratic."""
_ASSIGNED = r"[^\W\d]\w*\s*=\s*[^=<>,\s][^=<>,]*"
_AT = re.compile(rf"([^=<>]+?)\s+(?:at|when|where|for)\s+({_ASSIGNED}(?:,\s*{_ASSIGNED})*)", re.DOTALL)
_DERIVATIVE_OF = re.compile(r"(?:the\s+)?(?:derivative|slope|gradient)\s+of\s+(.+)", re.DOTALL)


def _in_words(text: str) -> list[str] | None:
    """Return a command with its arguments for a question in words, as `slope of x^2 at x=3`; None for another text."""
    if len(text) > MAX_WORDS_LENGTH:
        return None
    derivative = _DERIVATIVE_OF.fullmatch(text.strip())
    formula = derivative[1] if derivative else text
    at = _AT.fullmatch(formula)
    if at is not None:
        return ["grad", at[1], "--at", at[2]]
    return ["diff", formula] if derivative else None


def _is_valid_with_variables(text: str) -> bool:
    from ..questions.problem import parse

    try:
        return bool(parse(text).leaves)
    except ExpressionError:
        return False


def _split(args: Sequence[str]) -> tuple[str, list[str]]:
    """Return the formula, of all words before the options, and the options."""
    end = next((k for k, arg in enumerate(args) if k and (looks_like_option(arg) or arg in ("-o", "-q"))), len(args))
    words, options = [*args[:end]], [*args[end:]]
    if words[0] == CONVERT:
        return _conversion(words[1:]), options
    if len(words) > 1 and any(map(os.path.exists, words)):
        raise usage_error("the shell has put the names of files into the formula", "put the formula in quotes")
    return " ".join(words), options


def _conversion(words: Sequence[str]) -> str:
    """Return `QUANTITY in UNIT` for what is written after `convert`. Raises `ExpressionError` unless it is one."""
    from ..engine.quantities.unit import parse_unit
    from ..questions.quantities import split_quantity

    typed = " ".join(words)
    match = _CONVERSION.fullmatch(typed)
    quantity, unit = match.groups() if match else (" ".join(words[:-1]), words[-1] if words else "")
    in_symbols = resolve("session.session.in_symbols")
    quantity, _, unit = in_symbols(f"{quantity} in {unit}").rpartition(" in ")
    with errors_about(quantity):
        number = split_quantity(quantity)
    if number is None:
        hint = "write it as `autodiff convert '2 m' ft`"
        raise usage_error("`autodiff convert` needs a quantity with its unit, and a unit", hint)
    parse_unit(unit)
    return f"{quantity} in {unit}"


def _has_point(options: Sequence[str]) -> bool:
    return any(option.partition("=")[0] in ("--at", "--points", "--data") for option in options)


def _by_command(text: str, options: Sequence[str]) -> int:
    from .commands import call

    conversion_of, has_variables, is_equation, are_equations, statements_of = (
        resolve(f"session.session.{name}")
        for name in ("conversion_of", "has_variables", "is_equation", "are_equations", "statements_of")
    )
    if any(is_equation(text, part) or are_equations(text, part) for part in statements_of(text)):
        return call("solve", [text, *options])
    if (conversion := conversion_of(text)) is not None:
        return call("grad", [*conversion, "--no-tree", *options])
    if _has_point(options):
        return call("grad", [text, *options])
    return call("diff", [text, *options]) if has_variables(text) else call("grad", [text, "--no-tree", *options])
