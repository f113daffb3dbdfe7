"""Stations that hear streams through the front end, and labelled signals as the encoder gets them."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from streaming.errors import ConfigError
from training.datasets.radio_signals import make_signals
from training.pretraining.radio import HEARD, STATIONS, Station, kept_frames, mixture, station_frames
from training.signals.conditions import Conditions

SMALL = replace(STATIONS[0], frames=6, samples=256)


@pytest.fixture(scope="module")
def frames():
    return station_frames(SMALL, seed=3)


def test_a_stations_frames_are_at_the_models_level(frames):
    assert frames.shape == (6, 256)
    assert frames.dtype == np.complex64
    power = np.square(np.abs(frames)).mean()
    assert 0.3 < power < 3  # the front end's AGC holds unit power over many samples


def test_the_same_seed_gives_the_same_frames_and_another_gives_others(frames):
    assert np.array_equal(station_frames(SMALL, seed=3), frames)
    assert not np.array_equal(station_frames(SMALL, seed=4), frames)


def test_frames_are_made_once_and_kept_in_the_runs_folder(tmp_path, frames):
    first = kept_frames(SMALL, 3, tmp_path)
    assert np.array_equal(first, frames)
    assert np.array_equal(kept_frames(SMALL, 99, tmp_path), frames)  # read back, not made again


def test_stations_hear_mostly_their_own_classes_and_a_little_of_all():
    for station in STATIONS:
        heard = Counter(mixture(station))
        assert set(heard) == set(HEARD)
        own = sum(heard[name] for name in station.own) / sum(heard.values())
        assert own > station.share
    assert len({station.own for station in STATIONS}) == len(STATIONS)


def test_a_station_of_an_unknown_class_is_refused():
    with pytest.raises(ConfigError, match="there is no class 'QSPK'"):
        Station("mine", ("QSPK",))
    with pytest.raises(ConfigError, match="station mine"):
        Station("mine", ("QPSK",), frames=0)


def test_signals_are_whole_labelled_and_repeatable():
    clear = Conditions(snr_db=(20.0, 20.0))
    signals = make_signals(("OOK", "GMSK"), (2, 3), samples=300, conditions=clear, seed=5)
    assert signals.iq.shape == (5, 300)
    assert signals.counts().tolist() == [2, 3]
    assert np.allclose(signals.snr_db, 20)
    again = make_signals(("OOK", "GMSK"), (2, 3), samples=300, conditions=clear, seed=5)
    assert np.array_equal(again.iq, signals.iq)
    envelope = np.abs(signals.iq[:, 100:])
    spread = envelope.std(1) / envelope.mean(1)
    assert spread[signals.label == 0].min() > spread[signals.label == 1].max()  # OOK is keyed, GMSK steady
