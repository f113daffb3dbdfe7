"""Stations are federated as clients are: the same bits for any number of workers, stopped or not."""

from dataclasses import replace

import pytest

from streaming.shape import EncoderShape
from training.pretraining.checkpoint import load_checkpoint
from training.pretraining.radio import STATIONS
from training.pretraining.recipes import RECIPES
from training.pretraining.rounds import federate, finished, open_run

SMALL = EncoderShape(channels=4, depth=2, reduced=6, outputs=6, pooling="mean")
RECIPE = replace(RECIPES["radio"], shape=SMALL, rounds=2, steps=2, batch=4)
PAIR = [replace(station, frames=8, samples=256) for station in STATIONS[:2]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    run = open_run(tmp_path_factory.mktemp("whole"), RECIPE, PAIR, 3, resume=False)
    federate(run, workers=1)
    return run


def test_a_run_that_stopped_between_rounds_ends_with_the_same_bits(whole, tmp_path):
    class StoppedError(Exception):
        pass

    def stop(run):
        raise StoppedError

    with pytest.raises(StoppedError):
        federate(open_run(tmp_path, RECIPE, PAIR, 3, resume=False), workers=2, after_round=stop)
    run = open_run(tmp_path, RECIPE, PAIR, 3, resume=True)
    federate(run, workers=2)
    assert run.round == 2
    assert run.arrays.keys() == whole.arrays.keys()
    assert all(run.arrays[name].tobytes() == whole.arrays[name].tobytes() for name in run.arrays)


def test_the_frames_stay_with_the_run_and_the_outputs_are_set_from_them(whole):
    assert sorted(path.name for path in whole.folder.glob("*-frames.npy")) == [
        "ism-frames.npy",
        "links-frames.npy",
    ]
    trained = load_checkpoint(whole.path)[0]["encoder.linear.weight"]
    encoder = finished(whole, frames=8)
    assert encoder.linear.weight.shape == trained.shape
    assert not (encoder.linear.weight.detach().numpy() == trained).all()
