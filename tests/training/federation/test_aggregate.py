"""Aggregation against plain numpy, and its memory."""

import resource

import numpy as np
import pytest

from tests.training.federation.support import SHAPES, a_model
from training.federation.codec import Body, encode
from training.federation.coordinator import aggregate as module
from training.federation.coordinator.aggregate import Vote, aggregate, outliers
from training.federation.manifest import Manifest
from training.pretraining.averaging import weighted_mean

MANIFEST = Manifest("main", SHAPES)


def body(tmp_path, name, arrays, precision="float32"):
    path = tmp_path / name
    path.write_bytes(encode(arrays, precision, {}))
    return Body.open(path, MANIFEST, precision)


def votes_of(tmp_path, count=5, scale=0.1):
    base = body(tmp_path, "base", a_model(99))
    deltas = [a_model(i, scale) for i in range(count)]
    votes = [
        Vote(f"s{i}", body(tmp_path, f"s{i}", delta), base, 10 * (i + 1), float(i + 1))
        for i, delta in enumerate(deltas)
    ]
    return votes, [{n: (a_model(99)[n] + d[n]).astype(np.float32) for n in d} for d in deltas]


def test_the_mean_is_the_in_process_weighted_mean_bit_for_bit(tmp_path):
    votes, models = votes_of(tmp_path)
    expected = weighted_mean({v.station: (m, v.examples) for v, m in zip(votes, models, strict=True)})
    got = aggregate(votes[::-1], MANIFEST, "mean")  # the order in which they came does not matter
    assert all(got[n].tobytes() == expected[n].tobytes() for n in expected)


@pytest.mark.parametrize("budget", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("method", ["mean", "median", "trimmed", "clipped"])
def test_how_files_are_cut_into_pieces_does_not_show(tmp_path, monkeypatch, budget, method):
    votes, _ = votes_of(tmp_path)
    whole = aggregate(votes, MANIFEST, method, 0.25)
    monkeypatch.setattr(module, "BUDGET", budget)
    cut = aggregate(votes, MANIFEST, method, 0.25)
    assert all(cut[n].tobytes() == whole[n].tobytes() for n in whole)


def test_median_and_trimmed_mean_are_numpys(tmp_path):
    votes, models = votes_of(tmp_path)
    for name in SHAPES:
        rows = np.stack([model[name] for model in models]).astype(np.float64)
        median = aggregate(votes, MANIFEST, "median")[name]
        trimmed = aggregate(votes, MANIFEST, "trimmed", 0.2)[name]
        np.testing.assert_array_equal(median, np.median(rows, axis=0).astype(np.float32))
        np.testing.assert_array_equal(trimmed, np.sort(rows, axis=0)[1:4].mean(axis=0).astype(np.float32))


def test_clipping_brings_every_norm_down_to_the_median(tmp_path):
    base, delta = body(tmp_path, "base", a_model(99)), a_model(1, 0.1)
    votes = [
        Vote(f"s{k}", body(tmp_path, f"s{k}", {n: k * d for n, d in delta.items()}), base, 1, float(k))
        for k in (1, 2, 100)
    ]
    got = aggregate(votes, MANIFEST, "clipped")
    for name, d in delta.items():
        np.testing.assert_allclose(got[name], a_model(99)[name] + (1 + 2 + 2) / 3 * d, rtol=1e-5, atol=1e-6)


def test_each_station_counts_from_its_own_base(tmp_path):
    bases = [body(tmp_path, f"base{i}", a_model(i)) for i in range(2)]
    votes = [Vote(f"s{i}", body(tmp_path, f"s{i}", a_model(9), "int8"), bases[i], 1, 1.0) for i in range(2)]
    got, delta = aggregate(votes, MANIFEST, "mean"), votes[0].body.arrays()
    for name in SHAPES:
        np.testing.assert_allclose(
            got[name], (a_model(0)[name] + a_model(1)[name]) / 2 + delta[name], rtol=1e-5, atol=1e-6
        )


def test_a_norm_far_beyond_the_others_is_refused_with_the_reason(tmp_path):
    votes, _ = votes_of(tmp_path)
    assert outliers(votes, 5.0) == {}
    odd = [*votes, Vote("x", votes[0].body, votes[0].base, 1, 99.0)]
    assert outliers(odd, 5.0).keys() == {"x"}
    assert "its norm is 99" in outliers(odd, 5.0)["x"]
    assert outliers([votes[0], odd[-1]], 5.0) == {}  # of two, neither is the outlier


def test_memory_does_not_grow_with_stations(tmp_path):
    wide = Manifest("main", {"w": (1000, 1000)})
    path = tmp_path / "wide"
    path.write_bytes(encode({"w": np.ones((1000, 1000), np.float32)}, "float32", {}))
    one = Body.open(path, wide, "float32")
    aggregate([Vote("s", one, one, 1, 1.0)] * 4, wide, "median")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    aggregate([Vote(f"s{i}", one, one, 1, 1.0) for i in range(60)], wide, "median")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 60, f"{grown:.0f} MB more; the updates have 240 MB"
