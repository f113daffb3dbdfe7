"""The samples' ledger: a stream of its own gets a known number, with gaps, and accounts for each of them."""

import time

import numpy as np

from hardware.zmq_sink import ZmqSink
from streaming.block import Block
from tests.ports import free_port
from tests.service.conftest import within

PIECE = 2_048


def account(soak):
    """Send samples and hold the counts against what was sent; a difference in one line, or nothing.

    sent = received + lost,  received = processed + dropped: offsets tell what was left out.
    """
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with ZmqSink(endpoint, "push", tags=True) as sink:
        stream = soak.ledger.stream(f"zmq:{endpoint}?type=pull")
        if stream is None:
            return ""
        index = left_out = bad = 0
        for _ in range(20):
            samples = np.exp(0.3j * np.arange(PIECE)).astype(np.complex64)
            if soak.chance.random() < 0.2 and index:
                skipped = soak.chance.randrange(1, 5_000)
                index, left_out = index + skipped, left_out + skipped
            if soak.chance.random() < 0.2:
                samples[soak.chance.randrange(PIECE)] = np.nan
                bad += 1
            sink.push(Block(samples, index, 48e3, 1e8))
            index += PIECE
        try:
            return wait(soak, stream, index, left_out, bad)
        finally:
            soak.ledger.ask("DELETE", f"/v1/streams/{stream}")


def wait(soak, stream, sent, left_out, bad):
    """Wait until the counts add up."""
    end, said = time.monotonic() + within(20), {}
    while time.monotonic() < end:
        answer = soak.ledger.ask("GET", f"/v1/streams/{stream}")
        if answer is None or answer.status_code != 200:
            return ""
        said = answer.json()["samples"]
        lost, dropped = sum(said["lost"].values()), sum(said["dropped"].values())
        if (
            said["received"] + lost == sent
            and said["processed"] + dropped == said["received"]
            and lost == left_out
            and said["dropped"].get("not finite", 0) >= bad  # and what lies between two of them
        ):
            return ""
        time.sleep(0.1)
    return f"sent {sent}, of them {left_out} left out and {bad} not finite; the service says {said}"
