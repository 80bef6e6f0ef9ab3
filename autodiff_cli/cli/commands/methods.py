"""The methods of commands that do more than to ask their question, and have no module of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...streams.requests import Request
from ..option_values import Method, OptionValues


def export(call: OptionValues) -> Method:
    """Return the method that writes code in the language that is asked for."""
    language, name, dialect = call.language, call.name or "f", call.dialect
    keep = [name.strip() for option in call.values.get("keep") or () for name in option.split(",")]
    points = {"table": call.values.get("table"), "keep": keep}
    return lambda request: call.question(request.text, language, name=name, wrt=request.wrt, dialect=dialect, **points)


def plot(call: OptionValues) -> Method:
    """Return the method that plots a program, with the columns of data that it names."""
    method = call.bind_question()

    def drawn(request: Request) -> Any:
        known_names, over = [*request.point], request.wrt or [*call.ranges]

        def wanted(columns: Sequence[str]) -> Collection[str]:
            from ...capabilities.plot.measurements import columns_drawn

            options = (call.response, call.sigma, call.unknowns, call.between)
            return columns_drawn(request.text, columns, known_names, over, *options)[1]

        data = None if call.data is None else call.read_columns(call.data, wanted, known_names)
        return method(request, data=data)

    return drawn
