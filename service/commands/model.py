"""Look at a model, or check that its file is whole.

`show` tells what is in it and where it came from; `verify` checks every part against its sha256 and says
one line.

examples:
  wavetell model show paper-synthetic
  wavetell model verify downloaded.safetensors
"""

import argparse
import json

from streaming.bundle import find_bundle, load_bundle
from streaming.checked import as_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("action", choices=["show", "verify"])
    parser.add_argument("model", metavar="MODEL", help="a shipped model's name or a bundle's file")
    parser.add_argument("--json", action="store_true", help="the whole description as JSON")


def run(args: argparse.Namespace) -> None:
    """Show or verify."""
    bundle = load_bundle(args.model)
    size = find_bundle(args.model).stat().st_size
    if args.json:
        print(
            json.dumps(
                {"name": bundle.name, "sha256": bundle.sha256, "bytes": size} | bundle.description(), indent=2
            )
        )
        return
    if args.action == "verify":
        print(f"{bundle.name}: whole, {size:,} bytes, {len(bundle.heads)} heads, sha256 {bundle.sha256}")
        return
    shape = bundle.encoder.shape
    weights = sum(array.size for name, array in bundle.encoder.arrays().items() if not name.endswith(".g"))
    print(f"{bundle.name}  {size:,} bytes  sha256 {bundle.sha256}")
    stages = f"{len(shape.stages)} stages of stride {shape.stride}, " if shape.stages else ""
    print(
        f"encoder  {weights:,} weights, {stages}{shape.depth + 1} blocks, {shape.activation}, "
        f"{shape.pooling} pooling, {shape.outputs} outputs, sees {shape.receptive_field:,} samples, "
        f"{shape.multiply_adds():,} multiply-adds per sample"
    )
    if shape.maps:
        print(f"sees     {', '.join(shape.maps)}")
    for head in bundle.heads.values():
        print(
            f"head     {head.name}: {', '.join(head.classes)}; {head.mode} mode, window {head.window}, "
            f"hop {head.hop}, {head.kernel} SVM"
        )
    for key, value in as_json(bundle.meta.provenance).items():
        print(f"{key:<8} {value}")
