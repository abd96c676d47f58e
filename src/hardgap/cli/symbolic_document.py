"""`hardgap symbolic document FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.options import ScaleName
from hardgap.cli.output import show_written
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_document


def document(
    file: Path,
    /,
    *,
    results: Annotated[Path, Parameter(help="Folder of measured runs, baselines and analyses.")] = Path(
        "results/symbolic"
    ),
    scale: ScaleName = "desk",
) -> None:
    """Write the measured tables into a Markdown FILE, and draw the figures that it shows beside it.

    Tables go between the marks `<!-- measured: … -->` and `<!-- end -->`. Everything comes from RESULTS: runs as
    `hardgap runs export` writes them, baselines as `hardgap symbolic baselines --keep` does, and
    `analyses-SCALE.json`, what `hardgap symbolic analyse --json` prints.

    Try: `hardgap symbolic document docs/symbolic.md`
    """
    from hardgap.report.document import read_page, write_page
    from hardgap.studies.symbolic.document import BLOCKS, figures, read_measured, sections

    text = read_page(file, BLOCKS)
    check_document(file)
    with show_parts("reading results") as progress:
        measured = read_measured(results, scale)
        progress("tables and figures", 0, 0)
        written = write_page(file, text, sections(measured), figures(measured))
    show_written(file, written)
