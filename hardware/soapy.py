"""Any radio that SoapySDR has a module for.

    soapy:driver=rtlsdr?freq=433.92M&rate=1.024M&gain=30
    soapy:driver=hackrf,serial=1?gain=LNA:20,VGA:10&antenna=RX&bandwidth=2M&ppm=-2
    soapy:driver=remote,remote=tcp://10.0.0.2:55132,remote:driver=uhd?gain=auto&stream=remote:prot=tcp

What stands before `?` are the device arguments, as `SoapySDRUtil --find` shows them. `settings` are the
device's own, `stream` those of its stream, both as key=value,key=value.
"""

import logging
import threading

from hardware.abilities import Abilities, read_abilities
from hardware.address import Address
from hardware.live import EVENTS, SILENCE_S, LiveSource
from hardware.soapy_api import BINDINGS, Binding, Radio, Read, load
from hardware.tuning import AUTO, Gain, Tuning, parse_gain, read_tuning
from streaming.block import Samples
from streaming.checked import metric
from streaming.errors import ConfigError, SourceError
from streaming.quantities import FREQ_HZ, RATE_HZ, SECONDS, in_range

log = logging.getLogger("wavetell.hardware")


def open(address: Address) -> "SoapySource":
    """Open the radio, set it, and set up its stream; samples flow once they are asked for."""
    options = address.options
    asked = read_tuning(options)
    settings, stream = options.text("settings", "") or "", options.text("stream", "") or ""
    silence_s = options.number("silence", SECONDS, SILENCE_S)
    binding = load(options.choice("binding", BINDINGS, "auto"))
    options.done()
    asked.settings = binding.arguments(settings)
    return SoapySource(
        f"{address.scheme}:{address.target}",
        binding,
        device=address.target,
        asked=asked,
        stream=binding.arguments(stream),
        silence_s=silence_s,
    )


def make(binding: Binding, device: str, where: str) -> Radio:
    """Open a device."""
    if not device:
        raise ConfigError(
            f"source {where} names no radio, as soapy:driver=rtlsdr does; see `wavetell devices`"
        )
    try:
        return binding.make(device)
    except SourceError as error:
        if "no match" in str(error) or "no enumeration results" in str(error):
            raise SourceError(
                f"{where}: no such radio; `wavetell devices` lists those that are there"
            ) from None
        raise SourceError(f"{where}: {error}") from None


def frequency(radio: Radio, channel: int) -> float | None:
    """Where the radio says it is tuned to; None where that cannot be."""
    freq_hz = radio.frequency(channel)
    return freq_hz if in_range(freq_hz, FREQ_HZ) else None


class SoapySource(LiveSource):
    """A radio behind SoapySDR."""

    def __init__(
        self,
        where: str,
        binding: Binding,
        *,
        device: str,
        asked: Tuning,
        stream: dict[str, str],
        silence_s: float,
    ) -> None:
        self._binding, self._device, self._asked, self._stream = binding, device, asked, stream
        self._setting = threading.Lock()  # the radio is set, retuned, opened or given back by one at a time
        self._active = False
        self._radio: Radio | None = make(binding, device, where)
        try:
            self._abilities: Abilities = read_abilities(self._radio, asked.channel, where)
            self._abilities.check(asked, where)
            self._set(self._radio)
            rate_hz = self._radio.rate(asked.channel)
            if not in_range(rate_hz, RATE_HZ):
                raise ConfigError(f"{where} has no rate of its own; give one, such as rate=1M")
            self._radio.setup(asked.channel, stream)
        except BaseException:
            self._radio.close()
            raise
        super().__init__(where, rate_hz, silence_s)
        if asked.rate_hz and abs(rate_hz - asked.rate_hz) > 1:
            log.warning("%s runs at %s, not %s", where, metric(rate_hz), metric(asked.rate_hz))
        if self._abilities.hardware_time:
            self.loss = "exact"

    def _set(self, radio: Radio) -> None:
        """Set everything that was asked for; the rate first, for drivers that derive the rest from it."""
        asked, channel = self._asked, self._asked.channel
        if asked.rate_hz is not None:
            radio.set_rate(channel, asked.rate_hz)
        if asked.bandwidth_hz is not None:
            radio.set_bandwidth(channel, asked.bandwidth_hz)
        if asked.antenna is not None:
            radio.set_antenna(channel, asked.antenna)
        if asked.ppm is not None and self._abilities.ppm:
            radio.set_ppm(channel, asked.ppm)
        for name, value in asked.settings.items():
            radio.write_setting(None if name in self._abilities.settings else channel, name, value)
        if asked.freq_hz is not None:
            radio.set_frequency(channel, asked.freq_hz)
        if asked.gain is not None:
            self._set_gain(radio, asked.gain)
        self.freq_hz = frequency(radio, channel)

    def _set_gain(self, radio: Radio, gain: Gain) -> None:
        channel = self._asked.channel
        if self._abilities.auto_gain:
            radio.set_auto_gain(channel, gain == AUTO)
        if isinstance(gain, dict):
            for name, gain_db in gain.items():
                radio.set_gain(channel, gain_db, name)
        elif not isinstance(gain, str):
            radio.set_gain(channel, gain)

    def retune(self, freq_hz: float | None = None, gain: float | str | None = None) -> None:
        wanted = None if gain is None else parse_gain(gain, self.address)
        self._abilities.check(Tuning(freq_hz=freq_hz, gain=wanted), self.address)
        with self._setting:
            # A radio that is away just now is set when it comes back.
            if freq_hz is not None:
                if self._radio:
                    self._radio.set_frequency(self._asked.channel, freq_hz)
                    self.freq_hz = frequency(self._radio, self._asked.channel)
                self._asked.freq_hz = freq_hz
            if wanted is not None:
                if self._radio:
                    self._set_gain(self._radio, wanted)
                self._asked.gain = wanted

    def _read(self, buffer: Samples) -> Read:
        assert self._radio is not None
        if not self._active:
            self._radio.activate()
            self._active = True
        read = self._radio.read(buffer)
        if read.got < 0 and read.got not in EVENTS:
            raise SourceError(f"SoapySDR: {self._binding.error_text(read.got)}")
        return read

    def _connect(self) -> None:
        radio = self._binding.make(self._device)
        try:
            with self._setting:
                self._set(radio)
                radio.setup(self._asked.channel, self._stream)
                radio.activate()
                self._radio, self._active = radio, True
        except BaseException:
            radio.close()
            raise

    def _release(self) -> None:
        with self._setting:
            radio, self._radio, self._active = self._radio, None, False
            if radio is not None:
                radio.close()
