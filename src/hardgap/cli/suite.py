"""`hardgap suite …`: any network on the same gaps."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from hardgap.cli.output import STORE, TABLES, Engine, Place, Show, StoreFolder, Trust, choose_engine, err
from hardgap.cli.writing import check_file
from hardgap.core.errors import BadInput
from hardgap.core.wording import listed, plural
from hardgap.runs.signals import INTERRUPTED

if TYPE_CHECKING:
    from hardgap.cli.output import Output
    from hardgap.runs.store import Store
    from hardgap.suites.card import Card
    from hardgap.suites.gaps import Suite
    from hardgap.suites.judging import Plan

suite = App(name="suite", help="Judge a network on fixed gaps, beside references; check and compare cards.")

Name = Annotated[str, Parameter(name="--suite", help="Which version of the suite.")]
Workers = Annotated[int | None, Parameter(help="Worker processes; as many as cores if not given.")]


@suite.command
def run(
    network: str,
    /,
    *,
    recipe: Annotated[
        str, Parameter(help="tempered, untempered, or your own package.module:function from a run to a run.")
    ] = "tempered",
    quick: Annotated[
        bool, Parameter(negative="", help="A subset: minutes for the paper's encoder, more for slower networks.")
    ] = False,
    seed: Annotated[
        int | None, Parameter(help="What the private part is drawn from; the network's own code if not given.")
    ] = None,
    seeds: Annotated[int, Parameter(help="Only the first so many seeds of every gap.")] = 3,
    card: Annotated[Path | None, Parameter(help="Where to write the card; named by what it is if not given.")] = None,
    add_to: Annotated[
        Path | None, Parameter(help="A card of the same, made elsewhere or before: its runs are not trained again.")
    ] = None,
    train: Annotated[bool, Parameter(name="--run", help="`--no-run` only makes the card of what is there.")] = True,
    budget: Annotated[str | None, Parameter(help="Stop after this long, e.g. 90m; the next call goes on.")] = None,
    certify: Annotated[bool, Parameter(help="Whether to check one run for leaks.")] = True,
    scale: Annotated[
        Literal["smoke", "desk"], Parameter(help="`smoke` tries everything in a minute and shows nothing.")
    ] = "desk",
    name: Name = "v1",
    on: Place = "local",
    workers: Workers = None,
    engine: Engine = None,
    store: StoreFolder = STORE,
    output: Show = TABLES,
) -> int:
    """Train a network on the suite's gaps under fixed budgets, and write its card.

    NETWORK is your own, `package.module:factory` (called with the row width), or a reference: `hardgap suite list`
    shows them. Stopped at any time, the same command goes on. The card tells recovered gaps by group, with 95 %
    intervals, and where it stands among the references.

    Try:

        hardgap suite run mynets:make --quick
        hardgap suite run mynets:make --recipe untempered
        hardgap suite run mynets:make --recipe mynets:colder --quick
        hardgap suite run encoder --quick --seeds 1 --json
        hardgap suite run encoder --quick --add-to v1-quick-encoder-tempered.json
        hardgap suite run KNN
    """
    from hardgap.cli.progress import show_parts
    from hardgap.cli.sweep import check_workers, parse_duration
    from hardgap.runs.store import Store
    from hardgap.suites.card import read_card
    from hardgap.suites.computed import COMPUTED
    from hardgap.suites.entries import Entry
    from hardgap.suites.gaps import SEEDS, load_suite
    from hardgap.suites.judging import check_same, make_card, plan

    chosen = load_suite(name)
    before = read_card(add_to) if add_to else None
    path = card or add_to or Path(_file_name(name, network, "" if network in COMPUTED else recipe, quick))
    check_file("--card", path)
    if network in COMPUTED:
        ignored = {
            "--add-to": add_to is not None, "--recipe": recipe != "tempered", "--seeds": seeds != SEEDS,
            "--scale": scale != "desk", "--no-run": not train, "--budget": budget is not None,
            "--no-certify": not certify, "--on": on != "local", "--workers": workers is not None,
            "--engine": engine is not None,
        }  # fmt: skip
        if given := [option for option, is_given in ignored.items() if is_given]:
            raise BadInput(f"{listed(given)}: {network} is computed at once, nothing is trained")
        made = _computed(chosen, network, quick, seed or 0)
        _check_replaced(path, made.run_ids)
        _show(made, path, output)
        return 0
    choose_engine(engine)
    check_workers(workers, on)
    seconds = parse_duration(budget) if budget else None
    with show_parts("drawing the private part"):
        drawn = before.seed if before and seed is None else seed
        asked = plan(chosen, Entry(network, recipe), quick=quick, seed=drawn, seeds=seeds, scale=scale)
    if before is not None:
        check_same(asked, before)
    _check_replaced(path, {one.id for one in asked.configs} | (before.run_ids if before else set()))
    opened = Store(store, create=train)
    code = _trained(asked, opened, before, on, workers, seconds) if train else 0
    if code == INTERRUPTED:
        return code
    with show_parts("reading the runs") as told:
        made = make_card(asked, opened, told, certify=certify, before=before)
    _check_replaced(path, made.run_ids)
    _show(made, path, output)
    return code


def _computed(suite: Suite, method: str, quick: bool, seed: int) -> Card:
    from hardgap.cli.progress import show_parts
    from hardgap.suites.computed import computed_card

    with show_parts() as told:
        return computed_card(suite, method, quick=quick, seed=seed, on_progress=told)


def _trained(
    asked: Plan, store: Store, before: Card | None, on: str, workers: int | None, seconds: float | None
) -> int:
    """Train what is missing, if something is; the exit code."""
    from hardgap.cli.sweep import run_and_report
    from hardgap.cli.train import tell_other_code
    from hardgap.suites.judging import missing

    if not (left := missing(asked, store, before)):
        return 0
    tell_other_code(store, left)
    err().print(f"{len(left)} of {len(asked.runs)} runs to train; private part from seed {asked.seed}", highlight=False)
    return run_and_report(store, left, on=on, workers=workers, seconds=seconds)


def _file_name(suite_name: str, network: str, recipe: str, quick: bool) -> str:
    """Letters that any file system takes."""
    words = [suite_name, "quick" if quick else "", network, recipe]
    return "-".join("".join(c if c.isalnum() else "-" for c in word) for word in words if word) + ".json"


def _check_replaced(path: Path, runs: set[str]) -> None:
    """Refuse to write a card in the place of one that has other runs: these may be nowhere else."""
    from hardgap.suites.card import read_card

    if path.exists() and (lost := read_card(path).run_ids - runs):
        raise BadInput(
            f"{path} has {plural(len(lost), 'run')} that this card would not: name another file with --card, or, to "
            f"train that card further, --add-to {path}"
        )


def _show(card: Card, path: Path, output: Output) -> None:
    card.save(path)
    _tell(card, path, output)
    err().print(f"card written to {path}", highlight=False, soft_wrap=True)


def _tell(card: Card, path: Path, output: Output) -> None:
    from hardgap.suites.references import load_references, standing_data
    from hardgap.suites.tables import card_table, remarks, standing_table

    tables = [card_table(card), standing_table(card, load_references())]
    data = card.found() | {"standing": standing_data(card), "card": str(path)}
    output.show(data, [table for table in tables if table is not None])
    for sentence in remarks(card):
        output.say(sentence)


@suite.command
def show(card: Path, /, *, output: Show = TABLES) -> None:
    """A card that a file holds: recovered gaps by group, and where it stands among the references.

    Nothing is trained or written, and none of its network's code runs; `hardgap suite verify` checks a card.

    Try:

        hardgap suite show v1-quick-encoder-tempered.json
        hardgap suite show theirs.json --json
    """
    from hardgap.suites.card import read_card

    _tell(read_card(card), card, output)


@suite.command(name="list")
def list_suite(*, name: Name = "v1", output: Show = TABLES) -> None:
    """The gaps of a suite by group, and the references as far as they are measured.

    Try:

        hardgap suite list
        hardgap suite list --json
    """
    from hardgap.suites.computed import COMPUTED
    from hardgap.suites.entries import NETWORKS
    from hardgap.suites.gaps import load_suite
    from hardgap.suites.references import load_references
    from hardgap.suites.tables import reference_table, suite_table

    found, references = load_suite(name), load_references()
    data = {
        "suite": found.name,
        "gaps": [gap.model_dump(mode="json") | {"key": gap.key} for gap in found.gaps],
        "networks": {key: about for key, (_, about) in NETWORKS.items()} | COMPUTED,
        "references": [{"reference": one.name, "gaps": one.gaps} for one in references],
    }
    output.show(data, [suite_table(found), *([reference_table(found, references)] if references else [])])
    missing = [one for one in (*COMPUTED, *NETWORKS) if one not in {other.network for other in references}]
    if missing:
        output.say(f"Still to be measured: {', '.join(missing)}.")


@suite.command
def verify(
    card: Path,
    /,
    *,
    share: Annotated[float, Parameter(help="The part of its runs to train again.")] = 0.1,
    seed: Annotated[int | None, Parameter(help="Which of them; others each time if not given.")] = None,
    trust: Trust = False,
    workers: Workers = None,
    engine: Engine = None,
    output: Show = TABLES,
) -> int:
    """Train a random tenth of a card's runs again, and compare.

    That all its runs are the suite's is checked first. On the machine that made a card, every curve has to be the same,
    bit by bit; elsewhere rounding differs, and outcomes are compared. Exit code 1 if the card is not confirmed.

    Try:

        hardgap suite verify v1-quick-encoder-tempered.json
        hardgap suite verify theirs.json --share 0.3 --trust
    """
    from hardgap.cli.progress import show_parts
    from hardgap.cli.sweep import check_workers, run_and_report
    from hardgap.core.plugins import trust as let_in
    from hardgap.runs.store import Store
    from hardgap.suites.card import read_card
    from hardgap.suites.checking import can_refute, chosen_runs, is_confirmed, rerun, rerun_table, runs_of

    choose_engine(engine)
    check_workers(workers)
    found = read_card(card)
    if trust:
        let_in([path for path in (found.network, found.recipe) if ":" in path])
    with show_parts("drawing the private part"):
        chosen = chosen_runs(found, share, seed)
    with TemporaryDirectory() as folder:  # a store of its own: what another store has was not trained now
        store = Store(Path(folder))
        if code := run_and_report(store, runs_of(chosen), workers=workers):
            return code
        again = rerun(found, chosen, store)
    confirmed = is_confirmed(again)
    data = {"card": str(card), "confirmed": confirmed, "runs": [one.as_dict() for one in again]}
    output.show(data, [rerun_table(found, again)])
    bits = sum(one.same_machine for one in again)
    output.say(
        f"{'Confirmed' if confirmed else 'NOT confirmed'}: {sum(one.same_outcome for one in again)} of {len(again)} "
        f"outcomes and {sum(one.same_curve for one in again)} curves are the same; {bits} were made on such a machine."
    )
    if not can_refute(again):
        output.say("So few runs of another machine cannot refute a card, whatever they give: take a larger --share.")
    return 0 if confirmed else 1


@suite.command
def compare(first: Path, second: Path, /, *, output: Show = TABLES) -> None:
    """Two cards, gap by gap: which gaps only one recovers, with McNemar's exact test.

    Try:

        hardgap suite compare mine.json theirs.json
        hardgap suite compare mine.json results/suite/v1-quick-solver.json --json
    """
    from hardgap.suites import checking
    from hardgap.suites.card import read_card

    cards = read_card(first), read_card(second)
    tables, remarks = checking.comparison_tables(*cards), list(checking.comparison_remarks(*cards))
    data = {
        "first": cards[0].name,
        "second": cards[1].name,
        "compared": [one.as_dict() for one in checking.compare(*cards)],
        "differing": checking.differing(*cards),
        "remarks": remarks,
    }
    output.show(data, tables)
    for sentence in remarks:
        output.say(sentence)
