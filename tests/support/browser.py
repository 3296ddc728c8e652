"""A headless Chromium for tests of pages. Where none is installed they are skipped, with what to install."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--window-size=1000,900"),
)


MISSING = "install chromium and chromium-driver (Debian: apt-get install chromium chromium-driver)"


@contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """A running browser with an empty profile, closed afterwards."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip(MISSING)
    from selenium.webdriver import Chrome
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = Chrome(options=options, service=Service(driver))
    try:
        yield running
    finally:
        running.quit()
