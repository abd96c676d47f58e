"""`hardgap checks`"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hardgap.cli.output import STORE, TABLES, Show, StoreFolder
from hardgap.core.cores import usable_cores
from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.runs.file_system import NETWORKED, file_system

FEATURES = {
    "DataFrames: frame(), points()": ("pandas", ["pandas"]),
    "runs export --parquet": ("parquet", ["pyarrow"]),
    "runs export --to tensorboard": ("tensorboard", ["tensorboard"]),
    "runs export --to mlflow": ("mlflow", ["mlflow-skinny|mlflow", "sqlalchemy", "alembic"]),
    "runs export --to wandb-offline": ("wandb", ["wandb"]),
    "runs export --to trackio": ("trackio", ["trackio"]),
    "bench rollout, compared": ("bench", ["cax", "cellpylib"]),
    "sweeps on Ray": ("ray", ["ray"]),
    "sweeps on SLURM": ("slurm", ["submitit"]),
    "building the documentation": ("docs", ["sphinx", "furo", "myst-nb"]),
}
"""What is not there with every installation: the extra that brings it, and its packages (of some, either will do)."""


def checks(*, store: StoreFolder = STORE, output: Show = TABLES) -> None:
    """What computes here, and what is missing for which feature: versions, cores, engine, the store's file system.

    The native engine needs a library that was built when installing. HARDGAP_ENGINE, or `--engine` of the commands that
    train, takes another.

    Try:

        hardgap checks
        HARDGAP_ENGINE=eager hardgap checks
    """
    from hardgap.nn.native import engine
    from hardgap.nn.native.build import BUILDS
    from hardgap.runs.versions import versions

    found: dict[str, Any] = {
        "engine": engine.why(),
        **{f"build {build}": engine.state_of(build) for build in BUILDS},
        **versions(),
        "cores": f"{usable_cores()} of {os.cpu_count()} may be used; a run takes one",
        "store": f"{store}, on {_file_system(store)}",
    }
    features = {name: _state(extra, packages) for name, (extra, packages) in FEATURES.items()}
    features["report --pdf"] = _browser()
    tables = [
        Table("What computes here", ["field", "value"], [list(item) for item in found.items()]),
        Table("What else is here", ["feature", "state"], [list(item) for item in features.items()]),
    ]
    output.show(found | {"features": features}, tables)


def _file_system(folder: Path) -> str:
    """Where the store is, or would be; of what machines share, what that means."""
    kind = file_system(folder) or "an unknown file system"
    warning = ": use a store from one machine at a time, SQLite cannot guard it between several"
    return kind + warning * (kind in NETWORKED)


def _state(extra: str, packages: list[str]) -> str:
    """The versions that are here, or the command that installs what is missing."""
    found = [next(filter(None, map(_version, either.split("|"))), None) for either in packages]
    if None in found:
        return f"missing: pip install 'hardgap[{extra}]'"
    return ", ".join(filter(None, found))


def _version(package: str) -> str | None:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return None


def _browser() -> str:
    from hardgap.report.pdf import find_browser

    try:
        return find_browser()
    except BadInput as missing:
        return f"missing: {missing}"
