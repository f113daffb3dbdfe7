"""An alert, and the limits within which a rule may raise one."""

from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from service.live.emissions import EmissionRow
from service.schemas.watch import Alert, AlertClip, Kind
from service.storage.ids import new_id
from service.watch.rules import Rule

HOUR_NS = 3600 * 10**9


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert as history keeps it; it is written over as it is found again."""

    id: str
    rule: str
    name: str
    kind: Kind
    stream: str | None
    at_ns: int
    to_ns: int
    count: int
    emission: str | None
    label: str | None
    family: str | None
    probability: float | None
    snr_db: float | None
    lower_hz: float | None
    upper_hz: float | None
    occupancy: float | None
    start_sample: int | None
    end_sample: int | None
    quiet: int

    @property
    def message(self) -> str:
        """What happened, in one line."""
        where = "" if self.lower_hz is None or self.upper_hz is None else place(self.lower_hz, self.upper_hz)
        snr = "" if self.snr_db is None else f", {self.snr_db:.0f} dB"
        if self.kind == "silent":
            return f"{self.name}: nothing is heard any more{where}"
        if self.kind == "occupied":
            return f"{self.name}: in use {100 * (self.occupancy or 0):.0f} % of the time{where}"
        return f"{self.name}: {self.label}{where}{snr}"

    def describe(self, clip: AlertClip | None) -> Alert:
        """The alert as readers and sinks get it."""
        values = asdict(self) | {"quiet": bool(self.quiet), "message": self.message, "clip": clip}
        return Alert.model_validate(values)


def place(lower_hz: float, upper_hz: float) -> str:
    """Where something lies, for a message.

    >>> place(433.91e6, 433.93e6)
    ' at 433.92 MHz'
    """
    centre = (lower_hz + upper_hz) / 2
    return f" at {centre / 1e6:.7g} MHz" if abs(centre) >= 1e6 else f" at {centre / 1e3:+.4g} kHz"


def alert_row(rule: Rule, row: EmissionRow | None, occupancy: float | None, now_ns: int) -> AlertRow:
    """What a rule found: an emission, or what it sees where it watches."""
    return AlertRow(
        id=new_id(),
        rule=rule.id,
        name=rule.name,
        kind=rule.kind,
        stream=row.stream if row else rule.stream,
        at_ns=now_ns,
        to_ns=now_ns,
        count=1,
        emission=row.id if row else None,
        label=row.label if row else rule.label,
        family=row.family if row else None,
        probability=row.probability if row else None,
        snr_db=round(row.snr_db, 1) if row else None,
        lower_hz=row.lower_hz if row else rule.f_low,
        upper_hz=row.upper_hz if row else rule.f_high,
        occupancy=occupancy,
        start_sample=row.start_sample if row else None,
        end_sample=row.end_sample if row else None,
        quiet=int(rule.quiet(now_ns / 1e9)),
    )


class Limit:
    """How many alerts a rule may raise: what comes soon after one, or beyond its hour's, is counted in it."""

    def __init__(self, rule: Rule, before: Iterable[AlertRow] = ()) -> None:
        self.rule = rule
        self.last: AlertRow | None = None
        self._raised: deque[int] = deque(maxlen=rule.per_hour)
        for alert in before:  # oldest first
            self.last = alert
            self._raised.append(alert.at_ns)

    def raised(self, now_ns: int) -> int:
        """Alerts in the last hour."""
        return sum(at_ns > now_ns - HOUR_NS for at_ns in self._raised)

    def take(self, found: AlertRow) -> tuple[AlertRow, bool]:
        """The alert that this one is counted in, and whether it is a new one."""
        last, now_ns = self.last, found.at_ns
        soon = last is not None and now_ns - last.to_ns < self.rule.collapse_s * 1e9
        if last is not None and (soon or self.raised(now_ns) >= self.rule.per_hour):
            self.last = replace(last, count=last.count + 1, to_ns=now_ns)
            return self.last, False
        self.last = found
        self._raised.append(now_ns)
        return found, True
