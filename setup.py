"""Builds the native kernel; where there is no compiler the install goes on without it, and torch serves."""

from glob import glob

from setuptools import Extension, setup

kernel = Extension(
    "streaming._kernel",
    sources=sorted(glob("streaming/native/*.cpp")),
    depends=sorted(glob("streaming/native/*.h")),
    # -ffast-math would break the promise of equal bits for every cut; -march would break other machines.
    extra_compile_args=[
        "-std=c++17",
        "-O3",
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

setup(ext_modules=[kernel])
