"""The reader: the trees of programs, held to Lark's own parser of the same grammar, and their
sizes.
"""

from __future__ import annotations

import contextlib
import gc
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.diagnostics.context import Context
from autodiff_cli.language.generate import lark_parser
from autodiff_cli.language.reader import ParseFailure
from autodiff_cli.language.tables import TERMINALS
from autodiff_cli.language.tokens import END, KIND, LONG, UNREADABLE, Spans, pairs, without_skipped
from autodiff_cli.questions.problem import parse, statements
from counting import lines
from strategies import texts
from trees import Node, parsed, tree

SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "neg": "-",
    "pos": "+",
    "sqrt": "√",
    "not": "not ",
    "lt": "<",
    "le": "<=",
    "eq": "==",
    "ne": "!=",
}


def outline(node: Node) -> str:
    """The tree with all its parentheses and no others."""
    parts = [outline(child) for child in node.children]
    match node.kind:
        case "number" | "name":
            return str(node.value)
        case "abs":
            return f"|{parts[0]}|"
        case "call":
            return f"{node.value}({', '.join(parts)})"
        case "if":
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        case "and" | "or":
            return f"({parts[0]} {node.kind} {parts[1]})"
        case "bind" | "augment":
            return f"{node.value} = {parts[0]}"
        case "define":
            return f"{node.value}({', '.join(parts[:-1])}) = {parts[-1]}"
        case "outputs":
            return ", ".join(parts)
        case "program":
            return "; ".join(parts)
        case "neg" | "pos" | "sqrt" | "not":
            return f"({SIGNS[node.kind]}{parts[0]})"
        case _:
            return f"({parts[0]}{SIGNS[node.kind]}{parts[1]})"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x", "x"),
        ("3x² − 4x + 5", "(((3*(x**2))-(4*x))+5)"),
        ("a - b - c", "((a-b)-c)"),
        ("a/b*c", "((a/b)*c)"),
        ("a*b/c", "((a*b)/c)"),
        ("2^3^2", "(2**(3**2))"),
        ("-x**2", "(-(x**2))"),
        ("2**-1", "(2**(-1))"),
        ("2**-x**2", "(2**(-(x**2)))"),
        ("-x*y", "((-x)*y)"),
        ("a*-b", "(a*(-b))"),
        ("a/-b", "(a/(-b))"),
        ("--x", "(-(-x))"),
        ("+x", "(+x)"),
        ("-2x", "(-(2*x))"),
        ("a*2x", "(a*(2*x))"),
        ("2x*3y", "((2*x)*(3*y))"),
        ("2x/y", "((2*x)/y)"),
        ("2(x+1)²", "(2*((x+1)**2))"),
        ("2x^2", "(2*(x**2))"),
        ("2sin(x)", "(2*sin(x))"),
        ("2√x", "(2*(√x))"),
        ("2√x*3", "((2*(√x))*3)"),
        ("√√x", "(√(√x))"),
        ("√(x+1)/2", "((√(x+1))/2)"),
        ("√|x|", "(√|x|)"),
        ("2^√x", "(2**(√x))"),
        ("x⁻¹", "(x**(-1))"),
        ("x⁺²", "(x**2)"),
        ("x¹²", "(x**12)"),
        ("2²", "(2**2)"),
        ("f(x)²", "(f(x)**2)"),
        ("2^x²", "(2**(x**2))"),
        ("|x|", "|x|"),
        ("||x|-1|", "|(|x|-1)|"),
        ("|x|+|y|", "(|x|+|y|)"),
        ("|-x|²", "(|(-x)|**2)"),
        ("||x||", "||x||"),
        ("a × b ÷ c · d ⋅ e", "((((a*b)/c)*d)*e)"),
        ("a∗b ∙ c", "((a*b)*c)"),
        ("2vₓ + Eₐ", "((2*vₓ)+Eₐ)"),
        ("2e", "(2*e)"),
        ("2e-x", "((2*e)-x)"),
        ("1e2", "1e2"),
        ("1e-3x1", "refused"),
        ("e2", "e2"),
        ("1E+2", "1E+2"),
        ("1e−3", "1e-3"),
        ("1.", "1."),
        (".5", ".5"),
        ("1_000.000_1", "1000.0001"),
        ("2.x", "(2.*x)"),
        ("10x10", "(10*x10)"),
        ("1e5(x)", "(1e5*x)"),
        ("1if c else 2", "(1 if c else 2)"),
        ("a if b else c if d else e", "(a if b else (c if d else e))"),
        ("a + 1 if x < 0 else -a", "((a+1) if (x<0) else (-a))"),
        ("x < y ≤ z ≠ w", "(((x<y) and (y<=z)) and (z!=w))"),
        ("a == b", "(a==b)"),
        ("not a or b and c", "((not a) or (b and c))"),
        ("not a < b", "(not (a<b))"),
        ("not not a", "(not (not a))"),
        ("a or b or c", "((a or b) or c)"),
        ("1 + (a if c else b)", "(1+(a if c else b))"),
        ("f()", "f()"),
        ("f (x, y+1)", "f(x, (y+1))"),
        ("a = 1; a", "a = 1; a"),
        ("c += 2x", "c = (c+(2*x))"),
        ("c −= a if b else 1", "c = (c-(a if b else 1))"),
        ("c ×= 2; c ÷= 3; c *= 4; c /= 5", "c = (c*2); c = (c/3); c = (c*4); c = (c/5)"),
        ("f(x, y) = x + y", "f(x, y) = (x+y)"),
        ("a, b + 1, c", "a, (b+1), c"),
        ("a = b = 1", "refused"),
        ("\n\n a = 1 ;; \r\n\r\n a\n", "a = 1; a"),
        ("(a\n+\r\nb)", "(a+b)"),
        ("f(\nx,\n\ny\n)", "f(x, y)"),
        ("a = (1 # one\n + 2) # three\n# and\na # last", "a = (1+2); a"),
        ("a\xa0+\u2009b\t*\u3000c", "(a+(b*c))"),
        (
            "w_1 + x₁ + λ + theta + lambda + class + _a",
            "((((((w_1+x₁)+λ)+theta)+lambda)+class)+_a)",
        ),
        ("iffy + orbit + nothing", "((iffy+orbit)+nothing)"),
        ("π*r²", "(π*(r**2))"),
        ("x̄ − ȳ", "(x̄-ȳ)"),
    ],
)
def test_trees(text: str, tree: str) -> None:
    if tree == "refused":
        with pytest.raises(ExpressionError):
            parsed(text)
    else:
        assert outline(parsed(text)) == tree


