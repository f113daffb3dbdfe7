"""List the radios that are connected, and what each can do.

examples:
  wavetell devices
  wavetell devices driver=rtlsdr
  wavetell devices --json
"""

import argparse
import json

from hardware.abilities import spans
from hardware.devices import Device, find_devices

NONE = """\
No radio found.
  Is its SoapySDR module there? On Debian: apt install soapysdr-module-rtlsdr (or -hackrf, -uhd, -remote)
  Does the system see it?       lsusb; SoapySDRUtil --find
  Without a radio:              wavetell listen rtltcp:HOST:1234, or a recording: wavetell listen FILE"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "arguments", nargs="?", default="", help="only those that match, as in driver=rtlsdr,serial=1"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON list")


def run(args: argparse.Namespace) -> None:
    """Look and print."""
    devices = find_devices(args.arguments)
    if args.json:
        print(json.dumps([device.to_json() for device in devices], indent=2))
    elif not devices:
        print(NONE)
    else:
        print("\n\n".join(text(device) for device in devices))


def text(device: Device) -> str:
    """One device in some lines."""
    lines = [device.label, f"  address     {device.address}"]
    can = device.abilities
    if can is None:
        return "\n".join([*lines, f"  cannot be opened: {device.error}"])
    elements = [f"{name} {spans([one])}" for name, one in can.gain_elements_db.items()]
    automatic = ", or auto" if can.auto_gain else ""
    rows = {
        "channels": str(can.channels),
        "rate": spans(can.rates_hz),
        "freq": spans(can.freqs_hz),
        "bandwidth": spans(can.bandwidths_hz),
        "gain": f"{spans([can.gain_db])} dB{automatic}",
        "elements": ", ".join(elements),
        "antenna": ", ".join(can.antennas),
        "formats": ", ".join(can.formats),
        "settings": ", ".join(can.settings + can.channel_settings),
        "ppm": "yes" if can.ppm else "",
        "clock": "hardware time" if can.hardware_time else "",
    }
    return "\n".join(lines + [f"  {name:<12}{value}" for name, value in rows.items() if value])
