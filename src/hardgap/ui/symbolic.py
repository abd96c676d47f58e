"""Experiment 2 on the page: five integers, the derivation that a network writes, and how sure it is of each token."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hardgap.core.errors import BadInput
from hardgap.core.task import Trained
from hardgap.runs.execute import load_trained, single_thread
from hardgap.runs.store import Store
from hardgap.runs.weights import find_weights, stamp
from hardgap.ui.asking import Asked, of_kind
from hardgap.worlds.chains.ask import ask_trained
from hardgap.worlds.chains.chains import Arithmetic
from hardgap.worlds.chains.circuits.inputs import substituted
from hardgap.worlds.chains.run import SymbolicRun

MOST_NUMBERS = 20


def ask(asked: Asked) -> dict[str, Any]:
    """The network's derivation; of `to`, after c and d were swapped for values that this second operator explains."""
    with asked.store() as store:
        run_id = store.find(asked.run)
        run = of_kind(SymbolicRun, store.get(run_id).config)
        about = find_weights(store, run_id).about(run)
    arithmetic, numbers = run.gap.arithmetic, _numbers(asked.text("numbers"))
    if to := asked.text("to", ""):
        numbers = _swapped(arithmetic, numbers, to)
    reply = ask_trained(_trained(asked.folder, run_id), numbers).as_dict()
    symbols = [one.symbol for one in arithmetic.operators]
    told = {"about": about, "names": list(arithmetic.input_names), "symbols": symbols, "most": arithmetic.size - 1}
    return {**told, "numbers": numbers, **reply}


def _numbers(text: str) -> list[int]:
    given = text.replace(",", " ").split()
    if len(given) > MOST_NUMBERS or not all(one.isascii() and one.isdigit() and len(one) < 10 for one in given):
        raise BadInput("give whole numbers with spaces between, such as 12 7 33 43 21")
    return [int(one) for one in given]


def _swapped(arithmetic: Arithmetic, numbers: list[int], to: str) -> list[int]:
    """The same a, b and u with other c and d, which the first operator and the second asked for alone explain."""
    symbols = [one.symbol for one in arithmetic.operators]
    if to not in symbols or arithmetic.length != 2:
        raise BadInput(f"{to:.20} is no second operator here: choose from {' '.join(symbols)}")
    inputs = np.array([numbers], dtype=np.int64)
    if inputs.shape[1] != 5 or not ((inputs >= 0) & (inputs < arithmetic.size)).all():
        raise BadInput(f"give five whole numbers from 0 to {arithmetic.size - 1}")
    chains = arithmetic.ops_of(np.flatnonzero(arithmetic.fits(inputs[:, :-1])[0]))
    if not len(chains):
        raise BadInput("no pair of operators explains these numbers, so there is no first one to keep")
    base = arithmetic.examples(chains[:1], inputs[:, :3], inputs[:, -1])
    found, _ = substituted(arithmetic, base, 1, symbols.index(to), np.random.default_rng(sum(numbers)))
    if not len(found):
        raise BadInput(f"with this a and b, no c and d are explained by {to} alone")
    return [int(number) for number in found[0]]


def _trained(folder: Path, run_id: str) -> Trained:
    with closing(Store(folder)) as store:
        return _loaded(folder, run_id, stamp(store, run_id))


@lru_cache(maxsize=8)
def _loaded(folder: Path, run_id: str, made: tuple[object, ...]) -> Trained:
    single_thread()
    with closing(Store(folder)) as store:
        return load_trained(store, run_id)
