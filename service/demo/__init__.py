"""The demo: the shipped recording on the air, by real ZMQ."""

from pathlib import Path

RECORDING = Path(__file__).parent / "demo.sigmf-meta"


def or_demo(source: str) -> str:
    """A source as a user typed it; `demo` is the shipped recording."""
    return str(RECORDING) if source == "demo" and not Path(source).exists() else source
