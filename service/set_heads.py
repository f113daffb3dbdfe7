"""Heads from the labels of a data set: of its frames, or of what a front end finds in its recordings."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.embedding import Embedder
from streaming.block import Samples
from streaming.bundle import Bundle, encoder_sha256
from streaming.engine import open_engine
from streaming.errors import ConfigError, InputError
from streaming.head import Mode
from streaming.pipeline import choose_head
from training.datasets import open_dataset, open_stretches
from training.embed import Embeddings
from training.heads import Fit, Identity, Search, fit_head, measured_weights
from training.partition import label_budget
from training.signals.classes import NOISE

Embed = Callable[[Samples], Embeddings]


def fit_frames(
    args: argparse.Namespace, bundle: Bundle, embed: Embed, mode: Mode, search: Search
) -> dict[str, Fit]:
    """A head from the frames of a data set."""
    samples = (args.live or 0) + args.window
    frames = open_dataset(args.data, samples=samples)
    if frames.iq.shape[1] != samples:
        raise ConfigError(
            f"{args.data} has frames of {frames.iq.shape[1]}; use --window {frames.iq.shape[1]}"
        )
    if args.labels:
        frames = frames.take(label_budget(frames.label, args.labels, args.seed))
    name, hop = args.head or Path(args.data).stem, args.hop or args.window
    identity = Identity(name, frames.classes, mode, args.window, hop, encoder_sha256(bundle.encoder))
    return {name: fit_head(embed(frames.iq), frames.label, identity, search)}


def fit_recordings(args: argparse.Namespace, bundle: Bundle, search: Search) -> dict[str, Fit]:
    """A head from the labelled stretches of recordings, each as the model's front end finds it."""
    like = choose_head(bundle, "", "live")
    embedder = Embedder(bundle, open_engine(bundle.encoder, like.hop), like)
    found: list[tuple[str, NDArray[np.float32]]] = []
    for number, stretch in enumerate(open_stretches(args.data), 1):
        if stretch.label == NOISE:  # the front end says where nothing is, not the head
            continue
        if stretch.rate_hz is None:
            raise ConfigError(f"{args.data} has a recording without a sample rate")
        past = min(stretch.start, embedder.past)
        try:
            rows = embedder.embed(
                stretch.recording[stretch.start - past : stretch.end], past, stretch.rate_hz
            )
        except InputError as error:
            print(f"label {number}, {stretch.label}, is left out: {error}", file=sys.stderr, flush=True)
            continue
        found.append((stretch.label, rows))
    if not found:
        raise ConfigError(f"{args.data} has no labelled stretch with a signal")
    name, classes = args.head or Path(args.data).stem, tuple(sorted({label for label, _ in found}))
    labels = np.repeat([classes.index(label) for label, _ in found], [len(rows) for _, rows in found])
    rows = np.concatenate([rows for _, rows in found])
    if args.labels:
        keep = label_budget(labels, args.labels, args.seed)
        labels, rows = labels[keep], rows[keep]
    identity = Identity(name, classes, "live", like.window, like.hop, encoder_sha256(bundle.encoder))
    counting = measured_weights(rows.shape[1]) if bundle.measured else None
    return {name: fit_head(rows, labels, identity, search, counting)}
