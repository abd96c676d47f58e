"""What the pages tell to run, runs: Python and commands, page by page in one session, at smoke scale.

A block may carry a mark in the line above: `<!-- slow -->`, run with the slow tests, `<!-- slow, exit 1 -->` if it ends
with that code; `<!-- not run: why -->`; and `<!-- file: name.py -->`, written instead of run. Every command, run or
not, is one that the command line takes.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hardgap.cli import main
from hardgap.cli.app import COMMANDS, build_app
from hardgap.runs.sweep import read_sweep
from hardgap.studies.study import STUDIES

ROOT = Path(__file__).parents[1]
MADE = {"generated", "_build"}
"""Folders of the site that are written by `make docs`."""
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if not MADE & {*path.parts})]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^>]+) -->\n)?^```(?P<language>python|console|toml)\n(?P<text>.*?)^```", re.S | re.M
)
LINE = re.compile(rf"^(?: {{4}}|\$ )?(hardgap (?:{'|'.join(COMMANDS)})\b.*)$", re.MULTILINE)
OPENED = ("34cc297255b6", "0c02dce15cde", "521d01d5965a")
"""Committed runs that pages name."""


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    mark: str

    @property
    def is_slow(self) -> bool:
        return self.mark.startswith("slow")

    def run(self, session: dict[str, Any]) -> None:
        if self.mark.startswith("file: "):
            Path(self.mark.removeprefix("file: ")).write_text(self.text)
        elif self.language == "python":
            exec(compile(self.text.replace('"desk"', '"smoke"'), "block", "exec"), session)
        elif self.language == "console":
            for line in LINE.findall(self.text):
                call(shlex.split(line, comments=True)[1:], int("exit 1" in self.mark))


def call(arguments: list[str], code: int) -> None:
    trains = "train" in arguments[:2]
    with pytest.raises(SystemExit) as ended:
        main(arguments + ["--scale", "smoke"] * trains)
    assert ended.value.code == code, arguments


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8").replace("\\\n", "")  # a command over two lines is one


def blocks(page: Path) -> list[Block]:
    found = [Block(m["language"], m["text"], m["mark"] or "") for m in BLOCK.finditer(read(page))]
    return [one for one in found if not one.mark.startswith("not run: ") and one.language != "toml"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader has it: some committed results, and a store that has them."""
    home = tmp_path_factory.mktemp("home")
    results = home / "results"
    for name in ("main", "k-sweep", "weights"):
        (results / name).mkdir(parents=True)
        for path in (ROOT / "results" / name).iterdir():
            if path.name.startswith(OPENED) or (name == "main" and path.name < "2"):  # an eighth of them will do
                (results / name / path.name).symlink_to(path)
    with pytest.raises(SystemExit):
        main(["runs", "import", str(results), "--store", str(home / "hardgap-runs")])
    return home


@pytest.fixture
def here(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place, known = tmp_path / "here", {*sys.modules}
    shutil.copytree(home, place, symlinks=True)
    shutil.copy(ROOT / "examples" / "own_model.py", place)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    studies = {*STUDIES}
    yield place
    for name in {"own_model", "my_ops"} & ({*sys.modules} - known):
        del sys.modules[name]
    for name in {*STUDIES} - studies:
        del STUDIES[name]


def named(pages: list[Path]) -> list[Any]:
    return [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in pages]


@pytest.mark.parametrize("page", named([page for page in PAGES if any(not one.is_slow for one in blocks(page))]))
def test_what_a_page_tells_to_run_runs(page: Path, here: Path) -> None:
    session: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if not block.is_slow:
            block.run(session)


@pytest.mark.slow
@pytest.mark.parametrize("page", named([page for page in PAGES if any(one.is_slow for one in blocks(page))]))
def test_what_takes_longer_runs_too(page: Path, here: Path) -> None:
    session: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        block.run(session)


@pytest.mark.parametrize("page", named([page for page in PAGES if LINE.search(read(page))]))
def test_every_command_is_one_that_there_is(page: Path) -> None:
    app = build_app()
    for line in LINE.findall(read(page)):
        app.parse_args(shlex.split(line, comments=True)[1:], exit_on_error=False, print_error=False)


def test_a_sweep_file_that_a_page_shows_is_read(here: Path) -> None:
    (shown,) = [one for one in BLOCK.findall((ROOT / "docs/howto/sweeps.md").read_text()) if one[1] == "toml"]
    (here / "sweep.toml").write_text(shown[2])
    assert len(read_sweep(here / "sweep.toml")) == 2 * 3 * 3 * 2


def test_a_command_that_is_not_there_is_noticed() -> None:
    with pytest.raises(Exception, match="Unknown option"):
        build_app().parse_args(shlex.split("train 150 --hied 3"), exit_on_error=False, print_error=False)
