"""POST /v1/predict: the pipeline's answers for every form of body, and one line for what cannot be."""

import json

import numpy as np
import pytest

from service.models.predictor import Predictor
from streaming.block import Block
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from tests.service.conftest import HOP, WINDOW

RNG = np.random.default_rng(3)
SAMPLES = (RNG.standard_normal(20_000) + 1j * RNG.standard_normal(20_000)).astype(np.complex64)
META = {
    "global": {"core:datatype": "cf32_le", "core:sample_rate": 48000, "core:version": "1.0.0"},
    "captures": [{"core:sample_start": 0, "core:frequency": 433.92e6}],
    "annotations": [],
}


@pytest.fixture(scope="module")
def model(level_model):
    return level_model


@pytest.fixture(scope="module")
def service(level_service):
    return level_service


@pytest.fixture(scope="module")
def expected(model):
    bundle = load_bundle(model)
    predictor = Predictor(bundle, open_engine(bundle.encoder, HOP, "torch"), bundle.sha256)
    return predictor.predict([Block(SAMPLES, 0, 1.0)])


def test_raw_samples_are_answered_a_window_and_as_a_whole(service, expected):
    answer = service.post("/v1/predict", content=SAMPLES.tobytes()).json()
    assert answer == expected.model_dump()
    assert [w["start"] for w in answer["windows"]] == list(range(0, 20_000, WINDOW))
    assert sum(answer["whole"]["probabilities"].values()) == pytest.approx(1, abs=1e-3)
    assert {"label", "snr_db", "past"} <= answer["whole"].keys()


def test_windows_may_overlap(service):
    answer = service.post("/v1/predict?step=hop", content=SAMPLES.tobytes()).json()
    assert len(answer["windows"]) == (20_000 - WINDOW) // HOP + 1


def test_integers_are_scaled_as_their_type_says(service):
    whole = (SAMPLES.view(np.float32) * 8000).astype("<i2")
    answer = service.post("/v1/predict?datatype=ci16_le&rate_hz=48000", content=whole.tobytes()).json()
    assert len(answer["windows"]) == 20


def test_a_sigmf_recording_is_answered_with_its_rate(service, expected):
    files = {"meta": ("a.sigmf-meta", json.dumps(META)), "data": ("a.sigmf-data", SAMPLES.tobytes())}
    answer = service.post("/v1/predict", files=files).json()
    assert [w["label"] for w in answer["windows"]] == [w.label for w in expected.windows]


def test_a_few_samples_may_be_json(service, expected):
    body = {"samples": [[float(s.real), float(s.imag)] for s in SAMPLES], "rate_hz": 48000}
    answer = service.post("/v1/predict", json=body).json()
    assert [w["label"] for w in answer["windows"]] == [w.label for w in expected.windows]


def test_frames_are_answered_each_on_its_own(service):
    answer = service.post("/v1/predict?frame=100", content=SAMPLES.tobytes()).json()
    assert answer["head"] == "frames"
    assert len(answer["windows"]) == 200


@pytest.mark.parametrize(
    ("query", "more", "status", "says"),
    [
        ("", {"content": b""}, 422, "0 bytes"),
        ("", {"content": b"x"}, 422, "1 bytes"),
        ("", {"content": b"12345678"}, 422, "a window needs 1,000"),
        ("?datatype=cu7", {"content": b"12"}, 422, "datatype"),
        ("?head=nobody", {"content": SAMPLES.tobytes()}, 422, "no head 'nobody'"),
        ("?frame=1", {"content": bytes(8 * 30_000)}, 422, "at most 20,000"),
        ("?step=7", {"content": SAMPLES.tobytes()}, 422, "step"),
        ("", {"content": np.full(2000, np.nan, np.complex64).tobytes()}, 422, "NaN or infinity"),
        ("", {"content": np.full(2000, np.inf, np.complex64).tobytes()}, 422, "NaN or infinity"),
        ("", {"json": {"samples": "no"}}, 422, "samples"),
        ("", {"json": {"samples": [[1e300, 0]] * 2000}}, 422, "NaN or infinity"),
        ("", {"content": b"{", "headers": {"content-type": "application/json"}}, 422, "JSON"),
        ("", {"files": {"meta": b"{}"}}, 422, "two files"),
        ("", {"files": {"meta": b"{}", "data": b"1234"}}, 422, "SigMF"),
        ("", {"files": {"meta": json.dumps(META), "data": b"123"}}, 422, ""),
    ],
)
def test_what_cannot_be_answered_is_told_in_one_line(service, query, more, status, says):
    answer = service.post(f"/v1/predict{query}", **more)
    assert answer.status_code == status
    assert says in answer.json()["detail"]
    assert "\n" not in answer.json()["detail"]
