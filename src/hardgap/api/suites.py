"""The suite from Python: judge a network, look at its card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardgap.api.configs import plain
from hardgap.api.training import STORE, sweep
from hardgap.core.specs import Scale
from hardgap.runs.store import Store
from hardgap.suites.card import Card
from hardgap.suites.gaps import Suite, load_suite


class Judge:
    """A version of the suite: `.gaps`, and `.run` to judge a network on them."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    @property
    def gaps(self) -> tuple[Any, ...]:
        """Its public gaps: rule, hidden patterns, group, what similarity makes of them, width."""
        return self._suite.gaps

    def run(
        self,
        network: Any,
        *,
        recipe: Any = "tempered",
        quick: bool = False,
        seed: int | None = None,
        seeds: int = 3,
        store: Store | Path | str = STORE,
        on: str = "local",
        workers: int | None = None,
        seconds: float | None = None,
        watch: bool = True,
        scale: Scale = "desk",
    ) -> Card:
        """Train what is missing and give the card of what is done; stopped, the same call goes on.

        network   a class or function in a file that can be imported, `"package.module:name"`, or a reference's name
        recipe    `"tempered"`, `"untempered"`, or a function from a run to a run
        quick     a subset: some seven minutes of two cores for the paper's encoder, longer for a slower network
        seed      what the private part is drawn from; the network's own code if not given

        `card.table()` shows it, `card.save(path)` keeps it.
        """
        from hardgap.suites.computed import COMPUTED, computed_card
        from hardgap.suites.entries import Entry
        from hardgap.suites.judging import make_card, plan

        if isinstance(network, str) and network in COMPUTED:  # at once: there is nothing to train
            return computed_card(self._suite, network, quick=quick, seed=seed or 0)
        asked = plan(
            self._suite, Entry(plain(network), plain(recipe)), quick=quick, seed=seed, seeds=seeds, scale=scale
        )
        done = sweep(asked.configs, store, on=on, workers=workers, seconds=seconds, watch=watch)
        return make_card(asked, done.store)

    def __repr__(self) -> str:
        return f"suite {self._suite.name}: {len(self.gaps)} public gaps"


def suite(name: str = "v1") -> Judge:
    """The fixed gaps on which any network is judged (docs/suite.md).

    >>> import hardgap as hg
    >>> hg.suite("v1")
    suite v1: 90 public gaps

    `hg.suite("v1").run(MyNet, quick=True)` gives its card.
    """
    return Judge(load_suite(name))
