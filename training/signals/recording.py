"""Generated signals as SigMF, the truth as annotations.

Frequencies go from cycles per sample to hertz. Besides the core fields an annotation has `signal:detail`, and
the extension `wavetell` with the family, SNR, symbol rate and occupied bandwidth, and in scenes the emission
and its bursts.
"""

import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sigmf import SigMFFile

from streaming.block import Samples
from streaming.errors import ConfigError
from training.signals.classes import FAMILIES, NOISE
from training.signals.stream import SPUR, Label

# datatype -> type of one component, steps of full scale
INTEGERS = {"ci8": (np.int8, 128.0), "ci16_le": (np.int16, 32768.0)}
DETAILS: dict[str, dict[str, Any]] = {
    "ASK": {"type": "digital", "mod_class": "ask"},
    "PSK": {"type": "digital", "mod_class": "psk"},
    "QAM": {"type": "digital", "mod_class": "qam"},
    "FSK": {"type": "digital", "mod_class": "fsk"},
    "AM": {"type": "analog", "mod_class": "am"},
    "FM": {"type": "analog", "mod_class": "fm"},
    "OFDM": {"type": "digital", "multiplexing": "ofdm"},
    "chirp": {"type": "digital", "spreading": "css"},
    "carrier": {"type": "analog"},
}


def write_recording(
    path: Path,
    blocks: Iterable[Samples],
    labels: Sequence[Label],
    *,
    rate_hz: float,
    freq_hz: float,
    datatype: str,
    description: str,
) -> int:
    """Write PATH.sigmf-meta and PATH.sigmf-data; PATH may carry either suffix, or .sigmf.

    Labels are read when all blocks have been written. The answer is how many samples there are.
    """
    steps_of(datatype)
    base = path.with_suffix("") if path.suffix in (".sigmf", ".sigmf-meta", ".sigmf-data") else path
    base.parent.mkdir(parents=True, exist_ok=True)
    data = base.with_name(base.name + ".sigmf-data")
    total = 0
    with data.open("wb") as file:
        for block in blocks:
            as_components(block, datatype).tofile(file)
            total += len(block)
    extensions = [
        {"name": "wavetell", "version": "1.0.0", "optional": True},
        {"name": "signal", "version": "1.0.0", "optional": True},
    ]
    meta = SigMFFile(
        data_file=str(data),
        global_info={
            "core:datatype": datatype,
            "core:sample_rate": rate_hz,
            "core:description": description,
            "core:recorder": "wavetell generate",
            "core:extensions": extensions,
        },
    )
    meta.add_capture(0, {"core:frequency": freq_hz})
    for number, label in enumerate(labels):
        count = min(label.count, total - label.start)
        if count > 0:
            fields = annotation(label, rate_hz, freq_hz, f"{description} {number}")
            meta.add_annotation(label.start, count, fields)
    meta.tofile(str(base.with_name(base.name + ".sigmf-meta")), overwrite=True)
    return total


def annotation(label: Label, rate_hz: float, freq_hz: float, identity: str) -> dict[str, Any]:
    """The fields of one annotation; its uuid depends on the identity alone, so that a seed gives one file."""
    fields: dict[str, Any] = {
        "core:label": label.name,
        "core:generator": "wavetell generate",
        "core:uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, identity)),
    }
    if label.name != SPUR:
        fields["wavetell:family"] = FAMILIES[label.name]
    if label.name == NOISE:
        return fields
    for side, name in ((-0.5, "lower"), (0.5, "upper")):
        edge = np.clip(label.offset + side * label.bandwidth, -0.5, 0.5)
        fields[f"core:freq_{name}_edge"] = freq_hz + float(edge) * rate_hz
    if label.name != SPUR:
        fields["signal:detail"] = DETAILS[FAMILIES[label.name]]
    fields["wavetell:snr_db"] = round(label.snr_db, 2)
    fields["wavetell:offset_hz"] = label.offset * rate_hz
    fields["wavetell:bandwidth_hz"] = label.bandwidth * rate_hz
    if not np.isnan(label.symbol_rate):
        fields["wavetell:symbol_rate_hz"] = label.symbol_rate * rate_hz
    if label.emission is not None:
        fields["wavetell:emission"] = str(label.emission)
        fields["wavetell:bursts"] = [[begin, end - begin] for begin, end in label.bursts]
    return fields


def steps_of(datatype: str) -> float:
    """Steps of full scale; infinitely many for floating point."""
    if datatype == "cf32_le":
        return np.inf
    if datatype not in INTEGERS:
        raise ConfigError(f"type is {datatype!r}; generated recordings are cf32_le, ci16_le or ci8")
    return INTEGERS[datatype][1]


def as_components(samples: Samples, datatype: str) -> NDArray[Any]:
    """Interleaved components, as the file holds them."""
    parts = np.ascontiguousarray(samples).view(np.float32)
    steps = steps_of(datatype)
    if np.isinf(steps):
        return parts
    dtype, _ = INTEGERS[datatype]
    scaled: NDArray[np.float32] = np.clip(np.rint(parts * np.float32(steps)), -steps, steps - 1)
    return scaled.astype(dtype)
