"""The one owner of the model that answers: fits, activations and roll-backs are serialised here.

A new model takes seconds to make, so it is made outside the lock, from the model that answers at that time,
its *base*. It is put to use by compare and swap: where another model answers by then, it is made again from
that one.
"""

import logging
import secrets
import threading
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path

from service.errors import Conflict
from service.live.runtime import Runtime
from service.models.fitting import Fitter, Job
from service.models.live import LiveModel, open_live
from service.models.store import ModelStore
from service.schemas.labels import Fitted
from service.settings import Settings
from service.storage.labels import LabelStore
from service.storage.names import checked_name
from service.storage.work import work_folder
from streaming.bundle import Bundle
from streaming.errors import InputError
from streaming.pipeline import choose_head

log = logging.getLogger(__name__)
TRIES = 3  # how often a model is made again because its base was replaced meanwhile


class ModelOwner:
    """Changes which model answers. `lock` is held by whoever changes models, heads or streams."""

    def __init__(self, values: Settings, store: ModelStore, labels: LabelStore) -> None:
        self.store, self.labels, self.fitter = store, labels, Fitter()
        self.lock = threading.Lock()
        self._open = partial(open_live, head=values.head, backend=values.backend, threads=values.threads)
        self.runtime = Runtime(self._first(values.head))

    def _first(self, head: str) -> LiveModel:
        """The model that was last put to use, or the last before it that still can be."""
        names = self.store.activations()
        for last in range(len(names), 1, -1):
            try:
                model = self._open(names[last - 1], self.store.load(names[last - 1]))
            except Exception as error:
                log.error("model %s cannot be put to use: %s", names[last - 1], error)
                continue
            if last < len(names):
                self.store.record(names[:last])
            return model
        bundle = self.store.load(self.store.default)
        choose_head(bundle, head, "live")  # the operator's choice must be there
        if len(names) > 1:
            self.store.record(names[:1])
        return self._open(self.store.default, bundle)

    @property
    def model(self) -> LiveModel:
        """The model that answers."""
        return self.runtime.model

    def fit(self, head: str, streams: Collection[str] | None = None) -> Fitted:
        """Fit a head to the labels and answer these streams (else all) with it, from one hop on."""
        checked_name(head, "head")
        self._check(streams)
        for _ in range(TRIES):
            base = self.model
            raw, fitted = self._fit(self.store.where(base.name), base.bundle, [head])
            with self.lock:
                if self.model is base:
                    self._check(streams)
                    bundle = self.store.add_fitted(fitted.model, raw)
                    self._use(fitted.model, bundle, head, streams)
                    return fitted
        raise Conflict(f"the model was replaced {TRIES} times while head {head} was fitted; try again")

    def activate(self, name: str) -> str:
        """Put a model to use: every stream switches at one hop.

        Heads in use that were fitted here are fitted again for it, so the model may get another name.
        """
        for _ in range(TRIES):
            base, bundle = self.model, self.store.load(name)
            carried = self._heads_to_carry(base, bundle)
            raw, chosen = b"", name
            if carried:
                raw, fitted = self._fit(self.store.where(name), bundle, carried)
                chosen = fitted.model
            with self.lock:
                if self.model is base:
                    self._use(chosen, self.store.add_fitted(chosen, raw) if raw else bundle)
                    return chosen
        raise Conflict(f"the model was replaced {TRIES} times while {name} was prepared; try again")

    def roll_back(self) -> str:
        """Put the model before this one to use again."""
        with self.lock:
            names = self.store.activations()
            for last in range(len(names) - 1, 0, -1):
                name = names[last - 1]
                try:
                    self._switch(name, self.store.load(name))
                except Exception as error:  # it was deleted or damaged: to the one before it
                    log.warning("model %s cannot be put to use again: %s", name, error)
                    continue
                self.store.record(names[:last])
                return name
            raise Conflict("there is no model before this one")

    def close(self) -> None:
        """End the process that fits."""
        self.fitter.close()

    def _check(self, streams: Collection[str] | None) -> None:
        for stream_id in streams or ():
            self.runtime.stream(stream_id)

    def _heads_to_carry(self, base: LiveModel, bundle: Bundle) -> list[str]:
        """Heads in use that were fitted to labels of this station and that another model lacks."""
        with self.lock:
            used = {answers.head.name for answers in self.runtime.answers.values()}
        return sorted(used & set(base.bundle.meta.fitted) - set(bundle.heads))

    def _fit(self, path: str | Path, bundle: Bundle, heads: list[str]) -> tuple[bytes, Fitted]:
        """The file of a model with these heads fitted to the labels, and what is known of the last one."""
        if not self.labels.list():
            raise InputError("there are no labels yet; give some with POST /v1/labels")
        with work_folder(self.store.folder) as folder:
            for number, head in enumerate(heads):
                like = bundle.heads.get(head) or choose_head(bundle, "", "live")
                result = folder / f"{number}.safetensors"
                job = Job(str(path), str(self.labels.folder), like.name, head, new_name(head), str(result))
                fitted, path = self.fitter.fit(job), result
            return Path(path).read_bytes(), fitted

    def _use(self, name: str, bundle: Bundle, head: str = "", streams: Collection[str] | None = None) -> None:
        self._switch(name, bundle, head, streams)
        self.store.record([*self.store.activations(), name])

    def _switch(
        self, name: str, bundle: Bundle, head: str = "", streams: Collection[str] | None = None
    ) -> None:
        """Answer with this model, and these streams (else all) with this head if one is named."""
        model = self._open(name, bundle, before=self.model)
        heads = {}
        for stream_id, answers in self.runtime.answers.items():
            chosen = head and (streams is None or stream_id in streams)
            heads[stream_id] = model.heads.get(head if chosen else answers.head.name, model.default)
        self.runtime.swap(model, heads)


def new_name(head: str) -> str:
    """A name for a model with a newly fitted head."""
    return f"{head[:24]}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
