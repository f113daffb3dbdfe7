"""Bodies of the exchange, and what is refused."""

import json
import struct

import numpy as np
import pytest
from safetensors.numpy import load, save

from streaming.errors import FormatError
from tests.training.federation.support import SHAPES, a_model
from training.federation.codec import Body, encode
from training.federation.manifest import PRECISIONS, Manifest

MANIFEST = Manifest("main", SHAPES)


def opened(tmp_path, raw, precision="float32"):
    path = tmp_path / "body"
    path.write_bytes(raw)
    return Body.open(path, MANIFEST, precision)


def test_float32_comes_back_bit_for_bit_and_is_plain_safetensors(tmp_path):
    model = a_model()
    raw = encode(model, "float32", {"base": "x"})
    assert all(opened(tmp_path, raw).arrays()[n].tobytes() == a.tobytes() for n, a in model.items())
    assert all((load(raw)[n] == a).all() for n, a in model.items())
    assert opened(tmp_path, raw).meta == {"base": "x"}


@pytest.mark.parametrize(("precision", "bound"), [("float16", 2**-11), ("int8", 0.5 / 127)])
def test_rounding_is_at_most_half_a_step(tmp_path, precision, bound):
    model = a_model()
    got = opened(tmp_path, encode(model, precision, {}), precision).arrays()
    for name, array in model.items():
        assert np.abs(got[name] - array).max() <= bound * np.abs(array).max() * 1.0001


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_manifest_knows_the_size(precision):
    tensors = 179 * {"float32": 4, "float16": 2, "int8": 1}[precision] + (16 if precision == "int8" else 0)
    assert MANIFEST.tensor_bytes(precision) == tensors
    assert tensors < len(encode(a_model(), precision, {})) <= MANIFEST.body_bound(precision)


def test_zeros_and_beyond_float16_stay_finite(tmp_path):
    huge = {n: np.full(s, 1e5, np.float32) for n, s in SHAPES.items()}
    assert opened(tmp_path, encode(huge, "float16", {}), "float16").arrays()["b"].max() == 65504
    nothing = {n: np.zeros(s, np.float32) for n, s in SHAPES.items()}
    assert not opened(tmp_path, encode(nothing, "int8", {}), "int8").arrays()["a"].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e7])
@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_values_that_are_not_finite_or_absurd_are_refused(tmp_path, bad, precision):
    model = a_model()
    model["b"][7] = bad
    with np.errstate(invalid="ignore"):
        raw = save(model) if precision == "float32" else encode(model, precision, {})
    with pytest.raises(FormatError, match=r"finite|beyond"):
        opened(tmp_path, raw, precision).check_values()


def test_the_norm_is_that_of_all_tensors(tmp_path):
    model = a_model()
    norm = np.linalg.norm(np.concatenate([array.ravel() for array in model.values()]).astype(np.float64))
    assert opened(tmp_path, encode(model, "float32", {})).check_values() == pytest.approx(norm, rel=1e-12)


def changed_header(change):
    raw = encode(a_model(), "float32", {})
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + raw[8 + length :]


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.pop("a"),
        lambda h: h.update(x=h["a"]),
        lambda h: h["a"].update(shape=[40, 3]),
        lambda h: h["a"].update(dtype="F64"),
        lambda h: h["a"].update(data_offsets=[0, 10**12]),
        lambda h: h["a"].update(data_offsets=[-8, 472]),
        lambda h: h["a"].update(data_offsets=[0.0, 480.0]),
        lambda h: h["a"].update(data_offsets=[0]),
        lambda h: h["b"].update(data_offsets=h["a"]["data_offsets"]),
        lambda h: h["a"].pop("shape"),
        lambda h: h.update(__metadata__={"base": 3}),
        lambda h: h.update(__metadata__=[]),
    ],
)
def test_every_header_that_is_not_the_manifests_is_refused(tmp_path, change):
    with pytest.raises(FormatError):
        opened(tmp_path, changed_header(change))


@pytest.mark.parametrize(
    "raw",
    [b"", b"1234567", b"\xff" * 100, struct.pack("<Q", 2**62) + b"{}", struct.pack("<Q", 900) + b"[" * 900],
)
def test_what_is_no_safetensors_is_refused_without_reading_it(tmp_path, raw):
    with pytest.raises(FormatError):
        opened(tmp_path, raw)


def test_any_cut_and_any_longer_body_is_refused(tmp_path):
    raw = encode(a_model(), "int8", {})
    for length in range(0, len(raw), 7):
        with pytest.raises(FormatError):
            opened(tmp_path, raw[:length], "int8")
    with pytest.raises(FormatError, match="bytes"):
        opened(tmp_path, raw + b"\0", "int8")
