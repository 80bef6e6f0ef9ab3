"""What an error of strict reading says of lenient reading."""

from collections.abc import Collection

from ..diagnostics.leniency import add_advice
from ..equations.equations import read_equations
from ..errors import ExpressionError


def advise_leniency(error: ExpressionError, text: str, point: Collection[str]) -> None:
    """Add to the hint of an error of strict reading that `--lenient` takes the text, where it does."""
    add_advice(error, text, lambda corrected: read_equations(corrected, [*point], units=True))
