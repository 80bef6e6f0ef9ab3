"""Rows on Dask's workers: each task answers part of the files, and writes a file.

A part is named by its number and visible only when complete, so one that is written twice is there
once.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import queue
import re
import sys
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple

from ..compiled.data_loss import with_row
from ..engine.numbers.budget import limit_errors
from ..errors import ExpressionError, error_of, limit_error, usage_error
from ..extras import install_hint
from ..operating_system import is_folder_name
from ..questions.sweeps import Grid
from ..show.error import write_note
from ..show.formats import COLUMNAR
from ..streams import filesystems
from ..streams.files import begin_file
from ..streams.filesystems import ANSWER_SECONDS, run_interruptibly
from ..streams.progress import Interruption, Progress, interrupted
from .joined_parts import join
from .pipeline import FailedRow, Tally, answers
from .readers import Files, Fragment, Selection, reader
from .row_filter import count_of_left_out
from .rows import Rows, version
from .sinks import open_sink
from .sources import TEXT, Source

PART_BYTES = 64_000_000
FORMATS = (*COLUMNAR, *TEXT)
CONNECT_SECONDS = 10
MAX_RETRIES = 2
# Settings of a local cluster, which would spend 9 % of a core on measuring.
QUIET = {
    "logging.distributed": "critical",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}

# The environment of new processes: nobody would read their warnings.
WORKERS = {"PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "ignore"}

# A file and a part of it; None for all of it.
Piece = tuple[Source, Fragment | None]


class FilePart(NamedTuple):
    """Rows that become one file: pieces of files in order."""

    number: int
    pieces: tuple[Piece, ...]


class Job(NamedTuple):
    """The data that all tasks share."""

    rows: Rows
    selection: Selection
    several: bool
    folder: str
    """The folder of the parts, ending in `/`."""
    format: str
    layout: Mapping[str, Any]
    """The choices of `open_sink`."""
    fail: bool
    grid: Grid | None = None

    def path(self, part: FilePart) -> str:
        """Return the path of a part."""
        return f"{self.folder}part-{part.number:06d}.{self.format}"


# ---- a task
def write_part(part: FilePart, job: Job) -> Tally | ExpressionError:
    """Write a part, and return its counts. Raises if a retry may help."""
    try:
        return _write(part, job)
    except ExpressionError as error:
        error.__context__ = None
        if error.kind == "io":
            raise error.with_traceback(None) from None
        return error.with_traceback(None)
    except MemoryError:
        return error_of(MemoryError(), "the part")


@limit_errors()
def _write(part: FilePart, job: Job) -> Tally:
    bound, tally, to = job.rows.bind_to(job.selection.schema), Tally(), None
    file = begin_file(job.path(part), force=True)
    try:
        to = open_sink(file.file, bound.schema, job.format, **job.layout)
        for source, fragment in part.pieces:
            with reader(source, job.several, grid=job.grid) as rows:
                rows.select_like(job.selection)
                for batch, _ in answers(rows.chunks(fragment), bound, tally, fail=job.fail):
                    to.write(batch)
                if rows.filter is not None:
                    tally.read += rows.filter.rows
                    tally.dropped += rows.filter.dropped
        to.close()
        file.finish()
    except FailedRow as failed:
        error = with_row(failed.error, failed.where)
        error.text = failed.text
        raise error from None
    except OSError as fault:
        raise filesystems.unwritable(file.path, fault) from None
    finally:
        if to is not None:
            to.abandon()
        file.abandon()
    return tally


# ---- division into parts
def divide_rows(files: Files) -> list[FilePart]:
    """Return the rows of files, divided into parts."""
    fragments = files.map_files(
        lambda file: [(part, part.size if part else file.size) for part in file.fragments()]
    )
    parts, pieces, held = list[FilePart](), list[Piece](), 0
    for source, of_file in zip(files.sources, fragments, strict=True):
        for fragment, size in of_file:
            if pieces and held + size > PART_BYTES:
                parts.append(FilePart(len(parts), tuple(pieces)))
                pieces, held = [], 0
            pieces.append((source._replace(path=absolute_path(source.path)), fragment))
            held += size
    return [*parts, FilePart(len(parts), tuple(pieces))]


def absolute_path(path: str) -> str:
    """Return a path for other processes; a final `/` stays."""
    return path if filesystems.is_url(path) else os.path.abspath(path) + "/" * is_folder_name(path)


# ---- all parts
_PART = re.compile(r"part-\d{6,}\.\w+")
_HALF = re.compile(r"/\.part-\d{6,}\.\w+\.[0-9a-f]{12}\.part$")


def prepare_folder(folder: str, *, force: bool) -> None:
    """Make the folder, which must be empty; `force` deletes its parts."""
    names = [entry.path[len(folder) :] for entry in filesystems.list_folder(folder)]
    names = [name for name in names if not name.startswith(".")]
    if others := [name for name in names if not (force and _PART.fullmatch(name))]:
        hint = "give a folder that is empty, or not there" + (
            "" if force else "; `--force` deletes parts"
        )
        raise ExpressionError(
            "io", f"`{folder}` holds other files, such as `{others[0]}`", hint=hint
        )
    filesystems.try_remove(folder + name for name in names)
    filesystems.make_folder(folder)


def run(
    job: Job,
    parts: Sequence[FilePart],
    scheduler: str | None,
    workers: int | None,
    *,
    force: bool,
    file: str | None = None,
) -> int:
    """Write all parts or none, or all of them as one `file`, print counts and reasons, and return
    the exit code.
    """
    tally, progress, done = Tally(), Progress("rows", here=True), 0
    with ExitStack() as ending:
        client = ending.enter_context(connected(scheduler, workers))
        prepare_folder(job.folder, force=force)
        try:
            with (
                Interruption() as interruption,
                closing(results(client, job, parts, interruption)) as tallies,
            ):
                for done, counted in enumerate(tallies, start=1):
                    tally.merge(counted)
                    progress.step(tally.rows, f", {done:,} of {len(parts):,} parts")
        finally:
            progress.close()
            if done < len(parts):
                # tasks in progress end with the workers
                ending.close()
                filesystems.try_remove(job.path(part) for part in parts)
                if file is not None:
                    filesystems.try_remove_folder(job.folder)
            # and the remains of killed workers
            filesystems.try_remove(
                entry.path
                for entry in filesystems.list_folder(job.folder)
                if _HALF.search(entry.path)
            )
    if done < len(parts):
        interrupted(tally.rows, file or job.folder)
        return interruption.code
    if file is not None:
        paths = [job.path(part) for part in parts]
        try:
            join(paths, file, job.format, force=force)
        finally:
            filesystems.try_remove(paths)
            filesystems.try_remove_folder(job.folder)
    if tally.read and (where := parts[0].pieces[0][0].forced.where) is not None:
        write_note(count_of_left_out(where, tally.dropped, tally.read))
    tally.report()
    sys.stdout.write(json.dumps(tally.record(), ensure_ascii=False) + "\n")
    return tally.code


# ---- Dask
@contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """Yield a client of a scheduler, or of new local processes."""
    try:
        dask: Any = import_module("dask")
        distributed: Any = import_module("distributed")
    except ImportError:
        message = "Dask's scheduler and workers (`distributed`) are not installed"
        raise usage_error(message, install_hint("cluster")) from None
    # messages of Dask are replaced by our own, about parts
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    ending = ExitStack()

    def close(what: Any) -> None:
        with suppress(Exception):
            what.close(timeout=CONNECT_SECONDS)

    def connect() -> Any:
        # a failed client closes when it is collected; it and a new one would wait for a lock
        # forever
        gc.collect()
        with dask.config.set(QUIET), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cluster = scheduler
            if scheduler is None:
                ending.enter_context(_no_modules_of_others())
                cluster = distributed.LocalCluster(
                    n_workers=workers or os.cpu_count() or 1,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                    host="127.0.0.1",
                )
                ending.callback(close, cluster)
            client = distributed.Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
            ending.callback(close, client)
            if scheduler is not None:
                _check_workers(client, scheduler)
            return client

    try:
        try:
            client = run_interruptibly(connect, ANSWER_SECONDS)
        except ExpressionError:
            raise
        except Exception as fault:
            message = f"no scheduler answers at `{scheduler}`"
            hint = (
                "check the address: `--scheduler tcp://host:8786`; or leave it out for processes of"
                " this machine"
            )
            if not scheduler:
                first = str(fault).split("\n")[0] or type(fault).__name__
                message, hint = f"Dask's workers did not start: {first}", "try again"
            raise ExpressionError("io", message, hint=hint) from None
        yield client
    finally:
        # if it ends: an abandoned thread is a daemon, and workers end with us
        with suppress(TimeoutError):
            run_interruptibly(ending.close, ANSWER_SECONDS)


@contextmanager
def _no_modules_of_others() -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(WORKERS)
    main = vars(sys.modules["__main__"])
    kept: dict[str, Any] = {
        name: main.pop(name) for name in ("__file__", "__spec__") if name in main
    }
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(kept)
        os.environ.clear()
        os.environ.update(before)


def _check_workers(client: Any, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        message = f"the scheduler at `{scheduler}` has no workers"
        raise ExpressionError("io", message, hint="start some: `dask worker ADDRESS`") from None
    for worker, there in client.get_versions(packages=["autodiff_cli", "pyarrow"])[
        "workers"
    ].items():
        theirs = there["packages"].get("autodiff_cli")
        if theirs != version():
            what = (
                f"has autodiff {theirs}, and this is {version()}" if theirs else "has no autodiff"
            )
        elif there["packages"].get("pyarrow") is None:
            what = "has no pyarrow"
        else:
            continue
        raise usage_error(
            f"the worker {worker} {what}", "install one version everywhere: `autodiff-cli[data]`"
        )


def results(
    client: Any, job: Job, parts: Sequence[FilePart], stop: Interruption
) -> Generator[Tally, None, None]:
    """Yield the counts of finished parts; raise a part's error."""
    ready = queue.SimpleQueue[Any]()
    futures = client.map(
        write_part, parts, job=job, pure=False, retries=MAX_RETRIES, batch_size=1_000
    )
    held = {future.key: (part, future) for future, part in zip(futures, parts, strict=True)}
    for future in futures:
        future.add_done_callback(ready.put)
    # a worker keeps its result as long as a future refers to it
    del futures, future
    try:
        while held and not stop.asked:
            with suppress(queue.Empty):
                done = ready.get(timeout=0.2)
                part, _ = held.pop(done.key)
                if done.status in ("cancelled", "lost"):
                    raise ExpressionError(
                        "io", "the scheduler has gone", hint="start it, and ask again"
                    )
                fault = done.exception()
                result = fault or done.result()
                read = ", ".join(dict.fromkeys(f"`{source.path}`" for source, _ in part.pieces[:3]))
                if type(fault).__name__ == "KilledWorker":
                    message = (
                        f"the part of {read} ended every worker that tried it, perhaps for want of"
                        " memory"
                    )
                    raise limit_error(
                        message, "give the workers more memory, or the file smaller row groups"
                    )
                if isinstance(fault, Exception):
                    raise error_of(fault, f"the rows of {read}")
                if not isinstance(result, Tally):
                    raise result
                yield result
                del done
    finally:
        if held:
            with suppress(Exception):
                client.cancel([future for _, future in held.values()], force=True)
