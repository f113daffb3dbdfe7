"""Pictures of the page for the README, small enough to be kept in the repository."""

import io
import os

from PIL import Image

from tests.require import ROOT


def photograph(page, name):
    """docs/images/dashboard-NAME.png, in 255 colours; only `make pictures` takes any."""
    if "WAVETELL_PICTURES" not in os.environ:
        return
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    folder = ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    few = picture.quantize(255, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(folder / f"dashboard-{name}.png", optimize=True)
