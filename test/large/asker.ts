/** Asks a repository for its refs again and again, until its input ends: `askMeanwhile` runs it. It
 * prints the requests, in order, as JSON.
 *
 * Usage: asker.ts <URL of the remote> <milliseconds between an answer and the next request> */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** A request that was answered while something else went on. */
export interface Asked {
  /** When it was sent (ms since the epoch). */
  readonly startMs: number;
  /** How long its answer took (ms). */
  readonly ms: number;
}

const [url, pauseMs] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const asked: Asked[] = [];
let isOver = false;
process.stdin.resume().on("end", () => (isOver = true));
while (!isOver) {
  const startMs = performance.now();
  const [answer] = (await once(get(`${url}/info/refs?service=git-upload-pack`, { agent }), "response")) as [
    IncomingMessage,
  ];
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
  await once(answer.resume(), "end");
  asked.push({ startMs: performance.timeOrigin + startMs, ms: performance.now() - startMs });
  await sleep(Number(pauseMs));
}
agent.destroy();
process.stdout.write(JSON.stringify(asked));
