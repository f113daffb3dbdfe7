"""Teach it: drag, name, watch it refit, undo; what it is least sure about comes first."""

import re

import pytest

from tests.service.dashboard.air import CLASSES
from tests.service.dashboard.conftest import drag, expect
from tests.service.dashboard.photograph import photograph


@pytest.fixture(autouse=True)
def forget(service):
    """Take back what a test taught."""
    yield
    for label in service.get("/v1/labels").json()["labels"]:
        service.http.delete(f"/v1/labels/{label['id']}")
    while service.post("/v1/models/rollback").is_success:
        pass


def name_a_stretch(page, top, bottom, label, count=1):
    """Label a stretch; its class then has so many."""
    drag(page, top, bottom)
    page.get_by_label("Label of this stretch").fill(label)
    page.get_by_role("button", name="Label it").click()
    expect(page.locator("#teach .counts")).to_contain_text(f"{label} {count}", timeout=15_000)
    page.locator("#water").focus()
    page.keyboard.press("Escape")


def answers_at(page, heights):
    """The label under each height of the waterfall, as the pointer says."""
    box = page.locator("#water").bounding_box()
    found = {}
    for height in heights:
        page.mouse.move(box["x"] + 60, box["y"] + height * box["height"])
        found.setdefault(page.locator("#pointer").inner_text().split(" · ")[-1].split()[0], []).append(height)
    return found


def two_classes(page):
    """Hold still as soon as two classes were heard for a while; the heights of each."""
    for _ in range(10):
        page.wait_for_timeout(3000)
        page.get_by_role("button", name="Pause").click()
        seen = answers_at(page, [i / 60 for i in range(1, 58)])
        known = {label: heights for label, heights in seen.items() if len(heights) > 4 and label in CLASSES}
        if len(known) > 1:
            return dict(list(known.items())[:2])
        page.get_by_role("button", name="Go live").click()
    raise AssertionError(f"only {list(seen)} were heard")


def test_drag_name_refit_and_undo(page, service):
    """Confirm two stretches each of two classes, and it is fitted to them."""
    page.get_by_role("tab", name="Teach").click()
    panel = page.locator("#teach")
    panel.get_by_label("after each label").uncheck()
    seen = two_classes(page)
    first, second = seen
    for label in (first, second):
        for count, height in enumerate((seen[label][1], seen[label][-2]), 1):
            name_a_stretch(page, height, height + 0.03, label, count)
    panel.get_by_role("button", name="Fit now").click()
    tables = panel.locator(".confusion")
    expect(tables).to_have_count(2, timeout=40_000)
    expect(tables.first.locator("caption")).to_have_text(re.compile(r"Before: \d+ % right"))
    expect(tables.last.locator("caption")).to_have_text(re.compile(r"After, on labels .*: \d+ % right"))
    drag(page, seen[first][0], seen[first][1])
    tables.last.scroll_into_view_if_needed()
    expect(page.locator("#toasts p")).to_have_count(0, timeout=10_000)
    photograph(page, "teach")
    page.locator("#water").focus()
    page.keyboard.press("End")
    expect(page.locator("#answer .bars li")).to_have_count(2, timeout=10_000)

    panel.get_by_role("button", name="Undo last label").click()
    expect(panel.locator(".counts")).to_contain_text(f"{second} 1", timeout=10_000)
    assert service.get("/v1/labels").json()["counts"] == {first: 2, second: 1}
    back = panel.get_by_role("button", name="Roll back the fit")
    back.click()
    expect(page.locator("#toasts")).to_contain_text("Back to", timeout=10_000)
    expect(back).to_be_disabled(timeout=10_000)  # nothing that was taught is left


def test_after_each_label_it_is_fitted_again(page, service):
    page.get_by_role("tab", name="Teach").click()
    panel = page.locator("#teach")
    panel.get_by_label("after each label").check()
    page.get_by_role("button", name="Pause").click()
    for top, label in ((0.1, "mine"), (0.3, "yours")):
        name_a_stretch(page, top, top + 0.05, label)
    expect(panel.locator(".confusion").first).to_be_visible(timeout=40_000)
    panel.get_by_role("button", name="Roll back the fit").click()
    expect(page.locator("#toasts")).to_contain_text("Back to", timeout=10_000)


def test_the_least_sure_come_first_and_can_be_looked_at(page, service):
    page.get_by_role("tab", name="Teach").click()
    doubts = page.get_by_role("list", name="Least sure, first").locator("li")
    expect(doubts.first).to_be_visible(timeout=10_000)
    shares = [int(re.search(r"(\d+) %", text).group(1)) for text in doubts.all_inner_texts()]
    assert shares == sorted(shares)
    doubts.first.get_by_role("button", name="Look").click()
    expect(page.locator("#selection")).to_be_visible()
    expect(page.get_by_label("Label of this stretch")).to_be_focused()


def test_a_label_that_is_html_stays_text(page):
    page.errors.expected.append("422")  # the service takes no such label
    drag(page, 0.1, 0.2)
    page.get_by_label("Label of this stretch").fill("<img src=x>")
    page.get_by_role("button", name="Label it").click()
    expect(page.locator("#toasts .error")).to_contain_text("label", timeout=10_000)
    assert page.locator("img[src=x]").count() == 0
