"""What capabilities define, by name: what stands below them imports none, so that each can be taken
out.
"""

from importlib import import_module
from typing import Any


def resolve(path: str) -> Any:
    """Return what a module of a capability defines, by a path such as
    `optimize.fit_view.FitView`.
    """
    module, _, name = path.rpartition(".")
    return getattr(import_module(f".capabilities.{module}", __package__), name)
