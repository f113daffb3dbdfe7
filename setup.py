"""Builds the native kernel; where there is no compiler the install goes on without it, and torch serves."""

from glob import glob

from setuptools import Extension, setup

kernel = Extension(
    "streaming._kernel",
    sources=sorted(glob("streaming/native/*.cpp")),
    depends=sorted(glob("streaming/native/*.h")),
    # One wheel per platform serves every Python from 3.11 on.
    py_limited_api=True,
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    # -ffast-math would break the promise of equal bits for every cut; -march would break other machines.
    extra_compile_args=[
        "-std=c++17",
        "-O3",
        "-g0",
        "-ffp-contract=fast",
        "-fno-math-errno",
        "-Wall",
        "-Wextra",
        "-Wno-psabi",
    ],
    extra_link_args=["-pthread"],
    language="c++",
    optional=True,
)

MANUALS = {
    "share/man/man1": ["service/shell/wavetell.1"],
    "share/fish/vendor_completions.d": ["service/shell/wavetell.fish"],
}

setup(
    ext_modules=[kernel],
    data_files=list(MANUALS.items()),
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
