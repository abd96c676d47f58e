"""One thread, as in every run."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _single(one_thread: None) -> None:
    pass
