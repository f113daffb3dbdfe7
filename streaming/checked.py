"""Frozen dataclasses whose values are checked against their annotations, and that travel as JSON.

Numbers are finite and within their `Range`, texts are short, valid Unicode and without control characters,
and nothing has a key that it does not know: what comes from outside is refused in one line that names the
place. A value that is absent (None, or empty) is not written, so that there is one way to write each.

>>> @dataclass(frozen=True)
... class Channel(Checked):
...     width_hz: Annotated[float, Range(1, 1e9)]
>>> from_json(Channel, {"width_hz": 0}, "channel")
Traceback (most recent call last):
streaming.errors.ConfigError: channel.width_hz is 0; it must be a number of at least 1
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from streaming.errors import ConfigError

LONGEST = 1_000  # characters of a text
MOST = 1_000  # entries of a list or an object
T = TypeVar("T")
Hint = Any  # what an annotation may be
Value = Any  # what JSON may hold, or a checked value


@dataclass(frozen=True)
class Range:
    """Least and most that a number may be, and its unit; `streaming.quantities` has those of radio."""

    least: float
    most: float
    unit: str = ""

    def __str__(self) -> str:
        """As messages have it: `from 1 to 10G S/s`."""
        if not self.unit:
            return f"from {self.least:.12g} to {self.most:.12g}"
        return f"from {metric(self.least)} to {metric(self.most)} {self.unit}"


@dataclass(frozen=True)
class Checked:
    """Base of frozen dataclasses that cannot be made with values that its annotations do not allow."""

    section: ClassVar[str] = ""  # what messages call it; else its class's name

    def __post_init__(self) -> None:
        for name, kind in annotations(type(self)).items():
            value = check(kind, getattr(self, name), f"{self.section or type(self).__name__}.{name}")
            object.__setattr__(self, name, value)


def annotations(kind: type[Checked]) -> dict[str, Any]:
    """The type of each field; arrays are left to the class itself."""
    hints = get_type_hints(kind, include_extras=True)
    return {f.name: hints[f.name] for f in fields(kind) if "ndarray" not in str(hints[f.name])}


def from_json(kind: type[T], value: object, where: str) -> T:
    """The value of this type that parsed JSON describes."""
    found: T = check(kind, value, where)
    return found


def as_json(value: object) -> Value:
    """What `from_json` reads; what is absent is left out."""
    if isinstance(value, Checked):
        entries = {name: getattr(value, name) for name in annotations(type(value))}
        return as_json({name: entry for name, entry in entries.items() if entry not in (None, {}, ())})
    if isinstance(value, Mapping):
        return {name: as_json(entry) for name, entry in value.items()}
    return [as_json(entry) for entry in value] if isinstance(value, tuple) else value


def check(kind: Hint, value: Value, where: str) -> Value:
    """The value as this type, or one line that says what is wrong with it."""
    origin: Hint = get_origin(kind)
    args: tuple[Hint, ...] = get_args(kind)
    if origin is Annotated:
        return check_number(args[0], args[1], value, where)
    if origin in (Union, UnionType):
        return check_union(args, value, where)
    if origin is Literal:
        if not isinstance(value, str) or value not in args:
            raise wrong(where, value, " or ".join(args))
        return value
    if origin is tuple:
        return check_sequence(args, value, where)
    if origin is dict:
        if not isinstance(value, Mapping) or len(value) > MOST:
            raise wrong(where, value, f"an object of at most {MOST:,} entries")
        return {
            check(str, name, f"a name in {where}"): check(args[1], entry, f"{where}.{name}")
            for name, entry in value.items()
        }
    return check_object(kind, value, where) if issubclass(kind, Checked) else check_scalar(kind, value, where)


def check_scalar(kind: type, value: Value, where: str) -> Value:
    """A truth value or a text."""
    if kind is bool and not isinstance(value, bool):
        raise wrong(where, value, "true or false")
    if kind is str and (not isinstance(value, str) or len(value) > LONGEST or not value.isprintable()):
        raise wrong(where, value, f"a text of at most {LONGEST:,} printable characters")
    return value


def check_number(kind: type, limits: Range, value: Value, where: str) -> Value:
    """A number; every one has its limits."""
    number = not isinstance(value, bool) and isinstance(value, Integral if kind is int else Real)
    expected = "a whole number" if kind is int else "a number"
    if limits.unit and not (number and limits.least <= value <= limits.most):
        raise wrong(where, value, f"{expected} {limits}")
    if not number or not value >= limits.least:  # nor is NaN
        raise wrong(where, value, f"{expected} of at least {limits.least:.12g}")
    if value > limits.most:
        raise wrong(where, value, f"at most {limits.most:.12g}")
    return kind(value)


def check_union(kinds: tuple[Hint, ...], value: Value, where: str) -> Value:
    """None, or the one type that is left, or the one of several whose `kind` the value names."""
    if value is None and NoneType in kinds:
        return None
    left = [kind for kind in kinds if kind is not NoneType]
    if len(left) == 1:
        return check(left[0], value, where)
    if isinstance(value, tuple(left)):
        return value
    names = {get_args(annotations(kind)["kind"])[0]: kind for kind in left}
    name = value.get("kind") if isinstance(value, Mapping) else None
    if not isinstance(name, str) or name not in names:
        raise wrong(f"{where}.kind", name, " or ".join(names))
    return check(names[name], value, where)


def check_sequence(kinds: tuple[Hint, ...], value: Value, where: str) -> Value:
    """A tuple of one type and any length, or of given types."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > MOST:
        raise wrong(where, value, f"a list of at most {MOST:,} entries")
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(value) != len(kinds):
        raise wrong(where, value, f"a list of {len(kinds)} entries")
    return tuple(
        check(kind, entry, f"{where}[{i}]") for i, (kind, entry) in enumerate(zip(kinds, value, strict=True))
    )


def check_object(kind: type[Checked], value: Value, where: str) -> Checked:
    """A checked dataclass, or the object that describes it."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise wrong(where, value, "an object")
    known = annotations(kind)
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    if foreign := sorted(set(value) - set(known)):
        raise ConfigError(f"{where} has an entry {shown(foreign[0])}; it may have {', '.join(known)}")
    if missing := sorted(needed - set(value)):
        raise ConfigError(f"{where} lacks {missing[0]}")
    return kind(**{name: check(known[name], entry, f"{where}.{name}") for name, entry in value.items()})


def metric(value: float) -> str:
    """A number with a metric prefix, as addresses take it.

    >>> metric(2.4e6), metric(433.92e6), metric(-5)
    ('2.4M', '433.92M', '-5')
    """
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.10g}{prefix}"
    return f"{value:g}"


def parse_json(raw: bytes | str, where: str) -> Value:
    """The value of a JSON text that comes from outside, whatever it holds."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:  # no JSON or no UTF-8; nested too deeply
        reason = "nested too deeply" if isinstance(error, RecursionError) else "cut short or of another kind"
        raise ConfigError(f"{where} is not JSON that can be read; it is {reason}") from None


def wrong(where: str, value: object, expected: str) -> ConfigError:
    """The one line."""
    return ConfigError(f"{where} is {shown(value)}; it must be {expected}")


def shown(value: object) -> str:
    """A value in a message: short, and of characters that every terminal can print."""
    if isinstance(value, Mapping | list | tuple):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
