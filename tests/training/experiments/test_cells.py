"""Cells are run once, found again, and named by what decides them."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from streaming.errors import ConfigError
from training.experiments import Settings, changed, command, run
from training.experiments.cases import Case
from training.experiments.cells import Cell, cached, run_cell
from training.experiments.rates import chosen
from training.experiments.runner import grouped, run_cells
from training.experiments.scale import CHOSEN, SCALES, find_scale
from training.experiments.summary import summarise
from training.experiments.tables import TABLES, level_of, methods_of
from training.methods import METHODS
from training.methods.pretrained import adapted
from training.pretraining.recipes import RECIPES

SMOKE = SCALES["smoke"]


def test_a_cell_is_run_once(tmp_path, monkeypatch):
    cell = Cell("cumulants", Case(), 0, SMOKE)
    first = run_cell(cell, tmp_path)
    monkeypatch.setattr("training.experiments.cells.open_case", None)  # a second run would fail
    assert run_cell(cell, tmp_path) == first
    assert first["result"]["clients"]["client-1"]["frames"] == SMOKE.test
    assert first["cell"]["seed"] == 0
    assert {"commit", "machine", "cpu_seconds", "utc"} <= set(first)


def test_whatever_decides_a_result_makes_another_cell():
    cell = Cell("fedavg", Case(), 0, SMOKE)
    others = [
        replace(cell, method="fedprox"),
        replace(cell, seed=1),
        replace(cell, case=Case(labels=4_200)),
        replace(cell, case=Case(unit_power=False)),
        replace(cell, changes=(("level", "raw"),)),
        replace(cell, trial=True),
        replace(cell, scale=replace(SMOKE, test=30)),
    ]
    assert len({c.key for c in [cell, *others]}) == 8
    assert replace(cell, scale=replace(SMOKE, about="other words")).key == cell.key


def test_a_changed_recipe_is_another_cell(monkeypatch):
    from training.pretraining.recipes import RECIPES

    cell = Cell("wavetell", Case(), 0, SMOKE)
    before = cell.key
    monkeypatch.setitem(RECIPES, "wavetell", replace(RECIPES["wavetell"], rate=0.5))
    assert cell.key != before


def test_cells_that_share_a_pretraining_go_to_one_worker():
    cells = [Cell("fedssl-amc", Case(labels=n), 0, SMOKE) for n in (2_800, 14_000)]
    cells += [Cell(name, Case(), 0, SMOKE) for name in ("cssl-frozen", "cssl-tuned", "dae")]
    assert [len(group) for group in grouped(cells)] == [2, 2, 1]


def test_a_stopped_run_goes_on(tmp_path):
    cells = [Cell("cumulants", Case(labels=n), 0, SMOKE) for n in (2_800, 4_200, 7_000)]

    def stop(done, total, cell):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, tmp_path, 1, stop)
    assert [cached(cell, tmp_path) is not None for cell in cells] == [True, True, False]
    seen = []
    run_cells(cells, tmp_path, 1, lambda done, total, cell: seen.append((done, total)))
    assert seen == [(2, 3), (3, 3)]


def test_seeds_are_added_up_and_clients_averaged():
    def result(*rights):
        return {
            "result": {"clients": {str(i): {"accuracy": r / 10, "frames": 10} for i, r in enumerate(rights)}}
        }

    found = summarise([result(5, 9), result(7, 9)])
    assert (found.mean, found.seeds, found.frames) == (pytest.approx(75.0), 2, 40)
    assert found.spread == pytest.approx(100 * np.std([0.7, 0.8], ddof=1))
    # the mean of two shares of 20 frames each
    assert found.half == pytest.approx(100 * 1.959964 * np.sqrt(0.6 * 0.4 / 20 + 0.9 * 0.1 / 20) / 2)
    assert summarise([result(5, 9)], client=1).mean == pytest.approx(90.0)


def test_a_rate_is_chosen_only_where_it_gains_more_than_the_error():
    trials = [("a", 1e-3, 50.0, 1.5), ("a", 3e-3, 53.0, 1.5), ("b", 3e-4, 11.0, 1.5), ("b", 1e-3, 10.0, 1.5)]
    assert chosen(trials) == {"a": 3e-3, "b": 1e-3}


def test_the_scale_paper_is_the_papers_protocol():
    paper = find_scale("paper")
    budget = paper.budget_for("fedavg", measured=False)
    assert (budget.rounds, budget.epochs, budget.batch, budget.rate, budget.batches) == (
        1_000,
        1,
        64,
        1e-3,
        None,
    )
    assert (budget.pretrain_rounds, budget.pretrain_steps, budget.pretrain_batch) == (10, 15_000, 50)
    measured = paper.budget_for("fedavg", measured=True)
    assert (measured.rounds, measured.epochs) == (10, 100)
    assert (paper.labels, paper.unlabelled) == (1.0, 1.0)
    assert set(CHOSEN) <= set(METHODS)
    with pytest.raises(ConfigError, match="expected paper, night, hour, smoke"):
        find_scale("day")


def test_tables_name_methods_that_exist_and_numbers_for_every_column():
    for table in TABLES.values():
        assert set(table.methods) | set(table.published) <= set(METHODS)
        assert all(len(row) == len(table.columns) for row in table.published.values())
        assert "limit" not in methods_of(
            table, next((c for c in table.columns if c.case.measured), table.columns[0])
        ) or (not table.columns[0].case.measured)


def test_settings_that_the_paper_leaves_open_change_every_column_that_does_not_set_them(tmp_path):
    asked = {"changes": (("level", "raw"), ("proximal", 0.1)), "case": (("unit_power", False),)}
    settings = Settings(tmp_path, SMOKE, **asked)
    table = changed(TABLES["variants"], settings)
    columns = {column.title: column for column in table.columns}
    assert not columns["as in the tables"].case.unit_power
    assert dict(columns["averaged classifiers"].changes) == {
        "level": "raw",
        "proximal": 0.1,
        "federated": True,
    }
    assert level_of("fedavg", columns["as in the tables"]) == "raw"
    assert command("variants", settings).endswith("--unnormalised --level raw --proximal 0.1")
    cell = Cell("wavetell", Case(), 0, SMOKE, changes=settings.changes)
    assert cell.pretraining() != Cell("wavetell", Case(), 0, SMOKE).pretraining()
    assert adapted(RECIPES["wavetell"], cell.budget).proximal == 0.1
    assert settings.folder != Settings(tmp_path, SMOKE).folder


def test_heads_that_see_the_level_share_their_pretraining_and_have_the_other_limit():
    cells = [Cell(name, Case(), 0, SMOKE) for name in ("wavetell", "wavetell-level")]
    assert cells[0].pretraining() == cells[1].pretraining()
    assert cells[0].key != cells[1].key
    column = TABLES["accuracy"].columns[0]
    assert (level_of("wavetell", column), level_of("wavetell-level", column)) == ("rms", "raw")


def test_a_table_without_its_data_names_the_file(tmp_path):
    with pytest.raises(ConfigError, match=r"migou_dataset_19\.08_400000x128\.pkl; put it into"):
        run("alpha", Settings(tmp_path, SMOKE, data=tmp_path))


def test_a_table_is_written_with_the_papers_numbers_beside_ours(tmp_path):
    settings = Settings(
        tmp_path,
        SMOKE,
        data=tmp_path,
        workers=1,
        methods=("cumulants", "limit", "limit-level-free", "dae"),
        seeds=2,
        say=lambda text: None,
    )
    paths = {path.name: path for path in run("accuracy", settings)}
    assert set(paths) == {"accuracy.csv", "accuracy.md", "accuracy-curves.csv", "accuracy-curves.png"}
    text = paths["accuracy.md"].read_text()
    assert "| DAE | 37.6 | " in text
    assert "(limit " in text
    assert "wavetell experiment accuracy --scale smoke --seeds 2" in text
    lines = paths["accuracy.csv"].read_text().splitlines()
    assert lines[0].startswith("method,column,paper,ours,half_width_95")
    rows = {row["method"]: row for row in csv.DictReader(lines)}
    assert list(rows) == ["DAE", "cumulants + SVM", "likelihood limit", "likelihood limit, level-free"]
    free = rows["likelihood limit, level-free"]
    assert free["seeds"] == "1"  # a limit is a number, not a draw
    assert rows["DAE"]["limit"] == free["ours"] == free["limit"]  # DAE divides frames by their norm
    assert rows["likelihood limit"]["limit"] == rows["likelihood limit"]["ours"]


def test_a_report_runs_nothing_and_shows_what_is_there(tmp_path):
    settings = Settings(tmp_path, SMOKE, workers=1, report=True, say=lambda text: None)
    with pytest.raises(ConfigError, match="no cell of labels has been run"):
        run("labels", settings)
    run_cell(Cell("cumulants", Case(labels=7_000), 0, SMOKE), tmp_path / "smoke" / "cache")
    run("labels", settings)
    text = (tmp_path / "smoke" / "labels.md").read_text()
    assert "7.0k labels: paper" in text
    assert "2.8k" not in text
