"""What all answers of the Python functions have: they print as their command does, and display
themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ..capability import resolve
from ..errors import ExpressionError
from ..record import Record
from ..show import html as html_of
from ..show import latex as latex_of
from ..show import record as record_of
from ..show import svg as svg_of
from ..show import text as text_of
from ..show import view_of, write

if TYPE_CHECKING:
    from ..language.diagnostics.leniency import AsRead


class Answer(Record):
    """The base class of answers: they print as their command does, and display themselves in a
    notebook.

    A notebook shows pictures as SVG, formulas in LaTeX, and all else as HTML; numbers with a
    gradient or a matrix have the formula as well.
    """

    _shows: ClassVar[tuple[str, ...]] = ()

    _choices: ClassVar[Mapping[str, Any]] = {}
    """How it is shown: what the options `digits`, `depth` and so on have chosen."""

    _typed: ClassVar[str | None] = None
    """The program as it was typed, if a function was asked."""

    _reading: ClassVar[AsRead | None] = None
    """The program as it was corrected; None if it was read as typed."""

    _values: ClassVar[tuple[str, ...]] = ()
    """Values of the point as they were corrected, if not read as typed."""

    def __init_subclass__(cls, shows: tuple[str, ...] = (), **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._shows = shows

    @property
    def note(self) -> str | None:
        """How a program and its point were read, if not as typed: `read as: log(x)`."""
        from ..show.subject import Subject

        return cast(
            str | None,
            Subject(None, reading=self._reading, values=self._values).fields().get("note"),
        )

    def __str__(self) -> str:
        # what is printed has to be in the encoding of the standard output, which may have no lines
        # of tables
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        return text_of(self, encoding=encoding, **self._choices).removesuffix("\n")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_short(getattr(self, name))}' for name in self._shows)})"

    def to_text(self, format: str = "table", *, document: bool = False) -> str:
        """Return the answer in a format of its command; LaTeX as a `document` if asked."""
        return text_of(self, format, document=document, **self._choices)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON record of the command, without `id` and `line`."""
        text = getattr(self, "text", None) if self._typed is None else self._typed
        record = record_of(self, **self._choices)
        if self._reading is not None:
            record = self._reading.relocate_record(record)
        note = {} if self.note is None else {"note": self.note}
        return ({} if text is None else {"expr": text}) | note | record

    def _repr_html_(self) -> str | None:
        # a notebook would prefer HTML to a drawing
        return None if self._repr_svg_() is not None else html_of(self, **self._choices)

    def _repr_latex_(self) -> str | None:
        text = latex_of(self, **self._choices)
        if text is None:
            return None
        # all notebooks know dollars; some do not know the delimiters of a document
        formula = text.removeprefix(r"\[").removesuffix(r"\]").replace("{align*}", "{aligned}")
        return f"$${formula}$$"

    def _repr_svg_(self) -> str | None:
        return None


MAX_LISTED = 12


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [
            f"{name!r}: {_short(element)}" for name, element in islice(value.items(), MAX_LISTED)
        ]
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        parts = [_short(element) for element in value[:MAX_LISTED]]
    else:
        return repr(value)
    left = (
        ", …"
        if len(value) > MAX_LISTED
        else ","
        if isinstance(value, tuple) and len(value) == 1
        else ""
    )
    begin, end = "{}" if isinstance(value, Mapping) else "()" if isinstance(value, tuple) else "[]"
    return f"{begin}{', '.join(parts)}{left}{end}"


def as_numbers(numbers: Sequence[Any], dtype: Any = None) -> Any:
    """Return the numbers of an answer, perhaps in rows, as an array of NumPy; exact ones as the
    nearest doubles.
    """
    import numpy as np

    # a figure, an exact number, is a tuple too
    rows = [
        float(each) if hasattr(each, "__float__") else [float(x) for x in each] for each in numbers
    ]
    return np.array(rows, dtype=dtype or float)


class Drawing(Answer):
    """An answer that is a picture."""

    @property
    def svg(self) -> str:
        """The picture as an SVG document. Raises `ExpressionError` if it is too large."""
        text = svg_of(self, **self._choices)
        assert text is not None
        return text

    def save(self, path: str, *, force: bool = False) -> None:
        """Write the picture to a file, whole or not at all, in the format that its name says.

        Raises `ExpressionError`: `usage` for other names, `io` for a file that is there, without
        `force`.
        """
        from ..streams.files import Output
        from .tracebacks import explained

        with explained(None):
            out = Output(str(path), force=force)
            write(self, out.stream, self._format(str(path)), **self._choices)
            out.finish(0)

    def _format(self, path: str) -> str:
        drawn_as = resolve("plot.plot_view.drawn_as")
        return str(drawn_as(None, path))

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg
        except ExpressionError:
            return None


class Plotted(Drawing):
    """An answer in numbers that has a picture too: a notebook shows the numbers."""

    def _format(self, path: str) -> str:
        from ..show.formats import format_of

        view = view_of(self)
        return format_of(None, path, view.formats, view.usual)

    def _repr_svg_(self) -> str | None:
        return None


def as_answer(answer: Any, **choices: Any) -> Any:
    """Return a copy of an answer that is shown as `choices` say."""
    result = object.__new__(type(answer))
    result.__dict__.update(answer.__dict__)
    result.__dict__["_choices"] = {
        name: choice for name, choice in choices.items() if choice is not None
    }
    return result
