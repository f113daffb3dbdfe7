"""Review: a day on one picture, the alerts and emissions of a moment, how busy each frequency was."""

import re
import time
from dataclasses import astuple, replace

import numpy as np
import pytest

from service.storage.database import open_database
from service.storage.history import PUT_EMISSION
from service.storage.schema import migrate
from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import expect, looking
from tests.service.scenes import band, write
from tests.service.test_history import emission
from tests.service.test_watch import AROUND_LOWER, raised

HOUR = 3600 * 10**9
STREAM = "5" * 24
LOW = 433e6 - 125e3


def past(i, hours_ago, cell, label="OOK", family="ASK"):
    """A minute of something, so many hours ago, in one of 25 cells of 10 kHz."""
    start = time.time_ns() - round(hours_ago * HOUR)
    row = replace(emission(i, label, family=family, stream=STREAM), from_ns=start, to_ns=start + 60 * 10**9)
    lower = LOW + cell * 10e3
    return replace(row, lower_hz=lower, upper_hz=lower + 9e3, freq_hz=433e6, rate_hz=250e3, duty=1.0)


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory, model):
    """A service whose stream has a past: busy five hours ago, at the top; once twenty hours ago."""
    folder = tmp_path_factory.mktemp("reviewed")
    data = folder / "data"
    data.mkdir()
    database = open_database("", data)
    migrate(database)
    rows = [past(i, 5 + i / 60, 24) for i in range(30)] + [past(99, 20, 0, "2FSK", "FSK")]
    database.run([(PUT_EMISSION, [astuple(row) for row in rows])])
    database.close()
    source = write(folder, band(8.0))
    stream = f'{{"{STREAM}": {{"source": "file:{source}?pace=realtime&loop=1", "name": "band", "head": ""}}}}'
    (data / "streams.json").write_text(stream)
    with serving(data, model) as running:
        running.post("/v1/watches", json={"kind": "label", "label": "A", **AROUND_LOWER})
        for label in "BC":
            running.post("/v1/watches", json={"kind": "label", "label": label, **AROUND_LOWER, "per_hour": 1})
        running.until("/v1/alerts", lambda page: page["alerts"], seconds=within(20))
        yield running


@pytest.fixture
def review_page(browser, reviewed):
    with looking(browser, reviewed.base) as page:
        page.get_by_role("tab", name="Review").click()
        expect(page.locator("#review h3")).to_contain_text(re.compile(r"\d\d to \d\d"))
        yield page


def coloured(page, label):
    """Which pixels of a picture differ from most of it, as shares of its width and height."""
    script = """canvas => {
        const { width, height } = canvas, copy = new OffscreenCanvas(width, height).getContext("2d");
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, width, height);
        return [width, height, Array.from(new Uint32Array(data.buffer))];
    }"""
    canvas = page.get_by_role("img", name=label)
    width, height, values = canvas.evaluate(script)
    pixels = np.array(values, np.uint32).reshape(height, width)[2:-2, 2:-2]
    common = np.bincount(np.unique(pixels, return_inverse=True)[1].ravel()).argmax()
    rows, columns = np.nonzero(pixels != np.unique(pixels)[common])
    return columns / width, rows / height


def test_what_was_busy_is_bright_where_and_when_it_was(review_page):
    columns, rows = coloured(review_page, "Occupancy by frequency and time")
    five_hours = (columns > 1 - 7 / 24) & (columns < 1 - 4 / 24)
    assert five_hours.any()
    assert rows[five_hours].max() < 0.1  # the highest frequency is at the top
    twenty_hours = columns < 1 - 18 / 24
    assert twenty_hours.any()
    assert rows[twenty_hours].min() > 0.9


def test_a_click_into_the_past_lists_what_was_there_and_one_of_them_is_opened(review_page):
    canvas = review_page.get_by_role("img", name="Emissions by time")
    box = canvas.bounding_box()
    begin = (time.time() // 3600 + 1 - 24) * 3600  # whole hours are shown
    at = (time.time() - 5.25 * 3600 - begin) / 86_400  # in the middle of the busy half hour
    canvas.hover(position={"x": at * box["width"], "y": box["height"] / 2})
    expect(review_page.locator("#review output")).to_contain_text(re.compile(r"\d+ ASK"))
    canvas.click(position={"x": at * box["width"], "y": box["height"] / 2})
    listed = review_page.get_by_role("list", name="Emissions of that time").get_by_role("listitem")
    expect(listed.first).to_contain_text("OOK")
    expect(listed.first).to_contain_text("433.1195 MHz")
    listed.first.get_by_role("button").click()
    expect(review_page.locator("#emissions h2")).to_contain_text("OOK")


def test_the_keyboard_goes_through_time_and_finds_the_alert_with_its_clip(review_page, reviewed):
    (alert, *_) = raised(reviewed, len(reviewed.get("/v1/alerts").json()["alerts"]))
    slider = review_page.get_by_role("slider", name="Time to look at")
    slider.focus()
    review_page.keyboard.press("End")
    found = review_page.get_by_role("list", name="Alerts of that time").get_by_role("listitem")
    before = slider.get_attribute("aria-valuetext")
    review_page.keyboard.press("ArrowLeft")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    if not found.count():  # else ten minutes were over since the alert
        review_page.keyboard.press("ArrowRight")
    expect(found.first).to_contain_text(alert["name"])
    expect(found.first.get_by_role("link", name="I/Q as SigMF")).to_be_visible()


def test_what_is_kept_is_said(review_page):
    expect(review_page.locator("#review p.note")).to_contain_text(
        re.compile("Kept: history .*B, .* are free")
    )


def test_an_hour_and_a_month_can_be_chosen(review_page):
    """The newest step is that of now, wherever the last whole one ends."""
    for reach, newest in (("1 hour", "59"), ("7 days", "167"), ("30 days", "11[4-9]")):
        review_page.get_by_label("How far back").select_option(reach)
        slider = review_page.get_by_role("slider", name="Time to look at")
        expect(slider).to_have_attribute("max", re.compile(f"^{newest}$"))
