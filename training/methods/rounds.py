"""Rounds of averaging for any method: clients train one after the other on what they downloaded,

    theta^t = sum_c n_c / n theta_c^t

What a client keeps to itself (a personal head, FedDyn's h) stays in its own arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from training.methods.track import Track
from training.pretraining.averaging import weighted_mean
from training.pretraining.checkpoint import Arrays
from training.pretraining.trainer import part

# client, round, what it downloads -> what it uploads, its mean loss
Local = Callable[[int, int, Arrays], tuple[Arrays, float]]
Combine = Callable[[list[Arrays], Sequence[int]], Arrays]


def mean(updates: list[Arrays], samples: Sequence[int]) -> Arrays:
    """The sample-weighted mean."""
    return weighted_mean({f"{i:04}": pair for i, pair in enumerate(zip(updates, samples, strict=True))})


@dataclass
class Rounds:
    """The state of some rounds of averaging."""

    stage: str
    shared: Arrays  # what every client downloads
    samples: Sequence[int]  # n_c
    own: list[Arrays] = field(default_factory=list)  # what each client keeps

    def run(
        self,
        rounds: int,
        local: Local,
        track: Track,
        judge: Callable[[], float] | None = None,
        combine: Combine = mean,
    ) -> None:
        """All rounds, from the checkpoint where there is one."""
        self.own = self.own or [{} for _ in self.samples]
        first = self._resume(track)
        for number in range(first + 1, rounds + 1):
            done = [local(client, number, self.shared) for client in range(len(self.samples))]
            self.shared = combine([arrays for arrays, _ in done], self.samples)
            track.note(self.stage, number, float(np.mean([loss for _, loss in done])), judge)
            track.save(self.stage, self._arrays(), number, number == rounds)

    def _arrays(self) -> Arrays:
        arrays = {f"shared/{name}": array for name, array in self.shared.items()}
        for client, own in enumerate(self.own):
            arrays |= {f"{client}/{name}": array for name, array in own.items()}
        return arrays

    def _resume(self, track: Track) -> int:
        found = track.load(self.stage)
        if found is None:
            return 0
        arrays, number = found
        self.shared = part(arrays, "shared/")
        self.own = [part(arrays, f"{client}/") for client in range(len(self.samples))]
        return number


def arrays_of(module: nn.Module) -> Arrays:
    """Every tensor by its name."""
    return {name: tensor.detach().numpy().copy() for name, tensor in module.state_dict().items()}


def load_arrays(module: nn.Module, arrays: Arrays) -> None:
    """Take over these tensors."""
    module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})
