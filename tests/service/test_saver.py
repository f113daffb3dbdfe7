"""`--save`: emissions are recorded on their own as they end, all of them or only what was not named."""

from dataclasses import replace

import pytest

from tests.service.conftest import serving, small_bundle, within
from tests.service.scenes import RATE, band, write

CENTRES = [433e6 - 60e3, 433e6 + 50e3]  # of what `band` sends


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """The file of a model that names nothing."""
    bundle = small_bundle("refusing")
    heads = {name: replace(head, threshold=1.0) for name, head in bundle.heads.items()}
    path = tmp_path_factory.mktemp("model") / "refusing.safetensors"
    replace(bundle, heads=heads).save(path)
    return path


def hear(folder, model, *argv):
    """The recordings, once a band was heard to its end."""
    source = write(folder, band())
    with serving(folder / "data", model, f"file:{source}?pace=fast", *argv) as service:
        (stream,) = (each["id"] for each in service.get("/v1/streams").json())
        past = f"/v1/streams/{stream}/emissions?state=past"
        service.until(past, lambda page: len(page["emissions"]) == 2, seconds=within(20))
    with serving(folder / "data", model) as service:  # one that stops saves what ended
        return service.get("/v1/recordings").json()


@pytest.mark.parametrize("what", ["unknown", "all"])
def test_what_was_not_named_is_recorded_in_its_own_channel(tmp_path, refusing, what):
    recordings = hear(tmp_path, refusing, "--save", what)
    assert sorted(each["freq_hz"] for each in recordings) == pytest.approx(CENTRES, abs=2e3)
    for each in recordings:
        assert each["labels"] == ["unknown"]
        assert each["rate_hz"] < RATE / 2
        assert each["samples"] / each["rate_hz"] == pytest.approx(1.5, abs=0.05)


@pytest.mark.parametrize(("what", "kept"), [("unknown", 0), ("no", 0), ("all", 2)])
def test_what_was_named_is_recorded_only_where_all_is(tmp_path, model, what, kept):
    assert len(hear(tmp_path, model, "--save", what)) == kept
