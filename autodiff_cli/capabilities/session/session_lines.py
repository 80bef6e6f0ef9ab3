"""The lines of a session: statements, commands, and `:` commands.

No line is ever run by a shell.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ...cli import slips
from ...cli.arguments import HelpAsked, check_all, scan_options
from ...cli.commands import answer, as_arguments
from ...cli.declarations import COMMANDS, PAGES, QUESTIONS, SESSIONS, declared, table
from ...cli.formula import NO_FORMULA
from ...cli.runner import warn
from ...engine.numbers.budget import gc_collect
from ...engine.table.primitive import FUNCTIONS
from ...errors import (
    ExpressionError,
    Span,
    closest,
    error_of,
    errors_about,
    looks_like_option,
    usage_error,
)
from ...language.diagnostics.leniency import AsRead, Composed
from ...language.diagnostics.measured import check_letters
from ...questions import decoding
from ...questions.calculus_words import arguments_in_words, worded_formula
from ...questions.sweeps import sweeping
from ...questions.typed_lines import (
    TypedStatement,
    are_equations,
    conversion_of,
    definition_first,
    has_variables,
    in_parentheses,
    integral_arguments,
    is_equation,
    limit_arguments,
    measured_question,
    question_arguments,
    slope_arguments,
    statements_of,
    words_arguments,
)
from ...show.characters import terminal_of
from ...show.error import report, write_reading
from ...show.formats import writer
from ...show.schema import View
from ...show.subject import Subject
from ...streams.requests import Reading, default_point
from ...streams.requests import names as names_of_option
from ..derivatives.gradient import Gradient
from ..derivatives.gradient_view import GradientView
from .session import (
    ANSWER,
    FOREIGN,
    Session,
    Shown,
    derivative_in_full,
    has_primes,
    uncorrected,
)

if TYPE_CHECKING:
    from ...cli.completion import TypedLine
    from ...cli.declarations import Option

# The session's own commands, without the colon.
SPECIAL = ("help", "names", "forget", "steps", "tree", "save", "load", "quit")
_WORD = re.compile(r"(--[\w-]+=)?([\"'])(.*?)\2(?=\s|$)|\S+", re.DOTALL)
_COMMAND = re.compile(r"\s*(?:\$\s*)?(autodiff\s+)?([a-z]+)(?![\w'’′])")
_OPERAND = re.compile(r"\s+(?!(?:if|else|and|or|in)\b)[\w\"']")
STDIN_IS_TAKEN = "standard input is the session's own", "name a file"
_SWEPT = Reading(sweeping(None))
_ASSIGNS = re.compile(r"\s*(?:[-+*/]?=(?!=))")


class Ended(Exception):
    """The session ends."""


class _Word(str):
    start = 0
    """The position in its line, without quotes."""


def _words_in(line: str, begin: int) -> list[_Word]:
    """Return the words of a command line, without their quotes."""
    words = []
    for match in _WORD.finditer(line, begin):
        words.append(_Word((match[1] or "") + match[3] if match[2] else match[0]))
        words[-1].start = match.start(3) if match[2] else match.start()
    return words


_WORD_OF_OPTION = re.compile(r"\s(--[a-z][a-z-]+)(?=[\s=]|$)")


def _command_with_options(line: str) -> str | None:
    """Return the command of a formula with options behind it, as the command line has it; None
    without options.

    The `=` of `--at x=3` makes no equation of it.
    """
    if "--" not in line:
        return None
    known = {**declared("grad").options, **declared("diff").options, **declared("solve").options}
    options = [match for match in _WORD_OF_OPTION.finditer(line) if match[1] in known]
    if not options:
        return None
    formula = line[: options[0].start()]
    parts = [*statements_of(formula)]
    if len(parts) == 1 and (is_equation(formula, parts[0]) or are_equations(formula, parts[0])):
        return "solve"
    has_point = any(match[1] in ("--at", "--points", "--data") for match in options)
    return "grad" if has_point else "diff"


class Lines:
    """Answers the lines of a session."""

    def __init__(self) -> None:
        self.session = Session()

    def answer(self, line: str) -> int:
        """Answer one or more lines; return the exit code. Raises `Ended`."""
        if "\n" in line.strip() and len(pieces := list(_split(line))) > 1:
            return max(map(self.answer, pieces))
        try:
            return self._answer(line)
        except (KeyboardInterrupt, Ended, OSError):
            raise
        except Exception as fault:
            error = error_of(fault, "the lines of the session")
            sys.stdout.flush()
            report(error.diagnostic, error.text if error.text is not None else line.strip("\n"))
            return error.exit_code
        finally:
            gc_collect()

    def _answer(self, line: str) -> int:
        text = line.strip()
        if not text or text.startswith("#"):
            return 0
        if (
            spelled := in_parentheses(
                definition_first(_worded(line.strip(), self.session)), self.session.names
            )
        ) != line.strip():
            write_reading("", spelled)
            line, text = spelled, spelled.strip()
        if text in ("exit", "quit", "exit()", "quit()") and text not in self.session.names:
            raise Ended
        if text == "?":
            return _help("")
        if text.startswith(":"):
            name, _, rest = text[1:].partition(" ")
            return self._special(
                {"q": "quit", "h": "help", "?": "help"}.get(name, name), rest.strip()
            )
        asked = _in_words(text, self.session) or self._command_of(line)
        if asked is not None:
            return self._command(*asked)
        _check_definition(text)
        parts = [*statements_of(line)]
        command = _command_with_options(line)
        slope = (
            slope_arguments(text, self.session.names) if command is None and "=" in text else None
        )
        if slope is not None:
            return self._command(f"diff {' '.join(slope)}", "diff", len("diff"))
        if (
            command is None
            and len(parts) == 1
            and (is_equation(line, parts[0]) or are_equations(line, parts[0]))
        ):
            command = "solve"
        if command is not None:
            return self._command(f"{command} {text}", command, len(command))
        self._execute(line, parts)
        return 0

    def _execute(self, line: str, parts: Sequence[TypedStatement]) -> None:
        with self.session.unchanged_on_error():
            shown = [self.session.statement(line, part) for part in parts]
        for result in shown:
            self._show(line, result)

    def _show(self, line: str, shown: Shown) -> None:
        show(self.session, line, shown)

    def _command_of(self, line: str) -> tuple[str, str, int] | None:
        match = _COMMAND.match(line)
        if match is None or _ASSIGNS.match(line, match.end()):
            return None
        name, after = match[2], line[match.end() :]
        if match[1] is None and (
            name in self.session.names or next(statements_of(line)).kind == "define"
        ):
            return None
        if name in COMMANDS or name in PAGES:
            return line, name, match.end()
        own = slips.SESSION_SYNONYMS.get(name)
        if own and match[1] is None and re.fullmatch(r"(\s+[\w., ]+)?", after):
            raise usage_error(f"there is no command `{name}`", f"write `{own[0]}{after}`")
        if match[1] or (
            len(name) > 2 and name not in FUNCTIONS and _is_meant_as_command(name, after)
        ):
            raise _as_typed_here(slips.bad_command(name))
        return None

    def _command(self, line: str, command: str, end: int) -> int:
        if command in SESSIONS:
            raise usage_error(
                "this is a session already", "type a formula or a command; `:help` lists them"
            )
        words = _words_in(line, end)
        if command in PAGES:
            return _help("") if command == "help" and not words else _app([command, *words])
        _check_no_redirection(words)
        options = declared(command).options
        try:
            values, others, _ = scan_options(words, command, session=True)
        except HelpAsked as asked:
            return _app([*asked.args])
        typed_line = _typed_options(options.values(), values)
        sys.stdout.flush()
        if "file" not in values and "expr" in declared(command).defaults:
            unknown = [
                word
                for word in others
                if len(word.partition("=")[0]) > slips.MAX_VARIABLE_LENGTH + 2
            ]
            unknown = [word for word in unknown if looks_like_option(word)]
            expression = [
                word for word in others if isinstance(word, _Word) and word not in unknown
            ]
            others = [*unknown, self._program(line, expression, values, command, typed_line)]
        return answer(command, check_all(values, others, (), command))

    def _program(
        self,
        line: str,
        expression: Sequence[_Word],
        values: dict[str, Any],
        command: str,
        typed_line: TypedLine,
    ) -> Composed:
        piece = _typed_piece(line, expression) if expression else uncorrected(self.session.last)
        if piece.text == "-":
            raise usage_error(*STDIN_IS_TAKEN)
        if not piece.text:
            raise usage_error(
                "there is no expression yet", "write it after the command: `plot x^2`"
            )
        hidden = self._named_by_options(values, typed_line)
        typed_text, options = piece.text, declared(command).options
        piece, freed = self.session.spelled_out(piece, hidden)
        # an exported program has the session's numbers in its text: most languages take no point
        takes_point = "--at" in options and command != "export"
        # a parameter hides a definition of its name
        hidden |= {name for name in freed if not takes_point or name in self.session.definitions}
        reading, numbers = self.session.compose_program(piece, hidden, as_point=takes_point)
        if "=" not in piece.text:
            self.session.last = typed_text
        if point := ",".join(f"{name}={number}" for name, number in numbers.items()):
            values["at"] = [*values.get("at", ()), point]
        if "--lenient" in options:
            values["lenient"] = True
        if freed and "--wrt" in options and "=" not in piece.text and command != "integrate":
            # a lone function varies with its parameters only
            values.setdefault("wrt", [",".join(sorted(freed))])
        return Composed(reading)

    def _named_by_options(self, values: dict[str, Any], typed_line: TypedLine) -> set[str]:
        """Return the names to which options give other meanings."""
        from ...cli.completion import columns

        named: set[str] = set()
        # the variable of an integral is its own, as `x` in `int_0^1 x^2 dx` is
        named.update(filter(None, [values.get("variable")]))
        for text in (*values.get("at", ()), *values.get("ends", ()), *(values.get("fix") or ())):
            is_file = text.startswith("@")
            named.update(
                default_point([text], _SWEPT) if is_file else re.findall(r"([^\W\d]\w*)\s*=", text)
            )
        unknowns = names_of_option(values.get("unknowns"), "--for") or ()
        named.update(name for name in unknowns if name in self.session.definitions)
        named.update(columns(typed_line))
        return named

    def _special(self, name: str, rest: str) -> int:
        session = self.session
        if name == "quit":
            raise Ended
        elif name == "help":
            return _help(rest)
        elif name == "steps":
            return self._answer(f"diff {rest} --steps")
        elif name == "tree":
            is_open = session.is_open(rest or session.last)
            return self._answer(f"graph {rest}{' --symbolic' * is_open}")
        elif name == "load":
            return self.load(rest)
        elif name == "names":
            lines = [f"{name} = {number}" for name, number in session.values.items()]
            lines += [
                session.in_primes(own.statement(name)) for name, own in session.definitions.items()
            ]
            sys.stdout.write("\n".join(lines or ["there are no names yet"]) + "\n")
        elif name == "forget":
            if not rest:
                raise usage_error("`:forget` needs a name", "`:names` lists them")
            for forgotten in rest.replace(",", " ").split():
                session.forget(forgotten)
        elif name == "save":
            self._save(rest)
        else:
            raise _unknown_special(name)
        return 0

    def _save(self, typed: str) -> None:
        from ...streams.files import Output

        path, force = re.subn(r"\s*--force$", "", typed)
        if not path:
            raise usage_error("`:save` needs the name of a file", "write it as `:save model.txt`")
        program, out = self.session.program(), Output(path, force=bool(force))
        out.stream.write(program)
        out.finish(0)
        sys.stdout.write(f"{path}\n")

    def load(self, path: str) -> int:
        """Execute all statements of a file, or none; show the last answer."""
        if not path or path == "-":
            raise usage_error("`:load` needs the name of a file", "write it as `:load model.txt`")
        text, fault = decoding.read_text(path)
        if fault is not None:
            raise fault
        shown = None
        with self.session.unchanged_on_error(), errors_about(text):
            parts = [*statements_of(text)]
            check_bound_once(text, parts)
            for part in parts:
                shown = self.session.statement(text, part)
        if shown is not None:
            self._show(text, shown)
        return 0


def _worded(text: str, session: Session) -> str:
    """Return the formula of a question in words that is one; another text as it is."""
    return text if text.partition(" ")[0] in session.names else worded_formula(text)


def _in_words(text: str, session: Session) -> tuple[str, str, int] | None:
    """Return the line, the command and its end for a limit, an integral or another question that is
    written as such.
    """
    limit = limit_arguments(text)
    if limit is not None:
        return f"limit {' '.join(limit)}", "limit", len("limit")
    integral = integral_arguments(text) if "--" not in text else None
    if integral is not None:
        formula, *more = integral
        return f"integrate {formula} {' '.join(more)}", "integrate", len("integrate")
    if "--" in text:
        return None
    text = _with_coordinates(text, session)
    try:
        question = (
            question_arguments(text, session.names)
            or _extreme_of_function(text, session)
            or _by_word(text, session.names)
            or _of_measured(text)
        )
    except ExpressionError as error:
        raise _as_typed_here(error) from None
    if question is not None:
        command, formula, *more = question
        _check_are_variables(more, session)
        # the values of options may have blanks, the formula is one
        line = " ".join(
            [command, formula, *[f'"{word}"' if " " in word else word for word in more]]
        )
        write_reading("", line)
        return line, command, len(command)
    return None


def _of_measured(text: str) -> list[str] | None:
    """Return the arguments of `propagate` for a formula of measured numbers; None for another line.

    Raises a usage error for `v = 3.0(2) m/s`, which may be a product.
    """
    if text.partition(" ")[0] in COMMANDS:
        return None
    asked = measured_question(text)
    return None if "=" in text else asked


def _with_coordinates(text: str, session: Session) -> str:
    """Return a question with the names of the coordinates of a point, `grad g at x=1,y=2` for `grad g
    at (1, 2)`, where g is a function of the session.
    """
    match = _AT_A_POINT.fullmatch(text)
    function = session.definitions.get(match[2]) if match else None
    names = (function and function.parameters) or ()
    numbers = match[3].split(",") if match else []
    if match is None or len(numbers) != len(names):
        return text
    point = ",".join(f"{name}={x.strip()}" for name, x in zip(names, numbers, strict=True))
    return f"{match[1]}{match[2]} at {point}"


_AT_A_POINT = re.compile(r"(.*\b)([^\W\d]\w*)\s+at\s+(?:the\s+point\s+)?\(([^()=]+)\)")


def _check_are_variables(options: Sequence[str], session: Session) -> None:
    """Raise an error where the coordinates of a point were taken for values of the session's
    functions.
    """
    for name in re.findall(r"([^\W\d]\w*)\s*=", " ".join(options)):
        if name in session.definitions:
            hint = f"give the value of its variable: `tangent {name} --at x=1`"
            raise usage_error(f"`{name}` is a function here, and no coordinate", hint)


def _extreme_of_function(text: str, session: Session) -> list[str] | None:
    """Return the arguments of `minimize` for `min f`, where `f` is a function of the session; `min(f)`
    is the smallest of one number.
    """
    word, _, name = text.partition(" ")
    own = session.definitions.get(name.strip())
    is_function = own is not None and own.parameters is not None
    command = f"{word}imize"
    is_asked = is_function and command in ("minimize", "maximize")
    return [command, name.strip()] if is_asked else None


def _by_word(text: str, names: Collection[str]) -> list[str] | None:
    """Return a command and its arguments for a line with another word for it, or with its options
    in words.
    """
    word, _, rest = text.partition(" ")
    command = word if word in COMMANDS else next(iter(slips.WORDS.get(word.lower(), ())), "")
    rest = rest.strip().removeprefix("of ")
    if not command or word in names or not rest or rest.startswith(NO_FORMULA):
        return None
    placed = arguments_in_words(command, rest)
    if len(placed) > 1:
        return [command, *placed]
    if command in ("diff", "grad") and word not in COMMANDS:
        return words_arguments(f"derivative of {rest}")
    asked = as_arguments(command, [rest], [])
    return None if word in COMMANDS and len(asked) == 1 else [command, *asked]


def _check_definition(text: str) -> None:
    """Raise an error for a definition that is written as in another language."""
    for pattern, statement in FOREIGN:
        if match := pattern.fullmatch(text):
            span, hint = Span(0, len(text)), f"write `{match.expand(statement)}`"
            raise ExpressionError(
                "syntax", "definitions are written in another way here", span, hint
            )


def _is_meant_as_command(name: str, after: str) -> bool:
    """Return whether a name that begins a line is another program's command, or a slip of one of
    ours.
    """
    is_command = name in slips.COMMAND_SYNONYMS or name in slips.COMMAND_ADVICE
    if is_command and re.match(r"\s+[\w(\"']|\Z", after) is not None:
        return True
    return (
        bool(_OPERAND.match(after))
        and closest(name, [*COMMANDS, *FUNCTIONS, "quit", "exit"]) in COMMANDS
    )


def _unknown_special(name: str) -> ExpressionError:
    near = closest(name, SPECIAL)
    hint = f"did you mean `:{near}`?" if near else "`:help` lists them"
    return usage_error(f"there is no command `:{name}`", hint)


def _typed_options(options: Iterable[Option], values: Mapping[str, Any]) -> TypedLine:
    """Return the options of a line with their texts. Raises a usage error if one would read
    standard input.
    """
    from ...cli.completion import TypedLine

    typed = [(option, text) for option in options for text in _texts(values.get(option.parameter))]
    if any(option.reads_stdin and text == "-" for option, text in typed):
        raise usage_error(*STDIN_IS_TAKEN)
    return TypedLine(None, tuple(typed))


def _check_no_redirection(words: Sequence[_Word]) -> None:
    if len(words) > 1 and words[-2] in (">", ">>") and "." in words[-1]:
        span = Span(words[-2].start, words[-2].start + len(words[-2]))
        hint = f"write it to a file with `--output {words[-1]}`"
        raise usage_error("a session has no redirection, as a shell has", hint, span)


def _typed_piece(line: str, words: Sequence[_Word]) -> AsRead:
    """Return the words of an expression as one text, with their places."""
    first, last = words[0].start, words[-1]
    spans = [(word.start, word.start + len(word)) for word in words]
    places = [k - first for start, end in spans for k in (*range(start, end), first - 1)]
    return AsRead(" ".join(words), line[first : last.start + len(last)], tuple(places[:-1]))


def show(session: Session, line: str, shown: Shown, *, alone: bool = False) -> None:
    """Write the answer to a statement; `alone`, without the formula and the name of a value."""
    reading = shown.reading
    if reading.note_text is not None:
        write_reading("", session.in_primes(reading.note_text))
    if isinstance(shown.answer, str):
        sys.stdout.write(shown.answer + "\n")
        return
    view: View[Any] = GradientView(name="" if alone else shown.name, tree=False)
    if not isinstance(shown.answer, Gradient):
        # plain values start sooner without
        from ..formulas.diff_view import DiffView, Listing, ListView

        if isinstance(shown.answer, Listing):
            view = ListView(unnamed=ANSWER if alone else None)
        else:
            formula = shown.formula if shown.formula != line.strip() and not alone else None
            view = DiffView(formula=(shown.name, formula) if shown.name and formula else None)
    writer("table", sys.stdout, view, False).answer(Subject(line), shown.answer)
    sys.stdout.flush()
    warn(shown.answer.warnings, reading.text, composed=reading)


def _check_names(text: str, parts: Sequence[TypedStatement]) -> None:
    check_bound_once(text, parts)
    if conversion_of(text) is None:
        check_letters(text)


def _advise(error: ExpressionError, text: str) -> None:
    from ...cli.strict_reading import advise_leniency

    error.text = None
    advise_leniency(error, text, ())
    error.text = text


def answer_line(text: str, *, lenient: bool) -> int:
    """Answer a formula as a line of a session without names; return the exit code. Raises
    `ExpressionError`.
    """
    parts = [*statements_of(text)]
    if not parts:
        raise usage_error("there is no expression", 'write a formula, as in `autodiff "x**2"`')
    # which a command would choose by its output
    reading = {"lenient": True} if lenient else {"strict": True}
    if any(is_equation(text, part) or are_equations(text, part) for part in parts):
        return answer("solve", {"expr": text, **reading})
    is_program = len(parts) > 1 and not has_primes(text)
    if is_program or parts[-1].kind == "define":
        command = "diff" if has_variables(text) else "grad"
        return answer(command, {"expr": text, **reading})
    last = parts[-1]
    in_full = derivative_in_full(
        text[last.start : last.end], [part.name for part in parts if part.kind == "bind"]
    )
    if in_full != text[last.start : last.end]:
        # alone, its formula is asked for, and no derivative of it
        text = text[: last.start] + in_full
        parts = [*statements_of(text)]
    session = Session(lenient=lenient)
    try:
        _check_names(text, parts)
        shown = [session.statement(text, part) for part in parts]
    except ExpressionError as error:
        error.text = text if error.text is None else error.text
        if error.offers and not lenient:
            _advise(error, text)
        raise
    show(session, text, shown[-1], alone=True)
    return 0


def check_bound_once(text: str, parts: Sequence[TypedStatement]) -> None:
    """Raise an error for a name that is bound twice: in a session it is the last of them
    everywhere.
    """
    bound: set[str] = set()
    for part in parts:
        if part.name in bound and part.kind == "bind":
            span = Span(part.start, part.start + len(part.name))
            hint = "in a session a name means one thing at a time: give this one another name"
            raise ExpressionError("name", f"`{part.name}` is bound twice", span, hint)
        bound.add(part.name)


def _split(text: str) -> Iterator[str]:
    begun: list[str] = []
    for line in text.splitlines():
        begun.append(line)
        if sum(map("".join(begun).count, "([{")) <= sum(map("".join(begun).count, ")]}")):
            yield "\n".join(begun)
            begun = []
    yield from begun


def _texts(value: object) -> list[str]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _help(rest: str) -> int:
    if rest:
        return _app(["help", rest])
    width = min(terminal_of(sys.stdout).width or 80, 80)
    lines = [f"{typed:<20}  {meaning}" for typed, meaning in table("session").items()]
    lines = [
        fill(line, width, subsequent_indent=" " * 22, break_on_hyphens=False) for line in lines
    ]
    lines.append(
        fill("Informal notation is read where it is unambiguous: `read as:` shows how.", width)
    )
    lines.append(fill(f"The commands: {', '.join(QUESTIONS)}.", width))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _app(args: Sequence[str]) -> int:
    from ...cli.app import run_app  # needs Typer

    try:
        return run_app(args)
    except ExpressionError as error:
        raise _as_typed_here(error) from None


def _as_typed_here(error: ExpressionError) -> ExpressionError:
    hint = (error.hint or "").replace("`autodiff --help`", "`:help`")
    hint = re.sub("`autodiff '([^'`]*)'`", r"`\1`", hint)
    return usage_error(str(error), hint.replace("`autodiff ", "`"))
