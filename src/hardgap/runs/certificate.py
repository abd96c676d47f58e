"""The leak certificate: hidden targets cannot have reached training, because changing them changes nothing.

A run is trained twice, in two processes. The second lives in a decoy world, built from the opposite of every hidden
output of the rule (Experiment 2: of every result of the held-out operators). Initial weights, every batch (inputs,
masks, visible targets) and the weights after every step must agree to the last bit; and so must the examples by which
the honest choice of a checkpoint is made. The leaky control (masking at the first step only) is caught by this.

It speaks of the steps that were trained, one epoch if not said, which shows every training example once. It does not
speak of what `not_covered` lists. Of a plug-in it says what the network was given, not what it could infer: a network
may read the mask from exactly zero gradients.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from hardgap.core.errors import BadInput
from hardgap.core.plugins import handed_on
from hardgap.core.run import Run, check_plugins
from hardgap.runs.local import process_of

OnStep = Callable[[int], None]


@dataclass(frozen=True)
class Seen:
    """One thing that training was given or made, after so many steps, as its SHA-256."""

    step: int
    what: str
    digest: str


@dataclass(frozen=True)
class Certificate:
    """SHA-256 of all that the trainings saw, in the true world and in the decoy, up to the first difference."""

    run: str
    steps: int
    true: str
    decoy: str
    difference: Seen | None

    @property
    def passed(self) -> bool:
        return self.difference is None


def leak_certificate(
    run: Run, *, steps: int | None = None, store_folder: Path | None = None, on_step: OnStep = lambda step: None
) -> Certificate:
    """Train at most `steps` steps, one epoch if not said, in both worlds and compare bit by bit.

    It is about training: a run that starts from given weights (kept in `store_folder`) may know more from there.
    """
    check_plugins([run])
    order: dict[str, object] = {
        "run": run.asked(), "steps": certified_steps(run, steps), **handed_on(),
        "store": str(store_folder.resolve()) if store_folder else None,
    }  # fmt: skip
    with _witness(order | {"decoy": False}) as true, _witness(order | {"decoy": True}) as decoy:
        return compare(run, true, decoy, on_step)


def certified_steps(run: Run, steps: int | None = None) -> int:
    """How many steps are compared: one epoch if not said, and never more than the run has."""
    if steps is not None and steps < 1:
        raise BadInput(f"steps {steps}: at least one training step is needed", of="steps")
    return min(run.epoch if steps is None else steps, run.budget.steps)


def compare(run: Run, true: Iterable[Seen], decoy: Iterable[Seen], on_step: OnStep = lambda step: None) -> Certificate:
    """The certificate of what two trainings of a run saw; the first difference ends it."""
    digests, step, difference = (hashlib.sha256(), hashlib.sha256()), 0, None
    for pair in zip_longest(true, decoy):
        for digest, seen in zip(digests, pair, strict=True):
            digest.update(repr(seen).encode())
        step = max(seen.step for seen in pair if seen)
        if pair[0] != pair[1]:
            difference = pair[0] or pair[1]
            break
        on_step(step)
    return Certificate(run.id, step, digests[0].hexdigest(), digests[1].hexdigest(), difference)


def not_covered(run: Run, steps: int) -> list[str]:
    """What a certificate of so many steps leaves open."""
    said = {
        "a leak that starts after these steps": steps < run.budget.steps,
        "that the run ends once hidden cells are right, too": run.budget.stop_after_solved is not None,
    }
    return [sentence for sentence, applies in (said | run.not_covered()).items() if applies]


@contextmanager
def _witness(order: dict[str, object]) -> Iterator[Iterator[Seen]]:
    """A process that trains in one of the worlds, and what it sees. In its own group: Ctrl-C is ours to pass on."""
    process = process_of("hardgap.runs.witness", stdout=subprocess.PIPE, text=True, process_group=0)
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        yield _answers(process)
    finally:
        process.kill()
        process.communicate()


def _answers(process: subprocess.Popen[str]) -> Iterator[Seen]:
    assert process.stdout is not None
    for line in process.stdout:
        answer = json.loads(line)
        if "done" in answer:
            return
        if "error" in answer:
            raise BadInput(answer["error"])
        yield Seen(**answer)
    raise BadInput(f"a process of the certificate ended with code {process.wait()}; nothing is certified")
