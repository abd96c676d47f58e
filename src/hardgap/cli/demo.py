"""`hardgap demo`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hardgap.cli.output import STORE, Engine, Json, StoreFolder, choose_engine, err, percent, show_json
from hardgap.errors import BadInput

if TYPE_CHECKING:
    from hardgap.report.demo import Demo
    from hardgap.runs.local import Progress
    from hardgap.runs.store import Store


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
    it computes. The second time, the runs are already in the store and only the story is told.

    Try:

        hardgap demo --page story.html
        hardgap demo --recipe tempered
    """
    choose_engine(engine)
    say = _Narrator(silent=json)
    say("Setting the scene …")
    from hardgap.report.demo import make_demo, recovered_table, similarity_says, train_both, write_page
    from hardgap.runs.store import Store

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
    _tell_outcome(say, told, table, control, page)
    if json:
        show_json({
            "page": str(page),
            "runs": {"soft": told.soft.id, "control": told.control.id},
            "similarity": [{"method": name, "answer": answer, "right": right} for name, answer, right in answers],
            "holdout": {"soft": soft[-1]["holdout"], "control": control[-1]["holdout"]},
            "recovered_table": [answer for _, _, answer, _ in table],
        })  # fmt: skip
    return 0 if soft[-1]["holdout"] >= 0.99 else 1


class _Narrator:
    """Tells the story on stdout, or keeps silent when JSON was asked for."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent

    def __call__(self, text: str = "") -> None:
        if not self._silent:
            print(text, flush=True)


def _tell_gap(say: _Narrator, told: Demo, answers: list[tuple[str, int, bool]]) -> None:
    from hardgap.report.demo import neighbours

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
    say("3. A two-layer transformer trains on the visible entries, feeding its own predictions back for 4 steps;")
    say(f"   {told.beside}. Accuracy on test rows, %:\n")


def _tell_outcome(
    say: _Narrator, told: Demo, table: list[tuple[str, int, int, float]], control: list[dict[str, Any]], page: Path
) -> None:
    gap = told.gap
    hidden, truth, answer, right = table[gap.hidden[0]]
    stays = percent(control[-1]["holdout"])
    say(f"\n4. The control stays at {stays} % on the hidden entry {hidden}: {told.why}.")
    say("   The truth table that the first network computes:\n")
    say("   pattern  " + "  ".join(text for text, *_ in table))
    say("   network   " + "    ".join(str(answer) for _, _, answer, _ in table))
    if right >= 0.99:
        say(f"\n   {hidden} → {answer}: an entry that it was never shown, right on {percent(right)} % of test cells.")
    else:
        say(f"\n   {hidden} → {answer}, the truth is {truth}: not recovered on this machine ({percent(right)} %).")
        say("   Not every seed succeeds, here as in the paper; `hardgap reproduce` counts how many do.")
    say(f"\nThe story with its pictures: {page}")
    say("Next: hardgap reproduce main --budget 30m")


class _Watch:
    """Prints a line whenever either run has been evaluated again."""

    def __init__(self, say: _Narrator, store: Store, told: Demo) -> None:
        self._say, self._store, self._told = say, store, told
        self._shown: tuple[int, int] | None = None
        say("      step    visible   hidden          step    visible   hidden   (control)")

    def __call__(self, progress: Progress) -> None:
        curves = [self._store.curve(run.id) for run in (self._told.soft, self._told.control)]
        latest = (len(curves[0]), len(curves[1]))
        if latest != self._shown and any(latest):
            self._shown = latest
            self._say("   " + "     ".join(_point(curve) for curve in curves))
        elif progress.running == 0 and not any(latest) and sys.stderr.isatty():
            err().print("   starting …", end="\r")


def _point(curve: list[dict[str, Any]]) -> str:
    if not curve:
        return " " * 28
    last = curve[-1]
    return f"{last['step']:>7} {100 * last['visible']:>10.1f} {100 * last['holdout']:>8.1f} "
