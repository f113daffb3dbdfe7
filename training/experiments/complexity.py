"""What methods cost: weights, operations for a frame, rounds, and bytes that travel.

Operations are counted twice. `paper` counts as the paper does: a multiply-add is two, and the causal
convolutions are those of an implementation that pads both sides by (k - 1) d and cuts the end off afterwards,

    2 k C_in C_out (N + (k - 1) d)   for each convolution,

which gives 471.37 MFLOP for N = 100 where the paper has 473.56 (biases and activations); `needed` counts what
an answer needs, 2 N times the encoder's multiply-adds a sample. One round moves everything that is averaged
down and up once: projection heads, decoders and slow copies, which no answer needs, travel too.
"""

import copy
import csv
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from training.methods import METHODS
from training.methods.cnn import Cnn
from training.methods.cssl_amc import ResNet
from training.methods.dae import Autoencoder
from training.methods.semiamc import RecurrentEncoder, projection
from training.pretraining.recipes import RECIPES
from training.pretraining.trainer import Model

SAMPLES, CLASSES = 100, 4
SUPERVISED, PRETRAINED = 1_000, 10  # rounds in the paper
PAPER_MFLOP = {"fedssl-amc": 473.56, "fedavg": 17.76}


@dataclass(frozen=True)
class Cost:
    """One method."""

    method: str
    weights: int
    paper_mflop: float | None  # in the paper
    counted_mflop: float  # as the paper counts
    needed_mflop: float
    rounds: int
    round_bytes: int  # a client, down and up
    total_bytes: int


def costs() -> list[Cost]:
    """Every method that trains."""
    supervised = ("fedavg", "fedeamc", "fedprox", "feddyn", "pmsgd", "fedah", "fedrep")
    cnn = Cnn(SAMPLES, CLASSES)
    rows = [cost(name, cnn, SUPERVISED, cnn.body if name == "fedrep" else cnn) for name in supervised]
    rows += [cost(name, Encoder(EncoderShape()), PRETRAINED) for name in ("simcse", "fedssl-amc")]
    recipe = RECIPES["wavetell"]
    model = Model(recipe, seed=0)
    rows.append(cost("wavetell", model.encoder, recipe.rounds, model))
    body = RecurrentEncoder()
    rows.append(cost("semiamc", body, PRETRAINED, nn.Sequential(body, projection())))
    rows.append(cost("dae", Autoencoder(CLASSES), PRETRAINED))
    resnet = ResNet(SAMPLES)
    rows.append(cost("cssl-tuned", resnet, PRETRAINED, nn.ModuleList([resnet, copy.deepcopy(resnet)])))
    return rows


def cost(name: str, network: nn.Module, rounds: int, moved: nn.Module | None = None) -> Cost:
    """The cost of a method that answers with this network and averages `moved`, by default the same."""
    tensors = (moved or network).state_dict().values()
    nbytes = 2 * sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    needed = 2 * multiply_adds(network, SAMPLES) / 1e6
    counted = (
        2 * padded_multiply_adds(network.shape, SAMPLES) / 1e6 if isinstance(network, Encoder) else needed
    )
    weights = sum(parameter.numel() for parameter in network.parameters())
    if isinstance(network, Encoder):  # a gain is not a separate weight: W = g v / |v|
        weights -= sum(p.numel() for n, p in network.named_parameters() if n.endswith(".g"))
    paper = PAPER_MFLOP.get(name)
    return Cost(METHODS[name]().title, weights, paper, counted, needed, rounds, nbytes, rounds * nbytes)


def multiply_adds(network: nn.Module, samples: int) -> int:
    """Multiply-adds for one frame."""
    if isinstance(network, Encoder):
        return samples * network.shape.multiply_adds() + network.linear.weight.numel()
    total = 0

    def count(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor | tuple[Tensor, ...]) -> None:
        nonlocal total
        per_step = sum(p.numel() for p in module.parameters() if p.dim() > 1)
        steps = 1
        if isinstance(module, nn.LSTM):
            steps = inputs[0].shape[1]
        elif isinstance(module, nn.Conv1d) and isinstance(output, Tensor):
            steps = output.shape[2]
        total += per_step * steps

    layers = [m for m in network.modules() if isinstance(m, nn.Conv1d | nn.Linear | nn.LSTM)]
    hooks: list[Callable[[], None]] = [layer.register_forward_hook(count).remove for layer in layers]
    with torch.no_grad():
        network.eval()(torch.zeros(1, samples, 2))
    for remove in hooks:
        remove()
    return total


def padded_multiply_adds(shape: EncoderShape, samples: int) -> int:
    """Multiply-adds of an implementation that pads both sides and cuts."""
    total = shape.pooled * shape.outputs
    for c_in, c_out, dilation in shape.blocks:
        length = samples + (shape.kernel - 1) * dilation
        total += shape.kernel * (c_in + c_out) * c_out * length
        total += c_in * c_out * samples if c_in != c_out else 0
    return total


def write(folder: Path) -> list[Path]:
    """complexity.csv and complexity.md."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = costs()
    paths = [folder / "complexity.csv", folder / "complexity.md"]
    with paths[0].open("w", newline="") as file:
        out = csv.DictWriter(file, list(asdict(rows[0])))
        out.writeheader()
        out.writerows(asdict(row) for row in rows)
    lines = [
        "# Complexity: frames of 100 samples, four classes",
        "",
        "| method | weights | MFLOP: paper | as the paper counts | really needed | rounds in the paper | "
        "bytes per client and round | MB per client in all |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        paper = "–" if row.paper_mflop is None else f"{row.paper_mflop:.2f}"
        lines.append(
            f"| {row.method} | {row.weights:,} | {paper} | {row.counted_mflop:.2f} | "
            f"{row.needed_mflop:.2f} | {row.rounds:,} | {row.round_bytes:,} | {row.total_bytes / 1e6:,.1f} |"
        )
    paths[1].write_text("\n".join(lines) + "\n")
    return paths
