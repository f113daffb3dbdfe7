"""A GNU Radio flowgraph in its own process: it needs its own Python and numpy 1.

    send     random bytes -> QPSK with RRC -> channel model -> throttle -> ZMQ sink and a file
    receive  ZMQ source -> a file, and the tags as JSON on stdout

The other side writes a line to stdin when it is ready, and closes it when it has seen enough.
"""

import argparse
import json
import os
import random
import sys
import time

import numpy
import pmt
from gnuradio import blocks, channels, digital, gr, zeromq

SINKS = {"pub": zeromq.pub_sink, "push": zeromq.push_sink}
SOURCES = {"sub": zeromq.sub_source, "pull": zeromq.pull_source}


class TagSink(gr.sync_block):
    """Keeps the tags it sees."""

    def __init__(self):
        gr.sync_block.__init__(self, "tags", [numpy.complex64], None)
        self.seen = []
        self.count = 0

    def work(self, input_items, output_items):
        for tag in self.get_tags_in_window(0, 0, len(input_items[0])):
            self.seen.append((tag.offset, str(tag.key), str(tag.value)))
        self.count += len(input_items[0])
        return len(input_items[0])


def send(args):
    def tag(key, value):
        made = gr.tag_t()
        made.offset, made.key, made.value = 0, pmt.intern(key), value
        return made

    tags = [
        tag("rx_rate", pmt.from_double(args.rate)),
        tag("rx_freq", pmt.from_double(433.92e6)),
        tag("rx_time", pmt.make_tuple(pmt.from_uint64(1_700_000_000), pmt.from_double(0.25))),
    ]
    data = random.Random(1).randbytes(args.samples // 16 + 64)
    flow = gr.top_block()
    chain = [
        blocks.vector_source_b(list(data), False, 1, tags),
        digital.generic_mod(
            digital.constellation_qpsk().base(), differential=False, samples_per_symbol=4, excess_bw=0.35
        ),
        channels.channel_model(0.1, 0.001, 1.0, [1.0, 0.1j], 1),
        blocks.head(gr.sizeof_gr_complex, args.samples),
    ]
    if args.paced:
        chain.append(blocks.throttle(gr.sizeof_gr_complex, args.rate))
    flow.connect(*chain)
    options = {"key": args.key} if args.key else {}
    sink = SINKS[args.kind](gr.sizeof_gr_complex, 1, args.endpoint, 100, args.tags, args.hwm, **options)
    flow.connect(chain[-1], sink)
    flow.connect(chain[-1], blocks.file_sink(gr.sizeof_gr_complex, args.file))
    say(sink.last_endpoint())
    sys.stdin.readline()
    flow.run()
    say("done")
    sys.stdin.read()


def receive(args):
    flow = gr.top_block()
    options = {"key": args.key} if args.key else {}
    source = SOURCES[args.kind](gr.sizeof_gr_complex, 1, args.endpoint, 100, args.tags, args.hwm, **options)
    file, tags = blocks.file_sink(gr.sizeof_gr_complex, args.file), TagSink()
    file.set_unbuffered(True)
    flow.connect(source, file)
    flow.connect(source, tags)
    flow.start()
    say("ready")
    sys.stdin.readline()
    while tags.count < args.samples or os.path.getsize(args.file) < 8 * args.samples:
        time.sleep(0.01)
    flow.stop()
    flow.wait()
    say(json.dumps(tags.seen))


def say(text):
    print(text, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["send", "receive"])
    parser.add_argument("kind", choices=[*SINKS, *SOURCES])
    parser.add_argument("endpoint")
    parser.add_argument("file")
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--rate", type=float, default=1e6)
    parser.add_argument("--tags", action="store_true")
    parser.add_argument("--paced", action="store_true")
    parser.add_argument("--key", default="")
    parser.add_argument("--hwm", type=int, default=-1)
    chosen = parser.parse_args()
    {"send": send, "receive": receive}[chosen.what](chosen)
