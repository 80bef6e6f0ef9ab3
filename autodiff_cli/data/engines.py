"""Engines that make parts of answers on a cluster: Dask's, which is here or wherever its scheduler is."""

from __future__ import annotations

import logging
import os
import queue
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any

from ..errors import ExpressionError
from ..streams import internal_error as bugs
from ..streams.filesystems import NEEDS_CLUSTER
from ..streams.interruption import Interruption
from ..views.error import write_stderr
from .partitions import Job, Made, Part, Results, make
from .rows import version

SECONDS = 10
"""How long a scheduler, and then its first worker, may take to answer."""

AHEAD = 3
"""Parts a thread that the scheduler knows of: enough that none has to wait, and few, however many parts there are."""

AGAIN = 2
"""How often a part is tried again that could not be read or written."""


QUIET = {
    "logging.distributed": "critical",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of a cluster of one's own: nobody looks at what it would else measure all the time, for 9 % of a core."""


class Failed(Exception):
    """A part that may well be made in another place, or later."""

    def __init__(self, error: ExpressionError) -> None:
        super().__init__(error)
        self.error = error


def attempt(job: Job, part: Part) -> Made | ExpressionError:
    """Make a part in a worker. Raises `Failed` where it is to be tried again."""
    try:
        return make(job, part)
    except ExpressionError as error:
        error.__context__ = None
        if error.kind == "io":
            raise Failed(error.with_traceback(None)) from None
        return error.with_traceback(None)
    except MemoryError:
        return bugs.no_memory()


class Dask:
    """Workers of Dask: those of a scheduler, or processes of this machine."""

    def __init__(self, scheduler: str | None, workers: int | None) -> None:
        """Raises `ExpressionError` where there are none."""
        try:
            import dask

            distributed: Any = import_module("distributed")
        except ImportError:
            message = "Dask's scheduler and workers (`distributed`) are not installed"
            raise ExpressionError("usage", message, hint=NEEDS_CLUSTER) from None
        self.cluster: Any = None
        self.client: Any = None
        self.ending = ExitStack()
        self.where = scheduler or "this machine"
        # what they have to say is said here, once, and in words about parts
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with dask.config.set(QUIET), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if scheduler is None:
                    self.ending.enter_context(_no_main_module())
                    self.cluster = distributed.LocalCluster(
                        n_workers=workers or os.cpu_count() or 1, threads_per_worker=1, processes=True,
                        dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, host="127.0.0.1",
                    )  # fmt: skip
                self.client = distributed.Client(self.cluster or scheduler, timeout=SECONDS, set_as_default=False)
                if scheduler is not None:
                    self._meet()
        except ExpressionError:
            self.close()
            raise
        except (OSError, ValueError) as fault:
            self.close()
            said = f"no scheduler answers at `{scheduler}`" if scheduler else f"Dask could not be started: {fault}"
            hint = "check the address: `--scheduler tcp://host:8786`; or leave it out for processes of this machine"
            raise ExpressionError("io", said, hint=hint if scheduler else None) from None
        except BaseException:
            self.close()
            raise

    def _meet(self) -> None:
        """Raise an error where there are no workers, or where they are not as this program."""
        try:
            self.client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError:
            message = f"the scheduler at `{self.where}` has no workers"
            raise ExpressionError("io", message, hint="start some: `dask worker ADDRESS`") from None
        told = self.client.get_versions(packages=["autodiff_cli", "pyarrow"])["workers"]
        for worker, each in told.items():
            theirs = each["packages"].get("autodiff_cli")
            if theirs != version():
                what = f"has autodiff {theirs}, and this is {version()}" if theirs else "has no autodiff"
                hint = "install one version everywhere: `autodiff-cli[data]`"
                raise ExpressionError("usage", f"the worker {worker} {what}", hint=hint)
            if each["packages"].get("pyarrow") is None:
                hint = "install the extra `data` there: `autodiff-cli[data]`"
                raise ExpressionError("usage", f"the worker {worker} has no pyarrow", hint=hint)

    def made(self, job: Job, parts: Sequence[Part], stop: Interruption) -> Results:
        """The parts as they are made, in any order, until all are, or the run is to stop."""
        ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        left = iter(parts)
        held: dict[Any, tuple[Part, Any]] = {}
        checked, room = 0.0, 0
        waiting: float | None = None
        try:
            while not stop.asked:
                if time.monotonic() > checked + 1:
                    threads, checked = self._threads(), time.monotonic()
                    room = max(4, AHEAD * threads)
                    waiting = self._told(threads, waiting)
                while len(held) < room and (part := next(left, None)) is not None:
                    future = self.client.submit(attempt, job, part, pure=False, retries=AGAIN)
                    held[future.key] = part, future
                    future.add_done_callback(ready.put)
                if not held:
                    return
                with suppress(queue.Empty):
                    future = ready.get(timeout=0.2)
                    part, _ = held.pop(future.key)
                    yield part, self._result(job, part, future)
        finally:
            with suppress(Exception):
                self.client.cancel([future for _, future in held.values()], force=True)

    def _threads(self) -> int:
        """How many parts can be made at a time. Raises `ExpressionError` where there is nobody to ask."""
        try:
            return sum(self.client.nthreads().values())
        except Exception:
            raise self._gone() from None

    def _gone(self) -> ExpressionError:
        return ExpressionError("io", f"the scheduler at `{self.where}` has gone", hint="go on with `--resume`")

    def _told(self, threads: int, since: float | None) -> float | None:
        """Say that there are no workers, where there have been none for a while; return since when there are none."""
        now = time.monotonic()
        if threads:
            return None
        if since is not None and since < now - SECONDS:
            write_stderr(f"note: {self.where} has no workers at present; waiting for some\n")
            return now + 10 * SECONDS
        return now if since is None else since

    def _result(self, job: Job, part: Part, future: Any) -> Made | Exception:
        """What came of a part."""
        if future.status in ("cancelled", "lost"):
            return self._gone()
        fault = future.exception()
        if fault is None:
            found: Made | ExpressionError = future.result()
            return found
        if isinstance(fault, Failed):
            return fault.error
        if isinstance(fault, ExpressionError):
            return fault
        read = ", ".join(dict.fromkeys(f"`{piece.source.path}`" for piece in part.pieces[:3]))
        if type(fault).__name__ == "KilledWorker":
            return ExpressionError(
                "limit", f"{job.name(part)}, of {read}, ended every worker that tried it, perhaps for want of memory",
                hint="give the workers more memory, or smaller parts: `--part-size`, and smaller row groups",
            )  # fmt: skip
        if bugs.tracebacks and isinstance(fault, Exception):
            return fault
        error: ExpressionError = bugs.internal_error_message(fault, f"the rows of {read}")
        return error

    def close(self) -> None:
        """Let go of the workers; those of this machine end."""
        for each in (self.client, self.cluster):
            if each is not None:
                with suppress(Exception):
                    each.close(timeout=SECONDS)
        self.ending.close()


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Keep processes that are begun here from importing the main module of this one, which may do anything.

    They need nothing of it.
    """
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(kept)
