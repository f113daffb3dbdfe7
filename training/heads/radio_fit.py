"""The head of the model `radio`: fitted on few labelled signals, as the live engine embeds them.

An embedding is the encoder's outputs followed by the features (`streaming.features`), which have more weight.

Beside the SVM and its calibration it gets the families of its classes and an open-set detector: an ensemble
of small perceptrons, trained on simulated signals of the known families against outliers
(`training.heads.open_set`). The limit of the outlier odds is set so that 5 % of held-out known signals are
called unknown. No signal of an unseen class is needed.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from streaming.block import Samples
from streaming.bundle import encoder_sha256
from streaming.encoder import Encoder
from streaming.features import COUNT, extract
from streaming.head import Head
from streaming.open_set import FARTHEST
from training.datasets.radio_signals import Signals, make_signals
from training.heads.embed import embed_live
from training.heads.fit import Fit, Identity, feature_weights, fit_head
from training.heads.open_set import Maker, OpenSetData, feature_mixup, make_data
from training.heads.search import Labels, Search
from training.pretraining.radio import HEARD
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions

WINDOW, HOP = 2_048, 512  # samples at the model's rate
LENGTH = WINDOW + HOP  # of a labelled signal: the encoder's past is full where the window begins
SNR_DB = (0.0, 30.0)
FALSE_ALARMS = 0.05  # share of known signals called unknown
CERTAIN = 0.5  # probability from which the class itself is reported
KNOWN_EACH, OUTLIERS = 1_000, 40_000  # signals per class, and of none, for the open-set detector
LAST = "~"  # the outliers' name among the families: sorts behind every other
NETWORKS = 3  # in the ensemble; five detect 4 % more outliers
NETWORK = {"hidden_layer_sizes": (128, 128), "alpha": 0.03, "max_iter": 40, "batch_size": 128}
SEARCH = Search(C=(10.0, 100.0), gamma=(0.5, 1.0), refuse=0.0, penalties=(3.0, 10.0, 30.0))
LABELLED = 1_000_001  # second word of a seed: what the signals are for


def labelled_signals(each: int, seed: int, classes: Sequence[str] = HEARD) -> Signals:
    """`each` labelled signals of each class."""
    word = int(np.random.SeedSequence([seed, LABELLED]).generate_state(1, np.uint32)[0])
    counts = [each] * len(classes)
    return make_signals(classes, counts, samples=LENGTH, conditions=Conditions(snr_db=SNR_DB), seed=word)


def embed_signals(encoder: Encoder, iq: Samples, hop: int = HOP, window: int = WINDOW) -> NDArray[np.float32]:
    """Signals (n, samples) from the front end to the embeddings (n, outputs + COUNT) of their last windows.

    It does what `streaming.pipeline` does behind the front end: an empty state where the signal begins, the
    live engine, its window.
    """
    encoded = embed_live(encoder, iq, hop=hop, window=window, agc_samples=None, what="encoding signals")
    return np.concatenate([encoded, [extract(signal[-window:]) for signal in iq]], 1, dtype=np.float32)


def fit_labelled(encoder: Encoder, each: int, seed: int, folder: Path) -> Fit:
    """The head `live`, from `each` labelled signals per class; the folder keeps intermediate results."""
    signals = labelled_signals(each, seed)
    identity = Identity("live", signals.classes, "live", WINDOW, HOP, encoder_sha256(encoder))
    embeddings = embed_signals(encoder, signals.iq)
    data = open_set_signals(seed, signals.classes, folder)
    return fit_radio(embeddings, signals.label, identity, data, replace(SEARCH, seed=seed))


def open_set_signals(seed: int, classes: Sequence[str], folder: Path) -> OpenSetData:
    """The training data of the open-set detector: a quarter of an hour of two cores; kept in the folder."""
    known = KNOWN_EACH * len(classes)
    maker = Maker(tuple(classes), LENGTH, WINDOW, Conditions(snr_db=SNR_DB), seed, known, OUTLIERS)
    return make_data(maker, folder)


def fit_radio(
    embeddings: NDArray[np.float32],
    labels: Labels,
    identity: Identity,
    data: OpenSetData,
    search: Search = SEARCH,
    false_alarms: float = FALSE_ALARMS,
) -> Fit:
    """The head with families and with an open-set detector."""
    fit = fit_head(embeddings, labels, identity, search, feature_weights(embeddings.shape[1]))
    families = tuple(FAMILIES[name] for name in fit.head.classes)
    head = replace(fit.head, families=families, certain=CERTAIN)
    return replace(fit, head=with_open_set(head, data, false_alarms, search.seed))


def with_open_set(head: Head, data: OpenSetData, false_alarms: float, seed: int) -> Head:
    """The head with an open-set detector, fitted on all data but those held out for its limit."""
    held = data.held
    known, family = data.known[~held], data.family[~held]
    outliers = np.concatenate([data.outliers, feature_mixup(known, family, np.random.default_rng(seed))])
    rows = np.concatenate([known, outliers])
    names = np.concatenate([family, [LAST] * len(outliers)])
    mean, scale = head.mean[-COUNT:], head.scale[-COUNT:]
    x = np.clip((rows - mean) / scale, -FARTHEST, FARTHEST).astype(np.float32)
    networks = [MLPClassifier(**NETWORK, random_state=NETWORKS * seed + i) for i in range(NETWORKS)]
    with warnings.catch_warnings(), threadpool_limits(1):  # more only wait for each other
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of epochs, on purpose
        parts = [layers_of(network.fit(x, names)) for network in networks]
    first, second, third = (np.stack(same) for same in zip(*parts, strict=True))
    head = replace(head, open_set_1=first, open_set_2=second, open_set_3=third)
    odds = head.outlier_odds(np.pad(data.known[held], ((0, 0), (len(head.mean) - COUNT, 0))))
    return replace(head, outlier_limit=float(np.quantile(odds, 1 - false_alarms)))


def layers_of(network: MLPClassifier) -> list[NDArray[np.float32]]:
    """The weights of a network, each layer's biases first."""
    weights = zip(network.coefs_, network.intercepts_, strict=True)
    return [np.concatenate([bias[None], layer]).astype(np.float32) for layer, bias in weights]
