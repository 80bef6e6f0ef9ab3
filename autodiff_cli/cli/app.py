"""The Typer app: which commands there are, their help, which is Rich on a terminal, and the completion of shells.

A command line that runs a command is read by `cli.arguments`, from the same declarations that this app is made of.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from ..errors import ExpressionError, nearest
from ..views.characters import paint, terminal_of
from . import defaults
from .arguments import HELP_OPTIONS, Declared, nearest_option
from .commands import COMMANDS, command_module
from .completion import in_bash, of_expression, of_functions, of_option, prepare
from .manual import ENVIRONMENT, EXITS, entry, man_page
from .options import Option

EXAMPLES = (
    'autodiff grad "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3',
    "autodiff help grad",
)

NARROWEST = 72
"""Help on a narrower terminal is plain text."""

SHORT_HELP = f"""\
The exact gradient of a formula. For example:

  {EXAMPLES[0]}

`autodiff --help` lists the commands, `autodiff grad --help` the options of this one.
"""


def described(function: Callable[..., int]) -> Callable[..., None]:
    """A stand-in for a command's function whose parameters are described in Typer's terms, for its help."""
    declared = Declared(function)
    told: list[tuple[str, Any, Any]] = [
        (
            name,
            str | None,
            typer.Argument(
                metavar=argument.metavar,
                help=argument.help,
                show_default=False,
                autocompletion=_completed(of_expression if name == "expr" else of_functions),
            ),
        )
        for name, argument in declared.arguments
    ]
    told += [
        (name, kind, _typer_option(option, declared.sections[option.name]))
        for name, option, kind in declared.options.values()
    ]

    def call(**values: Any) -> None:
        """Never called: `commands.call` runs commands."""

    parameters = [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=False if kind is bool else None, annotation=Annotated[kind, each]
        )
        for name, kind, each in told
    ]
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__doc__ = function.__doc__
    return call


def _completed(ways: Callable[[str], Iterable[str]]) -> Callable[[str], list[str]]:
    """The completion of an argument in Typer's terms."""

    def complete(incomplete: str) -> list[str]:
        return list(ways(incomplete))

    return complete


def _commands(begun: str) -> list[str]:
    return [name for name in COMMANDS if name.startswith(begun)]


def _typer_option(option: Option, title: str) -> Any:
    def complete(incomplete: str) -> list[str]:
        return list(of_option(option, incomplete))

    return typer.Option(
        option.name,
        help=option.help,
        metavar=option.metavar or None,
        autocompletion=complete if option.choices or option.value_syntax is not None else None,
        rich_help_panel=title,
    )


class Command(typer.core.TyperCommand):
    """A command whose help begins with examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, the examples first."""
        told = entry(self.name or "")
        _format_help(self, ctx, formatter, told.examples, {"Exit codes": {str(k): v for k, v in told.exits.items()}})


class HelpCommand(typer.core.TyperCommand):
    """The command that explains the others."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, the examples first."""
        _format_help(self, ctx, formatter, ("autodiff help grad", "autodiff help --man"), {})


