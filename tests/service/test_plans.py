"""A stream with a plan of frequencies: what the service says of each step has that step's frequencies."""

import json

import pytest

from hardware.plan import Plan
from tests.service.conftest import serving, within
from tests.wide_radio import WideRadio, spectrum

RATE, WIDE, FREQ = 240_000, 1_200_000, 433.6e6
# A busy machine needs long to do what the radio is told.
PLAN = {"start_hz": 433.2e6, "stop_hz": 434.0e6, "dwell_s": 0.4, "settle_s": 0.5}
CENTRES = Plan(**PLAN).centres(RATE)
TRUTH = {433.26e6: 12e3, 433.55e6: 20e3, 433.9e6: 16e3}  # centre -> bandwidth


@pytest.fixture(scope="module")
def radio():
    bins = spectrum(WIDE, [(centre - FREQ, width, 0.1) for centre, width in TRUTH.items()])
    radio = WideRadio(bins, FREQ, RATE, CENTRES)
    yield radio
    radio.close()


@pytest.fixture(scope="module")
def heard(tmp_path_factory, model, radio):
    """A service whose radio has been through its plan, the stream, and all emissions that it found."""
    folder = tmp_path_factory.mktemp("plan")
    with serving(folder / "data", model) as service:
        stream = service.stream(radio.address, plan=PLAN)

        def all_found(page):
            return all(any(is_of(e, centre) for e in page["emissions"]) for centre in TRUTH)

        found = service.until(f"/v1/streams/{stream}/emissions", all_found, seconds=within(60))
        yield service, stream, found["emissions"]


def is_of(emission, centre):
    """Whether it is this one, whole."""
    width = TRUTH[centre]
    near = abs(emission["centre_hz"] - centre) < 0.1 * width
    return near and emission["bandwidth_hz"] == pytest.approx(width, rel=0.3)


def overlaps(emission, centre):
    return abs(emission["centre_hz"] - centre) < (TRUTH[centre] + emission["bandwidth_hz"]) / 2


def test_emissions_lie_where_they_are_whatever_the_radio_was_tuned_to(heard):
    _, _, emissions = heard
    for emission in emissions:  # at the edge of a step one may be cut, but nothing is anywhere else
        assert any(overlaps(emission, centre) for centre in TRUTH), emission
        assert any(emission["freq_hz"] == pytest.approx(centre, abs=1) for centre in CENTRES)


def test_history_and_events_have_the_frequency_that_each_answer_was_heard_at(heard):
    service, stream, _ = heard
    runs = service.until(
        f"/v1/streams/{stream}/predictions",
        lambda page: len({run["freq_hz"] for run in page["predictions"]}) > 2,
        seconds=within(30),
    )["predictions"]
    named = [run for run in runs if run["centre_hz"] is not None]
    assert named
    for run in named:
        assert abs(run["centre_hz"] - run["freq_hz"]) < RATE / 2
        assert any(overlaps(run, centre) for centre in TRUTH), run
    for event in service.get("/v1/events", params={"stream": stream}).json()["events"]:
        assert any(event["freq_hz"] == pytest.approx(centre, abs=1) for centre in CENTRES)


def test_a_stream_shows_its_plan_and_counts_what_was_discarded(heard):
    service, stream, _ = heard
    about = service.get(f"/v1/streams/{stream}").json()
    assert about["plan"] == PLAN | {"step_hz": None}
    assert about["samples"]["lost"]["retune"] > 0
    assert about["freq_hz"] in [round(centre) for centre in CENTRES]
    refused = service.http.patch(f"/v1/streams/{stream}", json={"freq_hz": 433e6})
    assert refused.status_code == 422
    assert "follows a plan of frequencies" in refused.json()["detail"]
    assert service.http.patch(f"/v1/streams/{stream}", json={"gain": 20}).status_code == 200


def test_a_plan_survives_a_restart(tmp_path, model, radio):
    data = tmp_path / "data"
    data.mkdir()
    plan = PLAN | {"dwell_s": 0.1}
    wanted = {"source": radio.address, "name": "a plan", "head": "", "plan": plan}
    (data / "streams.json").write_text(json.dumps({"0" * 24: wanted}))
    with serving(data, model) as service:
        about = service.get(f"/v1/streams/{'0' * 24}").json()
    assert about["plan"]["dwell_s"] == 0.1
    assert json.loads((data / "streams.json").read_text())["0" * 24]["plan"] == plan


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            {"source": "tone:?rate=48k", "plan": PLAN},
            "cannot be retuned; a plan of frequencies needs a radio",
        ),
        ({"source": "tone:", "plan": PLAN | {"stop_hz": 1.0}}, "it must be below plan.stop_hz"),
        ({"source": "tone:", "plan": {"start_hz": 1.0}}, "stop_hz"),
        ({"source": "tone:", "plan": PLAN | {"dwell_s": 0}}, "dwell_s"),
        ({"source": "tone:", "plan": PLAN | {"speed": 1}}, "speed"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused(service, body, says):
    answer = service.post("/v1/streams", json=body)
    assert answer.status_code == 422, answer.text
    assert says in json.dumps(answer.json())
