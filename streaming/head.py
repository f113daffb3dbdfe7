"""A head: the support vector machine that names an embedding, evaluated from plain arrays.

Embeddings are standardised, z = (e - mean) / scale. For each pair of classes (i, j) the machine decides

    f_ij(z) = sum_s a_s,ij K(v_s, z) + b_ij,      K(v, z) = v.z   or   exp(-gamma |v - z|^2),

positive for i, as scikit-learn's SVC does; with two classes the one value is positive for the second.
Probabilities are softmax(W f + c), with W and c fitted on decisions of vectors the machine had not seen.

Support vectors are stored as float16. Heads are fitted on embeddings rounded before to steps of 1/32, which
float16 holds exactly, so nothing is lost, and four heads of 2,800 vectors stay below the 10 MB of a bundle. A
query is split into its own steps and a small rest: whole numbers of steps add up exactly in float32, and the
rest is 64 times smaller, so two float32 products give float64's decisions to some 1e-8.

A head may also know *families* of its classes. Behind a projection (`streaming.projection`) an embedding has
one more entry, the log odds of an outlier, and the answer is

    the class    where its probability is at least `certain`
    the family   where the sum over its classes is at least `threshold`
    unknown      elsewhere, and where the log odds of an outlier are above `outlier_limit`

where `outlier_margin` of the likeliest class is added to the limit: a class that was taught later is one that
the detector does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from streaming.checked import Checked, Range, annotations, as_json
from streaming.errors import InputError
from streaming.naming import Name, Names
from streaming.prediction import UNKNOWN

Mode = Literal["frame", "live"]
Kernel = Literal["linear", "rbf"]
Floats = NDArray[np.float64]
STEPS = 32  # steps of a fitted vector in one standard deviation
ROWS = 256  # embeddings evaluated at once: bounds the memory of the kernel's values


MOST_SAMPLES = 2**24
Share = Annotated[float, Range(0, 1)]
LogOdds = Annotated[float, Range(-1e9, 1e9)]

# A head without these has no such answers.
OPTIONAL = ("families", "certain", "outlier_limit", "outlier_margin", "level")


@dataclass(frozen=True, eq=False)
class Head(Checked):
    """A fitted head. n vectors of D outputs, k classes, p = k (k - 1) / 2 pairs."""

    section = "head"
    name: str
    classes: tuple[str, ...]
    mode: Mode
    window: Annotated[int, Range(1, MOST_SAMPLES)]  # samples: of a frame, or of the sliding window
    hop: Annotated[int, Range(1, MOST_SAMPLES)]
    encoder_sha256: str
    kernel: Kernel
    gamma: Annotated[float, Range(0, 1e9)]
    threshold: Share  # below this probability, of the class or else the family, the answer is unknown
    mean: Floats  # (D,)
    scale: Floats  # (D,)
    vectors: NDArray[np.float16]  # (n, D), standardised, ordered by class
    counts: NDArray[np.int64]  # (k,), support vectors of each class
    dual: Floats  # (k - 1, n), libsvm's layout
    intercept: Floats  # (p,)
    calibration: Floats  # (p, k)
    calibration_bias: Floats  # (k,)
    families: tuple[str, ...] = ()  # of each class
    certain: Share = 0.0  # below this probability of the class, the family is the answer
    outlier_limit: LogOdds | None = None  # log odds of an outlier above which the answer is unknown
    outlier_margin: Floats | None = None  # (k,)
    level: bool = False  # of frames: the last of the D entries is the log of the frame's RMS

    def __post_init__(self) -> None:
        super().__post_init__()
        for f in fields(self):
            value, kind = getattr(self, f.name), "i" if f.name == "counts" else "f"
            scalar = f.name in annotations(Head) or (f.name in OPTIONAL and value is None)
            if not scalar and (not isinstance(value, np.ndarray) or value.dtype.kind != kind):
                raise InputError(f"head {self.name}: {f.name} must be an array of numbers")
        k, p = len(self.classes), len(self.classes) * (len(self.classes) - 1) // 2
        n, outputs = self.vectors.shape if self.vectors.ndim == 2 else (-1, -1)
        shapes = {
            "mean": (outputs,),
            "scale": (outputs,),
            "vectors": (n, outputs),
            "counts": (k,),
            "dual": (k - 1, n),
            "intercept": (p,),
            "calibration": (p, k),
            "calibration_bias": (k,),
        }
        if self.outlier_margin is not None:
            shapes["outlier_margin"] = (k,)
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise InputError(
                    f"head {self.name}: {name} has shape {getattr(self, name).shape}; expected {shape}"
                )
        if k < 2 or len(set(self.classes)) < k:
            raise InputError(f"head {self.name} has classes {self.classes}; expected two or more that differ")
        if self.counts.min() < 0 or self.counts.sum() != n or not (self.scale > 0).all():
            raise InputError(f"head {self.name}: counts or scale are impossible")
        if self.families and len(self.families) != k:
            raise InputError(
                f"head {self.name} has {len(self.families)} families; expected {k}, one per class"
            )
        if self.level and self.mode != "frame":
            raise InputError(f"head {self.name} sees the level of a stream; only frames have one")
        if self.window % self.hop:
            raise InputError(f"head {self.name}: window {self.window} must be a multiple of hop {self.hop}")

    @cached_property
    def _machine(self) -> tuple[NDArray[Any], Floats, Floats]:
        """Vectors (D, n), their squared norms (n,), and what each adds to each pair's decision (n, p)."""
        vectors = self.vectors.astype(np.float64)
        edges = np.concatenate([[0], np.cumsum(self.counts)])
        of = [slice(edges[i], edges[i + 1]) for i in range(len(self.classes))]
        pairs = np.zeros((len(vectors), len(self.intercept)))
        for column, (i, j) in enumerate(combinations(range(len(self.classes)), 2)):
            pairs[of[i], column] = self.dual[j - 1, of[i]]
            pairs[of[j], column] = self.dual[i, of[j]]
        stepped = (np.rint(vectors * STEPS) == vectors * STEPS).all()
        columns: NDArray[Any] = np.ascontiguousarray(vectors.T, np.float32 if stepped else np.float64)
        return columns, np.square(vectors).sum(1), pairs

    @cached_property
    def _weights(self) -> Floats:
        """The planes of a linear machine, (D, p)."""
        columns, _, pairs = self._machine
        return columns.astype(np.float64) @ pairs

    @property
    def entries(self) -> int:
        """Entries of an embedding that the head takes."""
        return len(self.mean) + (self.outlier_limit is not None)

    def _standardised(self, embeddings: NDArray[np.float32]) -> Floats:
        if embeddings.ndim != 2 or embeddings.shape[1] != self.entries:
            raise InputError(f"embeddings have shape {embeddings.shape}; expected (n, {self.entries})")
        return np.asarray((embeddings[:, : len(self.mean)] - self.mean) / self.scale)

    def decide(self, embeddings: NDArray[np.float32]) -> Floats:
        """Embeddings (m, D) to decisions (m, p)."""
        z = self._standardised(embeddings)  # (m, D)
        if self.kernel == "linear":
            return z @ self._weights + self.intercept
        decisions = [self._decide_rbf(z[i : i + ROWS]) for i in range(0, len(z), ROWS)]
        return np.concatenate(decisions) if decisions else np.empty((0, len(self.intercept)))

    def _decide_rbf(self, z: Floats) -> Floats:
        return np.asarray(self._kernel(z) @ self._machine[2] + self.intercept)

    def _kernel(self, z: Floats) -> Floats:
        """Standardised embeddings (m, D) to kernel values (m, n)."""
        columns, norms, _ = self._machine
        steps = np.rint(z * STEPS) / STEPS
        products = (steps.astype(columns.dtype) @ columns).astype(np.float64)  # (m, n)
        products += (z - steps).astype(columns.dtype) @ columns
        products *= -2
        products += norms
        products += np.square(z).sum(1, keepdims=True)  # now the squared distances
        np.maximum(products, 0, out=products)
        products *= -self.gamma
        np.exp(products, out=products)
        return np.asarray(products)

    def probabilities(self, embeddings: NDArray[np.float32]) -> Floats:
        """Embeddings (m, D) to calibrated probabilities (m, k)."""
        if self.families and self.kernel == "rbf":
            scores = self._scores(embeddings)
        else:
            scores = self.decide(embeddings) @ self.calibration + self.calibration_bias
        scores -= scores.max(1, keepdims=True)
        np.exp(scores, out=scores)
        return np.asarray(scores / scores.sum(1, keepdims=True))

    def _scores(self, embeddings: NDArray[np.float32]) -> Floats:
        """The same scores (m, k) past the pairs: with 26 classes those are 325, and twelve times the work."""
        weights, bias = self._folded
        z = self._standardised(embeddings)
        scores = [self._kernel(z[i : i + ROWS]) @ weights for i in range(0, len(z), ROWS)]
        return (np.concatenate(scores) if scores else np.empty((0, len(bias)))) + bias

    @cached_property
    def _folded(self) -> tuple[Floats, Floats]:
        """What each vector adds to each class's score (n, k), and what is there without any (k,)."""
        weights = self._machine[2] @ self.calibration
        return weights, self.intercept @ self.calibration + self.calibration_bias

    def answer(self, embeddings: NDArray[np.float32]) -> tuple[NDArray[np.int64], Floats]:
        """The class of each embedding, -1 for unknown, and its probabilities."""
        probabilities = self.probabilities(embeddings)
        best = probabilities.argmax(1)
        known = self.names.confidence(probabilities) >= self.threshold
        if self.outlier_limit is not None:
            margin = 0.0 if self.outlier_margin is None else self.outlier_margin[best]
            known &= embeddings[:, -1] <= self.outlier_limit + margin
        return np.where(known, best, -1), probabilities

    def name_all(self, embeddings: NDArray[np.float32]) -> tuple[list[Name], Floats]:
        """What each embedding is, class, family or unknown, and its probabilities (m, k)."""
        chosen, probabilities = self.answer(embeddings)
        names = [
            self.names.of(row) if index >= 0 else Name(UNKNOWN, None, float(row.max()))
            for index, row in zip(chosen.tolist(), probabilities, strict=True)
        ]
        return names, probabilities

    @cached_property
    def names(self) -> Names:
        """What its answers are called."""
        return Names(self.classes, self.families, self.certain)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, for a bundle."""
        return {f.name: value for f in fields(self) if isinstance(value := getattr(self, f.name), np.ndarray)}

    def meta(self) -> dict[str, Any]:
        """Everything else, for a bundle's description."""
        meta = {
            f.name: value
            for f in fields(self)
            if not isinstance(value := getattr(self, f.name), np.ndarray)
            and (f.name not in OPTIONAL or value not in (f.default, None))
        }
        return {name: as_json(value) for name, value in meta.items()}

    @classmethod
    def from_arrays(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> "Head":
        """The head of a bundle; whatever does not fit together is named."""
        expected = {f.name for f in fields(cls)}
        wrong = (expected ^ (meta.keys() | arrays.keys())) - set(OPTIONAL)
        if wrong:
            raise InputError(
                f"a head must have exactly {', '.join(sorted(expected))}; {sorted(wrong)[0]} is wrong"
            )
        return cls(**{**meta, **arrays})
