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
) -> None:
    """Write the measured tables into a Markdown FILE, between its marks `<!-- measured: … -->` and `<!-- end -->`.

    Everything comes from RESULTS: runs as `hardgap runs export` writes them, baselines as `hardgap symbolic baselines
    --keep` does, and `analyses-SCALE.json`, what `hardgap symbolic analyse --json` prints.

    Try: `hardgap symbolic document docs/symbolic.md`
    """
    from hardgap.report.document import fill
    from hardgap.report.symbolic_document import sections

    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from error
    after = fill(before, sections(results, scale))
    if after == before:
        err().print(f"{file} is up to date")
        return
    file.write_text(after, encoding="utf-8")
    err().print(f"{file} written")
