"""The Typer app: which commands there are, their help, and the completion of shells.

A command line that runs a command is read by `streams.arguments`, from the same declarations that this app is made of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from .commands import COMMANDS, command_module
from .errors import ExpressionError, nearest
from .streams.arguments import HELP_OPTIONS, Declared, nearest_option
from .streams.options import Option

EXAMPLE = 'autodiff grad "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3'

SHORT_HELP = f"""\
The exact gradient of a formula. For example:

  {EXAMPLE}

`autodiff --help` lists the commands, `autodiff grad --help` the options of this one.
"""


def described(function: Callable[..., int]) -> Callable[..., None]:
    """A stand-in for a command's function whose parameters are described in Typer's terms, for its help."""
    declared = Declared(function)
    told: list[tuple[str, Any, Any]] = [
        (name, str | None, typer.Argument(metavar=argument.metavar, help=argument.help, show_default=False))
        for name, argument in declared.arguments
    ]
    told += [(name, kind, _typer_option(option)) for name, option, kind in declared.options.values()]

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


def _typer_option(option: Option) -> Any:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in option.choices if choice.startswith(incomplete)]

    return typer.Option(
        option.name,
        help=option.help,
        metavar=option.metavar or None,
        autocompletion=complete if option.choices else None,
    )


class Command(typer.core.TyperCommand):
    """A command whose help begins with an example."""

    example = ""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, the example first."""
        _format_help(self, ctx, formatter, self.example)


class Commands(typer.core.TyperGroup):
    """The commands, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = command_module(cmd_name)
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        settings = {"help_option_names": list(HELP_OPTIONS)}
        one.command(cmd_name, cls=Command, context_settings=settings)(described(module.run))
        command = typer.main.get_command(one)
        assert isinstance(command, Command)
        command.example = module.EXAMPLE
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command; a usage error for one that there is not."""
        if not ctx.resilient_parsing and args and args[0].startswith("-"):
            known = [name for param in self.get_params(ctx) for name in (*param.opts, *param.secondary_opts)]
            name = args[0].partition("=")[0]
            if name not in known:
                near = nearest_option(args[0], known)
                hint = f"did you mean `{near}`?" if near else f"for its gradient: `autodiff grad '{args[0]}'`"
                raise ExpressionError("usage", f"there is no option `{name}` before the command", hint=hint)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, and its arguments; a usage error with the nearest name where there is none."""
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            near = nearest(args[0], COMMANDS)
            hint = "`autodiff --help` lists the commands"
            if near:
                hint = f"did you mean `autodiff {near}`?"
            elif not args[0].isidentifier():
                hint = f"for its gradient: `autodiff grad '{args[0]}'`"
            raise ExpressionError("usage", f"there is no command `{args[0]}`", hint=hint)
        return args[0] if command else None, command, args[1:]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, an example first."""
        _format_help(self, ctx, formatter, EXAMPLE)


def _format_help(command: Any, ctx: Any, formatter: Any, example: str) -> None:
    formatter.write(f"Example:\n  {example}\n\n")
    command.format_usage(ctx, formatter)
    command.format_help_text(ctx, formatter)
    command.format_options(ctx, formatter)


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": list(HELP_OPTIONS)},
)


def _version(asked: bool) -> None:
    if asked:
        from . import __version__

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


def complete() -> None:
    """Answer a shell that asks for completions; does not come back."""
    typer.main.get_command(app).main(prog_name="autodiff")
