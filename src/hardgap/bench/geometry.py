"""The two shapes at which training is measured."""

from __future__ import annotations

from typing import NamedTuple

UNROLL, DIM, FFN, LAYERS = 4, 64, 128, 2


class Geometry(NamedTuple):
    """Cells in a row and rows in a batch; how many updates one measurement takes for each that is asked for."""

    width: int
    batch: int
    repeats: int

    @property
    def flops(self) -> int:
        """Of an update. A multiply-add counts twice, backward twice the forward pass; softmax and norms not at all."""
        cells = self.batch * self.width * UNROLL
        weights = LAYERS * (4 * DIM * DIM + 2 * DIM * FFN)
        attention = LAYERS * 2 * 2 * self.width * DIM
        return 3 * cells * (2 * weights + attention)


GEOMETRIES = {"paper": Geometry(101, 128, 1), "desk": Geometry(11, 64, 16)}
