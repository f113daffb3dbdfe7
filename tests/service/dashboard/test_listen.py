"""Listening to an emission from its own page."""

import re
from itertools import pairwise

import pytest

from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import expect, looking
from tests.service.dashboard.test_band import SENT, boxes, click_box
from tests.service.scenes import band, write

# What is played, as the page hands it to the browser.
HEARD = """() => {
    window.heard = [];
    const start = AudioBufferSourceNode.prototype.start;
    AudioBufferSourceNode.prototype.start = function (when) {
        const samples = this.buffer.getChannelData(0);
        window.heard.push([when, this.buffer.duration, Math.hypot(...samples) / Math.sqrt(samples.length)]);
        return start.call(this, when);
    };
}"""


@pytest.fixture(scope="module")
def on_air(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("listen")
    source = write(folder, band(8.0, emissions=SENT))
    with serving(folder / "data", model, f"file:{source}?pace=realtime&loop=1", "--ring-s", "60") as running:
        yield running


def test_an_emission_is_played_without_holes_until_it_is_stopped(browser, on_air):
    with looking(browser, on_air.base) as page:
        expect(boxes(page)).to_have_count(3, timeout=1000 * within(20))
        page.evaluate(f"({HEARD})()")
        click_box(page, 0)
        page.get_by_label("How it is demodulated").select_option("am")
        page.get_by_role("button", name="Listen", exact=True).click()
        expect(page.get_by_role("button", name="Stop listening")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#emissions")).to_contain_text(re.compile(r"AM, [\d.]+ kS/s"))
        page.wait_for_function("() => window.heard.length > 20", timeout=1000 * within(30))
        heard = page.evaluate("window.heard")
        assert all(level > 0.02 for _, _, level in heard[3:])
        follows = [abs(a[0] + a[1] - b[0]) < 1e-6 for a, b in pairwise(heard)]
        assert sum(follows) > 0.7 * len(follows)
        page.get_by_role("button", name="Stop listening").click()
        expect(page.get_by_role("button", name="Listen", exact=True)).to_be_visible()
        count = page.evaluate("window.heard.length")
        page.wait_for_timeout(1000)
        assert page.evaluate("window.heard.length") <= count + 1