def test_the_readme_of_micrograd_is_a_program() -> None:
    text = """
    a = -4.0; b = 2.0
    c = a + b; d = a*b + b**3
    c += c + 1; c += 1 + c + (-a)
    d += d*2 + relu(b + a); d += 3*d + relu(b - a)
    e = c - d; f = e**2; g = f/2.0; g += 10.0/f; g"""
    program = parsed(text)
    assert [node.value for node in program.children] == [*"abcdccddefgg", "g"]


def nodes(tree: Node) -> Iterator[Node]:
    work = [tree]
    while work:
        node = work.pop()
        work.extend(node.children)
        yield node


def test_spans_are_the_text_of_each_node() -> None:
    text = "f(x, y) = 2(x+1)²; z += |f(-x, √y)| * 3 if a < b ≤ 3 else ( c )"
    program = parsed(text)
    assert {text[n.start : n.end] for n in nodes(program)} == {
        text, "f(x, y) = 2(x+1)²", "x", "y", "2(x+1)²", "2", "(x+1)²", "x+1", "1", "²",
        "z += |f(-x, √y)| * 3 if a < b ≤ 3 else ( c )", "z",
        "|f(-x, √y)| * 3 if a < b ≤ 3 else ( c )", "|f(-x, √y)| * 3", "|f(-x, √y)|", "f(-x, √y)",
        "-x", "√y", "3", "a < b ≤ 3", "a < b", "b ≤ 3", "a", "b", "c",
    }  # fmt: skip
    define, augment = statements(text)
    assert (define, augment) == (("define", 0, 17), ("augment", 19, len(text)))
    assert all(0 <= n.start < n.end <= len(text) for n in nodes(program))


def test_spans_of_a_superscript_are_its_sign_and_its_digits() -> None:
    (power,) = parse("x⁻²").outputs
    minus = power._prev[1]
    assert [node.span and tuple(node.span)[:2] for node in (power, minus, minus._prev[0])] == [
        (0, 3),
        (1, 3),
        (2, 3),
    ]


# -- the same as Lark
# -------------------------------------------------------------------------------------------------

Shape = list[tuple[str, int, int]]


def shape_of_ours(tree: Node) -> Shape:
    """All nodes, each before its children, with their places."""
    shape: Shape = []
    work = [tree]
    while work:
        node = work.pop()
        shape.append((node.kind, node.start, node.end))
        work.extend(reversed(node.children))
    return shape


