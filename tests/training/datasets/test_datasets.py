"""Every data set, from small files in its own format; and hostile ones."""

import io
import json
import os
import pickle

import h5py
import numpy as np
import pytest
import sigmf

from streaming.errors import ConfigError, FormatError
from tests.require import shared
from training.datasets import open_dataset, open_stretches
from training.datasets.frames import join
from training.datasets.radioml2018 import CLASSES, RadioMl2018


def complex_rows(n, length=128, seed=0):
    """Random I/Q as (n, 2, length)."""
    return np.random.default_rng(seed).standard_normal((n, 2, length)).astype(np.float32)


@pytest.fixture
def radioml2016(tmp_path):
    """A small file as RadioML 2016.10a's."""
    cells = {
        (m, s): complex_rows(3, seed=i)
        for i, (m, s) in enumerate((m, s) for m in ("QPSK", "BPSK") for s in (-2, 18))
    }
    path = tmp_path / "RML2016.10a_dict.pkl"
    path.write_bytes(pickle.dumps(cells, protocol=2))
    return path, cells


def test_radioml2016_comes_back(radioml2016):
    path, cells = radioml2016
    frames = open_dataset(path)
    assert frames.classes == ("BPSK", "QPSK")
    assert frames.iq.shape == (12, 128)
    assert frames.counts().tolist() == [6, 6]
    mine = frames.take((frames.label == 1) & (frames.snr_db == 18))
    expected = cells[("QPSK", 18)]
    assert (mine.iq == expected[:, 0] + 1j * expected[:, 1]).all()


def test_a_pickle_of_python_2_with_latin1_is_read(tmp_path):
    """The published files were written by Python 2: protocol 2 with raw byte strings, numpy.core names."""
    array = complex_rows(2, length=4)
    raw = array.tobytes()
    out = io.BytesIO()
    out.write(
        b"\x80\x02}U\x04BPSKK\x0a\x86cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    )
    out.write(
        b"(K\x01K\x02K\x02K\x04\x87cnumpy\ndtype\nU\x02f4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
    )
    out.write(b"T" + len(raw).to_bytes(4, "little") + raw + b"tbs.")
    path = tmp_path / "RML2016.10a_dict.pkl"
    path.write_bytes(out.getvalue())
    frames = open_dataset(path)
    assert frames.classes == ("BPSK",)
    assert (frames.iq.real == array[:, 0]).all()
    assert frames.snr_db.tolist() == [10, 10]


def test_migou_names_its_distances(tmp_path):
    path = tmp_path / "migou_dataset_19.08_400000x128.pkl"
    cells = {("GFSK", "ota_1m"): complex_rows(2), ("GFSK", "ota_6m"): complex_rows(3)}
    path.write_bytes(pickle.dumps(cells))
    assert sorted(open_dataset(path).snr_db.tolist()) == [22, 22, 22, 37, 37]


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, function, *args):
        self.function, self.args = function, args

    def __reduce__(self):
        return self.function, self.args


@pytest.mark.parametrize(
    "function",
    [os.system, eval, exec, __import__, getattr, np.load, np.fromfile, io.open, pickle.loads, np.memmap],
)
def test_a_hostile_pickle_is_refused_and_does_nothing(tmp_path, function):
    path, trap = tmp_path / "RML2016.10a_dict.pkl", tmp_path / "trap"
    path.write_bytes(pickle.dumps({("BPSK", 0): Hostile(function, f"touch {trap}")}))
    with pytest.raises(FormatError, match="the pickle asks for"):
        open_dataset(path)
    assert not trap.exists()


def test_a_hostile_pickle_cannot_reach_through_a_dotted_name(tmp_path):
    path = tmp_path / "a.pkl"
    path.write_bytes(b"\x80\x04\x8c\x05numpy\x8c\x15ndarray.__class__.mro\x93.")
    with pytest.raises(FormatError, match="the pickle asks for"):
        open_dataset(path)


