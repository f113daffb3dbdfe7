"""The kernel before and beside the encoder gives what numpy gives, on every instruction set."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from streaming.features import COUNT, describe_in_numpy
from streaming.features.groups import groups
from streaming.native_library import EXACT, library, works
from streaming.native_signals import SignalKernel
from tests.require import need_processor
from training.signals.classes import CLASSES
from training.signals.reception import Faults, receive
from training.signals.wide import draw

# Equal increments, as of a converter or of real samples, are sorted by the last bits of their weights.
ANALOGUE = Faults(converter=0.0, saturation=0.0, audio=0.0)


@pytest.fixture(params=["portable", "avx2"])
def kernel(request):
    need_processor(request.param in EXACT and works(request.param), request.param)
    return SignalKernel(request.param)


def received(name, length, seed=0, faults=ANALOGUE):
    rng = np.random.default_rng([seed, CLASSES.index(name)])
    return receive(draw(name, rng, samples=max(1024, length)), rng, 12.0, faults=faults)[:length]


@pytest.mark.parametrize("length", [48, 63, 509, 512, 777, 2_047, 2_048, 5_003, 20_480, 40_000, 140_000])
def test_features_are_those_of_numpy(kernel, length):
    names = CLASSES if length < 10_000 else ("QPSK", "OOK", "OFDM", "WBFM")
    signals = [received(name, length) for name in names]
    expected = np.stack([describe_in_numpy(x, 12.0) for x in signals])
    found = np.stack([kernel.describe(x, 12.0, COUNT) for x in signals])
    for about, places in groups().items():
        size = np.maximum(np.abs(expected[:, places]), 0.3)
        apart = np.abs(found[:, places] - expected[:, places]) / size
        assert np.quantile(apart, 0.999) < 1e-4, about
        assert apart.max() < 1e-3, about


def test_a_silent_and_a_constant_emission_have_the_features_of_numpy(kernel):
    for x in (np.zeros(3000, np.complex64), np.full(3000, 0.5 - 0.2j, np.complex64)):
        np.testing.assert_allclose(kernel.describe(x, 0.0, COUNT), describe_in_numpy(x, 0.0), atol=1e-3)


def test_features_have_the_same_bits_in_every_thread_and_after_any_other(kernel):
    signals = [received("QPSK", length) for length in (140_000, 777, 2_048, 512, 50_000)]
    alone = [kernel.describe(x, 3.0, COUNT).tobytes() for x in signals]
    with ThreadPoolExecutor(4) as pool:
        again = pool.map(lambda i: kernel.describe(signals[i % 5], 3.0, COUNT).tobytes(), range(40))
        assert [*again] == alone * 8


def test_an_instruction_set_that_is_not_compiled_in_is_named():
    assert library().wavetell_signals(b"mmx") is None
