"""`hardgap baselines RUN…` and `hardgap baselines --rule R --hide …`"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from hardgap.cli.gap_options import Hide, HideRandom, HideSeed, check_seed, parse_gap
from hardgap.cli.output import STORE, Json, StoreFolder, Trust, percent, show_json, show_table
from hardgap.cli.writing import check_figure
from hardgap.core.errors import BadInput
from hardgap.core.wording import plural

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
    temporal: Annotated[bool, Parameter(negative="", help="With --rule: learn from first row, place, time.")] = False,
    width: Annotated[int, Parameter(help="With --temporal: cells in a row.")] = 101,
    method: Annotated[
        list[str] | None,
        Parameter(help="KNN, GP, RBF SVM, RF, KRR, majority, or your own package.module:factory; repeatable."),
    ] = None,
    size: Annotated[int | None, Parameter(help="Examples to learn from; 2000, with --temporal 8000.")] = None,
    sizes: Annotated[str | None, Parameter(help="Several, e.g. 500,1000,2000: does the answer depend on it?")] = None,
    figure: Annotated[Path | None, Parameter(help="Also draw it: FILE.svg, .png or .pdf.")] = None,
    seed: int = 0,
    trust: Trust = False,
    store: StoreFolder = STORE,
    json: Json = False,
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
    if rule is None:
        report = _of_runs(store, runs, solved, at_most, chosen, size, sizes, seed, trust=trust)
    elif temporal:
        report = _temporal(parse_gap(rule, hide, hide_random, hide_seed), width, size, chosen, seed)
    else:
        report = _truth_table(parse_gap(rule, hide, hide_random, hide_seed), chosen, seed)
    if figure is not None:
        from hardgap.report.figures import save_figure
        from hardgap.studies.interpolation.figure import draw

        save_figure(draw(report), figure)
    show_json(report) if json else SHOW[report["kind"]](report)


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
    from hardgap.cli.parts import show_parts
    from hardgap.core import plugins
    from hardgap.runs.store import Store
    from hardgap.studies.interpolation import measure as study

    opened = Store(store, create=False)
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


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"--sizes {text}: write numbers with commas between, such as 500,1000,2000") from None


def _truth_table(gap: Gap, methods: tuple[Method, ...], seed: int) -> dict[str, Any]:
    from hardgap.cli.parts import show_parts
    from hardgap.worlds.automaton.baselines.input_space import truth_table_report

    with show_parts() as progress:
        return truth_table_report(gap, methods, seed, progress)


def _temporal(gap: Gap, width: int, size: int | None, methods: tuple[Method, ...], seed: int) -> dict[str, Any]:
    from hardgap.cli.parts import show_parts
    from hardgap.studies.interpolation import temporal as study

    size = study.SIZE if size is None else size
    with one_thread(), show_parts() as progress:
        return study.temporal_report(gap, width=width, size=size, methods=methods, seed=seed, on_progress=progress)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in every library, so that no number depends on their count."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from hardgap.runs.execute import single_thread

    single_thread()
    with threadpool_limits(1):
        yield


def _show_levels(report: dict[str, Any]) -> None:
    """Table 1 as the paper prints it, the control below it."""
    from hardgap.studies.interpolation.published import PUBLISHED_NETWORK

    methods = list(report["table"][0]["holdout"])
    lines = [
        [line["title"], *(_range(line["holdout"][m]) for m in methods), _digits(line["network"])]
        for line in report["table"]
    ]
    size = report["setting"]["size"]
    columns = ["representation level", *methods, "network"]
    show_table(f"{report['about']}: right answers on hidden cells, %", columns, lines, right=columns[1:])
    control = [[line["title"], *(_digits(line["visible"][m]) for m in methods)] for line in report["table"]]
    show_table(f"Control: on visible cells, %; {size} examples learned from", columns[:-1], control, right=columns[1:])
    published = [
        [line["title"], *(_verdict(line, m) for m in line["published"]), _digits(PUBLISHED_NETWORK)]
        for line in report["table"]
        if line["published"]
    ]
    if published:
        names = [*next(line["published"] for line in report["table"] if line["published"]), "network"]
        show_table("Published (Table 1, width 101), %", ["representation level", *names], published, right=names)


def _verdict(line: dict[str, Any], method: str) -> str:
    verdict = line["verdict"].get(method)
    note = "" if verdict in (None, "agrees") else f" (measured {verdict})"
    return _range(line["published"][method]) + note


def _show_sizes(report: dict[str, Any]) -> None:
    sizes = report["sizes"]
    methods = list(sizes[0]["table"][0]["holdout"])
    lines = [
        [
            line["title"] if i == 0 else "",
            method,
            *(_range(entry["table"][place]["holdout"][method]) for entry in sizes),
        ]
        for place, line in enumerate(sizes[0]["table"])
        for i, method in enumerate(methods)
    ]
    columns = [str(entry["size"]) for entry in sizes]
    title = f"{report['about']}: right answers on hidden cells, %, by number of examples learned from"
    show_table(title, ["representation level", "method", *columns], lines, right=columns)


def _show_truth_table(report: dict[str, Any]) -> None:
    methods = list(report["table"][0]["holdout"])
    lines = [
        [p["pattern"], p["neighbourhood"], p["truth"], *(p["answers"][m] for m in methods)] for p in report["patterns"]
    ]
    right = [_digits(report["table"][0]["holdout"][m][0]) for m in methods]
    columns = ["pattern", "neighbourhood", "true output", *methods]
    show_table(
        f"{report['about']}: answers for the hidden patterns, learned from {plural(report['visible'], 'visible one')}",
        columns,
        [*lines, ["right, %", "", "", *right]],
        right=columns[2:],
    )


def _show_temporal(report: dict[str, Any]) -> None:
    lines = [
        [
            name,
            percent(found["holdout"]),
            report["published"].get(name),
            percent(found["visible"]),
            percent(found["shown"]),
        ]
        for name, found in report["methods"].items()
    ]
    setting = report["setting"]
    columns = ["method", "hidden, t=1", "published (width 101)", "visible, t=1", "learned from"]
    show_table(
        f"{report['about']}: first row, position and timestep; width {setting['width']}, {setting['size']} cells "
        f"of t=1 to {setting['steps']}; right answers, %",
        columns,
        lines,
        right=columns[1:],
    )


def _range(values: list[float] | tuple[float, float]) -> str:
    """`34–42`, or one number where both are the same to a percent, as Table 1 prints it."""
    low, high = (f"{value:.0f}" for value in values)
    return low if low == high else f"{low}–{high}"


def _digits(value: float) -> str:
    return f"{value:.1f}"


SHOW: dict[str, Callable[[dict[str, Any]], None]] = {
    "levels": _show_levels,
    "sizes": _show_sizes,
    "truth-table": _show_truth_table,
    "temporal": _show_temporal,
}