@pytest.mark.parametrize("codec", ["rot13", "zlib", "utf-8"])
def test_the_codec_of_arrays_is_the_only_one(tmp_path, codec):
    import codecs

    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps({("BPSK", 0): Hostile(codecs.encode, "x", codec)}))
    with pytest.raises(FormatError, match="encodes text"):
        open_dataset(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a pickle", "not a readable pickle"),
        (b"", "not a readable pickle"),
        (pickle.dumps([1, 2]), "expected a dictionary"),
        (pickle.dumps({("BPSK", 0): "text"}), "not an array of numbers"),
        (pickle.dumps({"BPSK": np.zeros((2, 2, 8))}), "expected \\(name, SNR\\)"),
        (pickle.dumps({("BPSK", 0): np.zeros((2, 3, 8))}), "expected \\(name, SNR\\)"),
        (pickle.dumps({("BPSK", "far"): np.zeros((2, 2, 8))}), "condition 'far'"),
        (pickle.dumps({("A", 0): np.zeros((2, 2, 8)), ("A", 2): np.zeros((2, 2, 9))}), "differ in length"),
    ],
)
def test_wrong_pickles_are_one_line(tmp_path, content, message):
    path = tmp_path / "a.pkl"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        open_dataset(path)


@pytest.fixture
def radioml2018(tmp_path):
    """A small file as RadioML 2018.01A's."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(24), 4)
    x = rng.standard_normal((96, 1024, 2)).astype(np.float32)
    snr = np.tile([-20, -20, 30, 30], 24)
    path = tmp_path / "GOLD_XYZ_OSC.0001_1024.hdf5"
    with h5py.File(path, "w") as file:
        file["X"], file["Y"], file["Z"] = x, np.eye(24, dtype=np.int64)[label], snr[:, None].astype(np.int64)
    return path, x, label, snr


def test_radioml2018_comes_back_with_the_true_class_order(radioml2018):
    path, x, label, snr = radioml2018
    frames = open_dataset(path)
    assert (frames.iq == x[..., 0] + 1j * x[..., 1]).all()
    assert (frames.label == label).all()
    assert (frames.snr_db == snr).all()
    assert (CLASSES[0], CLASSES[3], CLASSES[12], CLASSES[17], CLASSES[22], CLASSES[23]) == (
        "OOK", "BPSK", "16QAM", "AM-SSB-WC", "GMSK", "OQPSK",
    )  # fmt: skip


def test_radioml2018_is_streamed_in_pieces(radioml2018, monkeypatch):
    path, x, _, _ = radioml2018
    monkeypatch.setattr("training.datasets.radioml2018.ROWS", 10)
    rows = np.array([3, 95, 50, 51, 52, 4])
    with RadioMl2018(path) as data:
        pieces = list(data.stream())
        some = data.read(rows)
    assert [len(piece) for piece in pieces] == [10] * 9 + [6]
    assert (join(pieces).iq.real == x[..., 0]).all()
    assert (some.iq.real == x[np.sort(rows), :, 0]).all()


def test_a_foreign_hdf5_is_refused(tmp_path):
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        file["X"] = np.zeros((2, 8, 2))
    with pytest.raises(FormatError, match="X, Y, Z have shapes"):
        open_dataset(path)
    path.write_bytes(b"nothing")
    with pytest.raises(FormatError, match="not a readable HDF5 file"):
        open_dataset(path)


def write_sigmf(folder, name, samples, annotations):
    """A recording with annotations, by the sigmf package."""
    samples.tofile(folder / f"{name}.sigmf-data")
    meta = sigmf.SigMFFile(
        data_file=str(folder / f"{name}.sigmf-data"),
        global_info={"core:datatype": "cf32_le", "core:sample_rate": 1e6, "core:version": "1.0.0"},
    )
    meta.add_capture(0)
    for start, count, label in annotations:
        meta.add_annotation(start, count, {"core:label": label} if label else {})
    meta.tofile(str(folder / f"{name}.sigmf-meta"))


def test_an_annotation_over_two_frequencies_is_two_stretches(tmp_path):
    samples = np.arange(1000).astype(np.complex64)
    write_sigmf(tmp_path, "a", samples, [(100, 800, "QPSK"), (700, 100, "FM")])
    path = tmp_path / "a.sigmf-meta"
    content = json.loads(path.read_bytes())
    content["captures"] = [
        {"core:sample_start": 0, "core:frequency": 433e6},
        {"core:sample_start": 300, "core:frequency": 433e6},
        {"core:sample_start": 600, "core:frequency": 868e6},
        {"core:sample_start": 850, "core:frequency": 868e6, "core:global_index": 2000},
    ]
    path.write_text(json.dumps(content))
    found = [
        (stretch.label, stretch.recording[0].real, stretch.samples[0].real, stretch.samples[-1].real)
        for stretch in open_stretches(tmp_path)
    ]
    assert found == [
        ("QPSK", 0, 100, 599), ("QPSK", 600, 600, 849), ("QPSK", 850, 850, 899), ("FM", 600, 700, 799)
    ]  # fmt: skip


def test_a_sigmf_folder_gives_its_annotated_stretches(tmp_path):
    samples = np.arange(1000).astype(np.complex64)
    write_sigmf(tmp_path, "a", samples, [(100, 250, "QPSK"), (400, 100, None), (600, 99, "FM")])
    write_sigmf(tmp_path, "b", -samples, [(0, 100, "FM")])
    frames = open_dataset(tmp_path, samples=100)
    assert frames.classes == ("FM", "QPSK")
    assert frames.label.tolist() == [1, 1, 0]
    assert frames.iq[:, 0].real.tolist() == [100, 200, 0]
    assert np.isnan(frames.snr_db).all()


def test_a_folder_without_labels_is_refused(tmp_path):
    write_sigmf(tmp_path, "a", np.zeros(50, np.complex64), [(0, 50, None)])
    with pytest.raises(FormatError, match="no annotation with a label"):
        open_dataset(tmp_path)


def test_bursts_are_cut_out_of_raw_recordings(tmp_path):
    rng = np.random.default_rng(0)
    signal = 0.02 * (rng.standard_normal(5000) + 1j * rng.standard_normal(5000))
    signal[2000:2600] += 0.7
    raw = np.stack([signal.real, signal.imag], 1) * 127.5 + 127.5
    raw.round().clip(0, 255).astype(np.uint8).tofile(tmp_path / "g000_433.92M_250k.cu8")
    (tmp_path / "labels.csv").write_text(
        "file,modulation,sample_rate_hz,first_burst_s,snr_db\n"
        "g000_433.92M_250k.cu8,OOK,250000,0.008,28\n"
        "g001_433.92M_250k.cu8,,250000,,\n"
    )
    frames = open_dataset(tmp_path, samples=100)
    assert frames.iq.shape == (6, 100)
    assert frames.classes == ("OOK",)
    assert np.abs(frames.iq).mean() == pytest.approx(0.7, abs=0.03)


def test_labels_cannot_lead_out_of_their_folder(tmp_path):
    (tmp_path / "labels.csv").write_text(
        "file,modulation,sample_rate_hz,first_burst_s,snr_db\n../secret_433M_250k.cu8,OOK,250000,0,28\n"
    )
    with pytest.raises(FormatError, match="not a file of this folder"):
        open_dataset(tmp_path)


def test_the_real_recordings_are_read():
    frames = open_dataset(shared("data/ota433"), samples=500)
    assert frames.classes == ("2FSK", "OOK")
    assert frames.counts().min() > 300


def test_what_is_no_data_set_is_named(tmp_path):
    with pytest.raises(ConfigError, match="there is no data set"):
        open_dataset(tmp_path / "none.pkl")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(ConfigError, match=r"expected \.hdf5, \.pkl"):
        open_dataset(tmp_path / "a.txt")
