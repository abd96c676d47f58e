"""The page in a real browser: explored, trained on until it recovers, scrubbed, opened, shared, and read from disk."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.slow
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1200, "height": 900}
SECONDS = 15 * 60
"""How long to wait for what must happen: a busy machine is slow, not wrong."""
REFUSAL = "the server responded with a status of 400"
"""What the browser itself notes when a wrong rule is refused in a sentence."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ui") / "store"


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    """`hardgap ui` as a user starts it."""
    command = [sys.executable, "-m", "hardgap", "ui", "--no-browser", "--port", "0", "--store", str(store)]
    place = store.parent  # not in a clone, whose committed networks would be taken in
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=place)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    _, complaints = process.communicate(timeout=SECONDS)
    assert "Traceback" not in complaints


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """A new page at a view; whatever it complains about fails the test."""
    problems: list[str] = []
    contexts = []

    def open_(view: str = "", *, viewport: Any = DESK, dark: bool = False, at: str = address) -> Any:
        context = browser.new_context(
            viewport=viewport, color_scheme="dark" if dark else "light", accept_downloads=True
        )
        context.set_default_timeout(1000 * SECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if is_complaint(said) else None)
        page.on("response", lambda said: problems.append(said.text()) if said.status == 500 else None)
        page.goto(at + view)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def is_complaint(said: Any) -> bool:
    return said.type == "error" and REFUSAL not in said.text


def serious(page: Any) -> list[tuple[str, str]]:
    """What axe-core finds that keeps somebody out."""
    page.evaluate(AXE.read_text() + ";0")
    found = page.evaluate(
        "axe.run().then(r => r.violations.map(v => [v.id, v.impact, v.nodes.map(n => n.html).join(' ')]))"
    )
    return [(name, where) for name, impact, where in found if impact in ("serious", "critical")]


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_explore_hide_flip_and_share(visit: Any, address: str) -> None:
    page = visit()
    page.get_by_role("button", name="010 ? hidden entry: show it").wait_for()
    assert "token" not in page.url
    page.get_by_role("button", name="110 0 visible entry: hide it").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="110 ? hidden entry: show it").wait_for()
    page.get_by_role("button", name="Flip the hidden outputs").click()
    page.get_by_text("first contradicted by a visible cell at step 2").wait_for()
    page.get_by_text("not determined").first.wait_for()
    shared = urlsplit(page.url).fragment
    again = visit("", at=f"{address.partition('?')[0]}#{shared}")
    again.get_by_role("button", name="110 ? hidden entry: show it").wait_for()
    assert again.get_by_role("button", name="Flip the hidden outputs").get_attribute("aria-pressed") == "true"
    page.get_by_label("Rule: a number").fill("L1 ^ (C | R1)")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("Rule 30 =").wait_for()
    page.get_by_label("Rule: a number").fill("no rule")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("unknown rule").wait_for()


def test_the_ledger_shows_the_scale_that_is_chosen(visit: Any) -> None:
    page = visit("#ledger")
    page.get_by_role("columnheader", name="verdict at desk scale").first.wait_for()
    page.get_by_label("Scale").select_option(label="paper")
    page.get_by_role("columnheader", name="verdict at paper scale").first.wait_for()
    assert "scale=paper" in page.url
    assert page.get_by_label("Scale").input_value() == "paper"


ODD = {"#train?beside=xyz": "Train a network across the gap",
       "#train?beside=constructor": "Train a network across the gap",
       "#constructor": "Hide part of a rule.", "#explore?t=abc&row=abc": "Hide part of a rule.",
       "#explore?t=-3.5": "Hide part of a rule."}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_link_shows_its_view(visit: Any, odd: str) -> None:
    page = visit(odd)
    page.get_by_role("heading", name=ODD[odd]).wait_for()
    if "train" not in odd:
        page.get_by_text("Steps shown: 10").wait_for()


def test_a_view_that_breaks_says_so_and_the_others_stay(visit: Any) -> None:
    page = visit("#runs")
    page.route("**/api/explore?*", lambda route: route.fulfill(json={"rule": {}}))
    page.get_by_role("link", name="Explore", exact=True).click()
    page.get_by_role("alert").get_by_text("This view cannot be shown").wait_for()
    page.get_by_role("link", name="Ledger", exact=True).click()
    page.get_by_role("columnheader", name="verdict at desk scale").first.wait_for()


