"""The command line: which arguments are options, and that help and reading come from one
declaration.
"""

from __future__ import annotations

import ast
import re
from importlib import import_module
from inspect import getsource, signature
from textwrap import dedent
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autodiff_cli.capabilities.exercise import exercise
from autodiff_cli.capabilities.exercise.exercise import LEVELS
from autodiff_cli.capabilities.export.targets import DIALECTS, TARGETS
from autodiff_cli.capabilities.formulas import diff
from autodiff_cli.capabilities.graph.graph_view import FORMATS
from autodiff_cli.capabilities.graph.pictures.scene import Way
from autodiff_cli.capabilities.optimize import descend, minimize
from autodiff_cli.capabilities.optimize.fit import LIKELIHOODS
from autodiff_cli.capabilities.optimize.least_squares import LOSSES
from autodiff_cli.capabilities.plot.plot import MAX_ORDER
from autodiff_cli.capabilities.propagate import propagate
from autodiff_cli.capabilities.solve.implicit_formulas import implicit_diff
from autodiff_cli.capabilities.trace.trace import MODES
from autodiff_cli.capabilities.trace.trace_view import DEFAULT_LINES
from autodiff_cli.capability import resolve
from autodiff_cli.cli import commands, option_values, row_routes, runner, searches, slips
from autodiff_cli.cli.arguments import (
    OPTIONS_OF,
    HelpAsked,
    check,
    is_allowed,
    looks_like_option,
    read,
)
from autodiff_cli.cli.commands import CHECKS, answer_question, load
from autodiff_cli.cli.declarations import (
    COMMANDS,
    QUESTIONS,
    TUTORIAL,
    Option,
    declared,
    users_of_options,
)
from autodiff_cli.cli.option_values import CHOICES, OPTIONS, OptionValues
from autodiff_cli.cli.runner import Command
from autodiff_cli.data.text_dialects import ForcedDialect
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions import digits as checks
from autodiff_cli.show.characters import Theme
from autodiff_cli.show.formats import COLUMNAR, OF_ROWS
from autodiff_cli.show.schema import View
from running import a_value, autodiff

GRAD = declared("grad")
KNOWN = [*GRAD.options, "--help", "-h", "--"]
ARGUMENTS = st.one_of(
    st.sampled_from(
        [*KNOWN, "-", "-x", "--x", "x=1", "3", "--at=x=1", "--json=1", "--att", "-1", ""]
    ),
    st.text(max_size=8),
)


@given(st.lists(ARGUMENTS, max_size=6))
def test_any_command_line_is_read_or_refused(args: list[str]) -> None:
    try:
        values = read(args, "grad")
    except HelpAsked:
        assert {"--help", "-h"} & set(args)
    except ExpressionError as error:
        assert error.kind == "usage"
        assert error.hint
    else:
        assert set(values) <= {"expr", *(option.parameter for option in GRAD.options.values())}


@given(st.text(max_size=20).map(lambda text: f"-{text}"))
@example("-.jsonl")
def test_what_equals_no_option_is_the_expression(text: str) -> None:
    if text.partition("=")[0] not in KNOWN and text not in KNOWN and not looks_like_option(text):
        assert read([text], "grad") == {"expr": text}
    if text != "--":
        assert read(["--", text], "grad") == {"expr": text}
        if text not in KNOWN:
            assert read(["--at", text], "grad") == {"at": [text]}
        assert read([f"--at={text}"], "grad") == {"at": [text]}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_what_is_declared(command: str) -> None:
    help_, whole = autodiff(command, "--help"), autodiff(command, "--help-all")
    assert help_.code == whole.code == 0
    declaration = declared(command)
    names = r"^  (?:-h, )?(--[\w-]+)"
    both = {"--help", "--help-all"}
    assert sorted(re.findall(names, whole.out, re.MULTILINE)) == sorted(
        [*declaration.options, *both]
    )
    for title in set(declaration.sections.values()):
        assert f"\n{title}:\n" in whole.out
    for option in declaration.options.values():
        assert option.name + (f" {option.metavar}" if option.metavar else "") in whole.out
        assert bool(option.metavar) == (option.kind is not bool)
    # the options that matter are explained, about a dozen of them, and the others named
    main = {name for name, option in declaration.options.items() if option.main}
    assert {*re.findall(names, help_.out, re.MULTILINE)} == main | both
    assert (2 if command in QUESTIONS else 0) <= len(main) <= 13
    assert set(declaration.options) <= set(re.findall(r"--[\w-]+", help_.out))


def all_options() -> dict[str, dict[str, tuple[Option, object]]]:
    """Every option of every command: by its name, then by command."""
    found: dict[str, dict[str, tuple[Option, object]]] = {}
    for command in QUESTIONS:
        for name, option in declared(command).options.items():
            found.setdefault(name, {})[command] = (option, option.kind)
    return found


