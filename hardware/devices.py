"""The radios that SoapySDR finds, and what each can do."""

from dataclasses import asdict, dataclass
from typing import Any

from hardware.abilities import Abilities, read_abilities
from hardware.soapy_api import Binding, load
from streaming.errors import WavetellError

# What drivers add for people to read; the rest of what they say finds the device again.
DESCRIPTIONS = {"label", "manufacturer", "product", "tuner", "name", "version"}


@dataclass(frozen=True)
class Device:
    """A radio that was found."""

    address: str  # what `open_source` takes
    label: str
    arguments: dict[str, str]
    abilities: Abilities | None  # None where it could not be opened
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain values; a range is [low, high]."""
        return asdict(self)


def find_devices(arguments: str = "", binding: str = "auto") -> list[Device]:
    """Look for radios, and open each for a moment to ask what it can do."""
    soapy = load(binding)
    return [describe(soapy, found) for found in soapy.enumerate(arguments)]


def describe(soapy: Binding, found: dict[str, str]) -> Device:
    """One radio that was found."""
    naming = {key: value for key, value in found.items() if key not in DESCRIPTIONS and value}
    device = ",".join(f"{key}={value}" for key, value in naming.items())
    address = f"soapy:{device}"
    label = found.get("label") or found.get("driver", "radio")
    abilities, error = None, None
    try:
        radio = soapy.make(device)
        try:
            abilities = read_abilities(radio, 0, address)
        finally:
            radio.close()
    except WavetellError as problem:  # another program has it, or it went away since
        error = str(problem)
    return Device(address, label, found, abilities, error)
