"""Where the measured results are that come with hardgap: in a wheel beside its code, in a clone at the root.

A wheel has the runs and baselines without weights, which would be nine tenths of it.
"""

from __future__ import annotations

from pathlib import Path

import hardgap

WHEEL, CLONE = Path("results"), Path("../../results")


def own_results() -> Path:
    """The folder `results` of where the command was called, if there is one; else what came with hardgap."""
    package = Path(hardgap.__file__).parent
    places = (Path("results"), package / WHEEL, (package / CLONE).resolve())
    return next((place for place in places if place.is_dir()), places[0])
