"""Pause, scroll back, zoom, choose a stretch; play it again, download it, ask about it."""

import re
import tarfile
from datetime import datetime, timedelta

import numpy as np
import pytest

from tests.service.dashboard.air import CLASSES
from tests.service.dashboard.conftest import drag, expect


def test_pause_holds_still_and_live_goes_on(page):
    page.get_by_role("button", name="Pause").click()
    button = page.get_by_role("button", name="Go live")
    assert button.get_attribute("aria-pressed") == "true"
    page.wait_for_timeout(400)
    first = page.locator("#waterfall").screenshot()
    page.wait_for_timeout(500)
    assert page.locator("#waterfall").screenshot() == first
    button.click()
    page.wait_for_timeout(700)
    assert page.locator("#waterfall").screenshot() != first


def test_scroll_and_zoom_with_buttons_wheel_and_keys(page):
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#range")).to_have_text("10 s shown")
    page.get_by_role("button", name="Zoom out").click()
    expect(page.locator("#range")).to_have_text("20 s shown")
    page.get_by_role("button", name="Back in time").click()
    expect(page.get_by_role("button", name="Go live")).to_be_visible()
    page.locator("#water").hover()
    page.mouse.wheel(0, -300)
    expect(page.locator("#range")).not_to_have_text("20 s shown")
    page.mouse.wheel(0, 300)
    expect(page.locator("#range")).to_have_text("20 s shown")
    page.locator("#water").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("+")
    expect(page.locator("#range")).to_have_text("10 s shown")
    page.keyboard.press("-")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_close_look_fetches_finer_rows(page):
    page.get_by_role("button", name="Pause").click()
    page.locator("#water").hover(position={"x": 200, "y": 20})
    with page.expect_response(lambda answer: "/spectrum?start=" in answer.url) as fetched:
        for _ in range(12):
            page.mouse.wheel(0, -100)
    assert fetched.value.status == 200
    expect(page.locator("#range")).to_have_text("2.2 s shown")
    page.keyboard.press("0")
    expect(page.locator("#range")).to_have_text("20 s shown")


def test_the_overview_and_the_clock_go_to_a_time(page):
    page.locator("#overview").click(position={"x": 300, "y": 10})
    expect(page.get_by_role("button", name="Go live")).to_be_visible()
    page.get_by_role("button", name="Go live").click()
    then = datetime.now() - timedelta(seconds=30)
    page.get_by_label("Go to this time").fill(then.strftime("%Y-%m-%dT%H:%M:%S"))
    expect(page.get_by_role("button", name="Go live")).to_be_visible()
    page.get_by_label("How far the overview reaches").select_option("2 min")


@pytest.fixture
def chosen(page):
    """A stretch of some seconds that somebody dragged over."""
    drag(page, 0.1, 0.25)
    expect(page.locator("#chosen")).to_be_visible()
    about = page.locator("#selection p").inner_text()
    assert re.search(r"\d\d:\d\d:\d\d\.\d{3} to \d\d:\d\d:\d\d\.\d{3}, 3\.\d s", about), about
    return page


def test_a_chosen_stretch_is_downloaded_as_sigmf(chosen, tmp_path):
    with chosen.expect_download() as download:
        chosen.get_by_role("button", name="Download").click()
    path = tmp_path / "stretch.sigmf"
    download.value.save_as(path)
    with tarfile.open(path) as archive:
        names = sorted(name.rpartition(".")[2] for name in archive.getnames())
        assert names == ["sigmf-data", "sigmf-meta"]
        data = next(name for name in archive.getnames() if name.endswith("data"))
        samples = np.frombuffer(archive.extractfile(data).read(), "<c8")
    assert 2.8 * 250_000 < len(samples) < 3.2 * 250_000
    assert np.isfinite(samples).all()


def test_a_chosen_stretch_is_sent_to_predict(chosen):
    chosen.get_by_role("button", name="Predict").click()
    expect(chosen.locator("#selection output")).to_have_text(
        re.compile(rf"({'|'.join((*CLASSES, 'noise', 'unknown'))}), \d+ % sure over \d+ windows"),
        timeout=20_000,
    )


def test_a_chosen_stretch_is_played_again(chosen, service):
    original = chosen.locator("#stream").input_value()
    chosen.get_by_role("button", name="Play again").click()
    expect(chosen.locator("#stream")).not_to_have_value(original, timeout=20_000)
    name = chosen.locator("#stream option:checked").inner_text()
    assert name.startswith("played again: ")
    expect(chosen.locator("#answer .label")).to_have_text(re.compile(r"\w\w+"), timeout=20_000)
    playing = next(stream for stream in service.get("/v1/streams").json() if stream["name"] == name)
    assert playing["state"] == "running"
    assert playing["source"].startswith("file:")
    chosen.locator("#stream").select_option(original)
    service.http.delete(f"/v1/streams/{playing['id']}")
    expect(chosen.locator("#stream option")).to_have_count(1, timeout=10_000)


def test_escape_and_a_click_let_go(chosen):
    chosen.keyboard.press("Escape")
    expect(chosen.locator("#selection")).to_be_hidden()
    drag(chosen, 0.3, 0.4)
    expect(chosen.locator("#selection")).to_be_visible()
    chosen.locator("#water").click(position={"x": 50, "y": 50})
    expect(chosen.locator("#selection")).to_be_hidden()


def test_what_is_no_longer_kept_is_said_in_one_line(page):
    page.errors.expected.append("404")
    page.get_by_role("button", name="Pause").click()
    for _ in range(12):
        page.locator("#water").focus()
        page.keyboard.press("PageDown")
    drag(page, 0.4, 0.6)
    page.get_by_role("button", name="Download").click()
    expect(page.locator("#toasts .error")).to_contain_text("kept", timeout=10_000)
    page.locator("#water").focus()
    page.keyboard.press("Escape")
