"""`autodiff serve`: the commands as tools of the Model Context Protocol, on standard input and
output.

A message is a JSON-RPC 2.0 object on a line. A tool's arguments are those of its command, declared
in `commands.txt`, and its answer is the command's JSON record. A call does the work that one
command may do, and reads and writes no files unless that is allowed.
"""

from __future__ import annotations

import csv
import gc
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, BinaryIO

from ... import __version__
from ...cli.declarations import QUESTIONS, Option, declared
from ...cli.option_values import OptionValues
from ...errors import ExpressionError, quote

# The versions of the protocol that are spoken, the latest first.
VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
# A longer message is refused: a fit's data of some 100,000 rows.
MAX_MESSAGE_BYTES = 8_000_000

# A longer formula is refused: the work that a call may do grows with its text.
MAX_TEXT_CHARACTERS = 100_000

# Codes of JSON-RPC.
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602

_NOT_FOR_TOOLS = """
--format --json --output --force --file --debug --quiet --work --strict --document --theme --on-error --input-format
--separator --decimal --skip --encoding --comment --header --missing --backend --no-tree --no-table
--title --size --legend --apart
--playground --pyodide
"""
# Options that are not for tools: an answer is a record, the work of a call is bounded, and data
# come in the call.
WITHOUT = frozenset(_NOT_FOR_TOOLS.split())
SHELL_SECTIONS = ("Sweeps and data files", "Files beside the answer")
DATA = "--data"


class ProtocolError(Exception):
    """A message that cannot be answered: its code and the reason."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def run(call: OptionValues) -> int:
    """Answer the messages of standard input until it ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    server = Server(files=bool(call.values.get("allow_files")))
    while (line := source.readline(MAX_MESSAGE_BYTES + 1)) != b"":
        if len(line) > MAX_MESSAGE_BYTES:
            _skip_line(source, line)
            answer: Any = _error(
                None, PARSE_ERROR, f"a message has more than {MAX_MESSAGE_BYTES:,} bytes"
            )
        else:
            answer = server.answer_line(line)
        if answer is not None:
            sink.write(
                json.dumps(answer, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
            )
            sink.flush()
        gc.collect()
    return 0


def _skip_line(source: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = source.readline(MAX_MESSAGE_BYTES)


def _error(key: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": message}}


class Server:
    """Answers messages; with `files` calls may read and write files."""

    def __init__(self, *, files: bool = False) -> None:
        self.files = files

    def answer_line(self, line: bytes) -> dict[str, Any] | None:
        """Return the answer to a message; None to a notification."""
        if not line.strip():
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, PARSE_ERROR, "the message is not JSON in UTF-8")
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return _error(None, INVALID_REQUEST, 'a message is an object with "jsonrpc": "2.0"')
        key = message.get("id")
        if not isinstance(message.get("method"), str):
            # an answer of the client, to which nothing was asked
            return (
                None
                if "result" in message or "error" in message
                else _error(key, INVALID_REQUEST, "no method")
            )
        if "id" not in message:
            return None
        try:
            result = self.result(message["method"], message.get("params") or {})
        except ProtocolError as error:
            return _error(key, error.code, str(error))
        return {"jsonrpc": "2.0", "id": key, "result": result}

    def result(self, method: str, params: Any) -> dict[str, Any]:
        """Return the result of a request. Raises `ProtocolError`."""
        if not isinstance(params, dict):
            raise ProtocolError(INVALID_PARAMS, "`params` is an object")
        if method == "initialize":
            return _greeting(params)
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [_tool(name, self.files) for name in tools()]}
        if method == "tools/call":
            name, arguments = params.get("name"), params.get("arguments") or {}
            if name not in tools():
                raise ProtocolError(
                    INVALID_PARAMS, f"there is no tool {name!r}; the tools are {', '.join(tools())}"
                )
            if not isinstance(arguments, dict):
                raise ProtocolError(INVALID_PARAMS, "`arguments` is an object")
            return call_tool(name, arguments, files=self.files)
        raise ProtocolError(NO_METHOD, f"there is no method `{method}`")


def _greeting(params: Mapping[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "autodiff", "version": __version__},
        "instructions": (
            "Exact derivatives, fits, equations and uncertainties of formulas such as"
            " `x**2*sin(y)`. Give the formula as `expr` and the values of its variables as `at`, an"
            " object."
        ),
    }


# ---- tools
@cache
def tools() -> tuple[str, ...]:
    """Return the commands that answer in JSON."""
    return tuple([name for name in QUESTIONS if "--json" in declared(name).options])


@cache
def parameters(command: str, files: bool) -> dict[str, Option]:
    """Return the arguments and options of a tool by name."""
    declaration = declared(command)
    found = {option.parameter: option for option in declaration.arguments}
    for name, option in declaration.options.items():
        of_files = option.metavar == "PATH" or declaration.sections[name] in SHELL_SECTIONS
        # data are given in the call
        if name not in WITHOUT and (files or not of_files or name == DATA):
            found[name[2:].replace("-", "_")] = option
    if not files:
        found.pop("predict", None)  # its value may name a file
    return found


def _tool(command: str, files: bool) -> dict[str, Any]:
    declaration = declared(command)
    options = parameters(command, files)
    return {
        "name": command,
        "description": f"{declaration.summary} As a command: {declaration.examples[0]}",
        "inputSchema": {
            "type": "object",
            "properties": {name: _schema(option) for name, option in options.items()},
            "required": _required(options),
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": not files, "openWorldHint": False},
    }


def _required(options: Mapping[str, Option]) -> list[str]:
    return [
        name for name, option in options.items() if option.required or option.parameter == "expr"
    ]


def _schema(option: Option) -> dict[str, Any]:
    about = {"description": option.help.replace("{choices}", ", ".join(option.choices))}
    if option.name == DATA:
        columns = {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "number"}},
        }
        return {**columns, "description": "Columns of numbers by name."}
    if option.kind is bool:
        return {"type": "boolean", **about}
    if option.kind == (int | None):
        return {"type": "integer", **about}
    if option.kind == (float | None):
        return {"type": "number", **about}
    if option.value_syntax == "=":
        return {
            "type": ["object", "string"],
            "additionalProperties": {"type": ["number", "string"]},
            **about,
        }
    if option.kind == (list[str] | None):
        return {"type": ["array", "string"], "items": {"type": "string"}, **about}
    return {"type": "string", **({"enum": [*option.choices]} if option.choices else {}), **about}


