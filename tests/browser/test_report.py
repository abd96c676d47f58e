"""The committed report in a real browser: alone on a disk, at a desk and on a phone, light and dark, printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
REPORT = Path(__file__).parents[2] / "docs" / "report.html"
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1200, "height": 900}


@pytest.mark.parametrize(("viewport", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_the_report_reads_at_a_desk_and_on_a_phone_and_asks_nobody(browser: Any, viewport: Any, scheme: str) -> None:
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    page, asked, problems = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.goto(REPORT.as_uri())
    assert asked == [REPORT.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    lost = "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.getElementById(a.hash.slice(1)))"
    assert page.evaluate(f"{lost}.map(a => a.hash)") == []
    claims = page.locator("table.matrix tr[data-claim]")
    assert claims.count() == page.locator("div.claim").count() > 40
    claims.first.get_by_role("link").click()
    assert page.evaluate("document.getElementById(location.hash.slice(1)).getBoundingClientRect().top") < 800
    page.evaluate(AXE.read_text() + ";0")
    found = page.evaluate("axe.run({exclude: ['svg']}).then(r => r.violations.map(v => [v.id, v.impact]))")
    assert [name for name, impact in found if impact in ("serious", "critical")] == []
    assert problems == []
    context.close()


def test_the_report_prints(browser: Any) -> None:
    page = browser.new_page(viewport=DESK)
    page.goto(REPORT.as_uri())
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") + printed.count(b"/Type/Page/") > 5
    page.close()
