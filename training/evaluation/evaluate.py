"""How good a model is: accuracy by client and by SNR, confusion, and baselines.

The baselines are the same heads on an untrained encoder and on cumulants, fitted on the same labels; the
likelihood limit is in `training.evaluation.limit`. Test frames are drawn with seeds of their own, after
everything was chosen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from streaming.bundle import Bundle
from streaming.encoder import Encoder
from streaming.errors import ConfigError
from streaming.head import Head, Mode
from streaming.level import LevelSettings
from streaming.weights import AnyEncoder
from training.datasets.synthetic import Client, SyntheticFrames, make_frames
from training.evaluation.accuracy import Accuracy, mean_share
from training.evaluation.cumulants import cumulants, cumulants_and_level
from training.evaluation.likelihood import known_posteriors
from training.heads.embed import Embeddings, embed_frames, embed_live
from training.heads.fit import Fit, Identity, fit_head
from training.heads.search import Search

LABELLED, TEST = 1_000_001, 1_000_002  # third word of a seed: what the frames are for
BIN_DB = 2.0  # width of the SNR bins
Labels = NDArray[np.int64]
Embed = Callable[[NDArray[np.complex64]], Embeddings]


@dataclass(frozen=True)
class Answers:
    """The answers of one method for one client's test frames."""

    said: Labels  # (n,) indices of the set's classes
    truth: Labels  # (n,)
    snr_db: NDArray[np.float32]  # (n,)
    refused: float = 0.0  # share that the head would call unknown

    @property
    def accuracy(self) -> Accuracy:
        """Over all frames; an answer the head would refuse counts by its likeliest class."""
        return Accuracy.of(self.said == self.truth)


@dataclass(frozen=True)
class Row:
    """One method on all clients."""

    name: str
    classes: tuple[str, ...]
    clients: dict[str, Answers]

    @property
    def mean(self) -> tuple[float, float]:
        """The clients' mean accuracy, and half the width of its 95 % interval."""
        return mean_share([answers.accuracy for answers in self.clients.values()])

    def by_snr(self) -> list[tuple[float, Accuracy]]:
        """The middle of each SNR bin in dB, and the accuracy there over all clients."""
        snr = np.concatenate([answers.snr_db for answers in self.clients.values()])
        right = np.concatenate([answers.said == answers.truth for answers in self.clients.values()])
        if not np.isfinite(snr).all():
            return []
        bins = np.floor(snr / BIN_DB).astype(int)
        return [((b + 0.5) * BIN_DB, Accuracy.of(right[bins == b])) for b in np.unique(bins)]

    def confusion(self) -> Labels:
        """Counts (classes, classes), truth down, answers across, over all clients."""
        out = np.zeros((len(self.classes),) * 2, np.int64)
        for answers in self.clients.values():
            np.add.at(out, (answers.truth, answers.said), 1)
        return out


def labelled_frames(client: Client, number: int, seed: int, past: int = 0) -> SyntheticFrames:
    """The frames that a client has labels for."""
    return make_frames(client.signal, client.labelled, word(seed, number, LABELLED), past)


def fresh_frames(client: Client, number: int, seed: int, past: int = 0) -> SyntheticFrames:
    """Fresh frames to test per client's head on."""
    return make_frames(client.signal, client.test, word(seed, number, TEST), past)


def word(seed: int, number: int, purpose: int) -> int:
    """The seed of one client's frames for one purpose."""
    return int(np.random.SeedSequence([seed, number, purpose]).generate_state(1, np.uint64)[0])


def embedder(bundle: Bundle, mode: Mode, window: int, hop: int, level: bool = False) -> Embed:
    """The function from samples to embeddings in this mode; with ``level`` a frame's log RMS is one entry."""
    encoder, front_end = bundle.encoder, bundle.meta.front_end
    if mode == "frame":
        return lambda iq: embed_frames(encoder, iq, level=level)
    if not isinstance(front_end, LevelSettings):
        raise ConfigError(f"model {bundle.name} finds emissions in a band; frames are not for it")
    agc_samples = front_end.agc_samples
    return lambda iq: embed_live(encoder, iq, hop=hop, window=window, agc_samples=agc_samples)


