"""Prometheus metrics, read from the counters when they are asked for."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric

from service.routes.streams import attention
from service.station import Station
from service.web.connections import LimitedProtocol


def render(station: Station) -> bytes:
    """The metrics as text."""
    registry = CollectorRegistry()
    registry.register(Collector(station))
    registry.register(station.runtime.latency)
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class Collector:
    """Everything that is counted."""

    def __init__(self, station: Station) -> None:
        self.station = station

    def collect(self) -> Iterator[Metric]:
        """The metrics, one family after the other."""
        yield from self.streams()
        runtime, model = self.station.runtime, self.station.model
        factor = runtime.load.real_time_factor
        yield gauge("real_time_factor", "Seconds of signal processed per second of work.", factor)
        yield gauge("history_waiting_rows", "Rows that are not written yet.", self.station.history.waiting)
        yield counter(
            "history_lost_rows", "Rows given up while the database was away.", self.station.history.lost
        )
        yield counter(
            "thread_failures",
            "Threads that died and were restarted.",
            sum(thread.failures for thread in self.station.threads),
        )
        yield gauge("readers", "Readers of live answers.", len(self.station.hub.subscribers))
        missed = self.station.hub.missed + sum(s.missed for s in self.station.hub.subscribers)
        yield counter("reader_missed_messages", "Messages that readers were too slow for.", missed)
        yield gauge("connections", "HTTP and WebSocket connections.", LimitedProtocol.open_by_address.total())
        yield counter("connections_refused", "Connections above the limit.", LimitedProtocol.refused)
        watcher = self.station.watcher
        yield counter("alerts", "Alerts that watch rules raised.", watcher.raised)
        yield counter("alerts_collapsed", "What was counted in an alert before.", watcher.collapsed)
        yield counter("watch_lost_emissions", "Emissions that no rule had time to judge.", watcher.lost)
        yield from self.emissions()
        yield from self.saved()
        yield from self.sinks()
        yield gauge("federation_round", "Federated round of the model in use.", model.federation_round)
        info = InfoMetricFamily("wavetell_engine", "What computes the encoder, and which model.")
        info.add_metric(
            [],
            {
                "backend": model.engine.name,
                "detail": model.engine.detail,
                "model": model.bundle.name,
                "sha256": model.sha256,
            },
        )
        yield info

    def streams(self) -> Iterator[Metric]:
        """What is counted for each stream."""
        processed = CounterMetricFamily(
            "wavetell_samples_processed", "Samples that were answered for.", labels=["stream"]
        )
        dropped = CounterMetricFamily(
            "wavetell_samples_dropped", "Samples lost or given up.", labels=["stream", "reason", "exact"]
        )
        gaps = CounterMetricFamily("wavetell_gaps", "Breaks in a stream.", labels=["stream"])
        labels = CounterMetricFamily("wavetell_predictions", "Hops by answer.", labels=["stream", "label"])
        lag = GaugeMetricFamily("wavetell_lag_seconds", "How far the answers are behind.", labels=["stream"])
        queue = GaugeMetricFamily(
            "wavetell_queue_samples", "Samples that wait for the engine.", labels=["stream"]
        )
        running = GaugeMetricFamily("wavetell_stream_running", "1 while the stream runs.", labels=["stream"])
        for stream in list(self.station.runtime.streams.values()):
            received = stream.received
            processed.add_metric([stream.id], stream.counts.processed)
            for reason, samples in stream.counts.dropped.copy().items():
                dropped.add_metric([stream.id, reason, "true"], samples)
            for exact, lost in (("true", received.lost), ("false", received.lost_estimated)):
                for reason, samples in lost.copy().items():
                    dropped.add_metric([stream.id, reason, exact], samples)
            gaps.add_metric([stream.id], stream.counts.gaps)
            for label, hops in stream.counts.labels.copy().items():
                labels.add_metric([stream.id, label], hops)
            lag.add_metric([stream.id], stream.lag_s + received.lag_s)
            queue.add_metric([stream.id], stream.queued)
            running.add_metric([stream.id], float(stream.state == "running"))
        yield from (processed, dropped, gaps, labels, lag, queue, running)

    def emissions(self) -> Iterator[Metric]:
        """What is followed in the band of each stream, and what that costs."""
        followed = GaugeMetricFamily("wavetell_emissions", "Emissions on the air.", labels=["stream"])
        counted = {
            "heard": "Emissions since the stream began.",
            "refused": "Emissions not followed because there were too many.",
            "short": "Emissions too short to be named.",
            "answered": "Answers about emissions.",
            "thinned": "Answers left out because there was too much work.",
            "unjudged": "Suspected changes of modulation not looked at because there was too much work.",
        }
        counters = {
            name: CounterMetricFamily(f"wavetell_emissions_{name}", text, labels=["stream"])
            for name, text in counted.items()
        }
        cpu = CounterMetricFamily(
            "wavetell_stage_cpu_seconds", "Processor time by stage.", labels=["stream", "stage"]
        )
        for stream_id, pipeline in self.station.runtime.pipelines.copy().items():
            given = attention(pipeline)
            if given is None:
                continue
            followed.add_metric([stream_id], given.followed)
            for name, metric in counters.items():
                metric.add_metric([stream_id], getattr(given, name))
            for stage, seconds in given.cpu_s.items():
                cpu.add_metric([stream_id, stage], seconds)
        yield from (followed, *counters.values(), cpu)

    def saved(self) -> Iterator[Metric]:
        """What became of emissions that were to be recorded."""
        saver = self.station.saver
        yield counter("emissions_saved", "Emissions recorded as they ended.", saver.saved)
        yield counter("emissions_not_saved", "Emissions that could not be recorded.", saver.lost)

    def sinks(self) -> Iterator[Metric]:
        """What became of events."""
        sent = CounterMetricFamily("wavetell_events_sent", "Events delivered.", labels=["sink"])
        lost = CounterMetricFamily(
            "wavetell_events_lost", "Events a sink was away for too long for.", labels=["sink"]
        )
        for sink in self.station.sinks:
            sent.add_metric([sink.name], sink.sent)
            lost.add_metric([sink.name], sink.lost)
        yield from (sent, lost)


def gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    """One value that goes up and down."""
    return GaugeMetricFamily(f"wavetell_{name}", text, value=value)


def counter(name: str, text: str, value: float) -> CounterMetricFamily:
    """One value that only grows."""
    return CounterMetricFamily(f"wavetell_{name}", text, value=value)
