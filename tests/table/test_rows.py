"""A row of the table is all there is to say of an operation: one row adds a function, and nobody
keeps another list.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

import autodiff_cli.capabilities.export.targets
from autodiff_cli.cli.declarations import COMMANDS
from autodiff_cli.engine.numbers.base import Refusal
from autodiff_cli.engine.numbers.floats import REAL
from autodiff_cli.engine.table import operators, primitives
from autodiff_cli.engine.table.operators import WHERE
from autodiff_cli.engine.table.primitive import FUNCTIONS, OPERATIONS, Primitive
from autodiff_cli.engine.table.primitives import by_name
from rows import missing
from samples import SAMPLES, samples_of

SOURCE = Path(autodiff_cli.__file__).parent

# ---- a made-up function ---------------------------------------------------------------------------------------------
ADDED = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from autodiff_cli.engine.table.primitives import entry

entry("gudermann", "x", "the Gudermann function", lambda m, x, out: m.sech(x), facts="odd increasing",
      definition=lambda m, x: 2 * m.atan(m.tanh(x / 2)), group="Hyperbolic")

def halved(m, side, x, y, out):
    return ((x - 1) / 2 if side(x - 1) > 0 else 0) + m.sqrt(y)

entry("halved", "x y", "sqrt(y), and above x = 1 half of what is above it",
      lambda m, x, y, out: m.where(m.gt(x, 1), 0.5, lambda: m.where(m.lt(x, 1), m.nothing, 0)),
      lambda m, x, y, out: 0.5 / m.sqrt(y), facts="has_structural_zeros",
      definition=lambda m, x, y: m.max(x - 1, 0) / 2 + m.sqrt(y),
      domain="y >= 0", kink=lambda x, y: x == 1, convention="0 at 1", active_branch=halved, group="Elementary")

entry("turned", "x", "exp(x) - 1 below 0, 3*x above", lambda m, x, out: m.where(m.gt(x, 0), 3, lambda: m.exp(x)),
      definition=lambda m, x: m.where(m.gt(x, 0), 3 * x, lambda: m.expm1(x)), kink=lambda x: x == 0,
      convention="1 at 0", active_branch=lambda m, side, x, out: 3 * x if side(x) > 0 else m.expm1(x),
      group="Elementary")

entry("halves", "x y", "x/y", lambda m, x, y, out: 1 / y, lambda m, x, y, out: -out / y, domain="y != 0",
      definition=lambda m, x, y: x / y, defaults=("2",), group="Elementary")

entry("poles", "x", "x times the gamma function of x", lambda m, x, out: m.gamma(x) * (1 + x * m.digamma(x)),
      definition=lambda m, x: x * m.gamma(x), domain="x is not 0, -1, -2, …", family="gamma", group="Special")

entry("squares", "*xs", "sum of the squares", lambda m, xs, out: [2 * x for x in xs], facts="commutative",
      definition=lambda m, *xs: m.sum(*[x * x for x in xs]), group="Aggregates")

from autodiff_cli.__main__ import run

for line in sys.stdin:
    kept = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "oe"]
    with redirect_stdout(kept[0]), redirect_stderr(kept[1]):
        code = run(json.loads(line))
    print(json.dumps([code, "".join(each.buffer.getvalue().decode() for each in kept)]))
"""

AT_ONE = ("gudermann(x)", "--at", "x=1")
TARGETS = (
    *(
        "python",
        "numpy",
        "jax",
        "torch",
        "c",
        "javascript",
        "sql",
        "matlab",
        "r",
        "julia",
        "spreadsheet",
        "latex",
    ),
    *("micrograd", "torch-module"),
)
WORDS = {
    ("latex", "tanh"): "sech",
    ("latex", "sqrt"): "halved",
    ("spreadsheet", "tanh"): "TANH",
    ("spreadsheet", "sqrt"): "SQRT",
}

