"""The demo: the shipped band on the air, by real ZMQ."""

from pathlib import Path

HERE = Path(__file__).parent
RECORDING = HERE / "demo.sigmf-meta"  # one modulation after the other
BAND = HERE / "band" / "scene-000.sigmf-meta"  # several at once


def or_demo(source: str) -> str:
    """A source as a user typed it; `demo` is the shipped recording."""
    return str(RECORDING) if source == "demo" and not Path(source).exists() else source
