"""Which modules a command has loaded when it ends."""

from __future__ import annotations

import os
import subprocess
import sys

HEAVY = {"rich", "numpy", "scipy", "pydantic", "mpmath", "flint", "pygments", "markdown_it"}
RUN = """
import sys
from autodiff_cli.__main__ import run
code = run(sys.argv[1:])
sys.stderr.write("\\n".join(sorted(sys.modules)))
sys.exit(code)
"""


def modules(*args: str, stdin: str = "") -> set[str]:
    """The modules that a command has loaded when it ends, its output going to a pipe."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *args], input=stdin, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split("\n"))


def modules_of_a_press_of_tab(*words: str) -> set[str]:
    """The modules that are loaded when bash has asked what the last of these words may become."""
    asked = {"_AUTODIFF_COMPLETE": "bash", "_AUTODIFF_LINE": " ".join(["autodiff", *words])}
    code = RUN.replace("run(sys.argv[1:])", "run([])")
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout, done.stderr
    return set(done.stderr.split("\n"))
