"""The command line as a shell has it: cut into words, and what is inserted there.

Nothing is expanded: `$x`, `$(…)`, globs and `~` stand for themselves.
"""

import re
from typing import NamedTuple

# Whatever bash may read as more than itself outside quotes.
_SAFE_IN_BASH = r"[^\w.,=:@+/%-]"
# The characters after which bash begins a new word to complete (`COMP_WORDBREAKS`).
_BASH_BREAKS = frozenset("=:@><|&;()")


class Quoting(NamedTuple):
    """How a shell quotes: the escape character, and what it escapes outside and in each kind of
    quotes.
    """

    escape: str
    escaped: dict[str, str | None]
    """By the open quote (`""` is outside): the characters that are escaped; None is any."""
    doubled: bool = False
    """Whether a quote that is written twice stands for itself."""


_POSIX = Quoting("\\", {"": None, "'": "", '"': '$`"\\\n'})
# The quoting of each shell.
QUOTING = {
    "bash": _POSIX,
    "zsh": _POSIX,
    "fish": Quoting("\\", {"": None, "'": "'\\", '"': '"$\\\n'}),
    "powershell": Quoting("`", {"": None, "'": "", '"': None}, doubled=True),
}


class ShellWord(NamedTuple):
    """A word of the line, without its quotes."""

    text: str = ""
    open_quote: str = ""
    """The quote that is not closed yet."""
    kept: int = 0
    """How much of `text` bash leaves alone when it inserts a completion."""


def split_line(line: str, shell: str) -> list[ShellWord]:
    """Return the words of the line; the last one is to be completed.

    >>> [word.text for word in split_line("autodiff grad 'x * y' --at x=", "bash")]
    ['autodiff', 'grad', 'x * y', '--at', 'x=']
    """
    escape, escaped, doubled = QUOTING[shell]
    words: list[ShellWord] = []
    text, quote, kept, begun, closed = "", "", 0, False, ""
    characters = iter(line)
    for char in characters:
        reopened, closed = closed, ""
        if char == escape and escaped[quote] != "":
            following, only = next(characters, ""), escaped[quote]
            text += following if only is None or following in only else escape + following
        elif quote and char == quote:
            quote, closed = "", char
        elif quote:
            text += char
        elif char in "'\"":
            text += char if doubled and reopened == char else ""
            quote, kept = char, len(text)
        elif char.isspace():
            words += [ShellWord(text)] if begun else []
            text, kept, begun = "", 0, False
            continue
        else:
            text += char
            kept = len(text) if char in _BASH_BREAKS else kept
        begun = True
    return [*words, ShellWord(text, quote, kept)]


def inserted_by_bash(candidate: str, word: ShellWord) -> str:
    """Return what bash inserts for the part of a word that it completes, quoted as the word is.

    >>> inserted_by_bash("x=$(date)", ShellWord("x=", "", 2))
    '\\\\$\\\\(date\\\\)'
    """
    text, quote = candidate[word.kept :], word.open_quote
    if not quote:
        return re.sub(f"({_SAFE_IN_BASH})", r"\\\1", text)
    if quote == "'":
        quoted = text.replace("'", "'\\''")
    else:
        # a backslash before `!` would stay there
        quoted = re.sub(r'([$`"\\])', r"\\\1", text).replace("!", "\"'!'\"")
    # readline adds the closing quote unless the text ends in one
    return quoted + quote if quoted.endswith(quote) else quoted
