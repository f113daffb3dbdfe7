"""The published numbers against the paper's own tables."""

import re

import pytest

from tests.require import shared
from training.experiments import published

NAMES = {
    "FedAvg-CNN": "fedavg",
    "FedeAMC": "fedeamc",
    "FedProx-CNN": "fedprox",
    "FedDyn-CNN": "feddyn",
    "PMSGD-CNN": "pmsgd",
    "FedAH-CNN": "fedah",
    "FedRep-CNN": "fedrep",
    "SimCSE-CNN+SVM": "simcse",
    "CSSL-AMC (enc. not frozen)": "cssl-tuned",
    "CSSL-AMC (enc. frozen)": "cssl-frozen",
    "SemiAMC": "semiamc",
    "DAE": "dae",
    "FedSSL-AMC (Ours)": "fedssl-amc",
}


def table(label):
    """The rows of one of the paper's tables; deviations in brackets are left out."""
    text = shared("paper/fedssl-amc.tex").read_text()
    text = text[text.index(f"\\label{{{label}}}") :]
    text = text[: text.index("\\end{tabular}")]
    rows = {}
    for row in text.split("\\\\"):
        cells = [cell.strip() for cell in re.sub(r"\s+", " ", row).split("&")]
        name = re.search(r"\\textbf\{([^}]*)\}$", cells[0])
        if name and name[1] in NAMES:
            values = [re.sub(r"\\textbf\{([^}]*)\}", r"\1", cell) for cell in cells[1:]]
            if values[0] != "--":
                rows[NAMES[name[1]]] = tuple(float(value.split("(")[0]) for value in values)
    return rows


@pytest.mark.parametrize(
    ("label", "numbers"),
    [
        ("tab:acc_all_datasets", published.ACCURACY),
        ("tab_num_labeled", published.LABELS),
        ("tab:results1b", published.SNR_CLIENTS),
        ("tab:mean_acc_labeled_CFO", published.CFO),
    ],
)
def test_numbers_are_the_papers(label, numbers):
    assert numbers == table(label)


def test_numbers_of_migou_are_the_papers():
    rows = table("tab:beta_results")
    assert {name: row[:7] for name, row in rows.items()} == published.ALPHA
    assert {name: row[7:] for name, row in rows.items()} == published.CLUSTERS
