"""How a radio is to be set: what the options of its address ask for."""

from dataclasses import dataclass, field

from hardware.address import Options, parse_number
from streaming.checked import shown
from streaming.errors import ConfigError
from streaming.quantities import BANDWIDTH_HZ, CHANNEL, FREQ_HZ, GAIN_DB, PPM, RATE_HZ, in_range

AUTO = "auto"
Gain = float | str | dict[str, float]  # dB, "auto", or dB by element


def parse_gain(given: float | str, where: str) -> Gain:
    """A gain as it is written: `30`, `auto` or `LNA:20,VGA:10`.

    >>> parse_gain("LNA:20,VGA:10", "soapy:driver=hackrf")
    {'LNA': 20.0, 'VGA': 10.0}
    """
    what = f"option gain of {where}"
    if given == AUTO:
        return AUTO
    if not isinstance(given, str):
        if not in_range(given, GAIN_DB):
            raise ConfigError(f"{what} is {given:g}; it must be {GAIN_DB}")
        return float(given)
    if ":" not in given:
        try:
            return parse_number(given, GAIN_DB, what)
        except ConfigError:
            raise ConfigError(
                f"{what} is {shown(given)}; it must be {GAIN_DB}, auto or elements as in LNA:20,VGA:10"
            ) from None
    elements: dict[str, float] = {}
    for part in given.split(","):
        name, _, text = part.partition(":")
        elements[name.strip()] = parse_number(text.strip(), GAIN_DB, f"{what}, element {name.strip()},")
    return elements


@dataclass
class Tuning:
    """What was asked for; None leaves the device as it is."""

    channel: int = 0
    rate_hz: float | None = None
    freq_hz: float | None = None
    gain: Gain | None = None
    antenna: str | None = None
    bandwidth_hz: float | None = None
    ppm: float | None = None
    settings: dict[str, str] = field(default_factory=dict)


def read_tuning(options: Options) -> Tuning:
    """Take the options every radio has, except `settings`."""
    gain = options.text("gain")
    return Tuning(
        channel=options.whole("channel", CHANNEL, 0),
        rate_hz=options.number("rate", RATE_HZ),
        freq_hz=options.number("freq", FREQ_HZ),
        gain=None if gain is None else parse_gain(gain, options.where),
        antenna=options.text("antenna"),
        bandwidth_hz=options.number("bandwidth", BANDWIDTH_HZ),
        ppm=options.number("ppm", PPM),
    )
