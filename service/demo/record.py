"""Make the demo's recording: ten modulations in turn at 20 dB, through a simulated cheap receiver.

python -m service.demo.record
"""

from service.cli import main as wavetell
from service.demo import RECORDING

CLASSES = ("OOK", "2FSK", "BPSK", "OQPSK", "16QAM", "MSK", "4FSK", "AM-DSB-SC", "4ASK", "chirp")
SECONDS = 9.8  # below 2 MB at 8 bits
RATE_HZ = 100_000
SNR_DB = 20
SEED = 1


def main() -> None:
    """Write demo.sigmf-data and demo.sigmf-meta."""
    settings = {"--classes": ",".join(CLASSES), "--seconds": SECONDS, "--rate": RATE_HZ}
    settings |= {"--snr": SNR_DB, "--seed": SEED, "--type": "ci8"}
    flags = [str(part) for pair in settings.items() for part in pair]
    wavetell(["generate", str(RECORDING), *flags])


if __name__ == "__main__":
    main()
