"""`hardgap baselines RUN…` and `hardgap baselines --rule R --hide …`"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hardgap.cli.options import Hide, HideRandom, HideSeed, check_seed, parse_gap
from hardgap.cli.output import STORE, TABLES, Show, StoreFolder, Trust, flag
from hardgap.cli.progress import show_parts
from hardgap.cli.writing import check_figure
from hardgap.core.errors import BadInput

if TYPE_CHECKING:
    from hardgap.runs.store import Store
    from hardgap.worlds.automaton.baselines.methods import Method
    from hardgap.worlds.automaton.gap import Gap


def baselines(
    *runs: Annotated[str, Parameter(help="Runs of the store: ids, or their first digits.")],
    solved: Annotated[str | None, Parameter(help="Instead: runs of this rule with at least 95 % holdout.")] = None,
    at_most: Annotated[int, Parameter(help="How many of those; the paper had six.")] = 6,
    rule: Annotated[str | None, Parameter(help="Instead of runs: a rule, without any network.")] = None,
    hide: Hide = None,
    hide_random: HideRandom = None,
    hide_seed: HideSeed = 0,
    temporal: Annotated[bool, flag("With --rule: learn from first row, place, time.")] = False,
    width: Annotated[int | None, Parameter(help="With --temporal: cells in a row; 101.")] = None,
    method: Annotated[
        list[str] | None,
        Parameter(help="KNN, GP, RBF SVM, RF, KRR, majority, or your own package.module:factory; repeatable."),
    ] = None,
    size: Annotated[str | None, Parameter(help="Examples to learn from; 2000, with --temporal 8000, or all.")] = None,
    rows: Annotated[int | None, Parameter(help="With --temporal: rows whose cells are learned from; 20,000.")] = None,
    sizes: Annotated[str | None, Parameter(help="Several, e.g. 500,1000,2000: does the answer depend on it?")] = None,
    figure: Annotated[Path | None, Parameter(help="Also draw it: FILE.svg, .png or .pdf.")] = None,
    seed: int = 0,
    trust: Trust = False,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> None:
    """Every interpolation method on the same gap: what can similarity alone do with it?

    With runs: at each level of representation, from the input to the trained network's hidden states, methods learn
    from visible cells and answer for hidden ones (paper, Table 1). With `--rule`: on the truth table itself, or with
    `--temporal` on what the network is given (paper, Appendix C). A method of your own joins by its import path, also
    from a file in the current folder.

    Try:

        hardgap baselines 0c02dce15cde --figure levels.svg
        hardgap baselines --solved 150
        hardgap baselines 0c02 --sizes 250,500,1000,2000,4000 --method GP --method "RBF SVM"
        hardgap baselines --rule 150 --hide 3
        hardgap baselines --rule D --hide-random 8 --method sklearn.naive_bayes:BernoulliNB
        hardgap baselines --rule 150 --hide 2 --temporal
        hardgap baselines --rule 150 --hide 2 --temporal --rows 200 --size all
    """
    if rule is None:
        if temporal or hide is not None or hide_random is not None:
            raise BadInput("--hide and --temporal go with --rule; a run already says what is hidden")
        if bool(runs) == (solved is not None):
            raise BadInput("say what to measure: runs of the store, --solved RULE, or --rule RULE --hide …")
    elif runs or solved is not None or sizes is not None:
        raise BadInput("--rule goes without runs, --solved and --sizes: it is about no network")
    check_seed(seed)
    check_figure(figure)
    chosen = _methods(method or [], temporal=temporal)
    for option, value in (("--rows", rows), ("--width", width)):
        if value is not None and not temporal:
            raise BadInput(f"{option} goes with --temporal")
    if size is not None and rule is not None and not temporal:
        raise BadInput("--size goes with runs or with --temporal; a truth table is learned from as a whole")
    if size == "all" and not temporal:
        raise BadInput("--size all goes with --temporal; elsewhere it is a number of examples")
    examples = None if size in (None, "all") else _number(str(size))
    if rule is None:
        report = _of_runs(store, runs, solved, at_most, chosen, examples, sizes, seed, trust=trust)
    elif temporal:
        gap = parse_gap(rule, hide, hide_random, hide_seed)
        report = _temporal(gap, 101 if width is None else width, rows, examples, chosen, seed, every=size == "all")
    else:
        report = _truth_table(parse_gap(rule, hide, hide_random, hide_seed), chosen, seed)
    if figure is not None:
        from hardgap.report.figures import save_figure
        from hardgap.studies.interpolation.figure import draw

        save_figure(draw(report), figure)
    from hardgap.studies.interpolation.tables import tables_of

    output.show(report, tables_of(report))


def _methods(names: list[str], *, temporal: bool) -> tuple[Method, ...]:
    from hardgap.worlds.automaton.baselines.methods import METHODS
    from hardgap.worlds.automaton.baselines.plugin import named_methods
    from hardgap.worlds.automaton.baselines.temporal import TEMPORAL_METHODS

    return named_methods(names, TEMPORAL_METHODS if temporal else METHODS)


def _of_runs(
    store: Path,
    runs: tuple[str, ...],
    solved: str | None,
    at_most: int,
    methods: tuple[Method, ...],
    size: int | None,
    sizes: str | None,
    seed: int,
    *,
    trust: bool,
) -> dict[str, Any]:
    from hardgap.cli.retrain import store_with
    from hardgap.core import plugins
    from hardgap.runs.kept_weights import runs_with_weights
    from hardgap.runs.packaged import own_results
    from hardgap.runs.store import DATABASE
    from hardgap.studies.interpolation import measure as study

    asked = runs if runs or (store / DATABASE).exists() else runs_with_weights(own_results())
    opened = store_with(store, *asked)
    setting = study.Setting(methods=methods, size=study.SIZE if size is None else size, seed=seed)
    ids = _run_ids(opened, runs, solved, at_most)
    if trust:
        plugins.trust(path for row in opened.rows(ids) for path in row.config.plugins())
    with one_thread(), show_parts() as progress:
        if sizes is None:
            return study.as_report(study.measure_runs(opened, ids, setting, progress), setting)
        return study.sizes_report(study.measure_sizes(opened, ids, setting, _numbers(sizes), progress), setting)


def _run_ids(store: Store, runs: tuple[str, ...], solved: str | None, at_most: int) -> list[str]:
    from hardgap.studies.interpolation.measure import solved_runs

    if solved is None:
        return [store.get(run).id for run in runs]
    if at_most < 1:
        raise BadInput(f"--at-most {at_most}: at least one run is needed")
    return solved_runs(store, solved, at_most=at_most)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadInput(f"--size {text}: write a number of examples, or with --temporal all") from None


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"--sizes {text}: write numbers with commas between, such as 500,1000,2000") from None


def _truth_table(gap: Gap, methods: tuple[Method, ...], seed: int) -> dict[str, Any]:
    from hardgap.worlds.automaton.baselines.input_space import truth_table_report

    with show_parts() as progress:
        return truth_table_report(gap, methods, seed, progress)


def _temporal(
    gap: Gap, width: int, rows: int | None, size: int | None, methods: tuple[Method, ...], seed: int, *, every: bool
) -> dict[str, Any]:
    from hardgap.studies.interpolation.temporal import ROWS, SIZE, temporal_report

    rows, cells = ROWS if rows is None else rows, None if every else SIZE if size is None else size
    with one_thread(), show_parts() as progress:
        return temporal_report(
            gap, width=width, rows=rows, size=cells, methods=methods, seed=seed, on_progress=progress
        )


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in every library, so that no number depends on their count."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from hardgap.runs.execute import single_thread

    single_thread()
    with threadpool_limits(1):
        yield
