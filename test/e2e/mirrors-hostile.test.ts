/** Targets of mirrors that do wrong: they lie, drip, cut, or never end. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Mirrors } from "../harness/mirrors.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";
import { testSome } from "../harness/sweep.ts";

let server: Server;
let native: NativeServer;
let target: Upstream;
let mirrors: Mirrors;

const NAME = "hostile/mirrored";

beforeAll(async () => {
  server = await startServer({
    vars: { ALLOW_PRIVATE_IMPORTS: "on", SECRETS_KEY: "a secret of the deployment, of which nobody knows" },
    constants: {
      BODY_WAIT_MS: 1_500,
      ANSWER_WAIT_MS: 1_500,
      MAX_REPORT_BYTES: 200_000,
      MAX_ADVERTISED_BYTES: 200_000,
      MIRROR_RETRY_MS: 50,
    },
  });
  const root = makeTempDir("targets");
  native = await startNative(root);
  target = await startUpstream(() => undefined);
  await git(root, "init", "-q", "--bare", join(root, "target.git"));
  const history = await makeHistory({ commits: 20, files: 5 });
  await git(history, "push", "-q", `${server.url}/${NAME}`, "main", "main:side");
  mirrors = new Mirrors(server, NAME);
});
afterAll(async () => {
  await target.close();
  await native.close();
  await server.close();
});

const FLUSH = Buffer.from("0000");
const oid = "1".repeat(40);

const pkt = (payload: string | Buffer): Buffer => {
  const bytes = Buffer.from(payload as string);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
};
const lines = (...texts: string[]): Buffer => Buffer.concat([...texts.map(pkt), FLUSH]);
const band = (number: number, content: Buffer): Buffer => pkt(Buffer.concat([Buffer.from([number]), content]));
const banded = (...texts: string[]): Buffer => Buffer.concat([band(1, lines(...texts)), FLUSH]);

const status =
  (code: number): Upstream["handle"] =>
  (_, response) =>
    response.writeHead(code).end("no");
const advertise =
  (body: Buffer): Upstream["handle"] =>
  (_, response) =>
    response.writeHead(200, { "content-type": "application/x-git-receive-pack-advertisement" }).end(body);

/** Lets git's server say what it has, and answers pushes, which it never gets. */
const report =
  (answer: (response: Parameters<Upstream["handle"]>[1]) => void): Upstream["handle"] =>
  (request, response) => {
    if (request.method === "GET") return passOn(native.url, request, response);
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/x-git-receive-pack-result" });
      answer(response);
    });
  };
const reportOf = (...texts: string[]): Upstream["handle"] => report((response) => response.end(banded(...texts)));
const forever =
  (piece: Buffer): Parameters<typeof report>[0] =>
  (response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
      response.once("drain", more);
    };
    more();
  };

