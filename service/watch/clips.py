"""Clips of alerts: a spectrogram and the I/Q, named by the alert, in the folder `clips`.

Where a recording of the stream goes on, the I/Q is a part of it and is not copied: `ID.json` says which.
Otherwise the emission is kept in its own channel, as a SigMF pair.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from hardware.recorder import Recorder, padding, tar_header
from service.errors import NotFound
from service.live.streams import Stream
from service.schemas.sigmf import Annotation, Capture, Detail
from service.schemas.watch import AlertClip
from service.storage import sigmf
from service.storage.names import bytes_in, checked_name
from service.storage.recordings import CHUNK, RecordingStore, archived, write_notes
from service.watch.alert import AlertRow
from service.watch.picture import spectrogram
from streaming.band.box import Box
from streaming.band.clip import clip
from streaming.block import Block
from streaming.errors import WavetellError
from streaming.files import write_whole
from streaming.prediction import utc_text

log = logging.getLogger(__name__)
BEFORE_S, AFTER_S, LONGEST_S = 0.5, 1.5, 3.0  # of an emission; the whole is no longer than the last
BAND_S = 1.0  # of a band without an emission: all of it is kept
AROUND = 6.0  # times its bandwidth that the picture of an emission shows
SAMPLE = 8  # bytes


@dataclass(frozen=True)
class Part:
    """The samples of a recording that a clip is."""

    recording: str
    start: int
    samples: int
    rate_hz: float
    freq_hz: float | None
    utc_ns: int | None


class ClipStore:
    """The clips of a station, at most `max_bytes` together: the oldest go first."""

    def __init__(self, folder: Path, recordings: RecordingStore, max_bytes: int) -> None:
        self.folder, self.recordings, self.max_bytes = folder, recordings, max_bytes
        self.removed = 0
        folder.mkdir(parents=True, exist_ok=True)

    def make(self, alert: AlertRow, stream: Stream) -> bool:
        """Keep what was heard; False where nothing of it is left."""
        start, end = span(alert, stream)
        blocks = stream.ring.blocks(start, end)
        if not blocks:
            return False
        try:
            (self.folder / f"{alert.id}.png").write_bytes(draw(alert, blocks))
            self._keep_samples(alert, stream, start, end)
        except (WavetellError, OSError) as error:  # the alert goes out all the same
            log.warning("alert %s has no clip: %s", alert.id, error)
        self.shrink()
        return self.describe(alert.id) is not None

    def _keep_samples(self, alert: AlertRow, stream: Stream, start: int, end: int) -> None:
        block = stream.ring.read(start, end)
        found = self.recordings.covering(stream, start, end)
        if found:
            recording, first = found
            part = Part(recording, first, end - start, block.rate_hz, block.freq_hz, block.utc_ns)
            write_whole(self.folder / f"{alert.id}.json", json.dumps(asdict(part)).encode())
            return
        made = in_channel(alert, block)
        recorder = Recorder(self.folder / alert.id, description=alert.message)
        recorder.push(made)
        recorder.close()
        write_notes(recorder.meta, [note(alert, len(made.samples))])

    def shrink(self) -> None:
        """Delete the oldest clips until the others have room."""
        names = sorted({path.stem for path in self.folder.iterdir()})
        while len(names) > 1 and bytes_in(self.folder) > self.max_bytes:
            self.remove(names.pop(0))
            self.removed += 1

    def remove_oldest_samples(self) -> bool:
        """Delete the I/Q of the oldest clip that has any of its own; its picture stays."""
        oldest = min(self.folder.glob("*.sigmf-data"), default=None)
        if oldest is None:
            return False
        for suffix in (".sigmf-meta", ".sigmf-data"):
            oldest.with_suffix(suffix).unlink(missing_ok=True)
        return True

    def remove(self, alert: str) -> None:
        """Delete a clip; a recording that it is a part of stays."""
        for suffix in ("png", "json", "sigmf-meta", "sigmf-data"):
            (self.folder / f"{alert}.{suffix}").unlink(missing_ok=True)

    def describe(self, alert: str) -> AlertClip | None:
        """Where a clip is found; None where it is not kept any more."""
        if not (self.folder / f"{alert}.png").is_file():
            return None
        part = self._part(alert)
        kept = part is not None or (self.folder / f"{alert}.sigmf-meta").is_file()
        return AlertClip(
            picture=f"v1/alerts/{alert}/picture",
            iq=f"v1/alerts/{alert}/clip" if kept else None,
            recording=part.recording if part else None,
        )

    def picture(self, alert: str) -> bytes:
        """The spectrogram."""
        try:
            return (self.folder / f"{checked_name(alert, 'alert')}.png").read_bytes()
        except FileNotFoundError:
            raise NotFound(f"the picture of alert {alert} is not kept any more") from None

    def _part(self, alert: str) -> Part | None:
        """The part of a recording that the clip is; None where it is none, or where that was deleted."""
        with suppress(FileNotFoundError, NotFound, ValueError, TypeError):
            part = Part(**json.loads((self.folder / f"{alert}.json").read_bytes()))
            self.recordings.path(part.recording, "sigmf-data")
            return part
        return None

    def archive(self, alert: AlertRow) -> Iterator[bytes]:
        """The I/Q as a SigMF archive, piece by piece."""
        part = self._part(alert.id)
        if part is not None:
            return self._cut(alert, part)
        kinds = ("sigmf-data", "sigmf-meta")
        try:
            files = [(self.folder / f"{checked_name(alert.id, 'alert')}.{kind}").open("rb") for kind in kinds]
        except FileNotFoundError:
            raise NotFound(f"the samples of alert {alert.id} are not kept any more") from None
        return archived({f"{alert.id}/{alert.id}.{k}": f for k, f in zip(kinds, files, strict=True)})

    def _cut(self, alert: AlertRow, part: Part) -> Iterator[bytes]:
        """A part of a recording as an archive of its own."""
        file = self.recordings.path(part.recording, "sigmf-data").open("rb")  # before the answer begins
        utc = None if part.utc_ns is None else utc_text(part.utc_ns)
        captures = [Capture(frequency=part.freq_hz, datetime=utc)]
        made = sigmf.metadata(part.rate_hz, captures, [note(alert, part.samples)])
        text = made.model_dump_json(by_alias=True, exclude_none=True).encode()

        def pieces() -> Iterator[bytes]:
            left = size = part.samples * SAMPLE
            with file:
                file.seek(part.start * SAMPLE)
                yield tar_header(f"{alert.id}/{alert.id}.sigmf-data", size)
                while left and (piece := file.read(min(left, CHUNK))):
                    left -= len(piece)
                    yield piece
            yield padding(size) + tar_header(f"{alert.id}/{alert.id}.sigmf-meta", len(text))
            yield text + padding(len(text)) + bytes(1024)

        return pieces()


def span(alert: AlertRow, stream: Stream) -> tuple[int, int]:
    """The samples that a clip should hold: around the end of an emission, or the newest of the band."""
    last = stream.ring.span[1]
    rate_hz = stream.rate_hz
    if alert.start_sample is None or alert.end_sample is None:
        return stream.ring.before(last, round(BAND_S * rate_hz)), last
    end = min(last, alert.end_sample + round(AFTER_S * rate_hz))
    start = max(alert.start_sample - round(BEFORE_S * rate_hz), end - round(LONGEST_S * rate_hz))
    return stream.ring.before(end, max(0, end - start)), end


def edges(alert: AlertRow, block: Block) -> tuple[float, float] | None:
    """What an alert is about, in hertz from the source's centre; None where that is not in the band."""
    if alert.lower_hz is None or alert.upper_hz is None:
        return None
    half, at = block.rate_hz / 2, block.freq_hz or 0.0
    lower, upper = max(-half, alert.lower_hz - at), min(half, alert.upper_hz - at)
    return (lower, upper) if upper - lower > 1 else None


