// What the page knows of one stream: spectra, answers, gaps. Time is counted in seconds of its own samples.

import { Channel, get, getBytes, ifAnswered } from "./api.js";
import { readFrame, readFrames } from "./frame.js";
import { Rows } from "./rows.js";

const ROWS_A_SECOND = 30,
  ROWS_AHEAD = 8, // that may be on their way: a page that is slow gets fewer rows, not old ones
  KEPT_ROWS = 12_000; // more than six minutes
const POINTS = 1024;
const FILLED_S = 20,
  FILLED_ROWS_A_SECOND = 15; // coarser, so that the first picture comes soon
const MOST_RUNS = 5_000,
  MOST_GAPS = 500;
const DRIFT_MS = 1_000; // beyond, samples are counted from another beginning

export class Air extends EventTarget {
  constructor(stream) {
    super();
    this.stream = stream;
    this.rate = stream.rate_hz || 1;
    this.rows = new Rows(this.rate > 2e5 ? 1024 : 512, KEPT_ROWS);
    this.detail = null; // finer rows of a stretch that is zoomed into
    this.runs = []; // oldest first: id, label, probability, start and end (samples), from (ms), t0 and t1 (s)
    this.past = []; // runs of a stretch that is looked at, which may be long ago
    this.gaps = []; // start and end (samples), reason
    this.anchor = { sample: stream.kept.end, ms: Date.now() };
    this.frame = null; // the newest
    this.latest = stream.latest; // the newest report
    this.fresh = true; // the next frame is a connection's first
    this.waiting = null; // frames that came while older rows are fetched
  }

  get classes() {
    return this.stream.classes;
  }

  get end() {
    return (this.frame?.end ?? this.stream.kept.end) / this.rate;
  }

  async open() {
    if (this.latest) this.setAnchor(this.latest);
    const path = `v1/streams/${this.stream.id}`;
    const options = `rate=${ROWS_A_SECOND}&ahead=${ROWS_AHEAD}&bins=${this.rows.bins}&points=${POINTS}`;
    this.spectrum = new Channel(
      `${path}/spectrum?${options}`,
      (data) => {
        this.takeFrame(readFrame(data));
        this.spectrum.send("seen");
      },
      () => {
        this.fresh = true;
      },
    );
    this.live = new Channel(
      `${path}/live`,
      (data) => this.take(JSON.parse(data)),
      (open) => this.connected(open),
    );
    await ifAnswered(this.loadRuns());
  }

  async loadRuns() {
    this.addRuns((await get(`v1/streams/${this.stream.id}/predictions?limit=1000`)).predictions);
  }

  // Puts rows from before a connection in front of those that come, as far as the service keeps them.
  async fill(before, frame) {
    const start = Math.round(Math.max(this.stream.kept.start, before, frame.start - FILLED_S * this.rate));
    const count = Math.ceil(((frame.start - start) / this.rate) * FILLED_ROWS_A_SECOND);
    const rows = count > 0 ? await ifAnswered(this.rowsOf(start, frame.start, count)) : null;
    if (rows && this.waiting[0] === frame) {
      this.rows.cut(before);
      for (const row of [...rows, ...this.waiting]) this.rows.push(row);
      this.dispatchEvent(new Event("detail"));
    }
    this.waiting = null;
  }

  async rowsOf(start, end, count) {
    const options = `start=${start}&end=${end}&count=${count}&bins=${this.rows.bins}`;
    return readFrames(await getBytes(`v1/streams/${this.stream.id}/spectrum?${options}`));
  }

  close() {
    this.spectrum?.close();
    this.live?.close();
    this.closed = true;
  }

  hurry() {
    this.spectrum?.hurry();
    this.live?.hurry();
  }

  async connected(open) {
    const again = open && this.wasOpen;
    this.wasOpen ||= open;
    if (again) await ifAnswered(this.loadRuns());
  }

  takeFrame(frame) {
    this.frame = frame;
    this.rate = frame.rate;
    const before = this.rows.end <= frame.start ? this.rows.end : 0;
    this.rows.push(frame);
    this.waiting?.push(frame);
    if (this.fresh) {
      this.fresh = false;
      this.waiting = [frame];
      this.fill(before, frame);
    }
    this.dispatchEvent(new Event("frame"));
  }

