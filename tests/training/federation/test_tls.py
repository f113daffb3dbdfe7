"""TLS with the operator's certificates, and stations that must show theirs."""

import ssl
import subprocess

import httpx
import pytest

from streaming.errors import WavetellError
from tests.require import need_program
from tests.training.federation.support import end, federation, serving, start
from training.federation.station.client import HttpExchange


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """An authority, a coordinator's certificate for 127.0.0.1 and a station's, as an operator makes them."""
    openssl, folder = need_program("openssl"), tmp_path_factory.mktemp("keys")

    def run(*argv):
        subprocess.run([openssl, *argv], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "rsa:2048", "-nodes"]
    usage = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
    run("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", *usage)
    for name, more in (("coordinator", "subjectAltName=IP:127.0.0.1"), ("station", "subjectAltName=DNS:s1")):
        (folder / f"{name}.ext").write_text(more)
        run("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", f"{name}.ext"]
        run("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", "-days", "2", *sign)
    both = (folder / "station.pem").read_text() + (folder / "station.key").read_text()
    (folder / "station-both.pem").write_text(both)
    return folder


def trust(keys, own=None):
    context = ssl.create_default_context(cafile=keys / "ca.pem")
    if own:
        context.load_cert_chain(keys / own)
    return context


def tls(keys):
    return "--tls-cert", str(keys / "coordinator.pem"), "--tls-key", str(keys / "coordinator.key")


def test_a_station_trusts_only_the_operators_certificate(tmp_path, keys):
    _, tokens = federation(tmp_path / "run")
    with serving(tmp_path / "run", *tls(keys)) as (_, url):
        assert url.startswith("https://")
        good = HttpExchange(url, "main", "s1", tokens["s1"], 20, trust(keys))
        assert good.current("")[1]["round"] == 1
        good.close()
        strict = HttpExchange(url, "main", "s1", tokens["s1"], 0)
        with pytest.raises(WavetellError, match=r"cannot be reached.*CERTIFICATE_VERIFY_FAILED"):
            strict.current("")
        strict.close()


def test_with_mutual_tls_a_token_alone_is_not_enough(tmp_path, keys):
    _, tokens = federation(tmp_path / "run")
    with serving(tmp_path / "run", *tls(keys), "--tls-clients", str(keys / "ca.pem")) as (_, url):
        both = HttpExchange(url, "main", "s1", tokens["s1"], 20, trust(keys, "station-both.pem"))
        assert both.current("")[1]["round"] == 1
        both.close()
        bearer = {"Authorization": f"Bearer {tokens['s1']}"}
        with (
            httpx.Client(base_url=url, verify=trust(keys), trust_env=False) as http,
            pytest.raises(httpx.TransportError),
        ):
            http.get("/v1/runs/main/rounds/current", headers=bearer)


def test_other_machines_are_served_with_tls_only(tmp_path):
    federation(tmp_path / "run")
    options = ["--folder", str(tmp_path / "run"), "--host", "0.0.0.0", "--port", "0"]
    process = start("-m", "service.cli", "coordinator", *options, log=tmp_path / "log")
    assert process.wait(60) == 2
    end(process)
    assert "set tls_cert and tls_key" in (tmp_path / "log").read_text()
