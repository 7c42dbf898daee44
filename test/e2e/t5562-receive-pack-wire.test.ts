// Requests that are malformed before the pack: each is refused with a status and changes nothing.
// Git's own server often answers such a request with 200 and an empty body.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_REFS_PER_PUSH } from "../../src/base/format/limits.ts";
import { makeObject, packOf } from "../harness/pack-builder.ts";
import { BASE } from "../harness/push-table.ts";
import { DELIM, encodePkt, FLUSH, request } from "../harness/raw.ts";
import { encodePushHead, NULL_HEX, PUSH_TYPE, readRefs, sendBody, sendPush } from "../harness/raw-push.ts";
import { startServer, type Server } from "../harness/server.ts";

const { blob, tree, commit } = BASE;
const pack = packOf(blob, tree, commit);
const push = { commands: [{ name: "refs/heads/main", new: commit.oid }], pack };
const head = encodePushHead(push);
const body = Buffer.concat([head, pack]);
const command = `${NULL_HEX} ${commit.oid} refs/heads/main\0report-status side-band-64k`;

/** How long the server waits for a body here. A body that is too slow within half a minute is too
 * slow within some seconds. */
const WAIT_MS = 6_000;
/** The pause between the parts of a slow body: 30 parts in that time. */
const PART_MS = WAIT_MS / 30;

let server: Server;
let url: string;
beforeAll(async () => {
  server = await startServer({ constants: { BODY_WAIT_MS: WAIT_MS } });
  url = `${server.url}/me/repo.git`;
});
afterAll(() => server.close());

/** Sends a request to a repository of its own. Expects the status and no ref, and that the next
 * good push succeeds. */
async function expectRefusal(
  status: number,
  sent: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const own = `${server.url}/me/refused-${Math.random().toString(36).slice(2)}.git`;
  const options = { method: "POST", headers: { ...PUSH_TYPE, ...headers }, body: sent } as const;
  const response = await request(`${own}/git-receive-pack`, options);
  const text = response.body.toString();
  expect(response.status, text).toBe(status);
  expect(response.headers["content-type"]).toMatch(/^text\/plain/);
  expect(text).toMatch(/./);
  expect((await readRefs(own)).size).toBe(0);
  expect((await request(`${own}/info/refs?service=git-upload-pack`)).status).toBe(404);
  expect((await sendPush(own, push)).unpack).toBe("ok");
  return text;
}

/** A push of these commands, with the pack that they need. */
function pushOf(...parts: readonly (Uint8Array | string)[]): Buffer {
  return Buffer.concat([...parts.map((part) => Buffer.from(part as string)), pack]);
}

