"""How good a head of the model `radio` is: by SNR, class and family, how well calibrated, what is unknown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streaming.features import COUNT
from streaming.head import Head
from training.datasets.radio_signals import Signals, make_signals
from training.evaluation.accuracy import Accuracy
from training.heads.open_set import OpenSetData
from training.heads.radio_fit import FALSE_ALARMS, LENGTH, with_open_set
from training.heads.search import Labels
from training.signals.classes import FAMILIES
from training.signals.conditions import Conditions

TEST = 1_000_002  # second word of a seed: what the signals are for
EDGES_DB = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0)
HIGH_DB = 10.0  # the accuracy of families is judged from here on
BINS = 15  # of probability, for the calibration error
Embeddings = NDArray[np.float32]
Real = NDArray[np.float64]


def test_signals(each: int, seed: int, classes: Sequence[str]) -> Signals:
    """Fresh emissions: other seeds, so other symbol rates, offsets, channels, receivers and messages."""
    word = int(np.random.SeedSequence([seed, TEST]).generate_state(1, np.uint32)[0])
    counts = [each] * len(classes)
    return make_signals(
        classes, counts, samples=LENGTH, conditions=Conditions(snr_db=(EDGES_DB[0], EDGES_DB[-1])), seed=word
    )


@dataclass(frozen=True)
class Judged:
    """Answers beside the truth; refusals count by their likeliest class."""

    truth: NDArray[np.str_]  # (n,)
    said: NDArray[np.str_]  # (n,)
    family: NDArray[np.str_]  # (n,), the likeliest
    sure: Real  # (n,), probability of what was said
    family_sure: Real  # (n,)
    refused: NDArray[np.bool_]  # (n,)
    snr_db: NDArray[np.float32]  # (n,)

    @property
    def right(self) -> NDArray[np.bool_]:
        """Of the class."""
        return np.asarray(self.truth == self.said)

    @property
    def family_right(self) -> NDArray[np.bool_]:
        """Of the family."""
        return np.asarray(np.array([FAMILIES[name] for name in self.truth.tolist()]) == self.family)


def judge(head: Head, embeddings: Embeddings, truth: Sequence[str], snr_db: NDArray[np.float32]) -> Judged:
    """The head's answers for these embeddings."""
    chosen, probabilities = head.answer(embeddings)
    together = head.names.family_probabilities(probabilities)
    return Judged(
        np.array(truth),
        np.array(head.classes)[probabilities.argmax(1)],
        np.array(head.names.known_families)[together.argmax(1)],
        probabilities.max(1),
        together.max(1),
        np.asarray(chosen < 0),
        snr_db,
    )


def summary(judged: Judged) -> dict[str, object]:
    """All figures, as JSON."""
    high = judged.snr_db >= HIGH_DB
    families = np.array([FAMILIES[name] for name in judged.truth.tolist()])
    bins = list(pairwise(EDGES_DB))
    return {
        "signals": len(judged.truth),
        "class": share(judged.right),
        "family": share(judged.family_right),
        "class_high": share(judged.right[high]),
        "family_high": share(judged.family_right[high]),
        "ece_class": expected_error(judged.sure, judged.right),
        "ece_family": expected_error(judged.family_sure, judged.family_right),
        "refused": share(judged.refused),
        "by_snr": [
            {
                "from_db": low,
                "to_db": up,
                "class": share(judged.right[m]),
                "family": share(judged.family_right[m]),
            }
            for low, up in bins
            if (m := (judged.snr_db >= low) & (judged.snr_db < up)).any()
        ],
        "by_class_high": {
            name: {"class": share(judged.right[m]), "family": share(judged.family_right[m])}
            for name in dict.fromkeys(judged.truth.tolist())
            if (m := high & (judged.truth == name)).any()
        },
        "by_family_high": {
            name: share(judged.family_right[m])
            for name in dict.fromkeys(families.tolist())
            if (m := high & (families == name)).any()
        },
    }


def share(right: NDArray[np.bool_]) -> dict[str, float]:
    """Per cent, with its 95 % interval."""
    accuracy = Accuracy.of(right)
    low, high = accuracy.interval
    return {"percent": 100 * accuracy.share, "low": 100 * low, "high": 100 * high}


def expected_error(sure: Real, right: NDArray[np.bool_]) -> float:
    """ECE = sum over bins of (n_b / n) |mean probability - share right|, bins of equal width."""
    number = np.minimum((sure * BINS).astype(int), BINS - 1)
    gaps = [
        abs(float(np.sum(sure[number == b]) - np.sum(right[number == b]))) for b in np.unique(number).tolist()
    ]
    return float(sum(gaps) / len(sure))


def unseen(
    head: Head,
    data: OpenSetData,
    test: tuple[Embeddings, Labels, NDArray[np.float32]],
    classes: Sequence[str],
    like: bool = True,
) -> dict[str, dict[str, float]]:
    """Each family in turn left out of the training data: what share of each of its classes is called unknown.

    Outliers that are made of it, and those `like` it, are left out, too. `false alarms` beside it is the
    share of the other classes' test signals that is called unknown; both also from 10 dB on. `flagged_at_5`
    is what would be found from 10 dB on with 5 % false alarms there.
    """
    out: dict[str, dict[str, float]] = {}
    embeddings, labels, snr_db = test
    high = snr_db >= HIGH_DB
    family = np.array([FAMILIES[name] for name in classes])
    for left_out in dict.fromkeys(family.tolist()):
        left = data.without(left_out, like)
        blind = with_open_set(standardised(head, left), left, FALSE_ALARMS, 0)
        odds = blind.outlier_odds(embeddings)
        refused, mine = odds > blind.outlier_limit, family[labels] == left_out
        exact = odds > np.quantile(odds[~mine & high], 1 - FALSE_ALARMS)
        for index in np.unique(labels[mine]).tolist():
            own = labels == index
            out[classes[index]] = {
                "flagged": percent(refused[own]),
                "false alarms": percent(refused[~mine]),
                "flagged_high": percent(refused[own & high]),
                "false alarms_high": percent(refused[~mine & high]),
                "flagged_at_5": percent(exact[own & high]),
            }
    return out


def standardised(head: Head, data: OpenSetData) -> Head:
    """The head with features standardised by these data, for its open-set detector alone."""
    mean, scale = data.known.mean(0), data.known.std(0) + 1e-6
    return replace(
        head,
        mean=np.concatenate([head.mean[:-COUNT], mean]).astype(head.mean.dtype),
        scale=np.concatenate([head.scale[:-COUNT], scale]).astype(head.scale.dtype),
    )


def percent(found: NDArray[np.bool_]) -> float:
    """The share in per cent."""
    return 100 * float(np.mean(found))
