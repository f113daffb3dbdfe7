"""The new encoder with a head of the station's own, fitted to labels that never leave it.

Where the recipe ends with outputs set in closed form (`training.pretraining.canonical`), the station sets
them by its own frames: they are inputs of its own head and of no other.
"""

from dataclasses import replace
from pathlib import Path

from streaming.bundle import Bundle, encoder_sha256, load_bundle
from streaming.encoder import Encoder
from streaming.pipeline import choose_head
from training.datasets import open_dataset
from training.datasets.frames import Frames
from training.datasets.synthetic import paper_clients
from training.evaluation.evaluate import embedder, labelled_frames
from training.federation.manifest import Manifest
from training.federation.station.learner import (
    base_path,
    behind_front_end,
    load_frames,
    make_bundle,
    recipe_from_json,
)
from training.federation.station.lesson import Synthetic, Wanted
from training.heads.fit import Identity, fit_head
from training.heads.recordings import fit_recordings
from training.heads.search import Search
from training.pretraining.canonical import settle
from training.pretraining.checkpoint import load_checkpoint

AGREE = 10_000  # frames that the outputs are set by, as `wavetell pretrain` takes


def make_own(folder: Path, manifest: Manifest, wanted: Wanted) -> None:
    """Write the newest global model as a bundle, with the station's own head where it has labels."""
    found = load_checkpoint(base_path(folder))
    assert found is not None
    recipe = recipe_from_json(manifest.recipe, manifest.rounds)
    bundle = make_bundle(manifest, found[0], wanted.out.stem)
    if recipe.canonical is not None:
        frames = load_frames(wanted.data, manifest.seed, recipe)[:AGREE]
        encoder = Encoder.of(bundle.encoder)
        settle(encoder, [(wanted.head, frames)], recipe.canonical)
        bundle = replace(bundle, encoder=encoder)
    if behind_front_end(recipe) and wanted.labelled:
        like = choose_head(load_bundle("radio"), "", "live")  # its window and hop
        head = fit_recordings(bundle, like, wanted.labelled, wanted.head, Search()).head
        bundle = replace(bundle, heads={wanted.head: head})
    elif not behind_front_end(recipe) and (labels := own_labels(wanted, manifest.seed)):
        bundle = with_head(bundle, labels, wanted)
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
    embed = embedder(bundle, "live", wanted.window, wanted.window)
    name, sha256 = wanted.head, encoder_sha256(bundle.encoder)
    identity = Identity(name, frames.classes, "live", wanted.window, wanted.window, sha256)
    head = fit_head(embed(frames.iq), frames.label, identity).head
    return replace(bundle, heads={name: head})
