"""Experiment 2 (paper §4.6): chains of operators on n-bit integers, one pair of operators never shown."""

from hardgap.core.world import World
from hardgap.worlds.chains.run import SymbolicRun

WORLD = World(
    name="symbolic",
    title="chains of operators",
    run=SymbolicRun,
    task="hardgap.worlds.chains.task:SymbolicTask",
    table="hardgap.worlds.chains.run:result_table",
    opens="hardgap.worlds.chains.circuits.opening:open_trained",
    asks="hardgap.worlds.chains.ask:ask_trained",
)
