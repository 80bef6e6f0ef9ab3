"""What an error of strict reading says of lenient reading."""

from collections.abc import Collection

from ..errors import ExpressionError
from ..language.diagnostics.leniency import add_advice
from ..questions.equations import read_equations


def advise_leniency(error: ExpressionError, text: str, point: Collection[str]) -> None:
    """Add to the hint of an error of strict reading that `--lenient` takes the text, where it
    does.
    """
    add_advice(error, text, lambda corrected: read_equations(corrected, [*point], units=True))
