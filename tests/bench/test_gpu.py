"""`hardgap bench gpu`: one run at a time against stacks, where there is a GPU or the CPU is asked for."""

from __future__ import annotations

import pytest
import torch

from hardgap.bench.gpu import SINGLE, measure_stacks
from hardgap.cli import main


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "gpu"])
    told = "hardgap: there is no cuda device here; `hardgap bench gpu --device cpu` measures the same on the CPU\n"
    assert (ended.value.code, capsys.readouterr().err) == (2, told)


def test_sizes_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "gpu", "--stacks", "1,many"])
    assert (ended.value.code, capsys.readouterr().err) == (2, "hardgap: --stacks 1,many: write sizes such as 1,2,4,8\n")


@pytest.mark.usefixtures("one_thread")
def test_on_a_cpu_a_stack_is_measured_beside_single_runs() -> None:
    single, *_, stacked = measure_stacks("desk", "cpu", [2], updates=1, rounds=1)
    assert (single["name"], single["times_single"]) == (SINGLE, 1.0)
    assert (stacked["name"], stacked["same_bits_as_alone"]) == ("stack of 2", True)
    assert stacked["run_steps_a_second"] == pytest.approx(2e3 / stacked["ms_a_step"])
