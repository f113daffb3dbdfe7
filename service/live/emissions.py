"""Emissions of a stream as history keeps them: one row each, written over while it is followed."""

import json
from dataclasses import dataclass

from service.schemas.emissions import StreamEmission
from streaming.band.box import Box
from streaming.band.emissions import Emission, State
from streaming.naming import Name


@dataclass(frozen=True, slots=True)
class EmissionRow:
    """The newest state of one emission; times are when the host heard it."""

    id: str
    stream: str
    state: State
    from_ns: int
    to_ns: int
    start_sample: int
    end_sample: int
    label: str
    family: str | None
    probability: float
    nearest: str  # JSON
    lower_hz: float
    upper_hz: float
    snr_db: float
    level_db: float
    freq_hz: float | None
    bursts: int
    duty: float
    utc_ns: int | None
    rate_hz: float
    sha256: str

    @property
    def box(self) -> Box:
        """In hertz from the source's centre."""
        at = self.freq_hz or 0.0
        return Box(self.lower_hz - at, self.upper_hz - at, self.snr_db, self.level_db)

    def describe(self) -> StreamEmission:
        """The emission as REST, live readers and sinks get it."""
        emission = Emission(
            number=0,
            state=self.state,
            start=self.start_sample,
            end=self.end_sample,
            box=self.box,
            name=Name(self.label, self.family, self.probability),
            nearest=tuple(json.loads(self.nearest).items()),
            bursts=self.bursts,
            duty=self.duty,
            rate_hz=self.rate_hz,
            freq_hz=self.freq_hz,
            utc_ns=self.utc_ns,
            clock="host",
        )
        return StreamEmission.of(
            emission,
            self.id,
            stream=self.stream,
            from_ns=self.from_ns,
            to_ns=self.to_ns,
            rate_hz=self.rate_hz,
            sha256=self.sha256,
        )


def emission_row(
    emission: Emission, identity: str, stream: str, heard_ns: tuple[int, int], sha256: str
) -> EmissionRow:
    """An emission of a stream, heard first and last at these times of the host."""
    e, at = emission, emission.freq_hz or 0.0
    return EmissionRow(
        id=identity,
        stream=stream,
        state=e.state,
        from_ns=heard_ns[0],
        to_ns=heard_ns[1],
        start_sample=e.start,
        end_sample=e.end,
        label=e.name.label,
        family=e.name.family,
        probability=e.name.probability,
        nearest=json.dumps({name: round(value, 4) for name, value in e.nearest}),
        lower_hz=at + e.box.lower,
        upper_hz=at + e.box.upper,
        snr_db=e.box.snr_db,
        level_db=e.box.level_db,
        freq_hz=e.freq_hz,
        bursts=e.bursts,
        duty=e.duty,
        utc_ns=e.utc_ns,
        rate_hz=e.rate_hz,
        sha256=sha256,
    )