ASKED: dict[tuple[str, ...], tuple[int, str]] = {
    ("grad", *AT_ONE): (0, "0.648054"),
    ("grad", *AT_ONE, "--exact"): (4, "`gudermann(1)` is not a rational number"),
    ("grad", "gudermann(x)", "--at", "x=0", "--exact"): (0, "value = 0"),
    ("grad", *AT_ONE, "--precision", "40"): (0, "0.8657694832396586242896018461918444"),
    ("grad", *AT_ONE, "--certified"): (0, "0.64805427366388540"),
    ("hessian", "gudermann(x)*y", "--at", "x=1", "--at", "y=2"): (0, "-0.987109"),
    ("taylor", "gudermann(x)", "--at", "x=0", "--order", "5"): (0, "1/24*x**5"),
    ("limit", "gudermann(x)/x", "--at", "x=0"): (0, "limit x -> 0 = 1"),
    ("tangent", "gudermann(x)", "--at", "x=0"): (0, "tangent: y = x\n"),
    ("integrate", "gudermann(x)", "--between", "x=-1:1"): (0, "= 0\n"),
    ("diff", "gudermann(-x)"): (0, "d/dx = -sech(x)"),
    ("check", *AT_ONE): (0, "agreement: yes"),
    ("trace", *AT_ONE): (0, "sech(x)"),
    ("graph", *AT_ONE): (0, "gudermann"),
    ("functions", "gudermann"): (0, "the Gudermann function"),
    ("grad", "gudermannn(x)", "--at", "x=1"): (3, "did you mean `gudermann`?"),
    **{
        ("export", "gudermann(x)", "--to", target): (0, WORDS.get((target, "tanh"), "tanh"))
        for target in TARGETS
    },
    ("jacobian", "gudermann(x), x", "--at", "x=1"): (0, "0.648054"),
    ("plot", "gudermann(x)", "--range", "x=-2:2"): (0, "f′(x) = sech(x)"),
    ("page", *AT_ONE): (0, "gudermann"),
    ("solve", "gudermann(x) = 0.5"): (0, "x = 0.5222381033"),
    ("propagate", "gudermann(x)", "--at", "x=1±0.1"): (0, "0.0648054"),
    ("propagate", "gudermann(x)", "--at", "x=1±0.1", "--samples", "2000", "--seed", "1"): (
        0,
        "2,000 draws",
    ),
    ("minimize", "gudermann(x)**2", "--at", "x=1"): (0, "a local minimum"),
    ("maximize", "-gudermann(x)**2", "--at", "x=1"): (0, "a local maximum"),
    ("descend", "gudermann(x)**2", "--at", "x=1", "--steps", "1"): (0, "0.887787"),
    ("fit", "y = a*gudermann(x)", "--data", "{data}", "--at", "a=1"): (0, "one linear solve"),
    ("grad", "gudermann(x)", "--points", "{data}"): (0, "0.648054273663885"),
    ("diff", "gudermann(x)**2", "--steps"): (0, "sech(x)"),
    ("diff", "gudermann(x)", "--order", "2", "--to", "latex"): (
        0,
        r"-\tanh(x) \operatorname{sech}(x)",
    ),
    ("diff", "abs(gudermann(x))", "--assume", "x > 0"): (0, "d/dx = sech(x)"),
    ("trace", *AT_ONE, "--format", "latex"): (0, r"\operatorname{gudermann}(1)"),
    # one with two inputs, a kink and a domain
    ("grad", "halved(x, y)", "--at", "x=1,y=4"): (0, "`halved` has no derivative at (1, 4)"),
    ("grad", "halved(x, y)", "--at", "x=1,y=-4"): (
        4,
        "`halved` is undefined at (1, -4); its domain: y >= 0",
    ),
    ("grad", "halved(x, y)", "--at", "x=3,y=4", "--exact"): (0, "value = 3"),
    ("hessian", "halved(x, y)", "--at", "x=1,y=4"): (4, "`halved` has a kink at (1, 4)"),
    ("hessian", "halved(x, y)", "--at", "x=2,y=4"): (0, "-0.03125"),
    ("taylor", "halved(x, 4)", "--at", "x=1"): (4, "is 0.5 on one side and 0 on the other"),
    ("check", "halved(x, y)", "--at", "x=1,y=4"): (
        0,
        "a kink: slope 0 on the left, 0.5 on the right",
    ),
    ("check", "halved(x, y)", "--at", "x=2,y=4"): (0, "agreement: yes"),
    ("diff", "halved(x, y)**2", "--assume", "x > 1"): (0, "d/dx = x/2 + sqrt(y) - 0.5"),
    # one that is curved on one side of its kink
    ("check", "turned(x)", "--at", "x=0"): (0, "a kink: slope 1.0 on the left, 3.0 on the right"),
    ("taylor", "turned(x)", "--at", "x=0"): (4, "is 3 on one side and 1 on the other"),
    ("diff", "turned(x)**2", "--assume", "x > 0"): (0, "d/dx = 18*x"),
    ("diff", "turned(x)**2", "--assume", "x < 0"): (0, "d/dx = 2*expm1(x)*exp(x)"),
    ("diff", "abs(turned(x))", "--assume", "x > 0"): (0, "d/dx = 3"),
    ("grad", "turned(x)", "--at", "x=0", "--certified"): (4, "`turned` has no derivative at 0"),
    # one with poles and an input that may be left out
    ("grad", "halves(x)", "--at", "x=3", "--exact"): (0, "value = 3/2"),
    ("grad", "halves(x, y)", "--at", "x=3,y=0", "--certified"): (
        4,
        "`halves` is undefined at (3.00000, 0)",
    ),
    ("diff", "halves(x, 2)", "--to", "latex"): (0, r"\operatorname{halves}(x, 2)"),
    ("export", "halves(x)", "--to", "python"): (0, "return"),
    # one with poles without end
    ("grad", "poles(x)", "--at", "x=-2"): (4, "its domain: argument is not 0, -1, -2, …"),
    ("grad", "poles(x)", "--at", "x=-2.5", "--certified"): (0, "1.6617502606685965"),
    ("grad", "poles(x)", "--at", "x=-2.5", "--precision", "30"): (0, "1.6617502606685965055864685"),
    ("plot", "poles(x)", "--range", "x=-3:3"): (0, "f(x) = poles(x)"),
    **{
        ("export", "poles(x)", "--to", target): (0, "poles" if target == "latex" else "gamma")
        for target in TARGETS[:6]
    },
    # one of any number of inputs
    ("grad", "squares(x, y, 2)", "--at", "x=1/3,y=2", "--exact"): (0, "value = 73/9"),
    ("hessian", "squares(x, y)", "--at", "x=1,y=2", "--certified"): (0, "2.0000000000000000"),
    ("diff", "abs(squares(x, y))*x", "--assume", "y > 0"): (0, "d/dx = 2*x**2 + squares(x, y)"),
    ("functions", "squares"): (0, "squares(x1, x2, …)"),
    ("minimize", "squares(x - 1, y)", "--at", "x=0,y=3"): (0, "a local minimum"),
    **{("export", "squares(x, y, z)", "--to", target): (0, "x") for target in TARGETS},
    **{
        ("export", "halved(x, y)", "--to", target): (0, WORDS.get((target, "sqrt"), "sqrt"))
        for target in TARGETS
    },
}


