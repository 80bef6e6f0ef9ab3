"""How wide text is on a screen, and which characters can be shown there at all."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable
from typing import NamedTuple, TextIO

INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


class Look(NamedTuple):
    """What a stream can show: what everything in `render` asks before it draws.

    `width` is in columns, None where nothing is cut; `encoding` is the stream's.
    """

    terminal: bool = False
    color: bool = False
    unicode: bool = True
    width: int | None = None
    encoding: str = "utf-8"


def look(stream: TextIO) -> Look:
    """What this stream can show, by its kind, its encoding, the locale and the usual environment variables."""
    terminal = stream.isatty()
    environment = os.environ
    forced = environment.get("FORCE_COLOR", "") not in ("", "0")
    color = (forced or (terminal and environment.get("TERM") != "dumb")) and not environment.get("NO_COLOR")
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    width = None
    if terminal:
        columns = environment.get("COLUMNS", "")
        try:
            width = int(columns) if columns.isdigit() else os.get_terminal_size(stream.fileno()).columns
        except OSError:
            width = 80
    return Look(terminal, color, encoding.replace("-", "") == "utf8" and utf8_locale(), width or None, encoding)


def utf8_locale() -> bool:
    """Whether the user's locale speaks UTF-8.

    Python turns UTF-8 on by itself where the locale is C (and then sets LC_CTYPE), so its own settings do not tell.
    """
    environment = os.environ
    name = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or "UTF-8"
    if not environment.get("LC_ALL") and environment.get("LC_CTYPE") == "C.UTF-8" and environment.get("LANG"):
        name = environment["LANG"]
    return "utf8" in name.lower().replace("-", "") or sys.platform in ("win32", "darwin")


def width_of(text: str) -> int:
    """How many columns the text takes on a screen."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def visible(text: str, encoding: str = "utf-8") -> str:
    """The text with control characters, escape sequences and what the encoding lacks written as escapes."""
    if text.isprintable() and (text.isascii() or encoding == "utf-8"):
        return text
    return "".join(map(escaper(encoding), text))


def escaper(encoding: str) -> Callable[[str], str]:
    """A function from a character to what is shown for it."""

    def show(char: str) -> str:
        if char == "\n":
            return "\\n"
        if char == "\t":
            return "\\t"
        code = ord(char)
        shown = char.isprintable() or unicodedata.category(char) not in INVISIBLE
        if shown and code > 127:
            try:
                char.encode(encoding)
            except UnicodeEncodeError:
                shown = False
        if shown:
            return char
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"

    return show
