"""The page's symbol clock and carrier, against a signal whose symbols are known."""

import numpy as np
import pytest

FIND = """async (points) => {
    const { Symbols } = await import("./static/symbols.js");
    const { clock, symbols, carrier } = new Symbols().push(Float32Array.from(points));
    return { rate: clock.rate, found: clock.found, carrier, re: symbols.re, im: symbols.im };
}"""


def raised_cosine(t, beta=0.5):
    """The pulse at times t, in symbols; scipy and numpy have none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        pulse = np.sinc(t) * np.cos(np.pi * beta * t) / (1 - (2 * beta * t) ** 2)
    return np.where(np.isfinite(pulse), pulse, np.pi / 4 * np.sinc(1 / (2 * beta)))


def signal(points, per_symbol, turn):
    """1,024 samples of random symbols out of `points`, turning by `turn` cycles per sample."""
    rng, n = np.random.default_rng(5), np.arange(1024)
    at = np.arange(-8, 1024 / per_symbol + 8) + 0.3
    wave = raised_cosine(n[:, None] / per_symbol - at) @ rng.choice(points, len(at))
    noise = rng.standard_normal((1024, 2)) @ [0.02, 0.02j]
    return (wave * np.exp(2j * np.pi * (turn * n + 0.1)) + noise).astype(np.complex64)


QPSK = np.exp(1j * np.pi * (np.arange(4) + 0.5) / 2)


@pytest.mark.parametrize("per_symbol", [4.0, 5.7, 8.0])
@pytest.mark.parametrize("turn", [0.0, 0.003])
def test_qpsk_is_found_and_turned_back(page, per_symbol, turn):
    found = page.evaluate(FIND, signal(QPSK, per_symbol, turn).view(np.float32).tolist())
    assert found["found"]
    assert abs(found["rate"] * per_symbol - 1) < 0.02
    assert abs(found["carrier"] * found["rate"] - turn) < 2e-4
    symbols = np.array(found["re"]) + 1j * np.array(found["im"])
    nearest = np.abs(symbols[:, None] / np.sqrt(np.mean(np.abs(symbols) ** 2)) - QPSK).min(1)
    assert np.median(nearest) < 0.15


def test_noise_has_no_symbol_clock(page):
    noise = np.random.default_rng(1).standard_normal(2048)
    found = page.evaluate(FIND, noise.tolist())
    assert (found["found"], found["carrier"]) == (False, None)
