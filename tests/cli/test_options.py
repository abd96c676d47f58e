"""Options are fields of a run's config: the same command line is the same run, and a refusal names the option."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hardgap.cli import main
from hardgap.core.run import Run

IDS = (
    ("train 150 --hide 2", "92ec16f9b5ca"),
    ("train 30 --hide 3 --scale smoke", "9310fdef83c5"),
    ("train 30 --hide 3 --scale paper", "536e6c1a7766"),
    ("train D --hide-random 8 --unroll hard --seed 3", "c5ab374013d2"),
    ("train D --hide-random 8 --hide-seed 4 --unroll none", "9d8701da8f49"),
    ("train 150 --hide 3 --recipe tempered", "1dfd354cf9fc"),
    ("train 150 --hide 3 --recipe tempered --steps 3000", "3cab9605e788"),
    ("train 150 --hide 3 --recipe tempered --steps 1", "c95d925f0899"),
    ("train 150 --hide 3 --recipe tempered --unroll hard", "ef78ad2eb153"),
    ("train 150 --hide 3 --recipe tempered --unroll none --clip 0", "93005a6b02a9"),
    ("train 150 --hide 3 --recipe tempered --width 101 --positions waves --restart-at 0", "97918ce683ae"),
    ("train 150 --hide 3 --recipe tempered --temperature 4 --restart-at 100", "2940679e973e"),
    ('train "L1 ^ (C & R1)" --hide 5 --temperature 4:1:400', "b25bfd0865a1"),
    ("train 30 --hide 3 --unroll-steps 2 --step-weights 1,2", "bd3fc21ecacc"),
    (
        "train 30 --hide 3 --unroll soft --batch 32 --learning-rate 0.01 --clip 0 --schedule cosine --until-solved 0",
        "bc81a5b4ca10",
    ),
    ("train 30 --hide 3 --masking first --log-saturation --device auto", "fc651895e10e"),
    ("train 30 --hide 3 --model conv", "4844c7694014"),
    ("train D --hide 3 --model conv --positions random --until-solved 5", "b43dec639b76"),
    ('symbolic train "^|"', "f7121e8926ea"),
    ('symbolic train "&L" --condition label-only --batch 128 --seed 42', "5b8c5bad3071"),
    ('symbolic train "&L" --condition label-only --seed 42', "fbaaaed9bf02"),  # 192 since 0.2.0
    ('symbolic train "^|" --scale paper', "7c16db48aeb9"),
    (
        'symbolic train "^&" --scale smoke --steps 10 --evaluate-every 5 --batch 8 --learning-rate 0.1 --clip 0',
        "c99845b9a7d7",
    ),
    (
        'symbolic train "^|" --steps 12000 --schedule linear --clip 2 --train-examples 1000 --eval-examples 10 --test-examples 20 --seen-examples 5',  # noqa: E501
        "63e1bbb27c4e",
    ),
    (
        'symbolic train "^|&" --operators "^,|,&" --bits 3 --length 3 --ambiguity any --scale smoke --device auto',
        "4681861f3b90",
    ),
)
"""As they were before options were derived from fields."""
SMOKE = "train 30 --hide 3 --scale smoke"


class Configured(BaseException):
    """Instead of training."""


@pytest.mark.parametrize(("line", "run_id"), IDS)
def test_a_command_line_is_the_run_it_always_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, run_id: str
) -> None:
    def stop(store: object, run: Run) -> None:
        raise Configured(run.id)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hardgap.cli.train.train_one", stop)
    with pytest.raises(Configured, match=run_id):
        main(shlex.split(line))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"{SMOKE} --batch 0", "--batch: input should be greater than 0, not 0"),
        (f"{SMOKE} --steps=-5 --recipe tempered", "--steps: input should be greater than 0, not -5"),
        (f"{SMOKE} --unroll-steps 0", "--unroll-steps: input should be greater than 0, not 0"),
        (f"{SMOKE} --temperature 0", "--temperature: input should be greater than 0, not 0.0"),
        (f"{SMOKE} --temperature 4:1:2.5", "--temperature: input should be a valid integer"),
        (f"{SMOKE} --temperature hot", "--temperature hot: write a number, or FROM:TO:STEPS such as 4:1:2000"),
        (f"{SMOKE} --step-weights 1,x", "--step-weights 1,x: write numbers such as 1,1,2,2"),
        (f"{SMOKE} --step-weights 1,1,1,-1", "--step-weights: input should be greater than or equal to 0, not -1.0"),
        (f"{SMOKE} --restart-at=-1", "--restart-at: input should be greater than 0, not -1"),
        (f"{SMOKE} --until-solved=-1", "--until-solved: input should be greater than 0, not -1"),
        (f"{SMOKE} --model mynet!:make", "--model: string should match pattern"),
        (f"{SMOKE} --init nowhere", "--init nowhere: there is no such file"),
        ("symbolic train ^| --bits 0", "--bits: input should be greater than 0, not 0"),
        ("symbolic train ^| --operators ^,|,?", "--operators: operator '?' is not known"),
        ("symbolic train ^| --train-examples 0", "--train-examples: input should be greater than 0"),
        ("symbolic baselines ^| --length 0", "--length: input should be greater than 0"),
        ("identify 30 --hide 3 --steps 0", "--steps 0: give 1 or more"),
        ("identify 30 --hide 3 --steps=0", "--steps 0: give 1 or more"),
        ("baselines --rule 30 --hide 3 --method nope", "--method nope: choose KNN"),
        ("baselines --rule 30 --hide 3 --temporal --size al", "--size al: write a number of examples, or"),
        ("baselines --rule 30 --hide 3 --rows 5", "--rows goes with --temporal"),
        ("baselines --rule 30 --hide 3 --size all", "--size goes with runs or with --temporal"),
        ("baselines --rule 30 --hide 3 --temporal --size 0", "--size 0: a method needs at least 2"),
        ("baselines --rule 30 --hide 3 --figure a.gif", "--figure a.gif: the name must end in"),
    ],
)
def test_a_refusal_names_the_option_that_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line))
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith(f"hardgap: {words}")
    assert len(said.err.splitlines()) == 1


def test_an_option_has_its_help_and_choices_from_its_field(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--clip FLOAT Largest gradient norm; 0 goes without. (desk: 1.0)" in said
    assert "--batch INT Examples in a training step. (desk: 64)" in said
    assert "--unroll CHOICE What is fed back. (desk: soft) [choices: soft, hard, none]" in said
    assert "--log-saturation Also keep the certainty of cells and the gradient reaching them." in said
    assert "--no-log-saturation" not in said