def test_one_row_is_enough_for_every_command(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,1.7315389\n0.5,0.9607615\n-1,-1.7315389\n")
    asked = "\n".join(
        json.dumps([str(data) if arg == "{data}" else arg for arg in args]) for args in ASKED
    )
    ran = subprocess.run(
        [sys.executable, "-c", ADDED],
        input=asked,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(ASKED), ran.stderr
    for (args, (code, part)), (got, text) in zip(ASKED.items(), answers, strict=True):
        assert got == code and part in text, (args, got, text)


def test_every_target_and_every_command_is_asked() -> None:
    assert set(TARGETS) == set(autodiff_cli.capabilities.export.targets.TARGETS)
    # an exercise is drawn from patterns of functions that are taught
    assert set(COMMANDS) - {args[0] for args in ASKED} == {"exercise", "repl", "serve", "units"}


# ---- what a row lacks -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "row",
    [*dict.fromkeys(p for p in FUNCTIONS.values() if p is not WHERE)],
    ids=lambda row: row.name,
)
def test_no_function_lacks_anything(row: Primitive) -> None:
    assert missing(row) == []


def test_what_is_missing_is_said_in_words() -> None:
    bare = Primitive("gudermann", ("x",), ())
    assert missing(bare) == [
        "gudermann has no doc: what `autodiff functions gudermann` says that it is",
        "gudermann has 0 rules for 1 inputs: a derivative by each, None for none",
        (
            "gudermann has no samples in tests/support/samples.py: points of its domain, ordinary"
            " and extreme"
        ),
        (
            "gudermann has no reference in tests/support/reference.py: its value and its"
            " derivatives in mpmath"
        ),
        (
            "gudermann cannot be computed: it has no definition, and `REAL` has no function of that"
            " name"
        ),
    ]


def wrong(
    name: str, samples: tuple[tuple[float, ...], ...] | None = None, **facts: object
) -> list[str]:
    with patch.dict(SAMPLES, {} if samples is None else {name: samples}):
        return missing(FUNCTIONS[name]._replace(**facts))


def test_wrong_facts_are_found() -> None:
    assert wrong("log", domain="") == ["log has no domain, but no value at [-3.3, -1.0, -0.6]"]
    assert wrong("log", samples=((-1.0,),)) == ["log has a sample outside of its domain: (-1.0,)"]
    assert wrong("sin", odd=False) == ["sin is odd: say so in its facts"]
    assert wrong("exp", even=True) == ["exp is not even"]
    assert wrong("exp", inverse="ln2") == ["exp is undone by ln2, which is not in the table"]
    assert wrong("exp", inverse="sqrt") == [
        "exp is not undone by sqrt: at [-3.3, -1.0, -0.6, 0.6, 1.0, 3.3] it does not give them back"
    ]
    assert wrong("hypot", commutative=False) == ["hypot is commutative: say so in its facts"]
    assert wrong("atan2", commutative=True) == ["atan2 is not commutative"]
    (told,) = wrong("sigmoid", values="(0.5, 1)")
    assert told.startswith("sigmoid has values outside of (0.5, 1), at [(-2.5,), ")
    (told,) = wrong("sech", unit=("tanh", 1, -1))
    assert told == "sech and tanh have squares that do not add up to 1 with the signs +1, -1"
    assert wrong("cos", increasing=True) == ["cos does not increase"]
    assert wrong("sqrt", domain="x >= 1", samples=((4.0,),)) == [
        "sqrt has a value outside of its domain, at (0.6,)"
    ]
    assert wrong("relu", active_branch=None) == [
        "relu has a kink and no `active_branch`: which smooth function it is on either side"
    ]
    assert wrong("relu", partials=(lambda m, x, out: m.where(m.gt(x, 0), 1, m.nothing),)) == [
        "relu takes no part at its kink (0.0,): its rule gives `m.nothing` there, not the number 0"
    ]
    assert wrong("abs", convention="") == [
        "abs has a kink without a convention, or a convention without a kink"
    ]


def test_a_fact_that_there_is_not_is_refused() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ADDED.replace("odd increasing", "odd rising")],
        capture_output=True,
        text=True,
    )
    assert "gudermann: there is no fact 'rising'" in ran.stderr


