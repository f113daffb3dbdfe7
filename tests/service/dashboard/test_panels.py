"""Streams, models, federation: what runs, what it is made of, who takes part."""

from tests.service.conftest import serving
from tests.service.dashboard.air import make_model
from tests.service.dashboard.conftest import expect, looking


def test_a_radio_of_this_machine_is_added_retuned_stopped_started_and_deleted(page, service):
    page.get_by_role("tab", name="Streams").click()
    form = page.get_by_role("form", name="Add a stream")
    kind = form.get_by_label("Kind of source")
    expect(kind.locator("option").first).to_have_text("replay radio", timeout=15_000)
    kind.select_option("replay radio")
    expect(form).to_contain_text("It tunes 24 M to 1.766 GHz")
    form.get_by_label("Frequency").fill("868.3M")
    form.get_by_label("Name", exact=True).fill("second radio")
    form.get_by_role("button", name="Listen").click()
    card = page.locator(".cards li", has_text="second radio")
    expect(card).to_contain_text("868.3 MHz", timeout=15_000)
    expect(page.locator("#stream option:checked")).to_have_text("second radio")

    card.get_by_label("Frequency").fill("915M")
    card.get_by_label("Gain").fill("30")
    card.get_by_role("button", name="Retune").click()
    expect(card).to_contain_text("915 MHz", timeout=10_000)
    card.get_by_label("Frequency").fill("nonsense")
    card.get_by_role("button", name="Retune").click()
    expect(page.locator("#toasts .error").last).to_contain_text("expected a number such as 433.92M")

    card.get_by_role("button", name="Stop").click()
    expect(card).to_contain_text("paused", timeout=10_000)
    card.get_by_role("button", name="Start").click()
    expect(card).to_contain_text("running", timeout=10_000)
    for fact in ("real time", "lag", "dropped", "lost", "gaps"):
        expect(card.locator("dt", has_text=fact)).to_have_count(1)
    card.get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0, timeout=10_000)
    expect(page.locator("#stream option")).to_have_count(1)


def test_a_source_that_cannot_be_opened_is_said_in_one_line(page):
    page.errors.expected.append("403")
    page.get_by_role("tab", name="Streams").click()
    form = page.get_by_role("form", name="Add a stream")
    form.get_by_label("Kind of source").select_option("Any source address")
    form.get_by_label("Source address").fill("file:/etc/passwd")
    form.get_by_role("button", name="Listen").click()
    expect(page.locator("#toasts .error").last).to_contain_text("outside of the folders", timeout=10_000)


def test_a_tone_is_added_by_its_form(page, service):
    page.get_by_role("tab", name="Streams").click()
    form = page.get_by_role("form", name="Add a stream")
    form.get_by_label("Kind of source").select_option("A test tone")
    form.get_by_label("Name", exact=True).fill("tone")
    form.get_by_role("button", name="Listen").click()
    card = page.locator(".cards li", has_text="tone:?offset=10k&rate=48k")
    expect(card).to_contain_text("48 kS/s", timeout=10_000)
    card.get_by_role("button", name="Delete").click()
    expect(card).to_have_count(0, timeout=10_000)


def test_the_model_that_runs_its_accuracy_by_snr_and_the_way_back(page, service, air, tmp_path):
    make_model(air[0]).save(tmp_path / "better.safetensors")
    page.get_by_role("tab", name="Models").click()
    panel = page.locator("#models")
    expect(panel.locator("h2")).to_have_text("air")
    expect(panel.get_by_role("img", name="Accuracy by SNR").locator("canvas")).to_be_visible()
    expect(panel.locator(".u-legend")).to_contain_text("likelihood limit")
    expect(panel.get_by_role("button", name="Nothing to roll back to")).to_be_disabled()

    panel.get_by_label("Bundle file").set_input_files(tmp_path / "better.safetensors")
    row = panel.get_by_role("list", name="Models").locator("li", has_text="better")
    row.get_by_role("button", name="Use").click(timeout=15_000)
    expect(panel.locator("h2")).to_have_text("better", timeout=20_000)
    panel.get_by_role("button", name="Roll back to").click()
    expect(panel.locator("h2")).to_have_text("air", timeout=20_000)
    assert service.get("/v1/health").json()["model"] == "air"


def test_the_papers_model_shows_its_accuracy_beside_the_likelihood_limit(browser, tmp_path):
    """As it is shipped, with the rows that `wavetell evaluate --keep` wrote into it."""
    with serving(tmp_path / "data", "paper-synthetic") as bare, looking(browser, bare.base) as page:
        page.get_by_role("tab", name="Models").click()
        panel = page.locator("#models")
        expect(panel.get_by_role("img", name="Accuracy by SNR").locator("canvas")).to_be_visible(
            timeout=15_000
        )
        for row in ("this model", "likelihood limit", "cumulants", "untrained encoder"):
            expect(panel.locator(".u-legend")).to_contain_text(row)


def test_stations_rounds_curves_bytes_and_this_station(page):
    page.get_by_role("tab", name="Federation").click()
    panel = page.locator("#federation")
    expect(panel).to_contain_text("This station: north-tower", timeout=10_000)
    expect(panel).to_contain_text("main at http://127.0.0.1:8434")
    expect(panel).to_contain_text("round 3: aggregated")
    expect(panel).to_contain_text("Round 3 is published; model 3 of 10; quorum 2; mean.")
    station = panel.locator("tr", has_text="south-tower")
    expect(station).to_contain_text("ago")
    expect(station).to_contain_text("2 MB")
    for chart in ("Loss by round", "Accuracy by round"):
        expect(panel.get_by_role("img", name=chart).locator("canvas")).to_be_visible()
    first = panel.locator("table").last.locator("tr").nth(1)
    expect(first).to_contain_text("80 %")
    expect(first).to_contain_text("1.99 MB")
