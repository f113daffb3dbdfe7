// The federation: this station's part in it, and where this machine coordinates one, everybody's.

import { get } from "./api.js";
import { curves } from "./curves.js";
import { make } from "./dom.js";
import { ago, bytes, percent } from "./units.js";

export class Federation {
  constructor(place) {
    this.place = place;
  }

  async refresh() {
    const state = await get("v1/federation");
    const text = JSON.stringify(state);
    if (text === this.text) return this.drawTimes();
    this.text = text;
    const { stations, runs } = state;
    this.place.replaceChildren(...stations.map(station), ...runs.flatMap(run));
    for (const described of runs) this.drawCurves(described);
    if (!stations.length && !runs.length) {
      this.place.append(
        make(
          "p",
          { class: "note" },
          "This machine is not part of a federation. wavetell join takes part in one, wavetell coordinator hosts one; the setting federation names their folders.",
        ),
      );
    }
  }

  // The clock goes on where nothing else changes.
  drawTimes() {
    for (const time of this.place.querySelectorAll("time")) time.textContent = ago(time.dateTime);
  }

  drawCurves({ name, rounds }) {
    for (const kind of ["loss", "accuracy"]) {
      const place = this.place.querySelector(`[data-chart="${kind} ${CSS.escape(name)}"]`);
      const points = rounds
        .filter((round) => round[kind] !== null)
        .map((round) => [round.number, round[kind] * (kind === "accuracy" ? 100 : 1)]);
      if (points.length) curves(place, "round", [{ label: kind, points }], kind === "accuracy" ? "%" : "");
      else place.remove();
    }
  }
}

const since = (when) => (when ? make("time", { datetime: when }, ago(when)) : "never");

function station({ name, url, run, round, state, deadline, quorum, last, seen, waiting }) {
  const open = state !== "finished";
  const facts = [
    ["federation", `${run} at ${url}`],
    ["state", open ? `round ${round}, ${state}` : "finished"],
    ...(open ? [["deadline", new Date(deadline).toLocaleString()]] : []),
    ["quorum", String(quorum)],
    ["last update", last ? `round ${last.round}: ${last.state} ${last.reason}` : "none yet"],
    ["on its way", waiting ? "an update waits to be sent" : "nothing"],
    ["last heard", since(seen)],
  ];
  return make(
    "section",
    {},
    make("h2", {}, `This station: ${name}`),
    make(
      "dl",
      { class: "table" },
      facts.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]),
    ),
  );
}

function run({ name, method, quorum, wanted, stations, rounds }) {
  const now = rounds.at(-1),
    finished = now.state === "published" && now.generation === wanted;
  return [
    make("h2", {}, `Coordinated here: ${name}`),
    make(
      "p",
      { class: "note" },
      finished ? "It is finished" : `Round ${now.number} is ${now.state}`,
      `; model ${now.generation} of ${wanted}; quorum ${quorum}; ${method}.`,
    ),
    make("h3", {}, "Stations"),
    table(
      "Stations",
      ["station", "last seen", "sent", "received"],
      stations.map((one) => [
        one.name + (one.revoked ? " (revoked)" : ""),
        since(one.seen),
        bytes(one.up),
        bytes(one.down),
      ]),
    ),
    make("h3", {}, "Loss and accuracy"),
    make("div", { class: "chart", "data-chart": `loss ${name}`, role: "img", "aria-label": "Loss by round" }),
    make("div", {
      class: "chart",
      "data-chart": `accuracy ${name}`,
      role: "img",
      "aria-label": "Accuracy by round",
    }),
    make("h3", {}, "Rounds"),
    table(
      "Rounds, newest first",
      ["round", "state", "updates", "loss", "accuracy", "bytes"],
      rounds
        .toReversed()
        .slice(0, 20)
        .map((round) => [
          round.number,
          round.note ? `${round.state}: ${round.note}` : round.state,
          round.updates,
          round.loss?.toFixed(4) ?? "",
          round.accuracy === null ? "" : percent(round.accuracy),
          bytes(round.bytes),
        ]),
    ),
  ];
}

function table(label, head, rows) {
  return make(
    "table",
    { "aria-label": label },
    make(
      "tr",
      {},
      head.map((cell) => make("th", { scope: "col" }, cell)),
    ),
    ...rows.map((row) =>
      make(
        "tr",
        {},
        row.map((cell) => make("td", {}, cell)),
      ),
    ),
  );
}
