"""Backups of a running service: what was acknowledged is in them, and a kill leaves all of it or nothing."""

import io
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time

import httpx
import numpy as np
import pytest

from hardware import open_source
from tests.service.conftest import level_bundle, serving, within

CLI = (sys.executable, "-m", "service.cli")


def wavetell(*argv):
    return subprocess.run([*CLI, *map(str, argv)], capture_output=True, text=True, check=False)


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def kept(tmp_path_factory, level_model):
    """A data folder with something of everything, whose service has stopped."""
    data = tmp_path_factory.mktemp("kept") / "data"
    with serving(data, level_model) as service:
        stream = service.stream("tone:?rate=48k&snr_db=10")
        service.until(f"/v1/streams/{stream}", lambda state: state["kept"]["end"] > 48_000)
        for label in ("a", "b"):
            service.post("/v1/labels", json={"stream": stream, "label": label, "seconds": 0.2})
        service.post(f"/v1/streams/{stream}/recordings", json={"seconds": 0.2})
        service.until("/v1/events", lambda answer: answer["events"])
    return data


@pytest.fixture(scope="module")
def archive(kept, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "backup.tar"
    done = wavetell("backup", path, "--data", kept)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path}: 2 labels, 1 recordings, 0 models, with the history\n"
    return path


class Storm:
    """Labels as fast as they are taken, with the time at which each was acknowledged."""

    def __init__(self, service, stream):
        self.service, self.stream, self.acknowledged = service, stream, []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        with httpx.Client(base_url=self.service.base, timeout=60) as http:
            while not self._stop.is_set():
                body = {"stream": self.stream, "label": "a", "seconds": 0.05}
                try:
                    answer = http.post("/v1/labels", json=body)
                except httpx.TransportError:  # the service was killed
                    return
                if answer.status_code == 201:
                    self.acknowledged.append((time.monotonic(), answer.json()["id"]))


def test_a_backup_of_a_running_service_holds_what_was_acknowledged_before_it(tmp_path, level_model):
    data = tmp_path / "data"
    with serving(data, level_model, "--max-rate", "100000") as service:
        level_bundle("mine", seed=5).save(tmp_path / "mine.safetensors")
        raw = (tmp_path / "mine.safetensors").read_bytes()
        assert service.http.put("/v1/models/mine", content=raw).status_code == 201
        assert service.post("/v1/models/mine/activate").status_code == 200
        stream = service.stream("tone:?rate=48k&snr_db=10", name="kept")
        service.until(f"/v1/streams/{stream}", lambda state: state["kept"]["end"] > 48_000)
        whole = service.post(f"/v1/streams/{stream}/recordings", json={"seconds": 0.3}).json()["id"]
        running = service.post(f"/v1/streams/{stream}/recordings", json={"next_seconds": 600}).json()["id"]
        events = service.until("/v1/events", lambda answer: answer["events"])["events"]
        with Storm(service, stream) as storm:
            while len(storm.acknowledged) < 5:
                time.sleep(0.01)
            for number in range(3):
                began = time.monotonic()
                done = wavetell("backup", tmp_path / f"{number}.tar", "--data", data)
                assert done.returncode == 0, done.stderr
        before = {label for at, label in storm.acknowledged if at < began}
        labels = {label["id"]: label for label in service.get("/v1/labels").json()["labels"]}
        service.kill()
    restored = tmp_path / "restored"
    assert wavetell("restore", tmp_path / "2.tar", "--data", restored).returncode == 0
    for name, content in files_of(restored).items():
        if name.startswith(("labels/", "models/")):
            assert content == (data / name).read_bytes()
    with serving(restored, level_model) as service:
        found = {label["id"]: label for label in service.get("/v1/labels").json()["labels"]}
        assert before <= found.keys() <= labels.keys()
        assert all(found[name] == labels[name] for name in found)
        recordings = {entry["id"]: entry for entry in service.get("/v1/recordings").json()}
        assert recordings.keys() == {whole, running}
        assert not any(entry["broken"] for entry in recordings.values())
        assert service.get("/v1/models").json()["activations"][-1] == "mine"
        assert [entry["name"] for entry in service.get("/v1/streams").json()] == ["kept"]
        again = {event["id"] for event in service.get("/v1/events?limit=1000").json()["events"]}
        assert {event["id"] for event in events} <= again
    for recording in (whole, running):
        with open_source(f"file:{restored}/recordings/{recording}.sigmf-meta") as source:
            samples = np.concatenate([block.samples for block in source.blocks()])
        kept = np.fromfile(data / "recordings" / f"{recording}.sigmf-data", "<c8")
        np.testing.assert_array_equal(samples, kept[: len(samples)])
        assert len(samples) > 0


