"""What the Debian package brings beside the program."""

import re
import subprocess

from tests.require import ROOT, need_program

UNIT = ROOT / "packaging/debian/wavetell.service"


def test_the_unit_is_sound_and_confined():
    analyze = need_program("systemd-analyze")
    checked = subprocess.run([analyze, "verify", str(UNIT)], capture_output=True, text=True, check=False)
    # The package is not installed here.
    found = checked.stderr.splitlines()
    assert [line for line in found if "/usr/bin/wavetell" not in line and "man " not in line] == []
    told = subprocess.run(
        [analyze, "security", "--offline=true", str(UNIT)], capture_output=True, text=True, check=False
    ).stdout
    exposure = float(re.search(r"exposure level for wavetell.service: ([\d.]+)", told)[1])
    assert exposure < 2.5  # of 10; systemd calls it OK


def test_the_rule_names_radios_by_their_usb_numbers():
    lines = (ROOT / "packaging/debian/wavetell.udev").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules
    pattern = (
        r'SUBSYSTEM=="usb", ATTRS{idVendor}=="[0-9a-f]{4}", ATTRS{idProduct}=="[0-9a-f]{4}", '
        r'MODE="0660", GROUP="plugdev", TAG\+="uaccess"'
    )
    assert all(re.fullmatch(pattern, rule) for rule in rules)
