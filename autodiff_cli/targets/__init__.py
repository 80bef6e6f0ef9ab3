"""Targets: recorded programs as source code, a module a target language."""

from __future__ import annotations

from .target import Target

TARGETS = {
    "python": (".py",), "numpy": (".py",), "c": (".c", ".h"), "javascript": (".js", ".mjs"), "jax": (".py",),
    "torch": (".py",), "sql": (".sql",), "matlab": (".m",), "r": (".r",), "julia": (".jl",), "spreadsheet": (".csv",),
    "latex": (".tex",),
}  # fmt: skip
"""The names of the languages that a program can be exported to, and how the names of their files end."""


def target(name: str, dialect: str | None = None) -> Target | None:
    """A writer of this language, None where there is none: mathematics is no code.

    Of SQL it is one in one of `DIALECTS`, by default the first.
    """
    from .curly import C, JavaScript
    from .dialects import DIALECTS
    from .python import Jax, NumPy, Python, Torch
    from .scientific import Julia, Matlab, R
    from .spreadsheet import Spreadsheet
    from .sql import Sql

    if name == Sql.name:
        return Sql(DIALECTS[dialect or next(iter(DIALECTS))])
    writers: tuple[type[Target], ...] = (Python, NumPy, C, JavaScript, Jax, Torch, Matlab, R, Julia, Spreadsheet)
    return next((writer() for writer in writers if writer.name == name), None)
