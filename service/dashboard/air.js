// What the page knows of one stream: spectra, answers, gaps. Time is counted in seconds of its own samples.

import { Channel, get, getBytes, ifAnswered } from "./api.js";
import { Emissions } from "./emissions.js";
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
const LEAD_S = 1,
  LEAD_DB = 3; // another emission is the answer once this one is silent for so long, or that one so much stronger
const MOST_BINS = 4096;

export class Air extends EventTarget {
  constructor(stream) {
    super();
    this.stream = stream;
    this.rate = stream.rate_hz || 1;
    this.rows = new Rows(this.rate > 2e5 ? 1024 : 512, KEPT_ROWS);
    this.detail = null; // finer rows of a stretch that is zoomed into
    this.runs = []; // oldest first: id, label, probability, start and end (samples), from (ms), t0 and t1 (s)
    this.byRun = new Map(); // the same, by id
    this.emissions = new Emissions(this);
    this.attended = null; // the emission that somebody looks at
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
    await Promise.all([ifAnswered(this.loadRuns()), this.emissions.load()]);
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

  async rowsOf(start, end, count, bins = this.rows.bins) {
    const options = `start=${start}&end=${end}&count=${count}&bins=${bins}`;
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
    if (again) await Promise.all([ifAnswered(this.loadRuns()), this.emissions.load()]);
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
    if (message.type === "emission") this.emissions.take(message);
    if (message.type === "gap") {
      this.gaps.push({ start: message.end - message.samples, end: message.end, reason: message.reason });
      if (this.gaps.length > MOST_GAPS) this.gaps.shift();
    }
    this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
  }

  takeReport(report) {
    if (this.leads(report)) this.latest = report;
    this.setAnchor(report);
    this.emissions.told(report.end / this.rate);
    const run = this.byRun.get(report.run);
    if (!run) {
      this.addRuns([{ ...report, id: report.run, from: report.since, lowest: report.probability }]);
      return;
    }
    run.end = report.end;
    run.lowest = Math.min(run.lowest, report.probability);
    run.probability = report.probability;
    this.place(run);
  }

  // Whether a report is the answer to show: of the emission that is looked at, else of the strongest.
  leads(report) {
    const { latest, attended, emissions } = this;
    if (!report.emission && emissions.at(emissions.newest).length) return false; // only there it is quiet
    if (!latest?.emission || !report.emission || report.emission === latest.emission) return true;
    if (report.emission === attended) return true;
    const silent = report.start - latest.end > LEAD_S * this.rate;
    return silent || (latest.emission !== attended && report.snr_db > latest.snr_db + LEAD_DB);
  }

  // Runs as REST returns them, in any order; those we have are replaced.
  addRuns(runs) {
    for (const run of runs) this.byRun.set(run.id, this.entry(run));
    this.runs = [...this.byRun.values()].sort((a, b) => a.t0 - b.t0).slice(-MOST_RUNS);
    if (this.byRun.size > MOST_RUNS) this.byRun = new Map(this.runs.map((run) => [run.id, run]));
  }

  entry({ id, label, probability, lowest, start, end, from, emission }) {
    return this.place({ id, label, probability, lowest, start, end, emission, from: Date.parse(from) });
  }

  // Whether samples are counted from the beginning that ours are: this one was heard at this time.
  counts(sample, ms) {
    return Math.abs(this.toClock(sample / this.rate) - ms) < 2 * DRIFT_MS;
  }

  // Sample counts restart with the service: runs from before are placed by the clock.
  place(run) {
    run.t0 = this.counts(run.start, run.from) ? run.start / this.rate : this.fromClock(run.from);
    run.t1 = run.t0 + (run.end - run.start) / this.rate;
    return run;
  }

  setAnchor(report) {
    const ms = Date.parse(report.since) + 1000 * report.held_s;
    if (Math.abs(this.toClock(report.end / this.rate) - ms) < DRIFT_MS) return;
    this.anchor = { sample: report.end, ms };
    for (const run of this.runs) this.place(run);
    this.runs.sort((a, b) => a.t0 - b.t0);
    this.emissions.placeAll();
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
  // `width` is the share of the band that is shown: the narrower, the finer.
  async look(t0, t1, count, width) {
    this.wanted = [t0, t1, count, width];
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
  async fetch(t0, t1, count, width) {
    const path = `v1/streams/${this.stream.id}`;
    const [from, to] = [t0, t1].map((second) => new Date(this.toClock(second)).toISOString());
    const { predictions } = await get(`${path}/predictions?from=${from}&to=${to}&limit=1000`);
    this.past = predictions.map((run) => this.entry(run)).sort((a, b) => a.t0 - b.t0);
    this.dispatchEvent(new Event("detail"));
    const bins = Math.min(MOST_BINS, this.rows.bins * 2 ** Math.floor(Math.log2(1 / width)));
    const fine = t1 - t0 > count / ROWS_A_SECOND && bins === this.rows.bins;
    if (fine && this.rows.find(t0 * this.rate) >= 0) return; // ours are as good
    const { kept } = await get(path);
    const start = Math.max(kept.start, Math.floor(t0 * this.rate)),
      end = Math.min(kept.end, Math.ceil(t1 * this.rate));
    if (end <= start) return;
    const rows = new Rows(bins, count);
    for (const frame of await this.rowsOf(start, end, count, bins)) rows.push(frame);
    this.detail = rows;
    this.dispatchEvent(new Event("detail"));
  }
}

// Those of the runs that lie between begin and end; they may overlap.
const visible = (runs, { begin, end }) => runs.filter((run) => run.t1 >= begin && run.t0 < end);
