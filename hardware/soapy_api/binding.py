"""SoapySDR through its Python binding."""
# ruff: noqa: ANN401 -- SWIG has no types

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import SoapySDR

from hardware.soapy_api import CRITICAL, HAS_TIME, RX, Radio, Range, Read
from streaming.block import Samples
from streaming.errors import SourceError

ERRORS = (RuntimeError, ValueError, IndexError)  # std::exception, invalid_argument, out_of_range


@contextmanager
def soapy_errors() -> Iterator[None]:
    """SoapySDR's exceptions as ours."""
    try:
        yield
    except ERRORS as error:
        raise SourceError(f"SoapySDR: {error}") from None


def ranges(given: Any) -> list[Range]:
    """SWIG's ranges as ours."""
    return [Range(one.minimum(), one.maximum()) for one in given]


class PythonBinding:
    """The module `SoapySDR`."""

    name = "python"

    def __init__(self) -> None:
        if "SOAPY_SDR_LOG_LEVEL" not in os.environ:
            SoapySDR.setLogLevel(CRITICAL)

    def enumerate(self, arguments: str) -> list[dict[str, str]]:
        with soapy_errors():
            return [dict(found) for found in SoapySDR.Device.enumerate(arguments)]

    def make(self, arguments: str) -> Radio:
        with soapy_errors():
            return PythonRadio(SoapySDR.Device(arguments))

    def arguments(self, text: str) -> dict[str, str]:
        return dict(SoapySDR.KwargsFromString(text))

    def error_text(self, code: int) -> str:
        return str(SoapySDR.errToStr(code))


class PythonRadio(Radio):
    """A device opened through the binding."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self.driver = self._call("getDriverKey")
        self.hardware = self._call("getHardwareKey")

    def _call(self, name: str, *arguments: Any) -> Any:
        if self._device is None:
            raise SourceError("SoapySDR: the device is closed")
        with soapy_errors():
            return getattr(self._device, name)(*arguments)

    def _strings(self, name: str, channel: int) -> list[str]:
        return list(self._call(name, RX, channel))

    def _ranges(self, name: str, channel: int) -> list[Range]:
        return ranges(self._call(name, RX, channel))

    def info(self) -> dict[str, str]:
        return dict(self._call("getHardwareInfo"))

    def set_antenna(self, channel: int, name: str) -> None:
        self._call("setAntenna", RX, channel, name)

    def gain_range(self, channel: int, element: str | None = None) -> Range:
        return ranges([self._call("getGainRange", RX, channel, *([element] if element else []))])[0]

    def gain(self, channel: int, element: str | None = None) -> float:
        return float(self._call("getGain", RX, channel, *([element] if element else [])))

    def set_gain(self, channel: int, gain_db: float, element: str | None = None) -> None:
        self._call("setGain", RX, channel, *([element] if element else []), gain_db)

    def set_frequency(self, channel: int, freq_hz: float) -> None:
        self._call("setFrequency", RX, channel, freq_hz)

    def has_time(self) -> bool:
        return bool(self._call("hasHardwareTime"))

    def settings(self, channel: int | None) -> list[str]:
        where = () if channel is None else (RX, channel)
        return [info.key for info in self._call("getSettingInfo", *where)]

    def write_setting(self, channel: int | None, name: str, value: str) -> None:
        where = () if channel is None else (RX, channel)
        self._call("writeSetting", *where, name, value)

    def setup(self, channel: int, arguments: dict[str, str]) -> None:
        self._stream = self._call("setupStream", RX, "CF32", [channel], arguments)

    def activate(self) -> None:
        code = self._call("activateStream", self._stream)
        if code < 0:
            raise SourceError(f"SoapySDR: the stream cannot be activated ({SoapySDR.errToStr(code)})")

    def _read(self, buffer: Samples, timeout_us: int) -> Read:
        # The shortest way: over a network a read gives some hundred samples.
        try:
            got = self._device.readStream(self._stream, [buffer], len(buffer), 0, timeout_us)
        except ERRORS as error:
            raise SourceError(f"SoapySDR: {error}") from None
        return Read(got.ret, got.timeNs if got.flags & HAS_TIME else None)

    def _stop(self, stream: Any) -> None:
        self._call("deactivateStream", stream)
        self._call("closeStream", stream)

    def _release(self) -> None:
        with soapy_errors():
            self._device.close()
