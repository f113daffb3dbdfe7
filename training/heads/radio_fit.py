"""The projection and the head of the model `radio`, fitted on simulated emissions behind the band front end.

The projection learns from many emissions of all classes; the head, a local SVM as users teach them, from few
labelled ones, as the live pipeline embeds them. Those are as many of each class, and its probabilities are
weighed by how often each class was made for the projection: what is on the air more often is likelier. The
limit of the outlier odds is set so that a small share of held-out known emissions is called unknown. No
signal of an unseen class is needed.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streaming.band.embedding import EmissionEmbedder
from streaming.block import Samples
from streaming.bundle import Bundle, encoder_sha256
from streaming.engine import open_engine
from streaming.head import Head
from training.datasets.emissions import FRONT_END, OFTEN, OUTLIER, make_evidence
from training.datasets.examples import Maker, make_examples
from training.heads.fit import Fit, Identity, fit_live
from training.heads.projection import Training, fit_projection
from training.heads.search import Search
from training.progress import Progress
from training.signals.classes import CLASSES, FAMILIES

WINDOW, HOP = 2_048, 512  # samples at the model's rate
KNOWN, OUTLIERS = 100_000, 24_000  # emissions for the projection, and for its open-set detector
PARTLY, PARTLY_HEARD = 8_000, ("OFDM",)  # more of what receivers hear a part of, and of many kinds
HELD = 10  # every tenth known emission is held out for the limit
FALSE_ALARMS = 0.005  # share of them called unknown: the air differs more from simulation than they do
CERTAIN = 0.4  # probability from which the class itself is reported
LABELLED = 1_000_001  # second word of a seed: what the emissions are for
SEARCH = Search(C=(1.0, 10.0), gamma=(0.5, 1.0), refuse=0.0, penalties=(1.0, 3.0, 10.0))


def fit_radio(
    bundle: Bundle,
    each: int,
    seed: int,
    folder: Path,
    known: int = KNOWN,
    outliers: int = OUTLIERS,
    partly_heard: int = PARTLY,
) -> tuple[Bundle, Fit]:
    """The bundle with its projection, and the head `live` from `each` labelled emissions per class."""
    examples = make_examples(Maker(OFTEN, seed), known, folder, "emissions")
    partly = make_examples(Maker(PARTLY_HEARD, seed + 2), partly_heard, folder, "emissions of a part")
    strange = make_examples(Maker((OUTLIER,), seed + 1), outliers, folder, "outliers")
    held = examples.number // len(OFTEN) % HELD == 0  # all examples of an emission, and all classes alike
    more = np.array([examples.names.index(name) for name in partly.names])
    known_labels = np.concatenate([examples.label[~held], more[partly.label]])
    projection = fit_projection(
        np.concatenate([examples.features[~held], partly.features]),
        known_labels,
        examples.names,
        strange.features,
        seed,
        Training(),
    )
    bundle = replace(bundle, projection=projection, meta=replace(bundle.meta, front_end=FRONT_END))
    limit = float(np.quantile(projection.push(examples.features[held])[:, -1], 1 - FALSE_ALARMS))
    evidence, labels = labelled_evidence(each, seed)
    rows = embed(bundle, evidence)
    identity = Identity("live", CLASSES, "live", WINDOW, HOP, encoder_sha256(bundle.encoder))
    fit = fit_live(bundle, rows, labels, identity, replace(SEARCH, seed=seed))
    families = tuple(FAMILIES[name] for name in fit.head.classes)
    head = replace(fit.head, families=families, certain=CERTAIN, outlier_limit=limit)
    often = np.bincount(known_labels, minlength=len(examples.names))
    made = dict(zip(examples.names, often.tolist(), strict=True))
    return bundle, replace(fit, head=weighed(head, made))


def weighed(head: Head, times: Mapping[str, int]) -> Head:
    """A head of equally frequent classes, for classes that occur so many times."""
    often = np.array([max(1, times[name]) for name in head.classes])
    return replace(head, calibration_bias=head.calibration_bias + np.log(often / often.mean()))


def labelled_evidence(each: int, seed: int) -> tuple[list[tuple[Samples, float]], NDArray[np.int64]]:
    """`each` emissions of every class with their SNR, and their labels."""
    evidence, labels = list[tuple[Samples, float]](), list[int]()
    with Progress("labelled emissions", each * len(CLASSES)) as progress:
        for label, name in enumerate(CLASSES):
            number = 0
            while labels.count(label) < each:
                made = make_evidence(name, np.random.default_rng([seed, LABELLED, label, number]))
                number += 1
                if made:
                    evidence.append(made)
                    labels.append(label)
                    progress.to(len(labels))
    return evidence, np.array(labels)


def embed(bundle: Bundle, evidence: list[tuple[Samples, float]]) -> NDArray[np.float32]:
    """Embeddings (n, entries), as the live pipeline makes them."""
    embedder = EmissionEmbedder(bundle, open_engine(bundle.encoder, HOP), WINDOW)
    rows = [embedder.push([one]) for one in evidence]
    embedder.close()
    return np.concatenate(rows)
