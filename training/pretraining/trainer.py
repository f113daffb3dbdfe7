"""Self-supervised pretraining of one client: some steps of Adam on the client's own unlabelled frames,

    h(theta) = L(theta) + mu/2 |theta - theta_t|^2

where L is the recipe's objective and theta_t what the client downloaded; mu = 0 is plain federated averaging.

All randomness comes from one generator, so that a trainer's state is its tensors, Adam's moments and that
generator: a trainer restored from them goes on bit for bit.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from streaming.block import Samples
from streaming.encoder import Encoder
from training.objectives.objective import make_objective
from training.pretraining.checkpoint import Arrays, generator_state, restore_generator, save_checkpoint
from training.pretraining.initialisation import redraw
from training.pretraining.recipes import Recipe

MOMENTS = ("exp_avg", "exp_avg_sq")  # Adam's names for them


class Model(nn.Module):
    """What is federated: the encoder, and what the objective trains beside it."""

    def __init__(self, recipe: Recipe, seed: int) -> None:
        super().__init__()
        self.encoder = Encoder(recipe.shape, seed)
        redraw(self.encoder, recipe.initialisation, seed)
        self.objective = make_objective(recipe.objective, recipe.shape.outputs, seed)
        self.extra = self.objective.extra

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Every tensor by its name."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()}

    def load(self, arrays: Arrays) -> None:
        """Take over these tensors."""
        self.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})


class Trainer:
    """One client's training in one round.

    Parameters
    ----------
    recipe
        How to train.
    frames
        The client's unlabelled frames (n, N), already at the level the recipe asks for.
    base
        The tensors of the round's global model.
    seed
        What makes the client's draws in this round its own.
    done
        Share of the whole run that lies before this round, for the learning rate's schedule.
    """

    def __init__(
        self, recipe: Recipe, frames: Samples, base: Arrays, seed: tuple[int, ...], done: float = 0.0
    ) -> None:
        self.recipe, self.frames, self.before = recipe, frames, done
        self.model = Model(recipe, seed=0)
        self.model.load(base)
        self.base = [tensor.detach().clone() for tensor in self.model.parameters()]
        self.adam = torch.optim.Adam(self.model.parameters(), lr=recipe.rate, foreach=False)
        self.rng = np.random.default_rng(seed)
        self.losses: list[float] = []

    @property
    def step_number(self) -> int:
        """Steps taken in this round."""
        return len(self.losses)

    def step(self) -> float:
        """One step; the objective's loss, without the proximal term."""
        recipe = self.recipe
        share = self.before + (self.step_number / recipe.steps) / recipe.rounds
        self.adam.param_groups[0]["lr"] = recipe.rate_at(share)
        loss = self.model.objective.loss(self.model.encoder, self.frames, recipe.batch, self.rng)
        total = (
            loss + proximal(list(self.model.parameters()), self.base, recipe.proximal)
            if recipe.proximal
            else loss
        )
        self.adam.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        self.adam.step()
        self.losses.append(loss.item())
        return self.losses[-1]

    def save(self, path: Path, round_number: int) -> None:
        """Everything needed to go on bit for bit, and the round it belongs to."""
        arrays: Arrays = {f"model/{name}": array for name, array in self.model.arrays().items()}
        arrays |= {f"adam/{name}": array for name, array in self.moments().items()}
        arrays["losses"] = np.array(self.losses, np.float64)
        state = {"round": round_number, "step": self.step_number, "rng": generator_state(self.rng)}
        save_checkpoint(path, arrays, state)

    def restore(self, arrays: Arrays, state: dict[str, Any]) -> None:
        """Go on where `save` was called."""
        self.model.load(part(arrays, "model/"))
        self.losses = arrays["losses"].tolist()
        self.restore_moments(part(arrays, "adam/"))
        self.rng = restore_generator(state["rng"])

    def moments(self) -> Arrays:
        """Adam's moments by the names of their parameters, and its count of steps."""
        out: Arrays = {}
        for name, parameter in self.model.named_parameters():
            for key, value in self.adam.state[parameter].items():
                out[f"{key}/{name}"] = value.numpy().copy()
        return out

    def restore_moments(self, arrays: Arrays) -> None:
        """Take over moments; an empty mapping leaves Adam new."""
        for name, parameter in self.model.named_parameters():
            state = {
                key: torch.from_numpy(np.array(arrays[f"{key}/{name}"]))
                for key in ("step", *MOMENTS)
                if f"{key}/{name}" in arrays
            }
            if state:
                self.adam.state[parameter] = state


def proximal(parameters: list[nn.Parameter], base: list[Tensor], mu: float) -> Tensor:
    """mu/2 |theta - theta_t|^2 over all parameters."""
    return mu / 2 * torch.stack([(p - b).square().sum() for p, b in zip(parameters, base, strict=True)]).sum()


def part(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names start so, without that start."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