class Commands(typer.core.TyperGroup):
    """The commands, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands."""
        return [*COMMANDS, "help"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, None where there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        one = typer.Typer(add_completion=False, rich_markup_mode=app.rich_markup_mode)
        settings = {"help_option_names": list(HELP_OPTIONS)}
        if cmd_name == "help":
            one.command(cmd_name, cls=HelpCommand, context_settings=settings)(help_)
        else:
            one.command(cmd_name, cls=Command, context_settings=settings)(described(command_module(cmd_name).run))
        return typer.main.get_command(one)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command; a usage error for one that there is not."""
        if not ctx.resilient_parsing and args and args[0].startswith("-"):
            known = [name for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)]
            name = args[0].partition("=")[0]
            if name not in known:
                near = "--version" if name == "-V" else nearest_option(args[0], known)
                hint = f"did you mean `{near}`?" if near else f"for its gradient: `autodiff grad '{args[0]}'`"
                raise ExpressionError("usage", f"there is no option `{name}` before the command", hint=hint)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, and its arguments; a usage error with the nearest name where there is none."""
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            raise _no_command(args[0], self.list_commands(ctx))
        return args[0] if command else None, command, args[1:]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command is for, whole: a formatter's own list is cut where lines are short."""
        with formatter.section("Commands"):
            told = [(name, self.get_command(ctx, name).help.partition("\n")[0]) for name in self.list_commands(ctx)]
            formatter.write_dl(told)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, examples first."""
        more = {"Exit codes": {str(code): told for code, told in EXITS.items()}, "Environment": ENVIRONMENT}
        _format_help(self, ctx, formatter, EXAMPLES, more)


OTHER_NAMES = {
    "train": "descend", "learn": "descend", "uncertainty": "propagate", "error": "propagate", "derivative": "diff",
    "differentiate": "diff", "gradient": "grad", "optimize": "minimize", "draw": "graph", "root": "solve",
}  # fmt: skip
"""What people call commands otherwise."""


def _no_command(name: str, names: Sequence[str]) -> ExpressionError:
    near = OTHER_NAMES.get(name) or nearest(name, names)
    hint = "`autodiff --help` lists the commands"
    if near:
        hint = f"did you mean `autodiff {near}`?"
    elif not name.isidentifier():
        hint = f"for its gradient: `autodiff grad '{name}'`"
    return ExpressionError("usage", f"there is no command `{name}`", hint=hint)


def _is_rich() -> bool:
    """Whether help is drawn with boxes and colours: where there is room for them, so that no option's name is cut."""
    screen = terminal_of(sys.stdout)
    return screen.terminal and screen.unicode and (screen.width is None or screen.width >= NARROWEST)


def _format_help(
    command: Any, ctx: Any, formatter: Any, examples: Sequence[str], more: Mapping[str, Mapping[str, str]]
) -> None:
    """Write examples, what Typer has to say, and `more`: lists of words with what they mean, by title."""
    taken = defaults.told()
    if taken:
        more = {**more, f"Defaults from {defaults.VARIABLE}": {taken: "on a terminal; what is typed wins."}}
    if not _is_rich():
        formatter.write("Examples:\n" + "".join(f"  {each}\n" for each in examples) + "\n")
        command.format_usage(ctx, formatter)
        command.format_help_text(ctx, formatter)
        command.format_options(ctx, formatter)
        for title, told in more.items():
            with formatter.section(title):
                formatter.write_dl([(word, text.replace("`", "")) for word, text in told.items()])
        return
    import typer.rich_utils

    # Typer's own boxes and columns, so that all of it looks alike
    rich_utils: Any = typer.rich_utils
    screen = terminal_of(sys.stdout)
    rich_utils.MAX_WIDTH = min(screen.width or WIDEST, WIDEST)
    # outside of boxes, so that they can be copied
    sys.stdout.write("\n " + paint("Examples:", "heading", screen) + "\n")
    sys.stdout.write("".join(f"   {paint(each, 'code', screen)}\n" for each in examples))
    sys.stdout.flush()
    rich_utils.rich_format_help(obj=command, ctx=ctx, markup_mode="markdown")
    console = rich_utils._get_rich_console()
    for title, told in more.items():
        table = rich_utils.Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
        for word, text in told.items():
            table.add_row(rich_utils.Text(word, style="bold cyan"), rich_utils.Markdown(text))
        console.print(rich_utils.Panel(table, title=title, title_align="left", border_style="dim"))


WIDEST = 100
"""Help is no wider, however wide the terminal is."""


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode="markdown" if _is_rich() else None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": list(HELP_OPTIONS)},
)


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        sys.stdout.write(f"autodiff {__version__}\n")
        raise typer.Exit


@app.callback()
def start(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """The exact gradient of a formula, from the command line."""
    if ctx.invoked_subcommand is None:
        sys.stdout.write(SHORT_HELP)


def help_(
    command: Annotated[
        str | None,
        typer.Argument(
            metavar="[COMMAND]",
            help="Which command; else all of them.",
            show_default=False,
            autocompletion=_completed(_commands),
        ),
    ] = None,
    man: Annotated[bool, typer.Option("--man", help="Show the man page, or write it to a pipe.")] = False,
) -> None:
    """Help for a command, or the man page."""
    if man:
        _show_man_page()
        return
    group: Any = typer.main.get_command(app)
    wanted = [command, "--help"] if command is not None else ["--help"]
    if command is not None and command not in group.list_commands(None):
        raise _no_command(command, group.list_commands(None))
    run_app(wanted)


def _show_man_page() -> None:
    """Show the man page by the system's reader, or write it where there is none, or no terminal."""
    import shutil
    import subprocess
    import tempfile

    reader = shutil.which("man")
    if not sys.stdout.isatty() or reader is None:
        sys.stdout.write(man_page())
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "autodiff.1")
        with open(path, "w", encoding="utf-8") as file:
            file.write(man_page())
        subprocess.run([reader, path], check=False)


def run_app(args: Sequence[str]) -> int:
    """Do what the arguments ask for, where that is not to run a command; return the exit code.

    Raises `ExpressionError` for what is not there.
    """
    group: Any = typer.main.get_command(app)
    # the base of all that Typer raises about a command line, in every version of Typer and Click
    usage_error: Any = typer.BadParameter.__mro__[1]
    try:
        with group.make_context("autodiff", list(args)) as context:
            group.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except usage_error as fault:
        message = str(fault.message).rstrip(".")
        hint = "`autodiff --help` says what it takes"
        raise ExpressionError("usage", message[:1].lower() + message[1:], hint=hint) from None
    return 0


def _teach_bash() -> None:
    """Give bash the rest of a word that it has cut, and no space behind what is to go on: `x=`, or `sin(`."""
    from typer import _completion_classes, _completion_shared

    script = _completion_shared.COMPLETION_SCRIPT_BASH
    script = script.replace("    return 0\n", "    [[ $COMPREPLY == *[=\\(] ]] && compopt -o nospace\n    return 0\n")
    _completion_shared._completion_scripts["bash"] = script
    bash: Any = _completion_classes.BashComplete
    bash.source_template = script
    bash.format_completion = lambda self, item: in_bash(item.value, self.get_completion_args()[1])


_teach_bash()


def complete() -> None:
    """Answer a shell that asks for completions; does not come back."""
    prepare(os.environ)
    typer.main.get_command(app).main(prog_name="autodiff")