def test_it_paints_within_a_second_and_answers_a_click_within_a_tenth(visit: Any) -> None:
    """Of several tries the best: a busy machine is slow, the page is not."""
    paints, clicks = [], []
    for _ in range(20):
        page = visit()
        page.get_by_role("button", name="000 0 visible entry: hide it").wait_for()
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        clicks.append(page.evaluate(CLICK))
        page.context.close()
        if min(paints) < 1000 and min(clicks) < 100:
            break
    assert min(paints) < 1000, paints
    assert min(clicks) < 100, clicks


CLICK = """async () => {
  const button = () => document.querySelectorAll('button.entry')[5];
  const state = () => button().getAttribute('aria-pressed');
  const times = [];
  for (let i = 0; i < 6; i++) {
    const before = state(), began = performance.now();
    button().click();
    while (state() === before) await new Promise(requestAnimationFrame);
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 100));
  }
  return Math.min(...times);
}"""


@pytest.fixture(scope="module")
def recovered(browser: Any, address: str) -> str:
    """A run that was started on the page and trained until it recovered the entry; its id."""
    for seed in range(100, 108):  # none of the committed networks, which a page has from the start
        page = browser.new_page()
        page.set_default_timeout(1000 * SECONDS)
        page.goto(f"{address}#train?rule=150&hide=5&seed={seed}")
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_text(re.compile("^done, step")).wait_for()
        said = page.get_by_text(re.compile("^done, step")).inner_text()
        run_id = str(re.search(r"runs=(\w+)", page.url)[1])  # type: ignore[index]
        page.close()
        if float(re.search(r"holdout ([\d.]+)", said)[1]) > 99:  # type: ignore[index]
            return run_id
    pytest.fail("no seed of eight recovered the entry on this machine")


def test_it_trains_to_recovery_and_the_film_shows_when(visit: Any, recovered: str) -> None:
    page = visit(f"#scrub?run={recovered}")
    page.get_by_text(": the moment of discovery.").wait_for()
    page.get_by_role("heading", name="Logit lens").wait_for()
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(30):
        page.keyboard.press("ArrowLeft")
    page.get_by_text("before the moment of discovery").wait_for()
    page.get_by_text("Step 0: frame 1").wait_for()
    page.get_by_role("heading", name="Attention by offset").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="animated GIF").click()
    assert Path(download.value.path()).read_bytes().startswith(b"GIF89a")


def test_a_film_is_one_html_file_that_needs_nothing_else(
    visit: Any, recovered: str, address: str, tmp_path: Path
) -> None:
    base = address.partition("?")[0]
    alone = tmp_path / "film.html"
    alone.write_bytes(urlopen(f"{base}api/film/{recovered}/film.html", timeout=SECONDS).read())
    page = visit(at=alone.as_uri())
    page.get_by_text("the moment of discovery").wait_for()
    page.get_by_role("heading", name="Logit lens").wait_for()
    assert (
        page.evaluate("performance.getEntriesByType('resource').filter(r => !r.name.startsWith('data:')).length") == 0
    )


def test_a_network_is_opened_beside_the_constructed_one(visit: Any, recovered: str) -> None:
    page = visit(f"#open?run={recovered}&panel=attention")
    panels = page.locator("img.panel")
    for place in (0, 1):
        panels.nth(place).wait_for()
        assert "Attention" in urlopen(page.evaluate(f"document.images[{place}].src"), timeout=SECONDS).read().decode()
    page.get_by_role("button", name="rule", exact=True).click()
    page.get_by_text("The truth table that the network computes").wait_for()


