"""The pipeline of wide rows: one thread reads, one computes, one writes, with short queues between them."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ..batched.columns_io import Kinks, kept_columns, mapped_columns, reason
from ..errors import ExpressionError
from ..streams.files import AtomicFile
from ..streams.filesystems import Upload, abandoned
from ..streams.interruption import Interruption, interrupted
from ..streams.progress import Progress
from ..views.error import report, write_stderr
from .batches import Chunk, Head, Needs, Reader, reader
from .rows import Rows
from .sinks import Sink
from .sources import File, Source, parallel_map

if TYPE_CHECKING:
    import pyarrow as pa

    from .rows import Bound

WAITING = 2
"""Batches that wait in a queue: enough for the threads to overlap, and few, since they are most of the memory."""

REASONS = 10
"""How many reasons the summary names."""


MOST_PLACES = 10_000
"""Reasons that are remembered."""


class Tally:
    """How many rows there were, and why some of them have no answer."""

    def __init__(self) -> None:
        self.rows = 0
        self.reasons: Counter[str] = Counter()
        self.code = 0
        self.kinks = Kinks()
        self._places: dict[object, str] = {}

    def add(self, rows: int, errors: Iterable[ExpressionError], kinks: Kinks) -> None:
        """Count some rows."""
        self.rows += rows
        for error in errors:
            self.note(error)
        self.kinks.add(kinks)

    def merge(self, other: Tally) -> None:
        """Count the rows that another one has counted."""
        self.rows += other.rows
        self.reasons += other.reasons
        self.code = max(self.code, other.code)
        self.kinks.add(other.kinks)

    def record(self) -> dict[str, object]:
        """Return the counts as JSON has them."""
        return {
            "rows": self.rows, "without_answer": self.reasons.total(), "errors": dict(self.reasons.most_common()),
            "at_kinks": self.kinks.rows, "conventions": dict(self.kinks.conventions.most_common()),
        }  # fmt: skip

    def note(self, error: ExpressionError) -> None:
        """Count an error."""
        kind, message, span, *_ = error.diagnostic
        # at one place there is one reason, in all but words such as these
        place = (kind, span, message[:12]) if span is not None and error.text is None else (kind, message)
        why = self._places.get(place)
        if why is None:
            why = reason(error)
            self.code = max(self.code, error.exit_code)
            if len(self._places) < MOST_PLACES:
                self._places[place] = why
        self.reasons[why] += 1

    def say(self) -> None:
        """Say on standard error how many rows have no answer, or one by convention, and why; nothing of the others."""
        bad, rows = sum(self.reasons.values()), self.rows
        if bad:
            verb = "has" if bad == 1 else "have"
            those = "1 row, and it has" if rows == 1 else f"{rows:,} rows, and {bad:,} of them {verb}"
            write_stderr(f"{those} no answer:\n{_counted(self.reasons)}")
        if at := self.kinks.rows:
            verb = "is" if at == 1 else "are"
            those = "1 row, and it is" if rows == 1 else f"{rows:,} rows, and {at:,} of them {verb}"
            write_stderr(
                f"{those} at a kink, where the derivative is a convention:\n{_counted(self.kinks.conventions)}"
            )


def _counted(reasons: Counter[str]) -> str:
    """The reasons and how often they were met, a line each."""
    width = len(f"{max(reasons.values()):,}")
    told = [f"  {count:>{width},}  {why}" for why, count in reasons.most_common(REASONS)]
    if len(reasons) > REASONS:
        told.append(f"  … and {len(reasons) - REASONS:,} more reasons")
    return "\n".join(told) + "\n"


def needs(rows: Rows) -> Needs:
    """Which columns a formula reads."""

    def of(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
        columns = mapped_columns(rows.columns, names)
        kept = kept_columns(rows.keep, names)
        try:
            known = rows.fitted(list(columns))
        except ExpressionError as error:
            error.text = rows.text if error.text is None else error.text
            raise
        used = dict.fromkeys((*known.variables, *known.wanted))
        return [columns[name] for name in used if name in columns], kept

    return of


class _End:
    """What a thread ends with: an error, or None."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Pipeline:
    """Rows from files through a formula."""

    def __init__(self, sources: Sequence[Source], rows: Rows, file: File | None = None) -> None:
        """`file` is the first source, where it is open already. Raises `ExpressionError` where nothing can begin."""
        self.sources, self.rows = sources, rows
        self.needs = needs(rows)
        self.several = len(sources) > 1
        self.first: Reader = reader(sources[0], self.needs, self.several, file)
        self.bound: Bound = rows.bound(self.first.schema)
        try:
            parallel_map(self.check, [source for source in sources[1:] if not source.once], lambda source: source.path)
        except BaseException:
            self.first.close()
            raise
        self.tally = Tally()
        self.stopped = threading.Event()
        self.total = self.first.total if not self.several else None
        self.size = self.first.size if not self.several else 0

    def check(self, source: Source) -> None:
        """Raise what does not go together in a further file, before anything is computed."""
        first = self.first
        begin = reader if source.columnar else Head
        with closing(begin(source, first.wanted.again(first.source.name, source.name), True, None)) as other:
            check_alike(other, first.schema, first.source.name)

    def chunks(self) -> Iterator[Chunk]:
        """The rows of all files. Raises `ExpressionError`, also where their columns are not the same."""
        first = current = self.first
        try:
            yield from first.chunks()
            for source in self.sources[1:]:
                current.close()
                current = reader(source, first.wanted.again(first.source.name, source.name), self.several)
                yield from alike(current, first.schema, first.source.name)
        finally:
            current.close()

    def run(self, sink: Sink, beside: AtomicFile | Upload | None, *, fail: bool) -> int:
        """Answer all rows; return the exit code. With `fail` the first error is the end.

        A file is finished where all has gone well.
        """
        read: queue.Queue[Any] = queue.Queue(WAITING)
        written: queue.Queue[Any] = queue.Queue(WAITING)
        ended: list[BaseException] = []
        reading = threading.Thread(target=self._read, args=(read,), daemon=True)
        writing = threading.Thread(target=self._write, args=(written, sink, ended), daemon=True)
        progress = Progress("rows", here=beside is not None)
        begun = time.monotonic()
        failed: tuple[ExpressionError, str] | None = None
        done = 0
        with Interruption() as interruption:
            reading.start()
            writing.start()
            try:
                while not interruption.asked and not ended:
                    chunk = _next(read, interruption, ended)
                    if chunk is None:
                        break
                    if isinstance(chunk, _End):
                        if chunk.error is not None:
                            raise chunk.error
                        break
                    batch, errors, _, kinks = self.bound.answer(chunk.batch, chunk.where, chunk.faults)
                    if errors and fail:
                        row = min(errors)
                        failed = errors[row], chunk.where(row)
                        batch, errors = batch.slice(0, row + 1), {row: errors[row]}
                    self.tally.add(batch.num_rows, errors.values(), Kinks() if failed else kinks)
                    if beside is None or not failed:
                        _put(written, batch, ended)
                    done += chunk.size
                    progress.step(self.tally.rows, self._rate(begun, done) if progress.active else "")
                    if failed:
                        break
            finally:
                self.stopped.set()
                _put(written, None, ended)
                writing.join()
                _drain(read)
                reading.join(1)
                if reading.is_alive():
                    abandoned.set()
                progress.done()
        if ended:
            raise ended[0]
        if interruption.asked:
            interrupted(self.tally.rows, None if beside is None else beside.path)
            return interruption.code
        if failed:
            error, where = failed
            report(error.diagnostic, error.text or self.bound.known.program.text, where=where)
            return error.exit_code
        if beside is not None:
            beside.finish()
        return self.tally.code

    def _rate(self, begun: float, done: int) -> str:
        """How fast it goes, and how much is left, where that is known."""
        elapsed = max(time.monotonic() - begun, 1e-3)
        rate = self.tally.rows / elapsed
        told = f", {rate:,.0f} a second"
        share = self.tally.rows / self.total if self.total else done / self.size if self.size else 0
        if 0 < share < 1:
            told += f", {elapsed * (1 - share) / share:,.0f} s left"
        return told

    def _read(self, read: queue.Queue[Any]) -> None:
        error: BaseException | None = None
        try:
            for chunk in self.chunks():
                while not self.stopped.is_set():
                    try:
                        read.put(chunk, timeout=0.1)
                        break
                    except queue.Full:
                        continue
                if self.stopped.is_set():
                    return
        except BaseException as fault:
            error = fault
        while not self.stopped.is_set():
            try:
                read.put(_End(error), timeout=0.1)
                return
            except queue.Full:
                continue

    def _write(self, written: queue.Queue[Any], sink: Sink, ended: list[BaseException]) -> None:
        try:
            while (item := written.get()) is not None:
                sink.write(item)
            sink.close()
        except BaseException as fault:
            sink.drop()
            ended.append(fault)


