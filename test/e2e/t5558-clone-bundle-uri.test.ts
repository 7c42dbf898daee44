import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chooseGit } from "../harness/chosen-git.ts";
import { git, type GitResult, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { decodeLines, request, type RawResponse } from "../harness/raw.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { encodeRequest, post } from "../harness/transcript.ts";

/** The first git version whose clone uses `bundle-uri` by default. */
const FIRST_TO_ASK = [2, 40] as const;

const { env, version, isAtLeast } = await chooseGit();
const asks = isAtLeast(...FIRST_TO_ASK);

const TAGS = 4;

/** The most objects that a fetch after the bundle brings: one commit, and the annotated tags. Older
 * gits keep only the branches of a bundle. */
const REST_OBJECTS = 1 + TAGS;

let server: Server;
let origin: string;
let url: string;
/** The bundle's URL. */
let bundleUrl: string;
let bundle: RawResponse;
/** Refs and their objects when the bundle was built. */
let bundled: string;

beforeAll(async () => {
  server = await startServer({ vars: { LIMITS: JSON.stringify({ minBundleBytes: 20_000, bundleDelayMs: 0 }) } });
  origin = await makeHistory({ commits: 200, files: 40, branches: 4, merges: 3, tags: TAGS });
  url = `${server.url}/me/history.git`;
  await git(origin, "push", "-q", "--mirror", url);
  await server.takeEvent("bundle");
  bundled = await listRefs(origin);
  const { "bundle.base.uri": uri } = await listBundles(url);
  bundleUrl = `${url}/${uri!.slice(2)}`;
  bundle = await request(bundleUrl);
  const later = await git(origin, "commit-tree", "-p", "main", "-m", "Behind the bundle", "main^{tree}");
  await git(origin, "update-ref", "refs/heads/main", later);
  await git(origin, "push", "-q", url, "main");
});
afterAll(() => server.close());

/** The answer of the command `bundle-uri`; the bundle's id, which may be any, is replaced by
 * `base`. */
async function listBundles(of: string): Promise<Record<string, string>> {
  const { status, body } = await post({ url: of }, encodeRequest("command=bundle-uri", "delim", "flush"), 2);
  expect(status).toBe(200);
  const lines = decodeLines(body);
  expect(lines.pop()).toBe("flush");
  return Object.fromEntries(lines.map((line) => line.replace(/^bundle\.base-\d+/, "bundle.base").split(/=(.*)/s, 2)));
}

function saveBundle(): string {
  const file = join(makeTempDir("bundle"), "served.bundle");
  writeFileSync(file, bundle.body);
  return file;
}

/** Clones, and checks that the clone is complete.
 * @returns what the user read, and how many objects the fetch after the bundle brought */
async function clone(from: string, ...options: readonly string[]): Promise<{ fetched: number; result: GitResult }> {
  const dir = join(makeTempDir("clone"), "clone.git");
  const result = await tryGit(makeTempDir("cwd"), ["clone", "--bare", ...options, from, dir], { env });
  expect(result.stderr).not.toContain("fatal");
  expect(result.code).toBe(0);
  const { objects } = await server.takeEvent("fetch");
  expect((await tryGit(dir, ["fsck", "--strict"])).code).toBe(0);
  expect(await git(dir, "rev-parse", "main", "side-3", "v0")).toBe(
    await git(origin, "rev-parse", "main", "side-3", "v0"),
  );
  return { fetched: objects, result };
}

test("the command bundle-uri names one bundle, by a creation token", async () => {
  const list = await listBundles(url);
  expect(list).toEqual({
    "bundle.version": "1",
    "bundle.mode": "all",
    "bundle.heuristic": "creationToken",
    "bundle.base.uri": expect.stringMatching(/^\.\/bundles\/\d+-[0-9a-f]{40}\.bundle$/) as string,
    "bundle.base.creationtoken": expect.stringMatching(/^\d+$/) as string,
  });
  const token = Number(list["bundle.base.creationtoken"]);
  expect(Math.abs(token - Date.now())).toBeLessThan(60_000);
  expect(list["bundle.base.uri"]).toContain(`/${token}-`);
});

test("a repository below the threshold has none", async () => {
  const small = await makeRepository("small");
  await git(small, "commit", "-q", "--allow-empty", "-m", "One");
  await git(small, "push", "-q", `${server.url}/me/small.git`, "main");
  expect(await listBundles(`${server.url}/me/small`)).toEqual({});
});

test("the file is a bundle to git, whole, and of what was there when it was built", async () => {
  expect(bundle.status).toBe(200);
  const file = saveBundle();
  const empty = await makeRepository("empty");
  expect((await tryGit(empty, ["bundle", "verify", file])).code).toBe(0);
  const heads = (await git(empty, "bundle", "list-heads", file)).split("\n");
  const main = /^([0-9a-f]{40}) refs\/heads\/main$/m.exec(bundled)![1]!;
  expect(heads.sort()).toEqual([...bundled.split("\n"), `${main} HEAD`].sort());
  await git(empty, "clone", "-q", file, join(makeTempDir("clone"), "clone"));
});

describe("HTTP", () => {
  test("a bundle is immutable, and known by its checksum", async () => {
    const { headers, body } = bundle;
    const checksum = createHash("sha1").update(body).digest("hex");
    expect(bundleUrl.endsWith(`-${checksum}.bundle`)).toBe(true);
    expect(headers).toMatchObject({
      "content-type": "application/x-git-bundle",
      "content-length": String(body.length),
      "cache-control": "public, max-age=31536000, immutable",
      "accept-ranges": "bytes",
      etag: `"${checksum}"`,
    });
    const again = await fetch(bundleUrl, { headers: { "if-none-match": `"${checksum}"` } });
    expect(again.status).toBe(304);
    const head = await fetch(bundleUrl, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(body.length)]);
  });

  test("a download is taken up where it broke off", async () => {
    const { body } = bundle;
    const middle = body.length >>> 1;
    for (const [range, expected] of [
      [`bytes=${middle}-`, body.subarray(middle)],
      [`bytes=0-${middle - 1}`, body.subarray(0, middle)],
      ["bytes=-20", body.subarray(-20)],
    ] as const) {
      const { status, headers, body: part } = await request(bundleUrl, { headers: { range } });
      expect(status).toBe(206);
      expect(headers["content-length"]).toBe(String(expected.length));
      expect(headers["content-range"]).toContain(`/${body.length}`);
      expect(Buffer.compare(part, expected)).toBe(0);
    }
    const beyond = await request(bundleUrl, { headers: { range: `bytes=${body.length}-` } });
    expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, `bytes */${body.length}`]);
  });

  test("what is no bundle's name is not found, and a bundle is only read", async () => {
    for (const path of ["bundles/0.bundle", "bundles/", bundleUrl.slice(url.length + 1).replace(/\d-/, "x-")]) {
      expect((await request(`${url}/${path}`)).status).toBe(404);
    }
    expect((await request(bundleUrl.replace("/me/", "/nobody/"))).status).toBe(404);
    expect((await request(bundleUrl, { method: "POST", body: new Uint8Array(1) })).status).toBe(405);
  });

  test("who may not fetch may not download, and who may keeps it to himself", { tags: "sweep" }, async () => {
    const closed = await startServer({
      vars: { ACCESS: "token", ADMIN_TOKEN: "secret", LIMITS: '{"minBundleBytes":1,"bundleDelayMs":0}' },
    });
    const closedUrl = `${closed.url.replace("//", "//me:secret@")}/me/closed.git`;
    await git(origin, "push", "-q", closedUrl, "main~1:refs/heads/main");
    await closed.takeEvent("bundle");
    await git(origin, "push", "-q", closedUrl, "main");
    const authorization = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    const body = encodeRequest("command=bundle-uri", "delim", "flush");
    const list = await post({ url: `${closed.url}/me/closed` }, body, 2, { authorization });
    const uri = /=\.\/(bundles\/.*)/.exec(decodeLines(list.body).join("\n"))![1]!;
    const file = `${closed.url}/me/closed/${uri}`;
    expect((await request(file)).status).toBe(401);
    const { status, headers } = await request(file, { headers: { authorization } });
    expect([status, headers["cache-control"]]).toEqual([200, "private, max-age=31536000, immutable"]);
    if (asks) {
      // The bundle is fetched with the credentials of the repository's URL, because its own URL is
      // relative to that.
      const dir = join(makeTempDir("clone"), "clone");
      await tryGit(makeTempDir("cwd"), ["clone", "-q", "-c", "transfer.bundleURI=true", closedUrl, dir], { env });
      expect((await closed.takeEvent("fetch")).objects).toBe(1);
    }
    await closed.close();
  });
});

