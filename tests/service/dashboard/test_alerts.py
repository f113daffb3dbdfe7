"""Watching by click: a rule, its alerts with picture and samples, and what the browser is told."""

import io
import json
import re
import tarfile

import pytest

from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import expect, looking
from tests.service.dashboard.test_band import CENTRES, FREQ, SENT, boxes, click_box
from tests.service.scenes import band, write

# The browser's own notifications cannot be seen from a page: what it is asked to show can be.
SEEN = """() => {
    window.seen = [];
    window.Notification = class {
        constructor(title, more) { window.seen.push([title, more.body, more.icon]); }
    };
    window.Notification.requestPermission = async () => "granted";
    window.Notification.permission = "granted"; }"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory, model):
    """A service that hears three emissions at once, over and over."""
    folder = tmp_path_factory.mktemp("watched")
    source = write(folder, band(8.0, emissions=SENT))
    with serving(folder / "data", model, f"file:{source}?pace=realtime&loop=1", "--ring-s", "60") as running:
        yield running


@pytest.fixture
def alert_page(browser, watched):
    with looking(browser, watched.base) as page:
        expect(boxes(page)).to_have_count(3, timeout=1000 * within(20))
        page.get_by_role("tab", name="Alerts").click()
        yield page
    for rule in watched.get("/v1/watches").json()["watches"]:
        watched.http.delete(f"/v1/watches/{rule['id']}")
    for alert in watched.get("/v1/alerts").json()["alerts"]:
        watched.http.delete(f"/v1/alerts/{alert['id']}")


def form(page):
    return page.get_by_role("form", name="Watch for")


def listed(page):
    return page.get_by_role("list", name="Alerts, newest first").get_by_role("listitem")


def watch_all(page, watched, **more):
    """Watch for whatever the first emission is called, at its frequency."""
    stream = watched.get("/v1/streams").json()[0]["id"]
    heard = watched.get(f"/v1/streams/{stream}/emissions?state=now").json()["emissions"]
    label = min(heard, key=lambda emission: emission["centre_hz"])["label"]
    form(page).get_by_label("What to watch for").select_option("label")
    form(page).get_by_label("Label").fill(label)
    form(page).get_by_label("Lowest frequency").fill("432.93M")
    form(page).get_by_label("Highest frequency").fill("432.95M")
    for name, value in more.items():
        form(page).locator("summary").click()
        form(page).locator(f"[name={name}]").fill(value)
    form(page).get_by_role("button", name="Watch").click()
    return label


def test_a_rule_by_click_becomes_an_alert_with_picture_and_samples(alert_page, watched):
    label = watch_all(alert_page, watched, name="<b>gate</b>")
    rules = alert_page.get_by_role("list", name="Watch rules").get_by_role("listitem")
    expect(rules).to_have_count(1)
    expect(rules.first).to_contain_text("<b>gate</b>")  # as text
    expect(listed(alert_page)).to_have_count(1, timeout=1000 * within(20))
    alert = listed(alert_page).first
    expect(alert).to_contain_text(f"<b>gate</b>: {label} at 432.9")
    expect(rules.first).to_contain_text("last")
    image = alert.get_by_role("img")
    alert_page.wait_for_function("image => image.naturalWidth === 320", arg=image.element_handle())
    assert re.match(rf"Spectrogram of {label} at 432\.9\d+ MHz", image.get_attribute("alt"))
    with alert_page.expect_download() as download:
        alert.get_by_role("link", name="I/Q as SigMF").click()
    with tarfile.open(fileobj=io.BytesIO(download.value.path().read_bytes())) as tar:
        (meta,) = (name for name in tar.getnames() if name.endswith("sigmf-meta"))
        captures = json.load(tar.extractfile(meta))["captures"]
    assert captures[0]["core:frequency"] == pytest.approx(CENTRES[0], abs=2e3)

    alert.get_by_role("button", name="Show").click()
    expect(alert_page.get_by_role("button", name="Go live")).to_be_visible()
    expect(alert_page.locator("#emissions h2")).to_contain_text(re.compile("[ABC]"))

    alert_page.get_by_role("tab", name="Alerts").click()
    alert.get_by_role("button", name="Delete").click()
    expect(alert_page.get_by_text("No alert yet.")).to_be_visible()
    rules.first.get_by_role("button", name="Stop watching").click()
    expect(rules).to_have_count(0)


def test_the_browser_notifies_once_somebody_wants_it_and_the_tab_counts(alert_page, watched):
    alert_page.evaluate(f"({SEEN})()")
    alert_page.get_by_role("button", name="Notify me in this browser").click()
    expect(alert_page.get_by_role("button", name="Notify me no more")).to_be_visible()
    label = watch_all(alert_page, watched, name="gate")
    alert_page.get_by_role("tab", name="Streams").click()
    expect(alert_page.get_by_role("tab", name="Alerts 1")).to_be_visible(timeout=1000 * within(20))
    ((title, body, icon),) = alert_page.evaluate("window.seen")
    assert title == "gate"
    assert body.startswith(f"gate: {label} at 432.9")
    assert watched.get(f"/{icon}").headers["content-type"] == "image/png"
    alert_page.get_by_role("tab", name="Alerts").click()
    expect(alert_page.get_by_role("tab", name="Alerts", exact=True)).to_be_visible()


def test_an_emission_is_watched_from_its_own_page(alert_page):
    alert_page.get_by_role("tab", name="Emissions").click()
    click_box(alert_page, 0)
    alert_page.get_by_role("button", name="Watch", exact=True).click()
    expect(form(alert_page)).to_be_visible()
    low, high = (form(alert_page).locator(f"[name={name}]").input_value() for name in ("f_low", "f_high"))
    centre, width, _ = SENT[0]
    assert float(low.removesuffix("M")) * 1e6 == pytest.approx(FREQ + centre - width / 2, abs=3e3)
    assert float(high.removesuffix("M")) * 1e6 == pytest.approx(FREQ + centre + width / 2, abs=3e3)
    expect(form(alert_page).get_by_label("For, minutes")).to_be_visible()
    form(alert_page).get_by_role("button", name="Watch").click()
    expect(alert_page.get_by_role("list", name="Watch rules")).to_contain_text("silent for 15 min")


def test_what_makes_no_sense_is_said_and_not_sent(alert_page):
    form(alert_page).get_by_label("Lowest frequency").fill("loud")
    form(alert_page).get_by_role("button", name="Watch").click()
    expect(alert_page.locator("#toasts")).to_contain_text("expected a number such as 433.92M")
    expect(alert_page.get_by_role("list", name="Watch rules").get_by_role("listitem")).to_have_count(0)
