"""The FFT: scipy's where that is installed, which is up to five times as fast, else numpy's."""

try:
    from scipy import fft
except ModuleNotFoundError:
    from numpy import fft  # type: ignore[no-redef]

__all__ = ["fft"]
