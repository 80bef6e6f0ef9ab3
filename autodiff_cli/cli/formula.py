"""A command line without a command: `autodiff 'x^2'`, `autodiff '100 kPa in psi'`.

With options the formula is given to the command that they are for: `grad` at a point, `solve` for
an equation, else `diff`. Alone it is answered as a line of a session.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from ..capability import resolve
from ..errors import Diagnostic, ExpressionError, errors_about, looks_like_option, usage_error
from ..operating_system import command_line, quoted
from .declarations import COMMANDS, PAGES, declared

# The synonym of `QUANTITY in UNIT`.
CONVERT = "convert"
# The most letters of a name in a difference that is no hyphenated word.
MAX_VARIABLE_LENGTH = 3
# The signs of a formula in one piece, which needs no other reading.
_SIGNS = frozenset("_.+*/^()²³-")
_HAS_OPTION = r"\s--?[a-zA-Z]"
# What a formula does not begin with, behind a word: the word is a name then.
NO_FORMULA = tuple("=+-*/^:,;<>)!")
_ASSIGNED = r"([^\W\d]\w*)\s*="
# Options without values that may stand before a formula or a command too.
ANYWHERE = ("--lenient", "--strict", "--json")
_READING = ("--lenient", "--strict", "-q", "--quiet", "--debug")


def is_formula(args: Sequence[str]) -> bool:
    """Return whether a command line begins with a formula; a word by itself is a command, perhaps a
    mistyped one.
    """
    if not args:
        return False
    first = args[0]
    if first in COMMANDS or first in PAGES or looks_like_option(first) or _is_option(first):
        return False
    from ..language.builder import CONSTANTS  # options need no engine

    if first == CONVERT or first in CONSTANTS or not first.isascii() or not first.strip():
        return True
    if not first.isidentifier():
        return not _is_hyphenated_word(first)
    return len(args) > 1 and not looks_like_option(args[1]) and _begins_formula(first)


def _begins_formula(word: str) -> bool:
    """Return whether a word and what follows it are a formula or a question: `sin x`,
    `differentiate x^2`.
    """
    from ..engine.table.primitive import COMPOSED, FUNCTIONS

    if word == "lim" or _is_word(word):
        return True
    return (word in FUNCTIONS or word in COMPOSED) and not _is_command(word)


def _is_option(text: str) -> bool:
    letters = text.replace("-", "")
    return text[:1] == "-" and (not letters or (letters.isascii() and letters.isalpha()))


def _is_hyphenated_word(text: str) -> bool:
    """Return whether a text is a word such as `line-search` or `to-js`, and not `x-y`."""
    if text.startswith("to-"):
        return True
    letters = text.replace("-", "").replace("_", "a")
    is_word = "-" in text and letters.isascii() and letters.isalpha()
    return is_word and max(map(len, text.split("-"))) > MAX_VARIABLE_LENGTH


def _is_command(word: str) -> bool:
    from .slips import COMMAND_ADVICE, COMMAND_SYNONYMS

    return word in COMMAND_SYNONYMS or word in COMMAND_ADVICE


def _is_word(word: str) -> bool:
    from .slips import WORDS

    return word.lower() in WORDS


def _is_meant_as_command(word: str, rest: str) -> bool:
    """Return whether a word before a formula is a command's name elsewhere: `integrate x^2`,
    `expand (x + 1)^3`.
    """
    if rest[:1] == "(":
        from .slips import COMMAND_ADVICE

        return word in COMMAND_ADVICE
    return rest[:1].isalnum() and _is_command(word) and not rest.startswith("in ")


def answer_formula(args: Sequence[str]) -> int:
    """Answer a command line that `is_formula`; return the exit code. Raises `ExpressionError`."""
    text, options = _split(args)
    if _is_equation_of_function(text, options):
        return _call_as_read(["solve", text], options)
    if not _is_informal(options):
        return _answer(args, text, options)
    from ..questions.conventions import check_no_date, unsaid_convention

    check_no_date(text)
    code = _answer(args, text, options)
    note = unsaid_convention(text) if code == 0 else None
    if note is not None:
        from ..show.error import report

        report(note, None, level="note")
    return code


def _is_equation_of_function(text: str, options: Sequence[str]) -> bool:
    """Return whether a line is an equation such as `sin(x) = 0.5`, which the language has as a
    definition. Raises a usage error where it may be both, and in strict reading.
    """
    if ")" not in text.partition("=")[0] or "=" not in text or _has_point(options):
        return False
    from ..questions.typed_lines import equation_of_function

    if not equation_of_function(text):
        return False
    if not _is_informal(options):
        name = text.partition("(")[0].strip()
        hint = f"the equation is `autodiff solve {quoted(text.strip())}`"
        raise usage_error(f"this would define `{name}`, a function of the language, anew", hint)
    return True


def _answer(args: Sequence[str], text: str, options: Sequence[str]) -> int:
    """Answer a command line whose formula is this text; return the exit code."""
    from .commands import call

    _check_quotient(text, options)
    if text == args[0] and is_in_one_piece(text) and (command := _command_of_piece(text, options)):
        return call(command, [text, *options])  # what is no question in words starts sooner
    system = _as_system(args, options)
    if system is not None and "--strict" in options:
        hint = f"several equations are one argument: `autodiff {quoted(system[0])}`"
        raise usage_error(f"`{args[1]}` is one argument too many", hint)
    meant = None if "--strict" in options else _with_values(args, options) or system
    if meant is not None:
        return _answer_at(*meant)
    answered = _answer_in_words(args, text, options)
    if answered is not None:
        return answered
    text = _in_parentheses(text, options)
    answered = _answer_by_hand(args, text, options)
    return _answer_plain(text, options) if answered is None else answered


def _answer_in_words(args: Sequence[str], text: str, options: Sequence[str]) -> int | None:
    """Answer a question in words, or about the slope of an equation in x and y; None for another
    line.
    """
    from ..questions.calculus_words import (
        calculus_arguments,
        without_request,
    )
    from ..questions.typed_lines import measured_question, words_arguments

    if _is_informal(options):
        asked = calculus_arguments(without_request(text))
        if asked is not None:
            return _call_as_read(asked, options)
    command, space, _ = text.partition(" ")
    if space and command in COMMANDS and text == args[0]:
        return None  # a command and its formula in one pair of quotes
    if _is_informal(options):
        asked = _by_other_word(args, options) or words_arguments(text)
        if asked is None and not _has_point(options) and "=" not in text:
            asked = measured_question(text)
        if asked is not None:
            return _call_as_read(asked, options)
    else:
        _check_no_slope(text, options)
    asked = _implicit_slope(text, options)
    return None if asked is None else _answer_slope(text, asked, options)


def _check_quotient(text: str, options: Sequence[str]) -> None:
    """Refuse a lone `dy/dx`, unless its names have values."""
    above, sign, below = text.partition("/")
    if sign and text.lstrip()[:1] == "d" and not _has_point(options):
        from ..questions.typed_lines import is_slope, slope_of_no_formula

        if is_slope(above.strip(), below.strip()):
            raise slope_of_no_formula(above.strip(), below.strip())


def _check_no_slope(text: str, options: Sequence[str]) -> None:
    """Refuse `y = x^2; dy/dx` in strict reading, which has a quotient of two names there."""
    from ..questions.typed_lines import slope_behind

    asked = slope_behind(text)
    if asked is not None and not _names_at(options) & {*asked.names}:
        slope = "/".join(asked.names)
        spelled = command_line(["autodiff", *asked.arguments])
        hint = f"the derivative is `{spelled}`; for a quotient give `{slope}` other names"
        raise usage_error(f"`{slope}` is a quotient of two names in strict reading", hint)


def _in_parentheses(text: str, options: Sequence[str]) -> str:
    """Return a formula with parentheses for the brackets of what is differentiated, and its
    definition first.

    That is informal reading, and said.
    """
    from ..questions.calculus_words import worded_formula
    from ..questions.typed_lines import definition_first, in_parentheses

    spelled = text
    if _is_informal(options):
        spelled = in_parentheses(definition_first(worded_formula(text)))
    if spelled != text:
        from ..show.error import write_reading

        write_reading("", spelled)
    return spelled


def _answer_by_hand(args: Sequence[str], text: str, options: Sequence[str]) -> int | None:
    """Answer a question as it is written by hand, `∫ x dx`, or in one pair of quotes; None for
    another line.

    Raises a usage error for a word that is a command's name elsewhere, `expand (x + 1)^3`.
    """
    from ..questions.typed_lines import arguments_by_hand

    asked = arguments_by_hand(text)
    if asked is not None:
        from .commands import call

        return call(asked[0], [*asked[1:], *options])
    command, space, rest = text.partition(" ")
    if space and command in COMMANDS and text == args[0]:
        return _answer_in_quotes(command, rest, options, is_informal=_is_informal(options))
    if _is_meant_as_command(command, rest):
        from .slips import bad_command

        raise bad_command(command)
    return None


def _answer_plain(text: str, options: Sequence[str]) -> int:
    """Answer a formula, as a command would if it is written as commands read it, else as a line of
    a session.
    """
    from .commands import call

    only_reading = all(option in _READING for option in options)
    if _is_plain(text, options):
        # what needs no session starts sooner
        if only_reading:
            return call("diff", [text, *options])
        if _has_point(options):
            return call(_at_point(options), [text, *options])
    return _as_line_of_session(text, options) if only_reading else _by_command(text, options)


def _by_other_word(args: Sequence[str], options: Sequence[str]) -> list[str] | None:
    """Return the command and its arguments for a line that begins with another word for it; None
    for another line.
    """
    from ..questions.calculus_words import arguments_in_words
    from ..questions.typed_lines import words_arguments
    from .slips import WORDS

    first, *more = args[: len(args) - len(options)]
    word, _, rest = first.partition(" ")
    formula, *beside = [each for each in (rest.strip(), *more) if each not in ("", "of")] or [""]
    formula = formula.removeprefix("of ")
    if not _is_word(word) or not formula or formula.startswith(NO_FORMULA):
        return None
    command = WORDS[word.lower()][0]
    if command == "diff" and (not beside or beside[0] in ("at", "with", "wrt")):
        return words_arguments(" ".join(("derivative of", formula, *beside)))
    return [
        command,
        *(
            arguments_in_words(command, formula)
            if command in ("grad", "propagate") and not beside
            else [formula, *beside]
        ),
    ]


def _command_of_piece(text: str, options: Sequence[str]) -> str:
    """Return the command that answers a formula in one piece; empty where it may need another
    reading.
    """
    if _has_point(options):
        return _at_point(options) if "(" not in text or _is_valid(text) else ""
    return "diff" if _is_valid_with_variables(text) else ""


def _answer_slope(text: str, asked: Sequence[str], options: Sequence[str]) -> int:
    """Answer the slope of an equation, and say how its solutions are asked for."""
    from ..show.error import report

    code = _call_as_read(asked, options)
    if code == 0 and not _has_point(options):
        report(
            Diagnostic("note", f"for its solutions: `autodiff solve {quoted(text)} --for y`"),
            None,
            level="note",
        )
    return code


def _answer_in_quotes(command: str, rest: str, options: Sequence[str], *, is_informal: bool) -> int:
    """Answer a command and its formula that are one argument. Raises a usage error where that is
    not certain.
    """
    formula = rest.strip()
    if is_informal and formula and not re.search(_HAS_OPTION, rest):
        from ..questions.calculus_words import arguments_in_words

        return _call_as_read([command, *arguments_in_words(command, formula)], options)
    hint = f"quote the formula alone: `autodiff {command} {quoted(rest)}`"
    raise usage_error(f"`{command} {rest}` is one argument", hint)


def _call_as_read(arguments: Sequence[str], options: Sequence[str]) -> int:
    """Answer the command line that an informal one means, and say how it was read."""
    from ..show import error
    from ..show.error import write_reading
    from .arguments import read
    from .commands import answer, as_arguments, is_quiet

    error.quiet = is_quiet(options)
    command, *rest = arguments
    rest = [*as_arguments(command, rest, options)]
    write_reading("", command_line(["autodiff", command, *rest]))
    return answer(command, read([*rest, *options], command))


def _implicit_slope(text: str, options: Sequence[str]) -> list[str] | None:
    """Return the question of dy/dx for an equation in x and y, without a point or at one of both;
    else None.
    """
    if "=" not in text or "--strict" in options:
        return None
    from ..questions.typed_lines import slope_arguments

    asked = slope_arguments(text)
    names = {option.partition("=")[0] for option in options if looks_like_option(option)}
    if any(point.startswith("@") for point in _points_of(options)):
        return None  # which values a file has is not seen here
    named = _names_at(options)
    of_slope = {*declared("diff").options} - {"--for", "--wrt"}
    if (
        asked is None
        or not names <= of_slope
        or (named and not {"x", "y"} <= named)
        or _is_uncertain(options)
    ):
        return None
    return ["diff", *asked]


def _points_of(options: Sequence[str]) -> list[str]:
    return [
        _point_of(option, following)
        for option, following in zip(options, [*options, ""][1:], strict=True)
    ]


def _names_at(options: Sequence[str]) -> set[str]:
    """Return the names that have values in `--at`."""
    return {name for point in _points_of(options) for name in re.findall(_ASSIGNED, point)}


def _point_of(option: str, following: str) -> str:
    """Return the point that an option gives; empty for another option."""
    name, equals, value = option.partition("=")
    return (value if equals else following) if name == "--at" else ""


def _as_line_of_session(text: str, options: Sequence[str]) -> int:
    from .. import errors
    from ..show import error
    from .commands import is_quiet

    errors.tracebacks = "--debug" in options
    error.quiet = is_quiet(options)
    answer_line = resolve("session.session_lines.answer_line")
    return int(answer_line(text, lenient=_is_informal(options)))


def _is_informal(options: Sequence[str]) -> bool:
    from .runner import is_shown

    at_terminal = is_shown(sys.stdout) and is_shown(sys.stderr) and "--strict" not in options
    return "--lenient" in options or at_terminal


def _is_plain(text: str, options: Sequence[str]) -> bool:
    """Return whether a text is a formula in variables, in strict or in simple informal notation."""
    from ..language.informal import corrected

    read = corrected(text) if _is_informal(options) else text
    return (read != text or is_in_one_piece(text)) and _is_valid_with_variables(read)


def is_in_one_piece(text: str) -> bool:
    """Return whether a text may be a formula that needs no other reading.

    It is no equation, program, list or derivative, and has no blank and no number with a word
    behind it, a unit.

    >>> is_in_one_piece("2x*sin(y)"), is_in_one_piece("d/dx"), is_in_one_piece("40mm"), is_in_one_piece("x = 2")
    (True, False, False, False)
    """
    letters = "".join([char for char in text if char not in _SIGNS])
    if not (letters.isalnum() or not letters) or "/d" in text or "/∂" in text or not text:
        return False
    following = zip(text, text[1:], text[2:], strict=False)
    return not any(
        first.isdigit() and second.isalpha() and third.isalpha()
        for first, second, third in following
    )


def _is_valid(text: str) -> bool:
    from ..questions.problem import parse

    try:
        parse(text)
    except ExpressionError:
        return False
    return True


def _is_valid_with_variables(text: str) -> bool:
    from ..questions.problem import parse

    try:
        return bool(parse(text).leaves)
    except ExpressionError:
        return False


def _split(args: Sequence[str]) -> tuple[str, list[str]]:
    """Return the formula, of all words before the options, and the options."""
    from .commands import end_of_words

    end = 1 + end_of_words(args[1:])
    words, options = [*args[:end]], [*args[end:]]
    if words[0] == CONVERT:
        return _conversion(words[1:]), options
    if len(words) > 1 and any(map(os.path.exists, words)):
        raise usage_error(
            "the shell has put the names of files into the formula", "put the formula in quotes"
        )
    return " ".join(words), options


def _with_values(args: Sequence[str], options: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the formula and the options for values beside a formula: `x=2`, or a number; None for
    other arguments.
    """
    formula, *beside = args[: len(args) - len(options)]
    if not beside or "--at" in options or formula.isidentifier():
        return None  # `sin 3`, `convert 5 m ft`
    if "=" in formula and any(" " in word for word in beside):
        return None  # perhaps a further equation, `x = 1`
    from ..language.tokens import names_in, plain_number
    from .slips import as_options

    if "=" in beside and beside[0] in names_in(formula):
        beside = re.split(rf"\s+(?={_ASSIGNED})", " ".join(beside))  # `x = 3` in three words
    if len(beside) == 1 and plain_number(beside[0]) and _is_plain(formula, options):
        return formula, ["--at", beside[0], *options]
    meant = as_options([formula, *beside], declared("grad"), "grad", {})
    if meant is None or meant.formula != formula or [*meant.texts] != ["--at"]:
        _check_no_values(formula, beside)
        return None
    return formula, ["--at", meant.texts["--at"], *options]


