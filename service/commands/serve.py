"""Listen to sources and serve what is on the air: REST, WebSocket, metrics.

Sources can be added and removed over REST, too; /docs describes every route. Without tokens only this
machine is served (see wavetell token).

examples:
  wavetell serve
  wavetell serve 'soapy:driver=rtlsdr?freq=433.92M&rate=250k' --sinks stdout
  wavetell serve 'zmq:tcp://127.0.0.1:5555?rate=48k' --port 9000 --sinks mqtt://127.0.0.1/wavetell
  curl --data-binary @capture.cu8 'http://127.0.0.1:8433/v1/predict?datatype=cu8'
"""

import argparse
import gc
import json
import logging
import sys

from service.quiet import quieten
from service.settings import SETTINGS, add_settings, settings
from service.station import Station
from service.web.connections import BACKLOG, bind
from service.web.security import Tokens
from service.web.server import make_server, read_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help="where samples come from")
    parser.add_argument("--json", action="store_true", help="where it serves as one JSON object")
    add_settings(parser, *SETTINGS)


def run(args: argparse.Namespace) -> None:
    """Serve until stopped."""
    sys.setswitchinterval(0.001)  # the engine thread hands the interpreter back quickly: answers leave sooner
    values = settings(args)
    listener = bind(values, BACKLOG)
    station = Station(values)
    rules = read_rules(values, Tokens(station.data / "tokens.json"))
    for source in args.sources:
        station.listen(source)
    scheme, port = "https" if values.tls_cert else "http", listener.getsockname()[1]
    name = station.model.bundle.name
    where = f"[{values.host}]" if ":" in values.host else values.host
    url, detail = f"{scheme}://{where}:{port}/", station.model.engine.detail
    as_json = json.dumps({"url": url, "model": name, "engine": detail})
    print(as_json if args.json else f"wavetell: {url} serves {name} on {detail}", flush=True)
    server = make_server(station, rules, logging.INFO if args.verbose else logging.WARNING)
    quieten()
    gc.collect()
    gc.freeze()  # what is here now stays: going through all of it again would hold up answers for 50 ms
    server.run([listener])
