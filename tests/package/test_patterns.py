"""What reads a program: its grammar, not patterns; and nothing that a user has typed is run as
code.
"""

from __future__ import annotations

import ast
from keyword import iskeyword
from pathlib import Path

import autodiff_cli
from autodiff_cli.api.calls import FUNCTIONS
from autodiff_cli.cli.declarations import QUESTIONS

SOURCE = Path(autodiff_cli.__file__).parent
ROOMS = ("language",)
"""The language itself, and why a text is not in it."""

READ = {
    "units, numbers and points as typed": (
        """
        questions/problem questions/optional_units questions/parse_point questions/quantities questions/sweeps
        questions/decoding questions/spelled_units engine/quantities/table engine/quantities/unit
        streams/requests questions/measured_units questions/mixed_units questions/powers_of_ten
        questions/measured_value capabilities/check/check capabilities/propagate/propagate_command
        capabilities/propagate/covariance_matrix"""
    ),
    "files and their places": (
        """
        data/cluster data/columns data/layouts data/readers data/sheet_process data/sources data/text_dialects
        streams/filesystems compiled/columns_io"""
    ),
    "command lines, words of help, names of options": (
        """
        api/manual api/tracebacks capabilities/session/repl cli/completion cli/help_page
        capabilities/session/session_lines cli/formula cli/shell_lines cli/slips errors operating_system
        capabilities/playground/examples capabilities/playground/playground show/picture_look"""
    ),
    "rows of the table, words of messages": (
        """
        engine/table/primitive engine/run/sweep capabilities/optimize/convergence capabilities/solve/pieces"""
    ),
    "what this program has written itself": (
        """
        capabilities/export/autograd capabilities/export/languages capabilities/export/sql compiled/target
        show/characters
        capabilities/exercise/exercise_view capabilities/exercise/exercise_latex show/formats show/mathematics
        capabilities/graph/pictures/drawings
        capabilities/graph/pictures/flowcharts capabilities/plot/figure capabilities/plot/frame show/rendering
        cli/man_page capabilities/export/named_cells show/workbook
        show/tex show/siunitx show/tex_tables capabilities/trace/trace_view capabilities/exercise/exercise"""
    ),
    "questions in words, whose formulas the grammar reads": "questions/calculus_words",
    "answers of learners": (
        """
        capabilities/exercise/answers capabilities/exercise/equation_answers capabilities/exercise/marking
        capabilities/exercise/whole_number_answers"""
    ),
}
"""Who may use patterns, by what the texts are."""

PROGRAMS = {
    "capabilities/formulas/differential_operator": "`d/dx` before a formula",
    "questions/typed_lines": "limits, integrals, conversions and questions in words",
    "capabilities/session/session": "primes, `dy/dx`, and definitions as in other programs",
}
"""Who still looks into programs by patterns. A module may leave this table; none comes in."""


def imports_patterns(path: Path) -> bool:
    return any(
        isinstance(node, ast.Import) and any(alias.name == "re" for alias in node.names)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_no_module_reads_programs_by_patterns() -> None:
    known = {module for modules in READ.values() for module in modules.split()} | PROGRAMS.keys()
    paths = {
        path.relative_to(SOURCE).with_suffix("").as_posix(): path for path in SOURCE.rglob("*.py")
    }
    using = {
        module
        for module, path in paths.items()
        if module.split("/")[0] not in ROOMS and imports_patterns(path)
    }
    assert using - known == set(), "ask the tree of the program (`language/parser`), or its tokens"
    assert known - using == set(), "these no longer need a place here"
    assert len(PROGRAMS) <= 3


COMPILED = {
    "record": "the `__init__` of a record, of the names of its fields",
    "api/calls": "a Python function, of the names of a command's options",
    "compiled/evaluator": (
        "a program as Python code: numbered variables, numbers, and functions of the table"
    ),
}
"""Who runs code that is made at run time, and what it is made of."""


def test_only_these_modules_run_code_that_is_made_at_run_time() -> None:
    runs = set()
    for path in SOURCE.rglob("*.py"):
        called = [
            node.func
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
        ]
        if any(
            isinstance(name, ast.Name) and name.id in ("eval", "exec", "compile") for name in called
        ):
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
