"""What reads a program: its grammar, not patterns; and nothing that a user has typed is run as code."""

from __future__ import annotations

import ast
from keyword import iskeyword
from pathlib import Path

import autodiff_cli
from autodiff_cli.api.calls import FUNCTIONS
from autodiff_cli.cli.declarations import QUESTIONS

SOURCE = Path(autodiff_cli.__file__).parent
ROOMS = ("language", "diagnostics")
"""The language itself, and why a text is not in it."""

READ = {
    "units, numbers and points as typed": """
        inputs/problem inputs/optional_units inputs/parse_point inputs/quantities inputs/sweeps inputs/decoding
        quantities/table quantities/unit streams/requests inputs/measured_units inputs/measured_value
        accuracy/check cli/commands/propagate""",
    "files and their places": """
        data/cluster data/columns data/layouts data/readers data/sources data/text_dialects streams/filesystems
        batched/columns_io""",
    "command lines, words of help, names of options": """
        api/manual api/tracebacks cli/commands/repl cli/completion cli/help_page cli/session_lines
        cli/shell_lines cli/slips errors""",
    "rows of the table, words of messages": "table/primitive run/sweep optimize/convergence equations/pieces",
    "what this program has written itself": """
        targets/languages targets/sql targets/target views/characters views/exercise views/formats views/mathematics
        views/pictures/drawings views/pictures/flowcharts views/plots/figure views/plots/frame views/rendering
        views/siunitx views/tex
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


COMPILED = {
    "record": "the `__init__` of a record, of the names of its fields",
    "api/calls": "a Python function, of the names of a command's options",
    "batched/evaluator": "a program as Python code: numbered variables, numbers, and functions of the table",
}
"""Who runs code that is made at run time, and what it is made of."""


def test_only_these_modules_run_code_that_is_made_at_run_time() -> None:
    runs = set()
    for path in SOURCE.rglob("*.py"):
        called = [
            node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
        ]
        if any(isinstance(name, ast.Name) and name.id in ("eval", "exec", "compile") for name in called):
            runs.add(path.relative_to(SOURCE).with_suffix("").as_posix())
    assert runs == COMPILED.keys()


def test_python_functions_are_compiled_of_plain_names_alone() -> None:
    for command in QUESTIONS:
        getattr(autodiff_cli, {"grad": "gradient"}.get(command, command))
    assert len(FUNCTIONS) >= 20
    for name, declared in FUNCTIONS.items():
        assert name.isidentifier()
        for parameter in declared.parameters:
            assert parameter.name.isidentifier() and not iskeyword(parameter.name)
            assert parameter.default in (None, "None", "False")
