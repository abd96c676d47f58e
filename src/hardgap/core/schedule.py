"""Values that change over training, as pure functions of the step."""

from __future__ import annotations

import math

from hardgap.core.specs import Optimiser, Temperature


def temperature_at(spec: Temperature, step: int) -> float:
    """T at this step: `start` at step 0, `end` from step `over` on. Where T is learned or drawn, `start`."""
    if spec.shape in ("learned", "random"):
        return spec.start
    if step >= spec.over:
        return spec.end
    if spec.shape == "step":
        return spec.start
    done = step / spec.over
    if spec.shape == "cosine":
        done = (1 - math.cos(math.pi * done)) / 2
    return spec.start + (spec.end - spec.start) * done


def learning_rate_at(spec: Optimiser, step: int, steps: int) -> float:
    """The learning rate of this step out of `steps`."""
    warm = min(1.0, (step + 1) / spec.warmup) if spec.warmup else 1.0
    left = 1 - step / steps
    decay = {"constant": 1.0, "linear": left, "cosine": (1 - math.cos(math.pi * left)) / 2}[spec.schedule]
    return spec.learning_rate * warm * decay
