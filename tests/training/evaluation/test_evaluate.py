"""Evaluation: the rows, their files, and the commands that make them."""

import csv
import json

import numpy as np
import pytest

from service.cli import main
from streaming.agc import Agc
from streaming.bundle import Bundle, load_bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder, iq
from streaming.level import LevelSettings
from streaming.shape import EncoderShape
from training.datasets.synthetic import Signal, make_frames, paper_clients
from training.evaluation.accuracy import Accuracy
from training.evaluation.evaluate import Answers, Row, fresh_frames, labelled_frames
from training.evaluation.limit import limit_row
from training.heads.embed import embed_frames, embed_live

SHAPE = EncoderShape(channels=6, depth=3, reduced=8, outputs=10, pooling="max+mean")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small model with frame and live heads, fitted by the command."""
    folder = tmp_path_factory.mktemp("model")
    Bundle(Encoder(SHAPE, seed=1), {}, Meta(LevelSettings(agc_samples=200.0))).save(
        folder / "encoder.safetensors"
    )
    path = folder / "model.safetensors"
    assert main(["fit", str(folder / "encoder.safetensors"), "--labels", "140", "--out", str(path)]) == 0
    assert (
        main(["fit", str(path), "--labels", "140", "--live", "200", "--hop", "50", "--out", str(path)]) == 0
    )
    return path


def test_frame_embeddings_are_the_encoders_of_frames_at_unit_rms():
    frames = make_frames(Signal(), (20, 20, 20, 20), seed=1).iq
    encoder = Encoder(SHAPE)
    scaled = frames / np.sqrt(np.mean(np.abs(frames) ** 2, axis=1, keepdims=True))
    assert embed_frames(encoder, frames) == pytest.approx(encoder.encode(scaled), abs=1e-5)


def test_live_embeddings_are_the_encoders_over_the_past_pooled_over_the_window():
    stretches = make_frames(Signal(), (5, 5, 5, 5), seed=1, past=200).iq
    encoder = Encoder(SHAPE)
    found = embed_live(encoder, stretches, hop=50, window=100, agc_samples=200.0)
    levelled = np.stack([Agc(200.0).push(x) for x in stretches])
    features = encoder.features(iq(levelled))[:, -100:]
    expected = encoder.linear(encoder.pool(features)).detach().numpy()
    assert found == pytest.approx(expected, abs=1e-5)


def test_labelled_and_test_frames_are_different_draws():
    client = paper_clients(labels=28, test=28)[0]
    labelled, fresh = labelled_frames(client, 0, seed=0), fresh_frames(client, 0, seed=0)
    assert labelled.counts().tolist() == fresh.counts().tolist()
    assert not np.isin(labelled.iq, fresh.iq).any()
    assert not np.array_equal(fresh_frames(client, 1, seed=0).iq, fresh.iq)


def test_a_row_counts_by_client_by_snr_and_by_class():
    truth, said = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    snr = np.array([-9.5, -8.5, 0.5, 1.5], np.float32)
    row = Row("x", ("A", "B"), {"one": Answers(said, truth, snr), "two": Answers(truth, truth, snr)})
    assert row.mean[0] == pytest.approx((0.75 + 1) / 2)
    assert row.confusion().tolist() == [[3, 1], [0, 4]]
    assert row.by_snr() == [(-9.0, Accuracy(3, 4)), (1.0, Accuracy(4, 4))]


def test_the_limit_row_is_above_every_other_and_below_one():
    row = limit_row(paper_clients(heterogeneity="snr")[3:], frames=42)
    assert 0.9 < row.mean[0] <= 1
    assert [snr for snr, _ in row.by_snr()] == pytest.approx([5.833, 7.5, 9.167])
    assert row.confusion().sum() == 42


def test_fit_writes_a_head_for_each_client(model):
    bundle = load_bundle(model)
    assert set(bundle.heads) == {f"client-{i}{live}" for i in range(1, 5) for live in ("", "-live")}
    assert bundle.heads["client-2"].classes == ("BPSK", "QPSK", "8PSK", "16QAM")
    assert (bundle.heads["client-2-live"].mode, bundle.heads["client-2-live"].hop) == ("live", 50)
    assert bundle.meta.provenance.fits["paper"].seed == 0


def test_fit_is_reproducible(model, tmp_path):
    encoder = Bundle(load_bundle(model).encoder, {}, Meta(LevelSettings(agc_samples=200.0)))
    for name in "ab":
        encoder.save(tmp_path / f"{name}.safetensors")
        command = ["fit", str(tmp_path / f"{name}.safetensors"), "--labels", "70", "--kernel", "linear"]
        assert main([*command, "--out", str(tmp_path / f"{name}.safetensors")]) == 0
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_evaluate_prints_json_and_writes_csv_and_pictures(model, tmp_path, capsys):
    out = tmp_path / "report"
    command = ["evaluate", str(model), "--test", "140", "--labels", "140", "--live", "200", "--limit", "14"]
    assert main([*command, "--json", "--out", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = found["rows"]
    assert next(iter(rows)) == "model"
    assert len(rows) == 7
    assert rows["limit, parameters known"]["mean"] > rows["untrained encoder, max+mean pooling"]["mean"] > 0.3
    assert np.sum(rows["model"]["confusion"]) == 4 * 140
    low, high = rows["model"]["clients"]["client-1"]["interval"]
    assert low < rows["model"]["clients"]["client-1"]["accuracy"] < high
    with (out / "accuracy.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 7 * 4
    assert float(lines[0]["accuracy"]) == pytest.approx(rows["model"]["clients"]["client-1"]["accuracy"])
    for picture in ("snr.png", "confusion.png"):
        assert (out / picture).read_bytes().startswith(b"\x89PNG")


def test_evaluate_prints_a_table_and_keeps_the_rows_in_the_model(model, tmp_path, capsys):
    kept = tmp_path / "kept.safetensors"
    command = ["evaluate", str(model), "--test", "28", "--rows", "model,known", "--keep", str(kept)]
    assert main(command) == 0
    assert set(load_bundle(kept).meta.evaluation) == {"model", "limit, parameters known"}
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("model ")
    assert "+-" in lines[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "MODEL", "--rows", "wrong"], "there is no row 'wrong'"),
        (["evaluate", "MODEL", "--test", "0"], "--limit at least 14"),
        (["evaluate", "ENCODER", "--rows", "model", "--test", "8"], "has no frame head 'client-1'"),
        (["fit", "MODEL", "--out", "x", "--live", "130"], "multiples of the hop"),
        (["fit", "MODEL", "--out", "x", "--data", "missing.pkl"], "there is no data set"),
    ],
)
def test_mistakes_are_one_line(model, capsys, arguments, message):
    places = {"MODEL": str(model), "ENCODER": str(model.with_name("encoder.safetensors"))}
    assert main([places.get(argument, argument) for argument in arguments]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error


def test_fit_takes_a_folder_of_labelled_recordings(model, tmp_path):
    rng = np.random.default_rng(0)
    rows = ["file,modulation,sample_rate_hz,first_burst_s,snr_db"]
    for name, tone in (("OOK", 0.0), ("2FSK", 0.3)):
        signal = 0.02 * rng.standard_normal((9000, 2)).astype(np.float32).view(np.complex64)[:, 0]
        n = np.arange(3000)
        signal[3000:6000] += 0.6 * np.exp(2j * np.pi * tone * n * (1 + (n // 20) % 2))
        raw = np.stack([signal.real, signal.imag], 1) * 127.5 + 127.5
        raw.round().clip(0, 255).astype(np.uint8).tofile(tmp_path / f"{name}_433.92M_250k.cu8")
        rows.append(f"{name}_433.92M_250k.cu8,{name},250000,0.012,25")
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    out = tmp_path / "m.safetensors"
    assert main(["fit", str(model), "--data", str(tmp_path), "--head", "mine", "--out", str(out)]) == 0
    head = load_bundle(out).heads["mine"]
    assert head.classes == ("2FSK", "OOK")