class ArgumentError(Exception):
    """An argument that a tool does not take."""


def call_tool(command: str, arguments: Mapping[str, Any], *, files: bool = False) -> dict[str, Any]:
    """Return the result of a tool: the record of its command. A mistake is a result too, for who
    asked to mend it.
    """
    try:
        args, data = command_line(command, arguments, files=files)
    except ArgumentError as error:
        return _content(_of_error("usage", str(error)), failed=True)
    record = _record(args, data)
    return _content(
        record if isinstance(record, dict) else {"answers": record}, failed="error" in record
    )


def _content(record: dict[str, Any], *, failed: bool) -> dict[str, Any]:
    text = json.dumps(record, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": record,
        "isError": failed,
    }


def command_line(
    command: str, arguments: Mapping[str, Any], *, files: bool
) -> tuple[list[str], str]:
    """Return the arguments of the command, and what its standard input has. Raises
    `ArgumentError`.
    """
    options = parameters(command, files)
    missing = [name for name in _required(options) if name not in arguments]
    if missing:
        raise ArgumentError(f"`{command}` needs {quote(missing)}")
    words, positional, data = [command, "--json"], list[str](), ""
    for name, value in arguments.items():
        option = options.get(name)
        if option is None:
            raise ArgumentError(
                f"`{command}` has no argument `{name}`; it has {quote(options, 'none')}"
            )
        if not option.name.startswith("--"):
            positional = _positional(name, value)
        elif option.name == DATA and isinstance(value, Mapping):
            words, data = [*words, "--data=-", "--input-format=csv"], _as_csv(value)
        elif option.name == DATA and not files:
            raise ArgumentError(
                "`data` has lists by the names of columns; a file is read with `--allow-files` only"
            )
        elif option.kind is bool:
            if not isinstance(value, bool):
                raise ArgumentError(f"`{name}` is true or false")
            words += [option.name] if value else []
        else:
            words += [f"{option.name}={text}" for text in _texts(name, value, files)]
    return [*words, "--", *positional], data


def _positional(name: str, value: Any) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts) or not texts or (texts == ["-"]):
        raise ArgumentError(f"`{name}` is a text")
    if sum(map(len, texts)) > MAX_TEXT_CHARACTERS:
        raise ArgumentError(f"`{name}` has more than {MAX_TEXT_CHARACTERS:,} characters")
    return texts


def _texts(name: str, value: Any, files: bool) -> list[str]:
    """Return an option's values as they are typed. Raises `ArgumentError`."""
    if isinstance(value, Mapping):
        texts = [f"{key}={_text(name, x)}" for key, x in value.items()]
    else:
        texts = [_text(name, x) for x in (value if isinstance(value, list) else [value])]
    for text in texts:
        if not files and text.lstrip().startswith("@"):
            raise ArgumentError(
                f"`{name}` names a file, and the server was started without `--allow-files`"
            )
        if text == "-":
            raise ArgumentError(f"`{name}` cannot be standard input")
    return texts


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"`{name}` has numbers and texts, not {json.dumps(value)[:40]}")
    return repr(value)


def _as_csv(columns: Mapping[str, Any]) -> str:
    rows = [*columns.values()]
    if not rows or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        raise ArgumentError("`data` has lists of one length, by the names of columns")
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(columns)
    table.writerows([[_text("data", x) for x in row] for row in zip(*rows, strict=True)])
    return out.getvalue()


# ---- running a command
def _record(args: Sequence[str], data: str) -> Any:
    """Return the record that a command prints, or that of its error."""
    from ...cli.commands import call

    with _captured(data) as (printed, messages):
        try:
            code = call(args[0], args[1:])
        except ExpressionError as error:
            return _of_error(error.kind, str(error), error.hint)
        except Exception as error:  # a mistake of ours ends no session
            return _of_error(
                "internal", f"internal error; please report it: {type(error).__name__}: {error}"
            )
        sys.stdout.flush()
        try:
            return json.loads(printed.getvalue())
        except ValueError:
            return _of_error("usage", messages.getvalue().strip() or f"exit code {code}")


def _of_error(kind: str, message: str, hint: str | None = None) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message, "hint": hint}}


@contextmanager
def _captured(data: str) -> Iterator[tuple[io.BytesIO, io.StringIO]]:
    kept = sys.stdin, sys.stdout, sys.stderr
    printed, messages = io.BytesIO(), io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(data.encode("utf-8")), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(printed, encoding="utf-8", newline="\n", write_through=True)
    sys.stderr = messages
    try:
        yield printed, messages
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
