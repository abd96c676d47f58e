"""Any command line at all: an answer or one sentence, never a traceback. (What trains is left out.)"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hardgap.cli import main
from hardgap.runs.store import Store

# Commands with arguments and options that make sense; the words of a name stay, so that none trains or takes long.
COMMANDS = {
    "rule": (["30"], ["--width 9", "--steps 3", "--random", "--seed 1", "--json"]),
    "identify --rows=3": (
        ["30"],
        ["--hide 011", "--hide-random 2", "--hide-seed 1", "--steps 2", "--width 9", "--level rule", "--json"],
    ),
    "prove --rule=30": ([], ["--hide 1,100", "--weights w.safetensors", "--json"]),
    "baselines --rule=30 --method=KNN": ([], ["--hide 3", "--seed 1", "--figure f.gif", "--sizes 1,2", "--json"]),
    "construct --then=999": (["30"], ["--width 3", "--compact", "--code circle", "--output w.safetensors"]),
    "runs list": ([], ["--status done", "--store here", "--json"]),
    "runs show": (["ab"], ["--store here", "--json"]),
    "runs rm": (["ab"], ["--store here"]),
    "runs export": (["out"], ["--store here"]),
    "runs import": (["out"], ["--store here"]),
    "runs certify": (["ab"], ["--steps 2", "--store here"]),
    "circuits": (["ab"], ["--only lens", "--step 3", "--figure f.png", "--over-time", "--seed 1", "--store here"]),
    "symbolic ask": (["ab", "1", "2"], ["--select final", "--step 3", "--store here"]),
    "symbolic analyse": (["ab"], ["--only lens", "--examples 3", "--figures f", "--store here"]),
    "reproduce tempered/dial --no-run": ([], ["--scale smoke", "--store here", "--json"]),
    "sweep": (["bad.toml"], ["--workers 1", "--budget 1s", "--store here"]),
    "reproduce --no-run mian": ([], ["--scale smoke", "--budget 1s", "--figure f.svg", "--store here"]),
}
ODD = [
    "", "0", "-1", "1", "7", "00011", "1.5", "nan", "-inf", "1e400", "0x1f", "9" * 5000, "0x" + "f" * 5000, "x" * 300,
    "\udcff", "é", "٣", "^|", "1,,2", "3,3", "--", "-", "[bold]", "\x1b[31m", "/dev/null", "/proc/self/mem", "here",
    "{}", "%s%n", "L1 ^", "(" * 2000, "r9:1", "None", "true", "a\nb", "no.such:thing", "os:getcwd",
]  # fmt: skip
OPTIONS = sorted({option.split()[0] for _, options in COMMANDS.values() for option in options})


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command as it should be, in which some words are replaced, left out, doubled, or added."""
    name = draw(st.sampled_from(sorted(COMMANDS)))
    arguments, options = COMMANDS[name]
    chosen = draw(st.lists(st.sampled_from(options), unique=True, max_size=3)) if options else []
    words = [*arguments, *(word for option in chosen for word in option.split())]
    odd = st.one_of(st.sampled_from(ODD), st.sampled_from(OPTIONS), st.text(max_size=6).filter(lambda t: "\0" not in t))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(words)))
        words[place : place + draw(st.integers(0, 1))] = draw(st.lists(odd, max_size=2))
    return [*name.split(), *words]


@pytest.fixture(scope="module", autouse=True)
def _workshop(tmp_path_factory: pytest.TempPathFactory) -> object:
    before, folder = Path.cwd(), tmp_path_factory.mktemp("fuzz")
    os.chdir(folder)
    Store(folder / "here").close()
    (folder / "bad.toml").write_text("[base]\nrule = 256\n")
    yield
    os.chdir(before)


def answer(words: list[str]) -> tuple[object, str]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main(words)
        except SystemExit as ended:
            return ended.code, said.getvalue()
    return "no exit", said.getvalue()


@given(command_lines())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@example(["runs", "show", "\udcff", "--store", "here"])
@example(["construct", "30", "--output", ""])
@example(["identify", "150", "--hide", "3", "--steps", "100000"])
@example(["symbolic", "baselines", "^|", "--length", "999999999"])
@example(["rule", "(" * 2000])
def test_any_command_line_is_answered_or_refused(words: list[str]) -> None:
    code, said = answer(words)
    assert code in (0, 1, 2, 130), said
    assert "Traceback" not in said
    if code == 2:
        assert said.splitlines()[-1].strip()
