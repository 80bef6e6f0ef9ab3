"""The answer of `gradient` over a box."""

from __future__ import annotations

from ...api.api_answers import Answer
from . import ranges as _ranges


class GradientRanges(Answer, _ranges.GradientRanges, shows=("box", "ranges")):
    """Proven ranges of a program and its partial derivatives over a box: `gradient(…, over=…, certified=True)`."""
