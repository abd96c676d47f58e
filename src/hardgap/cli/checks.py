"""`hardgap checks`"""

from __future__ import annotations

from hardgap.cli.output import TABLES, Show
from hardgap.core.table import Table


def checks(*, output: Show = TABLES) -> None:
    """Which engine computes here, and why: the native one needs a library that was built when installing.

    HARDGAP_ENGINE, or `--engine` of the commands that train, takes another.

    Example: `HARDGAP_ENGINE=eager hardgap checks`
    """
    from hardgap.nn.native import engine
    from hardgap.nn.native.build import BUILDS
    from hardgap.runs.versions import versions

    found = {"engine": engine.why(), **{f"build {build}": engine.state_of(build) for build in BUILDS}, **versions()}
    rows = [[name, value] for name, value in found.items()]
    output.show(found, [Table("What computes here", ["field", "value"], rows)])
