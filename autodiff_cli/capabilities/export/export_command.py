"""What `export` asks."""

from __future__ import annotations

from typing import Any

from ...cli.option_values import Method, OptionValues
from ...cli.runner import Command
from ...streams.requests import Request


def method_of(call: OptionValues) -> Method:
    """Return the method that writes code in the language that is asked for."""
    language, name, dialect = call.language, call.name or "f", call.dialect
    keep = [name.strip() for option in call.values.get("keep") or () for name in option.split(",")]
    points = {"table": call.values.get("table"), "keep": keep, "where": call.values.get("where")}
    if isinstance(call, Command) and call.choose_format() == "xlsx":
        call.check_picture("xlsx", name, ("xlsx",))

    def method(request: Request) -> Any:
        at = request.point or None
        return call.question(
            request.text, language, name=name, wrt=request.wrt, dialect=dialect, at=at, **points
        )

    return method
