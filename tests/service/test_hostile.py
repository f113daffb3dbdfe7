"""Inputs that nobody sends by mistake: each is a clear 4xx, and the service is unharmed."""

import base64
import json
import math

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

RAW = (np.random.default_rng(0).standard_normal(8000) / 8).astype("<f4").tobytes()
JSON = {"Content-Type": "application/json"}
DEEP = "[" * 50_000 + "]" * 50_000


@pytest.fixture(scope="module")
def stream(service):
    """Somebody else's, which must not notice anything."""
    made = service.stream("tone:?rate=48k&snr_db=10")
    yield made
    service.http.delete(f"/v1/streams/{made}")


def ask(service, method, path, **more):
    """One request over a connection of its own: a server error would close a shared one."""
    with httpx.Client(base_url=service.base, timeout=60) as http:
        return http.request(method, path, **more)


def assert_unharmed(service, stream):
    for path in (
        "/v1/streams",
        "/v1/models",
        "/v1/recordings",
        "/v1/labels",
        "/metrics",
        f"/v1/streams/{stream}",
    ):
        assert ask(service, "GET", path).status_code == 200, path
    assert ask(service, "GET", f"/v1/streams/{stream}").json()["state"] == "running"
    assert ask(service, "GET", "/v1/ready").json() == {"ready": True, "wrong": []}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("tone:?freq=1e300", "option freq of source tone: is '1e300'; it must be from 0 to 1T Hz"),
        ("tone:?freq=1e308G", "from 0 to 1T Hz"),
        ("tone:?freq=-1", "from 0 to 1T Hz"),
        ("tone:?rate=1e308G", "option rate of source tone: is '1e308G'; it must be from 1 to 10G S/s"),
        ("tone:?rate=1e-6", "from 1 to 10G S/s"),
        ("tone:?seconds=inf", "option seconds"),
        ("tone:?seconds=1e300", "option seconds"),
        ("tone:?snr_db=-1e6", "option snr_db of source tone: is '-1e6'; it must be from -100 to 200 dB"),
        ("rtltcp:127.0.0.1:1?ppm=inf", "option ppm"),
        ("rtltcp:127.0.0.1:1?ppm=1e300", "option ppm"),
        ("rtltcp:127.0.0.1:1?silence=1e308G", "option silence"),
        ("rtltcp:127.0.0.1:99999", "port from 1 to 65535"),
        ("file:/x.cu8?start=1e300", "outside"),
        ("soapy:driver=null?channel=99999999999999999999999", "option channel of source soapy:driver=null"),
        ("soapy:driver=null?channel=1e308G", "from 0 to 1023"),
        ("zmq:tcp://127.0.0.1:0", "port from 1 to 65535"),
        ("zmq:tcp://127.0.0.1:99999", "port from 1 to 65535"),
        (f"zmq:tcp://127.0.0.1:{'9' * 100}", "port from 1 to 65535"),
        ("zmq:tcp://127.0.0.1:5555?key=%00", "printable"),
        ("tone:?\u0000=1", "printable"),
    ],
)
def test_a_source_out_of_range_is_refused_by_name(service, stream, source, line):
    answer = ask(service, "POST", "/v1/streams", json={"source": source})
    assert answer.status_code in (403, 422)
    assert line in answer.json()["detail"]
    assert_unharmed(service, stream)


