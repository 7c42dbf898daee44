/** The thread of a held socket. It listens, blocks until the runtime no longer accepts, and then
 * refuses every connection. It is JavaScript because a thread that reads TypeScript takes ten
 * megabytes more. */
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

/** Slower clients are cut off. */
const READ_MS = 5_000;

const server = createServer((client) => {
  client.on("error", () => {});
  client.setTimeout(READ_MS, () => client.destroy());
  // Reads the client's data until it has seen the answer: the system would drop the answer
  // otherwise.
  client.resume().end(REFUSAL);
});

server.on("error", ({ code, message }) => parentPort.postMessage({ code, message }));

server.listen({ host: ip, port }, () => {
  // Node exposes the descriptor nowhere else.
  parentPort.postMessage({ fd: server._handle.fd, port: server.address().port });
  if (!isLent) return server.close();
  // Before the event loop can accept a connection.
  Atomics.wait(gate, 0, 0);
});
