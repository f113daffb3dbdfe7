"""The same station and the same aggregation on Flower, for federations that one coordinator is too small for.

A message to a SuperNode holds the round's description and its model, the reply an update; both bodies travel
as one flat array, since Flower has a cost per array. The ServerApp runs our validators and keeps each round
in our own store: a restarted run resumes after the last published round.
"""

import json
import logging
import pkgutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from training.federation.codec import Body, Floats, sha256_of
from training.federation.coordinator import intake
from training.federation.coordinator.rounds import Coordinator
from training.federation.errors import Problem
from training.federation.manifest import Manifest, Precision
from training.federation.media import as_precision
from training.federation.secure import mask, read_work, reply, run_secure_round
from training.federation.station.loop import Result, Station, Train

log = logging.getLogger(__name__)
NODES_S = 0.5  # between looks at who is there


class MessageExchange:
    """A coordinator that speaks through one message."""

    def __init__(self, described: dict[str, Any], model: bytes) -> None:
        self.described, self.model, self.update = described, model, b""

    def current(self, etag: str) -> tuple[str, dict[str, Any]] | None:
        """See Exchange."""
        return "", self.described

    def fetch(self, sha256: str, precision: Precision, held: str, path: Path) -> tuple[Precision, str]:
        """See Exchange; a message holds the whole model."""
        path.write_bytes(self.model)
        return "float32", ""

    def send(self, number: int, precision: Precision, path: Path) -> dict[str, Any]:
        """See Exchange; the update is in the reply."""
        self.update = path.read_bytes()
        return {}


def train_with(context: Context) -> Train:
    """The training of this node: its own data, or the function that an experiment's run names."""
    named = str(context.run_config["train"])
    if named:
        train: Train = pkgutil.resolve_name(named)
        return train
    from training.federation.station.learner import learn
    from training.federation.station.lesson import Data, Lesson, Recordings, Synthetic

    node = context.node_config
    data: Data
    if "recordings" in node:
        data = Recordings(Path(str(node["recordings"])))
    else:
        data = Synthetic(int(node["client"]) - 1, int(node.get("frames", 140_000)))

    def train_here(station: str, folder: Path, manifest: Manifest, generation: int) -> Result:
        learnt = learn(Lesson(folder, manifest, data, station, generation))
        return learnt.examples, learnt.measured()

    return partial(train_here, str(node["station"]))


def make_client() -> ClientApp:
    """The station as a ClientApp; --node-config names its `station`, its `folder` and its data."""
    app = ClientApp(mods=[mask])

    @app.train()  # type: ignore[untyped-decorator, unused-ignore]
    def train(message: Message, context: Context) -> Message:
        if context.run_config["secure"]:
            described, model, private = read_work(message)
            delta = body_arrays(work(described, model, context), described, context)
            return reply(message, delta, private, described["quorum"])
        described = json.loads(message.content["round"]["described"])
        update = work(described, from_array(message.content["model"]), context)
        name = ConfigRecord({"station": str(context.node_config["station"])})
        return Message(RecordDict({"who": name, "update": to_array(update)}), reply_to=message)

    return app


def work(described: dict[str, Any], model: bytes, context: Context) -> bytes:
    """A round of this node's station: the body of its update."""
    exchange = MessageExchange(described, model)
    precision = as_precision(str(context.run_config["precision"]))
    station = Station(exchange, node_folder(context), train_with(context), precision)
    manifest = Manifest.from_json(described["manifest"])
    station.take_base(described, manifest)
    station.report(described, manifest)
    return exchange.update


def body_arrays(body: bytes, described: dict[str, Any], context: Context) -> Floats:
    """The tensors of an update, checked as a coordinator would."""
    path = node_folder(context) / "secure.safetensors"
    path.write_bytes(body)
    try:
        found = Body.open(path, Manifest.from_json(described["manifest"]), "float32")
        found.check_values()
        return found.arrays()
    finally:
        path.unlink()


def node_folder(context: Context) -> Path:
    """Where this node's station keeps its state."""
    return Path(str(context.node_config["folder"]))


def make_server() -> ServerApp:
    """The coordinator as a ServerApp on a folder that `Coordinator.create` made."""
    app = ServerApp()

    @app.main()  # type: ignore[untyped-decorator, unused-ignore]
    def main(grid: Grid, context: Context) -> None:
        coordinator = Coordinator(Path(str(context.run_config["folder"])))
        precision = as_precision(str(context.run_config["precision"]))
        while not coordinator.finished:
            nodes = wait_for_nodes(grid, coordinator.terms.quorum)
            if context.run_config["secure"]:
                run_secure_round(grid, context, coordinator, nodes)
            else:
                run_round(grid, coordinator, precision, nodes)
        coordinator.close()

    return app


def wait_for_nodes(grid: Grid, quorum: int) -> list[int]:
    """The nodes that are there, once they are enough."""
    nodes = list(grid.get_node_ids())
    while len(nodes) < quorum:
        time.sleep(NODES_S)
        nodes = list(grid.get_node_ids())
    return nodes


def run_round(grid: Grid, coordinator: Coordinator, precision: Precision, nodes: list[int]) -> None:
    """Ask every node, and move the round on."""
    terms, described = coordinator.terms, coordinator.describe("")
    model = coordinator.store.model(described["bases"][precision]).read_bytes()
    content = {"round": ConfigRecord({"described": json.dumps(described)}), "model": to_array(model)}
    messages = [Message(RecordDict(content), dst_node_id=node, message_type="train") for node in nodes]
    for answer in grid.send_and_receive(messages, timeout=terms.deadline_s):
        if answer.has_error():
            log.warning("a node failed: %s", answer.error.reason)
            continue
        take(coordinator, described["round"], precision, answer.content)
    while not coordinator.tick():
        time.sleep(0.02)  # for the grace, where not all have answered


def take(coordinator: Coordinator, number: int, precision: Precision, content: RecordDict) -> None:
    """Check an update as if it had come over HTTP; a refused one is in the audit log."""
    station, body = str(content["who"]["station"]), from_array(content["update"])
    path = coordinator.store.temporary()
    try:
        if station not in coordinator.stations.active():
            raise Problem(403, f"there is no station {station[:64]!r}")
        path.write_bytes(body)
        intake.accept(coordinator, station, number, precision, path, sha256_of(body))
    except Problem as problem:
        log.warning("the update of %s is refused: %s", station, problem.detail)
        coordinator.refuse(station[:64], number, problem)
    finally:
        path.unlink(missing_ok=True)


def to_array(body: bytes) -> ArrayRecord:
    """Bytes as one flat array."""
    return ArrayRecord([np.frombuffer(body, np.uint8)])


def from_array(record: ArrayRecord) -> bytes:
    """The bytes in one flat array."""
    return bytes(record.to_numpy_ndarrays()[0].astype(np.uint8).tobytes())
