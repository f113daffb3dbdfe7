"""A clip: one emission of a band on its own, moved to zero and decimated.

The channel bank does it, so a clip is what a track's channel would give, with the noise beside the emission
left in: whoever reads it finds the emission again, and judges its SNR.
"""

from dataclasses import replace

import numpy as np

from streaming.band.bank import Bank, Channel
from streaming.band.box import Box
from streaming.band.frontend import LOOKS
from streaming.band.looks import bins_for
from streaming.block import Block
from streaming.errors import InputError

FRACTION = 0.2  # of a clip's rate that the emission fills


def clip(block: Block, box: Box) -> Block:
    """The emission in a box, in hertz from the source's centre; the clip's samples count in its own rate.

    Sample i of the clip lies at sample `step * i` of the block; no part of the clip has a higher rate.
    """
    rate_hz = block.rate_hz
    if not 0 < box.width <= rate_hz or abs(box.centre) > rate_hz / 2:
        raise InputError(
            f"a box of {box.width:g} Hz at {box.centre:+g} Hz is not in a band of {rate_hz:g} Hz"
        )
    bank = Bank(2 * LOOKS * bins_for(rate_hz), 1)
    width = min(box.width / rate_hz, FRACTION)  # never above the source's rate
    channel = Channel(bank, box.centre / rate_hz, width, FRACTION)
    hops = -(-len(block.samples) // bank.hop)
    padded = np.pad(block.samples, (0, (hops + 1) * bank.hop - len(block.samples)))
    parts = []
    for hop in padded.reshape(-1, bank.hop):
        bank.push(hop)
        if bank.count:
            parts.append(channel.read(bank.count - 1))
    count = int(len(block.samples) / channel.step)
    return replace(
        block,
        samples=np.concatenate(parts)[:count],
        index=round(block.index / channel.step),
        rate_hz=rate_hz / channel.step,
        freq_hz=None if block.freq_hz is None else block.freq_hz + channel.offset * rate_hz,
        gap=None,
    )
