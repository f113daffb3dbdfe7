"""The OpenAPI document: its examples run, and whatever schemathesis makes of it is answered as documented."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import service.demo
from streaming.band.frontend import BandSettings
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from tests.hardware.test_rtltcp import RATE as RTL_RATE
from tests.hardware.test_rtltcp import Server
from tests.models import tiny_head
from tests.service.conftest import SHAPE, SHORT_HOP, SHORT_WINDOW, serving, within
from tests.service.dashboard.federation import make_federation

BAND = ("emission", "bandwidth_hz", "centre_hz")
DEMO = Path(service.demo.__file__).with_name("demo.sigmf-meta")
LONG = [pytest.mark.acceptance, pytest.mark.timeout(3600)]
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def examples(document):
    """Every JSON body that the document gives as an example."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = content.get("schema", {})
            for example in [content["example"]] if "example" in content else schema.get("examples", []):
                yield method, path, example


def test_the_examples_of_the_document_run(service):
    document = service.get("/openapi.json").json()
    stream = service.stream("tone:?rate=48k&snr_db=10")
    service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 24_000)
    for label in ("OOK", "2FSK"):  # so that there is something to fit
        for _ in range(2):
            service.post("/v1/labels", json={"stream": stream, "label": label, "seconds": 0.4})
    ran = []
    for method, path, example in examples(document):
        body = example | {"stream": stream} if "stream" in example else example
        url = path.replace("{stream_id}", stream).replace("{name}", "example")
        answer = service.http.request(method, url, json=body)
        assert answer.status_code < 300, (method, url, body, answer.text)
        ran.append(path)
    assert {"/v1/predict", "/v1/streams", "/v1/labels", "/v1/heads/{name}/fit", "/v1/login"} <= set(ran)
    for entry in service.get("/v1/streams").json():
        if entry["name"] == "a tone" or entry["id"] == stream:
            service.http.delete(f"/v1/streams/{entry['id']}")
    for label in service.get("/v1/labels").json()["labels"]:
        service.http.delete(f"/v1/labels/{label['id']}")
    service.post("/v1/models/rollback")


RANGE = {"f_low": 1e6, "f_high": 2e6}
OFTEN = {"per_hour": 3600, "collapse_s": 0, "quiet_from": "10:00", "quiet_to": "10:01"}
RADIOS = {"DeviceAbout", "AbilitiesAbout"}  # this machine may have none


class Filled:
    """Holds answers against the document, and knows which of its fields had a value in none of them."""

    def __init__(self, document):
        self.document, self.promised, self.filled = document, set(), set()

    def check(self, method, path, answer):
        """One answer must be as the document describes it."""
        assert answer.status_code < 300, answer.text
        content = self.document["paths"][path][method]["responses"][str(answer.status_code)]["content"]
        schema = content["application/json"]["schema"]
        jsonschema.validate(answer.json(), schema | {"components": self.document["components"]})
        self.promise(schema)
        self.fill(schema, answer.json())

    def promise(self, schema):
        """Add the fields of every object that an answer of this schema can have."""
        for inner in (*schema.get("anyOf", []), schema.get("items"), schema.get("additionalProperties")):
            if isinstance(inner, dict):
                self.promise(inner)
        name = schema.get("$ref", "").rpartition("/")[2]
        for field, inner in self.properties(name):
            if (name, field) not in self.promised:
                self.promised.add((name, field))
                self.promise(inner)

    def fill(self, schema, value):
        """Add the fields that have a value."""
        for choice in schema.get("anyOf", []):
            self.fill(choice, value)
        if isinstance(value, list):
            for item in value:
                self.fill(schema.get("items", {}), item)
        elif isinstance(value, dict):
            name, others = schema.get("$ref", "").rpartition("/")[2], schema.get("additionalProperties")
            for field, inner in self.properties(name):
                if value.get(field) is not None:
                    self.filled.add((name, field))
                    self.fill(inner, value[field])
            for item in value.values() if isinstance(others, dict) else ():
                self.fill(others, item)

    def properties(self, name):
        return self.document["components"]["schemas"].get(name, {}).get("properties", {}).items()


@pytest.fixture(scope="module")
def on_air(tmp_path_factory):
    """A service as users run it: a front end, families, a recording with pauses, a federation."""
    folder = tmp_path_factory.mktemp("documented")
    encoder = Encoder(SHAPE, seed=1)
    head = tiny_head(encoder, name="live", mode="live", window=SHORT_WINDOW, hop=SHORT_HOP)
    head = replace(head, families=("AM", "AM", "FM"), certain=0.5)
    meta = Meta(BandSettings())
    Bundle(encoder, {"live": head}, meta, "air").save(folder / "air.safetensors")
    federations = ",".join(map(str, make_federation(folder)))
    source = f"file:{DEMO}?pace=fast"
    model = folder / "air.safetensors"
    argv = ("--federation", federations, "--allow-folders", str(DEMO.parent))
    with serving(folder / "data", model, source, *argv) as service:
        yield service


def planned_stream(service):
    """The answer to a request for a radio that follows a plan."""
    server = Server()
    plan = {"start_hz": 433e6, "stop_hz": 435e6, "step_hz": 0.5e6}
    body = {"source": f"rtltcp:127.0.0.1:{server.port}?rate={RTL_RATE}", "plan": plan}
    try:
        answer = service.post("/v1/streams", json=body)
        service.http.delete(f"/v1/streams/{answer.json()['id']}")
        return answer
    finally:
        server.close()


