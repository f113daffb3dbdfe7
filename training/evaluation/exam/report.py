"""The exam as a table that people read: percent, with 95 % intervals."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

Figures = Mapping[str, Any]
RECORDINGS = {
    "family_right": "right family",
    "class_right": "right class",
    "unknown": "unknown",
    "nothing_found": "nothing found",
}
BOXES = {
    "recall": "recall",
    "precision": "precision",
    "family_right": "right family",
    "class_right": "right class",
    "unknown": "unknown",
}
ERRORS = ("iou_median", "centre_error", "centre_error_p90", "bandwidth_error", "bandwidth_error_p90")


def recordings_text(summary: Figures) -> str:
    """One decision per recording: all, then by family, SNR, grade and source, and what was answered."""
    groups = {"all": {"": summary}} | {
        name: summary[f"by_{name}"] for name in ("family", "snr", "grade") if f"by_{name}" in summary
    }
    answers = (
        f"  {truth:<12} " + ", ".join(f"{answer} {count}" for answer, count in counts.items())
        for truth, counts in summary["confusion"].items()
    )
    sources = (
        f"{name} {round(figures['family_right'] * figures['recordings'])}/{figures['recordings']}"
        for name, figures in summary["by_source"].items()
    )
    return "\n".join(
        [
            f"{summary['recordings']} recordings; {summary['unlabelled']} more have no label",
            *table(groups, ("recordings",), RECORDINGS),
            "",
            "answers",
            *answers,
            "",
            "right families by source",
            fill(
                ", ".join(sources), 108, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
            ),
            "",
            f"{summary['cpu_seconds']:.1f} s of CPU",
        ]
    )


def boxes_text(summary: Figures) -> str:
    """Found boxes: all, then by SNR and label, and how well they fit."""
    high = summary["from_10_db"]
    groups = {
        "all": {"": summary, "from 10 dB": high},
        "snr": summary["by_snr"],
        "label": summary["by_label"],
    }
    return "\n".join(
        [
            f"{summary['recordings']} recordings, {summary['truth']} boxes; "
            f"{summary['left_out']} annotations have no box in the band",
            *table(groups, ("truth", "found", "reported"), BOXES),
            "",
            "fit of the boxes found; errors in bandwidths, median and 90 %",
            fit("all", summary),
            fit("from 10 dB", high),
            "",
            f"{summary['cpu_seconds']:.1f} s of CPU",
        ]
    )


def fit(name: str, figures: Figures) -> str:
    """How well the boxes of a group fit."""
    iou, centre, centre_90, width, width_90 = (
        "-" if figures[key] is None else f"{figures[key]:.3f}" for key in ERRORS
    )
    return f"  {name:<12} IoU {iou}  centre {centre} {centre_90}  bandwidth {width} {width_90}"


def table(
    groups: Mapping[str, Mapping[str, Figures]], counts: Sequence[str], shares: Mapping[str, str]
) -> list[str]:
    """One line per group: its counts, then its shares."""
    names = [(kind, name) for kind, members in groups.items() for name in members]
    width = max(len(f"{kind} {name}") for kind, name in names) + 2
    heads = [f"{count:>11}" for count in counts] + [f"{title + ', %':>21}" for title in shares.values()]
    lines = [" " * width + "".join(heads)]
    for kind, name in names:
        figures = groups[kind][name]
        cells = [f"{figures[count]:>11}" for count in counts]
        cells += [f"{percent(figures, share):>21}" for share in shares]
        lines.append(f"{kind + ' ' + name:<{width}}" + "".join(cells))
    return lines


def percent(figures: Figures, share: str) -> str:
    """A share and its interval."""
    if figures[share] is None:
        return "-"
    low, high = figures[f"{share}_interval"]
    return f"{100 * figures[share]:.1f} ({100 * low:.1f}-{100 * high:.1f})"
