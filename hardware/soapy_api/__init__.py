"""SoapySDR behind one small interface, whichever way it is reached.

Debian's Python binding works only with the Python it was built for; the C library works with every one. Both
are wrapped as a `Radio`, and no other module depends on which one is there. Every method raises
`SourceError` where SoapySDR reports an error.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from streaming.block import Samples
from streaming.errors import InputError, SourceError

BINDINGS = ("auto", "python", "ctypes")
MISSING = "SoapySDR is not installed; on Debian: apt install python3-soapysdr"
RX = 1
CRITICAL = 2  # log level: SoapySDR's errors come as exceptions, and Avahi's absence is none
HAS_TIME = 1 << 2
TIMEOUT, STREAM_ERROR, CORRUPTION, OVERFLOW, NOT_SUPPORTED, TIME_ERROR, UNDERFLOW = range(-1, -8, -1)


class Range(NamedTuple):
    """What a device can be set to; a single value where both ends are equal."""

    low: float
    high: float


class Read(NamedTuple):
    """What one read gave."""

    got: int  # samples, or a negative code
    time_ns: int | None  # of the first sample, where the device has a clock


class Radio(ABC):
    """One device with at most one receive stream."""

    driver: str
    hardware: str
    _device: Any = None  # None once it is closed
    _stream: Any = None

    @abstractmethod
    def _call(self, name: str, *arguments: Any) -> Any:  # noqa: ANN401 - SoapySDR's own
        """Call a function of the device."""

    @abstractmethod
    def _strings(self, name: str, channel: int) -> list[str]:
        """Call a function that lists names."""

    @abstractmethod
    def _ranges(self, name: str, channel: int) -> list[Range]:
        """Call a function that lists ranges."""

    @abstractmethod
    def _stop(self, stream: Any) -> None:  # noqa: ANN401 - SoapySDR's own
        """Deactivate and close a stream."""

    @abstractmethod
    def _release(self) -> None:
        """Give the device back."""

    @abstractmethod
    def info(self) -> dict[str, str]:
        """What the device says of itself."""

    def channels(self) -> int:
        """How many receive channels it has."""
        return int(self._call("getNumChannels", RX))

    def formats(self, channel: int) -> list[str]:
        """Stream formats: CF32, CS16, ..."""
        return self._strings("getStreamFormats", channel)

    def antennas(self, channel: int) -> list[str]:
        """Names of its antennas."""
        return self._strings("listAntennas", channel)

    @abstractmethod
    def set_antenna(self, channel: int, name: str) -> None:
        """Use this antenna."""

    def gains(self, channel: int) -> list[str]:
        """Names of its gain elements."""
        return self._strings("listGains", channel)

    @abstractmethod
    def gain_range(self, channel: int, element: str | None = None) -> Range:
        """In dB, of one element or of all together."""

    @abstractmethod
    def gain(self, channel: int, element: str | None = None) -> float:
        """In dB, of one element or of all together."""

    @abstractmethod
    def set_gain(self, channel: int, gain_db: float, element: str | None = None) -> None:
        """Set one element, or let the driver spread the gain."""

    def has_auto_gain(self, channel: int) -> bool:
        """Whether it has an automatic gain control."""
        return bool(self._call("hasGainMode", RX, channel))

    def set_auto_gain(self, channel: int, automatic: bool) -> None:
        """Turn the automatic gain control on or off."""
        self._call("setGainMode", RX, channel, automatic)

    def frequency_ranges(self, channel: int) -> list[Range]:
        """In Hz."""
        return self._ranges("getFrequencyRange", channel)

    def frequency(self, channel: int) -> float:
        """In Hz."""
        return float(self._call("getFrequency", RX, channel))

    @abstractmethod
    def set_frequency(self, channel: int, freq_hz: float) -> None:
        """Tune."""

    def rate_ranges(self, channel: int) -> list[Range]:
        """In samples per second."""
        return self._ranges("getSampleRateRange", channel)

    def rate(self, channel: int) -> float:
        """In samples per second."""
        return float(self._call("getSampleRate", RX, channel))

    def set_rate(self, channel: int, rate_hz: float) -> None:
        """Set the sample rate."""
        self._call("setSampleRate", RX, channel, rate_hz)

    def bandwidth_ranges(self, channel: int) -> list[Range]:
        """In Hz."""
        return self._ranges("getBandwidthRange", channel)

    def set_bandwidth(self, channel: int, bandwidth_hz: float) -> None:
        """Set the analogue filter."""
        self._call("setBandwidth", RX, channel, bandwidth_hz)

    def has_ppm(self, channel: int) -> bool:
        """Whether it corrects its own frequency."""
        return bool(self._call("hasFrequencyCorrection", RX, channel))

    def set_ppm(self, channel: int, ppm: float) -> None:
        """Correct the frequency by parts in a million."""
        self._call("setFrequencyCorrection", RX, channel, ppm)

    @abstractmethod
    def has_time(self) -> bool:
        """Whether it has a clock of its own."""

    @abstractmethod
    def settings(self, channel: int | None) -> list[str]:
        """Names of the device's own settings, or of one channel's."""

    @abstractmethod
    def write_setting(self, channel: int | None, name: str, value: str) -> None:
        """Write a setting of the device, or of one channel."""

    @abstractmethod
    def setup(self, channel: int, arguments: dict[str, str]) -> None:
        """Set up a CF32 receive stream."""

    @abstractmethod
    def activate(self) -> None:
        """Let the samples flow."""

    @abstractmethod
    def _read(self, buffer: Samples, timeout_us: int) -> Read: ...

    def read(self, buffer: Samples, timeout_us: int = 100_000) -> Read:
        """Read at most len(buffer) samples into the buffer."""
        # SoapySDR writes through bare pointers: a wrong stream or buffer is a crash, so it stops here.
        if self._stream is None:
            raise InputError("a read needs a stream; this radio is closed or was not set up")
        if buffer.dtype != np.complex64 or not buffer.flags.c_contiguous or not buffer.flags.writeable:
            raise InputError(f"a read needs a writable, contiguous complex64 buffer, but got {buffer.dtype}")
        if len(buffer) == 0:
            raise InputError("a read needs a buffer of at least 1 sample, but got 0")
        return self._read(buffer, timeout_us)

    def close(self) -> None:
        """Stop the stream and give the device back. May be called twice."""
        if self._device is None:
            return
        try:
            if self._stream is not None:
                stream, self._stream = self._stream, None
                self._stop(stream)
        finally:
            self._release()
            self._device = None


class Binding(Protocol):
    """One way to reach SoapySDR."""

    name: str

    def enumerate(self, arguments: str) -> Sequence[dict[str, str]]:
        """The devices that match the arguments."""

    def make(self, arguments: str) -> Radio:
        """Open the device that matches the arguments."""

    def arguments(self, text: str) -> dict[str, str]:
        """`key=value,key=value` taken apart as SoapySDR does."""

    def error_text(self, code: int) -> str:
        """The name of a stream error code."""


def load(binding: str = "auto") -> Binding:
    """The Python binding where it can be imported, else the C library."""
    if binding != "ctypes":
        try:
            from hardware.soapy_api.binding import PythonBinding

            return PythonBinding()
        except ImportError as error:
            if binding == "python":
                raise SourceError(f"SoapySDR's Python binding cannot be imported ({error})") from None
    from hardware.soapy_api.library import Library

    return Library()
