/** The thread of a held socket: it listens, stands still until it is told that nobody else accepts any more, and then refuses
 * everybody. In JavaScript, as a thread that reads TypeScript takes ten megabytes more. */
import { createServer } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { ip, port, gate, isLent } = workerData;

const TEXT = "the server is ending; try again when it has been started\n";
const REFUSAL = [
  "HTTP/1.1 503 Service Unavailable",
  "Content-Type: text/plain; charset=utf-8",
  `Content-Length: ${TEXT.length}`,
  "Retry-After: 10",
  "Connection: close",
  "",
  TEXT,
].join("\r\n");

/** Whoever sends more slowly is cut off. */
const READ_MS = 5_000;

const server = createServer((client) => {
  client.on("error", () => {});
  client.setTimeout(READ_MS, () => client.destroy());
  // What the client sends is taken until it has seen the answer: else the system would drop that.
  client.resume().end(REFUSAL);
});

server.on("error", ({ code, message }) => parentPort.postMessage({ code, message }));

server.listen({ host: ip, port }, () => {
  // Node shows it nowhere else.
  parentPort.postMessage({ fd: server._handle.fd, port: server.address().port });
  if (!isLent) return server.close();
  // Still before the loop has looked for anybody.
  Atomics.wait(gate, 0, 0);
});
