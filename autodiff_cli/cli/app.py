"""The Typer app: help, version, manual, completion; see `arguments`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from ..errors import looks_like_option, usage_error
from ..operating_system import quoted
from ..show.characters import paint, terminal_of
from .arguments import (
    HELP_ALL,
    HELP_OPTIONS,
    OPTIONS_VARIABLE,
    HelpAsked,
    options_of_environment,
    read,
)
from .completion import GENERAL_OPTIONS
from .declarations import COMMANDS, HELP, PAGES, declared, exit_codes, table
from .shell_scripts import install_script, show_script
from .slips import OPTION_ADVICE, bad_command, nearest_option

SHOW, INSTALL = "--show-completion", "--install-completion"
EXAMPLES = (
    'autodiff grad "((w1-1)**2 + (w2-5)**2)*0.5" --at w1=2,w2=3',
    "autodiff help grad",
)

# What help says of the pages of the manual that are about no command.
OTHER_PAGES = (
    "Tasks, questions, other programs: `autodiff help recipes`, `questions`, `others`; by words:"
    " `help delta method`."
)
# The width in columns below which help is plain text.
MIN_RICH_WIDTH = 72
# The width in columns of help in a pipe, whatever COLUMNS says.
PIPED_HELP_WIDTH = 78
SHORT_HELP = f"""\
The exact gradient of a formula. For example:

  {EXAMPLES[0]}

`autodiff --help` lists the commands,
`autodiff grad --help` shows the options of this one,
`autodiff help recipes` has a command for each of twenty tasks,
`autodiff repl` opens a session for formulas and commands.
"""


def parameters(command: str) -> list[Any]:
    """Return the arguments and options of a command, for Typer."""
    declaration = declared(command)
    params: list[Any] = []
    for argument in declaration.arguments:
        about: dict[str, Any] = {"metavar": argument.metavar, "help": argument.help}
        params.append(typer.core.TyperArgument(param_decls=[argument.parameter], **about))
    for option in declaration.options.values():
        about = {"metavar": option.metavar or None, "help": option.help}
        about["is_flag"] = option.kind is bool
        params.append(typer.core.TyperOption(param_decls=[option.name], **about))
    return params


# Words and their meanings, by title.
Sections = dict[str, dict[str, str]]


class CommandWithExamples(typer.core.TyperCommand):
    """A command whose help begins with examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        description = declared(self.name or "")
        sections: Sections = {
            "Arguments": {argument.metavar: argument.help for argument in description.arguments},
            "Options": {},
        }
        more: dict[str, list[str]] = {}
        for option in description.options.values():
            title = description.sections[option.name]
            if option.main or ctx.obj == HELP_ALL:
                sections.setdefault(title, {})[option.syntax] = option.help
            else:
                more.setdefault(title, []).append(option.name)
        sections["Help"] = {
            "-h, --help": "Show the options that matter first.",
            HELP_ALL: "Show all options.",
        }
        if more:
            names = {title: ", ".join(options) for title, options in more.items()}
            sections[f"More options, which `{HELP_ALL}` explains"] = names
        sections["Exit codes"] = exit_codes(self.name or "")
        paragraphs = (description.summary, *description.details)
        _write_help(self, ctx, formatter, description.examples, paragraphs, sections)


