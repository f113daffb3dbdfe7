"""A radio at 2.4 MS/s with 16 emissions, as a person goes through it; `make pictures` takes its pictures."""

import json
import re

import pytest

from service.bench.band_scene import make_band
from tests.replay_radio import need_replay_radio
from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import NAME, expect, looking
from tests.service.dashboard.photograph import photograph
from tests.service.dashboard.test_band import boxes

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(1200)]
RATE_HZ, FREQ_HZ, SENT = 2_400_000, 433_920_000, 16
SECONDS = 60  # for what takes a second on an idle machine


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """The shipped model on the radio, a watch rule, and the band that is played."""
    need_replay_radio()
    folder = tmp_path_factory.mktemp("wide")
    band = make_band(RATE_HZ, SENT)
    raw = folder / "band.cf32"
    raw.write_bytes(band.samples.tobytes())
    source = f"soapy:driver=replay,buffer=30,file={raw}?freq={FREQ_HZ}&rate={RATE_HZ}"
    data = folder / "data"
    data.mkdir()
    (data / "streams.json").write_text(json.dumps({"0" * 24: {"source": source, "name": NAME, "head": ""}}))
    with serving(data, "radio", "--ring-mb", "600") as service:
        service.post("/v1/watches", json={"kind": "new", "name": "somebody new"})
        yield service, band


@pytest.fixture(scope="module")
def page(browser, wide):
    service, _ = wide
    with looking(browser, service.base) as opened:
        expect(boxes(opened).nth(SENT // 2)).to_be_attached(timeout=1000 * within(SECONDS))
        yield opened


def moment(page):
    """Let what was asked for arrive."""
    page.wait_for_timeout(1000 * within(2))


def test_the_emissions_have_boxes_and_rows(page, wide):
    service, band = wide
    (stream,) = (each["id"] for each in service.get("/v1/streams").json())
    url = f"/v1/streams/{stream}/emissions?limit=1000"

    def followed(found):
        near = [
            e | {f"{k}_hz": e[f"{k}_hz"] - FREQ_HZ for k in ("lower", "upper")} for e in found["emissions"]
        ]
        return band.judge(near)[0]

    found = service.until(url, lambda found: followed(found) >= SENT - 4, seconds=within(SECONDS))
    samples = service.get(f"/v1/streams/{stream}").json()["samples"]
    print(f"{followed(found)} of {SENT} emissions are followed; {samples}")
    expect(page.locator("table.emissions tbody tr").nth(SENT // 2)).to_be_visible()
    moment(page)
    photograph(page, "band")


def test_one_is_opened_with_its_pictures_and_others_like_it(page):
    page.locator("table.emissions tbody button").nth(1).click()
    view = page.locator(".emission")
    expect(view.get_by_role("list", name="Its answers").locator("li").first).to_be_visible(
        timeout=1000 * within(SECONDS)
    )
    view.get_by_role("button", name="Find alike").click()
    expect(view.get_by_role("list", name="Others like it").locator("li").first).to_be_visible(
        timeout=1000 * within(SECONDS)
    )
    moment(page)
    photograph(page, "emission")
    page.get_by_role("button", name="All emissions").click()


def test_a_group_is_named_and_the_next_are_asked_for(page, wide):
    page.get_by_role("tab", name="Teach").click()
    page.get_by_label("after each label").uncheck()
    groups = page.get_by_role("list", name="Least sure, first").locator("li")
    expect(groups.first).to_be_visible(timeout=1000 * within(SECONDS))
    groups.first.get_by_role("combobox").fill("beacon")
    photograph(page, "group")
    page.keyboard.press("Enter")
    expect(page.locator("#teach .counts")).to_contain_text("beacon", timeout=1000 * within(SECONDS))
    page.get_by_role("button", name="Undo last label").click()
    expect(page.locator("#teach .counts")).not_to_contain_text("beacon", timeout=1000 * within(SECONDS))


def test_the_review_shows_its_alerts(page, wide):
    service, _ = wide
    service.until("/v1/alerts", lambda found: found["alerts"], seconds=within(SECONDS))
    page.get_by_role("tab", name="Review").click()
    expect(page.locator("#review h3")).to_contain_text(re.compile(r"\d\d to \d\d"))
    moment(page)
    photograph(page, "review")


def test_it_fits_a_phone(browser, wide):
    service, _ = wide
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    with looking(browser, service.base, **phone) as small:
        expect(boxes(small).nth(SENT // 2)).to_be_attached(timeout=1000 * within(SECONDS))
        assert small.evaluate("document.documentElement.scrollWidth") <= 390
        photograph(small, "band-phone")


def test_nobody_cost_the_stream_a_sample(wide):
    service, _ = wide
    (stream,) = service.get("/v1/streams").json()
    assert stream["samples"]["dropped"] == {}
