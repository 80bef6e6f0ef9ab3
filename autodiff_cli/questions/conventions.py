"""What a typed line may mean by another convention than the language's: logarithms to base ten,
angles in degrees, dates.
"""

from __future__ import annotations

from ..errors import Diagnostic, usage_error
from ..language.tokens import LazyPattern

MAX_LENGTH = 500  # a longer text is not typed by hand

_DATE = LazyPattern(
    r"(?<![\w.])((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\w.-])"
    r"|\A\s*(\d{1,2})/(\d{1,2})/((?:19|20)\d\d)\s*\Z"
)
_LOG = r"(?<![\w\\.])log"
# A level in decibels, a pH, and the logarithm of numbers.
_TEN_LOG = LazyPattern(
    rf"\b[12]0\s*[*·×]?\s*{_LOG}\s*[(\[]|\bp[A-Z]\w*\s*=\s*[-−]\s*{_LOG}\b"
    rf"|{_LOG}\s*(?:([(\[])\s*)?(\d[\d.]*(?:e[-+]?\d+|\s*[*×·/^]\s*[-−\d.]+|[⁺⁻⁰¹²³⁴-⁹]+)*)\s*+(?(1)[)\]]|(?![\w.(,*/^×·]))"
)
# A quotient of logarithms is the same in all bases.
_QUOTIENT = LazyPattern(rf"{_LOG}\s*\([^()]*\)\s*[/÷]\s*{_LOG}\b")
_TRIGONOMETRIC = r"(?<![\w\\.])(sin|cos|tan|sec|csc|cot)"
_OF_NUMBER = LazyPattern(
    rf"{_TRIGONOMETRIC}\s*(?:(\()\s*)?([-+−]?\d{{2,3}})\s*+(?(2)\)|(?![\w.(,*/^°×·]))"
)
_OF_ANGLE = LazyPattern(rf"{_TRIGONOMETRIC}\s*\(?\s*(theta|phi|alpha|beta|gamma|angle|[θφϕαβγ])\b")
_ANGLE = LazyPattern(r"(?<![\w.])([^\W\d]\w*)\s*=\s*(\d{2,3})\s*+(?=[,;]|and\b|\Z)")
_SMALLEST, _LARGEST, _STEP = 15, 720, 5  # whole numbers of degrees that people ask for


# A power of a matrix, the product of two lists, and the length of a vector, which are not these.
_OF_ENTRIES = LazyPattern(r"\]\s*\]\s*(?:\^|\*\*|[²³⁻])|\]\s*[*·⋅×]\s*\[|\|\s*\[[^\[\]|]*\]\s*\|")
# A complex number, or a power of the imaginary unit.
_IMAGINARY = LazyPattern(
    r"\d\s*[-+−]\s*\d*\.?\d*\s*\*?\s*[ij]\b(?!\s*[=^*/(])|\A\s*i\s*(?:\^\s*2|²)\s*\Z"
    r"|(?:\be\s*(?:\^|\*\*)\s*[({]|\bexp\s*\()\s*[-−]?\s*i\s*\*?\s*(?:pi|π|theta|θ|x|w|ω|t)"
)


def check_no_date(text: str) -> None:
    """Raise a usage error for a date, which would be a difference or a quotient: `2024-01-15`."""
    date = _DATE.search(text) if len(text) <= MAX_LENGTH else None
    if date is None:
        return
    if date[1]:
        numbers = f"{date[1]} - {int(date[2])} - {int(date[3])}"
    else:
        numbers = f"({date[4]}/{date[5]})/{date[6]}"
    raise usage_error(
        f"`{date[0].strip()}` is a date to most who read it, and there are no dates here",
        f"as numbers it is `{numbers}`; a time between two is a number with a unit, `14 d`",
    )


def unsaid_convention(text: str) -> Diagnostic | None:
    """Return a note on what the answer to a line takes a logarithm or an angle for, where many mean
    another; None for another line.

    >>> unsaid_convention("log(1000)").message, unsaid_convention("sin 30").hint
    ('`log` is the natural logarithm', '30 degrees are `30°`')
    >>> unsaid_convention("log(8)/log(2)"), unsaid_convention("log(x) + sin(2)"), unsaid_convention("sin(30°)")
    (None, None, None)
    """
    if len(text) > MAX_LENGTH:
        return None
    if _TEN_LOG.search(text) and not _QUOTIENT.search(text):
        return Diagnostic(
            "note", "`log` is the natural logarithm", hint="to base ten it is `log10`"
        )
    if _OF_ENTRIES.search(text):
        hint = "a product of matrices is `A @ B`, of vectors `dot(a, b)`, a length `norm(a)`"
        return Diagnostic("note", "operations on lists are those of their entries", hint=hint)
    if _IMAGINARY.search(text):
        return Diagnostic("note", "numbers are real here, and `i` and `j` are names")
    degrees = _degrees_in(text)
    if degrees is None:
        return None
    return Diagnostic("note", "angles are in radians", hint=f"{degrees} degrees are `{degrees}°`")


def _degrees_in(text: str) -> str | None:
    """Return a number that is an angle in radians, and seems to be meant in degrees."""
    numbers = [found[3] for found in _OF_NUMBER.finditer(text)]
    angles = {found[2] for found in _OF_ANGLE.finditer(text)}
    numbers += [found[2] for found in _ANGLE.finditer(text) if found[1] in angles]
    for number in numbers:
        size = abs(int(number.replace("−", "-")))
        if _SMALLEST <= size <= _LARGEST and size % _STEP == 0:
            return str(size)
    return None
