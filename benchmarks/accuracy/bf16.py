"""How often a trained head decides with bf16 as with float32, hop by hop.

    python -m benchmarks.accuracy.bf16 [MODEL [RECORDING]]

The model is radio and the recording the demo's unless others are named; the aim is 99.5 %.
"""

import sys

import numpy as np

from hardware import open_source, source_address
from service.demo import RECORDING
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.pipeline import open_pipeline
from streaming.prediction import NO_SIGNAL, Prediction


def predictions(model: str, address: str, backend: str) -> list[Prediction]:
    """What a model says of every hop of a signal."""
    bundle = load_bundle(model)
    head = bundle.heads["live"]
    pipeline = open_pipeline(bundle, head, open_engine(bundle.encoder, head.hop, backend))
    with open_source(address) as source:
        found = [prediction for block in source.blocks() for prediction in pipeline.push(block)]
    return [prediction for prediction in found if prediction.label != NO_SIGNAL]


def main() -> None:
    """Print the share of hops on which both agree, and how sure float32 was where they do not."""
    model = sys.argv[1] if len(sys.argv) > 1 else "radio"
    address = source_address(sys.argv[2] if len(sys.argv) > 2 else str(RECORDING))
    both = [predictions(model, address, backend) for backend in ("native", "native-bf16")]
    pairs = list(zip(*both, strict=True))
    apart = [(a, b) for a, b in pairs if a.label != b.label]
    print(f"{len(pairs):,} hops, {1 - len(apart) / len(pairs):.2%} decided alike")
    for labels in sorted({(a.label, b.label) for a, b in apart}):
        sure = [a.probability for a, b in apart if (a.label, b.label) == labels]
        print(f"  {labels[0]} -> {labels[1]}: {len(sure)} hops, float32 {np.median(sure):.0%} sure (median)")


if __name__ == "__main__":
    main()
