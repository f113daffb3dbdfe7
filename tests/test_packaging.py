"""What is installed beside the packages: the unit, the container, its neighbours."""

import re
import subprocess

import yaml

from tests.require import ROOT, need_program

UNIT = ROOT / "packaging/wavetell.service"


def test_the_unit_is_sound_and_confined():
    analyze = need_program("systemd-analyze")
    checked = subprocess.run([analyze, "verify", str(UNIT)], capture_output=True, text=True, check=False)
    # wavetell is not in /opt here, and the manual page is not installed.
    found = checked.stderr.splitlines()
    assert [line for line in found if "/opt/wavetell" not in line and "man " not in line] == []
    told = subprocess.run(
        [analyze, "security", "--offline=true", str(UNIT)], capture_output=True, text=True, check=False
    ).stdout
    exposure = float(re.search(r"exposure level for wavetell.service: ([\d.]+)", told)[1])
    assert exposure < 2.5  # of 10; systemd calls it OK


def test_the_container_runs_as_nobody_special_and_tells_its_health():
    stages = re.split(r"^FROM ", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert "\nUSER wavetell\n" in stages[-1]
    assert "/v1/health" in stages[-1]
    assert "g++" in stages[1]
    assert "g++" not in stages[-1]


def test_the_services_around_it_are_reached_from_this_machine_only():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert set(services) == {"wavetell", "postgres", "mosquitto"}
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert services["wavetell"]["cap_drop"] == ["ALL"]


def test_the_rule_names_radios_by_their_usb_numbers():
    lines = (ROOT / "packaging/60-wavetell.rules").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules
    pattern = (
        r'SUBSYSTEM=="usb", ATTRS{idVendor}=="[0-9a-f]{4}", ATTRS{idProduct}=="[0-9a-f]{4}", '
        r'MODE="0660", GROUP="plugdev"'
    )
    assert all(re.fullmatch(pattern, rule) for rule in rules)