def view_of(command: str) -> type[View[Any]]:
    view: type[View[Any]] = resolve(declared(command).facts["asks"].split()[1])
    return view


@pytest.mark.parametrize("command", QUESTIONS)
def test_the_formats_of_the_help_are_those_that_there_are(command: str) -> None:
    offered = all_options()["--format"][command][0].choices
    there = FORMATS if command == "graph" else view_of(command)().formats
    assert set(offered) == {*there, *(OF_ROWS if command in all_options()["--points"] else ())}
    for name in offered:
        assert name in autodiff(command, "--help").out


def test_an_option_has_one_kind_whatever_the_command() -> None:
    assert len(all_options()) > 40
    # words that are right for two things: steps of a search and of a derivation, levels of
    # confidence and of a course, ranges over a box and an integral over a variable
    two = {
        name
        for name, users in all_options().items()
        if len({str(kind) for _, kind in users.values()}) > 1
    }
    assert two == {"--level", "--over", "--steps"}
    for name, users in all_options().items():
        assert len({option.metavar for option, _ in users.values()}) == 1 or name in two, name
    # what commands share they have from one declaration, but for what differs in what it chooses
    # among
    alike = {
        name
        for name, users in all_options().items()
        if len({option for option, _ in users.values()}) == 1
    }
    differ = {
        "--all",
        "--answer",
        "--at",
        "--backend",
        "--data",
        "--for",
        "--format",
        "--gradient-tolerance",
        "--in",
    }
    # an integral has ends and a variable of its own; columns and kept values are those of what a
    # command reads
    differ |= {"--between", "--columns", "--keep", "--precision", "--wrt"}
    # pictures are of an answer, or the answer
    differ |= {"--legend", "--size", "--title"}
    # a file of exercises has a function a line; rows are of data, or of a table in SQL
    differ |= {"--file", "--where"}
    differ |= {
        "--method",
        "--order",
        "--relative",
        "--response",
        "--samples",
        "--seed",
        "--sigma",
        "--starts",
        "--theme",
        "--to",
    }
    assert set(all_options()) - alike == differ | two


def test_options_of_neighbours_are_there_everywhere() -> None:
    options = all_options()
    everywhere = set(QUESTIONS)
    for name in ("--format", "--json", "--output", "--force", "--debug"):
        assert set(options[name]) == everywhere, name
    assert (
        set(options["--decimals"])
        == set(options["--digits"])
        == everywhere - {"exercise", "export", "functions", "page", "units"}
    )
    pictures = {
        command for command, (option, _) in options["--format"].items() if "svg" in option.choices
    }
    assert set(options["--theme"]) == pictures | {"page"} >= {"graph", "plot"}
    assert (
        set(options["--save-path"])
        == set(options["--save-point"]) - {"fit"}
        == {"descend", "minimize", "maximize"}
    )
    streams = set()
    for command in QUESTIONS:
        done = autodiff(command, stdin="")
        if (
            "not of a stream" not in done.err
            and "not a stream" not in done.err
            and "is required" not in done.err
            and command not in ("exercise", "functions", "units")
        ):
            streams.add(command)
    assert set(options["--on-error"]) == streams | {"fit", "plot"} and len(streams) > 8


def read_in(source: Any) -> set[str]:
    """The options that code reads: attributes of a call, and keys of its values."""
    names = set()
    function = getattr(source, "func", None) or getattr(source, "fget", source)
    for node in ast.walk(ast.parse(dedent(getsource(function)))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "call",
            "self",
            "self.call",
            "job.call",
        ):
            names.add(node.attr)
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("values"):
            key = node.slice
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("values.get"):
            key = node.args[0]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            names.add(key.value)
    return names


OWN = {*dir(Command), *vars(Command("grad", {}))} - {"expr", "at"}
"""What a call has besides options."""

READ_BY_THE_RUNNER = {
    name
    for module in (commands, runner, option_values, row_routes, searches)
    for name in read_in(module)
}
READ_BY_THE_RUNNER |= {*ForcedDialect._fields, "columns"}


def asked_of(command: str) -> set[str]:
    """The options that a command's question and view take: by the names of their parameters, or
    others.
    """
    if command not in QUESTIONS:
        return set()
    questions = [resolve(declared(command).facts["asks"].split()[0])]
    # some are chosen when they are asked
    questions += {"diff": [implicit_diff]}.get(command, [])
    questions += [resolve(CHECKS[command])] if command in CHECKS else []
    options = set()
    for name in {name for question in questions for name in signature(question).parameters}:
        options |= (
            read_in(getattr(OptionValues, name))
            if hasattr(OptionValues, name)
            else {OPTIONS.get(name, name)}
        )
    choices = {
        name for kind in view_of(command).__mro__ for name in getattr(kind, "__annotations__", {})
    }
    options |= {option for option, choice in CHOICES.items() if choice in choices}
    return options | ({"digits", "decimals"} if "digits" in choices else set())