const malformed: Readonly<Record<string, Uint8Array>> = {
  "no body": Buffer.alloc(0),
  "a length that is not hexadecimal": pushOf("00zz", command),
  "a length of 3": pushOf("0003", head),
  "a length beyond the body": Buffer.from("0fff0000"),
  "a length above 65,520": pushOf("fff5", Buffer.alloc(0xfff1, 32), head),
  "a body of three bytes": Buffer.from("000"),
  "a delimiter for the flush": pushOf(encodePkt(command), DELIM),
  "a response end for the flush": pushOf(encodePkt(command), "0002"),
  "no flush before the pack": pushOf(encodePkt(command)),
  "no flush before the end": encodePkt(command),
  "a command that is none": pushOf(encodePkt("garbage"), FLUSH),
  "a command without a name": pushOf(encodePkt(`${NULL_HEX} ${commit.oid}`), FLUSH),
  "a command in another order": pushOf(encodePkt(`refs/heads/main ${NULL_HEX} ${commit.oid}`), FLUSH),
  "a tab between the ids": pushOf(encodePkt(`${NULL_HEX}\t${commit.oid} refs/heads/main`), FLUSH),
  "an empty line": pushOf("0004", FLUSH),
  "a short id": pushOf(encodePkt(`${NULL_HEX} ${commit.oid.slice(1)} refs/heads/main`), FLUSH),
  "an id that is not hexadecimal": pushOf(encodePkt(`${NULL_HEX} ${"g".repeat(40)} refs/heads/main`), FLUSH),
  "an id of 64 digits": pushOf(encodePkt(`${NULL_HEX} ${"a".repeat(64)} refs/heads/main`), FLUSH),
  "a second command that is none": pushOf(encodePkt(command), encodePkt("garbage"), FLUSH),
  "a shallow line without an id": pushOf(encodePkt("shallow "), encodePkt(command), FLUSH),
  "a shallow line with a short id": pushOf(encodePkt("shallow abc"), encodePkt(command), FLUSH),
  "a shallow line with more than an id": pushOf(encodePkt(`shallow ${commit.oid} x`), encodePkt(command), FLUSH),
  "shallow lines alone": Buffer.concat([encodePkt(`shallow ${commit.oid}`), FLUSH]),
  "a pack without commands": pushOf(FLUSH),
  "an uninvited push certificate": pushOf(
    encodePkt("push-cert\0report-status"),
    encodePkt("certificate version 0.1\n"),
    FLUSH,
  ),
  "another object format": pushOf(encodePkt(`${command} object-format=sha256`), FLUSH),
  "push options without their flush": Buffer.concat([encodePkt(`${command} push-options`), FLUSH, encodePkt("option")]),
  "no push options where they were announced": pushOf(encodePkt(`${command} push-options`), FLUSH),
};

test.each(Object.entries(malformed))("400: %s", async (_, sent) => {
  await expectRefusal(400, sent);
});

test("400: gzip cut", async () => {
  const zipped = gzipSync(body);
  for (const cut of [zipped.subarray(0, 5), zipped.subarray(0, -40), zipped.subarray(0, -1)]) {
    await expectRefusal(400, cut, { "content-encoding": "gzip" });
  }
});

test("400: gzip only claimed", async () => {
  await expectRefusal(400, body, { "content-encoding": "gzip" });
  await expectRefusal(400, deflateSync(body), { "content-encoding": "gzip" });
});

test("400: gzip with a wrong checksum", async () => {
  const zipped = gzipSync(body);
  zipped[zipped.length - 6]! ^= 1;
  await expectRefusal(400, zipped, { "content-encoding": "gzip" });
});

test("413: a gzip bomb, of nothing and behind good commands", { tags: "sweep" }, async () => {
  const peakBytes = server.readUsage().memoryBytes;
  const zeros = Buffer.alloc(200_000_000);
  await expectRefusal(413, gzipSync(zeros), { "content-encoding": "gzip" });
  await expectRefusal(413, gzipSync(Buffer.concat([head, zeros])), { "content-encoding": "gzip" });
  expect(server.readUsage().peakMemoryBytes - peakBytes).toBeLessThan(100_000_000);
});

test("413: more commands than fit one push", { tags: "sweep" }, async () => {
  const lines = Array.from({ length: MAX_REFS_PER_PUSH }, (_, i) =>
    encodePkt(`${NULL_HEX} ${commit.oid} refs/heads/b${i}`),
  );
  await expectRefusal(413, Buffer.concat([encodePkt(command), ...lines, FLUSH, pack]));
});

test("415: other encodings", async () => {
  await expectRefusal(415, brotliCompressSync(body), { "content-encoding": "br" });
  await expectRefusal(415, deflateSync(body), { "content-encoding": "deflate" });
  await expectRefusal(415, gzipSync(gzipSync(body)), { "content-encoding": "gzip, gzip" });
});

test("415: another content type, a form's, or none", async () => {
  await expectRefusal(415, body, { "content-type": "application/x-git-upload-pack-request" });
  await expectRefusal(415, body, { "content-type": "application/x-www-form-urlencoded" });
  await expectRefusal(415, body, { "content-type": "text/plain" });
  expect((await request(`${url}/git-receive-pack`, { method: "POST", body })).status).toBe(415);
});

