"""Who may do what: tokens, roles, hosts, origins, limits, TLS; and what the service survives."""

import json
import re
import socket
import ssl
import subprocess
import sys
import time

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from service.web.security import Tokens, allows, required_role
from tests.require import need_program
from tests.service.conftest import serving

WAVETELL = [sys.executable, "-m", "service.cli"]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, model):
    """A service with one token of each role, and small limits."""
    data = tmp_path_factory.mktemp("guarded") / "data"
    tokens = {role: Tokens(data / "tokens.json").add(role, role) for role in ("read", "operate", "admin")}
    limits = ("--max-body-mb", "1", "--max-connections", "40", "--max-streams", "1")
    with serving(data, model, *limits) as service:
        service.tokens = tokens
        yield service


def bearer(service, role):
    return {"Authorization": f"Bearer {service.tokens[role]}"}


TONE = {"source": "tone:?rate=48k"}


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/v1/streams", "read"),
        ("POST", "/v1/predict", "read"),
        ("GET", "/metrics", "read"),
        ("GET", "/openapi.json", "read"),
        ("POST", "/v1/streams", "operate"),
        ("POST", "/v1/labels", "operate"),
        ("POST", "/v1/heads/x/fit", "operate"),
        ("PUT", "/v1/models/x", "admin"),
        ("POST", "/v1/models/rollback", "admin"),
    ],
)
def test_each_route_needs_its_role(guarded, method, path, needed):
    order = ["read", "operate", "admin"]
    assert guarded.http.request(method, path).status_code == 401
    wrong = guarded.http.request(method, path, headers={"Authorization": "Bearer nonsense"})
    assert wrong.status_code == 401
    for role in order:
        status = guarded.http.request(method, path, headers=bearer(guarded, role)).status_code
        if order.index(role) < order.index(needed):
            assert status == 403
        else:
            assert status not in (401, 403)


def test_every_route_of_the_document_is_behind_a_role(guarded):
    document = guarded.get("/openapi.json", headers=bearer(guarded, "read")).json()
    for path, methods in document["paths"].items():
        for method in methods:
            open_to_all = path in ("/v1/health", "/v1/ready", "/v1/login")
            status = guarded.http.request(method.upper(), path.replace("{", "x").replace("}", "")).status_code
            assert (status == 401) is not open_to_all, (method, path, status)


def test_health_is_open_and_a_login_gives_a_cookie_that_sockets_carry(guarded):
    assert guarded.get("/v1/health").status_code == 200
    with httpx.Client(base_url=guarded.base) as browser:
        assert browser.post("/v1/login", json={"token": "nonsense"}).status_code == 403
        answer = browser.post("/v1/login", json={"token": guarded.tokens["operate"]})
        assert answer.json() == {"role": "operate"}
        assert browser.get("/v1/login").json() == {"needed": True, "role": "operate"}
        assert guarded.get("/v1/login").json() == {"needed": True, "role": None}
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert "SameSite=strict" in answer.headers["set-cookie"]
        stream = browser.post("/v1/streams", json=TONE).json()["id"]
        url = f"ws{guarded.base[4:]}/v1/streams/{stream}/live"
        cookie = f"wavetell_token={browser.cookies['wavetell_token']}"
        with connect(url, additional_headers={"Cookie": cookie}) as live:
            assert json.loads(live.recv(timeout=10))["stream"] == stream
        with pytest.raises(InvalidStatus) as refused:
            connect(url)
        assert refused.value.response.status_code == 401
        again = browser.post("/v1/streams", json=TONE)
        assert again.status_code == 409
        assert "1 streams already" in again.json()["detail"]
        browser.delete(f"/v1/streams/{stream}")


def test_a_revoked_token_is_worthless_at_once(guarded):
    token = Tokens(guarded.data / "tokens.json").add("passing", "read")
    headers = {"Authorization": f"Bearer {token}"}
    assert guarded.get("/v1/streams", headers=headers).status_code == 200
    command = [*WAVETELL, "token", "revoke", "passing", "--data", str(guarded.data)]
    subprocess.run(command, check=True)
    assert guarded.get("/v1/streams", headers=headers).status_code == 401
    assert token not in (guarded.data / "tokens.json").read_text()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8433", "", "127.0.0.1.evil.example", "[::2]"])
def test_a_foreign_host_name_is_refused(service, host):
    assert service.get("/v1/health", headers={"Host": host}).status_code == 400
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws{service.base[4:]}/v1/events/live", additional_headers={"Host": host})
    assert refused.value.response.status_code == 400


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:3000", "http://[x", "]"]
)
def test_a_foreign_page_is_refused(service, origin):
    for method, path in (("GET", "/v1/streams"), ("POST", "/v1/streams"), ("OPTIONS", "/v1/streams")):
        answer = service.http.request(method, path, headers={"Origin": origin})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws{service.base[4:]}/v1/events/live", origin=origin)
    assert refused.value.response.status_code == 403


