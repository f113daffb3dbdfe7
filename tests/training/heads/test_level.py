"""Heads of frames that see the frame's level, from the fit to the bundle and the pipeline."""

import json
from dataclasses import replace

import numpy as np
import pytest

from service.cli import main
from streaming.agc import log_rms, normalise
from streaming.block import Block
from streaming.bundle import Bundle, encoder_sha256, load_bundle
from streaming.encoder import Encoder
from streaming.errors import InputError
from streaming.pipeline import FramePipeline
from streaming.shape import EncoderShape
from training.datasets.synthetic import Signal, make_frames
from training.evaluation.cumulants import cumulants, cumulants_and_level
from training.heads.embed import embed_frames
from training.heads.fit import Identity, fit_head

SHAPE = EncoderShape(channels=6, depth=3, reduced=8, outputs=10, pooling="mean")
ENCODER = Encoder(SHAPE, seed=1)
LOUD = np.where(np.arange(120) % 2, 3.0, 1.0).astype(np.float32)
STILL = Signal(samples=50, snr_db=(10.0, 10.0), rayleigh=0.0)
FRAMES = make_frames(STILL, (120, 0, 0, 0), seed=1).iq * LOUD[:, None]  # alike but for the level
LABELS = np.arange(120) % 2


def fitted(level):
    identity = Identity("loud", ("quiet", "loud"), "frame", 50, 50, encoder_sha256(ENCODER), level)
    return fit_head(embed_frames(ENCODER, FRAMES, level=level), LABELS, identity)


def test_the_level_is_the_logarithm_of_the_rms():
    expected = np.log(np.sqrt(np.mean(np.abs(FRAMES) ** 2, axis=1)))
    assert log_rms(FRAMES)[:, 0] == pytest.approx(expected, abs=1e-6)
    assert np.isfinite(log_rms(np.zeros((1, 8), np.complex64))).all()


def test_only_a_head_that_sees_the_level_tells_loud_from_quiet():
    assert fitted(True).validation > 0.98
    assert fitted(False).validation < 0.7


def test_a_bundle_carries_the_setting_and_the_pipeline_follows_it(tmp_path):
    Bundle(ENCODER, {"loud": fitted(True).head}).save(tmp_path / "loud.safetensors")
    bundle = load_bundle(tmp_path / "loud.safetensors")
    head = bundle.heads["loud"]
    assert head.level
    rows = np.column_stack([ENCODER.encode(normalise(FRAMES)), log_rms(FRAMES)])
    found = FramePipeline(bundle, head).push(Block(FRAMES.ravel(), 0, 1000.0, None, utc_ns=0))
    np.testing.assert_allclose([p.probabilities for p in found], head.probabilities(rows), atol=1e-6)


def test_a_head_without_the_setting_is_stored_as_before():
    assert "level" not in fitted(False).head.meta()


def test_a_stream_has_no_frame_whose_level_a_head_could_see():
    with pytest.raises(InputError, match="only frames have one"):
        replace(fitted(True).head, mode="live")


def test_cumulants_with_the_level_are_those_without_and_one_more():
    found = cumulants_and_level(FRAMES)
    np.testing.assert_array_equal(found[:, :17], cumulants(FRAMES))
    np.testing.assert_array_equal(found[:, 17:], log_rms(FRAMES))


def test_the_commands_fit_and_judge_heads_that_see_the_level(tmp_path, capsys):
    encoder, model = tmp_path / "encoder.safetensors", tmp_path / "model.safetensors"
    Bundle(ENCODER).save(encoder)
    assert main(["fit", str(encoder), "--labels", "140", "--level", "--out", str(model)]) == 0
    assert all(head.level for head in load_bundle(model).heads.values())
    command = ["evaluate", str(model), "--test", "28", "--labels", "140", "--limit", "14", "--json"]
    capsys.readouterr()
    assert main(command) == 0
    assert "cumulants and level" in json.loads(capsys.readouterr().out)["rows"]
    assert main(["fit", str(encoder), "--level", "--live", "200", "--out", str(model)]) == 2
    assert "--level is for frames" in capsys.readouterr().err