def cursor(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "value",
    [
        [1, "\ud800"],
        [1, "a\0"],
        [math.nan, "x"],
        [math.inf, "x"],
        [True, "x"],
        [10**400, "x"],
        [[1], "x"],
        [2**63, "x"],
    ],
)
def test_a_cursor_that_no_page_gave_is_refused(service, stream, value):
    for path in (f"/v1/streams/{stream}/predictions", "/v1/events"):
        answer = ask(service, "GET", path, params={"cursor": cursor(value)})
        assert answer.status_code == 422
        assert "cursor" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "body", "line"),
    [
        ("POST", "/v1/streams", '{"source": "tone:", "\\ud800": 1}', "body: Input should be a valid string"),
        ("POST", "/v1/streams", '{"source": "tone:", "name": "a\\u0007b"}', "name: Value error, it must"),
        ("POST", "/v1/streams", f'{{"source": {DEEP}}}', "error parsing the body"),
        ("PATCH", "/v1/streams/STREAM", '{"gain": NaN}', "gain"),
        ("PATCH", "/v1/streams/STREAM", '{"gain": 1e308}', "less than or equal to 200"),
        ("PATCH", "/v1/streams/STREAM", '{"freq_hz": 1e13}', "less than or equal to 1000000000000"),
        ("POST", "/v1/labels", '{"stream": "STREAM", "label": "a", "seconds": NaN}', "seconds"),
        ("POST", "/v1/labels", '{"stream": "STREAM", "label": " ", "seconds": 0.1}', "label"),
        ("POST", "/v1/labels", '{"stream": "STREAM", "label": "a", "start": 0, "end": 9e18}', "end"),
        ("POST", "/v1/heads/x/fit", '{"streams": ["\\u0000"]}', "streams.0"),
        ("POST", "/v1/predict", '{"samples": [[1e300, 0]]}', "NaN or infinity"),
        ("POST", "/v1/predict", '{"samples": [[0, 0]], "rate_hz": 1e-3}', "rate_hz"),
        ("POST", "/v1/predict", DEEP, ""),
        ("POST", "/v1/login", '{"token": "\\ud800"}', "token"),
    ],
)  # fmt: skip
def test_a_body_out_of_range_is_refused_by_name(service, stream, method, path, body, line):
    sent = {"content": body.replace("STREAM", stream), "headers": JSON}
    answer = ask(service, method, path.replace("STREAM", stream), **sent)
    assert answer.status_code in (400, 422)
    assert line in answer.json()["detail"]
    assert_unharmed(service, stream)


def sigmf(info=(), capture=(), **more):
    content = {"global": {"core:datatype": "cf32_le", "core:sample_rate": 48e3, **dict(info)}}
    return json.dumps(content | {"captures": [dict(capture)], "annotations": []} | more)


METADATA = {
    "a rate of 1e-6": sigmf({"core:sample_rate": 1e-6}),
    "a rate of 1e300": sigmf({"core:sample_rate": 1e300}),
    "a frequency of 1e300": sigmf(capture={"core:frequency": 1e300}),
    "a frequency beyond floats": sigmf(capture={"core:frequency": 10**400}),
    "the year 1": sigmf(capture={"core:datetime": "0001-01-01T00:00:00Z"}),
    "the year 9999": sigmf(capture={"core:datetime": "9999-12-31T23:59:59Z"}),
    "an infinite index": sigmf(capture={"core:global_index": math.inf}),
    "a negative header": sigmf(capture={"core:header_bytes": -80_000}),
    "a gap of 2^62": sigmf(captures=[{}, {"core:sample_start": 2000, "core:global_index": 2**62}]),
    "a list for a type": sigmf({"core:datatype": []}),
    "a data set without a name": sigmf({"core:dataset": ""}),
    "a lone surrogate": sigmf(capture={"wavetell:gap_reason": "\ud800"}),
    "captures that are none": sigmf(captures=[None]),
    "annotations that are none": sigmf(annotations="x"),
    "nesting": DEEP,
    "nesting within": f'{{"global": {DEEP}, "captures": []}}',
}  # fmt: skip


@pytest.mark.parametrize("name", METADATA)
def test_a_recording_out_of_range_is_refused_listed_and_deleted(service, stream, name):
    files = {"meta": ("m", METADATA[name].encode()), "data": ("d", RAW)}
    sent = ask(service, "POST", "/v1/predict", files=files)
    assert sent.status_code == 422
    assert str(service.data) not in sent.text
    meta = service.data / "recordings" / "hostile.sigmf-meta"
    meta.write_text(METADATA[name])
    meta.with_suffix(".sigmf-data").write_bytes(RAW)
    played = ask(service, "POST", "/v1/streams", json={"source": f"file:{meta}"})
    assert played.status_code == 422
    assert "hostile.sigmf" in played.json()["detail"]
    assert "hostile" in [entry["id"] for entry in ask(service, "GET", "/v1/recordings").json()]
    assert_unharmed(service, stream)
    assert ask(service, "DELETE", "/v1/recordings/hostile").status_code == 204
    assert not meta.exists()


