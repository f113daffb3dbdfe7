"""SoapySDR through its C library, for every Python version that Debian's binding was not built for."""
# ruff: noqa: ANN401 -- ctypes has no types

import ctypes as c
import ctypes.util
import os
from collections.abc import Callable
from typing import Any

from hardware.soapy_api import CRITICAL, HAS_TIME, MISSING, RX, Radio, Range, Read
from hardware.soapy_api.declarations import DEVICE, INT, OTHER, POINTER, SIZE, TEXT, ArgInfo, CRange, Kwargs
from streaming.block import Samples
from streaming.errors import SourceError


class Library:
    """`libSoapySDR.so.0.8`."""

    name = "ctypes"

    def __init__(self) -> None:
        try:
            self._c = c.CDLL("libSoapySDR.so.0.8")
        except OSError:
            other = ctypes.util.find_library("SoapySDR")  # not Linux, where names differ
            if other is None or ".so.0.7" in other:
                raise SourceError(MISSING) from None
            self._c = c.CDLL(other)
        declared = {
            f"SoapySDRDevice_{name}": (kind, [POINTER, *rest]) for name, (kind, rest) in DEVICE.items()
        }
        for name, (kind, arguments) in (declared | OTHER).items():
            function = getattr(self._c, name)
            function.restype, function.argtypes = kind, arguments
        if "SOAPY_SDR_LOG_LEVEL" not in os.environ:
            self._c.SoapySDR_setLogLevel(CRITICAL)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the device interface; what it reports is raised."""
        result = getattr(self._c, f"SoapySDRDevice_{name}")(*arguments)
        if self._c.SoapySDRDevice_lastStatus() != 0:
            raise SourceError(f"SoapySDR: {self._c.SoapySDRDevice_lastError().decode()}")
        return result

    def enumerate(self, arguments: str) -> list[dict[str, str]]:
        length = SIZE()
        found = self.call("enumerateStrArgs", arguments.encode(), length)
        devices = [found[i].asdict() for i in range(length.value)]
        self._c.SoapySDRKwargsList_clear(found, length)
        return devices

    def make(self, arguments: str) -> Radio:
        return LibraryRadio(self, self.call("makeStrArgs", arguments.encode()))

    def arguments(self, text: str) -> dict[str, str]:
        given = self._c.SoapySDRKwargs_fromString(text.encode())
        values: dict[str, str] = given.asdict()
        self._c.SoapySDRKwargs_clear(given)
        return values

    def kwargs(self, values: dict[str, str]) -> Kwargs:
        """A map for SoapySDR; `clear` gives its memory back."""
        given = Kwargs()
        for key, value in values.items():
            self._c.SoapySDRKwargs_set(given, key.encode(), value.encode())
        return given

    def clear(self, given: Kwargs) -> None:
        self._c.SoapySDRKwargs_clear(given)

    def error_text(self, code: int) -> str:
        return str(self._c.SoapySDR_errToStr(code).decode())

    def text(self, pointer: int) -> str:
        """A string that the caller must free."""
        text = c.string_at(pointer).decode()
        self._c.SoapySDR_free(pointer)
        return text

    def listed(self, kind: Any, pointer: int, length: int, take: Callable[[Any], Any]) -> list[Any]:
        """An array that the caller must free, each element taken out first."""
        taken = [take(one) for one in (kind * length).from_address(pointer)] if length else []
        if kind is TEXT:
            self._c.SoapySDRStrings_clear(c.byref(POINTER(pointer)), length)
        elif kind is ArgInfo:
            self._c.SoapySDRArgInfoList_clear(pointer, length)
        else:
            self._c.SoapySDR_free(pointer)
        return taken


class LibraryRadio(Radio):
    """A device opened through the C library."""

    def __init__(self, library: Library, device: int) -> None:
        self._library = library
        self._device = device
        self._flags, self._time_ns = INT(), c.c_longlong()
        self.driver = library.text(self._call("getDriverKey"))
        self.hardware = library.text(self._call("getHardwareKey"))

    def _call(self, name: str, *arguments: Any) -> Any:
        if self._device is None:
            raise SourceError("SoapySDR: the device is closed")
        return self._library.call(name, self._device, *arguments)

    def _strings(self, name: str, channel: int) -> list[str]:
        length = SIZE()
        pointer = self._call(name, RX, channel, length)
        return self._library.listed(TEXT, pointer, length.value, lambda text: text.decode())

    def _ranges(self, name: str, channel: int) -> list[Range]:
        length = SIZE()
        pointer = self._call(name, RX, channel, length)
        return self._library.listed(CRange, pointer, length.value, lambda one: Range(one.low, one.high))

    def info(self) -> dict[str, str]:
        given = self._call("getHardwareInfo")
        values: dict[str, str] = given.asdict()
        self._library.clear(given)
        return values

    def set_antenna(self, channel: int, name: str) -> None:
        self._call("setAntenna", RX, channel, name.encode())

    def gain_range(self, channel: int, element: str | None = None) -> Range:
        if element is None:
            given = self._call("getGainRange", RX, channel)
        else:
            given = self._call("getGainElementRange", RX, channel, element.encode())
        return Range(given.low, given.high)

    def gain(self, channel: int, element: str | None = None) -> float:
        if element is None:
            return float(self._call("getGain", RX, channel))
        return float(self._call("getGainElement", RX, channel, element.encode()))

    def set_gain(self, channel: int, gain_db: float, element: str | None = None) -> None:
        if element is None:
            self._call("setGain", RX, channel, gain_db)
        else:
            self._call("setGainElement", RX, channel, element.encode(), gain_db)

    def set_frequency(self, channel: int, freq_hz: float) -> None:
        self._call("setFrequency", RX, channel, freq_hz, None)

    def has_time(self) -> bool:
        return bool(self._call("hasHardwareTime", b""))

    def settings(self, channel: int | None) -> list[str]:
        length = SIZE()
        if channel is None:
            pointer = self._call("getSettingInfo", length)
        else:
            pointer = self._call("getChannelSettingInfo", RX, channel, length)
        return self._library.listed(ArgInfo, pointer, length.value, lambda info: info.key.decode())

    def write_setting(self, channel: int | None, name: str, value: str) -> None:
        if channel is None:
            self._call("writeSetting", name.encode(), value.encode())
        else:
            self._call("writeChannelSetting", RX, channel, name.encode(), value.encode())

    def setup(self, channel: int, arguments: dict[str, str]) -> None:
        given = self._library.kwargs(arguments)
        try:
            self._stream = self._call("setupStream", RX, b"CF32", SIZE(channel), 1, given)
        finally:
            self._library.clear(given)

    def activate(self) -> None:
        code = self._call("activateStream", self._stream, 0, 0, 0)
        if code < 0:
            raise SourceError(f"SoapySDR: the stream cannot be activated ({self._library.error_text(code)})")

    def _read(self, buffer: Samples, timeout_us: int) -> Read:
        self._flags.value = 0
        pointers = (POINTER * 1)(buffer.__array_interface__["data"][0])
        count = self._call(
            "readStream", self._stream, pointers, len(buffer), self._flags, self._time_ns, timeout_us
        )
        return Read(count, self._time_ns.value if self._flags.value & HAS_TIME else None)

    def _stop(self, stream: Any) -> None:
        self._call("deactivateStream", stream, 0, 0)
        self._call("closeStream", stream)

    def _release(self) -> None:
        device, self._device = self._device, None
        self._library.call("unmake", device)
