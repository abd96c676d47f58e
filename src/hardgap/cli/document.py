"""`hardgap document [FILE…]`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import show_written
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_document


def document(
    *files: Annotated[Path, Parameter(help="Markdown files; README and the pages of docs/ and results/ if none.")],
    results: Annotated[Path, Parameter(help="Folder of measured runs.")] = Path("results"),
) -> None:
    """Write what was measured into README and the pages of docs/: tables, sentences with numbers, figures, the index.

    What is measured stands between the marks `<!-- measured: … -->` and `<!-- end -->`; all else is left alone. Figures
    that a page shows, and the index that `results/README.md` links to, are written beside it. Everything comes from
    RESULTS, runs as `hardgap reproduce STUDY --keep results` writes them.

    Try:

        hardgap document
        hardgap document README.md docs/tempered.md
    """
    from hardgap.studies.documents import PAGES, read_pages, write_pages

    texts = read_pages(files or [Path(page) for page in PAGES])
    for file in texts:  # all that can be refused is refused before anything is measured
        check_document(file)
    with show_parts("reading results") as progress:
        written = write_pages(texts, results, progress)
    for file, several in written.items():
        show_written(file, several)
