"""Where the measured results are that come with hardgap: in a wheel beside its code, in a clone at the root.

A wheel has what studies read; weights, larger than all the rest, stay in the repository.
"""

from __future__ import annotations

from pathlib import Path

import hardgap
from hardgap.runs.results import RUN_FILE

WHEEL, CLONE = Path("results"), Path("../../results")


def own_results() -> Path:
    """The folder `results` of where the command was called, if runs are in it; else what came with hardgap."""
    here, package = Path("results"), Path(hardgap.__file__).parent
    if any(RUN_FILE.fullmatch(path.name) for path in here.rglob("*.json")):  # others call a folder so, too
        return here
    came = package / WHEEL
    return came if came.is_dir() else (package / CLONE).resolve()
