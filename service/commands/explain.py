"""Why the model answers as it does: what it saw of the strongest emission of a recording.

It reports the box, the SNR, a symbol rate with its strength, the likeliest classes, which features spoke for
the first of them against the second, and which classes lie nearest. With --picture it also draws the
spectrum, the levels and phases, and the frequency over time.

examples:
  wavetell explain capture_433.92M_250k.cu8
  wavetell explain capture.sigmf-meta --emission 3 --picture why.png
  wavetell explain capture.sigmf-meta --json
"""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hardware import open_source
from hardware.address import source_address
from service.settings import add_settings, settings

if TYPE_CHECKING:
    from training.evaluation.explain import Explanation

SHOWN = 5  # classes and reasons


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("file", metavar="FILE", help="a recording, or any source address that ends")
    parser.add_argument("--emission", type=int, metavar="N", help="the emission of this number instead")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw it there, as PNG or SVG")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_settings(parser, "model", "backend", "threads")


def run(args: argparse.Namespace) -> None:
    """Print what is known."""
    from streaming.bundle import load_bundle
    from streaming.engine import open_engine
    from streaming.pipeline import choose_head
    from training.evaluation.explain import explain
    from training.evaluation.explain_picture import draw

    values = settings(args)
    bundle = load_bundle(values.model)
    hop = choose_head(bundle, "", "live").hop
    engine = open_engine(bundle.encoder, hop=hop, backend=values.backend, threads=values.threads)
    with open_source(source_address(args.file)) as source:
        if source.inferred:
            print(f"wavetell: {source.inferred}", file=sys.stderr)
        known = explain(bundle, engine, source.blocks(), args.emission)
    if args.picture:
        draw(known, args.picture)
    if args.json:
        print(json.dumps(as_json(known)))
    else:
        print(as_text(known))


def as_json(known: "Explanation") -> dict[str, object]:
    """The explanation for programs."""
    answer = known.prediction
    return {
        "emission": answer.emission,
        "label": answer.label,
        "family": answer.family,
        "probability": round(answer.probability, 4),
        "start": answer.begin,
        "end": answer.end,
        "snr_db": answer.snr_db,
        "bandwidth_hz": answer.bandwidth_hz,
        "offset_hz": answer.offset_hz,
        "samples": len(known.samples),
        "symbol_rate_hz": known.symbol_rate.rate_hz,
        "symbol_rate_strength_db": known.symbol_rate.strength_db,
        "probabilities": known.probabilities,
        "rival": known.rival,
        "reasons": known.reasons,
        "nearest": known.nearest,
        "outlier_odds": known.outlier_odds,
        "outlier_limit": known.outlier_limit,
    }


def as_text(known: "Explanation") -> str:
    """The explanation for people."""
    answer, clock = known.prediction, known.symbol_rate
    likely = list(known.probabilities.items())
    lines = [
        f"emission {answer.emission}: {answer.label} ({answer.probability:.0%})",
        f"  box          {answer.bandwidth_hz or 0:,.0f} Hz wide at {answer.offset_hz or 0:+,.0f} Hz, "
        f"{answer.snr_db or 0:.0f} dB, samples {answer.begin:,} to {answer.end:,}",
        f"  symbol rate  {clock.rate_hz:,.0f} Bd, its line is {clock.strength_db:.0f} dB strong"
        + ("" if clock.clear else ": not clear"),
        "  classes      " + ", ".join(f"{name} {p:.0%}" for name, p in likely[:SHOWN]),
        f"  outlier      log odds {known.outlier_odds:+.1f}; unknown above {known.outlier_limit:+.1f}",
        "  nearest      " + ", ".join(f"{count} {name}" for name, count in known.nearest.items()),
        f"  for {likely[0][0]} against {known.rival}, in log odds:",
    ]
    lines += [f"    {odds:+6.1f}  {name}" for name, odds in list(known.reasons.items())[:SHOWN]]
    return "\n".join(lines)
