import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSamples } from "../../scripts/bench/figures/sample.ts";
import { askApi } from "../harness/api.ts";
import { PROJECT } from "../harness/build.ts";
import { encodePkt, FLUSH, request } from "../harness/raw.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const TINY = tiny(2, 4);

/** The smallest run, with this many clients and requests of each. */
function tiny(clients: number, requests: number): string[] {
  return ["quick", "--sizes", "20", "--clients", String(clients), "--requests", String(requests)];
}

let server: Server;
const proxies: HttpServer[] = [];

beforeAll(async () => {
  server = await startServer();
});

afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  await server.close();
});

/** What came of a run. */
interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function stress(url: string, ...options: string[]): Promise<Run> {
  const env = { ...process.env, SERVER: url };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(PROJECT, "scripts/stress.ts"), ...options], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** What a server answers. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Serves what the real server does, but for what is made of it here. @returns its URL */
async function startProxy(change: (incoming: IncomingMessage, asked: Buffer, answer: Answer) => Answer) {
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const asked = Buffer.concat(pieces);
    // Not compressed: what it is made of is changed here.
    const omitted = ["host", "connection", "transfer-encoding", "accept-encoding"];
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !omitted.includes(name)));
    const answer = await request(server.url + incoming.url!, {
      method: incoming.method as "GET" | "POST",
      headers: headers as Record<string, string>,
      ...(asked.length > 0 && { body: asked }),
    });
    const { status, headers: answered, body } = change(incoming, asked, answer);
    delete answered["transfer-encoding"];
    outgoing.writeHead(status, { ...answered, "content-length": body.length }).end(body);
  };
  const proxy = createServer((incoming, outgoing) => void pass(incoming, outgoing)).listen(0, "127.0.0.1");
  proxies.push(proxy);
  await once(proxy, "listening");
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

test("a server that is well passes, and is left as it was", async () => {
  const csv = join(makeTempDir("stress"), "times.csv");
  const { status, stdout, stderr } = await stress(server.url, ...TINY, "--csv", csv);
  expect(stderr).not.toMatch(/error|wrong/);
  expect(stdout).toMatch(/\n\d+ operations, \d{2} clones verified, 0 errors, 0 wrong\n$/);
  expect(status).toBe(0);
  const operations = new Set(
    readSamples(csv).map(({ work, measure, side }) => `${work["operation"]} ${measure} ${side}`),
  );
  expect(operations).toContain("racing push, one branch ms holdfast");
  const { body } = await askApi<{ repositories: unknown[] }>(server, "/repos/stress");
  expect(body.repositories).toEqual([]);
});

test("refs that are older than what was acknowledged are wrong", async () => {
  const first = new Map<string, Answer>();
  const url = await startProxy((incoming, asked, answer) => {
    if (!asked.includes("command=ls-refs")) return answer;
    // What was told first is told for ever.
    if (!first.has(incoming.url!) && answer.body.includes("refs/heads/main")) first.set(incoming.url!, answer);
    return first.get(incoming.url!) ?? answer;
  });
  const { status, stdout } = await stress(url, ...TINY, "--phase", "transfers");
  expect(stdout).toMatch(
    /wrong: fetch 1 changed: refs\/heads\/main is at \w{40} at \d+-\d+, but it was moved from nothing to \w{40} acknowledged \S+, from \w{40} to \w{40} acknowledged/,
  );
  expect(status).toBe(1);
});

test("a byte of a file that is another is wrong, and an answer that fails is an error", async () => {
  let requests = 0;
  const url = await startProxy((incoming, _, answer) => {
    const isRaw = incoming.url!.includes("/raw/") && answer.status === 200;
    if (isRaw) answer.body[7] = answer.body[7]! ^ 1;
    const isListed = incoming.url!.includes("/log?") || incoming.url!.includes("/tags");
    return isListed && requests++ % 2 === 0 ? { status: 500, headers: {}, body: Buffer.from("lost") } : answer;
  });
  const { status, stdout } = await stress(url, ...tiny(2, 16), "--phase", "rest");
  expect(stdout).toMatch(/wrong: GET raw, 20 files: dir-\d+\/file-\d+\.txt of \w{40}: 8192 bytes that differ at 7 /);
  expect(stdout).toMatch(/error: (GET log|POST tags|GET tags at the end), 20 files: (GET|POST) \S+: 500 "?lost/);
  expect(stdout).toMatch(/clones verified, [1-9]\d* errors, [1-9]\d* wrong\n$/);
  expect(status).toBe(1);
});

test("a push that came too late, and is acknowledged all the same, is wrong", async () => {
  const report = Buffer.concat([encodePkt("unpack ok\n"), encodePkt("ok refs/heads/main\n"), FLUSH]);
  const body = Buffer.concat([encodePkt(Buffer.concat([Buffer.from([1]), report])), FLUSH]);
  const url = await startProxy((_, __, answer) =>
    answer.body.includes("ng refs/heads/main") ? { ...answer, body } : answer,
  );
  const { status, stdout } = await stress(url, ...tiny(4, 4), "--phase", "races");
  expect(stdout).toMatch(/wrong: racing push, one branch, 20 files: 4 of 4 pushes to one branch from the same commit/);
  expect(stdout).toMatch(/wrong: refs at the end, 20 files: refs\/heads\/main is at \w{40}, and \w{40} and \w{40}/);
  expect(status).toBe(1);
});

test("what cannot be found out ends with 2, and says why", async () => {
  const gone = await stress("http://127.0.0.1:9", ...TINY);
  expect([gone.status, gone.stdout]).toEqual([2, ""]);
  expect(gone.stderr).toContain("http://127.0.0.1:9 cannot be reached");
  const closed = await stress(await startProxy((_, __, answer) => ({ ...answer, status: 401 })), ...TINY);
  expect([closed.status, closed.stdout]).toEqual([2, ""]);
  expect(closed.stderr).toContain("set HOLDFAST_TOKEN");
  const bad = await stress(server.url, "--phase", "sleep");
  expect([bad.status, bad.stdout]).toEqual([2, ""]);
  expect(bad.stderr).toContain("--phase sleep: not one of transfers, races, rest, rewinds, cuts");
});
