"""The experiment `stations` as a table that people read."""

from collections.abc import Mapping
from typing import Any

ARMS = ("shipped", "alone", "federated", "pooled")


def as_markdown(found: Mapping[str, Any]) -> str:
    """Accuracies in percent over all stations and seeds, and the gain of federating, in points."""
    seeds = ", ".join(map(str, found["seeds"]))
    lines = [
        f"{found['trial']}, seeds {seeds}, commit {found['commit']}",
        "",
        f"| labels a family | {' | '.join(ARMS)} | gain (95 % interval) | worst station |",
        f"|{'---|' * (len(ARMS) + 3)}",
    ]
    for kind, name in (("encoder", "encoder alone"), ("model", "with the projection")):
        for each, row in found[kind].items():
            shares = " | ".join(f"{row[arm]:.1f}" for arm in ARMS)
            gain = f"{row['gain_points']:+.1f} ({row['gain_low']:+.1f} to {row['gain_high']:+.1f})"
            lines.append(f"| {each}, {name} | {shares} | {gain} | {row['worst_station_points']:+.1f} |")
    return "\n".join(lines)
