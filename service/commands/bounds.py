"""Show what the paper's Theorems 1 to 4 say of an encoder and a federation, beside what is measured.

First the gradient of the triplet loss in noise (Theorem 1 for ReLU, 3 for Softplus): measured, and the bounds
on its norm and on its square, over all layers and for the layer with the largest. Then one round of the
paper's four clients with a proximal term (Theorems 2 and 4): dissimilarity, smoothness, the proximal
coefficient from which on a round descends, what it gains, and what noise may add.

The bounds are loose by hundreds of orders of magnitude, and are given as logarithms. Where the paper slips
(the energy of noise in two channels, softplus(0) = ln 2, the Lipschitz constant of a network with residuals,
the constants 12 and 3), they are put right. What depends on Gamma_J is an estimate, marked ~.

examples:
  wavetell bounds paper-synthetic
  wavetell bounds runs/mine.safetensors --clients paper-snr --inexact 0.1 --json
"""

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from service.commands.fit import PAPER
from streaming.errors import ConfigError

if TYPE_CHECKING:
    from training.evaluation.bounds import Row

SNR_DB = 20.0  # at which the descent's error is shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("model", metavar="MODEL", help="a shipped model's name or a bundle's file")
    parser.add_argument("--clients", default="paper", choices=list(PAPER), help="whose federation")
    parser.add_argument(
        "--inexact", type=float, default=0.0, help="eta, how far clients stay from their optimum"
    )
    parser.add_argument("--json", action="store_true", help="a JSON object per line")


def run(args: argparse.Namespace) -> None:
    """Compute and print."""
    from streaming.bundle import load_bundle
    from streaming.encoder import Encoder
    from training.datasets.synthetic import paper_clients
    from training.evaluation.bounds import report
    from training.evaluation.descent import measure, promise

    if not 0 <= args.inexact <= 1:
        raise ConfigError(f"--inexact is {args.inexact}; it must lie between 0 and 1")
    encoder = Encoder.of(load_bundle(args.model).encoder)
    rows = report(encoder)
    federation = measure(encoder, paper_clients(heterogeneity=PAPER[args.clients]))
    promised = promise(encoder, federation, SNR_DB, args.inexact)
    if args.json:
        for row in rows:
            print(json.dumps(asdict(row)))
        print(json.dumps(promised))
        return
    print_gradients(rows)
    print(f"\none round of {args.clients}'s clients, eta = {args.inexact:g}")
    for name, value in promised.items():
        print(f"  {name:<44}{'none' if value is None else f'{value:.4g}':>12}")


def print_gradients(rows: "list[Row]") -> None:
    """A line for each activation and SNR."""
    print("                        measured gradient                 log10 of the bound on")
    print("activation  SNR dB     clean     noisy     moved      norm    square  largest layer     floor")
    for row in rows:
        mark = " " if row.bound else "~"
        print(
            f"{row.activation:<12}{row.snr_db:>6.0f}{row.clean:>10.3g}{row.noisy:>10.3g}{row.moved:>10.3g}"
            f"{mark + format(row.log_norm_bound, '.1f'):>10}{mark + format(row.log_square_bound, '.1f'):>10}"
            f"{mark + format(max(row.log_layer_bounds), '.1f'):>15}{row.log_floor:>10.1f}"
        )
