"""Whole-machine speed of Experiment 2: a plain `nn.Transformer` script against this package.

Training counts examples a second in steps of 512; decoding counts whole derivations a second, 15 tokens each. The
plain script gets the whole machine as a reader would give it: one process with PyTorch's default threads. Ours is one
process a core with one thread each. Since that alone is worth something, the plain script is also measured in the same
way as ours (`spread`): what is left then is due to the code. Rounds are interleaved, since a shared machine's speed
drifts; ratios are taken within a round and the median is reported.

Contenders of training pad the targets to 32 places, or not at all (16): every derivation has the same length, so a
reader who knows that pads nothing. Contenders of decoding run the network on all tokens so far for each further token,
512 examples at a time or one. Ours is the engine that computes here (`hardgap checks`), and eager beside it. It is also
measured with a draft of each answer that turns out right, which is how the chains that a network knows are scored.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

from hardgap.bench import Say, silent
from hardgap.bench.training import OURS, run_copies
from hardgap.core.cores import usable_cores
from hardgap.nn.native.engine import EAGER, VARIABLE
from hardgap.runs.local import ONE_THREAD

PLAIN = "hardgap.bench.plain_symbolic"
BATCH = 512
Work = tuple[list[str], int]  # the arguments of a module that prints seconds, and how much it does in them


@dataclass
class Contender:
    """One way to do the work: what to run, in how many processes, and its rate in each round."""

    name: str
    work: Work
    spread: bool
    engine: str | None = None
    rates: list[float] = field(default_factory=list)

    def measure(self, processes: int) -> None:
        arguments, amount = self.work
        copies, environment = (processes, ONE_THREAD) if self.spread else (1, {})
        environment = environment | ({VARIABLE: self.engine} if self.engine else {})
        self.rates.append(sum(amount / seconds for seconds in run_copies(arguments, copies, environment)))

    def against(self, ours: Contender) -> dict[str, Any]:
        ratios = [round(mine / theirs, 2) for mine, theirs in zip(ours.rates, self.rates, strict=True)]
        rate = statistics.median(self.rates)
        return {"name": self.name, "per_second": round(rate, 1), "ratio": statistics.median(ratios), "ratios": ratios}


def training(updates: int) -> list[Contender]:
    """Ours first."""

    def plain(longest: int) -> Work:
        return [PLAIN, "train", str(updates), str(longest)], updates * BATCH

    ours = [OURS, "chains", str(updates)], updates * BATCH
    return [
        Contender("hardgap, a process a core", ours, spread=True),
        Contender("hardgap eager, a process a core", ours, spread=True, engine=EAGER),
        Contender("plain, default threads, padded to 32", plain(32), spread=False),
        Contender("plain, default threads, not padded", plain(16), spread=False),
        Contender("plain, not padded, a process a core", plain(16), spread=True),
    ]


def decoding(examples: int) -> list[Contender]:
    """Ours first. The loop over single examples answers fewer of them."""
    few, ours = max(1, examples // 64), ([OURS, "decode", str(examples)], examples)
    return [
        Contender("hardgap, a process a core", ours, spread=True),
        Contender("hardgap eager, a process a core", ours, spread=True, engine=EAGER),
        Contender("hardgap, given a draft that is right", ([OURS, "confirm", str(examples)], examples), spread=True),
        Contender("plain, default threads, 512 at a time", _plain_answers(examples, BATCH), spread=False),
        Contender("plain, 512 at a time, a process a core", _plain_answers(examples, BATCH), spread=True),
        Contender("plain, one at a time, a process a core", _plain_answers(few, 1), spread=True),
    ]


def _plain_answers(examples: int, batch: int) -> Work:
    return [PLAIN, "decode", str(examples), str(batch)], examples


def measure(updates: int = 6, examples: int = 2_048, rounds: int = 3, say: Say = silent) -> dict[str, Any]:
    """`rounds` interleaved rounds of `updates` training steps and `examples` answers each."""
    processes = usable_cores()
    found = {"training": training(updates), "decoding": decoding(examples)}
    for number in range(1, rounds + 1):
        for what, contenders in found.items():
            for contender in contenders:
                say(f"round {number} of {rounds}: {what}, {contender.name}")
                contender.measure(processes)
    against = {what: [one.against(contenders[0]) for one in contenders] for what, contenders in found.items()}
    return {"processes": processes, "updates": updates, "examples": examples, **against}