def test_our_own_page_is_served(service):
    assert service.get("/v1/streams", headers={"Origin": service.base}).status_code == 200
    with connect(f"ws{service.base[4:]}/v1/events/live", origin=service.base):
        pass


def test_plug_ins_are_open_to_the_configured_pages_alone(service):
    page = "http://localhost:3000"
    preflight = service.http.options("/plugins/wavetell", headers={"Origin": page})
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == page
    assert service.get("/plugins", headers={"Origin": "http://evil.example"}).status_code == 403


def test_another_address_needs_tokens_or_a_clear_word(tmp_path, model):
    command = [*WAVETELL, "serve", "--host", "0.0.0.0", "--port", "0", "--data", str(tmp_path / "d")]
    done = subprocess.run([*command, "--model", str(model)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "make a token first" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def raw(service, data):
    """What the service answers to bytes as they are."""
    host, port = service.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(data)
        return connection.recv(65_536)


def test_a_body_of_ten_gigabytes_is_refused_before_it_is_read(guarded):
    head = "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10737418240\r\n"
    answer = raw(guarded, f"{head}Authorization: Bearer {guarded.tokens['read']}\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_that_does_not_say_its_size_ends_at_the_limit(guarded):
    def chunks():
        for _ in range(64):
            yield b"x" * 65_536

    answer = guarded.post("/v1/predict", content=chunks(), headers=bearer(guarded, "read"))
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/health HTTP/1.1\r\n\r\n",
        b"GET /" + b"a" * 65_600,
        b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"\0" * 1000,
    ],
)
def test_what_is_no_http_is_answered_with_400(service, data):
    assert raw(service, data).split(b" ")[1] in (b"400", b"413", b"431")
    assert service.get("/v1/health").status_code == 200


@pytest.mark.acceptance
def test_slow_and_silent_connections_are_closed_and_leave_room(guarded):
    """More than one address may have, some sending their head byte by byte; then a client is served."""
    host, port = guarded.base.removeprefix("http://").split(":")
    slow = [socket.create_connection((host, int(port))) for _ in range(25)]
    began = time.monotonic()
    left = list(slow)
    while left and time.monotonic() - began < 20:
        for connection in list(left):
            try:
                connection.sendall(b"G" if connection in slow[:12] else b"")
                connection.settimeout(0.001)
                if connection.recv(1) == b"":
                    left.remove(connection)
            except TimeoutError:
                pass
            except OSError:
                left.remove(connection)
        time.sleep(0.5)
    for connection in slow:
        connection.close()
    assert not left
    assert guarded.get("/v1/health").status_code == 200
    text = guarded.get("/metrics", headers=bearer(guarded, "read")).text
    assert float(text.split("\nwavetell_connections_refused_total ")[1].split()[0]) >= 5


def test_too_many_requests_are_told_to_wait(tmp_path, model):
    with serving(tmp_path / "data", model, "--max-rate", "2") as service:
        answers = [service.get("/v1/health") for _ in range(20)]
        assert {answer.status_code for answer in answers} == {200, 429}
        assert next(a for a in answers if a.status_code == 429).headers["retry-after"] == "1"


def test_tls_is_spoken_with_the_given_certificate(tmp_path, model):
    need_program("openssl")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-keyout", key, "-out", cert], check=True, capture_output=True)
    trust = ssl.create_default_context(cafile=str(cert))
    with serving(
        tmp_path / "data", model, "--tls-cert", str(cert), "--tls-key", str(key), verify=trust
    ) as service:
        assert service.base.startswith("https://")
        assert service.get("/v1/health").json()["status"] == "ok"
        with connect(f"wss{service.base[5:]}/v1/events/live", ssl=trust):
            pass


@pytest.mark.parametrize("page", ["/", "/docs"])
def test_a_page_runs_scripts_of_its_own_files_only(service, page):
    answer = service.get(page)
    rules = dict(
        rule.strip().partition(" ")[::2] for rule in answer.headers["content-security-policy"].split(";")
    )
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert all(" src=" in tag for tag in re.findall(r"<script[^>]*>", answer.text))
    assert not re.search(r"\son\w+=|javascript:", answer.text)


def test_roles_are_ordered():
    assert allows("admin", "operate")
    assert not allows("read", "operate")
    assert not allows(None, "read")
    assert allows(None, None)
    assert required_role("DELETE", "/v1/streams/x") == "operate"
