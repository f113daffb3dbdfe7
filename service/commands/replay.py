"""Send a recording, or any other source, over ZMQ in the framing of GNU Radio.

Without --push a reader that is too slow loses samples, and with --tags it can count them. A replay begins
when the first reader is there; one that loops begins at once.

examples:
  wavetell replay g001_433.92M_250k.cu8 --zmq 'tcp://*:5555' --tags
  wavetell replay 'capture.sigmf-meta?start=10' --zmq tcp://127.0.0.1:5555 --loop
"""

import argparse
import sys

from streaming.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "source", help="a recording, or the address of a source; at real pace unless it says pace="
    )
    parser.add_argument(
        "--zmq", required=True, metavar="ENDPOINT", help="where to send to, such as tcp://*:5555"
    )
    parser.add_argument("--loop", action="store_true", help="restart at the end, endlessly")
    parser.add_argument(
        "--push", action="store_true", help="PUSH, which waits for its reader, instead of PUB"
    )
    parser.add_argument(
        "--tags", action="store_true", help="send offsets and the tags rx_rate, rx_freq, rx_time"
    )
    parser.add_argument("--key", help="send this key before each message")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from hardware import open_source, source_address
    from hardware.zmq_sink import ZmqSink

    address = source_address(args.source)
    if address.startswith("file:"):
        address = with_defaults(address, {"pace": "realtime"} | ({"loop": "1"} if args.loop else {}))
    elif args.loop:
        raise ConfigError(f"--loop is for recordings; {address} cannot begin again")
    with (
        open_source(address) as source,
        ZmqSink(args.zmq, "push" if args.push else "pub", args.tags, args.key) as sink,
    ):
        print(f"{source.inferred or address}; on {sink.endpoint}", file=sys.stderr, flush=True)
        while not args.loop and not sink.wait_for_reader(timeout_s=1.0):
            pass
        for block in source.blocks():
            sink.push(block)


def with_defaults(address: str, defaults: dict[str, str]) -> str:
    """An address with options it does not have yet."""
    query = address.partition("?")[2]
    there = {pair.partition("=")[0] for pair in query.split("&")}
    added = [f"{name}={value}" for name, value in defaults.items() if name not in there]
    return address + ("&" if query else "?") * bool(added) + "&".join(added)
