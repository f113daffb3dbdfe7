"""Reading the data sets that exist only as pickles, without running what a pickle may ask for.

A pickle is a program. Here it may build dictionaries, tuples, lists, numbers, strings and numpy arrays, and
nothing else: every other name it asks for is refused before anything of it is imported or called.
"""

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from streaming.errors import FormatError

ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("_codecs", "encode"),  # how Python 3 writes bytes for protocol 2
}


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that finds only numpy's arrays."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as in the base class
        """The class or function of this name, if it is on the list."""
        if (module, name) not in ALLOWED:
            raise FormatError(f"the pickle asks for {module}.{name}; only numpy arrays are read")
        if module == "_codecs":
            return latin1_bytes
        # numpy 1 wrote numpy.core, which numpy 2 has moved
        return super().find_class(module.replace("numpy.core.", "numpy._core."), name)


def latin1_bytes(text: object, encoding: object = "latin1") -> bytes:
    """The one use that arrays make of _codecs.encode."""
    if not isinstance(text, str) or encoding != "latin1":
        raise FormatError("the pickle encodes text in a way that arrays do not")
    return text.encode("latin1")


def load_arrays(path: Path) -> dict[Any, np.ndarray[Any, Any]]:
    """A pickled dictionary of numeric arrays."""
    try:
        with path.open("rb") as file:
            content = RestrictedUnpickler(file, encoding="latin1").load()
    except FormatError as error:
        raise FormatError(f"{path.name}: {error}") from None
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise FormatError(f"{path.name}: not a readable pickle ({type(error).__name__}: {error})") from None
    if not isinstance(content, dict) or not content:
        raise FormatError(f"{path.name}: expected a dictionary of arrays, but got {type(content).__name__}")
    for key, value in content.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiuc":
            raise FormatError(f"{path.name}: entry {key!r} is not an array of numbers")
    return content
