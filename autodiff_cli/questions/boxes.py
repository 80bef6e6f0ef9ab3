"""A box of variables, `--over x=0.9:1.1,y=0:1`: what is wrong with one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..errors import point_error, quote, usage_error
from .parse_point import Range


def check_ends(box: Mapping[str, Range], valued: Collection[str]) -> None:
    """Raise an error unless each variable has two ends in order, and no value."""
    for name, (low, high) in box.items():
        if low is None or high is None:
            raise usage_error(f"the range of `{name}` needs two ends", f"`--over {name}=0:1`")
        if not low < high:
            wrong = "are one number" if low == high else "are in the wrong order"
            raise usage_error(
                f"the ends of `{name}` {wrong}", f"a value that is fixed goes to `--at {name}=…`"
            )
        if name in valued:
            raise point_error(f"`{name}` has both a value and a range", "leave one of them out")


def check_variables(box: Collection[str], used: Collection[str]) -> None:
    """Raise an error unless the program has the variables of a box."""
    unknown = [name for name in box if name not in used]
    if unknown:
        hint = f"its variables: {quote([*used])}" if used else "it has no variables"
        raise usage_error(f"`{unknown[0]}` is not a variable of this program", hint)
