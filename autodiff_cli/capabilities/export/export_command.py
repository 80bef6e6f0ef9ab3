"""What `export` asks."""

from __future__ import annotations

from ...cli.option_values import Method, OptionValues


def method_of(call: OptionValues) -> Method:
    """Return the method that writes code in the language that is asked for."""
    language, name, dialect = call.language, call.name or "f", call.dialect
    keep = [name.strip() for option in call.values.get("keep") or () for name in option.split(",")]
    points = {"table": call.values.get("table"), "keep": keep}
    return lambda request: call.question(request.text, language, name=name, wrt=request.wrt, dialect=dialect, **points)
