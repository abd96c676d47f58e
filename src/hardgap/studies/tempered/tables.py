"""The trials of the tempered recipe as tables: title, columns, rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardgap.report.table import TextTable

Data = dict[str, Any]


def tempered_table(data: Data) -> TextTable:
    """The table of whichever trial the data is of."""
    return TABLES.get(data["trial"], _arms)(data)


def _arms(data: Data) -> TextTable:
    arms = _measured(data["arms"])
    again = ["restarted"] if any(arm["restarted"] for arm in arms) else []
    right = ["paper", "recovered", "Wilson, %", "solved", "median steps", *again]
    rows: list[list[object]] = [
        [arm["factor"], arm["value"], _paper(arm), _share(arm), _wilson(arm), _solved(arm), _median(arm),
         *(arm[key] or "" for key in again)]
        for arm in arms
    ]  # fmt: skip
    detail = ["Wilson, %", "median steps", "solved", "paper"]
    return TextTable(_title(data), ["factor", "value", *right], rows, right, detail)


def _target(data: Data) -> TextTable:
    detail = ["Wilson, %", "p against T = 1, same seeds", "median steps", "slowest"]
    right = ["paper, 50 epochs", "T = 1", "its steps, at most", "tempered", *detail, "restarted"]
    arms, control = data["arms"] + data["whole"], data["control"] + data["control_whole"]
    steps = [[number] for number in data["control_steps"]] + data["control_whole_steps"]
    tests = [None] * len(data["arms"]) + data["p_against_control"]
    rows: list[list[object]] = []
    for arm, beside, length, p in zip(arms, control, steps, tests, strict=True):
        told = [_paper(arm), _share(beside), _steps(length), _share(arm), _wilson(arm), _p(p), _median(arm)]
        slowest = max(arm["steps"]) if arm["steps"] else ""
        rows.append([arm["factor"], arm["value"], *told, slowest, arm["restarted"] or ""])
    return TextTable(_title(data), ["rule", "hidden", *right], rows, right, [*detail, "its steps, at most"])


def _steps(length: list[int]) -> str:
    """One number, or the fewest and the most."""
    return " to ".join(f"{number:,}" for number in dict.fromkeys((length[0], length[-1])))


def _p(p: float | None) -> str:
    """As short as a p-value is read."""
    return "" if p is None else f"{p:.1g}"


def _cliff(data: Data) -> TextTable:
    right = ["hidden of 32", "paper", "T = 1", "tempered", "mean holdout, %", "determined, %"]
    untempered = {(arm["factor"].split(",")[0], arm["value"]): arm for arm in data["arms"] if "T = 1" in arm["factor"]}
    rows: list[list[object]] = []
    for arm, share in zip(data["arms"], data["determined"], strict=True):
        rule = arm["factor"].split(",")[0]
        if "T = 1" not in arm["factor"]:
            beside = untempered.get((rule, arm["value"]))
            mean = f"{100 * sum(arm['holdout']) / arm['n']:.1f}" if arm["n"] else ""
            rows.append(
                [
                    rule,
                    arm["value"],
                    _paper(arm),
                    _share(beside) if beside else "",
                    _share(arm),
                    mean,
                    "" if share is None else f"{100 * share:.0f}",
                ]
            )
    return TextTable(_title(data), ["rule", *right], rows, right)


def _forecast(data: Data) -> TextTable:
    columns = ["predictor, from the gap alone", "rho where chosen (150, 30, 106)", "rho where judged (new rules)", "p"]
    rows: list[list[object]] = []
    for row in data["predictors"]:
        chosen, judged = row["chosen on"], row["judged on"]
        best = row["predictor"] == data["chosen"]
        p = f"{judged['p']:.2g}" if best and judged["p"] is not None else ""
        rows.append([row["predictor"] + (" (chosen)" if best else ""), _rho(chosen), _rho(judged), p])
    return TextTable(_title(data), columns, rows, columns[1:], columns[1:2])


def _wide(data: Data) -> TextTable:
    visible = ["visible after 1,000 steps, %", "90 % of visible at"]
    right = ["paper, 7,850 steps", *visible, "recovered", "holdout at the end, %", "solved at", "restarted"]
    rows: list[list[object]] = []
    for arm, early, routed in zip(data["arms"], data["early"], data["routed"], strict=True):
        end = f"{100 * arm['holdout'][0]:.1f}" if arm["n"] else ""
        seen = ["" if early is None else f"{100 * early:.1f}", "" if routed is None else routed]
        told = [_paper(arm), *seen, _share(arm), end, _median(arm), arm["restarted"] or ""]
        rows.append([arm["factor"], arm["value"], *told])
    title = f"wide, rows of {data['width']} cells: {data['claim'].rstrip('.')}"  # at no scale: see the study
    detail = ["holdout at the end, %", "solved at", *visible, "paper, 7,850 steps"]
    return TextTable(title, ["factor", "hidden", *right], rows, right, detail)


def _rho(found: Data) -> str:
    if found["rho"] is None:
        return ""
    return f"{found['rho']:+.2f} [{found['low']:+.2f} to {found['high']:+.2f}], n = {found['n']}"


def _measured(arms: list[Data]) -> list[Data]:
    """The arms of which something was run; all, if nothing was."""
    return [arm for arm in arms if arm["n"]] or arms


def _title(data: Data) -> str:
    return f"{data['trial']}, {data['scale']} scale: {data['claim'].rstrip('.')}"


def _paper(arm: Data) -> str:
    return "" if arm["paper"] is None else "{}/{}".format(*arm["paper"])


def _share(arm: Data) -> str:
    return f"{arm['recovered']}/{arm['n']}" + (f" of {arm['planned']}" if arm["n"] < arm["planned"] else "")


def _solved(arm: Data) -> str:
    return f"{arm['solved']}/{arm['n']}"


def _wilson(arm: Data) -> str:
    return "" if arm["wilson"] is None else "{:.0f} to {:.0f}".format(*(100 * end for end in arm["wilson"]))


def _median(arm: Data) -> str:
    return "" if arm["median_steps"] is None else f"{arm['median_steps']:.0f}"


TABLES: dict[str, Callable[[Data], TextTable]] = {
    "target": _target,
    "cliff": _cliff,
    "forecast": _forecast,
    "wide": _wide,
}
