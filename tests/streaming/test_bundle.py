"""A bundle comes back as it was saved, and every damaged or foreign file gets one clear line."""

import hashlib
import json
import pickle
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save_file

from streaming.band.frontend import BandSettings
from streaming.bundle import MAX_BYTES, Bundle, encoder_sha256, load_bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from streaming.errors import BundleError, InputError
from streaming.level import LevelSettings
from streaming.shape import EncoderShape, StridedStage
from tests.models import tiny_head, tiny_projection
from tests.streaming.reference import error

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)


@pytest.fixture
def bundle():
    """A small model with one head."""
    encoder = Encoder(SHAPE, seed=3)
    return Bundle(
        encoder,
        {"a": tiny_head(encoder, name="a")},
        Meta(LevelSettings(agc_samples=100)),
        "m",
    )


@pytest.fixture
def path(bundle, tmp_path):
    """It, in a file."""
    bundle.save(tmp_path / "m.safetensors")
    return tmp_path / "m.safetensors"


@pytest.fixture
def strided():
    """A small model whose encoder has maps, stages and deviations."""
    stages = (StridedStage(3, 8, 4),)
    encoder = Encoder(replace(SHAPE, maps=("level", "increment"), stages=stages, pooling="mean+deviation"))
    return Bundle(encoder, meta=Meta(LevelSettings(agc_samples=100)), name="m")


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
    assert error(loaded.encoder.encode(x), embeddings) < 1e-6
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
    path.write_bytes(raw.replace(b'agc_samples\\":100.0', b'agc_samples\\":900.0'))
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
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    more = (int.from_bytes(begins, "little") - length) % 256 ** len(begins)
    header = raw[8 : 8 + length] + b" " * more
    path.write_bytes(struct.pack("<Q", len(header)) + header + raw[8 + length :])
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
    rewrite(path, lambda description: description.update(format=version))
    assert f"format {version} and this wavetell reads format 2" in error_of(path)


def test_a_strided_encoder_comes_back_as_it_was_saved(strided, tmp_path):
    strided.save(tmp_path / "m.safetensors")
    loaded = load_bundle(tmp_path / "m.safetensors")
    assert loaded.sha256 == strided.sha256
    assert loaded.encoder.shape == strided.encoder.shape
    x = np.random.default_rng(0).standard_normal((7, 60)).astype(np.float32).view(np.complex64)
    assert error(loaded.encoder.encode(x), strided.encoder.encode(x)) < 1e-6


def test_a_live_head_whose_hop_is_no_multiple_of_the_stride_is_refused(strided, tmp_path):
    head = replace(tiny_head(strided.encoder, name="a"), window=30, hop=10, mode="live")
    replace(strided, heads={"a": head}).save(tmp_path / "m.safetensors")
    expected = "head a has hop 10; it must be a multiple of the encoder's stride, 4"
    assert expected in error_of(tmp_path / "m.safetensors")


def test_a_head_of_another_encoder_is_refused(bundle, tmp_path):
    other = replace(bundle.heads["a"], encoder_sha256=encoder_sha256(Encoder(SHAPE, seed=4)))
    Bundle(bundle.encoder, {"a": other}, bundle.meta).save(tmp_path / "x.safetensors")
    assert "head a was fitted for another encoder" in error_of(tmp_path / "x.safetensors")


def test_a_head_for_other_embeddings_is_refused(bundle, tmp_path):
    head = replace(bundle.heads["a"], mode="live")
    banded = replace(bundle, meta=Meta(BandSettings()), projection=tiny_projection())
    replace(banded, heads={"a": head}).save(tmp_path / "x.safetensors")
    made = SHAPE.outputs + 4 + 1  # the projection's outputs, and the odds of an outlier
    expected = f"takes embeddings of {SHAPE.outputs} entries and this wavetell makes {made}"
    assert expected in error_of(tmp_path / "x.safetensors")
    banded.save(tmp_path / "y.safetensors")  # frames have no front end
    projection = load_bundle(tmp_path / "y.safetensors").projection
    for name, array in tiny_projection().arrays().items():
        np.testing.assert_array_equal(projection.arrays()[name], array)


