"""A page as PDF, printed by a browser if there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from hardgap.core.errors import BadInput

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120


def find_browser() -> str:
    """The first browser on the path that can print without a window."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise BadInput(f"pdf: no browser to print with is on the PATH; looked for {', '.join(BROWSERS)}", of="pdf")
    return found


def print_page(browser: str, page: Path, pdf: Path) -> None:
    """Have the browser print a page to a file."""
    with TemporaryDirectory() as profile:
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={profile}",
                   f"--print-to-pdf={pdf.resolve()}", page.resolve().as_uri()]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # a browser refuses to run as root with it
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BadInput(f"pdf {pdf}: {browser} did not print it: {error}", of="pdf") from error
    if done.returncode or not pdf.exists():
        raise BadInput(f"pdf {pdf}: {browser} did not print it (exit code {done.returncode})", of="pdf")
