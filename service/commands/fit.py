"""Fit the heads of a model on labelled frames, and write the model with them.

The set is one of the paper's (paper, paper-snr, paper-cfo: a personal head for each of the four clients;
paper-air: one head, named live, for the paper's signals at any phase, as a radio hears them), radio (the
projection of emissions' features, and one head, named live, from --labels of each class), or a labelled
data set: RadioML (.hdf5, .dat, .pkl), MIGOU-MOD (.pkl), a folder of SigMF recordings with
annotations, or a folder with labels.csv. C and gamma are chosen by cross-validation on the labels alone. With
--live PAST the heads are for streams: each label is a window with that many samples of past. A model with a
front end, as radio is, always is for streams: labelled stretches go through it just as live, with what was
recorded before them. Heads that the model already has are kept, unless they have the same name.

examples:
  wavetell fit runs/encoder.safetensors --out runs/model.safetensors
  wavetell fit runs/encoder.safetensors --level --out runs/level.safetensors
  wavetell fit runs/encoder.safetensors --labels 140 --out runs/few.safetensors
  wavetell fit runs/model.safetensors --data paper-air --live 8200 --window 1000 --out runs/air.safetensors
  wavetell fit runs/radio-encoder.safetensors --data radio --labels 100 --out runs/radio.safetensors
  wavetell fit radio --data captures/ --head mine --out runs/mine.safetensors
"""

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from streaming.errors import ConfigError
from streaming.head import Mode
from training.datasets.synthetic import Heterogeneity, listener, paper_clients

if TYPE_CHECKING:
    from collections.abc import Callable

    from streaming.block import Samples
    from streaming.bundle import Bundle
    from training.heads.embed import Embeddings
    from training.heads.fit import Fit
    from training.heads.search import Search