def test_what_is_restored_is_what_was_there(kept, archive, tmp_path):
    restored = tmp_path / "new" / "restored"
    done = wavetell("restore", archive, "--data", restored)
    assert done.returncode == 0, done.stderr
    before, after = files_of(kept), files_of(restored)
    assert after.keys() == before.keys() - {"history.sqlite-wal", "history.sqlite-shm"}
    for name in after.keys() - {"history.sqlite"}:
        assert after[name] == before[name]
    for table in ("runs", "events", "emissions", "schema_version"):
        rows = [
            sqlite3.connect(folder / "history.sqlite").execute(f"SELECT * FROM {table}").fetchall()
            for folder in (kept, restored)
        ]
        assert rows[0] == rows[1]
    with tarfile.open(archive) as tar:
        about = json.load(tar.extractfile("manifest.json"))
    assert about["files"].keys() == after.keys()
    assert archive.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_kill_at_any_moment_leaves_all_of_it_or_nothing(kept, archive, tmp_path, command):
    began = time.monotonic()
    wavetell("restore", archive, "--data", tmp_path / "probe")
    takes = time.monotonic() - began
    chance, killed = random.Random(1), 0
    for number in range(8):
        target = tmp_path / f"{number}"
        argv = (
            ["backup", target, "--data", kept]
            if command == "backup"
            else ["restore", archive, "--data", target]
        )
        with subprocess.Popen([*CLI, *map(str, argv)], stdout=subprocess.DEVNULL) as process:
            try:
                process.wait(chance.uniform(0.5, 1.0) * takes)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed += 1
        if not target.exists():
            continue
        if command == "backup":
            assert wavetell("restore", target, "--data", tmp_path / f"of-{number}").returncode == 0
            target = tmp_path / f"of-{number}"
        labels = [path.name for path in (target / "labels").iterdir()]
        assert sorted(labels) == sorted(path.name for path in (kept / "labels").iterdir())
    assert killed


def test_a_service_that_is_killed_meanwhile_does_not_harm_the_backup(tmp_path, level_model):
    data = tmp_path / "data"
    with serving(data, level_model, "--max-rate", "100000") as service:
        stream = service.stream("tone:?rate=48k&snr_db=10")
        service.until(f"/v1/streams/{stream}", lambda state: state["kept"]["end"] > 24_000, within(15))
        with Storm(service, stream) as storm:
            while len(storm.acknowledged) < 5:
                time.sleep(0.01)
            with subprocess.Popen([*CLI, "backup", tmp_path / "b.tar", "--data", data]) as backup:
                service.kill()
    assert backup.returncode == 0
    assert wavetell("restore", tmp_path / "b.tar", "--data", tmp_path / "restored").returncode == 0
    labels = {path.stem for path in (tmp_path / "restored" / "labels").glob("*.sigmf-meta")}
    assert {label for _, label in storm.acknowledged[:5]} <= labels


def refused(archive, data):
    done = wavetell("restore", archive, "--data", data)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert not data.exists()
    assert [path for path in data.parent.iterdir() if path.name.startswith(f".{data.name}")] == []
    return done.stderr


def test_a_backup_that_was_changed_or_cut_is_refused_and_leaves_nothing(archive, tmp_path):
    raw, chance = archive.read_bytes(), random.Random(2)
    with tarfile.open(archive) as tar:
        members = [member for member in tar if member.size]
    for member in chance.sample(members, 3):
        bad = bytearray(raw)
        bad[member.offset_data + chance.randrange(member.size)] ^= 0x10
        (tmp_path / "bad.tar").write_bytes(bad)
        refused(tmp_path / "bad.tar", tmp_path / "data")
    for length in (0, 100, len(raw) // 2, members[-1].offset_data + 10):
        (tmp_path / "bad.tar").write_bytes(raw[:length])
        refused(tmp_path / "bad.tar", tmp_path / "data")


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "/etc/out",
        "labels/../../out",
        "wavetell.toml",
        "labels/.hidden.npy",
        "models/x",
        "labels/a\0b",
    ],
)
def test_a_member_that_no_backup_has_is_refused(tmp_path, name):
    with tarfile.open(tmp_path / "bad.tar", "w") as tar:
        info = tarfile.TarInfo(name)
        info.size = 3
        tar.addfile(info, io.BytesIO(b"out"))
    assert "should not be in it" in refused(tmp_path / "bad.tar", tmp_path / "folder" / "data")
    assert not (tmp_path / "out").exists()


def test_a_link_is_refused(tmp_path):
    with tarfile.open(tmp_path / "bad.tar", "w") as tar:
        info = tarfile.TarInfo("streams.json")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    assert "should not be in it" in refused(tmp_path / "bad.tar", tmp_path / "data")


def test_nothing_is_overwritten(kept, archive, tmp_path):
    for argv, line in (
        (("backup", archive, "--data", kept), "exists already; choose another name"),
        (("backup", tmp_path / "x.tar", "--data", tmp_path / "none"), "there is no data folder"),
        (("restore", archive, "--data", kept), "is not empty; restore into a new folder"),
        (("restore", tmp_path / "none.tar", "--data", tmp_path / "y"), "No such file or directory"),
    ):
        done = wavetell(*argv)
        assert done.returncode == 2
        assert line in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_history_in_postgresql_is_named_as_not_included(kept, tmp_path):
    url = "postgresql://wavetell:secret@127.0.0.1:1/none"
    done = wavetell("backup", tmp_path / "x.tar", "--data", kept, "--history", url)
    assert done.returncode == 0
    assert done.stdout.endswith("no history\n")
    assert "the history is in PostgreSQL and is not included; pg_dump" in done.stderr
    with tarfile.open(tmp_path / "x.tar") as tar:
        assert "history.sqlite" not in tar.getnames()
        assert json.load(tar.extractfile("manifest.json"))["history"].startswith("not included")


def test_a_damaged_history_is_said_instead_of_kept(kept, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "history.sqlite").write_bytes(b"no database at all" * 1000)
    done = wavetell("backup", tmp_path / "x.tar", "--data", data)
    assert done.returncode == 2
    assert "history.sqlite cannot be backed up" in done.stderr
    assert not (tmp_path / "x.tar").exists()
