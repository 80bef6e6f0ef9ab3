"""Writes `tables.py` after a change of the grammar: `python -m autodiff_cli.language.generate`."""

from __future__ import annotations

import re
import string
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lark import Lark

# Folders of the grammar: in a wheel, and in a checkout or sdist (editable install).
PACKAGE = Path(__file__).resolve().parents[1]
GRAMMARS = (PACKAGE / "grammars", PACKAGE.parent / "grammars")

TABLES = Path(__file__).with_name("tables.py")
OPERANDS = frozenset(("NAME", "NUMBER"))  # the terminals that are no signs

HEADER = '''\
"""The token pattern and the LALR tables of the grammar. Written by `generate.py`: do not edit, run that."""

# fmt: off
'''


def grammar_text() -> str:
    """Return the text of the grammar, wherever it is installed."""
    for folder in GRAMMARS:
        if (folder / "expression.lark").is_file():
            return (folder / "expression.lark").read_text(encoding="utf-8")
    raise FileNotFoundError(f"expression.lark is neither in {GRAMMARS[0]} nor in {GRAMMARS[1]}")


def lark_parser(**options: Any) -> Lark:
    """Return Lark's own parser of the grammar."""
    from lark import Lark

    return Lark(grammar_text(), parser="lalr", lexer="basic", propagate_positions=True, **options)


class _ParseTables(NamedTuple):
    """The parser's tables as `tables.py` writes them."""

    shifts: dict[tuple[tuple[int, int], ...], int]
    lookaheads: dict[tuple[int, ...], int]
    states: list[tuple[int, int, int]]
    """Of each state: its row of shifts, its terminals before which a rule ends, and that rule."""
    goto: dict[int, dict[int, int]]


def tables_text() -> str:
    """Return the text of `tables.py`."""
    parser = lark_parser()
    lexer = parser.parser.lexer
    (pattern,) = lexer.scanner._mres
    words = {
        word.pattern.value: word.name
        for call in lexer.callback.values()
        for word in call.scanner.terminals
    }
    terminals = ["", *pattern.groupindex, "$END", "UNREADABLE", *sorted(words.values())]

    table = parser.parser.parser._parse_table
    rules = list(parser.rules)
    origins = list(dict.fromkeys(rule.origin.name for rule in rules))
    width = len(terminals)
    shifts, lookaheads, states, goto = _parse_tables(table, rules, terminals, origins)
    usual, others = _most_common(goto)

    ascii_signs = _ascii_signs(pattern)
    parts = _rules(rules, origins)
    named = {
        name: terminal.pattern.to_regexp() for name, terminal in lexer.terminals_by_name.items()
    }
    tokens = rf"(?:{named['SPACE']})?(?:{pattern.pattern}|(\Z)|([\s\S]))"
    pair = _pair({name: named[name] for name in pattern.groupindex}, list(words))
    lines = [
        HEADER,
        *_comment(
            "Lark's one pattern for all tokens, after white space (the number of the group is "
            "that of the terminal), and for what is left: the end of the text, and a "
            "character that begins no token."
        ),
        f"TOKEN = {tokens!a}",
        "",
        *_comment(
            "The text in pairs: a name or a number, which may be missing, and the sign after "
            "it, which is missing in what is written together (`2x`)."
        ),
        f"PAIR = {pair!a}",
        "",
        *_comment("A number alone."),
        f"NUMBER = {named['NUMBER']!a}",
        "",
        *_block("TERMINALS", map(repr, terminals)),
        f"WORDS = {words!r}",
        *_comment("The signs of plain ASCII, each with its terminal."),
        f"ASCII_SIGNS = {ascii_signs!r}",
        f"IGNORED = {tuple(sorted(parser.lexer_conf.ignore))!r}",
        "",
        *_comment(
            "Of each rule: the number of what it makes, its length, the kind of node (if "
            "any), how many parts are signs."
        ),
        *_block("RULES", map(repr, parts)),
        *_block("ORIGINS", map(repr, map(str, origins))),
        *_comment(
            "Terminals with the states to go to; terminals before which a rule ends; of each "
            "state both, and its rule."
        ),
        *_block("SHIFTS", map(repr, shifts)),
        *_block("LOOKAHEADS", map(repr, lookaheads)),
        *_block("STATES", map(repr, states)),
        *_comment(
            "By state and terminal: a state to go to (times the number of terminals), a rule, or 0."
        ),
        f"ACTION = [0] * (len(STATES) * {width})",
        "for number, (shifts, lookaheads, rule) in enumerate(STATES):",
        "    for terminal, state in SHIFTS[shifts]:",
        f"        ACTION[number * {width} + terminal] = state * {width}",
        "    for terminal in LOOKAHEADS[lookaheads]:",
        f"        ACTION[number * {width} + terminal] = rule",
        *_comment(
            "By what a rule makes, in the same way: the state to go to, and that of other "
            "states than most."
        ),
        *_block("GOTO", map(str, usual)),
        *_block("OTHER_GOTO", others, "{}"),
    ]
    return "\n".join(lines) + "\n"