PAPER: dict[str, Heterogeneity] = {"paper": "labels", "paper-snr": "snr", "paper-cfo": "cfo"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("model", metavar="MODEL", help="a bundle's name or file")
    parser.add_argument(
        "--data",
        default="paper",
        help="paper (default), paper-snr, paper-cfo, paper-air, radio, a file or a folder",
    )
    parser.add_argument("--labels", type=int, help="labels a client; default 2,800, or all that a file has")
    parser.add_argument(
        "--head", metavar="NAME", help="name of the head that a file's or folder's labels make"
    )
    parser.add_argument("--kernel", choices=["rbf", "linear"], default="rbf")
    parser.add_argument(
        "--live", type=int, metavar="PAST", help="for streams: windows with this many samples before"
    )
    parser.add_argument(
        "--window", type=int, default=100, help="samples an answer covers, of a stream or folder"
    )
    parser.add_argument("--hop", type=int, help="samples between answers of a stream; default the window")
    parser.add_argument(
        "--level", action="store_true", help="heads of frames see the log of the frame's RMS, too"
    )
    parser.add_argument("--refuse", type=float, default=0.01, help="share of known signals called unknown")
    parser.add_argument("--unnormalised", action="store_true", help="the paper's 16-QAM with points +-1, +-3")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the bundle to write")
    parser.add_argument("--json", action="store_true", help="print what was fitted as JSON")


def run(args: argparse.Namespace) -> None:
    """Fit, save, and say what cross-validation found."""
    from streaming.band.frontend import BandSettings
    from streaming.bundle import encoder_sha256, load_bundle
    from streaming.bundle_meta import HeadFit, HeadSearch
    from streaming.pipeline import choose_head
    from training.evaluation.evaluate import embedder, fit_clients
    from training.heads.fit import Identity
    from training.heads.recordings import fit_recordings
    from training.heads.search import Search

    bundle = load_bundle(args.model)
    past = args.live or 0
    mode: Mode = "live" if args.live is not None else "frame"
    hop = args.hop or args.window
    if past < 0 or past % hop or args.window % hop:
        raise ConfigError(f"--live and --window must be multiples of the hop, {hop}")
    if args.data == "paper-air" and mode == "frame":
        raise ConfigError("--data paper-air is for streams; add --live 8200")
    if args.level and (mode == "live" or args.data == "radio"):
        raise ConfigError("--level is for frames; a stream's level is set by its front end")
    search = Search(kernel=args.kernel, refuse=args.refuse, seed=args.seed)
    if args.data == "radio":
        from training.heads.radio_fit import SEARCH, fit_radio

        search = replace(SEARCH, seed=args.seed)
        bundle, fit = fit_radio(bundle, args.labels or 100, args.seed, args.out.parent)
        fits = {"live": fit}
    elif args.data == "paper-air" or args.data in PAPER:
        if args.data == "paper-air":
            clients = [listener(args.labels or 2_800, args.window)]
        else:
            clients = paper_clients(args.labels or 2_800, 0, 0, PAPER[args.data], not args.unnormalised)
        classes = clients[0].signal.classes
        identity = Identity("", classes, mode, args.window, hop, encoder_sha256(bundle.encoder), args.level)
        embed = embedder(bundle, mode, args.window, hop, args.level)
        fits = fit_clients(clients, embed, identity, args.seed, past, search)
    elif isinstance(bundle.meta.front_end, BandSettings):
        name, like = args.head or Path(args.data).stem, choose_head(bundle, "", "live")
        fits = {name: fit_recordings(bundle, like, args.data, name, search, args.labels)}
    else:
        embed = embedder(bundle, mode, args.window, hop, args.level)
        fits = fit_frames(args, bundle, embed, mode, search)
    suffix = "-live" if mode == "live" and args.data in PAPER else ""
    heads = {name + suffix: replace(fit.head, name=name + suffix) for name, fit in fits.items()}
    tried = HeadSearch(**{**asdict(search), "C": tuple(str(c) for c in search.C)})
    before = bundle.meta.provenance
    fitted = before.fits | {f"{args.data}{suffix}": HeadFit(args.seed, tried, args.labels)}
    meta = replace(bundle.meta, provenance=replace(before, fits=fitted))
    bundle = replace(bundle, heads=bundle.heads | heads, meta=meta)
    bundle.save(args.out)
    print_fits(args, bundle, {name + suffix: fit for name, fit in fits.items()})


def print_fits(args: argparse.Namespace, bundle: "Bundle", fits: dict[str, "Fit"]) -> None:
    """What was fitted, in words or as JSON."""
    summary = {
        name: {
            "classes": fit.head.classes,
            "C": str(fit.C),
            "gamma": fit.head.gamma,
            "labels": fit.labels,
            "support_vectors": len(fit.head.vectors),
            "held_out_accuracy": fit.validation,
            "held_out_log_loss": fit.log_loss,
            "threshold": fit.head.threshold,
        }
        for name, fit in fits.items()
    }
    if args.json:
        print(json.dumps({"bundle": str(args.out), "sha256": bundle.sha256, "heads": summary}))
        return
    for name, row in summary.items():
        print(
            f"{name:<16}{row['labels']:>7,} labels   C {row['C']:<8}{row['support_vectors']:>6,} vectors"
            f"   held out {100 * float(str(row['held_out_accuracy'])):.1f} %"
        )
    print(f"written to {args.out}")


def fit_frames(
    args: argparse.Namespace,
    bundle: "Bundle",
    embed: "Callable[[Samples], Embeddings]",
    mode: Mode,
    search: "Search",
) -> dict[str, "Fit"]:
    """A head from the frames of a data set."""
    from streaming.bundle import encoder_sha256
    from training.datasets import open_dataset
    from training.datasets.partition import label_budget
    from training.heads.fit import Identity, fit_head

    samples = (args.live or 0) + args.window
    frames = open_dataset(args.data, samples=samples)
    if frames.iq.shape[1] != samples:
        raise ConfigError(
            f"{args.data} has frames of {frames.iq.shape[1]}; use --window {frames.iq.shape[1]}"
        )
    if args.labels:
        frames = frames.take(label_budget(frames.label, args.labels, args.seed))
    name, hop = args.head or Path(args.data).stem, args.hop or args.window
    sha256 = encoder_sha256(bundle.encoder)
    identity = Identity(name, frames.classes, mode, args.window, hop, sha256, args.level)
    return {name: fit_head(embed(frames.iq), frames.label, identity, search)}
