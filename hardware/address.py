"""One string names any source: `scheme:target?option=value&option=value`.

>>> parse_address("zmq:tcp://127.0.0.1:5555?rate=250k").target
'tcp://127.0.0.1:5555'
>>> parse_number("433.92M")
433920000.0
"""

import difflib
import math
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from streaming.errors import ConfigError

SUFFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def parse_number(text: str, what: str = "value") -> float:
    """A number with an optional metric suffix: 433.92M, 2.4M, 250k."""
    factor = SUFFIXES.get(text[-1:], 1.0)
    digits = text[:-1] if factor != 1.0 else text
    try:
        number = float(digits)
    except ValueError:
        raise ConfigError(f"{what} is {text!r}; it must be a number such as 250k or 433.92M") from None
    if not math.isfinite(number):
        raise ConfigError(f"{what} is {text!r}; it must be finite")
    # 433.92 * 1e6 is 433920000.00000006 in binary: give back what was written.
    return float(round(number * factor, 6))


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

    def number(self, name: str, default: float | None = None) -> float | None:
        """The option as a number with a metric suffix."""
        text = self.text(name)
        return default if text is None else parse_number(text, f"option {name} of {self.where}")

    def positive(self, name: str, default: float | None = None) -> float | None:
        """The option as a number above zero."""
        number = self.number(name, default)
        if number is not None and number <= 0:
            raise ConfigError(f"option {name} of {self.where} is {number:g}; it must be above 0")
        return number

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """The option as one of a few words."""
        text = self.text(name) or default
        if text not in choices:
            raise ConfigError(f"option {name} of {self.where} is {text!r}; it must be {' or '.join(choices)}")
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
                raise ConfigError(f"{self.where} has no option {name!r}; {hint}")


@dataclass(frozen=True)
class Address:
    """A source address in its parts."""

    scheme: str
    target: str
    options: Options


def parse_address(text: str) -> Address:
    """Cut an address into scheme, target and options."""
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
    if not colon or not scheme.isalpha() or Path(text.partition("?")[0]).exists():
        return f"file:{text}"
    return text
