"""The Python function of `descend`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ...api.api_answers import Plotted, as_numbers
from ...api.api_arguments import PythonCall
from ...api.calls import answers
from ...api.tracebacks import explain
from ...streams.progress import Progress
from . import descend as _descend


class Descent(Plotted, _descend.DescentRun, shows=("best", "ending")):
    """A run of gradient descent that is over: its `rows`, the `best` of them, and the `ending`.

    Its picture, by `save`, is the values over the steps.
    """

    rows: tuple[_descend.DescentStep, ...] = ()

    @property
    def path(self) -> tuple[_descend.DescentStep, ...]:
        """The steps, as `Minimum` has them: `rows`. As an array a descent is their points, a row
        each.
        """
        return self.rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return as_numbers([row.coordinates for row in self.rows], dtype)

    def __iter__(self) -> Iterator[_descend.DescentStep]:
        return iter(self.rows)


@answers("descend")
def descend(call: PythonCall) -> Descent:
    """Run gradient descent from a point: all its `rows`, the start included, the `best`, and the
    `ending`.

    Over `data` as `gradient` takes them; with a `batch` of their rows in each step there is a row
    an epoch.

    >>> run = descend("(x - 3)**2", {"x": 0}, rate=0.25, steps=3)
    >>> [(row.step, row.value, row.point["x"]) for row in run]
    [(0, 9.0, 0.0), (1, 2.25, 1.5), (2, 0.5625, 2.25), (3, 0.140625, 2.625)]
    """
    run = call.ask()
    with closing(Progress("steps")) as progress:
        rows = tuple(_watched(run, progress)) if progress.in_notebook else tuple(run)
    if run.ending is not None and run.ending.error is not None:
        explain(run.ending.error, call.text)
    over = object.__new__(Descent)
    over.__dict__.update(run.__dict__, rows=rows)
    return over


def _watched(run: _descend.DescentRun, progress: Progress) -> Iterator[_descend.DescentStep]:
    for row in run:
        progress.step(row.step)
        yield row
