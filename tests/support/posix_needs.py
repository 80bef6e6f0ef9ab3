"""Which tests need a system of Unix: a pseudo-terminal, a shell or its tools, or a signal that ends
a process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

MODULES = {"console", "pexpect", "shell_terminal", "terminals"}
"""Modules that need Unix, but for the names in `ANYWHERE`."""
ANYWHERE = {"ESCAPE"}
HELPERS = {"mkfifo", "kill", "send_signal", "raise_signal", "symlink_to", "symlink", "geteuid"}
"""Functions that only Unix has, or that need a right of its own on Windows."""
WORDS = re.compile(
    r"(?:/usr)?(?:/bin/)?(?:ba|z|fi)?sh|awk|groff|man|tmux|mkfifo|/dev/\w+.*|.*\bimport"
    r" resource\b.*",
    re.DOTALL,
)
"""Texts that name a tool of Unix, or a device."""


def find_tests_of_unix(source: str) -> Iterator[tuple[str, int, bool]]:
    """Yield the tests of a module that need Unix, with the line of each, and whether it is marked
    so.
    """
    module = ast.parse(source)
    functions = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    values = {
        target.id: each
        for each in module.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    if "pytestmark" in values and "posix" in _used(values["pytestmark"]):
        return
    definitions: dict[str, ast.AST] = {**functions, **values}
    helpers = HELPERS | _imported(module)
    needy = {name for name, each in definitions.items() if _used(each) & helpers or _has_word(each)}
    while more := {
        name for name, each in definitions.items() if name not in needy and _used(each) & needy
    }:
        needy |= more
    for name, function in functions.items():
        if name.startswith("test_") and name in needy:
            first = min([function.lineno, *[each.lineno for each in function.decorator_list]])
            yield name, first, any("posix" in _used(each) for each in function.decorator_list)


def _used(tree: ast.AST) -> set[str]:
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
    return names | {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}


def _imported(module: ast.Module) -> set[str]:
    names = set()
    for each in module.body:
        if isinstance(each, ast.Import):
            names |= {alias.name for alias in each.names} & MODULES
        elif isinstance(each, ast.ImportFrom) and each.module in MODULES:
            names |= {alias.name for alias in each.names} - ANYWHERE
    return names


def _has_word(tree: ast.AST) -> bool:
    texts = [
        each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return any(WORDS.fullmatch(text) for text in texts)
