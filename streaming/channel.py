"""A channel: the part of a source's band that is listened to, tuned to zero and at its own rate.

>>> channel = Channel(rate_hz=2.4e6, offset_hz=300e3, width_hz=250e3)
>>> channel.rate_hz, channel.offset_hz, channel.step
(250000.0, 300000.0, 9.6)
"""

from streaming.block import Samples
from streaming.errors import ConfigError
from streaming.resample import Resampler


class Channel:
    """Samples of the source in, of the channel out; channel sample m lies at source sample m * step.

    ``rate_hz`` and ``offset_hz`` are what it really has: the nearest rate and bin that the transform offers.
    """

    def __init__(self, rate_hz: float, offset_hz: float, width_hz: float) -> None:
        if not 0 < width_hz <= rate_hz:
            raise ConfigError(f"channel.width_hz is {width_hz:g}; it must be above 0 and at most {rate_hz:g}")
        if abs(offset_hz) + width_hz / 2 > rate_hz / 2:
            raise ConfigError(
                f"the channel of {width_hz:g} Hz at {offset_hz:+g} Hz does not fit into {rate_hz:g} Hz"
            )
        self._resampler = Resampler(rate_hz / width_hz, offset_hz / rate_hz)
        self.step = self._resampler.step
        self.rate_hz = rate_hz / self.step
        self.offset_hz = self._resampler.offset * rate_hz
        self.latency = self._resampler.latency

    def reset(self) -> None:
        """Forget the past."""
        self._resampler.reset()

    def push(self, samples: Samples) -> Samples:
        """What these samples complete."""
        return self._resampler.push(samples)
