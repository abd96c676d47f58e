"""Experiment 2 on the page: five integers, the derivation that a network writes, and how sure it is of each token."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from hardgap.core.errors import BadInput
from hardgap.core.run import only
from hardgap.core.task import Trained
from hardgap.runs.execute import load_trained, single_thread
from hardgap.runs.store import Store
from hardgap.ui.asking import Asked
from hardgap.worlds.chains.ask import ask_trained
from hardgap.worlds.chains.run import SymbolicRun

MOST_NUMBERS = 20


def ask(asked: Asked) -> dict[str, Any]:
    given = asked.text("numbers").replace(",", " ").split()
    if len(given) > MOST_NUMBERS or not all(text.isascii() and text.isdigit() and len(text) < 10 for text in given):
        raise BadInput("give whole numbers with spaces between, such as 12 7 33 43 21")
    with asked.store() as store:
        run_id = store.find(asked.run)
        (run,) = only(SymbolicRun, [store.get(run_id).config])
    trained = _trained(asked.folder, run_id)
    numbers, names = [int(text) for text in given], run.gap.arithmetic.input_names
    return {
        "about": run.describe(),
        "names": list(names),
        "numbers": numbers,
        **ask_trained(trained, numbers).as_dict(),
    }


@lru_cache(maxsize=8)
def _trained(folder: Path, run_id: str) -> Trained:
    single_thread()
    store = Store(folder)
    try:
        return load_trained(store, run_id)
    finally:
        store.close()
