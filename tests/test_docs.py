"""The documents are true: pages made from the code are current, commands run, links lead somewhere."""

import json
import re
import subprocess
import sys
import tarfile

import pytest

from tests.ports import free_port
from tests.require import ROOT
from tests.service.conftest import serving

PLACES = {"service": "http://127.0.0.1:8433", "zmq": "tcp://127.0.0.1:5555"}
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def test_pages_made_from_the_code_are_current():
    command = [sys.executable, "-m", "docs.generate", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_commands(page, folder, **changed):
    """What the commands of a page print, run one after the other in a folder like the checkout."""
    script = "\n".join(re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))
    assert script
    for old, new in changed.items():
        script = script.replace(PLACES[old], new)
    for name in ("service", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    bash = ["bash", "-euo", "pipefail", "-m", "-c", script]
    done = subprocess.run(bash, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


def test_the_commands_of_the_tutorial_run(tmp_path):
    out = run_commands("docs/tutorial.md", tmp_path, zmq=f"tcp://127.0.0.1:{free_port()}")
    assert "whole: " in out  # of `predict`
    assert '"label": ' in out  # of `listen`
    assert (tmp_path / "mine.sigmf-meta").exists()


def test_the_commands_of_the_rest_guide_run(tmp_path):
    with serving(tmp_path / "data", "radio") as service:
        out = run_commands("docs/rest.md", tmp_path, service=service.base)
    assert "data: {" in out  # a report as a server-sent event
    assert "one class" in out.lower() or "two classes" in out.lower()
    predicted = json.loads((tmp_path / "predicted.json").read_text())
    assert predicted["model"] == "radio"
    with tarfile.open(tmp_path / "capture.sigmf") as archive:
        kinds = {name.rpartition(".")[2] for name in archive.getnames()}
    assert kinds == {"sigmf-meta", "sigmf-data"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
