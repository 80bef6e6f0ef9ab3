"""`Value` by the name that the tutorials' engine has: `from autodiff_cli.engine import Value`."""

from .graphs.value import Value

__all__ = ["Value"]