def place_of_lark(item: Tree[Token] | Token) -> tuple[int, int]:
    """Where a part of a tree of Lark's stands."""
    start, end = (
        (item.start_pos, item.end_pos)
        if isinstance(item, Token)
        else (item.meta.start_pos, item.meta.end_pos)
    )
    assert start is not None
    assert end is not None
    return start, end


def pairs_of_lark(chain: list[Tree[Token] | Token], place: tuple[int, int]) -> list[Any]:
    """A comparison as the conjunction of its pairs, the last part first."""
    names = {
        "<": "lt",
        "<=": "le",
        "≤": "le",
        ">": "gt",
        ">=": "ge",
        "≥": "ge",
        "==": "eq",
        "!=": "ne",
        "≠": "ne",
    }
    made: list[Any] = []
    for k in range(1, len(chain), 2):
        left, right = chain[k - 1], chain[k + 1]
        pair = [
            (names[str(chain[k])], place_of_lark(left)[0], place_of_lark(right)[1]),
            left,
            right,
        ]
        made = [("and", *place), *made, *pair] if made else pair
    return made[::-1]


def shape_of_lark(tree: Tree[Token], text: str) -> Shape:
    """The same of a tree of Lark's, whose tokens are leaves."""
    shape: Shape = []
    work: list[Tree[Token] | Token | tuple[str, int, int]] = [tree]
    while work:
        item = work.pop()
        if isinstance(item, tuple):
            shape.append(item)
        elif isinstance(item, Token):
            start, end = item.start_pos, item.end_pos
            assert start is not None
            assert end is not None
            if item.type == "SUPERSCRIPT" and item[0] in "⁺⁻":
                shape += [("neg", start, end)] * (item[0] == "⁻") + [("number", start + 1, end)]
            elif item.type in ("NUMBER", "COEFFICIENT", "SUPERSCRIPT"):
                shape.append(("number", start, end))
            elif item.type == "NAME":
                shape.append(("name", start, end))
        else:
            children = list(item.children)
            place = (item.meta.start_pos, item.meta.end_pos)
            if item.data in ("number", "name"):
                work.append((item.data, *place))
                continue
            if item.data == "if":
                children = [children[2], children[0], children[4]]
            elif item.data in ("bind", "call"):
                children = children[1:]
            elif item.data == "define":
                assert isinstance(children[0], Tree)
                children = [*children[0].children[1:], *children[1:]]
            elif item.data == "augment":
                assert isinstance(children[1], Token)
                kind = {"+": "add", "-": "sub", "−": "sub", "/": "div", "÷": "div"}.get(
                    children[1][0], "mul"
                )
                children.insert(0, (kind, *place))  # type: ignore[arg-type]
            elif item.data == "program":
                # Lark counts the separators around the statements in.
                inner = [child for child in children if isinstance(child, Tree)]
                place = (inner[0].meta.start_pos, inner[-1].meta.end_pos)
            if item.data == "compare":
                work += pairs_of_lark(children, place)
                continue
            if item.data != "group":
                shape.append((item.data, *place))
            work.extend(reversed(children))
    return shape


class NewLines:
    """A Lark `postlex`: new lines in brackets are white space."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens but for those new lines."""
        depth = 0
        for token in stream:
            if token.type == "NEWLINE" and depth:
                continue
            if token.type in ("OPEN", "LEFT"):
                depth += 1
            elif token.type in ("CLOSE", "RIGHT") and depth:
                depth -= 1
            yield token


@pytest.fixture(scope="module")
def lark() -> Lark:
    return lark_parser(postlex=NewLines())


def check_against_lark(lark: Lark, text: str) -> str:
    """Hold the parser to Lark on a text: accepted or refused, where, and with which tree."""
    theirs: Shape | int
    try:
        theirs = shape_of_lark(lark.parse(text), text)
    except UnexpectedToken as error:
        theirs = -1 if error.token.type == "$END" else error.pos_in_stream or 0
    except UnexpectedInput as error:
        theirs = error.pos_in_stream or 0
    try:
        ours = shape_of_ours(tree(text))
    except ParseFailure as stuck:
        context = Context(text, stuck)
        kind, at = context.tokens[context.at][1:3]
        if kind == UNREADABLE and (isinstance(theirs, list) or theirs < 0 or theirs > at):
            return "not a name"  # or too long an exponent: what the grammar leaves to the tokens
        assert (-1 if kind == END else at) == theirs
        return "refused"
    except ExpressionError as error:
        # What the grammar does not say is said as soon as it is seen.
        assert error.span is not None
        assert isinstance(theirs, list) or theirs < 0 or theirs >= error.span.start
        return "checked"
    assert ours == theirs
    return "accepted"