def test_pause_single_step_resume_and_rewind(visit: Any, address: str) -> None:
    page = visit("#train?rule=150&hide=2&seed=77&beside=none")
    page.get_by_role("button", name="Start paused").click()
    first = page.get_by_role("region", name=re.compile("soft×4.*seed 77"))
    first.get_by_text("paused, step 0").wait_for()
    for step in (1, 2, 3):
        first.get_by_role("button", name="Single step").click()
        first.get_by_text(f"paused, step {step}").wait_for()
    first.get_by_role("button", name="Resume").click()
    first.get_by_text(re.compile(r"training, step [1-9]\d+")).wait_for()
    first.get_by_role("button", name="Pause").click()
    first.get_by_text("paused, step").wait_for()
    curve = first.get_by_role("img", name=re.compile("accuracy over training")).get_attribute("aria-label")
    first.get_by_role("button", name="Rewind").click()
    first.get_by_text("paused, step 0").wait_for()
    assert first.get_by_role("img", name=re.compile("accuracy over training")).get_attribute("aria-label") != curve
    second = page.get_by_role("region", name=re.compile("none.*seed 77"))
    second.get_by_text("paused, step 0").wait_for()
    for one in (first, second):
        one.get_by_role("button", name="Stop").click()
        one.get_by_text(re.compile("queued, step")).wait_for()
    assert page.get_by_text("hardgap train 150 --hide 2 --unroll none --seed 77").count() == 1


VIEWS = ["#explore?rule=150&hide=2&flip=1", "#explore?rule=D&hide=1,4", "#train?rule=150&hide=2", "#scrub", "#runs",
         "#runs?show=groups", "#ledger", "#symbolic"]  # fmt: skip


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nobody_is_kept_out(visit: Any, recovered: str, dark: bool) -> None:
    """axe-core finds nothing serious, on a desk and on a phone, and nothing is wider than the screen."""
    for view in [*VIEWS, f"#scrub?run={recovered}", f"#open?run={recovered}&panel=lens", f"#runs?run={recovered}",
                 f"#runs?group={recovered}", f"#train?rule=150&hide=5&runs={recovered}"]:  # fmt: skip
        for viewport in (DESK, PHONE):
            page = visit(view, viewport=viewport, dark=dark)
            page.locator("main h2").first.wait_for()
            page.wait_for_timeout(700)
            assert serious(page) == [], view
            assert fits(page), (view, viewport)
            page.context.close()


def test_without_the_token_the_page_reads_and_changes_nothing(visit: Any, address: str) -> None:
    page = visit("#train", at=address.partition("?")[0])
    assert page.get_by_role("button", name="Start", exact=True).is_disabled()


def test_a_bundle_opened_from_disk_needs_no_server(visit: Any, store: Path, recovered: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "hardgap", "ui", "--store", str(store), "--bundle", str(site)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = visit(at=(site / "index.html").as_uri())
    page.get_by_text("Every one of the nearest says the opposite").wait_for()
    page.get_by_role("button", name="110", exact=True).click()
    page.get_by_text("Rule 110 =").wait_for()
    page.get_by_role("link", name="Scrub", exact=True).click()
    page.get_by_role("link", name=recovered).click()
    page.get_by_role("heading", name="Logit lens").wait_for()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name=recovered).click()
    page.get_by_text("Command line").wait_for()
    page.get_by_role("link", name="Ledger", exact=True).click()
    page.get_by_text("Soft unrolling recovers the eight hidden patterns of Rule D").wait_for()
    assert page.get_by_role("link", name="Train").count() == 0


def test_a_killed_server_loses_nothing(tmp_path: Path) -> None:
    """The worker notices, saves and leaves; the next start goes on from there."""
    folder = tmp_path / "store"
    command = [sys.executable, "-m", "hardgap", "ui", "--no-browser", "--port", "0", "--store", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path)
    assert process.stdout is not None
    base, _, token = process.stdout.readline().strip().partition("?token=")
    long = {"rule": "150", "hide": "2", "feedback": "none", "steps": 1_000_000}  # not done, nor solved, before the kill
    run_id = _post(f"{base}api/live", token, long)["id"]
    _until(lambda: len(json.loads(urlopen(f"{base}api/runs/{run_id}", timeout=SECONDS).read())["curve"]) > 1)
    process.kill()
    process.communicate()

    from hardgap.runs.store import Store

    store = Store(folder)
    _until(lambda: store.progress([run_id])[run_id][0] != "running")
    status, step = store.progress([run_id])[run_id]
    assert status == "queued", store.get(run_id).error
    assert step > 0


def _post(address: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
    from urllib.request import Request

    headers = {"X-Hardgap-Token": token, "Content-Type": "application/json"}
    request = Request(address, json.dumps(body).encode(), headers, method="POST")
    return dict(json.loads(urlopen(request, timeout=SECONDS).read()))


def _until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
