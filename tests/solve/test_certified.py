"""Random formulas under `--certified`: no fault of our own, most answered, none wrong, all within
the budget.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from mpmath import mp, mpf

from autodiff_cli import ExpressionError
from autodiff_cli.capabilities.derivatives.gradient import Gradient, gradient
from autodiff_cli.questions.arithmetic import Arithmetic
from counting import allowed
from random_texts import Drawn, Undefined, drawn, reference

CERTIFIED = Arithmetic("certified")
FORMULAS = 300
SMOOTH = 200
"""So many of them have a value and a derivative that the reference can tell, at least."""


def answer(formula: Drawn) -> Gradient | None:
    """The certified answer; None where it is refused."""
    try:
        return gradient(formula.text, formula.point, arithmetic=CERTIFIED)
    except ExpressionError as error:
        assert error.kind in ("domain", "derivative", "overflow", "limit"), (formula, error)
        return None


def wrong(found: Gradient, value: object, partials: dict[str, object]) -> Iterator[str]:
    """The names of the numbers that are not what the reference says, the empty one for the
    value.
    """
    for name, figure, want in [
        ("", found.value, value),
        *((n, found.gradient[n], partials[n]) for n in found.gradient),
    ]:
        # The last of 17 digits may be one off; differences are right to some hundred digits.
        near = mpf(figure.within) if figure.within else abs(want) * mpf("1e-16")  # type: ignore[union-attr,arg-type]
        if not abs(mpf(figure.text) - want) <= near + mpf("1e-55"):  # type: ignore[union-attr,operator]
            yield name


def test_random_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flint")
    made = allowed(monkeypatch)
    rng = random.Random(14)
    counts: Counter[str] = Counter()
    for _ in range(FORMULAS):
        formula = drawn(rng, 7)
        found = answer(formula)
        assert made.pop().left >= 0
        try:
            told = reference(formula)
        except Undefined:
            counts["undefined"] += 1
            continue
        if told is None:
            assert found is None, f"a derivative is proven at a kink: {formula}"
            counts["kink"] += 1
            continue
        counts["smooth"] += 1
        if found is not None:
            counts["answered"] += 1
            with mp.workdps(60):
                assert not list(wrong(found, *told)), (formula, found)
    assert counts["smooth"] >= SMOOTH, counts
    assert counts["answered"] >= 0.85 * counts["smooth"], counts
    assert not made