ASCII_PIECES = (
    *"0123.eE_xy+-*/^()|<>=!,;: \t\n\v\x1c\x00[]%'@", "if ", "else ", " and ", "not ", "1e-5", "2x",
    "sin(", "**", "=", "[kg]", "w[1]", "f(x)", "f(x)=", "Sin[", "max(x,y)", "x y", "1_0",
)  # fmt: skip


def outcome(text: str) -> object:
    """What a text is read as: its nodes and names, or the error that it is."""
    try:
        program = parse(text, units=True)
    except ExpressionError as error:
        return error.kind, str(error), error.span, error.hint
    return (
        program.all_nodes.rows,
        program.all_nodes.places,
        program.all_nodes.constants,
        program.leaves,
        program.roots,
    )


@given(st.lists(st.sampled_from(ASCII_PIECES), min_size=1, max_size=12).map("".join))
@settings(max_examples=1000, deadline=None)
def test_plain_text_that_is_cut_at_its_signs_is_read_as_its_pairs_are(text: str) -> None:
    quickly = outcome(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spans, "split", split_as_pairs)
        assert outcome(text) == quickly


def split_as_pairs(spans: Spans) -> tuple[list[str], list[str]]:
    spans.plain, spans.is_exact = without_skipped(spans.text), True
    spans.operands, spans.signs = map(list, zip(*pairs(spans.plain), strict=True))
    return spans.operands, spans.signs


def test_plain_text_is_cut_at_its_signs_and_exactly_only_from_where_that_is_needed() -> None:
    assert Spans("sin(x1)*2.5 - y^2").split() == tuple(
        map(list, zip(*pairs("sin(x1)*2.5 - y^2"), strict=True))
    )
    assert Spans("2x + 1e-5").split()[0] != [operand for operand, _ in pairs("2x + 1e-5")]


def test_long_texts_are_split_as_short_ones_are() -> None:
    draw = random.Random(3)
    for _ in range(2000):
        text = "".join(draw.choices("a1.+-*/=<>  \t\n()[],;", k=draw.randrange(15)))
        operands, signs = Spans(text).split()
        end = f" {text} ".strip(" \t")
        more, more_signs = Spans(end + "+1" * LONG).split()
        assert (more[: len(operands) - 1], more_signs[: len(signs) - 1]) == (
            operands[:-1],
            signs[:-1],
        )


def test_many_blanks_are_passed_once() -> None:
    begun = time.process_time()
    assert Spans("1" + " " * 300_000 + "2").split()[0] == ["1" + " " * 300_000 + "2"]
    assert time.process_time() - begun < 5


@given(texts())
@settings(max_examples=600, deadline=None)
def test_any_text_is_read_as_lark_reads_it(lark: Lark, text: str) -> None:
    check_against_lark(lark, text)


FORMULAS = (
    "3x² − 4x + 5",
    "f(x, y) = 2(x+1)²/y; z = f(a, -b); z += 1e-3*|z|; z, a",
    "log(x) if x > 0 and not y == 2 else √(−x)·2.5e3",
    "(a + b\n * sin(c)) / (1 + exp(-0.3a)) - sqrt(b**2 + c^-2) * tanh(a*b - 2.5*c) # end\n",
    "a = 1_000; b ×= ||a|-1|; c = x₁⁻¹ ÷ π ≤ 3 or 1if e else 2e",
)
PIECES = (
    *"xe2(),;|=+-*/^√²⁻<!.\n #",
    "if",
    "else",
    "not ",
    "**",
    "+=",
    "==",
    "1e5",
    "0x1",
    "sin",
    "\u00a0",
    "½",
    "λ",
)


def test_broken_texts_are_refused_where_lark_refuses_them(lark: Lark) -> None:
    chance = random.Random(20)
    outcomes: dict[str, int] = {}
    for _ in range(2500):
        text = chance.choice(FORMULAS)
        for _ in range(chance.randint(0, 3)):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice((*PIECES, "")) + text[at + chance.randint(0, 3) :]
        outcome = check_against_lark(lark, text)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    assert min(outcomes[outcome] for outcome in ("accepted", "refused", "checked")) > 10, outcomes


def test_the_comparison_with_lark_would_see_a_difference(lark: Lark) -> None:
    theirs = lark.parse("a - b - c")
    assert shape_of_lark(theirs, "a - b - c") == shape_of_ours(tree("a - b - c"))
    assert shape_of_lark(theirs, "a - b - c") != shape_of_ours(tree("a -(b-c)"))
    assert TERMINALS[KIND["NAME"]] == "NAME"


