"""Where everything goes that is on disk: readers of the hub, and sinks."""

from collections.abc import Collection, Sequence

from service.live.emissions import EmissionRow
from service.live.events import Event
from service.live.hub import Hub
from service.live.runs import Run
from service.schemas.watch import Alert, WatchState
from service.sinks.sink import Notice, Sink
from service.storage.ignored import Ignored


class Outlet:
    """Tells of what nobody ignores; emissions of `quiet` labels reach no sink."""

    def __init__(self, hub: Hub, sinks: Sequence[Sink], ignored: Ignored, quiet: Collection[str]) -> None:
        self.hub, self.sinks, self.ignored, self.quiet = hub, sinks, ignored, quiet

    def ignores(self, run: Run) -> bool:
        """Whether nobody wants to be told of what was heard."""
        return self.ignored.holds(run, run.emission, run.offset_hz if run.freq_hz is None else run.centre_hz)

    def unwanted(self, emission: EmissionRow) -> bool:
        """Whether nobody wants to be told of an emission."""
        centre_hz = (emission.lower_hz + emission.upper_hz) / 2
        return self.ignored.holds(emission, emission.id, centre_hz)

    def event(self, event: Event) -> None:
        """An event is on disk: give it to every reader and sink."""
        described = event.describe()
        self.hub.publish("events", described.model_dump_json())
        self.hub.publish(f"{event.stream}/reports", described.model_dump_json())
        for sink in self.sinks:
            sink.put(described)

    def emission(self, emission: EmissionRow) -> None:
        """An emission began or ended, and is on disk: give it to the sinks that want to know."""
        if emission.label not in self.quiet and not self.unwanted(emission):
            for sink in self.sinks:
                sink.put_emission(emission.describe())

    def alert(self, alert: Alert, picture: bytes | None, new: bool) -> None:
        """An alert is on disk: give it to every page; a new one to the sinks, unless it is a quiet time."""
        self.hub.publish("alerts", alert.model_dump_json())
        if new and not alert.quiet:
            for sink in self.sinks:
                sink.put(Notice(alert, picture))

    def watched(self, state: WatchState) -> None:
        """What a watch rule sees, for the sinks that want to know."""
        for sink in self.sinks:
            sink.put_state(state)
