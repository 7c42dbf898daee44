/** Imports from upstreams that do wrong: they lie, drip, cut, or never end. */
import { createHash, randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ImportBench } from "../harness/import-bench.ts";
import { encodeEntry } from "../harness/raw.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";
import { testSome } from "../harness/sweep.ts";

/** A pack without objects. */
const EMPTY_PACK = (() => {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  return Buffer.concat([head, createHash("sha1").update(head).digest()]);
})();

/** More than any honest pack here has. */
const MAX_PACK_BYTES = 1_000_000;

let bench: ImportBench;
let upstream: Upstream;

beforeAll(async () => {
  const waits = { MAX_ATTEMPTS: 2, BODY_WAIT_MS: 1_000, ANSWER_WAIT_MS: 1_000 };
  bench = await ImportBench.open(waits, { maxPackSizeBytes: MAX_PACK_BYTES });
  upstream = await startUpstream(() => undefined);
});
afterAll(async () => {
  await upstream.close();
  await bench.close();
});

const status =
  (code: number): Upstream["handle"] =>
  (_, response) =>
    response.writeHead(code).end("no");

/** Answers as git does, except where that sends a pack. */
const whereGitPacks =
  (answerPack: (response: ServerResponse, body: Buffer) => void): Upstream["handle"] =>
  (request, response) => {
    passOn(bench.native.url, request, response, {}, (answer) => {
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("end", () => {
        const body = Buffer.concat(pieces);
        response.writeHead(answer.statusCode!, { "content-type": answer.headers["content-type"]! });
        if (body.includes("PACK")) answerPack(response, body);
        else response.end(body);
      });
    });
  };

/** Changes what comes after the list of refs. Null cuts it. */
const packAs = (change: (body: Buffer) => Buffer | null): Upstream["handle"] =>
  whereGitPacks((response, body) => {
    const changed = change(body);
    if (changed === null) response.write(body.subarray(0, 2_000), () => response.destroy());
    else response.end(changed);
  });

/** Writes the same bytes until nobody takes them. */
function flood(response: ServerResponse, bytes: Buffer): void {
  while (!response.destroyed && response.write(bytes));
  response.once("drain", () => flood(response, bytes));
}

const pkt = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, "0")), payload]);
const packPkt = (bytes: Buffer): Buffer => pkt(Buffer.concat([Buffer.from([1]), bytes]));
const refsOf = (...lines: string[]): Buffer => Buffer.concat([...lines.map((line) => pkt(Buffer.from(line))), FLUSH]);
const FLUSH = Buffer.from("0000");
const advertise =
  (body: () => Buffer): Upstream["handle"] =>
  (_, response) => {
    response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(body());
  };
const oid = "1".repeat(40);

/** A pack that begins with a blob of 4 GiB less one byte, and is to go on with blocks of a deflate
 * stream that are stored as they are. */
const BLOB_PACK = (() => {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\x01", "latin1");
  const stream = Buffer.from([0x78, 0x01]);
  const entry = encodeEntry({ type: "blob", content: Buffer.alloc(0), claimedSize: 2 ** 32 - 1, compressed: stream });
  return Buffer.concat([pkt(Buffer.from("packfile\n")), packPkt(Buffer.concat([head, entry]))]);
})();
const BLOCK_BYTES = 60_000;
const BLOCK_HEAD = (() => {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(BLOCK_BYTES, 1);
  head.writeUInt16LE(0xffff - BLOCK_BYTES, 3);
  return head;
})();

