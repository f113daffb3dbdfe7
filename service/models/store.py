"""Models of this service: those shipped, those uploaded, and which was in use when.

`activations.json` lists the names in the order in which they were put to use, the operator's own choice
first; the last one runs, and rolling back takes it off.
"""

import json
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from service.errors import NotFound
from service.storage.names import checked_name
from streaming.bundle import MAX_BYTES, SHIPPED, Bundle, load_bundle, parse_bundle
from streaming.checked import as_json
from streaming.errors import BundleError, ConfigError
from streaming.files import write_whole


class ModelStore:
    """Bundles in a folder, beside the shipped ones."""

    def __init__(self, folder: Path, default: str) -> None:
        self.folder, self.default = folder, default
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "activations.json"

    def load(self, name: str) -> Bundle:
        """The bundle of this name."""
        return load_bundle(self.where(name))

    def where(self, name: str) -> str | Path:
        """What `load_bundle` takes; the default may also be a path, for it comes from the operator."""
        if name == self.default:
            return self.find(name) or name
        path = self.find(checked_name(name, "model"))
        if path is None:
            raise NotFound(f"there is no model {name!r}")
        return path

    def find(self, name: str) -> Path | None:
        """The file of a name, ours before a shipped one."""
        paths = (folder / f"{Path(name).name}.safetensors" for folder in (self.folder, SHIPPED))
        return next((path for path in paths if path.is_file()), None)

    def add(self, name: str, raw: bytes) -> Bundle:
        """Check a bundle and keep it; a name is given once."""
        checked_name(name, "model")
        if len(raw) > MAX_BYTES:
            raise BundleError(f"the file has {len(raw):,} bytes; a bundle has at most {MAX_BYTES:,}")
        bundle = parse_bundle(raw, name)
        with self._lock:
            if self.find(name) is not None:
                raise ConfigError(f"there is a model {name} already; choose another name")
            write_whole(self.folder / f"{name}.safetensors", raw)
        return bundle

    def activations(self) -> list[str]:
        """Names in the order in which they were put to use."""
        if not self._log.exists():
            return [self.default]
        names = [str(name) for name in json.loads(self._log.read_bytes())]
        return names if names[:1] == [self.default] else [self.default]  # the operator has chosen another

    def record(self, names: list[str]) -> None:
        """Remember what is in use."""
        write_whole(self._log, json.dumps(names[:1] + names[1:][-100:]).encode())

    def list(self) -> list[dict[str, Any]]:
        """Every model with what it holds."""
        active = self.activations()[-1]
        names = {path.stem for folder in (self.folder, SHIPPED) for path in folder.glob("*.safetensors")}
        return [
            described(Path(self.where(name))) | {"active": name == active}
            for name in sorted(names | {active})
        ]


def described(path: Path) -> dict[str, Any]:
    """A file as REST shows it; pages ask often, and there is a model for every fit."""
    return _described(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1000)
def _described(path: Path, changed_ns: int) -> dict[str, Any]:
    return describe(load_bundle(path), active=False)


def describe(bundle: Bundle, active: bool) -> dict[str, Any]:
    """A model as REST shows it."""
    return {
        "name": bundle.name,
        "sha256": bundle.sha256,
        "active": active,
        "heads": [
            {
                "name": head.name,
                "classes": list(head.classes),
                "mode": head.mode,
                "window": head.window,
                "hop": head.hop,
            }
            for head in bundle.heads.values()
        ],
        "encoder": {
            "receptive_field": bundle.encoder.shape.receptive_field,
            "outputs": bundle.encoder.shape.outputs,
        },
        "provenance": as_json(bundle.meta.provenance),
        "evaluation": as_json(bundle.meta.evaluation),  # as `wavetell evaluate --json` has its rows
        "fitted": as_json(bundle.meta.fitted),
    }