def code_of(command: str) -> list[Any]:
    """What runs a command: a module, or a function, and what makes its method."""
    run = load(command)
    asked = [resolve(path) for path in (declared(command).facts.get("method"),) if path]
    own = [OptionValues.language] if command in ("export", "diff") else []
    return [run if run is answer_question else import_module(run.__module__), *asked, *own]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_what_is_declared_and_all_of_it(command: str) -> None:
    declaration = declared(command)
    options = {option.parameter for option in declaration.options.values()}
    options |= {argument.parameter for argument in declaration.arguments}
    assert declaration.defaults.keys() >= options
    named = {name for code in code_of(command) for name in read_in(code)}
    parameters = {option.parameter for option in users_of_options()}
    assert named & parameters - OWN <= options
    assert options <= named | asked_of(command) | READ_BY_THE_RUNNER


def test_ranges_choices_and_defaults_are_those_of_the_functions() -> None:
    def option(command: str, name: str) -> Option:
        return declared(command).options[name]

    for command, name, choices in (
        ("descend", "--method", descend.RATES),
        ("trace", "--mode", MODES),
        ("minimize", "--method", minimize.METHODS),
        ("fit", "--loss", (*LOSSES, *LIKELIHOODS)),
        ("export", "--to", TARGETS),
        ("export", "--dialect", DIALECTS),
        ("diff", "--to", diff.LANGUAGES),
        ("plot", "--theme", get_args(Theme)),
        ("grad", "--input-format", ("csv", "tsv", "jsonl", "xlsx", *COLUMNAR)),
        ("graph", "--layout", get_args(Way)),
    ):
        assert option(command, name).choices == tuple(choices), name
    for command, name, ends in (
        ("check", "--require", f"1:{checks.MAX_DOUBLE_DIGITS - 1}"),
        ("plot", "--order", f"0:{MAX_ORDER}"),
        ("diff", "--order", f"1:{diff.MAX_ORDERS}"),
        ("exercise", "--level", f"1:{max(LEVELS)}"),
    ):
        assert option(command, name).range == ends, name
    for command, name, text in (
        ("check", "--require", f"exit code 0, {checks.DEFAULT_REQUIRED_DIGITS} by default"),
        (
            "descend",
            "--rate",
            ", ".join(f"{rate:g} for {name}" for name, rate in descend.RATES.items()),
        ),
        ("descend", "--steps", f"steps, {descend.DEFAULT_STEPS} by default"),
        ("descend", "--seed", f"order, {descend.DEFAULT_SEED} by default"),
        (
            "minimize",
            "--steps",
            (
                f"({minimize.METHODS['bfgs'].steps:,}; {minimize.METHODS['trust-exact'].steps:,}"
                " with the Hessian)"
            ),
        ),
        ("minimize", "--gradient-tolerance", f"zero, {minimize.DEFAULT_TOLERANCE:g} by default"),
        ("trace", "--lines", f"trace, {DEFAULT_LINES} by default"),
        ("propagate", "--seed", f"draws, {propagate.DEFAULT_SEED} by default"),
        ("exercise", "--seed", f"sheet, {exercise.DEFAULT_SEED} by default"),
        ("exercise", "--count", f"exercises, {exercise.DEFAULT_COUNT} by default"),
        ("exercise", "--level", "; ".join(f"{level} {title}" for level, title in LEVELS.items())),
    ):
        assert text in option(command, name).help, name


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["diff", "x", "--format", "python"], "did you mean `--to python`?"),
        (["diff", "x", "--to", "json"], "did you mean `--format json`?"),
        (["export", "x", "--format=c"], "did you mean `--to c`?"),
        (["export", "x", "--to", "json"], "did you mean `--format json`?"),
        (["graph", "x", "--format", "dark"], "did you mean `--theme dark`?"),
    ],
)
def test_a_choice_of_another_option_is_told(args: list[str], hint: str) -> None:
    result = autodiff(*args)
    assert result.code == 2 and hint in result.err


def check_of(command: str, values: dict[str, object]) -> None:
    check(declared(command).options, values)


