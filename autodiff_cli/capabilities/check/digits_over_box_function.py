"""The answer of `check` over a box."""

from __future__ import annotations

from ...api.api_answers import Answer
from . import digits_over_box as _digits_over_box


class DigitsOverBox(Answer, _digits_over_box.DigitsOverBox, shows=("agrees", "parts")):
    """How many digits of a program's value are right over a box, at least: `check(…, over=…)`."""
