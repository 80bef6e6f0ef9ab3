"""Answers in parts: the rows of files are divided, each part is written as a file of its own, a manifest is the end.

A part is made by whoever comes to it, here or on a cluster, as often as that may be: what it is called follows from
what is in it, and nothing is seen of it until it is whole. `_unfinished` in the folder holds what is known of the parts
that are there, so that a run which was ended can be taken up; the manifest takes its place.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..batched.columns_io import Kinks
from ..errors import EXIT_CODES, ExpressionError
from ..streams import filesystems
from ..streams.files import begun, write
from ..streams.interruption import Interruption
from ..streams.progress import Progress
from ..views.error import report, write_stderr
from ..views.formats import COLUMNAR
from .batches import Arrow as ArrowFile
from .batches import Cut, Head, Needs, Parquet, Reader, Span, Text, Wanted, reader
from .pipeline import Tally, alike, check_alike, needs
from .rows import Rows, version
from .sinks import Sink, sink
from .sources import TEXT, Source, parallel_map

if TYPE_CHECKING:
    import pyarrow as pa

    from .rows import Bound

MANIFEST = "_manifest.json"
UNFINISHED = "_unfinished"
"""Their names begin with an underscore, so that nobody reads them as data."""

PLAN = "plan.json"

SIZE = 64
UNIT = 1_000_000
"""So many millions of bytes of data are in a part, if nothing else is asked for."""

FORMATS = (*COLUMNAR, *TEXT)

FAILURES = 3
"""After so many parts that could not be made no further ones are begun."""


class Piece(NamedTuple):
    """Some rows of a file, or all of them."""

    source: Source
    span: Span | None


class Part(NamedTuple):
    """Rows that become one file: pieces of one file or of several, one after the other."""

    number: int
    pieces: tuple[Piece, ...]


class Job(NamedTuple):
    """What every part needs to know."""

    rows: Rows
    schema: pa.Schema
    """What is read of each file."""
    wanted: Wanted
    several: bool
    folder: str
    """Where the parts go; it ends in `/`."""
    format: str
    digits: int | None
    spreadsheet: bool
    fail: bool
    """Whether a row without an answer is an error of the whole."""

    def name(self, part: Part) -> str:
        """What a part is called: the same for the same rows of the same files, and for no others."""
        told = json.dumps([(piece.source.path, piece.span) for piece in part.pieces])
        return f"part-{part.number:05d}-{hashlib.sha256(told.encode()).hexdigest()[:8]}.{self.format}"


class Made(NamedTuple):
    """What is known of a part that is written."""

    name: str
    rows: int
    bytes: int
    errors: dict[str, int]
    at_kinks: int
    conventions: dict[str, int]
    """How many rows are at a kink, and by how many of them which convention was taken."""
    ends: list[list[int] | None]
    """Where each piece of text that was cut began, and where it ended."""

    @property
    def code(self) -> int:
        """The exit code that its errors make."""
        return max((EXIT_CODES.get(reason.partition(":")[0], 1) for reason in self.errors), default=0)


Results = Generator[tuple[Part, "Made | Exception"], None, None]


class Engine(Protocol):
    """What makes parts."""

    def made(self, job: Job, parts: Sequence[Part], stop: Interruption) -> Results:
        """The parts as they are made, in any order, until all are, or the run is to stop."""

    def close(self) -> None:
        """Let go of what it holds."""


# ---- one part -----------------------------------------------------------------------------------------------------
def make(job: Job, part: Part) -> Made:
    """Write a part. Raises `ExpressionError`; then nothing of it is there."""
    name = job.name(part)
    bound = job.rows.bound(job.schema)
    tally = Tally()
    ends: list[list[int] | None] = []
    file = begun(job.folder + name, force=True)
    to: Sink | None = None
    try:
        to = sink(file.file, bound.schema, job.format, digits=job.digits, spreadsheet=job.spreadsheet)
        for source, span in part.pieces:
            rows = reader(source, job.wanted.again("the first file", source.name), job.several, span=span)
            with closing(rows):
                for chunk in alike(rows, job.schema, "the first file"):
                    batch, errors, _, kinks = bound.answer(chunk.batch, chunk.where, chunk.faults)
                    if errors and job.fail:
                        raise _first(errors, chunk.where, bound.known.program.text)
                    to.write(batch)
                    tally.rows += batch.num_rows
                    tally.kinks.add(kinks)
                    for error in errors.values():
                        tally.note(error)
                ends.append([rows.start, rows.passed] if isinstance(rows, Cut) else None)
        to.close()
        # what pyarrow writes by itself is behind what is told
        size = file.file.seek(0, os.SEEK_END)
        file.finish()
    except OSError as fault:
        raise file.unwritten(fault) from None
    finally:
        if to is not None:
            to.drop()
        file.drop()
    at = tally.kinks
    made = Made(name, tally.rows, size, dict(tally.reasons), at.rows, dict(at.conventions), ends)
    write(_note(job.folder, name), json.dumps(made._asdict()).encode(), force=True)
    return made


def _first(errors: Mapping[int, ExpressionError], where: Any, text: str) -> ExpressionError:
    """The first of the errors, with its place."""
    row = min(errors)
    told = errors[row].diagnostic
    error = ExpressionError(*told._replace(message=where(row) + told.message))
    error.text = errors[row].text or text
    return error


def _note(folder: str, name: str) -> str:
    """Where it is noted what is known of a part."""
    return f"{folder}{UNFINISHED}/{name}.json"


class Here:
    """This process makes the parts, one after the other."""

    def made(self, job: Job, parts: Sequence[Part], stop: Interruption) -> Results:
        """The parts as they are made, until all are, or the run is to stop."""
        for part in parts:
            if stop.asked:
                return
            try:
                yield part, make(job, part)
            except ExpressionError as error:
                yield part, error

    def close(self) -> None:
        """Nothing is held."""


def absolute(path: str) -> str:
    """A path that is the same in other processes; a folder goes on ending in `/`."""
    return path if filesystems.is_url(path) else os.path.abspath(path) + "/" * path.endswith("/")


# ---- how rows are divided -----------------------------------------------------------------------------------------
class Divided(NamedTuple):
    """The rows of all files, in parts."""

    parts: list[Part]
    schema: pa.Schema
    wanted: Wanted
    several: bool
    rows: int | None
    """How many there are, where that is known beforehand."""


Weighed = list[tuple[Span | None, int]]
"""Pieces of a file, and how large they are."""


class _File(NamedTuple):
    spans: Weighed
    rows: int | None
    schema: pa.Schema
    wanted: Wanted


def divided(sources: Sequence[Source], rows: Rows, size: int) -> Divided:
    """The rows of files in parts of about so many bytes. Raises `ExpressionError`."""
    several = len(sources) > 1
    first = sources[0]

    def looked_into(source: Source, wanted: Needs) -> Reader:
        begin = reader if source.columnar else Head
        return begin(source, wanted, several, None)

    with closing(looked_into(first, needs(rows))) as found:
        files = [_File(*_spans(found, size), found.schema, found.wanted)]

    def other(source: Source) -> _File:
        with closing(looked_into(source, files[0].wanted.again(first.name, source.name))) as file:
            check_alike(file, files[0].schema, first.name)
            return _File(*_spans(file, size), file.schema, file.wanted)

    files += parallel_map(other, sources[1:], lambda source: source.path)
    parts: list[Part] = []
    pieces: list[Piece] = []
    held = 0
    for source, file in zip(sources, files, strict=True):
        for span, weight in file.spans:
            if pieces and held + weight > size:
                parts.append(Part(len(parts), tuple(pieces)))
                pieces, held = [], 0
            pieces.append(Piece(source._replace(path=absolute(source.path)), span))
            held += weight
    parts.append(Part(len(parts), tuple(pieces)))
    counts = [file.rows for file in files]
    return Divided(parts, *files[0][2:], several, None if None in counts else sum(count or 0 for count in counts))


def _spans(file: Reader, size: int) -> tuple[Weighed, int | None]:
    """The pieces of a file, and how many rows it has, where that is known."""
    if isinstance(file, ArrowFile):
        return _of_batches(file)
    if isinstance(file, Parquet):
        return _of_groups(file)
    assert isinstance(file, Text)
    whole = file.size
    if file.source.packed or whole <= size:
        # what is packed can only be read from its beginning
        return [(None, whole)], None
    header = tuple(file.names), file.separator
    edges = [file.passed, *range(file.passed + size, whole, size), whole]
    spans: Weighed = [
        (Span(start, stop, exact=start == file.passed, header=header), stop - start) for start, stop in pairwise(edges)
    ]
    return spans, None


def _of_groups(file: Parquet) -> tuple[Weighed, int | None]:
    told = file.file.metadata
    spans: Weighed = []
    first = 1
    for group in range(told.num_row_groups):
        about = told.row_group(group)
        columns = [about.column(k) for k in range(about.num_columns)]
        read = [each for each in columns if each.path_in_schema.partition(".")[0] in file.columns]
        spans.append((Span(group, group + 1, first), sum(each.total_uncompressed_size for each in read)))
        first += about.num_rows
    return spans or [(None, 0)], told.num_rows


def _of_batches(file: ArrowFile) -> tuple[Weighed, int | None]:
    if file.stream:
        return [(None, file.size)], None
    counts = file.lengths()
    size = file.size // max(1, len(counts))
    firsts = [1]
    for count in counts:
        firsts.append(firsts[-1] + count)
    spans: Weighed = [(Span(k, k + 1, firsts[k]), size) for k in range(len(counts))]
    return spans or [(None, 0)], sum(counts)


def plan(job: Job, sources: Sequence[Source], bound: Bound, size: int) -> dict[str, Any]:
    """What makes a run what it is: another one cannot take up its parts. Raises `ExpressionError`."""
    paths = [absolute(source.path) for source in sources]
    found = parallel_map(lambda path: filesystems.entries([path])[0], paths)
    rows = job.rows
    return {
        "formula": bound.known.program.text, "version": version(), "question": rows.question, "at": rows.at,
        "wrt": rows.wrt, "keep": rows.keep, "columns": rows.columns, "backend": rows.backend, "format": job.format,
        "digits": job.digits, "spreadsheet": job.spreadsheet, "part_size": size,
        "inputs": [[each.path, each.size, each.changed] for each in found],
    }  # fmt: skip


# ---- a folder of parts --------------------------------------------------------------------------------------------
class Folder:
    """Where the parts of a run go, and what is there of it already."""

    def __init__(self, path: str, plan: Mapping[str, Any], *, force: bool, resume: bool) -> None:
        """Raises `ExpressionError` where the folder holds something else."""
        self.path, self.plan = path, plan
        self.done: dict[str, Made] = {}
        there = {_base(each.path): each for each in filesystems.listed(path)}
        names = {name: each for name, each in there.items() if not name.startswith(".") and name != UNFINISHED}
        before = self._read(f"{path}{UNFINISHED}/{PLAN}")
        whole = self._read(path + MANIFEST)
        if resume:
            self._same(before if before is not None else whole)
            self.done = self._noted(names, whole if before is None else None)
        elif before is not None or whole is not None or any(_is_part(name) for name in names):
            if not force:
                what = "an unfinished run" if before is not None else "the answers of another run"
                hint = "take it up with `--resume`, " if before is not None else "give another folder, "
                raise ExpressionError(
                    "io", f"`{path}` holds {what}, and is kept", hint=hint + "or write over it with `--force`"
                )
            # what there was is gone before anything new is there
            filesystems.remove([path + MANIFEST])
            filesystems.remove_folder(path + UNFINISHED)
            filesystems.remove([each.path for name, each in names.items() if _is_part(name)])
        elif names:
            raise ExpressionError(
                "io", f"`{path}` holds other files, such as `{min(names)}`",
                hint="give a folder that is empty, or not there",
            )  # fmt: skip
        filesystems.make_folder(f"{path}{UNFINISHED}")
        write(f"{path}{UNFINISHED}/{PLAN}", json.dumps(plan).encode(), force=True)

    @staticmethod
    def _read(path: str) -> dict[str, Any] | None:
        if not filesystems.is_there(path):
            return None
        with filesystems.opened(path) as file, suppress(ValueError):
            found: dict[str, Any] = json.loads(file.read())
            return found
        return None

    def _same(self, before: Mapping[str, Any] | None) -> None:
        """Raise a usage error where the run to be taken up is another one."""
        if before is None:
            hint = "leave `--resume` out"
            raise ExpressionError("usage", f"`{self.path}` holds no run to take up", hint=hint)
        for key, value in json.loads(json.dumps(self.plan)).items():
            theirs = before.get(key)
            if theirs == value:
                continue
            name = f"`--{key.replace('_', '-')}`" if key in OPTIONS else key
            if key == "inputs":
                changed = _changed(theirs or [], value)
                raise ExpressionError(
                    "usage", f"the run in `{self.path}` cannot be taken up: {changed}",
                    hint="begin anew with `--force`, or in another folder",
                )  # fmt: skip
            raise ExpressionError(
                "usage", f"the run in `{self.path}` cannot be taken up: its {name} was "
                f"{_shown(theirs)}, and is {_shown(value)}",
                hint="ask for the same, begin anew with `--force`, or give another folder",
            )  # fmt: skip

    def _noted(self, names: Mapping[str, filesystems.Entry], whole: Mapping[str, Any] | None) -> dict[str, Made]:
        """The parts that are whole."""
        if whole is not None:
            noted = [
                Made(
                    ends=[piece.get("bytes") for piece in part["input"]],
                    **{key: part[key] for key in Made._fields[:-1]},
                )
                for part in whole["parts"]
            ]
        else:
            paths = [each.path for each in filesystems.listed(f"{self.path}{UNFINISHED}") if _is_part(_base(each.path))]
            found = parallel_map(self._read, paths)
            noted = [Made(**each) for each in found if each is not None]
        return {each.name: each for each in noted if each.name in names and names[each.name].size == each.bytes}

    def finish(self, parts: Sequence[tuple[Part, Made]], facts: Mapping[str, Any]) -> None:
        """Write the manifest when all is there, and nothing else. Raises `ExpressionError`."""
        found = {_base(each.path): each for each in filesystems.listed(self.path) if each.is_file}
        for _, made in parts:
            if made.name not in found or found[made.name].size != made.bytes:
                hint = "it has to be a folder that every worker sees; `--resume` makes what is not there"
                raise ExpressionError("io", f"`{self.path}{made.name}` is not there as it was written", hint=hint)
        known = {made.name for _, made in parts}
        self.clean([name for name in found if name not in known])
        about = {**self.plan, **facts, "parts": [_described(part, made) for part, made in parts]}
        write(self.path + MANIFEST, (json.dumps(about, indent=1) + "\n").encode(), force=True)
        filesystems.remove_folder(self.path + UNFINISHED)

    def clean(self, names: Sequence[str] | None = None) -> None:
        """Delete what runs have left behind: parts that are none any more, and what was not yet one."""
        if names is None:
            names = [_base(each.path) for each in filesystems.listed(self.path) if each.is_file]
            names = [name for name in names if name.startswith(".")]
        filesystems.remove([self.path + name for name in names if _is_part(name.removeprefix("."))])


OPTIONS = ("at", "wrt", "keep", "columns", "backend", "format", "digits", "part_size")
"""Keys of a plan that options have the names of."""


def _shown(value: object) -> str:
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def _changed(before: Sequence[Any], now: Sequence[Any]) -> str:
    """How two lists of files differ."""
    old, new = ({path: facts for path, *facts in each} for each in (before, now))
    for path in new:
        if path not in old:
            return f"`{path}` was not read then"
    for path, facts in old.items():
        if path not in new:
            return f"`{path}` is not read any more"
        if new[path] != facts:
            return f"`{path}` has changed"
    return "the files were read in another order"


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _is_part(name: str) -> bool:
    return name.startswith("part-")


def _described(part: Part, made: Made) -> dict[str, Any]:
    """A part as the manifest has it."""
    read: list[dict[str, Any]] = []
    for (source, span), ends in zip(part.pieces, made.ends, strict=True):
        unit = {"parquet": "row_groups", "arrow": "batches"}.get(source.format or "", "bytes")
        read.append({"file": source.path} | ({unit: ends or [span.start, span.stop]} if span is not None else {}))
    *facts, _ = made._asdict().items()
    return dict(facts) | {"input": read}


# ---- all of them --------------------------------------------------------------------------------------------------
def run(job: Job, data: Divided, folder: Folder, engine: Engine, schema: pa.Schema) -> int:
    """Make the parts that are not there yet, and the manifest; return the exit code. Raises `ExpressionError`."""
    run = _Run(job, data, folder, engine)
    with Interruption() as interruption:
        code = run.all(interruption)
    if code is not None:
        return code
    made = [(part, run.done[job.name(part)]) for part in run.parts]
    tally = Tally()
    for _, each in made:
        tally.rows += each.rows
        tally.reasons += Counter(each.errors)
        tally.kinks.add(Kinks(each.at_kinks, each.conventions))
        tally.code = max(tally.code, each.code)
    if data.rows is not None and tally.rows != data.rows:
        message = f"the parts have {tally.rows:,} rows, and the files {data.rows:,}"
        raise ExpressionError("io", message, hint="the files were changed meanwhile; begin anew with `--force`")
    errors = dict(tally.reasons.most_common())
    said = [
        {"name": f.name, "type": str(f.type), "meaning": (f.metadata or {}).get(b"meaning", b"").decode()}
        for f in schema
    ]
    facts = {
        "schema": said, "rows": tally.rows, "without_answer": sum(errors.values()), "errors": errors,
        "at_kinks": tally.kinks.rows, "conventions": dict(tally.kinks.conventions.most_common()),
    }  # fmt: skip
    folder.finish(made, facts)
    tally.say()
    return tally.code


class _Run:
    def __init__(self, job: Job, data: Divided, folder: Folder, engine: Engine) -> None:
        self.job, self.folder, self.engine = job, folder, engine
        self.parts, self.done, self.total = list(data.parts), folder.done, data.rows
        self.progress = Progress("rows", here=True)
        self.start = time.monotonic()
        self.before = self.rows = sum(made.rows for made in self.done.values())

    def all(self, interruption: Interruption) -> int | None:
        """Make all parts; None where they are, else the exit code."""
        missing = self._missing()
        if kept := len(self.parts) - len(missing):
            write_stderr(f"note: {kept:,} of {len(self.parts):,} parts are there, and are kept\n")
        while True:
            failed = self._make(missing, interruption) if missing else []
            if failed:
                return self._failed(failed)
            if interruption.asked:
                self.folder.clean()
                write_stderr(f"interrupted after {self.rows:,} rows; {self._left()}\n")
                return interruption.code
            self.parts = self._met()
            missing = self._missing()
            if not missing:
                return None

    def _missing(self) -> list[Part]:
        return [part for part in self.parts if self.job.name(part) not in self.done]

    def _make(self, parts: Sequence[Part], interruption: Interruption) -> list[tuple[Part, Exception]]:
        """Make these; return those that could not be made."""
        failed: list[tuple[Part, Exception]] = []
        with closing(self.engine.made(self.job, parts, interruption)) as results:
            for part, made in results:
                if isinstance(made, Made):
                    self.done[made.name] = made
                    self.rows += made.rows
                    self._step()
                else:
                    failed.append((part, made))
                    if self.job.fail or len(failed) >= FAILURES:
                        break
        self.progress.done()
        return failed

    def _step(self) -> None:
        if not self.progress.active:
            return
        elapsed = max(time.monotonic() - self.start, 1e-3)
        rate = (self.rows - self.before) / elapsed
        told = f", {len(self.done):,} of {len(self.parts):,} parts, {rate:,.0f} a second"
        if self.total is not None and rate:
            told += f", {max(0, self.total - self.rows) / rate:,.0f} s left"
        self.progress.step(self.rows, told)

    def _left(self) -> str:
        """What there is, and how to go on."""
        done = len(self.parts) - len(self._missing())
        return f"{done:,} of {len(self.parts):,} parts are in `{self.folder.path}`; `--resume` makes the others"

    def _failed(self, failed: Sequence[tuple[Part, Exception]]) -> int:
        """Say which parts could not be made; return the exit code."""
        _, error = failed[0]
        self.folder.clean()
        if not isinstance(error, ExpressionError):
            raise error
        report(error.diagnostic, error.text)
        more = f"{len(failed):,} parts could not be made; " if len(failed) > 1 else ""
        write_stderr(f"{more}{self._left()}\n")
        return error.exit_code

    def _met(self) -> list[Part]:
        """The parts, where one of text begins where the one before it ended; others are to be made again.

        A part is begun at a line, as if no quoted cell were open there; by the end of the one before it one knows.
        """
        found = []
        ended: dict[str, int] = {}
        for part in self.parts:
            made = self.done[self.job.name(part)]
            pieces = []
            for piece, ends in zip(part.pieces, made.ends, strict=True):
                path, span = piece.source.path, piece.span
                if ends is not None and span is not None:
                    begin, end = ends
                    due = ended.get(path, begin)
                    if due != begin:
                        span = span._replace(start=due, stop=max(due, span.stop), exact=True)
                        # where it will end is not known yet
                        ended.pop(path)
                    else:
                        ended[path] = end
                pieces.append(piece._replace(span=span))
            found.append(part._replace(pieces=tuple(pieces)))
        return found
