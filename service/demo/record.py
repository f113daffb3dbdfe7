"""Make the demo's recording: four modulations in turn at 12 dB, one sample a symbol as in the paper.

python -m service.demo.record
"""

import numpy as np
import sigmf

from service.demo.__main__ import RECORDING
from training.synthetic import CLASSES, constellation

RATE_HZ = 48_000
SECONDS = 2.5  # of each modulation
SNR_DB = 12.0
LEVEL = 24.0  # RMS of an 8-bit component pair; noise and 16-QAM's corners stay below 127


def main() -> None:
    """Write demo.sigmf-data and demo.sigmf-meta."""
    rng = np.random.default_rng(2026)
    n = int(RATE_HZ * SECONDS)
    data = RECORDING.with_suffix(".sigmf-data")
    parts = []
    for name in CLASSES:
        noise = rng.standard_normal(2 * n).view(np.complex128) * np.sqrt(10 ** (-SNR_DB / 10) / 2)
        parts.append(LEVEL * (rng.choice(constellation(name), n) * np.exp(0.1j) + noise))
    np.concatenate(parts).view(np.float64).round().clip(-128, 127).astype(np.int8).tofile(data)
    recording = sigmf.SigMFFile(
        data_file=str(data),
        global_info={
            "core:datatype": "ci8",
            "core:sample_rate": RATE_HZ,
            "core:description": "BPSK, QPSK, 8PSK and 16QAM in turn, one sample a symbol, 12 dB",
            "core:author": "wavetell",
        },
    )
    recording.add_capture(0, metadata={"core:datetime": "2026-01-01T00:00:00Z"})
    for i, name in enumerate(CLASSES):
        recording.add_annotation(i * n, n, {"core:label": name})
    recording.tofile(str(RECORDING), overwrite=True)


if __name__ == "__main__":
    main()