const WRONGS: readonly (readonly [string, Upstream["handle"], RegExp])[] = [
  ["401", status(401), /a valid credential for the upstream is needed: it answered 401/],
  ["a connection that is cut", (request) => request.destroy(), /it cannot be reached/],
  ["an error", advertise(() => refsOf("ERR go\x1b[31m away\n")), /go \[31m away/],
  [
    "a redirect elsewhere",
    (_, response) =>
      void response.writeHead(302, { location: "ftp://example.com/info/refs?service=git-upload-pack" }).end(),
    /only https: and http:/,
  ],
  [
    "a pack that is damaged",
    packAs((body) => {
      body[body.indexOf("PACK") + 200]! ^= 0xff;
      return body;
    }),
    /corrupt/,
  ],
  [
    "a pack that lacks what was asked for",
    packAs(() => Buffer.concat([pkt(Buffer.from("packfile\n")), packPkt(EMPTY_PACK), FLUSH])),
    /it did not send all that its refs need/,
  ],
  ["404", status(404), /the upstream repository was not found/],
  ["500", status(500), /the upstream is unavailable for now: it answered 500/],
  [
    "a page",
    (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome"),
    /text\/html, not as a Git server does/,
  ],
  ["an answer that never begins", () => undefined, /it did not answer in/],
  [
    "a list that drips",
    (_, response) => {
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" });
      response.write("00");
    },
    /it sent too little in/,
  ],
  ["a list that is cut", advertise(() => Buffer.from("00")), /the body ends inside a packet|was cut/],
  ["a list that is none", advertise(() => Buffer.from("zzzz")), /bad pkt-line length/],
  ["another hash", advertise(() => refsOf(`${oid} refs/heads/a\0object-format=sha256\n`)), /sha256 is not supported/],
  ["a shallow one", advertise(() => refsOf(`${oid} refs/heads/a\0side-band-64k\n`, `shallow ${oid}\n`)), /shallow/],
  ["bad names", advertise(() => refsOf(`${oid} refs/heads/../a\0side-band-64k\n`)), /not a valid ref name/],
  [
    "redirects without end",
    (request, response) => void response.writeHead(302, { location: `${request.url}` }).end(),
    /redirected more than 5 times/,
  ],
  ["a pack that is cut", packAs(() => null), /was cut/],
  [
    "a pack that ends early",
    packAs((body) => Buffer.concat([body.subarray(0, body.indexOf("PACK") + 8), FLUSH])),
    /cut|packet/,
  ],
  [
    "an error in the pack's place",
    packAs(() => Buffer.concat([pkt(Buffer.from("packfile\n")), pkt(Buffer.from("\x03out of memory\n")), FLUSH])),
    /out of memory/,
  ],
];

testSome(6, WRONGS, "%s ends in an error that says so, and leaves nothing", async ([, handle, error]) => {
  upstream.handle = handle;
  const name = await bench.newRepository();
  await bench.begin(name, { url: `${upstream.url}/history.git` });
  const failed = await bench.settled(name);
  expect(failed.error).toMatch(error);
  expect(failed.state).toBe("failed");
  await bench.expectNothingLeft(name);
});

/** Imports from the upstream. @returns the error; nothing else may be left of it */
async function failedImport(): Promise<string | null> {
  const name = await bench.newRepository();
  await bench.begin(name, { url: `${upstream.url}/history.git`, refs: ["refs/tags/v0"] });
  const failed = await bench.settled(name);
  expect(failed.state).toBe("failed");
  await bench.expectNothingLeft(name);
  return failed.error;
}

test("bytes without end after a pack are not read", async () => {
  upstream.handle = whereGitPacks((response, body) => {
    response.write(body.subarray(0, -FLUSH.length));
    flood(response, packPkt(Buffer.alloc(60_000)));
  });
  expect(await failedImport()).toMatch(/bytes follow its trailer/);
});

test("a pack without end stops at the limit", { tags: "sweep" }, async () => {
  upstream.handle = whereGitPacks((response) => {
    response.write(BLOB_PACK);
    flood(response, packPkt(Buffer.concat([BLOCK_HEAD, randomBytes(BLOCK_BYTES)])));
  });
  expect(await failedImport()).toMatch(/the upstream's pack \(bytes\).* limit of 1000000/);
});

test("a pack that drips is given up", { tags: "sweep" }, async () => {
  upstream.handle = whereGitPacks((response) => {
    response.write(Buffer.concat([BLOB_PACK, packPkt(BLOCK_HEAD)]));
    const timer = setInterval(() => response.write(packPkt(Buffer.from("x"))), 20);
    response.on("close", () => clearInterval(timer));
  });
  expect(await failedImport()).toMatch(/it sent too little in 1 seconds/);
});

test("the credential goes to no other origin than it was given for", async () => {
  const secret = "Bearer for-one-origin";
  const elsewhere = await startUpstream((request, response) => passOn(bench.native.url, request, response));
  try {
    upstream.handle = (request, response) =>
      void response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
    await bench.importAll(`${upstream.url}/history.git`, { authorization: secret });
    expect(upstream.requests.at(-1)!.headers.authorization).toBe(secret);
    expect(elsewhere.requests.map(({ headers }) => headers.authorization)).toEqual(
      elsewhere.requests.map(() => undefined),
    );
    expect(elsewhere.requests.length).toBeGreaterThan(1);
  } finally {
    await elsewhere.close();
  }
});
