"""The magics of notebooks: `%load_ext autodiff_cli`, then `%autodiff` and `%%autodiff`."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ...api.keywords import keyword, keywords_of
from ...cli.arguments import HelpAsked, read
from ...cli.commands import call
from ...cli.declarations import QUESTIONS, declared
from ...errors import ExpressionError, usage_error
from ...operating_system import split_words


def load_ipython_extension(shell: Any) -> None:
    """Give a shell of IPython the magics."""
    session: list[Callable[[str], object]] = []

    def autodiff(line: str, cell: str | None = None) -> Any:
        """Run a command of autodiff, whose answer is shown: `%autodiff grad "x**2" --at x=3`.

        `%%autodiff grad --at x=3` takes the program from the cell. Other lines are those of a
        session, as `autodiff repl` has them: `%autodiff f(x) = x² sin x`; `%%autodiff` has several.
        """
        words = _words(line)
        try:
            if words and words[0] in QUESTIONS:
                return answer_of(words[0], [*words[1:], *([cell] if cell is not None else [])])
            if not session:
                from .session_lines import Lines  # only formulas need a session

                session.append(Lines().answer)
            text = f"{line}\n{cell or ''}".strip()
            _printed(lambda: session[0](text))
        except ExpressionError as error:
            raise _refusal(error) from None
        return None

    shell.register_magic_function(autodiff, "line_cell", "autodiff")


def _refusal(error: ExpressionError) -> Exception:
    """Return an error that a notebook shows without the calls that led to it."""
    usage = import_module("IPython.core.error").UsageError
    notes = getattr(error, "__notes__", None) or (
        [] if error.hint is None else [f"  hint: {error.hint}"]
    )
    refusal: Exception = usage("\n".join([str(error), *notes]))
    return refusal


def _words(line: str) -> list[str]:
    try:
        return split_words(line)
    except ValueError:
        return []  # a formula such as f'(3)


def answer_of(command: str, args: Sequence[str]) -> Any:
    """Return the answer of a command's Python function to what is typed; what has none there is
    printed.
    """
    try:
        values = read(args, command)
    except HelpAsked:
        raise usage_error(
            "help is not shown by the magic", f"`!autodiff {command} --help` shows it"
        ) from None
    arguments = _arguments(command, values)
    if arguments is None:
        _printed(lambda: call(command, args))
        return None
    function = "gradient" if command == "grad" else command
    return getattr(import_module("autodiff_cli"), function)(**arguments)


def _arguments(command: str, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return typed values as arguments of the command's function; None if it has no parameter for
    one of them.
    """
    options = {option.parameter: option for option in declared(command).options.values()}
    types = keywords_of(command)
    found: dict[str, Any] = {}
    for parameter, typed in values.items():
        if parameter == "expr":
            found["text"] = typed
            continue
        name = keyword(options[parameter].name) if parameter in options else ""
        kind = types.get(name)
        if kind is None:
            return None
        found[name] = ",".join(typed) if isinstance(typed, list) and kind != "Names" else typed
    return found if "text" in found else None


def _printed(run: Callable[[], object]) -> None:
    """Print what a command writes: a notebook's streams are not those of a terminal."""
    stream = sys.stdout
    captured = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)
    sys.stdout = captured
    try:
        run()
    finally:
        sys.stdout = stream
        captured.flush()
        stream.write(captured.buffer.getvalue().decode("utf-8"))
