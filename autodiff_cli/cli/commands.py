"""Run a command: from its options to answers at a point, at many, or of a stream."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..capability import resolve
from ..errors import EXIT_CODES, looks_like_option, needs_error, usage_error
from .arguments import NothingAsked, read, with_own
from .declarations import declared

if TYPE_CHECKING:
    from ..questions.sweeps import Grid
    from ..streams.requests import Request
    from .option_values import Method
    from .runner import Command, RowQuestion

# The exit code if the answer is no.
EXIT_NO = 1
_DIFFERENTIALS = tuple(f"d{letter}" for letter in "xtuyzrsθφ")
# The commands that words may ask: `integrate x^2 from 0 to 1`.
IN_WORDS = {
    "limit": ("as", "->", "→"),
    "integrate": ("from", *_DIFFERENTIALS),
    "tangent": ("at",),
    "taylor": ("of", "at", "around", "about", "near", "order", "degree"),
    "solve": ("for",),
    "plot": ("from",),
}
# How a question that needs no command begins: a command may stand before it.
BY_HAND = {"limit": ("lim", "\\lim"), "integrate": ("∫", "\\int", "int ", "integral ")}
# The functions that check answers.
CHECKS = {
    "diff": "exercise.answers.check_derivative",
    "hessian": "exercise.answers.check_hessian",
    "taylor": "exercise.answers.check_series",
    "solve": "exercise.equation_answers.check_solution",
    "integrate": "exercise.integral_answers.check_integral",
}


@cache
def load(command: str) -> Callable[[Command], int]:
    """Import what a command needs; return the function that runs it."""

    facts = declared(command).facts
    for path in (*facts.get("asks", "").split(), *facts.get("method", "").split()):
        resolve(path)
    own = facts.get("runs")
    return answer_question if own is None else resolve(own)


def answer_question(call: Command) -> int:
    """Answer the command's question; about rows if it has options for them."""
    return answer_at(
        call, call.question_method(), call.row_question() if "points" in call.values else None
    )


def call(command: str, args: Sequence[str]) -> int:
    """Run a command with these arguments; return its exit code."""
    from ..show import error

    # a session's or notebook's command before this one may have left it so
    error.quiet = is_quiet(args)
    return answer(command, read(_noted(command, args) if command in IN_WORDS else args, command))


def is_quiet(args: Sequence[str]) -> bool:
    """Return whether arguments ask for no notes and warnings."""
    return "-q" in args or "--quiet" in args


def _noted(command: str, args: Sequence[str]) -> Sequence[str]:
    """Return the arguments of a question, and say how they were read if it is written in words."""
    end = end_of_words(args)
    arguments = as_arguments(command, args[:end], args[end:])
    if arguments == args[:end]:
        return args
    from ..operating_system import command_line
    from ..show.error import write_reading

    write_reading("", command_line(["autodiff", command, *arguments]))
    return [*arguments, *args[end:]]


def end_of_words(args: Sequence[str]) -> int:
    """Return the place of the first option among arguments."""
    return next(
        (k for k, arg in enumerate(args) if looks_like_option(arg) or arg in ("-o", "-q", "-h")),
        len(args),
    )


def as_arguments(command: str, args: Sequence[str], options: Sequence[str]) -> Sequence[str]:
    """Return the arguments of a question that is written in words, `integrate x^2 from 0 to 1`;
    else those given.
    """
    if command not in IN_WORDS:
        return args
    text = " ".join(args)
    is_by_hand = text.lstrip().startswith(BY_HAND.get(command, ()))
    if not is_by_hand and not any(_has_word(word, text, options) for word in IN_WORDS[command]):
        return args
    from ..questions import calculus_words, typed_lines

    if command in ("integrate", "limit"):
        read_words = (
            typed_lines.integral_arguments
            if command == "integrate"
            else typed_lines.limit_arguments
        )
        prefix = "" if is_by_hand else f"{command} "
        arguments = read_words(f"{prefix}{text}")
    else:
        readers: dict[str, Callable[[str], list[str] | None]] = {
            "solve": typed_lines.solve_arguments,
            "tangent": typed_lines.tangent_arguments,
            "taylor": calculus_words.series_arguments,
            "plot": partial(calculus_words.arguments_in_words, "plot"),
        }
        arguments = readers.get(command, typed_lines.placed_arguments)(text)
    return args if arguments is None else arguments


def _has_word(word: str, text: str, options: Sequence[str]) -> bool:
    """Return whether a text has a word between blanks, or a differential at its end or in a
    numerator.

    `dx` is a name like others where it has a value, where the variable is given, and with
    `--strict`.
    """
    if word in _DIFFERENTIALS:
        if any(
            option.startswith(("--over", "--strict")) or f"{word}=" in option for option in options
        ):
            return False
        return text.rstrip().endswith((f" {word}", f"*{word}")) or text.lstrip().startswith(
            f"{word}/"
        )
    return f" {word} " in text or (word in "->→" and word in text)


