/** Imports and mirrors, from git's own server, from another Holdfast, and from servers that lie. */
import { cp } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { passOn, startUpstream, type Upstream } from "../harness/upstream.ts";

interface Import {
  readonly state: "running" | "waiting" | "done" | "failed";
  readonly error: string | null;
  readonly steps: number;
  readonly objects: number;
  readonly upstreamRefs: number;
  readonly syncedAt: string | null;
  readonly hasAuthorization: boolean;
}

/** A pack without objects. */
const EMPTY_PACK = (() => {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  return Buffer.concat([head, createHash("sha1").update(head).digest()]);
})();

const SECRETS_KEY = "a secret of the deployment, of which nobody knows";

const VARS = { ALLOW_PRIVATE_IMPORTS: "on", SECRETS_KEY };

let server: Server;
let root: string;
let native: NativeServer;
let history: string;

beforeAll(async () => {
  const limits = { maxPackObjects: 900, pruneGraceMs: 0 };
  server = await startServer({
    vars: { ...VARS, LIMITS: JSON.stringify(limits) },
    constants: { FIRST_DEPTH: 16, IMPORT_RETRY_MS: 20, PLAN_LIFE_MS: 0, BODY_WAIT_MS: 1_500, ANSWER_WAIT_MS: 1_500 },
  });
  root = makeTempDir("served");
  native = await startNative(root);
  const made = await makeHistory({ commits: 120, files: 30, branches: 6, merges: 3, tags: 6, upheavals: 8 });
  history = join(root, "history.git");
  await cp(made, history, { recursive: true });
});
afterAll(async () => {
  await native.close();
  await server.close();
});

let names = 0;

/** An empty repository. */
async function newRepository(): Promise<string> {
  const name = `imported-${++names}`;
  const { status } = await askApi(server, "/repos", { method: "POST", json: { owner: "me", name } });
  expect(status).toBe(201);
  return `me/${name}`;
}

const begin = (name: string, json: Readonly<Record<string, unknown>>) =>
  askApi<Import & { error: { code: string; message: string } }>(server, `/repos/${name}/import`, {
    method: "POST",
    json,
  });

const read = async (name: string): Promise<Import> => (await askApi<Import>(server, `/repos/${name}/import`)).body;

/** Waits until an import has ended. */
async function settled(name: string): Promise<Import> {
  for (let looks = 0; looks < 600; looks++) {
    const found = await read(name);
    if (found.state !== "running") return found;
    await sleep(50);
  }
  throw new Error(`the import of ${name} has not ended: ${JSON.stringify(await read(name))}`);
}

async function importAll(url: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const name = await newRepository();
  expect(await begin(name, { url, ...more })).toMatchObject({ status: 202, body: { state: "running" } });
  expect(await settled(name)).toMatchObject({ state: "done", error: null });
  return name;
}

/** Expects a repository to be the same as a local one, and whole. */
async function expectSame(name: string, dir: string): Promise<void> {
  const clone = join(makeTempDir("clone"), "copy.git");
  await git(root, "clone", "-q", "--mirror", `${server.url}/${name}`, clone);
  await git(clone, "fsck", "--full", "--strict");
  expect(await listRefs(clone)).toBe(await listRefs(dir));
  expect(await git(clone, "symbolic-ref", "HEAD")).toBe(await git(dir, "symbolic-ref", "HEAD"));
  const list = async (repository: string): Promise<string[]> =>
    (await git(repository, "rev-list", "--objects", "--no-object-names", "--all")).split("\n").sort();
  expect(await list(clone)).toEqual(await list(dir));
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
}

/** Expects that nothing is left of an import that failed. */
async function expectNothingLeft(name: string): Promise<void> {
  await askApi(server, `/repos/${name}/maintenance`, { method: "POST" });
  const { body } = await askApi<{ id: string }>(server, `/repos/${name}`);
  expect([...(await server.readObjects(body.id)).keys()]).toEqual([]);
  expect(await findProblems(`${server.url}/${name}`)).toEqual([]);
}

