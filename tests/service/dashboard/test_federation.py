"""The federation as people watch it: a real coordinator, real stations, a page that stays open."""

import numpy as np
import pytest

from streaming.shape import EncoderShape
from tests.service.conftest import serving, within
from tests.service.dashboard.conftest import expect, looking
from tests.training.federation.support import end, take_part, wait_for
from tests.training.federation.support import serving as coordinating
from training.federation.coordinator.rounds import Coordinator
from training.federation.manifest import Terms
from training.federation.station.learner import make_manifest
from training.objectives.triplet import TripletSettings
from training.pretraining.recipes import Recipe

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)
RECIPE = Recipe(TripletSettings(negatives=2), shape=SHAPE, rounds=2, steps=2, batch=8)
NAMES = ("north-tower", "south-tower")


@pytest.fixture
def federation(tmp_path):
    """A new federation of two stations that nobody has joined yet, and the stations' tokens."""
    manifest, model = make_manifest("main", RECIPE, 0)
    terms = Terms(quorum=2, deadline_s=600, grace_s=600)
    coordinator = Coordinator.create(tmp_path / "run", manifest, terms, model)
    yield coordinator, {name: coordinator.stations.add(name) for name in NAMES}
    coordinator.close()


def cells(panel, label):
    """The text of a table's cells, without its head."""
    rows = panel.get_by_role("table", name=label).locator("tr").all()[1:]
    return [row.locator("td").all_inner_texts() for row in rows]


def near(text, count):
    """Whether a size as people read it is this many bytes."""
    number, unit = text.split()
    return float(number) * {"B": 1, "kB": 1e3}[unit] == pytest.approx(count, rel=0.005)


def test_stations_join_and_the_page_follows_them_to_the_last_round(browser, tmp_path, model, federation):
    coordinator, tokens = federation
    folders = f"{tmp_path / 'run'},{tmp_path / NAMES[0]}"
    processes = []
    with (
        coordinating(tmp_path / "run") as (_, url),
        serving(tmp_path / "data", model, "--federation", folders) as service,
        looking(browser, service.base) as page,
    ):
        panel = page.locator("#federation")

        def joins(name, client):
            options = ("--client", str(client), "--frames", "400", "--probe", "--patience", "30")
            processes.append(take_part(tmp_path, url, name, tokens[name], *options))

        def says(*texts):
            for text in texts:
                expect(panel).to_contain_text(text, timeout=1000 * within(30))

        try:
            page.get_by_role("tab", name="Federation").click()
            says("Round 1 is open; model 1 of 2; quorum 2; mean.")
            assert cells(panel, "Stations") == [[name, "never", "0 B", "0 B"] for name in NAMES]

            joins("north-tower", 1)
            says("This station: north-tower", f"main at {url}", "round 1, open", "none yet")
            says("Round 1 is collecting")  # its update is there, the other's is not
            expect(panel.locator("tr", has_text="north-tower")).to_contain_text("ago")
            expect(panel.locator("tr", has_text="south-tower")).to_contain_text("never")

            joins("south-tower", 2)
            says("It is finished; model 2 of 2", "round 2: aggregated")
            wait_for(processes)
        finally:
            end(*processes)
        for chart in ("Loss by round", "Accuracy by round"):
            expect(panel.get_by_role("img", name=chart).locator("canvas")).to_be_visible()
        expect(panel.locator("dd", has_text="finished")).to_be_visible()

        updates = coordinator.store.query("SELECT * FROM updates")
        for number, state, count, loss, accuracy, size in cells(panel, "Rounds, newest first"):
            sent = [each for each in updates if each["round"] == int(number)]
            assert (state, int(count)) == ("published", len(sent))
            shares = np.array([each["examples"] for each in sent]) / sum(each["examples"] for each in sent)
            assert float(loss) == pytest.approx(shares @ [each["loss"] for each in sent], abs=1e-4)
            right = 100 * shares @ [each["accuracy"] for each in sent]
            assert float(accuracy.removesuffix(" %")) == pytest.approx(right, abs=0.51)
            assert near(size, sum(each["bytes"] for each in sent))
        known = {row["name"]: row for row in coordinator.stations.all()}
        for name, _, up, down in cells(panel, "Stations"):
            assert near(up, known[name]["up"])
            assert near(down, known[name]["down"])
        before = cells(panel, "Stations")[0][1]
        expect(panel.locator("tr", has_text=NAMES[0])).not_to_contain_text(before)  # its clock goes on
