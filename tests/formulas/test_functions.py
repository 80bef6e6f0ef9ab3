"""The reference of functions: that its formulas are the derivatives that the rules have, and that
they are short.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from autodiff_cli.capabilities.derivatives.gradient import gradient
from autodiff_cli.capabilities.formulas.functions import (
    LISTED,
    UNROLLED,
    FunctionEntry,
    function,
    functions,
)
from autodiff_cli.errors import ExpressionError
from autodiff_cli.language.builder import UNROLLED as WRITTEN_OUT
from running import autodiff
from samples import samples_of

LONGEST = 54
"""Characters of a formula: a line of a screen holds it beside the name."""

ENTRIES = functions().entries
ORDINARY = (
    (0.3, 0.7, 1.6),
    (0.8, 0.45, 0.6),
    (2.5, 3.5, 4.5),
    (-1.5, 2.5, 3.5),
    (1.75, -0.25, 0.5),
)


def points(entry: FunctionEntry, names: list[str]) -> Iterator[dict[str, float]]:
    """Ordinary points, and those at which tests hold the rules to a reference."""
    for values in (*ORDINARY, *samples_of(LISTED[entry.name])):
        if len(values) >= len(names):
            yield dict(zip(names, values, strict=False))


def compared(entry: FunctionEntry, formulas: dict[str, str]) -> int:
    """At how many points the formulas are what the gradient says, wherever there is a derivative
    and no kink.
    """
    count = 0
    for key, formula in formulas.items():
        by, _, of = key.partition(" of ")
        call = (
            of
            if of.startswith(entry.name)
            else entry.name + (of or f"({', '.join(LISTED[entry.name].params)})")
        )
        names = [word for word in re.findall(r"\w+", call.partition("(")[2]) if not word.isdigit()]
        if entry.name == "polygamma":
            call, told, names = call.replace("(n", "(2"), formula.replace("n", "2", 1), names[1:]
        else:
            # a condition is none that a point could give
            call, told = (re.sub(r"\bc\b", "c > 1", text) for text in (call, formula))
        for point in points(entry, names):
            try:
                answer = gradient(call, point, wrt=[by])
                found = gradient(told, point).value
            except ExpressionError:
                continue
            if not answer.warnings:
                # a formula for reading may cancel where the rule does not
                assert found == pytest.approx(answer.gradient[by], rel=1e-9, abs=1e-9), (
                    told,
                    point,
                )
                count += 1
    return count


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_the_formulas_are_the_derivatives(entry: FunctionEntry) -> None:
    assert compared(entry, entry.derivatives) >= len(entry.derivatives)
    # of functions with orders, and of the profile that is made of one, the list only names the
    # derivatives
    named = LISTED[entry.name].shown_orders or entry.name == "voigt"
    assert named or max(map(len, entry.derivatives.values()), default=0) <= LONGEST


def test_the_comparison_would_notice() -> None:
    for entry in ENTRIES:
        if entry.name in ("clamp", "relu", "max", "gamma", "where"):
            with pytest.raises(AssertionError):
                compared(
                    entry,
                    {
                        key: f"1.001*({formula}) + 0.001"
                        for key, formula in entry.derivatives.items()
                    },
                )


@pytest.mark.parametrize("name", [entry.name for entry in ENTRIES])
def test_each_has_an_example_that_prints_what_it_says(name: str) -> None:
    entry = function(name)
    _, *arguments = shlex.split(entry.example)
    assert f"{name}(" in entry.example or f"{name}," in entry.example
    assert autodiff(*arguments) == (f"{entry.answer}\n", "", 0)


def test_functions_of_lists_are_known_by_name() -> None:
    assert set(UNROLLED) == WRITTEN_OUT
    assert function("det").derivatives == {}
    assert function("solve").doc == "the list x with A @ x = b"
