// A chart of some curves over one axis, by uPlot.

import { themed } from "./dom.js";

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500]; // steps between ticks: rounds and dB are whole
const COLOURS = ["#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#0072B2"];

// Each curve has a label and points [x, y]; one that is a limit is drawn dashed in the text's colour.
export function curves(place, xLabel, curves, unit = "") {
  const xs = [...new Set(curves.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
  const columns = curves.map(({ points }) => {
    const at = new Map(points);
    return xs.map((x) => at.get(x) ?? null);
  });
  const axis = {
    stroke: themed("--faint"),
    grid: { stroke: themed("--grid"), width: 1 },
    ticks: { stroke: themed("--grid") },
  };
  place.replaceChildren();
  return new window.uPlot(
    {
      width: place.clientWidth || 320,
      height: 220,
      scales: { x: { time: false } },
      legend: { live: false },
      axes: [
        { ...axis, label: xLabel, labelSize: 18, size: 34, incrs: WHOLE },
        { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => `${tick}${unit && ` ${unit}`}`) },
      ],
      series: [
        { label: xLabel },
        ...curves.map(({ label, limit }, i) => ({
          label,
          spanGaps: true,
          width: 2,
          points: { show: xs.length < 30 },
          stroke: limit ? themed("--text") : COLOURS[i % COLOURS.length],
          dash: limit ? [6, 4] : undefined,
        })),
      ],
    },
    [xs, ...columns],
    place,
  );
}
