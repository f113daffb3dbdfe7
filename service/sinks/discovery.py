"""Home Assistant's MQTT discovery: a stream, a watch rule, a watched band; never a single emission.

A rule is a binary sensor that is on for a minute after each alert, and the picture of the last one. Where it
watches a part of the spectrum, that part is a sensor, too: how many emissions are on the air, and its
occupancy.
"""

import json

from service.schemas.watch import WatchState

ALERT_S = 60  # that a binary sensor stays on


def common(prefix: str, identity: str, name: str) -> dict[str, object]:
    """What every entity has."""
    return {
        "name": name,
        "unique_id": f"wavetell_{identity}",
        "availability_topic": f"{prefix}/status",
        "device": {"identifiers": ["wavetell"], "name": "wavetell"},
    }


def of_stream(prefix: str, stream: str, name: str) -> dict[str, str]:
    """The messages of a stream, by the end of their topics."""
    state = f"{prefix}/{stream}/state"
    config = common(prefix, stream, name) | {
        "state_topic": state,
        "value_template": "{{ value_json.label }}",
        "json_attributes_topic": state,
        "icon": "mdi:radio-tower",
    }
    return {f"sensor/wavetell_{stream}": json.dumps(config)}


def of_rule(prefix: str, state: WatchState) -> dict[str, str]:
    """The messages of a rule and of the band that it watches; empty ones take them back."""
    rule, alert = state.rule, f"{prefix}/alert/{state.rule}"
    sensor = common(prefix, rule, state.name) | {
        "state_topic": alert,
        "value_template": "ON",
        "off_delay": ALERT_S,
        "json_attributes_topic": alert,
        "icon": "mdi:bell-ring",
    }
    picture = common(prefix, f"{rule}_picture", f"{state.name}, picture") | {
        "image_topic": f"{prefix}/picture/{rule}",
        "content_type": "image/png",
    }
    messages = {f"binary_sensor/wavetell_{rule}": sensor, f"image/wavetell_{rule}": picture}
    if state.f_low is not None:
        watch = f"{prefix}/watch/{rule}"
        messages[f"sensor/wavetell_{rule}"] = common(prefix, f"{rule}_band", f"{state.name}, emissions") | {
            "state_topic": watch,
            "value_template": "{{ value_json.emissions }}",
            "json_attributes_topic": watch,
            "icon": "mdi:sine-wave",
        }
    return {topic: "" if state.removed else json.dumps(config) for topic, config in messages.items()}
