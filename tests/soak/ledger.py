"""Everything that the service acknowledged, to be held against what is there in the end."""

import hashlib
import threading
from collections import Counter
from contextlib import suppress

import httpx


class Ledger:
    """Asks the service, and keeps what it said yes to."""

    def __init__(self, running):
        self.running = running
        self.lock = threading.Lock()
        self.kept = {"labels": {}, "recordings": {}, "models": {}, "events": {}}  # kind -> id -> what it is
        self.unsure = set()  # ids whose deletion was asked for without an answer
        self.statuses = Counter()
        self.errors = []  # answers that should never be

    def ask(self, method, path, http=None, **more):
        """One request; None where the connection broke, as it does when the service is killed."""
        client = http or self.running.client()
        try:
            answer = client.request(method, path, **more)
        except httpx.HTTPError:
            self.statuses["broken off"] += 1
            return None
        finally:
            if http is None:
                client.close()
        self.statuses[answer.status_code] += 1
        if answer.status_code == 500:
            self.errors.append(f"{method} {path}: {answer.text[:200]}")
        return answer

    def label(self, stream, name, http=None):
        body = {"stream": stream, "label": name, "seconds": 0.6}
        answer = self.ask("POST", "/v1/labels", http, json=body)
        if answer is not None and answer.status_code == 201:
            with self.lock:
                self.kept["labels"][answer.json()["id"]] = name

    def record(self, stream):
        answer = self.ask("POST", f"/v1/streams/{stream}/recordings", json={"seconds": 0.2})
        if answer is not None and answer.status_code == 201:
            recording = answer.json()["id"]
            raw = self.ask("GET", f"/v1/recordings/{recording}/sigmf-data")
            if raw is not None and raw.status_code == 200:
                with self.lock:
                    self.kept["recordings"][recording] = hashlib.sha256(raw.content).hexdigest()

    def upload(self, name, raw):
        answer = self.ask("PUT", f"/v1/models/{name}", content=raw)
        if answer is not None and answer.status_code == 201:
            with self.lock:
                self.kept["models"][name] = answer.json()["sha256"]
        return answer

    def delete(self, kind, name):
        """Take something back; without an answer nobody knows whether it is gone."""
        with self.lock:
            known = self.kept[kind].pop(name, None)
        answer = self.ask("DELETE", f"/v1/{kind}/{name}")
        if known is not None and (answer is None or answer.status_code != 204):
            self.unsure.add(name)

    def see_events(self):
        """An event that somebody saw must stay."""
        answer = self.ask("GET", "/v1/events?limit=100")
        if answer is not None and answer.status_code == 200:
            with self.lock:
                self.kept["events"] |= {event["id"]: event["label"] for event in answer.json()["events"]}

    def compare(self):
        """What was acknowledged and is not there, or is another; one line each."""
        found = {"labels": {}, "recordings": {}, "models": {}, "events": {}}
        with self.running.client() as http:
            labels = http.get("/v1/labels").json()
            found["labels"] = {label["id"]: label["label"] for label in labels["labels"]}
            models = http.get("/v1/models").json()
            found["models"] = {model["name"]: model["sha256"] for model in models["models"]}
            for recording in self.kept["recordings"]:
                raw = http.get(f"/v1/recordings/{recording}/sigmf-data")
                if raw.status_code == 200:
                    found["recordings"][recording] = hashlib.sha256(raw.content).hexdigest()
            cursor = ""
            while True:
                page = http.get("/v1/events", params={"limit": 1000, "cursor": cursor}).json()
                found["events"] |= {event["id"]: event["label"] for event in page["events"]}
                cursor = page["cursor"]
                if not cursor or not page["events"]:
                    break
        differences = [
            f"broken {entry['id']}: {entry['reason']}" for entry in labels["broken"] + models["broken"]
        ]
        for kind, entries in self.kept.items():
            for name, what in entries.items():
                if found[kind].get(name) != what and name not in self.unsure:
                    differences.append(f"{kind} {name} is {found[kind].get(name)}, was {what}")
        return differences

    def stream(self, source, **more):
        """A new stream's id, or None."""
        answer = self.ask("POST", "/v1/streams", json={"source": source} | more)
        return answer.json()["id"] if answer is not None and answer.status_code == 201 else None

    def streams(self):
        """The ids of all streams."""
        answer = self.ask("GET", "/v1/streams")
        with suppress(AttributeError, ValueError):
            return [entry["id"] for entry in answer.json()]
        return []
