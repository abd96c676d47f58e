"""What several commands ask for: a gap (`--hide 3`, `--hide 1,4,12` or `--hide-random 8`), and a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardgap.errors import BadInput

if TYPE_CHECKING:
    from hardgap.automata.gap import Gap


def parse_gap(rule: str, hide: str | None, count: int | None, seed: int) -> Gap:
    """The gap that `--hide`, or `--hide-random` with `--hide-seed`, makes in a rule."""
    from hardgap.automata.gap import Gap, draw_hidden
    from hardgap.automata.rule import parse_rule

    parsed = parse_rule(rule)
    if (hide is None) == (count is None):
        raise BadInput("say what to hide: either --hide 3 (or 1,4,12), or --hide-random 8")
    if count is not None:
        return Gap(parsed, draw_hidden(parsed, count, seed=seed))
    assert hide is not None
    try:
        patterns = tuple(int(part) for part in hide.split(","))
    except ValueError:
        raise BadInput(f"--hide {hide}: write pattern numbers with commas between, such as 1,4,12") from None
    return Gap(parsed, patterns)


def check_seed(seed: int) -> None:
    """Refuse what no generator takes."""
    if seed < 0:
        raise BadInput(f"--seed {seed}: a seed is not negative")
