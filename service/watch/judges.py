"""When a rule is met: one judge per rule hears the emissions where it watches."""

from collections import OrderedDict
from collections.abc import Collection

from service.live.emissions import EmissionRow
from service.watch.band import WatchedBand
from service.watch.rules import Rule

MOST = 10_000  # emissions that a rule remembers
CALM = 0.9  # occupancy must fall to this share of its limit before it is told again
LOOK_NS = 5 * 10**9  # between two looks at occupancy


class Judge:
    """Emissions of a label: each is a match once."""

    def __init__(self, rule: Rule, now_ns: int) -> None:
        self.rule, self.since_ns = rule, now_ns
        self.band = WatchedBand(rule.minutes if rule.kind == "occupied" else 15.0)
        self._met: OrderedDict[str, None] = OrderedDict()  # emissions that were matches

    def hear(self, row: EmissionRow, used_ns: float | None) -> bool:
        """Whether an emission is a match; something was heard there before at `used_ns`."""
        self.band.hear(row)
        if row.id in self._met or not self.matches(row, used_ns):
            return False
        self._met[row.id] = None
        if len(self._met) > MOST:
            self._met.popitem(last=False)
        return True

    def matches(self, row: EmissionRow, used_ns: float | None) -> bool:
        """Whether an emission is what the rule watches for."""
        return self.rule.names(row)

    def tick(self, now_ns: int, listening: bool) -> bool:
        """Whether the time that passed is a match; `listening` says whether a stream runs that it watches."""
        return False


class NewEmitter(Judge):
    """Something where nothing was for so many minutes; `quiet` labels are a receiver's own."""

    def __init__(self, rule: Rule, now_ns: int, quiet: Collection[str]) -> None:
        super().__init__(rule, now_ns)
        self.quiet = quiet
        self._known: OrderedDict[str, None] = OrderedDict()

    def matches(self, row: EmissionRow, used_ns: float | None) -> bool:
        """Only when it is first heard: what goes on makes its own place known."""
        first = row.id not in self._known and row.state != "update"  # else it was there before the rule
        self._known[row.id] = None
        if len(self._known) > MOST:
            self._known.popitem(last=False)
        unused = used_ns is None or row.from_ns - used_ns > self.rule.minutes * 60e9
        return first and unused and row.label not in self.quiet and self.rule.names(row)


class Silence(Judge):
    """Nothing for so many minutes of listening, once something was heard."""

    def __init__(self, rule: Rule, now_ns: int, armed: bool) -> None:
        super().__init__(rule, now_ns)
        self.armed, self.heard_ns = armed, now_ns

    def matches(self, row: EmissionRow, used_ns: float | None) -> bool:
        """It is there: silence may follow."""
        if self.rule.names(row):
            self.armed, self.heard_ns = True, max(self.heard_ns, row.to_ns)
        return False

    def tick(self, now_ns: int, listening: bool) -> bool:
        """Whether it has been silent for long enough; time without a running stream does not count."""
        if not listening:
            self.heard_ns = max(self.heard_ns, now_ns)
        silent = self.armed and now_ns - self.heard_ns > self.rule.minutes * 60e9
        self.armed &= not silent
        return silent


class Occupied(Judge):
    """Occupancy above a limit, told again once it has fallen well below."""

    def __init__(self, rule: Rule, now_ns: int) -> None:
        super().__init__(rule, now_ns)
        self.share = 0.0
        self._above, self._looked_ns = False, now_ns

    def matches(self, row: EmissionRow, used_ns: float | None) -> bool:
        """Nothing: one emission alone says nothing."""
        return False

    def tick(self, now_ns: int, listening: bool) -> bool:
        """Whether the limit has been passed since the last look."""
        if now_ns - self._looked_ns < LOOK_NS:
            return False
        self._looked_ns = now_ns
        self.share, limit = self.band.occupancy(now_ns), self.rule.percent / 100
        passed = self.share > limit and not self._above
        self._above = self.share > (CALM * limit if self._above else limit)
        return passed


def open_judge(rule: Rule, now_ns: int, quiet: Collection[str], armed: bool) -> Judge:
    """The judge of a rule; `armed`: what it waits to fall silent was heard before."""
    if rule.kind == "new":
        return NewEmitter(rule, now_ns, quiet)
    if rule.kind == "silent":
        return Silence(rule, now_ns, armed)
    return Occupied(rule, now_ns) if rule.kind == "occupied" else Judge(rule, now_ns)
