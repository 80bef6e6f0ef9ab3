"""How time and memory grow with the size of a formula, and with the number of lines of a stream.

Each measurement has a process of its own. The process that starts them stays small and never holds
a program: Linux counts what the parent held at the start as part of a child's peak. Seconds are
those of the processor.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

AUTODIFF = str(Path(sys.executable).parent / "autodiff")

SHAPES: dict[str, Callable[[int], tuple[str, float]]] = {
    "sum": lambda size: ("+".join(["x"] * size), float(size)),
    "product": lambda size: ("*".join(["x"] * size), float(size)),
    "parentheses": lambda size: ("(" * size + "x" + ")" * size, 1.0),
    "negations": lambda size: ("-" * size + "x", 1.0 if size % 2 == 0 else -1.0),
    "bindings": lambda size: ("a = x\n" + "a = a + x\n" * (size - 1) + "a", float(size)),
    "powers": lambda size: ("+".join(f"{term % 7 + 1}x**2" for term in range(size)), _powers(size)),
}
"""Each shape's program of a size, and its derivative at x = 1."""


def _powers(size: int) -> float:
    return float(sum(2 * (term % 7 + 1) for term in range(size)))


def _peak() -> int:
    """The most memory that this process has held, in bytes."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(found[1]) * 1024 if found else 0


def write(shape: str, size: str, program: str) -> dict[str, float]:
    """Writes a program to a file; how many characters it has, and the right derivative."""
    text, expected = SHAPES[shape](int(size))
    Path(program).write_text(text, encoding="ascii")
    return {"characters": len(text), "expected": expected}


def through_python(program: str) -> dict[str, float]:
    """Seconds, nodes of the graph, derivative and memory in bytes of one call of `gradient`,
    imports not counted.
    """
    from autodiff_cli import gradient

    text = Path(program).read_text(encoding="ascii")
    gradient("x", {"x": 1})  # the first call loads what the later ones find
    before = _peak()
    begin = time.process_time()
    result = gradient(text, {"x": 1})
    taken = time.process_time() - begin
    peak = _peak() - before
    seen = {id(result.output)}
    left = [result.output]
    while left:
        for child in left.pop().children:
            if id(child) not in seen:
                seen.add(id(child))
                left.append(child)
    return {"seconds": taken, "nodes": len(seen), "derivative": result.gradient["x"], "bytes": peak}


def through_the_command(program: str) -> dict[str, float]:
    """Seconds, derivative and peak memory in bytes of `autodiff grad --file … --json`, its start
    included.
    """
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            [AUTODIFF, "grad", "--file", program, "--at", "x=1", "--json"], stdout=answer
        )
        taken, peak = _wait(process)
        answer.seek(max(0, answer.tell() - 1000))
        found = re.search(rb'"gradient": \{"x": ([^}]*)\}', answer.read())
    return {
        "seconds": taken,
        "derivative": float(found[1]) if found else float("nan"),
        "bytes": peak,
    }


def _wait(process: subprocess.Popen[Any]) -> tuple[float, int]:
    """The seconds and the peak memory in bytes that a process has used, once it has ended well."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def _apart(task: str, *arguments: str) -> dict[str, float]:
    """What one of the functions above returns in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, task, *arguments], stdout=subprocess.PIPE, check=True
    )
    return dict(json.loads(done.stdout))


def measure(sizes: dict[str, list[int]]) -> list[dict[str, object]]:
    """One row a shape and size: time and memory, in all and by size, through Python and through the
    command.
    """
    rows: list[dict[str, object]] = []
    for shape, wanted in sizes.items():
        for size in wanted:
            with tempfile.TemporaryDirectory() as folder:
                program = str(Path(folder, "program"))
                written = _apart("write", shape, str(size), program)
                python = _apart("python", program)
                command = through_the_command(program)
            if not python["derivative"] == command["derivative"] == written["expected"]:
                raise AssertionError(f"{shape} of {size}: {written}, {python}, {command}")
            rows.append(
                {
                    "shape": shape,
                    "size": size,
                    "characters": written["characters"],
                    "nodes": python["nodes"],
                    "seconds": round(python["seconds"], 4),
                    "microseconds/size": round(python["seconds"] / size * 1e6, 2),
                    "megabytes": round(python["bytes"] / 1e6, 1),
                    "bytes/size": round(python["bytes"] / size),
                    "command seconds": round(command["seconds"], 3),
                    "command megabytes": round(command["bytes"] / 1e6, 1),
                }
            )
    return rows


def stream(counts: list[int]) -> list[dict[str, object]]:
    """One row a count of lines: time and peak memory of one `autodiff grad --format jsonl` that
    answers them all.
    """
    rows: list[dict[str, object]] = []
    for count in counts:
        with tempfile.TemporaryFile("w+") as requests:
            requests.writelines(f"(x - {line})**2*y\tx={line + 1},y=2\n" for line in range(count))
            requests.seek(0)
            process = subprocess.Popen(
                [AUTODIFF, "grad", "--format", "jsonl"],
                stdin=requests,
                stdout=subprocess.PIPE,
                text=True,
            )
            answered = _right_answers(process.stdout)
            taken, peak = _wait(process)
        if answered != count:
            raise AssertionError(f"{answered} of {count} lines have the right answer")
        rows.append(
            {
                "lines": count,
                "seconds": round(taken, 3),
                "microseconds/line": round(taken / count * 1e6),
                "megabytes": round(peak / 1e6, 1),
            }
        )
    return rows


def _right_answers(answers: IO[str] | None) -> int:
    return sum('"gradient": {"x": 4.0, "y": 1.0}' in answer for answer in answers or ())


if __name__ == "__main__":
    tasks: dict[str, Callable[..., dict[str, float]]] = {"write": write, "python": through_python}
    print(json.dumps(tasks[sys.argv[1]](*sys.argv[2:])))
