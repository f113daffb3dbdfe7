"""Serve predictions over HTTP.

POST raw I/Q to /v1/predict; /docs describes every route.

examples:
  wavetell serve
  wavetell serve --model radio --port 9000
  curl --data-binary @capture.cu8 'http://127.0.0.1:8433/v1/predict?datatype=cu8'
"""

import argparse
import logging

import uvicorn

from service.app import create_app
from service.predictor import Predictor
from service.settings import add_settings, settings
from streaming.bundle import load_bundle
from streaming.engine import open_engine
from streaming.pipeline import choose_head


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    add_settings(parser, "model", "backend", "threads", "host", "port")


def run(args: argparse.Namespace) -> None:
    """Serve until stopped."""
    values = settings(args)
    bundle = load_bundle(values.model)
    hop = choose_head(bundle, "", "live").hop
    engine = open_engine(bundle.encoder, hop=hop, backend=values.backend, threads=values.threads)
    print(f"wavetell: http://{values.host}:{values.port}/ serves {bundle.name} on {engine.detail}", flush=True)
    level = logging.INFO if args.verbose else logging.WARNING
    uvicorn.run(create_app(Predictor(bundle, engine)), host=values.host, port=values.port, log_level=level)
