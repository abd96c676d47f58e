"""What several commands ask for: a gap (`--hide 3`, `--hide 011,100` or `--hide-random 8`), and a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hardgap.core.errors import BadInput

if TYPE_CHECKING:
    from hardgap.worlds.automaton.gap import Gap

Hide = Annotated[str | None, Parameter(help="Patterns to hide, by number or by all their cells: 3 or 011; 1,4,12.")]
HideRandom = Annotated[int | None, Parameter(help="Hide this many patterns, drawn at random.")]
HideSeed = Annotated[int, Parameter(help="Seed of that draw.")]


def parse_gap(rule: str, hide: str | None, count: int | None, seed: int) -> Gap:
    """The gap that `--hide`, or `--hide-random` with `--hide-seed`, makes in a rule."""
    from hardgap.worlds.automaton.gap import Gap, draw_hidden, parse_hidden
    from hardgap.worlds.automaton.rule import parse_rule

    parsed = parse_rule(rule)
    if (hide is None) == (count is None):
        raise BadInput("say what to hide: either --hide 3 (or 011, or 1,4,12), or --hide-random 8")
    if count is not None:
        check_seed(seed, "--hide-seed")
        return Gap(parsed, draw_hidden(parsed, count, seed=seed))
    assert hide is not None
    try:
        return Gap(parsed, parse_hidden(parsed, hide))
    except BadInput as error:
        raise BadInput(f"--hide {hide:.60}: {error}") from error


def check_seed(seed: int, option: str = "--seed") -> None:
    """Refuse what no generator takes."""
    if seed < 0:
        raise BadInput(f"{option} {seed}: a seed is not negative")