def test_linear_rows_are_those_whose_derivatives_depend_on_no_input() -> None:
    seen = set()
    for row in OPERATIONS.values():
        if (
            len(samples_of(row)) < 2
            or row.may_kink
            or (not row.group and row.name not in ("add", "sub", "neg", "mul", "div"))
        ):
            continue
        count = max(map(len, samples_of(row)))
        points = [sample for sample in samples_of(row) if len(sample) == count] + [
            (0.25, 0.75, 0.5, 0.125, 0.375, 0.625)[:count]
        ]
        slopes = set()
        for point in points:
            with suppress(ValueError, ArithmeticError, Refusal):
                slopes.add(tuple(row.slopes(REAL, point, getattr(REAL, row.name)(*point))))
        assert row.linear == (len(slopes) == 1), (row.name, slopes)
        seen.add(row.linear)
    assert seen == {True, False}


DOMAINS = [row for row in OPERATIONS.values() if row.domain]


@pytest.mark.parametrize("row", DOMAINS, ids=lambda row: row.name)
def test_a_domain_is_said_of_the_inputs(row: Primitive) -> None:
    """Words that are not understood are of more than one number, or of alternatives; no other bound
    is lost.
    """
    for bound in row.bounds.bounds:
        assert row.params[bound.position] in row.domain
    hard = (
        " or " in row.domain
        or "1/e" in row.domain
        or row.domain in ("lo <= hi", "x and y are not both 0", "x > 0, b > 0 and b != 1")
    )
    assert row.bounds.complete or hard


