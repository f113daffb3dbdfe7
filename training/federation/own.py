"""The new encoder with a head of the station's own, fitted to labels that never leave it."""

from dataclasses import replace
from pathlib import Path

from streaming.bundle import Bundle, encoder_sha256
from training.checkpoint import load_checkpoint
from training.datasets import open_dataset
from training.evaluate import embedder, labelled_frames
from training.federation.learner import base_path, make_bundle
from training.federation.lesson import Synthetic, Wanted
from training.federation.manifest import Manifest
from training.frames import Frames
from training.heads import Identity, fit_head
from training.synthetic import paper_clients

AGC_SAMPLES = 4096.0


def make_own(folder: Path, manifest: Manifest, wanted: Wanted) -> None:
    """Write the newest global model as a bundle, with the station's own head where it has labels."""
    found = load_checkpoint(base_path(folder))
    assert found is not None
    bundle = make_bundle(manifest, found[0], wanted.out.stem)
    frames = own_labels(wanted, manifest.seed)
    if frames is not None:
        bundle = with_head(bundle, frames, wanted)
    bundle.save(wanted.out)


def own_labels(wanted: Wanted, seed: int) -> Frames | None:
    """Labelled stretches (n, past + window), if the station has any."""
    if wanted.labelled:
        return open_dataset(wanted.labelled, samples=wanted.past + wanted.window)
    if wanted.labels and isinstance(wanted.data, Synthetic):
        client = paper_clients(wanted.labels)[wanted.data.number % 4]
        signal = replace(client.signal, samples=wanted.window)
        return labelled_frames(replace(client, signal=signal), wanted.data.number, seed, wanted.past)
    return None


def with_head(bundle: Bundle, frames: Frames, wanted: Wanted) -> Bundle:
    """The bundle with a live head fitted to these labels."""
    embed = embedder(bundle.encoder, "live", wanted.window, wanted.window, AGC_SAMPLES)
    name, sha256 = wanted.head, encoder_sha256(bundle.encoder)
    identity = Identity(name, frames.classes, "live", wanted.window, wanted.window, sha256)
    head = fit_head(embed(frames.iq), frames.label, identity).head
    meta = bundle.meta | {"frontend": {"agc_samples": AGC_SAMPLES}}
    return Bundle(bundle.encoder, {name: head}, meta, bundle.name)
