"""Whose frames an experiment takes."""

import numpy as np
import pytest

from streaming.errors import ConfigError
from tests.training.experiments.sets import write_deepsig, write_migou
from training.datasets.augment import at_level
from training.datasets.partition import PAPER_CLUSTERS
from training.datasets.synthetic import paper_clients
from training.experiments.cases import Case, capped, open_case
from training.experiments.scale import SCALES
from training.pretraining.rounds import unlabelled_frames

SMOKE = SCALES["smoke"]


def rows(frames):
    """Frames as something that can be compared."""
    return {frame.tobytes() for frame in frames.iq}


def test_synthetic_clients_have_the_papers_classes_and_no_frame_in_common(tmp_path):
    opened = open_case(Case(), SMOKE, 0, tmp_path)
    shares = [client.labelled.counts() / len(client.labelled) for client in opened.clients]
    expected = np.array([(6, 6, 1, 1), (1, 6, 6, 1), (1, 1, 6, 6), (6, 1, 1, 6)]) / 14
    np.testing.assert_allclose(shares, expected)
    for client, test in zip(opened.clients, opened.tests, strict=True):
        parts = [rows(f) for f in (client.unlabelled, client.labelled, client.validation, test)]
        assert len(set.union(*parts)) == sum(len(part) for part in parts)
        assert set(client.unlabelled.label) == {-1}
    other = open_case(Case(), SMOKE, 1, tmp_path)
    assert not rows(opened.tests[0]) & rows(other.tests[0])


def test_unlabelled_frames_are_those_of_wavetell_pretrain(tmp_path):
    opened = open_case(Case(), SMOKE, 5, tmp_path)
    client = paper_clients(unlabelled=70)[2]
    expected = unlabelled_frames(client, 2, 5, "rms")
    assert (at_level(opened.clients[2].unlabelled.iq, "rms") == expected).all()


def test_unlabelled_frames_do_not_depend_on_the_number_of_labels(tmp_path):
    few, many = (open_case(Case(labels=n), SMOKE, 0, tmp_path).clients[0] for n in (2_800, 14_000))
    assert (few.unlabelled.iq == many.unlabelled.iq).all()
    assert len(many.labelled) == 5 * len(few.labelled)


def test_clients_of_migou_share_no_frame_and_have_a_dirichlets_classes(tmp_path):
    write_migou(tmp_path)
    opened = open_case(Case("migou", alpha=0.1), SMOKE, 0, tmp_path)
    parts = [rows(c.unlabelled) | rows(c.labelled) | rows(c.validation) for c in opened.clients]
    parts += [rows(test) for test in opened.tests]
    assert len(set.union(*parts)) == sum(len(part) for part in parts)
    shares = np.array([c.labelled.counts() / len(c.labelled) for c in opened.clients])
    assert shares.max() > 0.25  # very uneven: eleven classes
    assert opened.clients[0].labelled.iq.shape[1] == 128


def test_sixteen_clients_in_five_clusters(tmp_path):
    write_migou(tmp_path)
    opened = open_case(Case("migou", alpha=0.5, clusters=PAPER_CLUSTERS), SMOKE, 0, tmp_path)
    assert 12 <= len(opened.clients) <= 16  # one with hardly a frame is left out
    assert len(opened.tests) == len(opened.clients)


def test_a_fifth_of_deepsig_has_labels(tmp_path):
    write_deepsig(tmp_path)
    opened = open_case(Case("deepsig", alpha=1.0), SMOKE, 0, tmp_path)
    for client, test in zip(opened.clients, opened.tests, strict=True):
        total = len(client.unlabelled) + len(client.labelled) + len(client.validation) + len(test)
        assert len(client.labelled) == round(0.2 * total)


def test_cells_of_a_set_are_cut_at_what_the_paper_asks_for():
    label, snr = np.repeat([0, 1], 6), np.tile([0.0, 2.0], 6).astype(np.float32)
    kept = capped(np.arange(12), label, snr, 2)
    assert sorted(zip(label[kept], snr[kept], strict=True)) == [
        (0, 0), (0, 0), (0, 2), (0, 2), (1, 0), (1, 0), (1, 2), (1, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["migou", "deepsig"])
def test_a_missing_set_is_named_with_its_place(name, tmp_path):
    with pytest.raises(ConfigError, match=r"put (migou_dataset.*pkl|GOLD_XYZ.*hdf5) into "):
        open_case(Case(name), SMOKE, 0, tmp_path)
