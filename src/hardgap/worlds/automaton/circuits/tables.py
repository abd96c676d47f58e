"""The circuit analyses as tables of text, from the same plain data as the figure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hardgap.core.table import Table
from hardgap.core.wording import percent

Data = dict[str, Any]


def circuit_tables(data: Data) -> list[Table]:
    """One table an analysis, in the order they were run, and last the reasons why some do not apply."""
    tables = [TABLES[name](data[name]) for name in TABLES if name in data]
    reasons = data.get("does_not_apply", {})
    if reasons:
        tables.append(Table("Does not apply", ["analysis", "why"], [list(item) for item in reasons.items()]))
    return tables


def timeline_table(data: Data) -> Table:
    """One row a signal: when it appears, and its value at the first, middle and last snapshot."""
    moments = data["moments"]
    shown = [moments[0], moments[len(moments) // 2], moments[-1]]
    columns = [f"step {moment['step']}" for moment in shown]
    rows: list[list[object]] = [
        [name, "no rise" if step is None else step, *(percent(moment["signals"].get(name)) for moment in shown)]
        for name, step in data["appears"].items()
    ]
    again = "".join(f"; started again, another network from step {step} on" for step in data["restarts"])
    title = f"When each signal appears{again}"
    return Table(title, ["signal", "appears at", *columns], rows, ["appears at", *columns])


def _polynomial(data: Data) -> Table:
    summary = (
        f"Polynomial: {data['structure']}; parity share {percent(data['parity_share'])} %, additive share "
        f"{percent(data['degree_shares'][0])} %, explains {percent(data['explained'])} %, error {data['rmse']:.2f}"
    )
    rows: list[list[object]] = [[t["name"], f"{t['coefficient']:.2f}", f"{t['spread']:.2f}"] for t in data["terms"]]
    return Table(summary, ["term", "coefficient", "spread"], rows, ["coefficient", "spread"])


def _rule(data: Data) -> Table:
    kind = "a local rule" if data["local"] else "not one local rule"
    summary = (
        f"Recovered rule: {data['rule']} = {data['formula']}, {kind} in {data['contexts']} contexts; a cell outside "
        f"the neighbourhood changes at most {percent(data['outside'])} % of answers"
    )
    rows: list[list[object]] = [
        [e["cells"], "hidden" if e["hidden"] else "", e["true"], e["output"],
         "" if e["output"] == e["true"] else "wrong", percent(e["confidence"]), percent(e["low"]),
         f"{e['mean_logit']:.2f}"]
        for e in data["entries"]
    ]  # fmt: skip
    columns = ["pattern", "in training", "true", "answer", "", "of contexts %", "at least %", "mean logit"]
    return Table(summary, columns, rows, columns[2:4] + columns[5:])


def _consistency(data: Data) -> Table:
    damage = f"step 2: rounding breaks {percent(data['damaged'])} % of visible cells"
    if data["repaired"] is not None:
        damage += f", graded values repair {percent(data['repaired'])} % of these"
    steps = range(len(data["fed"]["graded"]["visible"]))
    rows: list[list[object]] = [
        [name, *(percent(fed["visible"][t]) for t in steps), *(percent(fed["downstream"][t]) for t in steps[1:])]
        for name, fed in data["fed"].items()
    ]
    columns = [*(f"visible {t + 1}" for t in steps), *(f"downstream {t + 1}" for t in steps[1:])]
    marks = "; ".join(
        f"{m['cells']} with a wrong cell at {m['offset']:+d}: doubt {m['near']:.3f} against {m['far']:.3f} "
        f"(AUC {m['auc']:.2f})"
        for m in data["marks"][:2]
    )
    title = f"Consistency: {data['verdict']} ({data['rule']}); {damage}" + (f"\nmarks: {marks}" if marks else "")
    return Table(title, ["fed back", *columns], rows, columns)


SHARES = {"holdout %": "holdout", "visible %": "visible", "all %": "overall", "answered 1 %": "ones"}
"""What is told of the cells that are right, and where it stands in the data."""


def _ablations(kind: str, data: Data) -> Table:
    results = [{"title": "intact", "kind": "", **data["intact"]}, *data["results"]]
    rows = [[r["title"], r["kind"], *(percent(r[key]) for key in SHARES.values())] for r in results]
    return Table(f"{kind} ablation: accuracy left", ["without", "by", *SHARES], rows, list(SHARES))


def _lens(data: Data) -> Table:
    rows = [[level["title"], *(percent(level[key]) for key in SHARES.values())] for level in data["levels"]]
    return Table("Logit lens", ["level", *SHARES], rows, list(SHARES))


def _probes(data: Data) -> Table:
    readings = data["readings"]
    titles = list(dict.fromkeys(r["title"] for r in readings))
    bits = list(dict.fromkeys(r["bit"] for r in readings))
    by_place = {(r["title"], r["bit"]): r for r in readings}
    rows: list[list[object]] = []
    for title in titles:
        here = [by_place[title, bit] for bit in bits]
        transfer = next((r["transfer"] for r in here if r["transfer"] is not None), None)
        rows.append([title, *(_with_control(r) for r in here), percent(transfer)])
    majority = ", ".join(f"{bit} {percent(share)}" for bit, share in data["majority"].items())
    title = f"Linear probes: accuracy % (untrained network); always the more common value: {majority}"
    return Table(title, ["level", *bits, "visible to hidden"], rows, [*bits, "visible to hidden"])


def _patching(data: Data) -> Table:
    places = ["everywhere", "target", "source"]
    sites = list(dict.fromkeys(p["site"] for p in data["patches"]))
    by_place = {(p["site"], p["where"]): p for p in data["patches"]}
    rows: list[list[object]] = [
        [site, *(percent(by_place.get((site, where), {}).get("recovery")) for where in places)] for site in sites
    ]
    summary = (
        f"Activation patching: recovery %, clean {percent(data['clean'])} %, one neighbour flipped "
        f"{percent(data['corrupted'])} %, {data['targets']} targets"
    )
    return Table(summary, ["activation", *places], rows, places)


def _attention(data: Data) -> Table:
    offsets = [o for o in data["heads"][0]["weights"] if abs(int(o)) <= 3]
    rows: list[list[object]] = [
        [h["title"], *(percent(h["weights"][o]) for o in offsets), f"{h['peak']:+d}", percent(h["agree"]),
         percent(h["locality"])]
        for h in data["heads"]
    ]  # fmt: skip
    columns = [*(f"{int(o):+d}" for o in offsets), "peak", "positions agree %", "locality %"]
    summary = f"Attention by offset: weight %; uniform locality would be {percent(data['uniform'])} %"
    return Table(summary, ["head", *columns], rows, columns)


def _neurons(data: Data) -> Table:
    found = sum(len(units) for units in data["detectors"].values())
    rows: list[list[object]] = [
        [n["site"], n["unit"], f"{n['mean_one']:.2f}", f"{n['mean_zero']:.2f}", f"{n['difference']:+.2f}"]
        for n in data["best"]
    ]
    columns = ["unit", "mean for 1", "mean for 0", "difference"]
    summary = f"Parity neurons: the clearest units; {found} units fire on one pattern alone"
    return Table(summary, ["activation", *columns], rows, columns)


def _positions(data: Data) -> Table:
    """How many are right and how many know nothing; a wide row has too many to list each."""
    names = {"right": "right", "between": "between", "lost": "know nothing"}
    rows: list[list[object]] = [
        [names[kind], len(own), percent(min(own, default=None)), percent(max(own, default=None))]
        for kind, own in data["kinds"].items()
    ]
    columns = ["positions", "lowest, %", "highest, %"]
    title = f"Visible accuracy by position; always the commonest output: {percent(data['guess'])} %"
    return Table(title, ["which", *columns], rows, columns)


def _with_control(reading: Data) -> str:
    control = "" if reading["untrained"] is None else f" ({percent(reading['untrained'])})"
    return percent(reading["accuracy"]) + control


TABLES: dict[str, Callable[[Data], Table]] = {
    "polynomial": _polynomial,
    "rule": _rule,
    "consistency": _consistency,
    "layers": partial(_ablations, "Layer"),
    "heads": partial(_ablations, "Head"),
    "lens": _lens,
    "probes": _probes,
    "patching": _patching,
    "attention": _attention,
    "neurons": _neurons,
    "positions": _positions,
}
