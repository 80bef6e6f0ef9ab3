"""Targets: recorded programs as source code, a module a target language."""

from __future__ import annotations

from .target import Target

TARGETS = ("python", "numpy", "c", "jax", "torch", "sql", "latex")
"""The names of the languages that a program can be exported to."""


def target(name: str) -> Target | None:
    """A writer of this language, None where there is none."""
    from .c import C
    from .latex import Latex
    from .python import Jax, NumPy, Python, Torch
    from .sql import Sql

    writers: tuple[type[Target], ...] = (Python, NumPy, C, Jax, Torch, Sql, Latex)
    return next((writer() for writer in writers if writer.name == name), None)
