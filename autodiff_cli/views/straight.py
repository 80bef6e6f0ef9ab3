"""The record of a straight gradient: the line that the JSON encoder makes of it, put together by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.encoder import encode_basestring

from ..questions.straight import StraightGradient


def record(
    text: str, line: int, ident: object, answer: StraightGradient, kept: Mapping[str, object] | None = None
) -> str:
    """One line of JSON, for an answer without warnings to a program in plain ASCII."""
    value, gradient, point, constants, _, _ = answer
    identity = "null" if ident is None else json.dumps(ident, ensure_ascii=False, allow_nan=False)
    keep = "" if kept is None else f'"keep": {json.dumps(kept, ensure_ascii=False, allow_nan=False)}, '
    return (
        f'{{"id": {identity}, "line": {line}, "expr": {encode_basestring(text)}, {keep}"value": {value!r}, '
        f'"gradient": {_numbers(gradient)}, "point": {_numbers(point)}, "constants": {_numbers(constants)}, '
        '"warnings": []}\n'
    )


def _numbers(named: dict[str, float]) -> str:
    """An object of finite numbers; a name in ASCII needs no escapes."""
    return "{" + ", ".join([f'"{name}": {number!r}' for name, number in named.items()]) + "}"
