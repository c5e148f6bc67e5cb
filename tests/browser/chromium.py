"""The browser that the tests drive: Debian's Chromium, which `make browser` installs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

# Another one, for a machine that isn't Debian's: CHROMIUM=/path/to/chrome make test
_PATH = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
# As root without user namespaces there is no sandbox; it opens pages of this machine alone. The
# rest keeps it from calling home while it is tested.
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class ChromiumMissing(Exception):
    def __init__(self) -> None:
        super().__init__(
            f"tests/browser need Chromium, and there is none at {_PATH}. Run `sudo make"
            " browser` on Debian, or set CHROMIUM to where a Chrome or Chromium is"
        )


@contextmanager
def started() -> Iterator[Browser]:
    """
    While it is open, asyncio works in no other code of this thread: Playwright's loop runs there.

    Raises ChromiumMissing.
    """
    if not os.access(_PATH, os.X_OK):
        raise ChromiumMissing
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_PATH, args=list(_OPTIONS))
        yield browser
        browser.close()
