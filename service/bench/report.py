"""The engine's benchmark as people read it: tables, bars, what it had to show, and a drawing."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from service.bench.contestant import hop_of
from service.bench.engine import LIBRARIES
from service.bench.trial import SHAPES, Line

BAR = 50  # characters
# shape -> back end, over whom, chunk, streams, how many times as fast
TARGETS: dict[str, list[tuple[str, tuple[str, ...], int, int, str]]] = {
    "paper": [
        ("native", LIBRARIES, 100, 1, "3"),
        ("native", LIBRARIES, 1, 1, "30"),
        ("native", ("recompute",), 100, 1, "35"),
        ("native-bf16", LIBRARIES, 100, 1, "12 with AMX"),
    ],
    "cheap": [("native", LIBRARIES, 256, 1, "3"), ("native", LIBRARIES, 16, 16, "20")],
}
# shape -> chunk, percent of the core's peak
SHARES = {"paper": (100, "70 with AVX-512"), "cheap": (4096, "65")}


def text(lines: list[Line], shape: str = "paper") -> str:
    """The whole report."""
    hop = hop_of(SHAPES[shape])
    parts = [speeds(lines), times(lines, hop), bars(lines, hop), "\n".join(targets(lines, shape))]
    return "\n\n".join(parts).rstrip()


def speeds(lines: list[Line]) -> str:
    """Samples a second, and the largest error of each row."""
    rows = table(lines, lambda line: thousands(line.samples_per_s) if line.samples_per_s else "refused")
    rows[0].append("max error")
    for row, group in zip(rows[1:], groups(lines).values(), strict=True):
        errors = [line.max_error for line in group if line.max_error is not None]
        row.append(f"{max(errors):.1e}" if errors else "")
    return "thousand samples per second, by chunk\n" + aligned(rows)


def thousands(rate: float) -> str:
    """A rate in thousands, to three digits."""
    return f"{rate / 1e3:,.0f}" if rate >= 1e6 else f"{rate / 1e3:#.3g}".rstrip(".")


def times(lines: list[Line], hop: int) -> str:
    """The time of a hop."""
    rows = table(lines, lambda line: f"{line.p50_us:.0f}/{line.p99_us:.0f}" if line.p50_us else "")
    title = f"a hop of {hop} samples of every stream, p50/p99 in microseconds of CPU time, by chunk\n"
    return title + aligned(rows)


def groups(lines: list[Line]) -> dict[tuple[int, str], list[Line]]:
    """The lines of one row of a table."""
    found: dict[tuple[int, str], list[Line]] = {}
    for line in sorted(lines, key=lambda line: line.streams):
        found.setdefault((line.streams, line.backend), []).append(line)
    return found


def table(lines: list[Line], cell: Callable[[Line], str]) -> list[list[str]]:
    """A row for each number of streams and back end, a column for each chunk."""
    chunks = list(dict.fromkeys(line.chunk for line in lines))
    rows = [["streams", "back end", *map(str, chunks)]]
    for (streams, backend), group in groups(lines).items():
        rows.append([str(streams), backend, *[cell(line) for line in group]])
    return rows


def aligned(rows: list[list[str]]) -> str:
    """The rows with their columns to the right, but for the name."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = [
        [c.ljust(w) if i == 1 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))]
        for r in rows
    ]
    return "\n".join("  ".join(row).rstrip() for row in cells)


def at(lines: list[Line], chunk: int, streams: int = 1) -> dict[str, Line]:
    """The lines of one configuration that have numbers."""
    return {
        line.backend: line
        for line in lines
        if line.samples_per_s and (line.chunk, line.streams) == (chunk, streams)
    }


def peak(line: Line) -> float | None:
    """Samples a second at which the core would be at its peak."""
    return line.samples_per_s / line.peak_fraction if line.samples_per_s and line.peak_fraction else None


def plural(streams: int) -> str:
    """The number of streams in words."""
    return f"{streams} stream{'s' * (streams > 1)}"


def bars(lines: list[Line], hop: int = 100) -> str:
    """A bar for each back end, at a chunk of one hop where that was measured."""
    streams = min(line.streams for line in lines)
    chunk = min((line.chunk for line in lines), key=lambda chunk: abs(chunk - hop))
    found = {name: line.samples_per_s or 0.0 for name, line in at(lines, chunk, streams).items()}
    limit = next((peak(line) for line in at(lines, chunk, streams).values()), None)
    if limit:
        found["peak"] = limit
    unit = max(found.values(), default=1.0) / BAR
    width = max(map(len, found), default=0)
    rows = [
        f"{name:<{width}} {'█' * round(rate / unit):<{BAR}} {thousands(rate)}" for name, rate in found.items()
    ]
    title = f"thousand samples a second, chunks of {chunk}, {plural(streams)}"
    return "\n".join([title, *rows])


def targets(lines: list[Line], shape: str = "paper") -> Iterator[str]:
    """What the engine has to show, and what it showed, as far as it was measured."""
    for ours, others, chunk, streams, target in TARGETS[shape]:
        found = at(lines, chunk, streams)
        rivals = [found[name].samples_per_s or 0.0 for name in others if name in found]
        if ours in found and rivals:
            ratio = (found[ours].samples_per_s or 0.0) / max(rivals)
            limit = found[ours].limit_samples_per_s if ours == "native" else None
            most = f", the most that this core allows {limit / max(rivals):.1f}" if limit else ""
            over = "recomputing the window" if others == ("recompute",) else "the best library"
            where = f"chunks of {chunk}" + f", {plural(streams)}" * (streams > 1)
            yield f"{ours} over {over}, {where}: {ratio:.1f} times; the target is {target}{most}"
    chunk, share = SHARES[shape]
    found = at(lines, chunk)
    if "native" in found and found["native"].peak_fraction:
        reached = 100 * found["native"].peak_fraction
        yield f"native of the core's peak, chunks of {chunk}: {reached:.0f} %; the target is {share}"


def plot(lines: list[Line], path: Path) -> None:
    """Draw speed over chunk, a panel for each number of streams."""
    from matplotlib.figure import Figure

    counts, chunks = sorted({line.streams for line in lines}), sorted({line.chunk for line in lines})
    figure = Figure(figsize=(1 + 4.5 * len(counts), 4.5), layout="constrained")
    panels = figure.subplots(1, len(counts), sharey=True, squeeze=False)[0]
    for panel, streams in zip(panels, counts, strict=True):
        for (count, backend), group in groups(lines).items():
            if count == streams:  # a refused line is drawn as a hole, so that each back end keeps its colour
                rates = [line.samples_per_s / 1e3 if line.samples_per_s else math.nan for line in group]
                panel.plot([line.chunk for line in group], rates, marker="o", label=backend)
        limits = [limit / 1e3 for line in lines if line.streams == streams and (limit := peak(line))]
        if limits:
            panel.axhline(max(limits), color="black", linestyle="--", label="float32 peak of the core")
        panel.set(xscale="log", yscale="log", xlabel="chunk, samples", title=plural(streams))
        panel.set_xticks(chunks, map(str, chunks), minor=False)
        panel.set_xticks([], minor=True)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("thousand samples a second")
    panels[0].legend(fontsize="small")
    figure.savefig(path)