class Commands(typer.core.TyperGroup):
    """The commands, each imported on first use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS, *PAGES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        settings = {"help_option_names": list(HELP_OPTIONS)}
        summary = declared(cmd_name).summary
        return CommandWithExamples(
            cmd_name, params=parameters(cmd_name), help=summary, context_settings=settings
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the command. Raises a usage error."""
        if not ctx.resilient_parsing and args and args[0].startswith("-"):
            options = [(*param.opts, *param.secondary_opts) for param in self.get_params(ctx)]
            before_command = [name for names in options for name in names]
            name = args[0].partition("=")[0]
            if name not in before_command:
                near = (
                    f"-{name}"
                    if f"-{name}" in before_command
                    else nearest_option(args[0], before_command)
                )
                word = name.lstrip("-")
                hint = f"for its gradient: `autodiff grad {quoted(args[0])}`"
                hint = (
                    "`autodiff --help` lists the options"
                    if looks_like_option(args[0]) or name == "--"
                    else hint
                )
                hint = f"did you mean `{near}`?" if near else hint
                hint = OPTION_ADVICE.get(word, hint)
                if word in ("o", "q", "output", "quiet") and len(args) > 1:
                    hint = f"write it after the command: `autodiff {args[1]} … {name}`"
                raise usage_error(f"there is no option `{name}` before the command", hint)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command and its arguments. Raises a usage error."""
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:
            raise bad_command(args[0])
        return args[0] if command else None, command, args[1:]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        titles = table("titles").items()
        records = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        # commands first: they are in sight on a small screen too
        sections = {
            **{
                title: {name: declared(name).summary for name in names.split()}
                for title, names in titles
            },
            "Options": dict(filter(None, records)),
        }
        more = "Exit codes and environment variables: `autodiff help --man`."
        _write_help(self, ctx, formatter, EXAMPLES, (str(self.help), OTHER_PAGES, more), sections)


def _console() -> Any:
    screen = terminal_of(sys.stdout)
    if not (
        screen.is_terminal
        and screen.unicode
        and (screen.width is None or screen.width >= MIN_RICH_WIDTH)
    ):
        return None
    from rich.console import Console

    from .help_page import MAX_WIDTH

    return Console(width=min(screen.width or MAX_WIDTH, MAX_WIDTH), highlight=False)


def _whole_names(text: str, width: int, rows: Mapping[str, str]) -> str:
    if not text.startswith("--"):
        return text
    from textwrap import fill

    # Click keeps lines after \b; it would break names at hyphens
    return "\b\n" + fill(text, width - 4 - max(map(len, rows)), break_on_hyphens=False)


def _write_help(
    command: Any,
    ctx: Any,
    formatter: Any,
    examples: Sequence[str],
    paragraphs: Sequence[str],
    sections: Sections,
) -> None:
    if environment_options := options_of_environment():
        sections[f"Defaults from {OPTIONS_VARIABLE}"] = {
            environment_options: "on a terminal; typed options override it."
        }
    sections = {title: rows for title, rows in sections.items() if rows}
    console = _console()
    if console is None:
        formatter.write("Examples:\n" + "".join(f"  {example}\n" for example in examples) + "\n")
        command.format_usage(ctx, formatter)
        for paragraph in paragraphs:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(paragraph)
        for title, rows in sections.items():
            with formatter.section(title):
                width = formatter.width
                formatter.write_dl(
                    [(word, _whole_names(text, width, rows)) for word, text in rows.items()]
                )
        return
    from rich.markdown import Markdown
    from rich.padding import Padding
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from .help_page import write_paged

    screen = terminal_of(sys.stdout)
    # outside boxes, for copying
    shown = "\n " + paint("Examples:", "heading", screen) + "\n"
    shown += "".join(f"   {paint(example, 'code', screen)}\n" for example in examples)
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    with console.capture() as capture:
        console.print(Text(f"\n Usage: {usage}\n", style="bold"))
        for paragraph in paragraphs:
            console.print(Padding(Markdown(paragraph), (0, 1, 1, 1)))
        for title, rows in sections.items():
            table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
            for word, text in rows.items():
                table.add_row(Text(word, style="bold cyan"), Markdown(text))
            console.print(
                Panel(table, title=title.replace("`", ""), title_align="left", border_style="dim")
            )
    write_paged(shown + capture.get(), screen)


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(requested: bool) -> None:
    if requested:
        from .. import __version__
        from ..extras import EXTRAS, installed_extras

        there = installed_extras()
        missing = ", ".join(extra for extra in EXTRAS if extra not in there)
        python = f"Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.platform}"
        extras = f"{', '.join(there) or 'none'}{f'; not installed: {missing}' if missing else ''}"
        sys.stdout.write(f"autodiff {__version__}\n{python}\nextras: {extras}\n")
        raise typer.Exit


def _install(requested: bool) -> None:
    if requested:
        raise typer.Exit(install_script())


def _show(requested: bool) -> None:
    if requested:
        raise typer.Exit(show_script())


@app.callback()
def start(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help=GENERAL_OPTIONS["--version"]
        ),
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion", callback=_install, is_eager=True, help=GENERAL_OPTIONS[INSTALL]
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            "--show-completion", callback=_show, is_eager=True, help=GENERAL_OPTIONS[SHOW]
        ),
    ] = False,
) -> None:
    """The exact gradient of a formula, from the command line."""
    if ctx.invoked_subcommand is None:
        sys.stdout.write(SHORT_HELP)


def show_help(command: str | None = None, *, man: bool = False) -> None:
    """Show a page of the manual, the sections that have words in their headings, or the man
    page.
    """
    from .help_page import find_page, find_sections, show_page, show_sections

    page = find_page(command) if command else None
    if man:
        _show_man_page()
    elif page is not None:
        show_page(page)
    elif command is None or command in (*PAGES, *COMMANDS):
        run_app([command, "--help"] if command else ["--help"])
    elif sections := find_sections(command):
        show_sections(sections)
    elif " " in command.strip():
        hint = "`autodiff --help` lists the commands, `autodiff help recipes` has tasks"
        raise usage_error(f"no heading of the manual has the words `{command}`", hint)
    else:
        raise bad_command(command)


def show_tutorial(number: str | None = None) -> None:
    """Show a tutorial, by default the list of them."""
    from .help_page import show_page, tutorials

    listed = tutorials()
    if number is None:
        lines = [f"{n}  {title}\n" for n, (title, _) in listed.items()]
        sys.stdout.write("".join(lines) + "`autodiff tutorial 1` shows the first.\n")
    elif number.isdecimal() and int(number) in listed:
        show_page(listed[int(number)][1].read_text(encoding="utf-8"))
    else:
        hint = f"their numbers go from 1 to {max(listed)}; `autodiff tutorial` lists them"
        raise usage_error(f"there is no tutorial `{number}`", hint)


def _show_man_page() -> None:
    import shutil
    import subprocess
    import tempfile

    from .man_page import man_page, plain_man_page

    terminal = terminal_of(sys.stdout)
    if not terminal.is_terminal:
        sys.stdout.write(man_page())
        return
    reader = shutil.which("man")
    if reader is None:
        from .help_page import MAX_WIDTH, write_paged

        write_paged(plain_man_page(min(terminal.width or MAX_WIDTH, MAX_WIDTH)), terminal)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "autodiff.1")
        path.write_text(man_page(), encoding="utf-8")
        subprocess.run([reader, path], check=False)


def _in_one_word(words: Sequence[str], page: str) -> Sequence[str]:
    """Return what help is asked about as one argument: `help delta method`."""
    is_plain = page == HELP and len(words) > 1 and not any(word.startswith("-") for word in words)
    return [" ".join(words)] if is_plain else words


def run_app(args: Sequence[str]) -> int:
    """Run the Typer app: help, version, manual; return the exit code."""
    if args and args[0] in PAGES:
        show: Any = show_help if args[0] == HELP else show_tutorial
        try:
            show(**read(_in_one_word(args[1:], args[0]), args[0]))
            return 0
        except HelpAsked as asked:
            args = asked.args
    group: Any = typer.main.get_command(app)
    try:
        level = HELP_ALL if HELP_ALL in args else None
        width = None if sys.stdout.isatty() else PIPED_HELP_WIDTH
        with group.make_context("autodiff", list(args), obj=level, terminal_width=width) as context:
            group.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except Exception as fault:
        # all usage errors of Typer have it
        if not hasattr(fault, "format_message"):
            raise
        message = str(fault.format_message()).rstrip(".")
        message = message[:1].lower() + message[1:]
        raise usage_error(message, "`autodiff --help` lists the commands and options") from None
    return 0
