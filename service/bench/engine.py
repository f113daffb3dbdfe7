"""Measure the engine, beside what a user would pick instead, on one core.

Every back end takes the same streams in chunks, and so do the alternatives: recomputing the last ten hops
each hop, the streaming layers of pytorch-tcn and cached_conv, ONNX Runtime and OpenVINO with the states in
the graph. Those that are not installed are left out (pip install 'wavetell[bench]').

The encoder has the paper's shape, or with --shape cheap one with input maps and strided stages
(streaming.shape.CHEAP). A hop is 100 samples, or the least number of whole strides above.

Speed is samples a second of all streams together, in CPU time, of the 10th-percentile turn. p50 and p99 are
the CPU time of a hop of every stream. The error is the largest difference of the pooled features from those
of the batch encoder over the whole history, relative to the largest value; recomputing differs because a
window cut out of the stream has zeros before it. The peak is what the core's float32 multiply-add units can
do at most (with WAVETELL_ISA=avx2 on vectors of that width); bfloat16 may go beyond it. Short chunks have a
lower limit: each push has to read all weights once from the core's caches.

The encoder's weights are rounded to bfloat16, as those of every shipped model are. `native` computes in
float32 all the same, but a push of one sample reads 16 bits a weight; `native-unrounded` is `native` with
weights that need all 32.

examples:
  wavetell bench engine
  wavetell bench engine --shape cheap
  wavetell bench engine --backends native,onnxruntime --chunks 1,100 --streams 1
  wavetell bench engine --json > engine.jsonl
  wavetell bench engine --plot engine.png
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from streaming.errors import ConfigError

# name -> its class in service.bench
BACKENDS = {
    "native": "contestant:Native",
    "native-unrounded": "contestant:NativeUnrounded",
    "native-bf16": "contestant:NativeBf16",
    "torch": "contestant:Torch",
    "recompute": "torch_rivals:Recompute",
    "pytorch-tcn": "torch_rivals:PytorchTcn",
    "cached-conv": "torch_rivals:CachedConv",
    "onnxruntime": "graph_rivals:OnnxRuntime",
    "openvino": "graph_rivals:OpenVino",
}
LIBRARIES = ("pytorch-tcn", "cached-conv", "onnxruntime", "openvino")
# Of a line of --json.
FIELDS = ("backend", "chunk", "streams", "samples_per_s", "p50_us", "p99_us", "max_error", "peak_fraction")
CHUNKS = (1, 16, 256, 1024, 4096)  # and a hop
STREAMS = (1, 4, 16)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `wavetell bench engine`."""
    parser.add_argument("--json", action="store_true", help="one object a line, and no table")
    parser.add_argument("--backends", type=names, default=tuple(BACKENDS), help=f"of {', '.join(BACKENDS)}")
    parser.add_argument("--shape", choices=("paper", "cheap"), default="paper", help="of the encoder")
    parser.add_argument("--chunks", type=numbers, help="samples a push (default 1,16,a hop,256,1024,4096)")
    parser.add_argument("--streams", type=numbers, default=STREAMS, help="streams a push (default 1,4,16)")
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time a line (default 0.5)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, too: FILE.png, .svg or .pdf")


def names(text: str) -> tuple[str, ...]:
    """The back ends in a comma-separated list."""
    found = tuple(text.split(","))
    for name in found:
        if name not in BACKENDS:
            raise ConfigError(f"--backends has {name!r}; it must be of {', '.join(BACKENDS)}")
    return found


def numbers(text: str) -> tuple[int, ...]:
    """The numbers in a comma-separated list."""
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ConfigError(f"{text!r} is not a list of whole numbers of at least 1, such as 1,16,100")
    return tuple(int(part) for part in parts)


def run(args: argparse.Namespace) -> None:
    """Measure, and print what was found."""
    if not args.seconds > 0:
        raise ConfigError(f"--seconds is {args.seconds:g}; it must be above 0")
    if args.plot and args.plot.suffix not in (".png", ".svg", ".pdf"):
        raise ConfigError(f"--plot is {args.plot}; its name must end with .png, .svg or .pdf")

    from tqdm import tqdm

    from service.bench import report
    from service.bench.contestant import hop_of
    from service.bench.race import one_core
    from service.bench.trial import SHAPES, Trial

    lines = []
    shape = SHAPES[args.shape]
    chunks = args.chunks or sorted((*CHUNKS, hop_of(shape)))
    configurations = [(chunk, streams) for chunk in chunks for streams in args.streams]
    with one_core(), tqdm(total=len(configurations), disable=None, leave=False) as bar:
        trial = Trial(max(args.streams), max(chunks), shape)
        backends = [name for name in args.backends if trial.admits(name, BACKENDS[name])]
        for i, (chunk, streams) in enumerate(configurations):
            title = f"chunks of {chunk}, {streams} stream{'s' * (streams > 1)}"
            bar.set_description(title)
            if bar.disable:
                print(f"{title} ({i + 1} of {len(configurations)})", file=sys.stderr, flush=True)
            for line in trial.measure(backends, chunk, streams, args.seconds):
                lines.append(line)
                if args.json and line.samples_per_s is not None:
                    print(json.dumps({key: asdict(line)[key] for key in FIELDS}), flush=True)
            bar.update()
    if not args.json:
        print(report.text(lines, args.shape))
    if args.plot:
        report.plot(lines, args.plot)
