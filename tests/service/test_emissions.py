"""Emissions everywhere: over REST and live, in the history, in the spectrum, and on the command line."""

import csv
import io
import json
import struct
import subprocess
import sys
import tarfile
from itertools import groupby

import numpy as np
import pytest
import sigmf
from websockets.sync.client import connect

from tests.service.conftest import serving, within
from tests.service.scenes import band, write

FREQ = 433e6
TRUTH = {(FREQ - 60e3, 10e3), (FREQ + 50e3, 16e3)}  # centre and bandwidth of what `band` sends


def of_truth(emission):
    """Which of the emissions that were sent it is."""
    for centre, width in TRUTH:
        if abs(emission["centre_hz"] - centre) < 0.1 * width:
            assert emission["bandwidth_hz"] == pytest.approx(width, rel=0.3)
            return centre
    raise AssertionError(emission)


@pytest.fixture(scope="module")
def heard(tmp_path_factory, model):
    """A service that has heard a band to its end, and the stream."""
    folder = tmp_path_factory.mktemp("band")
    source = write(folder, band())
    with serving(folder / "data", model, "--allow-folders", str(folder)) as service:
        stream = service.stream(f"file:{source}?pace=fast")
        service.until(f"/v1/streams/{stream}", lambda s: s["state"] == "ended", seconds=within(30))
        url = f"/v1/streams/{stream}/emissions"
        service.until(url, lambda page: len(page["emissions"]) == 2, seconds=within(10))
        service.until(
            url, lambda page: {e["state"] for e in page["emissions"]} == {"end"}, seconds=within(10)
        )
        yield service, stream


def test_every_emission_of_the_band_is_listed_once_with_its_box_and_times(heard):
    service, stream = heard
    emissions = service.get(f"/v1/streams/{stream}/emissions").json()["emissions"]
    assert {of_truth(emission) for emission in emissions} == {centre for centre, _ in TRUTH}
    for emission in emissions:
        assert emission["begin"] == pytest.approx(0.5, abs=0.01)
        assert emission["end"] == pytest.approx(2.0, abs=0.01)
        assert (emission["bursts"], emission["duty"]) == (1, pytest.approx(1, abs=0.01))
        assert emission["upper_hz"] - emission["lower_hz"] == pytest.approx(emission["bandwidth_hz"], abs=0.2)
        assert emission["label"] in ("A", "B", "C")
        assert emission["stream"] == stream


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"f_low": FREQ}, 1),
        ({"f_high": FREQ}, 1),
        ({"f_low": FREQ - 1e3, "f_high": FREQ + 1e3}, 0),
        ({"state": "now"}, 0),
        ({"state": "past"}, 2),
        ({"label": "nothing"}, 0),
        ({"family": "nothing"}, 0),
        ({"from": "2020-01-01T00:00:00Z"}, 2),
        ({"to": "2020-01-01T00:00:00Z"}, 0),
        ({"limit": 1}, 1),
        ({"min_snr_db": 150}, 0),
        ({"min_duty": 0.9}, 2),
        ({"min_bursts": 2}, 0),
    ],
)
def test_emissions_are_filtered(heard, query, found):
    service, stream = heard
    answer = service.get(f"/v1/streams/{stream}/emissions", params=query).json()
    assert len(answer["emissions"]) == found


@pytest.mark.parametrize("sort", ["first", "last", "frequency", "label", "snr", "duty", "bursts"])
def test_pages_of_emissions_neither_overlap_nor_skip_in_any_order(heard, sort):
    service, stream = heard
    url, seen, cursor = f"/v1/streams/{stream}/emissions", [], ""
    for _ in range(3):
        page = service.get(url, params={"limit": 1, "cursor": cursor, "sort": sort}).json()
        seen += [emission["emission"] for emission in page["emissions"]]
        cursor = page["cursor"]
        if not cursor:
            break
    assert sorted(seen) == sorted(e["emission"] for e in service.get(url).json()["emissions"])


