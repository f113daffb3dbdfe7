"""The model that answers: a bundle, the engine that runs it, and the heads that streams can use."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.models.predictor import Predictor
from streaming.bundle import Bundle, digest, encoder_sha256
from streaming.engine import Engine, open_engine
from streaming.errors import ConfigError
from streaming.head import Head
from streaming.pipeline import choose_head


@dataclass(frozen=True, eq=False)
class LiveModel:
    """Immutable: a new model, head or engine is a new `LiveModel`."""

    name: str  # in the model store
    bundle: Bundle
    sha256: str
    engine: Engine  # of the streams
    heads: Mapping[str, Head]  # that streams can use: for live mode, with the engine's hop
    default: Head
    predictor: Predictor  # with an engine of its own, so that a long request does not delay the streams

    @property
    def federation_round(self) -> int:
        """The federated round that made its encoder; 0 where it was not made by a federation."""
        federation = self.bundle.meta.provenance.federation
        return federation.rounds if federation else 0

    def head(self, name: str) -> Head:
        """The head of this name, the default one where the name is empty."""
        if not name:
            return self.default
        head = choose_head(self.bundle, name, "live")
        if name not in self.heads:
            raise ConfigError(f"head {name} has hop {head.hop}; the streams run with {self.engine.hop}")
        return head


def open_live(
    name: str,
    bundle: Bundle,
    *,
    head: str = "",
    backend: str = "auto",
    threads: int = 1,
    before: LiveModel | None = None,
) -> LiveModel:
    """Make a model ready to answer; `head` is the default one, if the bundle has it.

    The engines of the model `before` are used again where they compute the same, so that streams keep their
    states.
    """
    default = choose_head(bundle, head if head in bundle.heads else "", "live")
    heads = {h.name: h for h in bundle.heads.values() if (h.mode, h.hop) == ("live", default.hop)}
    if before and default.hop == before.engine.hop and same_states(bundle, before.bundle):
        engine, spare = before.engine, before.predictor.engine
    else:
        engine, spare = (open_engine(bundle.encoder, default.hop, backend, threads) for _ in range(2))
    sha256 = bundle.sha256
    predictor = Predictor(bundle, spare, sha256)
    return LiveModel(name, bundle, sha256, engine, heads, default, predictor)


def same_states(one: Bundle, other: Bundle) -> bool:
    """Whether two models compute the same embeddings of a stream."""
    same = one.meta.front_end == other.meta.front_end and projection_sha256(one) == projection_sha256(other)
    return same and encoder_sha256(one.encoder) == encoder_sha256(other.encoder)


def projection_sha256(bundle: Bundle) -> str:
    """The hash of a bundle's projection, empty where it has none."""
    return digest(bundle.projection.arrays()) if bundle.projection else ""