def test_what_is_declared_of_options_is_of_options_that_there_are() -> None:
    seen = 0
    for command in COMMANDS:
        options = declared(command).options
        for option in options.values():
            for other in (*option.needs, *option.conflicts, *option.yields_to):
                name, _, value = other.partition(" ")
                arguments = [argument.name for argument in declared(command).arguments]
                known = name in all_options() or name in arguments or name in (*OPTIONS_OF, "EXPR")
                assert known, (command, option.name, other)
                if name in options and options[name].choices and value:
                    values = {*value.lstrip("!").split("|")}
                    assert values <= {*options[name].choices}, (command, option.name, other)
                seen += 1
            # what a required option lacks, or one that reads standard input, cannot be left to a
            # default
            assert not option.required or not is_allowed(option)
            assert not option.reads_stdin or option.metavar == "PATH"
    assert seen > 100


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_held_to_its_declaration(command: str) -> None:
    """Whatever is declared holds on the command line, with one wording, and in every command."""
    options = declared(command).options
    required = [
        word for option in options.values() if option.required for word in (option.name, "f.csv")
    ]
    program = [] if command in ("exercise", "functions") else ["x"]

    def typed(need: str) -> list[str]:
        name, _, value = need.partition(" ")
        option = options[name]
        if value.startswith("!"):
            value = next(choice for choice in option.choices if choice != value[1:])
        return [name] if option.kind is bool else [name, value or a_value(option)]

    def refused(*args: str) -> str:
        with pytest.raises(ExpressionError) as caught:
            read([*program, *required, *args], command)
        assert caught.value.kind == "usage" and caught.value.hint
        return str(caught.value)

    for name, option in options.items():
        needs = [
            need for need in option.needs if OPTIONS_OF.get(need, need.partition(" ")[0]) in options
        ]
        if needs and not {*needs} & {*required}:
            in_words = {"SWEEP": "a sweep", "STREAM": "a stream of programs"}
            *others, last = [in_words.get(need, f"`{need}`") for need in needs]
            needed = f"{', '.join(others)} or {last}" if others else last
            assert refused(*typed(name)) == f"`{name}` needs {needed}"
        for other in option.conflicts:
            if other in ("FUNCTION", "EXPR"):
                assert (
                    refused(*typed(name), *["x"] * (not program))
                    == f"`{name}` and `{other}` exclude each other"
                )
            elif other.partition(" ")[0] in options:
                assert refused(*typed(name), *typed(other)).endswith(" exclude each other")
        if option.choices or option.range or option.kind in (int | None, float | None):
            assert refused(name, "nonsense") == f"`{name}` cannot be `nonsense`"
        low, _, high = option.range.partition(":")
        outside = (
            [low[1:] if low.startswith(">") else str(int(low) - 1), "inf", "nan"] if low else []
        )
        outside += [high[1:] if high.startswith("<") else str(int(float(high)) + 1)] if high else []
        for number in outside:
            assert refused(name, number) == f"`{name}` cannot be `{number}`"
        if option.required:
            with pytest.raises(ExpressionError, match="is required"):
                read(program, command)


def test_one_option_reads_standard_input() -> None:
    with pytest.raises(ExpressionError, match="`--file` and `--data` both read standard input"):
        read(["--file", "-", "--data", "-", "--reduce", "sum"], "grad")
    assert read(["--file", "-", "--data", "a-b", "--reduce", "sum"], "grad")["data"] == ["a-b"]


def test_an_option_that_the_command_lacks_does_not_count() -> None:
    check_of("jacobian", {"--direction": ["x=1"]})
    with pytest.raises(ExpressionError, match="`--direction` needs `--mode forward`"):
        check_of("trace", {"--direction": ["x=1"], "--mode": "reverse"})


def test_synonyms_stand_for_what_there_is() -> None:
    options = [declared(command).options for command in COMMANDS]
    choices = {choice for each in options for option in each.values() for choice in option.choices}
    assert {name for names in slips.OPTION_SYNONYMS.values() for name in names} <= {
        name for each in options for name in each
    }
    assert {name for names in slips.CHOICE_SYNONYMS.values() for name in names} <= choices
    assert {name for names in slips.COMMAND_SYNONYMS.values() for name in names} <= {
        *COMMANDS,
        TUTORIAL,
    }
    assert not set(slips.COMMAND_SYNONYMS) & set(COMMANDS)


def test_a_question_has_each_of_its_arguments_from_an_option_or_a_property() -> None:
    without: dict[str, set[str]] = {}
    for command in QUESTIONS:
        question = resolve(declared(command).facts["asks"].split()[0])
        options = {option.parameter for option in declared(command).options.values()}
        for name, parameter in signature(question).parameters.items():
            is_read = (
                hasattr(OptionValues, name) or OPTIONS.get(name, name) in options or name == "wrt"
            )
            if parameter.kind is parameter.KEYWORD_ONLY and not is_read:
                without.setdefault(command, set()).add(name)
    # they are given by the modules that ask
    assert without.pop("propagate") == {"by_size", "fitted", "readings", "stop"}
    assert without.pop("fit") == {"formula", "stop"} and without.pop("exercise") == {
        "function",
        "functions",
    }
    assert without.pop("check") == {"watch"} and without.pop("diff") == {"name"}
    assert without.pop("integrate") == {"known"}
    assert without == {command: {"stop"} for command in ("minimize", "maximize", "solve")}
