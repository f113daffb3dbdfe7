"""The native kernel (not yet built)."""

from streaming.encoder import Encoder
from streaming.errors import BackendError


class NativeEngine:
    def __init__(self, encoder: Encoder, hop: int, threads: int, bf16: bool = False) -> None:
        raise BackendError("the native kernel is not built; run `make native` with a C++ compiler installed")
