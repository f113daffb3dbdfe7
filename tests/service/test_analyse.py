"""A recording is analysed in place: its picture, its emissions, and what is missing in one line."""

import base64
import json

import numpy as np
import pytest

from tests.service.scenes import RATE, band
from tests.service.test_watch import pixels

CENTRES = (-60e3, 50e3)  # of what `band` sends, from the centre
NAMED = "band_433M_250k.cf32"


def analyse(service, *files, **query):
    return service.post("/v1/analyse", files=[("file", file) for file in files], params=query)


@pytest.fixture(scope="module")
def raw():
    return band().tobytes()


def check(answer, freq):
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["rate_hz"], found["freq_hz"]) == (RATE, freq)
    assert found["seconds"] == pytest.approx(2.0)
    emissions = sorted(found["emissions"], key=lambda each: each["centre_hz"])
    assert [each["centre_hz"] - (freq or 0) for each in emissions] == pytest.approx(CENTRES, abs=2e3)
    assert all(each["begin"] == pytest.approx(0.5, abs=0.1) for each in emissions)
    drawn = pixels(base64.b64decode(found["picture"])).astype(float)
    assert drawn.shape == (320, 640)
    on, off = drawn[100:].mean(0), drawn[:60].mean(0)
    columns = [round((centre / RATE + 0.5) * 640) for centre in CENTRES]
    assert all(on[column] > off[column] + 50 for column in columns)
    assert on[320] == pytest.approx(off[320], abs=20)  # nothing is in the middle


def test_raw_samples_are_what_their_name_says(service, raw):
    check(analyse(service, (NAMED, raw)), 433e6)
    assert service.get("/v1/recordings").json() == []


def test_a_sigmf_pair_in_any_order_brings_its_own_rate(service, raw):
    about = {"core:datatype": "cf32_le", "core:sample_rate": RATE, "core:version": "1.2.0"}
    captures = [{"core:sample_start": 0, "core:frequency": 868e6}]
    meta = json.dumps({"global": about, "captures": captures, "annotations": []})
    files = [("my air.sigmf-data", raw), ("my air.sigmf-meta", meta.encode())]
    check(analyse(service, *files), 868e6)
    check(analyse(service, *files[::-1]), 868e6)


def test_what_the_name_does_not_say_can_be_said(service, raw):
    answer = analyse(service, ("air.iq", raw))
    assert answer.status_code == 422
    assert "/" not in answer.json()["detail"]
    check(analyse(service, ("air.iq", raw), rate_hz=RATE, datatype="cf32"), None)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("../../../etc/passwd", b"root"),
        ("..", b"\0" * 80),
        ("x" * 5000 + ".cu8", b""),
        ("air_250k.cf32", b""),
        ("air.wav", b"RIFF"),
        ("air.sigmf", b"no archive"),
        ("air.sigmf-meta", b"{}"),
        ("\u202e.cu8", b"\0" * 80),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line_and_leaves_nothing(service, name, content):
    answer = analyse(service, (name, content), rate_hz=RATE)
    assert answer.status_code in (400, 422), answer.text
    assert "\n" not in answer.json()["detail"]
    assert str(service.data) not in answer.json()["detail"]
    assert not list(service.data.glob("work-*"))


def test_a_request_without_a_file_is_refused(service):
    assert service.post("/v1/analyse", content=b"x").status_code == 422
    assert service.post("/v1/analyse", files={"other": ("a.cu8", b"x")}).status_code == 422


def test_the_demo_is_a_source_and_plays_a_band(service):
    stream = service.post("/v1/streams", json={"source": "demo"}).json()
    assert (stream["name"], stream["rate_hz"]) == ("demo", 250_000)
    url = f"/v1/streams/{stream['id']}/emissions?state=now"
    service.until(url, lambda page: len(page["emissions"]) > 2, seconds=60)
    service.http.delete(f"/v1/streams/{stream['id']}")


def test_noise_alone_has_no_emission(service):
    x = np.random.default_rng(1).standard_normal((RATE, 2)).astype(np.float32)
    answer = analyse(service, ("noise_250k.cf32", x.tobytes()))
    assert answer.status_code == 200, answer.text
    assert answer.json()["emissions"] == []
