"""A stage: something that every sample passes on its way to an answer, and that keeps its own past."""

from typing import Protocol, TypeVar

In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


class Stage(Protocol[In_contra, Out_co]):
    """Takes a stream in pieces of any size; how it is cut never shows in what comes out.

    A piece that cannot be taken raises InputError and leaves the past as it was.
    """

    def push(self, piece: In_contra, /) -> Out_co:
        """What this piece adds to the output."""
        ...

    def reset(self) -> None:
        """Forget the past: the next piece begins a new stream."""
        ...
