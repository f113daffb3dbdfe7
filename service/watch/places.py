"""Places of the spectrum where something was heard, so that a new emitter can be told from a known one."""

import numpy as np

from service.live.emissions import EmissionRow

MOST = 4096  # places; the one heard longest ago makes room
LOWER, UPPER, HEARD = 0, 1, 2


class Places:
    """Where something was heard in one stream, and when last."""

    def __init__(self) -> None:
        self._places = np.empty((0, 3))  # (places, lower edge, upper edge, heard), Hz and ns

    def hear(self, row: EmissionRow) -> float | None:
        """When something was last heard where this emission lies, in ns; None where nothing ever was.

        A place is the same where its centre lies in the emission, or the emission's centre in it.
        """
        places, centre = self._places, (row.lower_hz + row.upper_hz) / 2
        middles = (places[:, LOWER] + places[:, UPPER]) / 2
        same = (places[:, LOWER] <= centre) & (centre <= places[:, UPPER])
        same |= (row.lower_hz <= middles) & (middles <= row.upper_hz)
        if same.any():
            before = float(places[same, HEARD].max())
            places[same, HEARD] = np.maximum(places[same, HEARD], row.to_ns)
            return before
        if len(places) >= MOST:
            places = np.delete(places, int(places[:, HEARD].argmin()), axis=0)
        self._places = np.vstack([places, [row.lower_hz, row.upper_hz, row.to_ns]])
        return None