describe("a repository arrives whole", () => {
  test("from git's own server, in steps, as a pack may have fewer objects", async () => {
    const name = await importAll(`${native.url}/history.git`);
    const { steps, objects } = await read(name);
    expect(steps).toBeGreaterThan(1);
    expect(objects).toBe(Number((await git(history, "rev-list", "--objects", "--all")).split("\n").length));
    await expectSame(name, history);
  });

  test("from one branch that is too much for a pack, in steps along its history", async () => {
    const made = await makeHistory({ seed: 5, commits: 700, files: 40, branches: 4, merges: 4 });
    const long = join(root, "long.git");
    await git(root, "clone", "-q", "--bare", "--single-branch", made, long);
    const name = await importAll(`${native.url}/long.git`);
    expect((await read(name)).steps).toBeGreaterThan(3);
    await expectSame(name, long);
  });

  test("from a server that speaks version 0 only", async () => {
    const upstream = await startUpstream((request, response) =>
      passOn(native.url, request, response, { "git-protocol": undefined }),
    );
    try {
      await expectSame(await importAll(`${upstream.url}/history.git`), history);
      expect(upstream.requests.length).toBeGreaterThan(3);
    } finally {
      await upstream.close();
    }
  });

  test("from another Holdfast, whose private repository wants a token", async () => {
    const other = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: "other's operator" } });
    const authorization = `Basic ${btoa("any:other's operator")}`;
    try {
      await git(
        history,
        "-c",
        `http.extraHeader=Authorization: ${authorization}`,
        "push",
        "-q",
        "--mirror",
        `${other.url}/ada/engine`,
      );
      const url = `${other.url}/ada/engine`;
      const refused = await newRepository();
      await begin(refused, { url });
      const failed = await settled(refused);
      expect(failed).toMatchObject({ state: "failed", error: expect.stringContaining("a valid credential") });
      await expectNothingLeft(refused);
      const name = await newRepository();
      const begun = await begin(name, { url, authorization });
      expect(begun.body).toMatchObject({ hasAuthorization: true });
      expect(await settled(name)).toMatchObject({ state: "done", hasAuthorization: false });
      expect(JSON.stringify([begun.body, await read(name)])).not.toContain(authorization.slice(6));
      await expectSame(name, history);
    } finally {
      await other.close();
    }
  });

  test("with thousands of refs", async () => {
    const many = join(root, "many.git");
    await git(root, "clone", "-q", "--bare", history, many);
    const commits = (await git(many, "rev-list", "--reverse", "main")).split("\n");
    const lines = Array.from(
      { length: 5_000 },
      (_, i) => `create refs/tags/many/${i} ${commits[i % commits.length]}\n`,
    );
    const { code, stderr } = await tryGit(many, ["update-ref", "--stdin"], { stdin: lines.join("") });
    expect(code, stderr).toBe(0);
    const name = await importAll(`${native.url}/many.git`);
    expect((await read(name)).upstreamRefs).toBeGreaterThan(5_000);
    await expectSame(name, many);
  });

  test("only the refs that are wanted, and an empty one as it is", async () => {
    const name = await importAll(`${native.url}/history.git`, { refs: ["refs/tags/v"] });
    const remote = await git(root, "ls-remote", `${server.url}/${name}`, "refs/*");
    expect(remote).toBe(await git(root, "ls-remote", history, "refs/tags/*"));
    await git(root, "init", "-q", "--bare", "empty.git");
    const empty = await importAll(`${native.url}/empty.git`);
    expect(await read(empty)).toMatchObject({ upstreamRefs: 0, steps: 0 });
  });
});

