"""SigMF as the sigmf package writes it, and every way in which a pair can be broken."""

import json

import numpy as np
import pytest
import sigmf

from hardware import open_source
from streaming.block import Gap
from streaming.errors import WavetellError

SAMPLES = (np.random.default_rng(1).standard_normal(20_000).astype(np.float32) / 8).view(np.complex64)
GLOBAL = {"core:datatype": "cf32_le", "core:sample_rate": 1e6}


def write(folder, captures=((0, {}),), info=None, samples=SAMPLES, annotations=()):
    """A pair made by the sigmf package."""
    samples.tofile(folder / "x.sigmf-data")
    meta = sigmf.SigMFFile(global_info={**GLOBAL, **(info or {})})
    for start, capture in captures:
        meta.add_capture(start, capture)
    for start, count in annotations:
        meta.add_annotation(start, count)
    meta.set_data_file(folder / "x.sigmf-data")
    meta.tofile(folder / "x.sigmf-meta", skip_validate=True)
    return meta


def read(address):
    with open_source(address) as source:
        return list(source.blocks()), source


@pytest.mark.parametrize("name", ["x.sigmf-meta", "x.sigmf-data"])
def test_either_file_of_a_pair_opens_it(tmp_path, name):
    write(tmp_path, [(0, {"core:frequency": 433.92e6, "core:datetime": "2024-01-31T18:45:00.123456789Z"})])
    blocks, source = read(f"file:{tmp_path}/{name}")
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), SAMPLES)
    assert (source.rate_hz, source.freq_hz) == (1e6, 433.92e6)
    assert blocks[0].utc_ns == 1_706_726_700_123_456_789
    assert blocks[0].clock == "recording"
    assert "from its metadata" in source.inferred


@pytest.mark.parametrize("datatype", ["ci16_le", "ci8", "cu8", "ci8_le", "cu8_le"])
def test_integer_types_read_as_the_sigmf_package_reads_them(tmp_path, datatype):
    kinds = {"ci16_le": np.int16, "ci8": np.int8, "ci8_le": np.int8}
    dtype = np.dtype(kinds.get(datatype, np.uint8))
    raw = np.random.default_rng(2).integers(
        np.iinfo(dtype).min, np.iinfo(dtype).max, 5000, dtype, endpoint=True
    )
    write(tmp_path, info={"core:datatype": datatype}, samples=raw)
    blocks, _ = read(f"file:{tmp_path}/x.sigmf-meta")
    if dtype == np.uint8:  # the package takes 128 for zero, an RTL-SDR's zero is 127.5
        theirs = ((raw.astype(np.float32) - 127.5) / 127.5).view(np.complex64)
    else:
        theirs = sigmf.fromfile(tmp_path / "x.sigmf-meta")[:]
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), theirs)


def test_an_archive_is_read_where_it_lies(tmp_path):
    write(tmp_path, [(0, {"core:frequency": 1e8})]).archive(str(tmp_path / "y.sigmf"))
    blocks, source = read(f"file:{tmp_path}/y.sigmf")
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), SAMPLES)
    assert (source.rate_hz, source.freq_hz) == (1e6, 1e8)


def test_captures_bring_gaps_and_frequencies(tmp_path):
    captures = [
        (0, {"core:global_index": 500, "core:frequency": 1e8}),
        (3000, {"core:frequency": 2e8}),
        (6000, {"core:global_index": 7500, "core:frequency": 2e8, "wavetell:gap_reason": "overflow"}),
    ]
    write(tmp_path, captures)
    blocks, source = read(f"file:{tmp_path}/x.sigmf-meta")
    assert [(block.index, block.freq_hz, block.gap) for block in blocks] == [
        (0, 1e8, None),
        (3000, 2e8, None),
        (7000, 2e8, Gap(1000, "overflow", True)),
    ]
    assert source.counts.lost == {"overflow": 1000}


def test_start_is_in_time_with_what_was_lost(tmp_path):
    write(tmp_path, [(0, {"core:global_index": 0}), (3000, {"core:global_index": 5000})])
    blocks, _ = read(f"file:{tmp_path}/x.sigmf-meta?start=0.006")
    np.testing.assert_array_equal(blocks[0].samples, SAMPLES[4000:])
    assert blocks[0].index == 0


