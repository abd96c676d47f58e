"""`hardgap tempered [STUDY]` and `hardgap tempered document FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from hardgap.cli.output import TABLES, Output, Show
from hardgap.cli.studies import AS_USUAL, Ask, KeepFolder, measure_studies, show_list, tables_of

USAGE = "Usage: hardgap tempered [STUDY] [OPTIONS]\n       hardgap tempered document FILE"
tempered = App(name="tempered", usage=USAGE)


@tempered.default
def show_study(
    study: Annotated[str | None, Parameter(help="Which study; without one, a list of them.")] = None,
    /,
    *,
    asked: Ask = AS_USUAL,
    keep: KeepFolder = None,
    markdown: Annotated[bool, Parameter(negative="", show=False)] = False,
    output: Show = TABLES,
) -> int:
    """Ours: make recovery reliable by tempering the feedback, and see why it fails without.

    `hardgap tempered target` is `hardgap reproduce tempered/target`. One study each for the claim (target, control,
    unharmed), for what else could be turned (dial, phases), for how much can be hidden (cliff), for the reason
    (explain), for what can be foretold (forecast), and for the paper's own width (wide). The committed measurements
    can be taken in first: `hardgap runs import results/`.

    Try:

        hardgap tempered
        hardgap tempered target --budget 90m
        hardgap tempered target --no-run --figure target.svg
        hardgap tempered dial --seeds 1 --json
        hardgap tempered control --no-run --keep results
    """
    import hardgap.studies  # noqa: F401  (declares them)
    from hardgap.studies.study import choose

    if study is None:
        show_list(choose(["tempered"]), asked, output)
        return 0
    code, results = measure_studies(choose([f"tempered/{study}"]), asked, keep)
    (Output(format="markdown") if markdown else output).show(results[0].as_dict(), tables_of(results))
    return code


@tempered.command
def document(
    file: Path,
    /,
    *,
    results: Annotated[Path, Parameter(help="Folder of measured runs, with tempered/ and main/ in it.")] = Path(
        "results"
    ),
) -> None:
    """Write the measured tables into a Markdown FILE, and draw the figures that it shows beside it.

    It is `hardgap document FILE` for a page that shows nothing else. Everything comes from RESULTS: runs as
    `hardgap tempered STUDY --keep results` writes them.

    Try: `hardgap tempered document docs/tempered.md`
    """
    from hardgap.cli.document import write_documents
    from hardgap.studies.documents import TEMPERED

    write_documents([file], results, [TEMPERED])