def _check_no_values(formula: str, beside: Sequence[str]) -> None:
    """Refuse values that cannot be used beside a formula: put behind it, they would be factors of
    an equation.
    """
    if "=" not in formula and all(re.match(rf"{_ASSIGNED}(?!=)", word) for word in beside):
        hint = f"give the values in one option: `autodiff {quoted(formula)} --at {quoted(','.join(beside))}`"
        raise usage_error(f"`{beside[0]}` is one argument too many", hint)


def _as_system(args: Sequence[str], options: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """Return several arguments that are an equation each as one; None for other arguments."""
    from .slips import are_equations

    words = args[: len(args) - len(options)]
    return ("; ".join(words), options) if are_equations(words) else None


def _answer_at(formula: str, options: Sequence[str]) -> int:
    """Answer a formula whose values, or further equations, stood beside it, and say how that was
    read.
    """
    from ..show import error
    from ..show.error import write_reading
    from .commands import is_quiet

    error.quiet = is_quiet(options)
    write_reading("", command_line(["autodiff", formula, *options]))
    return answer_formula([formula, *options])


def _conversion(words: Sequence[str]) -> str:
    """Return `QUANTITY in UNIT` for what is written after `convert`. Raises `ExpressionError`
    unless it is one.
    """
    from ..engine.quantities.unit import parse_unit
    from ..language.tokens import has_unit_literals
    from ..questions.quantities import split_quantity
    from ..questions.typed_lines import in_symbols, quantity_and_unit

    quantity, unit = quantity_and_unit(words)
    quantity, _, unit = in_symbols(f"{quantity} in {unit}").rpartition(" in ")
    if has_unit_literals(quantity):
        return f"{quantity} in {unit}"  # `5 ft 3 in` is a sum
    with errors_about(quantity):
        number = split_quantity(quantity)
    if number is None:
        hint = f"write it as `autodiff convert {quoted('2 m')} ft`"
        raise usage_error("`autodiff convert` needs a quantity with its unit, and a unit", hint)
    parse_unit(unit)
    return f"{quantity} in {unit}"


def _has_point(options: Sequence[str]) -> bool:
    return any(option.partition("=")[0] in ("--at", "--points", "--data") for option in options)


def _at_point(options: Sequence[str]) -> str:
    """Return the command that answers a formula at a point: one for uncertain values, or for a
    gradient.
    """
    return "propagate" if _is_uncertain(options) else "grad"


def _is_uncertain(options: Sequence[str]) -> bool:
    """Return whether a value of the point has an uncertainty."""
    from ..questions.problem import SPREAD, UNCERTAIN_DIGITS

    return any(
        re.search(SPREAD, point) or UNCERTAIN_DIGITS.search(point) for point in _points_of(options)
    )


def _solve_uncertain(text: str, options: Sequence[str]) -> int:
    """Answer an equation at uncertain values: it is propagated to what has none."""
    from ..questions.equations import read_equations

    given = _names_at(options)
    unknowns = [
        name for name in read_equations(text, [*given]).program.variables if name not in given
    ]
    return _call_as_read(
        ["propagate", text, *(["--for", ",".join(unknowns)] if unknowns else [])], options
    )


def _by_command(text: str, options: Sequence[str]) -> int:
    from ..questions.typed_lines import (
        are_equations,
        conversion_of,
        has_variables,
        is_equation,
        statements_of,
    )
    from .commands import call

    parts = [*statements_of(text)]
    if any(is_equation(text, part) or are_equations(text, part) for part in parts):
        return (
            _solve_uncertain(text, options)
            if _is_uncertain(options)
            else call("solve", [text, *options])
        )
    if len(parts) == 1 and parts[0].kind == "bind" and parts[0].name in _names_at(options):
        # `P = U*I` where P has a value: what is not known is another name
        return (
            _solve_uncertain(text, options)
            if _is_uncertain(options)
            else _call_as_read(["solve", text], options)
        )
    if (conversion := conversion_of(text)) is not None:
        return call("grad", [*conversion, "--no-tree", *options])
    if _has_point(options):
        return call(_at_point(options), [text, *options])
    return (
        call("diff", [text, *options])
        if has_variables(text)
        else call("grad", [text, "--no-tree", *options])
    )
