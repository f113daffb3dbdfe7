"""Every attack that once worked, and its relatives, on a fresh service: `python -m tests.service.attacks`.

Each must be a 4xx with one line, and in the end lists, metrics, readiness and another stream must be well.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import httpx

from tests.service.conftest import level_bundle, serving, small_bundle
from tests.service.test_hostile import DEEP, JSON, METADATA, RAW, assert_unharmed, cursor
from tests.service.test_trial import DESCRIPTIONS, described, loud, raw_of

SOON_MS = 100  # in which an idle machine refuses; a model is tried first

ABSURD = ("1e300", "1e308G", "-1e9T", "inf", "nan", "9" * 400, "\u0663", "1_0", "", "0x10")
SOURCES = {
    "tone:?{}": ("freq", "rate", "seconds", "snr_db", "offset", "seed"),
    "rtltcp:127.0.0.1:1?{}": ("freq", "rate", "ppm", "gain", "silence", "timeout"),
    "zmq:tcp://127.0.0.1:5?{}": ("freq", "rate", "timeout"),
    "soapy:driver=null?{}": ("freq", "rate", "gain", "channel", "ppm", "bandwidth"),
    "file:x.cu8?{}": ("freq", "rate", "start"),
}
PORTS = ("0", "99999", "9" * 100, "-1", "\u0661", "1e3", "")
ADDRESSES = (
    *("tone:?freq=-1", "tone:?rate=1e-320", "tone:?seconds=-1", "tone:?rate=0", "tone:" + "?" * 400),
    *("zmq:tcp://127.0.0.1:5555?key=%00", "zmq:ipc:///x", "tone:?\0=1", "demo?rate=inf", "a" * 501),
    *("file:/etc/passwd", "file:../../x.cu8", "soapy:" + "driver=" * 60),
)
PLANS = (("NaN", 1e8), (0, "Infinity"), (1e8, 1e7), (-1, 1e300), ("true", 1e8))

STREAM = "/v1/streams/STREAM"
QUERIES = {
    f"{STREAM}/emissions": (
        *("f_low", "f_high", "min_snr_db", "min_duty", "min_bursts"),
        *("limit", "from", "to", "sort", "state"),
    ),
    f"{STREAM}/occupancy": ("step_s", "cells", "f_low", "from", "to"),
    f"{STREAM}/review": ("step_s", "from", "to"),
    f"{STREAM}/predictions": ("from", "to", "min_probability", "limit", "order"),
    f"{STREAM}/spectrum": ("start", "end", "count", "bins", "points"),
    "/v1/alerts": ("from", "to", "limit"),
    "/v1/events": ("limit",),
}
VALUES = ("1e300", "nan", "-1e308", "9" * 400, "\ud800", "\0")

BODIES = {
    "/v1/watches": ({"kind": "new"}, ("minutes", "percent", "per_hour", "collapse_s", "f_low")),
    "/v1/ignored": ({"label": "x"}, ("seconds", "f_low")),
    "/v1/labels": ({"stream": "STREAM", "label": "x"}, ("seconds", "start", "end", "from", "to")),
    f"{STREAM}/recordings": ({}, ("seconds", "next_seconds", "start", "from")),
    "/v1/predict": ({"samples": [[0, 0]]}, ("rate_hz", "samples")),
}
WORDS = ("1e300", "-1e300", "NaN", "Infinity", "true", '"\\ud800"', "9" * 5000, DEEP, "{}", '"x"')

CURSORS = ([1, "\ud800"], [1, "a\0"], [10**400, "x"], [True, "x"], [2**63, "x"], {}, 1, [[[]]])
PAGES = ("/v1/events", "/v1/alerts", f"{STREAM}/predictions", f"{STREAM}/emissions")

NAMES = ("%00", "%ff", "%ed%a0%80", "a" * 5000, "..%2f..%2fetc%2fpasswd", "%0a", "%e2%80%ae")
NAMED = (
    *("GET streams/{}", "DELETE streams/{}", "GET streams/STREAM/emissions/{}", "DELETE labels/{}"),
    *("GET recordings/{}", "GET recordings/{}/sigmf-data", "DELETE recordings/{}", "POST heads/{}/fit"),
    *("PUT models/{}", "POST models/{}/activate", "DELETE models/{}", "GET alerts/{}"),
    *("GET alerts/{}/clip", "GET alerts/{}/picture", "DELETE watches/{}", "DELETE ignored/{}"),
)


def sources():
    """Addresses out of range."""
    for address, options in SOURCES.items():
        yield from (address.format(f"{option}={value}") for option in options for value in ABSURD)
    for port in PORTS:
        yield from (f"zmq:tcp://127.0.0.1:{port}", f"rtltcp:127.0.0.1:{port}")
    yield from ADDRESSES


def bodies():
    """Paths, and bodies as text."""
    for start, stop in PLANS:
        yield "/v1/streams", f'{{"source": "tone:", "plan": {{"start_hz": {start}, "stop_hz": {stop}}}}}'
    for path, (good, names) in BODIES.items():
        for name in names:
            text = json.dumps(good | {name: "WORD"})
            yield from ((path, text.replace('"WORD"', word)) for word in WORDS)


def requests():
    """Every attack: method, path and what is sent."""
    for source in sources():
        yield "POST", "/v1/streams", {"json": {"source": source}}
    for path, body in bodies():
        yield "POST", path, {"content": body, "headers": JSON}
    for path, names in QUERIES.items():
        for name in names:
            yield from (("GET", f"{path}?{name}={quote(v, errors='surrogatepass')}", {}) for v in VALUES)
    for path in PAGES:
        yield from (("GET", path, {"params": {"cursor": cursor(value)}}) for value in CURSORS)
    for request in NAMED:
        method, path = request.split()
        more = {"content": b"x"} if method == "PUT" else {"json": {}} if method == "POST" else {}
        yield from ((method, f"/v1/{path.format(name)}", more) for name in NAMES)
    for text in METADATA.values():
        yield "POST", "/v1/predict", {"files": {"meta": ("m", text), "data": ("d", RAW)}}
        both = [("file", ("a.sigmf-meta", text.encode())), ("file", ("a.sigmf-data", RAW))]
        yield "POST", "/v1/analyse", {"files": both}


def models(folder):
    """Models that must not be listed, as requests."""
    whole = raw_of(level_bundle(), folder)
    altered = [described(whole, change) for change in DESCRIPTIONS.values()]
    altered += [raw_of(loud(make()), folder) for make in (level_bundle, small_bundle)]
    return [("PUT", "/v1/models/x", {"content": raw}) for raw in altered]


def refused(answer):
    """Whether it is a 4xx that says why in one line."""
    if not 400 <= answer.status_code < 500:
        return False
    line = answer.json()["detail"]
    return bool(line) and "\n" not in line


def attack(service, folder):
    """Send everything: how many there were, what was not refused, and what took long to be."""
    stream = service.stream("tone:?rate=48k&snr_db=10")
    wrong, slow, count = [], [], 0
    with httpx.Client(base_url=service.base, timeout=100) as http:
        for method, path, more in (*requests(), *models(folder)):
            sent = {
                key: value.replace("STREAM", stream) if isinstance(value, str) else value
                for key, value in more.items()
            }
            began = time.monotonic()
            answer = http.request(method, path.replace("STREAM", stream), **sent)
            took_ms = 1000 * (time.monotonic() - began)
            said = f"{method} {path:.80} {more!s:.120}"
            if not refused(answer):
                wrong.append(f"{said}: {answer.status_code} {answer.text:.200}")
            if took_ms > SOON_MS and "/models/" not in path:
                slow.append(f"{said}: {took_ms:.0f} ms")
            count += 1
    assert_unharmed(service, stream)
    return count, wrong, slow


def main():
    """Attack a service of its own; fail where anything was not refused."""
    with tempfile.TemporaryDirectory(prefix="wavetell-attacks-") as place:
        folder = Path(place)
        small_bundle().save(folder / "small.safetensors")
        with serving(folder / "data", folder / "small.safetensors") as service:
            count, wrong, slow = attack(service, folder)
        log = (folder / "data.log").read_text()
    if "Traceback" in log:
        wrong.append(log[log.index("Traceback") :][:3000])
    print(*wrong, *slow, sep="\n")
    print(f"{count} attacks, {len(wrong)} not refused, {len(slow)} refused in more than {SOON_MS} ms")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
