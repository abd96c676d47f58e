"""One of the two trainings of a leak certificate, and everything about it that the other must share.

As a process (`python -m hardgap.runs.witness`) it is told on standard input, in one line of JSON, what to train, and
answers with a line of JSON for each thing it saw.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from hardgap.core.errors import BadInput
from hardgap.core.loop import Observer
from hardgap.core.plugins import first_line, take_over
from hardgap.core.run import Run
from hardgap.runs.certificate import Seen
from hardgap.runs.execute import build_trainer, single_thread
from hardgap.worlds import parse_run


def witness(
    run: Run, tell: Callable[[Seen], None], *, decoy: bool, steps: int, store_folder: Path | None = None
) -> None:
    """Train at most `steps` steps; tell of initial weights, of every batch, and of the weights after every step.

    The test for having solved the rule looks at hidden cells, openly, and is left out.
    """
    endless = run.but(budget=run.budget.model_dump() | {"stop_after_solved": None})
    trainer = build_trainer(endless, decoy=decoy, store_folder=store_folder)
    tell(Seen(0, "initial weights", _weights_digest(trainer.weights())))
    tell(Seen(0, "the examples that choose a checkpoint", _digest(trainer.task.chooses_by())))

    def on_step(step: int) -> None:
        tell(Seen(step, "the batch", _digest(trainer.task.shown(step - 1 - trainer.began))))
        tell(Seen(step, "the weights", _weights_digest(trainer.weights())))

    trainer.run(Observer(on_step=on_step, should_stop=lambda: trainer.step >= steps))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _weights_digest(weights: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def main() -> int:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what somebody's network prints is no answer
    order = json.loads(sys.stdin.readline())
    take_over(order)
    single_thread()
    folder = Path(order["store"]) if order["store"] else None

    def tell(answer: dict[str, object]) -> None:
        answers.write(json.dumps(answer) + "\n")

    def tell_seen(seen: Seen) -> None:
        tell(asdict(seen))

    try:
        witness(parse_run(order["run"]), tell_seen, decoy=order["decoy"], steps=order["steps"], store_folder=folder)
        tell({"done": True})
    except BrokenPipeError:
        os._exit(0)  # Whoever asked is gone.
    except BadInput as error:
        tell({"error": str(error)})
    except (Exception, SystemExit) as error:  # whatever a user's own network raises
        tell({"error": f"training fails: {type(error).__name__}: {first_line(error)}"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