describe("an import that is interrupted", () => {
  test("goes on after the server is killed, at any step", async () => {
    const slow = await startUpstream((request, response) => {
      setTimeout(() => passOn(native.url, request, response), 150);
    });
    try {
      for (const steps of [0, 1, 2]) {
        const name = await newRepository();
        await begin(name, { url: `${slow.url}/history.git` });
        for (let found = await read(name); found.steps < steps; found = await read(name)) await sleep(20);
        await sleep(100);
        await server.kill();
        await server.restart();
        expect(await settled(name)).toMatchObject({ state: "done", error: null });
        await expectSame(name, history);
      }
    } finally {
      await slow.close();
    }
  }, 60_000);

  test("ends when it is told to, and leaves nothing", async () => {
    const slow = await startUpstream((request, response) => {
      passOn(native.url, request, response, {}, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        if (request.method === "GET" || answer.headers["content-type"]?.includes("result") !== true) {
          answer.pipe(response);
          return;
        }
        // The list of refs is short; a pack stops in its middle.
        let sent = 0;
        answer.on("data", (piece: Buffer) => {
          if (sent < 8_000) response.write(piece.subarray(0, 8_000 - sent));
          sent += piece.length;
        });
        answer.on("end", () => sent < 8_000 && response.end());
      });
    });
    try {
      const name = await newRepository();
      await begin(name, { url: `${slow.url}/history.git` });
      await sleep(500);
      expect((await read(name)).state).toBe("running");
      expect((await begin(name, { url: `${slow.url}/other.git` })).status).toBe(409);
      expect((await askApi(server, `/repos/${name}/import`, { method: "DELETE" })).status).toBe(204);
      expect((await askApi(server, `/repos/${name}/import`)).status).toBe(404);
      await slow.close();
      await sleep(300);
      await expectNothingLeft(name);
      expect(await git(root, "ls-remote", `${server.url}/${name}`)).toBe("");
    } finally {
      await slow.close().catch(() => undefined);
    }
  });
});

