"""`hardgap symbolic document FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import err
from hardgap.cli.symbolic import ScaleName
from hardgap.errors import BadInput


def document(
    file: Path,
    /,
    *,
    results: Annotated[Path, Parameter(help="Folder of measured runs, baselines and analyses.")] = Path(
        "results/symbolic"
    ),
    scale: ScaleName = "desk",
    figures: Annotated[Path | None, Parameter(help="Folder to draw the page's figures into.")] = None,
) -> None:
    """Write the measured tables into a Markdown FILE, between its marks `<!-- measured: … -->` and `<!-- end -->`.

    Everything comes from RESULTS: runs as `hardgap runs export` writes them, baselines as `hardgap symbolic baselines
    --keep` does, and `analyses-SCALE.json`, what `hardgap symbolic analyse --json` prints.

    Try: `hardgap symbolic document docs/symbolic.md --figures docs/figures`
    """
    from hardgap.report.document import fill
    from hardgap.report.symbolic_document import draw, read_measured, sections
    from hardgap.runs.results import write_text

    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from error
    measured = read_measured(results, scale)
    after = fill(before, sections(measured))
    if after != before:
        write_text(file, after)
    err().print(f"{file} {'written' if after != before else 'is up to date'}")
    if figures is not None:
        draw(measured, figures)
        err().print(f"drawn to {figures}")
