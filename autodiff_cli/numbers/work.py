"""Work: what a computation in many digits may cost, counted and not timed, so that it ends the same way everywhere."""

from __future__ import annotations

import math

from .base import Refusal

STEPS = 1_000_000
"""Steps of work that a computation may take unless it is allowed more; one is about a microsecond."""

STEPS_A_NODE = 200
"""Further steps for each operation of the program, every time that it is computed: a long one may take longer."""


class Work:
    """Steps of work that are left to a computation; every one of its number types spends from the same.

    A number type says what a function costs before it computes it: more steps than are left raise `Refusal`.
    """

    __slots__ = ("left", "most")

    def __init__(self, most: float = math.inf) -> None:
        self.most = most
        self.left = most

    def allow(self, nodes: int) -> None:
        """Add what a program of so many nodes may take in addition."""
        self.left += nodes * STEPS_A_NODE

    def spend(self, steps: float) -> None:
        """Take so many steps of what is left. Raises `Refusal`, of the kind `limit`, where there are not so many."""
        if steps > self.left:
            raise Refusal(
                "limit", f"this takes more than the {self.most:,} steps of work that a computation may take",
                "ask for fewer digits, or allow more: `--work 10`",
            )  # fmt: skip
        self.left -= steps
