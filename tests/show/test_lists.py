"""Tests of lists on the screen: a matrix has its rows, with every number, and long unrolled runs
are folded.
"""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from autodiff_cli import gradient, trace
from autodiff_cli.show.document import ROW_WIDTH, partials_table, plain_text
from autodiff_cli.show.numerals import format_number

numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)
LABEL = re.compile(r"W\[(\d+),(\d+)(?::(\d+))?\]")


@given(st.integers(1, 5), st.integers(2, 20), st.data())
def test_the_rows_of_a_matrix_have_all_entries(
    height: int, width: int, data: st.DataObject
) -> None:
    names = [f"W[{i},{k}]" for i in range(1, height + 1) for k in range(1, width + 1)]
    point, slopes = (
        dict(
            zip(
                names,
                data.draw(st.lists(numbers, min_size=len(names), max_size=len(names))),
                strict=True,
            )
        )
        for _ in "ab"
    )
    table = partials_table({**point, "x": 1.5}, {**slopes, "x": -2.5}, 6)
    *rows, last_row = [tuple(map(plain_text, row)) for row in table.rows]
    shown: dict[str, tuple[str, str]] = {}
    for label, *cells in rows:
        match = LABEL.fullmatch(label)
        assert match is not None
        i, first, last = int(match[1]), int(match[2]), int(match[3] or match[2])
        assert last == first or max(map(len, cells)) <= ROW_WIDTH
        for k, *entry in zip(
            range(first, last + 1), *[cell.split() for cell in cells], strict=True
        ):
            assert f"W[{i},{k}]" not in shown
            shown[f"W[{i},{k}]"] = (entry[0], entry[1])
    assert list(shown) == names
    assert shown == {
        name: (format_number(point[name], 6), format_number(slopes[name], 6)) for name in names
    }
    assert last_row == ("x", "1.5", "-2.5")


def test_short_lists_are_whole_and_long_ones_are_not() -> None:
    for count, folded in ((8, False), (9, True)):
        point = {"w": [float(k) for k in range(1, count + 1)]}
        assert ("more terms" in str(gradient("sum(w**2)", point))) is folded
        assert ("..." in str(trace("sum(w**2)", point))) is folded
    # terms that were written one by one stand at places of their own
    written = " + ".join(f"w{k}**2" for k in range(12))
    assert "more terms" not in str(gradient(written, {f"w{k}": 1.0 for k in range(12)}))