describe("a target that does wrong", () => {
  const WRONGS: readonly (readonly [string, Upstream["handle"], RegExp])[] = [
    ["401", status(401), /a valid credential for the target is needed: it answered 401/],
    ["a connection that is cut", (request) => request.destroy(), /it cannot be reached/],
    ["an error", advertise(lines("ERR go\x1b[31m away\n")), /go \[31m away/],
    [
      "a redirect elsewhere",
      (_, response) =>
        void response.writeHead(302, { location: "ftp://example.com/info/refs?service=git-receive-pack" }).end(),
      /only https: and http:/,
    ],
    ["a push that is cut", report((response) => response.destroy()), /cannot be reached|was cut/],
    ["a report that is none", report((response) => response.end("hello")), /bad pkt-line length/],
    ["404", status(404), /the target repository was not found/],
    ["500", status(500), /the target is unavailable for now: it answered 500/],
    [
      "a page",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome"),
      /text\/html, not as a Git server does/,
    ],
    ["an answer that never begins", () => undefined, /it did not answer in/],
    [
      "a list that drips",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/x-git-receive-pack-advertisement" });
        response.write("00");
      },
      /it sent too little in/,
    ],
    [
      "a list without end",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/x-git-receive-pack-advertisement" });
        response.write(pkt(`${oid} refs/heads/a\0report-status\n`));
        forever(pkt(`${oid} refs/x/${"x".repeat(200)}\n`))(response);
      },
      /the target's list of refs \(bytes\) exceeds the limit/,
    ],
    ["a list that is none", advertise(Buffer.from("zzzz")), /the target's answer is malformed: bad pkt-line length/],
    ["another hash", advertise(lines(`${oid} a\0report-status object-format=sha256`)), /sha256 is not supported/],
    ["a shallow one", advertise(lines(`${oid} refs/heads/a\0report-status\n`, `shallow ${oid}\n`)), /a shallow target/],
    ["one that reports nothing", advertise(lines(`${oid} refs/heads/a\0ofs-delta\n`)), /does not report what became/],
    [
      "a push that is not answered",
      (request, response) => request.method === "GET" && passOn(native.url, request, response),
      /it did not answer in/,
    ],
    ["a report that is empty", report((response) => response.end(FLUSH)), /did not say what became of the push/],
    ["a report that drips", report((response) => response.write("00")), /it sent too little in/],
    ["a report without end", report(forever(band(1, pkt(`ok ${"x".repeat(500)}`)))), /did not say what became/],
    [
      "lines without end",
      report((response) => {
        response.write(band(1, pkt("unpack ok\n")));
        forever(band(1, pkt("ok refs/heads/other\n")))(response);
      }),
      /its answer has more than 200000 bytes/,
    ],
    ["talk without end", report(forever(band(2, Buffer.from("working\r")))), /its answer has more than 200000 bytes/],
    [
      "an error in the report's place",
      report((response) => response.end(band(3, Buffer.from("no\x07space")))),
      /no space/,
    ],
  ];

  testSome(6, WRONGS, "%s ends in an error that says so", async ([, handle, error]) => {
    target.handle = handle;
    const { id } = await mirrors.create({ url: `${target.url}/target.git` });
    try {
      expect((await mirrors.settled(id, "failing")).error).toMatch(error);
    } finally {
      await mirrors.delete(id);
    }
  });

  const REPORTS: readonly (readonly [string, Upstream["handle"], RegExp])[] = [
    ["no reason", reportOf("unpack ok\n", "ng refs/heads/main \n", "ng refs/heads/side\n"), /it did not say why/],
    ["refs that were not sent", reportOf("unpack ok\n", "ok refs/heads/other\n"), /did not say what became of it/],
    ["an unpack that failed", reportOf("unpack out of\x1bmemory\n"), /did not take its objects: out of memory/],
  ];

  testSome(1, REPORTS, "a report of %s is told for each ref", async ([, handle, reason]) => {
    target.handle = handle;
    const { id } = await mirrors.create({ url: `${target.url}/target.git` });
    expect(await mirrors.settled(id)).toMatchObject({ refusedRefs: 2, error: null });
    const refs = await mirrors.refs(id, "refused");
    expect(refs.map(({ name }) => name)).toEqual(["refs/heads/main", "refs/heads/side"]);
    for (const { there, refusal } of refs) expect([there, refusal]).toEqual([null, expect.stringMatching(reason)]);
    await mirrors.delete(id);
  });

  test("a report of what did not happen is believed only until the target is asked again", async () => {
    target.handle = reportOf("unpack ok\n", "ok refs/heads/main\n", "ok refs/heads/side\n");
    const { id } = await mirrors.create({ url: `${target.url}/target.git` });
    expect(await mirrors.settled(id)).toMatchObject({ pushes: 1, refusedRefs: 0 });
    target.handle = reportOf("unpack ok\n", "ng refs/heads/main full\n", "ng refs/heads/side full\n");
    await mirrors.sync(id);
    expect(await mirrors.settled(id)).toMatchObject({ pushes: 2, refusedRefs: 2 });
    expect((await mirrors.refs(id)).map(({ there }) => there)).toEqual([null, null]);
    await mirrors.delete(id);
  });

  test("the credential goes to no other origin than it was given for", async () => {
    const elsewhere = await startUpstream((request, response) => passOn(native.url, request, response));
    try {
      target.handle = (request, response) =>
        void response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
      const authorization = "Bearer for-one-origin";
      const { id } = await mirrors.create({ url: `${target.url}/target.git`, authorization });
      await mirrors.settled(id);
      expect(target.requests.at(-1)!.headers.authorization).toBe(authorization);
      expect(elsewhere.requests.map(({ method, headers }) => [method, headers.authorization])).toEqual([
        ["GET", undefined],
        ["POST", undefined],
      ]);
      await mirrors.delete(id);
    } finally {
      await elsewhere.close();
    }
  });
});
