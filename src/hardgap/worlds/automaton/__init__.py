"""Experiment 1 (paper §3): rows of a cellular automaton, some entries of whose rule are never supervised."""

from hardgap.core.world import World
from hardgap.worlds.automaton.run import AutomatonRun

WORLD = World(
    name="automaton",
    title="cellular automata",
    run=AutomatonRun,
    task="hardgap.worlds.automaton.task:AutomatonTask",
    table="hardgap.worlds.automaton.run:result_table",
    stacks="hardgap.worlds.automaton.stacked:StackedAutomaton",
    opens="hardgap.worlds.automaton.circuits.opening:open_trained",
    shows="hardgap.worlds.automaton.circuits.tables:TABLES",
)
