"""Measure a step of the paper's pretraining, ours beside the published reference's form, on one core.

All compute the same loss on the same cuts: batches of 50 with 10 negatives. The reference has `nn.Conv1d` and
encodes the negatives one by one; as published it pads both ends and cuts the surplus off. Ours has a GEMM a
layer, does no work on taps that see only padding, and encodes all negatives at once.

examples:
  wavetell bench pretrain
  wavetell bench pretrain --steps 20 --json
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, logsigmoid, pad

from service.bench.race import one_core
from streaming.block import Samples
from streaming.encoder import CausalBlock, CausalConv, Encoder
from streaming.shape import LEAK, EncoderShape
from training.datasets.synthetic import Signal, make_frames
from training.objectives.triplet import Triplet, TripletSettings, cut, draw_cuts

BATCH, NEGATIVES, FRAMES = 50, 10, 5_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The benchmark's flags."""
    parser.add_argument("--steps", type=int, default=10, help="batches to time (default 10)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")


class ReferenceConv(nn.Module):
    """A causal convolution with `nn.Conv1d`: padded on the left, or on both ends and cut, as published."""

    def __init__(self, conv: CausalConv, both_ends: bool) -> None:
        super().__init__()
        c_out, c_in, kernel = conv.v.shape
        self.past, self.both_ends = (kernel - 1) * conv.dilation, both_ends
        self.conv = nn.utils.parametrizations.weight_norm(
            nn.Conv1d(c_in, c_out, kernel, dilation=conv.dilation)
        )
        with torch.no_grad():
            self.conv.weight = conv.weight().permute(2, 1, 0)
            self.conv.bias = nn.Parameter(conv.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        """(B, C_in, T) to (B, C_out, T)."""
        y: Tensor = self.conv(pad(x, (self.past, self.past if self.both_ends else 0)))
        return y[:, :, : x.shape[2]].contiguous()


class ReferenceBlock(nn.Module):
    """A block of the reference."""

    def __init__(self, block: CausalBlock, both_ends: bool) -> None:
        super().__init__()
        self.conv1, self.conv2 = (ReferenceConv(conv, both_ends) for conv in (block.conv1, block.conv2))
        self.residual = None
        if block.residual is not None:
            self.residual = nn.Conv1d(block.residual.in_features, block.residual.out_features, 1)
            with torch.no_grad():
                self.residual.weight.copy_(block.residual.weight[:, :, None])
                self.residual.bias.copy_(block.residual.bias)  # type: ignore[union-attr]

    def forward(self, x: Tensor) -> Tensor:
        """(B, C_in, T) to (B, C_out, T)."""
        h = leaky_relu(self.conv2(leaky_relu(self.conv1(x), LEAK)), LEAK)
        y: Tensor = h + (x if self.residual is None else self.residual(x))
        return y


class ReferenceEncoder(nn.Module):
    """The encoder of the reference, with the weights of ours."""

    def __init__(self, encoder: Encoder, both_ends: bool) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*(ReferenceBlock(block, both_ends) for block in encoder.blocks))  # type: ignore[arg-type]
        self.linear = nn.Linear(encoder.shape.pooled, encoder.shape.outputs)
        self.linear.load_state_dict(encoder.linear.state_dict())

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, 2) to (B, outputs)."""
        y: Tensor = self.linear(self.blocks(x.transpose(1, 2)).amax(2))
        return y


def reference_loss(encoder: nn.Module, frames: Samples, rng: np.random.Generator) -> Tensor:
    """The triplet loss as published: the negatives of all anchors one after another."""
    cuts = draw_cuts(len(frames), frames.shape[1], BATCH, NEGATIVES, rng)
    ref = encoder(cut(frames, cuts.rows, cuts.reference, cuts.reference_length))
    pos = encoder(cut(frames, cuts.rows, cuts.positive, cuts.length))
    loss: Tensor = -logsigmoid((ref * pos).sum(1)).mean()
    for k in range(NEGATIVES):
        mine = np.arange(BATCH) * NEGATIVES + k
        neg = encoder(cut(frames, cuts.negative_rows[mine], cuts.negative[mine], cuts.length))
        loss = loss - logsigmoid(-(ref * neg).sum(1)).mean()
    return loss


def run(args: argparse.Namespace) -> None:
    """Time all on the same batches, in turn."""
    ours, objective = Encoder(EncoderShape()), Triplet(TripletSettings(NEGATIVES))
    frames = make_frames(Signal(), (FRAMES // 4,) * 4, seed=0).iq
    published, left = ReferenceEncoder(ours, both_ends=True), ReferenceEncoder(ours, both_ends=False)
    sides: dict[str, Callable[[np.random.Generator], Tensor]] = {
        "wavetell": lambda rng: objective.loss(ours, frames, BATCH, rng),
        "as published": lambda rng: reference_loss(published, frames, rng),
        "left padding": lambda rng: reference_loss(left, frames, rng),
    }
    with one_core():
        rows = [[timed(side, i) for side in sides.values()] for i in range(args.steps + 1)]
    seconds, losses = np.array(rows[1:]).transpose(2, 0, 1)  # (steps, sides); the first was for warming up
    mean = dict(zip(sides, seconds.mean(0).tolist(), strict=True))
    apart = float(np.abs(losses / losses[:, :1] - 1).max())
    if args.json:
        print(json.dumps({"seconds": mean, "loss_difference": apart}))
        return
    print(f"a step of {BATCH} with {NEGATIVES} negatives, forward and backward, CPU seconds on one core")
    for name, value in mean.items():
        print(f"  {name:<14}{value:8.3f}   {value / mean['wavetell']:5.1f} times ours")
    print(f"losses differ by {apart:.1e} at most")


def timed(side: Callable[[np.random.Generator], Tensor], seed: int) -> tuple[float, float]:
    """CPU seconds of a step on the batch of this seed, and its loss."""
    rng, start = np.random.default_rng(seed), time.process_time()
    loss = side(rng)
    loss.backward()  # type: ignore[no-untyped-call]
    return time.process_time() - start, loss.item()
