"""The quick reading of informal notation, held to the table of mistakes."""

from __future__ import annotations

import random
import sys
from subprocess import run

import pytest

from autodiff_cli.engine.quantities.unit import unit_or_none
from autodiff_cli.engine.table.primitive import ALSO_UNITS, FUNCTIONS
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language import informal
from autodiff_cli.language.diagnostics import leniency
from autodiff_cli.language.informal import corrected
from autodiff_cli.questions.problem import parse


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("x^2 sin x", "x^2*sin(x)"),
        ("2x + sin x", "2x + sin(x)"),
        ("sin 2x cos x", "sin(2x)*cos(x)"),
        ("e^x sin x", "e^x*sin(x)"),
        ("sin²x + cos^2 x", "sin(x)² + cos(x)**2"),
        ("sin²(x + 1)", "sin(x + 1)²"),
        ("(x+1)(x-2)", "(x+1)*(x-2)"),
        ("2 pi x", "2*pi*x"),
        ("x (y + 1)", "x*(y + 1)"),
        # two meanings, a unit, a call, a name of several letters or no mistake: not decided here
        *[(text, text) for text in (
            "e^k x", "2^2 x", "1/2 x", "x/y z", "sin x/2", "sin x^2", "sin x y", "sin^-1 x", "3 m", "5 min", "x(y+1)",
            "f (x+1)", "sin xy", "x 2", "x^2", "2x", "sin(x)", "x y(", "z3y", "x if y else z", "x²^2 y", "",
        )],
    ],
)  # fmt: skip
def test_what_is_certain_is_corrected(typed: str, read: str) -> None:
    assert corrected(typed) == read


def test_names_that_may_be_units_are_known() -> None:
    assert not any(unit_or_none(name) for name in informal.UNITLESS)
    assert {name for name in FUNCTIONS if unit_or_none(name)} == ALSO_UNITS


def _text(rng: random.Random, depth: int) -> str:
    text = ""
    for _ in range(rng.choice((2, 2, 3, 4))):
        inner = f"({_text(rng, depth - 1)})" if depth else "(x)"
        function = rng.choice(("sin", "ln", "sqrt", "max", "min", "log"))
        text += rng.choice((
            rng.choice(("x", "y", "t", "e", "pi", "x1", "2x", "3", "0.5", "x²", "x^2", "x^n", "(x+1)^2", "e^x")),
            inner, rng.choice(("2", "x ", "")) + inner, function + inner,
            function + rng.choice(("", "²", "^2", "^-1")) + " " + rng.choice(("x", "2x", "3", "xy", "x^2")),
        ))  # fmt: skip
        text += rng.choice((" ", " ", "", "*", " + ", "-", "/", "^"))
    return text.rstrip("*+-/^ ")


def test_the_table_of_mistakes_reads_every_corrected_text_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(20)
    texts = {
        text: read
        for text in (_text(rng, 1) for _ in range(400))
        if (read := corrected(text)) != text
    }
    assert len(texts) > 30
    monkeypatch.setattr(leniency, "certain_corrections", lambda text: [])
    for text, read in texts.items():
        with pytest.raises(ExpressionError):
            parse(text, units=True)
        _, reading = leniency.read_leniently(text, lambda typed: parse(typed, units=True))
        assert reading is not None and reading.text == read, text


def test_the_table_of_mistakes_is_not_loaded() -> None:
    program = (
        "import sys; from autodiff_cli.language.diagnostics.leniency import read_leniently as read;"
        "from autodiff_cli.questions.problem import parse; print(read('x^2 sin x', parse)[1].text);"
        "print([name for name in sys.modules if name.endswith(('diagnosis', 'difflib'))])"
    )
    result = run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "x^2*sin(x)\n[]\n"


def test_places_in_the_typed_text_are_kept() -> None:
    _, reading = leniency.read_leniently("x^2 sin x", parse)
    assert reading is not None
    assert reading.places == (0, 1, 2, -1, 4, 5, 6, -1, 8, -1)
