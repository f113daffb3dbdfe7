"""How well a station names its unseen devices with a model, after a few labels of those that it heard.

What the front end finds of a recording does not depend on the model, and is found once. A head is fitted
to so many answers of each family, drawn over recordings; every unseen source counts alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardware.recording import read_recording
from streaming.band.embedding import EmissionEmbedder
from streaming.block import Block, Samples
from streaming.bundle import Bundle, encoder_sha256
from streaming.embedding import questions_in
from streaming.engine import open_engine
from streaming.errors import InputError
from training.datasets.emissions import FRONT_END
from training.datasets.recordings import all_samples
from training.experiments.stations.dealing import Dealt, Recorded
from training.heads.fit import Identity, fit_head, fit_live
from training.heads.radio_fit import HOP, WINDOW
from training.heads.search import Search

ANSWERS = 8  # kept of a recording, evenly spread
DRAWS = 10  # of labels; accuracies are their means
SEARCH = Search(C=(0.1, 1.0, 10.0, 100.0), gamma=(1.0,), refuse=0.0)

Evidence = dict[Path, list[tuple[Samples, float]]]  # of a recording's strongest emission, with SNRs, dB
Rows = dict[Path, NDArray[np.float32]]  # embeddings (answers, entries)


def find_evidence(recordings: Iterable[Recorded]) -> Evidence:
    """What is asked of each recording with a label; one in which nothing is found is left out."""
    asked_of: Evidence = {}
    for one in recordings:
        recording = read_recording(one.path)
        if not one.family or recording.rate_hz is None:
            continue
        try:
            asked = questions_in(Block(all_samples(recording), 0, recording.rate_hz), 0, None, FRONT_END)
        except InputError:
            continue
        chosen = np.linspace(0, len(asked) - 1, min(ANSWERS, len(asked))).round().astype(int)
        asked_of[one.path] = [(asked[i].samples, asked[i].box.snr_db) for i in chosen]
    return asked_of


def embed(bundle: Bundle, evidence: Evidence, recordings: Iterable[Recorded]) -> Rows:
    """As the live pipeline makes them."""
    engine = open_engine(bundle.encoder, HOP)
    with closing(EmissionEmbedder(bundle, engine, WINDOW)) as embedder:
        paths = [one.path for one in recordings if one.path in evidence]
        return {path: embedder.push(evidence[path]) for path in paths}


def judge(bundle: Bundle, rows: Rows, dealt: Dealt, each: int, seed: int, projected: bool) -> float:
    """Share of right families on unseen sources; `projected` with the projection beside the encoder."""
    rng = np.random.default_rng([seed, each])  # the same labels whatever the model
    return float(np.mean([judge_once(bundle, rows, dealt, each, rng, projected) for _ in range(DRAWS)]))


def judge_once(
    bundle: Bundle, rows: Rows, dealt: Dealt, each: int, rng: np.random.Generator, projected: bool
) -> float:
    """With one draw of labels."""
    outputs = bundle.encoder.shape.outputs
    families = Dealt(dealt.name, found(dealt.heard, rows), found(dealt.unseen, rows)).families
    drawn = [draw_labels(rows, dealt.heard, family, each, rng) for family in families]
    x = np.concatenate(drawn)
    labels = np.repeat(np.arange(len(families)), [len(part) for part in drawn])
    identity = Identity("own", families, "live", WINDOW, HOP, encoder_sha256(bundle.encoder))
    if projected:
        head = fit_live(bundle, x, labels, identity, SEARCH).head
    else:
        head = fit_head(x[:, :outputs], labels, identity, SEARCH).head
    right: dict[str, list[float]] = {}
    for one in dealt.unseen:
        if one.family in families and one.path in rows:
            said = head.probabilities(rows[one.path][:, : len(head.mean)]).argmax(1)
            right.setdefault(one.source, []).append(float(np.mean(said == families.index(one.family))))
    return float(np.mean([np.mean(shares) for shares in right.values()]))


def found(recordings: Iterable[Recorded], rows: Rows) -> tuple[Recorded, ...]:
    """Those in which the front end found something."""
    return tuple(one for one in recordings if one.path in rows)


def draw_labels(
    rows: Mapping[Path, NDArray[np.float32]],
    heard: Sequence[Recorded],
    family: str,
    each: int,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Answers (each, entries) of one family, from as many recordings as there are."""
    paths = [one.path for one in heard if one.family == family and one.path in rows]
    order = [paths[i] for i in rng.permutation(len(paths))]
    left = {path: rng.permutation(len(rows[path])).tolist() for path in order}
    drawn: list[NDArray[np.float32]] = []
    while len(drawn) < each and any(left.values()):
        for path in order:
            if left[path] and len(drawn) < each:
                drawn.append(rows[path][left[path].pop()])
    return np.stack(drawn)
