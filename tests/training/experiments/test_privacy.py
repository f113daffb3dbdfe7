"""The table of accuracy against epsilon, in small."""

import numpy as np

from training.experiments.privacy import RECIPE, Crowd, measure


def test_more_privacy_has_more_noise_and_the_first_row_is_untrained():
    rows = measure(Crowd(stations=3, frames=8), 1e-5, lambda text: None, (8.0, 1.0))
    assert [row["epsilon"] for row in rows] == [0.0, 8.0, 1.0]
    assert rows[1]["noise"] < rows[2]["noise"]
    assert rows[1]["spent"] <= 8.0
    assert rows[2]["spent"] <= 1.0
    assert all(0 <= row["accuracy"] <= 100 for row in rows)


def test_every_station_learns_from_frames_of_its_own():
    crowd = Crowd(stations=5, frames=8)
    from training.federation.station.learner import make_manifest

    _, start = make_manifest("privacy", RECIPE, 0)
    moved = [np.concatenate([a.ravel() for a in update.values()]) for update in crowd.updates(start, 1)]
    assert len(moved) == 5
    assert not np.allclose(moved[0], moved[4])  # the same client's mixture, another station
