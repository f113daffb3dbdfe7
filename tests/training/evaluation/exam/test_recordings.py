"""One decision per recording: which one, and the figures over many."""

import pytest
from scipy.stats import binomtest

from streaming.errors import WavetellError
from tests.training.evaluation.exam.support import emission
from training.evaluation.exam.labels import Truth
from training.evaluation.exam.recordings import Decision, LabelledRecording, decide, read_labels, summary
from training.evaluation.exam.sets import Recording, half, snr_range


def decision(truth, found, source="a", snr_db=15.0, grade=None):
    return Decision(LabelledRecording("x", "file:x", source, Truth(*truth), snr_db, grade), found, 0.5)


def test_the_strongest_emission_that_is_not_a_bare_carrier_decides():
    weak, strong = emission(energy=2.0), emission(energy=3.0, label="unknown")
    spur = emission(energy=90.0, label="carrier", family="carrier")
    assert decide([weak, strong, spur]) is strong
    assert decide([spur]) is spur
    assert decide([]) is None


# Ten recordings with known answers; counted by hand: 7 families, 4 of 8 known classes, 2 unknown, 1 missed.
QPSK, OOK, FM = ("QPSK", "PSK"), ("OOK", "ASK"), (None, "FM")
TEN = [
    decision(QPSK, emission(label="QPSK"), "a", 5.0, "A"),
    decision(QPSK, emission(label="QPSK"), "a", 12.0, "A"),
    decision(QPSK, emission(label="PSK"), "b", 12.0, "A"),  # the family alone
    decision(QPSK, emission(label="8PSK"), "b", 12.0, "B"),  # another class of the family
    decision(QPSK, emission(label="unknown"), "b", 31.0, "B"),
    decision(OOK, emission(label="OOK", family="ASK"), "c", None, "B"),
    decision(OOK, None, "c", None, "B"),
    decision(FM, emission(label="WBFM", family="FM"), "c", 10.0),
    decision(FM, emission(label="unknown"), "c", 10.0),
    decision(("noise", "noise"), None, "c", -3.0),  # silence is the right answer
]


def test_the_figures_are_those_counted_by_hand():
    found = summary(TEN, unlabelled=3)
    assert found["recordings"] == 10
    assert found["unlabelled"] == 3
    assert found["family_right"] == pytest.approx(7 / 10)
    assert (found["class_right"], found["with_class"]) == (pytest.approx(4 / 8), 8)
    assert found["unknown"] == pytest.approx(2 / 10)
    assert found["nothing_found"] == pytest.approx(1 / 10)
    assert found["cpu_seconds"] == pytest.approx(5.0)


def test_intervals_are_wilsons():
    found = summary(TEN, unlabelled=0)
    for name, (right, total) in {"family_right": (7, 10), "class_right": (4, 8), "unknown": (2, 10)}.items():
        expected = binomtest(right, total).proportion_ci(0.95, "wilson")
        assert found[f"{name}_interval"] == pytest.approx(tuple(expected), abs=1e-6)


def test_groups_are_by_family_snr_source_and_grade():
    found = summary(TEN, unlabelled=0)
    assert {name: group["recordings"] for name, group in found["by_family"].items()} == {
        "ASK": 2,
        "FM": 2,
        "PSK": 5,
        "noise": 1,
    }
    assert found["by_family"]["PSK"]["family_right"] == pytest.approx(4 / 5)
    assert found["by_family"]["FM"]["class_right"] is None
    assert [(name, group["recordings"]) for name, group in found["by_snr"].items()] == [
        ("below 0 dB", 1),
        ("0 to 10 dB", 1),
        ("10 to 20 dB", 5),
        ("from 30 dB", 1),
        ("not known", 2),
    ]
    assert found["by_source"]["b"]["unknown"] == pytest.approx(1 / 3)
    assert found["by_grade"]["A"]["family_right"] == 1.0
    assert found["by_grade"]["not known"]["recordings"] == 3
    assert found["confusion"]["QPSK"] == {"QPSK": 2, "PSK": 1, "8PSK": 1, "unknown": 1}


def test_without_grades_there_is_no_group_of_them():
    assert "by_grade" not in summary([decision(QPSK, None)], unlabelled=0)


@pytest.mark.parametrize(
    ("snr_db", "name"),
    [(-0.1, "below 0 dB"), (0.0, "0 to 10 dB"), (29.9, "20 to 30 dB"), (30.0, "from 30 dB")],
)
def test_an_edge_belongs_to_the_range_above_it(snr_db, name):
    assert snr_range(snr_db) == name


def test_an_snr_that_is_not_a_number_is_not_known():
    assert snr_range(float("nan")) == snr_range(None) == "not known"


def test_the_halves_share_no_source_and_are_everything():
    recordings = [Recording(f"{i}.cu8", "", f"device {i % 7}") for i in range(50)]
    even, odd = half(recordings, "even"), half(recordings, "odd")
    assert {r.source for r in even} == {"device 0", "device 2", "device 4", "device 6"}
    assert {r.source for r in odd} == {"device 1", "device 3", "device 5"}
    assert len(even) + len(odd) == 50
    assert half(recordings[::-1], "even") == even[::-1]


def labels(folder, text, encoding="utf-8"):
    for name in ("a_250k.cu8", "b.cf32"):
        (folder / name).write_bytes(bytes(16))
    (folder / "labels.csv").write_text(text, encoding=encoding)
    return read_labels(folder, {})


def test_a_row_is_read_with_all_it_says(tmp_path):
    text = (
        "file,modulation,family,device,snr_estimate_db,grade,sample_rate_hz,colour\n"
        "a_250k.cu8,16-QAM,,kettle,12.5,A,,red\n"
        "b.cf32,LoRa,FSK,,,,48000,\n"
        "c.cu8,,,,,,,\n"
    )
    (first, second), unlabelled = labels(tmp_path, text)
    assert unlabelled == 1
    assert (first.truth, first.source, first.snr_db, first.grade) == (("16QAM", "QAM"), "kettle", 12.5, "A")
    assert first.address == f"file:{tmp_path}/a_250k.cu8"
    assert second.truth == ("chirp", "FSK")  # the column is the user's word
    assert (second.source, second.snr_db, second.grade) == ("b.cf32", None, None)
    assert second.address == f"file:{tmp_path}/b.cf32?rate=48000.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,class\na_250k.cu8,OOK\n", "has the columns name, class; it must have file and modulation"),
        ("file,modulation\n", "has 0 rows and none with a modulation"),
        ("file,modulation\na_250k.cu8,\n", "has 1 rows and none with a modulation"),
        ("file,modulation\nz.cu8,OOK\n", "names 'z.cu8'; there is no such file"),
        ("file,modulation\n,OOK\n", "names ''; there is no such file"),
        (
            "file,modulation,snr_db\na_250k.cu8,OOK,loud\n",
            "snr_db of a_250k.cu8 is 'loud'; it must be",
        ),
        ("", "has the columns (none); it must have file and modulation"),
    ],
)
def test_a_bad_table_is_one_clear_line(tmp_path, text, message):
    with pytest.raises(WavetellError) as error:
        labels(tmp_path, text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_table_that_is_not_text_is_one_clear_line(tmp_path):
    with pytest.raises(WavetellError, match=r"labels\.csv is not a CSV file in UTF-8"):
        labels(tmp_path, "file,modulation\né,OOK\n", "latin-1")
