"""Events to an MQTT broker, one topic per stream: `mqtt://USER:PASSWORD@HOST:1883/PREFIX?discovery=homeassistant`.

    PREFIX/STREAM/event     every event as JSON
    PREFIX/STREAM/emission  every emission that began or ended, as JSON
    PREFIX/STREAM/state     the last one, retained
    PREFIX/alert/RULE       every alert as JSON
    PREFIX/picture/RULE     the spectrogram of the last one, a PNG file, retained
    PREFIX/watch/RULE       what a watch rule sees, as JSON, retained
    PREFIX/status           online, or offline as the broker's last will

With `discovery` each stream, each watch rule and each band that one watches announces itself below that topic
(`service/sinks/discovery.py`).
"""

from contextlib import suppress
from urllib.parse import parse_qs, unquote

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from service.schemas.emissions import StreamEmission
from service.schemas.history import PastEvent
from service.schemas.watch import WatchState
from service.sinks.discovery import of_rule, of_stream
from service.sinks.sink import Message, Notice, Sink, Unavailable
from service.sinks.url import parse_url

WAIT_S = 5.0


def open(entry: str) -> "Mqtt":
    """`mqtt://...` or `mqtts://...`."""
    url = parse_url(entry, "mqtt://127.0.0.1/wavetell")
    discovery = parse_qs(url.query).get("discovery", [""])[0]
    sink = Mqtt(
        url.hostname or "",
        url.port or (8883 if url.scheme == "mqtts" else 1883),
        url.path.strip("/"),
        discovery,
    )
    if url.username:
        sink.client.username_pw_set(unquote(url.username), unquote(url.password or ""))
    if url.scheme == "mqtts":
        sink.client.tls_set()
    return sink


class Mqtt(Sink):
    """Publishes with QoS 1: an event counts as sent once the broker has acknowledged it."""

    takes_emissions = takes_states = True

    def __init__(self, host: str, port: int, prefix: str, discovery: str) -> None:
        super().__init__(f"mqtt://{host}:{port}")
        self.host, self.port, self.prefix, self.discovery = host, port, prefix or "wavetell", discovery
        self.client = Client(CallbackAPIVersion.VERSION2)
        self.client.will_set(f"{self.prefix}/status", "offline", qos=1, retain=True)
        self._connected = False
        self._announced: set[str] = set()

    def deliver(self, event: Message) -> bool:
        """Publish one event, emission, alert or state."""
        try:
            if not self._connected:
                self.client.connect(self.host, self.port)
                self.client.loop_start()
                self._connected = True
                self._publish(f"{self.prefix}/status", "online", retain=True)
            if isinstance(event, WatchState):
                self._watch(event)
            elif isinstance(event, Notice):
                if event.picture is not None:
                    self._publish(f"{self.prefix}/picture/{event.alert.rule}", event.picture, retain=True)
                self._publish(f"{self.prefix}/alert/{event.alert.rule}", event.model_dump_json())
            else:
                self._stream(event)
        except (OSError, ValueError, RuntimeError) as error:  # what paho raises for a lost or full connection
            self._disconnect()
            raise Unavailable(str(error)) from None
        return True

    def _stream(self, event: PastEvent | StreamEmission) -> None:
        topic, payload = f"{self.prefix}/{event.stream}", event.model_dump_json(by_alias=True)
        if isinstance(event, StreamEmission):
            self._publish(f"{topic}/emission", payload)
            return
        if event.stream not in self._announced:
            self._announce(event.stream, of_stream(self.prefix, event.stream, event.name))
        self._publish(f"{topic}/event", payload)
        self._publish(f"{topic}/state", payload, retain=True)

    def _watch(self, state: WatchState) -> None:
        if state.removed or state.rule not in self._announced:
            self._announce(state.rule, of_rule(self.prefix, state))
        payload = "" if state.removed else state.model_dump_json()  # an empty one is retained no more
        self._publish(f"{self.prefix}/watch/{state.rule}", payload, retain=True)

    def _announce(self, identity: str, messages: dict[str, str]) -> None:
        """Home Assistant's discovery messages, by the end of their topics."""
        for topic, payload in messages.items() if self.discovery else ():
            self._publish(f"{self.discovery}/{topic}/config", payload, retain=True)
        self._announced.add(identity)

    def _publish(self, topic: str, payload: str | bytes, retain: bool = False) -> None:
        message = self.client.publish(topic, payload, qos=1, retain=retain)
        message.wait_for_publish(WAIT_S)
        if not message.is_published():
            raise OSError("the broker does not acknowledge")

    def _disconnect(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()
        self._connected = False
        self._announced.clear()

    def release(self) -> None:
        """Report that it is offline, and disconnect."""
        if self._connected:
            with suppress(OSError, ValueError, RuntimeError):  # then the broker publishes the last will
                self._publish(f"{self.prefix}/status", "offline", retain=True)
            self._disconnect()
