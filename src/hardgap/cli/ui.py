"""`hardgap ui`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hardgap.cli.output import STORE, StoreFolder, err, out
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_folder
from hardgap.core.errors import BadInput
from hardgap.core.wording import plural


def ui(
    *,
    store: StoreFolder = STORE,
    port: Annotated[int | None, Parameter(help="Where to listen; 8377, or any if that is taken.")] = None,
    host: Annotated[str, Parameter(help="Another address than this machine's own lets others look.")] = "127.0.0.1",
    browser: Annotated[bool, Parameter(help="Open the page in a browser.")] = True,
    bundle: Annotated[Path | None, Parameter(help="Write what can be read as files into this folder, and end.")] = None,
    results: Annotated[Path | None, Parameter(help="Also take in the measured runs of this folder.")] = None,
) -> None:
    """Open the page: explore a gap, watch a network fill it, open the network, see what was measured.

    What trains, trains in processes of its own; closing the page or this command loses nothing. Only the address
    that is printed may start, stop or remove something.

    Try:

        hardgap ui
        hardgap ui --results results
        hardgap ui --no-browser --port 9000
        hardgap ui --results results --bundle site
    """
    from hardgap.runs.packaged import own_results
    from hardgap.runs.results import import_runs
    from hardgap.runs.store import Store
    from hardgap.ui.serve import serve

    if port is not None and not 0 <= port <= 65535:
        raise BadInput(f"--port {port}: give 0 to 65535")
    opened = Store(store)
    if results is not None:
        from hardgap.runs.kept_weights import take_weights

        with show_parts(f"reading {results}"):
            new, known = import_runs(opened, results)
            take_weights(opened, results)
        err().print(f"{plural(new, 'run')} of {results} taken in, {known} were here")
    elif own_results().is_dir():  # in a clone, the networks that are kept there work at once
        results = own_results()
    opened.close()
    if bundle is not None:
        _write(bundle, store, results)
        return

    def tell(address: str) -> None:
        out().print(address, markup=False, soft_wrap=True)
        err().print("Ctrl-C ends the page; runs that are half way go on where they stopped.")
        if host not in ("127.0.0.1", "localhost", "::1"):
            err().print(f"Whoever reaches {host} can read this; only the address above can change something.")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(store, host, port, results, tell)


def _write(folder: Path, store: Path, results: Path | None) -> None:
    from hardgap.ui.bundle import write_bundle

    check_folder("--bundle", folder)
    with show_parts() as progress:
        written = write_bundle(folder, store, results, progress)
    err().print(f"{plural(written, 'file')} written; open {folder / 'index.html'}")
