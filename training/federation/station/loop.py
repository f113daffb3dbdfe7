"""A station's loop: ask, download, train, upload; what is not yet accepted waits on the disk.

    d = theta_trained - B + e,      body = q(d),      e <- d - q(d)

B is the model the round started from and e what rounding lost before (error feedback). The folder holds the
base, the training's checkpoint, e and the update that is under way: a station that is killed, at any time,
resumes where it was.
"""

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streaming.errors import InputError
from training.federation.codec import Body, Floats, encode, sha256_of
from training.federation.coordinator.models import added, zeros
from training.federation.errors import Problem
from training.federation.manifest import Manifest, Precision
from training.federation.station.client import Exchange
from training.pretraining.checkpoint import load_checkpoint, save_checkpoint

log = logging.getLogger(__name__)
Round = Mapping[str, Any]  # as the coordinator describes it
Train = Callable[[Path, Manifest, int], "Result"]  # folder, manifest, generation
Result = tuple[int, dict[str, float]]  # examples, and what was measured: loss, accuracy


class Station:
    """One station in one federation.

    Parameters
    ----------
    exchange
        How the coordinator is reached.
    folder
        Where everything is kept.
    train
        Trains from `global.safetensors` in the folder to `trained.safetensors`.
    precision
        Of what is exchanged.
    change
        What an experiment does to an update before it is sent: nothing, in an honest station.
    """

    def __init__(
        self,
        exchange: Exchange,
        folder: Path,
        train: Train,
        precision: Precision = "float32",
        change: Callable[[Floats], Floats] = lambda delta: delta,
    ) -> None:
        self.exchange, self.folder, self.train = exchange, folder, train
        self.precision, self.change = precision, change
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.base, self.trained = folder / "global.safetensors", folder / "trained.safetensors"
        self.residual, self.spool = folder / "residual.safetensors", folder / "update.safetensors"
        self._sent = folder / "sent.json"
        self.etag = ""
        self.manifest: Manifest | None = None  # known from the first round on
        self.described: Round = {}  # as last heard

    def work(self, heard: Callable[[Round], None] = lambda described: None) -> None:
        """Take part until the federation is finished; `heard` gets each answer of the coordinator."""
        while not self.step(heard):
            pass

    def step(self, heard: Callable[[Round], None] = lambda described: None) -> bool:
        """One round, or one long poll that brought nothing; True when the federation is finished."""
        found = self.exchange.current(self.etag)
        if found is None:
            heard(self.described)
            return False
        self.etag, self.described = found
        described = self.described
        last = described["last"]
        if last is not None and last["state"] == "refused":
            log.warning("the update of round %d does not count: %s", last["round"], last["reason"])
        if "manifest" in described:
            self.manifest = Manifest.from_json(described["manifest"])
        manifest = self.known_manifest()
        try:
            self.take_base(described, manifest)
        except Problem as problem:
            if problem.status != 404:
                raise
            log.warning("round %d is over already: %s", described["round"], problem.detail)
            return False
        heard(described)
        if described["state"] == "finished":
            return True
        if self.last_sent() != [described["round"], described["bases"][self.precision]]:
            self.report(described, manifest)
        return False

    def held(self) -> str:
        """The sha256 of the newest global model that is here."""
        found = load_checkpoint(self.base)
        return str(found[1]["sha256"]) if found else ""

    def known_manifest(self) -> Manifest:
        """What the federation agreed on."""
        if self.manifest is None:
            raise InputError("the coordinator did not send its manifest")
        return self.manifest

    def take_base(self, described: Round, manifest: Manifest) -> None:
        """Bring the round's model here, as a step from the one before where there is such a step."""
        wanted, generation = described["bases"].get(self.precision), described["generation"]
        if wanted is None:
            raise InputError(f"the federation does not exchange {self.precision}")
        found = load_checkpoint(self.base)
        held = found[1]["sha256"] if found else ""
        if held == wanted:
            return
        path = self.folder / "download"
        precision, source = self.exchange.fetch(wanted, self.precision, held, path)
        step = Body.open(path, manifest, precision).arrays()
        model = added(found[0] if found and source else zeros(manifest), step)
        path.unlink()
        if sha256_of(encode(model, "float32", {})) != wanted:
            if not source:
                raise InputError("the coordinator's model does not match its sha256")
            self.base.unlink()  # what was here is not what it was thought to be: fetch all of it
            self.take_base(described, manifest)
            return
        trained = load_checkpoint(self.trained)
        if trained is not None and trained[1]["round"] >= generation:
            self.trained.unlink()  # of another federation
        save_checkpoint(self.base, model, {"sha256": wanted})

    def report(self, described: Round, manifest: Manifest) -> None:
        """Train, and deliver the update; one that the coordinator does not want is dropped."""
        number, base = described["round"], described["bases"][self.precision]
        if not self.is_spooled(number, base, manifest):
            examples, measured = self.train(self.folder, manifest, described["generation"])
            meta = {"round": str(number), "base": base, "examples": str(examples)}
            meta |= {name: f"{value:.6g}" for name, value in measured.items()}
            self.write_update(described["generation"], manifest, meta)
        try:
            self.exchange.send(number, self.precision, self.spool)
        except Problem as problem:
            if problem.status in (401, 403):
                raise
            log.warning("round %d did not take the update: %s", number, problem.detail)
            self.forget_residual()
        self._sent.write_text(json.dumps([number, base]))
        self.spool.unlink()

    def last_sent(self) -> list[Any]:
        """Round and base of the last update that was delivered or refused."""
        try:
            return list(json.loads(self._sent.read_text()))
        except (
            FileNotFoundError,
            ValueError,
        ):  # never, or killed while writing: the same update again is harmless
            return []

    def is_spooled(self, number: int, base: str, manifest: Manifest) -> bool:
        """Whether the update of this round waits on the disk."""
        if not self.spool.exists():
            return False
        waiting = Body.open(self.spool, manifest, self.precision).meta
        return (waiting["round"], waiting["base"]) == (str(number), base)

    def write_update(self, generation: int, manifest: Manifest, meta: dict[str, str]) -> None:
        """Put the update on the disk, and what its precision loses beside it."""
        base, trained = load_checkpoint(self.base), load_checkpoint(self.trained)
        assert base is not None
        assert trained is not None
        delta = self.change({name: trained[0][f"model/{name}"] - base[0][name] for name in manifest.tensors})
        lost = self.lost_before(generation) if self.precision != "float32" else {}
        delta = {name: delta[name] + lost[name] if lost else delta[name] for name in delta}
        temporary = self.folder / "update.part"
        temporary.write_bytes(encode(delta, self.precision, meta))
        if self.precision != "float32":
            sent = Body.open(temporary, manifest, self.precision).arrays()
            arrays = {f"after/{name}": delta[name] - sent[name] for name in delta}
            arrays |= {f"before/{name}": array for name, array in lost.items()}
            save_checkpoint(self.residual, arrays, {"generation": generation})
        temporary.replace(self.spool)

    def lost_before(self, generation: int) -> Floats:
        """What earlier rounds lost; of a round that is done again, what was lost before it."""
        found = load_checkpoint(self.residual)
        if found is None:
            return {}
        prefix = "after/" if found[1]["generation"] < generation else "before/"
        return {n.removeprefix(prefix): array for n, array in found[0].items() if n.startswith(prefix)}

    def forget_residual(self) -> None:
        """An update that does not count has lost nothing."""
        found = load_checkpoint(self.residual)
        if found is not None:
            before = {n: array for n, array in found[0].items() if n.startswith("before/")}
            after = {n.replace("before/", "after/", 1): array for n, array in before.items()}
            save_checkpoint(self.residual, before | after, found[1])