# ---- no other places ------------------------------------------------------------------------------------------------
ROOMS = {
    "engine/numbers": "a kind of number has functions of its own, under the names of the table",
    "capabilities/export": "a target writes operations in its own way",
    "compiled/target": "a target writes operations in its own way",
    "compiled/lowering": "operations as those that every target has",
    "compiled/llvm": "a target writes operations in its own way",
    "capabilities/integrals": (
        "complex balls are a kind of number, SymPy is a target; where functions are continuous"
    ),
    "language/diagnostics": (
        "what people write instead of a name, and kinds of mistakes that are called like one"
    ),
}
OTHERS: dict[str, tuple[str, str]] = {
    "compiled/row_errors": ("abs", "errors are sizes"),
    "language/informal": ("sign", "a plus or a minus"),
    "language/reader": ("abs", "|x| has signs of its own"),
    "language/tables": ("sqrt abs sum", "roots, bars and long sums have signs of their own"),
    "language/typesetting": ("beta gamma zeta max min", "Greek letters, and words below a letter"),
    "questions/calculus_words": ("sum prod", "sums and products over an index in words"),
    "questions/conversions": ("min deg rad", "units, and how formulas convert angles"),
    "engine/graphs/value": (
        (
            "abs tanh relu sigmoid exp log sqrt sin cos tan sinh cosh cbrt exp2 expm1 log10 log1p"
            " log2 hypot deg rad"
        ),
        "the methods of a Value, as people know them, and those that NumPy's functions call",
    ),
    "engine/algebra/asymptotic_series": (
        (
            "acos acosh asin asinh atan atan2 besseli besselj besselk bessely cbrt cos digamma erf"
            " erfc exp gamma lgamma log polygamma sin sinc sqrt trigamma zeta zeta_derivative"
        ),
        "how functions grow, oscillate or end where they have no power series",
    ),
    "engine/algebra/exact_constants": (
        "acos acot asin atan cos exp gamma log sin sqrt tan zeta_derivative",
        "simple values: multiples of pi, roots, powers of logarithms",
    ),
    "engine/algebra/identities": (
        "sin cos tan cot sec csc sinh cosh tanh coth sech csch exp",
        "the identities of angles and of exponentials, which no row has",
    ),
    "engine/algebra/integral_series": (
        "Ci Ei Si erfi fresnelc fresnels li",
        "how integrals of elementary functions grow, oscillate or end",
    ),
    "engine/algebra/bessel_series": ("besseli besselj besselk", "which of two series each has"),
    "engine/graphs/laurent": (
        "beta sum prod",
        "the poles of beta are those of the functions that define it; sums and products of several"
        " series are those of two",
    ),
    "engine/algebra/canonical": (
        "sum prod sqrt cbrt",
        "arithmetic, for which there is a form of its own",
    ),
    "engine/algebra/rewriting": (
        "sum prod sign tanh sech csch",
        "how signs merge, and quotients of hyperbolic functions",
    ),
    "engine/algebra/root_forms": ("sign", "roots of roots, and how signs merge"),
    "capabilities/graph/graph": ("sum prod", "what a long sum or product is called"),
    "questions/periods": ("rad", "the unit of angles"),
    "questions/distributions": ("beta gamma", "distributions of these names"),
    "capabilities/formulas/derivation": (
        "sum prod log",
        (
            "rules for sums and products of any length, which have names; the natural logarithm,"
            " which is written `ln`"
        ),
    ),
    "compiled/data_loss": ("mean", "a word of an option"),
    "engine/algebra/borders": (
        "abs asinh atan atan2 cos cosh erf erfi exp expm1 round sigmoid sin sinh softplus tanh",
        "where an angle is cut, and whole numbers are rounded; what has no pole, which no row says",
    ),
    "capabilities/formulas/guards": (
        "round",
        "its borders are half-way between whole numbers, in words",
    ),
    "compiled/kernels": (
        "atan2 erf erfc gamma lgamma",
        "what NumPy computes number by number, or at a cut",
    ),
    "capabilities/check/check": ("mean", "a word of an option"),
    "show/characters": ("deg sqrt", "signs in letters of ASCII"),
    "show/mathematics": ("abs sqrt log", "bars and root signs, and `ln`"),
    "capabilities/plot/figure": ("log", "a scale of Matplotlib"),
    "capabilities/propagate/propagate_view": ("mean", "a word"),
    "engine/algebra/rational_functions": (
        "cos cosh sin sinh prod sum",
        "sums and products, and the squares that add up to 1",
    ),
    "capabilities/solve/rearranging": ("abs cbrt sign", "the real solutions of a power"),
    "engine/numerics/krawczyk": ("ceil floor round sign", "the values of steps over a wide ball"),
    "capabilities/plot/plot": ("log", "a word of an option"),
    "questions/sweeps": ("log", "a word of the notation"),
    "language/builder": ("prod sum", "sums and products over an index"),
    "language/list_functions": ("exp hypot logsumexp sum", "products, norms and shares of lists"),
    "questions/measured_value": ("beta gamma", "distributions"),
    "nn": ("relu", "the usual activation of a network"),
}
"""Where a function may be named as text outside the table, which ones, and why: a fact about it
belongs in its row.
"""


