"""SVMs behind an encoder: one per client, on the client's own labels (`training.heads.fit`).

Above 10,000 labels a stratified 10,000 are embedded, as the paper's reference does. With `search_labels` the
settings are chosen by cross-validation on that many labels, and the machine is fitted on all.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sklearn.svm import SVC

from streaming.block import Samples
from streaming.head import Head
from training.datasets.frames import Frames
from training.datasets.partition import label_budget
from training.heads.embed import Embeddings
from training.heads.fit import MOST, Identity, fit_head
from training.heads.search import Search
from training.methods.base import Budget, ClientFrames, Labels

Embed = Callable[[Samples], Embeddings]
PROBE = 400  # frames a client that a quick look is fitted and tested on


class Machines:
    """One machine per client."""

    def __init__(
        self,
        clients: Sequence[ClientFrames],
        embed: Embed,
        budget: Budget,
        seed: int,
        search: Search | None = None,
        level: bool = False,
    ) -> None:
        self.embed = embed
        self.fitted = [machine(client.labelled, embed, budget, seed, search, level) for client in clients]

    def predict(self, client: int, frames: Samples) -> Labels:
        """Class indices (n,)."""
        found = self.fitted[client]
        if isinstance(found, int):
            return np.full(len(frames), found, np.int64)
        head, index = found
        return np.asarray(index[head.probabilities(self.embed(frames)).argmax(1)], np.int64)


def machine(
    frames: Frames,
    embed: Embed,
    budget: Budget,
    seed: int,
    search: Search | None = None,
    level: bool = False,
) -> tuple[Head, Labels] | int:
    """A head and the class of each of its outputs; or the one class that a client knows.

    With ``level`` the last entry of an embedding is the level.
    """
    counts = frames.counts()
    known = np.flatnonzero(counts >= 2)  # a single label cannot be cross-validated
    if len(known) < 2:
        return int(counts.argmax())
    frames = frames.take(np.flatnonzero(np.isin(frames.label, known)))
    if len(frames) > MOST:
        frames = frames.take(label_budget(frames.label, MOST, seed))
    search = search or budget.search
    samples = frames.iq.shape[1]
    identity = Identity("client", frames.classes, "frame", samples, samples, "", level)
    x, y = embed(frames.iq), frames.label
    if budget.search_labels is not None and budget.search_labels < len(y):
        rows = label_budget(y, max(budget.search_labels, 2 * len(known)), seed)
        chosen = fit_head(x[rows], y[rows], identity, search)
        search = replace(search, C=(chosen.C,), gamma=(chosen.gamma_scale,), folds=2)
    return fit_head(x, y, identity, search).head, known


def quick_look(clients: Sequence[ClientFrames], embed: Embed) -> float:
    """Mean validation accuracy of a machine with fixed settings on few labels; it only watches a run."""
    shares = []
    for client in clients:
        train, test = client.labelled.take(slice(0, PROBE)), client.validation.take(slice(0, PROBE))
        if len(np.unique(train.label)) < 2:
            shares.append(float(np.mean(test.label == train.label[0])))
            continue
        a, b = embed(train.iq), embed(test.iq)
        centre, scale = a.mean(0), a.std(0) + 1e-9
        fitted = SVC(C=3.0).fit((a - centre) / scale, train.label)
        shares.append(float(np.mean(fitted.predict((b - centre) / scale) == test.label)))
    return float(np.mean(shares))
