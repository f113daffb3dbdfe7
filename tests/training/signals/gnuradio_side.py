"""Runs in GNU Radio's own Python: modulates given symbols with its blocks and writes what comes out.

    /usr/bin/python3 gnuradio_side.py FOLDER

FOLDER holds symbols.c64 (for the root raised cosine), bits.i8 (for CPM) and message.f32 (for FM).
"""

import sys
from pathlib import Path

from gnuradio import analog, blocks, digital, filter, gr


def run(source, *chain):
    """What a chain of blocks makes of a source."""
    top, sink = gr.top_block(), blocks.file_sink(gr.sizeof_gr_complex, chain[-1])
    top.connect(source, *chain[:-1], sink)
    top.run()


def file(path, size):
    return blocks.file_source(size, str(path), False)


folder = Path(sys.argv[1])
symbols, bits, message = folder / "symbols.c64", folder / "bits.i8", folder / "message.f32"
taps = filter.firdes.root_raised_cosine(1.0, 8.0, 1.0, 0.35, 16 * 8 + 1)
rrc = filter.interp_fir_filter_ccf(8, taps)
run(file(symbols, gr.sizeof_gr_complex), rrc, str(folder / "rrc.c64"))
for name, kind, index, length, bt in (
    ("msk", analog.cpm.LREC, 0.5, 1, 0.3),
    ("fsk", analog.cpm.LREC, 1.4, 1, 0.3),
    ("gmsk", analog.cpm.GAUSSIAN, 0.5, 4, 0.3),
):
    run(file(bits, 1), digital.cpmmod_bc(kind, index, 8, length, bt), str(folder / f"{name}.c64"))
run(file(message, gr.sizeof_float), analog.frequency_modulator_fc(0.3), str(folder / "fm.c64"))