OPERATORS: dict[str, str] = {
    "questions/calculus_words": "quotients and powers that may have no value, and a word",
    "questions/conversions": "products of powers, whose numbers may be factors of units",
    "data/text_dialects": "an option of this name",
    "capabilities/derivatives/taylor": (
        "powers of the constant e are values of exp, which fractions have"
    ),
    "language/builder": "a chain of comparisons is the conjunction of its pairs",
    "language/tree": "what is written as the divisor of a first power",
    "language/equation_trees": "a residual is a difference",
    "language/list_functions": "products, determinants and quotients of entries",
    "language/tree_recorder": "a literal's minus",
    "language/reader": "the grammar's own operators, by the names of its rules",
    "language/tables": "the grammar's own operators, by the names of its rules",
    "language/tokens": "`+=` is a sum",
    "language/typesetting": (
        "products without a sign, fractions, exponents, cases: two-dimensional each in its own way"
    ),
    "compiled/row_errors": "errors are sums of products, and a choice has those of its branch",
    "compiled/second_derivatives": "how near a pole is",
    "compiled/point_derivatives": "a choice meets its breakpoints where its condition does",
    "engine/graphs/tracing": "Python's comparisons",
    "capabilities/solve/continuity": "what a divisor is: an equation has no value where it is 0",
    "capabilities/solve/rearranging": (
        "arithmetic backwards: polynomials, powers, exponentials of one exponent"
    ),
    "capabilities/solve/conditions": (
        "where products, quotients, powers and logarithms are 0 or not"
    ),
    "capabilities/solve/pieces": (
        "where a piece ends: at a divisor of 0, at the base of a power; the branch taken"
    ),
    "engine/algebra/asymptotic_series": (
        "arithmetic of series, and of their logarithms and exponentials"
    ),
    "engine/algebra/root_forms": "the modulus that the root of a square is",
    "engine/algebra/exact_constants": (
        "simple values of roots, sines and logarithms; conditions on parameters"
    ),
    "capabilities/limit/limit": "conditions on parameters, without a minus sign",
    "capabilities/limit/limit_view": "a word of a sentence",
    "engine/algebra/identities": "a polynomial in one sine and cosine, or in one exponential",
    "engine/algebra/equality_guards": (
        "what a guard at a point is: a choice by an equation that isolates a variable"
    ),
    "engine/algebra/guard_series": (
        "what a guard at one point is; a polynomial; the conditions of a domain"
    ),
    "engine/algebra/one_sided_series": "a polynomial; the bounds of a variable near its value",
    "engine/algebra/sides_of_guards": (
        "where the branches of a guard meet, and on which side each is taken"
    ),
    "engine/algebra/guards_at_point": "what a guard at one point is: a choice by an equation",
    "engine/algebra/borders": (
        "where two formulas are equal, and on which side an operation has which piece"
    ),
    "errors": "a word of a hint",
    "cli/arguments": "a word of a hint",
    "questions/quantities": "how a number is converted between units: by factors and a zero",
    "capabilities/formulas/diff": "a division by zero at every point",
    "capabilities/exercise/calculus": "two formulas are equal where their difference is 0",
    "compiled/evaluator": "a product of many costs its factors",
    "capabilities/optimize/strategies": (
        "what is linear in a parameter: a quotient in its numerator"
    ),
    "engine/algebra/walk": "which variables stay in a numerator, in a branch, or to the power 1",
    "capabilities/formulas/derivation": (
        "the rules that have names: of sums, products, quotients, powers, branches"
    ),
    "capabilities/formulas/functions": "a choice is no function of numbers",
    "capabilities/formulas/function_examples": (
        "examples of what takes a condition or a list, which no number is"
    ),
    "capabilities/exercise/equation_answers": (
        "differences that are 0 on the curve; the division of polynomials"
    ),
    "capabilities/exercise/marking": (
        "terms of a sum, factors of a product; where the inputs of a maximum meet"
    ),
    "capabilities/solve/one_unknown": (
        "where a power that is not whole ends; a factor of a polynomial as a formula"
    ),
    "capabilities/solve/enclosures": "a product of powers is 0 where a base is",
    "capabilities/page/page": "a fraction as one writes it, and conditions",
    "questions/digits": "where sums cancel, and what people write that does",
    "capabilities/trace/trace": "a literal's minus; the branch that is taken",
    "engine/run/flat_graph": "a literal's minus",
    "engine/run/doubles": "the hot loops, with powers written out",
    "engine/run/smooth_branches": "the branch that is taken",
    "engine/run/evaluation": "what to say where an exponent has no derivative",
    "engine/run/sweep": "the branch that is taken",
    "engine/graphs/adjoint": "sums of adjoints; conditions; which inputs are evaluated at all",
    "engine/algebra/canonical": "the algebra of sums, products and powers",
    "engine/algebra/symbolic_derivative": "sums in reading order, factors in theirs; conditions",
    "engine/algebra/almost_everywhere": (
        "the algebra of conditions, of powers, and of what is linear"
    ),
    "engine/algebra/branch_elimination": (
        "conditions; where a power is defined; arithmetic backwards, from a sum"
    ),
    "engine/algebra/rewriting": "the algebra of sums, products and powers",
    "engine/algebra/symbolic": "a choice is the same for every kind of number",
    "engine/graphs/value": "Python's operators",
    "capabilities/formulas/diff_view": (
        "the function `where` in Python's words; conditions, written as a sentence"
    ),
    "show/mathematics": "products without a sign, superscripts",
    "capabilities/trace/trace_latex": "the sign between two terms",
    "engine/algebra/rational_functions": "the algebra of polynomials and fractions",
    "capabilities/solve/formula_solutions": "where a coefficient is 0",
    "capabilities/solve/closed_forms": "sums and multiples that a formula is written as",
    "capabilities/solve/circle": "sine and cosine of multiples, and points of the unit circle",
    "capabilities/solve/implicit_formulas": "linear systems in formulas; conditions of a solution",
    "capabilities/exercise/answers": "the difference of two answers",
    "engine/graphs/laurent": "arithmetic of series with poles",
    "language/unrolling": "products of matrices, entry by entry",
    "show/document": "a word",
}
"""Which modules may know an operator, a comparison or the choice between branches, by name or by
its row, and why.
"""

