"""The `autodiff` command: runs the command line; every end has an exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys

# Python handles Ctrl-C until a handler is set; it loads the modules above at its start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from .errors import ExpressionError


# The exit code after Ctrl-C.
INTERRUPTED = 130


def main() -> int:
    """Run the process; return its exit code."""
    # A graph has no cycles, so reference counts free it; the collector would walk it again and
    # again while it grows (a factor of ten on a large one), and the imports as well. A stream
    # collects now and then.
    gc.disable()
    # NumPy's linear algebra would start a busy-waiting thread a core
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # During imports nothing is written, and an exception may occur anywhere.
        _on_signals(_leave)
        _load(sys.argv[1:])
        _on_signals(_interrupt)
    except KeyboardInterrupt:
        return INTERRUPTED
    code = run(sys.argv[1:])
    _on_signals(_leave)
    # a thread of a session may be importing that module
    abandoned = getattr(sys.modules.get("autodiff_cli.streams.filesystems"), "abandoned", None)
    if abandoned is not None and abandoned.is_set():
        # else the process would wait for the network
        os._exit(code)
    # A last collection would take as long as a small formula.
    gc.freeze()
    return code


def _load(args: Sequence[str]) -> None:
    try:
        from .cli.commands import load
        from .cli.declarations import COMMANDS

        if [*args] == ["version"] or (args[1:] == ["--version"] and args[0] in COMMANDS):
            args = ["--version"]
        if args and args[0] in COMMANDS:
            load(args[0])
    except Exception:
        pass


def run(args: Sequence[str]) -> int:
    """Run the command line; return the exit code in any case. Errors are printed."""
    try:
        if sys.stdout is None:
            sys.stdout = _Closed()
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole process
        for stream in (sys.stdout, sys.stderr):
            # characters that a stream's encoding lacks are escaped
            if hasattr(stream, "reconfigure"):
                # lines end alike in every pipe; Windows would add a carriage return
                stream.reconfigure(errors="backslashreplace", newline="\n")
        if sys.platform == "win32":
            from .operating_system import prepare_streams

            prepare_streams((sys.stdin, sys.stdout, sys.stderr))
        code = _dispatch(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt as asked:
        _abandon_output()
        return 128 + int(asked.args[0]) if asked.args else INTERRUPTED
    except OSError as fault:
        from .errors import ExpressionError
        from .operating_system import is_closed_pipe

        _abandon_output()
        if is_closed_pipe(fault):
            return 0
        message = f"cannot write: {fault.strerror or fault}"
        return _report(ExpressionError("io", message, hint="check where the output goes"))
    except Exception as fault:
        from .errors import error_of

        return _report(error_of(fault, "the command"))


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    """Handle the ending signals, unless the parent process ignores them."""
    import signal

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Stop after writing finished answers; a second signal stops at once."""
    _on_signals(_leave)
    raise KeyboardInterrupt(number)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _dispatch(args: Sequence[str]) -> int:
    from .cli.arguments import HelpAsked
    from .cli.commands import call
    from .cli.declarations import COMMANDS
    from .errors import ExpressionError

    try:
        if "_AUTODIFF_COMPLETE" in os.environ:
            from .cli.completion import complete

            return complete(os.environ)
        if [*args] == ["version"] or (args[1:] == ["--version"] and args[0] in COMMANDS):
            args = ["--version"]
        if args and args[0] in COMMANDS:
            return call(args[0], args[1:])
        from .cli.formula import ANYWHERE, answer_formula, is_formula

        if args and args[0] in ANYWHERE and not {*args} <= {*ANYWHERE}:
            return _dispatch([*args[1:], args[0]])
        if is_formula(args):
            return answer_formula(args)
        return _run_app(args)
    except HelpAsked as asked:
        return _run_app(asked.args)
    except ExpressionError as error:
        if sys.stdout is not None:
            sys.stdout.flush()
        return _report(error)


def _run_app(args: Sequence[str]) -> int:
    from .cli.app import run_app

    return run_app(args)


class _Closed(io.TextIOBase):
    """Standard output closed by the caller: writing is an error, as on a full disk."""

    @property
    def buffer(self) -> _Closed:
        return self

    def write(self, data: object) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _abandon_output() -> None:
    from .show.error import discard_output

    discard_output(sys.stdout)


def _report(error: ExpressionError) -> int:
    from .show.error import report

    report(error.diagnostic, error.text)
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
