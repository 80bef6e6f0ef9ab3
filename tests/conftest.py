"""What holds for all tests: none is timed, and what they draw is the same in every run unless new
cases are asked for.

`python -m pytest --hypothesis-profile search` draws new cases.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import HealthCheck, settings

from warm_sympy import warm_sympy

# Under `nohup` it is ignored, and so it would be by every command that a test starts and hangs up
# on.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# As under `nohup`, in the background of a script.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what needs Unix where there is none."""
    if sys.platform == "win32" and item.get_closest_marker("posix"):
        pytest.skip("this needs a pseudo-terminal, a shell or a signal of Unix")


@pytest.fixture(scope="session", autouse=True)
def sympy_is_started_once() -> Iterator[None]:
    """Whatever the tests ask of SymPy in this process."""
    with warm_sympy() if hasattr(os, "fork") else nullcontext():
        yield


def pytest_collection_finish() -> None:
    """Leave what pytest and the imported libraries made to no collection: each would walk through
    all of it.
    """
    gc.collect()
    # there Hypothesis, which watches the collector, takes frozen objects for an error
    if sys.version_info < (3, 14):
        gc.freeze()
