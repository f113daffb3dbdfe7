"""Show from which SNR on a model's heads separate clean frames: the paper's separability theorem.

For each pair of classes of each head of frames: the margin of clean frames in the space where the head's
plane lies, the SNR of the features from which on all of them hold with probability 1 - EPS, and the SNR of
the samples that gives it. A pair that clean frames do not separate has no such SNR.

examples:
  wavetell separability paper-synthetic
  wavetell separability runs/model.safetensors --head client-1 --eps 0.01 --json
"""

import argparse
import json
import math

from streaming.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("model", metavar="MODEL", help="a bundle's name or file")
    parser.add_argument("--head", metavar="NAME", help="only this head; default: every head of frames")
    parser.add_argument("--eps", type=float, default=0.05, help="probability that some do not hold [0.05]")
    parser.add_argument("--seed", type=int, default=0, help="of the frames and their noise")
    parser.add_argument("--json", action="store_true", help="a JSON object per pair")


def run(args: argparse.Namespace) -> None:
    """Compute and print."""
    from streaming.bundle import load_bundle
    from training.datasets.synthetic import Signal
    from training.evaluation.separability import separations

    bundle = load_bundle(args.model)
    frames = [head for head in bundle.heads.values() if head.mode == "frame"]
    heads = [head for head in frames if args.head in (None, head.name)]
    if not heads:
        raise ConfigError(f"model {bundle.name} has no such head of frames; wavetell fit makes one")
    for head in heads:
        unknown = set(head.classes) - set(Signal().classes)
        if unknown:
            raise ConfigError(f"head {head.name} knows {min(unknown)}, of which no clean frames can be made")
    if not args.json:
        print(f"{'head':<12}{'pair':<14}{'margin':>9}{'feature SNR dB':>16}{'input SNR dB':>14}")
    for head in heads:
        for found in separations(bundle, head, Signal(samples=head.window), args.eps, args.seed):
            margin = found.margin
            enough = [x if math.isfinite(x) else None for x in (found.feature_snr_db, found.input_snr_db)]
            if args.json:
                fields = {"head": head.name, "pair": margin.pair, "margin": margin.mu, "radius": margin.rho}
                print(json.dumps(fields | {"feature_snr_db": enough[0], "input_snr_db": enough[1]}))
            else:
                shown = ["none" if x is None else f"{x:.1f}" for x in enough]
                pair = "/".join(margin.pair)
                print(f"{head.name:<12}{pair:<14}{margin.mu:>9.4f}{shown[0]:>16}{shown[1]:>14}")
