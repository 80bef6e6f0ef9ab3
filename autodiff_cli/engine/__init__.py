"""The engine: the table of operations, numbers, graphs, their run, algebra; and `Value`, by the
tutorials' name.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graphs.value import Value

__all__ = ["Value"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .graphs.value import Value

    return Value
