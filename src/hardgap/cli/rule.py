"""`hardgap rule RULE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from hardgap.cli.options import check_seed
from hardgap.cli.output import TABLES, Show, err, flag, out
from hardgap.cli.writing import check_figure
from hardgap.core.errors import BadInput
from hardgap.core.table import Table


def rule(
    rule: str,
    /,
    *,
    width: Annotated[int, Parameter(help="Cells in the picture.")] = 63,
    steps: Annotated[int, Parameter(help="Timesteps in the picture.")] = 30,
    random: Annotated[bool, flag("Start from a random row instead of one cell.")] = False,
    seed: int = 0,
    figure: Annotated[Path | None, Parameter(help="Also draw it: FILE.svg, .png or .pdf.")] = None,
    output: Show = TABLES,
) -> None:
    """A rule's truth table, algebraic normal form, equivalence class, and a picture of its rollout.

    Try:

        hardgap rule 110
        hardgap rule D --random
        hardgap rule 30 --figure rule-30.pdf
        hardgap rule "(L1 ^ (C | R1)) | (L2 & R2)" --json
    """
    import numpy as np

    from hardgap.worlds.automaton.rollout import rollout
    from hardgap.worlds.automaton.rule import parse_rule

    parsed = parse_rule(rule)
    check_seed(seed)
    if not 1 <= width <= 10_000 or not 0 <= steps <= 10_000:
        raise BadInput("--width must be 1 to 10000 and --steps 0 to 10000")
    check_figure(figure)
    facts = {
        "rule": parsed.name,
        "radius": parsed.radius,
        "number": str(parsed.number),
        "table": parsed.table.tolist(),
        "formula": parsed.formula_text(),
        "anf": parsed.anf_text(),
        "class": [other.name for other in parsed.equivalence_class()],
    }
    shown = facts | {"class": ", ".join(other.name for other in parsed.equivalence_class())}
    about = [[k, v] for k, v in shown.items() if k not in ("rule", "table")]
    tables = [Table(f"Rule {parsed.name}", ["field", "value"], about)]
    if parsed.radius <= 2 or output.for_a_program:
        neighbourhoods = [[p, parsed.pattern_text(p), parsed.table[p]] for p in range(parsed.patterns)]
        tables.append(
            Table("Truth table", ["pattern", "neighbourhood", "output"], neighbourhoods, ["pattern", "output"])
        )
    output.show(facts, tables)
    row = np.zeros(width, dtype=np.uint8)
    row[width // 2] = 1
    if random:
        row = np.random.default_rng(seed).integers(0, 2, width, dtype=np.uint8)
    if figure is not None:
        from hardgap.report.figures import rule_figure, save_figure

        save_figure(rule_figure(parsed, rollout(parsed, row, steps)), figure)
        err().print(f"{figure} written")
    if not output.for_a_program:
        draw(rollout(parsed, row, steps))


def draw(states: object) -> None:
    """Print a space-time picture, two timesteps to a line of half blocks."""
    import numpy as np

    grid = np.asarray(states)
    if len(grid) % 2:
        grid = np.concatenate([grid, np.zeros_like(grid[:1])])
    blocks = np.array([[" ", "▄"], ["▀", "█"]])
    for top, bottom in zip(grid[::2], grid[1::2], strict=True):
        out().print(Text("".join(blocks[top, bottom])), soft_wrap=True)
