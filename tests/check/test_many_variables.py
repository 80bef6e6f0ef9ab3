"""Checks of formulas with many variables: all digits are known, and some partials are compared with
differences.
"""

from __future__ import annotations

import mpmath

import autodiff_cli


def test_a_formula_of_200_variables_is_answered() -> None:
    text = " + ".join(f"x{i}*sin(x{i + 1})" for i in range(1, 200))
    point = {f"x{i}": i / 100 for i in range(1, 201)}
    answer = autodiff_cli.check(text, point)
    assert answer.agrees and len(answer.quantities) == 201
    for number in answer.quantities[2:200]:
        i = int(number.name[1:])
        x = [mpmath.mpf(point[f"x{j}"]) for j in (i - 1, i, i + 1)]
        assert (
            number.computed == float(x[0] * mpmath.cos(x[1]) + mpmath.sin(x[2]))
            or number.digits >= 14
        )
    remarks = [number.remark for number in answer.quantities[1:]]
    assert remarks[0] == "" and remarks[-1] == "no differences: too many variables"


def test_a_few_variables_are_all_compared_with_differences() -> None:
    answer = autodiff_cli.check(
        " + ".join(f"x{i}**2" for i in range(12)), {f"x{i}": i + 1.0 for i in range(12)}
    )
    assert [number.remark for number in answer.quantities] == [""] * 13
