"""The container and its neighbours: linters, and the dashboard's queries against a running service."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
import yaml

from service.web.security import Tokens
from tests.ports import free_port
from tests.require import ROOT, need_program
from tests.service.conftest import serving, small_bundle
from tests.service.servers import ended

COMPOSE = ROOT / "packaging/compose"
PANELS = json.loads((COMPOSE / "dashboards/wavetell.json").read_text())["panels"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


@pytest.mark.parametrize(
    "command",
    [
        ["hadolint", "--no-color", "Dockerfile"],
        ["check-jsonschema", "--quiet", "--builtin-schema", "vendor.compose-spec", "compose.yaml"],
    ],
    ids=["Dockerfile", "compose.yaml"],
)
def test_linters_have_no_complaints(command):
    program = Path(sys.executable).with_name(command[0])
    told = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (told.stdout, told.returncode) == ("", 0)


def test_the_container_runs_as_nobody_special_and_tells_its_health():
    stages = re.split(r"^FROM ", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert re.search(r"\nUSER \d+\n", stages[-1])
    assert "/v1/health" in stages[-1]
    assert "g++" in stages[1]
    assert "g++" not in stages[-1]


def test_services_are_reached_from_this_machine_only(services):
    assert set(services["services"]) == {"wavetell", "postgres", "mosquitto", "prometheus", "grafana"}
    ports = [port for service in services["services"].values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert services["services"]["wavetell"]["cap_drop"] == ["ALL"]


def test_every_file_that_a_container_reads_is_there(services):
    volumes = [volume for service in services["services"].values() for volume in service.get("volumes", [])]
    sources = [volume.split(":")[0] for volume in volumes]
    assert [source for source in sources if source.startswith(".") and not (ROOT / source).exists()] == []
    assert {source for source in sources if not source.startswith(".")} == set(services["volumes"])


def test_the_dashboard_asks_the_data_source_that_is_provisioned():
    (source,) = yaml.safe_load((COMPOSE / "datasource.yml").read_text())["datasources"]
    assert {panel["datasource"]["uid"] for panel in PANELS} == {source["uid"]}
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    """A client of a Prometheus with our configuration, which asks a service with a stream and a sink."""
    program, folder = need_program("prometheus"), tmp_path_factory.mktemp("prometheus")
    data, port = folder / "data", free_port()
    token, model = folder / "token", folder / "small.safetensors"
    small_bundle().save(model)
    token.write_text(Tokens(data / "tokens.json").add("prometheus", "read"))
    operator = Tokens(data / "tokens.json").add("operator", "operate")
    with serving(data, model, "--sinks", f"file:{folder / 'events.jsonl'}") as service:
        service.http.headers["Authorization"] = f"Bearer {operator}"
        service.stream("demo")
        config = yaml.safe_load((COMPOSE / "prometheus.yml").read_text())
        (job,) = config["scrape_configs"]
        job["static_configs"][0]["targets"] = [service.base.removeprefix("http://")]
        job["authorization"]["credentials_file"] = str(token)
        job["scrape_interval"] = "1s"
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        options = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'tsdb'}"]
        process = subprocess.Popen(
            [program, *options, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                yield client
        finally:
            ended(process)


def found(prometheus, query):
    """What a query gives, once it gives something."""
    asked = {"query": query.replace("$__rate_interval", "1m")}
    for _ in range(600):
        try:
            answer = prometheus.get("/api/v1/query", params=asked).json()
        except httpx.ConnectError:
            answer = {"data": {"result": []}}
        if "error" in answer or answer["data"]["result"]:
            return answer
        time.sleep(0.1)
    return answer


# A series of lost samples begins with the first that is lost.
@pytest.mark.parametrize("query", [query for query in QUERIES if "samples_dropped" not in query])
def test_every_query_of_the_dashboard_has_an_answer(prometheus, query):
    answer = found(prometheus, query)
    assert answer.get("error") is None
    assert answer["data"]["result"]


def test_lost_samples_are_a_metric_of_the_service(prometheus):
    found(prometheus, "up == 1")
    told = prometheus.get("/api/v1/metadata", params={"metric": "wavetell_samples_dropped_total"}).json()
    assert told["data"]["wavetell_samples_dropped_total"][0]["type"] == "counter"
