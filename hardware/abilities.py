"""What a radio can do, as it says itself, and whether it can do what is asked of it."""

from dataclasses import dataclass

from hardware.soapy_api import Radio, Range
from hardware.tuning import AUTO, Gain, Tuning
from streaming.checked import metric
from streaming.errors import ConfigError


def spans(ranges: list[Range]) -> str:
    """Ranges in words: `225k to 300k, 20M`."""
    return ", ".join(
        metric(one.low) if one.low == one.high else f"{metric(one.low)} to {metric(one.high)}"
        for one in ranges
    )


@dataclass(frozen=True)
class Abilities:
    """What one channel of a radio can do."""

    channels: int
    formats: list[str]
    antennas: list[str]
    rates_hz: list[Range]
    freqs_hz: list[Range]
    bandwidths_hz: list[Range]
    gain_db: Range
    gain_elements_db: dict[str, Range]
    auto_gain: bool
    ppm: bool
    hardware_time: bool
    settings: list[str]
    channel_settings: list[str]

    def check(self, asked: Tuning, where: str) -> None:
        """Refuse what the radio cannot do, and name what it can."""
        within("rate", asked.rate_hz, self.rates_hz, where)
        within("freq", asked.freq_hz, self.freqs_hz, where)
        within("bandwidth", asked.bandwidth_hz, self.bandwidths_hz, where)
        one_of("antenna", asked.antenna, self.antennas, where)
        for name in asked.settings:
            one_of("settings", name, self.settings + self.channel_settings, where)
        if asked.ppm and not self.ppm:
            raise ConfigError(f"option ppm of {where}: this radio cannot correct its frequency")
        if "CF32" not in self.formats:
            raise ConfigError(f"{where} gives {', '.join(self.formats) or 'no samples'}; wavetell needs CF32")
        self.check_gain(asked.gain, where)

    def check_gain(self, gain: Gain | None, where: str) -> None:
        """Refuse a gain the radio cannot give."""
        if gain == AUTO:
            if not self.auto_gain:
                raise ConfigError(f"option gain of {where} is auto; this radio has no automatic gain")
        elif isinstance(gain, dict):
            for name, gain_db in gain.items():
                one_of("gain", name, list(self.gain_elements_db), where)
                within(f"gain {name}", gain_db, [self.gain_elements_db[name]], where)
        elif isinstance(gain, float):
            within("gain", gain, [self.gain_db], where)


def within(name: str, value: float | None, ranges: list[Range], where: str) -> None:
    """Refuse a value outside the ranges; a driver that names none takes any."""
    if value is None or not ranges:
        return
    if not any(one.low - 1e-6 <= value <= one.high + 1e-6 for one in ranges):
        raise ConfigError(f"option {name} of {where} is {metric(value)}; this radio can do {spans(ranges)}")


def one_of(name: str, value: str | None, choices: list[str], where: str) -> None:
    """Refuse a name that the radio does not know."""
    if value is not None and value not in choices:
        known = f"this radio has {', '.join(choices)}" if choices else "this radio has none"
        raise ConfigError(f"option {name} of {where} is {value!r}; {known}")


def read_abilities(radio: Radio, channel: int, where: str) -> Abilities:
    """Ask the radio."""
    channels = radio.channels()
    if channel >= channels:
        has = f"this radio has 0 to {channels - 1}" if channels else "this radio has no receive channel"
        raise ConfigError(f"option channel of {where} is {channel}; {has}")
    return Abilities(
        channels=channels,
        formats=radio.formats(channel),
        antennas=radio.antennas(channel),
        rates_hz=radio.rate_ranges(channel),
        freqs_hz=radio.frequency_ranges(channel),
        bandwidths_hz=radio.bandwidth_ranges(channel),
        gain_db=radio.gain_range(channel),
        gain_elements_db={name: radio.gain_range(channel, name) for name in radio.gains(channel)},
        auto_gain=radio.has_auto_gain(channel),
        ppm=radio.has_ppm(channel),
        hardware_time=radio.has_time(),
        settings=radio.settings(None),
        channel_settings=radio.settings(channel),
    )
