"""`hardgap symbolic document FILE`"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.document import write_documents
from hardgap.cli.options import ScaleName


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

    It is `hardgap document FILE` at any scale. Everything comes from RESULTS: runs as
    `hardgap runs export` writes them, baselines as `hardgap symbolic baselines --keep` does, and
    `analyses-SCALE.json`, what `hardgap symbolic analyse --json` prints.

    Try: `hardgap symbolic document docs/symbolic.md`
    """
    from hardgap.studies.documents import BlockSet
    from hardgap.studies.symbolic.document import BLOCKS, content

    write_documents([file], results, [BlockSet("Experiment 2", BLOCKS, partial(content, scale=scale))])
