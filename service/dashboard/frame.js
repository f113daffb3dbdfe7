// A spectrum frame, as service/live/spectrum.py writes it.

const HEADER = 56;

export function readFrame(buffer, offset = 0) {
  const view = new DataView(buffer, offset);
  const bins = view.getUint16(4, true),
    points = view.getUint16(6, true);
  return {
    start: Number(view.getBigInt64(8, true)),
    end: Number(view.getBigInt64(16, true)),
    rate: view.getFloat64(32, true),
    freq: view.getFloat64(40, true),
    psd: new Float32Array(buffer, offset + HEADER, bins),
    points: new Float32Array(buffer, offset + HEADER + 4 * bins, 2 * points), // I and Q interleaved
    bytes: HEADER + 4 * bins + 8 * points,
  };
}

export function readFrames(buffer) {
  const frames = [];
  for (let offset = 0; offset < buffer.byteLength; offset += frames.at(-1).bytes) {
    frames.push(readFrame(buffer, offset));
  }
  return frames;
}
