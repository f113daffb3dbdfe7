"""What the replay radio plays, and a small model that knows it: fast on any machine, and right often."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from service.cli import main
from streaming.bundle import Bundle, encoder_sha256
from streaming.bundle_meta import Meta
from streaming.embedding import Embedder
from streaming.encoder import Encoder
from streaming.engine import open_engine
from streaming.level import LevelSettings
from streaming.shape import EncoderShape
from tests.models import tiny_head
from training.heads.fit import Identity, fit_head
from training.heads.search import Search

CLASSES = ("2FSK", "OOK", "QPSK", "NBFM", "16QAM", "chirp")
RATE_HZ, FREQ_HZ = 250_000, 433_920_000
SECONDS_EACH = 2.5
WINDOW, HOP = 5_000, 1_000
SHAPE = EncoderShape(channels=8, depth=4, reduced=16, outputs=24)
META = Meta(LevelSettings(agc_samples=2_000.0))
STRETCH = 25_000  # samples of one example


def make_recording(folder: Path) -> Path:
    """Raw cf32, as the replay radio reads it, beside its SigMF."""
    path = folder / "air.sigmf-meta"
    options = ["--classes", ",".join(CLASSES), "--rate", str(RATE_HZ), "--type", "cf32", "--seed", "4"]
    assert main(["generate", str(path), *options, "--seconds", str(SECONDS_EACH * len(CLASSES))]) == 0
    raw = folder / "air.cf32"
    raw.write_bytes(path.with_suffix(".sigmf-data").read_bytes())
    return raw


def make_model(raw: Path) -> Bundle:
    """An untrained encoder with a head that was fitted to this very recording."""
    samples = np.fromfile(raw, "<c8")
    encoder = Encoder(SHAPE, seed=3)
    bare = tiny_head(encoder, name="live", mode="live", window=WINDOW, hop=HOP)
    bundle = Bundle(encoder, {"live": bare}, META, "air")
    rows, truth = [], []
    classes = (*CLASSES, "noise")
    notes = json.loads(raw.with_suffix(".sigmf-meta").read_bytes())["annotations"]
    embedder = Embedder(bundle, open_engine(encoder, HOP), bare)
    for note in notes:
        first, count = note["core:sample_start"], note["core:sample_count"]
        for start in range(first, first + count - STRETCH, STRETCH):
            past = min(start, embedder.past)
            rows.append(embedder.embed(samples[start - past : start + STRETCH], past, RATE_HZ))
            truth.append(np.full(len(rows[-1]), classes.index(note["core:label"])))
    identity = Identity("live", classes, "live", WINDOW, HOP, encoder_sha256(encoder))
    search = Search(C=(10.0,), gamma=(1.0,), folds=2)
    head = fit_head(np.concatenate(rows)[::4], np.concatenate(truth)[::4], identity, search).head
    return Bundle(encoder, {"live": head}, replace(META, evaluation=evaluation()), "air")


def evaluation() -> dict:
    """Rows as `wavetell evaluate --json` writes them: numbers to draw, not measured ones."""
    snr = np.arange(-9.0, 22, 2)

    def row(middle, top):
        shares = 0.25 + (top - 0.25) / (1 + np.exp(-(snr - middle) / 2.5))
        return {
            "by_snr": [
                {"snr_db": s, "accuracy": a} for s, a in zip(snr.tolist(), shares.tolist(), strict=True)
            ]
        }

    return {"model": row(5, 0.9), "cumulants": row(8, 0.85), "likelihood limit": row(2, 0.99)}