@pytest.mark.parametrize(
    ("sort", "value"), [("frequency", "lower_hz"), ("snr", "snr_db"), ("label", "label"), ("duty", "duty")]
)
def test_emissions_are_sorted_up_and_down(heard, sort, value):
    service, stream = heard
    for descending in (True, False):
        query = {"sort": sort, "descending": descending}
        found = service.get(f"/v1/streams/{stream}/emissions", params=query).json()["emissions"]
        values = [emission[value] for emission in found]
        assert values == sorted(values, reverse=descending)


def test_emissions_are_downloaded_as_csv_json_lines_and_sigmf(heard, tmp_path):
    service, stream = heard
    url = f"/v1/streams/{stream}/emissions"
    emissions = service.get(url).json()["emissions"]
    table = service.get(f"{url}/download?format=csv")
    assert table.headers["content-disposition"] == 'attachment; filename="emissions.csv"'
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["emission"] for row in rows] == [emission["emission"] for emission in emissions]
    assert [float(row["centre_hz"]) for row in rows] == [emission["centre_hz"] for emission in emissions]
    assert rows[0]["from"] == emissions[0]["from"]
    lines = service.get(f"{url}/download", params={"format": "jsonl"}).text.splitlines()
    assert [json.loads(line) for line in lines] == emissions
    meta = tmp_path / "emissions.sigmf-meta"
    meta.write_bytes(service.get(f"{url}/download?format=sigmf").content)
    notes = sigmf.sigmffile.SigMFFile(metadata=json.loads(meta.read_text())).get_annotations()
    edges = sorted((note["core:freq_lower_edge"], note["core:freq_upper_edge"]) for note in notes)
    expected = sorted((emission["lower_hz"], emission["upper_hz"]) for emission in emissions)
    assert edges == [pytest.approx(pair, abs=0.1) for pair in expected]
    one = service.get(f"{url}/download", params={"format": "csv", "f_low": FREQ}).text.splitlines()
    assert len(one) == 2  # the names, and the emission above


def test_a_download_of_nothing_is_a_file_all_the_same(heard):
    service, _ = heard
    url = "/v1/streams/nobody/emissions/download"
    assert len(service.get(f"{url}?format=csv").text.splitlines()) == 1
    assert service.get(f"{url}?format=jsonl").text == ""
    assert service.get(f"{url}?format=sigmf").json()["annotations"] == []


def test_one_emission_is_described_and_looked_at_in_its_own_channel(heard):
    service, stream = heard
    url = f"/v1/streams/{stream}/emissions"
    for emission in service.get(url).json()["emissions"]:
        assert service.get(f"{url}/{emission['emission']}").json() == emission
        frame = service.get(f"{url}/{emission['emission']}/spectrum?bins=100&points=64").content
        bins, points = struct.unpack_from("<HH", frame, 4)
        assert (frame[:4], bins, points) == (b"WTS1", 100, 64)
        rate, freq = struct.unpack_from("<dd", frame, 32)
        width = emission["bandwidth_hz"]
        assert freq == pytest.approx(emission["centre_hz"], abs=0.1 * width)
        assert 4 * width < rate < 6 * width
        power = 10 ** (np.frombuffer(frame, "<f4", bins, 56) / 10)
        f = (np.arange(bins) / bins - 0.5) * rate
        assert power[np.abs(f) < 0.6 * width].sum() > 0.98 * power.sum()  # the other one is not in it
    assert service.get(f"{url}/nobody").status_code == 404
    assert service.get(f"{url}/nobody/spectrum").status_code == 404


def test_others_like_an_emission_are_found_and_it_is_not_among_them(heard):
    service, stream = heard
    url = f"/v1/streams/{stream}/emissions"
    one, other = service.get(url).json()["emissions"]
    for emission, expected in ((one, other), (other, one)):
        (found,) = service.get(f"{url}/{emission['emission']}/alike").json()["alike"]
        assert found["emission"] == expected
        assert 0 <= found["likeness"] <= 1
    answer = service.get(f"{url}/nobody/alike")
    assert (answer.status_code, "no embedding of emission nobody" in answer.json()["detail"]) == (404, True)