LEAVES = {"variable", "constant", "item"}
ROWS = {
    name: row
    for part in (operators, primitives)
    for name, row in vars(part).items()
    if isinstance(row, Primitive)
}


def operators_known(path: Path) -> set[str]:
    """The operators and other operations without a function's name that a module names as text, or
    takes from the table.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    plain = {
        row.name for row in OPERATIONS.values() if row.name in ("where", "pow") or not row.group
    } - LEAVES
    named = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    }
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and re.match(r"(engine\.)?table\b", node.module or "")
        for alias in node.names
        if alias.name in ROWS and ROWS[alias.name].name not in LEAVES
    }
    words = {word for text in named for word in text.split() if plain.issuperset(text.split())}
    return words | {ROWS[name].name for name in imported}


def test_who_knows_an_operator_has_a_reason() -> None:
    seen: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        if (
            path.parent.name != "table"
            and not module.startswith(tuple(ROOMS))
            and (found := operators_known(path))
        ):
            seen[module] = found
    strangers = {module: found for module, found in seen.items() if module not in OPERATORS}
    assert strangers == {}, (
        "what they know belongs in the rows, or they into OPERATORS with a reason"
    )
    assert OPERATORS.keys() == seen.keys(), "and no reason is left over"


def test_an_operator_that_is_known_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""add"""\nfrom ..table.operators import DIV, VARIABLE\nif name == "mul": ...\nprint("neg'
        ' it")\n'
    )
    assert operators_known(path) == {"div", "mul"}


