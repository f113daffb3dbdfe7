"""SoapySDR's C interface, as ctypes declares it: structures and signatures of SoapySDR/Device.h."""

import ctypes as c
from typing import Any


class Kwargs(c.Structure):
    _fields_ = (("size", c.c_size_t), ("keys", c.POINTER(c.c_char_p)), ("values", c.POINTER(c.c_char_p)))

    def asdict(self) -> dict[str, str]:
        return {self.keys[i].decode(): self.values[i].decode() for i in range(self.size)}


class CRange(c.Structure):
    _fields_ = (("low", c.c_double), ("high", c.c_double), ("step", c.c_double))


class ArgInfo(c.Structure):
    _fields_ = (
        *((name, c.c_char_p) for name in ("key", "value", "name", "description", "units")),
        ("type", c.c_int),
        ("range", CRange),
        ("options", c.c_size_t),
        ("option_values", c.c_void_p),
        ("option_names", c.c_void_p),
    )


POINTER, SIZE, INT, TEXT, DOUBLE = c.c_void_p, c.c_size_t, c.c_int, c.c_char_p, c.c_double
HERE = [INT, SIZE]  # direction, channel
COUNT = c.POINTER(SIZE)

# name -> result, arguments after the device; as in SoapySDR/Device.h
DEVICE: dict[str, tuple[Any, list[Any]]] = {
    "unmake": (INT, []),
    "getDriverKey": (POINTER, []),
    "getHardwareKey": (POINTER, []),
    "getHardwareInfo": (Kwargs, []),
    "getNumChannels": (SIZE, [INT]),
    "getStreamFormats": (POINTER, [*HERE, COUNT]),
    "listAntennas": (POINTER, [*HERE, COUNT]),
    "setAntenna": (INT, [*HERE, TEXT]),
    "listGains": (POINTER, [*HERE, COUNT]),
    "getGainRange": (CRange, HERE),
    "getGainElementRange": (CRange, [*HERE, TEXT]),
    "getGain": (DOUBLE, HERE),
    "getGainElement": (DOUBLE, [*HERE, TEXT]),
    "setGain": (INT, [*HERE, DOUBLE]),
    "setGainElement": (INT, [*HERE, TEXT, DOUBLE]),
    "hasGainMode": (c.c_bool, HERE),
    "setGainMode": (INT, [*HERE, c.c_bool]),
    "getFrequencyRange": (POINTER, [*HERE, COUNT]),
    "getFrequency": (DOUBLE, HERE),
    "setFrequency": (INT, [*HERE, DOUBLE, POINTER]),
    "getSampleRateRange": (POINTER, [*HERE, COUNT]),
    "getSampleRate": (DOUBLE, HERE),
    "setSampleRate": (INT, [*HERE, DOUBLE]),
    "getBandwidthRange": (POINTER, [*HERE, COUNT]),
    "setBandwidth": (INT, [*HERE, DOUBLE]),
    "hasFrequencyCorrection": (c.c_bool, HERE),
    "setFrequencyCorrection": (INT, [*HERE, DOUBLE]),
    "hasHardwareTime": (c.c_bool, [TEXT]),
    "getSettingInfo": (POINTER, [COUNT]),
    "getChannelSettingInfo": (POINTER, [*HERE, COUNT]),
    "writeSetting": (INT, [TEXT, TEXT]),
    "writeChannelSetting": (INT, [*HERE, TEXT, TEXT]),
    "setupStream": (POINTER, [INT, TEXT, c.POINTER(SIZE), SIZE, c.POINTER(Kwargs)]),
    "activateStream": (INT, [POINTER, INT, c.c_longlong, SIZE]),
    "deactivateStream": (INT, [POINTER, INT, c.c_longlong]),
    "closeStream": (INT, [POINTER]),
    "readStream": (
        INT,
        [POINTER, c.POINTER(POINTER), SIZE, c.POINTER(INT), c.POINTER(c.c_longlong), c.c_long],
    ),
}

# The same for what needs no device.
OTHER: dict[str, tuple[Any, list[Any]]] = {
    "SoapySDRDevice_lastStatus": (INT, []),
    "SoapySDRDevice_lastError": (TEXT, []),
    "SoapySDRDevice_enumerateStrArgs": (c.POINTER(Kwargs), [TEXT, COUNT]),
    "SoapySDRDevice_makeStrArgs": (POINTER, [TEXT]),
    "SoapySDRKwargs_fromString": (Kwargs, [TEXT]),
    "SoapySDRKwargs_set": (INT, [c.POINTER(Kwargs), TEXT, TEXT]),
    "SoapySDRKwargs_clear": (None, [c.POINTER(Kwargs)]),
    "SoapySDRKwargsList_clear": (None, [c.POINTER(Kwargs), SIZE]),
    "SoapySDRArgInfoList_clear": (None, [POINTER, SIZE]),
    "SoapySDRStrings_clear": (None, [c.POINTER(POINTER), SIZE]),
    "SoapySDR_free": (None, [POINTER]),
    "SoapySDR_errToStr": (TEXT, [INT]),
    "SoapySDR_setLogLevel": (None, [INT]),
}
