"""The leak certificate: hidden targets cannot have reached training, because changing them changes nothing.

The run is trained twice for some steps, the second time with every hidden target of the training data
replaced by a fair coin. If a single bit of the weights differs, something about a hidden target leaked; or if a
single bit differs of the examples by which the honest choice of a checkpoint is made.
The leaky control (masking at the first step only) must be caught, and is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from hardgap.runs.config import Run
from hardgap.runs.execute import build_trainer
from hardgap.training.loop import Observer, Trainer


@dataclass(frozen=True)
class Certificate:
    """SHA-256 of the weights after `steps` steps, and of what chooses a checkpoint; hidden targets true, scrambled."""

    run: str
    steps: int
    true: str
    scrambled: str

    @property
    def passed(self) -> bool:
        return self.true == self.scrambled


def leak_certificate(run: Run, *, steps: int = 20, coins: int = 1, store_folder: Path | None = None) -> Certificate:
    """Train at most `steps` steps twice and compare the weights bit by bit; `coins` seeds the scrambling.

    It is about training: a run that starts from given weights (kept in `store_folder`) may know more from there.
    """
    pair = [build_trainer(run, scramble=seed, store_folder=store_folder) for seed in (None, coins)]
    true, scrambled = (_digest(trainer, steps) for trainer in pair)
    return Certificate(run.id, pair[0].step, true, scrambled)


def _digest(trainer: Trainer, steps: int) -> str:
    trainer.run(Observer(should_stop=lambda: trainer.step >= steps))
    digest = hashlib.sha256()
    for name, tensor in sorted(trainer.weights().items()):
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    digest.update(trainer.task.chooses_by())
    return digest.hexdigest()