def functions_named(path: Path) -> set[str]:
    """The functions that a module names as text, alone or in a list of words; its docstrings do not
    count.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    words = [
        node.value.split()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    ]
    names = {row.name for row in FUNCTIONS.values()} - {"where", "pow"}
    return {word for each in words if each and names.issuperset(each) for word in each}


def test_no_other_module_knows_anything_of_a_function_by_its_name() -> None:
    seen = 0
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        if path.parent.name == "table" or module.startswith(tuple(ROOMS)):
            continue
        found = functions_named(path)
        seen += len(found)
        allowed = OTHERS.get(module, ("", ""))[0].split()
        assert found <= {*allowed}, (
            f"{module} names {found - {*allowed}}: into their rows, or into OTHERS with a reason"
        )
        assert {*allowed} <= found, (
            f"{module} does not name { ({*allowed} - found) }: no reason is left over"
        )
    assert seen > 30


def test_a_function_that_is_named_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""tanh"""\nODD = words("sin tan")\nif name == "erf": ...\n"cosh"\nprint("cos of x")\n'
    )
    assert functions_named(path) == {"sin", "tan", "erf"}


# ---- no other lists -------------------------------------------------------------------------------------------------
def test_what_is_said_by_name_is_said_of_operations_of_the_table() -> None:
    with pytest.raises(KeyError, match="sine"):
        by_name({"sin": "SIN", "sine": "SIN"})


NAMES = OPERATIONS.keys() | FUNCTIONS.keys()


def entries(node: ast.AST) -> list[object]:
    """What a collection that is written out holds, of a mapping the keys; the words of a text that
    is split.
    """
    if isinstance(node, ast.Dict):
        return [key.value for key in node.keys if isinstance(key, ast.Constant)]
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [item.value for item in node.elts if isinstance(item, ast.Constant)]
    if isinstance(node, ast.Call):
        function = node.func
        split = isinstance(function, ast.Attribute) and function.attr == "split"
        text = (
            function.value
            if isinstance(function, ast.Attribute) and split
            else node.args[0]
            if node.args
            else None
        )
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            return list(text.value.split())
    return []


BY_NAME = ("by_name", "library_names", "by_library")
"""The functions that hold names against the table."""


def lists_of_operations(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Line and names of a collection of three operations or more that is not made by one of
    `BY_NAME`.

    Greek letters, the functions of C and what LaTeX calls its signs share a few names with
    operations: of those, most entries are no operations.
    """
    stack = [tree]
    while stack:
        node = stack.pop()
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in BY_NAME
        ):
            continue
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            continue
        found = entries(node)
        named = [str(x) for x in found if x in NAMES]
        if len(named) >= 3 and 2 * len(named) > len(found):
            yield getattr(node, "lineno", 0), named
        stack.extend(ast.iter_child_nodes(node))


def test_no_module_outside_the_table_keeps_a_list_of_operations() -> None:
    seen = 0
    for path in SOURCE.rglob("*.py"):
        if path.parent.name != "table":
            seen += 1
            assert list(lists_of_operations(ast.parse(path.read_text(encoding="utf-8")))) == [], (
                path
            )
    assert seen > 100


@pytest.mark.parametrize(
    "text",
    [
        'ODD = ("sin", "tan", "sinh")',
        'EVEN = {"cos", "cosh", "abs"}',
        'f(["cos", "cosh", "abs"])',
        'UNDONE = {"exp": "log", "log": "exp", "erf": "erfinv"}',
        'POLES = words("csc cot csch coth")',
        'POLES = "csc cot csch coth".split()',
    ],
)
def test_a_list_of_operations_is_found(text: str) -> None:
    assert len(list(lists_of_operations(ast.parse(text)))) == 1
