"""Whether a new model is taken into use: a station's own held-out accuracy decides; only that leaves it.

The new model and the one in use are judged by the same labelled recordings, each half by a head of the other
half. The one in use stays where the new one names them worse; a federation that was rolled back by its
coordinator is followed in any case.
"""

from dataclasses import dataclass
from pathlib import Path

from streaming.bundle import load_bundle
from streaming.pipeline import choose_head
from training.federation.manifest import Manifest
from training.federation.station.lesson import Wanted

KEPT, CANDIDATE = "kept.safetensors", "candidate.safetensors"


@dataclass(frozen=True)
class Verdict:
    """Held-out accuracies of a new model, and of the one in use if there is one."""

    new: float
    used: float | None

    def switches(self, rolled_back: bool) -> bool:
        """Whether the new one is taken into use."""
        return rolled_back or self.used is None or self.new >= self.used


def judge(folder: Path, manifest: Manifest, wanted: Wanted) -> Verdict:
    """Make the newest model with the station's own head beside the one in use, and judge both."""
    from training.federation.station.own import make_own

    make_own(folder, manifest, wanted)
    kept = folder / KEPT
    return Verdict(
        accuracy_of(wanted.out, wanted.labelled),
        accuracy_of(kept, wanted.labelled) if kept.exists() else None,
    )


def accuracy_of(path: Path, labelled: str) -> float:
    """The held-out accuracy that a bundle's encoder allows."""
    from training.heads.recordings import embed_recordings, held_out_accuracy
    from training.heads.search import Search

    bundle, like = load_bundle(str(path)), choose_head(load_bundle("radio"), "", "live")
    return held_out_accuracy(bundle, like, embed_recordings(bundle, like, labelled), Search())


def take_into_use(folder: Path) -> Path:
    """The candidate is now the one in use; its file."""
    (folder / CANDIDATE).replace(folder / KEPT)
    return folder / KEPT
