"""A quick look at how good an encoder is: an RBF SVM with fixed settings on few labelled frames per client.

It only watches a run, on frames of its own; nothing is chosen or trained by it.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.svm import SVC

from streaming.encoder import Encoder
from training.datasets.augment import Level, at_level
from training.datasets.synthetic import Client, make_frames, scaled

LABELS, TESTS = 500, 500  # frames per client
PROBE = 0  # third word of the seed of the probe's frames; see training.pretraining.rounds


def probe(encoder: Encoder, clients: Sequence[Client], seed: int, level: Level) -> dict[str, float]:
    """Share of right answers by client."""
    shares = {}
    for number, client in enumerate(clients):
        words = np.random.SeedSequence([seed, number, PROBE]).generate_state(2, np.uint64)
        embeddings, labels = [], []
        for word, total in zip(words, (LABELS, TESTS), strict=True):
            frames = make_frames(client.signal, scaled(client.labelled, total), int(word))
            embeddings.append(encoder.encode(at_level(frames.iq, level)))
            labels.append(frames.label)
        mean, scale = embeddings[0].mean(0), embeddings[0].std(0) + 1e-9
        machine = SVC(C=3.0).fit((embeddings[0] - mean) / scale, labels[0])
        shares[client.name] = float((machine.predict((embeddings[1] - mean) / scale) == labels[1]).mean())
    return shares
