"""Patterns are for texts without a grammar: what a program says is asked of its tree, or of its tokens."""

from __future__ import annotations

import ast
from pathlib import Path

import autodiff_cli

SOURCE = Path(autodiff_cli.__file__).parent
ROOMS = ("language", "diagnostics")
"""The language itself, and why a text is not in it."""

READ = {
    "units, numbers and points as typed": """
        inputs/problem inputs/optional_units inputs/parse_point inputs/quantities inputs/sweeps inputs/decoding
        quantities/table quantities/unit streams/requests inputs/measured_units inputs/measured_value
        accuracy/check cli/commands/propagate""",
    "files and their places": """
        data/cluster data/layouts data/readers data/sources data/text_dialects streams/filesystems
        batched/columns_io""",
    "command lines, words of help, names of options": """
        api/manual api/tracebacks cli/commands/repl cli/completion cli/help_page cli/session_lines
        cli/shell_lines cli/slips errors""",
    "rows of the table, words of messages": "table/primitive run/sweep optimize/convergence equations/pieces",
    "what this program has written itself": """
        targets/languages targets/sql targets/target views/characters views/exercise views/formats views/mathematics
        views/pictures/drawings views/pictures/flowcharts views/plots/figure views/plots/frame views/rendering views/tex
        views/tex_tables views/trace exercises/exercise""",
    "answers of learners": "exercises/answers exercises/equation_answers exercises/marking",
}
"""Who may use patterns, by what the texts are."""

PROGRAMS = {
    "formulas/diff": "`d/dx` before a formula, and names that may be products",
    "cli/formula": "conversions, and what a line that names no command may be",
    "cli/session": "primes, `dy/dx` and definitions as in other programs, in the session's own notation",
}
"""Who still looks into programs by patterns. A module may leave this table; none comes in."""


def imports_patterns(path: Path) -> bool:
    return any(
        isinstance(node, ast.Import) and any(alias.name == "re" for alias in node.names)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_no_module_reads_programs_by_patterns() -> None:
    known = {module for modules in READ.values() for module in modules.split()} | PROGRAMS.keys()
    paths = {path.relative_to(SOURCE).with_suffix("").as_posix(): path for path in SOURCE.rglob("*.py")}
    using = {module for module, path in paths.items() if module.split("/")[0] not in ROOMS and imports_patterns(path)}
    assert using - known == set(), "ask the tree of the program (`language/parser`), or its tokens"
    assert known - using == set(), "these no longer need a place here"
    assert len(PROGRAMS) <= 3
