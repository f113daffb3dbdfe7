"""Link Debian's SoapySDR binding into this virtual environment.

The binding is not on PyPI, and its folder must not be put on PYTHONPATH: Debian's numpy lies there, too.

    .venv/bin/python tests/link_soapy.py
"""

import sysconfig
from pathlib import Path

DEBIAN = Path("/usr/lib/python3/dist-packages")


def link() -> str:
    """Make the links where they are missing; the answer says what was done."""
    module = f"_SoapySDR{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not (DEBIAN / module).exists():
        return f"no {module} in {DEBIAN}: wavetell will use the C library (apt install python3-soapysdr)"
    site = Path(sysconfig.get_paths()["purelib"])
    for name in ("SoapySDR.py", module):
        target = site / name
        if not target.exists():
            target.unlink(missing_ok=True)  # a link that leads nowhere
            target.symlink_to(DEBIAN / name)
    return f"SoapySDR linked into {site}"


if __name__ == "__main__":
    print(link())