  take(message) {
    if (message.type === "report") this.takeReport(message);
    if (message.type === "gap") {
      this.gaps.push({ start: message.end - message.samples, end: message.end, reason: message.reason });
      if (this.gaps.length > MOST_GAPS) this.gaps.shift();
    }
    this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
  }

  takeReport(report) {
    this.latest = report;
    this.setAnchor(report);
    const last = this.runs.at(-1);
    if (last?.id === report.run) {
      last.end = report.end;
      last.lowest = Math.min(last.lowest, report.probability);
      last.probability = report.probability;
      this.place(last);
    } else {
      this.addRuns([{ ...report, id: report.run, from: report.since, lowest: report.probability }]);
    }
  }

  // Runs as REST returns them, in any order; those we have are replaced.
  addRuns(runs) {
    const known = new Map(this.runs.map((run) => [run.id, run]));
    for (const run of runs) known.set(run.id, this.entry(run));
    this.runs = [...known.values()].sort((a, b) => a.t0 - b.t0).slice(-MOST_RUNS);
  }

  entry({ id, label, probability, lowest, start, end, from }) {
    return this.place({ id, label, probability, lowest, start, end, from: Date.parse(from) });
  }

  // Sample counts restart with the service: runs from before are placed by the clock.
  place(run) {
    const samples = Math.abs(this.toClock(run.start / this.rate) - run.from) < 2 * DRIFT_MS;
    run.t0 = samples ? run.start / this.rate : this.fromClock(run.from);
    run.t1 = run.t0 + (run.end - run.start) / this.rate;
    return run;
  }

  setAnchor(report) {
    const ms = Date.parse(report.since) + 1000 * report.held_s;
    if (Math.abs(this.toClock(report.end / this.rate) - ms) < DRIFT_MS) return;
    this.anchor = { sample: report.end, ms };
    for (const run of this.runs) this.place(run);
    this.runs.sort((a, b) => a.t0 - b.t0);
    this.gaps = [];
  }

  // Milliseconds since 1970 when a second of the stream was heard, and back.
  toClock(second) {
    return this.anchor.ms + 1000 * (second - this.anchor.sample / this.rate);
  }

  fromClock(ms) {
    return this.anchor.sample / this.rate + (ms - this.anchor.ms) / 1000;
  }

  runAt(second) {
    const there = (run) => run.t0 <= second && second < run.t1;
    return this.runs.findLast(there) ?? this.past.findLast(there);
  }

  // Runs of the time that is shown, oldest first.
  runsIn(view) {
    const recent = visible(this.runs, view),
      past = visible(this.past, view);
    return recent.length < past.length ? past : recent;
  }

  // Fetches what is known of a stretch, one after the other; of those asked for meanwhile only the last.
  async look(t0, t1, count) {
    this.wanted = [t0, t1, count];
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted) {
        const wanted = this.wanted;
        this.wanted = null;
        await this.fetch(...wanted);
      }
    } finally {
      this.busy = false;
    }
  }

  // What history has of a stretch, and its rows in full detail if the service still keeps it.
  async fetch(t0, t1, count) {
    const path = `v1/streams/${this.stream.id}`;
    const [from, to] = [t0, t1].map((second) => new Date(this.toClock(second)).toISOString());
    const { predictions } = await get(`${path}/predictions?from=${from}&to=${to}&limit=1000`);
    this.past = predictions.map((run) => this.entry(run)).sort((a, b) => a.t0 - b.t0);
    this.dispatchEvent(new Event("detail"));
    if (t1 - t0 > count / ROWS_A_SECOND && this.rows.find(t0 * this.rate) >= 0) return; // ours are as fine
    const { kept } = await get(path);
    const start = Math.max(kept.start, Math.floor(t0 * this.rate)),
      end = Math.min(kept.end, Math.ceil(t1 * this.rate));
    if (end <= start) return;
    const rows = new Rows(this.rows.bins, count);
    for (const frame of await this.rowsOf(start, end, count)) rows.push(frame);
    this.detail = rows;
    this.dispatchEvent(new Event("detail"));
  }
}

// Those of the sorted runs that lie between begin and end.
function visible(runs, { begin, end }) {
  let low = 0,
    high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle].t1 < begin) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (; low < runs.length && runs[low].t0 < end; low++) found.push(runs[low]);
  return found;
}
