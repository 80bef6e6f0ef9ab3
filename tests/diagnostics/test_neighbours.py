"""The kinds of tokens by which patterns of mistakes are told apart are those that the patterns
match.
"""

from __future__ import annotations

import random

from autodiff_cli.language.diagnostics.context import Kind, neighbours, shape
from autodiff_cli.language.diagnostics.diagnosis import MISTAKES


def test_no_pattern_is_left_out_that_matches() -> None:
    drawn, kinds = random.Random(1), sorted(kind.value for kind in Kind)
    patterns, matched = sorted({mistake.tokens for mistake in MISTAKES}), 0
    for _ in range(1000):
        row = "".join(drawn.choices(kinds, k=drawn.randint(1, 6)))
        at = drawn.randrange(len(row))
        for pattern in patterns:
            before, after = shape(pattern)
            if before.search(row[:at]) is None or after.match(row, at) is None:
                continue
            last, unexpected = neighbours(pattern)
            matched += 1
            assert (not last or row[at - 1] in last) and (
                not unexpected or row[at] in unexpected
            ), (pattern, row, at)
    assert matched > 1000
