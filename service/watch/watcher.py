"""The thread that watches: emissions in, alerts out, within their limits and with their clips.

An alert waits for its clip, at most `PATIENCE_S`, and is handed on once it is on disk.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass

from service.errors import NotFound
from service.live.emissions import EmissionRow
from service.live.streams import Stream
from service.schemas.watch import Alert, WatchRule, WatchState
from service.storage.alerts import AlertQuery, find_alerts, last_heard_ns, put_alerts
from service.storage.database import OUTAGE, Database
from service.storage.exports import lifetime
from service.storage.queries import EmissionQuery, find_emissions
from service.supervised import Supervised
from service.watch.alert import AlertRow, Limit, alert_row
from service.watch.clips import AFTER_S, ClipStore
from service.watch.judges import Judge, Occupied, open_judge
from service.watch.places import MOST, Places
from service.watch.rules import Rule, Rules

log = logging.getLogger(__name__)
DEPTH = 20_000  # emissions that may wait; beyond, the oldest are not judged, and counted
LOOK_S = 0.5
PATIENCE_S = AFTER_S + 1.5  # that an alert may wait for the samples of its clip
STATE_S = 10.0  # between two states of what a rule watches
WAITING = 1000  # alerts that wait while the database is away


@dataclass(frozen=True)
class Around:
    """What is around a watcher: who is told, and who may be asked."""

    alert: Callable[[Alert, bytes | None, bool], None]  # with its picture, and whether it is new
    state: Callable[[WatchState], None]
    unwanted: Callable[[EmissionRow], bool]
    stream: Callable[[str], Stream]
    running: Callable[[], Collection[str]]  # streams


@dataclass
class Watched:
    """A rule at work."""

    judge: Judge
    limit: Limit
    told: WatchState | None = None
    told_s: float = float("-inf")


class Watcher:
    """Judges emissions by the watch rules of a station."""

    def __init__(
        self, rules: Rules, clips: ClipStore, database: Database, around: Around, quiet: Collection[str]
    ) -> None:
        self.rules, self.clips, self.database = rules, clips, database
        self.around, self.quiet = around, quiet
        self.raised = self.collapsed = self.lost = 0
        self._rows: deque[EmissionRow] = deque()
        self._watched: dict[str, Watched] = {}
        self._places: dict[str, Places] = {}
        self._clipping: list[tuple[AlertRow, float]] = []  # with the time until which they wait
        self._unwritten: dict[str, tuple[AlertRow, bool]] = {}  # with whether they are new
        self._wake = threading.Condition()
        self._stop = threading.Event()
        self.thread = Supervised("watch", self._run)

    def start(self) -> None:
        """Start to watch."""
        self.thread.start()

    def hear(self, row: EmissionRow) -> None:
        """Judge an emission soon; never waits."""
        if not self.rules.list():
            return
        with self._wake:
            self._rows.append(row)
            if len(self._rows) > DEPTH:
                self._rows.popleft()
                self.lost += 1

    def describe(self) -> list[WatchRule]:
        """The rules, and what they raised."""
        now_ns, described = time.time_ns(), []
        for rule in self.rules.list():
            limit = watched.limit if (watched := self._watched.get(rule.id)) else Limit(rule)
            last_ns = limit.last.at_ns if limit.last else None
            described.append(rule.describe(last_ns, limit.raised(now_ns)))
        return described

    def close(self) -> None:
        """Judge what waits, and write every alert with the clip that there is."""
        self._stop.set()
        with self._wake:
            self._wake.notify_all()
        self.thread.join()
        self.database.close()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(self._stop.is_set, LOOK_S)
                rows, self._rows = list(self._rows), deque()
            stopping = self._stop.is_set()
            try:
                self._follow_rules()
                self._find_places(rows)
            except OUTAGE:  # what a rule raised before is not known: it waits, and so does what it would hear
                with self._wake:
                    self._rows.extendleft(reversed(rows))
                if stopping:
                    return
                continue
            for row in rows:
                self._judge(row)
            self._tick(stopping)
            self._clip(stopping)
            self._write()
            if stopping:
                return

    def _follow_rules(self) -> None:
        """Begin with rules that are new, and end those that were deleted."""
        rules = {rule.id: rule for rule in self.rules.list()}
        for rule_id in [each for each in self._watched if each not in rules]:
            self.around.state(state(self._watched.pop(rule_id).judge, time.time_ns(), removed=True))
        for rule in rules.values():
            if rule.id not in self._watched:
                self._watched[rule.id] = self._begin(rule)

        if not rules:
            self._places.clear()  # nobody listens: they get old

    def _find_places(self, rows: list[EmissionRow]) -> None:
        """Where history says that something was heard, in streams that are heard for the first time."""
        since_ns = min((watched.judge.rule.created_ns for watched in self._watched.values()), default=0)
        for row in rows:
            if row.stream in self._places:
                continue
            query = EmissionQuery(row.stream, sort="last", limit=MOST)
            places = self._places[row.stream] = Places()
            for known in reversed(find_emissions(self.database, query).rows):
                # Of a stream that began before the rules, what it heard before them; of one of before, all.
                early = (
                    int(lifetime(row).rpartition("-")[2], 16) * 10**6 < since_ns and known.from_ns < since_ns
                )
                if early or lifetime(known) != lifetime(row):
                    places.hear(known)

    def _begin(self, rule: Rule) -> Watched:
        """Go on where the rule was before a restart."""
        now_ns = time.time_ns()
        before = find_alerts(self.database, AlertQuery(rule=rule.id, limit=max(1, rule.per_hour))).rows[::-1]
        heard_ns = last_heard_ns(self.database, rule) if rule.kind == "silent" else None
        armed = heard_ns is not None and (not before or heard_ns > before[-1].at_ns)
        return Watched(open_judge(rule, now_ns, self.quiet, armed), Limit(rule, before))

    def _judge(self, row: EmissionRow) -> None:
        used_ns = self._places[row.stream].hear(row)
        for watched in self._watched.values():
            rule = watched.judge.rule
            if rule.covers(row) and watched.judge.hear(row, used_ns) and not self.around.unwanted(row):
                self._found(watched, alert_row(rule, row, None, time.time_ns()))

    def _tick(self, stopping: bool) -> None:
        """What the time that passed tells."""
        now_ns, running = time.time_ns(), self.around.running()
        for watched in self._watched.values():
            judge, rule = watched.judge, watched.judge.rule
            listening = rule.stream in running if rule.stream else bool(running)
            if judge.tick(now_ns, listening and not stopping):
                share = judge.share if isinstance(judge, Occupied) else None
                self._found(watched, alert_row(rule, None, share, now_ns))
        for watched in self._watched.values():
            if time.monotonic() - watched.told_s >= STATE_S:
                watched.told_s, now = time.monotonic(), state(watched.judge, now_ns)
                if now != watched.told:
                    watched.told = now
                    self.around.state(now)

    def _found(self, watched: Watched, found: AlertRow) -> None:
        alert, new = watched.limit.take(found)
        self.raised, self.collapsed = self.raised + new, self.collapsed + (not new)
        if new:
            self._clipping.append((alert, time.monotonic() + PATIENCE_S))
            return
        waiting = [place for place, (each, _) in enumerate(self._clipping) if each.id == alert.id]
        for place in waiting:
            self._clipping[place] = (alert, self._clipping[place][1])
        if not waiting:
            was_new = self._unwritten.get(alert.id, (alert, False))[1]
            self._unwritten[alert.id] = (alert, was_new)

    def _clip(self, stopping: bool) -> None:
        """Make the clips whose samples are there, or will not come."""
        waiting, self._clipping = self._clipping, []
        for alert, until in waiting:
            stream = self._stream(alert)
            if stream and not stopping and time.monotonic() < until and not complete(alert, stream):
                self._clipping.append((alert, until))
                continue
            if stream:
                self.clips.make(alert, stream)
            self._unwritten[alert.id] = (alert, True)
        while len(self._unwritten) > WAITING:
            del self._unwritten[next(iter(self._unwritten))]
            self.lost += 1

    def _stream(self, alert: AlertRow) -> Stream | None:
        """The stream that an alert is of: its own, or the only one that runs."""
        running = self.around.running()
        stream_id = alert.stream or (next(iter(running)) if len(running) == 1 else "")
        try:
            return self.around.stream(stream_id)
        except NotFound:
            return None

    def _write(self) -> None:
        """Write alerts, then hand them on."""
        if not self._unwritten:
            return
        try:
            put_alerts(self.database, [alert for alert, _ in self._unwritten.values()])
        except OUTAGE as error:
            log.warning("%d alerts wait for the history: %s", len(self._unwritten), str(error).split("\n")[0])
            return
        written, self._unwritten = self._unwritten, {}
        for alert, new in written.values():
            clip = self.clips.describe(alert.id)
            picture = self.clips.picture(alert.id) if clip and new else None
            self.around.alert(alert.describe(clip), picture, new)


def complete(alert: AlertRow, stream: Stream) -> bool:
    """Whether no more samples come that belong into the clip."""
    if alert.end_sample is None or stream.state != "running":
        return True
    return stream.ring.span[1] >= alert.end_sample + AFTER_S * stream.rate_hz


def state(judge: Judge, now_ns: int, removed: bool = False) -> WatchState:
    """What a rule sees where it watches."""
    return WatchState(
        rule=judge.rule.id,
        name=judge.rule.name,
        f_low=judge.rule.f_low,
        f_high=judge.rule.f_high,
        emissions=judge.band.on_air(now_ns),
        occupancy=round(judge.band.occupancy(now_ns), 2),
        removed=removed,
    )
