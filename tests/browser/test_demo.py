"""The demo as a user runs it, and its page opened in a real browser."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browser() -> str:
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    pytest.fail(f"no browser to open the page with: install one of {', '.join(BROWSERS)}")


@pytest.mark.slow
def test_the_demo_tells_what_happened_and_its_page_can_be_read(tmp_path: Path) -> None:
    """Whether the entry is recovered is the machine's bits' to say; terminal, page, JSON and exit code agree on it."""
    done = subprocess.run(
        [sys.executable, "-m", "hardgap", "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=3600
    )
    told, recovered = done.stdout, done.returncode == 0
    assert done.returncode in (0, 1), done.stderr
    assert told.count("wrong") >= 5
    assert ("010 → 1: an entry that it was never shown" in told) == recovered
    assert ("not recovered on this machine" in told) != recovered
    assert "hardgap-demo.html" in told.splitlines()[-2]

    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    page = (tmp_path / "hardgap-demo.html").as_uri()
    seen = subprocess.run(
        [browser(), *flags, profile, "--dump-dom", page], capture_output=True, text=True, timeout=900, check=True
    ).stdout
    assert f"The hidden entry 010 was {'recovered' if recovered else 'not recovered'}" in seen
    assert seen.count("<svg") == 2
    assert "src=" not in seen

    again = subprocess.run(
        [sys.executable, "-m", "hardgap", "demo", "--json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert again.returncode == done.returncode
    assert (json.loads(again.stdout)["recovered_table"] == [0, 1, 1, 0, 1, 0, 0, 1]) == recovered
