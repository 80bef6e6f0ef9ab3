"""A real browser without a window, if one is installed: pages are opened from disk, and their
complaints kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
MISSING = (
    "there is no Chromium: `apt-get install chromium`, or any of " + ", ".join(NAMES)
    if not CHROMIUM
    else ""
    if find_spec("playwright")
    else "Playwright is not installed"
)
"""Why pages cannot be tested here; empty where they can."""


class Tab:
    """One page of the browser: what it is, and what it said on its console."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on(
            "request",
            lambda request: request.url.startswith("file:") or self.said.append(request.url),
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)


@contextmanager
def browser() -> Iterator[Any]:
    """The browser, for a while."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # In a container there is nobody to be protected from the pages that the tests themselves
        # make.
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()
