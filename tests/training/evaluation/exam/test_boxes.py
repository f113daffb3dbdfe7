"""Found emissions against annotated boxes: the matching, the figures, and the reading of annotations."""

import json

import numpy as np
import pytest

from streaming.errors import WavetellError
from tests.training.evaluation.exam.support import emission
from training.evaluation.exam.box_scores import outcomes, scores, summary
from training.evaluation.exam.boxes import read_boxes
from training.evaluation.exam.labels import Truth
from training.evaluation.exam.matching import TrueBox, match, overlaps

QPSK = Truth("QPSK", "PSK")


def box(begin=0, end=1000, lower_hz=-50.0, upper_hz=50.0, truth=QPSK, snr_db=20.0):
    return TrueBox(begin, end, lower_hz, upper_hz, truth, snr_db)


def test_overlap_is_that_counted_on_a_grid():
    rng = np.random.default_rng(1)
    for _ in range(50):
        corners = np.sort(rng.integers(0, 40, (2, 2, 2)), axis=2)
        if (corners[:, :, 0] == corners[:, :, 1]).any():
            continue
        masks = np.zeros((2, 40, 40), bool)
        for mask, ((t0, t1), (f0, f1)) in zip(masks, corners, strict=True):
            mask[t0:t1, f0:f1] = True
        (time, band), (other_time, other_band) = corners.tolist()
        found = overlaps(box(*time, *band), np.array([[*other_time, *other_band]], float))
        assert found[0] == pytest.approx((masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum())


def test_the_best_pair_is_taken_first():
    boxes = [box(0, 1000), box(400, 1400)]
    found = [emission(350, 1350), emission(0, 1000)]
    assert [(pair.box, pair.emission) for pair in match(boxes, found)] == [(0, 1), (1, 0)]


def test_what_is_reported_twice_is_right_once():
    found = [emission(0, 1000), emission(0, 990)]
    assert [pair.emission for pair in match([box()], found)] == [0]


def test_a_box_needs_three_tenths_of_overlap():
    assert match([box(0, 1000)], [emission(0, 301)])
    assert not match([box(0, 1000)], [emission(0, 299)])
    assert not match([box()], [emission(lower_hz=60.0, upper_hz=160.0)])
    assert match([box()], []) == []


BURSTS = tuple((begin, begin + 100) for begin in range(0, 1000, 200))


def test_a_bursty_emission_is_found_as_one_box_around_it():
    (pair,) = match([box(0, 900)], [emission(0, 900, bursts=BURSTS)])
    assert pair.iou == 1.0


def test_a_bursty_emission_is_found_for_the_boxes_of_its_bursts():
    boxes = [box(*burst) for burst in BURSTS]
    pairs = match(boxes, [emission(0, 900, bursts=BURSTS)])
    assert [(pair.box, pair.emission, pair.iou) for pair in pairs] == [(i, 0, 1.0) for i in range(5)]
    found = scores(outcomes(boxes, [emission(0, 900, bursts=BURSTS)], 0.0))
    assert (found["truth"], found["found"], found["reported"]) == (5, 5, 1)
    assert (found["recall"], found["precision"]) == (1.0, 1.0)


def test_bursts_in_their_own_emissions_are_false_beside_one_box_around_all():
    assert match([box(0, 900)], [emission(*burst) for burst in BURSTS]) == []


def test_a_whole_emission_is_not_also_found_burst_by_burst():
    found = emission(0, 900, bursts=BURSTS)
    assert len(match([box(0, 900), box(*BURSTS[0])], [found])) == 1


def test_bursts_that_are_annotated_apart_and_reported_as_one_are_found():
    boxes = [box(*burst) for burst in BURSTS]
    found = scores(outcomes(boxes, [emission(0, 900)], 0.0))
    assert (found["truth"], found["found"], found["reported"]) == (5, 5, 1)
    assert found["iou_median"] == 1.0
    merged = emission(0, 900, bursts=((0, 300), (400, 900)))  # short pauses passed over
    assert scores(outcomes(boxes, [merged], 0.0))["found"] == 5


def test_what_stands_in_for_bursts_of_another_label_band_or_time_is_not_right():
    apart = [box(0, 100), box(200, 300, truth=Truth("2FSK", "FSK")), box(400, 500, 60.0, 160.0)]
    assert match(apart, [emission(0, 500)]) == []
    at_once = [box(0, 600), box(500, 1100)]
    assert len(match(at_once, [emission(0, 1100)])) == 1
    twice = [emission(0, 900), emission(0, 900)]
    assert scores(outcomes([box(*burst) for burst in BURSTS], twice, 0.0))["precision"] == 0.5


def test_a_spur_need_not_be_found_and_may_be():
    spur = TrueBox(0, 1000, 100.0, 102.0, Truth("spur", "spur"), 20.0, expected=False)
    carrier = emission(300, 900, 98.0, 106.0, label="carrier", family="carrier")
    for found in ([], [carrier], [carrier, carrier]):
        figures = scores(outcomes([box(), spur], [emission(), *found], 0.0))
        assert (figures["truth"], figures["found"], figures["reported"]) == (1, 1, 1)
    wide = emission(300, 900, 90.0, 140.0)  # too wide for a spur
    beside = emission(300, 900, 104.0, 110.0)
    assert scores(outcomes([box(), spur], [emission(), wide, beside], 0.0))["reported"] == 3


# Two recordings by hand: 6 true boxes, 4 found, 6 emissions reported.
def two_recordings():
    bpsk, fm = Truth("BPSK", "PSK"), Truth(None, "FM")
    first = outcomes(
        [
            box(),
            box(2000, 3000, 100, 200, bpsk, 5.0),
            box(4000, 5000, truth=fm, snr_db=12.0),
            box(9000, 9500),
        ],
        [
            emission(0, 1000, -40, 60, "QPSK"),  # centre off by 0.1 of a bandwidth
            emission(2000, 3000, 100, 220, "PSK"),  # centre off by 0.1, bandwidth by 0.2
            emission(4000, 5000, label="unknown"),
            emission(7000, 7100, label="2FSK", family="FSK", snr_db=3.0),  # nothing there
        ],
        0.0,
    )
    second = outcomes(
        [box(truth=None, snr_db=None), box(0, 1000, 300, 400)],
        [emission(0, 800), emission(5000, 5100, label="QPSK", snr_db=25.0)],
        0.0,
    )
    return first + second


def test_the_figures_are_those_counted_by_hand():
    found = summary(two_recordings(), 2, 1, 0.25)
    assert (found["truth"], found["found"], found["reported"]) == (6, 4, 6)
    assert found["recall"] == pytest.approx(4 / 6)
    assert found["precision"] == pytest.approx(4 / 6)
    # IoU: 90/110, 100/120, 1 and 0.8
    assert found["iou_median"] == pytest.approx(np.median([9 / 11, 10 / 12, 1.0, 0.8]))
    assert found["centre_error"] == pytest.approx(np.median([0.1, 0.1, 0, 0]))
    assert found["centre_error_p90"] == pytest.approx(0.1)
    assert found["bandwidth_error"] == pytest.approx(0.0)
    assert found["bandwidth_error_p90"] == pytest.approx(np.quantile([0, 0.2, 0, 0], 0.9))
    assert found["family_right"] == pytest.approx(2 / 3)  # one of the four has no label
    assert found["class_right"] == pytest.approx(1 / 2)  # one more is only a family
    assert found["unknown"] == pytest.approx(1 / 4)
    assert (found["recordings"], found["left_out"], found["cpu_seconds"]) == (2, 1, 0.25)


def test_groups_are_by_snr_and_label():
    found = summary(two_recordings(), 2, 0, 0.0)
    ranges = {name: (g["truth"], g["found"], g["reported"]) for name, g in found["by_snr"].items()}
    assert ranges == {
        "0 to 10 dB": (1, 1, 2),
        "10 to 20 dB": (1, 1, 1),
        "20 to 30 dB": (3, 1, 2),
        "not known": (1, 1, 1),
    }
    names = {name: (g["truth"], g["found"], g["reported"]) for name, g in found["by_label"].items()}
    assert names == {
        "2FSK": (0, 0, 1),
        "BPSK": (1, 1, 1),
        "FM": (1, 1, 1),
        "QPSK": (3, 1, 2),
        "not known": (1, 1, 1),
    }
    assert found["by_label"]["2FSK"]["recall"] is None
    assert found["by_label"]["2FSK"]["precision"] == 0.0
    assert (found["from_10_db"]["truth"], found["from_10_db"]["found"]) == (4, 2)


def test_a_bare_carrier_is_found_at_the_resolution_that_is_asked_for():
    carrier = box(lower_hz=10.0, upper_hz=10.0)
    assert scores(outcomes([carrier], [emission(lower_hz=9.0, upper_hz=11.0)], 40.0))["recall"] == 1.0
    assert scores(outcomes([carrier], [emission(lower_hz=60.0, upper_hz=62.0)], 40.0))["recall"] == 0.0


def test_ten_thousand_emissions_are_matched():
    boxes = [box(i * 100, i * 100 + 80) for i in range(10_000)]
    found = [emission(i * 100, i * 100 + 80) for i in reversed(range(10_000))]
    assert sorted(pair.box for pair in match(boxes, found)) == list(range(10_000))


def write(folder, annotations, captures=({"core:sample_start": 0, "core:frequency": 100e6},)):
    (folder / "x.sigmf-data").write_bytes(bytes(2 * 10_000))
    meta = {
        "global": {"core:datatype": "ci8", "core:sample_rate": 1e6, "core:version": "1.2.0"},
        "captures": list(captures),
        "annotations": annotations,
    }
    (folder / "x.sigmf-meta").write_text(json.dumps(meta))


def note(start=0, count=5000, lower=99.9e6, upper=100.1e6, label="16-QAM", **more):
    edges = {"core:freq_lower_edge": lower, "core:freq_upper_edge": upper}
    fields = {"core:sample_start": start, "core:sample_count": count, "core:label": label, **edges, **more}
    return {key: value for key, value in fields.items() if value is not None}


def test_an_annotation_is_a_box_around_the_centre(tmp_path):
    write(tmp_path, [note(1000, 2000, 99.9e6, 100.2e6, **{"wavetell:snr_db": 12.0})])
    (recording,) = read_boxes(tmp_path, {})
    assert recording.boxes == (TrueBox(1000, 3000, -100e3, 200e3, Truth("16QAM", "QAM"), 12.0),)
    assert recording.narrowest_hz == pytest.approx(1e6 / 2048)


def test_the_snr_of_other_extensions_counts(tmp_path):
    write(tmp_path, [note(**{"gen:SNR_dB": 7}), note(**{"snr": 8.5}), note(**{"other:power": 3})])
    assert [box.snr_db for box in read_boxes(tmp_path, {})[0].boxes] == [7.0, 8.5, None]


def test_boxes_are_cut_at_the_band_and_left_out_beyond_it(tmp_path):
    annotations = [
        note(lower=99e6, upper=100e6),
        note(lower=101e6, upper=102e6),  # outside
        note(lower=None),
        note(count=None),
        note(count=0),
        note(lower=100.1e6, upper=100.0e6),
        note(label="noise", lower=None),
        note(label=None),
    ]
    write(tmp_path, annotations)
    (recording,) = read_boxes(tmp_path, {})
    assert [(box.lower_hz, box.upper_hz) for box in recording.boxes] == [(-500e3, 0.0), (-100e3, 100e3)]
    assert recording.boxes[1].truth is None
    assert recording.left_out == 5


def test_a_box_ends_with_the_recording(tmp_path):
    write(tmp_path, [note(9_000, 5_000), note(0, 10_000)])
    assert [(box.begin, box.end) for box in read_boxes(tmp_path, {})[0].boxes] == [
        (9_000, 10_000),
        (0, 10_000),
    ]


def test_an_snr_that_is_not_a_number_is_not_known_and_a_spur_is_not_expected(tmp_path):
    write(tmp_path, [note(**{"gen:snr": "20 dB"}), note(label="spur")])
    first, second = read_boxes(tmp_path, {})[0].boxes
    assert (first.snr_db, first.expected, second.expected) == (None, True, False)


def test_boxes_without_any_label_are_judged_as_boxes_alone(tmp_path):
    write(tmp_path, [note(label=None), note(5_000, 1_000, label="")])
    (recording,) = read_boxes(tmp_path, {})
    figures = scores(outcomes(recording.boxes, [emission(0, 5_000, -100e3, 100e3)], 0.0))
    assert (figures["recall"], figures["precision"], figures["family_right"]) == (0.5, 1.0, None)


def test_a_box_over_lost_samples_lasts_as_long_as_the_stream(tmp_path):
    captures = [
        {"core:sample_start": 0, "core:frequency": 100e6},
        {"core:sample_start": 6000, "core:frequency": 100e6, "core:global_index": 50_000},
    ]
    write(tmp_path, [note(5_000, 2_000)], captures)
    (found,) = read_boxes(tmp_path, {})[0].boxes
    assert (found.begin, found.end) == (5_000, 51_000)


def test_boxes_lie_where_lost_samples_and_other_frequencies_put_them(tmp_path):
    captures = [
        {"core:sample_start": 0, "core:frequency": 100e6},
        {"core:sample_start": 6000, "core:frequency": 101e6, "core:global_index": 50_000},
    ]
    write(tmp_path, [note(7000, 1000, 101e6, 101.1e6)], captures)
    (found,) = read_boxes(tmp_path, {})[0].boxes
    assert (found.begin, found.end, found.lower_hz, found.upper_hz) == (51_000, 52_000, 0.0, 100e3)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ([], "has no labels.csv, and none of its 1 SigMF recordings has an annotated box"),
        ([note(lower=None)], "none of its 1 SigMF recordings has an annotated box"),
        ([note(lower="low")], "has an annotation that cannot be read"),
        ([note(start=None)], "core:sample_start"),
        ([note(lower=float("nan"))], "has an annotation that cannot be read"),
        ([note(start=10_000)], "it goes up to sample 10000"),
    ],
)
def test_bad_annotations_are_one_clear_line(tmp_path, annotations, message):
    write(tmp_path, annotations)
    with pytest.raises(WavetellError) as error:
        read_boxes(tmp_path, {})
    assert message in str(error.value)
    assert "\n" not in str(error.value)
