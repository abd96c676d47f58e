"""`hardgap identify RULE --hide …`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from hardgap.cli.options import Hide, HideRandom, HideSeed, check_seed, parse_gap
from hardgap.cli.output import TABLES, Show
from hardgap.cli.progress import show_parts
from hardgap.core.errors import BadInput
from hardgap.core.table import Table
from hardgap.core.wording import percent, plural

if TYPE_CHECKING:
    from hardgap.worlds.automaton.identify.answers import Identifiability
    from hardgap.worlds.automaton.identify.completions import Completions

MAX_ROWS = 20_000
MOST_CELLS = 2**27
"""Of all rows at all steps; what is kept of each takes some bytes."""


def identify(
    rule: str,
    /,
    *,
    hide: Hide = None,
    hide_random: HideRandom = None,
    hide_seed: HideSeed = 0,
    steps: Annotated[int, Parameter(help="Visible timesteps after the initial row.")] = 2,
    width: Annotated[int, Parameter(help="Cells in a row.")] = 101,
    rows: Annotated[int, Parameter(help="Random initial rows to look at.")] = 500,
    criterion: Annotated[
        Literal["gf2", "next-step", "strict", "rule", "all"],
        Parameter(
            name=["--criterion", "--level"],
            help="gf2: the paper's XOR system; strict: hidden cells that the whole rollout determines, nothing assumed "
            "of hidden entries; next-step: those that the step after them determines alone; rule: which tables fit.",
        ),
    ] = "all",
    seed: Annotated[int, Parameter(help="Seed of the rows.")] = 0,
    output: Show = TABLES,
) -> None:
    """Does what is visible of the rollouts determine what is hidden?

    The last line is the answer for the rule: is the true rule the only table that fits, and if not, which
    other one does?

    Try:

        hardgap identify 150 --hide 2
        hardgap identify 30 --hide 0,5 --steps 4
        hardgap identify G --hide-random 28 --steps 4 --criterion rule
    """
    import numpy as np

    from hardgap.worlds.automaton.identify.answers import CRITERIA
    from hardgap.worlds.automaton.identify.answers import identify as ask

    if not 1 <= rows <= MAX_ROWS or not 1 <= width <= 1000:
        raise BadInput(f"--rows must be 1 to {MAX_ROWS} and --width 1 to 1000")
    if rows * width * steps > MOST_CELLS:
        raise BadInput(f"--rows {rows}, --width {width} and --steps {steps} are more than {MOST_CELLS:,} cells")
    check_seed(seed)
    gap = parse_gap(rule, hide, hide_random, hide_seed)
    initial = np.random.default_rng(seed).integers(0, 2, (rows, width), dtype=np.uint8)
    with show_parts() as progress:
        answer = ask(gap, initial, steps, CRITERIA if criterion == "all" else (criterion,), on_progress=progress)
    if criterion == "gf2" and answer.gf2 is None:
        raise BadInput(f"--criterion gf2: Rule {gap.rule.name} is not an XOR of its cells; use strict or rule")
    output.show(answer.as_dict(), [_table(answer)])
    if answer.rule:
        output.say(_verdict(answer.rule.best, answer.steps))


def _table(answer: Identifiability) -> Table:
    rows, steps = plural(answer.rows, "random row"), plural(answer.steps, "step")
    title = f"{answer.gap.describe()}: {rows} of width {answer.width}, {steps}"
    return Table(title, ["criterion", "question", "answer"], _rows(answer), right=["answer"])


def _rows(answer: Identifiability) -> list[list[str]]:
    rows: list[list[str]] = []
    if gf2 := answer.gf2:
        counts = f"{gf2.unknowns:.1f} / {gf2.constraints:.1f} / {gf2.rank:.1f}"
        rows.append(["gf2", "unknowns / equations / rank, a row", counts])
        rows.append(["gf2", "rows with full rank", f"{percent(gf2.rows_identified)} %"])
    if near := answer.next_step:
        rows.append(["next-step", "hidden cells determined", f"{percent(near.cells_known)} %"])
    if strict := answer.strict:
        rows.append(["strict", "hidden cells, a row", f"{strict.unknowns:.1f}"])
        rows.append(["strict", "hidden cells determined", f"{percent(strict.cells_known)} %"])
        rows.append(["strict", "… of those of the first step", f"{percent(strict.first_known)} %"])
        rows.append(["strict", "… if the mask's place is evidence", f"{percent(strict.cells_known_with_mask)} %"])
        rows.append(["strict", "rows with all of them determined", f"{percent(strict.rows_identified)} %"])
        rows.append(["strict", "hidden entries that a row gives away", f"{percent(strict.entries_read)} %"])
    if rule := answer.rule:
        rows.append(["rule", "rows that alone leave one table", f"{percent(rule.rows_identified)} %"])
        rows.append(["rule", "entries determined by all the rows", _count(rule.shown)])
        if rule.limit:
            rows.append(["rule", "entries determined by every possible row", _count(rule.limit)])
    return rows


def _count(found: Completions) -> str:
    return f"{len(found.determined)} of {len(found.gap.hidden)}"


def _verdict(found: Completions, steps: int) -> str:
    rule, visible = found.gap.rule, plural(steps, "visible step")
    if found.witness is None:
        return f"Determined: of all {1 << len(found.gap.hidden):,} tables only Rule {rule.name} fits {visible}."
    differs = [p for p in found.gap.hidden if found.witness.table[p] != rule.table[p]]
    names = ", ".join(map(str, differs))
    count = f"{len(found.fitting)}" if found.complete else f"at least {len(found.fitting) + 1}"
    return (
        f"Not determined: {count} tables fit {visible}; one is Rule {found.witness.name}, "
        f"which differs from Rule {rule.name} at pattern{'s' if len(differs) > 1 else ''} {names}."
    )
