"""Back-off: pauses between tries that double until something works.

>>> backoff = Backoff(first_s=0.1, longest_s=0.5)
>>> [backoff.next_s() for _ in range(4)]
[0.1, 0.2, 0.4, 0.5]
"""


class Backoff:
    """The pauses before the next tries at one thing."""

    def __init__(self, first_s: float, longest_s: float) -> None:
        self.first_s, self.longest_s = first_s, longest_s
        self._pause_s = first_s

    def next_s(self) -> float:
        """How long to wait before the next try."""
        pause_s, self._pause_s = self._pause_s, min(2 * self._pause_s, self.longest_s)
        return pause_s

    def reset(self) -> None:
        """It worked: the next pause is the first again."""
        self._pause_s = self.first_s
