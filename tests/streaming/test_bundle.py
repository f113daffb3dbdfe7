"""A bundle comes back as it was saved, and every damaged or foreign file gets one clear line."""

import json
import pickle
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from streaming.bundle import MAX_BYTES, Bundle, encoder_sha256, load_bundle
from streaming.encoder import Encoder, EncoderShape
from streaming.errors import BundleError
from streaming.features import COUNT
from tests.models import tiny_head

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)


@pytest.fixture
def bundle():
    """A small model with one head."""
    encoder = Encoder(SHAPE, seed=3)
    return Bundle(
        encoder,
        {"a": tiny_head(encoder, name="a")},
        {"frontend": {"agc_samples": 100}, "provenance": {}},
        "m",
    )


@pytest.fixture
def path(bundle, tmp_path):
    """It, in a file."""
    bundle.save(tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


def error_of(path):
    """The one line that loading gives."""
    with pytest.raises(BundleError) as caught:
        load_bundle(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_bundle_comes_back_as_it_was_saved(bundle, path):
    loaded = load_bundle(path)
    assert loaded.sha256 == bundle.sha256
    assert loaded.meta == bundle.meta
    x = np.random.default_rng(0).standard_normal((7, 60)).astype(np.float32).view(np.complex64)
    embeddings = bundle.encoder.encode(x)
    assert (loaded.encoder.encode(x) == embeddings).all()
    assert (loaded.heads["a"].decide(embeddings) == bundle.heads["a"].decide(embeddings)).all()


def test_the_same_bundle_gives_the_same_bytes(bundle, path, tmp_path):
    bundle.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_every_truncation_is_found(path):
    raw = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(raw) // 2, len(raw) - 1]:
        path.write_bytes(raw[:length])
        message = error_of(path)
        assert "truncated" in message or "not a wavetell bundle" in message, (length, message)


def test_every_changed_byte_is_found(path):
    raw = bytearray(path.read_bytes())
    for place in np.random.default_rng(1).integers(0, len(raw), 300):
        changed = raw.copy()
        changed[place] ^= 0x04
        path.write_bytes(changed)
        assert error_of(path)


def test_an_altered_setting_is_found(path):
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'agc_samples\\":100', b'agc_samples\\":900'))
    assert "the description does not match its sha256" in error_of(path)


def test_a_pickle_is_refused_and_never_run(path, tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    path.write_bytes(pickle.dumps(Evil()))
    assert "never unpickles" in error_of(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Evil()))
    assert "never unpickles" in error_of(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("begins", [b"\x80", b"PK"])
def test_a_bundle_whose_length_looks_like_a_pickle_or_a_zip_is_read(bundle, path, begins):
    bundle.meta["provenance"]["note"] = ""
    bundle.save(path)
    length = int.from_bytes(path.read_bytes()[:8], "little")
    more = (int.from_bytes(begins, "little") - length) % 256 ** len(begins)
    bundle.meta["provenance"]["note"] = "x" * more
    bundle.save(path)
    assert path.read_bytes().startswith(begins)
    assert load_bundle(path).sha256 == bundle.sha256


def test_a_foreign_safetensors_file_is_named(path):
    save_file({"weight": np.zeros(3, np.float32)}, path)
    assert "no wavetell description" in error_of(path)


def test_a_file_that_is_too_large_is_refused_unread(path):
    with path.open("r+b") as file:
        file.truncate(MAX_BYTES + 1)
    assert "at most" in error_of(path)


def test_a_header_that_claims_too_much_is_refused(path):
    path.write_bytes(struct.pack("<Q", 2**60) + b"{}")
    assert "not a wavetell bundle" in error_of(path)


@pytest.mark.parametrize("version", [1, 3])
def test_an_older_or_newer_format_is_named(bundle, path, version):
    header_length = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + header_length])
    description = json.loads(header["__metadata__"]["wavetell"])
    description["format"] = version
    header["__metadata__"]["wavetell"] = json.dumps(description)
    raw = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + path.read_bytes()[8 + header_length :])
    assert f"format {version} and this wavetell reads format 2" in error_of(path)


def test_a_head_of_another_encoder_is_refused(bundle, tmp_path):
    other = replace(bundle.heads["a"], encoder_sha256=encoder_sha256(Encoder(SHAPE, seed=4)))
    Bundle(bundle.encoder, {"a": other}, bundle.meta).save(tmp_path / "x.safetensors")
    assert "head a was fitted for another encoder" in error_of(tmp_path / "x.safetensors")


def test_a_head_for_other_embeddings_is_refused(bundle, tmp_path):
    head = replace(bundle.heads["a"], mode="live")
    meta = {"frontend": {"agc_samples": 100, "features": True}}
    Bundle(bundle.encoder, {"a": head}, meta).save(tmp_path / "x.safetensors")
    expected = f"takes embeddings of {SHAPE.outputs} entries and this wavetell makes {SHAPE.outputs + COUNT}"
    assert expected in error_of(tmp_path / "x.safetensors")
    Bundle(bundle.encoder, bundle.heads, meta).save(tmp_path / "y.safetensors")  # frames have no features
    assert load_bundle(tmp_path / "y.safetensors").has_features


def test_settings_that_are_no_object_are_refused(bundle, tmp_path):
    Bundle(bundle.encoder, bundle.heads, {"frontend": [1]}).save(tmp_path / "x.safetensors")
    assert "front end" in error_of(tmp_path / "x.safetensors")


def test_values_that_are_not_finite_are_refused(bundle, tmp_path):
    next(iter(bundle.encoder.parameters())).data[0] = float("nan")
    bundle.save(tmp_path / "x.safetensors")
    assert "not finite" in error_of(tmp_path / "x.safetensors")


def test_an_unknown_name_says_what_there_is():
    assert "there is no model 'nonsense'" in error_of("nonsense")