def test_a_projection_for_other_features_is_refused(bundle, tmp_path):
    fitting = tiny_projection()
    with pytest.raises(InputError, match="features; this wavetell makes"):
        replace(fitting, mean=fitting.mean[1:])
    with pytest.raises(InputError, match="do not fit each other"):
        replace(fitting, layer_2=fitting.layer_2[1:])


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("meta", [1], "the description lacks encoder, heads, meta or sha256"),
        ("meta.front_end", [1], "meta.front_end.kind is None; it must be level or band"),
        ("meta.front_end.kind", "radio", "meta.front_end.kind is 'radio'; it must be level or band"),
        ("meta.front_end.agc_samples", 0, "meta.front_end.agc_samples is 0; it must be a number of at least"),
        ("meta.front_end.agc_samples", 1e12, "agc_samples is 1000000000000.0; it must be at most 1000000000"),
        ("meta.front_end.agc_samples", float("inf"), "the description has a number that is not finite"),
        ("meta.front_end.agc_samples", float("nan"), "the description has a number that is not finite"),
        ("meta.front_end.agc_samples", True, "agc_samples is True; it must be a number of at least 1"),
        ("meta.front_end.other", 1, "meta.front_end has an entry 'other'; it may have kind, agc_samples"),
        ("meta.other", 1, "meta has an entry 'other'"),
        ("meta.provenance", "x", "meta.provenance is 'x'; it must be an object"),
        ("meta.provenance.command", "\ud800", "command is '\\ud800'; it must be a text of at most 1,000"),
        ("meta.provenance.command", "a\nb", "must be a text of at most 1,000 printable characters"),
        ("meta.provenance.command", "x" * 1001, "must be a text of at most 1,000 printable characters"),
        ("meta.provenance.federation", {"run": "r", "rounds": 10**30, "seed": 0}, "rounds is 1000000"),
        ("meta.provenance.federation", {"run": "r"}, "meta.provenance.federation lacks rounds"),
        ("meta.evaluation", [], "meta.evaluation is a list; it must be an object"),
        ("meta.evaluation", {"model": {"by_snr": [{"snr_db": 1, "accuracy": 2}]}}, "accuracy is 2; it must"),
        ("meta.evaluation", {"\udc80": {"by_snr": []}}, "a name in meta.evaluation is '\\udc80'"),
        ("meta.fitted", {"a": {"base": "", "labels": {"A": -1}, "made": ""}}, "labels.A is -1; it must be"),
        ("encoder.channels", 2**31, "encoder.channels is 2147483648; it must be at most 4096"),
        ("encoder.channels", 4096, "encoder tensor"),
        ("encoder.maps", ["iq", "iq"], "encoder.maps names one of them twice"),
        ("encoder.maps", "iq", "encoder.maps is 'iq'; it must be a list of at most 1,000 entries"),
        (
            "encoder.maps",
            ["level"],
            "encoder tensor blocks.0.conv1.v has shape (4, 2, 3); expected (4, 1, 3)",
        ),
        ("encoder.stages", [{"channels": 2}], "encoder.stages[0] lacks kernel"),
        ("encoder.stages", [{"channels": 2, "kernel": 8, "stride": 0}], "stages[0].stride is 0; it must"),
        (
            "encoder.stages",
            [{"channels": 2, "kernel": 4, "stride": 4}],
            "encoder tensor stages.0.bias has shape",
        ),
        ("encoder.kernel", 64, "encoder tensor blocks.0.conv1.v has shape"),
        ("encoder.depth", "2", "encoder.depth is '2'; it must be a whole number of at least 1"),
        ("heads.a", [], "head a is a list; it must be an object"),
        ("heads.a.name", "b", "head a calls itself b"),
        ("heads.a.hop", True, "head.hop is True; it must be a whole number of at least 1"),
        ("heads.a.gamma", 1e10, "head.gamma is 10000000000.0; it must be at most 1000000000"),
        ("heads.a.classes", "ABC", "head.classes is 'ABC'; it must be a list"),
        ("heads.a.outlier_limit", "x", "head.outlier_limit is 'x'"),
        ("sha256.encoder", 1, "part encoder does not match its sha256"),
    ],
)
def test_a_description_with_a_wrong_value_is_refused(path, place, value, message):
    def change(description):
        *parents, last = place.split(".")
        for name in parents:
            description = description[name]
        description[last] = value

    rewrite(path, change)
    assert message in error_of(path)
    error_of(path).encode()


def rewrite(path, change):
    """Change the description and its sha256, as a hand that makes a bundle of its own would."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    description = json.loads(header["__metadata__"]["wavetell"])
    del description["description_sha256"]
    change(description)
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    description["description_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    header["__metadata__"]["wavetell"] = json.dumps(description)
    written = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + raw[8 + length :])


def test_weights_that_no_training_gives_are_refused(bundle, path):
    weights = bundle.encoder.blocks[0].conv1
    weights.v.data[1] = 0
    bundle.save(path)
    assert "direction of length zero" in error_of(path)
    weights.v.data[1] = 1e10
    bundle.save(path)
    assert "tensor encoder/blocks.0.conv1.v has values that are not finite or beyond 1e+09" in error_of(path)


def test_values_that_are_not_finite_are_refused(bundle, tmp_path):
    next(iter(bundle.encoder.parameters())).data[0] = float("nan")
    bundle.save(tmp_path / "x.safetensors")
    assert "not finite" in error_of(tmp_path / "x.safetensors")


def test_an_unknown_name_says_what_there_is():
    assert "there is no model 'nonsense'" in error_of("nonsense")