def fit_clients(
    clients: Sequence[Client],
    embed: Embed,
    identity: Identity,
    seed: int,
    past: int = 0,
    search: Search | None = None,
) -> dict[str, Fit]:
    """A personal head for each client, on its own labels."""
    fits = {}
    for number, client in enumerate(clients):
        frames = labelled_frames(client, number, seed, past)
        mine = replace(identity, name=client.name)
        fits[client.name] = fit_head(embed(frames.iq), frames.label, mine, search)
    return fits


def head_row(
    name: str, heads: dict[str, Head], clients: Sequence[Client], embed: Embed, seed: int, past: int = 0
) -> Row:
    """A row of heads on embeddings of the clients' test frames."""
    answers = {}
    for number, client in enumerate(clients):
        if client.name not in heads:
            raise ConfigError(f"the model has no head {client.name!r}; wavetell fit makes one")
        head, frames = heads[client.name], fresh_frames(client, number, seed, past)
        if not set(head.classes) <= set(frames.classes):
            raise ConfigError(
                f"head {head.name} has the classes {head.classes}; the set has {frames.classes}"
            )
        chosen, probabilities = head.answer(embed(frames.iq))
        index = np.array([frames.classes.index(c) for c in head.classes])
        said = index[probabilities.argmax(1)]
        answers[client.name] = Answers(said, frames.label, frames.snr_db, float(np.mean(chosen < 0)))
    return Row(name, clients[0].signal.classes, answers)


def model_row(
    bundle: Bundle, clients: Sequence[Client], seed: int, mode: Mode = "frame", past: int = 0
) -> Row:
    """The model's own heads, in the mode they were fitted for."""
    heads = {head.name.removesuffix("-live"): head for head in bundle.heads.values() if head.mode == mode}
    first = heads.get(clients[0].name)
    if first is None:
        raise ConfigError(
            f"model {bundle.name} has no {mode} head {clients[0].name!r}; wavetell fit makes one"
        )
    embed = embedder(bundle, mode, first.window, first.hop, first.level)
    name = "model" if mode == "frame" else f"model, live with {past} samples of past"
    return head_row(name, heads, clients, embed, seed, past)


def untrained_row(encoder: AnyEncoder, clients: Sequence[Client], seed: int) -> Row:
    """Heads on an untrained encoder of the same shape, fitted on the same labels."""
    fresh = Encoder(encoder.shape, seed=seed)
    name = f"untrained encoder, {encoder.shape.pooling} pooling"
    return fitted_row(name, clients, partial(embed_frames, fresh), seed)


def cumulant_row(clients: Sequence[Client], seed: int, level: bool = False) -> Row:
    """Heads on cumulants, fitted on the same labels; with ``level`` they see the frame's log RMS, too."""
    # Few features separate nothing: beyond C = 100 a fit takes minutes.
    search = Search(C=(0.1, 1.0, 10.0, 100.0))
    if level:
        return fitted_row("cumulants and level", clients, cumulants_and_level, seed, search)
    return fitted_row("cumulants", clients, cumulants, seed, search)


def fitted_row(
    name: str, clients: Sequence[Client], embed: Embed, seed: int, search: Search | None = None
) -> Row:
    """Heads fitted here on the clients' labels, and tested."""
    N = clients[0].signal.samples
    identity = Identity(name, clients[0].signal.classes, "frame", N, N, "")
    fits = fit_clients(clients, embed, identity, seed, search=search)
    return head_row(name, {client: fit.head for client, fit in fits.items()}, clients, embed, seed)


def known_row(clients: Sequence[Client], seed: int) -> Row:
    """The best answers where gain, phase, carrier offset and SNR of every frame are given away."""
    answers = {}
    for number, client in enumerate(clients):
        frames = fresh_frames(client, number, seed)
        said = known_posteriors(client.signal, client.test, frames).argmax(1)
        answers[client.name] = Answers(said, frames.label, frames.snr_db)
    return Row("limit, parameters known", clients[0].signal.classes, answers)
