"""`hardgap demo`"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.output import STORE, Engine, Json, StoreFolder, choose_engine, err, out, show_json
from hardgap.cli.writing import check_file
from hardgap.core.errors import BadInput
from hardgap.core.wording import percent
from hardgap.runs.summary import restarts

if TYPE_CHECKING:
    from hardgap.runs.driver import SweepProgress
    from hardgap.runs.store import Store
    from hardgap.studies.demo import Demo

Curve = list[dict[str, Any]]


def demo(
    *,
    recipe: Annotated[
        Literal["paper", "tempered"],
        Parameter(help="`tempered` takes an entry that T = 1 recovers on no seed of ten at desk scale."),
    ] = "paper",
    page: Annotated[Path, Parameter(help="Where to write the page.")] = Path("hardgap-demo.html"),
    engine: Engine = None,
    store: StoreFolder = STORE,
    json: Json = False,
) -> int:
    """The whole story in under three minutes on two cores, ending in a page to open.

    Hides one entry of Rule 150, asks similarity methods for it, trains a two-layer transformer beside a
    control (one step only; under `--recipe tempered`, the paper's regime), and shows the truth table that
    it computes. The second time, the runs are already in the store and the story is told from there.

    Try:

        hardgap demo --page story.html
        hardgap demo --recipe tempered
    """
    check_file("--page", page)
    choose_engine(engine)
    say = _Narrator(silent=json)
    say("Setting the scene …")
    from hardgap.runs.store import Store
    from hardgap.studies.demo import RECOVERED, make_demo, recovered_table, similarity_says, train_both, write_page

    told, opened = make_demo(recipe), Store(store)
    gap = told.gap
    answers = similarity_says(gap)
    _tell_gap(say, told, answers)
    ended = train_both(opened, told, _Watch(say, opened, told))
    if ended != "finished":
        raise KeyboardInterrupt
    for row in opened.rows([told.soft.id, told.control.id]):
        if row.status == "failed":
            raise BadInput(f"run {row.id} of the demo could not be trained: {row.error}")
    soft, control = opened.curve(told.soft.id), opened.curve(told.control.id)
    table = recovered_table(gap, soft)
    write_page(page, told, soft, control)
    _tell_outcome(say, told, table, soft, control)
    say(f"\nThe story with its pictures: {page}")
    say("Next: hardgap ui, a page to watch it happen; then hardgap reproduce main --budget 30m")
    if json:
        show_json({
            "page": str(page),
            "runs": {"soft": told.soft.id, "control": told.control.id},
            "similarity": [{"method": name, "answer": answer, "right": right} for name, answer, right in answers],
            "restarts": {"soft": restarts(soft), "control": restarts(control)},
            "holdout": {"soft": soft[-1]["holdout"], "control": control[-1]["holdout"]},
            "recovered_table": [answer for _, _, answer, _ in table],
        })  # fmt: skip
    return 0 if soft[-1]["holdout"] >= RECOVERED else 1


class _Narrator:
    """Tells the story on stdout in lines that fit the terminal, or keeps silent when JSON was asked for."""

    def __init__(self, *, silent: bool) -> None:
        self._silent, self._width = silent, min(out().width, 100)

    def __call__(self, text: str) -> None:
        for line in () if self._silent else text.split("\n"):
            told = fill(line, self._width, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
            print(told, flush=True)


def _tell_gap(say: _Narrator, told: Demo, answers: list[tuple[str, int, bool]]) -> None:
    from hardgap.studies.demo import neighbours

    gap = told.gap
    hidden = gap.rule.pattern_text(gap.hidden[0])
    truth = gap.rule.table[gap.hidden[0]]
    say(f"\n1. Rule {gap.rule.name}: a cell becomes the parity of itself and its two neighbours.\n")
    say("   pattern  " + "  ".join(gap.rule.pattern_text(p) for p in range(gap.rule.patterns)))
    shown = ("?" if p in gap.hidden else str(gap.rule.table[p]) for p in range(gap.rule.patterns))
    say("   output    " + "    ".join(shown))
    say(f"\n   The entry {hidden} is hidden: wherever it occurs, its output ({truth}) never enters the loss.\n")
    say("2. What similarity says about it:\n")
    for name, answer, right in answers:
        say(f"   {name:<14} {answer}   {'right' if right else 'wrong'}")
    opposite = ", ".join(f"{text} → {output}" for text, output in neighbours(gap))
    say(f"\n   They must be wrong: every pattern one bit away has the opposite output ({opposite}).\n")
    say(
        "3. A two-layer transformer trains on the visible entries, feeding its own predictions back for 4 steps; "
        f"{told.beside}. Accuracy on test rows, %:\n"
    )


def _tell_outcome(
    say: _Narrator, told: Demo, table: list[tuple[str, int, int, float]], soft: Curve, control: Curve
) -> None:
    from hardgap.studies.demo import RECOVERED, lost_after

    gap = told.gap
    hidden, truth, answer, right = table[gap.hidden[0]]
    stays = percent(control[-1]["holdout"])
    say(f"\n4. The control stays at {stays} % on the hidden entry {hidden}: {told.why}.")
    say("   The truth table that the first network computes:\n")
    say("   pattern  " + "  ".join(text for text, *_ in table))
    say("   network   " + "    ".join(str(answer) for _, _, answer, _ in table))
    if right >= RECOVERED:
        say(f"\n   {hidden} → {answer}: an entry that it was never shown, right on {percent(right)} % of test cells.")
    else:
        say(f"\n   {hidden} → {answer}, the truth is {truth}: not recovered on this machine ({percent(right)} %).")
        if (step := lost_after(soft)) is not None:
            say(f"   It was right at step {step}, and was lost again: training can blow up after it has converged.")
        say("   Not every seed succeeds, here as in the paper; `hardgap reproduce` counts how many do.")


class _Watch:
    """Prints one row a step, once both runs have come that far (or ended); what was there before, at the first look."""

    def __init__(self, say: _Narrator, store: Store, told: Demo) -> None:
        self._say, self._store, self._told = say, store, told
        self._ids = (told.soft.id, told.control.id)
        self._shown = -1
        say(f"   {'step':>7}  {'visible':>9} {'hidden':>8}    {'visible':>9} {'hidden':>8} (control)")

    def __call__(self, progress: SweepProgress) -> None:
        status = self._store.progress(self._ids)  # before the curves: one of a run that has ended is whole
        curves = {run_id: self._store.curve(run_id) for run_id in self._ids}
        going = [curves[run_id] for run_id in self._ids if status[run_id][0] in ("queued", "running")]
        limit = min((curve[-1]["step"] if curve else -1 for curve in going), default=math.inf)
        steps = {point["step"] for curve in curves.values() for point in curve}
        for step in sorted(step for step in steps if self._shown < step <= limit):
            self._row(step, *curves.values())
            self._shown = step
        if self._shown < 0 and sys.stderr.isatty():
            err().print("   starting …", end="\r")

    def _row(self, step: int, soft: Curve, control: Curve) -> None:
        if step in restarts(soft):  # the control has none
            self._say(f"     -- started again before step {step}: visible cells contradicted the network,")
            self._say("        so it got fresh weights and half the temperature --")
        self._say(f"   {step:>7}  {_accuracies(soft, step)}    {_accuracies(control, step)}".rstrip())


def _accuracies(curve: Curve, step: int) -> str:
    """Visible and hidden of the evaluation at a step; blank if there is none, because the run had ended."""
    found = [point for point in curve if point["step"] == step]
    return f"{percent(found[0]['visible']):>9} {percent(found[0]['holdout']):>8}" if found else " " * 18
