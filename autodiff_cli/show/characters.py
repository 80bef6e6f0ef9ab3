"""Text on a screen: width, escapes, colours; themes of pictures."""

import os
import re
import sys
import unicodedata
from typing import Literal, NamedTuple, TextIO, TypeAlias

# Maximal characters of a title, and of a formula in it.
MAX_TITLE_CHARACTERS, MAX_FORMULA_CHARACTERS = 400, 70
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_TYPED = {
    "–": "-", "−": "-", "±": "+-", "·": "*", "≤": "<=", "≥": ">=", "≠": "!=", "√": "sqrt",
    "∞": "inf", "∂": "d", "π": "pi", "χ": "chi", "ν": "nu", "′": "'", "″": "''", "…": "...",
    "°": "deg", "Ω": "ohm", "µ": "u", "μ": "u",
}  # fmt: skip
INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
Style: TypeAlias = Literal[
    "", "heading", "name", "operator", "number", "faint", "code", "error", "warning", "note", "hint"
]


# The escape sequence and CSS of each style; colours in CSS are the theme's, or legible in light and
# dark.
STYLES: dict[Style, tuple[str, str]] = {
    "": ("", ""),
    "heading": ("1", "font-weight:bold"),
    "name": ("1;36", "font-weight:bold;color:var(--autodiff-name,#0e8a9c)"),
    "operator": ("33", "color:var(--autodiff-operator,#b07310)"),
    "number": ("", ""),
    "faint": ("2", "opacity:.65"),
    "code": ("32", "color:var(--autodiff-code,#2e8b45)"),
    "error": ("1;31", "font-weight:bold;color:var(--autodiff-error,#d33c3c)"),
    "warning": ("1;33", "font-weight:bold;color:var(--autodiff-operator,#b07310)"),
    "note": ("1;36", "font-weight:bold;color:var(--autodiff-name,#0e8a9c)"),
    "hint": ("1;36", "font-weight:bold;color:var(--autodiff-name,#0e8a9c)"),
}


class Terminal(NamedTuple):
    """The capabilities of an output stream.

    `width` is in columns, None where nothing is cut; `encoding` is the stream's.
    """

    is_terminal: bool = False
    color: bool = False
    unicode: bool = True
    width: int | None = None
    encoding: str = "utf-8"


def terminal_of(stream: TextIO) -> Terminal:
    """Return the capabilities of a stream."""
    terminal = stream.isatty()
    environment = os.environ
    forced = environment.get("FORCE_COLOR", "") not in ("", "0")
    color = (forced or (terminal and environment.get("TERM") != "dumb")) and not environment.get(
        "NO_COLOR"
    )
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    kind, language = environment.get("LC_CTYPE"), environment.get("LANG")
    # Python turns UTF-8 on by itself where the locale is C, and then sets LC_CTYPE
    kind = language if kind == "C.UTF-8" and language else kind
    locale = (environment.get("LC_ALL") or kind or language or "UTF-8").lower().replace("-", "")
    unicode = encoding.replace("-", "") == "utf8" and (
        "utf8" in locale or sys.platform in ("win32", "darwin")
    )
    return Terminal(terminal, color, unicode, _columns(stream) if terminal else None, encoding)


def _columns(stream: TextIO) -> int | None:
    """Return the width of a terminal; None if it has none."""
    columns = os.environ.get("COLUMNS", "")
    try:
        return (
            int(columns) if columns.isdigit() else os.get_terminal_size(stream.fileno()).columns
        ) or None
    except OSError:
        return 80


def paint(text: str, style: Style, terminal: Terminal) -> str:
    """Return the text in a style's colour, if the stream has colours."""
    code, _ = STYLES[style]
    return f"\x1b[{code}m{text}\x1b[0m" if terminal.color and code and text else text


def width_of(text: str) -> int:
    """Return the text's columns on a screen."""
    if text.isascii():
        return len(text)
    carriers = [char for char in text if unicodedata.category(char) not in ("Mn", "Me")]
    return len(carriers) + sum(unicodedata.east_asian_width(char) in "WF" for char in carriers)


def escaped(text: str, encoding: str = "utf-8") -> str:
    """Return the text with controls and the like escaped."""
    if text.isprintable() and (text.isascii() or encoding == "utf-8"):
        return text
    if encoding != "utf-8":
        text = re.sub(r"√(\w+)", r"√(\1)", re.sub("([⁻⁰¹²³⁴-⁹]+)", r"^\1", text)).translate(
            _LOWERED
        )
        text = "".join(
            [char if char.encode(encoding, "ignore") else _TYPED.get(char, char) for char in text]
        )
    return "".join([shown_as(char, encoding) for char in text])


def shorten_middle(text: str, most: int, dots: str = "…") -> str:
    """Return the text, or the two ends of a long one."""
    return text if len(text) <= most else text[: most * 2 // 3] + dots + text[-most // 3 :]


def shorten_end(text: str, most: int = MAX_TITLE_CHARACTERS) -> str:
    """Return the text, or the beginning of a long one."""
    return text if len(text) <= most else text[: most - 1] + "…"


def on_one_line(text: str) -> str:
    """Return a program with semicolons for its line ends."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def is_shown(char: str) -> bool:
    """Return whether a character is visible: no control, no turn of direction."""
    return char.isprintable() or unicodedata.category(char) not in INVISIBLE


def shown_as(char: str, encoding: str) -> str:
    """Return a character, or its escape."""
    if char in "\n\t":
        return "\\n" if char == "\n" else "\\t"
    if is_shown(char) and char.encode(encoding, "ignore"):
        return char
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


# `auto` follows the viewer's setting in an SVG, and is light in a PNG.
Theme = Literal["auto", "light", "dark"]
