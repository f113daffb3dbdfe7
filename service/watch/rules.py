"""Watch rules: what somebody wants to be told about. Kept in `watches.json` of the data folder."""

import json
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from service.errors import Conflict, NotFound
from service.live.emissions import EmissionRow
from service.schemas.watch import Kind, WatchRule
from service.storage.damaged import read_sound
from service.storage.ids import new_id
from streaming.files import write_whole
from streaming.prediction import UNKNOWN, utc_text

MOST = 100  # rules


@dataclass(frozen=True)
class Rule:
    """One thing to watch for, in a part of the spectrum or everywhere, of one stream or of all."""

    kind: Kind
    id: str = field(default_factory=new_id)
    created_ns: int = field(default_factory=time.time_ns)
    name: str = ""
    stream: str | None = None
    label: str | None = None
    f_low: float | None = None
    f_high: float | None = None
    minutes: float = 15.0  # of silence; before which a place was not in use; over which occupancy is taken
    percent: float = 50.0
    per_hour: int = 6
    collapse_s: float = 60.0
    quiet_from: str | None = None  # HH:MM, in the host's time zone
    quiet_to: str | None = None

    def covers(self, row: EmissionRow) -> bool:
        """Whether an emission lies where it watches."""
        if self.stream is not None and self.stream != row.stream:
            return False
        if self.f_low is None or self.f_high is None:
            return True
        return self.f_low <= (row.lower_hz + row.upper_hz) / 2 <= self.f_high

    def names(self, row: EmissionRow) -> bool:
        """Whether an emission is what it watches for."""
        if self.kind == "unknown":
            return row.label == UNKNOWN
        return self.label is None or self.label in (row.label, row.family)

    def quiet(self, now_s: float) -> bool:
        """Whether nobody wants to be told at this time of day; a quiet time may pass midnight."""
        if self.quiet_from is None or self.quiet_to is None:
            return False
        now = time.strftime("%H:%M", time.localtime(now_s))
        if self.quiet_from <= self.quiet_to:
            return self.quiet_from <= now < self.quiet_to
        return now >= self.quiet_from or now < self.quiet_to

    def describe(self, last_ns: int | None = None, raised: int = 0) -> WatchRule:
        """The rule as REST shows it, with when its last alert was and how many were in the last hour."""
        more = {name: value for name, value in asdict(self).items() if not name.endswith("_ns")}
        last = None if last_ns is None else utc_text(last_ns)
        return WatchRule(**more, created=utc_text(self.created_ns), last=last, raised=raised)


def read_rules(raw: bytes) -> dict[str, Rule]:
    """The rules in `watches.json`."""
    rules = [Rule(**entry) for entry in json.loads(raw)]
    for rule in rules:
        rule.describe()  # refuses what is not of its type
    return {rule.id: rule for rule in rules}


class Rules:
    """The watch rules of a station; every change is on disk when the call returns."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._rules = read_sound(file, read_rules) or {}  # replaced as a whole

    def list(self) -> list[Rule]:
        """Every rule, oldest first."""
        return list(self._rules.values())

    def add(self, rule: Rule) -> Rule:
        """Watch from now on; a rule without a name gets one."""
        named = replace(rule, name=rule.name or default_name(rule))
        with self._lock:
            if len(self._rules) >= MOST:
                raise Conflict(f"there are {MOST} watch rules already; delete one first")
            self._write(self._rules | {named.id: named})
        return named

    def remove(self, rule_id: str) -> None:
        """Watch no more; what it raised stays."""
        with self._lock:
            rules = dict(self._rules)
            if rules.pop(rule_id, None) is None:
                raise NotFound(f"there is no watch rule {rule_id}")
            self._write(rules)

    def _write(self, rules: dict[str, Rule]) -> None:
        content = [asdict(rule) for rule in rules.values()]
        write_whole(self._file, json.dumps(content, indent=1).encode())
        self._rules = rules


def default_name(rule: Rule) -> str:
    """What a rule is called where nobody said.

    >>> default_name(Rule("label", label="OOK", f_low=433e6, f_high=434e6))
    'OOK, 433 to 434 MHz'
    """
    what = {
        "new": "new emitter",
        "label": rule.label or "",
        "silent": f"{rule.label or 'all'} silent for {rule.minutes:g} min",
        "unknown": "unknown class",
        "occupied": f"occupied over {rule.percent:g} %",
    }[rule.kind]
    if rule.f_low is None or rule.f_high is None:
        return what
    return f"{what}, {rule.f_low / 1e6:.9g} to {rule.f_high / 1e6:.9g} MHz"
