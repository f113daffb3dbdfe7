"""Packages that only some commands need: the extra of `pip install` that brings each."""

EXTRAS = {
    "train": ("torch", "sklearn", "scipy", "h5py", "matplotlib", "tqdm"),
    "postgres": ("psycopg",),
    "privacy": ("opacus",),
    "bench": ("threadpoolctl", "onnx", "onnxruntime", "onnxscript", "openvino", "pytorch_tcn", "cached_conv"),
}


def needs(error: ModuleNotFoundError, what: str) -> str:
    """What to install; an error of another package is raised again.

    >>> needs(ModuleNotFoundError(name="torch.nn"), "wavetell fit")
    "wavetell fit needs torch, which is not installed; pip install 'wavetell[train]'"
    """
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f"{what} needs {package}, which is not installed; pip install 'wavetell[{extra}]'"
    raise error
