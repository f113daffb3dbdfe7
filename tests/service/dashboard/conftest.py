"""A real service on the replay radio, and a real browser that looks at it."""

import json
import os
import re
from contextlib import contextmanager

import pytest

from tests.replay_radio import need_replay_radio
from tests.require import need, need_program
from tests.service.conftest import serving
from tests.service.dashboard.air import FREQ_HZ, RATE_HZ, make_model, make_recording
from tests.service.dashboard.federation import make_federation

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    sync_playwright = None

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
)
NAME = "replay radio, 433.92 MHz"
TABS = ("Emissions", "Signal", "Alerts", "Review", "Teach", "Streams", "Models", "Federation")
TUNED = f"freq={FREQ_HZ}&rate={RATE_HZ}"


@pytest.fixture(scope="session")
def browser():
    need(sync_playwright is not None, "Python package playwright")
    path = need_program("chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        yield running
        running.close()


@pytest.fixture(scope="session")
def air(tmp_path_factory):
    """The recording that the radio plays, and the file of a model that knows it."""
    need_replay_radio()
    os.environ["WAVETELL_REPLAY_RADIO"] = "1"  # so that it is found among the radios of this machine
    folder = tmp_path_factory.mktemp("air")
    raw = make_recording(folder)
    make_model(raw).save(folder / "air.safetensors")
    # The pictures show what a new user gets; it is larger than the tests need.
    yield raw, "radio" if "WAVETELL_PICTURES" in os.environ else folder / "air.safetensors"
    del os.environ["WAVETELL_REPLAY_RADIO"]


@contextmanager
def on_the_air(data, air, *argv):
    """A service that listens to the replay radio, as it would go on with a stream that somebody had added."""
    raw, model = air
    stream = {"source": f"soapy:driver=replay,buffer=30,file={raw}?{TUNED}", "name": NAME, "head": ""}
    data.mkdir(exist_ok=True)
    (data / "streams.json").write_text(json.dumps({"0" * 24: stream}))
    with serving(data, model, "--ring-s", "60", *argv) as running:
        yield running


@pytest.fixture(scope="session")
def service(tmp_path_factory, air):
    """One service for all, on a machine that takes part in a federation and coordinates it, too."""
    folders = make_federation(tmp_path_factory.mktemp("federation"))
    data = tmp_path_factory.mktemp("service") / "data"
    with on_the_air(data, air, "--federation", ",".join(map(str, folders))) as running:
        yield running


class Errors(list):
    """What the console complained about; `expected` may be added to by a test."""

    def __init__(self):
        super().__init__()
        self.expected = []

    def unexpected(self):
        return [line for line in self if not any(re.search(each, line) for each in self.expected)]


@contextmanager
def looking(browser, base, **options):
    """The dashboard in a window of its own; it must not complain."""
    window = {"viewport": {"width": 1360, "height": 820}, "color_scheme": "dark"} | options
    context = browser.new_context(**window)
    page = context.new_page()
    page.errors = Errors()
    page.on(
        "console",
        lambda said: said.type in ("error", "warning") and page.errors.append(f"{said.text} {said.location}"),
    )
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(base)
    try:
        yield page
        assert page.errors.unexpected() == []
    finally:
        context.close()


@pytest.fixture(scope="session")
def shared_page(browser, service):
    with looking(browser, service.base) as opened:
        wait_for_answer(opened)
        yield opened


@pytest.fixture
def page(shared_page):
    """The dashboard as a person finds it: live, nothing chosen, the first tab open."""
    shared_page.errors.clear()
    shared_page.errors.expected.clear()
    shared_page.keyboard.press("Escape")
    shared_page.locator("#water").focus()
    shared_page.keyboard.press("Escape")
    shared_page.keyboard.press("0")
    shared_page.keyboard.press("End")
    shared_page.get_by_role("tab", name="Signal").click()
    yield shared_page
    assert shared_page.errors.unexpected() == []


def wait_for_answer(page, label=r"\w\w+", seconds=20):
    """Wait until the answer in large letters is this."""
    expect(page.locator("#answer .label")).to_have_text(re.compile(label), timeout=1000 * seconds)


def drag(page, top, bottom):
    """Drag over the waterfall between two heights, given from 0 (now) to 1."""
    box = page.locator("#water").bounding_box()
    x = box["x"] + box["width"] / 2
    page.mouse.move(x, box["y"] + top * box["height"])
    page.mouse.down()
    page.mouse.move(x, box["y"] + (top + bottom) / 2 * box["height"])
    page.mouse.move(x, box["y"] + bottom * box["height"])
    page.mouse.up()
