"""A toy: addition modulo n, one pair of summands never shown."""

from hardgap.core.world import World

from .run import ToyRun

WORLD = World(
    name="toy",
    title="sums",
    run=ToyRun,
    task="hardgap.worlds.toy.task:ToyTask",
    table="hardgap.worlds.toy.table:result_table",
)