def _parse_tables(
    table: Any, rules: Sequence[Any], terminals: Sequence[str], origins: Sequence[str]
) -> _ParseTables:
    """Return Lark's table with states numbered in a walk, equal rows written once."""
    order, after = _numbered(table.states, table.start_states["start"], [*terminals, *origins])
    rule_number = {id(rule): number for number, rule in enumerate(rules)}
    width = len(terminals)
    shifts: dict[tuple[tuple[int, int], ...], int] = {}
    lookaheads: dict[tuple[int, ...], int] = {}
    states: list[tuple[int, int, int]] = []
    goto: dict[int, dict[int, int]] = {k: {} for k in range(len(origins))}
    for number, state in enumerate(order):
        row = table.states[state]
        actions = [(k, *row[name]) for k, name in enumerate(terminals) if name in row]
        follows = tuple([(k, after[target]) for k, sign, target in actions if str(sign) == "Shift"])
        reduced = {
            k: -1 - rule_number[id(target)] for k, sign, target in actions if str(sign) != "Shift"
        }
        (ending,) = {*reduced.values()} or {0}
        ahead = lookaheads.setdefault(tuple(reduced), len(lookaheads))
        states.append((shifts.setdefault(follows, len(shifts)), ahead, ending))
        for k, origin in enumerate(origins):
            if origin in row:
                goto[k][number * width + k] = after[row[origin][1]] * width
    return _ParseTables(shifts, lookaheads, states, goto)


def _ascii_signs(pattern: re.Pattern[str]) -> dict[str, str]:
    """Return the signs of plain ASCII with their terminals."""
    signs = {}
    for sign in (*string.punctuation, *map("".join, product(string.punctuation, repeat=2))):
        token = pattern.match(sign)
        if (
            token is not None
            and token.end() == len(sign)
            and token.lastgroup not in ("COMMENT", "NAME")
        ):
            signs[sign] = str(token.lastgroup)
    return signs


def _rules(rules: Sequence[Any], origins: Sequence[str]) -> list[tuple[int, int, str, int]]:
    """Return of each rule the number of what it makes, its length, the kind of node, and how many
    parts are signs.
    """
    all_signs = _signs(rules)
    parts = []
    for rule in rules:
        name = str(rule.origin.name)
        kind = str(rule.alias or "") or (
            "" if name.startswith("_") or rule.options.expand1 else name
        )
        kind = "list" if name.startswith("_") else kind
        signs = sum(part.name in all_signs for part in rule.expansion)
        parts.append((origins.index(name), len(rule.expansion), kind, signs))
    return parts


def _signs(rules: Iterable[Any]) -> set[str]:
    signs = {part.name for rule in rules for part in rule.expansion if part.is_term} - OPERANDS
    origins = {rule.origin.name for rule in rules}
    while True:
        more = {
            name
            for name in origins - signs
            if all(
                part.name in {*signs, name}
                for rule in rules
                if rule.origin.name == name
                for part in rule.expansion
            )
        }
        if not more:
            return signs
        signs |= more


def _pair(named: dict[str, str], words: list[str]) -> str:
    space = named["SPACE"].removesuffix("+")
    first = re.match(r"\[\^?(?:\\.|[^\]\\])*\]", named["NAME"])
    assert first is not None
    after_first = named["NAME"][first.end() :].removesuffix("*")
    word = rf"(?:{'|'.join(words)})(?!{after_first})"
    operand = rf"(?!{word}){named['NAME']}+|{named['NUMBER']}"
    left_out = ("NAME", "NUMBER", "COEFFICIENT", "SPACE", "COMMENT")
    signs = [text for name, text in named.items() if name not in left_out]
    operand_begins = rf"(?!{word}){first[0]}|\.?[0-9]"
    signs += [word, rf"(?<!{space})(?={operand_begins})", r"[\s\S]"]
    return rf"{space}*+({operand}|){space}*+({'|'.join(signs)})"


def _numbered(states: Any, start: int, symbols: Iterable[str]) -> tuple[list[int], dict[int, int]]:
    # Lark's own numbers vary from run to run; these, by a walk from the start, make the file
    # reproducible.
    symbols = list(symbols)
    after = {start: 0}
    order = [start]
    for state in order:
        row = states[state]
        for name in symbols:
            if name in row and str(row[name][0]) == "Shift" and row[name][1] not in after:
                after[row[name][1]] = len(order)
                order.append(row[name][1])
    return order, after


def _most_common(goto: Mapping[int, Mapping[int, int]]) -> tuple[list[int], list[str]]:
    """Return the state that most lead to, by what a rule makes, and the others as rows of text."""
    usual = [Counter(targets.values()).most_common(1)[0][0] for targets in goto.values()]
    rows = ((k, place, x) for k, targets in goto.items() for place, x in targets.items())
    return usual, [f"{place}: {x}" for k, place, x in rows if x != usual[k]]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, 98, break_on_hyphens=False)]


def _block(name: str, items: Iterable[str], brackets: str = "()") -> list[str]:
    lines = textwrap.wrap(
        "".join(f"{item}, " for item in items), 94, break_long_words=False, break_on_hyphens=False
    )
    return [f"{name} = {brackets[0]}", *[f"    {line}" for line in lines], brackets[1]]


if __name__ == "__main__":
    TABLES.write_text(tables_text(), encoding="utf-8")
