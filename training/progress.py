"""Progress of long work: a bar on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm


class Progress:
    """Counts steps; `note` adds what is worth knowing, such as the loss.

    >>> with Progress("pretraining", total=100, file=sys.stdout) as progress:
    ...     progress.to(10, loss=0.5)
    ...     progress.to(100, loss=0.25)
    pretraining: 100/100, loss 0.25
    """

    def __init__(self, what: str, total: int, every_s: float = 10.0, file: TextIO | None = None) -> None:
        self.what, self.total, self.every_s = what, total, every_s
        self.file = sys.stderr if file is None else file
        self.bar = self._bar() if self.file.isatty() else None
        self.started = self.said = time.monotonic()
        self.first: int | None = None  # a resumed run does not start at 0, and its speed must not say so

    def _bar(self) -> "tqdm[NoReturn] | None":
        try:
            from tqdm import tqdm
        except ModuleNotFoundError:  # plain lines will do
            return None
        return tqdm(total=self.total, desc=self.what, file=self.file, unit="step")

    def to(self, done: int, **note: float) -> None:
        """This many steps are done."""
        if self.first is None:
            self.first = done
        text = ", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in note.items())
        if self.bar is not None:
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(done - self.bar.n)
            return
        now = time.monotonic()
        if now - self.said < self.every_s and done < self.total:
            return
        self.said = now
        speed = (done - self.first) / max(now - self.started, 1e-9)
        left = f", {(self.total - done) / speed:.0f} s left" if speed > 0 and done < self.total else ""
        print(
            f"{self.what}: {done}/{self.total}{left}{', ' if text else ''}{text}", file=self.file, flush=True
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.close()