def in_channel(alert: AlertRow, block: Block) -> Block:
    """What an alert is about on its own, moved to zero and decimated; all of the band where it is that."""
    found = edges(alert, block)
    return clip(block, Box(*found, alert.snr_db or 0.0, 0.0)) if found else block


def draw(alert: AlertRow, blocks: list[Block]) -> bytes:
    """The spectrogram of a clip."""
    half = blocks[0].rate_hz / 2
    found = edges(alert, blocks[0])
    if found is None:
        return spectrogram(blocks, (-half, half), ())
    reach = AROUND / 2 * (found[1] - found[0])
    middle = sum(found) / 2
    shown = (max(-half, middle - reach), min(half, middle + reach))
    first, last = blocks[0].index, blocks[-1].end
    return spectrogram(blocks, shown, (alert.start_sample or first, alert.end_sample or last, *found))


def note(alert: AlertRow, samples: int) -> Annotation:
    """What an alert says of its clip, as an annotation of it."""
    label = alert.label or alert.kind
    return Annotation(
        sample_start=0,
        sample_count=samples,
        freq_lower_edge=alert.lower_hz,
        freq_upper_edge=alert.upper_hz,
        label=label[: sigmf.LABEL_LENGTH],
        description=alert.message,
        detail=Detail(modulation=alert.label) if alert.label else None,
        probability=None if alert.probability is None else round(alert.probability, 4),
        family=alert.family,
        emission=alert.emission,
        snr_db=alert.snr_db,
    )