def answer(command: str, values: Mapping[str, Any]) -> int:
    """Run a command with these parameters; return its exit code."""
    from .. import errors
    from ..engine.numbers.budget import use_budget
    from ..show import error
    from .runner import Command

    declaration = declared(command)
    values = {**declaration.defaults, "work": 1, **with_own(values, command)}
    errors.tracebacks, error.quiet = values["debug"], values["quiet"]
    name_the_variable(values, values.get("expr"))
    try:
        with use_budget(values["work"]):
            request = Command(command, values)
            if "expr" in declaration.defaults:
                request.require_program(declaration.facts.get("one"))
            if command not in CHECKS or request.answer is None:
                return load(command)(request)
            # for programs only; points follow the options
            request.lenient, request.view = True, resolve("exercise.exercise_view.MarkedView")()
            return answer_at(request, request.bind_question(resolve(CHECKS[command])), good="right")
    except NothingAsked:
        error.write_stderr(
            f"There is no expression. For example:\n\n  {declaration.examples[0]}\n\n"
            f"`autodiff {command} --help` lists the options.\n"
        )
        return EXIT_CODES["usage"]


def answer_at(
    call: Command,
    method: Method,
    question: RowQuestion | None = None,
    *,
    good: str = "",
    chosen: str | None = None,
) -> int:
    """Answer at a point, many points, or for a stream; return the exit code.

    Without a `question` rows are not answered. The code is `EXIT_NO` at least if an answer is not
    `good`. `chosen` is the format, if the command has chosen it.
    """
    from ..show.formats import writer
    from .runner import answer_with

    if good:
        verdicts: set[bool] = set()

        def judged(request: Request) -> Any:
            answer = method(request)
            verdicts.add(getattr(answer, good))
            return answer

        return max(
            answer_at(call, judged, question, chosen=chosen), EXIT_NO if False in verdicts else 0
        )
    if question is not None:
        grid = call.grid()
        if call.points or grid is not None:
            _check_pairs(call, grid)
            from .row_routes import answer_rows

            return answer_rows(call, grid, method, question)
    for name in ("wide", "spreadsheet", "backend"):
        if call.values.get(name) and not call.values.get("data"):
            raise needs_error(
                f"--{name}", "`--points` or a sweep", "`--points PATH` or `--at x=0:10:1`"
            )
    chosen = chosen or call.choose_format()
    file = None if call.output is None else call.out()
    place = sys.stdout if file is None else file.stream
    out = writer(chosen, place, call.view, call.many, document=call.document)
    code = answer_with(call, method, out)
    return code if file is None else file.finish(code, always=call.many)


def _check_pairs(call: Command, grid: Grid | None) -> None:
    """Raise a usage error if one sweep is to be paired with rows of data."""
    if call.points and call.zip and grid is not None and len(grid.axes) == 1:
        hint = (
            "for one value per row, add that column to the data; for all combinations, leave"
            " `--zip` out"
        )
        raise usage_error("`--zip` pairs sweeps, not rows, and there is one sweep", hint)


def variables_of(text: str | None, named: Collection[str] = ()) -> Sequence[str]:
    """Return the variables of a program or of equations; empty for other texts."""
    from ..errors import ExpressionError
    from ..questions.problem import parse

    with suppress(ExpressionError):
        return list(parse(text or "", named).variables)
    # without the capability to solve them no text is equations
    with suppress(ExpressionError, ModuleNotFoundError):
        from ..questions.equations import read_equations

        return list(read_equations(text or "", named).program.variables)
    from ..language.diagnostics.leniency import read_leniently

    # whether informal notation is refused is said when the program is read
    with suppress(ExpressionError):
        return read_leniently(text or "", lambda read: list(parse(read, named).variables))[0]
    return ()


def name_the_variable(values: dict[str, Any], expression: str | None) -> None:
    """Add the name of a lone variable to values and ranges without one."""
    for parameter in ("at", "range", "bounds"):
        value = values.get(parameter)
        (typed,) = value if isinstance(value, list) and len(value) == 1 else (value,)
        if not isinstance(typed, str) or typed[:1] in ("@", "") or {"=", ","} & {*typed}:
            continue
        from ..language.tokens import is_name

        names = (
            values.get("wrt")
            or values.get("unknowns")
            or values.get("for_")
            or [*variables_of(expression)]
        )
        if len(names) == 1 and "," not in names[0] and not is_name(typed.strip()):
            _check_is_no_product(names[0], parameter, typed)
            named = f"{names[0]}={typed}"
            values[parameter] = named if typed is value else [named]


def _check_is_no_product(name: str, parameter: str, value: str) -> None:
    """Raise a usage error if a number without a name would be that of `kx`, where `x` may be meant."""
    from ..questions.problem import letters_of, may_be_product

    if may_be_product(name, ()):
        message = f"`{value}` is for a lone variable, and `{name}` may be one name or a product"
        product = "*".join(letters_of(name))
        hint = f"for the name, `--{parameter} {name}={value}`; for the product, write `{product}`"
        raise usage_error(message, hint)