def plugin_job(service, head):
    """A job of the plug-in API, done."""
    about = {"sample_rate": 100_000, "center_freq": 433.92e6}
    samples = np.frombuffer(DEMO.with_suffix(".sigmf-data").read_bytes()[:400_000], np.int8) / np.float32(128)
    files = {
        "iq_file": samples.tobytes(),
        "metadata_file": json.dumps(about),
        "custom_params": json.dumps({"head": head}),
    }
    job = service.post("/plugins/wavetell", files={name: (name, content) for name, content in files.items()})
    service.until(f"/plugins/{job.json()['job_id']}/status", lambda status: status["progress"] == 100)
    return job.json()["job_id"]


def raised_alert(service, document):
    """Alerts of a band's occupancy, and of an emission that is being recorded; the latter's id."""
    stream = service.stream(f"file:{DEMO}?pace=realtime&loop=1")
    service.post(f"/v1/streams/{stream}/recordings", json={"next_seconds": 60})
    rules = ({"kind": "occupied", "minutes": 0.2, "percent": 0.1}, {"kind": "new", "minutes": 0.001})
    for rule in rules:
        answer = service.post(
            "/v1/watches", json=rule | OFTEN | {"f_low": 0, "f_high": 1e9, "stream": stream}
        )
        document.check("post", "/v1/watches", answer)
    service.post("/v1/watches", json={"kind": "label", "label": "AM"})

    def found(page):
        kinds = {alert["kind"] for alert in page["alerts"]}
        return "occupied" in kinds and any(recorded(alert) for alert in page["alerts"])

    def recorded(alert):
        return alert["emission"] and alert["clip"] and alert["clip"]["recording"] and alert["family"]

    page = service.until("/v1/alerts?limit=1000", found, seconds=within(60))
    return next(alert["id"] for alert in page["alerts"] if recorded(alert))


def test_every_documented_field_is_filled_and_there_are_no_others(on_air):
    """With something in them: whatever schemathesis sends, most of what it gets back is empty."""
    document = Filled(on_air.get("/openapi.json").json())
    (stream,) = (entry["id"] for entry in on_air.get("/v1/streams").json())
    heard = on_air.until(
        f"/v1/streams/{stream}/predictions",
        lambda answer: any(run["end"] > 900_000 for run in answer["predictions"]),
        seconds=within(15),
    )["predictions"]
    run = max((run for run in heard if run["label"] != "no signal"), key=lambda run: run["hops"])
    span = {"start": run["start"], "end": run["end"]}
    label = on_air.post("/v1/labels", json={"stream": stream, "label": "tone"} | span)
    document.check("post", "/v1/labels", label)
    (on_air.data / "models" / "damaged.safetensors").write_bytes(b"no model")
    assert [label.json()[name] for name in BAND] == [run[name] for name in BAND]
    recording = on_air.post(f"/v1/streams/{stream}/recordings", json=span)
    document.check("post", "/v1/streams/{stream_id}/recordings", recording)
    meta = json.loads(DEMO.read_text())
    meta["captures"][0]["core:datetime"] = "2026-01-01T00:00:00Z"
    files = {"meta": json.dumps(meta), "data": DEMO.with_suffix(".sigmf-data").read_bytes()}
    document.check("post", "/v1/predict", on_air.post("/v1/predict", files=files))
    analysed = on_air.post(
        "/v1/analyse",
        files=[("file", ("a.sigmf-meta", files["meta"])), ("file", ("a.sigmf-data", files["data"]))],
    )
    document.check("post", "/v1/analyse", analysed)
    for head in ("", "nobody"):
        url = f"/plugins/{plugin_job(on_air, head)}/result"
        document.check("get", "/plugins/{job_id}/result", on_air.get(url))
    for rule in ({"emission": run["emission"], "stream": stream, "seconds": 9}, {"label": "x"}, RANGE):
        document.check("post", "/v1/ignored", on_air.post("/v1/ignored", json=rule))
    alert = raised_alert(on_air, document)
    for path, methods in document.document["paths"].items():
        content = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if "application/json" in content and "{job_id}" not in path and "{kind}" not in path:
            url = path.replace("{stream_id}", stream).replace("{function}", "wavetell")
            url = url.replace("{emission}", run["emission"]).replace("{alert}", alert)
            document.check("get", path, on_air.get(url))
    document.check("post", "/v1/streams", planned_stream(on_air))
    promised = {(name, field) for name, field in document.promised if name not in RADIOS}
    assert promised >= {(name, "emission") for name in ("Report", "PastRun", "PastEvent", "Label")}
    assert promised - document.filled == set()


@pytest.mark.parametrize(
    ("cases", "phases"),
    [
        pytest.param(3, "fuzzing", id="few"),
        pytest.param(60, "examples,coverage,fuzzing", id="many", marks=LONG),
    ],
)
def test_no_request_that_fits_the_document_or_not_breaks_the_service(tmp_path, model, cases, phases):
    limits = ("--max-rate", "100000", "--max-streams", "4")
    with serving(tmp_path / "data", model, *limits) as service:
        service.stream("tone:?rate=8k")
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.base}/openapi.json"),
            *("--checks", CHECKS, "--max-examples", str(cases), "--phases", phases),
            *("--exclude-path-regex", "/live$", "--suppress-health-check", "all", "--no-color"),
            *("--request-timeout", "100"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[:9000]
        assert service.get("/v1/health").status_code == 200
