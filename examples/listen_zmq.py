"""Listen to I/Q over ZMQ and print a line whenever the answer changes: the pipeline in your own program.

Play a recording in one terminal and listen in another:

    wavetell replay service/demo/demo.sigmf-meta --zmq tcp://127.0.0.1:5555 --loop --tags
    python examples/listen_zmq.py tcp://127.0.0.1:5555 --seconds 20

GNU Radio's ZMQ PUB Sink works as well; without its tags the rate must be given: 'tcp://127.0.0.1:5555?rate=48k'.
"""

import argparse
from contextlib import closing

from hardware import open_source
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.pipeline import choose_head, open_pipeline


def main() -> None:
    """Run until the source ends, or for --seconds of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("endpoint", help="such as tcp://127.0.0.1:5555?rate=48k")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()

    bundle = load_bundle("radio")
    head = choose_head(bundle, "", "live")
    engine = open_engine(bundle.encoder, hop=head.hop)
    label = ""
    with (
        open_source(f"zmq:{args.endpoint}") as source,
        closing(open_pipeline(bundle, head, engine)) as pipeline,
    ):
        for block in source.blocks():
            for prediction in pipeline.push(block):
                if prediction.label != label:
                    label = prediction.label
                    at_s = prediction.start / block.rate_hz
                    print(f"{at_s:8.3f} s  {label:<10} {prediction.probability:.0%}", flush=True)
            if block.end >= args.seconds * block.rate_hz:
                break
        print(f"{source.counts.samples:,} samples, {sum(source.counts.lost.values()):,} lost")


if __name__ == "__main__":
    main()
