"""What is ignored: no event is raised of it and no sink is told; history and screen still have it.

Kept in `ignored.json` of the data folder. A rule may end by itself.
"""

import json
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from service.errors import Conflict, NotFound
from service.schemas.ignored import IgnoreRule
from service.storage.damaged import read_sound
from service.storage.ids import new_id
from streaming.files import write_whole
from streaming.prediction import utc_text

MOST = 1000  # rules


class Heard(Protocol):
    """What a rule is asked about: a run, or the row of an emission."""

    @property
    def stream(self) -> str:
        """Where it was heard."""

    @property
    def label(self) -> str:
        """What it is."""

    @property
    def family(self) -> str | None:
        """Of the label."""


@dataclass(frozen=True)
class Rule:
    """One emission, one label or one part of the spectrum, and until when; of one stream or of all."""

    id: str
    created_ns: int
    until_ns: int | None = None
    stream: str | None = None
    emission: str | None = None
    label: str | None = None
    f_low: float | None = None
    f_high: float | None = None

    def holds(self, heard: Heard, emission: str | None, centre_hz: float | None) -> bool:
        """Whether this is ignored, once the rule is not over."""
        if self.stream is not None and self.stream != heard.stream:
            return False
        if self.emission is not None:
            return self.emission == emission
        if self.label is not None:
            return self.label in (heard.label, heard.family)
        if self.f_low is None or self.f_high is None or centre_hz is None:
            return False
        return self.f_low <= centre_hz <= self.f_high

    def describe(self) -> IgnoreRule:
        """The rule as REST shows it."""
        until = None if self.until_ns is None else utc_text(self.until_ns)
        more = {name: value for name, value in asdict(self).items() if not name.endswith("_ns")}
        return IgnoreRule(**more, created=utc_text(self.created_ns), until=until)


def read_rules(raw: bytes) -> dict[str, Rule]:
    """The rules in `ignored.json`."""
    rules = [Rule(**entry) for entry in json.loads(raw)]
    for rule in rules:
        rule.describe()  # refuses what is not of its type
    return {rule.id: rule for rule in rules}


class Ignored:
    """The rules of a station; every change is on disk when the call returns. Any thread may ask."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._rules = read_sound(file, read_rules) or {}  # replaced as a whole

    def holds(self, heard: Heard, emission: str | None, centre_hz: float | None) -> bool:
        """Whether nobody wants to be told of this now."""
        rules = self._rules
        return bool(rules) and any(rule.holds(heard, emission, centre_hz) for rule in self.list())

    def list(self) -> list[Rule]:
        """The rules that are not over, oldest first."""
        now = time.time_ns()
        return [rule for rule in self._rules.values() if rule.until_ns is None or rule.until_ns > now]

    def add(
        self,
        *,
        stream: str | None,
        emission: str | None,
        label: str | None,
        span_hz: tuple[float, float] | None,
        seconds: float | None,
    ) -> Rule:
        """Ignore this from now on, for so many seconds or until it is taken back."""
        now = time.time_ns()
        f_low, f_high = span_hz or (None, None)
        until_ns = None if seconds is None else now + round(seconds * 1e9)
        rule = Rule(new_id(), now, until_ns, stream, emission, label, f_low, f_high)
        with self._lock:
            kept = self.list()
            if len(kept) >= MOST:
                raise Conflict(f"there are {MOST} rules of what to ignore already; delete one first")
            self._write({each.id: each for each in [*kept, rule]})
        return rule

    def remove(self, rule_id: str) -> None:
        """Tell of it again."""
        with self._lock:
            rules = dict(self._rules)
            if rules.pop(rule_id, None) is None:
                raise NotFound(f"nothing is ignored under {rule_id}")
            self._write(rules)

    def _write(self, rules: dict[str, Rule]) -> None:
        content = [asdict(rule) for rule in rules.values()]
        write_whole(self._file, json.dumps(content, indent=1).encode())
        self._rules = rules