describe("an upstream that does wrong", () => {
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream(() => undefined);
  });
  afterAll(() => upstream.close());

  const status =
    (code: number): Upstream["handle"] =>
    (_, response) =>
      response.writeHead(code).end("no");

  /** Changes what comes after the list of refs. */
  const packAs =
    (change: (pack: Buffer) => Buffer | null): Upstream["handle"] =>
    (request, response) => {
      passOn(native.url, request, response, {}, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () => {
          const body = Buffer.concat(pieces);
          const isPack = body.includes("PACK");
          response.writeHead(answer.statusCode!, { "content-type": answer.headers["content-type"]! });
          const changed = isPack ? change(body) : body;
          if (changed === null) response.write(body.subarray(0, 2_000), () => response.destroy());
          else response.end(changed);
        });
      });
    };

  const pkt = (payload: Buffer): Buffer =>
    Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, "0")), payload]);
  const refsOf = (...lines: string[]): Buffer => Buffer.concat([...lines.map((line) => pkt(Buffer.from(line))), FLUSH]);
  const FLUSH = Buffer.from("0000");
  const advertise =
    (body: () => Buffer): Upstream["handle"] =>
    (_, response) => {
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(body());
    };
  const oid = "1".repeat(40);

  test.each<[string, Upstream["handle"], RegExp]>([
    ["401", status(401), /a valid credential for the upstream is needed: it answered 401/],
    ["404", status(404), /the upstream repository was not found/],
    ["500", status(500), /the upstream is unavailable for now: it answered 500/],
    [
      "a page",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome"),
      /text\/html, not as a Git server does/,
    ],
    ["a connection that is cut", (request) => request.destroy(), /it cannot be reached/],
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
    ["an error", advertise(() => refsOf("ERR go\x1b[31m away\n")), /go \[31m away/],
    ["another hash", advertise(() => refsOf(`${oid} refs/heads/a\0object-format=sha256\n`)), /sha256 is not supported/],
    ["a shallow one", advertise(() => refsOf(`${oid} refs/heads/a\0side-band-64k\n`, `shallow ${oid}\n`)), /shallow/],
    ["bad names", advertise(() => refsOf(`${oid} refs/heads/../a\0side-band-64k\n`)), /not a valid ref name/],
    [
      "redirects without end",
      (request, response) => void response.writeHead(302, { location: `${request.url}` }).end(),
      /redirected more than 5 times/,
    ],
    [
      "a redirect elsewhere",
      (_, response) =>
        void response.writeHead(302, { location: "ftp://example.com/info/refs?service=git-upload-pack" }).end(),
      /only https: and http:/,
    ],
    ["a pack that is cut", packAs(() => null), /was cut/],
    [
      "a pack that ends early",
      packAs((body) => Buffer.concat([body.subarray(0, body.indexOf("PACK") + 8), FLUSH])),
      /cut|packet/,
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
      packAs(() =>
        Buffer.concat([pkt(Buffer.from("packfile\n")), pkt(Buffer.concat([Buffer.from([1]), EMPTY_PACK])), FLUSH]),
      ),
      /it did not send all that its refs need/,
    ],
    [
      "an error in the pack's place",
      packAs(() => Buffer.concat([pkt(Buffer.from("packfile\n")), pkt(Buffer.from("\x03out of memory\n")), FLUSH])),
      /out of memory/,
    ],
  ])(
    "%s ends in an error that says so, and leaves nothing",
    async (_, handle, error) => {
      upstream.handle = handle;
      const name = await newRepository();
      await begin(name, { url: `${upstream.url}/history.git` });
      const failed = await settled(name);
      expect(failed.error).toMatch(error);
      expect(failed.state).toBe("failed");
      await expectNothingLeft(name);
      expect(await git(root, "ls-remote", `${server.url}/${name}`)).toBe("");
    },
    60_000,
  );

  test("a pack without end stops at the limit", async () => {
    upstream.handle = (request, response) => {
      passOn(native.url, request, response, {}, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () => {
          const body = Buffer.concat(pieces);
          response.writeHead(200, { "content-type": answer.headers["content-type"]! });
          const at = body.indexOf("PACK");
          if (at < 0) return void response.end(body);
          response.write(body.subarray(0, body.length - 4));
          const junk = pkt(Buffer.concat([Buffer.from([1]), Buffer.alloc(60_000)]));
          const more = (): void => {
            while (!response.destroyed && response.write(junk));
            response.once("drain", more);
          };
          more();
        });
      });
    };
    const name = await newRepository();
    await begin(name, { url: `${upstream.url}/many.git`, refs: ["refs/tags/v0"] });
    expect(await settled(name)).toMatchObject({
      state: "failed",
      error: expect.stringMatching(/bytes follow its trailer/),
    });
    await expectNothingLeft(name);
  });

  test("the credential goes to no other origin than it was given for", async () => {
    const secret = "Bearer for-one-origin";
    const elsewhere = await startUpstream((request, response) => passOn(native.url, request, response));
    try {
      upstream.handle = (request, response) =>
        void response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
      await importAll(`${upstream.url}/history.git`, { authorization: secret });
      expect(upstream.requests.at(-1)!.headers.authorization).toBe(secret);
      expect(elsewhere.requests.map(({ headers }) => headers.authorization)).toEqual(
        elsewhere.requests.map(() => undefined),
      );
      expect(elsewhere.requests.length).toBeGreaterThan(1);
    } finally {
      await elsewhere.close();
    }
  });
});

