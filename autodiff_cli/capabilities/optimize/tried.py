"""What searches from several starts tried, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...errors import plural
from ...record import Record

MAX_DRAWS = 20  # of one start, where the formula has no value
MAX_SHOWN, MAX_NAMED = 3, 4  # other ends, and variables of each


class Elsewhere(NamedTuple):
    """An end that is not the answer: its value and point in words, and how many searches led to
    it.
    """

    value: str
    place: str
    searches: int


class Tried(Record):
    """How many searches were asked for and made, and at how many starts the formula has no
    value.
    """

    asked: int
    searched: int
    undefined: int

    def in_words(self, here: int, others: Sequence[Elsewhere], lost: int, about: str = "") -> str:
        """Return how many searches ended at the answer, at others, `about` which something is said,
        or nowhere.
        """
        starts = plural(self.searched, "start") + (
            f" of {self.asked}" if self.searched < self.asked else ""
        )
        parts = [f"{here} ended here"]
        if others:
            listed = [f"{end.value} at {end.place}" for end in others[:MAX_SHOWN]]
            more = f" and {len(others) - MAX_SHOWN} more" if len(others) > MAX_SHOWN else ""
            parts.append(
                f"{sum(end.searches for end in others)} elsewhere{about} {'; '.join(listed)}{more}"
            )
        parts += [f"{lost} did not converge"] if lost else []
        parts += [f"at {self.undefined} the formula has no value"] if self.undefined else []
        return f"{starts}: {', '.join(parts)}"


def place_in_words(point: Mapping[str, float], shown: Callable[[str, float], str]) -> str:
    """Return a point as `shown` writes its numbers; of many variables, some."""
    parts = [f"{name} = {shown(name, x)}" for name, x in point.items()]
    return ", ".join([*parts[:MAX_NAMED], *(["…"] if len(parts) > MAX_NAMED else [])])