@pytest.mark.parametrize(
    ("about", "status", "line"),
    [
        ({"sample_rate": True}, 422, "sample_rate is True; it must be a number from 1 to 10G S/s"),
        ({"sample_rate": 10**400}, 422, "sample_rate"),
        ({"center_freq": math.nan}, 422, "center_freq is nan; it must be a number from 0 to 1T Hz"),
        ({"center_freq": 10**400}, 422, "center_freq"),
        ({"data_type": "\ud800"}, 422, "data_type"),
        ({"file_name": "\ud800"}, 200, ""),
    ],
)
def test_iqengines_metadata_are_held_against_their_ranges(service, stream, about, status, line):
    files = {"iq_file": ("a", RAW), "metadata_file": ("m", json.dumps(about))}
    answer = ask(service, "POST", "/plugins/wavetell", files=files)
    assert answer.status_code == status
    assert line in answer.text
    nested = ask(service, "POST", "/plugins/wavetell", files=files | {"metadata_file": ("m", DEEP)})
    assert nested.status_code == 422
    assert_unharmed(service, stream)


NUMBERS = st.sampled_from(
    ["1e300", "-1e308", "inf", "nan", "1e-320", "9" * 400, "0", "-0.0", "\u0661", "1_0", ""]
) | st.text(max_size=8)
QUERIES = [
    (
        "/v1/streams/STREAM/predictions",
        ["from", "to", "label", "min_probability", "limit", "cursor", "order"],
    ),
    ("/v1/streams/STREAM/annotations", ["from", "to"]),
    ("/v1/streams/STREAM/spectrum", ["start", "end", "count", "bins", "points"]),
    ("/v1/events", ["stream", "limit", "cursor"]),
]


@given(st.sampled_from(QUERIES), st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_a_query_says_is_answered_or_refused(service, stream, query, data):
    path, names = query
    values = data.draw(st.dictionaries(st.sampled_from(names), NUMBERS, max_size=3))
    answer = service.get(path.replace("STREAM", stream), params=values)
    assert answer.status_code in (200, 400, 404, 422), answer.text


UGLY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=6)
    | st.sampled_from([10**400, 2**63, -(2**70), 1e300, "\ud800", "tone:?rate=1e308G", "auto", "paused"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(), max_size=4), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
BODIES = [
    ("POST", "/v1/streams", ["source", "name", "head"]),
    ("PATCH", "/v1/streams/STREAM", ["freq_hz", "gain", "head"]),
    ("POST", "/v1/labels", ["stream", "label", "start", "end", "from", "to", "seconds"]),
    ("POST", "/v1/streams/STREAM/recordings", ["start", "end", "from", "to", "seconds"]),
    ("POST", "/v1/predict", ["samples", "rate_hz"]),
    ("POST", "/v1/login", ["token"]),
    ("POST", "/v1/heads/x/fit", ["streams"]),
]


@given(st.sampled_from(BODIES), st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_a_body_says_is_answered_or_refused(service, stream, target, data):
    method, path, names = target
    values = data.draw(UGLY | st.dictionaries(st.sampled_from(names), UGLY, min_size=1, max_size=4))
    sent = json.dumps(values).encode()
    answer = service.http.request(method, path.replace("STREAM", stream), content=sent, headers=JSON)
    assert answer.status_code in (200, 201, 400, 403, 404, 409, 422), answer.text
    if answer.status_code == 201 and path == "/v1/streams":
        service.http.delete(f"/v1/streams/{answer.json()['id']}")
