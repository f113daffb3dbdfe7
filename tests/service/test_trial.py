"""A model is proven before it is listed: one that fails is refused in one line, and nothing of it stays."""

import hashlib
import json
import struct
from dataclasses import replace

import httpx
import numpy as np
import pytest
import torch

from service.models import trial
from service.models.store import ModelStore
from streaming.bundle import encoder_sha256, parse_bundle
from streaming.errors import BundleError
from tests.service.conftest import level_bundle, serving, small_bundle


@pytest.fixture(scope="module")
def own(tmp_path_factory, level_model):
    with serving(tmp_path_factory.mktemp("own") / "data", level_model) as running:
        yield running


def raw_of(bundle, folder):
    bundle.save(folder / "made.safetensors")
    return (folder / "made.safetensors").read_bytes()


def put(service, name, raw):
    with httpx.Client(base_url=service.base, timeout=200) as http:
        return http.put(f"/v1/models/{name}", content=raw)


def described(raw, change):
    """The bundle with another description, whose hashes fit."""
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    description = json.loads(header["__metadata__"]["wavetell"])
    del description["description_sha256"]
    change(description)
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    description["description_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    header["__metadata__"]["wavetell"] = json.dumps(description)
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + raw[8 + length :]


def set_in(*path, value):
    def change(description):
        place = description
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value

    return change


DESCRIPTIONS = {
    "a lone surrogate": set_in("meta", "provenance", "command", value="\ud800"),
    "an infinite number": set_in("meta", "front_end", "agc_samples", value=float("inf")),
    "a number beyond floats": set_in("meta", "front_end", "agc_samples", value=10**400),
    "a list for the provenance": set_in("meta", "provenance", value=[1]),
    "a text for what was fitted": set_in("meta", "fitted", value="x"),
    "a number for the evaluation": set_in("meta", "evaluation", value=7),
    "nothing for the front end": set_in("meta", "front_end", value=None),
    "a hop that is true": set_in("heads", "live", "hop", value=True),
    "a hop of 2^40": set_in("heads", "live", "hop", value=2**40),
    "2^31 channels": set_in("encoder", "channels", value=2**31),
    "a depth of a hundred": set_in("encoder", "depth", value=100),
    "a class with a control character": set_in("heads", "live", "classes", value=["A", "B", "\u0007"]),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_that_cannot_be_is_refused_and_leaves_nothing(own, tmp_path, name):
    answer = put(own, "described", described(raw_of(level_bundle(), tmp_path), DESCRIPTIONS[name]))
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]
    assert_unharmed(own)


def assert_unharmed(service):
    for path in ("/v1/models", "/metrics", "/v1/streams"):
        assert service.get(path).status_code == 200
    assert service.get("/v1/models").json()["broken"] == []
    kept = {"fitted", "activations.json"}
    stored = [path.name for path in (service.data / "models").iterdir() if path.name not in kept]
    assert stored == []


def loud(bundle):
    """Weights that are finite, below every limit, and overflow when they are used."""
    with torch.no_grad():
        for parameter in bundle.encoder.parameters():
            parameter.mul_(1e8)
    return same_heads(bundle)


def same_heads(bundle):
    """The heads of an encoder that was changed, tied to it again."""
    sha256 = encoder_sha256(bundle.encoder)
    heads = {name: replace(head, encoder_sha256=sha256) for name, head in bundle.heads.items()}
    return replace(bundle, heads=heads)


@pytest.mark.parametrize("make", [level_bundle, small_bundle])
def test_weights_that_overflow_are_found_by_trying(own, tmp_path, make):
    raw = raw_of(loud(make()), tmp_path)
    parse_bundle(raw, "loud")  # it reads without complaint
    answer = put(own, "loud", raw)
    assert answer.status_code == 422
    assert "the model was tried: " in answer.json()["detail"]
    assert "not finite" in answer.json()["detail"]
    assert_unharmed(own)


def test_a_head_that_never_answers_is_found_by_trying(own, tmp_path):
    bundle = level_bundle()
    heads = {"live": replace(bundle.heads["live"], window=2**24, hop=2**24)}
    answer = put(own, "silent", raw_of(replace(bundle, heads=heads), tmp_path))
    assert answer.status_code == 422
    assert "head live gives no answer to the reference signal" in answer.json()["detail"]
    assert_unharmed(own)


def test_a_model_that_takes_too_long_or_too_much_is_refused(tmp_path, monkeypatch, level_model):
    monkeypatch.setattr(trial, "LIMIT_S", 0.01)
    with pytest.raises(BundleError, match=r"did not answer within 0.01 s"):
        trial.try_model(level_model)
    store = ModelStore(tmp_path / "models", "radio")
    with pytest.raises(BundleError):
        store.add("slow", level_model.read_bytes())
    assert [path.name for path in store.folder.iterdir()] == ["fitted"]


@pytest.mark.parametrize("make", [level_bundle, small_bundle])
def test_a_sound_model_is_listed_put_to_use_and_deleted_after(own, tmp_path, make):
    name = make.__name__
    assert put(own, name, raw_of(make(name, seed=5), tmp_path)).status_code == 201
    assert own.post(f"/v1/models/{name}/activate").json() == {"active": name}
    assert own.http.delete(f"/v1/models/{name}").status_code == 409
    own.post("/v1/models/rollback")
    assert own.http.delete(f"/v1/models/{name}").status_code == 204
    assert own.http.delete(f"/v1/models/{name}").status_code == 404
    assert_unharmed(own)


def test_the_reference_signal_is_fm_at_30_db():
    signal = trial.reference(64_000)
    fm = np.exp(8j * np.sin(2 * np.pi * np.arange(64_000) / 64))
    noise = signal - fm
    assert 10 * np.log10(1 / np.mean(np.abs(noise) ** 2)) == pytest.approx(30, abs=0.1)


def test_a_model_that_was_damaged_is_listed_as_broken_and_rolled_back_over(own, tmp_path):
    for name in ("one", "two"):
        assert put(own, name, raw_of(level_bundle(name, seed=7), tmp_path)).status_code == 201
        assert own.post(f"/v1/models/{name}/activate").status_code == 200
    (own.data / "models" / "one.safetensors").write_bytes(b"no model")
    listed = own.get("/v1/models").json()
    assert [entry["id"] for entry in listed["broken"]] == ["one"]
    assert "two" in [model["name"] for model in listed["models"]]
    assert own.post("/v1/models/one/activate").status_code == 422
    first = listed["activations"][0]
    assert own.post("/v1/models/rollback").json() == {"active": first}
    assert own.get("/v1/models").json()["activations"] == [first]
    for name in ("one", "two"):
        assert own.http.delete(f"/v1/models/{name}").status_code == 204
    assert_unharmed(own)
