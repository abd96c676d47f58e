"""What sentences to a user have in common, and runs in words such that two that differ never read the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to put behind a name that is not known, if one that is looks like it.

    >>> did_you_mean("mian", ["main", "ceiling"]), did_you_mean("x", ["main"])
    (' (did you mean main?)', '')
    """
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def plural(count: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "run"), plural(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float | None, missing: str = "") -> str:
    """A share as percent with one digit.

    >>> percent(0.9754), percent(None, "–")
    ('97.5', '–')
    """
    return missing if share is None else f"{100 * share:.1f}"


def listed(names: Iterable[object], last: str = "and") -> str:
    """Names as a sentence has them.

    >>> listed([1, 4, 6]), listed([0, 3], "or"), listed(["one"])
    ('1, 4 and 6', '0 or 3', 'one')
    """
    *first, end = [str(name) for name in names] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def numbered(name: str, numbers: Collection[int]) -> str:
    """Things by their numbers.

    >>> numbered("pattern", [2]), numbered("pattern", [2, 5])
    ('pattern 2', 'patterns 2 and 5')
    """
    return f"{name}{'s' * (len(numbers) != 1)} {listed(numbers)}"


def duration(seconds: float) -> str:
    """A time that a person can read.

    >>> duration(42), duration(90), duration(5400)
    ('42 s', '1 min 30 s', '1 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


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
