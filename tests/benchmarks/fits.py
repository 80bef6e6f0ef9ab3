"""Fits of NIST's nonlinear problems: right digits, evaluations and CPU time beside SciPy's
`curve_fit` and lmfit.
"""

from __future__ import annotations

import csv
import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from autodiff_cli.capabilities.optimize.fit import fit

NIST = Path(__file__).parents[1] / "corpora" / "nist"
MOST = 11.0
"""The digits that the certified values have."""

Outcome = tuple[Mapping[str, float], int]


def measure(small: bool = False) -> list[dict[str, object]]:
    """A row a fitter: its worst and median problem in right digits, how many have 9, evaluations,
    milliseconds.

    A fit that ends in an error has no digit, and its evaluations are not counted.
    """
    problems = [
        json.loads(line)
        for line in (NIST / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    fitters: dict[str, Callable[[dict[str, Any], Any, Any, list[float]], Outcome]] = {
        "autodiff": _ours, "SciPy curve_fit": _scipy,
    }  # fmt: skip
    try:
        import lmfit

        assert lmfit
        fitters["lmfit"] = _lmfit
    except ImportError:
        pass
    found: list[dict[str, object]] = []
    for name, fitter in fitters.items():
        right, evaluations, seconds = [], 0, 0.0
        for problem in problems[-1:] if small else problems:
            x, y = _data(problem["name"])
            for start in ("start1", "start2"):
                values = [float(problem[start][p]) for p in problem["certified"]]
                begun = time.process_time()
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    try:
                        estimates, count = fitter(problem, x, y, values)
                    except (RuntimeError, ValueError):
                        estimates, count = {}, 0
                seconds += time.process_time() - begun
                evaluations += count
                right.append(
                    min(_digits(estimates.get(p), text) for p, text in problem["certified"].items())
                )
        right.sort()
        found.append(
            {
                "fitter": name,
                "worst digits": round(right[0], 1),
                "median digits": round(right[len(right) // 2], 1),
                "9 digits in": sum(each >= 9 for each in right),
                "of": len(right),
                "evaluations": evaluations,
                "milliseconds": round(1000 * seconds),
            }
        )
    return found


def _digits(x: float | None, certified: str) -> float:
    wanted = float(certified)
    if x is None or not math.isfinite(x):
        return 0.0
    return MOST if x == wanted else max(0.0, min(MOST, -math.log10(abs(x - wanted) / abs(wanted))))


def _data(name: str) -> tuple[Any, Any]:
    with open(NIST / f"{name}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([float(row["x"]) for row in rows]), np.array([float(row["y"]) for row in rows])


def _model(problem: dict[str, Any], counted: list[int]) -> Callable[..., Any]:
    names = ", ".join(problem["certified"])
    text = problem["formula"].partition("=")[2].replace("exp", "np.exp")
    space: dict[str, Any] = {"np": np, "counted": counted}
    exec(f"def model(x, {names}):\n    counted[0] += 1\n    return {text}", space)
    model: Callable[..., Any] = space["model"]
    return model


def _ours(problem: dict[str, Any], x: Any, y: Any, start: Sequence[float]) -> Outcome:
    names = list(problem["certified"])
    found = fit(
        problem["formula"], {"x": list(x), "y": list(y)}, dict(zip(names, start, strict=True))
    )
    return {name: float(found.parameters[name].estimate) for name in names}, found.evaluations


def _scipy(problem: dict[str, Any], x: Any, y: Any, start: Sequence[float]) -> Outcome:
    counted = [0]
    found, _ = curve_fit(_model(problem, counted), x, y, start)
    return dict(zip(problem["certified"], map(float, found), strict=True)), counted[0]


def _lmfit(problem: dict[str, Any], x: Any, y: Any, start: Sequence[float]) -> Outcome:
    import lmfit

    counted = [0]
    names = list(problem["certified"])
    model = lmfit.Model(_model(problem, counted), independent_vars=["x"])
    found = model.fit(y, x=x, **dict(zip(names, start, strict=True)))
    return {name: float(found.params[name].value) for name in names}, counted[0]
