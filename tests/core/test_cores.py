"""As many processes as this one may use processors, not as the machine has."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hardgap.core.cores import usable_cores


def test_a_process_that_is_held_to_one_processor_has_one() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system does not hold processes to processors")
    one = "import os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]); "
    code = one + "from hardgap.core.cores import usable_cores; print(usable_cores())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
