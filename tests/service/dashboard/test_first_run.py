"""The first run: what can be listened to, the demo by one click, a recording dropped onto the page."""

import base64
import re
from dataclasses import asdict

import pytest

from hardware.plan import Plan
from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import expect, looking
from tests.service.dashboard.test_band import boxes
from tests.service.scenes import band
from tests.wide_radio import WideRadio, spectrum

DROP = """async ([name, content]) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    for (const kind of ["dragover", "drop"])
        document.querySelector("#air").dispatchEvent(
            new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory, model):
    """A service that nobody told what to listen to."""
    with serving(tmp_path_factory.mktemp("bare") / "data", model) as running:
        yield running


@pytest.fixture
def bare_page(browser, bare):
    with looking(browser, bare.base) as page:
        expect(page.get_by_role("heading", name="No stream yet")).to_be_visible()
        yield page
    for stream in bare.get("/v1/streams").json():
        bare.http.delete(f"/v1/streams/{stream['id']}")


def emissions(page):
    return page.get_by_role("list", name="Emissions of the recording").get_by_role("listitem")


def drop(page, name, samples):
    """As a person does it: the file comes with the event."""
    page.evaluate(DROP, [name, base64.b64encode(samples.tobytes()).decode()])


def test_the_radios_of_this_machine_are_offered_or_it_says_why_there_are_none(bare_page, bare):
    found = bare.get("/v1/devices").json()
    steps = bare_page.get_by_role("region", name="First steps")
    listed = bare_page.get_by_role("list", name="Radios of this machine").get_by_role("listitem")
    expect(listed).to_have_count(len(found["devices"]), timeout=1000 * within(20))
    if not found["devices"]:
        expect(steps.get_by_role("status")).to_have_text(
            found["problem"] or "No radio was found on this machine.", timeout=1000 * within(20)
        )
    for device in found["devices"]:
        expect(steps).to_contain_text(device["label"] if device["abilities"] else device["error"])


def test_one_click_plays_the_demo_with_several_boxes(bare_page, bare):
    bare_page.get_by_role("button", name="Play the demo").click()
    expect(boxes(bare_page).nth(2)).to_be_attached(timeout=1000 * within(30))
    expect(bare_page.get_by_role("heading", name="No stream yet")).to_be_hidden()
    assert [stream["name"] for stream in bare.get("/v1/streams").json()] == ["demo"]


@pytest.mark.parametrize(("button", "label"), [("rtl_tcp", "Host and port"), ("ZMQ", "Address")])
def test_other_sources_open_their_form(bare_page, button, label):
    bare_page.get_by_role("button", name=re.compile(button)).click()
    expect(bare_page.get_by_label(label)).to_be_focused()


def test_a_sweep_is_planned_on_the_page_and_followed(bare_page, bare):
    """Four steps at 240 kS/s: as many as the service's plan has."""
    bins = spectrum(1_200_000, [(-40e3, 20e3, 0.1)])
    plan = Plan(433.2e6, 433.6e6, dwell_s=0.3)
    radio = WideRadio(bins, 433.4e6, 240_000, plan.centres(240_000))
    try:
        bare_page.get_by_role("button", name="Sweep a wider range").click()
        form = bare_page.get_by_role("form", name="Add a stream")
        form.get_by_label("Kind of source").select_option("rtltcp")
        form.get_by_label("Host and port").fill(f"127.0.0.1:{radio.port}")
        form.get_by_label("Rate").fill("240k")
        if not form.get_by_label("From").is_visible():
            form.get_by_text("Sweep a wider range").click()
        for label, value in (("From", "433.2M"), ("To", "433.6M"), ("Seconds at each step", "0.3")):
            form.get_by_label(label, exact=True).fill(value)
        steps = len(plan.centres(240_000))
        expect(form.locator(".plan .note")).to_have_text(re.compile(rf"^{steps} steps, \d"))
        form.get_by_role("button", name="Listen").click()
        card = bare_page.get_by_role("list", name="Streams").get_by_role("listitem")
        expect(card).to_contain_text("433.2 MHz to 433.6 MHz, 300 ms each", timeout=1000 * within(20))
        (stream,) = bare.get("/v1/streams").json()
        assert stream["plan"] == asdict(plan)
        bare.until(
            f"/v1/streams/{stream['id']}", lambda s: s["samples"]["lost"].get("retune"), seconds=within(30)
        )
    finally:
        for stream in bare.get("/v1/streams").json():
            bare.http.delete(f"/v1/streams/{stream['id']}")
        radio.close()


def test_a_recording_dropped_onto_the_page_is_analysed_in_place(bare_page, bare):
    drop(bare_page, "band_433M_250k.cf32", band())
    dialog = bare_page.get_by_role("dialog", name="A recording")
    expect(emissions(bare_page)).to_have_count(2, timeout=1000 * within(20))
    expect(dialog).to_contain_text("2 emissions")
    expect(emissions(bare_page).first).to_contain_text(re.compile(r"[ABC] \d+ %43[23]\.\d+ MHz"))
    colour = """canvas => {
        const { width, height } = canvas, copy = new OffscreenCanvas(width, height).getContext("2d");
        copy.drawImage(canvas, 0, 0);
        return Array.from(copy.getImageData(0, Math.round(0.9 * height), width, 1).data);
    }"""
    row = dialog.get_by_role("img").evaluate(colour)
    shown = [sum(row[4 * i : 4 * i + 3]) for i in range(len(row) // 4)]
    place = [round((centre / 250e3 + 0.5) * len(shown)) for centre in (-60e3, 50e3)]
    middle = len(shown) // 2
    quiet = sum(shown[middle - 20 : middle + 20]) / 40
    for at in place:
        assert sum(shown[at - 5 : at + 5]) / 10 > quiet + 150  # what was sent is bright there
    bare_page.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    assert bare.get("/v1/streams").json() == []


def test_samples_that_do_not_say_what_they_are_are_asked_about(bare_page):
    bare_page.errors.expected.append("422")
    drop(bare_page, "air.iq", band())
    dialog = bare_page.get_by_role("dialog", name="A recording")
    rate = dialog.get_by_label("Rate in samples per second")
    expect(rate).to_be_visible(timeout=1000 * within(20))
    rate.fill("250k")
    dialog.get_by_label("Type of its samples").select_option("cf32")
    dialog.get_by_role("button", name="Try again").click()
    expect(emissions(bare_page)).to_have_count(2, timeout=1000 * within(20))
