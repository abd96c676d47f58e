"""Runs in words, such that two that differ never read the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from hardgap.core.specs import Temperature, Unrolling


def regime_in_words(unrolling: Unrolling) -> str:
    """What is fed back, and how.

    >>> regime_in_words(Unrolling(temperature=Temperature(start=4.0, over=400), noise=0.5))
    'soft×4, T=4→1 over 400, noise 0.5'
    """
    if unrolling.feedback == "none":
        return "none"
    said = [f"{unrolling.feedback}×{unrolling.steps}"]
    if unrolling.temperature != Temperature():
        said.append(_temperature(unrolling.temperature))
    if unrolling.cells != "all":
        said.append(f"T on {unrolling.cells} cells")
    if unrolling.backward is not None:
        as_if = unrolling.backward if isinstance(unrolling.backward, str) else f"T={unrolling.backward:g}"
        said.append(f"gradient {as_if}")
    if unrolling.rounded:
        said.append(f"rounded {unrolling.rounded:g}")
    if unrolling.noise:
        said.append(f"noise {unrolling.noise:g}")
    if unrolling.weights is not None:
        said.append(f"weights {':'.join(f'{weight:g}' for weight in unrolling.weights)}")
    return ", ".join(said)


def _temperature(course: Temperature) -> str:
    if course.shape == "learned":
        return f"T={course.start:g} learned"
    if course.shape == "random":
        return f"T={course.start:g} to {course.end:g} at random"
    if course.start == course.end:
        return f"T={course.start:g}"
    if course.shape == "step":
        return f"T={course.start:g}→{course.end:g} at {course.over}"
    bent = "" if course.shape == "linear" else f" ({course.shape})"
    return f"T={course.start:g}→{course.end:g} over {course.over}{bent}"


def differences(runs: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """For each run, its description and config given: what tells it from others that, seeds aside, read the same.

    >>> differences([("soft, seed 0", {"seed": 0, "width": 7}), ("soft, seed 1", {"seed": 1, "width": 9})])
    ['width=7', 'width=9']
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for place, (about, config) in enumerate(runs):
        groups[about.removesuffix(f", seed {config.get('seed')}")].append(place)
    said = [""] * len(runs)
    for places in groups.values():
        configs = [runs[place][1] for place in places]
        varying = _varying(configs, dict.fromkeys(name for config in configs for name in config if name != "seed"))
        wanted = [{name: config[name] for name in varying if name in config} for config in configs]
        flat = [{name: as_text(value) for name, value in flattened(config).items()} for config in wanted]
        names = _varying(flat, dict.fromkeys(name for config in flat for name in config))
        for place, config in zip(places, flat, strict=True):
            said[place] = ", ".join(f"{name}={config[name]}" for name in names if name in config)
    return said


def _varying(configs: Sequence[dict[str, Any]], names: Iterable[str]) -> list[str]:
    return [name for name in names if any(config.get(name) != configs[0].get(name) for config in configs)]


def flattened(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Every value of nested tables, named by its dotted path.

    >>> flattened({"seed": 0, "budget": {"steps": 600}})
    {'seed': 0, 'budget.steps': 600}
    """
    flat: dict[str, Any] = {}
    for name, value in data.items():
        flat |= flattened(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat


def as_text(value: Any) -> str:
    """A value of a config as a person writes it."""
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value)
