"""Adam's update as one call; the same formulas as `torch.optim.Adam`, and the same state."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from hardgap.nn.native.functions import pointers
from hardgap.nn.native.library import Library


class NativeAdam(torch.optim.Adam):
    """For parameters that the native engine gave gradients: float32, on the CPU, contiguous; no weight decay."""

    def __init__(self, parameters: Any, lr: float, library: Library) -> None:
        super().__init__(parameters, lr=lr)
        self._library = library

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            trained = [p for p in group["params"] if p.grad is not None]
            states = [self._state_of(p) for p in trained]
            for state in states:
                state["step"] += 1
            self._library.adam(
                len(trained), (ctypes.c_int64 * len(trained))(*[p.numel() for p in trained]), pointers(trained),
                pointers([p.grad.contiguous() for p in trained]), pointers([state["exp_avg"] for state in states]),
                pointers([state["exp_avg_sq"] for state in states]), group["lr"], *group["betas"], group["eps"],
                float(states[0]["step"]) if states else 1.0,
            )  # fmt: skip
            torch.autograd.graph.increment_version(trained)

    def _state_of(self, parameter: torch.Tensor) -> dict[str, Any]:
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = torch.tensor(0.0, dtype=torch.float32)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        return state