def test_what_to_name_next_is_every_emission_without_a_label(heard):
    service, stream = heard
    url = f"/v1/streams/{stream}/emissions"
    emissions = [each["emission"] for each in service.get(url).json()["emissions"]]

    def asked():
        groups = service.get(f"{url}/uncertain").json()["groups"]
        return [each["emission"] for group in groups for each in group]

    assert sorted(asked()) == sorted(emissions)
    body = {"stream": stream, "emission": emissions[0], "label": "named"}
    label = service.post("/v1/labels", json=body).json()
    assert asked() == emissions[1:]
    service.http.delete(f"/v1/labels/{label['id']}")


def test_answers_of_one_emission_are_found(heard):
    service, stream = heard
    emission = service.get(f"/v1/streams/{stream}/emissions").json()["emissions"][0]["emission"]
    url = f"/v1/streams/{stream}/predictions"
    runs = service.get(url, params={"emission": emission}).json()["predictions"]
    assert runs
    assert {run["emission"] for run in runs} == {emission}


@pytest.mark.parametrize(
    "query",
    [
        {"f_low": "nan"},
        {"state": "new"},
        {"cursor": "x"},
        {"from": "yesterday"},
        {"sort": "id; --"},
        {"min_snr_db": "nan"},
        {"cursor": "WyJhIiwgImIiXQ"},  # of another order: a text
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_in_one_line(heard, query):
    service, stream = heard
    answer = service.get(f"/v1/streams/{stream}/emissions", params=query)
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


def test_a_live_reader_learns_of_each_emission_that_it_is_new_goes_on_and_ends(tmp_path, model):
    source = write(tmp_path, band(4.0))
    with serving(tmp_path / "data", model, "--allow-folders", str(tmp_path)) as service:
        stream = service.stream(f"file:{source}?pace=realtime")
        messages = []
        with connect(f"ws{service.base[4:]}/v1/streams/{stream}/live") as socket:
            while len([m for m in messages if m["state"] == "end"]) < 2:
                message = json.loads(socket.recv(timeout=within(20)))
                messages += [message] if message["type"] == "emission" else []
    by_emission = sorted(messages, key=lambda message: message["emission"])
    for _, told in groupby(by_emission, key=lambda message: message["emission"]):
        states = list(told)
        assert states[0]["state"] == "new"
        assert {state["state"] for state in states[1:-1]} == {"update"}
        assert states[-1]["state"] == "end"
        assert [state["end"] for state in states] == sorted(state["end"] for state in states)
        assert of_truth(states[-1])


def test_listen_prints_one_object_per_event_of_an_emission(tmp_path, model):
    command = [
        sys.executable,
        "-m",
        "service.cli",
        "listen",
        str(write(tmp_path, band())),
        "--model",
        str(model),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expected = {"emission", "state", "centre_hz", "bandwidth_hz", "snr_db", "label", "family", "probability"}
    assert all(expected | {"begin", "end", "bursts", "duty"} <= line.keys() for line in lines)
    for state in ("new", "end"):
        assert {of_truth(line) for line in lines if line["state"] == state} == {centre for centre, _ in TRUTH}
    assert all(line["lost"] == 0 for line in lines)


def test_one_emission_is_recorded_on_its_own(heard, tmp_path):
    service, stream = heard
    emissions = service.get(f"/v1/streams/{stream}/emissions").json()["emissions"]
    wanted = next(emission for emission in emissions if of_truth(emission) == FREQ + 50e3)
    answer = service.post(f"/v1/streams/{stream}/recordings", json={"emission": wanted["emission"]})
    assert answer.status_code == 201, answer.text
    with tarfile.open(
        fileobj=io.BytesIO(service.get(f"/v1/recordings/{answer.json()['id']}").content)
    ) as tar:
        tar.extractall(tmp_path)
    read = sigmf.fromfile(str(next(tmp_path.rglob("*.sigmf-meta"))))
    read.validate()
    rate, (note,) = read.get_global_info()["core:sample_rate"], read.get_annotations()
    assert 4 * 16e3 < rate < 6 * 16e3  # a fifth of it is the emission
    assert read.get_captures()[0]["core:frequency"] == pytest.approx(FREQ + 50e3, abs=1e3)
    assert (note["core:freq_lower_edge"], note["core:freq_upper_edge"]) == pytest.approx(
        (wanted["lower_hz"], wanted["upper_hz"]), abs=0.2
    )
    samples = read.read_samples()
    assert len(samples) / rate == pytest.approx(1.5, abs=0.02)
    spectrum = np.fft.fftshift(np.abs(np.fft.fft(samples)) ** 2)
    f = np.linspace(-rate / 2, rate / 2, len(samples))
    assert spectrum[np.abs(f) < 8e3].sum() > 0.99 * spectrum.sum()  # the other one is not in it


def test_one_emission_is_labelled_on_its_own_and_fitted(heard):
    service, stream = heard
    emissions = service.get(f"/v1/streams/{stream}/emissions").json()["emissions"]
    for emission, name in zip(emissions, ("one", "two"), strict=True):
        for start in (150_000, 250_000, 350_000):
            body = {"stream": stream, "emission": emission["emission"], "label": name}
            label = service.post("/v1/labels", json=body | {"start": start, "end": start + 100_000})
            assert label.status_code == 201, label.text
            assert label.json()["emission"] == emission["emission"]
            assert label.json()["rate_hz"] < 120e3
            assert label.json()["upper_hz"] == pytest.approx(emission["bandwidth_hz"] / 2, abs=1)
    fitted = service.post("/v1/heads/mine/fit", json={})
    assert fitted.status_code == 200, fitted.text
    assert fitted.json()["labels"] == {"one": 3, "two": 3}


@pytest.mark.parametrize("path", ["/v1/labels", "/v1/streams/STREAM/recordings"])
def test_an_emission_that_is_not_there_is_not_found(heard, path):
    service, stream = heard
    body = {"emission": "nobody"} | ({"stream": stream, "label": "x"} if "labels" in path else {})
    answer = service.post(path.replace("STREAM", stream), json=body)
    assert (answer.status_code, answer.json()["detail"]) == (404, f"stream {stream} has no emission nobody")


def boxes_of(frame):
    """The boxes at the end of a frame, read as its description says."""
    bins, points = struct.unpack_from("<HH", frame, 4)
    assert frame[:4] == b"WTS2"
    at = 56 + 4 * bins + 8 * points
    length = struct.unpack_from("<I", frame, at)[0]
    size = at + (4 + length + 7) // 8 * 8
    return json.loads(frame[at + 4 : at + 4 + length]), size


def test_frames_of_the_spectrum_hold_the_boxes_of_their_emissions(tmp_path, model):
    source = write(tmp_path, band(6.0))
    with serving(tmp_path / "data", model, "--allow-folders", str(tmp_path)) as service:
        stream = service.stream(f"file:{source}?pace=realtime")
        url = f"ws{service.base[4:]}/v1/streams/{stream}/spectrum?rate=20&bins=64&points=16&boxes=true"
        found = {}
        with connect(url) as socket:
            while len(found) < 2:
                shown, size = boxes_of(frame := socket.recv(timeout=within(20)))
                assert size == len(frame)
                found |= {box["emission"]: box for box in shown}
        for box in found.values():
            of_truth(
                box
                | {
                    "centre_hz": (box["lower_hz"] + box["upper_hz"]) / 2,
                    "bandwidth_hz": box["upper_hz"] - box["lower_hz"],
                }
            )
        service.until(f"/v1/streams/{stream}/emissions", lambda page: len(page["emissions"]) == 2)
        query = {"start": 0, "end": 400_000, "count": 20, "bins": 64, "boxes": True}
        rows = service.get(f"/v1/streams/{stream}/spectrum", params=query).content
    counts = []
    while rows:
        shown, size = boxes_of(rows)
        counts.append(len(shown))
        rows = rows[size:]
    assert counts[0] == 0  # nothing was sent before half a second
    assert counts[-1] == 2