describe("a mirror", () => {
  /** Has it look at its upstream, and waits until it has. */
  async function sync(name: string): Promise<Import> {
    const before = (await read(name)).syncedAt;
    expect((await askApi(server, `/repos/${name}/import/sync`, { method: "POST" })).status).toBe(202);
    for (let found = await read(name); ; found = await read(name)) {
      if (found.state === "waiting" && (found.syncedAt !== before || found.error !== null)) return found;
      await sleep(20);
    }
  }

  test("follows random changes exactly: refs that are new, forced, renamed and gone", async () => {
    const followed = join(root, "followed.git");
    await git(root, "clone", "-q", "--bare", history, followed);
    const name = await newRepository();
    await begin(name, { url: `${native.url}/followed.git`, mirror: true });
    expect(await settled(name)).toMatchObject({ state: "waiting", error: null });
    await expectSame(name, followed);
    const random = makeRandom(18);
    for (let round = 0; round < 40; round++) {
      for (let change = 0; change <= random(4); change++) await changeRefs(followed, random, `${round}-${change}`);
      expect(await sync(name)).toMatchObject({ error: null });
      const listed = await git(root, "ls-remote", "--symref", `${server.url}/${name}`, "HEAD", "refs/*");
      expect(listed, `round ${round}`).toBe(await git(root, "ls-remote", "--symref", followed, "HEAD", "refs/*"));
    }
    await expectSame(name, followed);
  }, 120_000);

  test("takes no other changes until it is released, and keeps what it has", async () => {
    const followed = join(root, "shown.git");
    await git(root, "clone", "-q", "--bare", history, followed);
    const name = await newRepository();
    await begin(name, { url: `${native.url}/shown.git`, mirror: true });
    await settled(name);
    const push = () => tryGit(history, ["push", `${server.url}/${name}`, "main:refs/heads/mine"]);
    const refused = await push();
    expect(refused.stderr).toMatch(/remote rejected.*this repository mirrors http.*DELETE its import to release it/);
    expect(refused.code).toBe(1);
    const main = await git(history, "rev-parse", "main");
    const writes: [path: string, method: string, json: unknown][] = [
      ["refs/heads%2Fmine", "PUT", { target: main }],
      ["refs/heads%2Fside-1", "DELETE", undefined],
      ["branches", "POST", { name: "mine", startPoint: "main" }],
      ["tags", "POST", { name: "mine", target: "main" }],
      [
        "commits",
        "POST",
        {
          branch: "main",
          message: "m",
          author: { name: "A", email: "a@example.com" },
          operations: [{ op: "put", path: "a", content: "b" }],
        },
      ],
    ];
    for (const [path, method, json] of writes) {
      const { status, body } = await askApi<{ error: { message: string } }>(server, `/repos/${name}/${path}`, {
        method,
        ...(json !== undefined && { json }),
      });
      expect([status, body.error.message], path).toEqual([403, expect.stringContaining("this repository mirrors")]);
    }
    // An upstream that is away for a while changes nothing.
    await git(root, "--git-dir=shown.git", "config", "http.uploadpack", "false");
    expect((await sync(name)).error).toContain("a valid credential");
    await expectSame(name, history);
    expect((await askApi(server, `/repos/${name}/import`, { method: "DELETE" })).status).toBe(204);
    expect((await push()).code).toBe(0);
  });
});

function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

/** Makes one change to the refs of a repository. */
async function changeRefs(dir: string, random: (below: number) => number, label: string): Promise<void> {
  const refs = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  const ref = refs[random(refs.length)]!;
  const isKept = ref === "refs/heads/main" || ref === (await git(dir, "symbolic-ref", "HEAD"));
  const [branch] = [`refs/heads/b-${label}`];
  const commitOn = async (parent: string): Promise<string> => {
    const tree = await git(dir, "rev-parse", `${parent}^{tree}`);
    return git(dir, ...IDENTITY, "commit-tree", tree, "-p", parent, "-m", label);
  };
  switch (random(7)) {
    case 0:
      return void (await git(dir, "update-ref", branch, await commitOn("main")));
    case 1:
      return void (await git(dir, "update-ref", "refs/heads/main", await commitOn("main")));
    case 2:
      return void (await git(dir, "update-ref", "refs/heads/main", await commitOn("main~3")));
    case 3:
      return void (isKept || (await git(dir, "update-ref", "-d", ref)));
    case 4:
      // A name that stands in the way of the new one.
      if (isKept) return;
      await git(dir, "update-ref", "-d", ref);
      return void (await git(dir, "update-ref", `${ref}/below`, "main"));
    case 5:
      return void (await git(dir, ...IDENTITY, "tag", "-f", "-a", "-m", label, `t-${random(3)}`, `main~${random(5)}`));
    default: {
      const heads = refs.filter((other) => other.startsWith("refs/heads/"));
      return void (await git(dir, "symbolic-ref", "HEAD", heads[random(heads.length)]!));
    }
  }
}

const IDENTITY = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
