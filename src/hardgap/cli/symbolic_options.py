"""What the commands of `hardgap symbolic` share: their options, and the config that they make or find"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardgap.cli.options import Options, Written
from hardgap.core.errors import BadInput
from hardgap.core.plugins import trust
from hardgap.core.run import named
from hardgap.core.specs import Scale
from hardgap.worlds.chains.run import SymbolicRun
from hardgap.worlds.chains.scales import starting_from, symbolic_base

if TYPE_CHECKING:
    from hardgap.runs.store import Store


def _named_operators(text: str) -> list[str]:
    """The operators that the user names; their own are trusted."""
    trust(one for one in text.split(",") if ":" in one)
    return text.split(",")


OPTIONS = Options(
    symbolic_base("desk", "^|"),
    condition="condition",
    steps="budget.steps",
    evaluate_every="budget.evaluate_every",
    batch="optimiser.batch",
    learning_rate="optimiser.learning_rate",
    clip="optimiser.clip",
    schedule="optimiser.schedule",
    train_examples="train_examples",
    eval_examples="eval_examples",
    test_examples="test_examples",
    seen_examples="seen_examples",
    ambiguity="ambiguity",
    operators=Written("operators", "with commas between: ^,|,&,r,d,L,R", _named_operators),
    bits="bits",
    length="length",
    seed="seed",
    device="device",
)


def configure(scale: Scale, holdout: str, said: dict[str, Any]) -> SymbolicRun:
    """The config of a scale with what was said."""
    asked = OPTIONS.values(said)
    with OPTIONS.blamed():
        run = named(starting_from(scale, asked).changed(holdout=holdout, **asked))
    assert run.gap  # making it checks it; a config alone imports no operator
    return run


def symbolic_config(store: Store, run: str, *, trusted: bool) -> SymbolicRun:
    """What a run of the store asked for; a run of the other experiment is refused."""
    config = store.get(run).config
    if not isinstance(config, SymbolicRun):
        raise BadInput(f"run {config.id} is of experiment {config.experiment!r}; this command takes symbolic runs")
    if trusted:
        trust(config.plugins())
    return config
