"""Make the demo's recordings, both through a simulated cheap receiver.

    demo.sigmf    ten modulations in turn at 20 dB, for examples and tests
    band/         six transmitters at once, which `make demo` plays

python -m service.demo.record
"""

from service.cli import main as wavetell
from service.demo import BAND, RECORDING

IN_TURN = {
    "--classes": "OOK,2FSK,BPSK,OQPSK,16QAM,MSK,4FSK,AM-DSB-SC,4ASK,chirp",
    "--seconds": "9.8",  # below 2 MB at 8 bits
    "--rate": "100k",
    "--snr": "20",
    "--seed": "1",
    "--type": "ci8",
}
AT_ONCE = {
    "--classes": "OOK,2FSK,GFSK,BPSK,QPSK,16QAM,AM-DSB,NBFM,chirp,OFDM",
    "--seconds": "7.8",  # below 4 MB at 8 bits
    "--rate": "250k",
    "--snr": "18..30",
    "--emissions": "6",
    "--seed": "14",
    "--type": "ci8",
}


def main() -> None:
    """Write both."""
    wavetell(["generate", str(RECORDING), *(part for pair in IN_TURN.items() for part in pair)])
    wavetell(["generate", str(BAND.parent), "--scene", *(part for pair in AT_ONCE.items() for part in pair)])


if __name__ == "__main__":
    main()
