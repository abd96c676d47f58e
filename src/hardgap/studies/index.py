"""Which study each measured file belongs to: `results/README.md` by folder, `results/index.csv` by file."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from hardgap.core.errors import BadInput
from hardgap.core.specs import SCALES
from hardgap.core.table import Table
from hardgap.report import render
from hardgap.report.document import Content, markdown
from hardgap.runs.results import RUN_FILE
from hardgap.studies.study import STUDIES

NO_STUDY = "none: what led to a choice, as the folder's name says"


BLOCKS = ("folders",)


def content(results: Path) -> Content:
    """Both, for the page that links to the index."""
    if not results.is_dir():
        raise BadInput(f"there is no folder {results}")
    files = _files(results)
    return Content(
        {"folders": markdown([_by_folder(files)])}, files={"index.csv": render.comma_separated(_by_file(files))}
    )


def _files(results: Path) -> dict[str, list[str]]:
    """Every file with the studies that its run is part of, by its place in the folder."""
    studies = studies_by_run()
    found = {}
    for path in sorted(results.rglob("*.json")):
        place = path.relative_to(results).as_posix()
        found[place] = studies[path.stem] if RUN_FILE.fullmatch(path.name) else [_computed(path)]
    return found


def studies_by_run() -> dict[str, list[str]]:
    """The studies of each run, at whichever scale."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for name, study in STUDIES.items():
        for scale in SCALES:
            for run in study.runs(scale):
                found[run.id][name] = None
    return defaultdict(list, {run_id: list(names) for run_id, names in found.items()})


def _computed(path: Path) -> str:
    """A file that is no run says itself what it is."""
    try:
        if path.name.endswith(".replica.json"):
            return "replicas"
        return str(json.loads(path.read_text(encoding="utf-8")).get("kind", "computed"))
    except (OSError, ValueError, AttributeError):
        return "computed"


def _by_file(files: dict[str, list[str]]) -> Table:
    return Table("", ["file", "studies"], [[place, " ".join(names)] for place, names in files.items()])


def _by_folder(files: dict[str, list[str]]) -> Table:
    folders: dict[str, list[list[str]]] = defaultdict(list)
    for place, names in files.items():
        folders[place.rpartition("/")[0]].append(names)
    rows = [[f"`{folder}/`", len(held), _together(held)] for folder, held in sorted(folders.items())]
    title = "Files by folder, and the studies that they belong to"
    return Table(title, ["folder", "files", "studies"], rows, ["files"])


def _together(held: list[list[str]]) -> str:
    """The studies of a folder; where there are many of one kind, by what their names begin with."""
    names = list(dict.fromkeys(name for names in held for name in names))
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[name.partition("/")[0]].append(name)
    told = [f"{group}/…" if len(several) > 3 else ", ".join(several) for group, several in groups.items()]
    return ", ".join(told) or NO_STUDY
