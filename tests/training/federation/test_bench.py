"""The benchmark measures what it says; no timing is asserted."""

import json
import socket
import threading

from service.bench.federation import Line, measure, text
from service.bench.wire import PREFACE, Http2Requests, Wire
from service.cli import main


def test_a_round_has_three_requests_and_no_more_bytes_than_its_tensors_and_one_per_cent():
    full, small = measure("float32", 2, 3), measure("int8", 2, 3)
    assert full.requests == small.requests == 3
    assert full.tensor_bytes == 991_520
    assert max(full.bytes_up, full.bytes_down) <= 1.01 * full.tensor_bytes
    assert small.bytes_up <= 0.27 * full.bytes_up
    assert small.bytes_down <= 0.27 * full.bytes_down


def test_the_wire_counts_every_byte_by_its_way():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with server.accept()[0] as peer:
                assert peer.recv(100, socket.MSG_WAITALL) == b"x" * 100
                peer.sendall(b"y" * 3000)

        thread = threading.Thread(target=answer)
        thread.start()
        wire = Wire(server.getsockname()[1])
        with socket.create_connection(("127.0.0.1", wire.port)) as client:
            client.sendall(b"x" * 100)
            assert client.recv(3000, socket.MSG_WAITALL) == b"y" * 3000
        thread.join(5)
        wire.close()
    assert (wire.up, wire.down, wire.requests) == (100, 3000, 0)


def test_requests_of_http2_are_counted_however_the_bytes_are_cut():
    def frame(kind, size):
        return size.to_bytes(3, "big") + bytes([kind]) + bytes(5 + size)

    stream = PREFACE + frame(4, 18) + frame(1, 40) + frame(0, 70_000) + frame(8, 4) + frame(1, 12)
    for step in (1, 7, 1000, len(stream)):
        counter = Http2Requests()
        assert sum(counter.push(stream[i : i + step]) for i in range(0, len(stream), step)) == 2


def test_the_report_says_what_had_to_be_shown(capsys):
    lines = [
        Line("float32", 4, 3, 0.2, 1e6, 1e6, 3, 991_520),
        Line("int8", 4, 3, 0.2, 2.5e5, 2.5e5, 3, 991_520),
    ]
    lines.append(Line("flower", 4, 3, 10.0, 1e6, 1e6, 20, 991_520))
    report = text(lines)
    assert "1,001,435 bytes" in report
    assert "int8 has 25.0% of float32's bytes" in report
    assert "50 times as long" in report
    assert json.loads(json.dumps(report))
    assert main(["bench", "federation", "--rounds", "1"]) == 2
    assert "--rounds at least 2" in capsys.readouterr().err
