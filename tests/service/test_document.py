"""The OpenAPI document: its examples run, and whatever schemathesis makes of it is answered as documented."""

import subprocess
import sys

import jsonschema
import pytest

from tests.service.conftest import serving

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


def test_answers_have_the_documented_fields_and_no_others(service):
    """With something in them: whatever schemathesis sends, most of what it gets back is empty."""
    document = service.get("/openapi.json").json()
    stream = service.stream("tone:?rate=48k&snr_db=10", name="documented")
    service.until(f"/v1/streams/{stream}", lambda s: s["latest"] and s["kept"]["end"] > 24_000)
    service.until(f"/v1/streams/{stream}/predictions", lambda answer: answer["predictions"])
    service.until(f"/v1/events?stream={stream}", lambda answer: answer["events"])
    label = service.post("/v1/labels", json={"stream": stream, "label": "tone", "seconds": 0.4}).json()
    recording = service.post(f"/v1/streams/{stream}/recordings", json={"seconds": 0.1}).json()["id"]
    checked = set()
    for path, methods in document["paths"].items():
        content = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if "application/json" not in content or "{job_id}" in path or "{kind}" in path:
            continue
        schema = content["application/json"]["schema"] | {"components": document["components"]}
        url = path.replace("{stream_id}", stream).replace("{function}", "wavetell")
        jsonschema.validate(service.get(url).json(), schema)
        checked.add(path)
    paths = (
        "streams",
        "labels",
        "models",
        "recordings",
        "events",
        "health",
        "streams/{stream_id}/predictions",
    )
    assert {f"/v1/{path}" for path in paths} <= checked
    service.http.delete(f"/v1/labels/{label['id']}")
    service.http.delete(f"/v1/recordings/{recording}")
    service.http.delete(f"/v1/streams/{stream}")


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