def _next(read: queue.Queue[Any], interruption: Interruption, ended: list[BaseException]) -> Any:
    """What comes next; None where the work is to end instead."""
    while not interruption.asked and not ended:
        try:
            return read.get(timeout=0.1)
        except queue.Empty:
            continue
    return None


def _put(written: queue.Queue[Any], item: Any, ended: list[BaseException]) -> None:
    while not ended:
        try:
            written.put(item, timeout=0.1)
            return
        except queue.Full:
            continue


def _drain(read: queue.Queue[Any]) -> None:
    while True:
        try:
            read.get_nowait()
        except queue.Empty:
            return


def alike(rows: Reader, schema: pa.Schema, first: str) -> Iterator[Chunk]:
    """The rows of a file with the columns of the file called `first`, in their order. Raises where it has others."""
    check_alike(rows, schema, first)
    names = schema.names
    for chunk in rows.chunks():
        batch = chunk.batch
        yield chunk if batch.schema.names == names else chunk._replace(batch=batch.select(names))


def check_alike(rows: Reader, schema: pa.Schema, first: str) -> None:
    """Raise a `point` error where the columns of a file are not those of the file called `first`."""
    for field in schema:
        other = rows.schema.field(field.name).type
        if not other.equals(field.type):
            raise ExpressionError(
                "point", f"column `{field.name}` is {field.type} in {first}, and {other} in {rows.source.name}",
                hint="answer them one after the other, or make their columns alike",
            )  # fmt: skip
