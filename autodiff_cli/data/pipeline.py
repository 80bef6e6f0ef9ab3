"""The pipeline of rows: a thread reads, one computes, the command writes."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from ..compiled.columns_io import conventions, reason
from ..errors import Diagnostic, ExpressionError
from ..show.error import MAX_PLACES, first_places, place_list, report, write_reasons
from ..streams.files import AtomicFile
from ..streams.filesystems import Upload, abandoned
from ..streams.progress import Interruption, Progress, interrupted
from .readers import Chunk, Files

if TYPE_CHECKING:
    import pyarrow as pa

    from .rows import CompiledRows
    from .sinks import Sink

Item = TypeVar("Item")
MAX_WAITING_BATCHES = 2


class Tally:
    """The number of rows, and the reasons of those without answers."""

    def __init__(self) -> None:
        self.rows = self.code = 0
        # The rows that workers have read, and those that `--where` leaves out.
        self.read = self.dropped = 0
        self.reasons: Counter[str] = Counter()
        # The first rows of each reason.
        self.places: dict[str, list[str]] = {}
        self.kinks: Counter[tuple[str, ...]] = Counter()

    def merge(self, other: Tally) -> None:
        """Add other counts."""
        self.rows += other.rows
        self.read += other.read
        self.dropped += other.dropped
        self.reasons += other.reasons
        for why, places in other.places.items():
            self.places.setdefault(why, []).extend(places)
        self.code = max(self.code, other.code)
        self.kinks.update(other.kinks)

    def record(self) -> dict[str, object]:
        """Return the counts as in JSON."""
        return {
            "rows": self.rows,
            "without_answer": self.reasons.total(),
            "errors": dict(self.reasons.most_common()),
            "rows_without_answer": {
                why: first_places(places, MAX_PLACES) for why, places in sorted(self.places.items())
            },
            "at_kinks": self.kinks.total(),
            "conventions": dict(self._conventions().most_common()),
        } | ({"left_out_by_where": self.dropped} if self.read else {})

    def note(self, error: ExpressionError, place: str) -> None:
        """Count an error of the row at a place, such as `line 3`."""
        self.code = max(self.code, error.exit_code)
        why = reason(error)
        self.reasons[why] += 1
        places = self.places.setdefault(why, [])
        if len(places) <= MAX_PLACES:
            places.append(place.strip().removesuffix(":"))

    def note_kinks(self, warnings: Iterable[Diagnostic]) -> None:
        """Count a row with such warnings."""
        if taken := conventions(warnings):
            self.kinks[taken] += 1

    def _conventions(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for taken, rows in self.kinks.items():
            counts.update(dict.fromkeys(taken, rows))
        return counts

    def report(self) -> None:
        """Print the counts and reasons."""
        if rows := self.reasons.total():
            has = f"{'have' if rows > 1 else 'has'} no answer"
            listed = {
                f"{why}{place_list(self.places.get(why, ()))}": count
                for why, count in self.reasons.items()
            }
            write_reasons(self.rows, rows, has, Counter(listed))
        if rows := self.kinks.total():
            what = "at a kink, where the derivative is a convention"
            write_reasons(
                self.rows, rows, f"{'are' if rows > 1 else 'is'} {what}", self._conventions()
            )


class FailedRow(Exception):
    """The first row without an answer, which ends the run."""

    def __init__(self, error: ExpressionError, where: str, text: str) -> None:
        self.error, self.where, self.text = error, where, text if error.text is None else error.text


def answers(
    chunks: Iterable[Chunk], bound: CompiledRows, tally: Tally, *, fail: bool
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield batches of answers and the bytes read; `fail` raises `FailedRow`."""
    for chunk in chunks:
        batch, errors, _, kinks = bound.answer(chunk.batch, chunk.where, chunk.faults)
        if errors and fail:
            row = min(errors)
            tally.rows += row + 1
            tally.note(errors[row], chunk.where(row) or f"point {tally.rows}")
            tally.kinks.update(bound.answer(chunk.batch.slice(0, row)).kinks)
            yield batch.slice(0, row + 1), chunk.size
            raise FailedRow(errors[row], chunk.where(row), bound.fitted.program.text)
        for row, error in errors.items():
            tally.note(error, chunk.where(row) or f"point {tally.rows + row + 1}")
        tally.rows += batch.num_rows
        tally.kinks.update(kinks)
        yield batch, chunk.size


# ---- threads
def run(
    files: Files,
    bound: CompiledRows,
    sink: Sink,
    beside: AtomicFile | Upload | None,
    tally: Tally,
    *,
    fail: bool,
) -> int:
    """Write all answers, finish the file `beside`, and return the exit code."""
    progress = Progress("rows", here=beside is not None)
    begun, size = time.monotonic(), 0
    ended, threads = threading.Event(), list[threading.Thread]()
    with Interruption() as interruption:

        def stops() -> bool:
            return ended.is_set() or interruption.asked

        chunks = prefetch((chunk for file in files for chunk in file.chunks()), stops, threads)
        try:
            for batch, read in prefetch(answers(chunks, bound, tally, fail=fail), stops, threads):
                sink.write(batch)
                size += read
                progress.step(
                    tally.rows, rate(files, tally.rows, size, begun) if progress.active else ""
                )
            sink.close()
        except FailedRow as failed:
            sink.close()
            report(
                failed.error.diagnostic, failed.text, where=failed.where or f"line {tally.rows}: "
            )
            return failed.error.exit_code
        except ExpressionError:
            sink.close()  # earlier answers are written
            raise
        except BaseException:
            sink.abandon()
            raise
        finally:
            ended.set()
            for thread in threads:
                thread.join(1)
                if thread.is_alive():
                    abandoned.set()
            progress.close()
    if interruption.asked:
        interrupted(tally.rows, None if beside is None else beside.path)
        return interruption.code
    if beside is not None:
        beside.finish()
    return tally.code


def prefetch(
    items: Iterator[Item], stops: Callable[[], bool], threads: list[threading.Thread]
) -> Iterator[Item]:
    """Yield items made in a thread, a few ahead. Raises its exceptions."""
    ready: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(MAX_WAITING_BATCHES)

    def put(item: Item | None, error: BaseException | None) -> None:
        while not stops():
            with suppress(queue.Full):
                ready.put((item, error), timeout=0.1)
                return

    def make() -> None:
        fault: BaseException | None = None
        try:
            for item in items:
                put(item, None)
                if stops():
                    break
        except BaseException as error:
            fault = error
        put(None, fault)
        items.close()  # type: ignore[attr-defined]  # all are generators

    # the allowance holds in the thread too
    threads.append(threading.Thread(target=copy_context().run, args=(make,), daemon=True))
    threads[-1].start()
    while not stops():
        with suppress(queue.Empty):
            item, error = ready.get(timeout=0.1)
            if error is not None:
                raise error
            if item is None:
                return
            yield item


def rate(files: Files, rows: int, size: int, begun: float) -> str:
    """Return the speed, and the remaining time if it is known."""
    elapsed = max(time.monotonic() - begun, 1e-3)
    per_second = f", {rows / elapsed:,.0f} a second"
    first, share = files.first, 0.0
    if len(files.sources) == 1:
        share = rows / first.total if first.total else size / first.size if first.size else 0.0
    return per_second + (f", {elapsed * (1 - share) / share:,.0f} s left" if 0 < share < 1 else "")
