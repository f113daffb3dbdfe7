"""A model behind the front end: what it measures is shown, and so is that there is nothing."""

import re

import numpy as np
import pytest

from streaming.band.frontend import BandSettings
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from tests.models import tiny_head
from tests.service.conftest import serving
from tests.service.dashboard.air import SHAPE
from tests.service.dashboard.conftest import expect, looking

RATE = 250_000
FRONT = BandSettings(fraction=0.4)


@pytest.fixture
def bursts(tmp_path):
    """Three seconds of QPSK, 12.5 kBd at +25 kHz, then three of noise alone; its address."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6 * RATE, 2)) @ [0.01, 0.01j]
    pulses = np.zeros(3 * RATE, complex)
    pulses[::20] = np.exp(0.5j * np.pi * rng.integers(0, 4, len(pulses[::20])))
    shaped = np.convolve(pulses, np.hanning(41))[: len(pulses)]
    x[: 3 * RATE] += 0.2 * shaped * np.exp(2j * np.pi * 0.1 * np.arange(len(pulses)))
    path = tmp_path / "bursts.cf32"
    path.write_bytes(x.astype("<c8").tobytes())
    return f"file:{path}?rate=250k&pace=realtime&loop=1"


def test_bandwidth_offset_and_silence_are_shown(browser, tmp_path, bursts):
    encoder = Encoder(SHAPE, seed=3)
    model = tmp_path / "front.safetensors"
    heads = {"live": tiny_head(encoder, name="live", mode="live", window=1000, hop=200)}
    Bundle(encoder, heads, Meta(FRONT), "front").save(model)
    with (
        serving(tmp_path / "data", model, bursts) as running,
        looking(browser, running.base) as page,
    ):
        facts = page.locator("#answer .facts")
        label = page.locator("#answer .label")
        expect(label).to_have_text("no signal", timeout=30_000)
        expect(facts).to_have_text(re.compile(r"^for\s*[\d.]+ m?s$"))
        expect(page.locator("#answer .bars li")).to_have_count(0)
        expect(facts).to_contain_text("bandwidth", timeout=30_000)
        said = dict(
            zip(facts.locator("dt").all_inner_texts(), facts.locator("dd").all_inner_texts(), strict=True)
        )
        assert 8 < float(re.fullmatch(r"([\d.]+) kHz", said["bandwidth"]).group(1)) < 40
        assert 23 < float(re.fullmatch(r"\+([\d.]+) kHz", said["offset"]).group(1)) < 27
        assert float(said["SNR"].removesuffix(" dB")) > 10
        expect(page.locator("#lately")).to_contain_text("no signal", timeout=30_000)
        stream = running.get("/v1/streams").json()[0]["id"]
        doubts = running.get(f"/v1/streams/{stream}/predictions?order=least_sure").json()["predictions"]
        assert doubts
        assert "no signal" not in {run["label"] for run in doubts}
