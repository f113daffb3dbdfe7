"""Stations of real recordings: who hears what, how the gain is judged, and the whole once, in small."""

import csv
import json

import numpy as np
import pytest
from scipy import stats

from service.cli import main
from training.experiments.stations import gain, judging
from training.experiments.stations.dealing import Recorded, deal, read_recordings
from training.experiments.stations.judging import draw_labels
from training.signals.reception import receive
from training.signals.wide import draw

COUNTS = {"ASK": 24, "FSK": 26, "PSK": 5, "OFDM": 2, "FM": 1, "": 9}


@pytest.fixture
def recordings(tmp_path):
    sources = [(family, i) for family, count in COUNTS.items() for i in range(count)]
    return [
        Recorded(tmp_path / f"{family}{i}-{j}.cu8", f"{family}{i}", family)
        for family, i in sources
        for j in range(2)
    ]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_source_is_heard_or_unseen_at_one_station_only(recordings, seed):
    stations = deal(recordings, seed)
    places = [
        {one.source for one in part} for station in stations for part in (station.heard, station.unseen)
    ]
    assert sum(map(len, places)) == len(set().union(*places)) == sum(COUNTS.values())


def test_stations_hear_different_mixtures_and_are_asked_for_what_they_heard(recordings):
    stations = deal(recordings, 0)
    shares = [np.mean([one.family == "ASK" for one in station.heard]) for station in stations]
    assert shares == sorted(shares, reverse=True)
    assert [station.families for station in stations] == [
        ("ASK", "FSK", "PSK"),
        ("ASK", "FSK", "OFDM"),
        ("ASK", "FSK", "PSK"),
        ("ASK", "FSK"),
    ]


def test_another_seed_deals_other_sources(recordings):
    assert deal(recordings, 0) == deal(recordings, 0) != deal(recordings, 1)


def test_labels_come_from_as_many_recordings_as_there_are(recordings):
    rows = {one.path: np.full((3, 2), i, np.float32) for i, one in enumerate(recordings)}
    heard = [one for one in recordings if one.family == "OFDM"]  # 4 recordings of 3 answers
    drawn = draw_labels(rows, heard, "OFDM", 5, np.random.default_rng(1))
    assert drawn.shape == (5, 2)
    assert len(set(drawn[:4, 0])) == 4
    assert len(draw_labels(rows, heard, "OFDM", 50, np.random.default_rng(1))) == 12  # all there are


def test_the_gain_has_scipys_interval():
    rng = np.random.default_rng(3)
    points = rng.normal(4, 2, 12)
    rows = [{"encoder": {"5": {"alone": 0.5, "federated": 0.5 + p / 100}}} for p in points]
    expected = stats.ttest_1samp(points, 0).confidence_interval(0.95)
    found = gain(rows, "encoder", 5)
    assert found["gain_points"] == pytest.approx(points.mean(), abs=0.006)
    assert (found["gain_low"], found["gain_high"]) == pytest.approx(tuple(expected), abs=0.006)
    assert found["worst_station_points"] == pytest.approx(points.min(), abs=0.006)


def write_set(folder, name, column, classes, rng):
    """A set of recordings as an RTL-SDR makes them, each of a source of its own."""
    (folder / name).mkdir()
    with (folder / name / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "modulation", column])
        for number, label in enumerate(classes):
            x = receive(draw(label, rng, rate_hz=250e3, samples=1 << 15), rng, 30.0)
            scaled = x.view(np.float32) / np.abs(x).max() * 100 + 127.5
            path = folder / name / f"g{number:03d}_433.92M_250k.cu8"
            path.write_bytes(scaled.round().astype(np.uint8).tobytes())
            writer.writerow([path.name, label, f"device-{number}"])


def test_every_arm_is_judged_at_every_station(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(judging, "DRAWS", 1)
    rng = np.random.default_rng(1)
    write_set(tmp_path, "ota433", "device", ["OOK", "2FSK"] * 20, rng)
    write_set(tmp_path, "air", "source_repo", ["BPSK", "QPSK"] * 2, rng)
    assert len(read_recordings(tmp_path)) == 44
    flags = ["--scale", "smoke", "--replay", "2", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(["experiment", "stations", "--json", *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["stations"]) == 4
    for row in found["stations"]:
        assert set(row["encoder"]["5"]) == {"shipped", "alone", "federated", "pooled"}
        assert all(0 <= share <= 1 for share in row["model"]["10"].values())
        assert row["frames"] > 0
    assert found["gain_low"] <= found["gain_points"] <= found["gain_high"]
    assert main(["experiment", "stations", *flags]) == 0  # what is there is not run again
    assert "| 5, encoder alone |" in capsys.readouterr().out


def test_a_missing_set_is_named(tmp_path, capsys):
    assert main(["experiment", "stations", "--data", str(tmp_path)]) == 2
    assert "ota433" in capsys.readouterr().err
