"""Secure aggregation on Flower: SecAgg+ hides every station's update from the server, which learns their sum.

    server sees      sum_c d_c  of the stations that stayed, and masked vectors (Bell et al., 2020)

Flower's own mod and workflow do the cryptography; here is what they carry: differences of weights as one
vector, every station counting alike. What a station drops out of, at the earliest after its keys are shared,
the others' shares of its key repair. With differential privacy each station clips its own update and adds
its part of the noise, so that the server need not be trusted with that either.
"""

import json
import logging
import secrets
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Message
from flwr.client.mod import secaggplus_mod
from flwr.common import Code, FitIns, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.compat.common import recorddict_compat as compat
from flwr.server.compat.grid_client_proxy import GridClientProxy
from flwr.server.compat.legacy_context import LegacyContext
from flwr.server.strategy import FedAvg
from flwr.server.workflow import SecAggPlusWorkflow
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, MAIN_PARAMS_RECORD, Key
from flwr.serverapp import Grid
from numpy.typing import NDArray

from training.federation.codec import Floats
from training.federation.coordinator.rounds import Coordinator
from training.federation.manifest import Manifest
from training.federation.privacy import own_part

log = logging.getLogger(__name__)
LARGEST = 1.0  # of any weight's difference: beyond, it is cut; a step of the quantisation is 4.8e-7
SHARED = 1.0  # every station has a share of every other's key
RECONSTRUCT = 0.6  # share of the stations that it takes to repair a drop-out
ALONE = 1  # a station's weight, and the largest


def mask(message: Message, context: Context, call_next: Any) -> Message:  # noqa: ANN401 - Flower's own type
    """Flower's mod, where the run asks for it."""
    if not context.run_config["secure"]:
        return call_next(message, context)
    return secaggplus_mod(message, context, call_next)


def read_work(message: Message) -> tuple[dict[str, Any], bytes, dict[str, float]]:
    """What a secure round asks a station for: the round, its model, and the terms of privacy."""
    asked = compat.recorddict_to_fitins(message.content, keep_input=True)
    model = parameters_to_ndarrays(asked.parameters)[0].astype(np.uint8).tobytes()
    private = {name: float(asked.config[name]) for name in ("clip", "noise")}
    return json.loads(str(asked.config["described"])), model, private


def reply(message: Message, delta: Floats, private: dict[str, float], quorum: int) -> Message:
    """An update for the mod to mask; it leaves the station only behind it."""
    if private["noise"]:
        rng = np.random.default_rng(secrets.randbits(128))
        delta = own_part(delta, private["clip"], private["noise"], quorum, rng)
    vector = np.concatenate([delta[name].ravel() for name in sorted(delta)]).astype(np.float64)
    if not np.isfinite(vector).all():  # nobody can look at it later
        raise ValueError("the update has values that are not finite")
    result = FitRes(Status(Code.OK, ""), ndarrays_to_parameters([vector]), ALONE, {})
    return Message(compat.fitres_to_recorddict(result, keep_input=False), reply_to=message)


class Sum(FedAvg):  # type: ignore[misc, unused-ignore]
    """Asks every node for the same work, and keeps the mean that the workflow has unmasked."""

    def __init__(self, asked: FitIns, proxies: list[GridClientProxy]) -> None:
        super().__init__()
        self.asked, self.proxies = asked, proxies
        self.mean: NDArray[np.float64] | None = None
        self.count = 0

    def configure_fit(self, server_round: int, parameters: Any, client_manager: Any) -> Any:  # noqa: ANN401
        """Every node."""
        return [(proxy, self.asked) for proxy in self.proxies]

    def aggregate_fit(self, server_round: int, results: Any, failures: Any) -> Any:  # noqa: ANN401
        """All results are the mean already."""
        self.count = len(results)
        self.mean = parameters_to_ndarrays(results[0][1].parameters)[0]
        return None, {}


def run_secure_round(grid: Grid, context: Context, coordinator: Coordinator, nodes: list[int]) -> None:
    """One round of SecAgg+; below the quorum it is abandoned."""
    terms, described = coordinator.terms, coordinator.describe("")
    model = coordinator.store.model(described["bases"]["float32"]).read_bytes()
    work = [np.frombuffer(model, np.uint8)]
    config = {"described": json.dumps(described), "clip": terms.clip, "noise": terms.noise}
    proxies = [GridClientProxy(node, grid, context.run_id) for node in nodes]
    strategy = Sum(FitIns(ndarrays_to_parameters(work), config), proxies)
    legacy = LegacyContext(context, strategy=strategy)
    legacy.state.config_records[MAIN_CONFIGS_RECORD] = ConfigRecord({Key.CURRENT_ROUND: described["round"]})
    legacy.state.array_records[MAIN_PARAMS_RECORD] = ArrayRecord(work)
    workflow = SecAggPlusWorkflow(
        SHARED, RECONSTRUCT, max_weight=float(ALONE), clipping_range=LARGEST, timeout=terms.deadline_s
    )
    workflow(grid, legacy)
    if strategy.mean is None or strategy.count < terms.quorum:
        coordinator.abandon(f"{strategy.count} of {terms.quorum} stations stayed to the end")
        return
    coordinator.adopt(unflatten(strategy.mean, coordinator.manifest), strategy.count)


def unflatten(vector: NDArray[np.float64], manifest: Manifest) -> Floats:
    """The tensors of a vector, in order of their names."""
    names = sorted(manifest.tensors)
    edges = np.cumsum([manifest.size(name) for name in names])
    if len(vector) != edges[-1]:
        raise ValueError(f"the sum has {len(vector)} values; the model has {edges[-1]}")
    parts = np.split(vector, edges[:-1])
    return {
        name: part.reshape(manifest.tensors[name]).astype(np.float32)
        for name, part in zip(names, parts, strict=True)
    }
