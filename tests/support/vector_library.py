"""Compares compiled rows with 40 digits on this processor, and says which vector functions were
called.
"""

from __future__ import annotations

import platform
import sys

import mpmath
import numpy as np

from autodiff_cli.compiled import kernels
from autodiff_cli.compiled.evaluator import gradient_recorder
from autodiff_cli.questions.problem import parse

MAX_ULP = 5.0
"""The same as in the tests of blocks; the C libraries promise 4 of a vector function, and the plain
ones 1 or 2.
"""
WIDE, POSITIVE, OPEN = (-5.0, 5.0), (0.05, 40.0), (-0.95, 0.95)
FUNCTIONS = {
    "exp": WIDE, "expm1": WIDE, "sin": WIDE, "cos": WIDE, "tan": OPEN, "sinh": WIDE, "cosh": WIDE,
    "tanh": WIDE, "asinh": WIDE, "atan": WIDE, "erf": WIDE, "erfc": OPEN, "log": POSITIVE,
    "log1p": POSITIVE, "log10": POSITIVE, "cbrt": POSITIVE, "asin": OPEN, "acos": OPEN,
    "atanh": OPEN,
}  # fmt: skip
ROWS = 43
"""Not a multiple of the rows that are computed at once."""


def main() -> int:
    """Print the largest error; return 1 if it is larger than the bound, or a row had no value."""
    mpmath.mp.dps = 40
    has, used = kernels._symbols(), set()

    def spy(name: str) -> bool:
        found = has(name)
        used.update([name] if found and name.startswith("_ZGV") else [])
        return found

    kernels._symbols = lambda: spy  # type: ignore[assignment]
    errors = {}
    for name, (low, high) in FUNCTIONS.items():
        made = kernels.kernel(gradient_recorder(parse(f"{name}(x)"), ["x"]), 1, frozenset(), "llvm")
        x, results, flags = np.linspace(low, high, ROWS), np.empty((2, ROWS)), np.empty(ROWS, bool)
        assert made.compute is not None
        made.compute([x], results, flags)
        function = getattr(mpmath, name)
        exact = [function(mpmath.mpf(value)) for value in x.tolist()]
        off = [abs(mpmath.mpf(a) - b) for a, b in zip(results[0].tolist(), exact, strict=True)]
        errors[name] = max(
            float(a / np.spacing(abs(float(b)))) for a, b in zip(off, exact, strict=True) if b
        )
        errors[name] += np.inf if flags.any() else 0
    worst = max(errors, key=lambda name: errors[name])
    library = " ".join(platform.libc_ver())
    print(
        f"{platform.machine()}, {library}: {len(FUNCTIONS)} functions at {ROWS} rows; vector"
        " functions:"
    )
    print(
        f"  {' '.join(sorted(used)) or 'none'}; largest error {errors[worst]:.2f} ulp, of {worst}"
    )
    return int(errors[worst] > MAX_ULP)


if __name__ == "__main__":
    sys.exit(main())
