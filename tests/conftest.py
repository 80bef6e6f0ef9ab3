"""What holds for all tests: none is timed, and what they draw is the same in every run unless new cases are asked for.

`python -m pytest --hypothesis-profile search` draws new cases.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True)
settings.load_profile("same")
