"""Hints of usage errors for unknown commands, options and arguments."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import (
    ExpressionError,
    closest,
    either,
    looks_like_option,
    quote,
    usage_error,
)
from ..operating_system import quoted
from .declarations import COMMANDS, PAGES, Declaration, Option, commands_with, table


def _by_synonym(section: str) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for name, synonyms in table(section).items():
        names |= {synonym: (*names.get(synonym, ()), name) for synonym in synonyms.split()}
    return names


# Commands by words that can mean nothing else before a formula, `differentiate x^2`.
WORDS = _by_synonym("synonyms of commands before a formula")
# Commands by their names elsewhere, the likeliest first.
COMMAND_SYNONYMS = WORDS | _by_synonym("synonyms of commands")
SESSION_SYNONYMS = _by_synonym("synonyms of commands of a session")
# Options by their names elsewhere, without dashes.
OPTION_SYNONYMS = _by_synonym("synonyms of options")
CHOICE_SYNONYMS = _by_synonym("synonyms of choices")
# Hints for unknown commands that no other command replaces.
COMMAND_ADVICE = table("advice on commands")
_advice = table("advice on options").items()
# Hints for unknown options, some for one command, as in `solve.steps`.
OPTION_ADVICE = {name: advice for names, advice in _advice for name in names.split()}

# The most letters of a word in a session that is a variable after `--`.
MAX_VARIABLE_LENGTH = 3
# How alike a mistyped command is to the one that is offered: `gard` and `grad` are 0.75, `sin` and
# `hessian` 0.6.
NEAR_COMMAND = 0.7
# The most commands with an option that a hint names.
MAX_NAMED_COMMANDS = 4
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ASSIGNED = r"[^\W\d]\w*=[-+]?[\d.][\w.+±()%-]*(?:,[^\W\d]\w*=[-+]?[\d.][\w.+±()%-]*)*"
# A number, perhaps with a unit, or an expression that begins with one: no equation's side.
_PLAIN_VALUE = r"(?:[-+]?[\d.]|[-+]?(?:pi\b|π|√|sqrt\(|inf\b))[^=<>:,]*"
_NAMED_VALUE = rf"[^\W\d]\w*\s*=\s*(?:{_PLAIN_VALUE}(?::{_PLAIN_VALUE})*|\[[^=<>:]*\])"
_NAMED_VALUES = rf"{_NAMED_VALUE}(?:,{_NAMED_VALUE})*"
_NAMED_RANGE = rf"[^\W\d]\w*={_PLAIN_VALUE}:{_PLAIN_VALUE}"
_RANGE = r"(?:[^\W\d]\w*=)?[^:=]+(?::|\.\.)[^:=]+"
_SHORT_OPTION = r"-[a-zV][a-z-]*"
_DATA_ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")


def available(names: Iterable[str], choices: Iterable[str]) -> list[str]:
    """Return the names that are among the choices."""
    present = set(choices)
    return [name for name in names if name in present]


def bad_command(name: str) -> ExpressionError:
    """Return the error for an unknown command, with a suggestion."""
    from ..engine.table.primitive import COMPOSED, FUNCTIONS  # help needs no engine

    suggestion = next(iter(COMMAND_SYNONYMS.get(name, ())), None) or closest(
        name, [*COMMANDS, *PAGES], NEAR_COMMAND
    )
    hint = COMMAND_ADVICE.get(name, "`autodiff --help` lists the commands")
    if suggestion and name not in COMMAND_ADVICE:
        hint = f"did you mean `autodiff {suggestion}`?"
    elif name in FUNCTIONS or name in COMPOSED:
        formula = quoted(f"{name}(x)")
        hint = (
            f"put a formula in quotes: `autodiff {formula}`; what the function is: `autodiff"
            f" functions {name}`"
        )
    elif name[:3] in ("to-", "to_") and (target := CHOICE_SYNONYMS.get(name[3:], (name[3:],))[0]):
        hint = f"did you mean `autodiff export --to {target}`?"
    elif not name.isidentifier() and not looks_like_option(name):
        command, what = "grad", "gradient"
        if re.match(r"\s*[d∂][^\s/]*/[d∂]", name):
            command, what = "diff", "derivative"
        elif re.search(r"[^=<>!]=[^=]", name):
            command, what = "solve", "solution"
        hint = f"for its {what}: `autodiff {command} {quoted(name)}`"
    return usage_error(f"there is no command `{name}`", hint)


def nearest_option(arg: str, options: Iterable[str]) -> str | None:
    """Return the option that an argument misspells, or None."""
    if not looks_like_option(arg):
        return None
    long = [option for option in options if option.startswith("--")]
    return closest(arg.partition("=")[0], long, 0.8)


def likely_options(arg: str, options: Sequence[str]) -> Sequence[str]:
    """Return the likely options; none for an expression."""
    name = arg.partition("=")[0][2:]
    # an option of another command is not misspelled
    near = None if commands_with(f"--{name}") else nearest_option(arg, options)
    if near or arg.startswith("--"):
        return available(OPTION_SYNONYMS.get(name, ()), options)[:2] or ([near] if near else ())
    return ()


def unknown_option(
    arg: str, following: str, declaration: Declaration, command: str, may_be_formula: bool
) -> ExpressionError:
    """Return the error for an option that a command does not have, with the likeliest one."""
    name, _, value = arg.partition("=")
    meant = likely_options(arg, [*declaration.options])
    if meant:
        hint = f"did you mean {either(meant)}?"
    else:
        hint = _option_hint(name, value or following, declaration, command)
    if may_be_formula and (meant or not re.fullmatch(r"--\w[\w-]+", name)):
        hint += " (as an expression, write it after `--`, after all options)"
    return usage_error(f"there is no option `{name}`", hint)


def check_is_formula(text: str, command: str) -> None:
    """Raise an error for the name of a file of data in place of a formula."""
    if (
        text.endswith(_DATA_ENDINGS)
        and not text.startswith((*_DATA_ENDINGS, "-"))
        and " " not in text
    ):
        hint = (
            f"write the formula before it: `autodiff {command} {quoted('y = a*x + b')} --data"
            f" {text}`"
        )
        raise usage_error(f"`{text}` is no formula", hint)


def check_is_no_topic(positional: Sequence[str], declared: Declaration) -> None:
    """Raise an error for a topic of exercises in place of a function: `chain`, `product rule`."""
    words = " ".join(positional).lower().split()
    topics = [
        topic
        for word in words
        if (topic := word.rstrip("s,")) in declared.options["--topic"].choices
    ]
    others = [
        word
        for word in words
        if word.rstrip("s,") not in (*topics, "rule", "exercise", "problem", "and")
    ]
    if topics and not others:
        raise usage_error(
            f"`{' '.join(positional)}` is no function",
            f"did you mean `--topic {','.join(topics)}`?",
        )


class MeantOptions(NamedTuple):
    """What arguments behind a formula mean."""

    formula: str
    texts: dict[str, str]
    """The text of each option by its name."""


def as_options(
    positional: Sequence[str], declared: Declaration, command: str, values: Mapping[str, Any]
) -> MeantOptions | None:
    """Return the formula and the options that arguments beside it mean: `x=2`, `x=0:1`, `data.csv`;
    None if unclear.
    """
    if len(declared.arguments) != 1 or values.get("strict"):
        return None
    if command == EQUATIONS and are_equations(positional):
        return MeantOptions("; ".join(positional), {})
    formula = next((word for word in positional if not _names_data(word)), None)
    if formula is None:
        return None
    texts: dict[str, str] = {}
    beside = [*positional]
    beside.remove(formula)
    for word in [word.removesuffix(",") for word in beside]:  # `x=3, y=4`
        name = _option_meant(word, declared, command)
        if (
            name is None
            or declared.options[name].parameter in values
            or (name in texts and _names_data(word))
        ):
            return None
        texts[name] = f"{texts[name]},{word}" if name in texts else word
    return MeantOptions(formula, texts)


def _option_meant(word: str, declared: Declaration, command: str) -> str | None:
    """Return the option whose value an argument is; None if that is unclear."""
    if _names_data(word):
        by_data = available(("--data", "--points"), declared.options)
        return by_data[0] if len(by_data) == 1 else None
    if re.fullmatch(_NAMED_RANGE, word):
        # of a plot it is the range, also where it has `--between` for equations
        return next(iter(available(("--range", "--between", "--bounds"), declared.options)), None)
    is_value = (
        command != EQUATIONS and "--at" in declared.options and re.fullmatch(_NAMED_VALUES, word)
    )
    return "--at" if is_value else None


def are_equations(words: Sequence[str]) -> bool:
    """Return whether each of several arguments is an equation: `x+y=3`, but not `=3` or `x==3`."""
    return len(words) > 1 and all(re.fullmatch(_EQUATION, word) for word in words)


_EQUATION = r"[^=]*[^=<>!:+*/^-]=\s*[^=\s][^=]*"
# The command for which `x=2` may be another equation.
EQUATIONS = "solve"


def _names_data(word: str) -> bool:
    return _is_data(word) or ("." in word and os.path.isfile(word))


def too_many(
    positional: Sequence[str], declared: Declaration, command: str, values: Mapping[str, Any]
) -> ExpressionError:
    """Return the error for extra arguments, with the likeliest cause."""
    for k, arg in enumerate(positional):
        name = arg.partition("=")[0]
        if re.fullmatch(_SHORT_OPTION, name) and (
            hint := _short_option_hint(name, declared, is_first=k == 0)
        ):
            return usage_error(f"there is no option `{name}`", hint)
    call = _ExcessArguments(
        positional, positional[len(declared.arguments) :], declared.options, command, values
    )
    hint = _range_hint(call) or _repeated_point(call) or _point_hint(call) or _argument_hint(call)
    return usage_error(
        f"`{call.extra}` is one argument too many",
        hint or f"`autodiff {command} --help` says what it takes",
    )


class _ExcessArguments(NamedTuple):
    """A call of a command with arguments too many: all, those that are `more`, and the options read
    before them.
    """

    positional: Sequence[str]
    more: Sequence[str]
    options: Mapping[str, Option]
    command: str
    values: Mapping[str, Any]

    @property
    def extra(self) -> str:
        return self.more[0]

    @property
    def points(self) -> Sequence[str]:
        """The values of `--at`."""
        points: Sequence[str] = self.values.get("at", [])
        return points


def _short_option_hint(name: str, declared: Declaration, *, is_first: bool) -> str:
    """Return the hint for an argument such as `-at`; the first may be a formula, which begins with
    a minus.
    """
    if name[1:] in OPTION_ADVICE:
        return OPTION_ADVICE[name[1:]]
    begun = f"-{name}"
    long = [
        word
        for word in declared.options
        if word == begun or (word.startswith(begun) and not is_first)
    ]
    long = available(OPTION_SYNONYMS.get(name[1:], ()), declared.options) or long
    return f"did you mean {either(long[:3])}? long options have two dashes" if long else ""


def _repeated_point(call: _ExcessArguments) -> str:
    at, extra = call.points, call.extra
    if at and (braces := _in_braces([*at[-1:], *call.more], extra)):
        return f'the shell takes braces apart, so put them in quotes: `--at "{braces}"`'
    if at and "--at" in call.options and re.fullmatch(_ASSIGNED, extra):
        return f"give all values in one `--at`, separated by commas: `--at …,{extra}`"
    return ""


def _range_hint(call: _ExcessArguments) -> str:
    more = call.more
    if len(more) == 4 and (more[0], more[2]) == ("from", "to"):
        more = more[1::2]
    if len(more) == 2 and all(re.fullmatch(_NUMBER, word) for word in more):
        if "--range" in call.options:
            return f"the range is `--range {':'.join(more)}`"
        if "--between" in call.options:
            return f"the ends are `--between {':'.join(more)}`"
        if "--order" in call.options:
            return f"the point and the order are options: `--at {more[0]} --order {more[1]}`"
    if len(more) > 1:
        return ""
    if "--range" in call.options and re.fullmatch(_RANGE, call.extra):
        return f"the range is `--range {call.extra.replace('..', ':')}`"
    if re.fullmatch(_NUMBER, call.extra):
        for name in ("between", "range"):
            if (ends := call.values.get(name)) and re.fullmatch(_NUMBER, ends[-1]):
                return f"write it as `--{name} {ends[-1]}:{call.extra}`"
    return ""


def _point_hint(call: _ExcessArguments) -> str:
    if "--at" not in call.options:
        return ""
    if hint := _numbers_hint(call):
        return hint
    if (
        len(call.more) == 2
        and call.extra[:1] == "-"
        and (point := _as_point(call.extra[1:], call.more[1]))
    ):
        return f"did you mean `{point}`?"
    assigned = [word for word in call.positional if re.fullmatch(_ASSIGNED, word)]
    return (
        f"give the point with `--at {','.join(assigned)}`" if assigned and not call.points else ""
    )


def _numbers_hint(call: _ExcessArguments) -> str:
    """Return the point that numbers behind a formula may be: `3`, `2 3`, `(2,3)`."""
    by_name = "give each value by its name: `--at {}`"
    if len(call.more) == 1 and re.fullmatch(_NUMBER, call.extra):
        return (
            by_name.format("x=1,y=2") if call.points else f"give the point with `--at {call.extra}`"
        )
    names = _variables_in(call.positional[0]) if len(call.positional) > len(call.more) else []
    if not call.points and all(re.fullmatch(_NUMBER, word) for word in call.more):
        count = len(call.more)
        names = names if len(names) == count else [*"xyzuvw"][:count]
        return by_name.format(",".join(map("{}={}".format, names, call.more)))
    numbers = call.extra[1:-1].split(",")
    if re.fullmatch(rf"\({_NUMBER}(?:,\s*{_NUMBER})*\)", call.extra) and len(names) == len(numbers):
        return by_name.format(",".join(map("{}={}".format, names, map(str.strip, numbers))))
    return ""


def _variables_in(formula: str) -> list[str]:
    """Return the names of a formula that are no functions or constants, in order."""
    from ..engine.table.primitive import COMPOSED, FUNCTIONS  # only an error needs them
    from ..language.builder import CONSTANTS
    from ..language.tokens import names_in

    return [name for name in names_in(formula) if name not in {*FUNCTIONS, *COMPOSED, *CONSTANTS}]


def _argument_hint(call: _ExcessArguments) -> str:
    extra, options, formula = call.extra, call.options, call.positional[0]
    if call.command == EQUATIONS and are_equations(call.positional):  # with --strict
        return (
            "several equations are one argument: `autodiff solve"
            f" {quoted('; '.join(call.positional))}`"
        )
    if call.command == "check":
        return f"to mark a derivative: `autodiff diff {quoted(formula)} --answer {quoted(extra)}`"
    by = "--for" if call.command == "solve" else "--wrt"
    if by in options and all(_occurs(word, formula) for word in call.more):
        return f"did you mean `{by} {','.join(call.more)}`?"
    if takes := [word for word, option in options.items() if extra in option.choices]:
        return f"did you mean `{takes[0]} {extra}`?"
    if "--data" in options and (data := next(filter(_is_data, call.positional), "")):
        return f"data are named with `{'--points' if '--points' in options else '--data'} {data}`"
    if f"--{extra}" in options:
        return f"did you mean `--{extra}`?"
    if re.match("=(?!=)", extra):
        return 'leave out the spaces around `=`, or put all of it in quotes: `--at "x = 3"`'
    return (
        "put the whole expression in quotes, so that the shell keeps it together"
        if "--at" in options
        else ""
    )


def _is_data(word: str) -> bool:
    return word.endswith(_DATA_ENDINGS)


def _occurs(name: str, formula: str) -> bool:
    return name.isidentifier() and re.search(rf"(?<!\w){name}(?!\w)", formula) is not None


def _option_hint(name: str, value: str, declared: Declaration, command: str) -> str:
    hint = f"`autodiff {command} --help` lists the options"
    synonyms, users = OPTION_SYNONYMS.get(name[2:], ()), commands_with(name)
    if (advice := OPTION_ADVICE.get(f"{command}.{name[2:]}")) is not None:
        return advice
    if name[2:] in OPTION_ADVICE and not available(synonyms, declared.options):
        return OPTION_ADVICE[name[2:]]
    options, word = declared.options, name[2:]
    meant = _with_choice(value, options) + _with_choice(word, options) or available(
        synonyms, options
    )
    meant = meant[:2] or _similar_options(word, options)
    if not synonyms and not users and "--at" in options and (point := _as_point(word, value)):
        return f"did you mean `{point}`?"
    if meant and (" " in meant[0] or not 0 < len(users) <= MAX_NAMED_COMMANDS):
        return f"did you mean {either(meant)}?"
    if (
        synonyms
        and not users
        and 0 < len(others := commands_with(synonyms[0])) <= MAX_NAMED_COMMANDS
    ):
        return f"`{synonyms[0]}` is an option of {quote(others)}; {hint}"
    return (
        f"it is an option of {quote(users)}; {hint}"
        if 0 < len(users) <= MAX_NAMED_COMMANDS
        else hint
    )


def _as_point(name: str, value: str) -> str:
    """Return the point that `--x 3` or `-x 3` may mean; empty if the name is no variable's, or the
    value no number.
    """
    is_name = len(name) <= MAX_VARIABLE_LENGTH and name.isidentifier()
    return f"--at {name}={value}" if is_name and re.fullmatch(_NUMBER, value) else ""


def _with_choice(choice: str, options: Mapping[str, Option]) -> list[str]:
    """Return the options that have a choice, with it: `--format latex` for `--latex`."""
    return [f"{option.name} {choice}" for option in options.values() if choice in option.choices]


def _similar_options(word: str, options: Iterable[str]) -> list[str]:
    """Return options with a word of this one's name, or that begin with it, if they are no more
    than two.
    """
    meant = [option for option in options if {*word.split("-")} & {*option[2:].split("-")}]
    if not meant and len(word) > 2:
        meant = [option for option in options if option.startswith(f"--{word}")]
    return meant if len(meant) <= 2 else []


def _in_braces(values: Sequence[str], extra: str) -> str:
    for begin in (len(values[0].rpartition("=")[0]) + 1, values[0].find("=") + 1):
        parts = [text[begin:].partition(",") for text in values]
        if begin and len({text[:begin] for text in values}) == 1:
            _, comma, end = parts[0]
            braces = f"{extra[:begin]}{{{','.join(value for value, _, _ in parts)}}}{comma}{end}"
            return braces if len({end for _, _, end in parts}) == 1 else ""
    return ""
