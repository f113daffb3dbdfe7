"""A recording on disk: where its samples lie in the file, and what is known about them."""

import logging
from dataclasses import dataclass
from pathlib import Path

from hardware.file_name import read_name
from hardware.samples import datatype as known_datatype
from hardware.samples import sample_bytes
from streaming.errors import ConfigError, FormatError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Capture:
    """Consecutive samples of a recording."""

    first_byte: int
    samples: int
    index: int = 0  # of its first sample, lost samples included
    freq_hz: float | None = None
    utc_ns: int | None = None
    gap_reason: str = "recording gap"  # what was lost before it, if anything was
    gap_exact: bool = True


@dataclass(frozen=True)
class Recording:
    """A file with samples."""

    path: Path
    datatype: str
    rate_hz: float | None
    captures: list[Capture]
    origin: str  # where rate and frequency are from

    @property
    def freq_hz(self) -> float | None:
        """Centre frequency at the start."""
        return self.captures[0].freq_hz


def whole_samples(path: Path, size: int, datatype: str) -> int:
    """How many samples are in `size` bytes; a last one that was cut is left out with a warning."""
    each = sample_bytes(datatype)
    if size < each:
        raise FormatError(f"{path} has {size} bytes of samples; a sample of {datatype} takes {each}")
    if size % each:
        log.warning("%s ends within a sample; its last %d of %d bytes are left out", path, size % each, size)
    return size // each


def read_raw(path: Path, datatype: str | None) -> Recording:
    """A file of samples and nothing else; what is known stands in its name."""
    facts = read_name(path.name)
    datatype = datatype or facts.datatype
    if datatype is None:
        raise ConfigError(f"the name of {path} does not say its type; add type=cf32, ci16, ci8 or cu8")
    samples = whole_samples(path, path.stat().st_size, datatype)
    capture = Capture(0, samples, freq_hz=facts.freq_hz, utc_ns=facts.utc_ns)
    return Recording(path, datatype, facts.rate_hz, [capture], "its name")


def read_recording(path: Path, type_name: str | None = None) -> Recording:
    """Any recording, by the suffix of its name.

    Parameters
    ----------
    path
        A SigMF recording (either file of the pair), a SigMF archive, a WAV or raw samples.
    type_name
        The sample type, where the user knows better than the file.
    """
    datatype = None if type_name is None else known_datatype(type_name, f"type of {path}")
    suffix = path.suffix.lower()
    if suffix in (".sigmf-meta", ".sigmf-data", ".sigmf"):
        from hardware.sigmf_file import read_sigmf  # its schema checker takes long to load

        return read_sigmf(path, datatype)
    if not path.is_file():
        raise ConfigError(f"there is no file {path}")
    if suffix == ".wav":
        from hardware.wav import read_wav

        return read_wav(path, datatype)
    return read_raw(path, datatype)
