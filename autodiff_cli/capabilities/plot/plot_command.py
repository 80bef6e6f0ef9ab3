"""How `plot` runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...cli.commands import answer_at
from ...cli.option_values import Method, OptionValues
from ...cli.runner import Command
from ...show.picture_look import read_characters, read_size
from ...show.schema import PICTURES
from ...streams.requests import Request
from .plot_view import drawn_as


def run(call: Command) -> int:
    """Plot a function with its derivative and tangent, or contours."""
    chosen = drawn_as(call.format, call.output)
    call.check_picture(chosen, "plot")
    if chosen == "table":
        read_characters(call.size or "")
    elif chosen in PICTURES:
        read_size(call.size or "")
    return answer_at(call, call.question_method(), chosen=chosen)


def method_of(call: OptionValues) -> Method:
    """Return the method that plots a program, with the columns of data that it names."""
    method = call.bind_question()

    def drawn(request: Request) -> Any:
        known_names, over = [*request.point], request.wrt or [*call.ranges]

        def wanted(columns: Sequence[str]) -> Collection[str]:
            from .measurements import columns_drawn  # data need it

            options = (call.response, call.sigma, call.unknowns, call.between)
            return columns_drawn(request.text, columns, known_names, over, *options)[1]

        data = None if call.data is None else call.read_columns(call.data, wanted, known_names)
        return method(request, data=data)

    return drawn
