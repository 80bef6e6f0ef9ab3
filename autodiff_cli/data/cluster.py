"""Rows on Dask's workers: each task reads a part of the files, answers its rows, and writes them as a file of a folder.

Dask says who does what, tries again what a lost worker was at, and whatever could not be read or written. A part is
called by its number and seen only when it is whole, so that one which was written twice is there once.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import re
import sys
import threading
import time
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ExpressionError
from ..extras import install_command
from ..streams import filesystems
from ..streams import internal_error as bugs
from ..streams.files import begun
from ..streams.filesystems import PATIENCE, patiently
from ..streams.interruption import Interruption, interrupted
from ..streams.progress import Progress
from ..views.error import report, write_stderr
from ..views.formats import COLUMNAR
from .batches import Arrow, Head, Needs, Parquet, Reader, Span, Wanted, reader
from .pipeline import Tally, alike, check_alike, needs
from .rows import Rows, version
from .sinks import Sink, sink
from .sources import TEXT, Source, parallel_map

if TYPE_CHECKING:
    import pyarrow as pa

SIZE = 64_000_000
"""Bytes of data in a part, about."""

FORMATS = (*COLUMNAR, *TEXT)

SECONDS = 10
"""How long a scheduler, and then its first worker, may take to answer."""

RETRIES = 2
"""How often a part is tried again that could not be read or written."""

QUIET = {
    "logging.distributed": "critical",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of a cluster of one's own: nobody looks at what it would else measure all the time, for 9 % of a core."""


WORKERS = {"PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore"}
"""The environment of processes that are begun here: nobody is there to read what they warn of."""


class Piece(NamedTuple):
    """Some row groups of a file, or all of its rows."""

    source: Source
    span: Span | None


class Part(NamedTuple):
    """Rows that become one file: pieces of one file or of several, one after the other."""

    number: int
    pieces: tuple[Piece, ...]


class Job(NamedTuple):
    """What every task needs to know."""

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

    def path(self, part: Part) -> str:
        """Where a part goes."""
        return f"{self.folder}part-{part.number:06d}.{self.format}"


# ---- a task -------------------------------------------------------------------------------------------------------
def write_part(part: Part, job: Job) -> Tally | ExpressionError:
    """Write a part in a worker, and return what there is to count. Raises what may well go another time."""
    try:
        return _write(part, job)
    except ExpressionError as error:
        error.__context__ = None
        if error.kind == "io":
            raise error.with_traceback(None) from None
        return error.with_traceback(None)
    except MemoryError:
        return bugs.no_memory()


def _write(part: Part, job: Job) -> Tally:
    bound = job.rows.bound(job.schema)
    tally = Tally()
    file = begun(job.path(part), force=True)
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
                    tally.add(batch.num_rows, errors.values(), kinks)
        to.close()
        file.finish()
    except OSError as fault:
        raise file.unwritten(fault) from None
    finally:
        if to is not None:
            to.drop()
        file.drop()
    return tally


def _first(errors: Mapping[int, ExpressionError], where: Any, text: str) -> ExpressionError:
    """The first of the errors, with its place."""
    row = min(errors)
    diagnostic = errors[row].diagnostic
    error = ExpressionError(*diagnostic._replace(message=where(row) + diagnostic.message))
    error.text = errors[row].text or text
    return error


# ---- how rows are divided -----------------------------------------------------------------------------------------
class Divided(NamedTuple):
    """The rows of all files, in parts."""

    parts: list[Part]
    schema: pa.Schema
    wanted: Wanted


def divided(sources: Sequence[Source], rows: Rows) -> Divided:
    """The rows of files in parts. Raises `ExpressionError`."""
    several = len(sources) > 1
    first = sources[0]

    def looked_into(source: Source, wanted: Needs) -> Reader:
        return (reader if source.columnar else Head)(source, wanted, several, None)

    with closing(looked_into(first, needs(rows))) as file:
        schema, wanted = file.schema, file.wanted
        spans = [_spans(file)]

    def other(source: Source) -> list[tuple[Span | None, int]]:
        with closing(looked_into(source, wanted.again(first.name, source.name))) as file:
            check_alike(file, schema, first.name)
            return _spans(file)

    spans += parallel_map(other, sources[1:], lambda source: source.path)
    parts: list[Part] = []
    pieces: list[Piece] = []
    held = 0
    for source, of_file in zip(sources, spans, strict=True):
        for span, size in of_file:
            if pieces and held + size > SIZE:
                parts.append(Part(len(parts), tuple(pieces)))
                pieces, held = [], 0
            pieces.append(Piece(source._replace(path=absolute(source.path)), span))
            held += size
    parts.append(Part(len(parts), tuple(pieces)))
    return Divided(parts, schema, wanted)


