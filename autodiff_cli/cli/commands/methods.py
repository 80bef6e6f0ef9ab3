"""What a command asks: its question as a function of requests, for the command line and for Python."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...streams.requests import Request
from ..option_values import Method, OptionValues
from . import OWN_MODULES, module_of


def method_of(call: OptionValues) -> Method:
    """Return a command's question as a function of requests, with the arguments of the call."""
    if call.command in OWN_MODULES:
        return module_of(call.command).method_of(call)  # type: ignore[no-any-return]
    special = {"export": _export, "plot": _plot}.get(call.command)
    return call.bind_question() if special is None else special(call)


def _export(call: OptionValues) -> Method:
    language, name, dialect = call.language, call.name or "f", call.dialect
    return lambda request: call.question(request.text, language, name=name, wrt=request.wrt, dialect=dialect)


def _plot(call: OptionValues) -> Method:
    method = call.bind_question()

    def drawn(request: Request) -> Any:
        known_names, over = [*request.point], request.wrt or [*call.ranges]

        def wanted(columns: Sequence[str]) -> Collection[str]:
            from ...curves.measurements import columns_drawn

            options = (call.response, call.sigma, call.unknowns, call.between)
            return columns_drawn(request.text, columns, known_names, over, *options)[1]

        data = None if call.data is None else call.read_columns(call.data, wanted, known_names)
        return method(request, data=data)

    return drawn
