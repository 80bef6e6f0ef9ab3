"""Targets: recorded programs as source code, a module a target language."""

from ...compiled.target import Target

# The languages that programs can be exported to, with their file endings.
TARGETS = {
    "python": (".py",), "numpy": (".py",), "c": (".c", ".h"), "javascript": (".js", ".mjs"),
    "jax": (".py",), "torch": (".py",), "sql": (".sql",), "matlab": (".m",), "r": (".r",),
    "julia": (".jl",), "spreadsheet": (".csv", ".xlsx"), "latex": (".tex",), "micrograd": (".py",),
    "torch-module": (".py",),
}  # fmt: skip


# The databases that SQL is written for; each has its dialect.
DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "clickhouse")


def target(name: str, dialect: str | None = None) -> Target | None:
    """Return a language's writer, of SQL in a dialect; None for mathematics, which is no code."""
    from .languages import (
        ArrayLibrary,
        C,
        JavaScript,
        Jax,
        Python,
        Scientific,
        Spreadsheet,
        Torch,
    )
    from .sql import Sql

    if name in ("micrograd", "torch-module"):
        # code that other engines differentiate is rarely asked for
        from .autograd import Micrograd, TorchModule

        return Micrograd(name) if name == "micrograd" else TorchModule(name)
    if name == "sql":
        return Sql(dialect or DIALECTS[0])
    writers: dict[str, type[Target]] = {
        "python": Python, "numpy": ArrayLibrary, "jax": Jax, "torch": Torch, "c": C,
        "javascript": JavaScript, "matlab": Scientific, "r": Scientific, "julia": Scientific,
        "spreadsheet": Spreadsheet,
    }  # fmt: skip
    return writers[name](name) if name in writers else None
