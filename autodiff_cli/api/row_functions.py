"""Programs as functions of the rows of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..data import rows as _rows
from ..streams.requests import names
from .api_arguments import At, Names, point_of
from .calls import converted


def rows(
    text: str,
    *,
    at: At = None,
    wrt: Names = None,
    keep: Sequence[str] | str | bool = (),
    columns: Mapping[str, str] | None = None,
    backend: str | None = None,
    question: str = "grad",
    in_: Names = None,
) -> _rows.Rows:
    """Return the program as a function from a `pyarrow.RecordBatch` (or table) to another, the
    answers to its rows.

    That has the columns `value`, `d_x` for each variable, `error`, and those of the data to `keep`
    (True: all); `.schema(given)` says so beforehand. `columns` says which column is which variable
    where names differ, `at` gives what is the same for all rows, and `question` is `grad`,
    `jacobian` or `hessian`. The function travels as text, by `pickle`, and is compiled once a
    process, so that any engine can call it. Needs the extra `data`.

    Units in the names of columns count as in those of files: `F*L` of `F [kN]` and `L [mm]` has the
    column `value [kN·mm]`, or with `in_="J"` `value [J]`. With `in_="none"` only the numbers count.

    >>> import pyarrow as pa
    >>> grown = rows("p*exp(r*t)", at={"r": 0.05}, keep="id")
    >>> batch = pa.record_batch({"id": ["a", "b"], "p": [100.0, 50.0], "t": [0, None]})
    >>> grown(batch).to_pydict()["error"]
    [None, 'point: column `t`: it is empty']
    >>> grown.schema(batch.schema).names
    ['value', 'd_p', 'd_r', 'd_t', 'error', 'id']
    """
    values = {
        "at": at,
        "wrt": wrt,
        "keep": keep,
        "columns": columns,
        "backend": backend,
        "in_": in_,
    }
    with converted(rows, "grad", text=text, question=question, **values) as given:
        return _rows.rows(
            given.text,
            at=point_of(given.at),
            wrt=names([*given.wrt] if given.wrt else None),
            keep=given.keep or (),
            columns=given.columns,
            backend=given.backend,
            question=given.question,
            units=given.in_ and ",".join(given.in_),
        )
