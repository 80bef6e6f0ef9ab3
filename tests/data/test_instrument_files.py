"""Tests of files of instruments: each is read as a person reads it, or refused with the option that
reads it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autodiff_cli.data import readers, sources, text_dialects
from autodiff_cli.data.text_dialects import ForcedDialect
from autodiff_cli.errors import ExpressionError
from instrument_files import FILES, InstrumentFile


def options(text: str) -> ForcedDialect:
    words = text.split()
    values: dict[str, object] = {
        word[2:]: value for word, value in zip(words[::2], words[1::2], strict=True)
    }
    if "skip" in values:
        values["skip"] = int(str(values["skip"]))
    if "separator" in values:
        values["separator"] = text_dialects.SPELLED[str(values["separator"])]
    return ForcedDialect()._replace(**values)


def columns(path: Path, forced: ForcedDialect) -> tuple[list[list[float | None]], str]:
    """Return the numbers of a file by column, None where there is none, and what is said of it."""
    (source,) = sources.sources([str(path)], forced)
    with readers.reader(source) as file:
        read = [[number(file, row, name) for name in file.names] for row in file.rows()]
        return [[*column] for column in zip(*read, strict=True)], ", ".join(file.summary)


def number(file: readers.Reader, row: text_dialects.TextRow, name: str) -> float | None:
    numbers, fault = file.numbers_in(row, [name])
    return None if fault is not None else numbers[name]


def assert_right(read: list[list[float | None]], file: InstrumentFile) -> None:
    for place, right in file.columns.items():
        column = read[place - 1 if place > 0 else place]
        # a row of words below the header, and lines below the table, are errors
        begin = 1 if column[0] is None and right[0] is not None else 0
        end = begin + len(right)
        assert column[begin:end] == [
            None if x is None else pytest.approx(x, rel=1e-12) for x in right
        ]
        assert not any(column[end:])


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_files_of_instruments_are_read_or_refused_with_the_option(
    tmp_path: Path, file: InstrumentFile
) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(file.text.encode(file.encoding))
    if file.option is None:
        read, said = columns(path, ForcedDialect())
        assert file.said in said
        assert_right(read, file)
        return
    with pytest.raises(ExpressionError) as refused:
        columns(path, ForcedDialect())
    assert file.option in str(refused.value.hint)
    if file.option:
        assert_right(columns(path, options(file.option))[0], file)
