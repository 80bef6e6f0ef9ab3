"""Which modules a command has loaded when it ends."""

from __future__ import annotations

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
    done = subprocess.run([sys.executable, "-c", RUN, *args], input=stdin, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split("\n"))
