"""`hardgap report`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import TABLES, Show, err
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_file


def report(
    *,
    results: Annotated[
        Path | None, Parameter(help="Folder of measured runs; `results`, or what came with hardgap, if not given.")
    ] = None,
    out: Annotated[Path, Parameter(help="Where the page is written.")] = Path("hardgap-report.html"),
    pdf: Annotated[Path | None, Parameter(help="Also print it to this file, if there is a browser.")] = None,
    output: Show = TABLES,
) -> None:
    """Which claims of the paper hold? One page with every claim, its verdict, its table and its figure.

    Nothing is trained: all of it comes from RESULTS, runs as `hardgap reproduce STUDY --keep results` writes them. The
    page holds everything that it shows. `docs/verdicts.md` says what the verdicts mean.

    Try:

        hardgap report
        hardgap report --out docs/report.html --pdf report.pdf
        hardgap report --json
    """
    from hardgap.report.pdf import find_browser, print_page
    from hardgap.runs.packaged import own_results
    from hardgap.runs.results import check_has_runs, write_text
    from hardgap.studies.ledger import as_dict, ledger_table, read_claims, summary
    from hardgap.studies.report_page import report_page
    from hardgap.suites.references import read_cards

    results = results or own_results()
    check_has_runs(results)
    check_file("--out", out)
    if pdf is not None:
        check_file("--pdf", pdf)
    browser = find_browser() if pdf is not None else ""
    with show_parts(f"reading {results}") as told:
        claims = read_claims(results, told=told)
        write_text(out, report_page(claims, told, read_cards(results / "suite")))
        if pdf is not None:
            told(f"printing {pdf}", 0, 0)
            print_page(browser, out, pdf)
    output.show(as_dict(claims), [ledger_table(claims)])
    output.say(summary(claims))
    for path in filter(None, (out, pdf)):
        err().print(f"{path} written")