# -- sizes
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda n: "(-" * n + "x" + ")" * n, "neg"),
        (lambda n: "-" * n + "x", "neg"),
        (lambda n: "not " * n + "x", "not"),
        (lambda n: "x**" * n + "2", "pow"),
        (lambda n: "√" * n + "2", "sqrt"),
        (lambda n: "|" * n + "x" + "|" * n, "abs"),
        (lambda n: "f(" * n + "x" + ")" * n, "call"),
        (lambda n: "a if b else " * n + "c", "if"),
        (lambda n: "x*" * n + "x", "mul"),
    ],
)
def test_a_nesting_of_100_000_is_read_and_freed(make: Callable[[int], str], kind: str) -> None:
    depth = 0
    node = parsed(make(100_000)).children[0]
    while node.kind == kind:
        depth += 1
        node = node.children[-1 if kind in ("pow", "if") else 0]
    assert depth == 100_000


def test_so_are_parentheses_which_are_no_nodes() -> None:
    assert parsed("(" * 100_000 + "x" + ")" * 100_000).children[0] == (
        "name",
        100_000,
        100_001,
        (),
        "x",
    )


def test_a_sum_of_a_million_terms() -> None:
    gc.disable()  # it would be most of the time
    try:
        program = statements("+".join(["x"] * 1_000_000))
    finally:
        gc.enable()
    assert program == [("expression", 0, 1_999_999)]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "x+" * n + "1",
        lambda n: "x+" * n,
        lambda n: "(" * n,
        lambda n: "f(" * n + "x y",
        lambda n: "x*" * n + "1/2x",
        lambda n: "\n".join(f"x{k}=a" for k in range(n)) + "\n1/2x",
        lambda n: "1" * n,
        lambda n: "a" * n + " b",
        lambda n: "é" * n + "½",
        lambda n: "@" * n,
        lambda n: ";" * n,
        lambda n: "|" * n,
    ],
)
def test_time_is_linear_also_where_the_text_is_refused(make: Callable[[int], str]) -> None:
    def read(text: str) -> None:
        with contextlib.suppress(ExpressionError):
            parsed(text)

    short, long = make(1_000), make(10_000)
    read(short)
    # Ten times the text: a quadratic parser would run a hundred times as many lines.
    assert lines(lambda: read(long)) < 12 * lines(lambda: read(short))


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda n: "+".join(["x*y"] * n), 40),
        (lambda n: " - ".join(f"{k % 50}.5" for k in range(n)), 40),
        (lambda n: "(" * n + "x" + ")" * n, 20),
        (lambda n: "sin(" * n + "x" + ")" * n, 40),
        (lambda n: "-" * n + "x", 40),
        (lambda n: "x^" * n + "x", 40),
        (lambda n: "*".join(["x²"] * n), 40),
        (lambda n: "+".join(["2x"] * n), 60),
        (lambda n: "*".join(f"x{k}" for k in range(n)), 60),
        (lambda n: "".join(f"a{k} = x + 1\n" for k in range(n)) + "x", 120),
        (lambda n: "a = x; " + "a += x; " * n + "a", 120),
        (lambda n: "x if x > 2 else " * n + "x", 120),
        (lambda n: "max(" + ", ".join(["x"] * n) + ")", 120),
        (lambda n: ", ".join(["x"] * n), 120),
        (lambda n: "".join(f"f{k}(t) = t + 1\n" for k in range(n)) + "x", 200),
        (lambda n: "f(t) = t*t\n" + " + ".join(["f(x)"] * n), 200),
    ],
    ids=[
        "sum", "numbers", "parentheses", "calls", "signs", "powers", "superscripts", "coefficients", "names",
        "bindings", "updates", "conditionals", "arguments", "outputs", "definitions", "called",
    ],
)  # fmt: skip
def test_every_sign_takes_the_same_work_however_long_the_text_is(
    make: Callable[[int], str], most: int
) -> None:
    sizes = [make(n) for n in (200, 400, 800)]
    parse(sizes[-1])
    short, middle, long = (lines(lambda text=text: parse(text)) for text in sizes)
    signs = [len(pairs(text)) for text in sizes]
    assert signs[2] > 700
    assert middle - short <= most * (signs[1] - signs[0])
    assert 0.99 * 2 * (middle - short) <= long - middle <= 1.01 * 2 * (middle - short)
