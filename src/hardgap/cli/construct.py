"""`hardgap construct RULE`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.output import TABLES, Show, flag
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_file, check_folder
from hardgap.core.errors import BadInput
from hardgap.core.progress import Progress
from hardgap.core.table import Table
from hardgap.core.wording import plural

if TYPE_CHECKING:
    from hardgap.theory.blueprint import Blueprint
    from hardgap.theory.composition import Code
    from hardgap.theory.verification import Check
    from hardgap.worlds.automaton.rule import Rule

LEAST = -1e9  # stands for -inf, which JSON cannot say


def construct(
    rule: str,
    /,
    *,
    width: Annotated[int, Parameter(help="Cells in a row of the network that is saved.")] = 101,
    shape: Annotated[
        Literal["minimal", "paper"], Parameter(help="The smallest block that does it, or 64/4/2 with 128 hidden units.")
    ] = "minimal",
    compact: Annotated[bool, flag("Fewest hidden units: the rarer output and a bias.")] = False,
    then: Annotated[list[str] | None, Parameter(negative="", help="A rule for another block; repeatable.")] = None,
    code: Annotated[
        Literal["one-hot", "circle"] | None, Parameter(help="With --then: the paper's position code, or 10 dimensions.")
    ] = None,
    file: Annotated[
        Path | None, Parameter(name="--output", help="Where to save; rule-NAME-WIDTH.safetensors if not given.")
    ] = None,
    limits: Annotated[bool, flag("Also: how wide float16 to float64 can go before routing fails.")] = False,
    output: Show = TABLES,
) -> int:
    """Encoder weights that compute a rule exactly: verified on every row of widths 3 to 12, then saved.

    The weights are those of the network that `hardgap train` trains, which can start from them with `--init`.
    Exit code 1 if any cell is wrong.

    Try:

        hardgap construct 110
        hardgap construct 150 --compact
        hardgap construct D --shape paper --output d.safetensors
        hardgap construct 30 --then 110 --then 90 --code circle
    """
    from hardgap.worlds.automaton.rule import parse_rule

    rules = tuple(parse_rule(text) for text in (rule, *(then or ())))
    more = f"-and-{len(rules) - 1}-more" if then else ""
    path = file or Path(f"rule-{rules[0].name.replace(':', '-')}{more}-{width}.safetensors")
    if not path.name:
        raise BadInput(f"--output {str(file)!r}: name a file")
    check_folder("--output", path.parent)
    if path.parent.exists():
        check_file("--output", path)
    with show_parts() as progress:
        report = _made(rules, width, shape == "paper", compact, code, path, progress)
        if limits:
            progress("how wide each precision can go", 0, 0)
            report["limits"] = _limits()
    output.show(report, [_checks(report), *map(_limit, report.get("limits", []))])
    output.say(_words(report))
    return int(not report["exact"])


def _made(
    rules: tuple[Rule, ...], width: int, paper: bool, compact: bool, code: Code | None, path: Path, progress: Progress
) -> dict[str, Any]:
    """What was built and checked; saved to `path` if it is exact."""
    import torch

    from hardgap.core.checkpoint import save_tensors
    from hardgap.theory.blueprint import Blueprint

    torch.set_num_threads(1)
    blueprint = Blueprint(rules, width=width, paper=paper, compact=compact, code=code)
    report = _report(blueprint, progress)
    if report["exact"]:
        save_tensors(path, blueprint.build().model.state_dict(), blueprint.meta())
        report["saved"] = str(path)
    return report


def _report(blueprint: Blueprint, progress: Progress) -> dict[str, Any]:
    construction, checks = blueprint.build(), blueprint.verify(on_progress=progress)
    return {
        **blueprint.meta(),
        "parameters": construction.parameters,
        "exact": all(check.exact for check in checks),
        "smallest_margin": max(min(check.margin for check in checks), LEAST),
        "bound_all_rows": blueprint.bound(),
        "checks": [_as_dict(check) for check in checks],
    }


def _as_dict(check: Check) -> dict[str, Any]:
    margin = max(check.margin, LEAST)
    rows = {"width": check.width, "rows": check.rows, "every_row": check.exhaustive}
    return {**rows, "wrong_cells": check.wrong, "margin": margin}


def _limits() -> list[dict[str, Any]]:
    import torch

    from hardgap.theory.limits import guaranteed_width, measured_limit, routing_curve

    found = []
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        curve = routing_curve(dtype)
        found.append({
            "precision": str(dtype).removeprefix("torch."),
            "guaranteed_below": guaranteed_width(dtype),
            "measured_up_to": measured_limit(curve),
            "curve": [{"width": p.width, "measured": p.measured, "predicted": p.predicted} for p in curve],
        })  # fmt: skip
    return found


def _checks(report: dict[str, Any]) -> Table:
    columns = ["width", "rows", "wrong cells", "smallest logit margin"]
    rows = [
        [c["width"], f"{'all' if c['every_row'] else 'random'} {c['rows']:,}", c["wrong_cells"], f"{c['margin']:.6f}"]
        for c in report["checks"]
    ]
    return Table(f"Rule {' then '.join(report['rules'])}", columns, rows, right=columns)


def _words(report: dict[str, Any]) -> str:
    model, bound = report["model"], report["bound_all_rows"]
    everywhere = f"; at least {bound:.4f}, before rounding, on all rows of width {report['width']}" if bound else ""
    verdict = "exact" if report["exact"] else "NOT exact"
    return (
        f"{model['dim']} dimensions, {plural(model['heads'], 'head')}, {plural(model['layers'], 'layer')},"
        f" {plural(model['ffn'], 'hidden unit')}; {report['parameters']:,} parameters at width {report['width']}\n"
        f"{verdict}: smallest logit margin {report['smallest_margin']:.6f}{everywhere}\n"
        + (f"saved to {report['saved']}" if "saved" in report else "not saved")
    )


def _limit(limit: dict[str, Any]) -> Table:
    title = (
        f"{limit['precision']}: routing cannot fail below width {limit['guaranteed_below']:,.0f},"
        f" measured intact up to {limit['measured_up_to']:,}"
    )
    columns = ["width", "attention on the neighbour, measured", "at least, predicted"]
    curve = [[f"{p['width']:,}", f"{p['measured']:.4f}", f"{p['predicted']:.4f}"] for p in limit["curve"]]
    return Table(title, columns, curve, right=columns)
