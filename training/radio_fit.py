"""The head of the model `radio`: fitted on few labelled signals, as the live engine embeds them.

An embedding is the encoder's outputs and behind them the measures (`streaming.measures`), which count more.

Beside the machine and its calibration it gets the families of its classes, and what a *stranger* is: among
the measures, in coordinates in which every class scatters alike,

    P = S^(-1/2),   S = mean of the classes' covariances, shrunk towards its diagonal

each labelled signal reaches as far as its third neighbour, and a signal is unknown where it lies farther out
of every reach than 95 % of the labelled ones do. No signal of an unseen class is needed to set that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.bundle import encoder_sha256
from streaming.encoder import Encoder
from streaming.measures import COUNT, measure
from training.embed import embed_live
from training.heads import Fit, Identity, Labels, Search, fit_head, measured_weights
from training.radio import HEARD
from training.radio_signals import Signals, make_signals
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions

WINDOW, HOP = 2_048, 512  # samples at the model's rate
LENGTH = WINDOW + HOP  # of a labelled signal: the encoder's past is full where the window begins
SNR_DB = (0.0, 30.0)
FALSE_ALARMS = 0.05  # share of known signals called unknown
CERTAIN = 0.5  # probability from which the class itself is the answer
SHRINK, NEIGHBOUR = 0.5, 3
SEARCH = Search(C=(10.0, 100.0), gamma=(0.5, 1.0), refuse=0.0, penalties=(3.0, 10.0, 30.0))
LABELLED = 1_000_001  # second word of a seed: what the signals are for
Real = NDArray[np.float64]


def labelled_signals(each: int, seed: int, classes: Sequence[str] = HEARD) -> Signals:
    """So many labelled signals of each class."""
    word = int(np.random.SeedSequence([seed, LABELLED]).generate_state(1, np.uint32)[0])
    counts = [each] * len(classes)
    return make_signals(classes, counts, samples=LENGTH, conditions=Conditions(snr_db=SNR_DB), seed=word)


def embed_signals(encoder: Encoder, iq: Samples, hop: int = HOP, window: int = WINDOW) -> NDArray[np.float32]:
    """Signals (n, samples) from the front end to the embeddings (n, outputs + COUNT) of their last windows.

    This is the way of `streaming.pipeline` from the front end on: an empty state where the signal begins, the
    live engine, its window.
    """
    encoded = embed_live(encoder, iq, hop=hop, window=window, agc_samples=None, what="encoding signals")
    return np.concatenate([encoded, [measure(signal[-window:]) for signal in iq]], 1, dtype=np.float32)


def fit_labelled(encoder: Encoder, each: int, seed: int) -> Fit:
    """The head `live`, from so many labelled signals of each class."""
    signals = labelled_signals(each, seed)
    identity = Identity("live", signals.classes, "live", WINDOW, HOP, encoder_sha256(encoder))
    return fit_radio(embed_signals(encoder, signals.iq), signals.label, identity, replace(SEARCH, seed=seed))


@dataclass(frozen=True)
class Stranger:
    """What tells a signal of no known class."""

    plane: NDArray[np.float32]  # (COUNT, q)
    centres: NDArray[np.float32]  # (n, q)
    reach: NDArray[np.float32]  # (n,)
    farthest: float


def fit_radio(
    embeddings: NDArray[np.float32],
    labels: Labels,
    identity: Identity,
    search: Search = SEARCH,
    false_alarms: float = FALSE_ALARMS,
) -> Fit:
    """The head with families and with a sense for strangers."""
    fit = fit_head(embeddings, labels, identity, search, measured_weights(embeddings.shape[1]))
    head = fit.head
    renumbered = np.unique(labels, return_inverse=True)[1]
    measured = ((embeddings - head.mean) / head.scale)[:, -COUNT:]
    stranger = fit_stranger(measured, renumbered, false_alarms)
    families = tuple(FAMILIES[name] for name in head.classes)
    head = replace(
        head,
        families=families,
        certain=CERTAIN,
        farthest=stranger.farthest,
        plane=np.pad(stranger.plane, ((embeddings.shape[1] - COUNT, 0), (0, 0))),
        centres=stranger.centres,
        reach=stranger.reach,
    )
    return replace(fit, head=head)


def fit_stranger(z: Real, labels: Labels, false_alarms: float) -> Stranger:
    """From standardised measures (n, COUNT) and their classes."""
    within = z - np.stack([z[labels == c].mean(0) for c in range(labels.max() + 1)])[labels]
    covariance = within.T @ within / len(z)
    covariance = (1 - SHRINK) * covariance + SHRINK * np.diag(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance)
    plane = (vectors / np.sqrt(np.maximum(values, 1e-9))).astype(np.float32)
    centres = (z @ plane).astype(np.float32)
    norms = np.square(centres).sum(1)
    squared = norms[:, None] + norms - 2 * centres @ centres.T
    np.fill_diagonal(squared, np.inf)
    nearest = np.partition(squared, NEIGHBOUR - 1)[:, NEIGHBOUR - 1]
    reach = np.maximum(nearest, 1e-6).astype(np.float32)
    return Stranger(plane, centres, reach, float(np.quantile((squared / reach).min(1), 1 - false_alarms)))
