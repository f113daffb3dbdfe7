"""Models of this service: those shipped, uploaded and fitted here, and which was in use when.

`activations.json` lists the names in the order in which they were put to use, the operator's own choice
first; the last one runs, and rolling back removes it from the list. Uploaded models stay. Of the models
fitted here, in a folder of their own, the newest `KEPT` stay and those that can be rolled back to.
"""

import json
import threading
from functools import lru_cache
from pathlib import Path

from service.errors import Conflict, NotFound
from service.models.trial import try_model
from service.schemas.fields import one_line
from service.schemas.models import EncoderAbout, HeadAbout, ModelAbout, Models
from service.schemas.schema import Broken
from service.storage.damaged import read_sound
from service.storage.names import checked_name
from service.storage.work import work_folder
from streaming.bundle import MAX_BYTES, SHIPPED, Bundle, load_bundle, parse_bundle
from streaming.checked import as_json
from streaming.errors import BundleError, ConfigError, WavetellError
from streaming.files import write_whole

KEPT = 20  # models fitted here that are kept, and steps that can be rolled back


class ModelStore:
    """Bundles in a folder, beside the shipped ones."""

    def __init__(self, folder: Path, default: str) -> None:
        self.folder, self.default = folder, default
        self.fitted = folder / "fitted"
        self.fitted.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._trial = threading.Lock()  # one at a time: it takes a core
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
        paths = (folder / f"{Path(name).name}.safetensors" for folder in self._folders)
        return next((path for path in paths if path.is_file()), None)

    @property
    def _folders(self) -> tuple[Path, ...]:
        return self.folder, self.fitted, SHIPPED

    def add(self, name: str, raw: bytes) -> Bundle:
        """Check and try an uploaded bundle and keep it; a name is given once."""
        bundle = self._parse(name, raw)
        self._check_free(name)
        with self._trial, work_folder(self.folder) as folder:
            path = folder / "trial.safetensors"
            path.write_bytes(raw)
            try_model(path)
        self._keep(self.folder, name, raw)
        return bundle

    def add_fitted(self, name: str, raw: bytes) -> Bundle:
        """Keep a bundle that was fitted here, as long as it is among the newest or can be rolled back to."""
        bundle = self._parse(name, raw)
        self._keep(self.fitted, name, raw)
        return bundle

    def _parse(self, name: str, raw: bytes) -> Bundle:
        checked_name(name, "model")
        if len(raw) > MAX_BYTES:
            raise BundleError(f"the file has {len(raw):,} bytes; a bundle has at most {MAX_BYTES:,}")
        return parse_bundle(raw, name)

    def _check_free(self, name: str) -> None:
        if self.find(name) is not None:
            raise ConfigError(f"there is a model {name} already; choose another name")

    def _keep(self, folder: Path, name: str, raw: bytes) -> None:
        with self._lock:
            self._check_free(name)
            write_whole(folder / f"{name}.safetensors", raw)

    def remove(self, name: str) -> None:
        """Delete a model that was uploaded or fitted here and is not in use; also one that cannot be read."""
        checked_name(name, "model")
        with self._lock:
            paths = (folder / f"{name}.safetensors" for folder in (self.folder, self.fitted))
            path = next((path for path in paths if path.is_file()), None)
            if path is None:
                raise NotFound(f"there is no model {name!r} that was uploaded or fitted here")
            if name == self.activations()[-1]:
                raise Conflict(f"model {name} is in use; put another to use first")
            path.unlink()

    def activations(self) -> list[str]:
        """Names in the order in which they were put to use."""
        names = read_sound(self._log, read_names) or []
        return names if names[:1] == [self.default] else [self.default]  # the operator has chosen another

    def record(self, names: list[str]) -> None:
        """Remember what is in use, and remove fitted models that are not needed any more."""
        names = names[:1] + names[1:][-KEPT:]
        write_whole(self._log, json.dumps(names).encode())
        with self._lock:
            fitted = sorted(self.fitted.glob("*.safetensors"), key=lambda path: path.stat().st_mtime_ns)
            for path in fitted[:-KEPT]:
                if path.stem not in names:
                    path.unlink()

    def list(self) -> Models:
        """Every model with what it holds, and those that cannot be read."""
        activations, models, broken = self.activations(), [], []
        with self._lock:  # nothing is removed while it is read
            names = {path.stem for folder in self._folders for path in folder.glob("*.safetensors")}
            for name in sorted(names | {activations[-1]}):
                try:
                    about = described(Path(self.where(name)))
                except (WavetellError, OSError) as error:
                    broken.append(Broken(id=name, reason=one_line(str(error))))
                else:
                    models.append(about.model_copy(update={"active": name == activations[-1]}))
        return Models(models=models, activations=activations, broken=broken)


def read_names(raw: bytes) -> list[str]:
    """The names in `activations.json`."""
    names = json.loads(raw)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("it is not a list of names")
    return names


def described(path: Path) -> ModelAbout:
    """A file as REST shows it; pages ask often, and there is a model for every fit."""
    return _described(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1000)
def _described(path: Path, changed_ns: int) -> ModelAbout:
    return describe(load_bundle(path))


def describe(bundle: Bundle) -> ModelAbout:
    """A model that is not active, as REST shows it."""
    return ModelAbout(
        name=bundle.name,
        sha256=bundle.sha256,
        active=False,
        heads=[HeadAbout.model_validate(head) for head in bundle.heads.values()],
        encoder=EncoderAbout.model_validate(bundle.encoder.shape),
        provenance=as_json(bundle.meta.provenance),
        evaluation=as_json(bundle.meta.evaluation),  # as `wavetell evaluate --json` has its rows
        fitted=as_json(bundle.meta.fitted),
    )
