// The service: REST calls, and WebSockets that come back by themselves.

const FIRST_WAIT_MS = 500,
  LONGEST_WAIT_MS = 10_000;

export class ApiError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

// Reports to the page that a token is needed, and whether the service answers.
export const service = new EventTarget();

export async function call(method, path, body) {
  const raw = [Blob, ArrayBuffer, FormData].some((kind) => body instanceof kind);
  let answer;
  try {
    answer = await fetch(path, {
      method,
      body: body === undefined || raw ? body : JSON.stringify(body),
      headers: body === undefined || raw ? {} : { "Content-Type": "application/json" },
    });
  } catch {
    throw new ApiError(0, "the service does not answer");
  }
  if (answer.status === 401) service.dispatchEvent(new Event("login"));
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new ApiError(answer.status, problem.detail ?? answer.statusText);
  }
  return answer;
}

export const get = async (path) => (await call("GET", path)).json();
export const getBytes = async (path) => (await call("GET", path)).arrayBuffer();
export const post = async (path, body) => (await call("POST", path, body)).json();
export const patch = async (path, body) => (await call("PATCH", path, body)).json();
export const put = async (path, body) => (await call("PUT", path, body)).json();
export const remove = (path) => call("DELETE", path);

// Waits for what will be asked for again anyway: that the service is away or needs a login is not an error then.
export async function ifAnswered(promise) {
  try {
    return await promise;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

// A WebSocket that is opened again when it ends: soon at first, then ever more slowly, never all pages at once.
export class Channel {
  constructor(path, onMessage, onState = () => {}) {
    this.path = path;
    this.onMessage = onMessage;
    this.onState = onState;
    this.wait = FIRST_WAIT_MS;
    this.closed = false;
    this.open();
  }

  open() {
    const url = new URL(this.path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.onState(true);
    this.socket.onmessage = (message) => {
      this.wait = FIRST_WAIT_MS; // only one that speaks is a good connection
      this.onMessage(message.data);
    };
    this.socket.onclose = () => {
      if (this.closed) return;
      this.onState(false);
      this.timer = setTimeout(() => this.open(), this.wait * (0.75 + Math.random() / 2));
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
    };
  }

  send(text) {
    this.socket.send(text);
  }

  // The service is back: no need to wait any longer.
  hurry() {
    if (this.socket.readyState !== WebSocket.CLOSED || this.closed) return;
    clearTimeout(this.timer);
    this.wait = FIRST_WAIT_MS;
    this.open();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}
