"""Every attack that once worked, and its relatives: each is refused in one line, and nothing is harmed."""

from tests.service.attacks import attack
from tests.service.conftest import serving


def test_every_attack_is_refused_and_the_service_is_unharmed(tmp_path, model):
    with serving(tmp_path / "data", model) as service:
        count, wrong, _ = attack(service, tmp_path)
    assert wrong == []
    assert count > 700
    assert "Traceback" not in (tmp_path / "data.log").read_text()
