"""Signals of GNU Radio's own modulators, one flowgraph after the other, over ZMQ; in GNU Radio's own Python.

Each line on stdin is a job as JSON (name, seed, snr_db, rate_hz, and the samples of noise before, of signal
and of noise after it). The answer is a line of JSON: where to connect, and the truth. The flowgraph runs when
the next line comes. The same job gives the same samples, but for float32's last bit.

    noise before | modulator -> unit power -> offset, two paths, clock error | noise after;  + noise

SNR is the signal's power over the noise's in its occupied bandwidth (99 %), as everywhere in wavetell.
"""

import json
import math
import os
import sys

import numpy
from gnuradio import analog, blocks, channels, digital, filter, gr, zeromq
from gnuradio.filter import firdes

NARROWEST = 1 / 64  # of the rate: a bare carrier's SNR is stated for this
AUDIO = 10  # samples of the rate to one of audio
SKIP, LOOK = 4_000, 65_536  # samples left out while filters fill, and samples measured
BYTES = 60_000


class Maker:
    """Modulators of one flowgraph; settings come from the job's seed."""

    def __init__(self, flow, seed, rate):
        self.flow, self.rate = flow, rate
        self.rng = numpy.random.RandomState(seed)
        self.seed = int(seed)

    def chain(self, *parts):
        self.flow.connect(*parts)
        return parts[-1]

    def bytes(self):
        return blocks.vector_source_b(self.rng.randint(0, 256, BYTES).tolist(), True)

    def symbols(self, levels):
        return blocks.vector_source_f(self.rng.choice(levels, BYTES).astype(float).tolist(), True)

    def log_uniform(self, low, high):
        return float(numpy.exp(self.rng.uniform(math.log(low), math.log(high))))

    # Linear: gr-digital's generic modulator with its root raised cosine.

    def linear(self, constellation):
        sps, excess = self.log_uniform(3, 16), self.rng.uniform(0.22, 0.5)
        shape = digital.generic_mod(
            constellation, differential=False, samples_per_symbol=sps, excess_bw=excess
        )
        return self.chain(self.bytes(), shape)

    def points(self, points):
        return self.linear(digital.constellation_calcdist(list(map(complex, points)), [], 1, 1).base())

    def psk(self, m):
        return self.linear(digital.psk.psk_constellation(m, "gray", False))

    def qam(self, m):
        return self.linear(digital.qam.qam_constellation(m, False, "none", False))

    def apsk(self, rings):
        points = [
            radius * numpy.exp(2j * numpy.pi * (k + 0.5) / count)
            for count, radius in rings
            for k in range(count)
        ]
        return self.points(points)

    def shaped(self, points, rotate=0.0, stagger=False):
        """Symbols that turn or whose halves are staggered, which the generic modulator cannot."""
        sps, excess = 2 * self.rng.randint(2, 8), self.rng.uniform(0.22, 0.5)
        taps = firdes.root_raised_cosine(sps, sps, 1.0, excess, 11 * sps + 1)
        chunks = blocks.vector_source_b(self.rng.randint(0, len(points), BYTES).tolist(), True)
        turned = self.chain(chunks, digital.chunks_to_symbols_bc(points, 1), blocks.rotator_cc(rotate))
        wave = self.chain(turned, filter.interp_fir_filter_ccf(sps, taps))
        if not stagger:
            return wave
        apart, together = blocks.complex_to_float(), blocks.float_to_complex()
        self.flow.connect(wave, apart)
        self.flow.connect((apart, 0), (together, 0))
        self.flow.connect((apart, 1), blocks.delay(gr.sizeof_float, sps // 2), (together, 1))
        return together

    def keyed(self, levels):
        """Hard keying behind a low pass, as cheap transmitters have."""
        sps = self.rng.randint(6, 24)
        smooth = firdes.low_pass(1.0, self.rate, 2 * self.rate / sps, self.rate / sps)
        return self.chain(
            self.symbols(levels),
            blocks.repeat(gr.sizeof_float, int(sps)),
            filter.fir_filter_fff(1, smooth),
            blocks.float_to_complex(),
        )

    # Continuous phase.

    def shifted(self, levels, low, high):
        index = self.log_uniform(low, high)
        sps = int(self.rng.randint(max(4, math.ceil(2.5 * (index * (len(levels) - 1) + 2))), 41))
        return self.chain(
            self.symbols(levels),
            blocks.repeat(gr.sizeof_float, sps),
            analog.frequency_modulator_fc(math.pi * index / sps),
        )

    def msk(self):
        signs = blocks.vector_source_b(self.rng.choice([1, 255], BYTES).tolist(), True)
        return self.chain(signs, digital.cpmmod_bc(analog.cpm.LREC, 0.5, self.rng.randint(4, 13), 1, 0.3))

    def gmsk(self):
        sps, bt = int(self.rng.randint(3, 13)), self.rng.uniform(0.25, 0.5)
        return self.chain(self.bytes(), digital.gmsk_mod(sps, bt))

    def gfsk(self):
        sps, index, bt = int(self.rng.randint(4, 13)), self.rng.uniform(0.5, 1.0), self.rng.uniform(0.35, 0.7)
        return self.chain(self.bytes(), digital.gfsk_mod(sps, math.pi * index / sps, bt))

    # Analogue.

    def audio(self, top_hz):
        """Noise in the band of speech, or two tones."""
        rate = self.rate / AUDIO
        if self.rng.rand() < 0.3:
            two = blocks.add_ff()
            for port in range(2):
                tone = analog.sig_source_f(rate, analog.GR_SIN_WAVE, self.rng.uniform(0.2, 1) * top_hz, 0.35)
                self.flow.connect(tone, (two, port))
            return two
        band = firdes.band_pass(1.0, rate, 300, top_hz, 200)
        power = sum(tap * tap for tap in band)
        noise = analog.noise_source_f(analog.GR_GAUSSIAN, 0.3 / math.sqrt(power), self.seed + 1)
        return self.chain(noise, filter.fir_filter_fff(1, band))

    def up(self, block, kind):
        taps = firdes.low_pass(AUDIO, self.rate, 0.4 * self.rate / AUDIO, 0.1 * self.rate / AUDIO)
        return self.chain(block, getattr(filter, f"interp_fir_filter_{kind}")(AUDIO, taps))

    def am(self, carrier):
        wide = self.up(self.audio(self.rng.uniform(3e3, 8e3)), "fff")
        return self.chain(wide, blocks.add_const_ff(carrier), blocks.float_to_complex())

    def ssb(self):
        sideband = self.chain(self.audio(self.rng.uniform(3e3, 8e3)), filter.hilbert_fc(401))
        wide = self.up(sideband, "ccf")
        return self.chain(wide, blocks.conjugate_cc()) if self.rng.rand() < 0.5 else wide

    def nbfm(self):
        top = self.rng.uniform(3e3, 6e3)
        mod = analog.nbfm_tx(int(self.rate / AUDIO), int(self.rate), 75e-6, self.rng.uniform(0.7, 1.0) * 5e3)
        return self.chain(self.audio(top), mod)

    def wbfm(self):
        """As wfm_tx has it, but emphasised before the interpolation, whose images are not."""
        emphasis = analog.fm_preemph(self.rate / AUDIO, 75e-6)
        wide = self.up(self.chain(self.audio(self.rng.uniform(3e3, 6e3)), emphasis), "fff")
        deviation_hz = self.rng.uniform(20e3, 40e3)
        return self.chain(wide, analog.frequency_modulator_fc(2 * math.pi * deviation_hz / self.rate))

    # The rest.

    def ofdm(self):
        tagged = blocks.stream_to_tagged_stream(gr.sizeof_char, 1, 96, "length")
        bits = int(self.rng.choice([1, 2]))
        tx = digital.ofdm_tx(fft_len=64, cp_len=16, packet_length_tag_key="length", bps_payload=bits)
        return self.chain(self.bytes(), tagged, tx, filter.pfb.arb_resampler_ccf(self.rng.uniform(2, 5)))

    def chirp(self):
        """Up-chirps whose beginnings carry the data, as LoRa has them."""
        band, factor = self.log_uniform(20e3, 100e3), int(self.rng.randint(6, 10))
        count = round(self.rate * 2**factor / band)
        shifts = numpy.concatenate([numpy.zeros(8), self.rng.randint(0, 2**factor, 120) / 2**factor])
        ramp = (numpy.arange(count) / count + shifts[:, None]) % 1 - 0.5
        turns = blocks.vector_source_f((ramp.ravel() * band).tolist(), True)
        return self.chain(turns, analog.frequency_modulator_fc(2 * math.pi / self.rate))

    def carrier(self):
        return analog.sig_source_c(self.rate, analog.GR_CONST_WAVE, 0, 1.0)


MAKERS = {
    "OOK": lambda m: m.keyed([0, 1]),
    "4ASK": lambda m: m.keyed([0, 1, 2, 3]),
    "4PAM": lambda m: m.points([-3, -1, 1, 3]),
    "BPSK": lambda m: m.psk(2),
    "QPSK": lambda m: m.psk(4),
    "OQPSK": lambda m: m.shaped([1 + 1j, -1 + 1j, 1 - 1j, -1 - 1j], stagger=True),
    "pi/4-DQPSK": lambda m: m.shaped([1, 1j, -1, -1j], rotate=math.pi / 4),
    "8PSK": lambda m: m.psk(8),
    "16QAM": lambda m: m.qam(16),
    "64QAM": lambda m: m.qam(64),
    "256QAM": lambda m: m.qam(256),
    "16APSK": lambda m: m.apsk([(4, 1.0), (12, 2.85)]),
    "32APSK": lambda m: m.apsk([(4, 1.0), (12, 2.84), (16, 5.27)]),
    "2FSK": lambda m: m.shifted([-1, 1], 0.8, 5),
    "4FSK": lambda m: m.shifted([-3, -1, 1, 3], 0.3, 1.1),
    "MFSK": lambda m: m.shifted([-7, -5, -3, -1, 1, 3, 5, 7], 0.3, 1.1),
    "GFSK": lambda m: m.gfsk(),
    "MSK": lambda m: m.msk(),
    "GMSK": lambda m: m.gmsk(),
    "AM-DSB": lambda m: m.am(1.0),
    "AM-DSB-SC": lambda m: m.am(0.0),
    "SSB": lambda m: m.ssb(),
    "NBFM": lambda m: m.nbfm(),
    "WBFM": lambda m: m.wbfm(),
    "OFDM": lambda m: m.ofdm(),
    "chirp": lambda m: m.chirp(),
    "carrier": lambda m: m.carrier(),
    "noise": lambda m: blocks.vector_source_c([0j], True),
}


def measured(job):
    """Power and occupied band, in cycles per sample, of the modulator alone."""
    flow, sink = gr.top_block(), blocks.vector_sink_c()
    wave = MAKERS[job["name"]](Maker(flow, job["seed"], job["rate_hz"]))
    skip, head = blocks.skiphead(gr.sizeof_gr_complex, SKIP), blocks.head(gr.sizeof_gr_complex, LOOK)
    flow.connect(wave, skip, head, sink)
    flow.run()
    x = numpy.array(sink.data()).reshape(-1, 4096)
    spectrum = numpy.mean(numpy.abs(numpy.fft.fft(x * numpy.hanning(4096))) ** 2, 0)
    below = numpy.cumsum(numpy.fft.fftshift(spectrum)) / max(spectrum.sum(), 1e-30)
    low, high = (numpy.searchsorted(below, share) / 4096 - 0.5 for share in (0.005, 0.995))
    return float(numpy.mean(numpy.abs(x) ** 2)), float(low), float(high)


def build(job, flow):
    """The whole flowgraph; gives its last block and the truth."""
    power, low, high = measured(job)
    rng = numpy.random.RandomState(job["seed"] + 77)
    silent = job["name"] == "noise"
    width = 0.0 if silent else high - low
    noise = 0.1  # of the whole band; the level of a receiver that has been turned up well enough
    snr = 10 ** (job["snr_db"] / 10) * max(width, NARROWEST)
    level = 0.0 if silent else noise * math.sqrt(snr / power)
    room = max(0.0, 0.45 - width / 2)
    offset = min(room, 0.15) * rng.uniform(-1, 1) - (low + high) / 2
    echo = 0.25 * rng.rand() * numpy.exp(2j * numpy.pi * rng.rand())
    taps = numpy.array([1.0, 0.0, echo] if rng.rand() < 0.5 else [1.0 + 0j])
    taps = (taps / numpy.linalg.norm(taps)).tolist()
    total = job["before"] + job["count"] + job["after"]
    gate = [0j] * job["before"] + [complex(level)] * job["count"] + [0j] * (job["after"] + 4_000)
    wave = MAKERS[job["name"]](Maker(flow, job["seed"], job["rate_hz"]))
    keyed, head = blocks.multiply_cc(), blocks.head(gr.sizeof_gr_complex, total)
    flow.connect(wave, blocks.skiphead(gr.sizeof_gr_complex, SKIP), (keyed, 0))
    flow.connect(blocks.vector_source_c(gate, False), (keyed, 1))
    clock = 1 + 2e-5 * rng.uniform(-1, 1)
    flow.connect(keyed, channels.channel_model(noise, offset, clock, taps, job["seed"]), head)
    rate = job["rate_hz"]
    return head, {"bandwidth_hz": width * rate, "offset_hz": (offset + (low + high) / 2) * rate}


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some of GNU Radio's blocks print

    def say(text):
        """A line to whoever asked."""
        print(text, file=answers, flush=True)

    if sys.argv[1:] == ["names"]:
        say(json.dumps(list(MAKERS)))
        sys.exit()
    for line in sys.stdin:
        top = gr.top_block()
        last, about = build(json.loads(line), top)
        push = zeromq.push_sink(gr.sizeof_gr_complex, 1, "tcp://127.0.0.1:*", 100, False, -1)
        top.connect(last, push)
        say(json.dumps(about | {"endpoint": push.last_endpoint()}))
        if not sys.stdin.readline():
            break
        top.run()
        sys.stdin.readline()  # all of it was heard: the sink may go
        del top, push, last
