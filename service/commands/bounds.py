"""Show the paper's gradient-noise bounds for an encoder, ReLU and Softplus, beside measured gradients.

The bounds say how noise can disturb training; the measured columns say how much it does with these weights.

examples:
  wavetell bounds paper-synthetic
  wavetell bounds runs/mine.safetensors --json
"""

import argparse
import json
from dataclasses import asdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("model", metavar="MODEL", help="a shipped model's name or a bundle's file")
    parser.add_argument("--json", action="store_true", help="a JSON object a row")


def run(args: argparse.Namespace) -> None:
    """Compute and print."""
    from streaming.bundle import load_bundle
    from streaming.encoder import Encoder
    from training.evaluation.bounds import report

    rows = report(Encoder.of(load_bundle(args.model).encoder))
    if args.json:
        for row in rows:
            print(json.dumps(asdict(row)))
        return
    print("activation    SNR dB   clean gradient   noisy, mean   moved, mean   log10 bound   log10 floor")
    for row in rows:
        print(
            f"{row.activation:<12}{row.snr_db:>8.0f}{row.clean:>17.4g}{row.noisy:>14.4g}{row.moved:>14.4g}"
            f"{row.log_bound:>14.1f}{row.log_floor:>14.1f}"
        )
