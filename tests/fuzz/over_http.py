"""A running service that is sent anything: it answers every time, never with a 5xx, and stays well."""

import socket
from contextlib import suppress

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.fuzz.targets import META, SAMPLES, Target


class OverHttp:
    """The targets of one service."""

    def __init__(self, service):
        self.service = service
        self.http = httpx.Client(base_url=service.base, timeout=60)
        self.stream = service.stream("tone:?rate=48k&snr_db=10")

    def targets(self):
        """Every target of a service."""
        about = b'{"sample_rate": 48000, "center_freq": 1e8, "data_type": "iq/cf32_le", "file_name": "x"}'
        body = b'{"stream": "%s", "label": "OOK", "seconds": 0.01}' % self.stream.encode()
        return {
            "websocket": Target([b"seen", b"20", b"0.5"], self.check_websocket),
            "iqengine": Target([about], self.check_iqengine),
            "predict": Target([META], self.check_predict),
            "json": Target([body, b'{"source": "tone:?rate=48k", "name": "x", "head": ""}'], self.check_json),
            "http": Target(
                [b"GET /v1/streams?limit=3 HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://x\r\n\r\n"],
                self.check_http,
            ),
        }

    def close(self):
        """Close the connection."""
        self.http.close()

    def well(self, status):
        assert status < 500
        assert self.http.get("/v1/ready").json() == {"ready": True, "wrong": []}

    def check_websocket(self, raw):
        """One text and one binary message of a reader of the spectrum, and of one of answers."""
        where = f"{self.service.base.replace('http', 'ws')}/v1/streams/{self.stream}"
        for path in ("/spectrum?ahead=1&rate=60", "/live"):
            # It may hang up on nonsense.
            with connect(where + path, open_timeout=60) as reader, suppress(ConnectionClosed):
                reader.send(raw.decode(errors="replace")[:60_000])
                reader.send(raw[:60_000])
        self.well(200)

    def check_iqengine(self, raw):
        for name, sent in (("metadata_file", raw), ("custom_params", raw)):
            files = {"iq_file": SAMPLES, "metadata_file": b"{}"} | {name: sent}
            files = {name: (name, content) for name, content in files.items()}
            self.well(self.http.post("/plugins/wavetell", files=files).status_code)

    def check_predict(self, raw):
        files = {"meta": ("m", raw), "data": ("d", SAMPLES)}
        self.well(self.http.post("/v1/predict", files=files).status_code)

    def check_json(self, raw):
        for path in ("/v1/labels", "/v1/streams", f"/v1/streams/{self.stream}/recordings", "/v1/login"):
            answer = self.http.post(path, content=raw, headers={"Content-Type": "application/json"})
            self.well(answer.status_code)
            if answer.status_code == 201:
                kind = path.rpartition("/")[2]
                assert self.http.delete(f"/v1/{kind}/{answer.json()['id']}").status_code == 204

    def check_http(self, raw):
        """Bare bytes on a connection."""
        host, port = self.service.base.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(4096)
        self.well(int(answer.split()[1]) if answer else 200)
