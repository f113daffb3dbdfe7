"""One string names any source: `scheme:target?option=value&option=value`.

>>> parse_address("zmq:tcp://127.0.0.1:5555?rate=250k").target
'tcp://127.0.0.1:5555'
>>> from streaming.quantities import FREQ_HZ
>>> parse_number("433.92M", FREQ_HZ, "freq")
433920000.0
>>> parse_number("1e300", FREQ_HZ, "freq")
Traceback (most recent call last):
streaming.errors.ConfigError: freq is '1e300'; it must be from 0 to 1T Hz
"""

import difflib
import os
import re
from dataclasses import dataclass, field
from typing import overload
from urllib.parse import unquote

from streaming.checked import Range, shown
from streaming.errors import ConfigError
from streaming.quantities import PORT, in_range

LONGEST = 2000  # characters of an address
LONGEST_HOST = 253  # characters that DNS allows
SUFFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNITS_S = {"ms": 1e-3, "s": 1.0, "": 1.0}
NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)([kKMGT]?)")


def parse_number(text: str, limits: Range, what: str) -> float:
    """A number within its range, with an optional metric suffix: 433.92M, 2.4M, 250k."""
    match = NUMBER.fullmatch(text)
    if not match:
        raise ConfigError(
            f"{what} is {shown(text)}; it must be a number {limits}, written such as 250k or 433.92M"
        )
    # 433.92 * 1e6 is 433920000.00000006 in binary: give back what was written.
    number = round(float(match[1]) * SUFFIXES.get(match[2], 1.0), 6)
    if not in_range(number, limits):
        raise ConfigError(f"{what} is {shown(text)}; it must be {limits}")
    return number


def parse_duration(text: str, limits: Range, what: str) -> float:
    """Seconds, written such as 100ms, 2s or 0.1.

    >>> from streaming.quantities import SECONDS
    >>> parse_duration("100ms", SECONDS, "--dwell")
    0.1
    """
    unit, scale = next((unit, scale) for unit, scale in UNITS_S.items() if text.endswith(unit))
    match = NUMBER.fullmatch(text.removesuffix(unit))
    if not match or match[2] or not in_range(seconds := round(float(match[1]) * scale, 9), limits):
        raise ConfigError(f"{what} is {shown(text)}; it must be {limits}, written such as 100ms or 2s")
    return seconds


def parse_port(text: str, what: str) -> int:
    """A TCP port."""
    if not re.fullmatch("[0-9]{1,5}", text) or not in_range(int(text), PORT):
        raise ConfigError(f"{what} is {shown(text)}; it must be a port {PORT}")
    return int(text)


def parse_host(text: str, what: str) -> str:
    """A host by name or number, without the brackets of IPv6; Python's `idna` raises on what DNS cannot name.

    >>> parse_host("[::1]", "the host")
    '::1'
    """
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        if 0 < len(host) <= LONGEST_HOST and host.encode("idna"):
            return host
    except UnicodeError:
        pass
    raise ConfigError(f"{what} is {shown(text)}; it must be a host such as 127.0.0.1 or radio.example.org")


@dataclass
class Options:
    """The options of an address, each taken once; `done` refuses those that were not taken."""

    values: dict[str, str]
    where: str
    taken: list[str] = field(default_factory=list)

    def text(self, name: str, default: str | None = None) -> str | None:
        """The option as it was written."""
        self.taken.append(name)
        return self.values.get(name, default)

    @overload
    def number(self, name: str, limits: Range) -> float | None: ...
    @overload
    def number(self, name: str, limits: Range, default: float) -> float: ...

    def number(self, name: str, limits: Range, default: float | None = None) -> float | None:
        """The option as a number within its range, with a metric suffix."""
        text = self.text(name)
        return default if text is None else parse_number(text, limits, f"option {name} of {self.where}")

    def whole(self, name: str, limits: Range, default: int) -> int:
        """The option as a whole number."""
        number = self.number(name, limits, default)
        if number % 1:
            raise ConfigError(
                f"option {name} of {self.where} is {number:g}; it must be a whole number {limits}"
            )
        return int(number)

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """The option as one of a few words."""
        text = self.text(name) or default
        if text not in choices:
            raise ConfigError(
                f"option {name} of {self.where} is {shown(text)}; it must be {' or '.join(choices)}"
            )
        return text

    def flag(self, name: str) -> bool:
        """The option as yes (1) or no (0, absent)."""
        return self.choice(name, ("0", "1"), "0") == "1"

    def done(self) -> None:
        """Refuse the options that no `text`, `number`, `choice` or `flag` asked for."""
        for name in self.values:
            if name not in self.taken:
                close = difflib.get_close_matches(name, self.taken, 1)
                hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(sorted(self.taken))}"
                raise ConfigError(f"{self.where} has no option {shown(name)}; {hint}")


@dataclass(frozen=True)
class Address:
    """A source address in its parts."""

    scheme: str
    target: str
    options: Options


def parse_address(text: str) -> Address:
    """Cut an address into scheme, target and options."""
    if len(text) > LONGEST or not text.isprintable():
        raise ConfigError(
            f"source {shown(text)} cannot be used; it must be at most {LONGEST:,} printable characters"
        )
    scheme, colon, rest = text.partition(":")
    if not colon or not scheme:
        raise ConfigError(f"source {text!r} has no scheme; write for example file:{text or 'capture.cu8'}")
    target, _, query = rest.partition("?")
    values: dict[str, str] = {}
    for pair in query.split("&") if query else []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ConfigError(f"option {pair!r} of source {text!r} must be written name=value")
        if name in values:
            raise ConfigError(f"option {name} of source {text!r} is given twice")
        values[name] = unquote(value)
        if not values[name].isprintable():
            raise ConfigError(f"option {name} of source {text!r} must be printable characters")
    return Address(scheme, target, Options(values, f"source {scheme}:{target}"))


def source_address(text: str) -> str:
    """What a user typed as an address: a path stands for a file.

    >>> source_address("capture.cu8?rate=250k")
    'file:capture.cu8?rate=250k'
    >>> source_address("tone:?rate=250k")
    'tone:?rate=250k'
    """
    scheme, colon, _ = text.partition(":")
    # rtl_433's cs16:path is a path, too; a scheme is letters only.
    if not colon or not scheme.isalpha() or os.path.exists(text.partition("?")[0]):
        return f"file:{text}"
    return text
