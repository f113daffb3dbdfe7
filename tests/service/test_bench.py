"""The benchmark measures what it says: real runs with tiny settings, and no timing asserted."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from unittest import mock

import numpy as np
import pytest
import torch

from service.bench.contestant import Refused
from service.bench.engine import BACKENDS
from service.bench.race import Runner, one_core, race
from service.bench.report import bars, plot, targets, text
from service.bench.trial import SHAPES, Heat, Line, Trial
from service.cli import main
from streaming.native_library import BF16, ISA_VARIABLE, works
from tests.require import need

FIELDS = ["backend", "chunk", "streams", "samples_per_s", "p50_us", "p99_us", "max_error", "peak_fraction"]
MAIN = "import sys; from service.cli import main; sys.exit(main())"


def bench(*options):
    """A run in a process of its own, as a user starts it."""
    command = [sys.executable, "-c", MAIN, "bench", "engine", "--seconds", "0.01", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_json_is_one_object_a_line_with_every_field_and_its_error():
    done = bench("--json", "--chunks", "100,256", "--streams", "1,2", "--backends", "torch,recompute")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = [(line["backend"], line["chunk"], line["streams"]) for line in lines]
    hop = [("torch", 100, 1), ("recompute", 100, 1), ("torch", 100, 2), ("recompute", 100, 2)]
    assert found == [*hop, ("torch", 256, 1), ("torch", 256, 2)]
    for line in lines:
        assert list(line) == FIELDS
        assert line["samples_per_s"] > 0
        assert 0 < line["p50_us"] <= line["p99_us"]
        assert line["peak_fraction"] is None or 0 < line["peak_fraction"] < 1.5
        if line["backend"] == "torch":
            assert line["max_error"] < 1e-6
        else:  # a window cut out of the stream is not the stream
            assert 0.01 < line["max_error"] < 1
    assert "recompute refuses lines: it recomputes once a hop of 100" in done.stderr
    assert "chunks of 256, 2 streams (4 of 4)" in done.stderr


def test_a_table_bars_and_targets_are_printed_and_a_plot_is_drawn(tmp_path):
    drawing = tmp_path / "engine.png"
    done = bench("--chunks", "100", "--streams", "1", "--backends", "torch,recompute", "--plot", str(drawing))
    assert done.returncode == 0, done.stderr
    assert "thousand samples per second, by chunk" in done.stdout
    assert "█" in done.stdout
    assert drawing.read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module", params=list(SHAPES))
def any_trial(request):
    """With a processor that lacks bfloat16, the kernel emulates it: slower, but not left out."""
    built = find_spec("streaming._kernel") is not None
    emulated = {ISA_VARIABLE: "amx-emulated"} if built and not any(map(works, BF16)) else {}
    with one_core(), mock.patch.dict(os.environ, emulated):
        yield Trial(2, 256, SHAPES[request.param])


@pytest.fixture(scope="module")
def trial():
    return Trial(2, 256, SHAPES["paper"])


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("chunk", [1, 16, 100, 256])
@pytest.mark.parametrize("name", [name for name in BACKENDS if name != "recompute"])
def test_every_contestant_computes_the_encoders_features(any_trial, name, chunk, streams):
    trial, stride = any_trial, any_trial.encoder.shape.stride
    if name not in trial.classes:
        need(trial.admits(name, BACKENDS[name]), name)
    refuses = {
        "pytorch-tcn": streams > 1 or stride > 1,
        "cached-conv": stride > 1,
        "onnxruntime": chunk % stride,
        "openvino": chunk % stride,
    }
    if refuses.get(name):
        assert trial.measure([name], chunk, streams, seconds=1e-4) == [Line(name, chunk, streams)]
        return
    heat = Heat(trial.classes[name](trial.encoder, streams, chunk), trial, streams, chunk)
    assert heat.error < (2e-2 if name == "native-bf16" else 1e-6)


def test_pytorch_tcn_itself_refuses_several_streams(trial):
    need(find_spec("pytorch_tcn") is not None, "Python package pytorch-tcn (extra bench)")
    from service.bench.torch_rivals import PytorchTcn

    with pytest.raises(Refused):
        PytorchTcn(trial.encoder, 2, 100)
    with pytest.raises(ValueError, match="batch size"):
        PytorchTcn(trial.encoder, 1, 100).push(trial.signal[:2, :100])


def test_recomputing_is_the_encoder_over_the_last_ten_hops(any_trial):
    from service.bench.torch_rivals import Recompute

    encoder, hop = any_trial.encoder, any_trial.hop
    contestant = Recompute(encoder, 2, hop)
    for i in range(0, 20 * hop, hop):
        found = contestant.push(any_trial.signal[:, i : i + hop])
    window = np.ascontiguousarray(any_trial.signal[:, 10 * hop : 20 * hop])
    with torch.no_grad():
        expected = encoder.features(torch.view_as_real(torch.from_numpy(window))).amax(1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * float(expected.abs().max()))


def test_a_missing_library_is_one_plain_line_and_left_out(trial, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cached_conv.convs", None)
    assert not trial.admits("cached-conv", BACKENDS["cached-conv"])
    assert capsys.readouterr().err.startswith("cached-conv is left out: import of cached_conv")


def test_a_race_goes_round_and_its_speed_is_the_10th_percentile_turn():
    order = []
    runners = [Runner(lambda i=i: order.append(i) or sum(range(200_000)) * 0 + 5.0) for i in range(2)]
    race(runners, seconds=0.05)
    turns = [i for n, i in enumerate(order) if n == 0 or order[n - 1] != i]
    assert turns[:4] == [0, 1, 0, 1]
    for runner in runners:
        assert runner.spent_s >= 0.05
        assert runner.per_s == pytest.approx(1 / np.percentile(runner.turns, 10))


def test_one_core_is_left_again():
    before = os.sched_getaffinity(0), torch.get_num_threads()
    with one_core():
        assert len(os.sched_getaffinity(0)) == torch.get_num_threads() == 1
    assert (os.sched_getaffinity(0), torch.get_num_threads()) == before


def test_the_report_compares_with_the_targets(tmp_path):
    rates = {"native": 300e3, "onnxruntime": 100e3, "openvino": 60e3, "recompute": 6e3}
    lines = [Line(name, 100, 1, rate, 1.0, 2.0, 1e-7, rate / 400e3) for name, rate in rates.items()]
    assert list(targets(lines)) == [
        "native over the best library, chunks of 100: 3.0 times; the target is 3",
        "native over recomputing the window, chunks of 100: 50.0 times; the target is 35",
        "native of the core's peak, chunks of 100: 75 %; the target is 70 with AVX-512",
    ]
    assert bars(lines).splitlines()[-1].split() == ["peak", "█" * 50, "400"]
    refused = [*lines, Line("pytorch-tcn", 100, 4)]
    assert [row.split()[-1] for row in text(refused).splitlines() if "pytorch-tcn" in row] == [
        "refused",
        "pytorch-tcn",
    ]
    plot(refused, tmp_path / "speed.svg")
    assert "<svg" in (tmp_path / "speed.svg").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backends", "gpu"], "--backends has 'gpu'; it must be of native, "),
        (["--chunks", "1,x"], "'1,x' is not a list of whole numbers of at least 1"),
        (["--streams", "0"], "'0' is not a list of whole numbers of at least 1"),
        (["--seconds", "0"], "--seconds is 0; it must be above 0"),
        (["--plot", "speed.txt"], "its name must end with .png, .svg or .pdf"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(options, message, capsys):
    assert main(["bench", "engine", *options]) == 2
    assert message in capsys.readouterr().err