test("405: any other method", async () => {
  expect((await request(`${url}/git-receive-pack`)).status).toBe(405);
});

/** Sends raw bytes and reads until the server, which has begun to answer, closes or is silent for a
 * second. */
async function exchange(bytes: Uint8Array): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (piece: Buffer) => received.push(piece));
  socket.once("data", () => socket.setTimeout(1_000, () => socket.destroy()));
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(received).toString("latin1");
}

test("a length beside chunks is refused, or counts for nothing: what follows it is no other request", async () => {
  const lines = [
    "POST /me/both.git/git-receive-pack HTTP/1.1",
    "Host: localhost",
    `Content-Type: ${PUSH_TYPE["content-type"]}`,
    "Content-Length: 6",
    "Transfer-Encoding: chunked",
    `\r\n${body.length.toString(16)}\r\n`,
  ];
  const answer = await exchange(Buffer.concat([Buffer.from(lines.join("\r\n")), body, Buffer.from("\r\n0\r\n\r\n")]));
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  if (!answer.startsWith("HTTP/1.1 400 ")) expect(answer).toContain("unpack ok");
});

async function* dripping(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const byte of bytes) {
    yield Buffer.from([byte]);
    await sleep(PART_MS);
  }
}

async function* headThenDripping(): AsyncGenerator<Uint8Array> {
  yield Buffer.concat([head, pack.subarray(0, 12)]);
  yield* dripping(pack.subarray(12));
}

async function expectSlowJson(): Promise<void> {
  const headers = { "content-type": "application/json" };
  const options = {
    method: "POST" as const,
    headers,
    body: dripping(Buffer.from('{"name":"slow","owner":"me","filler":"…"}')),
  };
  expect((await request(`${server.url}/api/repos`, options)).status).toBe(408);
}

/** A pack above the size of small ones, whose end comes fast enough for a body of its own. */
async function* largeThenSlow(): AsyncGenerator<Uint8Array> {
  const whole = Buffer.concat([head, packOf(blob, tree, commit, makeObject("blob", randomBytes(1_000_000)))]);
  const fastBytes = 400_000;
  yield whole.subarray(0, fastBytes);
  for (let at = fastBytes; at < whole.length; at += 10_000) {
    await sleep(PART_MS);
    yield whole.subarray(at, at + 10_000);
  }
}

test.concurrent("slow large pushes give their places up to those that wait for them", { tags: "sweep" }, async () => {
  const slow = [1, 2].map((n) => sendBody(`${server.url}/me/slow-${n}.git`, largeThenSlow()));
  await sleep(2 * PART_MS);
  const large = { ...push, pack: packOf(blob, tree, commit, makeObject("blob", randomBytes(600_000))) };
  const waiting = `${server.url}/me/waiting.git`;
  expect((await sendPush(waiting, large)).unpack).toBe("ok");
  const answer = await Promise.any(slow);
  // A status, or a report if the response had begun.
  expect(answer.unpack + answer.text).toMatch(
    /took too long: while others wait, a client must send at least 1048576 bytes in 6 seconds/,
  );
});

test.concurrent(
  "408: one byte at a time, in the commands or in the pack, while others are served at once",
  { tags: "sweep" },
  async () => {
    const slow = [expectRefusal(408, dripping(body)), expectRefusal(408, headThenDripping()), expectSlowJson()];
    let isAnswered = false;
    void Promise.race(slow.map((answer) => answer.catch(() => undefined))).then(() => (isAnswered = true));
    await sleep(2 * PART_MS);
    expect((await sendPush(`${server.url}/me/meanwhile.git`, push)).unpack).toBe("ok");
    // The slow client still waits.
    expect(isAnswered).toBe(false);
    await Promise.all(slow);
  },
);
