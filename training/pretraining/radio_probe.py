"""A quick look at how good the encoder of `radio` is: an RBF SVM with fixed settings on few labelled signals.

It only watches a run, on signals of its own; nothing is chosen or trained by it.
"""

from functools import cache

import numpy as np
from sklearn.svm import SVC

from streaming.encoder import Encoder
from training.datasets.augment import at_level
from training.datasets.emissions import HEARD
from training.datasets.radio_signals import Signals, make_signals
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions

EACH, SAMPLES = 15, 1_024  # signals of a class to fit on, and as many to test on
PROBE = 0  # third word of the seed of the probe's signals; see training.pretraining.rounds


def probe_radio(encoder: Encoder, seed: int) -> dict[str, float]:
    """Share of right classes, and of right families, at all SNRs."""
    signals = probe_signals(seed)
    embeddings = [encoder.encode(at_level(part.iq, "rms"), 8) for part in signals]
    mean, scale = embeddings[0].mean(0), embeddings[0].std(0) + 1e-9
    machine = SVC(C=10.0).fit((embeddings[0] - mean) / scale, signals[0].label)
    said, truth = machine.predict((embeddings[1] - mean) / scale), signals[1].label
    family = np.array([FAMILIES[name] for name in HEARD])
    return {
        "classes": float(np.mean(said == truth)),
        "families": float(np.mean(family[said] == family[truth])),
    }


@cache
def probe_signals(seed: int) -> tuple[Signals, Signals]:
    """Signals to fit and to test on."""
    words = np.random.SeedSequence([seed, 0, PROBE]).generate_state(2, np.uint32)
    counts = [EACH] * len(HEARD)
    fit, test = (
        make_signals(HEARD, counts, samples=SAMPLES, conditions=Conditions(), seed=int(word))
        for word in words
    )
    return fit, test