test("clone --bundle-uri takes the bulk from the bundle and only the rest from a fetch", async () => {
  expect((await clone(url)).fetched).toBeGreaterThan(200);
  const { fetched, result } = await clone(url, `--bundle-uri=${bundleUrl}`);
  expect(result.stderr).not.toContain("warning");
  expect(fetched).toBeLessThanOrEqual(REST_OBJECTS);
});

describe.skipIf(!asks)(`transfer.bundleURI=true (needs git ${FIRST_TO_ASK.join(".")}, here is ${version})`, () => {
  test("a clone asks for the bundle by itself, and fetches the rest", async () => {
    for (const from of [url, `${url}/`, url.replace(/\.git$/, "")]) {
      const { fetched, result } = await clone(from, "-c", "transfer.bundleURI=true");
      expect(result.stderr).not.toContain("warning");
      expect(fetched).toBeLessThanOrEqual(REST_OBJECTS);
    }
  });

  test("where there is no bundle, it is an ordinary clone", async () => {
    const dir = join(makeTempDir("clone"), "clone");
    const args = ["clone", "-c", "transfer.bundleURI=true", `${server.url}/me/small.git`, dir];
    const { code, stderr } = await tryGit(makeTempDir("cwd"), args, { env });
    expect([code, stderr.includes("warning")]).toEqual([0, false]);
    expect((await server.takeEvent("fetch")).objects).toBe(2);
  });
});

test("a bundle whose bytes are lost costs a warning, and the clone is whole", { tags: "sweep" }, async () => {
  expect(await server.loseObjects("/bundles/")).toBeGreaterThan(0);
  expect((await request(bundleUrl)).status).toBe(500);
  const options = asks ? ["-c", "transfer.bundleURI=true"] : [`--bundle-uri=${bundleUrl}`];
  const { fetched, result } = await clone(url, ...options);
  expect(result.stderr).toContain("warning: failed to ");
  expect(fetched).toBeGreaterThan(200);
});
