"""Recordings and annotations as the sigmf package reads them; the plug-in API as IQEngine calls it."""

import io
import json
import tarfile
import time

import numpy as np
import pytest
import sigmf

from hardware import open_source
from tests.service.conftest import serving

RNG = np.random.default_rng(2)
SAMPLES = (RNG.standard_normal(5000) + 1j * RNG.standard_normal(5000)).astype(np.complex64)
PAGE = "http://localhost:3000"


@pytest.fixture(scope="module")
def tone(service):
    stream = service.stream("tone:?rate=48k&freq=433.92M&snr_db=30")
    service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 48_000)
    return stream


def test_a_stretch_is_recorded_downloaded_and_played_again(service, tone, tmp_path):
    kept = service.get(f"/v1/streams/{tone}").json()["kept"]
    span = {"start": kept["end"] - 24_000, "end": kept["end"]}
    answer = service.post(f"/v1/streams/{tone}/recordings", json=span)
    assert answer.status_code == 201, answer.text
    recording = answer.json()["id"]
    with tarfile.open(fileobj=io.BytesIO(service.get(f"/v1/recordings/{recording}").content)) as archive:
        archive.extractall(tmp_path)
    read = sigmf.fromfile(str(tmp_path / recording / f"{recording}.sigmf-meta"))
    read.validate()
    assert read.sample_count == 24_000
    assert read.get_captures()[0]["core:frequency"] == 433.92e6
    assert read.get_annotations()
    assert all(note["core:label"] in "ABC" for note in read.get_annotations())
    described = service.get(f"/v1/recordings/{recording}/sigmf-meta").json()
    assert described["global"]["core:sample_rate"] == 48000
    data = service.get(f"/v1/recordings/{recording}/sigmf-data").content
    assert len(data) == 8 * 24_000
    about = next(r for r in service.get("/v1/recordings").json() if r["id"] == recording)
    again = service.stream(about["source"])
    service.until(
        f"/v1/streams/{again}", lambda s: s["state"] == "ended" and s["samples"]["processed"] == 24_000
    )
    service.http.delete(f"/v1/streams/{again}")
    assert service.http.delete(f"/v1/recordings/{recording}").status_code == 204
    assert service.get(f"/v1/recordings/{recording}").status_code == 404


def test_what_comes_is_recorded_until_it_is_finished(service, tone):
    recording = service.post(f"/v1/streams/{tone}/recordings", json={"next_seconds": 60}).json()["id"]
    time.sleep(0.5)
    done = service.post(f"/v1/recordings/{recording}/finish").json()
    assert 0.2 * 48_000 < done["samples"] < 2 * 48_000
    assert not done["running"]
    assert service.post(f"/v1/recordings/{recording}/finish").status_code == 404


def test_a_recording_under_way_is_whole_after_a_shutdown(tmp_path, model):
    with serving(tmp_path / "data", model, "tone:?rate=48k") as service:
        stream = service.get("/v1/streams").json()[0]["id"]
        service.until(f"/v1/streams/{stream}", lambda s: s["latest"])
        service.post(f"/v1/streams/{stream}/recordings", json={"next_seconds": 60})
        time.sleep(0.5)
        service.stop()
    (meta,) = (tmp_path / "data" / "recordings").glob("*.sigmf-meta")
    sigmf.fromfile(str(meta)).validate()
    with open_source(f"file:{meta}") as source:
        assert sum(len(block.samples) for block in source.blocks()) > 10_000


def test_annotations_are_sigmf_of_a_time_range(service, tone):
    service.until(f"/v1/streams/{tone}/predictions", lambda p: p["predictions"])
    described = service.get(f"/v1/streams/{tone}/annotations").json()
    sigmf.SigMFFile(metadata=described).validate()
    assert described["annotations"][0]["core:sample_start"] == 0
    assert described["annotations"][0]["wavetell:probabilities"].keys() == {"A", "B", "C"}
    old = service.get(f"/v1/streams/{tone}/annotations", params={"to": "2001-01-01T00:00:00Z"}).json()
    assert old["annotations"] == []


def test_iqengine_finds_runs_and_reads_the_plug_in(level_service):
    headers = {"Origin": PAGE}
    names = level_service.get("/plugins", headers=headers)
    assert names.json() == ["wavetell"]
    assert names.headers["access-control-allow-origin"] == PAGE
    assert level_service.get("/plugins/wavetell").json()["head"].keys() >= {
        "title",
        "default",
        "type",
        "value",
    }
    about = {"file_name": "x", "data_type": "iq/cf32_le", "sample_rate": 48000, "center_freq": 0}
    files = {
        "iq_file": ("x.iq", SAMPLES.tobytes()),
        "metadata_file": ("meta.json", json.dumps(about)),
        "custom_params": ("custom.json", json.dumps({"head": {"value": ""}})),
    }
    job = level_service.post("/plugins/wavetell", files=files, headers=headers).json()
    assert job.keys() == {"job_id", "function_name", "file_name", "progress"}
    level_service.until(f"/plugins/{job['job_id']}/status", lambda s: s["progress"] == 100)
    result = level_service.get(f"/plugins/{job['job_id']}/result").json()
    assert result["annotations"][0]["core:sample_start"] == 0
    assert sum(note["core:sample_count"] for note in result["annotations"]) == 5000
    assert level_service.get("/plugins/nobody/status").status_code == 404
    assert level_service.get("/plugins/other").status_code == 404
    assert level_service.post("/plugins/wavetell", files={"metadata_file": b"{}"}).status_code == 422
    assert level_service.post("/plugins/wavetell", files=files | {"metadata_file": b"[1"}).status_code == 422