def test_a_foreign_dataset_with_a_header(tmp_path):
    write(tmp_path)
    (tmp_path / "x.bin").write_bytes(b"headertoo" + SAMPLES.tobytes() + b"end")
    text = {"global": {**GLOBAL, "core:dataset": "x.bin", "core:trailing_bytes": 3, "core:version": "1.0.0"}}
    text["captures"] = [{"core:sample_start": 0, "core:header_bytes": 9}]
    (tmp_path / "x.sigmf-meta").write_text(json.dumps({**text, "annotations": []}))
    blocks, _ = read(f"file:{tmp_path}/x.sigmf-meta")
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), SAMPLES)


def break_file(folder, how):
    """Break a good pair in one way."""
    meta, data = folder / "x.sigmf-meta", folder / "x.sigmf-data"
    text = json.loads(meta.read_text())
    if how == "data gone":
        data.unlink()
    elif how == "metadata cut":
        meta.write_bytes(meta.read_bytes()[:100])
    elif how == "data cut":
        data.write_bytes(data.read_bytes()[:40_000])
    else:
        text["global"].pop("core:sha512")
        if how == "data cut in a sample":
            data.write_bytes(data.read_bytes()[:40_003])
        elif how == "data cut before an annotation":
            data.write_bytes(data.read_bytes()[:40_000])
        elif how == "annotation without a start":
            del text["annotations"][0]["core:sample_start"]
        else:
            text["global"].update(how)
        meta.write_text(json.dumps(text))


# The sigmf package, which writes the pair here, may warn of it; our reader says it in the log.
@pytest.mark.filterwarnings("ignore:Data source ends before the final annotation")
def test_an_annotation_may_go_beyond_the_end(tmp_path, caplog):
    write(tmp_path, annotations=[(9_000, 2_000)])
    with open_source(f"file:{tmp_path}/x.sigmf-meta") as source:
        assert sum(len(block.samples) for block in source.blocks()) == len(SAMPLES)
    assert "ends before its last annotation does" in caplog.text


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("data gone", "has no samples: there is no file"),
        ("metadata cut", "holds no SigMF metadata: it is not JSON that can be read; it is cut short"),
        ("data cut", "differ in core:sha512; one was cut short or changed"),
        ("data cut in a sample", "it goes up to sample 9500"),
        ("data cut before an annotation", "it goes up to sample 9500"),
        ("annotation without a start", "an annotation lacks core:sample_start"),
        ({"core:datatype": "ci16_le"}, "says ci16_le, but its bytes look like cf32"),
        ({"core:datatype": "cu8"}, "says cu8, but its bytes look like cf32"),
        ({"core:datatype": "rf32_le"}, "says core:datatype 'rf32_le'; it must be"),
        ({"core:datatype": 7}, "says core:datatype 7; it must be"),
        ({"core:sample_rate": 0}, "core:sample_rate is 0; it must be a number from 1 to 10G S/s"),
        ({"core:sample_rate": "fast"}, "core:sample_rate is 'fast'; it must be a number"),
        ({"core:num_channels": 2}, "says core:num_channels 2; it must be 1"),
        ({"core:dataset": "../other"}, "it must be a file beside it"),
    ],
)
def test_a_broken_pair_is_one_clear_line(tmp_path, how, line):
    write(tmp_path, annotations=[(0, 10_000), (9_500, 10)])
    break_file(tmp_path, how)
    with pytest.raises(WavetellError) as error:
        open_source(f"file:{tmp_path}/x.sigmf-meta")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_last_sample_that_is_cut_is_left_out_with_one_warning(tmp_path, caplog):
    write(tmp_path)
    break_file(tmp_path, "data cut in a sample")
    blocks, _ = read(f"file:{tmp_path}/x.sigmf-meta")
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), SAMPLES[:5000])
    assert [record.levelname for record in caplog.records].count("WARNING") == 1


def test_integers_that_say_they_are_floats_are_told(tmp_path):
    raw = np.random.default_rng(1).normal(127.5, 20, 16_000).astype(np.uint8)
    write(tmp_path, samples=raw)
    with pytest.raises(WavetellError, match="says cf32_le, but its bytes are not such floats"):
        open_source(f"file:{tmp_path}/x.sigmf-meta")


def test_an_archive_cut_short_is_told(tmp_path):
    write(tmp_path).archive(str(tmp_path / "y.sigmf"))
    whole = (tmp_path / "y.sigmf").read_bytes()
    (tmp_path / "y.sigmf").write_bytes(whole[:50_000])
    with pytest.raises(WavetellError) as error:
        open_source(f"file:{tmp_path}/y.sigmf")
    assert "y.sigmf" in str(error.value)
    assert "\n" not in str(error.value)
