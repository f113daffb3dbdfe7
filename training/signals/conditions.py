"""Conditions: what the air and the receiver do to a signal, as ranges to draw from."""

from dataclasses import dataclass

from streaming.errors import ConfigError


@dataclass(frozen=True)
class Conditions:
    """Ranges; frequencies are in cycles per sample. The defaults are a cheap receiver in a town.

    ``snr_db`` is the signal's power over the noise's in the occupied bandwidth, or in `REFERENCE` of the rate
    where the signal is narrower (a bare carrier).
    """

    snr_db: tuple[float, float] = (0.0, 30.0)
    offset: float = 0.1  # carrier offsets up to this, both ways, as far as the signal stays in the band
    linewidth: float = 1e-6  # of the oscillators' phase noise, at most
    multipath: float = 0.5  # share of the emissions that fade, half of them Rayleigh and half Rician
    doppler: float = 1e-5  # fastest fading
    imbalance_db: float = 0.5  # gain of I against Q, at most
    imbalance_deg: float = 2.0  # phase of I against Q, at most
    dc: float = 0.02  # of full scale, at most
    bits: int = 8  # of the converter; 0 for none

    def __post_init__(self) -> None:
        if not self.snr_db[0] <= self.snr_db[1]:
            raise ConfigError(
                f"snr_db is {self.snr_db[0]}..{self.snr_db[1]}; the first must not exceed the second"
            )
        if not 0 <= self.offset <= 0.5:
            raise ConfigError(f"offset is {self.offset}; it must be between 0 and 0.5")
        if not 0 <= self.multipath <= 1:
            raise ConfigError(f"multipath is {self.multipath}; it must be between 0 and 1")
        if min(self.linewidth, self.doppler, self.imbalance_db, self.imbalance_deg, self.dc) < 0:
            raise ConfigError("linewidth, doppler, imbalance_db, imbalance_deg and dc must be at least 0")
        if self.bits and not 2 <= self.bits <= 16:
            raise ConfigError(f"bits is {self.bits}; it must be 0 (no converter) or 2 to 16")


CLEAN = Conditions(
    offset=0.0, linewidth=0.0, multipath=0.0, imbalance_db=0.0, imbalance_deg=0.0, dc=0.0, bits=0
)