def _spans(file: Reader) -> list[tuple[Span | None, int]]:
    """The pieces of a file, and how many bytes they are; text is one, since a quoted cell may hold lines."""
    if isinstance(file, Arrow):
        if file.stream:
            return [(None, file.size)]
        counts = file.lengths()
        sizes = [file.size // max(1, len(counts))] * len(counts)
    elif isinstance(file, Parquet):
        metadata = file.file.metadata
        groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
        counts = [group.num_rows for group in groups]
        sizes = [group.total_byte_size * len(file.columns) // max(1, metadata.num_columns) for group in groups]
    else:
        return [(None, file.size)]
    firsts = [1 + sum(counts[:k]) for k in range(len(counts))]
    return [(Span(k, k + 1, firsts[k]), size) for k, size in enumerate(sizes)] or [(None, 0)]


def absolute(path: str) -> str:
    """A path that is the same in other processes; a folder goes on ending in `/`."""
    return path if filesystems.is_url(path) else os.path.abspath(path) + "/" * path.endswith("/")


# ---- all of them --------------------------------------------------------------------------------------------------
_PART = re.compile(r"part-\d{6,}\.\w+")
_HALF = re.compile(r"/\.part-\d{6,}\.\w+\.[0-9a-f]{12}\.part$")


def prepare(folder: str, *, force: bool) -> None:
    """Make the folder, and see that it is empty; `force` deletes the parts in it. Raises `ExpressionError`."""
    names = {entry.path: entry.path[len(folder) :] for entry in filesystems.listed(folder)}
    there = [path for path, name in names.items() if not name.startswith(".")]
    parts = [path for path in there if _PART.fullmatch(names[path])]
    for path in there if not force else [path for path in there if path not in parts]:
        hint = "give a folder that is empty, or not there" + ("" if force else "; `--force` deletes parts")
        raise ExpressionError("io", f"`{folder}` holds other files, such as `{names[path]}`", hint=hint)
    filesystems.remove(parts)
    filesystems.make_folder(folder)


def run(job: Job, parts: Sequence[Part], cluster: Dask) -> int:
    """Have all parts written, say what was counted, and return the exit code. What is not whole leaves nothing behind.

    The counts are the answer, as JSON on standard output; those that people should know of are on standard error too.
    """
    tally = Tally()
    progress = Progress("rows", here=True)
    done = 0
    code: int | None = None
    with Interruption() as interruption:
        try:
            with closing(cluster.results(job, parts, interruption)) as results:
                for result in results:
                    if isinstance(result, ExpressionError):
                        report(result.diagnostic, result.text)
                        code = result.exit_code
                        break
                    if not isinstance(result, Tally):
                        raise result
                    done += 1
                    tally.merge(result)
                    progress.step(tally.rows, f", {done:,} of {len(parts):,} parts")
            if code is None and done < len(parts):
                interrupted(tally.rows, job.folder)
                code = interruption.code
        finally:
            progress.done()
            if done < len(parts):
                # those that are being written at this moment end with the workers
                cluster.close()
                filesystems.remove(job.path(part) for part in parts)
            # and what was left by those that were killed
            filesystems.remove(entry.path for entry in filesystems.listed(job.folder) if _HALF.search(entry.path))
    if code is not None:
        return code
    tally.say()
    sys.stdout.write(json.dumps(tally.record(), ensure_ascii=False) + "\n")
    return tally.code


class Dask:
    """Workers of Dask: those of a scheduler, or processes of this machine."""

    def __init__(self, scheduler: str | None, workers: int | None) -> None:
        """Raises `ExpressionError` where there are none."""
        try:
            self.dask: Any = import_module("dask")
            self.distributed: Any = import_module("distributed")
        except ImportError:
            message = "Dask's scheduler and workers (`distributed`) are not installed"
            raise ExpressionError("usage", message, hint=f"`{install_command('cluster')}`") from None
        self.client: Any = None
        self.ending = ExitStack()
        self.where = scheduler or "this machine"
        # what they have to say is said here, once, and in words about parts
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            patiently(lambda: self._begin(scheduler, workers), PATIENCE)
        except ExpressionError:
            self.close()
            raise
        except Exception as fault:
            self.close()
            first = str(fault).split("\n")[0] or type(fault).__name__
            said = f"no scheduler answers at `{scheduler}`" if scheduler else f"Dask's workers did not start: {first}"
            hint = "check the address: `--scheduler tcp://host:8786`; or leave it out for processes of this machine"
            raise ExpressionError("io", said, hint=hint if scheduler else "try again") from None
        except BaseException:
            self.close()
            raise

    def _begin(self, scheduler: str | None, workers: int | None) -> None:
        with self.dask.config.set(QUIET), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cluster = None
            if scheduler is None:
                self.ending.enter_context(_no_modules_of_others())
                cluster = self.distributed.LocalCluster(
                    n_workers=workers or os.cpu_count() or 1, threads_per_worker=1, processes=True,
                    dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, host="127.0.0.1",
                )  # fmt: skip
                self.ending.callback(_closed, cluster)
            self.client = self.distributed.Client(cluster or scheduler, timeout=SECONDS, set_as_default=False)
            self.ending.callback(_closed, self.client)
            if scheduler is not None:
                self._meet()

    def _meet(self) -> None:
        """Raise an error where there are no workers, or where they are not as this program."""
        try:
            self.client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError:
            message = f"the scheduler at `{self.where}` has no workers"
            raise ExpressionError("io", message, hint="start some: `dask worker ADDRESS`") from None
        versions = self.client.get_versions(packages=["autodiff_cli", "pyarrow"])["workers"]
        for worker, there in versions.items():
            theirs = there["packages"].get("autodiff_cli")
            if theirs != version() or there["packages"].get("pyarrow") is None:
                what = f"has autodiff {theirs}, and this is {version()}" if theirs else "has no autodiff"
                what = what if theirs != version() else "has no pyarrow"
                hint = "install one version everywhere: `autodiff-cli[data]`"
                raise ExpressionError("usage", f"the worker {worker} {what}", hint=hint)

    def results(
        self, job: Job, parts: Sequence[Part], stop: Interruption
    ) -> Generator[Tally | BaseException, None, None]:
        """What comes of the parts, in any order, until all are written, or the run is to stop."""
        ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        heard = _Heard(self.client)
        futures = self.client.map(write_part, parts, job=job, pure=False, retries=RETRIES, batch_size=1_000)
        held = {future.key: (part, future) for future, part in zip(futures, parts, strict=True)}
        for future in futures:
            future.add_done_callback(ready.put)
        # a worker keeps what it returned as long as somebody may ask for it
        del futures, future
        try:
            while held and not stop.asked:
                heard.check(self.where)
                with suppress(queue.Empty):
                    done = ready.get(timeout=0.2)
                    part, _ = held.pop(done.key)
                    yield self._result(part, done)
                    del done
        finally:
            heard.end()
            if held:
                with suppress(Exception):
                    self.client.cancel([future for _, future in held.values()], force=True)

    def _result(self, part: Part, future: Any) -> Tally | BaseException:
        """What came of a part."""
        if future.status in ("cancelled", "lost"):
            return _gone(self.where)
        fault: BaseException | None = future.exception()
        if fault is None:
            result: Tally | ExpressionError = future.result()
            return result
        if isinstance(fault, ExpressionError):
            return fault
        read = ", ".join(dict.fromkeys(f"`{piece.source.path}`" for piece in part.pieces[:3]))
        if type(fault).__name__ == "KilledWorker":
            return ExpressionError(
                "limit", f"the part of {read} ended every worker that tried it, perhaps for want of memory",
                hint="give the workers more memory, or the file smaller row groups",
            )  # fmt: skip
        if bugs.tracebacks or not isinstance(fault, Exception):
            return fault
        return bugs.internal_error_message(fault, f"the rows of {read}")

    def close(self) -> None:
        """Let go of the workers; those of this machine end."""
        patiently(self.ending.close)


class _Heard:
    """Asks a scheduler now and then whether it is there, in a thread: one that is mute would be waited for."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.last = self.served = time.monotonic()
        self.ended = threading.Event()
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self) -> None:
        while not self.ended.wait(1):
            with suppress(Exception):
                threads = sum(self.client.nthreads().values())
                self.last = time.monotonic()
                if threads:
                    self.served = self.last

    def check(self, where: str) -> None:
        """Say that there have been no workers for a while, where that is so. Raises for a scheduler that is mute."""
        now = time.monotonic()
        if now > self.last + PATIENCE:
            raise _gone(where)
        if self.last > self.served + SECONDS:
            write_stderr(f"note: {where} has no workers at present; waiting for some\n")
            self.served = now + 10 * SECONDS

    def end(self) -> None:
        """Ask no more."""
        self.ended.set()


def _gone(where: str) -> ExpressionError:
    return ExpressionError("io", f"the scheduler at `{where}` has gone", hint="start it, and ask again")


def _closed(what: Any) -> None:
    with suppress(Exception):
        what.close(timeout=SECONDS)


@contextmanager
def _no_modules_of_others() -> Iterator[None]:
    """Keep processes that are begun here from importing what lies in the current folder, or this one's main module.

    Either may do anything, and they need nothing of it.
    """
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    before = {name: os.environ.get(name) for name in WORKERS}
    os.environ.update(WORKERS)
    try:
        yield
    finally:
        vars(main).update(kept)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
