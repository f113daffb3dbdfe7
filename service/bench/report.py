"""The engine's benchmark as people read it: tables, bars, what it had to show, and a drawing."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from service.bench.engine import LIBRARIES
from service.bench.trial import Line

BAR = 50  # characters


def text(lines: list[Line]) -> str:
    """The whole report."""
    return "\n\n".join([speeds(lines), times(lines), bars(lines), "\n".join(targets(lines))]).rstrip()


def speeds(lines: list[Line]) -> str:
    """Samples a second, and the largest error of each row."""
    rows = table(
        lines,
        lambda line: f"{line.samples_per_s / 1e3:#.3g}".rstrip(".") if line.samples_per_s else "refused",
    )
    rows[0].append("max error")
    for row, group in zip(rows[1:], groups(lines).values(), strict=True):
        errors = [line.max_error for line in group if line.max_error is not None]
        row.append(f"{max(errors):.1e}" if errors else "")
    return "thousand samples per second, by chunk\n" + aligned(rows)


def times(lines: list[Line]) -> str:
    """The time of a hop."""
    rows = table(lines, lambda line: f"{line.p50_us:.0f}/{line.p99_us:.0f}" if line.p50_us else "")
    return "a hop of 100 samples of every stream, p50/p99 in microseconds of CPU time, by chunk\n" + aligned(
        rows
    )


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


def bars(lines: list[Line]) -> str:
    """A bar for each back end, at a chunk of one hop where that was measured."""
    streams = min(line.streams for line in lines)
    chunk = min((line.chunk for line in lines), key=lambda chunk: abs(chunk - 100))
    found = {name: line.samples_per_s or 0.0 for name, line in at(lines, chunk, streams).items()}
    limit = next((peak(line) for line in at(lines, chunk, streams).values()), None)
    if limit:
        found["peak"] = limit
    unit = max(found.values(), default=1.0) / BAR
    width = max(map(len, found), default=0)
    rows = [
        f"{name:<{width}} {'█' * round(rate / unit):<{BAR}} {rate / 1e3:.4g}" for name, rate in found.items()
    ]
    title = f"thousand samples a second, chunks of {chunk}, {plural(streams)}"
    return "\n".join([title, *rows])


def targets(lines: list[Line]) -> Iterator[str]:
    """What the engine has to show, and what it showed, as far as it was measured."""
    hop, single = at(lines, 100), at(lines, 1)
    wanted = [
        ("native over the best library, chunks of 100", hop, "native", LIBRARIES, "3"),
        ("native over the best library, chunks of 1", single, "native", LIBRARIES, "30"),
        ("native over recomputing the window", hop, "native", ("recompute",), "35"),
        ("native-bf16 over the best library, chunks of 100", hop, "native-bf16", LIBRARIES, "12 with AMX"),
    ]
    for title, found, ours, others, target in wanted:
        rivals = [found[name].samples_per_s or 0.0 for name in others if name in found]
        if ours in found and rivals:
            ratio = (found[ours].samples_per_s or 0.0) / max(rivals)
            limit = found[ours].limit_samples_per_s if ours == "native" else None
            most = f", the most that this core allows {limit / max(rivals):.1f}" if limit else ""
            yield f"{title}: {ratio:.1f} times; the target is {target}{most}"
    if "native" in hop and hop["native"].peak_fraction:
        share = 100 * hop["native"].peak_fraction
        yield f"native of the core's peak, chunks of 100: {share:.0f} %; the target is 70 with AVX-512"


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
