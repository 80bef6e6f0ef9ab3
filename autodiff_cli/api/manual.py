"""Writes the man page, the completion files, the reference's tables and the type stubs.

python -m autodiff_cli.api.manual
"""

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import autodiff_cli

from ..capability import resolve
from ..cli.declarations import COMMANDS, QUESTIONS, declared, table, users_of_options
from ..cli.man_page import command_list, man_page
from ..cli.shell_scripts import SCRIPTS
from ..errors import EXIT_CODES
from ..show.schema import Field
from .calls import FUNCTIONS, Declared


def tables() -> dict[str, str]:
    """Return the reference's tables in Markdown, by name."""
    kinds = EXIT_CODES.items()
    codes = [
        (code, meaning, " ".join([f"`{kind}`" for kind, number in kinds if number == int(code)]))
        for code, meaning in table("exit codes").items()
    ]
    commands = [(f"`{name}`", declared(name).summary) for name in COMMANDS]
    environment = [(f"`{name}`", meaning) for name, meaning in table("environment").items()]
    return {
        "commands": _table(("command", "what it gives"), commands),
        "options": _table(
            ("option", "what it does", "commands"),
            sorted(
                (f"`{x.syntax}`", x.help, command_list(users))
                for x, users in users_of_options().items()
            ),
        ),
        "keys": "\n".join(_keys()),
        "exit codes": _table(("exit code", "when", "kinds of error"), codes),
        "environment": _table(("variable", "what it does"), environment),
    }


def _keys() -> Iterator[str]:
    for command in QUESTIONS:
        view = resolve(declared(command).facts["asks"].split()[1])
        others = [(about, fields) for about, _, fields in view.other_records]
        for about, fields in (("", view.fields), *others):
            yield f"`{command}`{about and f', {about}'}:\n"
            yield _table(("key", "what it holds"), _key_rows(fields))
        if command != "exercise" and "--answer" in declared(command).options:
            yield "With `--answer`: those of `exercise`, about an answer.\n"
        if view.csv_columns:
            columns = " ".join(f"`{name}`" for name in view.csv_columns)
            yield f"Columns of csv and tsv: {columns}\n"


def _key_rows(fields: Iterable[Field], parent: str = "") -> Iterator[tuple[str, str]]:
    for field in fields:
        yield f"`{parent}{field.name}`", field.meaning
        yield from _key_rows(field.fields, f"{parent}{field.name}.")


def _table(heads: tuple[str, ...], rows: Any) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


_PLACE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def stub() -> str:
    """Return the stub file of the package."""
    package = vars(autodiff_cli)
    answers = {name: f"capabilities.{home}" for name, home in package["_ANSWERS"].items()}
    homes = {**package["_PUBLIC"], **answers}
    for home in sorted({*homes.values()}):
        # a function is declared when its module is imported
        import_module(f"..{home}", __package__)
    others = {name: home for name, home in homes.items() if name not in FUNCTIONS}
    lines = [
        "# Written by `python -m autodiff_cli.api.manual` from the declarations of the commands.",
        "from collections.abc import Callable, Iterable, Mapping, Sequence",
        "from typing import Any, Literal, overload",
        "",
        "from .api.api_arguments import At, Names, Ranges, Table",
        *(
            f"from .{home} import {name} as {name}"
            for name, home in sorted(others.items(), key=lambda x: x[::-1])
        ),
        "from .engine.graphs.library import *",
        "from .capabilities.optimize.descend import DescentStep",
        "",
        "__version__: str",
        "",
    ]
    for name in [name for name in homes if name in FUNCTIONS]:
        lines += _function_stubs(name, FUNCTIONS[name])
    return "\n".join(lines) + "\n"


def _function_stubs(name: str, declaration: Declared) -> Iterator[str]:
    for answer, changes in declaration.ways:
        if len(declaration.ways) > 1:
            yield "@overload"
        yield f"def {name}("
        star = ["    *,"]
        for parameter in declaration.parameters:
            kind = changes.get(parameter.name, parameter.type)
            if not parameter.positional and star:
                yield star.pop()
            if kind is not None:
                # these types exclude the default, so the argument is required
                needed = parameter.default is None or kind in ("int", "str", "Any")
                yield f"    {parameter.name}: {kind}{'' if needed else f' = {parameter.default}'},"
        yield f") -> {answer}: ..."
    if hasattr(package_function(name), "of_functions"):
        yield from (
            "@overload",
            (
                f"def {name}(text: Callable[..., Any], argnums: Any = None, jit: bool = False) ->"
                " Callable[..., Any]: ..."
            ),
        )


def package_function(name: str) -> Any:
    """Return a public function of the package."""
    return getattr(autodiff_cli, name)


def files(top: Path) -> dict[Path, str]:
    """Return the generated files and their contents."""
    reference, generated = top / "tests" / "tutorials" / "reference.md", tables()
    share = top / "autodiff_cli" / "share"
    text = reference.read_text(encoding="utf-8")
    return {
        share / "man" / "man1" / "autodiff.1": man_page(),
        share / "bash-completion" / "completions" / "autodiff": SCRIPTS["bash"],
        share / "zsh" / "site-functions" / "_autodiff": SCRIPTS["zsh"],
        share / "fish" / "vendor_completions.d" / "autodiff.fish": SCRIPTS["fish"],
        top / "autodiff_cli" / "__init__.pyi": stub(),
        reference: _PLACE.sub(lambda match: f"{match[1]}\n{generated[match[2]]}\n", text),
    }


if __name__ == "__main__":
    for path, text in files(Path(__file__).parents[2]).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{path}\n")
