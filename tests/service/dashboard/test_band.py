"""The band on the screen: boxes, the table, one emission in its channel, teaching and ignoring by click."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import TABS, expect, looking
from tests.service.scenes import RATE, band, write

FREQ = 433e6
SENT = ((-60e3, 12e3, 0.2), (0.0, 8e3, 0.1), (60e3, 16e3, 0.05))  # centre, bandwidth, level
CENTRES = [FREQ + centre for centre, _, _ in SENT]


@pytest.fixture(scope="module")
def on_the_band(tmp_path_factory, model):
    """A service that hears three emissions at once, over and over."""
    folder = tmp_path_factory.mktemp("band")
    source = write(folder, band(8.0, emissions=SENT))
    with serving(folder / "data", model, f"file:{source}?pace=realtime&loop=1", "--ring-s", "60") as running:
        yield running


@pytest.fixture(scope="module")
def opened(browser, on_the_band):
    with looking(browser, on_the_band.base) as page:
        expect(boxes(page)).to_have_count(3, timeout=1000 * within(20))
        yield page


@pytest.fixture
def band_page(opened):
    """As a person finds it: live, the whole band, all emissions in the table."""
    opened.keyboard.press("Escape")
    opened.locator("#water").focus()
    opened.keyboard.press("0")
    opened.keyboard.press("End")
    opened.mouse.move(0, 0)
    opened.get_by_role("tab", name="Emissions").click()
    back = opened.get_by_role("button", name="All emissions")
    if back.is_visible():
        back.click()
    yield opened
    assert opened.errors.unexpected() == []


def boxes(page):
    return page.get_by_role("list", name="Emissions on the waterfall").get_by_role("button")


def frequency(page, x):
    """Of a place on the screen, while the whole band is shown."""
    water = page.locator("#water").bounding_box()
    return FREQ + ((x - water["x"]) / water["width"] - 0.5) * RATE


def click_box(page, number):
    """Click the box of an emission; the waterfall stands still, so that it cannot move away."""
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(800)  # buttons follow their boxes twice a second
    box = boxes(page).nth(number).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 0.6 * box["height"])


def test_every_emission_has_a_box_where_it_lies(band_page):
    for box, (centre, width, _) in zip(boxes(band_page).all(), SENT, strict=True):
        place = box.bounding_box()
        low, high = (frequency(band_page, place["x"] + side * place["width"]) for side in (0, 1))
        assert (low + high) / 2 == pytest.approx(FREQ + centre, abs=0.2 * width)
        assert high - low == pytest.approx(width, rel=0.4)
        said = box.text_content()
        assert re.search(r"^[ABC] \d+ %, ", said)
        assert re.search(r"SNR -?[\d.]+ dB, 4\d\d(\.\d+)? MHz, [\d.]+ kHz wide, since [\d:]+", said)


def test_boxes_are_drawn_with_their_names_and_the_spectrum_marks_the_same_edges(band_page):
    """The canvas of the boxes is see-through but for outlines and names; the spectrum has a bar over each."""
    alpha = """id => {
        const canvas = document.getElementById(id), { width, height } = canvas;
        const copy = new OffscreenCanvas(width, height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const data = context.getImageData(0, 0, width, height).data;
        return [width, Array.from({ length: width * height }, (_, i) => data[4 * i + 3] > 200 ? i : -1)
            .filter((i) => i >= 0)];
    }"""
    band_page.wait_for_timeout(500)
    width, drawn = band_page.evaluate(alpha, "boxes")
    by_column = np.bincount(np.array(drawn) % width, minlength=width)
    for centre, wide, _ in SENT:
        for edge in (centre - wide / 2, centre + wide / 2):
            column = round((edge / RATE + 0.5) * width)
            near = by_column[max(0, column - 12) : column + 13]
            assert near.max() > 5 * np.median(by_column) + 20, (centre, edge)
    width, drawn = band_page.evaluate(alpha, "spectrum")
    top = {i % width for i in drawn if i < 2 * width}
    left = band_page.locator("#timeline").bounding_box()["width"]
    share = [(column - left) / (width - left) for column in top]
    marked = FREQ + (np.array(share) - 0.5) * RATE
    for centre, wide, _ in SENT:
        assert (np.abs(marked - FREQ - centre) < wide / 3).any(), centre


def test_hovering_over_a_box_or_its_name_tells_all_of_it(band_page):
    band_page.get_by_role("button", name="Pause").click()
    band_page.wait_for_timeout(800)
    box = boxes(band_page).first.bounding_box()
    band_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.6 * box["height"])
    said = band_page.locator("#pointer")
    expect(said).to_contain_text("kHz wide")
    for part in ("SNR", "MHz", "since", "burst"):
        expect(said).to_contain_text(part)
    band_page.mouse.move(0, 0)
    expect(boxes(band_page).first).to_have_css(
        "top", "0px", timeout=1000 * within(10)
    )  # it reaches up to now
    box = boxes(band_page).first.bounding_box()
    band_page.mouse.move(box["x"] + box["width"] + 10, box["y"] + 8)  # names are wider than their boxes
    expect(said).to_contain_text("kHz wide")


def test_the_keyboard_goes_from_box_to_box_and_opens_one(band_page):
    band_page.locator("#water").focus()
    band_page.keyboard.press("Tab")
    expect(boxes(band_page).nth(0)).to_be_focused()
    band_page.keyboard.press("ArrowRight")
    expect(boxes(band_page).nth(1)).to_be_focused()
    band_page.keyboard.press("End")
    expect(boxes(band_page).nth(2)).to_be_focused()
    band_page.keyboard.press("Enter")
    expect(band_page.get_by_label("Name of this emission")).to_be_focused()
    expect(band_page.locator(".emission .facts")).to_have_text(re.compile(r"centre\s*433\.0(59|6)"))


def test_the_band_is_zoomed_and_what_lies_outside_has_no_box(band_page):
    wide = boxes(band_page).nth(1).bounding_box()["width"]
    band_page.locator("#water").focus()
    for _ in range(3):
        band_page.keyboard.press("]")
    expect(boxes(band_page)).to_have_count(1, timeout=10_000)
    assert boxes(band_page).first.bounding_box()["width"] > 6 * wide
    band_page.get_by_role("button", name="Widen the band").click()
    band_page.keyboard.press("0")
    expect(boxes(band_page)).to_have_count(3, timeout=10_000)


def column(page, number):
    return page.locator(f"table.emissions tbody td:nth-child({number})").all_inner_texts()


def test_the_table_is_sorted_filtered_and_downloaded(band_page, tmp_path):
    rows = band_page.locator("table.emissions tbody tr")
    expect(rows).to_have_count(3, timeout=10_000)
    head = band_page.get_by_role("columnheader", name="Frequency")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending", timeout=10_000)
    found = [float(text.split()[0]) for text in column(band_page, 2)]
    assert found == pytest.approx([centre / 1e6 for centre in CENTRES], abs=0.003)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending", timeout=10_000)
    assert [float(text.split()[0]) for text in column(band_page, 2)] == found[::-1]

    band_page.get_by_text("Filter", exact=True).click()
    band_page.get_by_label("From this frequency").fill("433.02M")
    band_page.get_by_label("From this frequency").press("Enter")
    expect(rows).to_have_count(1, timeout=10_000)
    for name in ("CSV", "JSON lines", "SigMF annotations"):
        with band_page.expect_download() as waiting:
            band_page.get_by_role("link", name=name).click()
        waiting.value.save_as(tmp_path / waiting.value.suggested_filename)
    with (tmp_path / "emissions.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["centre_hz"]) == pytest.approx(CENTRES[2], abs=3e3)
    assert json.loads((tmp_path / "emissions.jsonl").read_text())["emission"] == row["emission"]
    (note,) = json.loads((tmp_path / "emissions.sigmf-meta").read_text())["annotations"]
    assert note["wavetell:emission"] == row["emission"]
    band_page.get_by_label("From this frequency").fill("")
    band_page.get_by_label("From this frequency").press("Enter")
    expect(rows).to_have_count(3, timeout=10_000)
    band_page.get_by_text("Filter", exact=True).click()


def test_a_click_opens_an_emission_in_its_own_channel(band_page):
    click_box(band_page, 0)
    view = band_page.locator(".emission")
    expect(view.locator(".facts")).to_have_text(re.compile(r"centre\s*432\.9(39|40|41)"), timeout=10_000)
    expect(view.get_by_role("list", name="Its answers").locator("li").first).to_be_visible(timeout=10_000)
    for name in ("Its constellation", "Its spectrum", "Its eye diagram"):
        canvas = view.get_by_role("img", name=name)
        colours = """canvas => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height);
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            const data = context.getImageData(0, 0, copy.width, copy.height).data;
            return new Set(new Uint32Array(data.buffer)).size;
        }"""
        band_page.wait_for_function(f"canvas => ({colours})(canvas) > 10", arg=canvas.element_handle())
    view.get_by_role("button", name="Zoom to it").click()
    expect(boxes(band_page)).to_have_count(1, timeout=10_000)
    with band_page.expect_download() as waiting:
        view.get_by_role("button", name="Download").click()
    assert Path(waiting.value.suggested_filename).suffix == ".sigmf"


def test_a_click_and_a_name_teach_that_emission_in_its_channel(band_page, on_the_band):
    band_page.get_by_role("tab", name="Teach").click()
    band_page.get_by_label("after each label").uncheck()
    click_box(band_page, 1)
    field = band_page.get_by_label("Name of this emission")
    expect(field).to_be_focused()
    band_page.keyboard.type("beacon")
    band_page.keyboard.press("Enter")
    expect(band_page.locator("#toasts")).to_contain_text("Kept as beacon", timeout=1000 * within(10))
    (label,) = on_the_band.get("/v1/labels").json()["labels"]
    assert label["label"] == "beacon"
    assert label["centre_hz"] == pytest.approx(CENTRES[1], abs=2e3)
    assert label["rate_hz"] < RATE / 3  # its channel, not the band
    on_the_band.http.delete(f"/v1/labels/{label['id']}")


def test_others_like_an_emission_are_listed_and_opened(band_page, on_the_band):
    click_box(band_page, 0)
    view = band_page.locator(".emission")
    view.get_by_role("button", name="Find alike").click()
    others = view.get_by_role("list", name="Others like it").locator("li")
    expect(others.first).to_be_visible(timeout=1000 * within(10))
    shares = [int(re.search(r"(\d+) % alike", text).group(1)) for text in others.all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    others.first.get_by_role("button", name="Open").click()
    expect(view.locator(".facts")).to_have_text(re.compile(r"centre\s*433"), timeout=1000 * within(10))
    expect(others).to_have_count(0)


def test_one_name_labels_a_group_of_the_least_certain_and_is_undone_at_once(band_page, on_the_band):
    band_page.get_by_role("tab", name="Teach").click()
    band_page.get_by_label("after each label").uncheck()
    band_page.get_by_role("button", name="Pause").click()
    groups = band_page.get_by_role("list", name="Least sure, first").locator("li")
    expect(groups.first).to_be_visible(timeout=1000 * within(10))
    name = groups.first.get_by_role("combobox")
    name.focus()  # from here on the groups stay
    count = int(re.search(r"Name of (\d+) like", name.get_attribute("aria-label")).group(1))
    band_page.keyboard.type("beacon")
    band_page.keyboard.press("Enter")
    expect(band_page.locator("#teach .counts")).to_contain_text("beacon", timeout=1000 * within(20))
    labels = on_the_band.get("/v1/labels").json()["labels"]
    assert {label["label"] for label in labels} == {"beacon"}
    assert len({label["emission"] for label in labels}) == len(labels) <= count
    band_page.get_by_role("button", name="Undo last label").click()
    expect(band_page.locator("#teach .counts")).not_to_contain_text("beacon", timeout=1000 * within(10))
    assert on_the_band.get("/v1/labels").json()["labels"] == []


def test_an_emission_is_ignored_and_told_again(band_page, on_the_band):
    click_box(band_page, 2)
    view = band_page.locator(".emission")
    view.get_by_label("What to ignore").select_option("frequency")
    view.get_by_label("For how long").select_option("for a day")
    view.get_by_role("button", name="Ignore").click()
    rules = band_page.get_by_role("list", name="What is ignored").locator("li")
    expect(rules).to_have_count(1, timeout=10_000)
    (rule,) = on_the_band.get("/v1/ignored").json()["ignored"]
    assert rule["f_low"] < CENTRES[2] < rule["f_high"]
    assert rule["until"] is not None
    expect(boxes(band_page).nth(2)).to_contain_text("ignored", timeout=10_000)
    rules.get_by_role("button", name="Tell again").click()
    expect(rules).to_have_count(0, timeout=10_000)
    assert on_the_band.get("/v1/ignored").json()["ignored"] == []


PAINTED = """async emission => {
    const { Boxes } = await import("/static/boxes.js");
    const { Emissions } = await import("/static/emissions.js");
    const { View } = await import("/static/view.js");
    const canvas = document.createElement("canvas"), view = new View();
    document.body.append(canvas);
    canvas.style = "position: fixed; top: 0; left: 0; width: 400px; height: 300px";
    const air = { rate: 1000, end: 20, frame: { freq: NaN }, counts: () => true };
    air.emissions = new Emissions(air);
    const told = { rate_hz: 1000, from: 0, to: 0, family: null, probability: 0.9, snr_db: 20, emission: "e" };
    air.emissions.take({ ...told, ...emission });
    air.emissions.told(20);
    view.follow(20);
    const [width, height] = [400, 300];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    new Boxes(canvas).draw(air, view, () => false);
    const inside = context.getImageData(0.35 * width, 0.6 * height, 0.3 * width, 0.2 * height).data;
    const edge = context.getImageData(0.2 * width, 0.7 * height, 0.1 * width, 1).data;
    canvas.remove();
    const alphas = (data) => Array.from(data).filter((_, i) => i % 4 === 3);
    return [alphas(inside).filter((alpha) => alpha > 0).length, Math.max(...alphas(edge))];
}"""


def test_unknown_boxes_are_hatched_and_those_that_ended_fade(band_page):
    span = {"lower_hz": -250, "upper_hz": 250, "start_sample": 2000}
    now = span | {"end_sample": 20_000, "state": "update"}
    past = span | {"end_sample": 10_000, "state": "end"}
    known, unknown, ended = (
        band_page.evaluate(PAINTED, each)
        for each in (now | {"label": "A"}, now | {"label": "unknown"}, past | {"label": "A"})
    )
    assert known[0] == 0
    assert unknown[0] > 100  # lines over the inside
    assert ended[1] < known[1]


def test_nothing_is_wider_than_a_phone(browser, on_the_band):
    with looking(browser, on_the_band.base, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        expect(boxes(page)).to_have_count(3, timeout=1000 * within(20))
        page.locator("table.emissions tbody button").first.click(timeout=10_000)
        expect(page.locator(".emission")).to_be_visible(timeout=10_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "Emissions" in TABS
